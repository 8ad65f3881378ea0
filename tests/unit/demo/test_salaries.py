"""The salaries story: its numbers are those of theory/outlier.md, section 3, computed and not simulated."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from hubbub.audit import stories
from hubbub.channels.catalogue import channel
from hubbub.channels.protocol import Channel, Published
from hubbub.demo import salaries
from hubbub.noise.source import SystemSource

BY_TITLE = {mechanism.title: mechanism for mechanism in salaries.MECHANISMS}


def made(title: str) -> Channel:
    return BY_TITLE[title].channel()


def test_the_company() -> None:
    assert (salaries.EMPLOYEES, len(salaries.LOW_BINS)) == (9900, 60)
    assert min(salaries.LOW_BINS) < salaries.RARE < max(salaries.LOW_BINS)


@pytest.mark.parametrize(
    ("title", "attack"),
    [
        ("plain noise", "1.0000"),
        ("noise for groups of 100", "0.0680"),
        ("exact from 101 on, else hidden", "0.0250"),
        ("example 4: small values hidden", "0.0250"),
        ("example 5: small values noisier", "0.0680"),
        ("example 7: a nested staircase", "0.0250"),
        ("example 8: a private lower bound", "0.0412"),
        ("warped", "0.0680"),
        ("warped, shown above 110", "0.0250"),
    ],
)
def test_the_attack_succeeds_as_often_as_the_theory_says(title: str, attack: str) -> None:
    assert f"{stories.attack(made(title)):.4f}" == attack


def test_the_attack_on_the_warped_staircase() -> None:
    assert f"{stories.attack(channel('warped', curve='1:0,11:0.01,101:0.1,1001:1')):.4f}" == "0.0615"


def test_no_attack_beats_the_bound_of_group_privacy() -> None:
    """Every value of a candidate is at most e times as likely with the managers as without, and at least 1/e times."""
    bound = math.exp(2) / (math.exp(2) + salaries.CANDIDATES - 1)
    for title in ("noise for groups of 100", "warped", "warped, shown above 110"):
        assert stories.attack(made(title)) <= bound
    assert stories.attack(made("plain noise")) > bound


@pytest.mark.parametrize("shown_above", [95, 99, 103])
def test_the_attack_is_what_enumeration_finds(monkeypatch: pytest.MonkeyPatch, shown_above: int) -> None:
    """Three candidates, every combination of published values: the attacker names one with the largest ratio."""
    monkeypatch.setattr(stories, "CANDIDATES", 3)
    warped = channel("warped", curve="1:0.01,97:0.5", show_above=shown_above)
    full, empty = warped.law(100), warped.law(0)
    outcomes = [(value, tag) for tag, value, _ in full.atoms(Fraction(1, 10**7))]
    f = [float(full.mass(*outcome)) for outcome in outcomes]
    g = [float(empty.mass(*outcome)) for outcome in outcomes]
    ratio = [round(math.log(a / b), 6) for a, b in zip(f, g, strict=True)]
    found = 0.0
    for i, j, k in itertools.product(range(len(outcomes)), repeat=3):
        if ratio[i] >= max(ratio[j], ratio[k]):
            found += f[i] * g[j] * g[k] / (1 + (ratio[j] == ratio[i]) + (ratio[k] == ratio[i]))
    assert stories.attack(warped) == pytest.approx(found, abs=1e-6)


@pytest.mark.parametrize("title", BY_TITLE)
@pytest.mark.parametrize("people", [0, 100, 300])
def test_the_floats_of_a_law_add_up(title: str, people: int) -> None:
    total = sum(float(masses.sum()) for masses in stories.spread(made(title).law(people)).values())
    assert total == pytest.approx(1, abs=1e-9)


def test_the_error_of_known_laws() -> None:
    assert salaries.error(made("plain noise"), 200) == pytest.approx(1 / math.sinh(1))
    assert salaries.error(made("exact from 101 on, else hidden"), 60) == pytest.approx(60)  # hidden is read as 0
    assert salaries.error(made("exact from 101 on, else hidden"), 300) == pytest.approx(0)
    assert salaries.error(made("example 7: a nested staircase"), 300) == pytest.approx(10.08, abs=0.01)
    assert salaries.error(made("warped"), 105) == pytest.approx(1.06, abs=0.01)


def test_evidence_points_at_the_managers() -> None:
    values = np.array([*salaries.LOW_BINS, *[100 if i == salaries.MANAGERS_AT else 0 for i in range(40)]])
    shown = Published(values, np.zeros(100, dtype=np.intp), ("",))
    scores = salaries.evidence(made("plain noise"), shown)
    assert scores == pytest.approx(np.where(np.arange(40) == salaries.MANAGERS_AT, 100.0, -100.0))


def test_evidence_is_finite_where_a_value_is_impossible() -> None:
    """An exact channel shows 100 where nobody stands never, and hides 100 never."""
    exact = channel("exact-or-suppressed", k=50)
    counts = [*salaries.LOW_BINS, *[100 if i == 3 else 0 for i in range(40)]]
    scores = salaries.evidence(exact, exact.release(counts, SystemSource()))
    assert int(np.argmax(scores)) == 3
    assert bool(np.isfinite(scores).all())


@pytest.fixture(scope="module")
def outcomes() -> tuple[salaries.Outcome, ...]:
    return salaries.play(SystemSource())


def test_the_story_is_told_in_full(outcomes: tuple[salaries.Outcome, ...]) -> None:
    assert [outcome.mechanism for outcome in outcomes] == list(salaries.MECHANISMS)
    for outcome in outcomes:
        assert math.fsum(outcome.beliefs) == pytest.approx(1)
        assert len(outcome.beliefs) == salaries.CANDIDATES
        assert 0 <= outcome.guess < salaries.CANDIDATES
        assert outcome.beliefs[outcome.guess] == pytest.approx(max(outcome.beliefs))
        assert (
            min(outcome.error_rare, outcome.error_large)
            <= outcome.error
            <= max(outcome.error_rare, outcome.error_large)
        )


def test_plain_noise_gives_the_managers_away_and_the_rest_is_told_in_words(
    outcomes: tuple[salaries.Outcome, ...],
) -> None:
    words = {outcome.mechanism.title: outcome.verdict for outcome in outcomes}
    plain = outcomes[0]
    assert plain.right  # a miss has a chance of 4e-13
    assert words["plain noise"] == "the managers are found, large crowds are accurate"
    assert words["noise for groups of 100"] == "the managers are glimpsed, large crowds are drowned in noise"
    assert words["warped, shown above 110"] == "the managers are hidden, large crowds are accurate"


def test_promises_are_read_from_the_claims(outcomes: tuple[salaries.Outcome, ...]) -> None:
    promises = {outcome.mechanism.title: outcome.promise for outcome in outcomes}
    assert promises["plain noise"] == "1 in any crowd"
    assert promises["exact from 101 on, else hidden"] == "0 up to 100, nothing promised from 101"
    assert promises["example 4: small values hidden"] == "0.01 up to 100, 1 from 101 (delta 2.3e-05)"
    assert promises["warped"] == "0.01 up to 100, 1 from 101"
