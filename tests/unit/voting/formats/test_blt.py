"""BLT files, tiny ones, and the same with commas."""

from __future__ import annotations

import pytest

from hubbub.errors import WrongUse
from hubbub.voting.formats import blt
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.formats.reading import Reading

TAIL = '0\n"Ann ""the elder"""\nBob\n"Cid"\n"A ward"\n'


def parse(text: str, tail: str = TAIL, **rules: str) -> BallotFile:
    return blt.read(text + tail, Reading(**rules))


def test_ballots_names_and_title() -> None:
    file = parse("# a comment\n3 2\n\n36 1 0\n23 1 2 3 0\n4 1=2 3 0\n2 0\n")
    assert file.ballots.candidates == ('Ann "the elder"', "Bob", "Cid")
    assert file.title == "A ward"
    ann, bob, cid = file.ballots.candidates
    assert file.ballots.counts() == {(ann,): 36, (ann, bob, cid): 23, (): 2}
    assert file.ballots.tied_counts() == {(frozenset((ann, bob)), frozenset((cid,))): 4}


def test_withdrawn_candidates_are_struck_out_and_are_no_skipped_ranks() -> None:
    file = parse("3 1\n-2\n5 2 1 0\n3 2 0\n1 3 2 1 0\n", skips="stop")
    ann, cid = file.ballots.candidates
    assert cid == "Cid"
    assert file.ballots.counts() == {(ann,): 5, (): 3, (cid, ann): 1}


def test_skipped_ranks_follow_the_rule() -> None:
    text = "3 1\n5 1 - 2 0\n"
    assert [len(ranking) for ranking in parse(text).ballots.counts()] == [2]
    stopped = parse(text, skips="stop")
    assert [len(ranking) for ranking in stopped.ballots.counts()] == [1]
    assert stopped.changed == {"skips": 5}


@pytest.mark.parametrize(
    ("text", "tail", "sentence"),
    [
        ("3\n1 1 0\n", TAIL, "line 1: numbers of candidates and seats come first"),
        ("rank1,rank2\n", TAIL, "line 1: numbers of candidates and seats come first"),
        ("1 1\n1 1 0\n", TAIL, "line 1: an election needs at least 2 candidates"),
        ("3 1\n1 4 0\n", TAIL, "line 2: a candidate who is not one of 1 to 3"),
        ("3 1\n1 1 2 1 0\n", TAIL, "line 2: a candidate is there twice"),
        ("3 1\n-1 1 2 0\n", TAIL, "line 2: a candidate who is not one of 1 to 3"),
        ("3 1\n2 1 0\n-1 1 2 0\n", TAIL, "line 3: a weight is a number of identical ballots"),
        ("3 1\n0.5 1 2 0\n", TAIL, "line 2: a weight is a number of identical ballots"),
        ("3 1\n1 1 2\n", TAIL, "line 2: a ballot is a weight, candidates and a 0"),
        (
            "3 1\n1 1 2 0\n",
            "",
            "line 2: the last one, and a BLT file ends its ballots with a line that holds a 0 alone",
        ),
        ("3 1\n1 1 2 0\n", "0\nAnn\n", "line 1: 3 candidates, and 1 names"),
        ("3 1\n1 1 2 0\n", "0\nAnn\nBob\nAnn\n", "line 6: a name is there twice"),
        ("999999999 1\n1 1 2 0\n", "0\nAnn\n", "line 1: 999999999 candidates, and 1 names"),
        ("3 1\n", TAIL, "holds no ballot"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, tail: str, sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        parse(text, tail)


COMMAS = '3,2,\n5,1,\n2,2,3,\n"Candidate 1","Ann","Labour",\n"Candidate 2","Bob",\n"Candidate 3","Cid",\n"A ward",\n'


def test_the_same_with_commas() -> None:
    file = blt.read_commas(COMMAS, Reading())
    assert (file.format, file.title) == ("blt-csv", "A ward")
    assert file.ballots.counts() == {("Ann",): 5, ("Bob", "Cid"): 2}
    with pytest.raises(WrongUse, match="line 3: a candidate"):
        blt.read_commas(COMMAS.replace("2,2,3", "2,2,4"), Reading())
    with pytest.raises(WrongUse, match="line 6: a candidate is there twice"):
        blt.read_commas(COMMAS.replace("Candidate 3", "Candidate 1"), Reading())
    with pytest.raises(WrongUse, match="line 2: not a line of a CSV file"):
        blt.read_commas(f'3,2\n"{"x" * 200_000}"\n', Reading())
    with pytest.raises(WrongUse, match="line 1: 3 candidates, so the file must name 1 to 3, and it names 3"):
        blt.read_commas(COMMAS.replace("Candidate 3", "Candidate 9"), Reading())


def test_parties_in_quotes_and_comments_are_no_part_of_a_name() -> None:
    tail = '0 # the end\n"Ann" "Labour"\n"Bob","SNP"\n"Cid" # a comment\n"A ward"\n'
    assert parse("3 1\n1 1 2 0 # one\n", tail).ballots.candidates == ("Ann (Labour)", "Bob (SNP)", "Cid")


def test_60_a_file_with_commas_that_was_cut_in_its_last_name_is_refused() -> None:
    """Found by the fuzzer: without the title behind the names nobody can tell that Eva Kim was called so."""
    names = '"Candidate 1","Ann Lee","Independent",\n"Candidate 2","Eva Kim","Independent",\n"Ward 1",\n'
    whole = f"2,1,\n3,1,2,\n2,2,\n{names}"
    assert blt.read_commas(whole, Reading()).ballots.candidates == ("Ann Lee", "Eva Kim")
    with pytest.raises(WrongUse, match="ends before its title"):
        blt.read_commas(whole[: whole.index(" Kim")], Reading())
