"""Counts, shares, means and quantiles of people with several rows: what is promised to whom, and what comes out.

The losses are worked out exactly, over all small tables and all choices of rows: the law of what is published is the
average over the choices of the law for the rows that were kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from hubbub import registry
from hubbub.cli.main import commands
from hubbub.engines.opening import open_source
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, ZeroKnowledge
from hubbub.guarantees.people import Whose
from hubbub.kinds.histogram.promises import CHOSEN, KEPT_ROWS
from hubbub.kinds.sums.promises import ANY_ROW
from hubbub.kinds.sums.result import Answers
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import ScriptedSource
from hubbub.protocol.release import Release
from hubbub.sampling.sanitize import Blank, outside
from hubbub.tables.privacy_unit import Unit, of_numbers
from tests.fresh import open as open_table
from tests.fresh import opened
from tests.unit.shared.statistics import statistic

ONE_ROW = Unit(person="id", one_row_per_person=True)
W, NOWHERE = 2, None
ROWS = (NOWHERE, 0, 1, W)  # the steps of a row in the bin, or none
SPAN = 40  # beyond it every ratio stays what it is at the edge
Person = tuple[int | None, ...]


def persons(most: int) -> list[Person]:
    """Everybody who can be, with up to so many rows."""
    return [rows for size in range(1, most + 1) for rows in combinations_with_replacement(ROWS, size)]


def geometric(rate: float, at: int) -> np.ndarray:
    a = exp(-rate)
    return (1 - a) / (1 + a) * a ** np.abs(np.arange(-SPAN, SPAN + 1) - at)


def mixed(people: Iterable[Person], law: Any) -> np.ndarray:
    """The average of the law over all choices of a row for each."""
    choices = list(product(*people))
    found: np.ndarray = sum(law(rows) for rows in choices) / len(choices)
    return found


def apart(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(np.log(one) - np.log(other)).max())


def test_one_person_more_or_less_changes_sums_and_counts_of_kept_rows_by_epsilon_at_most() -> None:
    """Every table of up to two people, and everybody of up to two rows who may join; one row is enough for it all."""
    epsilon = 1.0

    def both_sums(rows: tuple[int | None, ...]) -> np.ndarray:
        inside = [x for x in rows if x is not None]
        part, rest = (geometric(epsilon / W, at) for at in (sum(inside), sum(W - x for x in inside)))
        found: np.ndarray = np.multiply.outer(part, rest)
        return found

    def count(rows: tuple[int | None, ...]) -> np.ndarray:
        return geometric(epsilon, sum(x is not None for x in rows))

    for law, kind, words in ((both_sums, "mean", {"of": f"x:0..{W}:1"}), (count, "count", {"where": "x >= 0"})):
        (promise,) = statistic(kind, epsilon=1, unit=ONE_ROW, **words).promises()
        assert promise.conclusion == DifferentialPrivacy(epsilon=Fraction(1))
        assert promise.people is not None
        assert promise.people.whose is Whose.TABLE
        losses: dict[Any, float] = {}
        for others in [(), *((each,) for each in persons(2)), *combinations_with_replacement(persons(1), 2)]:
            without = mixed(others, law)
            losses |= {(others, more): apart(mixed((*others, more), law), without) for more in persons(2)}
        assert max(losses.values()) == pytest.approx(epsilon, abs=1e-9)
        several = [loss for (_, more), loss in losses.items() if len(set(more)) > 1]
        assert 0.1 < max(several) <= epsilon + 1e-9


@pytest.mark.parametrize("k", [1, 2, 3])
def test_kept_rows_of_a_secret_sample_tell_no_more_than_k_people_do(k: int) -> None:
    """N = 3 and every table of people with up to two rows; the simulator sees K people, one of them blank."""
    n, rate = 3, Fraction(3, 2)

    def sampled(people: tuple[Person, ...], blank: int | None, by_bin: bool) -> np.ndarray:
        """The law of the count of K of N, one row each; who is blank is a coin, or in no bin."""
        rows: list[Person] = list(people)
        if blank is not None:
            rows[blank] = (NOWHERE,) if by_bin else (NOWHERE, 0)

        def law(kept: tuple[int | None, ...]) -> np.ndarray:
            noise = float(rate) / 2 if by_bin else float(rate)  # by bins a person who is replaced moves two counts
            drawn = [each for each in product((0, 1), repeat=n) if sum(each) == k]
            counts = (sum(taken and row is not None for taken, row in zip(each, kept, strict=True)) for each in drawn)
            return sum(geometric(noise, at) for at in counts) / len(drawn)  # type: ignore[return-value]

        return mixed(rows, law)

    every = [rows for rows in persons(2) if set(rows) <= {NOWHERE, 0}]
    for by_bin, blank in ((False, Blank.COIN), (True, Blank.HALF_WAY)):
        claim = outside(k, n, rate, blank=blank).epsilon_zk
        losses = {
            people: apart(sampled(people, None, by_bin), sampled(people, i, by_bin))
            for people in product(every, repeat=n)
            for i in (0,)  # the mechanism does not look at who is who
        }
        assert max(losses.values()) <= float(claim) + 1e-9  # type: ignore[arg-type]
        if not by_bin:
            alone = [loss for people, loss in losses.items() if all(len(set(rows)) == 1 for rows in people)]
            assert max(alone) == pytest.approx(float(claim), abs=1e-9)  # type: ignore[arg-type]
    spec = statistic("count", where="x >= 0", zero_knowledge=1, rows=k, people=n, unit=ONE_ROW)
    knows, private = spec.promises()
    assert isinstance(knows.conclusion, ZeroKnowledge)
    assert {step.people.whose for step in (knows, private) if step.people} == {Whose.TABLE}


def test_crowds_are_of_kept_rows_and_what_a_sample_buys_is_for_people() -> None:
    words: dict[str, Any] = {"of": "x:0..9:1", "by": ["town"], "crowd": 6, "epsilon": 1, "unit": ONE_ROW}
    (own,) = statistic("mean", **words).promises()
    assert own.conclusion == CrowdBlending(k=6, epsilon=Fraction(1))
    assert own.people is not None
    assert own.people.whose is Whose.KEPT_ROWS
    assert KEPT_ROWS in {each for step in own.steps() for each in step.assumptions}
    crowds, *bought = statistic("mean", sample="0.2", at_delta="1e-3", **words).promises()
    assert crowds.people is not None
    assert crowds.people.whose is Whose.KEPT_ROWS
    assert {type(step.conclusion) for step in bought} == {ZeroKnowledge, DifferentialPrivacy}
    for step in bought:
        assert step.people is not None
        assert step.people.whose is Whose.TABLE
        assert CHOSEN in step.assumptions
    plain = statistic("mean", **{**words, "unit": Unit(person="id")}).promises()[0]
    assert KEPT_ROWS not in {each for step in plain.steps() for each in step.assumptions}


def test_any_row_is_a_function_of_the_person_so_that_crowds_are_of_people() -> None:
    spec = statistic("count", where="x >= 5", crowd=5, unit=of_numbers("id", any_row=True))
    (own,) = spec.promises()
    assert own.people is not None
    assert own.people.whose is Whose.TABLE
    assert ANY_ROW.id in {each.id for each in own.assumptions}
    assert KEPT_ROWS not in own.assumptions
    assert "any row with x >= 5" in spec.describe().published


# --- what comes out -----------------------------------------------------------------------------------------------

N = 900
VISITS = pa.table(
    {
        "id": [i for i in range(N) for _ in range(1 + i % 3)],
        "town": [["Bath", "York", "Wells"][i % 3] for i in range(N) for _ in range(1 + i % 3)],
        "pay": [10 * (i % 3) + visit for i in range(N) for visit in range(1 + i % 3)],
        "ill": [visit == 1 for i in range(N) for visit in range(1 + i % 3)],
    }
)
HARDLY = {"epsilon": "4000"}


def answers(release: Release) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = release.result.facts()["answers"]
    return found


def test_everybody_counts_once_whatever_row_is_kept() -> None:
    table = open_table(VISITS, person="id")
    kept: dict[str, Any] = {"one_row_per_person": True, **HARDLY}
    assert answers(table.count(one_row_per_person=True, epsilon=40))[0]["estimate"] == N  # people, and not rows
    (mean,) = answers(table.mean("pay:0..30:1", **kept))
    assert mean["estimate"] == pytest.approx((0 + 10.5 + 21) / 3, abs=0.15)  # that of all rows is 14.33
    by = answers(table.mean("pay:0..30:1", ["town=Bath,York,Wells"], one_row_per_person=True, crowd=20, **HARDLY))
    assert [each["kept_rows"] for each in by] == [300, 300, 300]
    assert "people" not in by[0]
    (share,) = answers(table.fraction(where="pay in (11, 21)", **kept))
    assert share["estimate"] == pytest.approx((0 + 1 / 2 + 1 / 3) / 3, abs=0.06)
    (top,) = answers(table.quantile("pay:0..30:1", one_row_per_person=True, q="0.99", **HARDLY))
    assert top["value"] == "22"


def test_any_row_counts_people_of_whom_a_row_meets_the_condition() -> None:
    table = open_table(VISITS, person="id")
    assert answers(table.count(where="ill = true", any_row=True, epsilon=40))[0]["estimate"] == 600
    assert answers(table.fraction(where="pay = 22 or pay = 10", any_row=True, **HARDLY))[0]["value"] == "2/3"
    known = table.fraction(where="not pay < 20", any_row=True, zero_knowledge=40, rows=N, people=N)
    assert answers(known)[0]["estimate"] == pytest.approx(1 / 3, abs=1e-3)
    told = known.result.facts()
    assert told["counts"]["estimate"] in ("table", "everybody")
    assert known.spec.describe().title == "Share of people with any row with not pay < 20"


def test_the_number_of_people_and_not_of_rows_is_declared() -> None:
    table = opened(VISITS, person="id", dataset="visits")
    words: dict[str, Any] = {"zero_knowledge": 1, "rows": 100, "one_row_per_person": True}
    with pytest.raises(Refused, match="not of as many people as were declared"):
        table.mean("pay:0..30:1", people=VISITS.num_rows, **words)
    with pytest.raises(Refused), table.sample(people=N + 1, **words) as people:
        people.count("ill", where="ill = true")
    assert not any(record.is_spent for record in Ledger().account("visits").records)  # no row was chosen yet
    assert len(answers(table.mean("pay:0..30:1", people=N, **words))) == 1


def test_several_questions_look_at_the_same_row_of_each() -> None:
    table = open_table(VISITS, person="id")
    asked: dict[str, Any] = {"rows": N, "people": N, "one_row_per_person": True}
    with table.sample(kept_rows=True, **asked) as people:
        people.count("ill", where="ill = true", epsilon=40)
        people.count("second", where="pay in (11, 21)", epsilon=40)
    ill, second = (each["answers"][0]["estimate"] for each in people.release.result.facts()["questions"])
    assert ill == second  # the same rows
    told = people.release.result.facts()["counts"]
    assert (told["number"], told["interval"]) == ("sample", "kept-rows")
    assert "one of each person" in told["whom"]
    for words in ({"expected_rows": True}, {}):
        with table.sample(**words, **asked) as average:
            average.mean("pay", "pay:0..30:1", epsilon=400)
        assert average.release.result.facts()["counts"]["interval"] == "expected-rows"
    with table.sample(**asked) as other:
        other.quantile("pay", "pay:0..30:1", epsilon=4)
    assert other.release.result.facts()["counts"]["interval"] == "kept-rows"  # nothing is known on average
    with (
        pytest.raises(WrongUse, match="for a quantile no interval"),
        table.sample(expected_rows=True, **asked) as other,
    ):
        other.quantile("pay", "pay:0..30:1", epsilon=4)


WHAT: list[tuple[str, dict[str, Any], tuple[str, str, str]]] = [
    (
        "mean",
        {"epsilon": 1, "kept_rows": True},
        ("kept-rows", "kept-rows", "the rows that this release kept, one of each person"),
    ),
    ("mean", {"epsilon": 1}, ("kept-rows", "expected-rows", "the rows kept on average")),
    ("mean", {"epsilon": 1, "expected_rows": True}, ("kept-rows", "expected-rows", "the rows kept on average")),
    (
        "mean",
        {"crowd": 5, "epsilon": 1, "sample": "0.2", "at_delta": "1e-3"},
        ("sample", "kept-rows", "told from a secret sample"),
    ),
    ("mean", {"zero_knowledge": 1, "rows": 9, "people": N}, ("sample", "expected-rows", "told from a secret sample")),
]


@pytest.mark.parametrize(("kind", "ways", "right"), WHAT)
def test_json_words_and_files_say_what_is_counted(
    kind: str, ways: dict[str, Any], right: tuple[str, str, str], tmp_path: Path
) -> None:
    pq.write_table(VISITS, tmp_path / "visits.parquet")
    words = ["release", kind, str(tmp_path / "visits.parquet"), "--person", "id", "--of", "pay:0..30:1", "--json"]
    for name, given in ways.items():
        words += [f"--{name.replace('_', '-')}", *([] if given is True else [str(given)])]
    done = CliRunner().invoke(
        commands, [*words, "--one-row-per-person", "--yes", "--out", str(tmp_path / "out")], catch_exceptions=False
    )
    told = json.loads(done.stdout)
    assert (told["counts"]["number"], told["counts"]["interval"]) == right[:2]
    assert right[2] in told["counts"]["whom"]
    page = Path(told["report"]).read_text()
    assert "ne row for each value of id, chosen secretly and uniformly" in " ".join(page.split())
    assert "not the mean of all rows" in " ".join(page.split())
    assert CliRunner().invoke(commands, ["verify", told["certificate"]]).exit_code == 0


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("count", {"where": "ill = true", "any_row": "yes", "epsilon": 1}, "are True or False"),
    ("count", {"where": "ill = true", "any_row": True, "one_row_per_person": True, "epsilon": 1}, "exclude each other"),
    ("count", {"any_row": True, "epsilon": 1}, "any_row counts people of whom any row meets a condition; say it"),
    (
        "count",
        {"where": "pay > 1", "any_row": True, "by": ["town=Bath"], "epsilon": 1},
        "say in how many bins a person counts at most, with distinct=B",
    ),
    ("count", {"kept_rows": True, "epsilon": 1}, "add one_row_per_person=True, or leave it out"),
    (
        "mean",
        {"of": "pay:0..30:1", "one_row_per_person": True, "kept_rows": True, "expected_rows": True, "epsilon": 1},
        "drop one of the two",
    ),
    (
        "count",
        {"where": "pay > 1", "expected_rows": True, "epsilon": 1},
        "add one_row_per_person=True, or leave it out",
    ),
    ("count", {"where": "pay > 1", "any_row": True, "expected_rows": True, "epsilon": 1}, "of people with several"),
    (
        "mean",
        {"of": "pay:0..9:1", "one_row_per_person": True, "expected_rows": True, "crowd": 5, "epsilon": 1},
        "of a crowd that is shown nothing is known about what is kept on average",
    ),
]


@pytest.mark.parametrize(("name", "words", "rule"), WRONG)
def test_a_wrong_use_is_one_sentence_and_nothing_is_spent(name: str, words: dict[str, Any], rule: str) -> None:
    table = opened(VISITS, person="id", dataset="visits")
    with pytest.raises(WrongUse, match=rule) as refused:
        getattr(table, name)(**words)
    assert "\n" not in str(refused.value)
    assert not Ledger().accounts()


def test_a_person_column_is_needed() -> None:
    table = opened(VISITS, dataset="visits")
    for words in ({"one_row_per_person": True}, {"any_row": True, "where": "pay > 1"}):
        with pytest.raises(WrongUse, match="needs the person column"):
            table.count(epsilon=1, **words)


def test_kept_rows_cost_what_they_promise_in_the_ledger() -> None:
    """Differential privacy of people adds up; crowds of kept rows stand alone."""
    table = opened(VISITS, person="id", dataset="visits")
    table.mean("pay:0..30:1", one_row_per_person=True, epsilon=1)
    table.count(where="ill = true", any_row=True, epsilon=1)
    total = Ledger().account("visits").totals
    assert total is not None
    assert total.differential.guarantee == DifferentialPrivacy(epsilon=Fraction(2))
    with pytest.raises(Refused):
        table.mean("pay:0..30:1", ["town"], one_row_per_person=True, crowd=20, epsilon=1)


def test_the_loss_of_a_choice_between_two_rows_is_that_of_the_average() -> None:
    """A check of the check: half of e^1 and half of 1 is less than e^1."""
    one, other = geometric(1.0, 0), geometric(1.0, 1)
    assert apart((one + other) / 2, other) == pytest.approx(log((1 + exp(1)) / 2), abs=1e-9)


def test_intervals_of_a_quantile_of_rows_hold_for_everybody_of_whom_some_are_drawn() -> None:
    """Serfling's inequality for people, who have one to four rows: by a script, and more than 80 % of them."""
    people = 1200
    rows = {"id": [i for i in range(people) for _ in range(1 + i % 4)]}
    rows["x"] = [(7 * i * i + 3 * n) % 41 for n, i in enumerate(rows["id"])]
    engine = open_source(pa.table(rows))
    words = {"rows_per_person": 4, "zero_knowledge": "2", "people": people, "coverage": "0.8", "q": "0.5"}
    right, widths = sorted(rows["x"])[(len(rows["x"]) - 1) // 2], []
    for drawn in (600, people):
        spec = (
            registry.kind("quantile")
            .from_options(person="id", of="x:0..40:1", rows=drawn, **words)
            .with_schema(engine.columns())
        )
        found = [spec.present(spec.measure(engine, ScriptedSource.from_label(f"{drawn} {i}"))) for i in range(10)]
        answers = [each.answers[0] for each in found if isinstance(each, Answers)]
        assert sum(each.low <= right <= each.high for each in answers) >= 9
        widths.append(float(answers[0].high - answers[0].low))
    assert 40 > widths[0] > widths[1]
