"""Exact samplers of integer laws, vectorised: each is a certified table and a little algebra.

================================  ==============================  ==================
function                          law                             words per sample
================================  ==============================  ==================
``bernoulli``                     P(True) = p                     1
``bernoulli_exp``                 P(True) = exp(-r)               1
``bernoulli_certified``           P(True) = a ball's number       1
``geometric``                     P(G >= m) = exp(-epsilon m)     1, or 2 below 0.006
``two_sided_geometric``           P(x) ~ exp(-epsilon |x|)        1, or 2 below 0.006
``two_sided_geometric_each``      one epsilon per element         the same
================================  ==============================  ==================

Any other finite law is a `CertifiedTable` of its own. Binomials are in :mod:`hubbub.noise.binomial`.

Two facts carry the geometric laws. With q = exp(-epsilon) and G geometric, P(G >= m) = q^m:

*Memoryless*: given G >= m, G - m is geometric again. A table ends somewhere; its last cell says "beyond",
and then a fresh geometric is added to where it ended. Nothing is ever cut.

*Digits are independent*: write G = B j + r with 0 <= r < B. Then P(j, r) = (1 - q) q^(B j) q^r is a product,
so the quotient j and the remainder r are independent, j geometric with rate B epsilon and r with weights q^r. A
small epsilon is thus two tables of some thousand cells, and not one of millions.

Noise below epsilon = 10^-6 (a million people wide) is refused. At that rate a value leaves 64 bits only after 10^11
cells "beyond" in a row, each of probability exp(-12).

Two-sided geometric noise of rates below 10^-6, for sums of many steps.

Digits of a geometric number are independent (:mod:`hubbub.noise.sampler`): G = B j + r, j geometric with rate
B epsilon and r = 0..B-1 with weights q^r. With B = 1000 twice, a rate of 10^-12 is two tables more. Given its sign,
|x| - 1 of a two-sided number is geometric.

Exact uniform whole numbers, and a random choice of k of n.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.noise.table import Cells, CertifiedTable, slices
from hubbub.numeric.exact import Exact, Infinite, Loss, ball, exp, loss, rational, to_text
from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.noise.source import Source

SMALLEST_EPSILON: Final = Fraction(1, 10**6)
"""The widest noise that is drawn. There is no largest epsilon: the law is exact there too, and nearly always 0."""

_REACH: Final = 12  # nats: a table goes on until "beyond" has probability exp(-12) or less, so that it costs no time
_ONE_WORD: Final = 2000  # cells up to which one table is faster than two
_KEPT: Final = 256  # tables kept for the next call: enough for a curve of many steps; most take 64 KiB, none 2 MiB


# --- Bernoulli --------------------------------------------------------------------------------------------------


def bernoulli(p: Exact, size: int, source: Source) -> NDArray[np.bool_]:
    """`size` independent coins with P(True) = p, for a rational p in [0, 1].

    Guarantee: exactly p. True means U < p, decided by certified enclosures of p. For p = 0 and p = 1 no
    word is drawn.
    """
    chance = rational(p, "a probability")
    if not 0 <= chance <= 1:
        raise WrongUse(f"a probability must lie between 0 and 1, not {to_text(chance)}")
    if chance in (0, 1):
        return np.full(_size(size), chance == 1)
    return _bernoulli_draws(_rational_bernoulli(chance), size, source)


def bernoulli_exp(r: Exact | Infinite, size: int, source: Source) -> NDArray[np.bool_]:
    """`size` independent coins with P(True) = exp(-r), for a rational r >= 0 or infinity.

    Guarantee: exactly exp(-r). True means U < exp(-r), decided by certified enclosures of exp(-r). For
    r = 0 (always True) and r = infinity (always False) no word is drawn.
    """
    rate = loss(r, "r")
    if isinstance(rate, Infinite) or rate == 0:
        return np.full(_size(size), rate == 0)
    return _bernoulli_draws(_exponential_bernoulli(rate), size, source)


def bernoulli_certified(probability: Callable[[], arb], size: int, source: Source) -> NDArray[np.bool_]:
    """`size` independent coins with P(True) = p, where `probability()` is a ball around p at the current precision.

    Guarantee: if every ball holds the same p in [0, 1] and balls shrink as the precision grows, exactly p. The table
    is made anew at each call, since a function has no value to remember it by.
    """
    return _bernoulli_draws(CertifiedTable(lambda: [probability()]), size, source)


def _bernoulli_draws(table: CertifiedTable, size: int, source: Source) -> NDArray[np.bool_]:
    """Draws of a two-cell table: True where the cell is 0, that is U < c_1."""
    out = np.empty(_size(size), dtype=np.bool_)
    for part in slices(size):
        np.equal(table.sample(part.stop - part.start, source), 0, out=out[part])
    return out


@lru_cache(maxsize=_KEPT)
def _rational_bernoulli(p: Fraction) -> CertifiedTable:
    return CertifiedTable(lambda: [ball(p)])


@lru_cache(maxsize=_KEPT)
def _exponential_bernoulli(r: Fraction) -> CertifiedTable:
    return CertifiedTable(lambda: [exp(-r)])


# --- geometric --------------------------------------------------------------------------------------------------


def geometric(epsilon: Exact | Infinite, size: int, source: Source) -> NDArray[np.int64]:
    """`size` independent numbers of 0, 1, 2, ... with P(G >= m) = exp(-epsilon m).

    Guarantee: exactly this law, for every rational epsilon >= 10^-6 (with infinity: 0, and no word is drawn).
    The quotient by B is a table with P(j >= i) = q^(B i), whose last cell restarts; the remainder is a table with
    P(r < i) = (1 - q^i)/(1 - q^B). Both have certified boundaries, and they are independent, as shown above.
    """
    rate = _rate(epsilon)
    out = np.zeros(_size(size), dtype=np.int64)
    if isinstance(rate, Infinite):
        return out
    law = _one_sided(rate)
    for part in slices(size):
        _fill_geometric(law, out[part], source)
    return out


def two_sided_geometric(epsilon: Exact | Infinite, size: int, source: Source) -> NDArray[np.int64]:
    """`size` independent integers with P(x) = (1 - q)/(1 + q) q^|x|, q = exp(-epsilon).

    Guarantee: exactly this law, for every rational epsilon >= 10^-6 (with infinity: 0, and no word is drawn).
    P(x >= m) = P(x <= -m) = q^m/(1 + q) for m >= 1, hence given its sign, |x| - 1 is geometric. One table
    decides between 0, sign and quotient of |x| - 1 by B, and sign with "beyond"; a second the remainder.
    """
    rate = _rate(epsilon)
    out = np.zeros(_size(size), dtype=np.int64)
    if isinstance(rate, Infinite):
        return out
    law = _both_sides(rate)
    for part in slices(size):
        _fill_two_sided(law, out[part], source)
    return out


def two_sided_geometric_each(
    epsilons: Sequence[Exact | Infinite], which: NDArray[np.integer], source: Source
) -> NDArray[np.int64]:
    """One two-sided geometric number for each element of `which`: element i has epsilon = epsilons[which[i]].

    Guarantee: independent, each exactly of its law, since elements that share an epsilon are drawn together by
    :func:`two_sided_geometric` and the groups from different words.
    """
    which = np.asarray(which)
    if which.ndim != 1 or which.dtype.kind not in "iu":
        raise WrongUse("which must be a flat array of whole numbers, the positions of the epsilons")
    if which.size and (int(which.min()) < 0 or int(which.max()) >= len(epsilons)):
        raise WrongUse(f"which must hold positions from 0 to {len(epsilons) - 1}, one for each element")
    rates = [_rate(epsilon) for epsilon in epsilons]  # all of them, so that a refusal does not depend on `which`
    out = np.empty(which.size, dtype=np.int64)
    order = np.argsort(which, kind="stable")
    start = 0
    for rate, count in zip(rates, np.bincount(which, minlength=len(rates)), strict=True):
        members = order[start : start + int(count)]
        out[members] = two_sided_geometric(rate, members.size, source)
        start += int(count)
    return out


@dataclass(frozen=True, slots=True, eq=False)
class _Law:
    """The tables of one epsilon: `table` decides the quotient, 0..quotients-1 or beyond; `rest` the remainder."""

    epsilon: Fraction
    base: int
    quotients: int
    table: CertifiedTable
    rest: CertifiedTable | None  # None: the base is 1


def _split_tables(epsilon: Fraction) -> tuple[int, int]:
    """(base, quotients): one word per sample while the table is small, else two tables of about the same size."""
    reach = math.ceil(_REACH / epsilon)
    base = 1 if reach <= _ONE_WORD else math.isqrt(reach)
    return base, math.ceil(Fraction(reach, base))


@lru_cache(maxsize=_KEPT)
def _one_sided(epsilon: Fraction) -> _Law:
    """Cell j is the quotient j; the last one is "beyond"."""
    base, quotients = _split_tables(epsilon)

    def boundaries() -> list[arb]:
        # P(G < base j) = 1 - q^(base j), j = 1..quotients
        return [1 - power for power in _powers(exp(-epsilon * base), quotients)]

    return _Law(epsilon, base, quotients, CertifiedTable(boundaries), _remainder(epsilon, base))


@lru_cache(maxsize=_KEPT)
def _both_sides(epsilon: Fraction) -> _Law:
    """Cell s off the middle one: 0 for s = 0, else the sign of s and the quotient |s| - 1; both ends are "beyond"."""
    base, quotients = _split_tables(epsilon)

    def boundaries() -> list[arb]:
        # P(x >= 1 + base j) = q^(1 + base j)/(1 + q), j = 0..quotients, and the same from below
        q = exp(-epsilon)
        first = q / (1 + q)
        tails = [first, *(first * power for power in _powers(exp(-epsilon * base), quotients))]
        return [*reversed(tails), *(1 - tail for tail in tails)]

    return _Law(epsilon, base, quotients, CertifiedTable(boundaries), _remainder(epsilon, base))


@lru_cache(maxsize=_KEPT)
def _remainder(epsilon: Fraction, base: int) -> CertifiedTable | None:
    """r = 0..base-1 with weights q^r."""
    if base == 1:
        return None

    def boundaries() -> list[arb]:
        *powers, last = _powers(exp(-epsilon), base)
        return [(1 - power) / (1 - last) for power in powers]

    return CertifiedTable(boundaries)


def _powers(q: arb, n: int) -> list[arb]:
    """q^1..q^n. A ball loses some bits in thousands of products: it gets wider, never wrong."""
    powers = [q]
    for _ in range(n - 1):
        powers.append(powers[-1] * q)
    return powers


def _fill_geometric(law: _Law, out: NDArray[np.int64], source: Source) -> None:
    beyond = _one_round(law, out, source)
    while beyond.size:
        more = np.empty(beyond.size, dtype=np.int64)
        further = _one_round(law, more, source)
        out[beyond] += more
        beyond = beyond[further]


def _one_round(law: _Law, out: NDArray[np.int64], source: Source) -> NDArray[np.intp]:
    """Geometric numbers up to where the table ends; the positions of those that have come to its end."""
    cells = law.table.sample(out.size, source)
    out[:] = cells
    if law.rest is not None:
        out *= law.base
        out += law.rest.sample(out.size, source)
    beyond = _at_the_ends(cells, -1, law.quotients)
    out[beyond] = law.quotients * law.base
    return beyond


def _fill_two_sided(law: _Law, out: NDArray[np.int64], source: Source) -> None:
    middle = law.quotients + 1
    cells = law.table.sample(out.size, source)
    np.subtract(cells, middle, out=out)
    if law.rest is not None:
        # |x| = 1 + base (|s| - 1) + r = base |s| + r - (base - 1)
        sign = np.sign(out)
        out *= law.base
        sign *= law.rest.sample(out.size, source) - np.int32(law.base - 1)
        out += sign
    beyond = _at_the_ends(cells, 0, 2 * middle)
    if beyond.size:
        more = geometric(law.epsilon, beyond.size, source)
        out[beyond] = np.where(cells[beyond] == 0, -1, 1) * (1 + law.quotients * law.base + more)


def _at_the_ends(cells: Cells, first: int, last: int) -> NDArray[np.intp]:
    """The positions of the cells `first` and `last`. Mostly there are none, and the extremes are found faster."""
    if cells.size and (int(cells.min()) == first or int(cells.max()) == last):
        return np.flatnonzero((cells == first) | (cells == last))
    return np.empty(0, dtype=np.intp)


def _rate(epsilon: Exact | Infinite) -> Loss:
    rate = loss(epsilon, "epsilon")
    if rate < SMALLEST_EPSILON:
        raise WrongUse(
            f"epsilon must be at least {to_text(SMALLEST_EPSILON)} for noise to be drawn, not {to_text(rate)}; "
            "choose a larger one"
        )
    return rate


def _size(size: int) -> int:
    if size < 0:
        raise WrongUse(f"the number of samples must be at least 0, not {size}")
    return size


WIDEST: Final = Fraction(1, 10**12)
"""The smallest rate: noise leaves 64 bits with a chance below e^(-10^6) there."""

_BASE: Final = 1000


def wide_noise(rate: Fraction, size: int, source: Source) -> NDArray[np.int64]:
    """`size` independent integers with P(x) = (1 - q)/(1 + q) q^|x|, q = exp(-rate).

    Guarantee: exactly this law, for every rational rate >= 10^-12. A certified table decides between 0 and the two
    signs; the rest is |x| - 1, geometric, as a quotient and a remainder with certified tables each.
    """
    if rate >= SMALLEST_EPSILON:
        return two_sided_geometric(rate, size, source)
    if rate < WIDEST:
        raise WrongUse("noise wider than 10^12 steps is not drawn; declare a coarser step, or raise epsilon")
    sign = _signs(rate).sample(size, source).astype(np.int64) - 1
    return sign * (1 + _geometric(rate, size, source))


def _geometric(rate: Fraction, size: int, source: Source) -> NDArray[np.int64]:
    if rate >= SMALLEST_EPSILON:
        return geometric(rate, size, source)
    return _BASE * _geometric(_BASE * rate, size, source) + _rest(rate).sample(size, source)


@lru_cache(maxsize=64)
def _signs(rate: Fraction) -> CertifiedTable:
    def boundaries() -> list[arb]:
        q = exp(-rate)
        return [q / (1 + q), 1 / (1 + q)]

    return CertifiedTable(boundaries)


@lru_cache(maxsize=64)
def _rest(rate: Fraction) -> CertifiedTable:
    def boundaries() -> list[arb]:
        normalizer = 1 - exp(-_BASE * rate)
        return [(1 - exp(-i * rate)) / normalizer for i in range(1, _BASE)]

    return CertifiedTable(boundaries)


_SPARE = 64  # draws beyond the expected number, so that a second round is rare


def below(bound: int, size: int, source: Source) -> NDArray[np.int64]:
    """`size` independent whole numbers from 0 to bound - 1.

    Guarantee: exactly uniform, if the words of the source are: the top bits of each word are taken, and words whose
    number is not below the bound are thrown away. For a bound of 1 no word is drawn.
    """
    if not 1 <= bound <= 2**63:
        raise WrongUse(f"a uniform draw needs a bound between 1 and 2^63, not {bound}")
    out = np.zeros(size, dtype=np.int64)
    bits = (bound - 1).bit_length()
    filled = 0 if bits else size
    while filled < size:
        wanted = ((size - filled) << bits) // bound + _SPARE
        drawn = source.words(wanted) >> np.uint64(64 - bits)
        kept = drawn[drawn < np.uint64(bound)][: size - filled]
        out[filled : filled + kept.size] = kept.astype(np.int64)
        filled += kept.size
    return out


def distinct(k: int, n: int, source: Source) -> NDArray[np.int64]:
    """k different numbers of 0..n-1, in rising order.

    Guarantee: every set of k is equally likely, if the words of the source are uniform and independent. Uniform draws
    are kept until k different ones have come: by symmetry no set is preferred. Above n/2 those left out are drawn.
    """
    if not 0 <= k <= n:
        raise WrongUse(f"of {n} numbers between 0 and {n} can be chosen, not {k}")
    if 2 * k > n:
        stays = np.ones(n, dtype=np.bool_)
        stays[distinct(n - k, n, source)] = False
        return np.flatnonzero(stays)
    chosen = np.empty(0, dtype=np.int64)
    while chosen.size < k:
        drawn = np.concatenate([chosen, below(n, k - chosen.size, source)])
        chosen = np.sort(drawn)
        chosen = chosen[np.concatenate([[True], chosen[1:] != chosen[:-1]])] if chosen.size else chosen
    return chosen
