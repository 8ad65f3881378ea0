"""The words: every notion has them, every number in them is on the safe side, and no step goes untold."""

from __future__ import annotations

import math
import re
import typing
from fractions import Fraction

import pytest

from hubbub.certificate.explanation import explain, formula, meaning
from hubbub.guarantees.composition import differential, zero_knowledge
from hubbub.guarantees.curve import Curve, Piece, read
from hubbub.guarantees.definitions import (
    BernoulliSample,
    ConcentratedPrivacy,
    CrowdBlending,
    DifferentialPrivacy,
    DistributionalPrivacy,
    ExplorationSample,
    Guarantee,
    NeighbourhoodSample,
    Neighbours,
    OutlierGroup,
    OutlierPrivacy,
    RandomSample,
    RobustSample,
    SimpleOutlier,
    StaircaseOutlier,
    TailoredPrivacy,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import Assumption, Theorem, state_promise
from hubbub.guarantees.implications import sanitize_sample, zero_knowledge_to_differential
from hubbub.guarantees.people import People, Whose
from hubbub.numeric.exact import INFINITY

TENTH, HALF, ONE = Fraction(1, 10), Fraction(1, 2), Fraction(1)
ROBUST = RobustSample(low=Fraction(0), high=TENTH, highest=ONE, exempt=3)

SAYS: list[tuple[Guarantee, list[str]]] = [
    (ConcentratedPrivacy(rho=TENTH), ["Add or remove one person in"]),
    (
        DifferentialPrivacy(epsilon=TENTH),
        ["Add or remove one person in", "more than 1.106 times", "such as your friends"],
    ),
    (
        DifferentialPrivacy(epsilon=TENTH, delta=Fraction(1, 3 * 10**6), group=4),
        ["up to 4 people", "probability 1 in 3 million"],
    ),
    (
        DifferentialPrivacy(epsilon=Fraction(0), neighbours=Neighbours.REPLACE),
        ["Replace the data of one person", "exactly as likely", "the number of people is secret"],
    ),
    (DifferentialPrivacy(epsilon=INFINITY), ["nothing is promised"]),
    (DifferentialPrivacy(epsilon=ONE, delta=ONE), ["nothing is promised"]),
    (DifferentialPrivacy(epsilon=Fraction(100)), ["10^44 times"]),
    (
        ZeroKnowledge(epsilon=TENTH, aggregate=RandomSample(k=7, n=90)),
        ["7 people picked at random out of 90", "k = 7 is how many", "could also be learnt from"],
    ),
    (
        ZeroKnowledge(epsilon=TENTH, aggregate=RandomSample(k=7)),
        ["7 people picked at random, with that person's data blanked"],
    ),
    (ZeroKnowledge(epsilon=TENTH, aggregate=BernoulliSample(p=TENTH)), ["each with probability 0.1", "sampling rate"]),
    (ZeroKnowledge(epsilon=TENTH, aggregate=ROBUST), ["0 or 0 to 0.1", "up to 3 people with up to 1"]),
    (ZeroKnowledge(epsilon=TENTH, aggregate=ExplorationSample(k=7, s=5)), ["around them, 5 for each", "k = 7"]),
    (ZeroKnowledge(epsilon=TENTH, aggregate=NeighbourhoodSample(k=7, radius=2)), ["within 2 links", "k = 7"]),
    (CrowdBlending(k=10, epsilon=TENTH), ["at least 10 people", "1.106", "k = 10", "second release"]),
    (CrowdBlending(k=1, epsilon=TENTH), ["Nothing: with k = 1"]),
    (
        OutlierPrivacy(curve=read("1:0.01,2:0.1,101:1,1000:inf").curve),
        ["in a crowd of 1,", "of 2 to 100", "101 to 999", "1000 or more, nothing is promised", "1.0101", "2.72"],
    ),
    (OutlierPrivacy(curve=read("slope:0.01<=1").curve), ["1.0101 to 2.7 times", "of 100 or more", "2.72"]),
    (OutlierPrivacy(curve=read("slope:0.1").curve), ["in a crowd of 1,", "and 1.106 times that for each further one"]),
    (OutlierPrivacy(curve=read("1").curve, delta=TENTH), ["Leave out one person in", "in any crowd", "10 %"]),
    (
        TailoredPrivacy(curve=read("1:0.1,101:1").curve, delta=TENTH),
        ["are in your cell, the less you show", "of 1 to 100", "1.106", "Your crowd is everybody in your cell"],
    ),
    (SimpleOutlier(k=10, epsilon=ONE), ["of 1 to 10", "1.106", "11 or more, nothing is promised"]),
    (StaircaseOutlier(thresholds=(10,), epsilons=(ONE, Fraction(0))), ["exactly as likely", "2.72"]),
    (OutlierGroup(k=10, size=4, epsilon=ONE), ["up to 4 people at once", "at most 10 of their kind", "k = 10"]),
    (
        DistributionalPrivacy(epsilon=TENTH, sample=RobustSample(low=TENTH, high=HALF, highest=HALF, exempt=0)),
        ["picked at random", "0 or 0.1 to 0.5,", "anything, if people were picked in another way"],
    ),
]


@pytest.mark.parametrize(("guarantee", "phrases"), SAYS, ids=[str(guarantee) for guarantee, _ in SAYS])
def test_a_promise_in_words(guarantee: Guarantee, phrases: list[str]) -> None:
    told = meaning(guarantee)
    words = f"{told.promised}\n{told.crowd}\n{told.not_promised}"
    assert [phrase for phrase in phrases if phrase not in words] == []


@pytest.mark.parametrize("guarantee", [guarantee for guarantee, _ in SAYS], ids=str)
def test_a_promise_is_in_words_for_whomever_it_is_about(guarantee: Guarantee) -> None:
    named = [People(whose=whose, person="id") for whose in Whose if not People(whose=whose).in_graph]
    for people in (None, *named, *(People(whose=whose) for whose in Whose)):
        told = meaning(guarantee, people)
        assert told.promised.strip()
        assert told.not_promised.strip()
        for line in (told.promised, told.crowd, told.not_promised):
            assert "epsilon" not in line
            assert "delta" not in line


def test_whom_a_promise_is_about_is_said() -> None:
    private = DifferentialPrivacy(epsilon=ONE)
    assert meaning(private, People()).promised.startswith("Add or remove one row in the table")
    assert meaning(private, People(person="id")).promised.startswith("Add or remove one person in the table")
    kept = meaning(CrowdBlending(k=5, epsilon=ONE), People(whose=Whose.KEPT_ROWS, person="id"))
    assert "among the kept rows" in kept.promised
    population = meaning(private, People(whose=Whose.POPULATION, person="id"))
    assert "in the population that the table was collected from" in population.promised
    assert "two tables that differ in one person may be told apart" in population.not_promised


def test_the_people_of_a_graph_have_edges() -> None:
    vertex, edge = People(whose=Whose.VERTEX), People(whose=Whose.EDGE)
    replaced = DifferentialPrivacy(epsilon=ONE, neighbours=Neighbours.REPLACE)
    assert meaning(replaced, vertex).promised.startswith(
        "Replace the edges of one person in the graph with anything else"
    )
    one = meaning(DifferentialPrivacy(epsilon=ONE), edge)
    assert one.promised.startswith("Add or remove one edge in the graph")
    assert "anything to a person with all their edges" in one.not_promised
    several = meaning(DifferentialPrivacy(epsilon=ONE, group=3), edge)
    assert several.promised.startswith("Add or remove up to 3 edges in the graph")
    known = ZeroKnowledge(epsilon=ONE, aggregate=NeighbourhoodSample(k=7, radius=1))
    assert "7 people picked at random and of their friends, with that person's edges removed" in (
        meaning(known, vertex).promised
    )


def test_every_notion_has_words() -> None:
    assert {type(guarantee) for guarantee, _ in SAYS} == set(typing.get_args(Guarantee))


@pytest.mark.parametrize("text", ["0.001", "0.1", "0.5", "1", "3", "10", "14", "15", "50", "600"])
def test_odds_in_words_are_never_below_the_truth_and_never_far_above(text: str) -> None:
    words = meaning(DifferentialPrivacy(epsilon=Fraction(text))).promised
    said = re.search(r"more than (\S+) times", words)
    assert said
    if said[1].startswith("10^"):
        assert 0 <= int(said[1][3:]) - float(text) / math.log(10) <= 1
    else:
        excess = float(said[1]) - math.exp(float(text))
        assert 0 <= excess <= 0.02 * math.expm1(float(text))


DERIVATION = zero_knowledge_to_differential(
    zero_knowledge(
        *[
            sanitize_sample(
                state_promise(
                    DifferentialPrivacy(epsilon=ONE, neighbours=Neighbours.REPLACE),
                    theorem=Theorem("example-1", "Example 1", "a paper"),
                    assumptions=(Assumption("counts", "counts are counts"),),
                ),
                k=100,
                n=1000,
            )
        ]
        * 2
    )
)


def test_explain_numbers_the_steps_and_names_what_they_rest_on() -> None:
    told = explain(DERIVATION)
    steps = [line for line in told.splitlines() if re.match(r"  \d+\. ", line)]
    assert [line.split(".")[0].strip() for line in steps] == ["1", "2", "3", "4"]
    assert "by Example 1 (a paper)" in steps[0]
    assert "from 1, by Theorem A1" in steps[1]
    assert "from 2 and 2, by Proposition 2" in steps[2]
    assert "from 3, by Proposition 7" in steps[3]
    granted = told.split("Taken for granted")[1]
    for text in DERIVATION.all_assumptions():
        assert granted.count(text) == 1
    assert told.startswith("What is promised\n  Replace the data of one person")


def test_explain_without_assumptions_has_no_empty_list() -> None:
    assert "Taken for granted" not in explain(state_promise(CrowdBlending(k=3, epsilon=ONE)))


def test_formula_is_a_tree_with_every_number() -> None:
    lines = formula(DERIVATION).splitlines()
    assert [len(line) - len(line.lstrip()) for line in lines] == [0, 2, 4, 6, 4]
    assert lines[0].startswith(str(DERIVATION.conclusion))
    assert "p = 0.1" in lines[2]
    assert "[Example 1]" in lines[3]
    assert lines[4].endswith("; premises above]")


def test_a_long_history_can_be_told() -> None:
    history = state_promise(DifferentialPrivacy(epsilon=TENTH))
    for _ in range(1500):
        history = differential(history, state_promise(DifferentialPrivacy(epsilon=TENTH)))
    assert formula(history).count("\n") == 3000
    assert "from 2999 and 3000" in explain(history)


def test_a_curve_of_many_pieces_is_said_in_few_steps_above_it() -> None:
    curve = Curve((*(Piece(10 * i + 1, Fraction(i + 1, 50)) for i in range(50)),))
    said = str(meaning(OutlierPrivacy(curve=curve)))
    assert said.count("in a crowd of") == 3
    assert "in a crowd of 1 to 50, no possible output becomes more than 1.106 times" in said
    assert "in a crowd of 51 to 250, no possible output becomes more than 1.649 times" in said
    assert "in a crowd of 251 or more, no possible output becomes more than 2.72 times" in said
