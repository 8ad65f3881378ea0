"""Which 64-bit words come more than once among very many, in little memory: split by their first bits and spilled.

Words are gathered in blocks; a block is ordered by the first bits of its words and written to one private file, so that
afterwards the words that begin alike can be read, sorted and compared on their own. Where they fit into one block, none
is written. The words are hashes of ids: the file has no name where the system allows that, and goes with the work.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import IO, Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.engines.duckdb.scratch import Scratch
from hubbub.errors import WrongUse
from hubbub.numeric.distinct import distinct

Words: TypeAlias = NDArray[np.uint64]

BLOCK: Final = 1 << 18  # words that are held before they are spilled; so many are in the fast memory of a processor
_BITS: Final = 8  # the first ones, by which words are split
_SIZE: Final = 8  # bytes of a word

NO_ROOM: Final = "the temporary folder has no room for the table; make room in the one that TMPDIR names, or set TMPDIR"


class RepeatedWords:
    """Takes words in any order, and tells which of them come more than once. It is used in a `with`."""

    def __init__(self) -> None:
        self._held: list[Words] = []
        self._size = self._spilled = 0
        self._bounds: list[list[int]] = []  # of each block in the file: where the words of each beginning start
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
            self._spill()

    def repeated(self) -> Iterator[Words]:
        """Those that come more than once, each once, some at a time.

        Guarantee: exact. Equal words begin alike, so they are sorted together and stand side by side.
        """
        rest = np.concatenate([np.zeros(0, np.uint64), *self._held])
        if self._file is None:
            yield _repeated(rest)
            return
        first = _beginnings(rest)
        try:
            self._file.flush()
            with open(self._path, "rb", buffering=0) as file:
                for beginning in range(1 << _BITS):
                    spans = [(block[beginning], block[beginning + 1]) for block in self._bounds]
                    yield _repeated(_read(file, spans, rest[first == beginning]))
        except OSError:
            raise WrongUse(NO_ROOM) from None

    def _spill(self) -> None:
        words = np.concatenate(self._held)
        first = _beginnings(words)
        try:
            self._opened().write(words[np.argsort(first, kind="stable")].data)
        except OSError:
            raise WrongUse(NO_ROOM) from None
        many = np.cumsum(np.bincount(first, minlength=1 << _BITS))
        self._bounds.append([self._spilled, *(self._spilled + many).tolist()])
        self._spilled += len(words)
        self._held, self._size = [], 0

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            scratch = Scratch()
            self._open.callback(scratch.clear)
            self._file, self._path = scratch.new_file("words")
            self._open.callback(self._file.close)
        return self._file


def _beginnings(words: Words) -> NDArray[np.uint8]:
    return (words >> np.uint64(64 - _BITS)).astype(np.uint8)


def _read(file: io.FileIO, spans: Sequence[tuple[int, int]], rest: Words) -> Words:
    """The words in these parts of the file, and the rest."""
    words = np.empty(sum(end - start for start, end in spans) + len(rest), np.uint64)
    words[: len(rest)] = rest
    into, done = words.view(np.uint8).data, len(rest) * _SIZE
    for start, end in spans:
        file.seek(start * _SIZE)
        size = (end - start) * _SIZE
        if file.readinto(into[done : done + size]) != size:
            raise WrongUse(NO_ROOM)
        done += size
    return words


def _repeated(words: Words) -> Words:
    words.sort()
    return distinct(words[1:][words[1:] == words[:-1]])
