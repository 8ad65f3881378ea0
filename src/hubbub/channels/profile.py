"""The exact privacy of any channel, from its laws alone.

Between neighbouring counts the exact delta at an epsilon is a sum of positive parts
(:mod:`hubbub.channels.divergence`). Counts are checked one by one up to a limit; beyond it stands the channel's own
short proof. Together they answer whether a guarantee holds: proved, refuted with a witness, or undecided.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from flint import arb

from hubbub.channels.divergence import hockey_stick, largest_ratio
from hubbub.channels.protocol import Channel
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import Curve, flat, steps
from hubbub.guarantees.definitions import (
    CrowdBlending,
    DifferentialPrivacy,
    Neighbours,
    OutlierPrivacy,
    SimpleOutlier,
    StaircaseOutlier,
)
from hubbub.guarantees.verdict import Proved, Refuted, Undecided, Verdict
from hubbub.numeric.exact import INFINITY, Infinite, Loss, ball, lower, rounded, to_text, upper
from hubbub.runtime.frozen import dataclass

Checkable: TypeAlias = DifferentialPrivacy | CrowdBlending | OutlierPrivacy | SimpleOutlier | StaircaseOutlier
"""Guarantees that are properties of the channel alone."""


@dataclass(frozen=True, slots=True)
class Row:
    """One count: what is claimed when one of its people leaves, and the exact delta at the claimed epsilon."""

    count: int
    epsilon: Loss
    claimed_delta: Fraction
    exact_delta: arb


def exact_delta(channel: Channel, count: int, epsilon: Loss) -> arb:
    """A ball around the smallest delta with which f_count and f_(count-1) are (epsilon, delta)-close.

    Guarantee: the upper end is never below the true delta. An infinite epsilon asks for nothing, and the answer is 0.
    """
    if count < 1:
        raise WrongUse("a loss is that of one person in the bin, so the count must be at least 1")
    if isinstance(epsilon, Infinite):
        return arb(0)
    more, fewer = channel.neighbours(count)
    pure = any(proof.delta == 0 and proof.curve.at(count) <= epsilon for proof in channel.proofs)
    delta = hockey_stick(more, fewer, epsilon).max(hockey_stick(fewer, more, epsilon))
    # Neither a table of balls nor the difference of two can show an exact zero; the channel's proof does, unless the
    # laws contradict it.
    return arb(0) if pure and not lower(delta) > 0 else delta


def exact_loss(channel: Channel, count: int) -> Loss | arb:
    """The smallest epsilon with delta = 0 between count and count - 1: exact where it can be, else a ball."""
    more, fewer = channel.neighbours(count)
    one, other = largest_ratio(more, fewer), largest_ratio(fewer, more)
    for exact, rough in ((one, other), (other, one)):
        if isinstance(rough, arb) and not isinstance(exact, arb) and exact >= upper(rough):
            return exact
    if isinstance(one, arb) or isinstance(other, arb):
        return _as_ball(one).max(_as_ball(other))
    return max(one, other)


def _as_ball(x: Loss | arb) -> arb:
    assert not isinstance(x, Infinite)
    return ball(x) if isinstance(x, Fraction) else x


def checkable(guarantee: object) -> Checkable:
    """The guarantee, if it is a property of the channel alone."""
    if isinstance(guarantee, DifferentialPrivacy) and guarantee.neighbours is Neighbours.REPLACE:
        raise WrongUse("a channel is checked for adding or removing a person; convert a replacement guarantee first")
    if isinstance(guarantee, DifferentialPrivacy) and guarantee.group > 1:
        raise WrongUse("a channel is checked for one person; derive the group guarantee from that of one person")
    if not isinstance(guarantee, Checkable):
        raise WrongUse(f"{type(guarantee).__name__} depends on how people were sampled, not on the channel alone")
    return guarantee


def loss_curve(guarantee: Checkable) -> Curve:
    """What a guarantee allows at each count."""
    if isinstance(guarantee, DifferentialPrivacy):
        return flat(guarantee.epsilon)
    if isinstance(guarantee, CrowdBlending):
        return steps((1, guarantee.epsilon), (guarantee.k, INFINITY)) if guarantee.k > 1 else flat(INFINITY)
    if isinstance(guarantee, OutlierPrivacy):
        return guarantee.curve
    return guarantee.as_outlier().curve


def profile(channel: Channel, counts: Iterable[int], guarantee: object = None) -> list[Row]:
    """Claimed against exact at each of the counts (the channel's own claim unless another is given)."""
    claim = checkable(channel.claim if guarantee is None else guarantee)
    rows = []
    for count in counts:
        epsilon, delta = claim.loss_at(count)
        rows.append(Row(count, epsilon, delta, exact_delta(channel, count, epsilon)))
    return rows


def worst(rows: list[Row]) -> Row:
    """The row with the largest exact delta; of equals, the one with the largest count."""
    return max(rows, key=lambda row: (upper(row.exact_delta), row.count))


def judge(channel: Channel, rows: list[Row], guarantee: object = None) -> Verdict:
    """The verdict on the guarantee from the rows, and from the channel's proof for all other counts.

    Guarantee: `Proved` only if every count 1, 2, 3, ... is covered by a row whose certified upper bound is within the
    claim or by the proof; `Refuted` only if a row's certified lower bound exceeds the claim.
    """
    claim = checkable(channel.claim if guarantee is None else guarantee)
    for row in rows:
        epsilon, delta = claim.loss_at(row.count)
        if row.epsilon > epsilon or row.claimed_delta > delta:
            raise WrongUse("the rows were made for a weaker guarantee than the one judged; profile that guarantee")
    for row in rows:
        if lower(row.exact_delta) > row.claimed_delta:
            return _refutation(row)
    open_rows = [row.count for row in rows if upper(row.exact_delta) > row.claimed_delta]
    if open_rows:
        return Undecided(f"at count {open_rows[0]} the ball around the exact delta contains the claimed one")
    return _cover(channel, claim, {row.count for row in rows})


def _cover(channel: Channel, claim: Checkable, seen: set[int]) -> Verdict:
    """Whether the channel's proofs cover every count that was not looked at."""
    allowed, delta = loss_curve(claim), claim.delta
    proofs = [proof for proof in channel.proofs if proof.delta <= delta]
    beyond = max(seen, default=0) + 1
    for proof in proofs:
        if proof.curve.at_most(allowed):
            return Proved(proof.reason)
    tail = next((proof for proof in proofs if proof.curve.at_most(allowed, since=beyond)), None)
    if tail is None:
        last = max(piece.start for piece in allowed.pieces)
        return Undecided(f"no proof covers the counts from {beyond} on; look at more of them, up to {last}")
    for count in range(1, beyond):
        if count not in seen and not any(proof.curve.at(count) <= allowed.at(count) for proof in proofs):
            return Undecided(f"no proof covers count {count}; look at every count up to {beyond - 1}")
    return Proved(f"every count up to {beyond - 1} was checked exactly; beyond, {tail.reason}")


def _refutation(row: Row) -> Refuted:
    found = rounded(row.exact_delta, up=False, digits=6)
    return Refuted(
        f"removing one person from a bin of {row.count} changes the law by more than was claimed",
        (
            ("count", str(row.count)),
            ("neighbour", str(row.count - 1)),
            ("epsilon", to_text(row.epsilon)),
            ("claimed_delta", to_text(row.claimed_delta)),
            ("exact_delta_at_least", to_text(found)),
        ),
    )


def decide(channel: Channel, guarantee: object, limit: int = 200) -> Verdict:
    """Whether the channel has the guarantee: counts up to `limit` exactly, the rest by the channel's proof."""
    claim = checkable(guarantee)
    return judge(channel, profile(channel, range(1, limit + 1), claim), claim)
