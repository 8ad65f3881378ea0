"""The distributional game in exact laws: a random table that has the person in it, and that table without them.

Others stand in the person's bin, each in the data with probability p, independently and secretly; that the person is in
it is known. With m of them there, the release follows f_(m+1) with the person and f_m without, so both laws are
binomial mixtures of the channel's, and their distance is a certified number for each number of others.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache

from flint import arb

from hubbub.audit.finding import Depth, Finding, Game
from hubbub.channels.divergence import hockey_stick
from hubbub.channels.law import Law
from hubbub.channels.protocol import Channel
from hubbub.channels.subsample import MISSING, mixture
from hubbub.guarantees.definitions import DistributionalPrivacy
from hubbub.guarantees.verdict import Refuted, Undecided, Verdict
from hubbub.numeric.binomial import masses
from hubbub.numeric.exact import Exact, Infinite, lower, rational, rounded, to_text, upper


def laws(channel: Channel, rate: Fraction, others: int) -> tuple[Law, Law]:
    """What is published with the person, and without, when so many others may be in the data."""
    low, weights, left_out = masses(others, rate, MISSING)
    known = cache(channel.law)
    with_them = mixture(((weight, known(m + 1)) for m, weight in enumerate(weights, low)), left_out)
    return with_them, mixture(((weight, known(m)) for m, weight in enumerate(weights, low)), left_out)


def of_channel(
    channel: Channel, promise: DistributionalPrivacy, rate: Exact, others: Iterable[int], subject: str | None = None
) -> Finding:
    """A channel against a distributional promise, for some numbers of others in the bin.

    Guarantee: `Refuted` only if for some number of others the certified lower bound on the exact delta, at the promised
    epsilon, exceeds the promised delta. Numbers that were not looked at are not proved, so nothing is called proved.
    """
    p = rational(rate, "`rate`")
    worst, at, examined = arb(0), 0, list(others)
    for n in examined:
        if isinstance(promise.epsilon, Infinite):
            break
        one, two = laws(channel, p, n)
        delta = hockey_stick(one, two, promise.epsilon).max(hockey_stick(two, one, promise.epsilon))
        if upper(delta) > upper(worst):
            worst, at = delta, n
    verdict: Verdict = Undecided(
        f"with {examined[0]} to {examined[-1]} others the laws are as close as promised"
        if examined
        else "nobody was there"
    )
    if lower(worst) > promise.delta:
        witness = (("others", str(at)), ("exact_delta_at_least", to_text(rounded(worst, up=False, digits=6))))
        verdict = Refuted("given that the person is there, the release tells more than was promised", witness)
    elif upper(worst) > promise.delta:
        verdict = Undecided(f"with {at} others the ball around the exact delta contains the promised one")
    return Finding(
        game=Game.DISTRIBUTIONAL,
        depth=Depth.EXACT,
        verdict=verdict,
        claimed=str(promise),
        subject=channel.name if subject is None else subject,
        lower_bound=f"delta {to_text(rounded(worst, up=False, digits=6))}",
        numbers={"others": at},
    )
