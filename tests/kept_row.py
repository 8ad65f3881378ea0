"""Which of a person's rows is kept, worked out by hand: by the first digits of a SHA-256, in Spark by words of it."""

from __future__ import annotations

import hashlib
from typing import Final

_WORD: Final = 2**64 - 1
_P1, _P2, _P3, _P4, _P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
_SEED: Final = 42  # Spark's


def kept_place(key: str, who: str, n: int, *, spark: bool) -> int:
    """The place of the kept row among n."""
    digits = hashlib.sha256((key + who).encode()).hexdigest()
    if not spark:
        return int(digits[:30], 16) % n
    high, low = (mixed(bytes.fromhex(digits[16 * i : 16 * i + 16])) % 2**60 for i in range(2))
    return (high * 2**60 + low) % n


def mixed(eight: bytes) -> int:
    """xxhash64 of eight bytes, as the algorithm is written down."""
    taken = _turned(int.from_bytes(eight, "little") * _P2 & _WORD, 31) * _P1 & _WORD
    x = (_turned((_SEED + _P5 + 8) & _WORD ^ taken, 27) * _P1 + _P4) & _WORD
    x = (x ^ x >> 33) * _P2 & _WORD
    x = (x ^ x >> 29) * _P3 & _WORD
    return x ^ x >> 32


def unmixed(word: int) -> bytes:
    """The eight bytes that have this hash: every step undone, the last first."""
    x = _unshifted(word, 32) * pow(_P3, -1, 2**64) & _WORD
    x = _unshifted(x, 29) * pow(_P2, -1, 2**64) & _WORD
    x = (_unshifted(x, 33) - _P4) * pow(_P1, -1, 2**64) & _WORD
    taken = _turned(x, 64 - 27) ^ (_SEED + _P5 + 8) & _WORD
    taken = _turned(taken * pow(_P1, -1, 2**64) & _WORD, 64 - 31) * pow(_P2, -1, 2**64) & _WORD
    return taken.to_bytes(8, "little")


def _turned(x: int, by: int) -> int:
    return (x << by | x >> (64 - by)) & _WORD


def _unshifted(x: int, by: int) -> int:
    found = x
    while (more := x ^ found >> by) != found:
        found = more
    return found
