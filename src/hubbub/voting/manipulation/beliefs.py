"""What a voter believes: every other ballot is drawn, independently, from one law over rankings.

A belief is alpha-coarse when all its probabilities are whole multiples of some beta >= alpha. Since they add up to 1,
beta is one over a whole number, and the largest that fits is one over the common denominator: that is `coarseness`. A
belief from l observed ballots has at least 1/l, a Dirichlet belief from l ballots over all m! rankings at least
1/(m! + l). A belief with an irrational probability has no coarseness at all, however few rankings it names, so weights
are rationals here. (The thesis lets a mixture of finitely many beliefs collapse into a coarse one; that needs rational
weights too.)
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING, Final, TypeAlias

from hubbub.errors import WrongUse
from hubbub.numeric.exact import Exact, integer, positive, rational, to_text
from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.voting.ballots import Ballots

Ranking: TypeAlias = tuple[int, ...]
"""Candidates by their number, the best first; a truncated one leaves some out at the end."""


class Scores(Ranking):
    """A ballot of score voting in the place of a ranking: what it gives each candidate, in their order."""

    __slots__ = ()

    @property
    def ranking(self) -> Ranking:
        """The candidates whom it scores above its lowest, the highest first; all who share a score stand beside."""
        return tuple(sorted((c for c, s in enumerate(self) if s > min(self)), key=lambda c: (-self[c], c)))


MOST_SCORE: Final = 100
MOST_RANKED: Final = 8
"""Candidates of a Dirichlet belief at most: it gives each of the m! rankings a probability of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """Each of the others casts, independently, the ranking r with probability `shares` of r (Definition 74, i.i.d.).

    `candidates` are their names, in the order that the numbers in rankings count; `shares` are pairs of a ranking and
    a rational above 0, each ranking once, and add up to 1. With `truncated`, a ballot may leave out candidates at its
    end, and the belief is one over that larger set of ballots.
    """

    candidates: tuple[str, ...]
    shares: tuple[tuple[Ranking, Fraction], ...]
    truncated: bool = False

    def __post_init__(self) -> None:
        if len(set(self.candidates)) != len(self.candidates) or len(self.candidates) < 2:
            raise WrongUse(f"a belief needs at least two candidates of different names, not {list(self.candidates)}")
        for ranking, share in self.shares:
            check_ranking(ranking, self.candidates, truncated=self.truncated)
            if not isinstance(share, Fraction) or share <= 0:
                raise WrongUse(f"a probability in a belief must be a rational above 0, not {share!r}; leave out zeros")
        if len({ranking for ranking, _ in self.shares}) != len(self.shares):
            raise WrongUse("a belief names the same ranking twice; add up its probabilities")
        total = sum((share for _, share in self.shares), Fraction(0))
        if total != 1:
            raise WrongUse(f"the probabilities of a belief must add up to 1, and these add up to {to_text(total)}")

    @property
    def coarseness(self) -> Fraction:
        """The largest alpha for which the belief is alpha-coarse: one over the common denominator."""
        return Fraction(1, math.lcm(*(share.denominator for _, share in self.shares)))

    def tops(self, among: Iterable[int]) -> dict[int, Fraction]:
        """The probability that each candidate `among` these is somebody's best of them."""
        left = set(among)
        found = dict.fromkeys(sorted(left), Fraction(0))
        for ranking, share in self.shares:
            best = next((candidate for candidate in ranking if candidate in left), None)
            if best is not None:
                found[best] += share
        return found

    def text(self) -> str:
        """What `belief` reads back."""
        return ",".join(f"{ranking_text(r, self.candidates)}:{to_text(share)}" for r, share in self.shares)


def check_ranking(ranking: Ranking, candidates: Sequence[str], *, truncated: bool = False) -> None:
    """Refuse a ranking, or scores, that are not of `candidates`."""
    if isinstance(ranking, Scores):
        if len(ranking) != len(candidates) or not all(0 <= score <= MOST_SCORE for score in ranking):
            raise WrongUse(
                f"scores like 5-2-0 give each of {', '.join(candidates)} a whole number from 0 to {MOST_SCORE}, not "
                f"{ranking_text(ranking, candidates)[:40]!r}"
            )
        return
    names = ranking_text(ranking, candidates) if all(0 <= c < len(candidates) for c in ranking) else str(ranking)
    if len(set(ranking)) != len(ranking) or not all(0 <= c < len(candidates) for c in ranking):
        raise WrongUse(f"a ranking names each candidate at most once, and {names!r} does not")
    if len(ranking) != len(candidates) and not truncated:
        raise WrongUse(
            f"the ranking {names!r} names {len(ranking)} of {len(candidates)} candidates ({', '.join(candidates)}); "
            "rank them all, or say that ballots may be truncated"
        )


def ranking_text(ranking: Ranking, candidates: Sequence[str]) -> str:
    """``cab`` where all names are single characters, else ``kiss>wright>montroll``; ``5-2-0`` for scores."""
    if isinstance(ranking, Scores):
        return "-".join(map(str, ranking))
    names = [candidates[c] for c in ranking]
    return ("" if all(len(name) == 1 for name in candidates) else ">").join(names)


def split_names(text: str) -> tuple[str, ...]:
    """The names in a ranking: ``kiss>wright``, or one character each in ``cab``."""
    return tuple(name.strip() for name in text.split(">")) if ">" in text else tuple(text.strip())


def is_scores(text: str) -> bool:
    """Whether a text gives a score to each candidate, like 5-2-0."""
    return re.fullmatch(r"\s*\d{1,4}(-\d{1,4})+\s*", text, re.ASCII) is not None


def scores_of(ranking: Ranking, candidates: int, top: int) -> Scores:
    """The scores of somebody who ranks so, in even steps from `top` to 0, rounded down."""
    steps = candidates - 1
    found = [0] * candidates
    for place, candidate in enumerate(ranking):
        found[candidate] = top * (steps - place) // steps
    return Scores(found)


def read_ranking(text: str, candidates: Sequence[str], *, truncated: bool = False) -> Ranking:
    """The ranking that ``cab`` or ``kiss>wright>montroll`` says, or the scores of ``5-2-0``."""
    stripped = text.strip()
    if is_scores(stripped) and stripped not in candidates:
        scores = Scores(int(part) for part in stripped.split("-"))
        check_ranking(scores, candidates)
        return scores
    names = (stripped,) if stripped in candidates else split_names(text)
    unknown = [name for name in names if name not in candidates]
    if unknown:
        raise WrongUse(f"{unknown[0]!r} in {text.strip()!r} is no candidate; they are {', '.join(candidates)}")
    ranking = tuple(candidates.index(name) for name in names)
    check_ranking(ranking, candidates, truncated=truncated)
    return ranking


def belief(text: str, candidates: Sequence[str] = (), *, truncated: bool = False) -> Belief:
    """The belief that ``abc:1/2,bac:1/2`` or ``kiss>wright:0.4,wright>kiss:0.6`` says.

    Candidates not given are those that the text names, in alphabetical order.

    >>> belief("abc:1/2,bac:1/4,cab:1/4").coarseness
    Fraction(1, 4)
    """
    entries = []
    for part in text.split(","):
        ranked, colon, number = part.rpartition(":")
        if not colon or not (ranked.strip() or truncated):
            raise WrongUse(f"a belief is rankings with probabilities, like abc:1/2,bac:1/2, not {part.strip()[:60]!r}")
        entries.append((ranked, positive(number, f"the probability of {ranked.strip()!r}")))
    names = tuple(candidates) or tuple(sorted({name for ranked, _ in entries for name in split_names(ranked)}))
    shares: dict[Ranking, Fraction] = {}
    for ranked, share in entries:
        ranking = read_ranking(ranked, names, truncated=truncated)
        if ranking in shares:
            raise WrongUse(f"the belief names {ranked.strip()!r} twice; add up its probabilities")
        shares[ranking] = share
    return Belief(candidates=names, shares=tuple(shares.items()), truncated=truncated)


def observed_in(ballots: Ballots) -> dict[Ranking, int]:
    """How often each ranking was cast, of strict ballots."""
    seen: Counter[Ranking] = Counter()
    for row, weight in zip(ballots.rankings.tolist(), ballots.weights.tolist(), strict=True):
        seen[tuple(candidate for candidate in row if candidate >= 0)] += weight
    return dict(seen)


def empirical(observed: Mapping[Ranking, int], candidates: Sequence[str], *, truncated: bool = False) -> Belief:
    """The relative frequencies of observed ballots.

    Guarantee: the coarseness is at least one over the number of observations (thesis, appendix B.2).
    """
    counts = {ranking: integer(times, "a number of ballots") for ranking, times in observed.items()}
    total = sum(counts.values())
    if total == 0:
        raise WrongUse("an empirical belief needs at least one observed ballot; use a Dirichlet belief without any")
    shares = tuple((ranking, Fraction(times, total)) for ranking, times in counts.items() if times)
    return Belief(candidates=tuple(candidates), shares=shares, truncated=truncated)


def dirichlet(observed: Mapping[Ranking, int], candidates: Sequence[str]) -> Belief:
    """What a uniform prior over all beliefs becomes after the observed ballots: (1 + times seen) / (m! + all seen).

    Guarantee: the coarseness is at least 1/(m! + number of observations) (thesis, appendix B.2).
    """
    names = tuple(candidates)
    if len(names) > MOST_RANKED:
        raise WrongUse(
            f"a Dirichlet belief over {len(names)} candidates names {math.factorial(len(names)):,} rankings, and "
            f"{MOST_RANKED} candidates are the most; use an empirical belief"
        )
    seen = Counter({ranking: integer(times, "a number of ballots") for ranking, times in observed.items()})
    for ranking in seen:
        check_ranking(ranking, names)
    total = math.factorial(len(names)) + seen.total()
    shares = tuple((ranking, Fraction(1 + seen[ranking], total)) for ranking in permutations(range(len(names))))
    return Belief(candidates=names, shares=shares)


def mixture(parts: Iterable[tuple[Exact, Belief]]) -> Belief:
    """Each ballot drawn afresh from one of several beliefs, chosen with rational weights that add up to 1.

    Guarantee: the mixture is one belief, coarse with one over its common denominator. An irrational weight would leave
    no coarseness, so none can be given: floats are refused, and text and Fractions are rationals.
    """
    weighted = [(rational(weight, "the weight of a belief"), part) for weight, part in parts]
    if not weighted or any(weight < 0 for weight, _ in weighted) or sum(weight for weight, _ in weighted) != 1:
        raise WrongUse("the weights of a mixture of beliefs must be at least 0 and add up to 1")
    names = weighted[0][1].candidates
    if any(part.candidates != names for _, part in weighted):
        raise WrongUse("the beliefs of a mixture must be about the same candidates, in the same order")
    shares: Counter[Ranking] = Counter()
    for weight, part in weighted:
        for ranking, share in part.shares:
            shares[ranking] += weight * share  # type: ignore[assignment]  # Counter adds whatever can be added
    kept = tuple((ranking, Fraction(share)) for ranking, share in shares.items() if share)
    return Belief(candidates=names, shares=kept, truncated=any(part.truncated for _, part in weighted))
