"""Texts by cells: nothing is lost, no line is too long, and accents stay on their letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.cli import by_lines, display
from hubbub.cli.terminal.text import ELLIPSIS, cells, cut, fold, wrap

ACUTE = chr(0x301)
TEXTS = st.text(st.sampled_from(f"ab, é漢{ACUTE}한[]\\") | st.characters(), max_size=60).map(by_lines)
WIDTHS = st.integers(1, 30)


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("crowd", 5),
        ("Zürich", 6),
        ("漢字", 4),
        (chr(0xFF57) + chr(0xFF41), 4),  # letters of full width
        (f"e{ACUTE}e{ACUTE}", 2),
        ("🗳 ✓ …", 5),
        ("👍", 2),
        ("\u1112\u1161\u11ab", 2),  # one syllable of three signs
    ],
)
def test_a_text_fills_as_many_cells_as_a_terminal_gives_it(text: str, width: int) -> None:
    assert cells(text) == width


@given(st.text())
def test_nothing_that_acts_is_left_in_what_is_displayed(text: str) -> None:
    assert display(text).isprintable()
    assert by_lines(text).count("\n") == text.count("\n")
    assert all(line.isprintable() for line in by_lines(text).split("\n"))


@given(TEXTS, WIDTHS)
def test_every_word_is_there_and_no_line_is_too_long(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join(lines).replace(" ", "") == text.replace("\n", "").replace(" ", "")
    assert all(cells(line) <= max(width, 2) for line in lines)  # a wide sign has nowhere else to go
    assert not any(line.endswith(" ") for line in lines)


@given(TEXTS, WIDTHS)
def test_pieces_are_the_text_and_begin_with_no_accent(text: str, width: int) -> None:
    pieces = fold(text, width)
    assert "".join(pieces) == text
    assert all(cells(piece) <= max(width, 2) for piece in pieces)
    assert not any(piece.startswith(ACUTE) for piece in pieces[1:])


@given(TEXTS.map(lambda text: text.replace("\n", " ")), WIDTHS)
def test_what_is_cut_fits_and_says_so(text: str, width: int) -> None:
    shown = cut(text, width)
    assert cells(shown) <= max(width, 3)
    assert shown == text if cells(text) <= width else shown.endswith(ELLIPSIS)


def test_lines_break_between_words_and_keep_what_they_begin_with() -> None:
    assert wrap("  in a  crowd of\nmany people", 10) == ["  in a", "crowd of", "many", "people"]
    assert wrap("\n", 10) == ["", ""]
    assert wrap("    ", 2) == [""]
    assert wrap("\u0301 crowd", 5) == ["\u0301", "crowd"]  # what fills no cell begins a line like any other word
    assert wrap("to hubbub-demo/millbrook.parquet and on", 12) == ["to", "hubbub-demo/", "millbrook.pa", "rquet and on"]
    assert wrap("to hubbub-demo/millbrook.parquet and on", 12, folds=False) == ["to", "hubbub-demo…", "and on"]
