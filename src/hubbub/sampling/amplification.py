"""Privacy amplification by sampling: a promise to crowds becomes one to everybody, if nobody knows who was sampled.

A setting says what is known about the mechanism and about the sample; :func:`delta_at` and :func:`epsilon_at` say what
follows, certified and rounded up, and :func:`floor` the delta that no epsilon goes below (rate^k: a class of k - 1
others may be sampled as a whole). The theorem and its numbers are in :mod:`hubbub.sampling.sampled_crowd`;
the papers' own numbers, for comparison, in :mod:`hubbub.sampling.paper`.

=========================  ======================================================  ===============================
setting                    the mechanism                                           the sample
=========================  ======================================================  ===============================
``crowd_blending``         any crowd-blending one; nothing better holds for all    each person at one rate
``exact_or_suppressed``    counts below k hidden                                   each person at one rate
``noisy_below``            counts below k noisy                                    each person at one rate
``robust``                 any crowd-blending one                                  uneven rates, some people exempt
``distributional``         simple outlier private                                  uneven, the person surely in it
``distributional_crowd``   crowd-blending                                          uneven, the person surely in it
=========================  ======================================================  ===============================

Everything is for one release of one sample, with people drawn independently: a coarse and a fine table of counts of
the same sample have delta = p Pr[Bin(n, p) >= k] at every epsilon.

Privacy amplification in both directions: the delta at an epsilon, and the epsilon at a delta.

The answers come from :mod:`hubbub.sampling.sampled_crowd` and are rounded up. delta never rises with epsilon, so a
search finds the epsilon; floats guide it, and what it returns was checked in balls.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from hubbub.errors import WrongUse
from hubbub.guarantees.indistinguishability import cap_probability
from hubbub.numeric.exact import (
    INFINITY,
    Exact,
    Loss,
    ball,
    finite_loss,
    integer,
    positive,
    precision,
    rational,
    rounded,
    to_text,
)
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sampled_crowd import JOINING, Case, Delta, Worst, worst

THEOREM_A: Final = "Theorem A (crowd-blending and a secret sample)"
BINS: Final = "Theorem A (bins, which blend exactly, and a secret sample)"
SUPPRESSION: Final = "Theorem A (counts below k hidden, and a secret sample; the exact curve)"
ROBUST: Final = "Theorem 16, sharp (crowd-blending and a sample of uneven rates)"
DISTRIBUTIONAL: Final = "Theorem 22, sharp (outlier privacy and a distribution over data sets)"

_EXACT: Final = Fraction(0)
_MOST_EXEMPT: Final = 40


def crowd_blending(k: Exact, epsilon: Exact, rate: Exact) -> Setting:
    """Any (k, epsilon)-crowd-blending mechanism on a sample that takes each person with probability `rate`.

    Guarantee: what follows from this setting holds for every such mechanism, and at every epsilon one of them reaches
    it (Theorem A).
    """
    p, close = _rate(rate), finite_loss(epsilon)
    return Setting(theorem=THEOREM_A, cases=(_case(p, p, _crowd(k), close, close),))


def exact_or_suppressed(k: Exact, rate: Exact) -> Setting:
    """Exact counts of at least k, the others hidden, on a sample that takes each person with probability `rate`.

    Guarantee: what follows from this setting is the exact curve of that table of counts (Theorem A, section 2), and so
    of any (k, 0)-crowd-blending mechanism, which can be no worse.
    """
    p = _rate(rate)
    return Setting(theorem=SUPPRESSION, cases=(_case(p, p, _crowd(k), _EXACT, _EXACT),))


def noisy_below(k: Exact, epsilon: Exact, rate: Exact) -> Setting:
    """Exact counts of at least k, noise of rate epsilon below, on a sample that takes each person at `rate`.

    Guarantee: what follows from this setting holds for every channel whose counts below k lose at most epsilon when one
    person leaves. At epsilons of at least max(ln(rate e^epsilon + 1 - rate), ln 1/(1 - rate)) it is the curve of
    suppression, and the exact one where noisy counts are marked as such; below that, and unmarked, an upper bound.
    """
    p = _rate(rate)
    return Setting(theorem=BINS, cases=(_case(p, p, _crowd(k), finite_loss(epsilon), _EXACT),))


def robust(
    k: Exact, epsilon: Exact, rate_high: Exact, rate_max: Exact | None = None, exempt: Exact = 0, *, bins: bool = False
) -> Setting:
    """Any (k, epsilon)-crowd-blending mechanism on a sample with rates of at most `rate_high`, but for `exempt` people.

    Guarantee: what follows from this setting holds however the rates below `rate_high` are spread, and whoever the
    exempt are, sampled with at most `rate_max` (Theorem 16 without its factor and without its lower limit: by convexity
    the worst rates are 0 and `rate_high`). With `bins`, the mechanism is a table of counts, whose people blend exactly. Up
    to 40 exempt people are counted as often as they are sampled, and more as if they always were.
    """
    p, crowd, close = _rate(rate_high), _crowd(k), finite_loss(epsilon)
    few = integer(exempt, "the number of exempt people")
    most = p if rate_max is None else _rate(rate_max)
    if most < p:
        raise WrongUse(f"the highest rate must be at least rate-high, not {to_text(most)} and {to_text(p)}; swap them")
    if few == 0 and most != p:
        raise WrongUse("a highest rate is for exempt people, and nobody is exempt; leave it out, or say how many are")
    blending = _EXACT if bins else close
    cases = [_with_exempt(_case(p, p, crowd - few, close, blending), few, most)]
    if few:  # an exempt person has one exempt other fewer
        cases.append(_with_exempt(_case(p, most, crowd - few + 1, close, blending), few - 1, most))
    return Setting(theorem=ROBUST, cases=tuple(cases))


def _with_exempt(case: Case, exempt: int, rate: Fraction) -> Case:
    if not 0 < exempt <= _MOST_EXEMPT or rate == 1:
        return case
    return replace(case, exempt=exempt, exempt_rate=rate)


def distributional(k: Exact, epsilon: Exact, rate_high: Exact, exempt: Exact = 0, blend: Exact = 0) -> Setting:
    """A (k, epsilon)-simple outlier private mechanism, on a sample with the person in it.

    Guarantee: what follows from this setting is differential privacy with respect to the distributions of such samples:
    a k-outlier loses epsilon/k, people equivalent to t are `blend`-close (0 by the definition), and rates are at most
    `rate_high` but for `exempt` people (Theorem 22 without its factor; exact for epsilon = blend = 0).
    """
    crowd = integer(k, "k", least=1)
    removal = finite_loss(epsilon) / crowd
    case = _case(
        _rate(rate_high), Fraction(1), crowd + 1 - integer(exempt, "exempt"), removal, finite_loss(blend, "blend")
    )
    return Setting(theorem=DISTRIBUTIONAL, cases=(case,))


def distributional_crowd(
    k: Exact, epsilon: Exact, rate_high: Exact, exempt: Exact = 0, *, bins: bool = False
) -> Setting:
    """A (k, epsilon)-crowd-blending mechanism, on a sample with the person in it.

    Guarantee: as :func:`distributional`, with losses of epsilon for whoever has a crowd below k, and for blending
    unless `bins`.
    """
    close = finite_loss(epsilon)
    crowd = _crowd(k) - integer(exempt, "exempt")
    case = _case(_rate(rate_high), Fraction(1), crowd, close, _EXACT if bins else close)
    return Setting(theorem=DISTRIBUTIONAL, cases=(case,))


def _case(rate: Fraction, own: Fraction, crowd: int, removal: Fraction, blending: Fraction) -> Case:
    return Case(rate=rate, own=own, crowd=crowd, removal=removal, blending=blending)


def _crowd(k: Exact) -> int:
    return integer(k, "k", least=1)


def _rate(value: Exact) -> Fraction:
    rate = rational(value, "a sampling rate")
    if not 0 <= rate <= 1:
        raise WrongUse(f"a sampling rate must lie between 0 and 1, not {to_text(rate)}; choose one that does")
    return rate


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
        delta=cap_probability(found.delta),
        worst_class_size=found.others,
        direction=found.direction,
        theorem=setting.theorem,
    )


def floor(setting: Setting) -> Fraction:
    """The delta that no epsilon goes below: p_t p^(K-1), or p^k with one rate for all.

    Guarantee: at most the delta of :func:`delta_at` at every epsilon, but for the rounding up.
    """
    return max(cap_probability(case.floor) for case in setting.cases)


@lru_cache(maxsize=1024)
def epsilon_at(setting: Setting, delta: Exact) -> Amplified:
    """The smallest epsilon, to `DIGITS` digits, that goes with `delta`; infinite if `delta` is below the floor.

    Guarantee: if the epsilon is finite, :func:`delta_at` gives at most `delta` there.
    """
    target = positive(delta, "delta")
    if target >= 1:
        raise WrongUse("a delta of 1 or more promises nothing; choose one below 1, like 1e-9")
    if not all(_at_most(case.floor, target) for case in setting.cases):
        last = max(setting.cases, key=lambda case: cap_probability(case.floor))
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
    return max(found, key=lambda each: cap_probability(each.delta))


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
