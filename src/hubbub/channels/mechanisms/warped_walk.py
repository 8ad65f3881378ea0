"""Drawing from the warped law by walking away from the count, exactly and for many counts at once.

A fair coin picks the side. The tails of Theorem W1 say how far the walk goes: with b_m = 1/(1 + e^-epsilon(m)),

    P(J >= m | up)   = 2 b_m     e^-(E(m) - E(c))   for m > c,
    P(J <= m | down) = 2 b_(m+1) e^-(E(c) - E(m))   for m < c

(at most 1, because P(J > c) = 1 - b_(c+1) and P(J < c) = 1 - b_c are at most 1/2), and once it has come as far as s,

    P(J >= m | J >= s) = b_m / b_s         e^-(E(m) - E(s))   for m > s >= c,
    P(J <= m | J <= s) = b_(m+1) / b_(s+1) e^-(E(s) - E(m))   for m < s <= c,

whatever the count was. So a walk may be interrupted at any value and go on with fresh randomness. It is
interrupted where a piece of the curve ends, and each piece is one jump, cut at its end:

* flat, from the count: P(n values or further) = 2 q^n/(1 + q), q = e^-epsilon: the law of |Z|, Z two-sided geometric;
* flat, coming from another piece: a coin of probability (1 - b)/b_s enters it, and P(n further) = q^n is geometric;
* flat at 0: the walk always goes through;
* a slope: :mod:`hubbub.channels.mechanisms.warped_walk`.

Upwards the pieces are taken from the first to the last and downwards from the last to the first, each once: who comes
to the end of a piece is waiting when the next one is taken.

Drawing how far a walk goes along a slope of the curve, in one jump and exactly.

The losses on the way are e, e + g, e + 2 g, ...; g is the slope going up, and minus the slope going down. With
b(x) = 1/(1 + exp(-x)), the walk of :mod:`hubbub.channels.mechanisms.warped_walk` goes n values or further with
probability

    T(n) = b(e + g (n - 1)) / beta * exp(-(n e + g n (n - 1)/2)),      n = 1, 2, ..., room,

where beta is 1/2 on leaving the count itself and b(the last loss passed) after that. T falls from at most 1, so

    n = how many i in 1..room have U < T(i),      U uniform on [0, 1),

has exactly this law. The first 64 bits of U, a word w, say w <= 2**64 U < w + 1.

*Guess*: n is near the root of a quadratic equation, found in floating-point numbers. How good the guess is decides how
fast this is, and nothing else.

*Proof*: n is right if w + 1 <= 2**64 T(n) and 2**64 T(n + 1) <= w. T is computed in doubles from sums, products,
quotients and one table of exponentials rounded from balls; each of these is off by a factor 1 +- 2**-52 at most (IEEE
754). In the exponent n (e + g (n - 1)/2) at most half of e is cancelled, because no loss is below 0. Its 14 roundings
therefore move it by 2**-47 of itself at most, which is less than 2**-41 as it is at most 50. The argument of b moves
by less than 2**-43, and :func:`_exp` adds 2**-44 each time. So a computed T is T within a factor 1 +- 2**-40, and the
two inequalities are demanded with that to spare. Exponents above 50 are taken for 50: this overstates T, which leaves
the second proof valid, and makes 2**64 T at most 1/100, which leaves the first one impossible.

*Doubt*: a guess proved wrong moves by one. Where nothing is proved, because the word is too near to T(n) or T(n + 1),
balls and further bits of U decide (:func:`_settle`). So the answer is the n of U itself, always, and U is uniform: the
law is exact, and not exact up to 2**-40.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.errors import CheckFailed, WrongUse
from hubbub.guarantees.curve import Curve, Piece
from hubbub.noise.sampler import geometric, two_sided_geometric
from hubbub.noise.source import Source, Words
from hubbub.noise.table import CHUNK, CertifiedTable
from hubbub.numeric.exact import Infinite, exp, lower, precision

Ints: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.intp]  # positions in the array of values

_FAR: Final = 2**62 + 2**61
"""Stands for "never" in 64 bits: from 2^62, the largest count, nobody comes there but with probability exp(-10^12)."""


def walk(curve: Curve, cap: int | None, counts: Ints, source: Source) -> Ints:
    """J for each count. Counts above `cap` (beyond an infinite step) are returned as they are.

    Guarantee: J is drawn exactly from f_c(j) = w_j exp(-|E(c) - E(j)|), independently for each count (Theorem W1). Each
    jump is exact, as said at the top of this file, and takes fresh words.
    """
    if cap == 0:
        return np.zeros_like(counts) if curve.limit == 0 else counts.copy()
    walks = _Walks(curve, cap, source)
    values = counts.copy()
    size = CHUNK * len(walks.pieces)  # what stays in the cache, for each of the pieces
    for start in range(0, values.size, size):
        walks.run(values[start : start + size])
    return values


class _Walks:
    """The finite pieces of a curve with their ends, and where the randomness comes from."""

    def __init__(self, curve: Curve, cap: int | None, source: Source) -> None:
        self.pieces = [piece for piece in curve.pieces if not isinstance(piece.value, Infinite)]
        self.cap = _FAR if cap is None else cap
        if max(self.cap, self.pieces[-1].start) > _FAR:
            raise WrongUse("a step of the curve starts beyond 2^62 people, where no count ever is; leave it out")
        self.starts = np.array([piece.start for piece in self.pieces], dtype=np.int64)
        self.ends = [*(piece.start - 1 for piece in self.pieces[1:]), self.cap]
        self.source = source

    def run(self, values: Ints) -> None:
        """Replaces each count by its J."""
        heads = self._fair_bits(values.size)
        up, down = np.flatnonzero(heads & (values < self.cap)), ~heads & (values > 0) & (values <= self.cap)
        self._sweep(values, up, 1)
        self._sweep(values, np.flatnonzero(down), -1)

    def _fair_bits(self, size: int) -> NDArray[np.bool_]:
        """Fair coins, 64 to a word."""
        words = self.source.words((size + 63) // 64)
        return np.unpackbits(words.view(np.uint8), count=size).view(np.bool_)

    def _sweep(self, values: Ints, walkers: Places, step: int) -> None:
        """All the walks to one side."""
        groups = self._by_piece(values, walkers, step)
        waiting: Places = walkers[:0]
        for i in range(len(groups))[::step]:
            through = [waiting]
            if waiting.size:
                through = [self._move(values, waiting, i, step, self._last_loss(i, step))]
            if groups[i].size:
                through.append(self._move(values, groups[i], i, step, None))
            waiting = np.concatenate(through)

    def _by_piece(self, values: Ints, walkers: Places, step: int) -> list[Places]:
        """For each piece, the walkers whose first loss is there: epsilon(c + 1) upwards, epsilon(c) downwards."""
        many = len(self.pieces)
        if many == 1:
            return [walkers]
        which = np.searchsorted(self.starts, values[walkers] + (step > 0), side="right") - 1
        order = np.argsort(which.astype(np.uint16) if many < 2**16 else which, kind="stable")  # 16 bits sort by radix
        return np.split(walkers[order], np.bincount(which, minlength=many).cumsum()[:-1])

    def _move(self, values: Ints, walkers: Places, i: int, step: int, passed: Fraction | None) -> Places:
        """One jump within piece i; returns the walkers that have come to its end and go on from there."""
        at = values[walkers]
        room = self.ends[i] - at if step > 0 else at - (self.pieces[i].start - 1)
        far = self._jump(at, room, i, step, passed)
        values[walkers] = at + step * np.minimum(far, room)
        return walkers[far >= room]

    def _jump(self, at: Ints, room: Ints, i: int, step: int, passed: Fraction | None) -> Ints:
        """How far each walk goes in piece i, or would go if the piece did not end."""
        piece = self.pieces[i]
        assert isinstance(piece.value, Fraction)
        if piece.rate:
            return jump(piece, at + (step > 0), room, step, passed, self.source)
        if passed is None:
            return np.abs(two_sided_geometric(piece.value, at.size, self.source)) if piece.value else room
        far = np.zeros(at.size, dtype=np.int64)
        enters = np.flatnonzero(_entry(passed, piece.value).sample(at.size, self.source) == 0)
        far[enters] = 1 + geometric(piece.value, enters.size, self.source) if piece.value else room[enters]
        return far

    def _last_loss(self, i: int, step: int) -> Fraction:
        """The last loss on the way to piece i."""
        before = self.pieces[i - step]
        loss = before.at(self.ends[i - step] if step > 0 else before.start)
        assert isinstance(loss, Fraction)
        return loss


@lru_cache(maxsize=256)
def _entry(passed: Fraction, loss: Fraction) -> CertifiedTable:
    """Cell 0 says "one value further, into the next piece": its probability is (1 - b(loss)) / b(passed)."""

    def boundaries() -> list[arb]:
        a = exp(-loss)
        return [a * (1 + exp(-passed)) / (1 + a)]

    return CertifiedTable(boundaries)


Floats: TypeAlias = NDArray[np.float64]

_DOUBT: Final = 2.0**-40  # how far a computed T may be from T, relatively
_STEEPEST: Final = 50.0  # exponents above this are cut: 2**65 exp(-50) < 1/100
_CELLS: Final = 64  # per unit, of the table of exponentials
_TRIES: Final = 4  # how often a guess is moved before balls take over
_FARTHEST: Final = 2.0**40  # no guess goes beyond: T is below exp(-10^17) there, for a slope of at least 10^-6
_MOST_WORDS: Final = 256  # of one U
_SPARE: Final = 128  # bits of a ball beyond those of U


def jump(slope: Piece, first: Ints, room: Ints, step: int, passed: Fraction | None, source: Source) -> Ints:
    """How far each walk goes, 0..room, upwards (`step` = 1) or downwards (`step` = -1).

    `first` is the crowd whose loss comes first on the way; `passed` is the last loss that the walk has gone past before
    this piece, None if it stands at its count.

    Guarantee: independent, and P(n >= i) is exactly T(i) for every i in 1..room, if no loss on the way is below 0 (the
    argument is at the top of this file).
    """
    return jump_from(source.words(first.size), slope, first, room, step, passed, source)


def jump_from(
    words: Words, slope: Piece, first: Ints, room: Ints, step: int, passed: Fraction | None, source: Source
) -> Ints:
    """The jumps whose U begin with `words`; the source is asked only for what follows an uncertain word."""
    law = _doubles(step * slope.rate, passed)
    loss = (first - slope.start).astype(np.float64)
    loss *= float(slope.rate)
    loss += float(_loss(slope, slope.start))
    word, edge = words.astype(np.float64), room.astype(np.float64)
    n = np.minimum(_guess(word, loss, law), edge)
    todo, moves = _find_unproved(n, word, loss, edge, law)
    for _ in range(_TRIES):
        if not todo.size:
            break
        n[todo] += moves
        left, moves = _find_unproved(n[todo], word[todo], loss[todo], edge[todo], law)
        todo = todo[left]
    out = n.astype(np.int64)
    for i in todo:
        out[i] = _settle(int(words[i]), slope, int(first[i]), int(room[i]), step, passed, source)
    return out


class _Doubles(NamedTuple):
    """g, exp(-g) and 2**64/beta, each within a factor 1 +- 2**-52."""

    rate: float
    fall: float
    unit: float


@lru_cache(maxsize=256)
def _doubles(rate: Fraction, passed: Fraction | None) -> _Doubles:
    return _Doubles(float(rate), float(lower(exp(-rate))), 2.0**64 * float(lower(_one_over_beta(passed))))


def _one_over_beta(passed: Fraction | None) -> arb:
    return arb(2) if passed is None else 1 + exp(-passed)


def _guess(word: Floats, loss: Floats, law: _Doubles) -> Floats:
    """About the n with T(n + 1) <= U < T(n).

    -ln(beta T(n)) is (n - 1/2) e + g (n - 1)^2/2 + ln 2 + ln cosh(x/2) with x the last loss on the way; ln cosh(x/2) is
    about (sqrt(x^2 + 4) - 2)/2, and is taken at x = e.
    """
    square = loss * loss
    left = np.log(word + 0.5)
    np.subtract(math.log(law.unit / 2) + 1, left, out=left)
    left -= 0.5 * (loss + np.sqrt(square + 4))
    # e y + g y^2/2 = left for y = n - 1, without the cancellation of the usual formula
    square += 2 * law.rate * left
    np.maximum(square, 1e-200, out=square)
    np.sqrt(square, out=square)
    square += loss
    left /= square
    left *= 2
    left += 1
    np.clip(left, 0, _FARTHEST, out=left)
    return np.floor(left, out=left)


def _find_unproved(
    n: Floats, word: Floats, loss: Floats, edge: Floats, law: _Doubles
) -> tuple[NDArray[np.intp], Floats]:
    """The positions where n is not proved to be right, and by how much to move it there (0: nothing is proved)."""
    before = np.maximum(n - 1, 0)
    last = _exp(loss + law.rate * before)  # of the n-th loss; for n = 0, of the first
    power = _exp(n * (loss + law.rate / 2 * before))
    here = power / (1 + last)  # 2**64 T(n)
    here *= law.unit
    here[n == 0] = np.inf
    last *= np.where(n > 0, law.fall, 1.0)
    next_tail = last / (1 + last)  # 2**64 T(n + 1)
    next_tail *= power
    next_tail *= law.unit
    next_tail[n >= edge] = 0
    above = word + 1
    proved = above <= here * (1 - _DOUBT)
    proved &= word >= next_tail * (1 + _DOUBT)
    todo = np.flatnonzero(~proved)
    further = above[todo] <= next_tail[todo] * (1 - _DOUBT)
    less = word[todo] >= here[todo] * (1 + _DOUBT)
    return todo, further.astype(np.float64) - less


def _exp(x: Floats) -> Floats:
    """exp(-x) within a factor 1 +- 2**-44, for x in 0..50; of the nearest such x otherwise.

    i = floor(64 x) and t = i/64 - x are exact, -1/64 < t <= 0. The Taylor polynomial of degree 5 leaves out less than
    t^6/720 < 2**-45, and its roundings, the product and the table add less than 2**-49.
    """
    x = np.clip(x, 0, _STEEPEST)
    cell = (x * _CELLS).astype(np.int32)
    t = cell.astype(np.float64)
    t *= 1 / _CELLS
    t -= x
    out = t * (1 / 120)
    for coefficient in (1 / 24, 1 / 6, 1 / 2, 1.0):
        out += coefficient
        out *= t
    out += 1
    return out * _exponentials().take(cell)


@cache
def _exponentials() -> Floats:
    """exp(-i/64), i = 0, 1, ..., each within a factor 1 +- 2**-52."""
    cells = range(int(_STEEPEST) * _CELLS + 1)
    table: Floats = np.array([float(lower(exp(Fraction(-i, _CELLS)))) for i in cells])
    table.flags.writeable = False
    return table


def _loss(slope: Piece, crowd: int) -> Fraction:
    loss = slope.at(crowd)
    assert isinstance(loss, Fraction)
    return loss


def _settle(bits: int, slope: Piece, first: int, room: int, step: int, passed: Fraction | None, source: Source) -> int:
    """The slow path: the n of U, with as many bits of U and of T as it takes."""
    loss, rate = _loss(slope, first), step * slope.rate

    def tail(n: int) -> arb:
        through = exp(-n * loss - rate * (n * (n - 1) // 2))
        return _one_over_beta(passed) * through / (1 + exp(-loss - rate * (n - 1)))

    for drawn in range(1, _MOST_WORDS + 1):
        with precision(64 * drawn + _SPARE):
            n = _proved_by(bits, 64 * drawn, tail, room)
        if n is not None:
            return n
        bits = bits << 64 | int(source.words(1)[0])
    raise CheckFailed(f"a jump is undecided after {_MOST_WORDS} random words, which true random words do not do")


def _proved_by(bits: int, length: int, tail: Callable[[int], arb], room: int) -> int | None:
    """The n of every U whose first `length` bits are `bits`; None if they have no n in common, or it is not proved."""
    unit = arb(1 << length)
    low, high = 0, room
    n = 1  # doubles while U < T(n), then halves what is left between low and high
    while low < high:
        n = min(n, high)
        scaled = tail(n) * unit
        if scaled >= bits + 1:  # a comparison of balls is True only when proved
            low, n = n, 2 * n
        elif scaled <= bits:
            high = n - 1
            n = (low + high + 1) // 2
        else:
            return None
    return low
