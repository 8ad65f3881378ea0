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
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.numeric.exact import Exact, finite_loss, integer, rational, to_text
from hubbub.sampling.amplified import Amplified as Amplified
from hubbub.sampling.amplified import Setting as Setting
from hubbub.sampling.amplified import delta_at as delta_at
from hubbub.sampling.amplified import epsilon_at as epsilon_at
from hubbub.sampling.amplified import floor as floor
from hubbub.sampling.sampled_crowd import Case

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
