"""How far a published number lies from the truth: the mean absolute error, from the laws of the channel.

The number is the published value, divided by the sampling rate where there was a sample. **A hidden bin is read as 0**,
so that its error is its whole count. With m ~ Bin(c, p) people of a bin in the sample and X the noise of rate e,
q = e^-e,

    E|X - a| = |a| + 2 E(X - |a|)_+,     E(X - a)_+ = q^(n+1)/(1 + q) (n + 1 - a + q/(1 - q)),   n = floor(a) >= 0,

so a bin costs one sum over m. These are sums of positive terms in floating-point numbers, good to about ten digits
(five where more than a quarter of a million people of a bin are sampled: m is then taken in strides); they describe
usefulness and promise nothing to anybody.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.law import SUPPRESSED, Block
from hubbub.channels.protocol import Channel
from hubbub.numeric.exact import to_float
from hubbub.plan.shape import Shape
from hubbub.protocol.spec import Spec
from hubbub.runtime.frozen import dataclass

Floats = NDArray[np.float64]

_DEVIATIONS: Final = 12  # how far from the mean a binomial law is summed
_FINE: Final = 250  # points for each standard deviation, where a law is so wide that not all are looked at
_NEGLIGIBLE: Final = 45.0  # masses of e^-45 of the largest are left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a design does to data of a shape: mean absolute error per bin, and what is hidden, on average."""

    error: float
    hidden_people: float  # a share of all people
    hidden_bins: float  # a number of bins


def error_over_shape(channel: Channel, rate: float | None, shape: Shape) -> Expected:
    """Over all bins of the shape, each by its own law."""
    error = people = bins = 0.0
    for count, many in shape.groups:
        off, hidden = one_bin(channel, rate, count)
        error += many * off
        people += many * hidden * count
        bins += many * hidden
    return Expected(error=error / shape.bins, hidden_people=people / max(shape.people, 1), hidden_bins=bins)


def one_bin(channel: Channel, rate: float | None, count: int) -> tuple[float, float]:
    """(mean absolute error of the published number, probability that the bin is hidden) for one count."""
    p = 1.0 if rate is None else rate
    people, weights = binomial(count, p)
    given, hidden = _error_given_people(channel, people, p * count)
    return float(weights @ ((1 - hidden) * given + hidden * p * count)) / p, float(weights @ hidden)


def binomial(count: int, p: float) -> tuple[Floats, Floats]:
    """(m, Pr[Bin(count, p) = m]) around the mean; what is left out is negligible."""
    if p == 1.0 or count == 0:
        return np.array([float(count)]), np.ones(1)
    spread = math.sqrt(count * p * (1 - p))
    reach = _DEVIATIONS * spread + 2 * _DEVIATIONS
    low, high = max(int(count * p - reach), 0), min(int(count * p + reach) + 1, count)
    stride = max(int(spread / _FINE), 1)
    m = np.arange(low, high + 1, stride, dtype=np.float64)
    between = m[:-1] + (stride - 1) / 2
    steps = stride * (np.log((count - between) / (between + 1)) + math.log(p / (1 - p)))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(logs - logs.max())
    return m, weights / weights.sum()


def _error_given_people(channel: Channel, people: Floats, truth: float) -> tuple[Floats, Floats]:
    """For each number of people that the channel sees: (mean |value - truth| where shown, chance to be hidden)."""
    nothing = np.zeros_like(people)
    if channel.exact_from is not None:
        return np.abs(people - truth), (people < channel.exact_from).astype(np.float64)
    if channel.noisy_below is not None:
        k, epsilon = channel.noisy_below
        noisy = noisy_error(people - truth, float(epsilon))
        return np.where(people < k, noisy, np.abs(people - truth)), nothing
    if channel.plain_noise is not None:
        return noisy_error(people - truth, float(channel.plain_noise)), nothing
    if channel.noise_cut_at_zero is not None:
        # What lies below 0 comes nearer by as much.
        rate = float(channel.noise_cut_at_zero)
        q = math.exp(-rate)
        return noisy_error(people - truth, rate) - q ** (people + 1) / (1 - q * q), nothing
    parts = [_by_law(channel, int(m), truth) for m in people.tolist()]
    return np.array([part[0] for part in parts]), np.array([part[1] for part in parts])


def noisy_error(distance: Floats, rate: float) -> Floats:
    """E|X + d| for each d, X two-sided geometric."""
    a = np.abs(distance)
    n = np.floor(a)
    q = math.exp(-rate)
    beyond = q ** (n + 1) / (1 + q) * (n + 1 - a + q / (1 - q))
    found: Floats = a + 2 * beyond
    return found


def _by_law(channel: Channel, count: int, truth: float) -> tuple[float, float]:
    """The same for one number of people, from the law itself: exponentials block by block, and tables."""
    law = channel.law(count)
    hidden = visible = 0.0
    for block in law.blocks:
        if block.shape is not None and block.lo != block.hi:
            continue  # a lump of values that hardly ever occur
        values, masses = _values(block)
        if block.tag.startswith(SUPPRESSED):
            hidden += float(masses.sum())
        else:
            visible += float(masses @ np.abs(values - truth))
    for table in law.dense:
        values = np.arange(table.lo, table.lo + len(table.masses), dtype=np.float64)
        masses = np.array([float(mass.mid()) for mass in table.masses])
        if table.tag.startswith(SUPPRESSED):
            hidden += float(masses.sum())
        else:
            visible += float(masses @ np.abs(values - truth))
    return (visible / (1 - hidden) if hidden < 1 else 0.0), hidden


def _values(block: Block) -> tuple[Floats, Floats]:
    """The values of a block with their masses, from its higher end until they are negligible."""
    rises = block.slope > 0
    start, end = (block.hi, block.lo) if rises else (block.lo, block.hi)
    assert start is not None
    fall = abs(float(block.slope))
    length = math.ceil(_NEGLIGIBLE / fall) if fall else math.inf
    if end is not None:
        length = min(length, abs(end - start) + 1)
    away = np.arange(int(length), dtype=np.float64)
    top = float(block.weight.value.mid()) * math.exp(block.intercept + block.slope * start)
    return start + (-away if rises else away), top * np.exp(-fall * away)


EXAMPLE_PEOPLE: Final = 1000
"""Of the bin whose error is stated before anything is published."""


def expected_error(spec: Spec) -> float | None:
    """The mean absolute error of one number of so many people, where counts go through a channel."""
    channel, rate = getattr(spec, "channel", None), getattr(spec, "sample", None)
    if channel is None or not getattr(spec, "axes", None) or getattr(spec, "weighted_by", None) is not None:
        return None
    return one_bin(channel, None if rate is None else to_float(rate, round_up=False), EXAMPLE_PEOPLE)[0]
