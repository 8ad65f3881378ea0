"""The rules of pairs by name: copeland, minimax, schulze, kemeny, black, ranked-pairs, nanson, baldwin.

Ties are drawn, or broken by an order fixed beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import Source
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Result
from hubbub.voting.rules.pairs.eliminating import Baldwin, Nanson
from hubbub.voting.rules.pairs.method import Method, PairCount
from hubbub.voting.rules.pairs.ranked_pairs import RankedPairs
from hubbub.voting.rules.pairs.scored import SCORED
from hubbub.voting.rules.pairwise import pairwise
from hubbub.voting.ties import RANDOM, Ties

_METHODS: Final[Mapping[str, Method]] = {
    **SCORED,
    "ranked-pairs": RankedPairs(),
    "nanson": Nanson(),
    "baldwin": Baldwin(),
}
PAIR_RULES: Final = tuple(_METHODS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRule:
    """One of the rules above, by its name.

    Guarantee: a candidate who beats every other one to one is elected, whatever the ties.
    """

    name: str
    ties: Ties = RANDOM

    def __post_init__(self) -> None:
        if self.name not in PAIR_RULES:
            raise WrongUse(f"there is no rule {self.name[:40]!r} for pairs; there are {', '.join(PAIR_RULES)}")

    def _counted(self, ballots: Ballots) -> PairCount:
        pairs = pairwise(ballots.strictly(self.name))
        if pairs is None:
            raise Refused(
                f"{self.name} compares all pairs on all ballots, which are too many here; choose another rule"
            )
        return PairCount(
            table=pairs.table, voters=ballots.voters, blank=ballots.blank, names=ballots.candidates, ties=self.ties
        )

    def lottery(self, ballots: Ballots) -> Lottery:
        return _METHODS[self.name].law(self._counted(ballots))

    def run(self, ballots: Ballots, source: Source) -> Result:
        chance = Chance(source)
        winner, rounds = _METHODS[self.name].count(self._counted(ballots), chance)
        return chance.result(self, ballots, winner, rounds)
