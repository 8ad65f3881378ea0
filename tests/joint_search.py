"""Sequences of releases, entered in a ledger, and whether some pair of neighbouring tables breaks its totals.

Histograms of every channel and unit; and beside them, for people of one row each, synopses of queries, counts, means,
and cubes. No theorem is used: see :mod:`tests.joint`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import count, product
from typing import Any

import pyarrow as pa

from hubbub.channels.mechanisms.exact_above import ExactOrSuppressed
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.protocol import Channel
from hubbub.errors import Refused, WrongUse
from hubbub.kinds.cube.request import cube
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.queries.promises import noise_rates
from hubbub.kinds.queries.request import queries
from hubbub.ledger.admission import Totals, totals
from hubbub.ledger.charge import charge
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.running_total import running_total_of
from hubbub.protocol.bound import Bound
from hubbub.tables.identity import Identity, Part
from hubbub.tables.privacy_unit import Unit
from tests.fresh import open as open_fresh
from tests.joint import Asked, Numbers, Release, Row, Table, broken, collected
from tests.unit.shared.statistics import statistic

_numbers = count(1)

WORDS: dict[str, dict[str, Any]] = {
    "crowd": {"crowd": 2},
    "crowd of three": {"crowd": 3},
    "noisy crowd": {"crowd": 2, "epsilon": "0.5"},
    "plain": {"epsilon": 1},
    "half": {"epsilon": "0.5"},
    "sampled crowd": {"crowd": 2, "sample": "0.25", "at_delta": "0.2"},
    "sampled noisy crowd": {"crowd": 2, "epsilon": "0.5", "sample": "0.25", "at_delta": "0.2"},
    "sampled plain": {"epsilon": 1, "sample": "0.25"},
    "collected crowd": {"crowd": 2, "collected": "0.25", "at_delta": "0.2"},
    "collected plain": {"epsilon": 1, "collected": "0.25"},
    "uneven crowd": {"crowd": 2, "collected_between": ("0.1", "0.25"), "at_delta": "0.2"},
    "curve": {"outlier": "1:0.1,3:1"},
    "endless": {"outlier": "1:0,3:inf"},
    "sampled curve": {"outlier": "1:0.1,3:1", "sample": "0.25"},
    "simple-suppressed": {"channel": "simple-suppressed", "options": {"k": 1}},
    "simple-noisy": {"channel": "simple-noisy", "options": {"k": 2, "epsilon": 1}},
    "outlier-suppressed": {"channel": "outlier-suppressed", "options": {"k": 2, "epsilon": 1, "delta": "0.05"}},
    "outlier-noisy": {"channel": "outlier-noisy", "options": {"k": 2, "epsilon": 1, "delta": "0.05"}},
    "staircase": {
        "channel": "staircase",
        "options": {"thresholds": "4,2", "epsilons": "1,0.5,0.25", "delta": "0.05"},
    },
    "lecture": {"channel": "lecture", "options": {"t": 2, "K": 4, "epsilon": 1}},
    "group": {"channel": "group", "options": {"k": 2, "epsilon": 1}},
}
UNITS = {
    "patient": Unit(person="patient"),
    "kept": Unit(person="patient", one_row_per_person=True),
    "bins": Unit(person="patient", distinct=2),
    "doctor": Unit(person="doctor"),
    "row": Unit(),
}

# A person is (a, b, what stands under a later). With k of the first, one of the second and k of the third, counting by
# two of the three columns is Proposition 7.
FIRST, SECOND, THIRD = ("x", "x", "x"), ("x", "y", "y"), ("y", "y", "y")


def _table(*people: tuple[tuple[str, str, str], ...]) -> Table:
    doctors = count()
    return tuple(Row(f"p{i}", f"d{next(doctors)}", *rows) for i, several in enumerate(people) for rows in several)


ONE_ROW_EACH = [
    _table(*[(FIRST,)] * i, *[(SECOND,)] * j, *[(THIRD,)] * k) for i, j, k in product(range(4), range(2), range(4))
]
SEVERAL_ROWS = [
    _table(*[(FIRST, THIRD)] * i, *[(FIRST,)] * j, *[(THIRD, THIRD)] * k, *[(SECOND,)] * m)
    for i, j, k, m in product(range(3), range(2), range(2), range(2))
]
TEN_DOCTORS = _table((FIRST,) * 10)


@cache
def asked(name: str, unit: str, column: str, later: bool) -> Asked | None:
    """None where no such release can be asked for."""
    try:
        spec = histogram([f"{column}=x,y"], unit=UNITS[unit], **WORDS[name])
        charge(Bound(spec))
    except (Refused, WrongUse):
        return None
    return Asked(spec, later)


def entered(releases: Sequence[Release]) -> tuple[list[Release], Totals, Totals] | None:
    """Those that the ledger admits, one after the other, and its totals: of all releases, and of its stand-ins."""
    book, name = Ledger(), f"town-{next(_numbers)}"
    admitted: list[Release] = []
    for each in releases:
        file = Part(
            path=f"/{name}", device=0, inode=next(_numbers), digest=f"{name} {each.later}", changed=int(each.later)
        )
        try:
            book.reserve(name, charge(Bound(each.spec)), source=Identity(parts=(file,)))
        except Refused:
            continue
        admitted.append(each)
    if not admitted:
        return None
    spent = book.account(name).spent_releases
    return admitted, totals(spent), totals(running_total_of(spent, len(spent)).stand_ins)


def tables(releases: Sequence[Release]) -> list[Table]:
    """Such as all of the releases can be made of."""
    one_row = any(isinstance(each, Numbers) or each.spec.unit == UNITS["patient"] for each in releases)
    return ONE_ROW_EACH if one_row else [*SEVERAL_ROWS, *ONE_ROW_EACH[::5], TEN_DOCTORS]


def found(releases: Sequence[Release]) -> list[str]:
    """What is broken of the totals of those that the ledger admits."""
    admitted = entered(releases)
    return [] if admitted is None else judged(*admitted)


def judged(through: Sequence[Release], whole: Totals, short: Totals) -> list[str]:
    many = tables(through)
    if any(map(collected, through)):
        many = [table for table in many if len(table) <= 3]  # every sample is looked at
    return broken(whole, through, many) + ([] if short == whole else broken(short, through, many))


# --- other kinds, for people of one row each ------------------------------------------------------------------------

STEPS = 2  # of what people have: 0 for x under b, all of it for y
SOMEBODY = pa.table({"a": ["x"], "b": ["x"], "v": [0], "patient": ["p"]})


def counted(*names: str) -> Any:
    """How many people have each combination of labels in these columns."""
    cells = list(product("xy", repeat=len(names)))
    return cache(lambda table: tuple(sum(_labels(row, names) == cell for row in table) for cell in cells))


def _labels(row: Row, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(getattr(row, name)) for name in names)


def joined(*several: Any) -> Any:
    return cache(lambda table: tuple(number for each in several for number in each(table)))


def summed(*, above: bool) -> Any:
    """In each bin of a what its people have, or what they lack to the most that one can have."""
    return lambda table: tuple(
        sum(STEPS for row in table if row.a == label and (row.b == "y") != above) for label in "xy"
    )


def of_crowds(k: int) -> Any:
    """The same where at least k are in the bin, and nothing elsewhere."""

    def numbers(table: Table) -> tuple[int | None, ...]:
        shown = zip(counted("a")(table), summed(above=False)(table), strict=True)
        return tuple(total if people >= k else None for people, total in shown)

    return numbers


def _same(rate: Fraction | None, number: int) -> tuple[Channel, ...]:
    assert rate is not None
    return (Geometric(rate),) * number


BY = {name: f"{name}=x,y" for name in "ab"}


@cache
def others() -> dict[str, Numbers]:
    """One or two of each kind, for one person more or less and for one replaced."""
    person = Unit(person="patient")
    made: dict[str, Numbers] = {}
    for name, more in (("", {}), (" of three", {"people": 3})):
        flat = queries([BY["a"]], "marginals:1", epsilon="0.5", method="histogram", unit=person, **more)
        made[f"queries{name}"] = Numbers(flat, counted("a"), _same(noise_rates(flat)[0], 2))
        each = queries([BY["a"], BY["b"]], "marginals:1", epsilon="0.5", method="per-query", unit=person, **more)
        made[f"each query{name}"] = Numbers(each, joined(counted("a"), counted("b")), _same(noise_rates(each)[0], 4))
    count_by = statistic("count", by=[BY["b"]], epsilon="0.5", unit=person)
    made["count"] = Numbers(count_by, counted("b"), _same(count_by.unit_loss, 2))
    mean = statistic("mean", of=f"v:0..{STEPS}:1", by=[BY["a"]], epsilon="0.5", unit=person)
    made["mean"] = Numbers(mean, joined(summed(above=False), summed(above=True)), _same(mean.sum_rate, 4))
    crowds = statistic("count", by=[BY["a"]], crowd=2, unit=person)
    made["count of crowds"] = Numbers(crowds, counted("a"), (ExactOrSuppressed(2),) * 2)
    sums = statistic("mean", of=f"v:0..{STEPS}:1", by=[BY["a"]], crowd=2, epsilon="0.5", unit=person)
    hidden = (ExactOrSuppressed(2),) * 2 + _same(sums.sum_rate, 2)
    made["mean of crowds"] = Numbers(sums, joined(counted("a"), of_crowds(2)), hidden)
    columns = open_fresh(SOMEBODY, person="patient").engine.columns()
    levels = cube([BY["a"], BY["b"]], margins=["a", "b"], epsilon="0.5", unit=person).with_schema(columns)
    tables_of = joined(counted("a", "b"), *(counted(*margin) for margin in levels.margins))
    shares = [share for share, size in zip(levels.shares, levels.sizes, strict=True) for _ in range(size)]
    made["cube"] = Numbers(levels, tables_of, tuple(map(Geometric, shares)))
    cells = cube([BY["a"], BY["b"]], margins=["a", "b"], crowd=2, unit=person).with_schema(columns)
    made["cube of crowds"] = Numbers(cells, counted("a", "b"), (ExactOrSuppressed(2),) * 4)
    return made
