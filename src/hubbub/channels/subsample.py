"""A channel on a secret sample: every person of the bin is kept with probability p, then the channel sees who is left.

When each person is one row in one bin, drawing people independently and then counting has exactly the law of counting
everybody and replacing each count c by Binomial(c, p), independently from bin to bin. So a sampled release is a channel
again, with the laws

    law(c) = sum over m of Pr[Bin(c, p) = m] f_m,

and the exact checker of :mod:`hubbub.channels.profile` says what it promises to the *population*.

It is not the same thing when a person has rows in several bins (they come and go together), when two releases are meant
to be of one sample (two thinnings are two samples), or when sums and not counts are published.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from flint import arb
from numpy.typing import ArrayLike

from hubbub.channels.empty_bins import EmptyBins
from hubbub.channels.law import SUPPRESSED, Dense, Law, point
from hubbub.channels.mixture import MISSING, MOST_CELLS, mixture
from hubbub.channels.profile import checkable, loss_curve
from hubbub.channels.protocol import Card, Channel, Proof, Published, exact_count, exact_counts
from hubbub.channels.sampled_warped import sampled_warped_curve
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.curve import flat
from hubbub.guarantees.definitions import DifferentialPrivacy, Guarantee
from hubbub.guarantees.derivation import HERE, Theorem
from hubbub.guarantees.indistinguishability import mixed
from hubbub.guarantees.subsampled_curve import subsampled_curve
from hubbub.noise.binomial import binomial
from hubbub.noise.source import Source
from hubbub.numeric.binomial import at_most, masses
from hubbub.numeric.exact import Infinite, positive, rational, to_text
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.amplified import Setting, epsilon_at
from hubbub.sampling.sampled_crowd import Case

_MIXED = "only a share p of the law depends on the person"
_WARPED = "the mean of e^E over who is kept, with one person more or less"
_THEOREM_A = "Theorem A: who was sampled is secret, and people of one bin are exactly interchangeable"


@dataclass(frozen=True, slots=True)
class Subsampled(Channel):
    """Keep each person of the bin with probability p, secretly and independently; run `channel` on how many are left.

    Guarantee: differential privacy for the population, when one person is added or removed. If the channel loses at
    most epsilon at every count (with its delta), it is (ln(1 + p (e^epsilon - 1)), p delta); if it loses at most
    epsilon at counts below some K and anything above, as crowd-blending and simple outlier private channels do, it is
    (epsilon', `delta`) with the epsilon' of Theorem A, infinite where `delta` is below p^K. For one release of a
    fresh sample.
    """

    name: ClassVar[str] = "thinned"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.thinned", "Theorem A and its mixture", HERE),
        summary="another channel on a secret sample of the bin",
        example="`p=0.1`",
        needs=("p", "channel"),
        may=("delta",),
    )
    p: Fraction
    channel: Channel
    delta: Fraction = Fraction(1, 10**9)

    def __post_init__(self) -> None:
        rate = rational(self.p, "the sampling rate p")
        if not 0 < rate <= 1:
            raise WrongUse(
                f"the sampling rate p must be above 0 and at most 1, not {to_text(rate)}; choose one that is"
            )
        object.__setattr__(self, "p", rate)
        target = positive(self.delta, "delta")
        if target >= 1:
            raise WrongUse(f"delta must be below 1, not {to_text(target)}; choose one like 1e-9")
        object.__setattr__(self, "delta", target)

    @property
    def claim(self) -> DifferentialPrivacy:
        return _claim(self.channel.claim, self.p, self.delta)

    @property
    def proofs(self) -> tuple[Proof, ...]:
        """Those of the channel, each level mixed with p, and the theorem behind the claim.

        With c people, the law is p Q + (1 - p) P, where m of the c - 1 others were sampled and Q has f_(m+1), P has
        f_m. For a curve that never decreases these are curve(c)-close, whatever m is.
        """
        found = [
            Proof(subsampled_curve(proof.curve, self.p), f"{proof.reason}; {_MIXED}", self.p * proof.delta)
            for proof in self.channel.proofs
            if proof.curve.is_monotone
        ]
        if (exact := sampled_warped_curve(self.channel, self.p)) is not None:
            found.insert(0, Proof(exact, _WARPED))
        try:
            claim = self.claim
        except Refused:
            return tuple(found)
        return (*found, Proof(flat(claim.epsilon), _THEOREM_A, claim.delta)) if claim.delta else tuple(found)

    @property
    def unbiased(self) -> bool:
        """The published value stands for p times the count; whoever wants the population divides by p."""
        return self.p == 1 and self.channel.unbiased

    def law(self, count: int) -> Law:
        return _law(self.channel, self.p, exact_count(count))

    def release(self, counts: ArrayLike, source: Source) -> Published:
        return self.channel.release(binomial(exact_counts(counts), self.p, source), source)

    def empty_bins(self) -> EmptyBins | None:
        return self.channel.empty_bins()  # nobody is sampled of nobody


@lru_cache(maxsize=256)
def _claim(inner: Guarantee, p: Fraction, delta: Fraction) -> DifferentialPrivacy:
    known = checkable(inner)
    curve, own_delta = loss_curve(known), known.delta
    if not isinstance(curve.limit, Infinite):
        return DifferentialPrivacy(epsilon=mixed(curve.limit, p), delta=p * own_delta)
    crowd = curve.pieces[-1].start
    below = curve.at(crowd - 1)
    if own_delta or crowd == 1 or isinstance(below, Infinite) or not isinstance(curve.at(crowd), Infinite):
        raise Refused(
            f"{inner} does not say that counts below some k lose at most some epsilon, with no delta, so nothing is "
            "known about a sample of it; use a channel that is crowd-blending or differentially private"
        )
    case = Case(rate=p, own=p, crowd=crowd, removal=below, blending=Fraction(0))
    found = epsilon_at(Setting(theorem=_THEOREM_A, cases=(case,)), delta)
    return DifferentialPrivacy(epsilon=found.epsilon, delta=delta)


@lru_cache(maxsize=128)
def _law(channel: Channel, p: Fraction, count: int) -> Law:
    if p == 1:
        return channel.law(count)
    if count * p * (1 - p) > MOST_CELLS**2 // 2000:  # the table below has some forty standard deviations
        raise WrongUse(
            "the law of so large a count after sampling is not listed; its promise stands on its theorem, and a "
            "smaller count can be checked exactly"
        )
    lo, weights, left_out = masses(count, p, MISSING)
    if channel.exact_from is not None:
        return _visible_from(channel.exact_from, p, count, lo, weights, left_out)
    return mixture(((weight, _inner(channel, m)) for m, weight in enumerate(weights, lo)), left_out)


def _visible_from(k: int, p: Fraction, count: int, lo: int, weights: list[arb], left_out: Fraction) -> Law:
    """Exact or suppressed: Pr[Bin(c, p) < k] on the hidden outcome, the binomial masses themselves from k on."""
    tags = (SUPPRESSED, "")
    if count < k:
        return point(0, SUPPRESSED, tags)
    hidden = Dense(0, (at_most(count, p, k - 1),), SUPPRESSED)
    visible = Dense(max(lo, k), tuple(weights[max(k - lo, 0) :]), "")
    return Law((), (hidden, visible) if visible.masses else (hidden,), tags, left_out)


@lru_cache(maxsize=8192)
def _inner(channel: Channel, count: int) -> Law:
    return channel.law(count)
