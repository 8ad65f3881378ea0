"""What several releases give away together, worked out from their exact laws on small tables, with no theorem.

A table is a list of rows; a release counts them by a column, in one of the ways a unit says, and publishes each bin
through its channel's exact law. The joint law of several releases is the product (on one collected sample: the mixture
of products over the samples), as :mod:`hubbub.audit.sequence` has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from hubbub.audit.sequence import HIGH, LOW, SLACK, Pair, bin_apart, delta, joint_pair, loss, outcomes, pair
from hubbub.channels.protocol import Channel
from hubbub.guarantees.aggregates import BernoulliSample
from hubbub.guarantees.curve import Curve
from hubbub.guarantees.definitions import (
    CrowdBlending,
    DifferentialPrivacy,
    OutlierPrivacy,
    SimpleOutlier,
    StaircaseOutlier,
    ZeroKnowledge,
)
from hubbub.guarantees.neighbours import Neighbours
from hubbub.guarantees.people import People, Whose
from hubbub.kinds.histogram.spec import Histogram, columns
from hubbub.ledger.admission import Total, Totals
from hubbub.numeric.exact import Infinite, Loss

FEW = (0, 3)  # where outcomes of several releases are listed together


class Row(NamedTuple):
    """Of a table of visits. `later` is what stands under `a` after the file was overwritten."""

    patient: str
    doctor: str
    a: str
    b: str
    later: str

    @property
    def shown(self) -> tuple[str, str, str]:
        return self.a, self.b, self.later


Table = tuple[Row, ...]


@dataclass(frozen=True)
class Asked:
    """A release of the table as it was first, or as it is later."""

    spec: Histogram
    later: bool = False

    def bin(self, row: Row) -> str:
        (name,) = columns(self.spec)
        return row.later if name == "a" and self.later else str(getattr(row, name))


@dataclass(frozen=True)
class Numbers:
    """A release of another kind: numbers of the table, each through its channel; none where it is not told."""

    spec: Any
    numbers: Callable[[Table], tuple[int | None, ...]]
    channels: tuple[Channel, ...]
    later: bool = False

    _known: dict[tuple[object, object], Pair] = field(default_factory=dict, init=False, compare=False, repr=False)

    def apart(self, one: Table, two: Table) -> Pair:
        """What is not told of one of the two tables is told apart by the number beside it."""
        key = self.numbers(one), self.numbers(two)
        if key not in self._known:
            both = zip(self.channels, *key, strict=True)
            told = (bin_apart(channel, a, b) for channel, a, b in both if a is not None and b is not None)
            self._known[key] = joint_pair(told)
        return self._known[key]


Release: TypeAlias = Asked | Numbers


# --- laws -----------------------------------------------------------------------------------------------------------


def _law(asked: Asked, worlds: Iterable[tuple[float, tuple[int, ...]]], low: int, high: int) -> dict[object, float]:
    found: dict[object, float] = {}
    for weight, counts in worlds:
        bins = [outcomes(asked.spec.sampled_channel, count, low, high) for count in counts]
        for several in product(*(one.items() for one in bins)):
            key = tuple(outcome for outcome, _ in several)
            found[key] = found.get(key, 0.0) + weight * math.prod(mass for _, mass in several)
    return found


def _worlds(asked: Asked, table: Table, *, flat: bool = False) -> list[tuple[float, tuple[int, ...]]]:
    """Every choice among a person's rows with its probability, and the counts of both bins then."""
    unit = asked.spec.unit
    if unit.person is None or flat or not (unit.one_row_per_person or unit.distinct):
        return [(1.0, _counts([asked.bin(row) for row in table]))]
    whose: dict[str, list[str]] = {}
    for row in table:
        whose.setdefault(getattr(row, unit.person), []).append(asked.bin(row))
    if unit.distinct:
        assert unit.distinct >= 2, "all bins of a person"
        return [(1.0, _counts([each for bins in whose.values() for each in set(bins)]))]
    choices = list(product(*whose.values()))
    return [(1 / len(choices), _counts(choice)) for choice in choices]


def _counts(bins: Sequence[str]) -> tuple[int, ...]:
    return bins.count("x"), bins.count("y")


def _plain(asked: Asked, flat: bool) -> bool:
    """Whether what is published depends on the counts of all rows alone."""
    unit = asked.spec.unit
    return flat or not (unit.one_row_per_person or unit.distinct)


@cache
def _mixed(asked: Asked, table: Table) -> dict[object, float]:
    return _law(asked, _worlds(asked, table), LOW, HIGH)


# --- two tables -----------------------------------------------------------------------------------------------------


def joint(releases: Sequence[Release], one: Table, two: Table, *, flat: bool = False) -> Pair:
    """Releases that tell two pairs of tables apart alike do so together too, and that is worked out once."""
    pairs = [_apart(asked, one, two, flat) for asked in releases]
    key = tuple(map(id, pairs))
    if key not in _JOINED:
        _JOINED[key] = pairs, joint_pair(pairs)  # a pair that is kept keeps its id
    return _JOINED[key][1]


_JOINED: dict[tuple[int, ...], tuple[list[Pair], Pair]] = {}


def forget() -> None:
    """Of thousands of sequences the joint laws need not all be kept."""
    _JOINED.clear()
    _blend.cache_clear()


def _apart(asked: Release, one: Table, two: Table, flat: bool) -> Pair:
    if isinstance(asked, Numbers):
        return asked.apart(one, two)
    if not _plain(asked, flat):
        return _mixed_apart(asked, one, two)
    first, second = (_counts([asked.bin(row) for row in table]) for table in (one, two))
    return _plain_apart(asked.spec.sampled_channel, first, second)


@cache
def _plain_apart(channel: Channel, first: tuple[int, ...], second: tuple[int, ...]) -> Pair:
    return joint_pair(bin_apart(channel, *each) for each in zip(first, second, strict=True))


@cache
def _mixed_apart(asked: Asked, one: Table, two: Table) -> Pair:
    return pair(_mixed(asked, one), _mixed(asked, two))


def sampled(releases: Sequence[Release], one: Table, two: Table, unit: str, rate: float) -> Pair:
    """Of releases of one and the same sample of a population; of many releases, of two of them."""
    counted = tuple(each for each in releases if isinstance(each, Asked))[:2]
    return pair(*(_of_a_sample(counted, each, unit, rate) for each in (one, two)))


@cache
def _of_a_sample(releases: tuple[Asked, ...], table: Table, unit: str, rate: float) -> dict[object, float]:
    names = list(dict.fromkeys(name_of(row, unit) for row in table))
    found: dict[object, float] = {}
    for taken in product((False, True), repeat=len(names)):
        chosen = {name for name, there in zip(names, taken, strict=True) if there}
        weight = rate ** len(chosen) * (1 - rate) ** (len(names) - len(chosen))
        here = tuple(row for row in table if name_of(row, unit) in chosen)
        laws = [_law(each, _worlds(each, here), *FEW) for each in releases]
        for several in product(*(one.items() for one in laws)):
            key = tuple(outcome for outcome, _ in several)
            found[key] = found.get(key, 0.0) + weight * math.prod(mass for _, mass in several)
    return found


def collected(release: Release) -> bool:
    """Whether its table is said to be a sample of a population."""
    return isinstance(release, Asked) and release.spec.collected is not None


def name_of(row: Row, unit: str) -> object:
    return row if unit == "row" else getattr(row, unit)


def without(table: Table, unit: str) -> Iterator[tuple[object, Table]]:
    """Every table with one person less, by this unit; of people with the same rows, one goes."""
    whose: dict[object, list[tuple[str, ...]]] = {}
    for row in table:
        whose.setdefault(name_of(row, unit), []).append(row.shown)
    for name in {tuple(sorted(rows)): name for name, rows in whose.items()}.values():
        yield name, tuple(row for row in table if name_of(row, unit) != name)


# --- against what is said -------------------------------------------------------------------------------------------


def broken(totals: Totals, releases: Sequence[Release], tables: Sequence[Table]) -> list[str]:
    """Every notion of which some pair of neighbouring tables shows more than the totals say, with that table."""
    found = []
    for notion in ("differential", "replaced", "adaptive", "zero_knowledge", "crowd_blending", "outlier", "population"):
        total: Total = getattr(totals, notion)
        if total.derivation is not None:
            witness = _witness(total.derivation.conclusion, total.derivation.people, releases, tables)
            if witness is not None:
                found.append(f"{notion}: {total.derivation.conclusion} for {total.derivation.people}, but {witness}")
    return found


def _witness(
    promise: object, people: People | None, releases: Sequence[Release], tables: Sequence[Table]
) -> str | None:
    assert people is not None
    if isinstance(promise, DifferentialPrivacy) and promise.neighbours is Neighbours.REPLACE:
        return _replaced_witness(promise, people.unit, releases, tables)
    if isinstance(promise, SimpleOutlier | StaircaseOutlier):
        promise = promise.as_outlier()
    unit, flat = people.unit, people.whose is Whose.KEPT_ROWS
    if flat:  # each kept row is by itself
        unit, tables = "row", [table for table in tables if len({row.patient for row in table}) == len(table)]
    for table in tables:
        for name, rest in without(table, unit):
            if isinstance(promise, DifferentialPrivacy | ZeroKnowledge):
                if people.whose is Whose.POPULATION:
                    how = next(each.spec.collected.sample for each in releases if collected(each))  # type: ignore[union-attr]
                    rate = how.p if isinstance(how, BernoulliSample) else how.high
                    both = sampled(releases, table, rest, unit, float(rate))
                else:
                    both = joint(releases, table, rest)
                epsilon, most = float(promise.epsilon), float(promise.delta)  # type: ignore[arg-type]
            elif isinstance(promise, OutlierPrivacy):
                both = joint(releases, table, rest, flat=flat)
                crowd = _crowd(releases, table, name, unit, tables, flat, 0.0)
                epsilon, most = _at(promise.curve, crowd), float(promise.delta)
            else:
                assert isinstance(promise, CrowdBlending)
                both, epsilon, most = joint(releases, table, rest, flat=flat), float(promise.epsilon), 0.0  # type: ignore[arg-type]
                if loss(both) <= epsilon + SLACK:
                    continue
                if _crowd(releases, table, name, unit, tables, flat, epsilon) >= promise.k:
                    continue
                return f"{name} of {_told(table)} has no crowd and is missed: {loss(both)}"
            excess = delta(both, epsilon) - most
            if excess > SLACK:
                return f"without {name} of {_told(table)}: delta {most + excess} at {epsilon}, loss {loss(both)}"
    return None


def _replaced_witness(
    promise: DifferentialPrivacy, unit: str, releases: Sequence[Release], tables: Sequence[Table]
) -> str | None:
    """One person replaced by somebody with one row, whatever is in it."""
    epsilon, most = _float(promise.epsilon), float(promise.delta)
    for table in tables:
        for name, rest in without(table, unit):
            for a, b in product("xy", repeat=2):
                other = (*rest, Row("new", "new", a, b, a))
                excess = delta(joint(releases, table, other), epsilon) - most
                if excess > SLACK:
                    return f"{name} of {_told(table)} replaced by {a}{b}: delta {most + excess} at {epsilon}"
    return None


def _float(loss: Loss) -> float:
    return math.inf if isinstance(loss, Infinite) else float(loss)


def _at(curve: Curve, crowd: int) -> float:
    return _float(curve.at(crowd))


def _crowd(
    releases: Sequence[Release],
    table: Table,
    name: object,
    unit: str,
    tables: Sequence[Table],
    flat: bool,
    epsilon: float,
) -> int:
    """How many people of the table blend with one of them, as far as these tables tell."""
    whose: dict[object, Table] = {}
    for row in table:
        whose[name_of(row, unit)] = (*whose.get(name_of(row, unit), ()), row)
    one = _fresh(whose[name])
    return sum(_blend(tuple(releases), one, _fresh(rows), tuple(tables), flat, epsilon) for rows in whose.values())


def _fresh(rows: Table) -> Table:
    """A person with these rows who is nobody of the tables."""
    return tuple(row._replace(patient="t", doctor=f"t{i}") for i, row in enumerate(sorted(rows)))


@cache
def _blend(
    releases: tuple[Release, ...], one: Table, two: Table, tables: tuple[Table, ...], flat: bool, epsilon: float
) -> bool:
    if [row.shown for row in one] == [row.shown for row in two]:
        return True
    return all(loss(joint(releases, table + one, table + two, flat=flat)) <= epsilon + SLACK for table in tables)


def _told(table: Table) -> str:
    return ", ".join(f"{row.patient}/{row.doctor}:{''.join(row.shown)}" for row in table)
