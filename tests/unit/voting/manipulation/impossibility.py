"""What is impossible, as statements that run: Gibbard and Satterthwaite, Gibbard, and a corollary (thesis, appendix B).

Each takes a rule that treats voters alike and goes through every profile of so many complete ballots. It looks for a
lie that pays, which is a witness, or for what the theorem says that a rule without one must be.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from math import comb, factorial
from typing import Final, TypeAlias

from hubbub.errors import CheckFailed, WrongUse
from hubbub.guarantees.verdict import Proved, Refuted, Undecided, Verdict
from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.manipulation.beliefs import Ranking, ranking_text
from hubbub.voting.protocol import Lottery, Rule

MOST_PROFILES: Final = 20_000

Profile: TypeAlias = tuple[Ranking, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manipulation:
    """A voter of `profile` who ranks `truth` does better by `lie`: it raises the chance that one of her first `wanted`
    wins by `gain`."""

    profile: Profile
    truth: Ranking
    lie: Ranking
    wanted: int
    gain: Fraction


class _Laws:
    """The law of the winner for every profile, each worked out once."""

    def __init__(self, rule: Rule, candidates: int, voters: int) -> None:
        if not 2 <= candidates <= 5 or voters < 1:
            raise WrongUse(f"every profile is gone through for 2 to 5 candidates and some voters, not {candidates}")
        orders = factorial(candidates)
        if comb(orders + voters - 1, voters) > MOST_PROFILES:
            raise WrongUse(f"{voters} voters and {candidates} candidates have too many profiles; ask for fewer voters")
        self.names = tuple("abcde"[:candidates])
        self.rule, self.voters = rule, voters
        self.orders = tuple(permutations(range(candidates)))
        self._known: dict[Profile, Lottery] = {}

    def profiles(self) -> Iterator[Profile]:
        return combinations_with_replacement(self.orders, self.voters)

    def of(self, profile: Profile) -> Lottery:
        key = tuple(sorted(profile))
        if key not in self._known:
            counts: dict[tuple[str, ...], int] = {}
            for ranking in key:
                named = tuple(self.names[c] for c in ranking)
                counts[named] = counts.get(named, 0) + 1
            self._known[key] = self.rule.lottery(Ballots.from_counts(self.names, counts))
        return self._known[key]

    def text(self, profile: Profile) -> str:
        return " ".join(ranking_text(ranking, self.names) for ranking in profile)


def manipulation(rule: Rule, candidates: int = 3, voters: int = 2) -> Manipulation | None:
    """A lie that pays for some utility, in the first profile that has one; None where no profile has.

    Guarantee: every profile of complete ballots, voter, lie and corner utility is tried, in exact chances.
    """
    return _manipulation(_Laws(rule, candidates, voters))


def _manipulation(laws: _Laws) -> Manipulation | None:
    for profile in laws.profiles():
        honest = laws.of(profile)
        for truth in dict.fromkeys(profile):
            rest = list(profile)
            rest.remove(truth)
            for lie in laws.orders:
                lied = laws.of((*rest, lie))
                for wanted in range(1, len(truth)):
                    gain = sum((lied[c] - honest[c] for c in truth[:wanted]), Fraction(0))
                    if gain > 0:
                        return Manipulation(profile=profile, truth=truth, lie=lie, wanted=wanted, gain=gain)
    return None


def _refuted(laws: _Laws, found: Manipulation) -> Refuted:
    return Refuted(
        "a lie pays, so the rule is not strategy-proof",
        (
            ("profile", laws.text(found.profile)),
            ("truth", ranking_text(found.truth, laws.names)),
            ("lie", ranking_text(found.lie, laws.names)),
            ("wanted", f"one of the first {found.wanted}"),
            ("gain", to_text(found.gain)),
        ),
    )


def theorem_86(rule: Rule, candidates: int = 3, voters: int = 2) -> Verdict:
    """Gibbard and Satterthwaite: a deterministic rule for at least three candidates, each of whom can win, is
    dictatorial or rewards a lie. Whether the rule is strategy-proof.

    Guarantee: Refuted has a witness; Proved only for a rule with one voter, who dictates; where the premises fail it is
    Undecided, and says which.
    """
    laws = _Laws(rule, candidates, voters)
    everybody = [laws.of(profile) for profile in laws.profiles()]
    if candidates < 3:
        return Undecided("the theorem is about three candidates or more")
    if any(chance not in (0, 1) for law in everybody for chance in law):
        return Undecided("the theorem is about rules that leave nothing to chance")
    if any(all(law[c] == 0 for law in everybody) for c in range(candidates)):
        return Undecided("the theorem is about rules under which everybody can win")
    found = _manipulation(laws)
    if found is not None:
        return _refuted(laws, found)
    if all(laws.of(profile)[profile[0][0]] == 1 for profile in laws.profiles()) and voters == 1:
        return Proved("the one voter dictates")
    raise CheckFailed("a rule was found that the theorem of Gibbard and Satterthwaite forbids; report this fault")


def theorem_87(rule: Rule, candidates: int = 3, voters: int = 2) -> Verdict:
    """Gibbard: a strategy-proof rule, drawn or not, is a mixture of rules that look at one voter and of rules that elect
    one of two. Whether the rule is strategy-proof.

    Guarantee: Refuted has a witness. Proved says that no lie pays and which mixture the rule is, checked for every
    profile; where no lie pays and the mixture was not found it is Undecided.
    """
    laws = _Laws(rule, candidates, voters)
    found = _manipulation(laws)
    if found is not None:
        return _refuted(laws, found)
    can_win = {c for profile in laws.profiles() for c, chance in enumerate(laws.of(profile)) if chance}
    if len(can_win) <= 2:
        return Proved("no lie pays, and the rule elects one of two")
    unanimous = {ranking: laws.of((ranking,) * voters) for ranking in laws.orders}
    for profile in laws.profiles():
        mean = tuple(sum((unanimous[r][c] for r in profile), Fraction(0)) / voters for c in range(candidates))
        if mean != laws.of(profile):
            return Undecided(
                "no lie pays; it is no mixture of rules of one voter alone, and other parts were not searched"
            )
    return Proved("no lie pays, and the rule draws a voter and looks at that ballot alone")


def corollary_88(rule: Rule, candidates: int = 3, voters: int = 2) -> Verdict:
    """Gibbard: a strategy-proof rule that never elects whom all rank below somebody draws a voter, whose first choice
    wins. Whether the rule is strategy-proof.

    Guarantee: Refuted has a witness; Proved says that the rule is that draw, checked for every profile; Undecided where
    the rule elects somebody whom all rank below another.
    """
    laws = _Laws(rule, candidates, voters)
    found = _manipulation(laws)
    if found is not None:
        return _refuted(laws, found)
    for profile in laws.profiles():
        law = laws.of(profile)
        for worse in range(candidates):
            below = any(all(r.index(c) < r.index(worse) for r in profile) for c in range(candidates) if c != worse)
            if law[worse] and below:
                return Undecided(
                    f"no lie pays, but {laws.names[worse]} can win in {laws.text(profile)}, below somebody"
                )
    for profile in laws.profiles():
        tops = [Fraction(sum(r[0] == c for r in profile), voters) for c in range(candidates)]
        if candidates > 2 and list(laws.of(profile)) != tops:
            raise CheckFailed("a rule was found that Gibbard's corollary forbids; report this fault")
    return Proved("no lie pays, and the rule draws a voter whose first choice wins")
