"""Ballots in the shapes in which offices and form tools publish them: each loads, or is refused with what to type.

The files are not part of the repository: without them most of these are skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hubbub.errors import WrongUse
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.formats.ballot_text import TextInHand
from hubbub.voting.formats.cast_votes import read as read_csv
from hubbub.voting.formats.csv_columns import parse_columns
from hubbub.voting.formats.formats import read, strict
from hubbub.voting.formats.reading import Reading

DIALECTS = Path(__file__).resolve().parents[5] / "shared" / "data" / "elections" / "dialects"
here = pytest.mark.skipif(not DIALECTS.exists(), reason="the dialects are not here")

TWO = {("Ann", "Bob"): 1, ("Bob", "Ann"): 1}
THREE = {("Ann", "Bob", "Cid"): 1, ("Bob", "Ann"): 1}
MINNEAPOLIS = {("Ann", "Bob"): 3, ("Write-in", "Ann"): 1, ("Bob",): 2}
AMES, BELL, COLE = "DEM Ames, Ann A. (5471)", "REP Bell, Bob (5931)", "Cole, Cid R.S. (5474)"


@here
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("blt_ids.blt", {("A", "B"): 1, ("B", "C"): 1}),
        ("blt_oneline.blt", {("A", "B"): 2}),
        ("opa.blt", {("A", "B"): 2, ("C",): 1, (): 1}),
        ("dominion.csv", {("ANN", "BOB"): 1, ("BOB", "ANN"): 1}),
        ("ess_maine.csv", {(AMES, COLE): 1, (BELL,): 1, (): 1}),
        ("gforms.csv", THREE),
        ("grid.csv", {("Ann", "Bob", "Cid"): 1, ("Bob", "Ann"): 1, ("Bob", "Cid", "Ann"): 1}),
        ("latin1.csv", {("José", "Bob"): 1, ("Bob", "José"): 1}),
        ("mpls.csv", MINNEAPOLIS),
        ("mpls.csv.gz", MINNEAPOLIS),
        ("mpls.txt", MINNEAPOLIS),
        ("multi.csv", {("Ann", "Bob", "Cid"): 1, ("Bob",): 1, (): 1}),
        ("numhdr.csv", THREE),
        ("ranking_n.csv", TWO),
        ("semicolon.csv", THREE),
        ("tab.csv", TWO),
        ("utf16.csv", TWO),
        ("w_decimal.csv", {("Ann", "Bob"): 1, ("Bob", "Ann"): 2}),
        ("w_thousand.csv", {("Ann", "Bob"): 1200, ("Bob", "Ann"): 900}),
        ("words.csv", {("Ann", "Bob"): 1, ("Bob", "Ann"): 1, (): 1, ("Ann",): 2}),
        ("writeins.csv", {("Write-in", "Bob"): 3, ("Bob", "Ann"): 1, ("Write-in", "Ann"): 1}),
        ("x.abif", {("Ann", "Bob", "Cid"): 3, ("Bob", "Ann"): 2}),
    ],
)
def test_every_dialect_loads(name: str, counts: dict[tuple[str, ...], int]) -> None:
    assert strict(read(DIALECTS / name)).ballots.counts() == counts


@here
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("CvrExport.json", "ContestManifest.json cannot be read"),
        ("cdf.xml", "the records name no contest"),
        ("blt_opts.blt", "line 3: a weight is a number of identical ballots"),
        ("comma_hdr.csv", """this one has "1st, choice", "a/b", c; .* columns='ranks="1st, choice"/"a/b"/c'"""),
        ("dup.csv", r"\(Ballot, Rank 1, Rank 1, Rank 2\); .* columns='ranks=#2/Rank 2'"),
        ("nohdr.soi", "candidates=FILE"),
        ("nyc.csv", 'would be "217572", "219978", "221141", .* alias=217572=NAME'),
    ],
)
def test_what_is_refused_says_what_was_seen_and_what_to_type(name: str, sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        read(DIALECTS / name)


@here
def test_the_options_that_are_told_settle_it() -> None:
    header = read(DIALECTS / "comma_hdr.csv", columns=parse_columns('ranks="1st, choice"/"a/b"/c'))
    assert header.ballots.counts() == THREE
    assert read(DIALECTS / "dup.csv", columns=parse_columns("ranks=#2/Rank 2")).ballots.counts() == {("Ann", "Bob"): 1}
    named = read(DIALECTS / "nohdr.soi", candidates=["Ann", "Bob", "Cid"])
    assert named.ballots.counts() == {("Ann", "Bob", "Cid"): 3, ("Bob", "Ann"): 2}
    listed = read(DIALECTS / "nyc.csv", candidates=["217572", "219978", "221141", "Write-in"])
    assert listed.ballots.counts() == {("217572", "219978", "221141"): 1, ("219978",): 1, ("Write-in",): 1}
    assert read(DIALECTS / "x.cat").ballots.tied_counts() == {(frozenset(("A",)),): 2}
    spelt = Reading(aliases=(("ANN LEE", "Ann Lee"), ("ann lee", "Ann Lee"), ("Ann  Lee", "Ann Lee")))
    assert read(DIALECTS / "spelling.csv", spelt).ballots.counts() == {("Ann Lee", "Bob"): 4}


def parse(text: str, *, contest: str | None = None, columns: str = "", **rules: str) -> BallotFile:
    return read_csv(TextInHand(text), Reading(**rules), named=parse_columns(columns), contest=contest)  # type: ignore[arg-type]


def test_labels_are_told_and_are_no_candidates() -> None:
    file = parse("rank1,rank2\nAnn,Blank\nOver Vote,Bob\nN/A,-\nBob,Write-in 7\nAnn,Exhausted\n")
    assert file.ballots.candidates == ("Ann", "Bob", "Write-in")
    assert file.remarks == (
        'read as nobody: "Blank", "N/A", "-", "Exhausted"',
        'read as overvotes: "Over Vote"',
        'read as one write-in candidate: "Write-in 7"',
    )


def test_write_ins_together_apart_or_dropped() -> None:
    text = "rank1,rank2\nWrite-in-120,Bob\nWrite-In: Zed,Bob\nBob,Ann\n"
    assert parse(text).ballots.candidates == ("Ann", "Bob", "Write-in")
    assert parse(text, write_ins="apart").ballots.candidates == ("Ann", "Bob", "Write-In: Zed", "Write-in-120")
    assert parse(text, write_ins="drop").ballots.candidates == ("Ann", "Bob")


def test_near_equal_names_are_told_with_the_option_that_joins_them(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("rank1,rank2\nJosé Lee,Bob\nJOSE LEE,Bob\nJosé  Lee,Bob\n", encoding="utf-8")
    (told,) = read(path).remarks
    assert '--alias "JOSE LEE=José Lee"' in told
    joined = read(path, Reading(aliases=(("JOSE LEE", "José Lee"), ("José  Lee", "José Lee"))))
    assert (joined.ballots.candidates, joined.remarks) == (("Bob", "José Lee"), ())
    with pytest.raises(WrongUse, match="no cell of the file says 'Joe'"):
        read(path, Reading(aliases=(("Joe", "José Lee"),)))


def test_a_contest_of_several_is_chosen_by_name() -> None:
    text = (
        "Cast Vote Record,Mayor Choice 1 of 2,Mayor Choice 2 of 2,Clerk Choice 1 of 2,Clerk Choice 2 of 2\n"
        "1,Ann,Bob,Cid,Dee\n"
    )
    with pytest.raises(WrongUse, match='contests "Mayor", "Clerk"; say which, like contest=Mayor'):
        parse(text)
    assert parse(text, contest="clerk").ballots.counts() == {("Cid", "Dee"): 1}
    with pytest.raises(WrongUse, match="say which"):
        parse(text, contest="Sheriff")


def test_grids_of_forms_and_words_for_ranks() -> None:
    text = "When,Rank [Ann],Rank [Bob],Rank [Cid]\nx,1st,2nd choice,Third\ny,2.0,1,N/A\n"
    assert parse(text).ballots.counts() == {("Ann", "Bob", "Cid"): 1, ("Bob", "Ann"): 1}
    ranks = "When,Vote [First choice],Vote [2nd]\nx,Ann,Bob\n"
    assert parse(ranks).ballots.counts() == {("Ann", "Bob"): 1}
    with pytest.raises(WrongUse, match="line 2: a rank in a grid"):
        parse("When,Rank [Ann],Rank [Bob]\nx,yes,no\n")


def test_columns_of_numbers_may_be_either_and_that_is_said() -> None:
    text = "Voter,1,2\n7,2,1\n"
    with pytest.raises(WrongUse, match=r"may be ranks or candidates; say which: columns=ranks=1/2 or columns=grid=1/2"):
        parse(text)
    named = (("1", "Ann"), ("2", "Bob"))
    for columns in ("grid=1/2", "ranks=1/2"):
        with pytest.raises(WrongUse, match="name nobody"):
            parse(text, columns=columns)
        file = read_csv(TextInHand(text), Reading(aliases=named), named=parse_columns(columns))
        assert file.ballots.counts() == {("Bob", "Ann"): 1}


def test_two_questions_that_ask_for_one_rank_each_are_one_contest() -> None:
    text = "First choice (required),Second choice (optional)\nAnn,Bob\n"
    assert parse(text).ballots.counts() == {("Ann", "Bob"): 1}


MAYOR = '"Mayor (RCV) (Number of positions=2, Number of ranks=2)"'
DOMINION = (
    "2024,5.19\n"
    f",,{MAYOR},{MAYOR},{MAYOR},{MAYOR}\n"
    ",,ANN(1),BOB(1),ANN(2),BOB(2)\n"
    "CvrNumber,Precinct,,,,\n"
    "1,P1,1,0,0,1\n2,P1,1,1,0,0\n3,P2,,,,\n4,P1,0,0,0,0\n"
)


def test_a_dominion_export_has_seats_overvotes_and_records_without_the_contest() -> None:
    file = parse(DOMINION)
    assert (file.format, file.seats, file.title) == ("csv-dominion", 2, "Mayor (RCV)")
    assert file.ballots.counts() == {("ANN", "BOB"): 1, (): 1}
    assert file.ballots.tied_counts() == {(frozenset(("ANN", "BOB")),): 1}
    assert file.remarks == ("1 records that do not hold the contest were left out",)
    with pytest.raises(WrongUse, match="line 5: a mark is 1 or 0"):
        parse(DOMINION.replace("1,P1,1,0", "1,P1,7,0"))


def test_rows_of_empty_cells_are_told() -> None:
    file = parse("id,rank1,rank2\n1,Ann,Bob\n,,\n\n2,,\n")
    assert file.ballots.counts() == {("Ann", "Bob"): 1, (): 1}
    assert file.remarks == ("1 rows of empty cells were left out",)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ("rank1", "columns says which column is which"),
        ("who=a", "columns says which column is which"),
        ('ranks="a', "quotation mark"),
        ("ranks=x/y", "there is no column 'x' for ranks; the columns are id, a, b"),
        ("ranks=#2/a", "a column is named twice for ranks"),
        ("ranks=#9", "there is no column '#9' for ranks"),
    ],
)
def test_columns_that_cannot_be_are_refused(columns: str, sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        parse("id,a,b\n1,Ann,Bob\n", columns=columns)


def test_abif_has_short_names_brackets_and_equals(tmp_path: Path) -> None:
    path = tmp_path / "b.abif"
    path.write_text(
        '{"title": "A club"}\n# who\n=DB:[Deb Burns]\n3:Ann>DB=[Bob B.]\n2*[Bob B.]/5>Ann/3\n', encoding="utf-8"
    )
    file = read(path)
    assert (file.title, file.ballots.candidates) == ("A club", ("Ann", "Bob B.", "Deb Burns"))
    assert file.ballots.counts() == {("Bob B.", "Ann"): 2}
    assert file.ballots.tied_counts() == {(frozenset(("Ann",)), frozenset(("Bob B.", "Deb Burns"))): 3}
    for line in ("Ann>Bob", "3:Ann>>Bob", "{title", "x:Ann"):
        path.write_text(f"1:Ann>Bob\n{line}\n", encoding="utf-8")
        with pytest.raises(WrongUse, match="line 2: "):
            read(path)
