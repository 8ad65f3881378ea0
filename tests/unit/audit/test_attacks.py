"""Every story shows the numbers it must, draws them, and says what protects."""

from __future__ import annotations

import pytest

from hubbub.audit.stories import STORIES, from_random_people, from_release, least_success, story
from hubbub.errors import WrongUse

NUMBERS = {
    "managers": {"blind": "0.0250", "plain": "1.0000", "warped": "0.0680", "suppressed": "0.0250"},
    "twice": {"first": "2.0000", "second": "2.0000", "both": "1.0000"},
    "margins": {"found": "3.0000", "true": "3.0000"},
    "first-row": {"allowed_0.1": "0.5250", "allowed_1": "0.7311", "released": "1.0000"},
    "one-row": {"with": "0.5000", "without": "0.0000", "two_alike": "1.0000"},
    "seeds": {"same_seed": "1.0000", "fresh": "0.6402"},
    "floats": {"one": "0.0000"},
    "transfers": {"moves": "7.0000", "few": "5.0000", "single": "2.0000"},
}


def test_democrats_and_republicans() -> None:
    """theory/zero-knowledge.md, A6: the paper's bounds, the exact successes, and what random people would give."""
    assert [f"{least_success(epsilon):.4f}" for epsilon in (0.1, 0.01, 0.001)] == ["0.7990", "0.5805", "0.4233"]
    assert [f"{from_release(epsilon):.5f}" for epsilon in (0.1, 0.01, 0.001)] == ["0.89977", "0.72234", "0.53142"]
    assert [f"{from_random_people(k):.3f}" for k in (1_000, 10_000, 50_000)] == ["0.559", "0.799", "0.896"]
    hidden = [f"{from_release(epsilon, counted=False):.4f}" for epsilon in (0.1, 0.01, 0.001)]
    assert hidden == ["0.8998", "0.7212", "0.5312"]
    numbers = story("democrats").numbers
    assert numbers["exact_0.1"] == from_release(0.1)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_story_has_its_numbers(name: str) -> None:
    numbers = story(name).numbers
    assert {key: f"{numbers[key]:.4f}" for key in NUMBERS[name]} == NUMBERS[name]


def test_floats_show_in_a_quarter_of_the_draws() -> None:
    assert 0.2 < story("floats").numbers["zero"] < 0.35


@pytest.mark.parametrize("name", STORIES)
def test_a_story_is_told_and_drawn(name: str) -> None:
    found = story(name)
    page = found.page()
    assert ("<svg" in page, "<script" in page, "http://" in page) == (True, False, False)
    assert found.name == name
    assert found.protects.endswith(".")
    for sentence in found.sentences:
        assert sentence.endswith(".")
        assert "{" not in sentence


def test_there_is_a_story_for_each_attack_and_no_other() -> None:
    assert set(STORIES) == {*NUMBERS, "democrats"}
    with pytest.raises(WrongUse, match="there is no story"):
        story("dragons")
