"""The exact depth: certified divergences between neighbouring inputs, in the game that the promise names.

A channel is held against its own claim, or another one, count by count; a release of any kind through its own checks;
two laws that are listed, outcome by outcome, against what is promised of neighbours.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from flint import arb

from hubbub.audit.finding import Depth, Finding, Game
from hubbub.channels.profile import checkable, judge, profile
from hubbub.channels.protocol import Channel
from hubbub.guarantees.definitions import DifferentialPrivacy, Guarantee
from hubbub.guarantees.verdict import Proved, Refuted, Undecided, Verdict
from hubbub.numeric.exact import Infinite, ball, exp, rounded, to_text
from hubbub.protocol.channel_checks import critical
from hubbub.protocol.spec import Spec

_GAMES = {
    "differential": Game.DIFFERENTIAL,
    "crowd-blending": Game.CROWD_BLENDING,
    "zero-knowledge": Game.ZERO_KNOWLEDGE,
    "tailored": Game.TAILORED,
    "distributional": Game.DISTRIBUTIONAL,
}

_OPEN = ("undecided", "its laws cannot be worked out")  # how a check says that it neither passed nor failed


def game_of(promise: Guarantee) -> Game:
    """The game that a promise names; every other notion is a curve."""
    return _GAMES.get(promise.notion, Game.OUTLIER)


def of_channel(
    channel: Channel, promise: Guarantee | None = None, counts: Iterable[int] | None = None, subject: str | None = None
) -> Finding:
    """A channel against a promise, its own claim if none is given.

    Guarantee: `Proved` and `Refuted` are those of :func:`hubbub.channels.profile.judge`: certified bounds at the counts
    that were looked at and the channel's proof at all others. `lower_bound` is a certified lower bound on the delta, at
    the claimed epsilon, of the worst count looked at.
    """
    claim = checkable(channel.claim if promise is None else promise)
    rows = profile(channel, critical(channel) if counts is None else counts, claim)
    verdict = judge(channel, rows, claim)
    if promise is None:
        verdict = channel.reconsider(verdict)
    worst = max((rounded(row.exact_delta, up=False, digits=6) for row in rows), default=None)
    return Finding(
        game=game_of(claim),
        depth=Depth.EXACT,
        verdict=verdict,
        claimed=str(claim),
        subject=channel.name if subject is None else subject,
        lower_bound=None if worst is None else f"delta {to_text(worst)}",
        numbers={"counts": [row.count for row in rows]},
    )


def of_spec(spec: Spec, subject: str | None = None, claims: Sequence[Guarantee] = ()) -> tuple[Finding, ...]:
    """A release of any kind: every check that it lists, played for its first promise.

    Guarantee: `Proved` only for a check that passed, which is one that works the claim out again from exact laws. A
    kind without such checks is left undecided, in words. Where a number of people is enforced the game is played with
    that: what is promised, or written among the `claims` of its certificate, about somebody who comes or goes is
    refuted by two tables, of which one is refused, and then nothing is called proved.
    """
    own = [step.conclusion for step in spec.promises()]
    promise = own[0]
    name = spec.describe().entry if subject is None else subject
    found = [_finding(each, _refuted_crowd(number), name) for each, number in _unlike(spec, [*own, *claims])]
    if found:
        return tuple(found)
    for check in spec.checks():
        verdict: Verdict = Refuted(f"not so: {check.what}", (("found", check.found),))
        if check.passed:
            verdict = Proved(f"{check.what}: {check.found}")
        elif check.found.startswith(_OPEN):
            verdict = Undecided(f"{check.what}: {check.found}")
        found.append(_finding(promise, verdict, name))
    if not found:
        found.append(_finding(promise, Undecided("this kind of release has no laws to work out again"), name))
    return tuple(found)


def of_laws(
    one: Mapping[Hashable, arb], two: Mapping[Hashable, arb], promise: DifferentialPrivacy, subject: str = ""
) -> Finding:
    """Two laws, listed outcome by outcome, against the promise that the first is within epsilon and delta of the second.

    What a law leaves out of its list counts against whoever says that the promise is broken, and against whoever says
    that it is kept.

    Guarantee: with P and Q the listed masses, and p and q what is missing from 1, the least delta of the laws at epsilon
    lies between sum (P - e^epsilon Q)+ - e^epsilon q and sum (P - e^epsilon Q)+ + p. `Refuted` only if the lower end is
    above the promised delta, `Proved` only if the upper end is at most that.
    """
    if isinstance(promise.epsilon, Infinite):
        return _finding(promise, Proved("an infinite epsilon holds of any two laws"), subject)
    factor = exp(promise.epsilon)
    gains = {outcome: mass - factor * two.get(outcome, arb(0)) for outcome, mass in one.items()}
    listed = sum((gain.nonnegative_part() for gain in gains.values()), arb(0))
    low, high = listed - factor * (1 - sum(two.values(), arb(0))), listed + 1 - sum(one.values(), arb(0))
    verdict: Verdict = Undecided("what the laws leave out may or may not keep the promise")
    if low > ball(promise.delta):
        worst = max(gains, key=lambda outcome: float(gains[outcome].mid()))
        chances = tuple(f"{float(law.get(worst, arb(0)).mid()):.3g}" for law in (one, two))
        witness = (("an outcome", str(worst)), ("its probability", chances[0]), ("and of the neighbour", chances[1]))
        verdict = Refuted("two neighbours can be told apart by more than is promised", witness)
    elif high <= ball(promise.delta):
        verdict = Proved("no set of outcomes tells these neighbours apart by more than is promised")
    bounds = {"delta_between": [to_text(rounded(low, up=False, digits=6)), to_text(rounded(high, up=True, digits=6))]}
    return replace(_finding(promise, verdict, subject), numbers=bounds)


def _unlike(spec: Spec, claims: Sequence[Guarantee]) -> Iterator[tuple[Guarantee, int]]:
    """The claims that compare unlike numbers of people although one number is enforced."""
    if spec.enforced_number is not None:
        yield from ((each, spec.enforced_number) for each in claims if not each.neighbours.number_is_public)


def _refuted_crowd(number: int) -> Refuted:
    witness = (("of so many people", f"{number:,}"), ("published", "always"), ("with one fewer", "never"))
    return Refuted("the number of people is enforced, so that one who leaves is noticed for certain", witness)


def _finding(promise: Guarantee, verdict: Verdict, subject: str) -> Finding:
    return Finding(game=game_of(promise), depth=Depth.EXACT, verdict=verdict, claimed=str(promise), subject=subject)
