"""``hubbub vote guarantee``: the JSON it promises, the numbers of the theory, and what it says to people."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from hubbub.cli import Commands
from hubbub.cli.vote.questions import guarantee
from hubbub.errors import WrongUse
from hubbub.numeric.exact import rational
from hubbub.voting.rules.threshold import margin, share, threshold
from tests.unit.cli.answers import one_object, one_sentence

commands = Commands("hubbub", commands={"guarantee": guarantee})


def run(line: str) -> Result:
    return CliRunner().invoke(commands, ["guarantee", *line.split()], catch_exceptions=False)


def ask(line: str) -> dict[str, Any]:
    return one_object(run(f"{line} --json"))


@pytest.mark.parametrize(
    ("line", "margin", "alpha", "digits", "ballots"),
    [
        ("--voters 1000 --eta 1e-12", 249, 0.494, 3, 2),
        ("--voters 10000 --eta 1e-12", 785, 0.156, 3, 6),
        ("--voters 10000 --eta 2^-100", 1205, 0.240, 3, 4),
        ("--voters 100000", 2483, 0.049, 3, 20),
        ("--voters 1000000", 7850, 0.0156, 4, 64),
        ("--voters 1000000 --eta 2^-100", 12041, 0.024, 3, 41),
        ("--voters 10000000", 24824, 0.0049, 4, 203),
    ],
)
def test_the_default_table(line: str, margin: int, alpha: float, digits: int, ballots: int) -> None:
    answer = ask(f"{line} --candidates 3")
    assert answer["margin"] == margin
    assert round(answer["alpha_min"], digits) == alpha
    assert answer["observations"]["empirical"] == ballots
    assert answer["gain_bound"] <= answer["eta"]
    assert rational(answer["gain_bound_text"]) <= rational(answer["eta_text"])
    assert answer["alpha_min_sharp"] <= answer["alpha_min"] == pytest.approx(float(rational(answer["alpha_min_text"])))
    assert answer["empty"] is False


def test_the_punishing_probability_of_b5() -> None:
    line = "--voters 1000000 --candidates 3 --utility-coarseness 0.05"
    assert float(f"{ask(line)['punishing_probability']:.1g}") == 6e-5
    assert round(ask(f"{line} --eta 1e-6")["punishing_probability"], 2) == 0.98
    assert float(f"{ask(f'{line} --eta 2^-100')['punishing_probability']:.1g}") == 5e-23
    twice = ask(f"{line} --truncated")["punishing_probability"] / ask(line)["punishing_probability"]
    assert twice == pytest.approx(2, rel=1e-3)


def test_the_thesis_stands_beside_it() -> None:
    thesis = ask("--voters 10000 --candidates 3 --power 0.1")["thesis"]
    assert (thesis["margin"], thesis["vacuous"], round(thesis["alpha"], 3)) == (251, True, 0.146)
    wide = ask("--voters 10000 --candidates 3 --power 0.4")["thesis"]
    assert (wide["vacuous"], wide["alpha_vacuous"], round(wide["log_keep_part"])) == (False, True, -813)
    assert ask("--voters 10000 --candidates 3 --rule scoring-elimination --points-range 2")["thesis"] is None


def test_inverse_questions() -> None:
    needed = ask("--candidates 3 --dirichlet 10")
    assert needed["voters_needed"] == needed["voters"] == 62_031
    assert needed["observations"] == {"empirical": 16, "dirichlet": 10}
    assert needed["thesis"]["voters_needed"] == 49**4  # (3/alpha + 1)^4 with d = 1/4, for no stated gain
    assert ask("--candidates 3 --observed 16")["voters_needed"] == 62_031
    assert ask("--candidates 3 --coarseness 1/16")["voters_needed"] == 62_031
    bound = ask("--voters 10000 --candidates 3 --margin n^0.75 --coarseness 1/5")
    assert bound["margin"] == 1000
    assert bound["gain_bound"] < 1e-18
    truncated = ask("--candidates 3 --dirichlet 10 --truncated")
    assert truncated["coarseness_text"] == "1/26"
    curve = ask("--voters 10000 --candidates 3 --curve")["curve"]
    assert [row["gain_bound"] for row in curve] == sorted(row["gain_bound"] for row in curve)


def test_an_empty_guarantee_says_so_in_words() -> None:
    small = ask("--voters 500 --candidates 3")
    assert small["empty"] is True
    assert "empty" in small["words"][0]
    assert any("1,000 voters or fewer" in sentence for sentence in small["words"])
    nobody = ask("--voters 50 --candidates 3")
    assert nobody["alpha_min"] > 1
    assert nobody["observations"] == {"empirical": 0, "dirichlet": None}
    narrow = ask("--voters 10000 --candidates 3 --margin 100")
    assert (narrow["alpha_min"], narrow["alpha_min_sharp"], narrow["empty"]) == (None, None, True)
    assert "nearly empty" in ask("--voters 1000 --candidates 3")["words"][0]
    often = ask("--voters 1000000 --candidates 3 --eta 1e-4")
    assert any("more often than not" in sentence for sentence in often["words"])


def test_two_candidates_need_no_margin() -> None:
    told = ask("--voters 50 --candidates 2")["words"]
    assert any("Between two candidates no lie gains anything" in sentence for sentence in told)
    assert not any("empty" in sentence for sentence in told)
    scored = ask("--voters 50 --candidates 2 --rule scoring-elimination")["words"]
    assert any("empty" in sentence for sentence in scored)


def test_advice_is_true_where_it_is_given() -> None:
    line = "--voters 1000000 --candidates 3 --utility-coarseness 1"
    wider = ask(f"{line} --eta 2^-100")["margin"]
    for eta in ("1e-12", "1e-9"):
        assert any(f"A margin of {wider:,} would do" in sentence for sentence in ask(f"{line} --eta {eta}")["words"])
    assert not any("A margin of" in sentence for sentence in ask(f"{line} --margin 20000")["words"])
    for empty in ("--voters 50 --candidates 3", "--voters 10000 --candidates 3 --margin 100"):
        assert not any("smaller eta" in sentence for sentence in ask(empty)["words"])
        assert "punishing rule" not in run(empty).stdout
    above = ask("--voters 10000 --candidates 3 --coarseness 1/8")
    assert any(f"no lie gains more than {above['gain_bound_text']}, which is above" in s for s in above["words"])


def test_numbers_for_people_are_rounded_against_us() -> None:
    told = run("--voters 100000 --candidates 4 --margin n^0.75 --coarseness 1/6 --utility-coarseness 0.05").stdout
    assert "0.08079" in told  # 0.080781...
    assert "equal or 0.05 apart" in told
    small = run("--voters 500 --candidates 3").stdout.splitlines()
    assert any(line.rstrip().endswith("frequencies of 1 ballot") for line in small)
    assert "400 % of the voters" in run("--voters 2 --candidates 2").stdout


def test_for_people() -> None:
    told = run("--voters 10000 --candidates 3 --coarseness 1/5 --curve")
    assert told.exit_code == 0
    assert "785" in told.stdout
    assert "coarseness    1/2" in told.stdout
    assert "ties are broken at random" in told.stderr
    assert "no belief is coarse enough" in run("--voters 10000 --candidates 3 --margin 100").stdout
    assert "Example" in run("--help").stdout


def test_the_examples_in_the_help_run() -> None:
    lines = [line.strip() for line in (guarantee.epilog or "").splitlines() if "hubbub vote" in line]
    assert len(lines) == 3
    for line in lines:
        assert run(line.removeprefix("hubbub vote guarantee ")).exit_code == 0


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("--voters 100 --candidates 1", "--candidates"),
        ("--voters 1 --candidates 3", "--voters"),
        ("--candidates 3", "--voters"),
        ("--voters 100 --candidates 3 --eta 2", "--eta"),
        ("--voters 100 --candidates 3 --eta 0", "--eta"),
        ("--voters 100 --candidates 3 --coarseness 2", "--coarseness"),
        ("--voters 100 --candidates 3 --utility-coarseness 2", "--utility-coarseness"),
        ("--voters 100 --candidates 3 --coarseness 1/2 --observed 3", "one of them"),
        ("--candidates 3 --coarseness 1/4 --margin 9", "--margin needs --voters"),
        ("--voters 100 --candidates 3 --margin n^0.3", "between 0 and 1/2"),
        ("--voters 100 --candidates 3 --margin n^0.71234", "three decimals"),
        ("--voters 100 --candidates 3 --margin -4", "at least 0"),
        ("--voters 100 --candidates 3 --points-range 2", "range of points"),
        ("--voters 100 --candidates 3 --rule plurality", "plurality"),
    ],
)
def test_wrong_use_is_one_sentence(line: str, complaint: str) -> None:
    one_sentence(run(line), 2, complaint)


def test_an_eta_below_every_float_is_still_above_0() -> None:
    answer = ask("--voters 1000000 --candidates 3 --eta 2^-2000 --utility-coarseness 1")
    assert answer["eta"] > 0
    assert rational(answer["eta_text"]) == Fraction(1, 2**2000)
    assert 0 < answer["punishing_probability"] < 1e-300


def test_it_is_part_of_vote() -> None:
    from hubbub.cli.main import commands as everything

    told = CliRunner().invoke(everything, ["vote", "guarantee", "--voters", "1000", "--candidates", "3", "--json"])
    assert json.loads(told.stdout)["margin"] == 249


def test_numbers_as_text() -> None:
    assert share("2^-100", "eta") == Fraction(1, 2**100)
    assert share("1e-12", "eta") == Fraction(1, 10**12)
    with pytest.raises(WrongUse, match="eta must be a number"):
        share("1^-3", "eta")
    assert threshold(margin("n^(3/4)"), "repeated-plurality", 10_000, 3) == 1000
    assert threshold(margin("12.7"), "repeated-plurality", 10_000, 3) == 12
    assert isinstance(guarantee, click.Command)
