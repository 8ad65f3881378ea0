"""Totals beside bins: they add up, their intervals follow the law of a sum of noises, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hubbub import registry
from hubbub.engines.opening import open_source
from hubbub.errors import WrongUse
from hubbub.kinds.sum.result import Totals
from hubbub.kinds.sums.intervals import reach, reach_of_many
from hubbub.kinds.sums.result import Answers
from hubbub.kinds.sums.subtotals import groups
from hubbub.noise.source import ScriptedSource
from hubbub.tables.bins import parse

TABLE = pa.table(
    {
        "id": [i // 2 for i in range(400)],
        "ward": [("a", "b")[i % 2] for i in range(400)],
        "sex": [("f", "m", "x")[i % 3] for i in range(400)],
        "days": [i % 10 for i in range(400)],
    }
)
BY = ["ward=a,b", "sex=f,m,x"]


def test_groups_are_all_bins_and_then_by_fewer_columns() -> None:
    found = [(each.columns, each.key, each.codes) for each in groups(list(map(parse, BY)))]
    assert found == [
        ((), (None, None), (0, 1, 2, 3, 4, 5)),
        (("ward",), ("a", None), (0, 1, 2)),
        (("ward",), ("b", None), (3, 4, 5)),
        (("sex",), (None, "f"), (0, 3)),
        (("sex",), (None, "m"), (1, 4)),
        (("sex",), (None, "x"), (2, 5)),
    ]


@pytest.mark.parametrize("bins", [2, 6, 40])
@pytest.mark.parametrize("rates", [(Fraction(1, 2),), (Fraction(1, 4), Fraction(1, 3))])
def test_the_reach_of_many_noises_is_above_their_quantile_and_not_far(rates: tuple[Fraction, ...], bins: int) -> None:
    """Against the exact law of the sum, folded by floats."""
    size, law = 800, np.array([1.0])
    for rate in rates:
        x = np.abs(np.arange(-size, size + 1))
        one = np.tanh(float(rate) / 2) * np.exp(-float(rate) * x)
        for _ in range(bins):
            law = np.convolve(law, one)
            middle = law.size // 2
            law = law[middle - size : middle + size + 1]
    above = 1 - np.cumsum(law)  # P(N > x), x = -size..size
    for miss in (Fraction(1, 40), Fraction(1, 1000)):
        found = reach_of_many(rates, bins, miss)
        smallest = int(np.flatnonzero(above <= float(miss) + 1e-12)[0]) - size
        assert smallest <= found <= 1.6 * smallest + 4
    assert reach_of_many((Fraction(1, 2),), 1, Fraction(1, 40)) == reach(Fraction(1, 2), Fraction(1, 20))
    assert reach_of_many((Fraction(1, 30),), 2, Fraction(1, 40)) <= 150  # by Markov alone it would be 214


CASES: list[tuple[str, dict[str, Any]]] = [
    ("count", {}),
    ("fraction", {"where": "days >= 5"}),
    ("mean", {"of": "days:0..9:1"}),
    ("sum", {"of": "days:0..9:1", "cap": "18"}),
    ("sum", {"of": "days:0..9:1"}),
]


@pytest.mark.parametrize(("kind", "words"), CASES, ids=str)
def test_totals_are_told_of_what_was_drawn_for_the_bins(kind: str, words: dict[str, Any]) -> None:
    spec = registry.kind(kind).from_options(person="id", by=BY, rows_per_person="2", totals=True, epsilon="60", **words)
    result = spec.present(spec.measure(open_source(TABLE), ScriptedSource.from_label(kind)))
    assert isinstance(result, Answers | Totals)
    days = np.array(TABLE.column("days").to_pylist())
    truth = {"count": 400, "fraction": (days >= 5).mean(), "mean": days.mean(), "sum": days.sum()}[kind]
    answers = [(group, answer) for group, answer in result.totals()]
    assert len(answers) == 6
    first = answers[0][1]
    assert first.high is not None
    assert first.low <= Fraction(float(truth)) <= first.high
    assert first.high - first.low <= 40
    assert [sheet.name for sheet in result.sheets()][-1] == "totals"
    assert len(result.facts()["totals"]) == 6
    assert any("All bins together" in each for each in result.sentences())
    if kind in ("count", "sum") and "cap" in (words or {"cap": 1}):
        values = [answer.value for _, answer in answers]
        assert None not in values
        assert values[0] == sum(values[1:3]) == sum(values[3:])  # type: ignore[arg-type]


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("count", {"epsilon": "1"}, "totals are of several bins"),
    ("count", {"by": BY, "crowd": "5"}, "plain noise on a partition"),
    ("count", {"by": BY, "epsilon": "1", "any_row": True, "distinct": "2", "where": "days > 1"}, "plain noise"),
    ("sum", {"by": BY, "of": "days:0..9:1", "crowd": "5", "epsilon": "1"}, "plain noise"),
    ("mean", {"by": BY, "of": "days:0..9:1", "zero_knowledge": "1", "rows": 5, "people": 9}, "plain noise"),
    (
        "mean",
        {"by": BY, "of": "days:0..9:1", "epsilon": "1", "one_row_per_person": True, "expected_rows": True},
        "plain",
    ),
    ("sum", {"by": [*BY, "a=1", "b=1", "c=1"], "of": "days:0..9:1", "epsilon": "1"}, "at most 4 columns"),
]


@pytest.mark.parametrize(("kind", "words", "says"), WRONG, ids=str)
def test_totals_that_are_not_known_are_refused(kind: str, words: dict[str, Any], says: str) -> None:
    with pytest.raises(WrongUse, match=says):
        registry.kind(kind).from_options(person="id", totals=True, **words)
