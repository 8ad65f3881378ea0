"""The only source of entropy: no other file of Hubbub touches the operating system's randomness.

::

    SystemSource      operating-system entropy; the only one a release accepts
    RecordingSource   passes another source through and keeps what it gave
    ReplaySource      plays a recording back                 (audit)
    ScriptedSource    plays words somebody chose             (tests alone)
    PublicDice        words that anybody can work out from a public sentence (draws of a vote; never noise)
    BlockKeys         a fresh secret that gives each block of bins a stream of its own, on whatever machine

Noise that somebody else can predict is no noise: two releases with the same noise differ by the
difference of their exact counts. Hence there is no seed, a forked child and its parent never share a
keystream, neither do two threads, and no word is handed out twice.

Why AES-256 in counter mode and not ChaCha20: with the AES instructions that servers and laptops have, it takes
constant time and makes 780 million words per second against 365 million. (On a machine without them ChaCha20 would
be the better choice.) Counter mode differs from true randomness in that no two blocks under one key are alike; the
2**22 blocks taken from a key show that with probability below 2**-85.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import threading
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Final, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from hubbub.errors import CheckFailed, WrongUse
from hubbub.runtime.frozen import dataclass

Words = NDArray[np.uint64]

REKEY_BYTES: Final = 1 << 26
"""After this many bytes (64 MiB) a key is forgotten: who sees the memory then learns nothing drawn before."""

BUFFER_WORDS: Final = 1 << 13
"""64 KiB made at once, so that a request for one word does not pay for a call into the cipher."""

_ZEROS: Final = bytes(1 << 18)  # what the cipher encrypts; its output is then the keystream itself

_NOTHING: Final = np.empty(0, dtype=np.uint64)


class Source(Protocol):
    """Anything that gives uniform, independent 64-bit words."""

    def words(self, n: int) -> Words:
        """`n` fresh words in an array that belongs to the caller.

        Guarantee: each word is uniform on 0..2**64-1, independent of all others ever given (for the
        keystream of a secret key: as far as anybody can tell), and given once.
        """
        ...  # pragma: no cover


class _Keystream:
    """AES-256-CTR under one key, from its first byte on."""

    __slots__ = ("_encryptor", "made")

    def __init__(self, key: bytes) -> None:
        # The counter starts at 0: no key is ever used for a second stream.
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        self.made = 0  # bytes

    def fill(self, out: Words) -> None:
        """Overwrite `out` with the next words."""
        raw = out.data.cast("B")
        zeros = memoryview(_ZEROS)
        for start in range(0, len(raw), len(_ZEROS)):
            piece = raw[start : start + len(_ZEROS)]
            self._encryptor.update_into(zeros[: len(piece)], piece)
        self.made += len(raw)


_forks = 0  # how many forks lie between the first process and this one


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_count_fork)


def _process() -> tuple[int, int]:
    """Differs between a process and every child of it.

    The count tells apart a process and a later one that got the same number; the number sees forks made
    by C code, which Python is not told of.
    """
    return os.getpid(), _forks


class _PerThread(threading.local):
    """The keystream and buffer of one thread of one process. (A new thread starts with these defaults.)"""

    process: tuple[int, int] | None = None
    stream: _Keystream | None = None
    buffer: Words = _NOTHING  # words made and not yet given


class SystemSource:
    """Entropy of the operating system, stretched by a stream cipher. It takes no seed.

    Guarantee: if AES-256 is a pseudo-random permutation and the operating system's entropy is good, nobody
    can tell the words from uniform independent ones. Each thread and each process has a key of its
    own, fresh from the operating system, and replaces it every `REKEY_BYTES`; a word leaves memory here
    when it is given. What this cannot see is a virtual machine frozen and resumed twice: both copies go
    on with the same key until it is replaced.
    """

    __slots__ = ("_begin", "_here", "_once", "chosen", "used")

    def __init__(self) -> None:
        self._here = _PerThread()
        self._begin: Callable[[], None] | None = None
        self._once = threading.Lock()
        self.used = False  # whether a word has been given
        self.chosen = False  # whether rows were chosen in secret (see `choosing`)

    def __reduce__(self) -> tuple[type[SystemSource], tuple[()]]:
        self.begin()
        return SystemSource, ()  # a copy, here or in another process, starts with a key of its own

    def before_first(self, begin: Callable[[], None]) -> None:
        """Have something done before the first word, choice of rows or copy."""
        self._begin = begin

    def begin(self) -> None:
        """Do what is to be done before anything is drawn; once, and nobody draws before it is done."""
        if self._begin is not None:
            with self._once:
                if self._begin is not None:
                    self._begin()
                    self._begin = None

    def words(self, n: int) -> Words:
        _check_size(n)
        self.begin()
        self.used = True
        here = self._here
        if here.process != _process():
            here.stream, here.buffer, here.process = None, _NOTHING, _process()
        if n > BUFFER_WORDS // 8:
            return self._make(n)
        # The buffer is taken away while it is in use: a signal handler that draws meanwhile makes one of its own.
        buffer, here.buffer = here.buffer, _NOTHING
        if buffer.size < n:
            buffer = self._make(BUFFER_WORDS)  # what is left of the old one is thrown away
        out = buffer[:n].copy()
        buffer[:n] = 0
        here.buffer = buffer[n:]
        return out

    def _make(self, n: int) -> Words:
        """Words straight from the keystream, with a new key when the old one has done its share."""
        out = np.empty(n, dtype=np.uint64)
        here, per_key = self._here, REKEY_BYTES // 8
        for start in range(0, n, per_key):
            piece = out[start : start + per_key]
            if here.stream is None or here.stream.made + piece.nbytes > REKEY_BYTES:
                here.stream = _Keystream(os.urandom(32))
            here.stream.fill(piece)
        return out


class ScriptedSource:
    """FOR TESTS ALONE: the words are known beforehand, so whatever is drawn with them hides nobody.

    It plays `words` and then raises, or, with ``then="some label"``, goes on with a pseudo-random script
    that is the same for the same label.
    """

    __slots__ = ("_endless", "_played", "_script")

    def __init__(self, words: Iterable[int] = (), *, then: str | None = None) -> None:
        self._script = np.array(list(words), dtype=np.uint64)
        self._played = 0
        self._endless = None if then is None else _Keystream(hashlib.sha256(then.encode()).digest())

    @classmethod
    def from_label(cls, label: str) -> ScriptedSource:
        """An endless script made from a label, so that a statistical test does the same thing each time."""
        return cls(then=label)

    @property
    def words_left(self) -> int:
        """How many chosen words have not been played."""
        return len(self._script) - self._played

    def words(self, n: int) -> Words:
        _check_size(n)
        if n > self.words_left and self._endless is None:
            raise WrongUse(
                f"the script of this ScriptedSource is over: {n} words were asked for and {self.words_left} of "
                f"{len(self._script)} are left; give it more words, or then=a label to go on with"
            )
        out = np.empty(n, dtype=np.uint64)
        chosen = min(n, self.words_left)
        out[:chosen] = self._script[self._played : self._played + chosen]
        self._played += chosen
        if chosen < n and self._endless is not None:
            self._endless.fill(out[chosen:])
        return out


class PublicDice:
    """FOR DRAWS THAT ALL MAY REPEAT, NEVER FOR NOISE: anybody can work the words out, so they hide nobody.

    Word number k (from 0) is the first 8 bytes, the highest first, of the SHA-256 of the bytes::

        hubbub public dice 1 <newline> sentence <newline> k in decimal digits

    in UTF-8, where the sentence is in Unicode normal form C, its runs of white space made one space and those at its
    ends taken off. The same sentence gives the same words on every machine, for ever.

    Guarantee: whoever cannot foretell the sentence cannot foretell the words, as far as SHA-256 is like a random
    function. `is_secure` is False: no release draws from this.
    """

    __slots__ = ("_given", "sentence")

    def __init__(self, sentence: str) -> None:
        self.sentence = " ".join(unicodedata.normalize("NFC", sentence).split())
        if not self.sentence:
            raise WrongUse("public dice need words that were said aloud before the count, and these are empty")
        self._given = 0

    def words(self, n: int) -> Words:
        _check_size(n)
        start = f"hubbub public dice 1\n{self.sentence}\n"
        numbers = range(self._given, self._given + n)
        self._given += n
        digests = (hashlib.sha256(f"{start}{k}".encode()).digest() for k in numbers)
        return np.array([int.from_bytes(digest[:8], "big") for digest in digests], dtype=np.uint64)


class BlockKeys:
    """A secret of 256 bits, drawn here, from which every block of bins gets a stream of words of its own.

    Where bins are published by many machines, a task may run twice. What it draws is a function of this secret and of
    the number of its block, so both runs draw the same, and no second noisy answer exists that could be held against
    the first. There is no way to hand in a secret of one's own; it travels to other machines as part of a task
    (pickled), and :meth:`forget` overwrites it here. Copies that were sent are out of reach: what holds a task in
    memory holds them until it is gone.

    Guarantee: the words of :meth:`stream` are AES-256 in counter mode under keys that HMAC-SHA256 derives from the
    secret, the block and a running number, so that no two blocks share a key. If HMAC-SHA256 is a pseudo-random
    function and AES-256 a pseudo-random permutation, nobody without the secret can tell the words of all blocks from
    uniform independent ones, as long as each block is published once: whoever draws for a block a second time, for
    other counts, must throw one of the two answers away. `secure` says whether the secret came from a source that a
    release may draw from.
    """

    __slots__ = ("_secret", "secure")

    def __init__(self, source: Source) -> None:
        self._secret = bytearray(source.words(4).tobytes())
        self.secure = is_secure(source)

    def __reduce__(self) -> tuple[object, ...]:
        return _keys_from_parent, (bytes(self._secret), self.secure)

    def __repr__(self) -> str:
        return "<the secret of a release>"

    def stream(self, *block: int) -> BlockSource:
        """The words of a block, from the first on."""
        if not any(self._secret):
            raise WrongUse("the secret of this release is spent and forgotten; make another release")
        name = b"".join(number.to_bytes(8, "big") for number in (len(block), *block))
        return BlockSource(hmac.digest(bytes(self._secret), b"hubbub block 1" + name, "sha256"))

    def forget(self) -> None:
        """Overwrite the secret. Nothing more can be drawn."""
        self._secret[:] = bytes(len(self._secret))


def _keys_from_parent(secret: bytes, secure: bool) -> BlockKeys:
    """A secret that was drawn by another process of the same release."""
    keys = object.__new__(BlockKeys)
    keys._secret, keys.secure = bytearray(secret), secure
    return keys


class BlockSource:
    """The words of one block of one release (:class:`BlockKeys`). The same words can be made again, which is what it is
    for: so `is_secure` is False, and no release begins with one."""

    __slots__ = ("_block", "_keys", "_stream")

    def __init__(self, block: bytes) -> None:
        self._block, self._keys = block, 0
        self._stream: _Keystream | None = None

    def __reduce__(self) -> str:
        raise WrongUse("the words of a block stay where they are drawn")

    def words(self, n: int) -> Words:
        _check_size(n)
        out = np.empty(n, dtype=np.uint64)
        done = 0
        while done < n:
            if self._stream is None or self._stream.made == REKEY_BYTES:
                key = hmac.digest(self._block, b"hubbub stream 1" + self._keys.to_bytes(8, "big"), "sha256")
                self._stream, self._keys = _Keystream(key), self._keys + 1
            piece = out[done : done + (REKEY_BYTES - self._stream.made) // 8]
            self._stream.fill(piece)
            done += piece.size
        return out


@dataclass(frozen=True, slots=True)
class Record:
    """What a source was asked for and gave, request by request. As secret as the data: it undoes the noise."""

    requests: tuple[bytes, ...] = field(repr=False)  # the words of one request, 8 bytes each, as they lie in memory

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of words of each request."""
        return tuple(len(given) // 8 for given in self.requests)


class RecordingSource:
    """Passes `inner` through and keeps every request, for an audit that runs the same noise on other data."""

    __slots__ = ("_given", "inner")

    def __init__(self, inner: Source) -> None:
        self.inner = inner
        self._given: list[bytes] = []

    def words(self, n: int) -> Words:
        given = self.inner.words(n)
        self._given.append(given.tobytes())
        return given

    @property
    def record(self) -> Record:
        return Record(tuple(self._given))


class ReplaySource:
    """Plays a recording back, and raises `CheckFailed` as soon as a run asks for anything else than the recorded one.

    Not for releases: the same noise on two tables tells their difference.
    """

    __slots__ = ("_next", "_record")

    def __init__(self, record: Record) -> None:
        self._record = record
        self._next = 0

    @property
    def is_used_up(self) -> bool:
        """Whether every recorded request has been asked for."""
        return self._next == len(self._record.requests)

    def words(self, n: int) -> Words:
        if self.is_used_up:
            raise CheckFailed(
                f"request {self._next + 1} for {n} words is beyond the recording, which holds {self._next}: "
                "this run draws more noise than the recorded one did"
            )
        given = np.frombuffer(self._record.requests[self._next], dtype=np.uint64)
        if len(given) != n:
            raise CheckFailed(
                f"request {self._next + 1} is for {n} words and the recording has {len(given)} there: "
                "this run does not draw the noise that the recorded one did"
            )
        self._next += 1
        return given.copy()


def choosing(source: Source) -> Source:
    """A source for the secret choice of the rows that count, which comes before any noise.

    Guarantee: its words are as fresh as those of `source`, and independent of them. What was chosen shows nothing
    until noise is added to it, or it is published as it is: so `used` stays as it was, and `chosen` says that this was
    done. (A recording has to hold the choice too: of another source it is that source itself.)
    """
    if type(source) is not SystemSource:
        return source
    source.begin()
    source.chosen = True
    return SystemSource()


def is_secure(source: Source) -> bool:
    """Whether a release may draw from `source`: a `SystemSource`, or a recording of one.

    Guarantee: False for everything else, subclasses and unknown types included; a release path refuses those.
    """
    while type(source) is RecordingSource:
        source = source.inner
    return type(source) is SystemSource


def _check_size(n: int) -> None:
    if n < 0:
        raise WrongUse(f"the number of random words must be at least 0, not {n}")
