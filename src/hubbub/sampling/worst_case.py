"""The worst case over all databases of a noisy count of k of n rows, worked out and not quoted.

Rows are 0 or 1. The law of T = S + Z depends on a database through how many of the other n - 1 rows are ones and on the
person's own row, so that all databases are n laws for each row; beyond the counts 0..k a ratio of two such laws no
longer changes. What is found is therefore the supremum over every database and every outcome.
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
    outcomes = np.arange(k + 1)
    noise = np.exp(-rate * np.abs(outcomes[:, None] - outcomes[None, :])) * math.tanh(rate / 2)
    worst = 0.0
    for others in range(n):
        one, none = (noise @ _law(n, others + own, k) for own in (1, 0))
        blanks = ((one + none) / 2,) if coin else (one, none)
        for real in (one, none):
            worst = max(worst, *(float(np.abs(np.log(real / blank)).max()) for blank in blanks))
    return worst


def _law(n: int, have: int, k: int) -> Floats:
    low, law = masses(n, have, k)
    found = np.zeros(k + 1)
    found[low : low + law.size] = law
    return found
