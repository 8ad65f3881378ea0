"""Each row of the theorem map leads somewhere, and no number of a source is missing."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from website.theorem_map import DOCUMENT, ROOT, SOURCES, Item, faults, is_test, items, page

ROWS = list(items())
NUMBERED = {
    "zero_knowledge": [("", range(1, 27))],
    "crowd_blending": [("", range(1, 20))],
    "outlier": [("", range(1, 26)), ("Example", range(1, 9))],
    "lecture_notes": [("", range(1, 9))],
    "thesis": [("", range(1, 90)), ("Example", range(1, 24))],
}
"""In every source one count runs over definitions, theorems and the rest, and in two another over examples."""

NUMBER = re.compile(r"(Definition|Theorem|Proposition|Lemma|Corollary|Example) (\d+)\b")


def test_the_page_is_what_the_tables_say() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == page(), "write it again: make theorems"


@pytest.mark.parametrize("source", SOURCES)
def test_every_symbol_command_and_test_is_there(source: str) -> None:
    assert [(row.item, found) for row in ROWS if row.source == source and (found := faults(row))] == []


@pytest.mark.parametrize("source", NUMBERED)
def test_no_number_of_a_source_is_left_out_or_there_twice(source: str) -> None:
    for kind, numbers in NUMBERED[source]:
        found = [NUMBER.match(row.item) for row in ROWS if row.source == source]
        theirs = [int(each[2]) for each in found if each and (each[1] == "Example") == (kind == "Example")]
        assert sorted(set(theirs)) == list(numbers)
        assert len(theirs) - len(set(theirs)) in (0, 3), "Theorem 26 has four parts"


RIGHT = Item(
    source="own",
    item="Lemma",
    says="so it is",
    symbol=("guarantees.implications:outlier_group",),
    command="account group",
    test=("tests/unit/guarantees/test_groups.py::test_proposition_7_groups_of_outliers",),
)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (replace(RIGHT, symbol=("guarantees.implications:nobody",)), "no symbol"),
        (replace(RIGHT, symbol=("guarantees.nowhere:outlier_group",)), "no symbol"),
        (replace(RIGHT, command="account nothing"), "no command"),
        (replace(RIGHT, command="account"), "no command"),
        (replace(RIGHT, test=("tests/unit/guarantees/test_groups.py::test_of_nothing",)), "no test"),
        (replace(RIGHT, test=("tests/unit/guarantees/test_nothing.py::test_of_nothing",)), "no test"),
        (replace(RIGHT, test=()), "nothing says why"),
        (replace(RIGHT, symbol=()), "nothing says why"),
        (replace(RIGHT, says=""), "nothing is said"),
    ],
)
def test_a_wrong_row_is_found(wrong: Item, says: str) -> None:
    assert faults(RIGHT) == []
    (found,) = faults(wrong)
    assert found.startswith(says)


# --- the errata -----------------------------------------------------------------------------------------------------

NONE = re.compile(r"none: \w.{15,}")
FILE = re.compile(r"`(tests/[\w/]+\.py)`(?: \(((?:`\w+`(?:, )?)+)\))?")


def _unchecked(line: str) -> bool:
    """Whether a row of the errata names no test that is there, and does not say why."""
    last = line.rstrip("| ").rpartition(" | ")[2]
    if last == "the same" or NONE.fullmatch(last):
        return False
    files = FILE.findall(last)
    named = [(path, name) for path, names in files for name in re.findall(r"`(\w+)`", names)]
    return (
        not files or any(not (ROOT / path).exists() for path, _ in files) or any(not is_test(*each) for each in named)
    )


def test_every_line_of_the_errata_names_its_test_or_says_why_there_is_none() -> None:
    lines = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| where ")]
    assert len(rows) > 120
    assert [row for row in rows if _unchecked(row)] == []


@pytest.mark.parametrize(
    "cell",
    [
        "not yet",
        "none",
        "`tests/unit/sampling`",
        "`tests/unit/test_nothing.py`",
        "`tests/unit/documentation/test_theorem_map.py` (`test_of_nothing`)",
    ],
)
def test_an_erratum_without_its_test_is_found(cell: str) -> None:
    assert _unchecked(f"| where | printed | wrong | instead | {cell} |")
    assert not _unchecked(
        "| w | p | w | i | `tests/unit/documentation/test_theorem_map.py` (`test_a_wrong_row_is_found`) |"
    )
