"""The exact law of `measure` on every small table, held against the promise by the auditor.

All tables of up to four people (fewer where there are too many outcomes; as many as are declared where their number is
enforced), every pair of neighbours among them, every promise to the people of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from flint import arb

from hubbub import registry
from hubbub.audit.exact import of_laws
from hubbub.engines.opening import open_source
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, Guarantee, TailoredPrivacy
from hubbub.protocol.spec import Spec
from tests.conformance import enumeration
from tests.conformance.toy import Toy
from tests.slow import first_is_fast
from tests.witnesses.kinds_that_leak import Leaking, Thrice

MISSING = 5e-4
"""What a law may leave out at the most. What is left out counts for neither side (:func:`of_laws`)."""

QUESTIONS = """
people = 3
rows = {rows}
zero_knowledge = {loss}

[[question]]
name = "old"
kind = "count"
where = "age >= 1"

[[question]]
name = "ages"
kind = "mean"
of = "age:0..1:1"
"""

Person = tuple[str, int]
BATH, YORK, OLD, WELLS = ("Bath", 0), ("York", 0), ("York", 2), ("Wells", 1)
BY_TOWN = {"by": ("town=Bath,York",)}


@dataclass(frozen=True)
class Case:
    """A kind with its options, the people who may be in a table, and how many of them there are at the most."""

    kind: str
    options: Mapping[str, Any]
    people: Sequence[Person] = (BATH, YORK)
    most: int = 4
    tight: bool = True  # whether half of what is promised would not hold

    def spec(self, folder: Path) -> Spec:
        options = dict(self.options)
        if self.kind == "questions":
            options["spec"] = str(folder / "questions.toml")
            (folder / "questions.toml").write_text(QUESTIONS.format(**options.pop("file")))
        asked = registry.kind(self.kind).ask(person="id", **options)
        return asked.with_schema(open_source(table(self.people[:1])).columns())


def table(people: Sequence[Any]) -> pa.Table:
    towns, ages = [town for town, _ in people], [age for _, age in people]
    columns = {"town": pa.array(towns, pa.string()), "age": pa.array(ages, pa.int64())}
    return pa.table({**columns, "id": pa.array(range(len(people)), pa.int64())})


AGE, EVERY = {"of": "age:0..2:1"}, (BATH, YORK, OLD)
ONE_AXIS, TWO_AXES = ("town=Bath,York",), ("town=Bath,York", "age:0..4:2")
FLAT = {"columns": ONE_AXIS, "class": "conjunctions:1", "epsilon": "2"}

CASES = {
    "histogram, noise": Case("histogram", {**BY_TOWN, "epsilon": "2"}),
    "histogram, crowds": Case("histogram", {**BY_TOWN, "crowd": "2"}),
    "histogram, noise below": Case("histogram", {**BY_TOWN, "crowd": "3", "epsilon": "1"}),
    "histogram, found": Case("histogram", {"by": ("town",), "crowd": "2"}),
    "histogram, sampled": Case("histogram", {**BY_TOWN, "epsilon": "2", "sample": "0.5"}),
    "histogram, gaussian": Case("histogram", {**BY_TOWN, "epsilon": "2", "delta": "0.01", "mechanism": "gaussian"}),
    "count": Case("count", {"where": "age >= 1", "epsilon": "1"}, (BATH, OLD)),
    "count, crowds": Case("count", {**BY_TOWN, "where": "age < 2", "crowd": "2"}, EVERY),
    "count, gaussian": Case("count", {"where": "age >= 1", "epsilon": "2", "delta": "0.01", "mechanism": "gaussian"}, (BATH, OLD)),
    "mean, gaussian": Case("mean", {**AGE, "epsilon": "4", "delta": "0.05", "mechanism": "gaussian"}, (BATH, WELLS, OLD), most=2, tight=False),
    "sum, gaussian": Case("sum", {**AGE, "cap": "2", "epsilon": "3", "delta": "0.02", "mechanism": "gaussian"}, (BATH, WELLS, OLD)),
    "fraction": Case("fraction", {"where": "age >= 1", "epsilon": "2"}, (BATH, OLD)),
    "fraction, crowds": Case("fraction", {"where": "age >= 1", "crowd": "2", "epsilon": "1"}, (BATH, OLD)),
    "mean": Case("mean", {**AGE, "epsilon": "3"}, (BATH, WELLS, OLD)),
    "mean, crowds": Case("mean", {**AGE, "crowd": "2", "epsilon": "1"}, (BATH, WELLS, OLD)),
    "quantile": Case("quantile", {**AGE, "epsilon": "2"}, (BATH, WELLS, OLD)),
    "sum, cap": Case("sum", {**AGE, "cap": "1", "epsilon": "1"}, (BATH, WELLS, OLD)),
    "sum, layers": Case("sum", {**AGE, "epsilon": "4"}, (BATH, WELLS, OLD)),
    "summary": Case("summary", {"number": ("people", "mean age:0..2:1"), "epsilon": "6"}, (BATH, WELLS, OLD), most=2),
    "summary, drawn cap": Case("summary", {"number": ("rows",), "rows_per_person": "2", "epsilon": "2"}, (BATH,), tight=False),
    "summary, gaussian": Case("summary", {"number": ("rows 1", "sum age:0..2:1"), "rows_per_person": "1", "epsilon": "3", "delta": "0.02", "mechanism": "gaussian"}, (BATH, WELLS, OLD), most=2, tight=False),
    "sum, octaves": Case("sum", {"of": "age:0..3:1", "tailored": "1:3,2:5", "delta": "0.2"}, (WELLS, OLD, ("York", 3)), most=3),
    "sum, own cap": Case("sum", {**AGE, "cap": "auto", "epsilon": "4"}, (BATH, WELLS, OLD), most=3, tight=False),
    "std": Case("std", {**AGE, "epsilon": "8"}, (BATH, WELLS, OLD), most=2),
    "cube": Case("cube", {"by": TWO_AXES, "epsilon": "12", "margins": "town"}, EVERY, most=2),
    "cube, crowds": Case("cube", {"by": TWO_AXES, "crowd": "2"}, EVERY, most=3),
    "queries, cells": Case("queries", {**FLAT, "method": "histogram"}),
    "queries, tree": Case("queries", {"columns": ("age:0..4:2",), "class": "intervals", "epsilon": "4", "method": "tree"}, (BATH, OLD)),
    "queries, marginals": Case("queries", {"columns": ONE_AXIS, "class": "marginals:1", "epsilon": "2"}),
    "queries, small": Case("queries", {**FLAT, "class": "intervals", "columns": ("age:0..4:2",), "people": "3", "method": "small-database"}, (BATH, OLD)),
    "queries, sampled": Case("queries", {"columns": ONE_AXIS, "class": "marginals:1", "zero_knowledge": "2", "rows": "2", "people": "3"}),
    "questions": Case("questions", {"file": {"rows": 2, "loss": 4}}, (BATH, OLD)),
}  # fmt: skip


def laws_of(
    spec: Spec, people: Sequence[Person], most: int, reach: float = enumeration.REACH
) -> dict[enumeration.People, enumeration.Law]:
    every = enumeration.tables(people, most, spec.enforced_number)
    return {each: enumeration.law_of(spec, open_source(table(each)), reach) for each in every}


def check(spec: Spec, people: Sequence[Person], most: int, *, tight: bool, reach: float = enumeration.REACH) -> None:
    """An AssertionError if the auditor has something against a promise; or, where the promises are tight, nothing
    against ones that are half as much (or of a crowd with one person more)."""
    laws = laws_of(spec, people, most, reach)
    for law in laws.values():
        total = sum(law.values(), arb(0))
        assert 1 - MISSING * reach / enumeration.REACH <= float(total.mid()) <= 1 + 1e-9, (
            f"a law that is not all there: {total}"
        )
    promises = [step.conclusion for step in spec.table_promises()]
    games = [each for each in promises if isinstance(each, DifferentialPrivacy | CrowdBlending | TailoredPrivacy)]
    assert games, "no promise that two laws can break"
    for promise in games:
        against = enumeration.accused(promise, laws, people, octave)
        assert against is None, against
        more = enumeration.accused(_more(promise), laws, people, octave)
        assert not tight or more, f"more than {promise} holds as well"


def octave(person: Person) -> int:
    """The cell of tailored sums: whose ages have as many binary digits."""
    return person[1].bit_length()


def _more(promise: DifferentialPrivacy | CrowdBlending | TailoredPrivacy) -> Guarantee:
    if isinstance(promise, CrowdBlending):
        return replace(promise, k=promise.k + 1)
    if isinstance(promise, TailoredPrivacy):
        return replace(promise, curve=promise.curve.times(Fraction(1, 2)), delta=promise.delta / 2)
    assert isinstance(promise.epsilon, Fraction)
    return replace(promise, epsilon=promise.epsilon / 2, delta=promise.delta / 2)


@pytest.mark.parametrize("name", first_is_fast(CASES, lambda name: CASES[name].kind))
def test_the_exact_law_of_measuring_keeps_every_promise_on_the_smallest_tables(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    check(case.spec(tmp_path), (case.people[0], case.people[-1]), 1, tight=False, reach=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_exact_law_of_measuring_keeps_every_promise_and_hardly_more_on_every_small_table(
    name: str, tmp_path: Path
) -> None:
    case = CASES[name]
    check(case.spec(tmp_path), case.people, case.most, tight=case.tight)


@pytest.mark.parametrize("witness", [Leaking, Thrice])
def test_exact_laws_refute_the_kinds_that_leak(witness: Callable[..., Spec]) -> None:
    with pytest.raises(AssertionError, match="told apart by more than is promised"):
        check(witness(epsilon=Fraction(1)), (BATH,), 2, tight=False)
    check(Toy(epsilon=Fraction(1)), (BATH,), 2, tight=True)  # the same kind without the fault


def test_a_promise_that_is_a_tenth_too_small_is_refuted() -> None:
    """The enumeration has the power to find it: what is left out of the laws is far less than what such a lie costs."""
    spec = Toy(epsilon=Fraction(1))
    laws = laws_of(spec, (BATH,), 1)
    less = DifferentialPrivacy(epsilon=Fraction(9, 10))
    assert of_laws(laws[()], laws[BATH,], less).is_refuted
    assert not of_laws(laws[()], laws[BATH,], DifferentialPrivacy(epsilon=Fraction(1))).is_refuted
