"""The warped geometric channel: any curve, no delta, and no pure mechanism does better.

For a curve epsilon(1) <= epsilon(2) <= ... put E(c) = epsilon(1) + ... + epsilon(c), b_m = 1/(1 + e^-epsilon(m)),
b_0 = 1, and publish J with

    f_c(j) = w_j exp(-|E(c) - E(j)|),     w_j = b_j + b_(j+1) - 1,     j = 0, 1, 2, ...

The weight w_j depends on the column only, so f_c(j) / f_(c-1)(j) is e^epsilon(c) or e^-epsilon(c) at every j. The sum
is one because w_j e^-E(j) and w_j e^E(j) telescope, which also gives the tails:

    P(J >= m | c) = b_m e^-(E(m) - E(c)) for m > c,      P(J <= m | c) = b_(m+1) e^-(E(c) - E(m)) for m < c.

epsilon = 0 means "tell nothing", epsilon = infinity "tell everything": an infinite step cuts the counts into two halves
that are handled apart (the lower one capped at its last count, with b = 1 there). The flat case is the
geometric mechanism of Ghosh, Roughgarden and Sundararajan; in general it is a tight-constraints mechanism for the
line metric |E(c) - E(j)|.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar, Final

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from hubbub.channels.law import SUPPRESSED, Block, Law, Weight, point
from hubbub.channels.mechanisms.warped_walk import walk
from hubbub.channels.protocol import (
    LARGEST_COUNT,
    LARGEST_RATE,
    SMALLEST_RATE,
    Card,
    Channel,
    Proof,
    Published,
    exact_count,
    exact_counts,
)
from hubbub.channels.published import EmptyBins, published_at
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import Curve
from hubbub.guarantees.definitions import OutlierPrivacy
from hubbub.guarantees.derivation import HERE, Theorem
from hubbub.noise.source import Source
from hubbub.numeric.bisection import first as first_where
from hubbub.numeric.bisection import first_from
from hubbub.numeric.exact import INFINITY, Infinite, ball, exp, integer
from hubbub.runtime.frozen import dataclass

_NEGLIGIBLE: Final = 150
"""Values further than this from the count, in units of E, are lumped together (mass below e^-150)."""

_LAST: Final = 2**63


@dataclass(frozen=True)
class Warped(Channel):
    """Publish J ~ f_c for the curve; with `show_above` = T, publish J only if J > T and hide it otherwise.

    Guarantee: outlier privacy with the curve and delta = 0 (Theorem W1), for a table of counts in which every bin of a
    public partition is published. Hiding values up to T is post-processing and changes nothing in the promise.
    """

    name: ClassVar[str] = "warped"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.warped", "Theorem W1", HERE),
        summary="any curve, no delta, and as accurate as can be",
        example="`curve=1:0.01,101:1`",
        needs=("curve",),
        may=("show_above",),
    )
    curve: Curve
    show_above: int | None = None

    def __post_init__(self) -> None:
        if not self.curve.is_monotone:
            raise WrongUse("the warped channel needs a curve that never decreases; use curve.envelope()")
        if self.show_above is not None:
            object.__setattr__(self, "show_above", integer(self.show_above, "show-above"))
        for piece in self.curve.pieces:
            level = piece.rate or piece.value
            if not isinstance(level, Infinite) and level and not SMALLEST_RATE <= level <= LARGEST_RATE:
                raise WrongUse("the levels and slopes of a curve must lie between 0.000001 and 50, or be 0 or inf")

    @property
    def claim(self) -> OutlierPrivacy:
        return OutlierPrivacy(curve=self.curve)

    @property
    def proofs(self) -> tuple[Proof, ...]:
        return (Proof(self.curve, "Theorem W1: the ratio is e^epsilon(c) or e^-epsilon(c) at every published value"),)

    @property
    def warped_along(self) -> Curve:
        return self.curve

    @property
    def last_change(self) -> int | None:
        """The curve is the same from here on (None: it never is)."""
        last = self.curve.pieces[-1]
        return None if last.rate else max(last.start, self.show_above or 0)

    @property
    def how(self) -> str:
        """It follows the curve: only where that rises do smaller counts get more noise."""
        finite = [piece for piece in self.curve.pieces if not isinstance(piece.value, Infinite)]
        if not finite:
            return "exact counts"
        noise = "more noise the fewer people a bin has"
        if len(finite) == 1 and not finite[0].rate:
            noise = "the same noise on every count" if finite[0].value else "numbers that tell nothing"
        if len(finite) == len(self.curve.pieces):
            return noise
        exact_from = self.curve.pieces[len(finite)].start
        return f"exact counts of at least {exact_from}, below that {noise}"

    @property
    def certain(self) -> bool:
        return all(piece.rate == 0 and (piece.value == 0 or piece.value is INFINITY) for piece in self.curve.pieces)

    def most_likely(self, value: int) -> int:
        return value  # f_c(j) falls with |E(c) - E(j)|

    @property
    def is_unbiased(self) -> bool:
        return False

    @cached_property
    def cap(self) -> int | None:
        """The last count below the first infinite step (0 if nothing is ever told), or None."""
        if self.curve.limit == 0:
            return 0
        return next((p.start - 1 for p in self.curve.pieces if isinstance(p.value, Infinite)), None)

    @cached_property
    def _loss_before(self) -> tuple[Fraction, ...]:
        """E just before each finite piece."""
        sums, total = [], Fraction(0)
        for piece, end in self.curve.ends():
            if isinstance(piece.value, Infinite):
                break
            sums.append(total)
            if end is not None:
                n = end - piece.start + 1
                total += piece.value * n + piece.rate * (n * (n - 1) // 2)
        return tuple(sums)

    def total_loss(self, count: int) -> Fraction:
        """E(count), for counts below the first infinite step."""
        if count == 0:
            return Fraction(0)
        i = self.curve.index(count)
        piece, n = self.curve.pieces[i], count - self.curve.pieces[i].start + 1
        assert not isinstance(piece.value, Infinite)
        return self._loss_before[i] + piece.value * n + piece.rate * (n * (n - 1) // 2)

    def _b(self, m: int) -> tuple[object, arb]:
        """b_m with its name: 1 at 0 and just above the cap."""
        if m == 0 or (self.cap is not None and m > self.cap):
            return "one", arb(1)
        epsilon = self.curve.at(m)
        assert not isinstance(epsilon, Infinite)
        return epsilon, 1 / (1 + exp(-epsilon))

    def weight(self, j: int) -> Weight:
        """w_j."""
        (left, b_left), (right, b_right) = self._b(j), self._b(j + 1)
        return Weight(("warped", left, right), b_left + b_right - 1)

    def unbiased_estimate(self, j: int) -> arb | None:
        """An estimate from j whose mean is the count; None if epsilon is somewhere 0 or values are hidden."""
        if self.show_above is not None or self.curve.at(1) == 0:
            return None
        if self.cap is not None and j > self.cap:
            return arb(j)
        weight = self.weight(j).value
        return j + (self._u(j) - self._u(j + 1)) / weight

    def _u(self, m: int) -> arb:
        if m == 0 or (self.cap is not None and m > self.cap):
            return arb(0)
        epsilon = self.curve.at(m)
        assert not isinstance(epsilon, Infinite)
        return 1 / (2 * ball(epsilon).sinh())

    def law(self, count: int) -> Law:
        return self._law(count, *self._window(exact_count(count)))

    def hidden_within(self, tail: arb) -> tuple[int, int | None]:
        """The counts from which more than `tail` (below 1/2) of the values are hidden."""
        assert self.show_above is not None
        if self.curve.limit == 0:
            return 0, None
        if self.cap is not None and self.show_above > self.cap:
            return 0, self.show_above
        return 0, self._most(self.show_above, tail)

    def counts_within(self, value: int | None, tail: arb) -> tuple[int, int | None] | None:
        """The counts under which `value` lies in no tail of probability `tail` (below 1/2) or less; where some values
        are hidden, those of a value that is shown have to be searched for."""
        if value is None:
            return self.hidden_within(tail)
        if self.show_above is not None:
            return None
        if self.curve.limit == 0:
            return 0, None
        if self.cap is not None and value > self.cap:
            return value, value
        low = 0
        if value > 0:
            needed = ball(self.total_loss(value)) - (self._b(value)[1] / tail).log()
            low = first_where(lambda c: not ball(self.total_loss(c)) <= needed, 0, value)
        return low, self._most(value, tail)

    def _most(self, at: int, tail: arb) -> int | None:
        """The largest count that publishes `at` or less with a probability above `tail`; None if there is no end."""
        room = ball(self.total_loss(at)) + (self._b(at + 1)[1] / tail).log()
        top = LARGEST_COUNT if self.cap is None else self.cap
        if not ball(self.total_loss(top)) >= room:
            return None if self.cap is None else top
        return first_where(lambda c: ball(self.total_loss(c)) >= room, at, top) - 1

    @property
    def hides(self) -> bool:
        return self.show_above is not None

    @property
    def noise_cut_at_zero(self) -> Fraction | None:
        limit = self.curve.limit
        plain = self.curve.is_flat and self.show_above is None and not isinstance(limit, Infinite) and limit > 0
        return limit if plain and isinstance(limit, Fraction) else None

    def chance_visible(self, count: int) -> arb:
        return self.mass_at_least(count, 0)

    def tail(self, count: int, value: int, tag: str, *, up: bool) -> tuple[arb, arb]:
        part = self.mass_at_least(count, value) if up else self.mass_at_most(count, value)
        return part, self.mass_at_least(count, 0)

    def mass_at_least(self, count: int, value: int) -> arb:
        """P(J >= value and J is shown | count).

        At counts up to show_above it is e^E(count) times what depends on the value alone: all of them say the same
        about a value that is shown.
        """
        return self._at_least(max(value, 0 if self.show_above is None else self.show_above + 1), count)

    def mass_at_most(self, count: int, value: int) -> arb:
        """P(J <= value and J is shown | count)."""
        first = 0 if self.show_above is None else self.show_above + 1
        if value < first:
            return arb(0)
        if count < first:  # both tails are small: their difference keeps its digits
            return self._at_least(first, count) - self._at_least(value + 1, count)
        return self._at_most(value, count) - (self._at_most(first - 1, count) if first else 0)

    def _at_least(self, m: int, count: int) -> arb:
        """P(J >= m | count)."""
        if m <= 0 or self.curve.limit == 0 or (self.cap is not None and count > self.cap):
            certain = 0 if self.curve.limit == 0 else count
            return arb(1 if m <= 0 or certain >= m else 0)
        if m <= count:
            return 1 - self._at_most(m - 1, count)
        if self.cap is not None and m > self.cap:
            return arb(0)
        return self._b(m)[1] * exp(self.total_loss(count) - self.total_loss(m))

    def _at_most(self, m: int, count: int) -> arb:
        """P(J <= m | count)."""
        if self.curve.limit == 0 or (self.cap is not None and (count > self.cap or m >= self.cap)):
            certain = 0 if self.curve.limit == 0 or count <= m else count
            return arb(1 if certain <= m else 0)
        if m >= count:
            return 1 - self._at_least(m + 1, count)
        return self._b(m + 1)[1] * exp(self.total_loss(m) - self.total_loss(count))

    def release(self, counts: ArrayLike, source: Source) -> Published:
        truth = exact_counts(counts)
        values = walk(self.curve, self.cap, truth.ravel(), source).reshape(truth.shape)
        if self.show_above is None:
            return Published(values, np.zeros(values.shape, dtype=np.intp), ("",))
        visible = values > self.show_above
        return Published(np.where(visible, values, 0), visible.astype(np.intp), (SUPPRESSED, ""))

    def empty_bins(self) -> EmptyBins | None:
        """Above its own value f_c(j) is e^E(c) times what depends on j alone. So what an empty bin shows, given that it
        shows something, has the law of what a bin of show_above + 1 people shows given that it does, and every other
        one of those does."""
        if self.show_above is None:
            return None
        first = self.show_above + 1
        return EmptyBins(lambda: self._at_least(first, 0), published_at(self.release, first))

    def neighbours(self, count: int) -> tuple[Law, Law]:
        """f_count and f_(count-1), cut at the same places.

        Guarantee: below `count` the two differ by one factor, and from it on by another, so that the values of a slope
        are one lump on either side: what compares the laws sees as many parts as the curve has pieces.
        """
        lo, _ = self._windows(count - 1)
        _, hi = self._windows(count)
        return self._law(count, lo, hi, count), self._law(count - 1, lo, hi, count)

    @cached_property
    def _windows(self) -> Callable[[int], tuple[int, int | None]]:
        """The same as :meth:`_window`, of a few counts kept: neighbours are asked for one after the other."""
        return lru_cache(maxsize=8)(self._window)

    def _window(self, count: int) -> tuple[int, int | None]:
        """The values outside which the law is lumped: E is more than _NEGLIGIBLE away."""
        if self.cap is not None and count > self.cap:
            return 0, None
        here = self.total_loss(count)
        least, most = here - _NEGLIGIBLE, here + _NEGLIGIBLE
        lo = first_where(lambda m: self.total_loss(m) >= least, 0, count)
        top = _LAST if self.cap is None else self.cap
        if self.total_loss(top) <= most:
            return lo, None
        return lo, first_from(lambda m: m >= top or self.total_loss(m) > most, count)

    def _law(self, count: int, lo: int, hi: int | None, cut: int | None = None) -> Law:
        """f_count with lumps outside lo..hi; with `cut`, the slopes are lumps too, and end before it or begin at it."""
        tags = ("",) if self.show_above is None else (SUPPRESSED, "")
        first = 0 if self.show_above is None else self.show_above + 1
        if self.cap is not None and (count > self.cap or self.curve.limit == 0):
            certain = 0 if self.curve.limit == 0 else count
            return point(0, SUPPRESSED, tags) if certain < first else point(certain, "", tags)
        blocks = [] if first == 0 else [self._hidden_block(count, first)]
        if self.cap is None or first <= self.cap:
            blocks += self._visible_blocks(count, first, lo, None if hi is None else max(hi, first), cut)
        return Law(tuple(block for block in blocks if not block.weight.value.is_zero()), tags=tags)

    def _hidden_block(self, count: int, first: int) -> Block:
        """P(J < first | count) as the one suppressed outcome."""
        here = self.total_loss(count)
        if self.cap is not None and first > self.cap:
            return Block(0, 0, Weight(("one",), arb(1)), Fraction(0), tag=SUPPRESSED)
        key, b = self._b(first)
        if self.total_loss(first - 1) <= here:  # first - 1 <= count, or nothing is told between the two
            return Block(0, 0, Weight(("b", key), b), self.total_loss(first - 1) - here, tag=SUPPRESSED)
        rest = 1 - b * exp(here - self.total_loss(first))
        return Block(0, 0, Weight(("hidden", self.curve, first, here), rest), Fraction(0), tag=SUPPRESSED)

    def _visible_blocks(self, count: int, first: int, lo: int, hi: int | None, cut: int | None) -> list[Block]:
        """f_count from `first` on: a lump below lo, exponentials up to hi, a lump from hi on."""
        here = self.total_loss(count)
        blocks = []
        if lo > first:
            key, b = self._b(lo)
            if first:  # P(J < lo) - P(J < first)
                b -= self._b(first)[1] * exp(self.total_loss(first - 1) - self.total_loss(lo - 1))
            name = ("warped below", self.curve, first, lo)
            blocks.append(
                Block(first, lo - 1, Weight(("b", key, first, lo), b), self.total_loss(lo - 1) - here, shape=name)
            )
        for a, z in self._segments(max(lo, first), self.cap if hi is None else hi - 1, cut):
            if cut is not None and a != z and self.curve.piece(a).rate:
                blocks.append(self._lump(count, a, z, upper=a >= cut))
                continue
            weight, start = self.weight(a), self.total_loss(a)
            rate = Fraction(0) if a == z else self.curve.at(a)
            assert isinstance(rate, Fraction)
            if a <= count:
                last = count if z is None else min(z, count)
                blocks.append(Block(a, last, weight, start - rate * a - here, rate))
            if z is None or z > count:
                blocks.append(Block(max(a, count + 1), z, weight, here - start + rate * a, -rate))
        if hi is not None:
            key, b = self._b(hi)
            shape = ("warped above", self.curve, hi)
            blocks.append(Block(hi, self.cap, Weight(("b", key), b), here - self.total_loss(hi), shape=shape))
        return blocks

    def _lump(self, count: int, a: int, z: int | None, *, upper: bool) -> Block:
        """The values a..z of a slope together, all at or above the count (`upper`), or all at or below it."""
        name, here = ("warped slope", self.curve, a, z, upper), self.total_loss(count)
        if upper:  # P(J >= a) - P(J > z)
            start, mass = self.total_loss(a), self._b(a)[1]
            if z is not None and z != self.cap:
                mass -= self._b(z + 1)[1] * exp(start - self.total_loss(z + 1))
            return Block(a, z, Weight(name, mass), here - start, shape=name)
        assert z is not None, "what lies below a count ends"
        end, mass = self.total_loss(z), self._b(z + 1)[1]  # P(J <= z) - P(J < a)
        mass -= self._b(a)[1] * exp(self.total_loss(a - 1) - end)
        return Block(a, z, Weight(name, mass), end - here, shape=name)

    def _segments(self, lo: int, hi: int | None, cut: int | None = None) -> Iterator[tuple[int, int | None]]:
        """Stretches lo..hi of values over which the weight is constant and E linear (None: endless).

        With `cut` also whole slopes, parted where they go past it.
        """
        j = lo
        while hi is None or j <= hi:
            last: int | None = j
            if j > 0:
                i = self.curve.index(j)
                following = self.curve.pieces[i + 1].start if i + 1 < len(self.curve.pieces) else None
                if self.curve.pieces[i].rate:
                    if cut is not None:
                        ends = (hi, None if following is None else following - 1, cut - 1 if j < cut else None)
                        last = min((end for end in ends if end is not None), default=None)
                else:  # flat: w_j is constant up to the last but one value of the piece
                    last = hi if following is None else max(j, following - 2)
                    if last is not None and hi is not None and last >= hi:
                        last = hi
                    if last == self.cap and last is not None:  # the weight at the cap is another
                        last = max(j, last - 1)
            yield j, last
            if last is None:
                return
            j = last + 1
