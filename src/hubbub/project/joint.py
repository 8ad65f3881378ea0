"""Tables of the same people, planned together: one release instead of several, with at most the error of each by itself.

Which tables come together: counts with plain noise, by declared bins, of the same people read in the same way, where a
column has the same bins in all of them. Their epsilons (and deltas) are added up, and the release gets the sum.

**A person in no declared bin** of one column still counts in the tables by other columns. So a column that some table of
the release does not have gets two bins more, null and other, and then everybody is in one cell of each such table.

**Chosen only if no table is worse.** The variance of a number of each table follows from the plan alone. The joint release
is taken if no table has a larger one than by itself, with its own part of the promise; of several such plans, the one with
the least mean of these ratios, weighted by the parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from hubbub.errors import HubbubError, WrongUse
from hubbub.kinds.histogram.spec import Histogram
from hubbub.kinds.queries.request import queries
from hubbub.kinds.queries.spec import Queries
from hubbub.kinds.table import Table
from hubbub.numeric.exact import rational, to_text
from hubbub.project.plan_file import PlanEntry
from hubbub.protocol.bound import Bound
from hubbub.query_classes.classes import MOST_SHARE, NamedTable, NamedTables, is_table_name
from hubbub.query_classes.marginals.shares import precision
from hubbub.query_classes.residual import Residual
from hubbub.query_classes.setting import HasVariances
from hubbub.query_classes.split_tables import JointTables
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.exact_json import plain
from hubbub.tables.bins import OTHER, Declared, Discovered, Values, declared_size, size

_JOINT_OPTIONS: Final = frozenset({"by", "epsilon", "delta", "unique_person"})
"""What a release may ask for and still come together with others: all else is a wish of its own."""
_MOST_COLUMNS: Final = 6  # of a table: as many tables are below it as it has sets of columns
_MOST_CELLS: Final = 10**6
_MOST_TABLES: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A table that may come together with others: what it was asked for, and its variance by itself."""

    entry: PlanEntry
    table: Table
    spec: Histogram
    axes: tuple[Declared, ...]
    epsilon: Fraction
    delta: Fraction
    variance: float

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(axis.column for axis in self.axes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """One release for several tables; `variances` are those of a number of each, in the order of the members."""

    members: tuple[Member, ...]
    spec: Queries
    variances: tuple[float, ...]

    @property
    def ratios(self) -> tuple[float, ...]:
        """The variance of each table over that which it has by itself."""
        return tuple(ours / each.variance for ours, each in zip(self.variances, self.members, strict=True))

    @property
    def ratio(self) -> float:
        """The mean of the ratios, weighted by the parts of the promise."""
        parts = [float(each.epsilon) for each in self.members]
        return math.fsum(p * r for p, r in zip(parts, self.ratios, strict=True)) / math.fsum(parts)


def member(entry: PlanEntry, table: Table, bound: Bound) -> Member | None:
    """The release as a table that may come together with others; None if it may not."""
    spec = bound.spec
    own = entry.sql is not None or entry.series is not None or entry.corrects is not None
    if own or not isinstance(spec, Histogram) or not is_table_name(entry.name):
        return None
    axes = tuple(axis for axis in spec.axes if not isinstance(axis, Discovered))
    plain = spec.sample is None and spec.collected is None and spec.parts is None and not spec.unit.chooses
    if (
        not set(entry.options) <= _JOINT_OPTIONS
        or not plain
        or len(axes) != len(spec.axes)
        or len(axes) > _MOST_COLUMNS
    ):
        return None
    variance = _variance(spec)
    if variance is None or (declared_size(axes) or 0) > _MOST_CELLS:
        return None
    epsilon, delta = (rational(entry.options.get(name, 0), name) for name in ("epsilon", "delta"))
    return Member(entry=entry, table=table, spec=spec, axes=axes, epsilon=epsilon, delta=delta, variance=variance)


def _variance(spec: Histogram) -> float | None:
    rate, noise = spec.channel.plain_noise, spec.channel.gaussian_noise(1)
    if rate is not None:
        return float(1 / precision(np.array(float(rate))))
    return None if noise is None else float(noise.s2)


def groups(members: Sequence[Member]) -> Iterator[tuple[Member, ...]]:
    """The members, by what may come together, each group in their order."""
    found: list[list[Member]] = []
    for each in members:
        home = next((group for group in found if _fits(each, group)), None)
        if home is None:
            found.append([each])
        else:
            home.append(each)
    yield from map(tuple, found)


def _fits(one: Member, group: Sequence[Member]) -> bool:
    first, bins = group[0], {axis.column: axis for each in group for axis in each.axes}
    return (
        len(group) < _MOST_TABLES
        and dict(one.table.reading) == dict(first.table.reading)
        and (one.spec.unit, one.spec.coverage, one.entry.form)
        == (first.spec.unit, first.spec.coverage, first.entry.form)
        and one.columns not in {each.columns for each in group}
        and all(bins.get(axis.column, axis) == axis for axis in one.axes)
    )


def joint(members: tuple[Member, ...]) -> Joint | None:
    """The best release of all of them together; None if there is none in which no table is worse than by itself.

    Guarantee: the epsilon of the release is the sum of theirs, and its delta at most the sum of theirs. In each table the
    variance of a number is at most that of the table by itself, as far as double precision tells.
    """
    if len(members) < 2:
        return None
    delta = sum((each.delta for each in members), Fraction(0))
    found = [
        _plan_joint(members, JointTables.name, Fraction(0)),
        _plan_joint(members, Residual.name, delta) if delta else None,
    ]
    good = [each for each in found if each is not None and max(each.ratios) <= 1]
    return min(good, key=lambda each: each.ratio, default=None)


def _plan_joint(members: tuple[Member, ...], method: str, delta: Fraction) -> Joint | None:
    try:
        axes, of = domain(members)
        spec = queries(
            axes,
            of.name,
            epsilon=sum((each.epsilon for each in members), Fraction(0)),
            delta=delta or None,
            method=method,
            coverage=members[0].spec.coverage,
            unit=members[0].spec.unit,
        ).with_schema(members[0].table.engine.columns())
        spec.promises()
    except HubbubError:  # too wide, too large, or a value of somebody's is called as a bin of ours
        return None
    return of_spec(members, spec)


def of_spec(members: tuple[Member, ...], spec: Queries) -> Joint:
    """The joint release that a spec is, of these members in their order."""
    assert isinstance(spec.method, HasVariances) and isinstance(spec.queries, NamedTables)
    variances = spec.method.table_variances(spec.setting)
    by_name = {each.name: variances[each.columns] for each in spec.queries.tables}
    return Joint(members=members, spec=spec, variances=tuple(by_name[each.entry.name] for each in members))


def domain(members: tuple[Member, ...]) -> tuple[tuple[Declared, ...], NamedTables]:
    """All columns, with bins for everybody where a table does without the column, and the tables by their places."""
    every = {axis.column: axis for each in members for axis in each.axes}
    axes = tuple(
        axis if all(axis.column in each.columns for each in members) else _for_everybody(axis)
        for axis in every.values()
    )
    places = {axis.column: i for i, axis in enumerate(axes)}
    sets = [tuple(sorted(places[column] for column in each.columns)) for each in members]
    shares = _shares([each.epsilon for each in members])
    named = tuple(
        NamedTable(each.entry.name, columns, share) for each, columns, share in zip(members, sets, shares, strict=True)
    )
    return axes, NamedTables(tuple(map(size, axes)), max(map(len, sets)), tables=named)


def _for_everybody(axis: Declared) -> Declared:
    if not axis.other and isinstance(axis, Values) and OTHER in axis.values:
        raise WrongUse(f"{axis.column} has a value that is called {OTHER}, as a bin would be; publish it by itself")
    return replace(axis, null=True, other=True)


def _shares(epsilons: list[Fraction]) -> list[int]:
    """The epsilons in whole parts, exactly where that takes no more than a million."""
    scale = math.lcm(*(each.denominator for each in epsilons))
    whole = [int(each * scale) for each in epsilons]
    small = [each // math.gcd(*whole) for each in whole]
    if max(small) <= MOST_SHARE:
        return small
    return [max(int(MOST_SHARE * each / max(epsilons)), 1) for each in epsilons]


def same_request(published: dict[str, Any], members: tuple[Member, ...]) -> bool:
    """Whether what was published is what these members ask for; which noise it got was decided then.

    Guarantee: true only if domain, bins, tables, unit and coverage are the same, epsilon is the sum of theirs, and delta is 0
    or the sum of theirs.
    """
    try:
        axes, of = domain(members)
    except WrongUse:
        return False
    epsilon, delta = (sum((getattr(each, name) for each in members), Fraction(0)) for name in ("epsilon", "delta"))
    asked = {
        "bins": [plain(axis) for axis in axes],
        "class": of.name,
        "epsilon": to_text(epsilon),
        "coverage": to_text(members[0].spec.coverage),
        "unit": plain(members[0].spec.unit),
    }
    return all(published.get(name) == value for name, value in asked.items()) and published.get("delta") in (
        "0",
        to_text(delta),
    )
