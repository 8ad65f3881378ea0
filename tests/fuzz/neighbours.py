"""Neighbouring tables: a row more, whatever is in it, changes nothing but one count.

Tables of all column types, as CSV and as Parquet, small and across the buffers, pages and row groups of the reader. For
each pair: the same exit code, the same words on both streams apart from the released numbers, the same keys, and exact
counts that differ by one person at most.
"""

from __future__ import annotations

import io
import math
import random
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.cli.release import ALL_EMPTY, answer
from hubbub.errors import HubbubError
from hubbub.noise.source import ScriptedSource
from hubbub.tables.engine import CountQuery, MultiRowPolicy
from tests.fresh import counts as published
from tests.fresh import open as open_fresh
from tests.fuzz.csv_reader import LINE, lines_of

NEIGHBOURS = 10  # of each table
LOW, HIGH = -(2**63), 2**63 - 1

Draw = Callable[[random.Random], Any]


@dataclass(frozen=True)
class Type:
    """A column type: ordinary cells, the cells at its ends and beyond, and bins for it."""

    kind: pa.DataType
    usual: tuple[Any, ...]
    extreme: tuple[Any, ...]
    specs: tuple[str, ...]
    raw: pa.DataType | None = None  # cells are given as this and taken for `kind` bit by bit


NUMBERS = ("x:[-inf,0,5,inf),null,other", "x:0..10:5", "x=1,7,null,other")
DAYS = (
    "x:year:1969..2025,null,other",
    "x:month:2024-01..2024-12",
    "x:day:2024-01-01..2024-01-31,other",
    "x=a,null,other",
)
TEXTS = ("x=Bath,York,null,other", "x:[0,5,inf),null,other", "x:year:2020..2024,null,other", "x=Bath")


def integers(kind: pa.DataType) -> Type:
    bits, signed = kind.bit_width, not str(kind).startswith("u")
    ends = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return Type(kind, (1, 3, 7, None), ends, (*NUMBERS, "x:-1000..1000:10,other"))


def decimals(digits: int, places: int) -> Type:
    nines = tuple(Decimal((sign, (9,) * digits, -places)) for sign in (0, 1))
    small = Decimal((0, (1,), -places))
    return Type(pa.decimal128(digits, places), (small, small.copy_negate(), None), nines, NUMBERS[:2])


def moments(unit: str, zone: str | None) -> Type:
    second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    usual = tuple(1_704_067_200 * second + day * 86_400 * second for day in range(5))
    year_294247 = 9_224_318_015_999 * 1_000_000
    ends: tuple[int, ...] = (
        LOW,
        LOW + 1,
        LOW + 2,
        HIGH,
        HIGH - 1,
        10**16,
        -(10**16),
        9_224_318_016_000,
        -9_223_372_022_400_001,
    )
    if unit == "s":  # Parquet has no seconds: milliseconds must be able to hold them
        ends = tuple(end for end in ends if abs(end) < 9 * 10**15)
    return Type(pa.timestamp(unit, zone), (*usual, None), (*ends, year_294247 // 1_000_000), DAYS, raw=pa.int64())


TYPES = (
    Type(pa.bool_(), (True, False, None), (), ("x=true,false,null", "x=true")),
    *(integers(kind) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())),
    *(integers(kind) for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())),
    *(
        Type(kind, (0.5, 1.0, 7.0, None), (math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e308, -1e308), NUMBERS)
        for kind in (pa.float32(), pa.float64())
    ),
    *(decimals(*shape) for shape in ((1, 0), (4, 4), (9, 2), (18, 3), (38, 0), (38, 10), (38, 38))),
    Type(pa.date32(), (19_723, 19_724, 19_800, None), (-(2**31), 2**31 - 1, -(2**31) + 1, 10**6), DAYS, raw=pa.int32()),
    *(moments(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "Asia/Kolkata")),
    Type(
        pa.string(),
        (b"Bath", b"York", b"", b"7", b"2024-01-05", None),
        (b"B\xffth", b"Bath\xc3", b"\xed\xa0\x80", b"\xf5", b"Ba\0th", b"x" * 3000, b"'; DROP", b"nan", b"1e400"),
        TEXTS,
        raw=pa.binary(),
    ),
)

# Whole records of a CSV, well formed or not, whose quotation marks have partners.
ODD_LINES = (
    b"Bath",
    b"",
    b"Bath,1,2,3,4",
    b"B\xffth,1",
    b"Bath\xc3,1",
    b"Ba\0th,1",
    b'Ba"th,1',
    b'"Ba\nth",1',
    b'"Bath"x,1',
    b'"York","1\r\n2,Bath\n"',
    b' "Bath" ,1',
    b'  "Bath,1',
    b'"",""',
    b'"' + b"Bath,\n" * LINE + b'",1',
    b'1,"' + b'""\n' * (LINE * 9) + b'"',
    b"z" * LINE * 20 + b",1",
    b"nan,1e400",
    b"2024-02-30,1",
)
USUAL_LINES = (
    b"Bath,1",
    b"York,2",
    b'"Bath","a ""b"" c"',
    b"7,3",
    b'2024-01-05,"1\n2"',
    b",4",
    b'"St. Ives, Cornwall",5',
)


class Files:
    """One table, and the files of it with a row more."""

    def __init__(self, chance: random.Random, folder: Path) -> None:
        self.chance, self.folder = chance, folder
        self.type = chance.choice(TYPES) if chance.random() < 0.7 else None
        self.rows = chance.choice((0, 1, 5, 40, 200, 200, 3000))
        usual = self.type.usual if self.type else USUAL_LINES
        self.cells = [chance.choice(usual) for _ in range(self.rows)]
        if chance.random() < 0.3:  # one of them may be odd before the other comes
            self.cells[:0] = [chance.choice(self.odd)] * chance.randrange(1, 3)
        self.newline = chance.choice((b"\n", b"\r\n"))
        self.parquet = {
            "row_group_size": chance.choice((1, 7, 50, 5000)) if self.rows < 1000 else 500,
            "data_page_size": chance.choice((1, 100, 10**6)),
            "use_dictionary": chance.random() < 0.5,
            "compression": chance.choice(("none", "snappy")),
            "write_statistics": chance.random() < 0.7,
        }

    @property
    def odd(self) -> tuple[Any, ...]:
        return (self.type.extreme or self.type.usual) if self.type else ODD_LINES

    def more(self) -> list[Any]:
        cells = list(self.cells)
        some = self.odd if self.chance.random() < 0.8 else self.type.usual if self.type else USUAL_LINES
        cells.insert(self.chance.randrange(len(cells) + 1), self.chance.choice(some))
        return cells

    def write(self, cells: list[Any]) -> Path:
        if self.type is None:
            path = self.folder / "people.csv"
            path.write_bytes(self.newline.join((b"x,id", *cells)) + self.newline)
            return path
        path = self.folder / "people.parquet"
        kind, raw = self.type.kind, self.type.raw
        column = pa.array(cells, raw or kind)
        column = column if raw is None else column.view(kind)
        pq.write_table(pa.table({"x": column, "id": pa.array(range(len(cells)))}), path, **self.parquet)
        return path


@dataclass(frozen=True)
class Seen:
    """All that a release shows, and beside it the exact counts, which only the engine sees."""

    code: int
    words: str
    keys: tuple[object, ...]
    counts: Counter[object]


def look(path: Path, by: str, repeats: MultiRowPolicy, **words: Any) -> Seen:
    out, err = io.StringIO(), io.StringIO()
    code, keys, counts = 0, (), Counter[object]()
    person = None if repeats is MultiRowPolicy.REFUSE else "id"
    unit = {MultiRowPolicy.ONE_ROW: {"one_row_per_person": True}, MultiRowPolicy.DISTINCT: {"distinct": 1}}.get(
        repeats, {}
    )
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            table = open_fresh(path, person=person)
            done = table.histogram([by], **unit, **words)
            found = published(done)
            keys = tuple(labels[i] for which, labels in found.keys(0, found.bins) for i in which.tolist())
            question = CountQuery(axes=found.axes, person=person, repeats=repeats)
            counted = table.engine.count(question, ScriptedSource.from_label("neighbours"))
            labels = counted.found[0] if counted.found else counted.codes.tolist()
            counts = Counter(dict(zip(labels, counted.counts.tolist(), strict=True)))
            answer(done, {}, as_json=False, explained=True)
        except HubbubError as error:
            code = error.exit_code
            print(error, file=sys.stderr)
    told = "\n".join((out.getvalue(), err.getvalue(), *(str(warning.message) for warning in warned)))
    return Seen(code, told, keys, counts)


def public(words: str) -> str:
    """The words without released numbers: a number, or that it is hidden. A column of estimates stands only where one of
    them is another number than was drawn, which is a matter of the noise."""
    noted = " ".join(words.split()).replace(ALL_EMPTY, "")  # that every bin may be empty is seen in what is published
    plain = " ".join(re.sub(r"[-\d,.]+|\bhidden\b", "#", noted).split())
    plain = re.sub(r"# to #|# or more", "#", plain)  # an interval of one number is written as that
    plain = " ".join(re.sub(r"\b(?:estimate|interval|for rows on|average)\b", "", plain).split())  # heads of columns
    return re.sub(r"#(?: #)+", "#", plain)


def difference(one: Seen, other: Seen, *, declared: bool) -> str | None:
    if one.code != other.code:
        return f"exit code {one.code} or {other.code}: {one.words[-90:]!r}, {other.words[-90:]!r}"
    if declared and public(one.words) != public(other.words):
        return f"other words: {public(one.words)!r}, {public(other.words)!r}"
    if declared and one.keys != other.keys:
        return "other keys"
    if not declared and len(set(one.keys) ^ set(other.keys)) > 1:
        return "more than one other key"
    moves = (one.counts - other.counts) + (other.counts - one.counts)
    if sum(moves.values()) > 1:
        return f"{sum(moves.values())} counts moved"
    return None


def check_table(seed: int, folder: Path, neighbours: int = NEIGHBOURS) -> list[str]:
    """One table and its neighbours."""
    chance = random.Random(seed)
    files = Files(chance, folder)
    by = chance.choice((*(files.type.specs if files.type else TEXTS), "x"))
    protection: dict[str, Any] = {"crowd": 3} if by == "x" else chance.choice(({"crowd": 3}, {"epsilon": 1}))
    repeats = chance.choice(
        (MultiRowPolicy.REFUSE, MultiRowPolicy.REFUSE, MultiRowPolicy.ONE_ROW, MultiRowPolicy.DISTINCT)
    )
    if files.type is None:  # the lines of these files do not say who they are
        repeats = MultiRowPolicy.REFUSE
    base = look(files.write(files.cells), by, repeats, **protection)
    wrong = []
    for _ in range(neighbours):
        cells = files.more()
        found = difference(base, look(files.write(cells), by, repeats, **protection), declared=by != "x")
        if found:
            odd = Counter(map(repr, cells)) - Counter(map(repr, files.cells))
            kind = files.type.kind if files.type else "CSV"
            wrong.append(f"seed {seed}, {kind}, {by}, {repeats.name}, {[text[:60] for text in odd]}: {found}")
    return wrong


def pairs(number: int, folder: Path, first: int = 0) -> list[str]:
    """So many pairs of neighbours; what is wrong with them."""
    with lines_of(LINE):
        return [words for seed in range(first, first + number // NEIGHBOURS) for words in check_table(seed, folder)]


def main() -> None:
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        wrong = pairs(3_000, Path(folder))
    print(f"3,000 pairs of neighbours, {time.monotonic() - begun:.0f} s, {len(wrong)} differ", file=sys.stderr)
    sys.exit("\n".join(wrong[:20]) or None)


if __name__ == "__main__":
    main()
