"""Elections in which telling the truth is the best move: what ``hubbub vote`` does, for Python.

>>> from hubbub import vote
>>> answer = vote.guarantee("repeated-plurality", candidates=3, voters=10_000)
>>> answer.margin, answer.empty
(785, False)
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from hubbub.noise.source import Source, SystemSource
from hubbub.numeric.exact import Exact
from hubbub.voting.ballots import Ballots
from hubbub.voting.count.comparison import compare as compare
from hubbub.voting.count.counted import Counted
from hubbub.voting.count.counted import count as _count
from hubbub.voting.formats.formats import read as read
from hubbub.voting.guarantees.assurance import Assurance, assurance
from hubbub.voting.manipulation.gain import Question as Question
from hubbub.voting.manipulation.gain_answer import answer as gain
from hubbub.voting.protocol import Rule as Rule
from hubbub.voting.rules.rules import make as rule
from hubbub.voting.rules.threshold import margin as read_margin
from hubbub.voting.rules.threshold import share

ETA: Final = "1e-12"

__all__ = ["Question", "Rule", "compare", "count", "gain", "guarantee", "read", "rule"]


def count(rule: Rule, ballots: Ballots, *, eta: Exact = ETA, source: Source | None = None) -> Counted:
    """Count ballots, like those of ``read(file).ballots``, and say what is promised at a gain of `eta`.

    Guarantee: that of :func:`hubbub.voting.count.counted.count`. Lots are drawn from the operating system.
    """
    return _count(rule, ballots, share(eta, "`eta`"), SystemSource() if source is None else source)


def guarantee(
    rule: str,
    *,
    candidates: int,
    voters: int | None = None,
    eta: Exact = ETA,
    margin: Exact | None = None,
    coarseness: Fraction | None = None,
    truncated: bool = False,
) -> Assurance:
    """What a margin promises; without `voters`, to as many as `coarseness` needs; without `margin`, with B*.

    Guarantee: that of :func:`hubbub.voting.guarantees.assurance.assurance`.
    """
    return assurance(
        rule,
        candidates=candidates,
        voters=voters,
        eta=share(eta, "`eta`"),
        margin=None if margin is None else read_margin(margin, "`margin`"),
        coarseness=coarseness,
        truncated=truncated,
    )
