"""Whoever comes twice is found, in every engine, wherever the two rows are and whatever the ids are.

Where ids are read in blocks, blocks are small here, tables of any size are read so, and hashes may be bad ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.engines.duckdb import repeated_ids
from hubbub.errors import Refused, in_python
from hubbub.noise.source import SystemSource
from hubbub.tables.bins import parse
from hubbub.tables.engine import NO_ID, SEVERAL_ROWS, CountQuery, Engine
from hubbub.tables.identity import Chosen, IdObserver
from tests.conformance.openers import Opener, every_engine, from_arrow, from_csv, from_database, from_parquet

ROWS, BLOCK = 200, 32
FEE = pa.decimal128(9, 2)
LEAST, MOST = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Ids:
    """Ids that are all unlike."""

    name: str
    kind: pa.DataType
    ids: tuple[object, ...]

    def table(self, *changed: tuple[int, object]) -> pa.Table:
        ids = list(self.ids)
        for place, other in changed:
            ids[place] = other
        return pa.table({"id": pa.array(ids, self.kind), "bin": ["a"] * len(ids)})


def _ids(name: str, kind: pa.DataType, ids: Iterable[object]) -> Ids:
    found = tuple(ids)
    assert len(set(found)) == len(found) == ROWS
    return Ids(name, kind, found)


CASES = (
    _ids("running numbers", pa.int64(), range(ROWS)),
    _ids("negative numbers", pa.int64(), range(-ROWS, 0)),
    _ids("numbers far apart", pa.int64(), (i * 10**16 - 10**18 for i in range(ROWS))),
    _ids("the ends of 64 bits", pa.int64(), (LEAST, *range(2 - ROWS, 0), MOST)),
    _ids("small numbers", pa.int32(), (7 * i % 1009 - 500 for i in range(ROWS))),
    _ids("decimals", FEE, (Decimal(i).scaleb(-2) for i in range(-50, ROWS - 50))),
    _ids("texts", pa.string(), (f"p{i}" for i in range(ROWS))),
    _ids("texts of digits", pa.string(), (str(10**17 + i) for i in range(ROWS))),
)
every_id = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
PLACES = ((0, ROWS - 1), (BLOCK - 1, BLOCK), (BLOCK, 2 * BLOCK), (5, 6), (ROWS - 2, ROWS - 1))
WEAK = {"the engine's": "hash({})", "of two bits": "hash({}) % 4", "of none": "(hash({}) & 0::UBIGINT)"}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_ids, "MANY", 0)
    monkeypatch.setattr(repeated_ids, "BLOCK", BLOCK)
    monkeypatch.setattr(repeated_ids, "KEPT", 2 * BLOCK)


def refusal(engine: Engine) -> str | None:
    """What is said of a table; nothing where everybody has one row, and then all are counted."""
    try:
        found = engine.count(CountQuery(axes=(parse("bin=a"),), person="id"), SystemSource())
    except Refused as refused:
        return str(refused)
    assert found.counts.tolist() == [ROWS]
    return None


@every_engine
@every_id
def test_whoever_comes_twice_is_found(opened: Opener, case: Ids, tmp_path: Path) -> None:
    assert refusal(opened(case.table(), folder(tmp_path, "all"))) is None
    for one, other in PLACES:
        table = case.table((other, case.ids[one]))
        assert refusal(opened(table, folder(tmp_path, f"{one}-{other}"))) == in_python(SEVERAL_ROWS), (one, other)


@every_engine
@every_id
def test_a_row_of_nobody_is_found_first(opened: Opener, case: Ids, tmp_path: Path) -> None:
    for name, changed in {
        "one": ((9, None),),
        "two": ((0, None), (ROWS - 1, None)),
        "more": ((0, None), (9, case.ids[8])),
    }.items():
        assert refusal(opened(case.table(*changed), folder(tmp_path, name))) == in_python(NO_ID), name


@pytest.mark.parametrize(
    "opened",
    [
        from_arrow,
        from_csv,
        pytest.param(from_parquet, marks=pytest.mark.slow),
        pytest.param(from_database, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("weak", list(WEAK)[1:])
@every_id
def test_ids_with_one_hash_are_told_apart(
    opened: Opener, case: Ids, weak: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeated_ids, "id_hash", lambda cell: WEAK[weak].format(cell))
    monkeypatch.setattr(repeated_ids, "LARGEST", 0)
    monkeypatch.setattr(repeated_ids, "_TOGETHER", 3)
    assert refusal(opened(case.table(), folder(tmp_path, "all"))) is None
    twice = case.table((ROWS - 1, case.ids[0]))
    assert refusal(opened(twice, folder(tmp_path, "twice"))) == in_python(SEVERAL_ROWS)
    nobody = case.table((3, None), (ROWS - 1, case.ids[0]))
    assert refusal(opened(nobody, folder(tmp_path, "nobody"))) == in_python(NO_ID)


@pytest.mark.parametrize("opened", [from_arrow, from_csv, pytest.param(from_parquet, marks=pytest.mark.slow)])
@every_id
def test_the_same_people_are_told_however_they_are_read(
    opened: Opener, case: Ids, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = {"grouped": 10**9, "read": 0}
    for held in (repeated_ids._HELD, 50):  # those that are gathered fit, or are sifted on the way
        monkeypatch.setattr(repeated_ids, "_HELD", held)
        told: dict[str, list[Chosen]] = {}
        for name, many in ways.items():
            monkeypatch.setattr(repeated_ids, "MANY", many)
            told[name] = []
            engine = opened(case.table(), folder(tmp_path, f"{name}-{held}"))
            assert refusal(engine.observing_ids(IdObserver(turn=5, most=20, on_chosen=told[name].append))) is None
        one, other = (told[name].pop() for name in ways)
        assert dict(zip(one.ids, one.ranks, strict=True)) == dict(zip(other.ids, other.ranks, strict=True))
        assert len(one.ids) == 20
        assert (one.way, one.limit) == (other.way, other.limit)


def folder(within: Path, name: str) -> Path:
    place = within / name
    place.mkdir()
    return place
