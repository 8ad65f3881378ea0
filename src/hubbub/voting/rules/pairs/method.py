"""What a rule of pairs is: from the table of all pairs to the law of the winner, and to one count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from hubbub.runtime.frozen import dataclass
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Round
from hubbub.voting.ties import FixedTies, Ties, positions_in

Table = Sequence[Sequence[int]]

MOST_BRANCHES: Final = 20_000  # states that ties can lead to
TOO_MANY: Final = (
    f"ties lead to more than {MOST_BRANCHES:,} different states, too many for the exact law of the winner; run the rule "
    "once, or break ties by a fixed order"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCount:
    """`table[i][j]` voters prefer i to j; of `voters` ballots `blank` ones rank nobody."""

    table: Table
    voters: int
    blank: int
    names: tuple[str, ...]
    ties: Ties

    @property
    def order(self) -> list[int] | None:
        """The place of each candidate in an order fixed beforehand; None where ties are drawn."""
        return positions_in(self.ties.order, self.names) if isinstance(self.ties, FixedTies) else None

    def margin(self, one: int, other: int) -> int:
        """How many more voters prefer one to the other than the other way."""
        return self.table[one][other] - self.table[other][one]

    def condorcet_winner(self) -> int | None:
        """Who beats everybody else one to one."""
        everyone = range(len(self.names))
        return next((i for i in everyone if all(self.margin(i, j) > 0 for j in everyone if j != i)), None)


class Method(Protocol):
    """A rule of pairs."""

    def law(self, pairs: PairCount) -> Lottery:
        """Everybody's chance to win."""
        ...  # pragma: no cover

    def count(self, pairs: PairCount, chance: Chance) -> tuple[int, tuple[Round, ...]]:
        """Who wins, and the rounds, with draws from `chance`."""
        ...  # pragma: no cover
