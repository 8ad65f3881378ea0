"""A table of two bins from a secret sample beside the paper's simulator, in exact laws.

As :mod:`hubbub.audit.zero_knowledge`, for a table: everybody is in one bin or the other, and a blank row is in neither.
Replacing a row moves two counts, blanking it one, so the blank lies half way between any two rows (Theorem A1').
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import Final

from flint import arb, arb_mat

from hubbub.audit.zero_knowledge import Simulated, weights
from hubbub.errors import WrongUse
from hubbub.numeric.exact import Exact, ball, exp, integer, precision, to_float
from hubbub.sampling.sanitize import Blank, inside, outside

_MOST: Final = 300_000  # people times outcomes that are looked at
_BITS: Final = 192


def simulate_table(
    people: Exact,
    rows: Exact,
    ones: Exact,
    *,
    epsilon_dp: Exact | None = None,
    epsilon_zk: Exact | None = None,
    claimed_rows: Exact | None = None,
) -> Simulated:
    """Both laws where `ones` of `people` are in the first bin, the person among them; each bin has noise of its own.

    The laws of the first bin are for drawing; the distances are those of both bins together. The worst case is over all
    databases of two bins.
    """
    n, k, t = integer(people, "`people`", least=2), integer(rows, "`rows`", least=1), integer(ones, "`ones`", least=1)
    if not k < n or not t <= n or n * (k + 1) ** 2 > _MOST:
        raise WrongUse(
            f"`rows` is below `people`, `ones` at most that, and people times (rows + 1)^2 at most {_MOST:,}; lower one"
        )
    if (epsilon_dp is None) == (epsilon_zk is None):
        raise WrongUse("give `epsilon_zk`, the promise, or `epsilon_dp`, what is spent inside the sample; one of them")
    half_way = Blank.HALF_WAY
    spent = (
        inside(k, n, epsilon_zk, blank=half_way)
        if epsilon_zk is not None
        else outside(k, n, epsilon_dp or 0, blank=half_way)
    )
    claimed = k if claimed_rows is None else integer(claimed_rows, "`claimed_rows`", least=1)
    claim = spent.epsilon_zk if claimed == k else outside(claimed, n, spent.epsilon_dp, blank=half_way).epsilon_zk
    with precision(_BITS):
        noise = _Noise(spent.epsilon_dp / 2, k)
        apart = {at: _apart(noise, n, at) for at in range(1, n + 1)}
        worst = max(apart, key=lambda at: float(apart[at].mid()))
        mine, theirs = _laws(noise, n, t)
        return Simulated(
            people=n,
            rows=k,
            ones=t,
            epsilon=spent.epsilon_dp,
            claim=claim,
            claimed_rows=claimed,
            coin=False,
            mechanism=_first_bin(mine, k),
            simulator=_first_bin(theirs, k),
            here=apart[t],
            worst=reduce(arb.max, apart.values()),
            worst_ones=worst,
        )


class _Noise:
    """exp(-rate |x - c|) for outcomes and counts from 0 to rows."""

    def __init__(self, rate: Fraction, rows: int) -> None:
        self.rows = rows
        self.kernel = arb_mat(
            rows + 1, rows + 1, [exp(-rate * abs(x - c)) for x in range(rows + 1) for c in range(rows + 1)]
        )

    def law(self, chances: list[arb], total: int) -> arb_mat:
        """outcome of the first bin x of the second, where the counts are (c, total - c) with these chances."""
        size = self.rows + 1
        weighted = [arb(0)] * (size * size)
        for c, chance in enumerate(chances):
            if c <= total and not chance.is_zero():
                weighted[c * size + total - c] = chance
        return self.kernel * arb_mat(size, size, weighted) * self.kernel


def _laws(noise: _Noise, n: int, t: int) -> tuple[arb_mat, arb_mat]:
    """The release, and the simulator: of its K rows the blank one is one with probability K/N."""
    k = noise.rows
    drawn = ball(Fraction(k, n))
    fewer = noise.law(weights(n - 1, t - 1, k - 1), k - 1)
    without = noise.law(weights(n - 1, t - 1, k), k)
    return noise.law(weights(n, t, k), k), drawn * fewer + (1 - drawn) * without


def _apart(noise: _Noise, n: int, t: int) -> arb:
    one, two = _laws(noise, n, t)
    worst = arb(0)
    for x in range(noise.rows + 1):
        for y in range(noise.rows + 1):
            worst = worst.max(abs((one[x, y] / two[x, y]).log()))
    return worst


def _first_bin(law: arb_mat, k: int) -> tuple[float, ...]:
    """About the law of the first bin among these outcomes."""
    sums = [sum((law[x, y] for y in range(k + 1)), arb(0)) for x in range(k + 1)]
    total_mass = sum(sums, arb(0))
    return tuple(to_float(each / total_mass, round_up=False) for each in sums)
