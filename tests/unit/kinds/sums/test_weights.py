"""Design weights: what one person loses, what is estimated, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import pyarrow as pa
import pytest

from hubbub import registry
from hubbub.engines.opening import open_source
from hubbub.errors import WrongUse
from hubbub.kinds.sum import mechanism as sum_mechanism
from hubbub.kinds.sum.request import from_options as ask_sum
from hubbub.kinds.sums import mechanism as statistic_mechanism
from hubbub.kinds.sums.spec import Statistic
from hubbub.kinds.sums.weights import weighted_counts
from hubbub.noise.source import ScriptedSource
from tests.fresh import played

Person = tuple[int | None, float | None]  # value, weight
PEOPLE: list[Person] = [(x, w) for x in (0, 1, 3) for w in (0.0, 0.5, 1.5)]
WEIGHT = "w:0..1.5:0.5"


def table(people: list[Person]) -> pa.Table:
    columns = {"id": pa.array(list(range(len(people))), pa.int64())}
    columns["x"] = pa.array([x for x, _ in people], pa.int64())
    return pa.table({**columns, "w": pa.array([w for _, w in people], pa.float64())})


def asked(name: str, **words: Any) -> Statistic:
    spec = registry.kind(name).from_options(**words)
    assert isinstance(spec, Statistic)
    return spec


def both_sums(spec: Statistic, people: list[Person]) -> tuple[int, int]:
    """A and B: the sums of w x and of w (W - x), in steps, as an engine counts them."""
    assert spec.weighted_by is not None
    query = statistic_mechanism.question(spec, by_value=True)
    exact = weighted_counts(
        query, spec.steps, spec.weighted_by, open_source(table(people)), ScriptedSource.from_label("w")
    )
    part, whole = sum(exact.sums or ()), int(exact.counts.sum())
    return part, spec.steps * whole - part


@pytest.mark.slow
@pytest.mark.parametrize("words", [{"of": "x:0..3:1"}, {"where": "x >= 1"}])
def test_nobody_loses_more_than_epsilon_and_who_has_the_largest_weight_loses_it(words: dict[str, Any]) -> None:
    """Every table of up to two people and one more: A and B move together by the weight times W."""
    spec = asked("mean" if "of" in words else "fraction", person="id", weight=WEIGHT, epsilon="1", **words)
    rate, worst, known = spec.sum_rate, Fraction(0), dict[tuple[Person, ...], tuple[int, int]]()
    assert rate is not None
    for n in range(3):
        for people in combinations_with_replacement(PEOPLE[::2], n):
            known[people] = both_sums(spec, list(people))
    for people, fewer in known.items():
        for person in PEOPLE[::2]:
            more = known.get(tuple(sorted((*people, person), key=PEOPLE.index)))
            if more is not None:
                worst = max(worst, rate * (abs(more[0] - fewer[0]) + abs(more[1] - fewer[1])))
                assert worst <= 1
    assert worst == 1
    assert [str(step.conclusion) for step in spec.promises()] == ["1-DP [add/remove]"]
    assert all(check.passed for check in spec.checks())


def test_the_sums_are_weighted_and_who_has_no_weight_is_left_out() -> None:
    people: list[Person] = [(3, 1.5), (1, 0.5), (2, None), (None, 1.0), (3, 99.0), (1, -4.0)]
    spec = asked("mean", person="id", of="x:0..3:1", weight=WEIGHT, epsilon="1")
    part, rest = both_sums(spec, people)
    assert (part, rest) == (3 * 3 + 1 * 1 + 3 * 3, 2 * 1)  # weights of 3, 1 and 3 steps; one is cut, one counts as 0
    summed = ask_sum(person="id", of="x:0..3:1", weight=WEIGHT, cap="4.5", epsilon="1")
    data = open_source(table(people))
    exact = sum_mechanism._weighted(summed, data, ScriptedSource.from_label("w"))
    assert summed.amount(int((exact.codes * exact.counts).sum())) == Fraction("9.5")
    assert summed.amount(summed.top) == Fraction("4.5")
    assert summed.rates == (Fraction(1, 9),)


def test_weighted_sums_in_layers_lose_epsilon_at_most() -> None:
    spec = ask_sum(person="id", of="x:0..3:1", weight=WEIGHT, epsilon="1")
    assert spec.layers.most == 9
    assert max(spec.layer_loss * spec.layers.loss(x * w) for x in range(4) for w in range(4)) == 1


def weighted_count(spec: Statistic, people: list[Person]) -> dict[int, int]:
    """The sums of weights by bin, in steps, as an engine counts them."""
    assert spec.weighted_by is not None
    query = statistic_mechanism.question(spec, by_value=False)
    found = weighted_counts(
        query, spec.steps, spec.weighted_by, open_source(table(people)), ScriptedSource.from_label("w")
    )
    return dict(zip(found.codes.tolist(), found.counts.tolist(), strict=True))


def test_a_weighted_count_moves_by_the_weight_of_whoever_comes_or_goes() -> None:
    """Every small table and one person more: the counts move by that person's weight in one bin, and noise of rate
    epsilon over the largest weight hides it; attained by whoever has that."""
    spec = asked("count", person="id", by=["x:[0,1,2,4)"], weight=WEIGHT, epsilon="1")
    assert spec.channel is not None
    rate, worst = Fraction(1, 3), Fraction(0)
    assert spec.channel.epsilon == rate  # type: ignore[attr-defined]
    others: list[Person] = [(0, 0.5), (3, 1.5), (3, 0.0)]
    before = weighted_count(spec, others)
    for person in PEOPLE:
        after = weighted_count(spec, [*others, person])
        moved = sum(abs(after.get(code, 0) - before.get(code, 0)) for code in {*before, *after})
        assert moved == Fraction(str(person[1])) / Fraction("0.5")
        worst = max(worst, rate * moved)
    assert worst == 1
    assert [str(step.conclusion) for step in spec.promises()] == ["1-DP [add/remove]"]


def test_a_weighted_count_is_told_in_people_who_are_stood_for() -> None:
    spec = asked("count", person="id", where="x >= 1", weight=WEIGHT, epsilon="40")
    data = open_source(table([(3, 1.5)] * 40 + [(0, 0.5)] * 120 + [(1, None), (2, -1.0), (2, 77.0)]))
    done = played(spec.with_schema(data.columns()), data, ScriptedSource.from_label("told"))
    (answer,) = done.result.facts()["answers"]
    assert abs(answer["estimate"] - 61.5) <= 0.5  # 40 and one of weight 1.5; missing ones are left out, others cut
    assert answer["low"] <= 61.5 <= answer["high"]
    assert Fraction(answer["value"]) == answer["weight_steps"] * Fraction("0.5")
    assert "weighted by w" in spec.describe().title
    assert "sum of the weights" in spec.describe().intervals


def test_a_weighted_release_says_so() -> None:
    spec = asked("mean", person="id", of="x:0..3:1", weight=WEIGHT, epsilon="40")
    data = open_source(table([(3, 1.5)] * 40 + [(0, 0.5)] * 120))
    done = played(spec.with_schema(data.columns()), data, ScriptedSource.from_label("said"))
    (answer,) = done.result.facts()["answers"]
    assert abs(answer["estimate"] - 1.5) < 0.1  # (40 * 1.5 * 3)/(40 * 1.5 + 120 * 0.5)
    assert "weighted by w" in spec.describe().title
    assert any("not calibrated" in str(each) for step in spec.promises() for each in step.all_assumptions())


@pytest.mark.parametrize(
    ("name", "words", "sentence"),
    [
        ("mean", {"calibrated": True}, "calibrated weights depend on everybody"),
        ("sum", {"calibrated": True}, "calibrate the published table"),
        ("count", {"weight": WEIGHT, "crowd": "5"}, "plain noise only"),
        (
            "count",
            {"weight": WEIGHT, "zero_knowledge": "1", "rows": "5", "people": "50", "epsilon": None},
            "plain noise",
        ),
        ("count", {"weight": WEIGHT, "count_rows": True, "rows_per_person": "2"}, "one row of each person"),
        ("count", {"weight": WEIGHT, "any_row": True, "where": "x > 1"}, "one row of each person"),
        ("count", {"weight": WEIGHT, "by": ["x"]}, "bins are declared"),
        ("count", {"weight": "w:0..0:1"}, "w"),
        ("count", {"weight": "w:0..5:0"}, "w"),
        ("count", {"weight": "w:0.."}, "are written w:0..100:10"),
        ("count", {"calibrated": True}, "calibrated weights depend on everybody"),
        ("histogram", {"by": ["x:0..3:1"], "weight": WEIGHT}, "a weighted count by the same bins"),
        ("count", {"poisson_survey": True}, "say them, with"),
        ("mean", {"poisson_survey": True}, "say them, with"),
        ("mean", {"poisson_survey": True, "weight": "w:0..1:0.5"}, "a largest weight above 1"),
        ("mean", {"poisson_survey": True, "weight": WEIGHT, "calibrated": True}, "calibrated weights depend"),
        ("mean", {"weight": "w"}, "must be declared"),
        ("mean", {"weight": "w:-1..2:1"}, "between 0 and a declared largest one"),
        ("mean", {"weight": "w:1..2:1"}, "between 0 and a declared largest one"),
        ("sum", {"weight": "w:1..2:1"}, "between 0 and a declared largest one"),
        ("mean", {"weight": WEIGHT, "crowd": "5"}, "plain noise only"),
        ("sum", {"weight": WEIGHT, "crowd": "5"}, "plain noise"),
        ("mean", {"weight": WEIGHT, "rows_per_person": "2"}, "one row of each person"),
        ("sum", {"weight": WEIGHT, "rows_per_person": "2"}, "one row of each person"),
        ("sum", {"weight": WEIGHT, "cap": "5"}, "up to 4.5"),
        ("sum", {"weight": WEIGHT, "cap": "0.3"}, "multiple of 0.5"),
        ("sum", {"weight": WEIGHT, "cap": "auto"}, "a cap that is said"),
    ],
)
def test_a_wrong_use_is_one_sentence(name: str, words: dict[str, Any], sentence: str) -> None:
    of = {} if name in ("count", "histogram") else {"of": "x:0..3:1"}
    with pytest.raises(WrongUse, match=sentence) as found:
        registry.kind(name).from_options(person="id", **{"epsilon": "1", **of, **words})
    assert "\n" not in str(found.value)
