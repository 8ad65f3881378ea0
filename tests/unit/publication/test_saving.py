"""What is published stays, can be read by others, and says whose it is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.release import save
from hubbub.report.heading import Heading, heading
from hubbub.verification import verify
from tests.fresh import enter
from tests.fresh import opened as open_table

TOWN = pa.table({"dept": ["a"] * 30 + ["b"] * 40 + ["c"]})
AGES = pa.table({"age": [9] * 30 + [10] * 25 + [100] * 40 + [None] * 22})


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_nothing_is_written_over_unless_told(tmp_path: Path) -> None:
    first, second = (enter(TOWN).histogram(["dept=a,b,c"], crowd=20) for _ in range(2))
    save(first, tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    with pytest.raises(WrongUse, match=r"there is a release in .* already, .* or add replace"):
        save(second, tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
    save(second, tmp_path / "elsewhere")  # it was not lost


def test_a_replaced_release_leaves_nothing_behind(tmp_path: Path) -> None:
    save(enter(TOWN).histogram(["dept=a,b,c"], crowd=20), tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    save(enter(TOWN).histogram(["dept=a,b,c"], crowd=20), tmp_path, form="parquet", replace=True)
    assert {path.name for path in tmp_path.iterdir()} == {
        "certificate.json",
        "datapackage.json",
        "notes.txt",
        "release.parquet",
        "report.html",
    }
    assert verify((tmp_path / "certificate.json").read_bytes(), release=tmp_path / "release.parquet").passed


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_published_files_are_as_open_as_the_umask_allows_and_private_ones_closed(
    tmp_path: Path, own_ledger: Path, mask: int
) -> None:
    before = os.umask(mask)
    try:
        save(enter(TOWN).histogram(["dept=a,b,c"], crowd=20), tmp_path / "out")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert {mode(path) for path in (tmp_path / "out").iterdir()} == {0o666 & ~mask}
    assert mode(tmp_path / "out") == 0o777 & ~mask
    assert not any(mode(path) & 0o077 for path in own_ledger.rglob("*") if path.is_file())


def page(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


def test_a_report_says_whose_it_is_and_where_its_files_are(tmp_path: Path) -> None:
    release = open_table(TOWN, dataset="town-2026").histogram(["dept=a,b,c"], crowd=20)
    save(release, tmp_path, heading=Heading(publisher="Office <of> Statistics", date="16 November 2026"))
    text = page(tmp_path)
    assert "Office &lt;of&gt; Statistics" in text
    assert "16 November 2026" in text
    assert "town-2026" in text
    assert '<a href="release.csv">release.csv</a>' in text
    assert "The numbers that are shown add up to 70; shares are of that." in text
    assert '<td data-label="share of total">42.9 %</td>' in text
    assert "[U+00A0]" not in text


def test_without_a_word_a_report_names_no_publisher_and_no_date(tmp_path: Path) -> None:
    save(enter(TOWN).histogram(["dept=a,b,c"], crowd=20), tmp_path)
    assert "Published by" not in page(tmp_path)
    assert "as declared" not in page(tmp_path)


def test_numbers_found_in_the_data_stand_in_their_order(tmp_path: Path) -> None:
    save(enter(AGES).histogram(["age"], crowd=20), tmp_path)
    text = page(tmp_path)
    order = [text.index(f"<bdi>{age}</bdi></th>") for age in ("9", "10", "100", "(missing)")]
    assert order == sorted(order)
    bars = [text.index(f"<title>{age}: ") for age in ("9", "10", "100", "(missing)")]
    assert bars == sorted(bars)


def test_the_publisher_is_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("HUBBUB_PUBLISHER", raising=False)
    assert heading() == Heading()
    (tmp_path / "hubbub").mkdir()
    (tmp_path / "hubbub" / "publisher").write_text("Town of Millbrook\nsecond line\n", encoding="utf-8")
    assert heading(date="2026") == Heading(publisher="Town of Millbrook", date="2026")
    monkeypatch.setenv("HUBBUB_PUBLISHER", "Another office")
    assert heading().publisher == "Another office"
    for wrong in ("x" * 200, "two\nlines"):
        with pytest.raises(WrongUse, match="one line of at most 120 signs"):
            heading(date=wrong)


def test_the_command_takes_the_same_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet as pq
    from click.testing import CliRunner

    monkeypatch.setenv("HUBBUB_PUBLISHER", "Town of Millbrook")
    pq.write_table(TOWN, tmp_path / "town.parquet")
    words = ["release", "histogram", str(tmp_path / "town.parquet"), "--by", "dept=a,b,c", "--crowd", "20"]
    words += ["--out", str(tmp_path / "out"), "--words", str(tmp_path / "words.toml"), "--rows-are-people"]
    (tmp_path / "words.toml").write_text('date = "2026-11-16"\n')
    assert CliRunner().invoke(commands, words).exit_code == 0
    assert "Town of Millbrook" in page(tmp_path / "out")
    again = CliRunner().invoke(commands, words)
    assert (again.exit_code, "add --replace" in again.stderr) == (2, True)
