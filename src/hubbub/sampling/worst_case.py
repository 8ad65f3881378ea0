"""The worst-case loss of a noisy count of k of n rows, computed over all databases.

Rows are 0 or 1. The law of T = S + Z depends on a database through how many of the other n - 1 rows are ones and on the
person's own row, so that all databases are n laws for each row; beyond the counts 0..k a ratio of two such laws no
longer changes. What is found is therefore the supremum over every database and every outcome.

Everything is in logarithms: a count of 300 is, of a sample of nobody, far less likely than the smallest double.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.sampling.sampled_share import masses

LARGEST: Final = 400  # people
Floats = NDArray[np.float64]


def worst_loss(n: int, k: int, rate: float, *, coin: bool = False) -> float:
    """The largest |ln| of the ratio between the release and the simulator that has the person's row blanked.

    The blank is the other value of the row (any row will do, Theorem A1), or a fair coin (`coin`). Worked out in
    floating-point numbers, to some twelve digits.
    """
    laws = _noisy(np.stack([_law(n, have, k) for have in range(n + 1)]), rate)
    one, none = laws[1:], laws[:-1]
    if not coin:
        return float(np.abs(one - none).max())
    blank = np.logaddexp(one, none) - math.log(2)
    return float(max(np.abs(real - blank).max() for real in (one, none)))


def _noisy(laws: Floats, rate: float) -> Floats:
    """ln Pr[T = t] for t = 0..k and every row of ln Pr[S = s], but for a number that all have in common.

    What comes from counts up to t is what came from those up to t - 1, e^-rate times, and t itself; so from above.
    """
    up, down = laws.copy(), laws.copy()
    for t in range(1, laws.shape[1]):
        up[:, t] = np.logaddexp(laws[:, t], up[:, t - 1] - rate)
        down[:, -1 - t] = np.logaddexp(laws[:, -1 - t], down[:, -t] - rate)
    beyond = np.full((laws.shape[0], 1), -np.inf)
    found: Floats = np.logaddexp(up, np.hstack([down[:, 1:] - rate, beyond]))
    return found


def _law(n: int, have: int, k: int) -> Floats:
    low, law = masses(n, have, k)
    found = np.full(k + 1, -np.inf)
    found[low : low + law.size] = np.log(law)
    return found
