"""The exact law of `measure` on every small table of people with several rows, held against the promise by the auditor.

All tables of up to three people with up to three rows each, every pair of neighbours among them. Nobody has more rows
than count, so that nothing is chosen before the noise: whoever has more is, given the choice, one of these. Noise is added
to numbers and does not depend on them, so that every law is that of the empty table, moved; which is looked at as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any

import pyarrow as pa
import pytest

from hubbub import registry
from hubbub.audit.exact import of_laws
from hubbub.engines.opening import open_source
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.protocol.spec import Spec
from tests.conformance import enumeration

REACH = 1e-7
ALMOST = 99  # per cent of the promise, which would not hold

Row = tuple[str, int, int]
Person = tuple[Row, ...]
Move = tuple[int, ...]
"""By how much one person moves what is drawn, number by number."""

NAMES = ("ward", "cost", "days")


@dataclass(frozen=True)
class Case:
    """A kind with its options, and the rows that people may have."""

    kind: str
    options: Mapping[str, Any]
    rows: Sequence[Row]
    most: int = 3

    @property
    def people(self) -> list[Person]:
        """Everybody who has one to three of these rows; with a cap all in one ward: what is cut in several wards is cut in a
        secret order, which is chosen before the noise."""
        every = [each for n in range(1, 4) for each in combinations_with_replacement(sorted(self.rows), n)]
        found = [rows for rows in every if "cap" not in self.options or len({ward for ward, *_ in rows}) == 1]
        return sorted(found, key=str)

    def spec(self) -> Spec:
        asked = registry.kind(self.kind).ask(person="id", rows_per_person="3", **self.options)
        return asked.with_schema(open_source(table(())).columns())


def table(people: Sequence[Person]) -> pa.Table:
    rows = [(i, *row) for i, person in enumerate(people) for row in person]
    columns = zip(("id", *NAMES), (pa.int64(), pa.string(), pa.int64(), pa.int64()), strict=True)
    return pa.table({name: pa.array([row[i] for row in rows], type_) for i, (name, type_) in enumerate(columns)})


COST = {"of": "cost:0..2:1"}
SOME: Sequence[Row] = (("A", 2, 0), ("A", 1, 0))
CASES = {
    "ratio": Case("ratio", {"of": "cost:0..1:1", "per": "days:0..1:1", "epsilon": "3"}, (("A", 1, 1), ("A", 1, 0))),
    "sum, cap": Case("sum", {**COST, "cap": "3", "epsilon": "2"}, SOME),
    "sum, lost": Case("sum", {**COST, "cap": "2", "lost": "0.5", "epsilon": "3"}, SOME),
    "sum, lost up to a maximum": Case("sum", {**COST, "cap": "1", "lost": "0.5", "cap_max": "3", "epsilon": "3"}, SOME),
    "sum, lost, by ward": Case(
        "sum",
        {**COST, "by": ("ward=A,B",), "cap": "3", "lost": "0.5", "epsilon": "4"},
        (("A", 2, 0), ("B", 2, 0)),
    ),
}


def moved(law: enumeration.Law, by: Move) -> enumeration.Law:
    """The same noise on other numbers."""
    return {_added(outcome, by): chance for outcome, chance in law.items()}  # type: ignore[arg-type]


def _added(outcome: enumeration.Outcome, by: Move) -> enumeration.Outcome:
    rest = iter(by)
    return tuple(tuple(tuple(each + next(rest) for each in row) for row in drawn) for drawn in outcome)


def _numbers(outcome: enumeration.Outcome) -> list[int]:
    return [each for drawn in outcome for row in drawn for each in row]


def apart(one: enumeration.Outcome, two: enumeration.Outcome) -> Move:
    return tuple(b - a for a, b in zip(_numbers(one), _numbers(two), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_nobody_with_several_rows_loses_more_than_is_promised_and_somebody_nearly_all_of_it(name: str) -> None:
    case = CASES[name]
    spec, people = case.spec(), case.people
    (promise,) = [each for step in spec.promises() if isinstance(each := step.conclusion, DifferentialPrivacy)]
    exactly = {
        each: enumeration.without_noise(spec, open_source(table(each)))  # type: ignore[arg-type]
        for each in enumeration.tables(people, case.most, None)
    }
    law = enumeration.law_of(spec, open_source(table(())), REACH)
    for few in (people[-1:], [people[0], people[-1]]):
        own = enumeration.law_of(spec, open_source(table(few)), 1e-3)
        here = moved(law, apart(exactly[()], exactly[tuple(few)]))
        assert len(own) > 10
        assert all(here[outcome].overlaps(chance) for outcome, chance in own.items())
    pairs = enumeration.neighbours_among(exactly, people, promise.neighbours)
    moves = {apart(exactly[one], exactly[two]) for one, two in pairs}
    less, attained = replace(promise, epsilon=promise.epsilon * ALMOST / 100), False
    for by in moves:
        other = moved(law, by)
        found = of_laws(law, other, promise)
        assert not found.is_refuted, (by, found.sentence())
        attained = attained or of_laws(law, other, less).is_refuted
    assert attained, f"{ALMOST} % of what is promised hold as well"
