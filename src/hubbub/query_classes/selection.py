"""The exponential mechanism, exactly: one of many, the likelier the better its score, in whole numbers alone.

Propose any of them, all alike, and accept one that is `gap` worse than the best with probability e^(-rate gap): a
geometric number G of that rate has P(G >= gap) = e^(-rate gap), so it is accepted when G >= gap. What is accepted first
has exactly the law P ~ e^(-rate gap). At most as many proposals as there are choices are needed on average, since the
best is always accepted; how many words are drawn depends on the scores, and so does the time it takes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.sampler import geometric
from hubbub.noise.source import Source
from hubbub.noise.uniform import below

_AT_ONCE: Final = 1 << 15


def exponential(losses: NDArray[np.int64], rate: Fraction, source: Source) -> int:
    """The place of one of the losses, P(i) proportional to exp(-rate losses[i]).

    Guarantee: exactly this law, if the words of the source are uniform and independent. If one person changes every
    loss by at most s, choosing is (2 s rate)-differentially private (McSherry and Talwar 2007).
    """
    return int(several(losses, rate, 1, source)[0])


def several(losses: NDArray[np.int64], rate: Fraction, size: int, source: Source) -> NDArray[np.int64]:
    """As many places, drawn independently of one another: those accepted first.

    Guarantee: that of :func:`exponential` for each of them; what they lose adds up.
    """
    gaps = losses - losses.min()
    found: list[NDArray[np.int64]] = []
    missing = size
    while missing > 0:
        proposed = below(gaps.size, min(_AT_ONCE, 4 * max(gaps.size, missing)), source)
        accepted = proposed[geometric(rate, proposed.size, source) >= gaps[proposed]][:missing]
        found.append(accepted.astype(np.int64))
        missing -= accepted.size
    return np.concatenate(found)
