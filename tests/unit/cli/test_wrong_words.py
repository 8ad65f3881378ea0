"""What is typed wrong gets a sentence about itself, with the next step."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.errors import FloatRefused, Refused
from hubbub.opening import open as open_table

ROOT = Path(__file__).parents[3]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("town,age,pay\n" + "Bath,none,$1\n" * 50, encoding="utf-8")
    return "people.csv"


def said(*words: str, exit_code: int = 2) -> str:
    done = CliRunner().invoke(commands, ["release", *words, "--rows-are-people", "--out", "out"])
    assert done.exit_code == exit_code, done.output
    return " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--by", "age:10..0:1"), "the range of age ends at 0, not above its beginning 10"),
        (("--by", "age:0..10:3"), "from 0 to 10 is no whole number of steps of 3"),
        (("--by", "age:0..1:1e-9"), "has more than 10,000,000 steps of 1e-9"),
        (("--by", "town,age"), "but 2 of these names; give each by itself: --by town --by age"),
        (
            ("--by", "town=Bath", "--where", "age = 3"),
            "hubbub release count and hubbub release summary count those who",
        ),
        (("--by", "town=Bath", "--epsilon", "1e-400"), "not about 1e-400"),
    ],
)
def test_each_fault_has_its_own_sentence(table: str, words: tuple[str, ...], sentence: str) -> None:
    promise = () if "--epsilon" in words else ("--epsilon", "1", "--delta", "1e-6")
    found = said("histogram", table, *words, *promise)
    assert sentence in found
    assert len(found.split()) <= 45


def test_numbers_of_a_summary_are_told_as_a_shell_takes_them(table: str) -> None:
    found = said("summary", table, "--by", "town=Bath", "--epsilon", "1")
    assert "--number" in found
    assert "[" not in found


def test_too_many_unreadable_values_are_named_by_their_columns(table: str) -> None:
    found = said("mean", table, "--of", "pay:0..10:1", "--by", "town=Bath", "--epsilon", "1", exit_code=3)
    assert "a value of pay that cannot be read as declared" in found
    assert len(found.split()) <= 46  # with the command that declares it
    found = said("histogram", table, "--by", "age:0..90:10", "--by", "town=Bath", "--epsilon", "1", exit_code=3)
    assert "a value of age that" in found
    with pytest.raises(Refused, match="a value of age or pay that"):
        open_table(table, rows_are_people=True).mean("pay:0..10:1", ["age:0..90:10"], epsilon=1)


@pytest.mark.parametrize("epsilon", [0.5, 0.1, 1.0])
def test_floats_are_refused_all_alike(epsilon: float, table: str) -> None:
    with pytest.raises(FloatRefused, match=f'write it as text, "{epsilon!r}"'):
        open_table(table, rows_are_people=True).histogram(["town=Bath"], epsilon=epsilon)  # type: ignore[arg-type]


def test_no_message_installs_from_an_index_where_hubbub_is_not() -> None:
    pages = [*ROOT.glob("src/hubbub/**/*.py"), *ROOT.glob("docs/**/*.md"), ROOT / "README.md"]
    assert [page.name for page in pages if re.search(r"install ['\"]?hubbub\b", page.read_text(encoding="utf-8"))] == []
