"""What a table of ballots promises, derived from its public description before any ballot is read.

The record is enforced: ballots that do not give every official total are refused, and so are the same ballots without
one. That is no promise broken by a number that is enforced, as it would be in a table of people, because nobody learns
it here: the office has published all these totals, of these ballots, and the promise is about what the table adds to
them. So "one ballot more" is about the table as a function of the ballots beside a constant (Theorem 2 is relative to
the record), and says: whoever is told the record and the table learns no more of a ballot than the promise allows, on
top of what the record told. For two piles that both give the record it implies twice the loss for each ballot replaced.

With the official record as a constant, paths (or prefixes of a public tree) are a public partition of the ballots, and
what is published are counts on it: counts of at least k of a secret sample, the others hidden. That is crowd-blending,
and, over the sample, differentially private for every voter. Theorem 2 says more of paths: two ballots of one path can
be exchanged without moving any official total.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from hubbub.channels.mechanisms.exact_above import ExactOrSuppressed
from hubbub.channels.sampled import distributional, sampled_crowd_blending
from hubbub.errors import Refused
from hubbub.guarantees import composition
from hubbub.guarantees.definitions import BernoulliSample
from hubbub.guarantees.derivation import HERE, Assumption, Derivation, Theorem, state_promise, texts
from hubbub.guarantees.implications import on_a_sample, outlier_to_differential
from hubbub.guarantees.people import People, Whose
from hubbub.kinds.ballots.noisy_prefixes import level_channel

if TYPE_CHECKING:
    from hubbub.kinds.ballots.spec import PublishedBallots

VOTERS: Final = People(whose=Whose.BALLOTS)

PATHS: Final = Theorem("ballots.paths", "Theorem 2 (tally paths)", HERE)
PREFIXES: Final = Theorem("ballots.prefixes", "prefixes of a public tree", HERE)
LEVEL: Final = Theorem("ballots.level", "Theorem W1, on the prefixes of one length", HERE)

OFFICIAL: Final = Assumption(
    "official-record",
    "what is promised is about the mechanism with the official record as a constant, public and the same for both: what "
    "the record gives away, how many ballots there are among it, is outside of this promise",
)
RECOUNTED: Final = Assumption(
    "recounted",
    "the ballots, read and counted again, give every official total, and others are refused: the promise compares what "
    "the table tells beside that record, and not whether there is one",
)
ONE_BALLOT: Final = Assumption("person.ballot", "each ballot is taken to be one voter's only one")
ABSENT: Final = Assumption("absent-is-hidden-path", "a path that is absent looks like one that is hidden")
METHOD: Final = Assumption(
    "method-chosen-before",
    "k, the sample and the method were chosen before anybody saw what comes out, and no second "
    "table was drawn to choose from",
)


@lru_cache(maxsize=64)
def promises(spec: PublishedBallots) -> tuple[Derivation, ...]:
    """Every promise of the table, the mechanism's own first.

    Guarantee: with the official record fixed, each is a theorem applied to the one before, or the call is refused.
    """
    if spec.method == "noisy":
        return (_noisy(spec),)
    own = state_promise(
        ExactOrSuppressed(spec.k).claim,
        theorem=PATHS if spec.method == "paths" else PREFIXES,
        numbers=texts(k=spec.k),
        assumptions=(OFFICIAL, RECOUNTED, ONE_BALLOT, ABSENT, METHOD),
        people=VOTERS,
    )
    if spec.sample is None:
        return (own,)
    both = sampled_crowd_blending(own, spec.sample, at_delta=spec.at_delta, bins=True)
    found = [on_a_sample(own, spec.sample), *both]
    try:
        sample = BernoulliSample(p=spec.sample)
        found.append(distributional(own, sample, at_delta=spec.at_delta, bins=True))
    except Refused:  # somebody known to be in the sample may be beyond this delta where others are not
        pass
    return tuple(found)


def _noisy(spec: PublishedBallots) -> Derivation:
    """Levels add up: a ballot is in at most one node of each."""
    levels = [
        outlier_to_differential(
            state_promise(
                level_channel(spec.k, spec.level_epsilon).claim,
                theorem=LEVEL,
                numbers=texts(ranks=ranks, k=spec.k, epsilon=spec.level_epsilon),
                assumptions=(OFFICIAL, RECOUNTED, ONE_BALLOT, METHOD),
                people=VOTERS,
            )
        )
        for ranks in range(2, spec.depth + 1)
    ]
    return levels[0] if len(levels) == 1 else composition.differential(*levels)
