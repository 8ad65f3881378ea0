"""Functions that a small sample approximates, and the noise that makes them zero-knowledge private.

Definition 10: g has (delta, beta)-sample complexity with respect to a class of summaries if some summary of the class is
within delta of g in L1 on every table, except with probability beta. Low sample complexity means low sensitivity
(Lemma 11); it says how much noise is enough (Proposition 12, Corollaries 13 and 14); and whatever is zero-knowledge
private and accurate has it (Proposition 15). Gehrke, Lui, Pass 2011, section 3.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import arb

from hubbub.errors import Refused, WrongUse
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import ball, exp, log, precision, rounded, upper
from hubbub.runtime.frozen import dataclass

PROPOSITION_12: Final = "Proposition 12 (sample complexity)"
COROLLARY_13: Final = "Corollary 13 (Proposition 12 with the sensitivity of Lemma 11)"
COROLLARY_14: Final = "Corollary 14 (Proposition 12 for a simulator that knows every row)"
PROPOSITION_15: Final = "Proposition 15 (what is accurate and zero-knowledge private can be sampled)"
_DIGITS: Final = 20
_STEPS: Final = 1 << 50  # into which the interval of scales is divided


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleComplexity:
    """Definition 10: some summary is within `delta` in L1 on every table, except with probability `beta`.

    A class that is closed under post-processing, such as RS(k), may also cut the summary to the range of the function.
    """

    delta: Fraction
    beta: Fraction

    def __post_init__(self) -> None:
        if self.delta < 0 or not 0 <= self.beta < 1:
            raise WrongUse("a sampler is within 0 or more, and fails with a probability from 0 to below 1; change them")


def sensitivity_bound(complexity: SampleComplexity, k: int, n: int) -> Fraction:
    """Lemma 11: how far one row moves a function that k of n random rows approximate.

    Guarantee: at most 2 delta, if beta < (1 - k/n)/2; otherwise refused. Proof: with probability 1 - k/n the row is not
    among the k, and the summary is then the same for both tables; it is within delta of both values with a probability
    of at least 1 - k/n - 2 beta > 0, so that they are within 2 delta of each other.
    """
    if not 1 <= k <= n:
        raise WrongUse(f"a sample has from 1 to all rows, not {k} of {n}; change `rows` or `of`")
    if not complexity.beta < (1 - Fraction(k, n)) / 2:
        raise Refused(
            "Lemma 11 needs a sampler that fails with a probability below (1 - K/N)/2, since only a table without the "
            "row says nothing of it; say how far one row moves the function with `sensitivity`"
        )
    return 2 * complexity.delta


def epsilon_of_noise(
    complexity: SampleComplexity, sensitivity: Fraction, spread: Fraction, scale: Fraction
) -> Fraction:
    """Proposition 12: what Laplace noise of a scale on every coordinate promises.

    Guarantee: g + Lap(scale) is epsilon-zero-knowledge private with respect to the class, with epsilon =
    ln((1 - beta) e^(a/scale) + beta e^(spread/scale)), a = min(sensitivity + delta, spread), if no two values of g are
    further apart than `spread` in L1. The simulator cuts its summary to the range of g and adds the same noise: given a
    summary at a distance u, densities differ by at most e^(u/scale); u is at most a but for beta, and never above
    `spread`. Averaging over summaries bounds one ratio, and Jensen's inequality for 1/x the other. Rounded up.
    """
    if scale <= 0:
        raise WrongUse("the scale of the noise is above 0; give a larger `scale`")
    with precision():
        return rounded(_loss(complexity, sensitivity, spread, scale), up=True, digits=_DIGITS)


def scale_of_noise(
    complexity: SampleComplexity, sensitivity: Fraction, spread: Fraction, epsilon: Fraction
) -> Fraction:
    """The scale of Laplace noise that Proposition 12 asks for.

    Guarantee: with noise of that scale :func:`epsilon_of_noise` is at most epsilon. It is the least such scale but for
    2^-50 of its range; rounded up.
    """
    near = min(sensitivity + complexity.delta, spread)
    if epsilon <= 0:
        raise WrongUse("`epsilon_zk` is above 0; give a larger one")
    low, width = near / epsilon, (spread - near) / epsilon
    with precision():

        def enough(step: int) -> bool:
            scale = low + width * Fraction(step, _STEPS)
            return scale > 0 and upper(_loss(complexity, sensitivity, spread, scale)) <= epsilon

        found = low + width * Fraction(first(enough, 0, _STEPS), _STEPS)
    return rounded(found, up=True, digits=_DIGITS)


def _loss(complexity: SampleComplexity, sensitivity: Fraction, spread: Fraction, scale: Fraction) -> arb:
    near = min(sensitivity + complexity.delta, spread)
    if complexity.beta == 0 or near == spread:
        return ball(near / scale)
    return ball(near / scale) + (ball(1 - complexity.beta) + ball(complexity.beta) * exp((spread - near) / scale)).log()


def sampler_of(beta: Fraction, epsilon: Fraction) -> Fraction:
    """Proposition 15: how often a sampler fails that is as near as a private release.

    Guarantee: if San is within delta of g except with probability beta, and epsilon-zero-knowledge private with respect
    to a class that is closed under post-processing, then g has (delta, b)-sample complexity with b = 1 - (1 - beta)
    e^-epsilon: run the simulator. Rounded up.
    """
    with precision():
        return rounded(1 - ball(1 - beta) * exp(-epsilon), up=True, digits=_DIGITS)


def least_epsilon(beta: Fraction, failure: Fraction) -> Fraction:
    """Proposition 15, read backwards: what a release must lose that is nearer than any sampler can be.

    Guarantee: if every summary of the class is further than delta from g with probability at least `failure` on some
    table, a release within delta except with probability beta is zero-knowledge private for no epsilon below
    ln((1 - beta)/(1 - failure)). Rounded down.
    """
    if not beta < failure < 1:
        return Fraction(0)
    with precision():
        return rounded(log((1 - beta) / (1 - failure)), up=False, digits=_DIGITS)
