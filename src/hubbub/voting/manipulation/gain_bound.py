"""What a lie gains at most, under one belief, for any number of voters and candidates: proved, however small.

A belief expects an elimination rule to go one way: in each round it knows who is expected to be best (or least), and
who stands apart. The rule leaves that way only if two whom it expects to be equal end up further apart than the
margin, or two whom it expects apart end up within it. The voter's own ballot moves a difference by at most 1, so one
event, bad luck in one of the pairs, covers all her reports at once; outside it the candidates that are left are those
the belief expects, all with the same chance to be anybody's top, and plurality with random ties among them rewards no
lie. With delta the sum of the pairs' chances, no lie gains more than 2 delta.
"""

from __future__ import annotations

from flint import arb

from hubbub.errors import Refused
from hubbub.runtime.frozen import dataclass
from hubbub.voting.guarantees.tails import lead_at_least
from hubbub.voting.manipulation.beliefs import Belief
from hubbub.voting.manipulation.gain_winners import Contest
from hubbub.voting.rules.margins import REPEATED_PLURALITY


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A round as a belief expects it: `left` in the race, `level` with the best (or least) expected count."""

    left: tuple[int, ...]
    level: tuple[int, ...]


def expected_path(belief: Belief, contest: Contest) -> tuple[Expected, ...]:
    """The rounds that the others' expected counts lead to, the last one with all candidates level.

    Guarantee: the way of an elimination rule on which all differences of counts are what the belief expects them to
    be, in sign and in being 0, with those that differ counted as outside the margin (Theorems 78 and 79).
    """
    left = tuple(range(len(belief.candidates)))
    rounds = []
    while True:
        tops = belief.tops(left)
        mark = max(tops.values()) if contest.kind == REPEATED_PLURALITY else min(tops.values())
        level = tuple(c for c in left if tops[c] == mark)
        rounds.append(Expected(left=left, level=level))
        if level == left:
            return tuple(rounds)
        left = level if contest.kind == REPEATED_PLURALITY else tuple(c for c in left if c not in level)


def off_path(belief: Belief, voters: int, contest: Contest) -> arb:
    """A ball whose upper end bounds delta: the chance that some report of the voter leads elsewhere.

    Guarantee: with probability at least 1 - delta over the others' ballots, the rule keeps the candidates that
    `expected_path` keeps, whatever the voter reports; complete, truncated or no ballot at all (Theorem B1 with the
    belief's own pairs in place of the worst ones).
    """
    _refuse_without_theorem(contest)
    others, margin = voters - 1, contest.within
    total = arb(0)
    for expected in expected_path(belief, contest):
        tops = belief.tops(expected.left)
        level, apart = expected.level, [c for c in expected.left if c not in expected.level]
        share = tops[level[0]]
        total += len(level) * (len(level) - 1) * lead_at_least(others, share, share, margin)
        for c in apart:  # all who are level have the same share, so any of them will do
            behind, ahead = (tops[c], share) if contest.kind == REPEATED_PLURALITY else (share, tops[c])
            total += lead_at_least(others, behind, ahead, -(margin + 1))
    return total.min(arb(1))


def gain_at_most(belief: Belief, voters: int, contest: Contest) -> arb:
    """A ball whose upper end bounds the gain of every lie, for every truth and every utility in [0, 1].

    Guarantee: 2 delta, delta from `off_path` (Theorem 77: outside that event the lie is one to plurality among
    candidates who are equally likely tops, with ties broken uniformly at random, and pays nothing); 1 at most.
    """
    return (2 * off_path(belief, voters, contest)).min(arb(1))


def _refuse_without_theorem(contest: Contest) -> None:
    if not contest.eliminates:
        raise Refused(
            f"no theorem bounds what a lie gains under {contest.kind} by anything small: it is of the order of one "
            "over the root of the number of voters; compute it exactly, or sample it"
        )
    if contest.order is not None:
        raise Refused(
            "ties broken by a fixed order void the bound: plurality among equally likely tops then rewards a lie with "
            "three or more candidates, by about 0.4/n (three); break ties at random after the ballots are in"
        )
