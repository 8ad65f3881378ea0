"""How far what is claimed lies above the exact truth: every channel, sampled or not. Writes docs/tightness.md.

Claimed is what a certificate would say. Exact is worked out from the laws: the delta at the claimed epsilon, at the
count where it is largest; or, for a promise without a delta, the loss, of which any smaller one is refuted by the laws.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from hubbub.channels.custom_curve import own_delta_at
from hubbub.channels.profile import checkable, exact_delta, loss_curve
from hubbub.channels.protocol import Channel
from hubbub.channels.subsample import Subsampled
from hubbub.guarantees.accountant.odometer import epsilon_so_far
from hubbub.guarantees.accountant.privacy_loss import RandomizedResponsePair, composed_epsilon
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, DistributionalPrivacy
from hubbub.guarantees.derivation import Derivation
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.histogram.spec import Histogram
from hubbub.numeric.exact import Infinite, lower, to_float, upper
from hubbub.sampling.amplification import SUPPRESSION, Setting, delta_at
from hubbub.sampling.averages import scale_for
from hubbub.sampling.sampled_crowd import Case

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
    return sorted(count for count in marks if 1 <= count <= 320)


def own_rows(name: str, channel: Channel, guarantee: object) -> Iterable[Row]:
    """The promise of the channel itself, by its laws (those of the sample, if it is sampled)."""
    claim = checkable(guarantee)
    curve = loss_curve(claim)
    delta = Fraction(0) if isinstance(claim, CrowdBlending) else claim.delta
    sampled = isinstance(channel, Subsampled)
    inner = channel.channel if isinstance(channel, Subsampled) else channel
    # A step of a sampled curve is reached as crowds, and their samples, grow.
    where = [c for c in (*counts(inner), *((LARGE,) if sampled else ())) if not isinstance(curve.at(c), Infinite)]
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
    for factor in NEARLY:
        if lower(exact_delta(channel, count, level / factor)) > 0:
            return factor
    return Fraction(1000)


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


def written() -> str:
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
    heading = ("channel", "claimed", "exact", "claimed / exact", "worst at")
    lines = [
        "# Claimed over exact",
        "",
        "Written by `python -m benchmarks.tightness`. Claimed is what a certificate says, exact what the laws give at",
        "the claimed epsilon (or, without a delta, a loss that the laws refute, found among a few). Bold: above 1.01.",
        "",
        "## Channels",
        "",
        *table(heading, plain),
        "",
        "## On a secret sample of rate 0.1, at a delta of 1e-9",
        "",
        *table(heading, sampled),
        "",
        "What is bold: the paper's own alpha is kept with the paper's own delta, for whoever asks for it by name; use",
        "an offset or a delta instead. A lower bound on the curve and the lecture notes' mechanism have the delta of",
        "their theorems for everybody too. On a sample a delta is charged at every count, p delta in all, though few",
        "samples of a bin stand where it is needed; and a curve is charged as if the whole crowd were in the sample,",
        "which it is for the top of the curve only in the limit of large crowds (at 2,000 people the laws refute",
        "nothing closer, by an event whose probability shows above 1e-80), and along a slope by the chord.",
        "",
        "## Theorem A, any mechanism",
        "",
        "At every epsilon some crowd-blending mechanism reaches the number: a linear program over all of them agrees,",
        "in the tests. The average with noise (Theorem A3) is proved for a scale of",
        f"{short(scale_for(100, 10_000, '0.1').scale)} at 100 of 10,000 rows and epsilon 0.1, where 0/1 rows need",
        f"{scale_for(100, 10_000, '0.1').beside['binary_scale']:.4g}: {_mean_gap()} above.",
        "",
        "## Many releases, delta 1e-9",
        "",
        *table(
            ("releases", "sum", "epsilons chosen on the way", "fixed beforehand (exact)", "on the way / exact"),
            _many(),
        ),
        "",
    ]
    return "\n".join(lines)


def _mean_gap() -> str:
    found = scale_for(100, 10_000, "0.1")
    least = found.beside["binary_scale"]
    assert least is not None
    return f"{(float(found.scale) / least - 1) * 100:.1f} %"


def _many() -> Iterable[tuple[str, ...]]:
    delta = Fraction(1, 10**9)
    for many, epsilon, rate in ((50, "0.1", "1"), (500, "0.1", "1"), (50, "1", "0.1"), (500, "0.1", "0.1")):
        coins = [RandomizedResponsePair(epsilon=Fraction(epsilon), rate=Fraction(rate))] * many
        basic = coins[0].most * many
        chosen, exact = epsilon_so_far(coins, delta), composed_epsilon(coins, delta)
        assert isinstance(chosen, Fraction)
        assert isinstance(exact, Fraction)
        on = "" if rate == "1" else f", each on a sample of {rate}"
        yield (
            f"{many} of epsilon {epsilon}{on}",
            short(basic),
            short(chosen),
            short(exact),
            f"{float(chosen / exact):.3f}",
        )


if __name__ == "__main__":
    target = Path(__file__).parent.parent / "docs" / "tightness.md"
    target.write_text(written(), encoding="utf-8")
    print(f"written to {target.name}", file=sys.stderr)
