"""The law of a sampled count given that its bin is shown, where noise decides what is shown.

Of a bin with c people, m are sampled with probability b_m = Pr[Bin(c, p) = m], and shown with probability s(m); given
that the bin is shown, m has the weight b_m s(m). Only ratios matter, so the weights are summed from ratios
b_(m+1)/b_m in floating-point numbers: N logarithms of size L add up to an error of at most about N L 2^-52, below 1e-7
for the widest table here, and a tail counts as rare only if it is so by a millionth. Doubt widens the interval.
Where hardly anything is hidden any more, the binomial law itself is used, as certified balls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.channels.protocol import Channel
from hubbub.channels.visibility import chance_visible, steady_from
from hubbub.errors import WrongUse
from hubbub.numeric.binomial import at_least, at_most
from hubbub.numeric.exact import ball

_SLACK: Final = Fraction(1, 10**6)
_WIDEST: Final = 1_000_000
_DEVIATIONS: Final = 12


@dataclass(frozen=True, slots=True, eq=False)
class VisibleSample:
    """`logs[m]` is ln s(m), up to the count from which s stays the same."""

    p: Fraction
    logs: NDArray[np.float64]

    def rarer(self, c: int, m: int, tail: Fraction, *, up: bool) -> bool:
        """Whether m or more (or m or fewer) sampled of c is surely no more probable than `tail`, given it is shown."""
        mean, steady = c * float(self.p), self.logs.size - 1
        reach = _DEVIATIONS * math.sqrt(mean * (1 - float(self.p))) + 2 * _DEVIATIONS
        less = ball(tail * (1 - _SLACK))
        if mean - reach > steady:
            return bool((at_least if up else at_most)(c, self.p, m) <= less)
        weights = self._weights(c, min(c, max(steady, int(mean + reach))))
        total = float(weights.sum())
        part = float((weights[m:] if up else weights[: m + 1]).sum())
        return total == 0 or part <= float(tail * (1 - _SLACK)) * total

    def _weights(self, c: int, last: int) -> NDArray[np.float64]:
        """b_m s(m) for m = 0..last, times a number."""
        m = np.arange(last, dtype=np.float64)
        odds = math.log(self.p / (1 - self.p))
        logs = np.concatenate([[0.0], np.cumsum(np.log((c - m) / (m + 1)) + odds)])
        known = min(last + 1, self.logs.size)
        logs[:known] += self.logs[:known]
        logs[known:] += self.logs[-1]
        top = logs.max()
        return np.exp(logs - top) if math.isfinite(top) else np.zeros_like(logs)


@lru_cache(maxsize=64)
def visible_sample(channel: Channel, p: Fraction, found: bool) -> VisibleSample:
    """The chances that a sampled count is shown; with `found`, nobody in the sample is never shown."""
    steady = steady_from(channel)
    if steady is None or steady > _WIDEST:
        raise WrongUse(
            "the noise of this channel spreads over too many counts for intervals that are right given that a bin is "
            "shown; leave out `scale_up`, or use a larger epsilon"
        )
    chances = [arb(0) if found and not m else chance_visible(channel, m) for m in range(max(steady, 1) + 1)]
    logs = [float(chance.log().mid()) if chance > 0 else -math.inf for chance in chances]
    return VisibleSample(p, np.array(logs, dtype=np.float64))
