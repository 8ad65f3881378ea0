"""How far what is claimed lies above the exact truth: every channel, sampled or not. Writes docs/tightness.md.

Claimed is what a certificate would say. Exact is worked out from the laws: the delta at the claimed epsilon, at the
count where it is largest; or, for a promise without a delta, the loss, of which any smaller one is refuted by the laws,
or by the ratio of two laws at one outcome. A row above 1.01 says why in its last column (:data:`WHY`); a test reads the
page and fails where that is missing.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
from flint import arb

from benchmarks import kind_tightness
from hubbub.channels.custom_curve import own_delta_at
from hubbub.channels.divergence import largest_ratio
from hubbub.channels.law import Law
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.profile import checkable, exact_delta, loss_curve
from hubbub.channels.protocol import Channel
from hubbub.channels.subsample import Subsampled
from hubbub.graphs import noise_scale
from hubbub.graphs.statistics import Bounds, Sampling, Size, Statistic, bounds, sampling
from hubbub.guarantees.accountant.odometer import EXPONENTS, epsilon_so_far, epsilon_under_cap, epsilon_with, growths
from hubbub.guarantees.accountant.privacy_loss import RandomizedResponsePair, composed_delta, composed_epsilon
from hubbub.guarantees.curve import Curve
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, DistributionalPrivacy
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.histogram.spec import Histogram
from hubbub.numeric.binomial import mass
from hubbub.numeric.exact import Infinite, ball, exp, lower, precision, rounded, to_float, upper
from hubbub.sampling import exact_count
from hubbub.sampling.amplification import SUPPRESSION, Setting, delta_at, epsilon_at, robust
from hubbub.sampling.averages import scale_for
from hubbub.sampling.sampled_crowd import Case
from hubbub.sampling.sampled_share import worst_loss
from hubbub.sampling.sanitize import Blank, inside
from tests.unit.graphs.simulated import N
from tests.unit.graphs.simulated import worst_loss as worst_loss_of_graphs

LARGE: Final = 2_000  # a crowd whose samples are all large
ENOUGH: Final = Fraction(101, 100)
NEARLY: Final = (
    Fraction(10001, 10000),
    Fraction(1001, 1000),
    ENOUGH,
    *map(Fraction, ("1.1", "1.3", "2", "3", "5", "10")),
)

CHANNELS: Final[dict[str, dict[str, Any]]] = {
    "exact or suppressed, k = 20": {"crowd": 20},
    "noisy below, k = 20, epsilon = 1": {"crowd": 20, "epsilon": 1},
    "noisy below, marked": {"channel": "noisy-below", "epsilon": 1, "options": {"k": 20, "tagged": True}},
    "geometric, epsilon = 1": {"epsilon": 1},
    "group, k = 10, epsilon = 1": {"channel": "group", "epsilon": 1, "options": {"k": 10}},
    "simple suppressed, k = 20": {"channel": "simple-suppressed", "options": {"k": 20}},
    "simple noisy, k = 20, epsilon = 4": {"channel": "simple-noisy", "epsilon": 4, "options": {"k": 20}},
    "outlier suppressed, k = 5, offset 3": {
        "channel": "outlier-suppressed",
        "epsilon": 1,
        "options": {"k": 5, "offset": 3},
    },
    "outlier suppressed, k = 20, alpha 10 (the paper's claim)": {
        "channel": "outlier-suppressed",
        "epsilon": 1,
        "options": {"k": 20, "alpha": 10},
    },
    "outlier noisy, k = 5, offset 3": {"channel": "outlier-noisy", "epsilon": 1, "options": {"k": 5, "offset": 3}},
    "outlier noisy, k = 20, delta 1e-6": {
        "channel": "outlier-noisy",
        "epsilon": 1,
        "options": {"k": 20, "delta": "1e-6"},
    },
    "staircase, offsets 12, 50": {
        "channel": "staircase",
        "options": {"thresholds": "100,10", "epsilons": "1,0.2,0.05", "offsets": "12,50"},
    },
    "staircase, alpha 10 (the paper's claim)": {
        "channel": "staircase",
        "options": {"thresholds": "100,10", "epsilons": "1,0.2,0.05", "alpha": 10},
    },
    "lower bound, by the count, alpha 10": {
        "channel": "lower-bound",
        "options": {"curve": "1:0.1,21:1", "estimator": "count", "epsilon_a": "0.05", "alpha": 10},
    },
    "lecture, t = 50, K = 200": {"channel": "lecture", "epsilon": "0.2", "options": {"t": 50, "K": 200}},
    "warped, 1:0.01,101:1": {"outlier": "1:0.01,101:1"},
    "warped, slope:0.05<=1": {"outlier": "slope:0.05<=1"},
}

Row = tuple[str, str, str, str, str]

PAPER: Final = (
    "the paper's own alpha, kept with the paper's own delta for whoever asks for it by name; use an offset or a delta"
)
COMPARISON: Final = "a mechanism of the paper that is here for comparison; warped noise has no delta"
LECTURE: Final = (
    "the lecture notes' mechanism, for comparison: its delta at each of 150 levels is not worked out on a sample; "
    "exact is the largest of the counts that were looked at, and the truth lies between"
)
AVERAGE: Final = (
    "open: rows between 0 and 1, by Jensen's inequality; exact is the same simulator on 0/1 rows. Counts and shares have "
    "the stepped simulator (next rows)"
)
SIMULATOR: Final = (
    "open: exact is a loss that no simulator avoids (Proposition 15: whoever simulates knows the count as well as the "
    "release does, or loses so much). No stepped noise does with 2 % less, and for large tables a linear program over all "
    "laws of added noise finds the same shape; one that chooses its noise by what it saw may do better, and none is known "
    "that is proved for every table"
)
DIFFERENTIAL_TOO: Final = (
    "exact is half of the sensitivity, below which no simulator goes as zero-knowledge implies twice the differential "
    "loss. The factor 2 is the price of the differential promise at the same epsilon, which `--centred` leaves out"
)
CENTRED: Final = (
    "open: exact is half of the sensitivity, below which no simulator goes as zero-knowledge implies twice the "
    "differential loss. The rest is what samples of 32 people around each tell: the bias of large components (62.6 of 597) "
    "and the spread (120, in squares)"
)
FIVE: Final = (
    "all graphs of five vertices, one simulator: the bound by moments is reached, so the rest is in what goes into it. The "
    "largest bias, spread and change are met on different graphs, and eulerian changes by d only from 2d + 3 vertices on"
)
EXEMPT: Final = (
    "open: the mean over who of the exempt is there of the worst class sizes, each its own; exact is the worst of one size. "
    "At a rate of one they are the same"
)
ORDER: Final = (
    "an order that is chosen on the way: the bound holds at every moment for every order (an odometer), and exact is the "
    "loss of one order that is fixed beforehand, which the ledger takes where it was. A cap that is fixed beforehand costs "
    "less (next row)"
)
FILTER: Final = (
    "open: a privacy filter by one exponent, and no mixture of exponents does better; the rest is the price of Markov's "
    "inequality. The exact law of one order is no filter (a witness is among the tests), and no sharper one is known but "
    "for Gaussian noise alone"
)
EXPONENTIAL: Final = (
    "of one small table: the exponential mechanism is charged for the score of what is drawn and for all others moving "
    "against it, and of two cells and three people few do"
)
WHY: Final = (
    ("small database", EXPONENTIAL),
    ("(the paper's claim)", PAPER),
    ("lower bound", COMPARISON),
    ("lecture", LECTURE),
    ("average", AVERAGE),
    ("simulator", SIMULATOR),
    ("five vertices", FIVE),
    ("centred", CENTRED),
    ("graph", DIFFERENTIAL_TOO),
    ("exempt", EXEMPT),
    ("cap fixed", FILTER),
    ("releases of", ORDER),
)
"""Why a row may be above 1.01, by a part of its name."""

HEADING: Final = ("what", "claimed", "exact", "claimed / exact", "worst at", "why it is above 1.01")


def explained(row: tuple[str, ...]) -> tuple[str, ...]:
    """The row, and why it is above 1.01 if it is; the name says which reason holds."""
    if not row[3].startswith("**"):
        return (*row, "")
    reasons = [why for part, why in WHY if part in row[0]]
    if not reasons:
        raise ValueError(f"nobody said why {row[0]} is above 1.01: sharpen it, or write the reason down")
    return (*row, reasons[0])


def short(value: Fraction) -> str:
    return f"{to_float(value, round_up=True):.4g}"


def ratio(claimed: Fraction, exact: Fraction) -> str:
    over = claimed / exact
    text = f"{to_float(over, round_up=True):.4f}" if over < 100 else f"{to_float(over, round_up=True):.3g}"
    return text if over <= ENOUGH else f"**{text}**"


def counts(channel: Channel) -> Iterable[int]:
    """Where a claim changes, and around."""
    marks = {1, 2, 3}
    for piece in loss_curve(checkable(channel.claim)).pieces:
        marks |= {piece.start + i for i in (-2, -1, 0, 1)}
    last = getattr(channel, "last_change", None)
    marks |= {last} if isinstance(last, int) else {10, 20}
    found = sorted(count for count in marks if 1 <= count <= 320)
    return found if len(found) <= 40 else [*found[:8], *found[8:-3:16], *found[-3:]]  # a level for every count


def own_rows(name: str, channel: Channel, guarantee: object) -> Iterable[Row]:
    """The promise of the channel itself, by its laws (those of the sample, if it is sampled)."""
    claim = checkable(guarantee)
    curve = loss_curve(claim)
    delta = Fraction(0) if isinstance(claim, CrowdBlending) else claim.delta
    sampled = isinstance(channel, Subsampled)
    inner = channel.channel if isinstance(channel, Subsampled) else channel
    # A step of a sampled curve is reached as crowds, and their samples, grow.
    marks = {*counts(inner), *((LARGE,) if sampled else ())}
    if inner.name == "warped" and sampled:  # which has a curve of its own there
        marks |= {piece.start + i for piece in curve.pieces for i in (-1, 0)}
    where = [c for c in sorted(marks) if c and not isinstance(curve.at(c), Infinite)]
    if delta:
        found = {count: exact_delta(channel, count, curve.at(count)) for count in where if count < LARGE}
        worst = max(found, key=lambda count: lower(found[count]))
        exact = upper(found[worst])
        yield name, f"delta {short(delta)}", short(exact), ratio(delta, exact), f"count {worst}"
        return
    losses = [(count, level) for count in where if isinstance(level := curve.at(count), Fraction) and level]
    if not losses:
        yield name, "0", "0", "1", ""
        return
    # The largest factor by which the loss of some count may be lowered before its laws refute it, over all levels.
    worst_over, at = Fraction(1), losses[0][0]
    for level in sorted({level for _, level in losses}):
        here = [count for count, each in losses if each == level]
        over, count = min((refuted(channel, count, level), count) for count in here)
        if over > worst_over:
            worst_over, at = over, count
    claimed = max(level for _, level in losses)
    yield name, f"epsilon {short(claimed)}", short(claimed / worst_over), ratio(worst_over, Fraction(1)), f"count {at}"


def refuted(channel: Channel, count: int, level: Fraction) -> Fraction:
    """The smallest of a few factors by which the level cannot be divided, or 1000: nothing was refuted."""
    if isinstance(channel, Subsampled) and (seen := outcome_loss(channel.p, channel.channel, count)) > 0:
        near = level / seen
        if near <= NEARLY[0] or count == LARGE or channel.channel.name == "warped":
            return max(near, Fraction(1))
    if count == LARGE:
        return Fraction(1000)
    for factor in NEARLY:
        if lower(exact_delta(channel, count, level / factor)) > 0:
            return factor
    return Fraction(1000)


def outcome_loss(p: Fraction, channel: Channel, count: int) -> Fraction:
    """A loss that is reached on the sample: the largest ratio of the two laws at one of a few outcomes."""
    if channel.name == "warped":
        return _warped_loss(p, loss_curve(checkable(channel.claim)), count)
    if channel.law_size(count) and count == LARGE:
        return Fraction(0)
    laws = [channel.law(m) for m in range(count + 1)]
    far = max(count, getattr(channel, "last_change", 0) or 0) + 1
    best = Fraction(0)
    with precision():
        weights = [[mass(size, p, m) for m in range(size + 1)] for size in (count, count - 1)]
        for tag in laws[count].tags or ("",):
            for x in (0, count, far, 3 * far):
                if any(_is_lump(law, x, tag) for law in laws):
                    continue
                seen = [law.mass(x, tag) for law in laws]
                more, fewer = (sum((w * f for w, f in zip(each, seen, strict=False)), arb(0)) for each in weights)
                if more > 0 and fewer > 0:
                    best = max(best, lower(abs((more / fewer).log())))
    return best


def _is_lump(law: Law, x: int, tag: str) -> bool:
    """Whether the outcome is only known together with others."""
    covering = (b for b in law.blocks if b.tag == tag and (b.lo is None or b.lo <= x) and (b.hi is None or x <= b.hi))
    return any(block.shape is not None for block in covering)


def _warped_loss(p: Fraction, curve: Curve, count: int) -> Fraction:
    """At an outcome of at least the count every law is w_x e^(E(m) - E(x)): the ratio of the means of e^E."""
    total, heights = Fraction(0), [Fraction(0)]
    for m in range(1, count + 1):
        level = curve.at(m)
        assert isinstance(level, Fraction)
        total += level
        heights.append(total)
    with precision():
        grown = [exp(height) for height in heights]
        more, fewer = (
            sum((mass(size, p, m) * grown[m] for m in range(size + 1)), arb(0)) for size in (count, count - 1)
        )
        return lower((more / fewer).log())


def sampled_rows(name: str, spec: Histogram, derived: tuple[Derivation, ...], p: Fraction) -> Iterable[Row]:
    """What the sample buys: differential privacy for everybody, and for somebody known to be in the sample."""
    for step in derived:
        given = step.conclusion
        if isinstance(given, DifferentialPrivacy) and step.premises:
            yield from _bought(f"{name}, for everybody", spec, given, p, None)
        if isinstance(given, DistributionalPrivacy):
            yield from _bought(f"{name}, distributional", spec, given, p, Fraction(1))


def _bought(
    name: str, spec: Histogram, given: DifferentialPrivacy | DistributionalPrivacy, p: Fraction, own: Fraction | None
) -> Iterable[Row]:
    epsilon, delta = given.epsilon, given.delta
    assert isinstance(epsilon, Fraction)
    channel = spec.channel
    said = f"({short(epsilon)}, {short(delta)})"
    facts = {"noisy-below": ("k", "epsilon"), "simple-noisy": ("k", "rate")}.get(channel.name)
    hides = channel.name in ("exact-or-suppressed", "simple-suppressed")
    if facts is not None or hides:
        first = getattr(channel, "k") + channel.name.startswith("simple")  # noqa: B009
        if facts is not None:
            tagged = bool(getattr(channel, "tagged", False))
            found = own_delta_at(first, getattr(channel, facts[1]), p, epsilon, tagged=tagged, own=own)
        else:
            case = Case(rate=p, own=own or p, crowd=first, removal=Fraction(0), blending=Fraction(0))
            found = delta_at(Setting(theorem=SUPPRESSION, cases=(case,)), epsilon)
        # For everybody the laws themselves say it, at the class size that was found to be the worst.
        others = found.worst_class_size
        exact = lower(exact_delta(Subsampled(p, channel), others + 1, epsilon)) if own is None else found.delta
        yield name, said, short(exact), ratio(delta, exact), f"{others} others"
    elif delta:
        exact = max(upper(exact_delta(Subsampled(p, channel), count, epsilon)) for count in counts(channel))
        yield name, said, short(exact), ratio(delta, exact) if exact else "**no delta needed**", ""
    else:
        over = min(refuted(Subsampled(p, channel), count, epsilon) for count in (*counts(channel), LARGE))
        yield name, short(epsilon), short(epsilon / over), ratio(over, Fraction(1)), ""


def table(heading: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def channel_rows() -> tuple[list[Row], list[Row]]:
    """(as they are, on a secret sample)."""
    p = Fraction(1, 10)
    plain: list[Row] = []
    sampled: list[Row] = []
    for name, words in CHANNELS.items():
        print(name, file=sys.stderr)
        spec = histogram(["a=x,y"], **words)
        plain += own_rows(name, spec.channel, spec.channel.claim)
        drawn = histogram(["a=x,y"], **words, sample=p)
        derived = drawn.promises()
        if not isinstance(derived[0].conclusion, DifferentialPrivacy):  # that is amplified in the next row
            sampled += own_rows(f"{name}, its own", Subsampled(p, spec.channel), derived[0].conclusion)
        sampled += sampled_rows(name, drawn, derived, p)
    return plain, sampled


# --- as well as K random people ---------------------------------------------------------------------------------


def knowledge_rows() -> Iterable[Row]:
    """Zero-knowledge privacy with respect to K of N people."""
    average = scale_for(100, 10_000, "0.1")
    least = Fraction(average.beside["binary_scale"] or 0)
    found = average.scale
    yield "average, noise (A3), 100 of 10,000", f"scale {short(found)}", short(least), ratio(found, least), "0/1 rows"
    for n, k, epsilon in ((10_000, 100, "0.5"), (10_000, 100, "1"), (10_000, 100, "2")):
        print(n, k, epsilon, file=sys.stderr)
        scale = exact_count.scale_for(k, n, epsilon)
        lost = Fraction(unavoidable(n, k, float(scale)))
        name = f"count or share, exact with noise {short(scale)}, any simulator, {k} of {n:,}"
        yield name, f"epsilon {epsilon}", short(lost), ratio(Fraction(epsilon), lost), "half of them"
    n, k = 300, 60
    for epsilon in ("0.1", "1"):
        rate = inside(k, n, epsilon, blank=Blank.COIN).epsilon_dp
        lost = Fraction(worst_loss(n, k, float(rate), coin=True))
        name = f"count or share, {k} of {n} people in secret"
        yield name, f"epsilon {epsilon}", short(lost), ratio(Fraction(epsilon), lost), "every table"
        swapped = subsampled_loss(rate, Fraction(k, n))
        assert isinstance(swapped, Fraction)
        lost = Fraction(worst_loss(n, k, float(rate)))
        yield f"{name}, one person replaced", short(swapped), short(lost), ratio(swapped, lost), "every table"
    size, samples = Size(vertices=4039, max_degree=1045), 254
    for of in (Statistic.CONNECTIVITY, Statistic.EULERIAN):
        limits, half = bounds(of, size, sampling(size, samples)), Fraction(1045, 2)
        for centred in (False, True):
            scale = noise_scale.scale_for(noise_scale.spread(limits, samples, 4039, centred=centred), Fraction(1))
            name = f"graph, {of.value}{', centred' if centred else ''}, 254 of 4,039"
            yield name, f"scale {short(scale)}", short(half), ratio(scale, half), "epsilon 1"
    yield from five_vertices()
    edges = Geometric(Fraction(1, 1045))
    lost = lower(_as_arb(largest_ratio(edges.law(1045), edges.law(0))))
    yield (
        "network, edges of one person, differential",
        "epsilon 1",
        short(lost),
        ratio(Fraction(1), lost),
        "1,045 edges",
    )


def five_vertices() -> Iterable[Row]:
    """What is claimed against the exact loss of the simulator, over all graphs of five vertices."""
    for of, (k, s) in itertools.product(
        (Statistic.CONNECTIVITY, Statistic.EULERIAN, Statistic.CYCLE_FREENESS, Statistic.EDGES), ((4, 2), (N, N))
    ):
        limits, how = bounds(of, Size(vertices=N, max_degree=4), Sampling(k=k, s=s)), Sampling(k=k, s=s)
        for centred in (False, True):
            scale = noise_scale.scale_for(noise_scale.spread(limits, k, N, centred=centred), Fraction(1))
            lost = Fraction(worst_loss_of_graphs((of,), 4, how, [scale], (limits.centre,) if centred else None))
            name = f"graph of five vertices, {of.value}{', centred' if centred else ''}, {k} walks of {s}"
            yield name, "epsilon 1", short(lost), ratio(Fraction(1), lost), "every graph"


def not_offered() -> Iterable[tuple[str, ...]]:
    """What zero-knowledge would ask of a degree histogram and of triangles (docs/theory.md, section 4)."""
    for n, d, k in ((6_000, 40, 500), (4_039, 1_045, 254)):
        f = min(1 - Fraction(k - 1, n), (1 - Fraction(k, n)) * (1 + Fraction(1, k)))
        spread_each = math.sqrt(n * n / (4 * k) * f)  # of people with at least j friends, by k of them
        moved, far = 2 * d, 2 * d + d * spread_each
        moments = (moved + math.sqrt(moved**2 + 2 * (d * spread_each) ** 2 + d / 2)) / 2
        degrees = Fraction(max(far, moments))
        yield f"degree histogram, {k} of {n:,}, degree {d:,}", short(Fraction(moved)), short(degrees), f"{n:,}"
        closed, reach = d * (d - 1) // 2, Fraction(n * d * (d - 1), 6)
        limits = Bounds(sensitivity=closed, most=reach, bias=Fraction(0), reach=reach, from_without=(0, closed))
        scale = noise_scale.scale_for(noise_scale.spread(limits, k, n, centred=True), Fraction(1))
        yield f"triangles, {k} of {n:,}, degree {d:,}", short(Fraction(closed)), short(scale), f"{int(reach):,}"


def unavoidable(n: int, k: int, scale: float) -> float:
    """A loss that no simulator avoids on all tables with a tenth to nine tenths of ones.

    Whatever it publishes, it is within t of the count at most as often as the best guess from k rows of others is (a blank
    in their place tells less); and the release
    is so more often. In floating-point numbers.
    """
    step = max(n // 2000, 1)
    ones, j = np.arange(n // 10, 9 * n // 10, step), np.arange(k + 1)
    logs = np.array([[_log_hypergeometric(n - 1, int(a), k, int(b)) for b in j] for a in ones])
    best, q = 0.0, math.exp(-1 / scale)
    for wide in (0.3, 0.4, 0.5, 0.6, 0.8):
        away = np.clip((ones / n - 0.5) / wide, -0.5, 0.5)
        chance = np.cos(np.pi * away) ** 2  # how often each number of ones is met
        table = np.exp(logs) * (chance / chance.sum())[:, None]
        sums = np.vstack([np.zeros((1, k + 1)), np.cumsum(table, axis=0)])
        for reach in np.linspace(0.02, 3, 60) * scale:
            cells = int(2 * reach / step) + 1
            guessed = float((sums[cells:] - sums[:-cells]).max(axis=0).sum())
            real = 1 - 2 * q ** (int(reach) + 1) / (1 + q)
            best = max(best, math.log(real / guessed), math.log((1 - guessed) / (1 - real)) if guessed < 1 else 0.0)
    return best


def _log_hypergeometric(others: int, ones: int, drawn: int, j: int) -> float:
    def choose(a: int, b: int) -> float:
        return math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)

    return choose(ones, j) + choose(others - ones, drawn - j) - choose(others, drawn)


def _as_arb(found: object) -> arb:
    return found if isinstance(found, arb) else ball(found)  # type: ignore[arg-type]


# --- people who are exempt, and many releases -------------------------------------------------------------------


def exempt_rows() -> Iterable[Row]:
    """Counts of at least 20 and none below, most people drawn at 0.1 and five at another rate."""
    delta = Fraction(1, 10**6)
    for highest in ("0.5", "1"):
        claimed = epsilon_at(robust(20, Fraction(0), Fraction(1, 10), Fraction(highest), 5, bins=True), delta).epsilon
        assert isinstance(claimed, Fraction)
        low, high = 0.0, float(claimed)
        for _ in range(12):
            middle = (low + high) / 2
            reached = max(_exempt_delta(n, 20, 0.1, 5, float(highest), middle) for n in range(0, 250, 2))
            low, high = (low, middle) if reached <= delta else (middle, high)
        name = f"exact or suppressed, k = 20, five exempt at {highest}"
        yield (
            name,
            f"({short(claimed)}, 1e-6)",
            short(Fraction(high)),
            ratio(claimed, Fraction(high)),
            "up to 250 others",
        )


def _exempt_delta(n: int, k: int, p: float, exempt: int, rate: float, epsilon: float) -> float:
    """The largest delta of a person like the others, or of one of those who are exempt."""
    found = 0.0
    for own, left in ((p, exempt), (rate, exempt - 1)):
        law = np.ones(1)
        for chance in [p] * n + [rate] * left:
            law = np.convolve(law, [1 - chance, chance])
        without = np.append(law, 0.0)
        having = (1 - own) * without + own * np.append(0.0, law)
        pairs = [(having, without), (without, having)]
        for one, other in pairs:
            hidden = max(one[:k].sum() - np.exp(epsilon) * other[:k].sum(), 0.0)
            found = max(found, hidden + np.maximum(one[k:] - np.exp(epsilon) * other[k:], 0.0).sum())
    return found


def many_rows() -> Iterable[Row]:
    """Several releases about the same people."""
    delta = Fraction(1, 10**9)
    for many, epsilon, rate in ((50, "0.1", "1"), (500, "0.1", "1"), (50, "1", "0.1"), (500, "0.1", "0.1")):
        coins = [RandomizedResponsePair(epsilon=Fraction(epsilon), rate=Fraction(rate))] * many
        chosen, exact = epsilon_so_far(coins, delta), composed_epsilon(coins, delta)
        assert isinstance(chosen, Fraction)
        assert isinstance(exact, Fraction)
        on = "" if rate == "1" else f", each on a sample of {rate}"
        name = f"{many} releases of epsilon {epsilon}{on}"
        yield f"{name}, chosen on the way", f"({short(chosen)}, 1e-9)", short(exact), ratio(chosen, exact), "one order"
        cap = smallest_cap(coins, delta)
        yield f"{name}, a cap fixed before", f"({short(cap)}, 1e-9)", short(exact), ratio(cap, exact), "one order"
    one, two, at = Fraction(1, 10), Fraction(7071, 100_000), Fraction(2)
    pairs = [RandomizedResponsePair(epsilon=each) for each in (one, two) for _ in range(30)]
    claimed, exact = composed_delta(pairs, at), _two_kinds(float(one), float(two), 30, float(at))
    name = "30 of epsilon 0.1 and 30 of 0.07071, no common step"
    yield name, f"(2, {short(claimed)})", short(exact), ratio(claimed, exact), "exact"


def smallest_cap(coins: list[RandomizedResponsePair], delta: Fraction) -> Fraction:
    """The smallest of the caps, each just enough by one exponent, that admit all of them."""
    grown = [sum((growths(coin)[i] for coin in coins), Fraction(0)) for i in range(len(EXPONENTS))]
    basic = sum((coin.most for coin in coins), Fraction(0))
    caps = [
        basic,
        *(rounded(epsilon_with(*each, delta), up=True, digits=5) for each in zip(grown, EXPONENTS, strict=True)),
    ]
    return min(cap for cap in caps if epsilon_under_cap(grown, basic, cap, delta) <= cap)


def _two_kinds(one: float, two: float, many: int, at: float) -> Fraction:
    """The delta of coins of two kinds, summed over how many of each fell which way."""
    total = 0.0
    for a in range(many + 1):
        for b in range(many + 1):
            loss = one * (2 * a - many) + two * (2 * b - many)
            if loss > at:
                chance = _coins(one, many, a) * _coins(two, many, b)
                total += chance * -math.expm1(at - loss)
    return Fraction(total)


def _coins(epsilon: float, many: int, up: int) -> float:
    p = 1 / (1 + math.exp(-epsilon))
    return math.comb(many, up) * p**up * (1 - p) ** (many - up)


# --- which rows are about which kind of release -----------------------------------------------------------------

KINDS: Final[dict[str, str]] = {
    "histogram": "its own (kinds of releases); every channel, as it is and on a sample",
    "cube": "its own (kinds of releases); geometric, group: a count for each level, whose losses add up; many releases",
    "records": "its own (kinds of releases); exact or suppressed",
    "points": "its own (kinds of releases); exact or suppressed, and noise on each coordinate (geometric)",
    "queries": "its own (kinds of releases); geometric (histogram, tree, queries one by one); the other methods by their own exact checks",
    "synthetic": "its own (kinds of releases); geometric or Gaussian noise on the measured tables; rows are made of what was published",
    "count": "its own (kinds of releases); geometric, exact or suppressed, noisy below; count or share for K of N people",
    "fraction": "its own (kinds of releases); count or share for K of N people; geometric",
    "mean": "its own (kinds of releases); geometric on two sums that one person moves by W in all; average",
    "quantile": "its own (kinds of releases); its own exact check on every table of at most three people; ranks move by 1",
    "sum": "its own (kinds of releases); geometric on a sum that one person moves by W",
    "ratio": "its own (kinds of releases); geometric on two sums",
    "summary": "its own (kinds of releases); the rows of count, mean and quantile, whose losses add up",
    "variance": "its own (kinds of releases); geometric on three sums",
    "std": "its own (kinds of releases); geometric on three sums",
    "questions": "its own (kinds of releases); count or share for K of N people, of one sample; many releases",
    "graph": "graph; network",
    "ballots": "its own (kinds of releases); exact or suppressed, simple suppressed, on a sample",
    "series": "its own (kinds of releases); the rows of the kind of each period; many releases",
}
"""The rows that are about each kind of release."""


def kind_rows() -> Iterable[Row]:
    """Every kind of release whose measurements can be enumerated."""
    for name, promise, found, under in kind_tightness.rows():
        assert isinstance(promise.epsilon, Fraction)
        if not promise.epsilon:
            yield name, "0", short(found), "1" if not found else f"**{found}**", under
        elif promise.delta:
            said = f"({short(promise.epsilon)}, {short(promise.delta)})"
            yield name, said, short(found), ratio(promise.delta, found), under
        else:
            yield name, f"epsilon {short(promise.epsilon)}", short(found), ratio(promise.epsilon, found), under


def written() -> str:
    plain, sampled = channel_rows()
    return "\n".join(
        (
            "# Claimed over exact",
            "",
            "Written by `python -m benchmarks.tightness`. Claimed is what a certificate says, exact what the laws give at",
            "the claimed epsilon; or, without a delta, a loss that the laws reach. Bold: above 1.01, and then the last",
            "column says why: how far apart the two bounds are is the number, and why the gap is open the reason.",
            "",
            "## Channels",
            "",
            *table(HEADING, map(explained, plain)),
            "",
            "## On a secret sample of rate 0.1, at a delta of 1e-9",
            "",
            *table(HEADING, map(explained, sampled)),
            "",
            "## As well as K random people",
            "",
            *table(HEADING, map(explained, knowledge_rows())),
            "",
            "## Uneven samples, many releases",
            "",
            *table(HEADING, map(explained, (*exempt_rows(), *many_rows()))),
            "",
            "## Kinds of releases",
            "",
            "Of tables of one to three people, by running a release once for every outcome of its noise. Who is a neighbour",
            "of whom is what the promise says: one person more or less, or another one. Records and points promise something",
            "to crowds: two of a crowd are exchanged, and who is in none is left out. For a secret fifth there are up to 16",
            "people. Of synthetic rows it is the law of the tables that they are made of: the seed is drawn after these and",
            "looks at nothing. Of ballots it is the law of the mechanism on the numbers of a recount, one official record",
            "being fixed: with one such ballot more the recount is refused. A person of a ratio has up to three rows.",
            "",
            *table(HEADING, map(explained, kind_rows())),
            "",
            "## Not offered: zero-knowledge for degree histograms and triangles",
            "",
            "The noise at epsilon 1 that is enough for somebody who knows so many random people and their friends, beside that",
            "of differential privacy alone, which is what is published, and the most that a count can be.",
            "",
            *table(("what", "differential", "zero-knowledge", "a count is at most"), not_offered()),
            "",
            "## Theorem A, any mechanism",
            "",
            "At every epsilon some crowd-blending mechanism reaches the number: a linear program over all of them agrees,",
            "in the tests.",
            "",
            "## Which rows are about which kind",
            "",
            *table(("kind", "rows"), KINDS.items()),
            "",
            "A mechanism of your own (`custom`) has no row: its promise is somebody else's, and nobody here has checked it.",
            "",
        )
    )


if __name__ == "__main__":
    target = Path(__file__).parent.parent / "docs" / "tightness.md"
    target.write_text(written(), encoding="utf-8")
    print(f"written to {target.name}", file=sys.stderr)
