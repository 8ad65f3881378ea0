"""THREATS 60: what is not understood is not counted; it is refused with what was seen and the words to type."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.vote import count
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.formats.csv_columns import parse_columns
from hubbub.voting.formats.formats import read, strict
from hubbub.voting.formats.reading import Reading
from hubbub.voting.rules import rules
from hubbub.voting.rules.stv import TransferableVote

RCTAB = Path(__file__).resolve().parents[4] / "shared" / "data" / "elections" / "rctab"

RANKS = [
    f"Choice_{i}_1:Town Primary:{r}:Vote For 1:{name}:Independent" for r in (1, 2) for i, name in enumerate("ABC", 1)
]
CLEAR_BALLOT = (
    "RowNumber,BoxID,BoxPosition,BallotID,PrecinctID,BallotStyleID,PrecinctStyleName,ScanComputerName,Status,Remade,"
    + ",".join(name.replace(":A:", ":Ann:").replace(":B:", ":Bob:").replace(":C:", ":Cid:") for name in RANKS)
    + "\n1,E1,1,E1+1,1,10,P,x,0,0,1,0,0,0,1,0\n2,E1,2,E1+2,1,10,P,x,0,0,0,1,0,0,0,0\n3,E1,3,E1+3,1,10,P,x,0,0,,,,,,\n"
)
GRID = "precinct,Ann,Bob,Cid\np1,1,2,3\np2,2,1,3\np1,1,3,2\n"
RATINGS = "Timestamp,Rate each candidate [Ann],Rate each candidate [Bob],Rate each candidate [Cid]\n" + (
    "x,5,3,1\ny,5,5,2\nz,4,0,5\n"
)
CATEGORIES = (
    "# DATA TYPE: cat\n# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: 7\n# NUMBER CATEGORIES: 2\n# CATEGORY NAME 1: Yes\n"
    "# CATEGORY NAME 2: No\n# ALTERNATIVE NAME 1: Ann\n# ALTERNATIVE NAME 2: Bob\n# ALTERNATIVE NAME 3: Cid\n"
    "4: {1,2},{3}\n2: {3},{1,2}\n1: {},{1,2,3}\n"
)


def made(tmp_path: Path, text: str, ending: str = "csv") -> Path:
    path = tmp_path / f"ballots.{ending}"
    path.write_text(text, encoding="utf-8")
    return path


def understood(tmp_path: Path, text: str, ending: str = "csv", *, columns: str = "", **rules: str) -> BallotFile:
    reading = Reading(**rules)  # type: ignore[arg-type]
    return strict(read(made(tmp_path, text, ending), reading, columns=parse_columns(columns) or None))


def refusal(tmp_path: Path, text: str, ending: str = "csv", *, columns: str = "", **rules: str) -> str:
    with pytest.raises(WrongUse) as caught:
        understood(tmp_path, text, ending, columns=columns, **rules)
    return str(caught.value)


def tally(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(commands, ["vote", "tally", *words])
    return done.exit_code, done.output


def test_60_clear_ballots_file_is_read_by_candidate_and_rank(tmp_path: Path) -> None:
    file = understood(tmp_path, CLEAR_BALLOT)
    assert (file.format, file.title) == ("csv-clear-ballot", "Town Primary")
    assert file.ballots.counts() == {("Ann", "Bob"): 1, ("Bob",): 1}
    assert file.ballots.candidates == ("Ann", "Bob", "Cid")


@pytest.mark.skipif(not RCTAB.exists(), reason="the records are not here")
def test_60_clear_ballots_own_file_counts_people_and_not_marks() -> None:
    file = strict(read(RCTAB / "clear_ballot_kansas_primary" / "clear_ballot_kansas_primary.cvr.csv"))
    assert "Joe Biden" in file.ballots.candidates
    assert len(file.ballots.candidates) == 10


@pytest.mark.parametrize("cells", [("0", "1"), ("217572", "219978"), ("3.5", "2"), ("2024/05/01 10:00", "Ann")])
def test_60_numbers_are_no_candidates_unless_they_are_listed(tmp_path: Path, cells: tuple[str, str]) -> None:
    text = f"rank1,rank2\n{cells[0]},{cells[1]}\n{cells[1]},{cells[0]}\n"
    assert "name nobody" in refusal(tmp_path, text)
    listed = read(made(tmp_path, text), candidates=list(cells))
    assert listed.ballots.voters == 2
    named = read(tmp_path / "ballots.csv", Reading(aliases=((cells[0], "Dee"), (cells[1], "Eva"))))
    assert named.ballots.candidates == ("Dee", "Eva")


def test_60_numbers_in_abif_are_no_candidates(tmp_path: Path) -> None:
    assert "name nobody" in refusal(tmp_path, "3:1>2\n2:2>1\n", "abif")
    assert understood(tmp_path, "=1:[Ann]\n=2:[Bob]\n3:1>2\n2:2>1\n", "abif").ballots.candidates == ("Ann", "Bob")


def test_60_scores_in_abif_that_contradict_equals_are_refused(tmp_path: Path) -> None:
    assert "line 1" in refusal(tmp_path, "3:Ann/5,Bob/3\n2:Bob>Ann\n", "abif")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (GRID, "ranks=precinct/Ann/Bob/Cid"),
        (GRID, "ranks=#1/#2/#3"),
        (GRID, "ranks=Ann/Bob/Cid"),
        (GRID, "ranks=precinct"),
        (GRID, "grid=precinct/Ann/Bob"),
        ("ballot,rank,candidate,precinct\n1,1,Ann,p\n1,2,Bob,p\n", "candidate=precinct"),
        ("polling place,first,second\nx,Ann,Bob\n", "ranks=ballot id"),
    ],
)
def test_60_no_hint_leads_to_a_count_of_identifiers(tmp_path: Path, text: str, columns: str) -> None:
    assert refusal(tmp_path, text, columns=columns)


def test_60_the_hint_that_is_offered_for_a_grid_is_the_right_one(tmp_path: Path) -> None:
    said = refusal(tmp_path, GRID)
    assert "columns=grid=Ann/Bob/Cid" in said
    file = understood(tmp_path, GRID, columns="grid=Ann/Bob/Cid")
    assert file.ballots.counts() == {("Ann", "Bob", "Cid"): 1, ("Bob", "Ann", "Cid"): 1, ("Ann", "Cid", "Bob"): 1}


def test_60_a_column_that_names_nobody_of_the_others_is_no_rank(tmp_path: Path) -> None:
    places = ["School", "Town hall", "Library", "Church"]
    rows = "".join(f"{places[i % 4]},{'Ann' if i % 3 else 'Bob'},{'Bob' if i % 3 else 'Ann'}\n" for i in range(12))
    said = refusal(tmp_path, "where,first,second\n" + rows, columns="ranks=where/first/second")
    assert '"where"' in said
    assert understood(tmp_path, "where,first,second\n" + rows, columns="ranks=first/second").ballots.voters == 12


def test_60_a_column_in_which_no_cell_comes_twice_is_no_rank(tmp_path: Path) -> None:
    rows = "".join(f"B-{chr(97 + i)},Ann,Bob\n" for i in range(12))
    assert '"which"' in refusal(tmp_path, "which,a,b\n" + rows, columns="ranks=which")
    assert '"rank1"' in refusal(tmp_path, "rank1,rank2,x\n" + rows)


@pytest.mark.parametrize(
    "rows",
    [
        "x,5,3,1\ny,3,2,1\n",  # rank 5 of 3 candidates
        "x,2,3,3\ny,3,3,2\nz,1,2,3\n",  # most ballots are no rankings
        "x,1,,1\ny,,1,1\n",  # nothing but ones
        "x,1,0,0\ny,0,1,0\n",
    ],
)
def test_60_a_grid_that_is_no_ranking_is_refused_and_offered_as_what_it_may_be(tmp_path: Path, rows: str) -> None:
    said = refusal(tmp_path, "when,Vote [Ann],Vote [Bob],Vote [Cid]\n" + rows)
    assert "columns=scores=" in said or "columns='scores=" in said or "approvals=" in said, said


def test_60_ratings_are_refused_as_ranks_and_counted_as_scores(tmp_path: Path) -> None:
    said = refusal(tmp_path, RATINGS)
    assert "'scores=Rate each candidate [Ann]/Rate each candidate [Bob]/Rate each candidate [Cid]'" in said
    assert "rule=score" in said
    path = str(made(tmp_path, RATINGS))
    code, output = tally(path, "--columns", "scores=#2/#3/#4", "--rule", "score", "--json")
    assert code == 0, output
    answer = json.loads(output)
    assert (answer["winner"], answer["rounds"][0]["counts"]) == ("Ann", {"Ann": 14, "Bob": 8, "Cid": 8})
    assert tally(path, "--columns", "scores=#2/#3/#4")[0] == 2


def test_60_approvals_are_refused_for_ranks_and_counted_by_approval(tmp_path: Path) -> None:
    assert "rule=approval" in refusal(tmp_path, CATEGORIES, "cat")
    path, record = str(made(tmp_path, CATEGORIES, "cat")), str(tmp_path / "r.json")
    for rule in ("plurality", "repeated-plurality", "borda", "instant-runoff", "stv"):
        code, output = tally(path, "--rule", rule)
        assert code == 2, output
        assert "--rule approval" in " ".join(output.split())
    code, output = tally(path, "--rule", "approval", "--json", "--record", record, "--ledger", str(tmp_path / "l.db"))
    assert code == 0, output
    answer = json.loads(output)
    assert answer["rounds"][0]["counts"] == {"Ann": 4, "Bob": 4, "Cid": 2}
    assert answer["winner"] in ("Ann", "Bob")
    again = CliRunner().invoke(commands, ["verify", record, "--ballots", path, "--key", answer["public_key"]])
    assert again.exit_code == 0, again.output


def test_60_an_approval_grid_is_counted_by_approval(tmp_path: Path) -> None:
    path = str(made(tmp_path, "when,Ann,Bob,Cid\nx,1,,1\ny,,yes,1\nz,,no,\n"))
    code, output = tally(path, "--columns", "approvals=Ann/Bob/Cid", "--rule", "approval", "--json")
    assert code == 0, output
    assert json.loads(output)["rounds"][0]["counts"] == {"Cid": 2, "Ann": 1, "Bob": 1}
    assert tally(str(made(tmp_path, "rank1,rank2\nAnn,Bob\n")), "--rule", "approval")[0] == 2


def test_60_more_than_two_categories_are_no_approvals(tmp_path: Path) -> None:
    three = CATEGORIES.replace("CATEGORIES: 2", "CATEGORIES: 3").replace("{1,2},{3}", "{1},{2},{3}")
    assert "3 categories" in refusal(tmp_path, three, "cat")
    swapped = CATEGORIES.replace("1: Yes", "1: No").replace("2: No", "2: Yes")
    assert '"No"' in refusal(tmp_path, swapped, "cat")


@pytest.mark.parametrize("words", [("yes", "no"), ("good", "bad"), ("A", "B")])
def test_60_answers_in_a_column_for_each_candidate_are_no_ranks(tmp_path: Path, words: tuple[str, str]) -> None:
    rows = "".join(",".join(words[(i >> j) & 1] for j in range(3)) + "\n" for i in range(8))
    said = refusal(tmp_path, "Ann,Bob,Cid\n" + rows, columns="ranks=Ann/Bob/Cid")
    assert "columns=approvals=A/B/C" in said
    vote = understood(tmp_path, "Vote\n" + "yes\nno\nyes\n" * 3, columns="ranks=Vote")  # a question with two answers
    assert vote.ballots.counts() == {("yes",): 6, ("no",): 3}


def test_60_ratings_in_rows_of_ballot_rank_and_candidate_are_no_ranks(tmp_path: Path) -> None:
    rows = "".join(f"{i},{5 - i % 2},Ann\n{i},3,Bob\n{i},1,Cid\n" for i in range(8))
    assert "columns=scores=A/B/C" in refusal(tmp_path, "ballot,rank,candidate\n" + rows)


def test_60_approvals_written_as_ties_are_no_rankings(tmp_path: Path) -> None:
    head = "# NUMBER ALTERNATIVES: 3\n# ALTERNATIVE NAME 1: A\n# ALTERNATIVE NAME 2: B\n# ALTERNATIVE NAME 3: C\n"
    assert "rule=approval" in refusal(tmp_path, head + "40: {1,2},{3}\n30: {2,3},{1}\n9: 3,{1,2}\n", "toc")
    kept = understood(tmp_path, head + "40: 1,{2,3}\n30: 2,{1,3}\n9: {1,3},2\n", "toc")
    assert kept.ballots.counts() == {("A",): 40, ("B",): 30, (): 9}


NOBODY = [
    ("csv", "rank1,rank2\nundervote,undervote\nskipped,\n"),
    ("blt", '2 1\n3 0\n0\n"Ann"\n"Bob"\n"Ward"\n'),
    ("cat", CATEGORIES.replace("4: {1,2},{3}\n2: {3},{1,2}\n1: {},{1,2,3}\n", "7: {},{1,2,3}\n")),
    ("csv", "ballot,rank,candidate\n1,1,\n2,1,overvote\n"),
]


@pytest.mark.parametrize(("ending", "text"), NOBODY)
def test_60_a_contest_in_which_nobody_voted_elects_nobody(tmp_path: Path, ending: str, text: str) -> None:
    path = made(tmp_path, text, ending)
    listed = tmp_path / "who.txt"
    listed.write_text("Ann\nBob\n", encoding="utf-8")
    named = ["--candidates", str(listed)] if ending == "csv" else []
    rule = "approval" if ending == "cat" else "plurality"
    code, output = tally(str(path), "--rule", rule, *named)
    assert code == 2, output
    assert "nobody voted" in " ".join(output.split())


def test_60_nobody_voted_in_python_too() -> None:
    blank = Ballots.from_counts("abc", {(): 7})
    with pytest.raises(WrongUse, match="nobody voted"):
        count(rules.Plurality(), blank, source=ScriptedSource([]))
    with pytest.raises(WrongUse, match="nobody voted"):
        TransferableVote(seats=1).run(blank, ScriptedSource([]))


def test_60_overvotes_refuse_takes_no_ballot_that_ranks_all_equal(tmp_path: Path) -> None:
    said = refusal(tmp_path, "count,ranking\n1,Ann=Bob=Cid\n2,Ann>Bob\n", overvotes="refuse")
    assert "1 ballots rank candidates equal" in said
    rest = understood(tmp_path, "count,ranking\n1,Ann>Bob=Cid\n2,Ann>Bob\n", overvotes="refuse")
    assert rest.ballots.counts() == {("Ann",): 1, ("Ann", "Bob"): 2}


@pytest.mark.parametrize(
    "tail", ['"Ann"\n"Bob"\n"The ward"\n', '"Ann" "Bob" "The ward"\n', '"A"\n"B"\n"C"\n"D"\n"W"\n']
)
def test_60_a_blt_file_with_a_name_missing_makes_no_candidate_of_its_title(tmp_path: Path, tail: str) -> None:
    said = refusal(tmp_path, "3 1\n5 1 2 0\n4 3 0\n0\n" + tail, "blt")
    assert "3 candidates" in said


@pytest.mark.parametrize(
    ("ending", "text", "line"),
    [
        ("csv", "ballot_id,rank1,rank2\nA7,Ann,Bob\nA8,Bob,Ann\nA7,Ann,Bob\n", "line 4"),
        ("csv", "Cast Vote Record,Mayor Choice 1,Mayor Choice 2\n7,Ann,Bob\n7,Ann,Bob\n", "line 3"),
        ("csv", "ballot,rank,candidate\n1,1,Ann\n1,2,Bob\n1,1,Ann\n", "line 4"),
        ("blt", '2 1\n(x) 1 0\n(x) 1 0\n0\n"Ann"\n"Bob"\n"W"\n', "line 3"),
    ],
)
def test_60_a_ballot_that_is_there_twice_is_refused(tmp_path: Path, ending: str, text: str, line: str) -> None:
    assert line in refusal(tmp_path, text, ending)


def test_60_a_repeated_id_is_found_in_a_long_file_too(tmp_path: Path) -> None:
    rows = "".join(f"{i},Ann{i % 7},Ann{-i % 7}\n" for i in range(40_000))
    text = "ballot_id,rank1,rank2\n" + rows
    assert understood(tmp_path, text).ballots.voters == 40_000
    assert "line 40002" in refusal(tmp_path, text + "39,Ann1,Ann2\n")


RANKED = "".join(
    f"{','.join(each)}\n" for each in (("Ann", "Bob", "Cid"), ("Bob", "Cid", "Ann"), ("Cid", "Ann", "Bob")) * 6
)


@pytest.mark.parametrize("header", ["third,first,second", "3rd,1st,2nd", "Least preferred,Most preferred,Middle"])
def test_60_a_hint_for_ranks_has_the_best_first_and_another_order_is_refused(tmp_path: Path, header: str) -> None:
    said = refusal(tmp_path, f"{header}\n{RANKED}")
    right = "/".join(header.split(",")[i] for i in (1, 2, 0))
    assert f"ranks={right}" in said
    assert "the best rank first" in said
    wrong = header.replace(",", "/")
    assert "say another order" in refusal(tmp_path, f"{header}\n{RANKED}", columns=f"ranks={wrong}")
    read_right = understood(tmp_path, f"{header}\n{RANKED}", columns=f"ranks={right}")
    assert read_right.ballots.voters == 18


def test_60_the_first_ballot_of_a_file_without_header_is_not_lost(tmp_path: Path) -> None:
    said = refusal(tmp_path, f"Ann,Bob,Cid\n{RANKED}", columns="ranks=Ann/Bob/Cid")
    assert 'the first line holds "Ann", whom ballots rank, so it is a ballot and no header' in said


def test_60_two_contests_of_two_people_each_are_not_two_ranks(tmp_path: Path) -> None:
    rows = "Ann,Dee\nBob,Eve\nAnn,Eve\n" * 5
    assert "no rank of the same contest" in refusal(tmp_path, f"Mayor,Council\n{rows}", columns="ranks=Mayor/Council")


@pytest.mark.parametrize("name", ["votes", "Number of ballots", "frequency", "Votes cast", "tally"])
def test_60_a_column_that_may_say_how_many_ballots_is_not_passed_over(tmp_path: Path, name: str) -> None:
    """50 ballots were counted as 2: Ann has 30 of them, and a lot elected Bob."""
    path = tmp_path / "b.csv"
    for text in (f"{name},ranking\n30,Ann>Bob\n20,Bob>Ann\n", f"{name},rank1,rank2\n30,Ann,Bob\n20,Bob,Ann\n"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(WrongUse, match="may say how many ballots a row stands for"):
            read(path)
        assert read(path, columns={"count": name}).ballots.voters == 50


def test_60_beside_rankings_any_numbers_but_those_of_rows_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("n,ranking\n30,Ann>Bob\n20,Bob>Ann\n", encoding="utf-8")
    with pytest.raises(WrongUse, match="may say how many ballots"):
        read(path)
    path.write_text("n,ranking\n1,Ann>Bob\n2,Bob>Ann\n3,Ann\n", encoding="utf-8")
    assert read(path).ballots.voters == 3, "these number the rows"


def test_60_a_line_of_totals_is_no_ballot(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    for line in ("Total: 3,", "TOTAL,3", "Grand total 1 200,"):
        path.write_text(f"rank1,rank2\nAnn,Bob\nBob,Ann\nAnn,\n{line}\n", encoding="utf-8")
        with pytest.raises(WrongUse, match="looks like a line of totals"):
            read(path)
    path.write_text("rank1,rank2\n,\nundervote,\n", encoding="utf-8")
    with pytest.raises(WrongUse, match="nobody voted"):
        read(path)


def test_60_the_hint_for_approvals_names_no_voter(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("name,email,Ann,Bob\nJo,a@b.c,Approve,\nAl,b@b.c,,x\n", encoding="utf-8")
    with pytest.raises(WrongUse, match="approvals=Ann/Bob"):
        read(path)
