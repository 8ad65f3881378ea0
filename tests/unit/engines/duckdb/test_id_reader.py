"""Ids are read exactly whatever a file says of them, and what is spilled is private."""

from __future__ import annotations

import os
import stat
import tempfile
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.engines.duckdb import people_sql, repeated_ids
from hubbub.engines.duckdb.repeated_ids import NO_ROOM, RepeatedWords
from hubbub.engines.files.files import open_file
from hubbub.engines.files.frames import open_frame
from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.tables.engine import SEVERAL_ROWS, CountQuery, MultiRowPolicy
from hubbub.tables.identity import Chosen, IdObserver


@pytest.mark.parametrize("block", [1, 7, 1000])
@pytest.mark.parametrize("kept", [0, 50, 1000])
@pytest.mark.parametrize("different", [1, 5, 300, 2**63])
def test_repeated_words_are_those_that_come_twice(
    block: int, kept: int, different: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeated_ids, "BLOCK", block)
    monkeypatch.setattr(repeated_ids, "KEPT", kept)
    words = SystemSource().words(400) % np.uint64(different) * np.uint64(2**64 // max(different, 2))
    with RepeatedWords() as taken:
        for start in range(0, 400, 11):
            taken.add(words[start : start + 11])
        found = [int(word) for some in taken.find_repeated() for word in some]
    assert sorted(found) == sorted(word for word, times in Counter(words.tolist()).items() if times > 1)


def test_no_words_are_never_repeated() -> None:
    with RepeatedWords() as taken:
        assert [len(some) for some in taken.find_repeated()] == [0]


def test_spilled_words_are_private_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_ids, "BLOCK", 1)
    monkeypatch.setattr(repeated_ids, "KEPT", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with RepeatedWords() as taken:
        taken.add(np.arange(5, dtype=np.uint64))
        (folder,) = tmp_path.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert taken._file is not None
        assert stat.S_IMODE(os.fstat(taken._file.fileno()).st_mode) == 0o600
        if os.path.isdir("/proc/self/fd"):
            assert [each for each in folder.rglob("*") if each.is_file()] == []
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_ids, "BLOCK", 1)
    monkeypatch.setattr(repeated_ids, "KEPT", 0)
    with RepeatedWords() as taken:
        taken.add(np.arange(5, dtype=np.uint64))
        assert taken._file is not None
        taken._file.flush()
        os.ftruncate(taken._file.fileno(), 8)
        with pytest.raises(WrongUse) as refused:
            list(taken.find_repeated())
    assert str(refused.value) == NO_ROOM


@pytest.mark.parametrize("others", [(7, 7), (-7, -7), (2**62, 2**62), (-(2**63), -(2**63))], ids=str)
def test_a_footer_that_lies_hides_nobody(
    others: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file says that all ids are 3 to 5; somebody outside comes twice."""
    monkeypatch.setattr(repeated_ids, "MANY", 0)
    place = tmp_path / "people.parquet"
    ids = pa.array([5, 3, *others], pa.int64())
    pq.write_table(pa.table({"id": ids}), place, use_dictionary=False)
    content = place.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    told = content[footer:]
    for real, said in ((max(ids.to_pylist()), 5), (min(ids.to_pylist()), 3)):
        told = told.replace(real.to_bytes(8, "little", signed=True), said.to_bytes(8, "little", signed=True))
    place.write_bytes(content[:footer] + told)
    assert duckdb.execute(f"SELECT min(id), max(id) FROM '{place}'").fetchall() == [(3, 5)]
    with pytest.raises(Refused) as refused:
        open_file(place).count(CountQuery(axes=(), person="id"), ScriptedSource([]))
    assert str(refused.value) == str(Refused(SEVERAL_ROWS))


@pytest.mark.parametrize("ids", [[0.0, -0.0], [float("nan"), float("nan")], [1.5, 2.5, 1.5]], ids=str)
def test_equal_floats_are_one_person(ids: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_ids, "MANY", 0)
    with pytest.raises(Refused) as refused:
        open_frame(pa.table({"id": pa.array(ids)})).count(CountQuery(axes=(), person="id"), ScriptedSource([]))
    assert str(refused.value) == str(Refused(SEVERAL_ROWS))


@pytest.mark.parametrize("kind", [pa.uint64(), pa.int8(), pa.uint32()], ids=str)
def test_whole_numbers_of_every_width(kind: pa.DataType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_ids, "MANY", 0)
    most = np.iinfo(kind.to_pandas_dtype()).max
    ids = [0, 1, int(most) - 1, int(most)]
    question = CountQuery(axes=(), person="id")
    assert open_frame(pa.table({"id": pa.array(ids, kind)})).count(question, ScriptedSource([])).counts.tolist() == [4]
    with pytest.raises(Refused):
        open_frame(pa.table({"id": pa.array([*ids, ids[-1]], kind)})).count(question, ScriptedSource([]))


@pytest.mark.parametrize("copies", [0, 1, 3])
def test_words_with_equal_halves_are_compared_in_full(copies: int) -> None:
    halves = np.array([0, 5, 1 << 16, (1 << 16) + 5, 2**32 - 1], np.uint64)
    unlike = (np.arange(300, dtype=np.uint64)[:, None] << np.uint64(32) | halves).ravel()  # all begin alike
    words = np.concatenate([unlike, *[unlike[::7]] * copies])
    with RepeatedWords() as taken:
        taken.add(words)
        found = [int(word) for some in taken.find_repeated() for word in some]
    assert sorted(found) == (sorted(unlike[::7].tolist()) if copies else [])


@pytest.mark.parametrize("read_by", ["IdReader", "groups"])
@pytest.mark.parametrize("policy", [MultiRowPolicy.REFUSE, MultiRowPolicy.DECLARED, MultiRowPolicy.ONE_ROW])
def test_a_wrong_guess_of_the_rows_chooses_the_same_people(
    policy: MultiRowPolicy, read_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Overrated rows make a threshold that next to nobody is below; those with the lowest ranks come out all the same."""
    monkeypatch.setattr(repeated_ids, "MANY", 0 if read_by == "IdReader" else 1 << 60)
    told: list[Chosen] = []
    frame = pa.table({"who": [f"p{i}" for i in range(500)]})
    for guess in (0, 500, 10**12):
        monkeypatch.setattr(people_sql, "guessed_rows", lambda *_, guess=guess: guess)
        people = open_frame(frame).observing_ids(IdObserver(turn=3, most=20, on_chosen=told.append))
        people.count(CountQuery(axes=(), person="who", repeats=policy), SystemSource())
    assert len(told) == 3
    assert len({(each.ids, each.ranks, each.limit) for each in told}) == 1
