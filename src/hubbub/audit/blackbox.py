"""The black box: run both experiments many times, and bound the loss from below with confidence.

Half of the outcomes choose a few events, those that speak loudest against the claim; the other half, which no choice
has seen, says how often these came up. The loss is at least ln((p - delta)/q) where p is below the one probability and
q above the other, both by Clopper and Pearson. Of an event that is rare the runs are put in pairs, and only pairs in
which it came up once count: that finds a leak in one run of hundreds. Half of the error goes to the last look and half
of that to the first event, and so on. More runs are made until the claim is refuted or the runs are used up. That the
claim is not refuted does not make it true.

Exact confidence bounds for a probability, from how often an event came up (Clopper, Pearson 1934), certified.

The lower bound is the p at which so many events or more would come up with probability alpha only. Tails are certified
balls, and each bound is rounded away from the estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Final, TypeAlias

from flint import arb, ctx

from hubbub.audit.finding import Depth, Finding, Game
from hubbub.audit.outcomes import Bools, Event, Heap, OneOf, heap, join_heaps, propose_events
from hubbub.errors import WrongUse
from hubbub.guarantees.verdict import Refuted, Undecided, Verdict
from hubbub.numeric.exact import Exact, Infinite, Loss, ball, loss, lower, rational, rounded, to_text
from hubbub.runtime.frozen import dataclass

Experiment: TypeAlias = Callable[[int], Sequence[object]]
"""So many fresh outcomes."""

RUNS: Final = 20_000
CONFIDENCE: Final = Fraction(99, 100)
_FIRST: Final = 500  # runs before the first look
_GROWTH: Final = 4
_EVENTS: Final = 4  # that are confirmed at each look: the best of all, then the best of each other sort
_RARE: Final = Fraction(1, 10)  # an event that comes up less often is confirmed in pairs of runs
_POWER: Final = 0.9
_LEAKS: Final = (100, 300, 1000)  # once in so many runs


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
    for look, stop in enumerate(plan):
        for side, experiment in enumerate((one, two)):
            heaps[side] = join_heaps(heaps[side], heap(experiment(stop - done)))
        done = stop
        if progress is not None:
            progress(done, runs)
        first, second = heaps
        assert first is not None and second is not None
        found = _best_bound(first, second, claim, slack, (1 - sure) * _share_of_look(look, len(plan)))
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


def _share_of_look(look: int, number: int) -> Fraction:
    """How much of the error a look may take: the last one half, the others the rest in equal parts."""
    if number == 1:
        return Fraction(1)
    return Fraction(1, 2) if look == number - 1 else Fraction(1, 2 * (number - 1))


def _shares_of_events(number: int) -> list[Fraction]:
    """Half of the error to the first event, half of what is left to the next; the last has what is left."""
    return [Fraction(1, 2 ** min(i + 1, number - 1)) if number > 1 else Fraction(1) for i in range(number)]


def _best_bound(one: Heap, two: Heap, claim: Loss, delta: Fraction, alpha: Fraction) -> tuple[Bound, int]:
    """The best bound of one look: the first half of the runs chooses, the second confirms.

    Guarantee: if the loss is at most epsilon, a bound above epsilon is found with probability at most alpha.
    """
    half = len(one) // 2
    chosen, number = _choose_events(one.first(half), two.first(half), claim, float(delta))
    best = Bound(Fraction(0), "", 0, 0, 0, False)
    for (event, swapped, rare), share in zip(chosen, _shares_of_events(len(chosen)), strict=True):
        ours, theirs = (event.occurs_in(each)[half:] for each in (one, two))
        often, seldom = (theirs, ours) if swapped else (ours, theirs)
        epsilon = (_from_pairs if rare else _from_rates)(often, seldom, delta, alpha * share)
        if epsilon > best.epsilon:
            best = Bound(epsilon, event.describe, int(often.sum()), int(seldom.sum()), len(often), swapped)
    return best, number


def _from_rates(often: Bools, seldom: Bools, delta: Fraction, alpha: Fraction) -> Fraction:
    """A bound below the loss from how often the event came up in each.

    Guarantee: above the loss with probability at most alpha (Clopper and Pearson, half of alpha for each side).
    """
    p = at_least(int(often.sum()), len(often), alpha / 2) - delta
    q = at_most(int(seldom.sum()), len(seldom), alpha / 2)
    return max(lower((ball(p) / ball(q)).log()), Fraction(0)) if p > q else Fraction(0)


def _from_pairs(often: Bools, seldom: Bools, delta: Fraction, alpha: Fraction) -> Fraction:
    """A bound below the loss from the pairs of runs, one of each, in which the event came up once.

    Guarantee: above the loss with probability at most alpha. Let P(often) = p + d with p <= c q, d <= delta and
    q = P(seldom), c = e^loss >= 1. Leave out the part d: at most `lost` of the pairs change, but for alpha/10. Of pairs
    with one event, each is of the first kind with the odds t = p(1 - q)/(q(1 - p)) <= (c - p)/(1 - p), which grows in
    p; p is at most `top`, but for alpha/10. So c >= t(1 - top) + top, with t from Clopper and Pearson at 8 alpha/10.
    """
    lost = most_events(delta, len(often), alpha / 10) if delta else 0
    first, second = int((often & ~seldom).sum()) - lost, int((seldom & ~often).sum()) + lost
    if first <= second:
        return Fraction(0)
    share = at_least(first, first + second, alpha * 8 / 10)
    top = at_most(int(often.sum()), len(often), alpha / 10)
    least = share / (1 - share) * (1 - top) + top
    return lower(ball(least).log()) if least > 1 else Fraction(0)


def _choose_events(one: Heap, two: Heap, claim: Loss, delta: float) -> tuple[list[tuple[Event, bool, bool]], int]:
    """The events of the first half that speak loudest against the claim, the loudest first: each with whether it is the
    likelier one in the second experiment, and whether it is rare."""
    scored: list[tuple[float, int, Event, bool, bool]] = []
    seen: set[tuple[int, int]] = set()
    number, n = 0, len(one)
    for event in propose_events(one, two):
        number += 1
        a, b = int(event.occurs_in(one).sum()), int(event.occurs_in(two).sum())
        if (a, b) in seen:
            continue
        seen.add((a, b))
        score = _against(max(a, b), min(a, b), n, claim, delta)
        scored.append((score, -number, event, b > a, max(a, b) < _RARE * n))
    scored.sort(key=lambda each: each[:2], reverse=True)
    # One of each sort: sets of outcomes fit the half that chose them too well, and thresholds and single ones do not.
    best = {_sort(each[2]): each[2:] for each in reversed(scored)}
    ordered = [each[2:] for each in scored if best[_sort(each[2])][0] is each[2]]
    return ordered[:_EVENTS], number


def _sort(event: Event) -> tuple[type[Event], bool]:
    return type(event), isinstance(event, OneOf) and len(event.texts) == 1


def _against(often: int, seldom: int, n: int, claim: Loss, delta: float) -> float:
    """By how many standard deviations such counts exceed what the claim allows; the bound itself where it is close."""
    if isinstance(claim, Infinite):
        return 0.0
    times = math.exp(min(float(claim), 50.0))
    excess = (often - times * seldom - delta * n) / math.sqrt(often + times * times * seldom + 1)
    return excess if excess > 3 else min(_rough(often, seldom, n, delta) / (float(claim) + 1), 2.9)


def _rough(often: int, seldom: int, n: int, delta: float, z: float = 3.0) -> float:
    """About the bound that such counts would give (Wilson's interval)."""
    p, q = _wilson(often, n, -z) - delta, _wilson(seldom, n, z)
    return math.log(p / q) if p > q else (p - q)


def _wilson(x: float, n: int, z: float) -> float:
    share = x / n
    middle = share + z * z / (2 * n)
    reach = z * math.sqrt(max(share * (1 - share), 0.0) / n + z * z / (4 * n * n))
    return max((middle + reach) / (1 + z * z / n), 1e-12)


def _share_of_first(sure: float, runs: int) -> float:
    """How much of the error the first event of the last look has."""
    number = len(look_sizes(runs))
    return (1 - sure) * float(_share_of_look(number - 1, number)) / 2


def power(claim: float, delta: float, sure: float, runs: int) -> float:
    """About the smallest loss of two-sided geometric noise that so many runs refute nine times in ten."""
    z = NormalDist().inv_cdf(1 - _share_of_first(sure, runs) / 2)
    half, spread = runs // 2, 1.6449  # both counts are that far on the wrong side less than once in ten
    low, high = claim, claim + 50.0
    for _ in range(30):
        middle = (low + high) / 2
        q = 1 / (1 + math.exp(min(middle, 700.0)))
        reach = spread * math.sqrt(q * (1 - q) * half)
        p, above = _wilson((1 - q) * half - reach, half, -z) - delta, _wilson(q * half + reach, half, z)
        low, high = (low, middle) if p > above and math.log(p / above) > claim else (middle, high)
    return high


def power_on_leak(claim: float, delta: float, sure: float, runs: int, once_in: int) -> float:
    """About how often so many runs refute a claim if one table has an outcome once in so many runs, the other never."""
    share, half = _share_of_first(sure, runs) * 8 / 10, runs // 2
    mean = half / once_in
    lost = math.ceil(delta * half + 4 * math.sqrt(delta * half)) if delta else 0
    least = lost + math.log(share) / -math.log1p(math.exp(-min(claim, 30.0)))
    missed = NormalDist().cdf((math.ceil(least) - 0.5 - mean) / math.sqrt(mean))
    return 1 - missed


def power_sentence(claim: Loss, delta: Fraction, sure: Fraction, runs: int) -> str:
    """What the black box could have seen: wider noise, and a leak now and then."""
    if isinstance(claim, Infinite):
        return "An infinite epsilon cannot be refuted by counting."
    given = float(claim), float(delta), float(sure), runs
    seen = power(*given)
    if seen >= float(claim) + 49:
        return f"{runs:,} runs are too few to refute an epsilon of {to_text(claim)}."
    leaks = ", ".join(f"{math.floor(100 * power_on_leak(*given, each))} % at 1 in {each:,}" for each in _LEAKS)
    return (
        f"With {runs:,} runs, geometric noise with a loss of {seen:.2f} is refuted {_POWER:.0%} of the time. An outcome "
        f"that only one table can have is found about so often: {leaks} runs. Anything better hidden may pass."
    )


def repeat_runs(run: Callable[[], object]) -> Experiment:
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


_GRID: Final = 1 << 40
_STEPS: Final = (1e-9, 1e-6, 1e-3, 0.1, 1.0)  # what may be given away of the bound to be certain of it
_BITS: Final = 64
_HALVINGS: Final = 60
_TERMS, _CLOSE, _TINY = 20_000, 1e-15, 1e-300  # of a continued fraction


def at_least(events: int, runs: int, alpha: Fraction) -> Fraction:
    """A bound below the probability of the event.

    Guarantee: for every true probability p, the bound is above p with probability at most alpha.
    """
    if not 0 <= events <= runs or not 0 < alpha < 1:
        raise WrongUse("events are between 0 and the number of runs, and alpha is between 0 and 1; check both")
    if events == 0:
        return Fraction(0)
    guess = _guess(events, runs, float(alpha))  # a float, and so not to be relied on
    for given_away in _STEPS:
        at = max(math.floor(guess * (1 - given_away) * _GRID) - 1, 0)
        if _is_below(at, events, runs, alpha):
            return Fraction(at, _GRID)
    return Fraction(0)


def at_most(events: int, runs: int, alpha: Fraction) -> Fraction:
    """A bound above the probability of the event, as :func:`at_least` for the event's opposite.

    Guarantee: for every true probability p, the bound is below p with probability at most alpha.
    """
    return 1 - at_least(runs - events, runs, alpha)


def most_events(chance: Fraction, runs: int, alpha: Fraction) -> int:
    """A bound above how often an event of such a chance comes up in so many runs.

    Guarantee: the event comes up more often with probability at most alpha.
    """
    events = math.floor(chance * runs)
    with ctx.workprec(_BITS):
        while events < runs and not ball(chance).beta_lower(events + 1, runs - events, 1) <= ball(alpha):
            events += 1
    return events


def _guess(events: int, runs: int, alpha: float) -> float:
    """About the p at which so many events or more have probability alpha, by halving."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _tail(middle, events, runs) < alpha else (low, middle)
    return low


def _tail(p: float, events: int, runs: int) -> float:
    """About the probability of so many events or more: the incomplete beta function, by its continued fraction, which
    is short on the side of p where the tail is the smaller one."""
    a, b = events, runs - events + 1
    if not 0 < p < 1:
        return p
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(p) + b * math.log1p(-p)
    if p * (a + b + 2) < a + 1:
        return math.exp(front) * _fraction(p, a, b) / a
    return 1 - math.exp(front) * _fraction(1 - p, b, a) / b


def _fraction(p: float, a: int, b: int) -> float:
    """The continued fraction of the incomplete beta function (Lentz's method of working one out from its head)."""
    upper, lower = 1.0, 1 / max(1 - (a + b) * p / (a + 1), _TINY)
    found = lower
    for m in range(1, _TERMS):
        even = m * (b - m) * p / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * p / ((a + 2 * m) * (a + 2 * m + 1))
        for part in (even, odd):
            lower, upper = 1 / _not_zero(1 + part * lower), _not_zero(1 + part / upper)
            found *= lower * upper
        if abs(lower * upper - 1) < _CLOSE:
            break
    return found


def _not_zero(number: float) -> float:
    return number if abs(number) > _TINY else _TINY


def _is_below(at: int, events: int, runs: int, alpha: Fraction) -> bool:
    """Whether at p = at / 2^40 so many events or more certainly have probability alpha at most."""
    if at == 0:
        return True
    with ctx.workprec(_BITS):
        tail = (arb(at) / _GRID).beta_lower(events, runs - events + 1, 1)
        return bool(tail <= ball(alpha))
