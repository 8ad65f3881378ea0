"""A count from a secret sample beside the paper's own simulator, in exact laws.

The mechanism draws K of N people, counts those who have something, and adds two-sided geometric noise. The simulator is
given K random people of the same database in which one person's row is blank, and does the same. Both laws are mixtures
of shifted geometric laws with hypergeometric weights, so their largest ratio is worked out for one database, and for
all of them: how many people have it is all that matters. Beyond the counts that a sample can have both laws fall alike,
so outcomes from 0 to K tell everything.

A table of two bins from a secret sample beside the paper's simulator, in exact laws.

As :mod:`hubbub.audit.zero_knowledge`, for a table: everybody is in one bin or the other, and a blank row is in neither.
Replacing a row moves two counts, blanking it one, so the blank lies half way between any two rows (Theorem A1').
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import ceil
from typing import Any, Final

from flint import arb, arb_mat

from hubbub.audit.finding import Depth, Finding, Game
from hubbub.errors import WrongUse
from hubbub.guarantees.verdict import Proved, Refuted, Undecided, Verdict
from hubbub.numeric.exact import (
    Exact,
    Infinite,
    Loss,
    ball,
    exp,
    integer,
    lower,
    precision,
    rounded,
    to_float,
    to_text,
    upper,
)
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank, Sanitized, inside, outside

_MOST: Final = 600_000  # people times rows for which every database is looked at
_MOST_ROWS: Final = 5_000
_BITS: Final = 192


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """The two laws of one database, and how far apart they are there and at worst."""

    people: int
    rows: int
    ones: int
    epsilon: Fraction  # of the noise, inside the sample
    claim: Loss
    claimed_rows: int
    coin: bool  # a blank is a fair coin; else it is not counted
    mechanism: tuple[float, ...]  # outcome 0..rows -> probability, for drawing
    simulator: tuple[float, ...]
    here: arb
    worst: arb | None  # over all databases, where that was worked out
    worst_ones: int | None

    def as_json(self) -> dict[str, Any]:
        return {
            "people": self.people,
            "rows": self.rows,
            "ones": self.ones,
            "epsilon_dp": to_text(self.epsilon),
            "blank": "a fair coin" if self.coin else "not counted",
            "this_database": to_float(self.here, round_up=True),
            "worst_case": None if self.worst is None else to_float(self.worst, round_up=True),
            "worst_ones": self.worst_ones,
            "claim": "inf" if isinstance(self.claim, Infinite) else to_float(self.claim, round_up=True),
            "simulator_saw": round(self.rows / self.people, 6),
        }

    def sentences(self) -> tuple[str, ...]:
        many = "not worked out for so many people" if self.worst is None else f"{_figure(self.worst)}"
        at = "" if self.worst_ones is None else f" (where {self.worst_ones:,} have it)"
        claim = self.claim if isinstance(self.claim, Infinite) else _figure(self.claim)
        return (
            f"The release and the simulator, which sees {self.rows:,} of {self.people:,} people and not this one, are "
            f"{_figure(self.here)} apart on this database.",
            f"Over all databases: {many}{at}. Claimed: {claim}, with K = {self.claimed_rows:,}.",
            f"Of somebody's 199 friends the simulator saw {199 * self.rows / self.people:.1f} on average.",
        )


def _figure(x: arb | Fraction) -> str:
    return f"{to_float(x, round_up=True):.6f}"


def simulate(
    people: Exact,
    rows: Exact,
    ones: Exact,
    *,
    epsilon_dp: Exact | None = None,
    epsilon_zk: Exact | None = None,
    coin: bool = False,
    claimed_rows: Exact | None = None,
) -> Simulated:
    """Mechanism and simulator on a database in which `ones` of `people` have it, one of them the person in question.

    The claim is that of Theorem A1 (a blank that is not counted) or A1' (a fair coin), for `claimed_rows` if somebody
    claims another number of rows than are drawn.
    """
    n, k, t = integer(people, "`people`", least=2), integer(rows, "`rows`", least=1), integer(ones, "`ones`", least=1)
    if not k <= n or not t <= n or k > _MOST_ROWS:
        raise WrongUse(f"`rows` and `ones` are at most `people`, and `rows` at most {_MOST_ROWS:,}; lower them")
    if (epsilon_dp is None) == (epsilon_zk is None):
        raise WrongUse("give `epsilon_zk`, the promise, or `epsilon_dp`, what is spent inside the sample; one of them")
    blank = Blank.COIN if coin else Blank.ANY
    spent: Sanitized = (
        inside(k, n, epsilon_zk, blank=blank) if epsilon_zk is not None else outside(k, n, epsilon_dp or 0, blank=blank)
    )
    epsilon = spent.epsilon_dp
    claim = spent.epsilon_zk
    if claimed_rows is not None:
        claim = outside(claimed_rows, n, epsilon, blank=blank).epsilon_zk
    with precision(_BITS):
        kernel = arb_mat(k + 1, k + 1, [exp(-epsilon * abs(x - s)) for x in range(k + 1) for s in range(k + 1)])
        mine = _laws(kernel, n, k, [t, t - 1])
        sims = [_simulator_mass(mine, x, coin) for x in range(k + 1)]
        here = _largest([mine[x, 0] for x in range(k + 1)], sims)
        worst, at = _worst(kernel, n, k, coin) if n * k <= _MOST else (None, None)
        peak = (ball(epsilon) / 2).tanh()
        return Simulated(
            people=n,
            rows=k,
            ones=t,
            epsilon=epsilon,
            claim=claim,
            claimed_rows=k if claimed_rows is None else integer(claimed_rows, "`claimed_rows`"),
            coin=coin,
            mechanism=tuple(to_float(mine[x, 0] * peak, round_up=False) for x in range(k + 1)),
            simulator=tuple(to_float(each * peak, round_up=False) for each in sims),
            here=here,
            worst=worst,
            worst_ones=at,
        )


def weights(n: int, t: int, k: int) -> list[arb]:
    """The hypergeometric law of how many of k drawn people are among t of n: ratios from the first, then scaled."""
    first, last = max(0, k - (n - t)), min(k, t)
    term, terms = arb(1), [arb(0)] * (k + 1)
    total = arb(0)
    for s in range(first, last + 1):
        terms[s] = term
        total += term
        if s < last:
            term = term * ((t - s) * (k - s)) / ((s + 1) * (n - t - k + s + 1))
    return [each / total for each in terms]


def _laws(kernel: arb_mat, n: int, k: int, every: list[int]) -> arb_mat:
    """outcome x database -> probability, up to the factor that all share."""
    columns = [weights(n, t, k) for t in every]
    return kernel * arb_mat(k + 1, len(every), [columns[j][s] for s in range(k + 1) for j in range(len(every))])


def _simulator_mass(laws: arb_mat, x: int, coin: bool) -> arb:
    """The simulator's probability of an outcome: the blank is a fair coin, or not counted."""
    return (laws[x, 0] + laws[x, 1]) / 2 if coin else laws[x, 1]


def _largest(one: list[arb], two: list[arb]) -> arb:
    worst = arb(0)
    for p, q in zip(one, two, strict=True):
        worst = worst.max(abs((p / q).log()))
    return worst


def _worst(kernel: arb_mat, n: int, k: int, coin: bool) -> tuple[arb, int]:
    """The largest ratio over all databases, and how many have it there; of two-valued blanks either way round."""
    laws = _laws(kernel, n, k, list(range(n + 1)))
    worst, at = arb(0), 1
    for t in range(1, n + 1):
        for x in range(k + 1):
            more, fewer = laws[x, t], laws[x, t - 1]
            ratios = (more / ((more + fewer) / 2), fewer / ((more + fewer) / 2)) if coin else (more / fewer,)
            for ratio in ratios:
                apart = abs(ratio.log())
                if apart > worst:
                    at = t
                worst = worst.max(apart)  # a ball around both, where they overlap
    return worst, at


def of_count(done: Simulated, subject: str = "a count from a secret sample") -> Finding:
    """The claim against the worst database that was looked at.

    Guarantee: `Proved` only if the largest ratio over every database is certainly within the claim; `Refuted` only if
    that of some database is certainly beyond it. That no other simulator does better is not shown by this.
    """
    worst, all_of_them = (done.here, False) if done.worst is None else (done.worst, True)
    ones = done.ones if done.worst_ones is None else done.worst_ones
    verdict: Verdict = Undecided("this database is within the claim, and the others are too many to look at")
    if not isinstance(done.claim, Infinite) and lower(worst) > done.claim:
        apart = to_text(rounded(worst, up=False, digits=9))
        witness = (("have_it", str(ones)), ("people", str(done.people)), ("apart", apart))
        verdict = Refuted("the release and the paper's simulator are further apart than claimed", witness)
    elif all_of_them and (isinstance(done.claim, Infinite) or upper(worst) <= done.claim):
        verdict = Proved(f"over all {done.people + 1:,} databases the simulator is within the claim")
    elif all_of_them:
        verdict = Undecided("the largest ratio and the claim are the same to all digits worked with")
    return Finding(
        game=Game.ZERO_KNOWLEDGE,
        depth=Depth.EXACT,
        verdict=verdict,
        claimed=f"epsilon {to_text(done.claim)}, K = {done.claimed_rows}",
        subject=subject,
        lower_bound=to_text(rounded(worst, up=False, digits=12)),
        numbers=done.as_json(),
    )


def visible_range(done: Simulated) -> tuple[int, int]:
    """Outcomes worth drawing: all but a thousandth of either law."""
    found = [x for x in range(done.rows + 1) if max(done.mechanism[x], done.simulator[x]) > max(done.mechanism) / 1000]
    return found[0], max(found[-1], ceil(found[0] + 1))


_MOST_IN_TABLE: Final = 300_000  # people times outcomes that are looked at


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
    if not k < n or not t <= n or n * (k + 1) ** 2 > _MOST_IN_TABLE:
        raise WrongUse(
            f"`rows` is below `people`, `ones` at most that, and people times (rows + 1)^2 at most {_MOST_IN_TABLE:,}; lower one"
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
        apart = {at: _largest_log_ratio(noise, n, at) for at in range(1, n + 1)}
        worst = max(apart, key=lambda at: float(apart[at].mid()))
        mine, theirs = _table_laws(noise, n, t)
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


def _table_laws(noise: _Noise, n: int, t: int) -> tuple[arb_mat, arb_mat]:
    """The release, and the simulator: of its K rows the blank one is one with probability K/N."""
    k = noise.rows
    drawn = ball(Fraction(k, n))
    fewer = noise.law(weights(n - 1, t - 1, k - 1), k - 1)
    without = noise.law(weights(n - 1, t - 1, k), k)
    return noise.law(weights(n, t, k), k), drawn * fewer + (1 - drawn) * without


def _largest_log_ratio(noise: _Noise, n: int, t: int) -> arb:
    one, two = _table_laws(noise, n, t)
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
