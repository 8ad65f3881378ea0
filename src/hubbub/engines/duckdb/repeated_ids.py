"""Whether a row has no id or somebody several rows, in one reading of the ids, in little memory at any size.

Whole numbers of a range that fits are ticked off in an array with a byte for each number: there are as many ticks as
rows exactly if none comes twice. Other ids leave the engine as 64-bit hashes of its own, of which those that come more
than once are found exactly (:mod:`hubbub.engines.duckdb.repeated_ids`). Equal ids have equal hashes, so nobody with several
rows is among the others, and the ids of these few are compared themselves. The range of the numbers is a guess, since a
file may say wrong things about its values: if a number lies outside, everything is done by hashes.

In the same reading those with low ranks are gathered, for whoever wants to know who is in the table.

Which 64-bit words come more than once among very many, in little memory: split by their first bits and spilled.

Words are gathered in blocks; a block is ordered by the first bits of its words, so that afterwards the words that begin
alike can be taken from all blocks, sorted and compared on their own. The first blocks stay in memory, the others are
written to one private file. The words are hashes of ids: the file has no name where the system allows that, and goes
with the work.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import field
from types import TracebackType
from typing import IO, Any, Final, Self, TypeAlias, TypeVar

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.engines.column import Column
from hubbub.engines.duckdb.connection import TROUBLE, Scratch, batches_of, rows_of
from hubbub.engines.duckdb.expressions import identifier
from hubbub.engines.duckdb.people_sql import Ask, are_several, guessed_rows, lowest_below, lowest_of, rank, threshold
from hubbub.errors import WrongUse
from hubbub.numeric.exact_sums import distinct
from hubbub.runtime.frozen import dataclass
from hubbub.tables.identity import EVERYBODY, Chosen, IdObserver
from hubbub.tables.schema import ColumnType

Words: TypeAlias = NDArray[np.uint64]
Bounds: TypeAlias = NDArray[np.intp]
_Number = TypeVar("_Number", np.uint32, np.uint64)

BLOCK: Final = 1 << 16  # words of a block; so many, and where each goes, are in the fast memory of a core
KEPT: Final = 1 << 26  # words of the blocks that stay in memory
_BITS: Final = 8  # the first ones, by which words are split
_SIZE: Final = 8  # bytes of a word
_BEGINNINGS: Final = np.arange(1 << _BITS, dtype=np.uint64) << np.uint64(64 - _BITS)

NO_ROOM: Final = "the temporary folder has no room for the table; make room in the one that TMPDIR names, or set TMPDIR"


class RepeatedWords:
    """Takes words in any order, and tells which of them come more than once. It is used in a `with`."""

    def __init__(self) -> None:
        self._held: list[Words] = []  # of the next block
        self._size = self._kept = self._spilled = 0
        self._blocks: list[tuple[Words, Bounds]] = []  # in memory, with where the words of each beginning start
        self._bounds: list[Bounds] = []  # the same of each block in the file
        self._open = ExitStack()
        self._file: IO[bytes] | None = None
        self._path = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def add(self, words: Words) -> None:
        """Take some more."""
        self._held.append(words)
        self._size += len(words)
        if self._size >= BLOCK:
            words, self._held, self._size = np.concatenate(self._held), [], 0
            for start in range(0, len(words), BLOCK):
                self._put_away(words[start : start + BLOCK])

    def find_repeated(self) -> Iterator[Words]:
        """Those that come more than once, each once, some at a time.

        Guarantee: exact. Equal words begin alike, so they are sorted together and stand side by side.
        """
        if not self._blocks and self._file is None:
            yield _find_repeated(np.concatenate([np.zeros(0, np.uint64), *self._held]))
            return
        if self._held:
            self._put_away(np.concatenate(self._held))
        with ExitStack() as opened:
            file = opened.enter_context(self._reopen()) if self._file is not None else None
            for beginning in range(1 << _BITS):
                parts = [words[bounds[beginning] : bounds[beginning + 1]] for words, bounds in self._blocks]
                if file is not None:
                    spans = [(int(block[beginning]), int(block[beginning + 1])) for block in self._bounds]
                    parts.append(_read(file, spans))
                yield _find_repeated(np.concatenate(parts))

    def _put_away(self, words: Words) -> None:
        """Order a block of words by how they begin, and keep or write it."""
        first = (words >> np.uint64(64 - _BITS)).astype(np.uint8)
        ordered = words.take(np.argsort(first, kind="stable"))
        # Words that begin alike stand together, so that a search for each beginning finds its first one.
        bounds = np.append(np.searchsorted(ordered, _BEGINNINGS), len(words))
        if self._kept < KEPT:
            self._blocks.append((ordered, bounds))
            self._kept += len(words)
            return
        with _room():
            self._spill_file().write(ordered.data)
        self._bounds.append(self._spilled + bounds)
        self._spilled += len(words)

    def _spill_file(self) -> IO[bytes]:
        if self._file is None:
            scratch = Scratch()
            self._open.callback(scratch.clear)
            self._file, self._path = scratch.new_file("words")
            self._open.callback(self._file.close)
        return self._file

    def _reopen(self) -> io.FileIO:
        """What was written, to be read."""
        assert self._file is not None
        with _room():
            self._file.flush()
            return open(self._path, "rb", buffering=0)


@contextmanager
def _room() -> Iterator[None]:
    """Whatever the temporary file fails at inside is told as a lack of room."""
    try:
        yield
    except OSError:
        raise WrongUse(NO_ROOM) from None


def _read(file: io.FileIO, spans: Sequence[tuple[int, int]]) -> Words:
    """The words in these parts of the file."""
    words = np.empty(sum(end - start for start, end in spans), np.uint64)
    into, done = words.view(np.uint8).data, 0
    with _room():
        for start, end in spans:
            file.seek(start * _SIZE)
            size = (end - start) * _SIZE
            if file.readinto(into[done : done + size]) != size:
                raise OSError("a file that was cut short")
            done += size
    return words


def _find_repeated(words: Words) -> Words:
    """Those that come more than once, each once.

    Guarantee: exact. Equal words have equal second halves, so one that comes twice is among those whose half does, and
    these are compared in full. Halves are sorted in half the time, and those of unlike words are seldom equal.
    """
    halves = words.astype(np.uint32)  # the last 32 bits
    twice = _beside_equals(np.sort(halves))
    if not len(twice):
        return words[:0]
    begins_so = np.zeros(1 << 16, np.bool_)  # by the first 16 bits of a half, which fit the fast memory
    begins_so[twice >> 16] = True
    suspects = np.sort(words[begins_so[(halves >> 16).astype(np.intp)]])
    return distinct(_beside_equals(suspects))


def _beside_equals(ordered: NDArray[_Number]) -> NDArray[_Number]:
    """Of numbers in order, each that equals the one before."""
    again: NDArray[np.bool_] = ordered[1:] == ordered[:-1]
    later: NDArray[_Number] = ordered[1:][again]
    return later


LARGEST: Final = 1 << 29  # numbers in a range that are ticked off, a byte for each
MANY: Final = 1 << 18  # rows, from which on ids are read so; a few are grouped, which loads less
KINDS: Final = (ColumnType.INTEGER, ColumnType.TEXT, ColumnType.DECIMAL, ColumnType.FLOAT)
"""Of ids that can leave the engine, whatever is stored."""

_SPARSE: Final = 64  # times as many numbers as rows are too many to look through, unless they are few
_FEW: Final = 1 << 22
_TOGETHER: Final = 1 << 16  # hashes whose ids are compared in one reading
_HELD: Final = 1 << 21  # ids that are gathered before the lowest among them are taken
_GATHERED: Final = "hubbub_gathered"
_SUSPECTS: Final = "hubbub_suspects"


def are_many(query: Ask, column: Column, people: str) -> bool:
    """Whether ids of this kind, of so many rows, are better read by an :class:`IdReader` than grouped."""
    return column.kind in KINDS and guessed_rows(query, column, people) >= MANY


def id_hash(cell: str) -> str:
    """The engine's hash of an id: 64 bits."""
    return f"hash({cell})"


@dataclass(slots=True)
class IdReader:
    """Reads the ids of a relation once; `observer` wants to know some of them."""

    connection: duckdb.DuckDBPyConnection
    trouble: WrongUse
    column: Column
    people: str
    observer: IdObserver | None = None
    _gathered: list[pa.Array] = field(default_factory=list)
    _held: int = 0
    _below: int = EVERYBODY

    def find_repeated(self) -> tuple[int, Chosen | None]:
        """2 if a row has no id, else 1 if somebody has several rows, else 0; and the people with the lowest ranks.

        Guarantee: exact, whatever the hash is: equal ids have equal hashes, and ids with equal hashes are compared.
        """
        if self.observer is not None:
            self._below = threshold(self._query, self.column, self.people, self.observer.most)
        span = self._span()
        found = None if span is None else self._by_numbers(*span)
        if found is None:
            self._gathered, self._held = [], 0
            found = self._by_hashes()
        return found, None if found or self.observer is None else self._lowest(self.observer)

    def _query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return rows_of(self.connection, sql, self.trouble, values)

    def _stream(self, sql: str, values: list[Any]) -> Iterator[pa.RecordBatch]:
        return batches_of(self.connection, sql, values, self.trouble)[1]

    # --- whole numbers --------------------------------------------------------------------------------------------

    def _span(self) -> tuple[int, int] | None:
        """The least and the greatest id, as the engine believes, where an array has room for all between them."""
        if self.column.kind is not ColumnType.INTEGER:
            return None
        cell = identifier(self.column.name)
        least, most, rows = self._query(f"SELECT min({cell}), max({cell}), count(*) FROM {self.people}")[0]
        if least is None or most - least >= min(LARGEST, max(_FEW, _SPARSE * rows)):
            return None
        return (least, most) if least >= -(1 << 63) and most < 1 << 63 else None

    def _by_numbers(self, least: int, most: int) -> int | None:
        """As :meth:`find_repeated`; None if a row has no id, or one that is not where the engine believed it."""
        cell, size = identifier(self.column.name), most - least + 1
        low, values = self._is_low()
        flag = low and f", CAST({low} AS UTINYINT)"
        ticks, rows = np.zeros(size, np.uint8), 0
        for batch in self._stream(f"SELECT TRY_CAST({cell} AS BIGINT){flag} FROM {self.people}", values):
            if batch.column(0).null_count:
                return None
            ids: NDArray[np.int64] = np.from_dlpack(batch.column(0))  # type: ignore[assignment]
            places = ids - np.int64(least)  # modulo 2^64, so that one below the least is far above the most
            if int(places.view(np.uint64).max(initial=0)) >= size:
                return None
            ticks[places] = 1
            rows += len(ids)
            if self.observer is not None:
                self._gather(pa.array(ids[np.from_dlpack(batch.column(1)).view(np.bool_)] if low else ids))
        return int(np.count_nonzero(ticks) < rows)

    # --- others ---------------------------------------------------------------------------------------------------

    def _by_hashes(self) -> int:
        """As :meth:`find_repeated`."""
        cell = identifier(self.column.name)
        low, values = self._is_low()
        read = "" if self.observer is None else f", CASE WHEN {low} THEN {cell} END" if low else f", {cell}"
        no_id = self._query(f"SELECT {id_hash(f'CASE WHEN FALSE THEN {cell} END')} FROM {self.people} LIMIT 1")
        of_nobody = np.array(no_id, np.uint64).ravel()
        is_missing = False
        with RepeatedWords() as words:
            for batch in self._stream(f"SELECT {id_hash(cell)}{read} FROM {self.people}", values):
                some: Words = np.from_dlpack(batch.column(0))  # type: ignore[assignment]
                is_missing = is_missing or bool((some == of_nobody).any())
                words.add(some)
                if self.observer is not None:
                    self._gather(batch.column(1).drop_null() if low else batch.column(1))
            return self._compare_suspects(words.find_repeated(), of_nobody if is_missing else of_nobody[:0])

    def _compare_suspects(self, repeated: Iterator[Words], first: Words) -> int:
        """As :meth:`find_repeated`, by the ids with these hashes: the `first`, of which a row with no id has one, and others
        until somebody with several rows is found."""
        suspects = first
        for some in repeated:
            suspects = np.concatenate((suspects, some))
            while len(suspects) >= _TOGETHER:
                if found := self._inspect_suspects(suspects[:_TOGETHER]):
                    return found
                suspects = suspects[_TOGETHER:]
        return self._inspect_suspects(suspects) if len(suspects) else 0

    def _inspect_suspects(self, suspects: Words) -> int:
        self.connection.register(_SUSPECTS, pa.table({"word": suspects}))
        try:
            cell = identifier(self.column.name)
            few = f"SELECT {cell} FROM {self.people} WHERE {id_hash(cell)} IN (SELECT word FROM {_SUSPECTS})"
            return are_several(self._query, self.column, f"({few})")
        finally:
            with suppress(*TROUBLE):
                self.connection.unregister(_SUSPECTS)

    # --- who is there ---------------------------------------------------------------------------------------------

    def _is_low(self) -> tuple[str, list[Any]]:
        """Whether the rank of a row is low, as SQL; empty where everybody's is, or nobody asks."""
        if self.observer is None or self._below >= EVERYBODY:
            return "", []
        ranked = rank(identifier(self.column.name), self.column)
        return f"{ranked} < {self._below}::UBIGINT", [self.observer.turn]

    def _gather(self, ids: pa.Array) -> None:
        """Note ids. They are few, unless the engine did not know how many rows there are."""
        self._gathered.append(ids)
        self._held += len(ids)
        if self._held < _HELD or self.observer is None:
            return
        with self._gathered_table() as cursor:
            ranked = f"SELECT who, {rank('who', self.column)} AS rank FROM {_GATHERED} WHERE who IS NOT NULL"
            sql = f"SELECT who FROM ({ranked}) ORDER BY rank LIMIT {self.observer.most}"
            self._gathered = [
                batch.column(0) for batch in batches_of(cursor, sql, [self.observer.turn], self.trouble)[1]
            ]
        self._held = sum(map(len, self._gathered))

    def _lowest(self, observer: IdObserver) -> Chosen:
        """Where fewer people than wanted were gathered, since the engine overrated the rows, all are read once more."""
        if self._held < observer.most and self._below < EVERYBODY:
            return lowest_below(self._query, self.column, self.people, EVERYBODY, observer)
        with self._gathered_table() as cursor:
            return lowest_of(
                lambda sql, *values: rows_of(cursor, sql, self.trouble, values),
                self.column,
                _GATHERED,
                self._below,
                observer,
            )

    @contextmanager
    def _gathered_table(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """The gathered ids as a table, for another query than the one that runs."""
        ids = pa.chunked_array(self._gathered or [pa.array([], pa.int64())])
        with self.connection.cursor() as cursor:
            cursor.register(_GATHERED, pa.table({"who": ids}))
            yield cursor
