"""How much a voter would like each candidate to win, from 0 to 1.

A utility is consistent with a ranking when it falls strictly from each candidate to the next. It is alpha-coarse when
two candidates are worth the same or differ by at least alpha. Over all utilities that are consistent with a ranking,
what a lie gains is largest at the corners, where the first j candidates are worth 1 and the others 0: expected utility
is linear, and the falling sequences in [0, 1] are the mixtures of these corners. (The corners themselves are not
strictly falling; utilities as close to them as one likes are, so the largest gain is a supremum.)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

from hubbub.errors import WrongUse
from hubbub.numeric.exact import rational, to_text
from hubbub.runtime.frozen import dataclass
from hubbub.voting.manipulation.beliefs import Ranking, Scores, ranking_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Utility:
    """`values` says what the victory of each of `candidates` is worth to the voter: a rational in [0, 1]."""

    candidates: tuple[str, ...]
    values: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if len(self.values) != len(self.candidates):
            raise WrongUse(f"a utility needs one value for each of {', '.join(self.candidates)}")
        for name, value in zip(self.candidates, self.values, strict=True):
            if not 0 <= value <= 1:
                raise WrongUse(f"a utility lies between 0 and 1, and that of {name!r} is {to_text(value)}")

    @property
    def coarseness(self) -> Fraction:
        """The largest alpha for which the utility is alpha-coarse: the least difference between unequal values.

        1 where all are equal, since then every alpha fits.
        """
        rising = sorted(set(self.values))
        return min((b - a for a, b in pairwise(rising)), default=Fraction(1))

    @property
    def range(self) -> Fraction:
        """What the best victory is worth more than the worst: no lie gains more, and none loses more."""
        return max(self.values) - min(self.values)

    def consistent_with(self, ranking: Ranking) -> bool:
        """Whether the utility falls strictly along `ranking`; those that a truncated one leaves out are tied below. By scores
        it falls as they do, and equal scores are worth the same."""
        if isinstance(ranking, Scores):
            pairs = combinations(zip(self.values, ranking, strict=True), 2)
            return all((a > b) == (s > t) and (a < b) == (s < t) for (a, s), (b, t) in pairs)
        ranked = [self.values[c] for c in ranking]
        rest = {self.values[c] for c in range(len(self.values)) if c not in ranking}
        falling = all(a > b for a, b in pairwise(ranked))
        return falling and len(rest) <= 1 and all(ranked[-1] > value for value in rest)

    def text(self) -> str:
        """What `utility` reads back."""
        return ",".join(f"{n}={to_text(v)}" for n, v in zip(self.candidates, self.values, strict=True))


def utility(text: str, candidates: Sequence[str]) -> Utility:
    """The utility that ``c=1,a=0.4,b=0`` says.

    >>> utility("c=1,a=0.4,b=0", ("a", "b", "c")).coarseness
    Fraction(2, 5)
    """
    values: dict[str, Fraction] = {}
    for part in text.split(","):
        name, equals, number = (piece.strip() for piece in part.rpartition("="))
        if not equals or name not in candidates or name in values:
            raise WrongUse(
                f"a utility gives each of {', '.join(candidates)} one number, like "
                f"{','.join(f'{c}={v}' for c, v in zip(candidates, ('1', '0.4', '0'), strict=False))}; "
                f"not {part.strip()[:60]!r}"
            )
        values[name] = rational(number, f"the utility of {name!r}")
    missing = [name for name in candidates if name not in values]
    if missing:
        raise WrongUse(f"a utility needs a value for every candidate, and {missing[0]!r} has none")
    return Utility(candidates=tuple(candidates), values=tuple(values[name] for name in candidates))


def check_consistent(worth: Utility, truth: Ranking) -> None:
    """Refuse a utility that does not fall along the true ranking: then the "truth" would be no truth."""
    if not worth.consistent_with(truth):
        raise WrongUse(
            f"the utility {worth.text()} is not consistent with the true ranking "
            f"{ranking_text(truth, worth.candidates)}: it must fall strictly from each candidate to the next"
        )


def corners(truth: Ranking, candidates: Sequence[str]) -> tuple[Utility, ...]:
    """The utilities at which a lie can gain most: the first j of `truth` are worth 1 and the others 0.

    Guarantee: for every lie, the supremum of its gain over all utilities in [0, 1] consistent with `truth` is the
    largest of its gains at these and 0. Where the truth is truncated, those it leaves out count as tied for last; where it
    is scores, those of equal scores are worth the same.
    """
    if isinstance(truth, Scores):
        first = [[c for c, score in enumerate(truth) if score > least] for least in sorted(set(truth))[-2::-1]]
    else:
        first = [list(truth[:j]) for j in range(1, min(len(truth), len(candidates) - 1) + 1)]
    return tuple(
        Utility(
            candidates=tuple(candidates),
            values=tuple(Fraction(int(c in best)) for c in range(len(candidates))),
        )
        for best in first
    )
