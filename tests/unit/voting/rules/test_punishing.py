"""The punishing rule: its law, the least that a lie costs, and the mix that takes every gain away (Lemmas 80, 81)."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest

from hubbub.errors import FloatRefused, WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.rules.rules import Mix, Plurality, Punishing, RandomDictator, mix_probability


def of(ballot: tuple[str, ...], others: dict[tuple[str, ...], int], names: str) -> Ballots:
    counts = dict(others)
    counts[ballot] = counts.get(ballot, 0) + 1
    return Ballots.from_counts(names, counts)


def test_the_law_is_that_of_a_place_on_a_ballot() -> None:
    ballots = Ballots.from_counts("abc", {("a", "b", "c"): 2, ("c", "b", "a"): 1})
    assert Punishing().lottery(ballots) == (Fraction(4, 9), Fraction(1, 3), Fraction(2, 9))


def test_candidates_left_out_share_what_is_left_over() -> None:
    assert Punishing().lottery(Ballots.from_counts("abcd", {("b",): 1})) == tuple(Fraction(x, 6) for x in (1, 3, 1, 1))
    assert Punishing().lottery(Ballots.from_counts("abcd", {("b", "a"): 1})) == tuple(
        Fraction(x, 12) for x in (4, 6, 1, 1)
    )
    assert Punishing().lottery(Ballots.from_counts("abc", {(): 3})) == (Fraction(1, 3),) * 3


def all_ballots(names: str, *, truncated: bool) -> list[tuple[str, ...]]:
    lengths = range(len(names) + 1) if truncated else (len(names),)
    return [ranking for length in lengths for ranking in permutations(names, length)]


@pytest.mark.parametrize("names", ["ab", "abc", "abcd"])
@pytest.mark.parametrize("truncated", [False, True])
def test_lemma_80_with_its_constant(names: str, truncated: bool) -> None:
    """Over all lies and utilities on a grid: the least cost is 2 alpha_u/(n m (m - 1)), half of it with truncation."""
    m, others = len(names), {tuple(names): 2, tuple(reversed(names)): 1}
    n = 4
    truth = tuple(names)
    alpha = Fraction(1, m - 1)
    utility = [1 - alpha * place for place in range(m)]  # as coarse as a strict utility can be everywhere

    def worth(ballot: tuple[str, ...]) -> Fraction:
        law = Punishing().lottery(of(ballot, others, names))
        return sum((u * p for u, p in zip(utility, law, strict=True)), Fraction(0))

    honest = worth(truth)
    # A ballot that leaves out only the last candidate says the same as the whole ranking.
    costs = [
        honest - worth(lie) for lie in all_ballots(names, truncated=truncated) if lie not in (truth, truth[: m - 1])
    ]
    least = 2 * alpha / (n * m * (m - 1))
    assert min(costs) == (least / 2 if truncated else least)


def test_lemma_81_corrected() -> None:
    """The printed q = eps n/alpha_u is too small for three candidates, the corrected one is just enough."""
    eps, n, m, alpha = Fraction(1, 10**6), 50, 3, Fraction(1, 2)
    q = mix_probability(gain=eps, voters=n, candidates=m, utility_coarseness=alpha)
    least = 2 * alpha / (n * m * (m - 1))
    assert (1 - q) * eps == q * least
    printed = (eps * n / alpha) / (1 + eps * n / alpha)
    assert (1 - printed) * eps > printed * least
    half = mix_probability(gain=eps, voters=n, candidates=m, utility_coarseness=alpha, truncated=True)
    assert (1 - half) * eps == half * least / 2


def test_the_probabilities_of_the_theory() -> None:
    q = mix_probability(gain="1e-12", voters=10**6, candidates=3, utility_coarseness="0.05")
    assert float(q) == pytest.approx(6e-5, rel=1e-3)
    q = mix_probability(gain="1e-6", voters=10**6, candidates=3, utility_coarseness="0.05")
    assert float(q) == pytest.approx(0.98, abs=0.005)
    q = mix_probability(gain=Fraction(1, 2**100), voters=10**6, candidates=3, utility_coarseness="0.05")
    assert float(q) == pytest.approx(5e-23, rel=0.06)
    assert mix_probability(gain=0, voters=5, candidates=3, utility_coarseness=1) == 0


def test_a_mix_is_one_rule_or_the_other() -> None:
    ballots = Ballots.from_counts("abc", {("a", "b", "c"): 2, ("c", "b", "a"): 1})
    mix = Mix(rule=Plurality(), probability=Fraction(1, 4))
    both = zip(Plurality().lottery(ballots), Punishing().lottery(ballots), strict=True)
    assert mix.lottery(ballots) == tuple(Fraction(3, 4) * a + Fraction(1, 4) * b for a, b in both)
    drawn = {mix.run(ballots, ScriptedSource.from_label(f"mix {i}")).draws[0].chosen for i in range(40)}
    assert drawn == {"plurality", "punishing"}
    assert Mix(rule=Plurality(), probability=Fraction(0)).run(ballots, ScriptedSource()).draws == ()
    assert mix.name == "plurality mixed with punishing"


def test_what_cannot_be_a_probability_or_a_gain() -> None:
    with pytest.raises(WrongUse, match="between 0 and 1"):
        Mix(rule=RandomDictator(), probability=Fraction(3, 2))
    with pytest.raises(FloatRefused):
        mix_probability(gain=0.1, voters=5, candidates=3, utility_coarseness=1)  # type: ignore[arg-type]
    with pytest.raises(WrongUse):
        mix_probability(gain="-1", voters=5, candidates=3, utility_coarseness=1)
    for impossible in (0, "1.01"):
        with pytest.raises(WrongUse, match="the coarseness of the utility must be"):
            mix_probability(gain="1", voters=5, candidates=3, utility_coarseness=impossible)
