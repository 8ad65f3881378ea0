"""PrefLib files, tiny ones: read, refused with the line and the rule, written and read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats import preflib
from hubbub.voting.formats.formats import read, write
from hubbub.voting.formats.reading import Reading

HEADER = """# FILE NAME: tiny
# TITLE: A tiny election
# NUMBER ALTERNATIVES: 3
# ALTERNATIVE NAME 1: Ann
# ALTERNATIVE NAME 2: Bob, the elder
# ALTERNATIVE NAME 3: Cid
"""
ANN, BOB, CID = "Ann", "Bob, the elder", "Cid"


def parse(ballots: str, kind: str = "toi", header: str = HEADER) -> Ballots:
    return preflib.read(header + ballots, kind, Reading()).ballots


def test_strict_and_tied_ballots() -> None:
    ballots = parse("3: 1,2,3\n2: 2, {1,3}\n1: 3\n4: 3\n\n")
    assert ballots.candidates == (ANN, BOB, CID)
    assert ballots.counts() == {(ANN, BOB, CID): 3, (CID,): 5}
    assert ballots.tied_counts() == {(frozenset((BOB,)), frozenset((ANN, CID))): 2}


def test_a_blank_ballot_is_a_voter() -> None:
    assert parse("3: 1,2,3\n2: \n", "soi").blank == 2


@pytest.mark.parametrize(
    ("ballots", "kind", "sentence"),
    [
        ("3: 1,4", "soi", "line 7: a candidate who is not one of the 3"),
        ("3: 0,1", "soi", "line 7: a candidate who is not one of the 3"),
        ("3: 1,2\n1: 2,1,2", "soi", "line 8: a candidate is there twice"),
        ("3: 1,2", "soc", "line 7: some candidates are missing"),
        ("3: {1,2},3", "soc", "line 7: candidates in braces"),
        ("3: {1,2}", "toc", "line 7: some candidates are missing"),
        ("-3: 1,2", "soi", "line 7: a weight is a number of identical ballots"),
        ("1.5: 1,2", "soi", "line 7: a weight is a number of identical ballots"),
        ("half: 1,2", "soi", "line 7: a weight is a number of identical ballots"),
        ("3: 1,,2", "soi", "line 7: a ranking is numbers"),
        ("3: 1,2,", "soi", "line 7: a ranking is numbers"),
        ("3: Ann", "soi", "line 7: a ranking is numbers"),
        ("3 1 2 0", "soi", "line 7: a ballot is a weight and a ranking"),
        ("", "soi", "holds no ballot"),
        ("0: 1,2", "soi", "holds no ballot"),
        ("# TITLE: again\n3: 1\n# TITLE: late", "soi", "line 9: a header line after the first ballot"),
        ("# NUMBER VOTERS: 4\n3: 1,2", "soi", "line 7: the header says 4 voters and the weights add up to 3"),
        ("# DATA TYPE: soc\n3: 1,2", "soi", "line 7: the header says that the data type is not soi"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(ballots: str, kind: str, sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence) as error:
        parse(ballots, kind)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("", "is this another format"),
        ("# NUMBER ALTERNATIVES: 1\n# ALTERNATIVE NAME 1: Ann\n", "line 1: an election needs at least 2 candidates"),
        ("# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: Ann\n", "must name alternatives 1 to 2"),
        ("# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: Ann\n# ALTERNATIVE NAME 2: Ann\n", "line 3: an alternative"),
        ("# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: Ann\n# ALTERNATIVE NAME 1: Bob\n", "line 3: an alternative"),
        ("# NUMBER ALTERNATIVES: 99999999999999999\n# ALTERNATIVE NAME 1: Ann\n", "line 1: the header must name"),
        ("# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: Ann\n# ALTERNATIVE NAME 2:\n", "a name, and one .* is empty"),
    ],
)
def test_headers_that_do_not_say_who_stands(header: str, sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        parse("3: 1,2\n", header=header)


def test_long_lines_are_read_in_one_go() -> None:
    """A pattern that tries every way to split spaces would take hours for these."""
    spaces = " " * 100_000
    assert parse(f"# A{spaces}\n# TITLE: x{spaces}y{spaces}\n3: 1,2\n", "soi").voters == 3
    for order in ("1," * 1_000_000, "{" + "1," * 1_000_000, f"1{spaces}x"):
        with pytest.raises(WrongUse, match=r"line 7: a (candidate|ranking)"):
            parse(f"3: {order}", "soi")


@pytest.mark.parametrize(
    ("ballots", "kind"),
    [
        ("3: 1,2,3\n1: 3,2,1", "soc"),
        ("3: 1,2,3\n1: 3\n2: ", "soi"),
        ("3: 1,{2,3}\n1: {1,2,3}", "toc"),
        ("3: 1,{2,3}\n1: 2\n2: {1,2}", "toi"),
    ],
)
def test_written_files_are_read_back(ballots: str, kind: str, tmp_path: Path) -> None:
    before = parse(ballots)
    assert preflib.kind_of(before) == kind
    path = tmp_path / f"tiny.{kind}"
    write(before, path, title="A tiny election")
    after = read(path)
    assert (after.format, after.title) == (kind, "A tiny election")
    assert after.ballots.candidates == before.candidates
    assert after.ballots.counts() == before.counts()
    assert after.ballots.tied_counts() == before.tied_counts()


def test_a_file_too_narrow_for_the_ballots_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match=r"\.toi is the narrowest"):
        write(parse("3: 1,{2,3}\n1: 2"), tmp_path / "tiny.soc")
    with pytest.raises(WrongUse, match="one line"):
        preflib.write(Ballots.from_counts(("a\nb", "c"), {("c",): 1}), "soi")


def test_alternatives_may_be_numbered_from_0() -> None:
    head = "# NUMBER ALTERNATIVES: 3\n# ALTERNATIVE NAME 0: A\n# ALTERNATIVE NAME 1: B\n# ALTERNATIVE NAME 2: C\n"
    file = preflib.read(head + "3: 0,2,1\n2: 1\n", "soi", Reading())
    assert file.ballots.counts() == {("A", "C", "B"): 3, ("B",): 2}
    with pytest.raises(WrongUse, match="line 5: a candidate who is not one of the 3"):
        preflib.read(head + "1: 3\n", "soi", Reading())
    with pytest.raises(WrongUse, match="must name alternatives"):
        preflib.read(head.replace("NAME 2", "NAME 3") + "1: 0\n", "soi", Reading())


OLD = '3\n1,Ann\n2,"Bob, the elder"\n3,Cid\n{}\n3,1,2,3\n2,2,{{1,3}}\n'


def test_a_file_from_before_2022_is_read_like_a_newer_one() -> None:
    ballots = parse(OLD.format("5,5,2"), header="")
    assert ballots.candidates == (ANN, BOB, CID)
    assert ballots.counts() == {(ANN, BOB, CID): 3}
    assert ballots.tied_counts() == {(frozenset((BOB,)), frozenset((ANN, CID))): 2}


@pytest.mark.parametrize(
    ("totals", "sentence"),
    [
        ("5,5,3", "line 5: the header says 5 voters, a sum of 5 and 3 different orders, and 2 orders follow"),
        ("5,6,2", "line 5: the header says 5 voters, a sum of 6"),
        ("6,6,2", "line 5: the header says 6 voters and the weights add up to 5"),
        ("5", "then one like 5,5,2"),
        ("4,Dee\n5,5,2", "then one like 5,5,2"),
    ],
)
def test_totals_of_an_older_file_that_disagree_are_refused(totals: str, sentence: str) -> None:
    with pytest.raises(WrongUse) as caught:
        parse(OLD.format(totals), header="")
    assert sentence in str(caught.value)
