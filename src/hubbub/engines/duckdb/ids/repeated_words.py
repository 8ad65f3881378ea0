"""Which 64-bit words come more than once among very many, in little memory: split by their first bits and spilled.

Words are gathered in blocks; a block is ordered by the first bits of its words, so that afterwards the words that begin
alike can be taken from all blocks, sorted and compared on their own. The first blocks stay in memory, the others are
written to one private file. The words are hashes of ids: the file has no name where the system allows that, and goes
with the work.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import IO, Final, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hubbub.engines.duckdb.scratch import Scratch
from hubbub.errors import WrongUse
from hubbub.numeric.exact_sums import distinct

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
        try:
            self._spill_file().write(ordered.data)
        except OSError:
            raise WrongUse(NO_ROOM) from None
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
        try:
            self._file.flush()
            return open(self._path, "rb", buffering=0)
        except OSError:
            raise WrongUse(NO_ROOM) from None


def _read(file: io.FileIO, spans: Sequence[tuple[int, int]]) -> Words:
    """The words in these parts of the file."""
    words = np.empty(sum(end - start for start, end in spans), np.uint64)
    into, done = words.view(np.uint8).data, 0
    try:
        for start, end in spans:
            file.seek(start * _SIZE)
            size = (end - start) * _SIZE
            if file.readinto(into[done : done + size]) != size:
                raise WrongUse(NO_ROOM)
            done += size
    except OSError:
        raise WrongUse(NO_ROOM) from None
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
