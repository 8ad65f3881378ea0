"""From the words that start a series to its value, or one sentence that says what is wrong with them; and the kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from hubbub.errors import WrongUse
from hubbub.kinds.cube.margins import parse_margins
from hubbub.kinds.series.spec import COUNT, CUBE, Period, Series, Way, bins_of_a_person, moved_in_a_period, read
from hubbub.numeric.exact import Exact, integer, positive, rational
from hubbub.protocol.option import WHOSE, Option
from hubbub.protocol.spec import Kind
from hubbub.query_classes.series import Blocks, Crowds, best_blocks, best_factor
from hubbub.tables.bins import declared_size, parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.calendar import Calendar
from hubbub.tables.condition import parse as parse_condition
from hubbub.tables.contribution import Moved
from hubbub.tables.privacy_unit import Unit, within_bins

WAYS: Final = ("increments", "blocks", "factor")
DATA: Final = "series"
ROWS_OF_A_PERSON: Final = (
    Option(
        "one_row_per_person", None, "Of several rows of a person in a period one counts, chosen secretly.", group=WHOSE
    ),
    Option("rows_per_person", "M", "Count rows, at most M of each person in a period, chosen secretly.", group=WHOSE),
    Option("distinct", "B", "Count each person in at most B bins of a period, chosen secretly.", group=WHOSE),
    Option(
        "rows_per_bin", "C", "Count rows: at most C of each person in each bin of a period.", group=WHOSE, advanced=True
    ),
)
"""What a series does with people who have several rows in a period; else they are refused."""


def series(
    name: str,
    *,
    kind: str = COUNT,
    periods: Exact,
    first: str,
    every: str = "month",
    recur: Exact = 1,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
    way: str | None = None,
    sample: Exact | None = None,
    panel: bool = False,
    crowd: Exact | None = None,
    by: Sequence[str] = (),
    where: str | None = None,
    of: str | None = None,
    margins: str | None = None,
    person: str | None = None,
    one_row_per_person: bool = False,
    distinct: Exact | None = None,
    rows_per_person: Exact | None = None,
    rows_per_bin: Exact | None = None,
    date: str | None = None,
    coverage: Exact = "0.95",
) -> Series:
    """The series that these words ask for. Which noise it has depends on public numbers alone."""
    axes = tuple(map(parse, by))
    calendar = Calendar(every=every, first=first, periods=integer(periods, "periods", least=1))
    often = integer(recur, "recur", least=1)
    if often > calendar.periods:
        raise WrongUse(f"nobody is in more than the {calendar.periods:,} periods there are; lower `recur` to that")
    measure = None if of is None else measured(of)
    if not isinstance(one_row_per_person, bool):
        raise WrongUse("`one_row_per_person` is True or False; write it so")
    several = Unit(
        person=person,
        one_row_per_person=one_row_per_person,
        distinct=distinct,  # type: ignore[arg-type]
        rows_per_person=rows_per_person,  # type: ignore[arg-type]
        rows_per_bin=rows_per_bin,  # type: ignore[arg-type]
    )
    unit = within_bins(several, axes)
    cells = declared_size(axes) or 1 if axes else 1
    person_moves = _PersonMoves(
        moved_in_a_period(unit, measure, cells), bins_of_a_person(unit, cells), measure is not None and measure.low < 0
    )
    return Series(
        name=name,
        kind=kind,
        calendar=calendar,
        recur=often,
        way=_secret(calendar.periods, often, epsilon, sample, panel, (delta, way, crowd))
        if sample is not None or panel
        else _way(calendar.periods, often, person_moves, epsilon, delta, way, crowd),
        axes=axes,
        where=None if where is None else parse_condition(where),
        of=measure,
        margins=parse_margins(margins, [axis.column for axis in axes]) if kind == CUBE else _none(margins),
        unit=unit,
        coverage=rational(coverage, "coverage"),
        date=date,
    )


class _PersonMoves(NamedTuple):
    """What one person moves in one period: how far, how many numbers, and whether down as well."""

    moved: Moved
    numbers: int
    signed: bool


def _none(margins: str | None) -> tuple[tuple[str, ...], ...]:
    if margins is not None:
        raise WrongUse("margins are of a cube; leave them out, or start a series of a cube")
    return ()


def _secret(
    periods: int,
    recur: int,
    epsilon: Exact | None,
    sample: Exact | None,
    panel: bool,
    others: tuple[Exact | str | None, ...],
) -> Blocks:
    """Geometric noise on the increments of secret samples."""
    if sample is None:
        raise WrongUse("a panel is a secret sample; give its rate, like `sample=0.1`")
    if epsilon is None or any(each is not None for each in others):
        raise WrongUse(
            "secret samples have geometric noise on every increment; give `epsilon`, and leave out `delta`, `way` and `crowd`"
        )
    rate = rational(sample, "sample")
    return Blocks(periods=periods, recur=recur, l1=1, epsilon=positive(epsilon, "epsilon"), sample=rate, panel=panel)


def _way(
    periods: int,
    recur: int,
    person: _PersonMoves,
    epsilon: Exact | None,
    delta: Exact | None,
    way: str | None,
    crowd: Exact | None,
) -> Way:
    if crowd is not None:
        if epsilon is not None or delta is not None or way is not None:
            raise WrongUse("crowds are exact and have no noise; leave out `epsilon`, `delta` and `way`, or the crowd")
        if recur > 1:
            raise WrongUse(
                "in crowds each person counts in their first period only, since nobody is like a person of several "
                "periods; leave out `recur`"
            )
        return Crowds(periods=periods, k=integer(crowd, "crowd", least=2))
    if epsilon is None:
        raise WrongUse("say how people are protected in all periods together: `epsilon=1`, or `crowd=20`")
    loss = positive(epsilon, "epsilon")
    if way is not None and way not in WAYS:
        raise WrongUse(f"a series is drawn as {', '.join(WAYS)}, not {way[:40]!r}; leave it out for the best")
    if way == "factor" and delta is None:
        raise WrongUse("the factor has Gaussian noise, which needs a delta; add `delta=1e-9`")
    l1, squared = person.moved
    plain = Blocks(periods=periods, recur=recur, l1=l1, epsilon=loss)
    found: dict[str, Blocks | Any] = {"increments": plain}
    if way in (None, "blocks"):
        found["blocks"] = best_blocks(periods, recur, l1, loss)
    if way in (None, "factor") and delta is not None:
        allowed = positive(delta, "delta")
        found["factor"] = best_factor(periods, recur, squared, person.numbers, loss, allowed, signed=person.signed)
    if way is not None:
        chosen: Way = found[way]
        return chosen
    best: Way = min(found.values(), key=lambda each: each.largest_variances[0])
    return best


def from_options(**words: Any) -> Period:
    """The first period of the series that these words ask for."""
    found = series(**words)
    return Period(series=found, period=found.calendar.first)


KIND: Final = Kind(
    name="series",
    wire="series/1",
    help="Publish the same numbers every period, under one promise.",
    examples=(
        "hubbub series start clinic hubbub-demo/millbrook.parquet --kind count --person resident --periods 12 --first 2026-01 "
        "--epsilon 1",
    ),
    options=(),
    from_options=from_options,
    from_json=read,
    data=DATA,
)
Period.kind = KIND
