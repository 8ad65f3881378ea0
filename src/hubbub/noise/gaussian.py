"""The discrete Gaussian, drawn exactly: P(X = x) ~ e^(-x^2/(2 s2)) on the integers, for a rational s2.

Up to s2 = 90,000 it is one certified table over |x| <= m, whose two end cells say "beyond". There it goes on exactly:
x = m + 1 + g with g geometric of rate (m+1)/s2, kept with chance e^(-g^2/(2 s2)), else g is drawn anew and never the
table. The product e^(-g (m+1)/s2 - g^2/(2 s2)) is e^(-(m+1+g)^2/(2 s2)) up to a constant, so this is the law beyond m.

Wider ones, and few, are drawn by rejection (Canonne, Kamath, Steinke 2020): with a t near sqrt(s2), a two-sided geometric y
of rate 1/t is kept with chance e^(-(|y| - s2/t)^2/(2 s2)); the product is e^(-y^2/(2 s2)) up to a constant.

Both use coins with P(True) = e^-r for a rational r of each element. A coin compares the uniform number U, of which 64
bits are drawn, with e^-r. Double precision decides where it is far from a tie (its error is below 2^-40, and 2^-30 is
granted); every other coin is decided by certified balls and more bits of U. So each is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.noise.sampler import below, geometric, two_sided_geometric
from hubbub.noise.table import CertifiedTable, slices
from hubbub.numeric.exact import Exact, exp, positive, to_text
from hubbub.numeric.gaussian_sums import masses
from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.noise.source import Source, Words

SMALLEST, LARGEST = Fraction(1, 10**4), Fraction(1 << 80)
"""Which s2 are drawn: narrower is next to no noise, and wider leaves 64 bits once in e^(2^42) draws."""

WIDEST_TABLE: Final = Fraction(90_000)
"""Up to this s2 a table is used: some three thousand cells."""

_NARROW: Final = 400  # an s2 up to which a table is made for any number of draws
_REACH: Final = 12  # nats: "beyond" has about the probability e^-12
_FASTEST: Final = 10**6  # scales up to which geometric noise is drawn from tables
_MARGIN: Final = 2.0**-30
_KEPT: Final = 64

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


def discrete_gaussian(s2: Exact, size: int, source: Source) -> Numbers:
    """`size` independent integers with P(x) = e^(-x^2/(2 s2)) / Z(s2).

    Guarantee: exactly this law, for every rational s2 between 10^-4 and 2^80: by a certified table and its exact
    continuation, or by rejection from exact geometric noise with exact coins.
    """
    parameter = positive(s2, "the variance of Gaussian noise")
    if not SMALLEST <= parameter <= LARGEST:
        raise WrongUse(
            f"the variance of Gaussian noise must lie between 0.0001 and 2^80, not {to_text(parameter)}; choose an "
            "epsilon and a delta nearer to 1"
        )
    if size < 0:
        raise WrongUse(f"the number of samples must be at least 0, not {size}")
    out = np.empty(size, dtype=np.int64)
    few = parameter > _NARROW and size * size < 16 * parameter  # fewer than the cells that a table would have
    fill = _fill_by_rejection if few or parameter > WIDEST_TABLE else _fill_from_table
    for part in slices(size):
        fill(parameter, out[part], source)
    return out


# --- from a table -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Law:
    """Cell 0 is below -reach, cell 2 reach + 2 above reach, and cell i between them the value i - reach - 1."""

    reach: int
    table: CertifiedTable


@lru_cache(maxsize=_KEPT)
def _law(s2: Fraction) -> _Law:
    reach = math.isqrt(math.ceil(2 * _REACH * s2)) + 1

    def boundaries() -> list[arb]:
        """P(X <= x) for x = -reach-1..reach: from below, and by symmetry from above."""
        points = masses(reach, s2)
        running = (1 - points[0] - 2 * sum(points[1:], arb(0))) / 2
        low = [running]
        for point in reversed(points[1:]):
            running = running + point
            low.append(running)
        return [*low, *(1 - each for each in reversed(low))]

    return _Law(reach, CertifiedTable(boundaries))


def _fill_from_table(s2: Fraction, out: Numbers, source: Source) -> None:
    law = _law(s2)
    cells = law.table.sample(out.size, source)
    np.subtract(cells, law.reach + 1, out=out)
    far = np.flatnonzero((cells == 0) | (cells == 2 * law.reach + 2))
    if far.size:
        out[far] = np.sign(out[far]) * (law.reach + 1 + _excess(s2, law.reach + 1, far.size, source))


def _excess(s2: Fraction, start: int, size: int, source: Source) -> Numbers:
    """g >= 0 with weights e^(-((start + g)^2)/(2 s2)): geometric, and kept with chance e^(-g^2/(2 s2))."""

    def propose(n: int) -> Numbers:
        return geometric(Fraction(start) / s2, n, source)

    def chance(g: Numbers) -> Floats:
        return g.astype(np.float64) ** 2 / (2 * float(s2))

    return _keep_proposals(propose, chance, lambda g: Fraction(g * g) / (2 * s2), size, source)


# --- by rejection -----------------------------------------------------------------------------------------------


def _fill_by_rejection(s2: Fraction, out: Numbers, source: Source) -> None:
    scale = proposal_scale(s2)
    wide, centre = math.sqrt(s2), float(s2 / scale)

    def propose(n: int) -> Numbers:
        return two_sided_geometric(Fraction(1, scale), n, source) if scale <= _FASTEST else _wide(scale, n, source)

    def rate(y: Numbers) -> Floats:
        return ((np.abs(y).astype(np.float64) - centre) / wide) ** 2 / 2

    out[:] = _keep_proposals(propose, rate, lambda y: (abs(y) - s2 / scale) ** 2 / (2 * s2), out.size, source)


def proposal_scale(s2: Fraction) -> int:
    """The scale t of the geometric proposal: about sqrt(s2), to a half power of two.

    Every t gives the same law, and so near to sqrt(s2) 73 of 100 proposals are kept. Variances that are alike share the
    tables of one t, which take longer to make than some thousand numbers to draw.
    """
    return round(2 ** (round(2 * math.log2(math.isqrt(math.floor(s2)) + 1)) / 2))


def _wide(scale: int, size: int, source: Source) -> Numbers:
    """Two-sided geometric numbers of rate 1/scale, for any scale: |y| = u + scale v.

    Guarantee: u is uniform below the scale and kept with chance e^(-u/scale), v geometric of rate 1, so that u + scale v
    has weights e^(-(u + scale v)/scale); a fair sign is added and 0 with a minus drawn anew, so each weight is halved
    but that of 0, which counts once.
    """
    out, filled = np.empty(size, dtype=np.int64), 0
    while filled < size:
        n = size - filled
        u = _keep_proposals(
            lambda m: below(scale, m, source),
            lambda u: u.astype(np.float64) / scale,
            lambda u: Fraction(u, scale),
            n,
            source,
        )
        y = u + scale * geometric(1, n, source)
        minus = below(2, n, source) == 1
        signed = np.where(minus, -y, y)[~(minus & (y == 0))]
        out[filled : filled + signed.size] = signed
        filled += signed.size
    return out


def _keep_proposals(
    propose: Callable[[int], Numbers],
    rates: Callable[[Numbers], Floats],
    rate: Callable[[int], Fraction],
    size: int,
    source: Source,
) -> Numbers:
    """The first `size` proposals that a coin with P(True) = e^-rate keeps."""
    out, filled = np.empty(size, dtype=np.int64), 0
    while filled < size:
        drawn = propose(size - filled)
        good = drawn[bernoulli_exponential(rates(drawn), lambda i: rate(int(drawn[i])), source)]  # noqa: B023 - used at once
        out[filled : filled + good.size] = good
        filled += good.size
    return out


def bernoulli_exponential(near: Floats, rate: Callable[[int], Fraction], source: Source) -> NDArray[np.bool_]:
    """One coin for each element, with P(True) = e^-rate(i); `near` is that rate within 2^-32 where it is below 64.

    Guarantee: exactly this chance. U < e^-rate is decided by the first 64 bits of U where the two are further apart
    than the margin, and else by balls and more bits of the same U.
    """
    return _decide(source.words(near.size), near, rate, source)


def _decide(words: Words, near: Floats, rate: Callable[[int], Fraction], source: Source) -> NDArray[np.bool_]:
    at = words.astype(np.float64) * 2.0**-64
    away = np.minimum(near, 64.0)
    surely = at * (1 + 2.0**-50) + 2.0**-63 < np.exp(-away - _MARGIN)
    surely &= near < 64
    possibly = at * (1 - 2.0**-50) < np.exp(-away + _MARGIN) + 2.0**-60
    for i in np.flatnonzero(possibly & ~surely).tolist():
        surely[i] = _settle_coin(rate(i), words[i : i + 1], source)
    return surely


def _settle_coin(rate: Fraction, word: Words, source: Source) -> bool:
    """The coin of one element whose U begins with a word, by balls."""
    if rate == 0:
        return True
    return bool(CertifiedTable(lambda: [exp(-rate)]).sample_from(word, source)[0] == 0)
