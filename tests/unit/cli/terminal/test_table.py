"""Tables: numbers end in one place, wide columns give way to narrow ones, and nothing in a cell acts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.cli.terminal.table import Cell, Column, Table
from hubbub.cli.terminal.text import cells

STYLE = re.compile(r"\x1b\[[0-9;]*m")
ACTING = "\x1b[2J\x9b31m\x07\r"


def shown(table: Table, width: int = 80) -> list[str]:
    return [STYLE.sub("", line) for line in table.lines(width)]


def test_texts_begin_and_numbers_end_in_one_place() -> None:
    table = Table("town", Column("people", right=True), title="Two towns", indent=" ")
    table.add("漢字", "12,345")
    table.add("Bath", "7")
    assert shown(table) == ["Two towns", " town  people", " 漢字  12,345", " Bath       7"]


def test_a_table_without_headings_or_rows() -> None:
    assert shown(Table("town", "people")) == ["town  people"]
    assert shown(Table("", "", headed=False)) == []
    table = Table("", "", headed=False)
    table.add("voters", "101")
    table.add("", "")
    assert shown(table) == ["voters  101", ""]


def test_headings_stand_at_the_bottom_and_cells_at_the_top() -> None:
    table = Table("mechanism, and the loss\nit promises", Column("error", right=True))
    table.add(Cell("noise", "bold"), "1.5")
    table.add(Cell("of a crowd that is large", "dim", indent=2), "")
    assert shown(table, 30) == [
        "mechanism, and the loss",
        "it promises              error",
        "noise                      1.5",
        "  of a crowd that is",
        "  large",
    ]


def test_the_widest_gives_way_first_and_words_stay_whole_as_long_as_they_can() -> None:
    table = Table("k", "what holds", Column("gain at most", right=True))
    table.add("20", "everybody blends with a crowd of people", "0.0398")
    assert shown(table, 44) == [
        "k   what holds                  gain at most",
        "20  everybody blends with a           0.0398",
        "    crowd of people",
    ]
    assert shown(table, 22)[:3] == ["    what       gain at", "k   holds         most", "20  everybody   0.0398"]
    assert shown(table, 20)[2:4] == ["20  everyb…   0.0398", "    blends"], "there is no room for every word"


def test_what_is_firm_is_not_broken_while_others_can_be() -> None:
    loose, firm = Table("one two three", "four five"), Table("one two three", Column("four five", firm=True))
    assert shown(loose, 16) == ["one two  four", "three    five"]
    assert shown(firm, 16) == ["one", "two", "three  four five"]
    assert shown(firm, 14)[-1] == "three   four …"


def test_a_long_word_is_cut_or_goes_on() -> None:
    cut, whole = Table(Column("", most=6)), Table(Column("", most=6, folds=True))
    for table in (cut, whole):
        table.add("hubbubbub")
    assert shown(cut)[1:] == ["hubbu…"]
    assert shown(whole)[1:] == ["hubbub", "bub"]


def test_a_cell_neither_acts_nor_is_read_as_style() -> None:
    table = Table(f"[bold]{ACTING}", title=f"[red]{ACTING}")
    table.add(f"[/red]{ACTING}")
    table.add(Cell(ACTING, "bold"))
    drawn = "".join(shown(table))
    assert drawn.isprintable()
    assert drawn.count("\\u001b[2J\\u009b31m\\u0007\\u000d") == 4
    assert "[bold]" in drawn
    assert "[/red]" in drawn


def test_a_row_has_a_cell_for_each_column() -> None:
    with pytest.raises(ValueError, match="a row of 1 cells in a table of 2 columns"):
        Table("a", "b").add("1")


CELLS = st.text(st.sampled_from("ab 漢é,1"), max_size=40)
COLUMNS = st.builds(
    Column,
    heading=CELLS,
    right=st.booleans(),
    least=st.sampled_from([0, 0, 12]),
    most=st.sampled_from([None, 20]),
    firm=st.booleans(),
    folds=st.just(True),
)


@given(st.data(), st.lists(COLUMNS, min_size=1, max_size=5), st.integers(20, 90))
def test_no_line_is_too_long_and_nothing_is_lost(data: st.DataObject, columns: list[Column], width: int) -> None:
    table = Table(*columns)
    rows = data.draw(st.lists(st.tuples(*[CELLS] * len(columns)), max_size=4))
    for row in rows:
        table.add(*row)
    lines = shown(table, width)
    assert all(cells(line) <= width + len(columns) for line in lines)  # a column of one cell still shows wide signs
    told = sorted("".join(lines).replace(" ", ""))
    assert told == sorted(
        "".join([*(each.heading for each in columns), *(c for row in rows for c in row)]).replace(" ", "")
    )
