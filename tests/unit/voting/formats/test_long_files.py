"""Long files: equal rows are put together while they are read, and nothing else changes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from hubbub.errors import WrongUse
from hubbub.voting.formats import coded_rows
from hubbub.voting.formats.formats import read, strict


def written(path: Path, rows: list[str]) -> Path:
    path.write_text("\n".join(["id,rank1,rank2,rank3", *rows, ""]), encoding="utf-8")
    return path


def rows(many: int, random: Random) -> list[str]:
    out = []
    for i in range(many):
        ballot = random.sample(["Ann", "Bob", "Cid", "undervote"], 3)
        out.append(f"{i},{','.join(ballot)}")
    return out


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of some kilobytes, and few rows kept apart."""
    from hubbub.voting.formats import ballot_text

    names = [name for name in vars(ballot_text) if name in ("_PIECE", "PIECE")]
    assert names, "the size of a piece is one constant"
    for name in names:
        monkeypatch.setattr(ballot_text, name, 1 << 12)
    monkeypatch.setattr(coded_rows, "_MOST_ROWS", 100)


@pytest.mark.usefixtures("small_pieces")
def test_equal_rows_are_merge_and_give_the_same_ballots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "b.csv", rows(3000, Random(3)))
    met: list[int] = []
    real = coded_rows._merge

    def noted(*arguments: object) -> object:
        met.append(1)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(coded_rows, "_merge", noted)
    together = strict(read(path))
    assert len(met) > 3
    monkeypatch.setattr(coded_rows, "_MOST_ROWS", 1 << 30)
    apart = strict(read(path))
    assert together.ballots.counts() == apart.ballots.counts()
    assert (together.changed, together.remarks) == (apart.changed, apart.remarks)


@pytest.mark.usefixtures("small_pieces")
def test_refusals_of_long_files_name_the_same_lines(tmp_path: Path) -> None:
    lines = rows(2000, Random(4))
    twice = written(tmp_path / "twice.csv", [*lines[:1500], "7,Ann,Bob,", *lines[1500:]])
    with pytest.raises(WrongUse, match="line 1502: a ballot with the id of an earlier line"):
        read(twice)
    marked = written(tmp_path / "marks.csv", [f"{i},yes,yes,no" for i in range(2000)])
    with pytest.raises(WrongUse, match="2,000 of 2,000 ballots name somebody twice"):
        read(marked)
