"""Exact uniform whole numbers, and a random choice of k of n."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.noise.source import Source

_SPARE = 64  # draws beyond the expected number, so that a second round is rare


def below(bound: int, size: int, source: Source) -> NDArray[np.int64]:
    """`size` independent whole numbers from 0 to bound - 1.

    Guarantee: exactly uniform, if the words of the source are: the top bits of each word are taken, and words whose
    number is not below the bound are thrown away. For a bound of 1 no word is drawn.
    """
    if not 1 <= bound <= 2**63:
        raise WrongUse(f"a uniform draw needs a bound between 1 and 2^63, not {bound}")
    out = np.zeros(size, dtype=np.int64)
    bits = (bound - 1).bit_length()
    filled = 0 if bits else size
    while filled < size:
        wanted = ((size - filled) << bits) // bound + _SPARE
        drawn = source.words(wanted) >> np.uint64(64 - bits)
        kept = drawn[drawn < np.uint64(bound)][: size - filled]
        out[filled : filled + kept.size] = kept.astype(np.int64)
        filled += kept.size
    return out


def distinct(k: int, n: int, source: Source) -> NDArray[np.int64]:
    """k different numbers of 0..n-1, in rising order.

    Guarantee: every set of k is equally likely, if the words of the source are uniform and independent. Uniform draws
    are kept until k different ones have come: by symmetry no set is preferred. Above n/2 those left out are drawn.
    """
    if not 0 <= k <= n:
        raise WrongUse(f"of {n} numbers between 0 and {n} can be chosen, not {k}")
    if 2 * k > n:
        stays = np.ones(n, dtype=np.bool_)
        stays[distinct(n - k, n, source)] = False
        return np.flatnonzero(stays)
    chosen = np.empty(0, dtype=np.int64)
    while chosen.size < k:
        drawn = np.concatenate([chosen, below(n, k - chosen.size, source)])
        chosen = np.sort(drawn)
        chosen = chosen[np.concatenate([[True], chosen[1:] != chosen[:-1]])] if chosen.size else chosen
    return chosen
