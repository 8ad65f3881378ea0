"""Wrong mechanisms, each beside the right one: an auditor that misses one of them, or cries at its twin, is no good.

Each fault is one that was made in earnest by somebody. It is looked at in the depth that shows it best; the twin is the
same mechanism without the fault, looked at in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import ceil
from typing import Any, ClassVar, Final

from hubbub.audit.blackbox import Experiment, compare
from hubbub.audit.blending import Data, listed, of_table
from hubbub.audit.blending import Law as Outcomes
from hubbub.audit.exact import of_channel
from hubbub.audit.faults import code, releases
from hubbub.audit.finding import Depth, Finding
from hubbub.audit.zero_knowledge import of_count, simulate
from hubbub.channels.law import Law
from hubbub.channels.mechanisms.exact_or_suppressed import ExactOrSuppressed
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.papers.estimators import lower_bound
from hubbub.channels.papers.lower_bound import Cell, Estimator, estimator_law
from hubbub.channels.protocol import Card, Channel, Proof, Published
from hubbub.channels.subsample import Subsampled
from hubbub.guarantees.curve import steps
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, Guarantee, OutlierPrivacy
from hubbub.guarantees.derivation import Theorem
from hubbub.noise.source import SystemSource
from hubbub.numeric.exact import INFINITY, exp, rounded
from hubbub.runtime.frozen import dataclass

# A channel that is nothing but its laws: for mechanisms that exist only to be refuted.
#
# No proof stands in for a count that was not looked at, so whatever the checker says about it comes from the laws.


@dataclass(frozen=True)
class Family(Channel):
    """`laws(count)` for every count, and what somebody claims about them."""

    name: ClassVar[str] = "family"
    card: ClassVar[Card] = Card(statement=Theorem("family", "nothing", "nobody"), summary="laws alone", example="")
    proofs: ClassVar[tuple[Proof, ...]] = ()
    unbiased: ClassVar[bool] = False
    laws: Callable[[int], Law]
    claimed: Guarantee

    @property
    def claim(self) -> Guarantee:
        return self.claimed

    def law(self, count: int) -> Law:
        return self.laws(count)

    def release(self, counts: Any, source: Any) -> Published:
        raise NotImplementedError("a mechanism that was refuted is not run")


RUNS: Final = 20_000
CROWD: Final = 20


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, the depth that shows it, and the two audits."""

    name: str
    what: str
    depth: Depth
    wrong: Callable[[], Finding]
    right: Callable[[], Finding]


def drawn(channel: Channel, count: int) -> Experiment:
    """What a channel publishes for a count, many times."""
    import numpy as np

    source = SystemSource()

    def many(n: int) -> list[object]:
        published = channel.release(np.full(n, count, dtype=np.int64), source)
        return [published.outcome(i)[0] for i in range(n)]

    return many


# --- thresholds and bins ------------------------------------------------------------------------------------------


def _threshold(threshold: int) -> Finding:
    claim = CrowdBlending(k=CROWD, epsilon=Fraction(0))
    return of_channel(Family(ExactOrSuppressed(threshold).law, claim), counts=range(1, CROWD + 3))


def _threshold_right() -> Finding:
    return of_channel(ExactOrSuppressed(CROWD))


def _hidden(count: int) -> int | str:
    return count if count >= 2 else "hidden"


def _nulls_pass(data: Data) -> Outcomes:
    """The crowd is asked of the named town alone; people of no town are published as they are."""
    return {(_hidden(data[0]), data[1]): Fraction(1)}


def _nulls_are_a_bin(data: Data) -> Outcomes:
    return {(_hidden(data[0]), _hidden(data[1])): Fraction(1)}


def _nulls(mechanism: Callable[[Data], Outcomes]) -> Finding:
    return of_table(listed(mechanism, 2, 4), 2, Fraction(0), names=("Bath", "nowhere"))


# --- noise ----------------------------------------------------------------------------------------------------------


def _noise(rate: Fraction) -> Finding:
    channel = Geometric(rate)
    return compare(drawn(channel, 10), drawn(channel, 11), epsilon=1, runs=RUNS, subject="geometric noise")


@cache
def _printed_sign(sign: int) -> Channel:
    """The estimator of 1/epsilon as it is printed: t(k) + X with its safety margin subtracted (sign -1)."""
    t = [max(100 - count, 1) for count in range(101)]
    rate, alpha = Fraction(1, 200), 10
    curve = steps(*((count, Fraction(1, t[count])) for count in range(1, 101)))
    claim = OutlierPrivacy(curve=curve, delta=rounded(exp(Fraction(-alpha)) / 2, up=True))
    if sign > 0:
        return lower_bound(curve, "scale-global", rate, alpha, grid=Fraction(1))
    margin, bottom = ceil(alpha / rate), ceil(1 / rate)

    def cells(low: int, high: int) -> list[Cell]:
        return [(None, 0, INFINITY), *((n, n, Fraction(1, n)) for n in range(1, bottom)), (bottom, None, rate)]

    estimator = Estimator(centre=lambda count: t[min(count, 100)] - margin, rate=lambda count: rate, cells=cells)
    return Family(cache(lambda count: estimator_law(estimator, rate, count)), claim)


def _sign(sign: int) -> Finding:
    return of_channel(_printed_sign(sign), counts=[1])


# --- promises that are told of the wrong people -----------------------------------------------------------------------


def _unit(rows: int) -> Finding:
    """One person who has so many rows in a bin, held against a promise to people."""
    noise = Geometric(Fraction(1))
    claim = DifferentialPrivacy(epsilon=Fraction(1))
    with_rows = Family(lambda count: noise.law(rows * count), claim)
    return of_channel(with_rows if rows > 1 else noise, claim, counts=[1, 2, 3])


def _collected_claim() -> DifferentialPrivacy:
    return Subsampled(Fraction(1, 10), ExactOrSuppressed(CROWD), Fraction(1, 10**6)).claim


def _collected() -> Finding:
    """What holds for the population is told of the table itself."""
    return of_channel(ExactOrSuppressed(CROWD), _collected_claim(), counts=range(CROWD - 1, CROWD + 2))


def _collected_right() -> Finding:
    subsampled = Subsampled(Fraction(1, 10), ExactOrSuppressed(CROWD), Fraction(1, 10**6))
    return of_channel(subsampled, _collected_claim(), counts=(1, CROWD, 100))


def _rows_of_simulator(claimed: int) -> Finding:
    return of_count(simulate(200, 40, 100, epsilon_dp=2, claimed_rows=claimed))


FAULTS: Final = (
    Fault(
        "threshold off by one",
        "counts are shown from k - 1 on",
        Depth.EXACT,
        lambda: _threshold(CROWD - 1),
        _threshold_right,
    ),
    Fault(
        "rows counted instead of people",
        "somebody with twenty rows counts twenty times",
        Depth.REPLAY,
        lambda: code.rows(code.by_rows),
        lambda: code.rows(code.by_people),
    ),
    Fault(
        "null bin ignored",
        "people without a town need no crowd",
        Depth.EXACT,
        lambda: _nulls(_nulls_pass),
        lambda: _nulls(_nulls_are_a_bin),
    ),
    Fault(
        "empty bins skipped",
        "noise goes to bins with somebody in them",
        Depth.REPLAY,
        lambda: code.bins(code.occupied),
        lambda: code.bins(code.declared),
    ),
    Fault(
        "noise scale 20 % small",
        "the noise of epsilon 1.25 for a promise of 1",
        Depth.BLACK_BOX,
        lambda: _noise(Fraction(5, 4)),
        lambda: _noise(Fraction(1)),
    ),
    Fault(
        "the printed sign error",
        "a safety margin is subtracted that must be added (E1)",
        Depth.EXACT,
        lambda: _sign(-1),
        lambda: _sign(1),
    ),
    Fault(
        "a second margin",
        "two exact tables of the same people",
        Depth.PUBLISHED,
        lambda: releases.margins(jointly=True),
        lambda: releases.margins(jointly=False),
    ),
    Fault(
        "sample reused",
        "two tables of one sample, promised as if of two",
        Depth.EXACT,
        lambda: releases.samples(reused=True),
        lambda: releases.samples(reused=False),
    ),
    Fault(
        "policy read after the data",
        "ranges are cut where the largest value is",
        Depth.REPLAY,
        lambda: code.ages(code.cut_by_the_data),
        lambda: code.ages(code.cut_as_declared),
    ),
    Fault(
        "float noise",
        "Laplace noise by the logarithm of a float",
        Depth.BLACK_BOX,
        lambda: code.bits(code.naive_laplace),
        lambda: code.bits(code.geometric),
    ),
    Fault(
        "simulator given too many rows",
        "40 of 200 people are drawn, and K = 10 is promised",
        Depth.EXACT,
        lambda: _rows_of_simulator(10),
        lambda: _rows_of_simulator(40),
    ),
    Fault(
        "a unit mixed up",
        "a promise about visits is told of patients, who have three",
        Depth.EXACT,
        lambda: _unit(3),
        lambda: _unit(1),
    ),
    Fault(
        "a collected table's promise told about the table",
        "what a sample buys the population is claimed for tables of 20 and 19",
        Depth.EXACT,
        _collected,
        _collected_right,
    ),
)
