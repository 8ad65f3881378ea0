"""The invented network, and what its streets give away."""

from __future__ import annotations

import numpy as np
import pytest

from hubbub.demo.friend_attack import guesses
from hubbub.demo.friends import PARTIES, PEOPLE, STREETS, friends
from hubbub.errors import WrongUse
from hubbub.graphs.distances import facts
from hubbub.noise.source import ScriptedSource

MAX_DEGREE = 40  # nobody in the town has as many friends


def test_the_network_is_the_same_every_time_and_as_declared() -> None:
    one, two = friends(), friends()
    assert facts(one.graph) == facts(two.graph)
    assert (one.party == two.party).all()
    known = facts(one.graph)
    assert (known.vertices, one.street.size, one.party.size) == (PEOPLE, PEOPLE, PEOPLE)
    assert 10 < known.largest_degree < MAX_DEGREE
    assert 240 < known.components < 300
    assert (np.unique(one.street).size, np.unique(one.party).size) == (STREETS, len(PARTIES))


def test_histograms_give_parties_away_and_random_people_do_not() -> None:
    town = friends()
    found = guesses(town.party, town.street, "0.5", int(PEOPLE**0.5), ScriptedSource.from_label("town"), runs=20)
    assert found.people == PEOPLE
    assert found.exact >= found.private > 0.8
    assert found.sampled < 0.55
    assert 0.15 < found.prior < 0.25
    assert found.as_json()["communities"] == STREETS
    assert "private counts" in found.sentence()


def test_exact_histograms_are_what_little_noise_gives() -> None:
    town = friends()
    found = guesses(town.party, town.street, "50", PEOPLE, ScriptedSource.from_label("exact"), runs=2)
    assert found.private == found.sampled == found.exact


@pytest.mark.parametrize(
    ("labels", "places"), [([0], [0, 1]), ([], []), ([-1], [0]), ([0], [-1])], ids=["uneven", "none", "below", "nobody"]
)
def test_labels_that_cannot_be_are_refused(labels: list[int], places: list[int]) -> None:
    with pytest.raises(WrongUse):
        guesses(np.array(labels), np.array(places), 1, 1, ScriptedSource())
