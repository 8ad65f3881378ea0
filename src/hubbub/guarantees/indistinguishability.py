"""The arithmetic of Z ~(epsilon, delta) Z': bounds for chains, sums and mixtures of indistinguishable laws.

Rational where the truth is rational. Where it is not, the truth is enclosed in a ball and its upper end is rounded up
to 20 digits, so a loss is never understated. A delta that reaches 1 promises nothing and stays 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from flint import arb

from hubbub.numeric.exact import INFINITY, Infinite, Loss, ball, precision, rounded, upper

ONE = Fraction(1)
ZERO = Fraction(0)


def cap_probability(probability: arb | Fraction) -> Fraction:
    """A probability rounded up, and 1 where it is more or where its ball is too wide to tell."""
    if isinstance(probability, Fraction):
        return min(probability, ONE)
    if probability > 1 or not probability.is_finite():
        return ONE
    return min(rounded(probability, up=True), ONE)


def times(epsilon: Loss, factor: int) -> Loss:
    """factor * epsilon."""
    return INFINITY if isinstance(epsilon, Infinite) else epsilon * factor


def total(epsilons: Iterable[Loss]) -> Loss:
    """The sum; infinite as soon as one is."""
    result: Loss = ZERO
    for epsilon in epsilons:
        result = result + epsilon
    return result


def total_delta(deltas: Iterable[Fraction]) -> Fraction:
    """The sum, at most 1."""
    found = sum((delta for delta in deltas if delta), ZERO)
    return found if found.numerator <= found.denominator else ONE


def chain_losses(epsilon: Loss, delta: Fraction, steps: int) -> tuple[Loss, Fraction]:
    """Z_0 ~ Z_1 ~ ... ~ Z_steps, each (epsilon, delta): Z_0 and Z_steps are this close.

    (steps epsilon, delta (1 + e^epsilon + ... + e^((steps-1) epsilon))).
    """
    far = times(epsilon, steps)
    if delta == 0 or steps == 1:
        return far, delta
    if isinstance(epsilon, Infinite):
        return far, ONE
    if epsilon == 0:
        return far, cap_probability(delta * steps)
    with precision():
        return far, cap_probability(ball(delta) * ball(epsilon * steps).expm1() / ball(epsilon).expm1())


def subsampled_loss(epsilon: Loss, p: Fraction) -> Loss:
    """ln(1 + p (e^epsilon - 1)): what is left of epsilon when only a share p of the law depends on the person."""
    if p == 0 or epsilon == 0:
        return ZERO
    if p == 1 or isinstance(epsilon, Infinite):
        return epsilon
    with precision():
        mixture = (ball(p) * ball(epsilon).expm1()).log1p()
        # The mixture is below epsilon; so is its rounding, unless the ball is too wide to show it.
        return min(rounded(mixture, up=True), epsilon) if mixture.is_finite() else epsilon


def total_variation(epsilon: Loss, delta: Fraction) -> Fraction:
    """(e^epsilon - 1 + 2 delta)/(e^epsilon + 1): the largest |Pr[Z in Y] - Pr[Z' in Y]|.

    Add Pr[Z in Y] <= e^epsilon Pr[Z' in Y] + delta and the same for Z', Z and the complement of Y.
    """
    if isinstance(epsilon, Infinite):
        return ONE
    if epsilon == 0:
        return delta
    with precision():
        return cap_probability((ball(epsilon).expm1() + 2 * ball(delta)) / (ball(epsilon).exp() + 1))


def chance_sample_includes(rows: int, k: int, n: int) -> Fraction:
    """An upper bound, to 20 digits, on the chance that k of n rows drawn without replacement include one of `rows`.

    1 - C(n - rows, k)/C(n, k), as a product over the shorter side.
    """
    if rows + k > n:
        return ONE if rows and k else ZERO
    few, many = sorted((rows, k))
    with precision():
        spared = arb(1)
        for j in range(few):
            spared = spared * ball(Fraction(n - many - j, n - j))
        return ZERO if few == 0 else cap_probability(1 - spared)


def exp_times(epsilon: Loss, probability: Fraction) -> Fraction:
    """e^epsilon * probability, at most 1."""
    if probability == 0 or epsilon == 0:
        return probability
    if isinstance(epsilon, Infinite):
        return ONE
    with precision():
        return cap_probability(ball(epsilon).exp() * ball(probability))


def odds_below(epsilon: Fraction, digits: int) -> Fraction:
    """A decimal at least e^epsilon: 1 + (e^epsilon - 1), the second part rounded up to `digits` digits."""
    with precision():
        return 1 + (rounded(upper(ball(epsilon).expm1()), up=True, digits=digits) if epsilon else ZERO)
