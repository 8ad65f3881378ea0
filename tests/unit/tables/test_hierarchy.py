from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import WrongUse
from hubbub.tables.generalization import Hierarchy

ILLNESSES = "C50;breast;cancer\nC61;prostate;cancer\nJ45;asthma;lung\n"
CELLS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=6)


def test_a_level_is_a_hierarchy_of_its_own() -> None:
    tree = Hierarchy.from_text(ILLNESSES)
    assert tree.levels == 2
    assert dict(tree.at(2, "d").rows) == {"C50": "cancer", "C61": "cancer", "J45": "lung"}
    assert tree.at(1, "d").levels == 1


@given(
    st.integers(1, 3).flatmap(lambda n: st.lists(st.tuples(*[CELLS] * (n + 1)), min_size=1, unique_by=lambda r: r[0]))
)
def test_what_is_written_is_read_back(rows: list[tuple[str, ...]]) -> None:
    tree = Hierarchy(tuple(rows))
    assert Hierarchy.from_text(str(tree)) == tree


def test_a_file_as_arx_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "age.csv"
    file.write_bytes('\ufeff1;0-49;*\r\n2;0-49;*\r\n"5;0";50+;*\r\n'.encode())
    assert Hierarchy.read(str(file), "age").rows == (("1", "0-49", "*"), ("2", "0-49", "*"), ("5;0", "50+", "*"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a;x\na;y\n", "one value is there twice"),
        ("a;x\na;x\n", "one value is there twice"),
        ("a;x\nb\n", "as many on each line"),
        ("a\nb\n", "as many on each line"),
        ("", "as many on each line"),
        ('a;"x\n', "as many on each line"),
    ],
)
def test_what_is_no_hierarchy_is_refused_in_one_sentence(text: str, told: str) -> None:
    with pytest.raises(WrongUse, match=told) as error:
        Hierarchy.from_text(text)
    assert "\n" not in str(error.value)


def test_a_level_that_is_not_there_and_a_file_that_is_not(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="levels 1 to 2, not 3"):
        Hierarchy.from_text(ILLNESSES).at(3, "d")
    with pytest.raises(WrongUse, match="levels 1 to 2, not 0"):
        Hierarchy.from_text(ILLNESSES).at(0, "d")
    with pytest.raises(WrongUse, match="cannot be read from"):
        Hierarchy.read(str(tmp_path / "none.csv"), "d")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WrongUse, match="cannot be read from"):
        Hierarchy.read(str(tmp_path / "bytes.csv"), "d")
