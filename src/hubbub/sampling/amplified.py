"""Privacy amplification in both directions: the delta at an epsilon, and the epsilon at a delta.

The answers come from :mod:`hubbub.sampling.sampled_crowd` and are rounded up. delta never rises with epsilon, so a
search finds the epsilon; floats guide it, and what it returns was checked in balls.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from hubbub.errors import WrongUse
from hubbub.guarantees.indistinguishability import capped
from hubbub.numeric.exact import INFINITY, Exact, Loss, ball, positive, precision, rational, rounded
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sampled_crowd import JOINING, Case, Delta, Worst, worst

DIGITS: Final = 9
"""Significant digits of an epsilon that was searched for. Its last digit may be a little too large, never too small."""

_CLOSE: Final = 1e-10  # how far, relatively, the search may stay from the solution
_FAR: Final = 1e9
_NOTHING: Final = 1e-40
_LOWEST: Final = -100.0  # nobody tells an epsilon of e^-100 from 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """All cases of a protected person (`cases`), and the theorem that bounds their loss."""

    theorem: str
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Amplified:
    """(epsilon, delta) after sampling, both rounded up, and where the worst lies.

    `worst_class_size` is the number of others in the person's class; `direction` says whether the event that shows the
    loss is too likely when the person joins the population or when the person leaves it.
    """

    epsilon: Loss
    delta: Fraction
    worst_class_size: int
    direction: str
    theorem: str


def delta_at(setting: Setting, epsilon: Exact) -> Amplified:
    """The delta that goes with `epsilon`.

    Guarantee: whatever the mechanism is, as long as the setting describes it, its release on the secret sample is
    (epsilon, delta)-close with and without the person (Theorem A).
    """
    loss = rational(epsilon, "epsilon")
    found = _worst(setting, loss)
    return Amplified(
        epsilon=loss,
        delta=capped(found.delta),
        worst_class_size=found.others,
        direction=found.direction,
        theorem=setting.theorem,
    )


def floor(setting: Setting) -> Fraction:
    """The delta that no epsilon goes below: p_t p^(K-1), or p^k with one rate for all.

    Guarantee: at most the delta of :func:`delta_at` at every epsilon, but for the rounding up.
    """
    return max(capped(case.floor) for case in setting.cases)


@lru_cache(maxsize=1024)
def epsilon_at(setting: Setting, delta: Exact) -> Amplified:
    """The smallest epsilon, to `DIGITS` digits, that goes with `delta`; infinite if `delta` is below the floor.

    Guarantee: if the epsilon is finite, :func:`delta_at` gives at most `delta` there.
    """
    target = positive(delta, "delta")
    if target >= 1:
        raise WrongUse("a delta of 1 or more promises nothing; choose one below 1, like 1e-9")
    if not all(_at_most(case.floor, target) for case in setting.cases):
        last = max(setting.cases, key=lambda case: capped(case.floor))
        return _answer(setting, INFINITY, target, Worst(last.floor, max(last.crowd - 1, 0), JOINING))
    epsilon = Fraction(0) if _reaches(setting, Fraction(0), target) else _search(setting, target)
    return _answer(setting, epsilon, target, _worst(setting, epsilon))


def _answer(setting: Setting, epsilon: Loss, delta: Fraction, found: Worst) -> Amplified:
    return Amplified(
        epsilon=epsilon,
        delta=delta,
        worst_class_size=found.others,
        direction=found.direction,
        theorem=setting.theorem,
    )


def _worst(setting: Setting, epsilon: Fraction) -> Worst:
    found = [worst(case, epsilon) for case in setting.cases]
    return max(found, key=lambda each: capped(each.delta))


def _at_most(delta: Delta, target: Fraction) -> bool:
    """Whether the upper end of a delta is proved to be at most the target."""
    return delta <= target if isinstance(delta, Fraction) else bool(delta <= ball(target))


def _reaches(setting: Setting, epsilon: Fraction, target: Fraction) -> bool:
    return all(_at_most(worst(case, epsilon).delta, target) for case in setting.cases)


def _search(setting: Setting, target: Fraction) -> Fraction:
    """Regula falsi on ln(delta/target) as a function of ln epsilon; then up to the next decimal that is proved."""

    def gap(x: float) -> float:
        with precision():
            ratios = [_ball(worst(case, _exact(x)).delta) / ball(target) for case in setting.cases]
            found = max(float(ratio.log().mid()) if ratio > 0 else -_FAR for ratio in ratios)
        return found if abs(found) > _NOTHING else 0.0

    low = high = math.log(max(float(case.own) for case in setting.cases))
    too_large = small_enough = gap(low)
    step = 1.0
    # Both ends are reached: delta is above the target at 0, and falls to the floor.
    while (too_large <= 0 or small_enough > 0) and low > _LOWEST:
        if too_large > 0:
            low, too_large = high, small_enough
            high += step
            small_enough = gap(high)
        else:
            high, small_enough = low, too_large
            low -= step
            too_large = gap(low)
        step *= 1.5
    side = 0
    while high - low > _CLOSE:
        flat = small_enough > -_CLOSE  # the target is the floor, or nearly
        middle = low + (0.5 if flat else too_large / (too_large - small_enough)) * (high - low)
        value = gap(middle)
        if not flat and abs(value) < _CLOSE:
            high = middle
            break
        if value > 0:
            low, too_large = middle, value
            small_enough /= 2 if side > 0 else 1  # the Illinois rule, for an end that stays where it is
        else:
            high, small_enough = middle, value
            too_large /= 2 if side < 0 else 1
        side = 1 if value > 0 else -1
    epsilon, grain = rounded(_exact(high), up=True, digits=DIGITS), Fraction(1, 10**DIGITS)
    while not _reaches(setting, epsilon, target):
        epsilon, grain = rounded(epsilon * (1 + grain), up=True, digits=DIGITS), 2 * grain
    return epsilon


def _exact(x: float) -> Fraction:
    """A short exact decimal near e^x."""
    return Fraction(f"{math.exp(x):.14e}")


def _ball(delta: Delta) -> arb:
    return ball(delta) if isinstance(delta, Fraction) else delta
