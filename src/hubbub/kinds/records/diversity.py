"""How alike the people of a crowd are in the columns that are kept untouched: for the steward alone.

No promise rests on it. Where all people of a crowd have one value, whoever finds the crowd knows it of each of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from hubbub.kinds.count_tables import count_cells
from hubbub.noise.source import Source
from hubbub.tables.inspection import Crowds, Diversity

if TYPE_CHECKING:
    from hubbub.kinds.records.spec import Records
    from hubbub.tables.engine import Engine

_NONE: Final = Fraction(0)


def inspect_crowds(spec: Records, data: Engine, source: Source) -> Crowds:
    """The crowds of a table, without a sample: what records would keep of it.

    Guarantee: none. What it returns is private.
    """
    bound = spec.with_schema(data.columns())
    exact = count_cells(bound.joint.axes, bound.joint.unit, data, source)
    keys, counts = len(bound.cells.axes), exact.counts.tolist()
    crowds: Counter[tuple[str | None, ...]] = Counter()
    labels = list(zip(*exact.found, strict=True))
    for label, count in zip(labels, counts, strict=True):
        crowds[label[:keys]] += count
    large = {key: count for key, count in crowds.items() if count >= bound.k}
    return Crowds(
        crowd=bound.k,
        people=sum(counts),
        kept=sum(large.values()),
        diversity=tuple(
            _diversity(
                name, [(label[:keys], label[keys + i], n) for label, n in zip(labels, counts, strict=True)], large
            )
            for i, name in enumerate(bound.keep)
        ),
    )


def _diversity(
    column: str,
    cells: list[tuple[tuple[str | None, ...], str | None, int]],
    large: dict[tuple[str | None, ...], int],
) -> Diversity:
    everybody: Counter[str | None] = Counter()
    values: defaultdict[tuple[str | None, ...], Counter[str | None]] = defaultdict(Counter)
    for key, value, count in cells:
        everybody[value] += count
        if key in large:
            values[key][value] += count
    people = sum(everybody.values())
    distances = [
        sum(
            (abs(Fraction(found[value], large[key]) - Fraction(many, people)) for value, many in everybody.items()),
            _NONE,
        )
        / 2
        for key, found in values.items()
    ]
    return Diversity(
        column=column,
        least_values=min(map(len, values.values()), default=None),
        largest_distance=max(distances, default=None),
        people_alike=sum(large[key] for key, found in values.items() if len(found) == 1),
    )
