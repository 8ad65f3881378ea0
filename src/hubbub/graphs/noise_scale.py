"""How much integer noise a count of a graph needs to be zero-knowledge private: the MGF theorem.

Theorem (MGF, integers). Let T be n times the mean of k values, drawn without replacement, in an interval of length R/n,
whose mean is within b of the integer g, on every graph; A = Delta(g) + b and sigma^2 = R^2/(4k) f, with
f = min{1 - (k - 1)/n, (1 - k/n)(1 + 1/k)} (Serfling 1974; Bardenet and Maillard 2015: all of n tell no less than all). Then
g + X, P(X = x) ~ e^(-|x|/L), is epsilon-zero-knowledge private with respect to the class of T, with

    epsilon = max{ A/L + (sigma^2 + 1/4)/(2 L^2),  sqrt(A^2 + sigma^2)/L }.

Proof. The simulator rounds T of the graph without the vertex to a neighbouring integer Z, up with the chance that makes
E[Z | T] = T, and adds the noise. At an outcome x >= g, |x - g| - |x - Z| <= Z - g, and else <= g - Z; so the ratio of
simulator to mechanism is at most E e^(+-(Z - g)/L), which Hoeffding's lemma (Serfling's without replacement) bounds for
T, and for the rounding, a variable of range 1, by e^(1/(8 L^2)). Conversely, by Jensen, minus the logarithm of that
ratio is at most E|Z - g|/L = E|T - g|/L, since g is an integer and |. - g| is linear between integers; and that is at
most sqrt(A^2 + sigma^2)/L.

Centred. The edges of a vertex change g by a number between two that are known, low <= g(G) - g(G without v) <= high, and
Delta = high - low. A simulator that adds their middle to T has A = Delta/2 + b, and all else stays. It needs about half of
the noise where Delta is most of it. No simulator needs less than Delta/(2 epsilon), for epsilon-zero-knowledge implies a
differential loss of at most 2 epsilon; the differential loss of the noise is Delta/L, more than epsilon now.

Several counts, one sample. The same k vertices serve all counts g_j, with independent noise of scales L_j:

    epsilon = max{ sum A_j/L_j + (sum sigma_j/L_j)^2/2 + sum 1/(8 L_j^2),  sum sqrt(A_j^2 + sigma_j^2)/L_j },

because sum +-T_j/L_j is itself the mean of k values in an interval of length sum R_j/L_j, and the roundings are
independent. The second is at most the sum of the epsilons; while that is at most 1, the first exceeds it by no more
than the roundings (a + c^2/2 <= sqrt(a^2 + c^2) where a^2 + c^2 <= 1, and Minkowski's inequality). Released one after
the other they lose the same (:mod:`hubbub.guarantees.accountant.sampled_counts`).

With a public bound a on the average degree, a mean of values in [0, R] whose share p of R is at most a/d has no larger
moments than a mean of k coins of chance p (Bernoulli domination; Hoeffding 1963 for draws without replacement).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from flint import arb

from hubbub.graphs.statistics import Bounds
from hubbub.guarantees.accountant.sampled_counts import SampledCount, joint_loss
from hubbub.numeric.exact import ball, precision, rounded, upper
from hubbub.runtime.frozen import dataclass

THEOREM: Final = "MGF theorem, integer noise"
CENTRED: Final = "MGF theorem, integer noise, centred simulator"
JOINT: Final = "MGF theorem, several counts of one sample"
_DIGITS: Final = 20
_HALVINGS: Final = 90
_QUARTER: Final = Fraction(1, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """What the theorem needs of a count: A and sigma^2, both in edges, and the cap on the share p if one is public."""

    shift: Fraction
    variance: Fraction
    reach: Fraction
    k: int
    share: Fraction | None = None

    def with_noise(self, scale: Fraction) -> SampledCount:
        """The count with noise of this scale."""
        return SampledCount(shift=self.shift, variance=self.variance, scale=scale)


def spread(bounds: Bounds, k: int, n: int, share: Fraction | None = None, *, centred: bool = False) -> Spread:
    """A and sigma^2 for k of n vertices drawn without replacement; `centred` for a simulator that adds the centre.

    Guarantee: if the bounds hold, ln E e^(t(T - E T)) <= t^2 sigma^2/2 for every t, and the variance of T is at most
    sigma^2 (Serfling 1974); and E T, with the centre if so, is within A of the count.
    """
    f = min(1 - Fraction(k - 1, n), (1 - Fraction(k, n)) * (1 + Fraction(1, k)))
    variance = bounds.reach**2 / (4 * k) * f
    shift = bounds.centred_shift if centred else bounds.shift
    return Spread(shift=shift, variance=variance, reach=bounds.reach, k=k, share=share)


def scale_for(found: Spread, epsilon: Fraction) -> Fraction:
    """The scale of the noise for an epsilon, rounded up.

    Guarantee: with discrete Laplace noise of this scale (or a larger one) the count is epsilon-zero-knowledge private
    with respect to the k samples (MGF theorem, integer noise; with a public share, by Bernoulli domination where less).
    """
    with precision():
        a, e = ball(found.shift), ball(epsilon)
        first = (a * a + ball(found.variance)).sqrt() / e
        second = (a + (a * a + 2 * e * ball(found.variance + _QUARTER)).sqrt()) / (2 * e)
        scale = rounded(first.max(second), up=True, digits=_DIGITS)
    if found.share is None:
        return scale
    return min(scale, _smallest(lambda trial: _dominated_epsilon(found, trial), epsilon, scale))


def enough(found: Spread, scale: Fraction, epsilon: Fraction) -> bool:
    """Whether noise of this scale is enough for an epsilon.

    Guarantee: True only if the count is epsilon-zero-knowledge private with respect to the k samples (MGF theorem,
    integer noise, its two inequalities in whole numbers and fractions; with a public share, or by Bernoulli
    domination). It is True of what :func:`scale_for` gives.
    """
    a, variance = found.shift, found.variance
    moments = 2 * a * scale + variance + _QUARTER <= 2 * epsilon * scale**2
    if moments and a**2 + variance <= (epsilon * scale) ** 2:
        return True
    if found.share is None:
        return False
    with precision():
        return bool(_dominated_epsilon(found, scale) <= ball(epsilon))


def epsilon_for(found: Spread, scale: Fraction) -> Fraction:
    """The epsilon of a count with noise of this scale, rounded up.

    Guarantee: the count is epsilon-zero-knowledge private with respect to the k samples (MGF theorem, integer noise).
    """
    plain = joint_epsilon([(found, scale)])
    return (
        plain if found.share is None else min(plain, rounded(_dominated_epsilon(found, scale), up=True, digits=_DIGITS))
    )


def joint_epsilon(counts: Sequence[tuple[Spread, Fraction]]) -> Fraction:
    """The epsilon of several counts, each with its scale, when one sample of k vertices serves all of them; rounded up.

    Guarantee: publishing all of them is epsilon-zero-knowledge private with respect to the k samples (MGF theorem,
    several counts of one sample). A public bound on the average degree is not used here.
    """
    found = joint_loss([one.with_noise(scale) for one, scale in counts])
    return rounded(found.epsilon, up=True, digits=_DIGITS)


def _dominated_epsilon(found: Spread, scale: Fraction) -> arb:
    """The epsilon by Bernoulli domination: the largest over all shares up to the public one."""
    assert found.share is not None
    with precision():
        cap, u = ball(min(found.share, Fraction(1))), ball(found.reach / (found.k * scale))
        rest = ball(found.shift / scale + 1 / (8 * scale**2))

        def rises(
            sign: int,
        ) -> arb:  # k (ln(1 + p (e^u - 1)) - p u): concave in p, so largest at its peak or at the cap
            v = sign * u
            peak = 1 / v - 1 / v.expm1()
            at = cap if peak > cap else peak
            return found.k * ((at * v.expm1()).log1p() - at * v)

        half = min(found.share, Fraction(1, 2))
        far = (ball(found.shift) ** 2 + ball(found.reach**2 * half * (1 - half) / found.k)).sqrt() / ball(scale)
        return (rest + rises(1)).max(rest + rises(-1)).max(far)


def _smallest(loss: Callable[[Fraction], arb], epsilon: Fraction, enough: Fraction) -> Fraction:
    """The smallest scale found by halving with loss(scale) <= epsilon; `enough` if even that is not proved to be."""
    target = ball(epsilon)
    if not loss(enough) <= target:
        return enough
    low, high = Fraction(0), enough
    for _ in range(_HALVINGS):
        middle = rounded((low + high) / 2, up=True, digits=_DIGITS)
        if middle >= high or middle == low:
            break
        low, high = (low, middle) if loss(middle) <= target else (middle, high)
    return upper(high)
