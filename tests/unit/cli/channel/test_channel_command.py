"""``hubbub channel``: the JSON it promises, the numbers of the theory, and what it says to people."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner, Result

from hubbub.channels import catalogue
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.cli.channel.command import MOST_COUNTS, read_counts
from hubbub.cli.main import commands
from hubbub.errors import WrongUse, in_shell
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.protocol.channel_options import OPTIONS
from hubbub.runtime.frozen import dataclass

STAIRS = "staircase --thresholds 1000,100,10 --epsilons 1,0.1,0.01,0"


def run(line: str, *more: str) -> Result:
    return CliRunner().invoke(commands, ["channel", *line.split(), *more], catch_exceptions=False)


def ask(line: str, *, exit_code: int = 0) -> dict[str, Any]:
    """The answer with --json: one object on stdout, on one line, and nothing else."""
    result = run(line, "--json")
    assert result.exit_code == exit_code, result.stderr
    assert result.stdout.endswith("}\n")
    assert result.stdout.count("\n") == 1
    answer = json.loads(result.stdout)
    assert isinstance(answer, dict)
    return answer


EXAMPLES = [(name, in_shell(f"`channel={name}` {entry.example}")) for name, entry in catalogue.cards().items()]


def test_the_options_are_those_of_the_catalogue() -> None:
    known = {option for e in catalogue.cards().values() for option in (*e.needs, *e.may, *e.one_of)}
    assert {option.name for option in OPTIONS} == known


def test_list_names_every_channel() -> None:
    listed = ask("list")["channels"]
    assert [entry["channel"] for entry in listed] == list(catalogue.CHANNELS)
    assert [entry["example"] for entry in listed] == [example for _, example in EXAMPLES]
    shown = run("list").stdout
    assert all(example in shown for _, example in EXAMPLES)


# --- law --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
@pytest.mark.parametrize("count", [0, 30])
def test_a_law_lists_all_but_a_trillionth(name: str, example: str, count: int) -> None:
    answer = ask(f"law {example} --count {count}")
    assert (answer["channel"], answer["count"]) == (name, count)
    total = math.fsum(entry["probability"] for entry in answer["law"])
    assert 1 - 1.001e-12 <= total <= 1
    assert 1 - total <= answer["left_out"] + 1e-15
    assert answer["left_out"] < 1e-12
    tags = catalogue.make(name, **options(example)).channel.law(count).tags
    for entry in answer["law"]:
        assert set(entry) == ({"value", "probability"} if tags == ("",) else {"value", "tag", "probability"})
        assert (entry["value"] is None) == entry.get("tag", "").startswith("suppressed")


def options(example: str) -> dict[str, str]:
    words = example.split()[2:]
    return {flag[2:].replace("-", "_"): value for flag, value in zip(words[::2], words[1::2], strict=True)}


def test_a_law_has_the_parameters_as_exact_text() -> None:
    answer = ask("law --channel warped --curve 1:1/3,4:0.5 --show-above 7 --count 2")
    assert answer["parameters"] == {"curve": "1:1/3,4:0.5", "show_above": "7"}


def test_the_law_of_the_warped_channel_is_its_formula() -> None:
    listed = {e["value"]: e["probability"] for e in ask("law --channel warped --curve 1:0.01,101:1 --count 100")["law"]}
    b = {m: 1 / (1 + math.exp(-(0.01 if m <= 100 else 1))) for m in range(1, 130)}
    assert listed[100] == pytest.approx(b[100] + b[101] - 1, rel=1e-12)
    assert listed[0] == pytest.approx(b[1] * math.exp(-1), rel=1e-12)
    assert listed[103] == pytest.approx((2 * b[103] - 1) * math.exp(-3), rel=1e-12)


def test_switches_reach_the_channel() -> None:
    tagged = ask("law --channel noisy-below --k 3 --epsilon 1 --tagged --count 3")
    assert tagged["law"] == [{"value": 3, "tag": "exact", "probability": 1.0}]
    assert ask(f"law --channel {STAIRS} --alpha 10 --as-printed --count 5")["parameters"]["nested"] is False


def test_a_law_for_people_shows_the_likely_values_and_says_what_it_leaves_out() -> None:
    shown = run("law --channel group --k 100 --epsilon 1 --count 100").stdout
    lines = shown.splitlines()
    assert lines[0] == "group --k 100 --epsilon 1, count 100"
    assert any(line.split()[:2] == ["100", "0.005"] for line in lines)
    assert sum("outcomes together" in line for line in lines) == 2
    assert re.fullmatch(r"5,529 outcomes; at most \d\.\de-13 is left out\.", lines[-1])
    hidden = run("law --channel exact-or-suppressed --k 5 --count 3").stdout
    assert "hidden" in hidden
    assert "1 outcome; nothing is left out." in hidden


# --- profile ----------------------------------------------------------------------------------------------------


def numbers(line: str) -> tuple[float, float]:
    worst = ask(f"profile --channel {line}")["worst"]
    return worst["claimed_delta"], worst["exact_delta"]


@pytest.mark.parametrize(
    ("line", "claimed", "exact"),
    [  # theory/outlier.md, section 2, "claimed vs exact", to all printed digits
        ("outlier-suppressed --k 100 --epsilon 1 --alpha 10 --counts 1..105", "2.27e-05", "7.673e-06"),
        ("outlier-noisy --k 100 --epsilon 1 --alpha 10 --counts 100", "4.54e-05", "7.673e-06"),
        ("outlier-noisy --k 100 --epsilon 0.5 --alpha 10 --counts 100", "4.54e-05", "6.69e-06"),
        ("outlier-noisy --k 100 --epsilon 2 --alpha 10 --counts 100", "4.54e-05", "4.66e-06"),
        (f"{STAIRS} --alpha 10 --counts 1000", "1.36e-04", "7.25e-06"),
        (f"{STAIRS} --alpha 10 --counts 100", "1.36e-04", "6.89e-07"),
        (f"{STAIRS} --alpha 10 --counts 10", "1.36e-04", "7.57e-08"),
        (f"{STAIRS} --alpha 10 --as-printed --counts 10", "1.36e-04", "7.57e-08"),
        (
            "lower-bound --curve 1:0.01,101:1 --estimator count --epsilon-a 0.005 --alpha 10 --counts 90..100",
            "2.27e-05",
            "1.04e-05",
        ),
    ],
)
def test_claimed_and_exact_delta_are_those_of_the_theory(line: str, claimed: str, exact: str) -> None:
    found = numbers(line)
    assert [f"{x:.{len(text) - 6}e}" for x, text in zip(found, (claimed, exact), strict=True)] == [claimed, exact]


@pytest.mark.parametrize(
    ("epsilon", "alpha", "floor", "claimed", "exact"),
    [("0.3", "10", 33, "4.54e-05", "5.49e-06"), ("1", "23.03", 23, "9.96e-11", "1.73e-11")],
)
def test_two_rows_of_the_theory_take_the_floor_of_alpha_over_epsilon(
    epsilon: str, alpha: str, floor: int, claimed: str, exact: str
) -> None:
    """The table has the paper's offset as it acts on integers, the floor; --alpha rounds up, which is smaller still."""
    line = f"outlier-noisy --k 100 --epsilon {epsilon} --counts 100"
    claimed_here, rounded_up = numbers(f"{line} --alpha {alpha}")
    _, floored = numbers(f"{line} --offset {floor}")
    assert [f"{claimed_here:.2e}", f"{floored:.2e}"] == [claimed, exact]
    assert rounded_up < floored


@pytest.mark.parametrize(
    ("epsilon", "delta", "suppressed", "noisy", "tail_bound", "exact"),
    [  # theory/outlier.md, section 2, "calibrating exactly"
        ("1", "1e-6", 14, 14, 13, 13),
        ("1", "1e-9", 21, 21, 20, 19),
        ("0.5", "1e-6", 27, 28, 26, 24),
        ("0.1", "1e-6", 132, 139, 131, 108),
        ("0.1", "1e-9", 201, 208, 200, 177),
    ],
)
def test_calibrated_offsets_are_those_of_the_theory(
    epsilon: str, delta: str, suppressed: int, noisy: int, tail_bound: int, exact: int
) -> None:
    for name, paper in (("outlier-suppressed", suppressed), ("outlier-noisy", noisy)):
        answer = ask(f"profile --channel {name} --k 100 --epsilon {epsilon} --delta {delta} --counts 100")
        expected = {"paper_offset": paper, "tail_bound_offset": tail_bound, "exact_offset": exact}
        assert answer["calibration"] == expected
        assert answer["parameters"]["offset"] == str(exact)
        assert 0 < answer["worst"]["exact_delta"] <= float(delta)
        assert answer["verdict"]["answer"] == "proved"


def test_the_calibrated_staircase_is_that_of_the_theory() -> None:
    answer = ask(f"profile --channel {STAIRS} --delta 1e-6 --counts 10,100,1000")
    assert answer["calibration"] == {"paper_offsets": [15, 165, 1656], "exact_offsets": [12, 107, 852]}
    assert [f"{row['exact_delta'] * 1e7:.1f}" for row in answer["rows"]] == ["10.0", "9.3", "9.8"]
    assert answer["verdict"]["answer"] == "proved"  # by the exact law of every count that the lemma leaves open


@pytest.mark.parametrize(
    ("curve", "counts"),
    [
        ("1:0.01,101:1", "1..130"),
        ("1:0,11:0.01,101:0.1", "1..130"),
        ("slope:0.02", "1..20,60"),
        ("slope:0.01<=1", "1..5,99..105"),
    ],
)
def test_the_warped_channel_has_no_delta_and_loses_exactly_its_curve(curve: str, counts: str) -> None:
    answer = ask(f"profile --channel warped --curve {curve} --counts {counts}")
    assert [row["count"] for row in answer["rows"]] == read_counts(counts)
    for row in answer["rows"]:
        assert (row["claimed_delta"], row["exact_delta"]) == (0, 0)
        assert row["exact_epsilon"] == row["epsilon"]
        assert Fraction(row["exact_epsilon_text"]) <= Fraction(row["epsilon"])
        assert float(Fraction(row["exact_epsilon_text"])) == pytest.approx(row["epsilon"], rel=1e-15)
    assert answer["verdict"] == {
        "answer": "proved",
        "reason": "Theorem W1: the ratio is e^epsilon(c) or e^-epsilon(c) at every published value",
    }


@pytest.mark.parametrize(
    "line", ["simple-suppressed --k 100", "simple-noisy --k 100 --epsilon 1", "group --k 100 --epsilon 1"]
)
def test_pure_examples_have_no_delta(line: str) -> None:
    rows = ask(f"profile --channel {line} --counts 95..100")["rows"]
    assert {(row["claimed_delta"], row["exact_delta"]) for row in rows} == {(0, 0)}


def test_the_profile_of_an_example_has_every_key() -> None:
    answer = ask("profile --channel noisy-below --k 20 --epsilon 0.5 --counts 19,20")
    keys = ["channel", "parameters", "claim", "rows", "worst", "verdict", "remarks"]
    assert list(answer) == keys
    assert answer["claim"] == "(20, 0.5)-crowd-blending"
    common = {"claimed_delta": 0, "exact_delta": 0}
    assert answer["rows"] == [
        {"count": 19, "epsilon": 0.5, **common, "exact_epsilon": 0.5, "exact_epsilon_text": "0.5"},
        {"count": 20, "epsilon": "inf", **common, "exact_epsilon": "inf"},
    ]
    assert answer["worst"] == answer["rows"][1]
    table = ask(f"profile --channel {STAIRS} --alpha 10 --counts 5")["rows"]
    assert table[0]["exact_epsilon"] is None  # the law is a table


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_every_example_of_the_catalogue_has_a_profile(name: str, example: str) -> None:
    answer = ask(f"profile {example} --counts 1..4")
    assert answer["verdict"]["answer"] == "proved", name
    for row in answer["rows"]:
        assert row["exact_delta"] <= row["claimed_delta"]


def test_a_curve_that_falls_is_lowered_and_that_is_said() -> None:
    line = "profile --channel warped --curve 1:0.5,100:1,200:0.2 --counts 1"
    answer = ask(line)
    assert answer["parameters"]["curve"] == "0.2"
    assert "envelope" in answer["remarks"][0]
    shown = run(line)
    assert shown.stderr.startswith("Note: the curve decreases somewhere")
    assert "envelope" not in shown.stdout


def test_floats_are_rounded_up() -> None:
    row = ask("profile --channel geometric --epsilon 1/3 --counts 1")["rows"][0]
    assert Fraction(row["epsilon"]) > Fraction(1, 3) > Fraction(math.nextafter(row["epsilon"], 0))
    assert row["exact_epsilon_text"] == "1/3"


# A channel that promises less loss than it has.


@dataclass(frozen=True)
class Liar(Geometric):
    name: ClassVar[str] = "liar"

    @property
    def claim(self) -> DifferentialPrivacy:
        return DifferentialPrivacy(epsilon=self.epsilon / 2)


@pytest.fixture
def lying(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "make", lambda name, **options: catalogue.Made(Liar(Fraction(1))))


@pytest.mark.usefixtures("lying")
def test_a_refuted_claim_exits_with_4_and_its_witness() -> None:
    answer = ask("profile --channel geometric --counts 3..5", exit_code=4)
    verdict = answer["verdict"]
    assert verdict["answer"] == "refuted"
    assert {key: verdict["witness"][key] for key in ("count", "neighbour", "epsilon", "claimed_delta")} == {
        "count": "3",
        "neighbour": "2",
        "epsilon": "0.5",
        "claimed_delta": "0",
    }
    q, shift = math.exp(-1), math.exp(0.5)
    exact = (1 - shift * q) / (1 + q)  # sum over v >= c of the peak times q^(v-c) times 1 - e^(1/2) q
    assert answer["worst"]["exact_delta"] == pytest.approx(exact)
    assert float(Fraction(verdict["witness"]["exact_delta_at_least"])) == pytest.approx(exact, rel=1e-5)


@pytest.mark.usefixtures("lying")
def test_a_refuted_claim_is_told_to_people() -> None:
    shown = run("profile --channel geometric --counts 3..5")
    assert shown.exit_code == 4
    assert "✗ Refuted: removing one person from a bin of 3" in shown.stdout
    assert "neighbour: 2" in shown.stdout
    assert shown.stderr.startswith("hubbub: the claim of geometric does not hold")
    assert shown.stderr.count("\n") == 1


def test_a_profile_for_people_merges_equal_lines_and_marks_what_it_skips() -> None:
    warped = run("profile --channel warped --curve 1:0.01,101:1 --counts 1..130").stdout
    lines = [line.split() for line in warped.splitlines()]
    assert ["1..100", "0.01", "0", "0", "-", "0.01"] in lines
    assert ["101..130", "1", "0", "0", "-", "1"] in lines
    assert "✓ Proved for every count" in warped
    long = run("profile --channel outlier-suppressed --k 100 --epsilon 1 --alpha 10 --counts 1..130").stdout
    lines = [line.split() for line in long.splitlines()]
    assert ["100", "0.01", "2.27e-05", "7.673e-06", "2.96", "1"] in lines
    assert ["9..93", *["…"] * 5] in lines
    assert ["101..130", "1", "2.27e-05", "0", "-", "1"] in lines
    bounds = run(
        "profile --channel lower-bound --curve 1:0.01,101:1 --estimator count --epsilon-a 0.005 --alpha 10 --counts 105"
    )
    assert ["105", "1", "2.27e-05", "0", "-", "1"] in [line.split() for line in bounds.stdout.splitlines()]
    calibrated = run("profile --channel outlier-noisy --k 100 --epsilon 1 --delta 1e-6 --counts 100").stdout
    assert "Calibrated: paper offset 14, tail bound offset 13, exact offset 13." in calibrated


def test_a_chart_is_written_and_named(tmp_path: Path) -> None:
    file = tmp_path / "profile.svg"
    line = f"profile --channel warped --curve 1:0.01,101:1 --counts 1..5 --chart {file}"
    assert ask(line)["chart"] == str(file)
    assert "warped --curve 1:0.01,101:1" in file.read_text(encoding="utf-8")
    assert "The chart is in" in run(line).stdout


# --- wrong use --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "counts"),
    [("5", [5]), ("1..4", [1, 2, 3, 4]), ("7, 1,3..5,4", [1, 3, 4, 5, 7]), (f"{2**62}", [2**62])],
)
def test_counts_are_read(text: str, counts: list[int]) -> None:
    assert read_counts(text) == counts


@pytest.mark.parametrize(
    "text", ["", "x", "0", "1..", "..3", "5..3", "-2", "1.5", "1,,2", "٣", f"1..{MOST_COUNTS + 1}", f"{2**62 + 1}"]
)
def test_counts_that_cannot_be_are_refused_by_name(text: str) -> None:
    with pytest.raises(WrongUse, match=r"^--counts takes"):
        read_counts(text)


def test_as_many_counts_as_allowed() -> None:
    assert len(read_counts(f"1..{MOST_COUNTS}")) == MOST_COUNTS


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("law --channel nope --count 3", "there is no channel 'nope'"),
        ("law --channel geometric --count 3", "--epsilon"),
        ("law --channel geometric --epsilon 1 --k 3 --count 3", "--k"),
        ("law --channel geometric --epsilon 1 --count x", "--count"),
        ("law --channel geometric --epsilon 1 --count -1", "--count"),
        (f"law --channel geometric --epsilon 1 --count {2**62 + 1}", "count"),
        ("law --channel geometric --epsilon zero --count 3", "epsilon"),
        ("law --channel geometric --epsilon 1e-6 --count 3", "larger epsilon"),
        ("profile --channel outlier-noisy --k 3 --epsilon 1 --counts 3", "--alpha, --offset, --delta"),
        ("profile --channel geometric --epsilon 1 --counts 3..1", "--counts"),
        ("profile --channel geometric --epsilon 1 --counts 3 --chart x.pdf", "must end in .html"),
        ("profile --channel geometric --epsilon 1 --counts 3 --chart no/such/folder/x.svg", "cannot be written"),
        ("profile --channel warped --curve 1:2,1:3 --counts 3", "curve"),
    ],
)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["words", "json"])
def test_wrong_use_is_one_sentence_that_names_the_flag(line: str, named: str, form: tuple[str, ...]) -> None:
    result = run(line, *form)
    assert result.exit_code == 2
    assert named in result.stderr
    assert result.stderr.startswith("hubbub: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
