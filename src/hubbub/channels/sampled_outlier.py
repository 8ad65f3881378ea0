"""The delta of an outlier curve on a secret sample, from the channel's laws at the counts that the sample leaves.

A channel with the curve epsilon(.) and a delta has, on a sample that keeps each person with probability p, the curve
ln(1 + p (e^epsilon(.) - 1)) and p delta, by one line: whoever else was kept, the laws with and without the person are
that close. But the delta is needed at few counts only, and a sample seldom stands there: of a crowd of k it has about
p k. With c people in the bin, b(m) = Pr[Bin(c - 1, p) = m] and d(m, e) the exact delta between the laws of m and m - 1
people at the loss e,

    delta(c) <= p sum over m of b(m) d(m + 1, epsilon(c)).

Proof. With the person the law is p Q + (1 - p) P and without it P, where Q = sum b(m) f_(m+1) and P = sum b(m) f_m. With a
= e^epsilon(c), p Q + (1 - p) P - (1 + p (a - 1)) P = p (Q - a P); and P - (1 + p (a - 1)) (p Q + (1 - p) P) is at most
p (P - a Q)_+: for P >= Q it is p (P - a Q) - p (1 - p) (a - 1) (P - Q), else negative. Positive parts of sums are at most
sums of positive parts.

In the examples of the outlier paper the outcomes where the positive part is not 0 are the same for every m, and the bound
is the exact delta of the sample. Where it is not, the largest bounds are replaced by that exact delta.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from hubbub.channels.profile import checkable, exact_delta, loss_curve
from hubbub.channels.protocol import Channel
from hubbub.channels.subsample import Subsampled
from hubbub.guarantees.curve import Curve
from hubbub.guarantees.definitions import OutlierPrivacy, SimpleOutlier, StaircaseOutlier
from hubbub.guarantees.implications import subsampled_curve
from hubbub.numeric.binomial import mass
from hubbub.numeric.exact import Infinite, ball, precision, rounded, upper

_MOST_PAIRS: Final = 600  # of laws that are compared
_MOST_VALUES: Final = 250_000  # of the tables of these laws, together
_REFINED: Final = 40  # counts whose sampled law is computed itself
_REFINED_VALUES: Final = 400  # if the tables of the channel's laws are no longer than that
_DIGITS: Final = 6


@lru_cache(maxsize=128)
def sampled_delta(channel: Channel, p: Fraction) -> Fraction | None:
    """The delta of the channel's curve on a sample, or None where it is not worked out: too many counts, or no proof.

    Guarantee: with the curve ln(1 + p (e^epsilon(.) - 1)), at every count, the laws of the sample with and without a
    person are within this delta, by the sum above. Beyond, where the channel needs none, it is p times the largest
    delta of any smaller count at the top of the curve. It is at most p times the channel's own delta.
    """
    claim = checkable(channel.claim)
    if not isinstance(claim, OutlierPrivacy | SimpleOutlier | StaircaseOutlier) or not claim.delta or p == 1:
        return None
    curve = loss_curve(claim)
    end = _end(channel, curve) if curve.is_monotone else None
    if end is None or not _few(channel, curve, end):
        return None
    with precision():
        bounds = {count: upper(_delta_bound(channel, curve, p, count)) for count in range(1, end)}
        beyond = p * _largest(channel, curve, end)
    found = max(_refine(channel, curve, p, bounds), beyond)
    return min(rounded(found, up=True, digits=_DIGITS), p * claim.delta)


@lru_cache(maxsize=128)
def top_delta(channel: Channel) -> Fraction | None:
    """The delta with which everybody loses at most the top of the curve, or None where it is not worked out.

    Guarantee: (top, delta)-differential privacy when one person comes or goes: at every count below the last step by the
    laws, and from there on by a proof without a delta.
    """
    claim = checkable(channel.claim)
    if not isinstance(claim, OutlierPrivacy | SimpleOutlier | StaircaseOutlier) or not claim.delta:
        return None
    curve = loss_curve(claim)
    end = _end(channel, curve) if curve.is_monotone else None
    if end is None or not _small(channel, end):
        return None
    return min(rounded(_largest(channel, curve, end), up=True, digits=_DIGITS), claim.delta)


def _end(channel: Channel, curve: Curve) -> int | None:
    """From which count on the last step is flat and has a proof without a delta."""
    last = curve.pieces[-1]
    if last.rate or isinstance(last.value, Infinite):
        return None
    starts = {last.start}
    pure = [proof.curve for proof in channel.proofs if not proof.delta]
    starts |= {piece.start for each in pure for piece in each.pieces if piece.start > last.start}
    return next((start for start in sorted(starts) if any(each.at_most(curve, since=start) for each in pure)), None)


def _few(channel: Channel, curve: Curve, end: int) -> bool:
    """Whether so few laws are compared that it takes seconds."""
    if end > _MOST_PAIRS:
        return False
    highest = {curve.at(count): count for count in range(1, end)}  # of each level, the largest count
    return sum(highest.values()) <= _MOST_PAIRS and _small(channel, end)


def _small(channel: Channel, end: int) -> bool:
    return end <= _MOST_PAIRS and sum(channel.law_size(count) for count in range(end)) <= _MOST_VALUES


def _delta_bound(channel: Channel, curve: Curve, p: Fraction, count: int) -> arb:
    level = curve.at(count)
    assert isinstance(level, Fraction)
    terms = (mass(count - 1, p, m) * _inner(channel, m + 1, level) for m in range(count))
    return ball(p) * sum(terms, arb(0))


def _largest(channel: Channel, curve: Curve, end: int) -> Fraction:
    """The largest delta at the top of the curve, of all counts."""
    top = curve.limit
    assert isinstance(top, Fraction)
    return max((upper(_inner(channel, count, top)) for count in range(1, end)), default=Fraction(0))


@lru_cache(maxsize=4096)
def _inner(channel: Channel, count: int, level: Fraction) -> arb:
    """d(count, level): 0 where a proof says so."""
    if any(not proof.delta and proof.curve.at(count) <= level for proof in channel.proofs):
        return arb(0)
    return exact_delta(channel, count, level).max(arb(0))


def _refine(channel: Channel, curve: Curve, p: Fraction, bounds: dict[int, Fraction]) -> Fraction:
    """The largest bound, where the largest ones are replaced by the exact delta of the sample."""
    sampled, wanted = Subsampled(p, channel), subsampled_curve(curve, p)
    best, left = Fraction(0), _REFINED
    for count in sorted(bounds, key=lambda each: bounds[each], reverse=True):
        if bounds[count] <= best:
            return best
        if left == 0 or channel.law_size(count) > _REFINED_VALUES or count > _REFINED_VALUES:
            return bounds[count]
        left -= 1
        best = max(best, min(upper(exact_delta(sampled, count, wanted.at(count))), bounds[count]))
    return best
