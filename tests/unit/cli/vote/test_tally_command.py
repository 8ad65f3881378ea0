"""``hubbub vote tally``: the JSON it promises, what it says to people, and one sentence for what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands
from hubbub.cli.vote.command import LABELS, READING, RULES
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats.formats import write
from hubbub.voting.formats.reading import CHOICES, Reading
from hubbub.voting.rules.rules import SUMMARY
from tests.unit.cli.answers import one_object, one_sentence


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, ["vote", "tally", *args], catch_exceptions=False)


def ask(*args: str) -> dict[str, Any]:
    return one_object(run(*args, "--json"))


def test_the_options_are_those_of_the_library() -> None:
    assert set(RULES) == set(SUMMARY)
    assert {option.name: option.choices for option in READING} == dict(CHOICES)
    assert {f"{label.replace('-', '_')}_labels" for label in LABELS} <= set(Reading.__dataclass_fields__)


def test_the_answer_has_the_promised_parts() -> None:
    answer = ask("millbrook")
    assert {"winner", "rounds", "ties", "guarantee", "pareto", "rule", "lottery", "ballots", "reading"} <= set(answer)
    assert (answer["winner"], answer["rule"]) == ("Ada Bell", "repeated-plurality")
    first = answer["rounds"][0]
    assert first["counts"]["Ben Cole"] == 3740
    assert list(first["counts"].values()) == sorted(first["counts"].values(), reverse=True)
    assert first["eliminated"] == ["Cai Dunn", "Dee Eads", "Eli Ford"]
    assert first["margin"] == answer["guarantee"]["margin"] == 819
    assert sum(first["counts"].values()) + first["exhausted"] == answer["ballots"]["voters"] == 10_416
    assert answer["ties"] == []
    assert answer["lottery"] == {"Ada Bell": "1"}
    promise = answer["guarantee"]
    assert (promise["holds"], promise["eta"], promise["eta_text"]) == (True, 1e-12, "0.000000000001")
    assert promise["alpha_min"] == pytest.approx(0.1551, rel=1e-3)
    assert answer["pareto"]["answer"] == answer["close_to_optimal"]["answer"] == "proved"
    assert answer["reading"]["overvotes"] == "stop"


def test_a_wider_eta_needs_a_narrower_margin() -> None:
    assert ask("millbrook", "--eta", "1e-6")["rounds"][0]["margin"] < 819
    assert ask("millbrook", "--eta", "2^-100")["rounds"][0]["margin"] > 819
    answer = ask("millbrook", "--margin", "n^0.75")
    assert answer["rounds"][0]["margin"] == int(10_416**0.75)
    assert answer["guarantee"]["holds"]
    narrow = ask("millbrook", "--margin", "100")["guarantee"]
    assert (narrow["holds"], narrow["alpha_min"], narrow["margin"]) == (False, None, 100)
    assert "too narrow" in narrow["reason"]


def test_ties_are_drawn_and_recorded_or_go_by_the_list(tmp_path: Path) -> None:
    path = str(tmp_path / "tie.soi")
    write(Ballots.from_counts(("Ann", "Bob", "Cid"), {("Ann",): 3, ("Bob",): 3, ("Cid",): 1}), path)
    answer = ask(path, "--margin", "1")
    (draw,) = answer["ties"]
    assert draw["among"] == ["Ann", "Bob"]
    assert draw["chances"] == ["0.5", "0.5"]
    assert draw["chosen"] == answer["winner"]
    assert draw["source"] == "the operating system"
    assert answer["lottery"] == {"Ann": "0.5", "Bob": "0.5"}
    listed = ask(path, "--margin", "1", "--ties", "listed")
    assert (listed["winner"], listed["ties"]) == ("Ann", [])
    assert "fixed order" in listed["guarantee"]["reason"]
    assert {ask(path, "--margin", "1")["winner"] for _ in range(40)} == {"Ann", "Bob"}


def test_compare_runs_all_rules() -> None:
    rows = {row["rule"]: row for row in ask("millbrook", "--compare")["compare"]}
    assert set(rows) == set(RULES) - {"positional"}
    winners = {name: rows[name]["winner"] for name in ("plurality", "borda", "instant-runoff", "repeated-plurality")}
    assert winners == {
        "plurality": "Ben Cole",
        "borda": "Dee Eads",
        "instant-runoff": "Ada Bell",
        "repeated-plurality": "Ada Bell",
    }
    assert [name for name in rows if rows[name]["guarantee"]["holds"]] == [
        "repeated-plurality",
        "approximate-runoff",
        "random-dictator",
        "punishing",
    ]
    shown = run("millbrook", "--compare").stdout
    assert "another draw may choose another" in shown
    assert '"No promise" means that a lie may pay' in shown
    assert "All rules" in shown
    assert "no promise" in shown
    assert "…" not in shown
    assert all(rule in shown for rule in rows)  # nothing is cut short at 80 columns
    listed = {row["rule"]: row for row in ask("millbrook", "--compare", "--ties", "listed")["compare"]}
    assert "fixed order" in listed["repeated-plurality"]["guarantee"]["reason"]


def test_a_mix_takes_every_gain_away() -> None:
    answer = ask("millbrook", "--mix", "0.05")
    assert answer["rule"] == "repeated-plurality mixed with punishing"
    assert answer["guarantee"]["eta"] == 0
    assert (answer["guarantee"]["utility_apart"], answer["guarantee"]["utility_apart_text"]) == (0.05, "0.05")
    told = run("millbrook", "--mix", "0.05").stdout
    assert "No lie gains anything, if a voter's belief is at least 0.156-coarse and her utilities" in told
    assert "equal or at least 0.05 apart" in told
    assert "A smaller eta makes it rarer" in run("millbrook", "--mix", "1e-7").stdout
    assert answer["punishing_probability"] == pytest.approx(1e-12 * 10_416 * 20 / 0.05, rel=1e-3)
    assert answer["ties"][0]["among"] == ["repeated-plurality", "punishing"]


def small_club(tmp_path: Path) -> str:
    """800 voters and 5 candidates: the margin for a gain of 1e-12 is wider than the highest count."""
    path = str(tmp_path / "club.soi")
    names = ("Ann", "Bob", "Cid", "Dot", "Eve")
    counts = {("Ann", "Cid"): 217, ("Bob", "Ann"): 190, ("Cid", "Bob"): 160, ("Dot", "Bob"): 130, ("Eve", "Dot"): 103}
    write(Ballots.from_counts(names, counts), path)
    return path


EMPTY = "Only first choices were counted: all are within the margin (227) of each other."


def test_an_empty_promise_is_told_first_and_as_none(tmp_path: Path) -> None:
    path = small_club(tmp_path)
    answer = ask(path, "--compare")
    beside = f"{EMPTY} By instant runoff Bob wins (--rule instant-runoff)."
    assert answer["words"][:2] == ["Ann wins.", beside]
    assert answer["nobody_struck_out"] == {"words": beside, "instant_runoff": {"Bob": "1"}}
    assert ask(path, "--rule", "instant-runoff")["winner"] == "Bob"
    promise = answer["promise"]
    assert (promise["empty"], promise["margin"]) == (True, 227)
    assert promise["alpha_min"] == pytest.approx(0.5618, abs=1e-3)
    assert "one single ranking" in promise["why"]
    assert answer["rounds"][0]["struck_out"] == []
    assert answer["guarantee"]["holds"] is False
    assert answer["close_to_optimal"]["answer"] == "undecided"
    assert "all candidates are within the margin" in answer["close_to_optimal"]["reason"]
    rows = {row["rule"]: row for row in answer["compare"]}
    assert rows["repeated-plurality"]["plain"] == EMPTY
    assert rows["repeated-plurality"]["promise"]["empty"] is True
    assert rows["random-dictator"]["promise"]["empty"] is False
    told = run(path, "--compare").stdout
    assert told.splitlines()[0] == f"Ann wins. {beside}"
    assert told.count("Ann wins.") == 1
    assert "No lie gains more than" not in told
    assert "Close to optimal: proved" not in told
    assert f"repeated-plurality: {EMPTY[0].lower()}{EMPTY[1:]}" in told


def test_what_is_offered_instead_is_kept(tmp_path: Path) -> None:
    """The gain offered is promised when asked for, and the next smaller one is not; so are the voters."""
    path = small_club(tmp_path)
    choices = ask(path)["choices"]
    assert choices["rules"] == ["random-dictator"]
    first = choices["eta"][0]
    assert first["coarseness"] == "0.5"
    answer = ask(path, "--eta", first["eta_text"])
    assert answer["promise"]["empty"] is False
    assert answer["promise"]["margin"] == first["margin"] < 217
    assert answer["words"][1].startswith("Only first choices were counted: all are within the margin (203)")
    assert (first["eta"], ask(path, "--eta", "6.5e-10")["promise"]["empty"]) == (6.6e-10, True)
    assert choices["voters"][0]["always"] > 800


def test_coarse_is_explained_where_it_is_used() -> None:
    told = run("millbrook").stdout
    assert "A belief is 0.156-coarse when its probabilities are whole multiples of one number" in told
    assert "a poll of 7 ballots or more" in told


def test_who_would_win_each_pair(tmp_path: Path) -> None:
    answer = ask(small_club(tmp_path), "--compare")
    pairs = {frozenset(pair["pair"]): pair for pair in answer["pairwise"]["pairs"]}
    assert len(pairs) == 10
    assert pairs[frozenset(("Ann", "Bob"))] == {"winner": "Bob", "pair": ["Bob", "Ann"], "votes": [480, 217]}
    assert answer["pairwise"]["condorcet_winner"] is None
    shown = run("millbrook", "--compare").stdout
    assert "Who would win each pair" in shown
    assert "(the Condorcet winner)" in shown
    elected = {row["rule"]: row["condorcet_winner_elected"] for row in ask("millbrook", "--compare")["compare"]}
    assert elected["plurality"] is False


def test_one_voter_is_counted_and_promised_nothing(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("rank1,rank2\nBob,Ann\n", encoding="utf-8")
    path.with_suffix(".blt").write_text("3 1\n1 2 3 0\n0\nAnn\nBob\nCid\nA ward\n", encoding="utf-8")
    assert ask(str(path))["winner"] == "Bob"
    for rule in ("repeated-plurality", "approximate-runoff", "scoring-elimination"):
        answer = ask(str(path.with_suffix(".blt")), "--rule", rule)
        assert (answer["winner"], answer["guarantee"]["holds"]) == ("Bob", False)
        assert "no others" in answer["guarantee"]["reason"]


def test_where_nothing_is_promised_the_next_step_is_told() -> None:
    assert "approximate-runoff is the rule like it" in run("millbrook", "--rule", "instant-runoff").stdout
    for margin, why in (("3", "too narrow"), ("1e9", "too wide")):
        told = run("millbrook", "--margin", margin).stdout
        assert why in told
        assert "hubbub vote guarantee" in told


def test_a_club_is_told_that_second_choices_did_not_count(tmp_path: Path) -> None:
    """60 voters, a form with blanks: who wins by instant runoff stands beside the winner, and so does the next step."""
    path = tmp_path / "club.csv"
    lines = ["Ana,Carla,"] * 20 + ["Boris,Carla,Dan"] * 18 + ["Carla,Boris,"] * 12 + ["Dan,Boris,Carla"] * 10
    rows = [f"2026-01-01 10:00,{line}" for line in lines]
    path.write_text("\n".join(["Timestamp,First choice,Second choice,Third choice", *rows, ""]), encoding="utf-8")
    told = run(str(path)).stdout
    few = "Only first choices were counted: 60 voters are too few for this rule to strike anybody out."
    assert told.startswith(f"Ana wins. {few} By instant runoff Boris wins (--rule instant-runoff).\n")
    assert ask(str(path))["nobody_struck_out"]["instant_runoff"] == {"Boris": "1"}
    assert ask(str(path), "--rule", "instant-runoff")["winner"] == "Boris"
    assert ask(str(path), "--rule", "instant-runoff")["nobody_struck_out"] is None
    assert "60 voters are too few for the proof behind this rule to cover anybody." in told
    assert "hubbub vote gain --ballots FILE --truth 'Ana>Boris>Carla>Dan' --voters 60\n" in told
    assert (
        "--rule approximate-runoff --margin 99\n"
        in run(str(path), "--rule", "approximate-runoff", "--margin", "99").stdout
    )


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("irv", "instant-runoff"),
        ("RCV", "instant-runoff"),
        ("fptp", "plurality"),
        ("condorcet", "schulze or ranked-pairs or minimax"),
        ("instant_runof", "instant-runoff"),
    ],
)
def test_a_rule_by_another_name(word: str, meant: str) -> None:
    result = run("millbrook", "--rule", word)
    one_sentence(result, 2, f"Did you mean {meant}?")
    assert "punishing" not in result.stderr


def test_help_shows_what_most_need() -> None:
    short, long = run("--help").stdout, run("--help-all").stdout
    shown = [line for line in short.splitlines() if line.startswith(("  --", "  -h"))]
    assert len(shown) <= 12
    assert "--least-votes" not in short
    assert "--least-votes" in long


def test_every_rule_can_be_asked_for() -> None:
    for rule in RULES:
        more = ["--points", "4,3,2,1,0"] if rule == "positional" else []
        answer = ask("millbrook", "--rule", rule, *more)
        assert answer["rule"] == rule
        assert answer["winner"] in answer["lottery"]
    then = ask("millbrook", "--rule", "scoring-elimination", "--then", "listed", "--margin", "9999999")
    assert then["winner"] == "Ada Bell"


def test_people_read_a_table_for_each_round() -> None:
    shown = run("millbrook", "--rule", "instant-runoff").stdout
    assert [f"Round {i} of 4" in shown for i in range(1, 6)] == [True] * 4 + [False]
    lines = shown.splitlines()
    assert lines[0] == "Ada Bell wins.", "the answer first"
    assert lines[1] == "Millbrook elects a chair: 10,416 ballots, 16 of them blank, 5 candidates, instant-runoff"
    assert lines.count("Ada Bell wins.") == 1
    assert any(line.split() == ["Eli", "Ford", "240", "3,500", "out"] for line in lines)
    assert any(line.split() == ["(exhausted)", "1,186"] for line in lines)
    told = run("millbrook").stdout
    assert "No lie gains more than 1e-12 in expected utility, if a voter's belief is at least 0.156-coarse" in told


def test_a_vote_for_nobody_is_pointed_out(tmp_path: Path) -> None:
    path = tmp_path / "form.csv"
    path.write_text("1st choice,2nd choice\nAnn,Bob\nAbstain,\nBob,Ann\nAnn,\n", encoding="utf-8")
    done = run(str(path), "--rule", "instant-runoff")
    assert done.stderr.endswith('if it is a vote for nobody: --alias "Abstain=blank".\n')
    again = run(str(path), "--rule", "instant-runoff", "--alias", "Abstain=blank")
    assert "for Ann, Bob." in again.stderr


def test_the_rules_for_marks_go_into_the_result(tmp_path: Path) -> None:
    path = tmp_path / "cvr.csv"
    path.write_text("rank1,rank2,rank3\nAnn,Bob,\nX,Bob,Ann\nBob,O,Ann\nBob,Bob,Ann\nW,,\n", encoding="utf-8")
    labels = ["--undervote-label", "X", "--overvote-label", "O", "--write-in-label", "W"]
    answer = ask(str(path), *labels, "--rule", "plurality", "--overvotes", "skip")
    assert answer["reading"] == {
        "overvotes": "skip",
        "skips": "skip",
        "repeats": "first",
        "truncation": "keep",
        "write_ins": "together",
        "changed": {"skips": 1, "overvotes": 1, "repeats": 1},
    }
    assert answer["rounds"][0]["counts"] == {"Bob": 3, "Ann": 1, "Write-in": 1}
    shown = run(str(path), *labels, "--rule", "plurality").stdout
    assert "overvotes=stop changed 1; repeats=first changed 1; skips=skip changed 1" in shown
    named = tmp_path / "names.txt"
    named.write_text("Bob\nAnn\nZoe\n", encoding="utf-8")
    listed = ask(str(path), *labels, "--rule", "plurality", "--candidates", str(named), "--write-ins", "drop")
    assert listed["ballots"]["candidates"] == ["Bob", "Ann", "Zoe"]
    columns = ask(str(path), "--columns", "ranks=rank1", *labels, "--rule", "plurality")
    assert columns["reading"]["changed"] == {}


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["missing.soi"], 2, "the ballot file cannot be read"),
        (["notes.doc"], 2, "a ballot file is one of"),
        (["millbrook", "--rule", "majority"], 2, "invalid value for '--rule'"),
        (["millbrook", "--rule", "borda", "--margin", "3"], 2, "borda has no margin"),
        (["millbrook", "--margin", "-3"], 2, "a margin must be at least 0"),
        (["millbrook", "--margin", "n^1.5"], 2, "needs d between 0 and 1/2"),
        (["millbrook", "--eta", "3"], 2, "--eta must lie between 0 and 1"),
        (["millbrook", "--then", "lot"], 2, "--then is about scoring-elimination"),
        (["millbrook", "--rule", "scoring-elimination", "--ties", "listed"], 2, "--ties is about equal counts"),
        (["millbrook", "--mix", "2"], 2, "the coarseness of the utility must be at most 1"),
        (["millbrook", "--rule", "plurality", "--mix", "0.1"], 2, "--mix needs a bound on what a lie gains"),
        (["millbrook", "--rule", "positional"], 2, "positional needs points"),
        (["millbrook", "--rule", "positional", "--points", "2,1"], 2, "5 candidates need 5 points"),
        (["millbrook", "--chart", "count.doc"], 2, "a chart file must end in"),
        (["b.csv", "--columns", "rank1"], 2, "--columns says which column is which"),
    ],
)
def test_what_is_wrong_is_one_sentence(args: list[str], code: int, sentence: str) -> None:
    one_sentence(run(*args), code, sentence)


def test_a_chart_is_written_where_asked(tmp_path: Path) -> None:
    path = tmp_path / "flow.svg"
    answer = ask("millbrook", "--rule", "instant-runoff", "--chart", str(path))
    assert answer["chart"] == str(path)
    drawn = path.read_text(encoding="utf-8")
    for word in ("Ada Bell wins, 4,960 to 4,270", "round 4", "out: Eli Ford", "exhausted"):
        assert word in drawn
    told = run("millbrook", "--rule", "scoring-elimination", "--chart", str(tmp_path / "bars.svg"))
    assert "Chart: " in told.stderr
    bars = (tmp_path / "bars.svg").read_text(encoding="utf-8")
    for word in ("24,040", ">Dee Eads wins<", "then 4,930 to 4,620 in top choices"):  # each number with its unit
        assert word in bars


@pytest.mark.parametrize(("expected", "code"), [("8", 0), ("9", 2), ("7", 2), ("many", 2)])
def test_another_number_of_ballots_than_expected_is_not_counted(tmp_path: Path, expected: str, code: int) -> None:
    path = tmp_path / "b.csv"
    path.write_text("count,ranking\n5,Ann>Bob\n3,Bob>Ann\n", encoding="utf-8")
    done = CliRunner().invoke(commands, ["vote", "tally", str(path), "--expect", expected])
    assert (done.exit_code, "Ann wins" in done.stdout) == (code, code == 0)
    if expected in "97":
        assert f"the files hold 8 ballots, and --expect says {expected}" in done.stderr


CONTESTS = "id,Mayor Choice 1,Mayor Choice 2,Clerk Choice 1,Clerk Choice 2\n" + "".join(
    f"a{i},{votes}\n" for i, votes in enumerate(["Ann,Bob,Dee,Eva", "Bob,Ann,Eva,Dee", "Ann,,Dee,", "Ann,Bob,Eva,Dee"])
)


def test_every_contest_of_a_file_is_counted_or_told(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    words = ["vote", "tally", str(path), "--rule", "instant-runoff", "--ties", "listed", "--every-contest"]
    path.write_text(CONTESTS, encoding="utf-8")
    done = CliRunner().invoke(commands, [*words, "--json"])
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)["contests"]
    assert {name: answer["winner"] for name, answer in found.items()} == {"Mayor": "Ann", "Clerk": "Dee"}
    told = CliRunner().invoke(commands, words)
    assert told.stdout.index("== Mayor ==") < told.stdout.index("Ann wins") < told.stdout.index("== Clerk ==")
    path.write_text(CONTESTS.replace("Dee", "").replace("Eva", ""), encoding="utf-8")
    half = CliRunner().invoke(commands, [*words, "--json"])
    assert half.exit_code == 2
    found = json.loads(half.stdout)["contests"]
    assert (found["Mayor"]["winner"], "refused" in found["Clerk"]) == ("Ann", True)
    page = CliRunner().invoke(commands, [*words, "--page", str(tmp_path / "p.html")])
    assert (page.exit_code, "is about one contest" in page.stderr) == (2, True)
