"""Long files: equal rows are put together while they are read, and nothing else changes."""

from __future__ import annotations

import gzip
import time
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


def test_64_a_long_line_is_put_together_once_and_refused_beyond_what_a_ballot_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Joining it again with every piece took a minute for 512 MB, packed into half of one."""
    from hubbub.voting.formats import ballot_text

    monkeypatch.setattr(ballot_text, "_PIECE", 1 << 10)
    monkeypatch.setattr(ballot_text, "_LONGEST", 1 << 20)
    path = tmp_path / "long.csv.gz"
    for length, fits in ((1 << 20) - 100, True), (1 << 22, False):
        with gzip.open(path, "wb", compresslevel=1) as file:
            file.write(b"rank1,rank2\n" + b"x" * length + b",Bob\nAnn,Bob\n")
        started = time.process_time()
        if fits:
            assert b"".join(ballot_text.open_text(path).pieces()).endswith(b"x,Bob\nAnn,Bob\n")
        else:
            with pytest.raises(WrongUse, match="a line of more than 8 MB"):
                read(path)
        assert time.process_time() - started < 2
    for encoding, end in (("utf-16", "\n"), ("utf-8", "\r")):
        path = tmp_path / "ends.csv"
        path.write_bytes(f"rank1,rank2{end}".encode(encoding) + (f"Ann,Bob{end}" * 200_000).encode(encoding)[2:])
        assert ballot_text.open_text(path, encoding).text().count("\n") > 100_000
    path.write_bytes(("x" * (1 << 21)).encode("utf-16"))
    with pytest.raises(WrongUse, match="a line of more than 8 MB"):
        read(path)


def test_64_many_equals_in_one_rank_take_no_longer_than_they_are(tmp_path: Path) -> None:
    path = tmp_path / "tied.abif"
    path.write_text("1:" + "=".join(f"n{i}" for i in range(32_000)) + "\n", encoding="utf-8")
    started = time.process_time()
    assert len(read(path).ballots.candidates) == 32_000
    assert time.process_time() - started < 2
