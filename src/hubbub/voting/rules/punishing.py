"""The punishing rule, and its mix with another rule: what turns "hardly pays" into "never pays".

Under the punishing rule every lie costs something. Run with a small probability q instead of a rule whose lies gain at
most eps, it takes that gain away. The probability of the thesis (Lemma 81) is too small by a factor of m (m - 1)/2 for
m candidates; the one here is re-derived.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.noise.source import Source
from hubbub.numeric.exact import Exact, integer, positive, rational
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import Lottery, Rule
from hubbub.voting.result import Result, Round
from hubbub.voting.rules.piles import position_counts, top_counts
from hubbub.voting.rules.selection import even


@dataclass(frozen=True, slots=True, kw_only=True)
class Punishing:
    """A voter drawn uniformly; of her ballot the j-th of m wins with a chance proportional to m - j.

    On a truncated ballot the candidates left out share the chances of the places left over evenly.

    Guarantee: for a voter whose utility is alpha_u-coarse, every lie costs at least 2 alpha_u/(n m (m - 1)) (Lemma 80
    with its constant), and where ballots may be truncated at least half of that.
    """

    name = "punishing"

    def lottery(self, ballots: Ballots) -> Lottery:
        ballots.strictly(self.name)
        m, voters = len(ballots.candidates), ballots.voters
        if not voters:
            return even(m)
        # Twice the share of each ballot, so that the mean of the places left over is whole: 2 (m - j) for the j-th
        # place, and for those left out of a ballot of length k the mean of m - k - 1, ..., 0, doubled: m - k - 1.
        length = (ballots.rankings >= 0).sum(axis=1)
        left_out = ballots.weights * np.maximum(m - length - 1, 0)
        shares = [int(left_out.sum()) - ranked for ranked in _given_to_ranked(ballots, length, left_out)]
        for position, row in enumerate(position_counts(ballots, range(m)).tolist()):
            for candidate, count in enumerate(row):
                shares[candidate] += 2 * (m - position - 1) * count
        return tuple(Fraction(share, voters * m * (m - 1)) for share in shares)

    def run(self, ballots: Ballots, source: Source) -> Result:
        law = self.lottery(ballots)
        counts, blank = top_counts(ballots)
        chance = Chance(source)
        winner = chance.pick("a ballot, and a place on it", ballots.candidates, law)
        return chance.result(self, ballots, winner, (Round(counts=tuple(enumerate(counts)), exhausted=blank),))


def _given_to_ranked(ballots: Ballots, length: NDArray[np.int64], share: NDArray[np.int64]) -> list[int]:
    """For each candidate, `share` summed over the ballots that rank them."""
    m = len(ballots.candidates)
    out = np.zeros(m + 1, dtype=np.int64)  # the last takes what stands for nobody
    for position in range(int(length.max(initial=0))):
        np.add.at(out, ballots.rankings[:, position], np.where(length > position, share, 0))
    return [int(total) for total in out[:m]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """The punishing rule with a chance of `probability`, and otherwise `rule`.

    Guarantee: if no lie gains more than eps under `rule`, and `probability` is at least that of `mix_probability`, no
    lie gains anything (Lemma 81, corrected). Whatever `rule` promises about the winner holds but for a chance of
    `probability`.
    """

    rule: Rule
    probability: Fraction

    def __post_init__(self) -> None:
        if not 0 <= self.probability <= 1:
            raise WrongUse(f"the probability of the punishing rule must lie between 0 and 1, not {self.probability}")

    @property
    def name(self) -> str:
        return f"{self.rule.name} mixed with punishing"

    def lottery(self, ballots: Ballots) -> Lottery:
        q = self.probability
        both = zip(self.rule.lottery(ballots), Punishing().lottery(ballots), strict=True)
        return tuple((1 - q) * chance + q * punished for chance, punished in both)

    def run(self, ballots: Ballots, source: Source) -> Result:
        ballots.strictly(self.name)  # before anything is drawn
        chance = Chance(source)
        which, q = (self.rule, Punishing()), self.probability
        ran = which[chance.pick("which rule is run", [rule.name for rule in which], [1 - q, q])].run(ballots, source)
        return Result(
            rule=self,
            candidates=ran.candidates,
            voters=ran.voters,
            winner=ran.winner,
            rounds=ran.rounds,
            draws=(*chance.draws, *ran.draws),
            secure=chance.secure and ran.secure,
        )


def mix_probability(
    *, gain: Exact, voters: int, candidates: int, utility_coarseness: Exact, truncated: bool = False
) -> Fraction:
    """q = r/(1 + r) with r = eps n m (m - 1)/(2 alpha_u), or twice that r where ballots may be truncated.

    Guarantee: if no lie gains more than eps = `gain` under a rule, then under its mix with the punishing rule with this
    probability no lie gains anything, for every voter whose utility is alpha_u-coarse: (1 - q) eps <= q times the
    least cost of a lie (Lemma 81, corrected). Exact.

    >>> mix_probability(gain="1e-12", voters=10**6, candidates=3, utility_coarseness="0.05")
    Fraction(3, 50003)
    """
    eps = rational(gain, "the gain")
    if eps < 0:
        raise WrongUse(f"the gain must be at least 0, not {eps}")
    coarse = positive(utility_coarseness, "the coarseness of the utility")
    if coarse > 1:
        raise WrongUse(f"the coarseness of the utility must be at most 1, not {coarse}; utilities lie in [0, 1]")
    n, m = integer(voters, "the number of voters", least=1), integer(candidates, "the number of candidates", least=2)
    r = eps * n * m * (m - 1) / (coarse if truncated else 2 * coarse)
    return r / (1 + r)
