"""Curves: a privacy loss epsilon(c) for every crowd size c = 1, 2, 3, ...

Text forms::

    0.5                       the same for everybody
    1:0.01,101:1              steps: 0.01 up to a crowd of 100, 1 from 101 on
    slope:0.02                0.02 c
    slope:0.01<=1             0.01 c, at most 1
    0.1+slope:0.0009<=1       0.1 + 0.0009 c, at most 1
    0, inf                    nothing is told, nothing is hidden; also as values of steps

A record in a crowd of c is a k-outlier for every k >= c, so what a curve demands at c is
inf over k >= c of epsilon(k). Only non-decreasing curves say what they demand; any other is replaced
by that infimum (:meth:`Curve.envelope`), and :func:`read` tells whether it was.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from hubbub.errors import WrongUse
from hubbub.numeric.exact import INFINITY, Exact, Infinite, Loss, integer, loss, positive, rational, to_text
from hubbub.runtime.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """epsilon(c) = value + rate * (c - start), from `start` up to the next piece."""

    start: int
    value: Loss
    rate: Fraction = Fraction(0)

    def at(self, count: int) -> Loss:
        if not self.rate or isinstance(self.value, Infinite):
            return self.value
        return self.value + self.rate * (count - self.start)

    def __str__(self) -> str:
        return to_text(self.value) + (f"+slope:{to_text(self.rate)}" if self.rate else "")


@dataclass(frozen=True)
class Curve:
    """A function from crowd sizes 1, 2, ... to [0, infinity], linear and non-decreasing on each piece.

    What takes a look at every piece is kept: some curves have twenty thousand, and a certificate says each several times.
    """

    pieces: tuple[Piece, ...]

    def __post_init__(self) -> None:
        if not self.pieces or self.pieces[0].start != 1:
            raise WrongUse("a curve must say what holds from a crowd of 1 on; begin its first step with 1:")
        for earlier, later in pairwise(self.pieces):
            if later.start <= earlier.start:
                raise WrongUse("the steps of a curve must start at growing crowd sizes, like 1:0.01,101:1")
        for piece in self.pieces:
            if piece.value < 0 or piece.rate < 0:
                raise WrongUse(
                    "a step of a curve must start at 0 or above and never fall; raise its value or its slope"
                )
            if isinstance(piece.value, Infinite) and piece.rate:
                raise WrongUse("an infinite step of a curve cannot rise; leave its slope out")

    @classmethod
    def from_text(cls, text: str) -> Curve:
        """The curve that is written so."""
        return read(text).curve

    def index(self, count: int) -> int:
        """Which piece holds at `count` (at 1 for a count of 0: epsilon(0) is epsilon(1))."""
        return max(bisect_right(self.pieces, count, key=lambda p: p.start) - 1, 0)

    def piece(self, count: int) -> Piece:
        """The piece that holds at `count`."""
        return self.pieces[self.index(count)]

    def at(self, count: int) -> Loss:
        """epsilon(count); epsilon(0) is set to epsilon(1), because nobody stands in an empty bin."""
        count = max(count, 1)
        return self.piece(count).at(count)

    def ends(self) -> Iterable[tuple[Piece, int | None]]:
        """Each piece with its last crowd size (None: it never ends)."""
        for piece, following in zip(self.pieces, (*self.pieces[1:], None), strict=True):
            yield piece, None if following is None else following.start - 1

    @cached_property
    def limit(self) -> Loss:
        """The supremum of the curve, reached or approached as the crowd grows."""
        tops = [
            INFINITY if end is None and p.rate > 0 else p.at(p.start if end is None else end) for p, end in self.ends()
        ]
        return max(tops)

    @property
    def is_flat(self) -> bool:
        """Whether every crowd has the same loss."""
        return len(self.pieces) == 1 and not self.pieces[0].rate

    @cached_property
    def is_monotone(self) -> bool:
        """Whether it never decreases."""
        return all(
            isinstance(later.value, Infinite) or p.at(later.start - 1) <= later.value
            for p, later in pairwise(self.pieces)
        )

    def envelope(self) -> Curve:
        """The largest non-decreasing curve below this one: what the outlier definition really demands.

        >>> str(read("1:0.5,100:1,200:0.2").curve)
        '0.2'
        """
        kept: list[Piece] = []
        ceiling: Loss = INFINITY  # infimum of everything to the right
        for piece, end in reversed(list(self.ends())):
            kept.extend(reversed(_under(piece, end, ceiling)))
            ceiling = min(ceiling, piece.value)
        return Curve(_merge_pieces(reversed(kept)))

    def __add__(self, other: Curve) -> Curve:
        """The pointwise sum: what two releases on one partition cost each person together."""
        starts = sorted({p.start for p in self.pieces} | {p.start for p in other.pieces})
        parts = []
        for start in starts:
            mine, theirs = self.piece(start), other.piece(start)
            total = mine.at(start) + theirs.at(start)
            flat = isinstance(total, Infinite)
            parts.append(Piece(start, total, Fraction(0) if flat else mine.rate + theirs.rate))
        return Curve(_merge_pieces(parts))

    def times(self, factor: Fraction) -> Curve:
        """Every loss times a factor above 0."""
        return Curve(
            tuple(
                Piece(p.start, p.value if isinstance(p.value, Infinite) else p.value * factor, p.rate * factor)
                for p in self.pieces
            )
        )

    def at_most(self, other: Curve, *, since: int = 1) -> bool:
        """Whether this curve is nowhere above `other`, at every one of the infinitely many crowds from `since` on."""
        if self is other:
            return True
        starts = sorted({max(p.start, since) for p in (*self.pieces, *other.pieces)})
        for start, following in zip(starts, (*starts[1:], None), strict=True):
            mine, theirs = self.piece(start), other.piece(start)
            if mine.at(start) > theirs.at(start):
                return False
            if isinstance(theirs.value, Infinite):
                continue
            last_is_worse = mine.rate > theirs.rate
            if last_is_worse and (following is None or mine.at(following - 1) > theirs.at(following - 1)):
                return False
        return True

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        if self.is_flat:
            return to_text(self.pieces[0].value)
        return self._as_slope() or ",".join([f"{piece.start}:{piece}" for piece in self.pieces])

    def _as_slope(self) -> str | None:
        first = self.pieces[0]
        if not first.rate or isinstance(first.value, Infinite) or len(self.pieces) > 2:
            return None
        base, cap = first.value - first.rate, ""
        if len(self.pieces) == 2:
            last = self.pieces[1]
            if last != _cap_piece(base, first.rate, last.value):
                return None
            cap = f"<={to_text(last.value)}"
        return f"{to_text(base) + '+' if base else ''}slope:{to_text(first.rate)}{cap}"


def _under(piece: Piece, end: int | None, ceiling: Loss) -> list[Piece]:
    """`piece` cut off at `ceiling`, as one or two pieces."""
    if isinstance(ceiling, Infinite):
        return [piece]
    if isinstance(piece.value, Infinite) or piece.value >= ceiling:
        return [Piece(piece.start, ceiling)]
    if not piece.rate:
        return [piece]
    crossing = piece.start + math.ceil((ceiling - piece.value) / piece.rate)
    if end is not None and crossing > end:
        return [piece]
    return [piece, Piece(crossing, ceiling)]


def _merge_pieces(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The pieces, with those merged that continue one another."""
    kept: list[Piece] = []
    for piece in pieces:
        if kept and kept[-1].rate == piece.rate and kept[-1].at(piece.start) == piece.value:
            continue
        kept.append(piece)
    return tuple(kept)


def flat(epsilon: Exact | Infinite) -> Curve:
    """The same loss for every crowd."""
    return Curve((Piece(1, loss(epsilon, "epsilon")),))


def steps(*levels: tuple[int, Exact | Infinite]) -> Curve:
    """Steps given as (first crowd size, loss): ``steps((1, "0.01"), (101, 1))``."""
    return Curve(_merge_pieces(Piece(start, loss(value, f"the step at {start}")) for start, value in levels))


def slope(rate: Exact, *, base: Exact = 0, cap: Exact | Infinite = INFINITY) -> Curve:
    """min(base + rate * c, cap)."""
    r, b = positive(rate, "the slope"), rational(base, "the base of a slope")
    top = loss(cap, "the cap of a slope")
    if b + r < 0:
        raise WrongUse("a slope must be at least 0 at a crowd of 1")
    if isinstance(top, Infinite):
        return Curve((Piece(1, b + r, r),))
    last = _cap_piece(b, r, top)
    return Curve((last,) if last.start == 1 else (Piece(1, b + r, r), last))


def _cap_piece(base: Fraction, rate: Fraction, cap: Loss) -> Piece:
    if isinstance(cap, Infinite):
        return Piece(1, cap)
    return Piece(max(math.ceil((cap - base) / rate), 1), cap)


@dataclass(frozen=True, slots=True)
class Reading:
    """A curve read from text, and whether it had to be lowered to its envelope."""

    curve: Curve
    lowered: bool

    @property
    def remark(self) -> str:
        """A remark for the user if the curve was lowered; else empty."""
        if not self.lowered:
            return ""
        return (
            "the curve decreases somewhere, and a person in a small crowd is owed the smallest loss of any larger one; "
            f"it was replaced by its envelope from below, {self.curve}"
        )


def read(text: str) -> Reading:
    """The curve that `text` says, lowered to its envelope if it decreases."""
    curve = _parse(text.strip())
    return Reading(curve, False) if curve.is_monotone else Reading(curve.envelope(), True)


def _parse(text: str) -> Curve:
    if "," in text or ":" in text.replace("slope:", ""):
        levels = []
        for part in text.split(","):
            start, colon, value = part.partition(":")
            if not colon:
                raise WrongUse(f"a step of a curve is written CROWD:LOSS, like 101:1, not {part[:40]!r}")
            levels.append(_step(integer(start, "the crowd size of a step", least=1), value))
        return Curve(tuple(levels))
    if "slope:" in text:
        base, _, rest = text.partition("slope:")
        rate, capped, cap = rest.partition("<=")
        return slope(rate, base=base.strip().removesuffix("+") or 0, cap=cap if capped else INFINITY)
    return Curve((Piece(1, loss(text, "a curve, like 1:0.01,101:1 or slope:0.02 or one loss for all,")),))


def _step(start: int, text: str) -> Piece:
    value, sloped, rate = text.partition("+slope:")
    return Piece(start, loss(value, f"the step at {start}"), positive(rate, "the slope") if sloped else Fraction(0))
