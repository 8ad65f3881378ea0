"""Counts of one network with integer noise, released one after the other: one sample of k people serves all of them.

A release j publishes x_j = g_j + X_j, P(X_j = x) ~ e^(-|x|/L_j). The simulator knows T_j, n times the mean of what k of
the n people tell, whose mean is within A_j of g_j and whose k values lie in an interval of length R_j; sigma_j^2 =
R_j^2/(4k) f is Serfling's bound, with the same f(k, n) for all of them (:mod:`hubbub.graphs.noise_scale`).

Theorem (one after the other). Let which count is published next, and L_j, depend in any way on the outputs before it.
The simulator draws one sample for all of them, rounds each T_j by itself to Z_j, and adds noise of scale L_j. Then at
every transcript x = (x_1, ..., x_m) the two laws are apart by a factor of at most e^epsilon(x), with

    epsilon(x) = max{ sum A_j/L_j + (sum sigma_j/L_j)^2/2 + sum 1/(8 L_j^2),  sum sqrt(A_j^2 + sigma_j^2)/L_j },

the L_j being those that were used on the way to x.

Proof. Fix x. Then every g_j and L_j is a number, the constants of the noises are the same in both laws, and the ratio of
simulator to mechanism is E over sample and roundings of prod_j exp((|x_j - g_j| - |x_j - Z_j|)/L_j): the sample comes
first, and given it the outputs are drawn in turn, each from noise of its own. Each exponent is at most (Z_j - g_j)/L_j or
(g_j - Z_j)/L_j, by the side of g_j on which x_j lies. So the ratio is at most E exp(sum_j s_j (Z_j - g_j)/L_j) for signs
s_j that x fixes; sum s_j T_j/L_j is the mean of k values, without replacement, in an interval of length sum R_j/L_j, and
the roundings are independent given the sample: Serfling and Hoeffding give the first term. By Jensen, minus the logarithm
of the ratio is at most sum E|Z_j - g_j|/L_j, which is the second. QED

So the choice on the way costs nothing. What is told afterwards, epsilon(x), is true of what was published (an odometer);
and who releases only while epsilon stays within a cap keeps it at every transcript, so that the cap is a plain promise (a
filter). There is one simulator for all transcripts only if it is settled, before release j is drawn, whether its sample
is the one of earlier releases or a new one: it cannot wait to see which is the smaller. So the ledger settles it when the
release is reserved, and writes it down. Samples of unlike batches are independent: at every transcript their ratios
multiply, and their losses add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.guarantees.aggregates import ExplorationSample
from hubbub.guarantees.composition import INDEPENDENT
from hubbub.guarantees.definitions import ZeroKnowledge
from hubbub.guarantees.derivation import GLP, HERE, Derivation, Theorem, texts
from hubbub.guarantees.indistinguishability import total
from hubbub.numeric.exact import Infinite, ball, precision, rounded
from hubbub.runtime.frozen import dataclass

ONE_AFTER_ANOTHER: Final = Theorem(
    "together.one-sample", "MGF theorem, counts released one after the other", f"{GLP}, section 5; {HERE}"
)
_KEPT: Final = 40  # digits of a sum that is carried along
_TOLD: Final = 6  # of a loss that follows from the noise


@dataclass(frozen=True, slots=True, kw_only=True)
class JointLoss:
    """The four sums of the theorem, each rounded up: of A/L, sigma/L, 1/(8 L^2) and sqrt(A^2 + sigma^2)/L."""

    shift: Fraction
    width: Fraction
    rounding: Fraction
    distance: Fraction

    def __add__(self, other: JointLoss) -> JointLoss:
        return JointLoss(
            shift=self.shift + other.shift,
            width=self.width + other.width,
            rounding=self.rounding + other.rounding,
            distance=self.distance + other.distance,
        )

    @property
    def epsilon(self) -> Fraction:
        """What all of the counts lose on one sample."""
        return max(self.shift + self.width**2 / 2 + self.rounding, self.distance)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledCount:
    """A count with noise: A and sigma^2 of what k people tell of it, and the scale of the noise."""

    shift: Fraction
    variance: Fraction
    scale: Fraction

    def __post_init__(self) -> None:
        if self.shift < 0 or self.variance < 0 or self.scale <= 0:
            raise WrongUse("a count with noise has a scale above 0, and a shift and a variance that are not below")

    @property
    def loss(self) -> JointLoss:
        with precision():
            sigma, scale = ball(self.variance).sqrt(), ball(self.scale)
            distance = (ball(self.shift) ** 2 + ball(self.variance)).sqrt() / scale
            return JointLoss(
                shift=rounded(self.shift / self.scale, up=True, digits=_KEPT),
                width=rounded(sigma / scale, up=True, digits=_KEPT),
                rounding=rounded(1 / (8 * self.scale**2), up=True, digits=_KEPT),
                distance=rounded(distance, up=True, digits=_KEPT),
            )


def joint_loss(counts: Sequence[SampledCount]) -> JointLoss:
    """The sums of several counts that one sample tells.

    Guarantee: publishing all of them, in whatever order and each with noise of its own, is `epsilon`-zero-knowledge
    private with respect to the samples, if the same k of n people are drawn for all (one after the other).
    """
    first, *others = (each.loss for each in counts)
    return sum(others, first)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledCounts:
    """The counts of one release, all of which one sample of k of the n people of a network tells.

    `explores` is how many vertices are seen around each of them, 1 where nobody walks; with `centred` the simulator adds
    a centre. `network` names what the network holds, and `sample` is the number of the release whose sample serves this
    one too, 0 where that is not settled: only a ledger knows both.
    """

    k: int
    n: int
    explores: int
    centred: bool
    counts: tuple[SampledCount, ...]
    network: str = ""
    sample: int = 0

    def __post_init__(self) -> None:
        if not (1 <= self.k <= self.n and 1 <= self.explores <= self.n and self.sample >= 0):
            raise WrongUse("a sample has between 1 and n people, and a walk sees between 1 and n")

    @property
    def drawn_from(self) -> tuple[str, int, int, bool]:
        """What two releases must share so that one sample may serve both."""
        return self.network, self.k, self.n, self.centred

    @property
    def loss(self) -> JointLoss:
        return joint_loss(self.counts)


def one_after_another(*derivations: Derivation, k: int, explores: int, loss: JointLoss) -> Derivation:
    """Releases of one network that one sample serves, as one.

    Guarantee: if `loss` is the sum of all their counts' and the simulator drew the same k of n people for all of them,
    then publishing all of them, each possibly chosen after seeing the earlier ones, is epsilon-ZK with respect to
    RSE(k, explores), epsilon being that of the loss: k does not grow (MGF theorem, counts released one after the other).
    """
    given = [premise.concluding(ZeroKnowledge, ONE_AFTER_ANOTHER) for premise in derivations]
    if not given or any(each.delta or each.group != 1 for each in given):
        raise WrongUse("one sample serves counts with noise, whose promises have no delta; add up the others")
    added, epsilon = total(each.epsilon for each in given), rounded(loss.epsilon, up=True, digits=_TOLD)
    if not isinstance(added, Infinite) and loss.epsilon <= added:
        epsilon = min(epsilon, added)  # what is told in fewer digits is no reason to tell more than the sum
    aggregate = ExplorationSample(k=k, s=explores)
    return Derivation(
        conclusion=ZeroKnowledge(epsilon=epsilon, aggregate=aggregate),
        theorem=ONE_AFTER_ANOTHER,
        premises=derivations,
        numbers=(
            *texts(
                releases=len(derivations),
                samples=k,
                shift=loss.shift,
                width=loss.width,
                rounding=loss.rounding,
                distance=loss.distance,
                epsilon_out=epsilon,
            ),
            ("aggregate_out", str(aggregate)),
        ),
        assumptions=(INDEPENDENT,),
    )
