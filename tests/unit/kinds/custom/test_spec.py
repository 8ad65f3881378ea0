"""A mechanism of the user's on a secret sample: who is drawn, in which order, whose claim it is, what it costs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from scipy import stats

import hubbub
from hubbub.engines.opening import open_source
from hubbub.engines.sql.sqlite import open_sqlite
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours, RandomSample, ZeroKnowledge
from hubbub.kinds.custom.spec import FAILED, Sanitizing
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.tables.engine import OTHER_NUMBER
from hubbub.tables.privacy_unit import Unit
from tests.fresh import opened

N = 50
PEOPLE = pa.table({"id": list(range(N)), "age": [3 * i % 90 for i in range(N)], "town": ["Bath"] * 30 + ["York"] * 20})
STATED = {"epsilon": "1", "neighbours": "replace"}


def sanitizing(mechanism: Any = len, **words: Any) -> Sanitizing:
    return hubbub.sample_and_sanitize(mechanism, **{"rows": 10, "people": N, "columns": "age", **STATED, **words})


def test_theorem_a1_a_mechanism_on_k_of_n_rows_has_the_sharp_epsilon() -> None:
    knows, private = sanitizing(delta="0.001").promises
    assert isinstance(knows.conclusion, ZeroKnowledge)
    assert knows.conclusion.aggregate == RandomSample(k=10, n=N)
    assert float(knows.conclusion.epsilon) == pytest.approx(math.log(1 + 0.2 * math.expm1(1)), abs=1e-12)
    assert knows.conclusion.delta == Fraction(2, 10_000)
    assert isinstance(private.conclusion, DifferentialPrivacy)
    assert private.conclusion.neighbours is Neighbours.REPLACE
    assert private.conclusion.epsilon == knows.conclusion.epsilon


def test_one_row_more_or_less_costs_twice_when_it_is_replaced() -> None:
    more_or_less = sanitizing(epsilon="0.5", neighbours="add/remove").promises[0].conclusion
    assert more_or_less == sanitizing().promises[0].conclusion


def test_it_says_whose_claim_the_epsilon_is() -> None:
    told = " ".join(sanitizing().promises[0].all_assumptions())
    assert "this is the claim of whoever stated it, and nothing here has checked it" in told
    assert "by the claim of whoever stated it" in repr(sanitizing()(opened(PEOPLE, person="id", dataset="town")))


def test_every_set_of_people_in_every_order_is_equally_likely() -> None:
    """Chi-square over the 12 ordered pairs of four people. Size 1e-6; rows in the order of the table would miss half of
    the pairs, a statistic of at least 300."""
    seen: Counter[tuple[int, ...]] = Counter()
    made = sanitizing(lambda cells: seen.update([tuple(cells)]), rows=2, people=4, columns="id")
    spec = made._spec(Unit(person="id"))
    engine, source = open_source(PEOPLE.slice(0, 4)), ScriptedSource.from_label("ordered pairs")
    runs = 300
    for _ in range(runs):
        spec.run_custom(engine, source)
    expected = runs / 12
    statistic = sum((seen[pair] - expected) ** 2 / expected for pair in itertools.permutations(range(4), 2))
    assert seen.total() == runs
    assert statistic < stats.chi2.isf(1e-6, 11), (runs, statistic)


def test_the_mechanism_gets_whole_rows_and_the_ledger_an_entry() -> None:
    table = opened(PEOPLE, person="id", dataset="town")
    given: list[pa.Table] = []

    def counted(rows: pa.Table) -> int:
        given.append(rows)
        return int(rows.num_rows)

    private = sanitizing(counted, columns=["town", "id"])
    value = private(table)
    assert value.value == 10
    assert given[0].column_names == ["town", "id"]
    pairs = list(zip(*(column.to_pylist() for column in given[0].columns), strict=True))
    assert len(set(pairs)) == 10
    assert all(town == ("Bath" if who < 30 else "York") for town, who in pairs)
    private(table)
    account = Ledger().account("town")
    assert len(account.spent_releases) == 2
    assert account.totals is not None
    knowledge = account.totals.zero_knowledge.guarantee
    assert isinstance(knowledge, ZeroKnowledge)
    assert knowledge.aggregate == RandomSample(k=20, n=N)


def test_a_mechanism_that_fails_tells_nothing_and_is_spent() -> None:
    table = opened(PEOPLE, person="id", dataset="town")

    def broken(cells: list[int]) -> None:
        raise ValueError(f"cannot do {cells}")

    with pytest.raises(Refused) as refused:
        sanitizing(broken)(table)
    assert str(refused.value) == FAILED
    assert refused.value.__context__ is None
    assert len(Ledger().account("town").spent_releases) == 1


def test_another_number_of_people_is_refused_before_anybody_is_drawn() -> None:
    table = opened(PEOPLE, person="id", dataset="town")
    with pytest.raises(Refused) as refused:
        sanitizing(people=N + 1)(table)
    assert str(refused.value) == OTHER_NUMBER
    assert not Ledger().account("town").spent_releases


def test_people_with_several_rows_are_refused() -> None:
    twice = pa.concat_tables([PEOPLE.slice(0, N - 1), PEOPLE.slice(0, 1)])
    with pytest.raises(Refused, match=r"release that$"):
        sanitizing()(opened(twice, person="id", dataset="town"))


def test_rows_of_another_database_are_handed_over(tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE people (id INTEGER, age INTEGER)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", [(i, i % 7) for i in range(N)])
    connection.close()
    engine = open_sqlite(str(tmp_path / "t.db"), "people")
    given: list[pa.Table] = []
    sanitizing(given.append, columns=["id", "age"])._spec(Unit(person="id")).run_custom(engine, SystemSource())
    pairs = list(zip(*(column.to_pylist() for column in given[0].columns), strict=True))
    assert len(set(pairs)) == 10
    assert all(age == who % 7 for who, age in pairs)


class Measurement:
    """Looks like one of OpenDP's."""

    def __init__(self, metric: str, measure: str, loss: Any) -> None:
        self.input_metric, self.output_measure, self.loss = metric, measure, loss
        self.asked: list[int] = []

    def map(self, apart: int) -> Any:
        self.asked.append(apart)
        return self.loss

    def __call__(self, cells: list[int]) -> int:
        return len(cells)


@pytest.mark.parametrize(
    ("metric", "measure", "loss", "apart", "epsilon", "delta"),
    [
        ("SymmetricDistance()", "MaxDivergence", 0.1, 2, Fraction(0.1), 0),
        ("InsertDeleteDistance()", "MaxDivergence(f64)", 2.0, 2, 2, 0),
        ("ChangeOneDistance()", "MaxDivergence", 1, 1, 1, 0),
        ("SymmetricDistance()", "Approximate(MaxDivergence)", (0.5, 2**-20), 2, Fraction(1, 2), Fraction(1, 2**20)),
        ("HammingDistance()", "FixedSmoothedMaxDivergence(f64)", (0.5, 0.0), 1, Fraction(1, 2), 0),
    ],
)
def test_a_measurement_says_itself_what_it_loses(
    metric: str, measure: str, loss: Any, apart: int, epsilon: Fraction, delta: Fraction
) -> None:
    measurement = Measurement(metric, measure, loss)
    made = hubbub.sample_and_sanitize(measurement, rows=10, people=N, columns="age")
    assert measurement.asked == [apart]
    assert (made.claim.epsilon, made.claim.delta, made.claim.neighbours) == (epsilon, delta, Neighbours.REPLACE)
    assert "OpenDP" in made.claim.whose


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ({"mechanism": 3}, "is a function"),
        ({"rows": 0}, "rows"),
        ({"rows": N + 1}, "at most 50"),
        ({"columns": []}, "columns"),
        ({"columns": ["age", "age"]}, "different names"),
        ({"neighbours": None}, "factor of two"),
        ({"neighbours": "edges"}, "factor of two"),
        ({"epsilon": "0"}, "above 0"),
        ({"epsilon": "inf"}, "finite"),
        ({"delta": "1"}, "below 1"),
        ({"epsilon": None}, "no OpenDP measurement"),
        ({"epsilon": None, "mechanism": Measurement("L2Distance(f64)", "MaxDivergence", 1)}, "input metric"),
        (
            {"epsilon": None, "mechanism": Measurement("SymmetricDistance()", "RenyiDivergence", 1)},
            "measure",
        ),
        ({"epsilon": None, "mechanism": Measurement("SymmetricDistance()", "MaxDivergence", math.inf)}, "no finite"),
        ({"epsilon": None, "mechanism": Measurement("SymmetricDistance()", "MaxDivergence", "x")}, "no finite"),
    ],
)
def test_wrong_uses_are_one_sentence(words: dict[str, Any], match: str) -> None:
    with pytest.raises(HubbubError, match=match) as wrong:
        sanitizing(**words)
    assert "\n" not in str(wrong.value)


def test_there_is_no_certificate_and_it_says_why() -> None:
    spec = sanitizing()._spec(Unit())
    with pytest.raises(WrongUse, match="no certificate, because nobody could check it"):
        spec.to_json()
