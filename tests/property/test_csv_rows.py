"""For all texts: rows, lines and errors are those of Python's csv module, however the file is cut into pieces."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hubbub.errors import WrongUse
from hubbub.voting.formats import coded_rows
from hubbub.voting.formats.ballot_text import TextInHand
from hubbub.voting.formats.cast_votes import read
from hubbub.voting.formats.coded_rows import code_rows
from hubbub.voting.formats.csv_rows import blocks, is_plain
from hubbub.voting.formats.reading import Reading

SCRAPS = st.sampled_from(["a", "b", ",", ";", '"', '""', "\n", " ", "é", "", '"x\ny"', '"x"'])
CELLS = st.lists(SCRAPS, max_size=6).map("".join)
TEXTS = st.lists(st.lists(CELLS, min_size=1, max_size=4).map(",".join), max_size=8).map("\n".join)


@dataclass(frozen=True)
class InPieces:
    """Text in pieces of whole lines, so many bytes each at least."""

    text: str
    size: int

    def pieces(self) -> Iterator[bytes]:
        raw, at = self.text.encode(), 0
        while at < len(raw):
            end = raw.find(b"\n", at + self.size - 1) + 1 or len(raw)
            yield raw[at:end]
            at = end


def by_csv(text: str) -> list[tuple[int, list[str]]] | str:
    """What the csv module makes of the whole text, with the line on which each row begins."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    out, before = [], 0
    try:
        for row in reader:
            out.append((before + 1, row))
            before = reader.line_num
    except csv.Error:
        return f"line {reader.line_num}:"
    return out


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.integers(1, 12))
@example('a,"b\nc"\nd,e\n', 1)
@example('a\n"b"c\n', 1)
@example('a,"b""\n"",c"\n', 1)
@example("a," + "b" * 140_000, 1)
def test_rows_and_lines_are_those_of_the_csv_module(text: str, size: int) -> None:
    expected = by_csv(text)
    if isinstance(expected, str):
        with pytest.raises(WrongUse, match=f"^{expected} not a line"):
            list(blocks(InPieces(text, size), ","))
        return
    found = [pair for block in blocks(InPieces(text, size), ",") for pair in zip(block.lines, block.rows, strict=True)]
    assert [(line, row or [""]) for line, row in found] == [(line, row or [""]) for line, row in expected]


QUOTED = st.sampled_from(["Ann", "Bob", '"Ann"', '"B,b"', '"C ""c"""', '""', " Ann ", "", "é"])
TABLES = st.lists(st.lists(QUOTED, min_size=3, max_size=3).map(",".join), min_size=1, max_size=20).map(
    lambda rows: "\n".join(rows) + "\n"
)


@settings(max_examples=150, deadline=None)
@given(TABLES, st.integers(1, 200))
def test_arrow_cuts_plain_pieces_as_the_csv_module_does(text: str, size: int) -> None:
    assert is_plain(text.encode(), ",")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coded_rows, "_WORTH_ARROW", 1)
        fast = code_rows(blocks(InPieces(text, size), ","), (0, 2), 1, 3)
    slow = code_rows(blocks(InPieces(text, 1 << 20), ","), (0, 2), 1, 3)
    rows = [(line, row) for line, row in by_csv(text) if any(map(str.strip, row))]  # type: ignore[union-attr,misc,str-unpack]
    for table in (fast, slow):
        assert table.weights is not None
        assert table.lines.tolist() == [line for line, _ in rows]
        assert [[table.cells[i] for i in row] for row in table.rows.tolist()] == [[row[0], row[2]] for _, row in rows]
        assert [table.counts[i] for i in table.weights.tolist()] == [row[1] for _, row in rows]


@pytest.mark.parametrize("piece", ['a,b"c\n', '"a"b,c\n', '"a\nb",c\n', 'a,"b\n', 'a,""b\n'])
def test_what_readers_may_cut_differently_is_not_plain(piece: str) -> None:
    assert not is_plain(piece.encode(), ",")


MARKS = st.sampled_from(["Ann", "Bob", "Cid", "", "undervote", "overvote", "Ann, Bob", "UWI", " Ann"])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(MARKS, MARKS, MARKS), min_size=1, max_size=12), st.sampled_from(["skip", "stop", "stop-at-two"])
)
def test_rows_taken_all_at_once_are_read_as_each_alone_is(rows: list[tuple[str, str, str]], skips: str) -> None:
    """The rows that are rankings already are set apart; the rules for marks would not have changed them."""
    reading = Reading(skips=skips)
    names = ["Ann", "Bob", "Cid", "Write-in"]

    def ballots(some: list[tuple[str, str, str]]) -> dict[object, int]:
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(
            [("where", "rank1", "rank2", "rank3"), *(("x", *row) for row in some)]
        )
        file = read(TextInHand(out.getvalue()), reading, candidates=names).ballots
        return {**file.counts(), **file.tied_counts()}

    alone: dict[object, int] = {}
    for row in rows:
        for ranking, weight in ballots([row]).items():
            alone[ranking] = alone.get(ranking, 0) + weight
    assert ballots(rows) == alone
