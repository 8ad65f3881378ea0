"""Warped noise on a secret sample: the exact loss of every crowd, and a curve of few lines just above it.

Let epsilon(.) never fall, E(c) = epsilon(1) + ... + epsilon(c), f_c the warped law of the curve, p the chance that a person
is kept, and S(c) the mean of e^E(M) with M ~ Bin(c, p).

**Theorem.** With c people in the bin, what is published of the sample with and without one of them is exactly
ln(S(c)/S(c - 1)) apart: at every number of at least c the ratio is that, and nowhere is it more, either way. The loss never
falls with c, and is at most ln(1 + p (e^epsilon(c) - 1)).

Proof. With b(m) = Pr[Bin(c - 1, p) = m] put P = sum b(m) f_m and Q = sum b(m) f_(m+1). Without the person the law is P, with
the person p Q + (1 - p) P.

1. Q(j)/P(j) never falls with j. For j < i, Q(i) P(j) - Q(j) P(i) is the sum over m > n of
   (b(m-1) b(n) - b(n-1) b(m)) (f_m(i) f_n(j) - f_m(j) f_n(i)).
   The first factor is not negative as b is log-concave; the second not as f_m(j) = w_j exp(-|E(m) - E(j)|), and
   |x - y| - |x - y'| never falls with x for y < y'.
2. So Q/P is largest at any j >= c, where it is W = sum b(m) e^E(m+1) / sum b(m) e^E(m), and smallest at j = 0, where it is
   V = sum b(m) e^-E(m+1) / sum b(m) e^-E(m). As Bin(c, p) is Bin(c - 1, p) and one more coin, 1 - p + p W = S(c)/S(c - 1).
3. W is a mean of e^epsilon(m+1) with weights b(m) e^E(m), and at least that with weights b(m), as both factors never fall
   with m (Chebyshev). In the same way V is at least the mean of e^-epsilon(m+1) with weights b(m). So V W >= 1, by
   Cauchy and Schwarz, V + W >= 2, and (1 - p + p V)(1 - p + p W) >= (1 - p)^2 + p^2 + 2 p (1 - p) = 1: the larger loss is
   that of step 2.
4. From c to c + 1 the weights b(m) grow by (1 - p) c/(c - m), the more the larger m is: W never falls. As m + 1 <= c, it is
   at most e^epsilon(c). With an infinite crowd it comes to e^top. []

Hiding small numbers is post-processing, and leaves those of at least c. Where epsilon is `top` from K on, E is convex and
lies above the line l with which it ends, so that S(c) is a sum of positive terms,

    S(c) = sum over m < K of Pr[Bin(c, p) = m] (e^E(m) - e^l(m)) + e^l(0) (1 - p + p e^top)^c,

and the sums of all c are the coefficients of one product of two polynomials.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final

from flint import arb, arb_poly

from hubbub.channels.protocol import Channel
from hubbub.guarantees.curve import Curve, Piece
from hubbub.guarantees.implications import subsampled_curve
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.numeric.exact import PRECISION, Infinite, ball, exp, lower, precision, rounded

WITHIN: Final = Fraction(1008, 1000)
"""The curve is at most so many times the exact loss, at every crowd."""

_MOST: Final = 16_384  # crowds whose loss is computed; some two seconds
_FIRST: Final = 256
_DIGITS: Final = 12
_BITS: Final = PRECISION + 128


@lru_cache(maxsize=128)
def sampled_warped_curve(channel: Channel, p: Fraction) -> Curve | None:
    """What warped noise on a sample costs each crowd, or None: another channel, a flat curve, or too many levels.

    Guarantee: with it, warped noise on a sample that keeps each person with probability p is outlier private, with no
    delta, by the theorem above. It never falls, is at most 1.008 times the exact loss of any crowd, and never above
    :func:`hubbub.guarantees.curve.subsampled_curve`.
    """
    curve = channel.warped_along
    if curve is None or p == 1 or not _ends(curve):
        return None
    top, last = subsampled_loss(curve.limit, p), _FIRST
    assert isinstance(top, Fraction)
    while last <= _MOST:
        with precision(_BITS):
            sums = _sums(curve, p, last)
            if lower((sums[-1] / sums[-2]).log()) * WITHIN >= top:
                return _fit_lines(_losses(sums), subsampled_curve(curve, p), top)
        last *= 2
    return None


def _ends(curve: Curve) -> bool:
    """Whether the curve has several levels and a finite last one, which is not too far."""
    last = curve.pieces[-1]
    return 1 < last.start <= _MOST and not last.rate and not isinstance(last.value, Infinite)


def sampled_losses(curve: Curve, p: Fraction, last: int) -> list[Fraction]:
    """ln(S(c)/S(c - 1)) for c = 1, ..., last, each rounded up.

    Guarantee: the loss of a crowd of c on the sample, or above by less than 10^-11 of it and 10^-60.
    """
    with precision(_BITS):
        return _losses(_sums(curve, p, last))


def _losses(sums: Sequence[arb]) -> list[Fraction]:
    return [rounded((more / fewer).log(), up=True, digits=_DIGITS) for fewer, more in pairwise(sums)]


def _sums(curve: Curve, p: Fraction, last: int) -> list[arb]:
    """S(0), ..., S(last)."""
    end, top = curve.pieces[-1].start, curve.limit
    assert isinstance(top, Fraction)
    heights, total = [arb(1)], Fraction(0)
    for m in range(1, end):
        level = curve.at(m)
        assert isinstance(level, Fraction)
        total += level
        heights.append(exp(total))
    growth, odds, kept = exp(top), ball(p / (1 - p)), ball(p)
    lowest = exp(total - top * (end - 1))
    above, line, share = [], lowest, arb(1)
    for m in range(min(end, last + 1)):
        above.append((heights[m] - line) * share)
        line, share = line * growth, share * odds / (m + 1)
    ways = [arb(1)]
    for i in range(1, last + 1):
        ways.append(ways[-1] / i)
    found = arb_poly(above) * arb_poly(ways)
    sums, scale, tail = [], arb(1), lowest
    for c in range(last + 1):
        sums.append(found[c] * scale + tail)
        scale, tail = scale * (1 - kept) * (c + 1), tail * (1 - kept + kept * growth)
    return sums


def _fit_lines(losses: Sequence[Fraction], coarse: Curve, top: Fraction) -> Curve:
    """Lines above the losses of the crowds 1, 2, ..., each as long as it stays within; then `top` for ever."""
    flat_from = next(c for c, loss in enumerate(losses, 1) if loss * WITHIN >= top)
    known = [limit for c in range(1, flat_from) if not isinstance(limit := coarse.at(c), Infinite)]
    losses = [min(loss, limit) for loss, limit in zip(losses[: flat_from - 1], known, strict=True)]
    highest = [min(loss * WITHIN, limit) for loss, limit in zip(losses, known, strict=True)]
    pieces: list[Piece] = []
    reached, start = Fraction(0), 1
    while start < flat_from:
        piece, end = _line(losses, highest, start, reached)
        pieces.append(piece)
        value = piece.at(end)
        assert isinstance(value, Fraction)
        reached, start = value, end + 1
    return Curve((*pieces, Piece(flat_from, top)))


def _line(losses: Sequence[Fraction], highest: Sequence[Fraction], start: int, least: Fraction) -> tuple[Piece, int]:
    """The longest line from `start` between the two, and its last crowd: from as low as may be, as flat as may be."""
    value = _shortest(max(losses[start - 1], least), highest[start - 1])
    low, high, end = Fraction(0), None, start
    for c in range(start + 1, len(highest) + 1):
        steeper = max(low, (losses[c - 1] - value) / (c - start))
        bound = (highest[c - 1] - value) / (c - start)
        flatter = bound if high is None else min(high, bound)
        if steeper > flatter:
            break
        low, high, end = steeper, flatter, c
    return Piece(start, value, low if high is None else _shortest(low, high)), end


def _shortest(low: Fraction, high: Fraction) -> Fraction:
    """A number between the two that takes few digits."""
    shorter = (rounded(low, up=True, digits=digits) for digits in range(4, _DIGITS) if low)
    return next((number for number in shorter if number <= high), low)
