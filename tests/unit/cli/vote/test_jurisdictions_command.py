"""``hubbub vote tally`` with files as offices publish them: places, seats, public dice, records, aliases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands
from hubbub.serialization.canonical import read as read_canonical
from hubbub.voting.count.record import count_again, read_again
from hubbub.voting.formats.formats import read, strict
from hubbub.voting.formats.reading import CHOICES, Reading
from hubbub.voting.rules import jurisdictions
from hubbub.voting.rules.stv import RULES as TRANSFERS


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, ["vote", "tally", *args], catch_exceptions=False)


def ask(*args: str) -> dict[str, Any]:
    result = run(*args, "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert isinstance(answer, dict)
    return answer


def file(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


WARD = '4 2\n-4\n9 1 2 0\n4 2 0\n3 3 2 0\n1 4 3 0\n0\n"Ann"\n"Bob"\n"Cid"\n"Dee"\n"A ward"\n'
TIE = "rank1,rank2\nAnn,Bob\nBob,Ann\nCid,Ann\nCid,Bob\n"


def test_places_are_those_of_the_library() -> None:
    for place in jurisdictions.RULE_SETS.values():
        assert place.rule in ("instant-runoff", "stv")
        assert (place.transfers in TRANSFERS) == (place.rule == "stv")
        for what in ("overvotes", "skips", "repeats"):
            assert getattr(place, what) in CHOICES[what]


MARKS = "rank1,rank2,rank3\nAnn,overvote,Bob\nAnn,undervote,Bob\nundervote,undervote,Cid\nBob,Bob,Ann\n"


@pytest.mark.parametrize(
    ("place", "rankings"),
    [
        ("minneapolis", {"Ann>Bob": 2, "Cid": 1, "Bob>Ann": 1}),
        ("maine", {"Ann": 1, "Ann>Bob": 1, "": 1, "Bob>Ann": 1}),
        ("oakland", {"Ann": 1, "Ann>Bob": 1, "Cid": 1, "Bob>Ann": 1}),
        ("scotland", {"Ann": 2, "": 1, "Bob": 1}),
    ],
)
def test_a_place_reads_marks_its_own_way(place: str, rankings: dict[str, int], tmp_path: Path) -> None:
    path = file(tmp_path, "marks.csv", MARKS)
    reading = jurisdictions.rule_set(place).reading(Reading())
    counts = strict(read(path, reading)).ballots.counts()
    assert {">".join(ranking): weight for ranking, weight in counts.items()} == rankings
    more = ["--seats", "1"] if place == "scotland" else []
    answer = ask(path, "--as", place, *more)
    assert answer["rule"] == jurisdictions.rule_set(place).rule
    assert {what: answer["reading"][what] for what in ("overvotes", "skips", "repeats")} == {
        what: getattr(jurisdictions.rule_set(place), what) for what in ("overvotes", "skips", "repeats")
    }
    assert ask(path, "--as", place, "--skips", "stop", *more)["reading"]["skips"] == "stop"
    assert ask(path, "--as", place, "--rule", "plurality")["rule"] == "plurality"


def test_overvotes_wait_for_the_count(tmp_path: Path) -> None:
    path = file(tmp_path, "several.csv", "count,ranking\n9,Ann\n8,Bob\n1,Cid\n5,Dee>Bob=Cid>Ann\n")
    answer = ask(path, "--rule", "instant-runoff", "--overvotes", "several")
    assert (answer["winner"], answer["rounds"][-1]["counts"]) == ("Bob", {"Bob": 13, "Ann": 9})
    assert answer["pareto"]["answer"] == "undecided"
    assert ask(path, "--rule", "instant-runoff")["winner"] == "Ann"
    assert (
        "instant-runoff counts, and the rule is borda" in run(path, "--rule", "borda", "--overvotes", "several").stderr
    )
    refused = run(path, "--rule", "instant-runoff", "--overvotes", "several", "--compare")
    assert (refused.exit_code, "needs strict ballots" in refused.stderr) == (2, True)


def test_several_seats_are_filled_or_it_is_said_that_they_are_not(tmp_path: Path) -> None:
    path = file(tmp_path, "ward.blt", WARD)
    answer = ask(path, "--rule", "stv")
    assert (answer["winners"], answer["quota"], answer["seats"], answer["rules"]) == (["Ann", "Bob"], 6, 2, "scotland")
    assert (answer["withdrawn"], answer["remarks"], answer["draws"]) == (["Dee"], [], [])
    assert answer["stages"][1]["votes"]["Bob"] == "6.99997"
    assert ask(path, "--as", "albany")["stages"][1]["votes"]["Bob"] == "6.9997"
    told = run(path, "--as", "scotland").stdout
    assert "Ann and Bob are elected to 2 seats, by the Scottish rules" in told
    assert "Withdrawn: Dee." in told
    assert "Stage 2 of 2: surplus of Ann" in told
    single = ask(path, "--rule", "plurality")
    assert single["remarks"] == ["the file says 2 seats, and plurality fills one; --rule stv fills them all"]
    assert "Note: the file says 2 seats" in run(path, "--rule", "plurality").stderr


def test_a_chart_of_several_seats(tmp_path: Path) -> None:
    path, chart = file(tmp_path, "ward.blt", WARD), tmp_path / "seats.svg"
    assert ask(path, "--rule", "stv", "--chart", str(chart))["chart"] == str(chart)
    drawn = chart.read_text(encoding="utf-8")
    for word in ("Elected: Ann, Bob", "stage 2", "elected: Ann", "quota 6"):
        assert word in drawn


def test_public_dice_are_the_same_for_everybody(tmp_path: Path) -> None:
    path = file(tmp_path, "tie.csv", TIE)
    answers = [ask(path, "--rule", "instant-runoff", "--dice", words) for words in (" three  swans ", "three swans")]
    assert answers[0] == answers[1]
    assert answers[0]["dice"] == "three swans"
    draw = answers[0]["draws"][0]
    assert (draw["among"], draw["of"], draw["source"]) == (["Ann", "Bob"], "2", "the public words of the dice")
    assert draw["chosen"] == draw["among"][int(draw["number"])]
    winners = {ask(path, "--rule", "random-dictator", "--dice", f"words {i}")["winner"] for i in range(30)}
    assert winners == {"Ann", "Bob", "Cid"}
    assert ask(path, "--rule", "instant-runoff")["dice"] is None
    first, second = (ask(path, "--compare", "--dice", "swans")["compare"] for _ in range(2))
    assert first == second


def test_a_promise_holds_with_public_dice_if_nobody_could_foretell_them() -> None:
    promise = ask("millbrook", "--dice", "a fine day")["guarantee"]
    assert promise["holds"]
    assert "nobody could foretell the public words of the dice while votes were cast" in promise["assumptions"]


COLUMNS = ["--columns", 'ranks="1st, one"/b,count=n', "--alias", "ANN=Ann", "--undervote-label", "nix", "--as", "maine"]


@pytest.mark.parametrize(
    ("text", "args"),
    [
        (TIE, ["--rule", "instant-runoff", "--dice", "swans"]),
        (TIE, ["--rule", "random-dictator"]),
        ('"1st, one",b,n\nANN,Bob,2\nnix,Ann,1\nBob,nix,3\nZoe,Zoe,1\n', COLUMNS),
    ],
)
def test_a_record_is_counted_again_from_the_file(text: str, args: list[str], tmp_path: Path) -> None:
    path, record = file(tmp_path, "tie.csv", text), tmp_path / "count.json"
    winner = ask(path, *args, "--record", str(record))["winner"]
    written = read_canonical(record.read_bytes(), "the record")["count"]
    assert count_again(written, read_again(written, path)).as_json() == written
    assert written["winners"] == [winner]
    assert "cannot be written" in run(path, *args, "--record", str(tmp_path / "no" / "x.json")).stderr


def test_aliases_contests_and_encodings(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        "names.csv",
        "Mayor choice 1,Mayor choice 2,Clerk choice 1,Clerk choice 2\nANN,Bob,Cid,Dee\nAnn,,Dee,\n",
    )
    answer = ask(path, "--contest", "mayor", "--alias", "ANN=Ann", "--rule", "plurality")
    assert answer["ballots"]["candidates"] == ["Ann", "Bob"]
    names = file(tmp_path, "aliases.txt", "Cid=Cid Clark\n\nDee = Dee Dunn\n")
    clerks = ask(path, "--contest", "Clerk", "--alias", f"@{names}", "--rule", "plurality")
    assert clerks["ballots"]["candidates"] == ["Cid Clark", "Dee Dunn"]
    assert "--alias" in " ".join(ask(path, "--contest", "Mayor")["remarks"])
    (tmp_path / "mac.csv").write_bytes("rank1,rank2\nJosé,Bob\n".encode("mac-roman"))
    mac = ask(str(tmp_path / "mac.csv"), "--encoding", "mac-roman", "--rule", "plurality")
    assert mac["ballots"]["candidates"] == ["Bob", "José"]


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--seats", "2"], "--seats is about stv"),
        (["--rule", "stv"], "add --seats N"),
        (["--rule", "stv", "--seats", "2", "--compare"], "--compare runs the rules for one winner"),
        (["--rule", "stv", "--seats", "2", "--mix", "0.1"], "--mix is about rules for one winner"),
        (["--rule", "stv", "--seats", "2", "--ties", "listed"], "stv looks back"),
        (["--rule", "instant-runoff", "--overvotes", "several", "--margin", "3"], "instant-runoff has no margin"),
        (["--rule", "stv", "--seats", "9"], "all are elected without a count"),
        (["--dice", " "], "public dice need words"),
        (["--alias", "Ann"], "--alias says whom a spelling means"),
        (["--as", "mars"], "invalid value for '--as'"),
    ],
)
def test_what_is_wrong_is_one_sentence(args: list[str], sentence: str, tmp_path: Path) -> None:
    result = run(file(tmp_path, "tie.csv", TIE), *args)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert sentence in result.stderr
