"""Several questions on one secret sample: one sample indeed, the exact loss of all of them, and what is refused."""

from __future__ import annotations

import itertools
import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import hubbub
from hubbub.cli.main import commands
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy, RandomSample, ZeroKnowledge
from hubbub.kinds.questions.request import questions
from hubbub.kinds.questions.result import Replies
from hubbub.kinds.questions.spec import MOST_NUMBERS, Questions
from hubbub.ledger.ledger import Ledger
from hubbub.tables.engine import OTHER_NUMBER
from tests.fresh import open as open_table
from tests.fresh import opened
from tests.unit.shared.presented import wrong

N = 300
PEOPLE = pa.table(
    {
        "id": list(range(N)),
        "town": ["Bath"] * 200 + ["York"] * 90 + ["Wells"] * 10,
        "age": [7 * i % 90 for i in range(N - 1)] + [None],
    }
)
BY = ["town=Bath,York,other"]
NO_NOISE = "100000"  # noise of this rate is 0 but for a chance below e^-1000


# --- one sample ---------------------------------------------------------------------------------------------------


def test_all_questions_are_told_of_the_same_people() -> None:
    """Without noise the counts of one sample fit together; those of two samples of 40 hardly ever would, ten times."""
    table = open_table(PEOPLE, person="id")
    for _ in range(10):
        with table.sample(rows=40, people=N) as people:
            people.count("young", where="age < 30", epsilon=NO_NOISE)
            people.count("others", where="not age < 30", epsilon=NO_NOISE)
            people.count("towns", BY, epsilon=NO_NOISE)
            people.mean("ages", "age:0..90:1", BY, epsilon=NO_NOISE)
            people.mean("ages-again", "age:0..90:1", epsilon=NO_NOISE)
            people.fraction("young-again", where="age < 30", epsilon=NO_NOISE)
        told = people.release.result
        assert isinstance(told, Replies)
        young, others, again = (told[name].answers[0].published[0] or 0 for name in ("young", "others", "young-again"))
        assert young + others == 40
        assert young == again
        towns = [answer.published[0] or 0 for answer in told["towns"].answers]
        assert sum(towns) == 40
        parts, wholes = zip(*(answer.published for answer in told["ages"].answers), strict=True)
        assert (sum(parts), sum(wholes)) == told["ages-again"].answers[0].published
        assert 90 * 40 - sum(wholes) in (0, 90)  # one person has no age


# --- what it costs ------------------------------------------------------------------------------------------------

TYPES = list(itertools.product((0, 1), (0, 1)))  # (meets the condition, bin)


def _law(rows: tuple[tuple[int, int | None], ...], k: int, lone: float, binned: float) -> NDArray[np.float64]:
    """Of (count, first bin, second bin) with noise, up to a common factor, where ratios can be extreme: a step beyond
    what is possible they no longer change."""
    grid = np.arange(-1, k + 2)
    law = np.zeros((grid.size,) * 3)
    for drawn in itertools.combinations(rows, k):
        met = sum(a for a, _ in drawn)
        first, second = (sum(b == at for _, b in drawn) for at in (0, 1))
        one = np.exp(-lone * abs(grid - met))
        two, three = (np.exp(-binned * abs(grid - count)) for count in (first, second))
        law += one[:, None, None] * two[:, None] * three
    return law


@pytest.mark.parametrize(("k", "n"), [(1, 4), (2, 4), (3, 5), (4, 4)])
def test_theorem_a1_several_questions_on_one_sample_lose_what_is_claimed_and_no_less(k: int, n: int) -> None:
    """Every table of n people of four types, by the rates that are drawn with: any person replaced by any other row,
    and the release against the simulator, to whom that person is in no bin, and a coin where the count is asked."""
    spec = questions(
        [
            {"name": "met", "kind": "count", "where": "a = 1", "epsilon": "0.5"},
            {"name": "bins", "kind": "count", "by": ["b=0,1"], "epsilon": "0.75"},
        ],
        rows=k,
        people=n,
    )
    lone, binned = (float(each.unit_loss or 0) for each in spec.statistics)
    knows, private = (each.conclusion for each in spec.promises())
    assert isinstance(knows, ZeroKnowledge)
    assert isinstance(private, DifferentialPrivacy)
    assert knows.aggregate == RandomSample(k=k, n=n)
    swapped, told, simulated = 0.0, 0.0, 0.0
    for others in itertools.combinations_with_replacement(TYPES, n - 1):
        laws = [_law((*others, mine), k, lone, binned) for mine in TYPES]
        blank = (_law((*others, (0, None)), k, lone, binned) + _law((*others, (1, None)), k, lone, binned)) / 2
        for one, other in itertools.permutations(laws, 2):
            swapped = max(swapped, float(np.log(one / other).max()))
        for law in laws:
            told = max(told, float(np.log(law / blank).max()))
            simulated = max(simulated, float(np.log(blank / law).max()))
    assert swapped == pytest.approx(float(private.epsilon), abs=1e-9)
    assert swapped == pytest.approx(math.log(1 + k / n * math.expm1(1.25)), abs=1e-9)
    assert max(told, simulated) == pytest.approx(float(knows.epsilon), abs=1e-9)
    assert knows.epsilon < private.epsilon  # Theorem A1 alone would not have claimed that


@pytest.mark.parametrize(("k", "n"), [(1, 3), (2, 4), (3, 3)])
@pytest.mark.parametrize("losses", [("0.5", "0.75"), ("3", "0.25"), ("2", "2")])
def test_theorem_a1_prime_two_shares_of_one_sample_with_a_coin_for_each(
    k: int, n: int, losses: tuple[str, str]
) -> None:
    """People of two bits, all tables and all blanks: never above what is claimed, and with a loss that is a tenth
    larger than stated it would be."""
    asked = [{"name": f"q{i}", "kind": "fraction", "where": f"a{i} = 1", "epsilon": e} for i, e in enumerate(losses)]
    spec = questions(asked, rows=k, people=n)

    def worst(times: float) -> float:
        rates = [times * float(each.unit_loss or 0) for each in spec.statistics]
        grid, found = np.arange(-1, k + 2), 0.0

        def law(rows: tuple[tuple[int, int], ...]) -> NDArray[np.float64]:
            total = np.zeros((grid.size,) * 2)
            for drawn in itertools.combinations(rows, k):
                one, two = (np.exp(-rates[j] * abs(grid - sum(row[j] for row in drawn))) for j in (0, 1))
                total += one[:, None] * two
            return total

        for others in itertools.combinations_with_replacement(TYPES, n - 1):
            laws = [law((*others, mine)) for mine in TYPES]
            blank = sum(laws) / len(laws)
            for each in laws:
                found = max(found, float(np.abs(np.log(each / blank)).max()))
        return found

    claim = float(spec.promises()[0].conclusion.epsilon)  # type: ignore[union-attr]
    assert worst(1) <= claim + 1e-9
    assert worst(1.1) > claim
    assert worst(1) == pytest.approx(claim, abs=1e-9)


def test_shares_of_a_total_are_what_they_say_and_fresh_samples_are_shown_beside() -> None:
    asked = [
        {"name": "a", "kind": "fraction", "where": "x = 1", "share": 3},
        {"name": "b", "kind": "mean", "of": "y:0..10:1"},
    ]
    spec = questions(asked, rows=1000, people=40_000, zero_knowledge="0.5")
    first, second = (each.loss for each in spec.asked)
    assert first / second == pytest.approx(3, rel=1e-9)
    assert float(first + second) > 1.2 * math.log(1 + 40 * math.expm1(0.5))  # what Theorem A1 would have allowed
    assert Fraction(1, 2) - Fraction(1, 10**9) < spec.reached <= spec.epsilon == Fraction(1, 2)
    epsilon, rows = spec.fresh
    assert rows == 2000
    assert 0 < epsilon < spec.epsilon  # fresh samples lose less and need more people
    assert all(check.passed for check in spec.checks())


def test_one_entry_in_the_ledger_and_k_does_not_add_up() -> None:
    table = opened(PEOPLE, person="id", dataset="town")
    with table.sample(rows=40, people=N, zero_knowledge="0.5") as people:
        people.count("old", where="age >= 65")
        people.quantile("middle", "age:0..90:5", q="0.25", share=2)
    account = Ledger().account("town")
    assert len(account.spent_releases) == 1
    assert account.totals is not None
    assert account.totals.zero_knowledge.guarantee == ZeroKnowledge(
        epsilon=Fraction(1, 2), aggregate=RandomSample(k=40, n=N)
    )


def test_a_block_that_fails_releases_nothing_and_a_sample_is_for_one_block() -> None:
    table = opened(PEOPLE, person="id", dataset="town")
    sample = table.sample(rows=40, people=N, zero_knowledge="0.5")
    with pytest.raises(WrongUse, match="inside the block"):
        sample.count("old", where="age >= 65")
    sample.__enter__().count("old", where="age >= 65")
    sample.__exit__(ValueError, ValueError(), None)
    with pytest.raises(WrongUse, match="after it"):
        _ = sample.release
    with pytest.raises(WrongUse, match="has no dataset"):
        Ledger().account("town")


def test_the_table_must_be_of_as_many_people_as_declared_and_is_refused_before_anything_is_drawn() -> None:
    table = opened(PEOPLE, person="id", dataset="town")
    with pytest.raises(Refused) as refused, table.sample(rows=5, people=N + 1, zero_knowledge="1") as people:
        people.count("old", where="age >= 65")
    assert str(refused.value) == OTHER_NUMBER
    assert not Ledger().account("town").spent_releases


def test_a_refinement_of_too_many_cells_is_refused_from_public_numbers_alone() -> None:
    wide = [{"name": f"q{i}", "kind": "mean", "of": f"c{i}:0..1000000:1", "epsilon": 10} for i in range(2)]
    assert questions(wide, rows=10, people=10**6).cells == 10**6  # no more cells than people
    with pytest.raises(WrongUse, match="coarser steps or bins"):
        questions(wide, rows=10, people=MOST_NUMBERS)
    same = [{"name": f"q{i}", "kind": "count", "by": ["a:0..10:1"], "epsilon": 1} for i in range(40)]
    assert questions(same, rows=10, people=10**9).cells == 11  # what is asked twice is one refinement


# --- files, and what is wrong with them ---------------------------------------------------------------------------

GOOD = """
zero_knowledge = 0.5
rows = 100
people = 300
[[question]]
name = "old"
kind = "count"
where = "age >= 65"
[[question]]
name = "ages"
kind = "mean"
of = "age:0..90:1"
by = ["town=Bath,York,other"]
"""
WRONG = {
    "twice": (GOOD.replace('"ages"', '"old"'), "there twice"),
    "unknown key": (GOOD.replace("where =", "were ="), "and not 'were'"),
    "unknown key above": (f"seed = 1\n{GOOD}", "and not 'seed'"),
    "K above N": (GOOD.replace("rows = 100", "rows = 301"), "at most 300"),
    "K = 0": (GOOD.replace("rows = 100", "rows = 0"), "rows"),
    "K no number": (GOOD.replace("rows = 100", "rows = 1979-05-27"), "rows"),
    "no people": (GOOD.replace("people = 300\n", ""), "add both"),
    "no kind": (GOOD.replace('kind = "count"\n', ""), "say which"),
    "kind": (GOOD.replace('"count"', '"sum"'), "say which"),
    "no name": (GOOD.replace('name = "old"\n', ""), "name"),
    "name": (GOOD.replace('"old"', '"../old"'), "small letters"),
    "epsilon and a total": (f"{GOOD}epsilon = 1\n", "drop that"),
    "no total": (GOOD.replace("zero_knowledge = 0.5", ""), "zero_knowledge"),
    "total": (GOOD.replace("zero_knowledge = 0.5", "zero_knowledge = -1"), "zero-knowledge"),
    "no question": ("rows = 1\npeople = 2\nzero_knowledge = 1\n", r"\[\[question\]\]"),
    "no table": ('question = "all"', r"\[\[question\]\]"),
    "no TOML": ("[[question", "can be read"),
    "declared twice": ("rows = 1\nrows = 2\n", "can be read"),
    "by": (GOOD.replace('by = ["town=Bath,York,other"]', 'by = "town"'), "brackets"),
    "found bins": (GOOD.replace('["town=Bath,York,other"]', '["town"]'), "must be declared"),
    "range": (GOOD.replace("age:0..90:1", "age"), "range"),
    "condition": (GOOD.replace("age >= 65", "age >> 65"), "condition|comparison"),
    "column": (GOOD.replace("age >= 65", "height >= 65"), "no column"),
    "all people": (GOOD.replace('where = "age >= 65"\n', ""), "public here"),
    "of": (GOOD.replace('where = "age >= 65"', 'of = "age:0..1:1"'), "nothing of a count"),
    "q": (f"{GOOD}q = 0.5\n", "for quantiles"),
    "share": (f"{GOOD}share = 0\n", "share"),
    "coverage": (f"coverage = 2\n{GOOD}", "coverage"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_with_a_file_is_one_sentence_and_nothing_is_spent(what: str, tmp_path: Path) -> None:
    text, match = WRONG[what]
    (tmp_path / "q.toml").write_text(text)
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    words = ["release", "questions", str(tmp_path / "people.parquet"), "--person", "id"]
    given = ["--spec", str(tmp_path / "q.toml"), "--out", str(tmp_path / "out"), "--dataset", "town"]
    done = CliRunner().invoke(commands, [*words, *given], catch_exceptions=False)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert re.search(match, done.stderr), done.stderr
    with pytest.raises(WrongUse, match="has no dataset"):
        Ledger().account("town")


def test_files_json_and_verify_tell_the_same(tmp_path: Path) -> None:
    (tmp_path / "q.toml").write_text(GOOD)
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    words = ["release", "questions", str(tmp_path / "people.parquet"), "--person", "id", "--json"]
    given = ["--spec", str(tmp_path / "q.toml"), "--out", str(tmp_path / "out")]
    told: dict[str, Any] = json.loads(CliRunner().invoke(commands, [*words, *given], catch_exceptions=False).stdout)
    assert [(each["name"], each["kind"]) for each in told["questions"]] == [("old", "count"), ("ages", "mean")]
    assert (told["rows"], told["people"], told["epsilon"]) == (100, 300, "0.5")
    assert told["fresh_samples"]["rows"] == 200
    assert set(told["questions"][1]["answers"][0]) >= {"key", "value", "estimate", "low", "high"}
    done = hubbub.verify(told["certificate"])
    assert done.passed
    assert "all questions on one sample" in [check.what for check in done.checks]
    page = Path(told["report"]).read_text()
    assert "fresh sample for each question" in page
    lines = Path(told["release"]).read_text().splitlines()
    assert [line.split(",")[0].strip('"') for line in lines] == ["question", "old", "ages", "ages", "ages"]


@pytest.mark.parametrize(("old", "new"), [("ages", "pages"), ("York", "Yerk")])
def test_a_file_of_other_questions_or_bins_is_not_the_one_described(old: str, new: str, tmp_path: Path) -> None:
    table = opened(PEOPLE, person="id", dataset="town")
    with table.sample(rows=40, people=N, zero_knowledge="0.5") as people:
        people.count("old", where="age >= 65")
        people.mean("ages", "age:0..90:1", BY)
    files = hubbub.save(people.release, tmp_path)
    spec = people.release.spec
    assert isinstance(spec, Questions)
    assert wrong(spec, tmp_path) is None
    for name in ("release", "question-ages"):
        text = Path(files[name]).read_text()
        Path(files[name]).write_text(text.replace(old, new))
    assert wrong(spec, tmp_path) is not None


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_epsilon_for_all_questions_is_what_one_person_replaced_is_promised(epsilon: str, tmp_path: Path) -> None:
    """ln(1 + (K/N)(e^E - 1)) <= epsilon, and within a millionth of it: nothing is given away."""
    asked = [{"name": "a", "kind": "count", "where": "age < 30"}, {"name": "b", "kind": "count", "by": BY, "share": 2}]
    spec = questions(asked, rows=40, people=N, epsilon=epsilon)
    (found,) = (step.conclusion for step in spec.promises() if isinstance(step.conclusion, DifferentialPrivacy))
    assert Fraction(epsilon) * (1 - Fraction(1, 10**6)) < found.epsilon <= Fraction(epsilon)
    with pytest.raises(WrongUse, match="keep one of them"):
        questions(asked, rows=40, people=N, epsilon=epsilon, zero_knowledge="1")


def test_the_command_takes_epsilon_for_all_questions(tmp_path: Path) -> None:
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    text = f'rows = 40\npeople = {N}\n[[question]]\nname = "young"\nkind = "count"\nwhere = "age < 30"\n'
    (tmp_path / "q.toml").write_text(text)
    words = ["release", "questions", f"{tmp_path}/people.parquet", "--person", "id", "--spec", f"{tmp_path}/q.toml"]
    done = CliRunner().invoke(commands, [*words, "--epsilon", "1", "--out", f"{tmp_path}/out", "--json"])
    assert done.exit_code == 0, done.output
    (tmp_path / "q.toml").write_text(f"zero_knowledge = 0.5\n{text}")
    both = CliRunner().invoke(commands, [*words, "--epsilon", "1", "--out", f"{tmp_path}/out2"])
    assert (both.exit_code, both.stderr) == (
        2,
        "hubbub: the file of questions says itself what they may lose together; drop --epsilon, or that line\n",
    )
