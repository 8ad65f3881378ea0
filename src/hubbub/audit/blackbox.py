"""The black box: run both experiments many times, and bound the loss from below with confidence.

Half of the outcomes choose a few events; the other half, which no choice has seen, says how often these came up. The
loss is at least ln((p - delta)/q) where p is below the one probability and q above the other, both by Clopper and
Pearson, with the error shared among events and looks. More runs are made until the claim is refuted or the runs are
used up. That the claim is not refuted does not make it true.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Final, TypeAlias

from hubbub.audit.clopper_pearson import at_least, at_most
from hubbub.audit.finding import Depth, Finding, Game
from hubbub.audit.outcomes import Event, Heap, heap, joined, proposed
from hubbub.errors import WrongUse
from hubbub.guarantees.verdict import Refuted, Undecided, Verdict
from hubbub.numeric.exact import Exact, Infinite, Loss, ball, loss, lower, rational, rounded, to_text

Experiment: TypeAlias = Callable[[int], Sequence[object]]
"""So many fresh outcomes."""

RUNS: Final = 20_000
CONFIDENCE: Final = Fraction(99, 100)
_FIRST: Final = 500  # runs before the first look
_GROWTH: Final = 4
_EVENTS: Final = 4  # that are confirmed at each look: one of each sort there is
_POWER: Final = 0.9


@dataclass(frozen=True, slots=True)
class Bound:
    """The loss is at least this, by an event that came up so often in one experiment and in the other."""

    epsilon: Fraction  # 0 if nothing is shown
    event: str
    often: int
    seldom: int
    runs: int  # of each, in the half that confirms
    swapped: bool  # whether the event is the likelier one in the second experiment


def look_sizes(runs: int) -> tuple[int, ...]:
    """After how many runs the outcomes are looked at; fixed beforehand, because each look costs confidence."""
    found = []
    at = min(_FIRST, runs)
    while at < runs:
        found.append(at)
        at *= _GROWTH
    return (*found, runs)


def compare(
    one: Experiment,
    two: Experiment,
    *,
    epsilon: Exact | Infinite,
    delta: Exact = 0,
    runs: int = RUNS,
    confidence: Exact = CONFIDENCE,
    game: Game = Game.DIFFERENTIAL,
    subject: str = "a function",
    progress: Callable[[int, int], None] | None = None,
) -> Finding:
    """Two experiments that are claimed to be (epsilon, delta)-close, both ways.

    Guarantee: if they are, the verdict is `Refuted` with probability at most 1 - confidence.
    """
    claim, slack, sure = loss(epsilon, "`epsilon`"), rational(delta, "`delta`"), rational(confidence, "`confidence`")
    if not 0 < sure < 1 or runs < 100 or not 0 <= slack < 1:
        raise WrongUse("`confidence` and `delta` are between 0 and 1, and `runs` at least 100; change them")
    plan = look_sizes(runs)
    heaps: list[Heap | None] = [None, None]
    best, done, events = Bound(Fraction(0), "", 0, 0, 0, False), 0, 0
    for stop in plan:
        for side, experiment in enumerate((one, two)):
            heaps[side] = joined(heaps[side], heap(experiment(stop - done)))
        done = stop
        if progress is not None:
            progress(done, runs)
        first, second = heaps
        assert first is not None and second is not None
        found = _best_bound(first, second, slack, (1 - sure) / len(plan))
        events = max(events, found[1])
        best = max(best, found[0], key=lambda bound: bound.epsilon)
        if best.epsilon > claim:
            break
    return Finding(
        game=game,
        depth=Depth.BLACK_BOX,
        verdict=_verdict(best, claim, slack, sure, done),
        claimed=f"epsilon {to_text(claim)}" + (f", delta {to_text(slack)}" if slack else ""),
        subject=subject,
        lower_bound=to_text(rounded(best.epsilon, up=False, digits=6)),
        confidence=to_text(sure),
        notes=(power_sentence(claim, slack, sure, runs), f"{events:,} events were proposed on one half of the runs."),
        numbers={"runs": done, "event": best.event, "often": best.often, "seldom": best.seldom},
    )


def _verdict(best: Bound, claim: Loss, delta: Fraction, sure: Fraction, runs: int) -> Verdict:
    if best.epsilon > claim:
        pair = ("second", "first") if best.swapped else ("first", "second")
        witness = (
            ("event", best.event),
            (pair[0], f"{best.often} of {best.runs}"),
            (pair[1], f"{best.seldom} of {best.runs}"),
            ("epsilon_at_least", to_text(rounded(best.epsilon, up=False, digits=6))),
        )
        return Refuted(f"the two are further apart than claimed, with confidence {to_text(sure)}", witness)
    return Undecided(
        f"{runs:,} runs of each show a loss of at least {to_text(rounded(best.epsilon, up=False, digits=3))} and no "
        "more; that refutes nothing and proves nothing"
    )


def _best_bound(one: Heap, two: Heap, delta: Fraction, alpha: Fraction) -> tuple[Bound, int]:
    """The best bound of one look: the first half of the runs chooses, the second confirms."""
    half = len(one) // 2
    chosen, number = _chosen(one.first(half), two.first(half), float(delta))
    best = Bound(Fraction(0), "", 0, 0, 0, False)
    share = alpha / (2 * max(len(chosen), 1))
    for event, swapped in chosen:
        ours, theirs = (int(event.happened(each)[half:].sum()) for each in (one, two))
        often, seldom = (theirs, ours) if swapped else (ours, theirs)
        left = len(one) - half
        p, q = at_least(often, left, share) - delta, at_most(seldom, left, share)
        if p > q:
            epsilon = lower((ball(p) / ball(q)).log())
            if epsilon > best.epsilon:
                best = Bound(epsilon, event.describe, often, seldom, left, swapped)
    return best, number


def _chosen(one: Heap, two: Heap, delta: float) -> tuple[list[tuple[Event, bool]], int]:
    """The most telling events of the first half, by a quick bound."""
    scored: list[tuple[float, int, Event, bool]] = []
    seen: set[tuple[int, int]] = set()
    number, n = 0, len(one)
    for event in proposed(one, two):
        number += 1
        a, b = int(event.happened(one).sum()), int(event.happened(two).sum())
        if (a, b) in seen:
            continue
        seen.add((a, b))
        swapped = b > a
        score = _rough(max(a, b), min(a, b), n, delta)
        scored.append((score, -number, event, swapped))
    scored.sort(key=lambda each: each[:2], reverse=True)
    # The best of each sort first: sets of outcomes fit the half that chose them too well, and thresholds do not.
    best = {type(event): (event, swapped) for _, _, event, swapped in reversed(scored)}
    return [*best.values()][:_EVENTS], number


def _rough(often: int, seldom: int, n: int, delta: float, z: float = 3.0) -> float:
    """About the bound that such counts would give (Wilson's interval)."""
    p, q = _wilson(often, n, -z) - delta, _wilson(seldom, n, z)
    return math.log(p / q) if p > q else (p - q)


def _wilson(x: float, n: int, z: float) -> float:
    share = x / n
    middle = share + z * z / (2 * n)
    reach = z * math.sqrt(max(share * (1 - share), 0.0) / n + z * z / (4 * n * n))
    return max((middle + reach) / (1 + z * z / n), 1e-12)


def power(claim: float, delta: float, sure: float, runs: int) -> float:
    """About the smallest loss of two-sided geometric noise that so many runs refute nine times in ten."""
    z = NormalDist().inv_cdf(1 - (1 - sure) / len(look_sizes(runs)) / (2 * _EVENTS))
    half, spread = runs // 2, 1.6449  # both counts are that far on the wrong side less than once in ten
    low, high = claim, claim + 50.0
    for _ in range(30):
        middle = (low + high) / 2
        q = 1 / (1 + math.exp(min(middle, 700.0)))
        reach = spread * math.sqrt(q * (1 - q) * half)
        p, above = _wilson((1 - q) * half - reach, half, -z) - delta, _wilson(q * half + reach, half, z)
        low, high = (low, middle) if p > above and math.log(p / above) > claim else (middle, high)
    return high


def power_sentence(claim: Loss, delta: Fraction, sure: Fraction, runs: int) -> str:
    """What the black box could have seen."""
    if isinstance(claim, Infinite):
        return "An infinite epsilon cannot be refuted by counting."
    seen = power(float(claim), float(delta), float(sure), runs)
    if seen >= float(claim) + 49:
        return f"{runs:,} runs are too few to refute an epsilon of {to_text(claim)}."
    return (
        f"With {runs:,} runs, geometric noise with a loss of {seen:.2f} is refuted {_POWER:.0%} of the time; anything "
        "better hidden may pass."
    )


def repeated(run: Callable[[], object]) -> Experiment:
    """An experiment from a single run; what it raises is an outcome."""

    def many(n: int) -> list[object]:
        found: list[object] = []
        for _ in range(n):
            try:
                found.append(run())
            except Exception as error:  # a message that depends on the data is an outcome like any other
                found.append(error)
        return found

    return many
