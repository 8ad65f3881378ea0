"""Ties that somebody breaks: asked on a terminal, typed elsewhere, recorded, and counted again."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands
from hubbub.cli.vote import asking
from hubbub.errors import CheckFailed, WrongUse
from hubbub.voting.chance import Chance, TiesByHand
from hubbub.voting.count.by_hand import RecordedAnswers, check_by_hand
from hubbub.voting.count.record import count_again
from hubbub.voting.formats.formats import for_rule
from hubbub.voting.formats.several import read_all
from hubbub.voting.rules.rules import Mix, Plurality, make
from hubbub.voting.rules.stv import RULES, TransferableVote
from tests.unit.cli.answers import one_object, one_sentence

CYCLE = "rank1,rank2,rank3\nAnn,Bob,Cid\nBob,Cid,Ann\nCid,Ann,Bob\n"
WORDS = ("--ties", "ask")


@pytest.fixture
def cycle(tmp_path: Path) -> str:
    path = tmp_path / "cycle.csv"
    path.write_text(CYCLE, encoding="utf-8")
    return str(path)


def tally(path: str, *words: str, answers: str = "") -> Result:
    return CliRunner().invoke(commands, ["vote", "tally", path, *words], input=answers)


def test_a_terminal_asks_and_takes_no_other_name(cycle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "on_terminal", lambda: True)
    done = tally(cycle, "--rule", "instant-runoff", *WORDS, answers="Zed\nCid\n")
    assert done.exit_code == 0, done.output
    assert "Who is chosen (who goes of those with the fewest top choices)?" in done.stderr
    assert "Broken by hand, who goes of those with the fewest top choices: Cid (of Ann, Bob, Cid)." in done.stdout
    assert "Ann wins." in done.stdout
    assert "Nothing is promised about lies: ties are broken by hand" in done.stdout


@pytest.mark.parametrize("words", [["--rule", "instant-runoff"], ["--rule", "stv", "--seats", "1"]])
def test_the_page_says_that_ties_were_broken_by_hand(cycle: str, tmp_path: Path, words: list[str]) -> None:
    page = tmp_path / "page.html"
    done = tally(cycle, *words, *WORDS, "--tie", "Cid", "--page", str(page))
    assert done.exit_code == 0, done.output
    text = page.read_text(encoding="utf-8")
    assert "Ties were broken by hand. Anybody can check" in text
    assert "operating system" not in text
    assert "Lots were drawn" not in text


def test_elsewhere_the_answer_is_typed(cycle: str) -> None:
    one_sentence(tally(cycle, "--rule", "instant-runoff", *WORDS), 2, "add --tie with the name of one of them")
    answer = one_object(tally(cycle, "--rule", "instant-runoff", *WORDS, "--tie", "Cid", "--json"))
    assert (answer["winner"], answer["lottery"]) == ("Ann", None)
    assert answer["draws"][0] | {"chances": []} == {
        "why": "who goes of those with the fewest top choices",
        "among": ["Ann", "Bob", "Cid"],
        "chances": [],
        "chosen": "Cid",
        "number": "2",
        "of": "3",
        "by_hand": True,
        "source": "somebody's answer",
    }


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--rule", "instant-runoff", *WORDS, "--tie", "Zed"], "is none of those who are equal here"),
        (
            ["--rule", "instant-runoff", *WORDS, "--tie", "Cid", "--tie", "Ann"],
            "for a tie that the count does not have",
        ),
        (["--rule", "instant-runoff", "--tie", "Cid"], "add --ties ask"),
        (["--rule", "instant-runoff", *WORDS, "--dice", "x"], "--dice was given too"),
        (["--compare", *WORDS], "--compare was given too"),
        (["--rule", "scoring-elimination", *WORDS], "ends otherwise"),
        (["--rule", "stv", "--seats", "1", "--transfers", "cambridge", *WORDS], "leaves more to chance than ties"),
    ],
)
def test_what_does_not_go_with_answers_is_refused(cycle: str, words: list[str], says: str) -> None:
    result = tally(cycle, *words)
    assert (result.exit_code, says in result.stderr) == (2, True), result.output


RULES_THAT_ASK = (
    ["--rule", "plurality"],
    ["--rule", "instant-runoff"],
    ["--rule", "borda"],
    ["--rule", "schulze"],
    ["--rule", "baldwin"],
    ["--rule", "approximate-runoff", "--margin", "0"],
    *(["--rule", "stv", "--seats", "1", "--transfers", name] for name in ("scotland", "ers97", "meek", "act")),
)


@pytest.mark.parametrize("words", RULES_THAT_ASK, ids=lambda words: words[-1])
def test_answers_are_signed_and_counted_again(cycle: str, tmp_path: Path, words: list[str]) -> None:
    record = tmp_path / "count.json"
    told = [*words, *WORDS, "--tie", "Bob", "--record", str(record), "--ledger", str(tmp_path / "led.db"), "--json"]
    answer = one_object(tally(cycle, *told))
    assert answer["draws"][0]["chosen"] == "Bob"
    check = ["verify", str(record), "--ballots", cycle, "--key", answer["public_key"]]
    again = CliRunner().invoke(commands, [*check, "--explain"])
    assert again.exit_code == 0, again.output
    assert "who broke the ties by hand" in again.output
    signed = json.loads(record.read_text(encoding="utf-8"))["count"]
    file = for_rule(read_all(cycle), signed["rule"]["name"])
    first = signed["draws"][0]
    for draws in ([first | {"chosen": "Ann"}], [first | {"chosen": "Zed"}], [*signed["draws"], first]):
        forged: dict[str, Any] = signed | {"draws": draws}
        with pytest.raises(CheckFailed):
            count_again(forged, file)


def test_what_leaves_more_to_chance_than_ties_takes_no_answer() -> None:
    for rule in (make("random-dictator"), make("punishing"), Mix(rule=Plurality(), probability=Fraction(1, 2))):
        with pytest.raises(WrongUse, match="leaves more to chance"):
            check_by_hand(rule)
    for name in ("ireland", "malta", "cambridge"):
        with pytest.raises(WrongUse, match="leaves more to chance"):
            check_by_hand(TransferableVote(seats=1, rules=RULES[name]))
    chance = Chance(TiesByHand(lambda why, names: names[0]))
    with pytest.raises(WrongUse, match="more to chance than ties"):
        chance.pick("a ballot", ("a", "b"), (Fraction(1, 3), Fraction(2, 3)))
    with pytest.raises(WrongUse, match="in favour of one of"):
        Chance(TiesByHand(lambda why, names: "Zed")).even("a tie", ("a", "b"))
    with pytest.raises(CheckFailed, match="no answer in the record"):
        RecordedAnswers([])("a tie", ("a", "b"))
