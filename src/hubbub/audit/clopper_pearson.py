"""Exact confidence bounds for a probability, from how often an event came up (Clopper, Pearson 1934), certified.

The lower bound is the p at which so many events or more would come up with probability alpha only. Tails are certified
balls, and each bound is rounded away from the estimate.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from flint import arb, ctx

from hubbub.errors import WrongUse
from hubbub.numeric.exact import ball

_GRID: Final = 1 << 40
_STEPS: Final = (1e-9, 1e-6, 1e-3, 0.1, 1.0)  # what may be given away of the bound to be certain of it
_BITS: Final = 64
_HALVINGS: Final = 60
_TERMS, _CLOSE, _TINY = 20_000, 1e-15, 1e-300  # of a continued fraction


def at_least(events: int, runs: int, alpha: Fraction) -> Fraction:
    """A bound below the probability of the event.

    Guarantee: for every true probability p, the bound is above p with probability at most alpha.
    """
    if not 0 <= events <= runs or not 0 < alpha < 1:
        raise WrongUse("events are between 0 and the number of runs, and alpha is between 0 and 1; check both")
    if events == 0:
        return Fraction(0)
    guess = _guess(events, runs, float(alpha))  # a float, and so not to be relied on
    for given_away in _STEPS:
        at = max(math.floor(guess * (1 - given_away) * _GRID) - 1, 0)
        if _is_below(at, events, runs, alpha):
            return Fraction(at, _GRID)
    return Fraction(0)


def at_most(events: int, runs: int, alpha: Fraction) -> Fraction:
    """A bound above the probability of the event, as :func:`at_least` for the event's opposite.

    Guarantee: for every true probability p, the bound is below p with probability at most alpha.
    """
    return 1 - at_least(runs - events, runs, alpha)


def most_events(chance: Fraction, runs: int, alpha: Fraction) -> int:
    """A bound above how often an event of such a chance comes up in so many runs.

    Guarantee: the event comes up more often with probability at most alpha.
    """
    events = math.floor(chance * runs)
    with ctx.workprec(_BITS):
        while events < runs and not ball(chance).beta_lower(events + 1, runs - events, 1) <= ball(alpha):
            events += 1
    return events


def _guess(events: int, runs: int, alpha: float) -> float:
    """About the p at which so many events or more have probability alpha, by halving."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _tail(middle, events, runs) < alpha else (low, middle)
    return low


def _tail(p: float, events: int, runs: int) -> float:
    """About the probability of so many events or more: the incomplete beta function, by its continued fraction, which
    is short on the side of p where the tail is the smaller one."""
    a, b = events, runs - events + 1
    if not 0 < p < 1:
        return p
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(p) + b * math.log1p(-p)
    if p * (a + b + 2) < a + 1:
        return math.exp(front) * _fraction(p, a, b) / a
    return 1 - math.exp(front) * _fraction(1 - p, b, a) / b


def _fraction(p: float, a: int, b: int) -> float:
    """The continued fraction of the incomplete beta function (Lentz's method of working one out from its head)."""
    upper, lower = 1.0, 1 / max(1 - (a + b) * p / (a + 1), _TINY)
    found = lower
    for m in range(1, _TERMS):
        even = m * (b - m) * p / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * p / ((a + 2 * m) * (a + 2 * m + 1))
        for part in (even, odd):
            lower, upper = 1 / _not_zero(1 + part * lower), _not_zero(1 + part / upper)
            found *= lower * upper
        if abs(lower * upper - 1) < _CLOSE:
            break
    return found


def _not_zero(number: float) -> float:
    return number if abs(number) > _TINY else _TINY


def _is_below(at: int, events: int, runs: int, alpha: Fraction) -> bool:
    """Whether at p = at / 2^40 so many events or more certainly have probability alpha at most."""
    if at == 0:
        return True
    with ctx.workprec(_BITS):
        tail = (arb(at) / _GRID).beta_lower(events, runs - events + 1, 1)
        return bool(tail <= ball(alpha))
