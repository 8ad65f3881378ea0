"""Wrong mechanisms, each beside the right one: an auditor that misses one of them, or cries at its twin, is no good.

Each fault is one that was made in earnest by somebody. It is looked at in the depth that shows it best; the twin is the
same mechanism without the fault, looked at in the same way.

Releases that are right one by one and wrong together: two margins of one table, two tables of one sample.

Functions with a fault in the code around the noise, and the same without: what replay and many runs must see.

They take a table and a source, as a function of a user's would.

Everything the auditor must be right about: each planted fault, its twin, and every channel that can be named.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil, comb
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from flint import arb

from hubbub.audit.blackbox import Experiment, compare, repeat_runs
from hubbub.audit.blending import Data, of_table, table_of_laws
from hubbub.audit.blending import Law as Outcomes
from hubbub.audit.exact import of_channel
from hubbub.audit.finding import Depth, Finding, Game, time_audit
from hubbub.audit.published.inference import of_tables
from hubbub.audit.published.links import Cell as PublishedCell
from hubbub.audit.published.links import Key
from hubbub.audit.published.links import Published as PublishedTable
from hubbub.audit.replay import replay
from hubbub.audit.zero_knowledge import of_count, simulate
from hubbub.channels.catalogue import CHANNELS, cards, channel
from hubbub.channels.law import Law
from hubbub.channels.mechanisms.exact_above import ExactOrSuppressed
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.papers.lower_bound import Cell, Estimator, estimator_law, lower_bound
from hubbub.channels.profile import exact_delta
from hubbub.channels.protocol import Card, Channel, Proof, Published
from hubbub.channels.subsample import Subsampled
from hubbub.guarantees.curve import steps
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, Guarantee, OutlierPrivacy
from hubbub.guarantees.derivation import Theorem
from hubbub.guarantees.verdict import Proved, Refuted, Verdict
from hubbub.noise.source import Source, SystemSource
from hubbub.numeric.exact import INFINITY, ball, exp, lower, rational, rounded, to_text, upper
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
    is_unbiased: ClassVar[bool] = False
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


def draw_often(channel: Channel, count: int) -> Experiment:
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


def _count_or_hidden(count: int) -> int | str:
    return count if count >= 2 else "hidden"


def _nulls_pass(data: Data) -> Outcomes:
    """The crowd is asked of the named town alone; people of no town are published as they are."""
    return {(_count_or_hidden(data[0]), data[1]): Fraction(1)}


def _nulls_are_a_bin(data: Data) -> Outcomes:
    return {(_count_or_hidden(data[0]), _count_or_hidden(data[1])): Fraction(1)}


def _nulls(mechanism: Callable[[Data], Outcomes]) -> Finding:
    return of_table(table_of_laws(mechanism, 2, 4), 2, Fraction(0), names=("Bath", "nowhere"))


# --- noise ----------------------------------------------------------------------------------------------------------


def _noise(rate: Fraction) -> Finding:
    channel = Geometric(rate)
    return compare(draw_often(channel, 10), draw_often(channel, 11), epsilon=1, runs=RUNS, subject="geometric noise")


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


def _collected_wrong() -> Finding:
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
        lambda: rows(by_rows),
        lambda: rows(by_people),
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
        lambda: bins(occupied_bins),
        lambda: bins(by_people),
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
        lambda: margins(jointly=True),
        lambda: margins(jointly=False),
    ),
    Fault(
        "sample reused",
        "two tables of one sample, promised as if of two",
        Depth.EXACT,
        lambda: samples(reused=True),
        lambda: samples(reused=False),
    ),
    Fault(
        "policy read after the data",
        "ranges are cut where the largest value is",
        Depth.REPLAY,
        lambda: ages(cut_by_the_data),
        lambda: ages(cut_as_declared),
    ),
    Fault(
        "float noise",
        "Laplace noise by the logarithm of a float",
        Depth.BLACK_BOX,
        lambda: bits(naive_laplace),
        lambda: bits(geometric),
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
        _collected_wrong,
        _collected_right,
    ),
)


K: Final = 5
PEOPLE: Final = {("Bath", "F"): 30, ("Bath", "M"): 3, ("York", "F"): 12, ("York", "M"): 9}
"""Invented: three men of Bath are hidden at k = 5."""


def _cell(count: int) -> PublishedCell:
    return PublishedCell(count, count, False) if count >= K else PublishedCell(0, K - 1, True)


def margins(*, jointly: bool) -> Finding:
    """A table by town and sex, and with it one by town: each hides counts below 5."""
    fine = PublishedTable("by-town-and-sex.csv", ("town", "sex"), {key: _cell(count) for key, count in PEOPLE.items()})
    towns = sorted({town for town, _ in PEOPLE})
    coarse: dict[Key, PublishedCell] = {
        (town,): _cell(sum(n for (at, _), n in PEOPLE.items() if at == town)) for town in towns
    }
    tables = [fine, PublishedTable("by-town.csv", ("town",), coarse)] if jointly else [fine]
    return of_tables(tables, K)


# --- one sample, twice --------------------------------------------------------------------------------------------

SAMPLING_RATE: Final = Fraction(1, 4)
OTHERS: Final = 12
EPSILON: Final = Fraction(1)


def samples(*, reused: bool) -> Finding:
    """A table by street and one of the whole town, both hiding counts below 5, of a secret sample or of two.

    Twelve people live in one street and the person alone in another. Promised is what two samples buy: the losses of
    both releases add up. Of one sample, the town minus the street is the person.
    """
    claimed = 2 * max(_chance_single(people) for people in range(1, OTHERS + 2))
    with_person, gone = (_law(present=present, reused=reused) for present in (True, False))
    delta = _hockey_stick(with_person, gone).max(_hockey_stick(gone, with_person))
    verdict: Verdict = Proved("the joint laws are as close as promised")
    if lower(delta) > claimed:
        witness = (
            ("people", f"{OTHERS} in one street, one in another"),
            ("epsilon", to_text(EPSILON)),
            ("claimed_delta", to_text(rounded(claimed, up=True, digits=6))),
            ("exact_delta_at_least", to_text(rounded(delta, up=False, digits=6))),
        )
        verdict = Refuted("two tables of one sample tell who is in it", witness)
    return Finding(
        game=Game.DIFFERENTIAL,
        depth=Depth.EXACT,
        verdict=verdict,
        claimed=f"epsilon {to_text(EPSILON)}, delta {to_text(rounded(claimed, up=True, digits=6))}",
        subject="two tables of one sample" if reused else "two tables of two samples",
        lower_bound=f"delta {to_text(rounded(delta, up=False, digits=6))}",
    )


def _chance_single(people: int) -> Fraction:
    """The exact delta of one table on its own sample at half the epsilon."""
    return upper(exact_delta(Subsampled(SAMPLING_RATE, ExactOrSuppressed(K)), people, EPSILON / 2))


def _law(*, present: bool, reused: bool) -> dict[object, Fraction]:
    """Outcomes (street, the other street, town) with their exact probabilities."""
    found: dict[object, Fraction] = {}
    for (a, t, p), (b, u, q) in product(_sample(present), _sample(present)):
        if reused and (a, t) != (b, u):
            continue
        published = (_suppress(a), _suppress(t), _suppress(b + u))
        found[published] = found.get(published, Fraction(0)) + (p if reused else p * q)
    return found


def _sample(present: bool) -> list[tuple[int, int, Fraction]]:
    """How many of the street are sampled, whether the person is, and how likely that is."""
    street = [(m, comb(OTHERS, m) * SAMPLING_RATE**m * (1 - SAMPLING_RATE) ** (OTHERS - m)) for m in range(OTHERS + 1)]
    person = [(0, 1 - SAMPLING_RATE), (1, SAMPLING_RATE)] if present else [(0, Fraction(1))]
    return [(m, t, p * q) for m, p in street for t, q in person]


def _suppress(count: int) -> int | None:
    return count if count >= K else None


def _hockey_stick(one: dict[object, Fraction], two: dict[object, Fraction]) -> arb:
    total = arb(0)
    for outcome, p in one.items():
        gain = ball(p) - exp(EPSILON) * ball(two.get(outcome, Fraction(0)))
        total += gain.nonnegative_part()
    return total


TOWNS: Final = ("Bath", "Wells", "York")
NOISE_RATE: Final = rational(1)

Visit: TypeAlias = tuple[str, str]  # person, town
Counter: TypeAlias = Callable[[Sequence[Visit], Source], Mapping[str, int]]

SOME: Final[tuple[Visit, ...]] = tuple((f"p{i}", TOWNS[i % 2]) for i in range(9))
MORE: Final[tuple[Visit, ...]] = (*SOME, *(("t", "York") for _ in range(20)))


def _noisy(counts: Sequence[int], source: Source) -> list[int]:
    return [int(x) for x in Geometric(NOISE_RATE).release(np.array(counts, dtype=np.int64), source).values]


def by_rows(visits: Sequence[Visit], source: Source) -> Mapping[str, int]:
    """Every row counts."""
    towns = [town for _, town in visits]
    return dict(zip(TOWNS, _noisy([towns.count(town) for town in TOWNS], source), strict=True))


def by_people(visits: Sequence[Visit], source: Source) -> Mapping[str, int]:
    """A person counts once, where they were first."""
    towns = list(dict(reversed(visits)).values())
    return dict(zip(TOWNS, _noisy([towns.count(town) for town in TOWNS], source), strict=True))


def occupied_bins(visits: Sequence[Visit], source: Source) -> Mapping[str, int]:
    """Bins are those with somebody in them."""
    towns = [town for _, town in visits]
    seen = sorted(set(towns))
    return dict(zip(seen, _noisy([towns.count(town) for town in seen], source), strict=True))


def cut_by_the_data(ages: Sequence[int], source: Source) -> Mapping[str, int]:
    """Four ranges up to the oldest."""
    return _count_ranges(ages, max(ages) // 4 + 1, source)


def cut_as_declared(ages: Sequence[int], source: Source) -> Mapping[str, int]:
    """Four ranges up to 120."""
    return _count_ranges(ages, 30, source)


def _count_ranges(ages: Sequence[int], width: int, source: Source) -> Mapping[str, int]:
    counts = [sum(i * width <= age < (i + 1) * width for age in ages) for i in range(4)]
    named = [f"{i * width} to {(i + 1) * width}" for i in range(4)]
    return dict(zip(named, _noisy(counts, source), strict=True))


def naive_laplace(count: int, source: Source) -> float:
    """The logarithm of a uniform float, as textbooks have it."""
    word = int(source.words(1)[0])
    half = (word >> 11) / (1 << 53) - 0.5
    return count - math.copysign(math.log(1 - 2 * abs(half) or 2**-53), half)


def geometric(count: int, source: Source) -> int:
    """Integers, exactly drawn."""
    return _noisy([count], source)[0]


# --- audits ---------------------------------------------------------------------------------------------------------


def rows(count: Counter) -> Finding:
    """With and without somebody who has twenty rows."""
    return replay(count, SOME, MORE, distance=1, subject=count.__name__)


def bins(count: Counter) -> Finding:
    """With and without the only person of a town."""
    return replay(count, SOME, (*SOME, ("t", "York")), distance=1, subject=count.__name__)


def ages(cut: Callable[[Sequence[int], Source], Mapping[str, int]]) -> Finding:
    """With and without the oldest."""
    some = [3, 17, 34, 45, 52, 61, 78]
    return replay(cut, some, [*some, 107], distance=1, subject=cut.__name__)


def bits(noise: Callable[[int, Source], float]) -> Finding:
    """Counts of 0 and 1."""
    source = SystemSource()
    none, one = (repeat_runs(lambda count=count: noise(count, source)) for count in (0, 1))  # type: ignore[misc]
    return compare(none, one, epsilon=1, runs=4000, subject=noise.__name__)


_OPTION: Final = re.compile(r"`(\w+)(?:=([^`]*))?`")


@dataclass(frozen=True, slots=True)
class Row:
    """One mechanism, whether it is wrong, and what was found."""

    name: str
    wrong: bool
    finding: Finding

    @property
    def as_it_should(self) -> bool:
        """A fault is refuted; anything else is not."""
        return self.finding.is_refuted == self.wrong

    @property
    def depth(self) -> str:
        return self.finding.depth.value

    @property
    def verdict_word(self) -> str:
        return {"proved": "proved", "refuted": "refuted", "undecided": "not refuted"}[self.finding.word]

    @property
    def seconds(self) -> float:
        return self.finding.seconds

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "wrong": self.wrong, "as_it_should": self.as_it_should, **self.finding.as_json()}


def suite() -> tuple[Callable[[], Row], ...]:
    """Every audit, to be run one by one."""
    rows: list[Callable[[], Row]] = []
    for fault in FAULTS:
        rows += [_run_wrong(fault), _run_right(fault)]
    return (*rows, *(_channel(name) for name in CHANNELS))


def _run_wrong(fault: Fault) -> Callable[[], Row]:
    return lambda: Row(f"fault: {fault.name}", True, time_audit(fault.wrong))


def _run_right(fault: Fault) -> Callable[[], Row]:
    return lambda: Row(f"without it: {fault.name}", False, time_audit(fault.right))


def _channel(name: str) -> Callable[[], Row]:
    """A channel with the options of its own example."""
    given = {option: value or True for option, value in _OPTION.findall(cards()[name].example)}
    return lambda: Row(f"channel: {name}", False, time_audit(lambda: of_channel(channel(name, **given))))
