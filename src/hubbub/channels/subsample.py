"""A channel on a secret sample: every person of the bin is kept with probability p, then the channel sees who is left.

When each person is one row in one bin, drawing people independently and then counting has exactly the law of counting
everybody and replacing each count c by Binomial(c, p), independently from bin to bin. So a sampled release is a channel
again, with the laws

    law(c) = sum over m of Pr[Bin(c, p) = m] f_m,

and the exact checker of :mod:`hubbub.channels.profile` says what it promises to the *population*.

It is not the same thing when a person has rows in several bins (they come and go together), when two releases are meant
to be of one sample (two thinnings are two samples), or when sums and not counts are published.

Mixtures of laws, as tables of balls with tails in closed form.

Exponential blocks that share a slope are added up by one running sum, r(v) = r(v - 1) e^slope + what begins at v,
however many they are and however far they reach. A block that ends is taken out of the sum again where it ends, which
costs precision (a ball that widens) and never truth. Beyond the last place where anything begins or ends, a mixture
with one endless slope is that exponential: the table stops there and a block goes on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

from flint import arb
from numpy.typing import ArrayLike

from hubbub.channels.law import SUPPRESSED, Block, Dense, Law, Weight, point
from hubbub.channels.profile import checkable, loss_curve
from hubbub.channels.protocol import Card, Channel, Proof, Published, exact_count, exact_counts
from hubbub.channels.published import EmptyBins
from hubbub.channels.sampled_warped import sampled_warped_curve
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.curve import flat
from hubbub.guarantees.definitions import DifferentialPrivacy, Guarantee
from hubbub.guarantees.derivation import HERE, Theorem
from hubbub.guarantees.implications import subsampled_curve
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.noise.binomial import binomial
from hubbub.noise.source import Source
from hubbub.numeric.binomial import at_most, masses
from hubbub.numeric.exact import Infinite, ball, exp, positive, rational, rounded, to_text, upper
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.amplification import Setting, epsilon_at
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
    def is_unbiased(self) -> bool:
        """The published value stands for p times the count; whoever wants the population divides by p."""
        return self.p == 1 and self.channel.is_unbiased

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
        return DifferentialPrivacy(epsilon=subsampled_loss(curve.limit, p), delta=p * own_delta)
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


MISSING: Final = Fraction(1, 10**80)
"""What a table may leave out at each of its ends: less than the width of a ball around 1."""

MOST_CELLS: Final = 4_000_000


def mixture(parts: Iterable[tuple[arb, Law]], left_out: Fraction = Fraction(0)) -> Law:
    """sum of weight * law over `parts`; `left_out` bounds the weight of laws that are not among them.

    Guarantee: the balls hold the masses of the mixture, and `missing` bounds what is not listed: the weight left out,
    what the laws themselves leave out, lumps (whose values are not told apart), and ends cut from a table.
    """
    columns: dict[str, _Column] = {}
    tags: dict[str, None] = {}
    missing, order = ball(left_out), None
    for weight, law in parts:
        tags.update(dict.fromkeys(law.tags))
        order = law.order or order
        missing += weight * ball(law.missing)
        for block in law.blocks:
            column = columns.setdefault(block.tag, _Column())
            if block.shape is not None and block.lo != block.hi:
                missing += weight * block.total()
            else:
                column.add(weight, block)
        for table in law.dense:
            columns.setdefault(table.tag, _Column()).add_table(weight, table)
    blocks: list[Block] = []
    tables = []
    for tag, column in columns.items():
        table, tails, cut = column.laid_out(tag)
        tables.append(table)
        blocks += tails
        missing += cut
    names = tuple(tags) if order is None else tuple(sorted(tags, key=order))
    exactly = left_out == 0 and missing.is_zero()
    return Law(tuple(blocks), tuple(tables), names, Fraction(0) if exactly else rounded(missing, up=True), order)


class _Column:
    """The values of one tag."""

    def __init__(self) -> None:
        self.atoms: dict[int, arb] = {}
        self.ramps: dict[Fraction, dict[int, arb]] = {}  # slope -> place -> what begins (or ends) there
        self.endless: set[Fraction] = set()

    def add(self, weight: arb, block: Block) -> None:
        """A block. Sums run away from its higher end: to the right if it falls or is flat, to the left if it rises."""
        lo, hi, slope = block.lo, block.hi, block.slope
        if lo is not None and lo == hi:
            self._add_mass(self.atoms, lo, weight * block.mass(lo))
            return
        rises = slope > 0
        start, end = (hi, lo) if rises else (lo, hi)
        assert start is not None, "a block must decay towards its infinite end"
        ramp = self.ramps.setdefault(slope, {})
        height = weight * block.mass(start)
        self._add_mass(ramp, start, height)
        if end is None:
            self.endless.add(slope)
        else:
            length = abs(end - start) + 1
            self._add_mass(ramp, end + (-1 if rises else 1), -height * exp(-abs(slope) * length))

    def add_table(self, weight: arb, table: Dense) -> None:
        for value, mass in enumerate(table.masses, table.lo):
            self._add_mass(self.atoms, value, weight * mass)

    @staticmethod
    def _add_mass(row: dict[int, arb], position: int, mass: arb) -> None:
        row[position] = row[position] + mass if position in row else mass

    def laid_out(self, tag: str) -> tuple[Dense, list[Block], arb]:
        """The table, the closed tails beyond it, and a bound on what was cut."""
        positions = [*self.atoms, *(position for ramp in self.ramps.values() for position in ramp)]
        first, last = min(positions), max(positions)
        left, right = {s for s in self.endless if s > 0}, {s for s in self.endless if s < 0}
        first -= self._reach(left)
        last += self._reach(right)
        if (last - first + 1) * (1 + len(self.ramps)) > MOST_CELLS:
            raise WrongUse(
                "the law after sampling spreads over too many values to be listed; its promise stands on its theorem, "
                "and a smaller count or a larger epsilon can be checked exactly"
            )
        column = [arb(0)] * (last - first + 1)
        for value, mass in self.atoms.items():
            column[value - first] += mass
        tails, cut = [], arb(0)
        for slope, ramp in self.ramps.items():
            edge = _run(column, ramp, slope, first)
            if slope not in self.endless:
                continue
            at, is_single = (first, len(left) == 1) if slope > 0 else (last, len(right) == 1)
            if is_single:
                lo, hi = (None, first - 1) if slope > 0 else (last + 1, None)
                tails.append(Block(lo, hi, Weight(("mixed", object()), edge), -slope * at, slope, tag))
            else:
                fall = exp(-abs(slope))
                cut += edge * fall / (1 - fall)
        return Dense(first, tuple(column), tag), tails, cut

    @staticmethod
    def _reach(slopes: set[Fraction]) -> int:
        """How much further a table goes where tails of several slopes meet, so that what is cut is negligible."""
        if len(slopes) < 2:
            return 0
        return math.ceil(upper(-ball(MISSING).log() / ball(min(abs(slope) for slope in slopes))))


def _run(column: list[arb], ramp: dict[int, arb], slope: Fraction, first: int) -> arb:
    """Add a running sum to the column; its value at the end that it runs to."""
    step, run = exp(-abs(slope)), arb(0)
    indices = range(len(column) - 1, -1, -1) if slope > 0 else range(len(column))
    for i in indices:
        run = run * step
        if (begins := ramp.get(i + first)) is not None:
            run = run + begins
        column[i] += run
    return run
