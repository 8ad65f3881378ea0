"""Proposition 9 and the class AS(k): what noisy shares of cliques tell beyond a sample."""

from __future__ import annotations

import math

import pytest

from hubbub.audit.stories import CLIQUE, from_release, least_zero_knowledge, one_clique_is_allowed


@pytest.mark.parametrize("group", [1, 50])
def test_proposition_9_no_constant_is_enough_once_there_are_enough_people(group: int) -> None:
    """The sample stays as large; with more and more people no epsilon is left. 200 in a group is slower, not safe."""
    found = [least_zero_knowledge(0.1, 1000, 10**size, group) for size in (6, 7, 8, 9, 10)]
    assert found == sorted(found)
    assert found[-1] > found[1]
    assert least_zero_knowledge(0.1, 1000, 10**10) > 9.99  # the paper's e' may be any constant


def test_proposition_9_the_remark_holds_for_groups_of_200() -> None:
    assert 0 < least_zero_knowledge(0.1, 1000, 10**8, CLIQUE) < least_zero_knowledge(0.1, 1000, 10**10, CLIQUE)


def test_proposition_9_the_bound_solves_its_inequality() -> None:
    """P1 = x (x P2 + q) at the bound, for the best number of cliques, and P1 <= x (x P2 + q) for every other."""
    epsilon, sample, people = 0.1, 1000, 10**7
    x, slack = math.exp(least_zero_knowledge(epsilon, sample, people)), []
    for cliques in range(1, 60):
        p1 = 0.5**cliques
        p2 = p1 * math.exp(-cliques * CLIQUE * epsilon)
        missed = math.prod(1 - sample / (people - i) for i in range(CLIQUE * cliques))
        slack.append(x * (x * p2 + 1 - missed) / p1)
    assert min(slack) == pytest.approx(1, rel=1e-4)  # logarithms of factorials of millions lose digits


def test_a_sample_that_meets_everybody_shows_nothing() -> None:
    assert least_zero_knowledge(0.1, 10**5, 10**6) == 0
    assert least_zero_knowledge(0.1, 10**6, 10**6) == 0


def test_one_random_clique_passes_with_respect_to_as_and_gives_its_people_away() -> None:
    assert one_clique_is_allowed(CLIQUE)
    assert not one_clique_is_allowed(CLIQUE - 1)
    assert from_release(0.1) > 0.89
