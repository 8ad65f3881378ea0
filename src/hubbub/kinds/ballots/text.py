"""A table of ballots in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.numeric.exact import to_text
from hubbub.protocol.spec import Description

if TYPE_CHECKING:
    from hubbub.kinds.ballots.spec import PublishedBallots

_WAY = {
    "paths": "their way through the official rounds",
    "prefix": "the first candidates of their ranking, as far as official first choices make that common",
    "noisy": "the first candidates of their ranking",
}
_RULE = {
    "paths": "the candidates a ballot sits with while the official rounds go by, up to a finalist or until exhausted",
    "prefix": "the longest beginning of a ranking that Harville's prediction from first choices gives at least k",
    "noisy": "every beginning of a ranking, level after level",
}


def describe(spec: PublishedBallots) -> Description:
    """Title, what is published, who is who."""
    way, percent = _WAY[spec.method], to_text(100 * spec.coverage)
    sampled = spec.sample is not None
    rule = (
        f"noisy counts above {spec.least_visible}" if spec.method == "noisy" else f"exact counts of at least {spec.k}"
    )
    whose = "the ballots of a fresh secret sample" if sampled else "all ballots"
    return Description(
        title=f"Ballots by {way}",
        published=f"Counts of {whose} by {way}: {rule}, the others hidden, beside the official record",
        entry=f"ballots by {way}",
        person="each ballot is taken to be one voter's only one",
        sampling=(
            f"Hubbub: each ballot by a coin of its own, with probability {to_text(spec.sample)}, drawn once and secret"
            if spec.sample is not None
            else "nobody: all ballots are counted"
        ),
        counts="the ballots in the secret sample" if sampled else "the ballots",
        intervals=f"An interval holds the number of ballots with a chance of at least {percent} %",
        public=(("path", _RULE[spec.method]),),
        remarks=_remarks(spec),
    )


def _remarks(spec: PublishedBallots) -> tuple[str, ...]:
    sentences = []
    if spec.method == "paths":
        sentences.append(
            "two ballots of one way can be exchanged without moving any official total, so a voter on a way that is "
            f"shown is lost among at least {spec.k} even to who knows every total (Theorem 2)"
        )
    if spec.sample is not None:
        sentences.append(
            "the table is no recount: its numbers are about a sample, and the official totals stand beside it; what is "
            "left of a first choice may come out below 0"
        )
    elif spec.method == "paths":
        sentences.append("exact counts can be subtracted from the official totals; the secret sample prevents that")
    return tuple(sentences)
