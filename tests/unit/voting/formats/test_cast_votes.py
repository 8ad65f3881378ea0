"""CSV files of ballots in their three shapes, with labels that are no candidates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats import cast_votes
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.formats.ballot_text import TextInHand
from hubbub.voting.formats.formats import read, strict, write
from hubbub.voting.formats.reading import Reading


def parse(
    text: str, *, named: dict[str, str] | None = None, candidates: list[str] | None = None, **rules: Any
) -> BallotFile:
    return cast_votes.read(TextInHand(text), Reading(**rules), named=named, candidates=candidates)


def test_one_column_per_rank() -> None:
    file = parse('id,Rank 1,rank2\n1,Bob,"Ann, the elder"\n2,"Ann, the elder",\n3,Bob,"Ann, the elder"\n4,,\n')
    assert file.format == "csv-columns"
    assert file.ballots.candidates == ("Ann, the elder", "Bob")
    assert file.ballots.counts() == {("Bob", "Ann, the elder"): 2, ("Ann, the elder",): 1, (): 1}


def test_one_row_per_ballot_and_rank() -> None:
    file = parse("ballot,rank,candidate\nx,2,Ann\nx,1,Bob\ny,1,Ann\ny,3,Bob\nz,1,Ann\nz,1,Bob\n")
    assert file.format == "csv-rows"
    assert file.ballots.counts() == {("Bob", "Ann"): 1, ("Ann", "Bob"): 1}
    assert file.ballots.tied_counts() == {(frozenset(("Ann", "Bob")),): 1}
    assert file.changed == {"skips": 1}


@pytest.mark.parametrize(
    "text",
    [
        "count,ranking\n3,Ann>Bob\n2,Bob\n",
        "count,rank1,rank2\n3,Ann,Bob\n2,Bob,\n",
        "ballot,rank,candidate,count\n1,1,Ann,3\n1,2,Bob,3\n2,1,Bob,2\n",
    ],
)
def test_long_files_with_counts(text: str) -> None:
    assert parse(text).ballots.counts() == {("Ann", "Bob"): 3, ("Bob",): 2}


def test_equal_candidates_in_a_ranking() -> None:
    assert parse("ranking,count\nAnn=Bob>Cid,4\n").ballots.tied_counts() == {
        (frozenset(("Ann", "Bob")), frozenset(("Cid",))): 4
    }


MARKS = "rank1,rank2,rank3\nAnn,overvote,Bob\nundervote,Bob,UWI\nAnn,Ann,Bob\n"


def test_labels_are_no_candidates() -> None:
    file = parse(MARKS)
    assert file.ballots.candidates == ("Ann", "Bob", cast_votes.WRITE_IN)
    assert file.ballots.counts() == {("Ann",): 1, ("Bob", cast_votes.WRITE_IN): 1, ("Ann", "Bob"): 1}
    assert file.changed == {"overvotes": 1, "skips": 1, "repeats": 1}
    assert file.reading.rules()["repeats"] == "first"


def test_labels_and_rules_are_options() -> None:
    assert parse(MARKS, write_ins="drop").ballots.candidates == ("Ann", "Bob")
    text = "rank1,rank2\nAnn,--\n??,Ann\nBob,\n"
    file = parse(text, undervote_labels=("--",), overvote_labels=("??",), overvotes="skip")
    assert file.ballots.counts() == {("Ann",): 2, ("Bob",): 1}


def test_skipped_ranks_have_labels_too_and_a_number_of_a_ballot_is_no_count() -> None:
    file = parse("ballot number,rank1,rank2\n7,skipped,Ann\n9,Bob,S\n", skip_labels=("S", "skipped"))
    assert file.ballots.counts() == {("Ann",): 1, ("Bob",): 1}


def test_columns_may_be_called_otherwise() -> None:
    text = "CVR,First,Second,n\n1,Ann,Bob,4\n"
    assert parse(text, named={"ranks": "First/Second", "count": "n"}).ballots.counts() == {("Ann", "Bob"): 4}
    rows = "who,where,whom\n1,1,Ann\n1,2,Bob\n"
    named = {"ballot": "who", "rank": "where", "candidate": "whom"}
    assert parse(rows, named=named).ballots.counts() == {("Ann", "Bob"): 1}


def test_a_list_of_candidates_says_who_stands() -> None:
    file = parse("rank1\nBob\n", candidates=["Zoe", "Bob"])
    assert file.ballots.candidates == ("Zoe", "Bob")
    with pytest.raises(WrongUse, match="line 3: a candidate who is not on the list"):
        parse("rank1\nBob\nAnn\n", candidates=["Zoe", "Bob"])


def test_who_stands_is_no_label() -> None:
    """A list with a candidate called Skip means a person by that name."""
    assert parse("rank1,rank2\nSkip,Bob\n", candidates=["Skip", "Bob"]).ballots.counts() == {("Skip", "Bob"): 1}


def test_a_rank_in_the_thousands_is_two_skipped_ones() -> None:
    """Ten thousand ballots of one mark each, at rank 32,000, are as quick as any others, and skip as the rule says."""
    text = "ballot,rank,candidate\n" + "".join(f"{i},32000,A{i % 400}\n{i},1,B{i % 7}\n" for i in range(2_000))
    text += "".join(f"x{i},1,B1\n" for i in range(2_000))  # and as many that are rankings
    assert parse(text).ballots.complete + parse(text).ballots.truncated_voters == 4_000
    cut = parse(text, skips="stop-at-two")
    assert {len(ranking) for ranking in cut.ballots.counts()} == {1}
    assert cut.changed == {"skips": 2_000}


@pytest.mark.parametrize(
    ("text", "rules", "sentence"),
    [
        ("name,age\nAnn,3\n", {}, "line 1: a CSV file of ballots needs columns"),
        ("count,rank1,rank2\n3,Ann,Bob\n1,Ann,Ann\n", {}, "line 3: a candidate is there twice"),
        ("rank1,rank2\nAnn,Bob\nAnn,Ann\n", {"repeats": "refuse"}, "line 3: a candidate is there twice"),
        ("count,rank1\n-3,Ann\n1,Bob\n", {}, "line 2: a weight"),
        ("count,rank1\n2.5,Ann\n1,Bob\n", {}, "line 2: a weight"),
        ("rank1,rank2\nAnn\n", {}, "line 2: fewer columns"),
        ("ballot,rank,candidate\n1,first,Ann\n", {}, "line 2: a rank is a whole number"),
        ("ballot,rank,candidate\n1,0,Ann\n", {}, "line 2: a rank is a whole number"),
        ("ballot,rank,candidate,count\n1,1,Ann,2\n1,2,Bob,3\n", {}, "line 3: another count"),
        ("rank1\n", {}, "holds no ballot"),
        ("rank1\nAnn\n", {}, "at least 2 candidates, not 1"),
        ('rank1\n"Ann\n', {}, "line 2: not a line of a CSV file"),
        ("rank1,rank2\nAnn,Bob\nBob,Ann,Cid\n", {}, "line 3: more columns than the first line names"),
        ("rank1,choice 1\nAnn,Bob\n", {}, "line 1: two columns hold the same rank"),
        ("count,rank1,count\n1,Ann,2\n", {}, "line 1: two columns have the name that says count"),
        ("count,ranking\n99999999999999999,Ann>Bob\n", {}, "line 2: a weight .* from 0 to 2\\^53"),
        ("rank1,rank2\nAnn,overvote\nBob,\n", {"overvotes": "refuse"}, "line 2: an overvote"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, rules: dict[str, str], sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        parse(text, **rules)


@pytest.mark.parametrize(
    "ballots",
    [
        Ballots.from_counts(("Ann", 'Bob "B"', "C,D"), {("Ann", 'Bob "B"'): 3, ("C,D",): 2, (): 1}),
        Ballots.from_counts(
            ("Ann", "Bob", "Cid"), {("Ann",): 3, (): 1}, tied={(frozenset(("Bob", "Cid")), frozenset(("Ann",))): 2}
        ),
    ],
)
def test_written_files_are_read_back(ballots: Ballots, tmp_path: Path) -> None:
    path = tmp_path / "ballots.csv"
    write(ballots, path)
    after = read(path).ballots
    assert after.candidates == tuple(sorted(ballots.candidates))
    assert after.counts() == ballots.counts()
    assert after.tied_counts() == ballots.tied_counts()


def test_settled_files_say_how_many_ballots_changed(tmp_path: Path) -> None:
    path = tmp_path / "ballots.csv"
    path.write_text("ballot,rank,candidate\n1,1,Ann\n1,1,Bob\n2,1,Ann\n2,2,Cid\n", encoding="utf-8")
    file = strict(read(path))
    assert file.changed == {"overvotes": 1}
    assert file.ballots.counts() == {(): 1, ("Ann", "Cid"): 1}
    with pytest.raises(WrongUse, match="truncation=refuse"):
        strict(read(path, Reading(truncation="refuse")))
