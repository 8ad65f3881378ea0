"""From words to a histogram: which channel they mean, what is kept exactly, and what is refused in one sentence."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from hubbub.channels.catalogue import channel
from hubbub.channels.mechanisms.exact_above import ExactOrSuppressed, NoisyBelow
from hubbub.channels.mechanisms.geometric import Geometric, Group
from hubbub.channels.mechanisms.warped import Warped
from hubbub.channels.protocol import Channel
from hubbub.channels.subsample import Subsampled
from hubbub.errors import FloatRefused, Refused, WrongUse
from hubbub.kinds.histogram.discovery import discovery_cost
from hubbub.kinds.histogram.request import histogram
from hubbub.tables.bins import Discovered, Values
from hubbub.tables.privacy_unit import Collected, Unit

BY = ["a=x,y"]


# --- what words mean ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "made"),
    [
        ({"crowd": 20}, ExactOrSuppressed(20)),
        ({"crowd": "20"}, ExactOrSuppressed(20)),
        ({"crowd": 20, "epsilon": "0.5"}, NoisyBelow(20, Fraction(1, 2))),
        ({"epsilon": "1/3"}, Geometric(Fraction(1, 3))),
        ({"outlier": "1:0.01,101:1"}, channel("warped", curve="1:0.01,101:1")),
        ({"outlier": "1:0.01,101:1", "show_above": 50}, channel("warped", curve="1:0.01,101:1", show_above=50)),
        ({"channel": "group", "epsilon": 1, "options": {"k": 100}}, Group(100, Fraction(1))),
        ({"channel": "geometric", "epsilon": 1, "options": {"k": None, "tagged": False}}, Geometric(Fraction(1))),
        ({"crowd": 20, "options": {"k": None, "tagged": False}}, ExactOrSuppressed(20)),
    ],
)
def test_words_mean_a_channel(words: dict[str, Any], made: Channel) -> None:
    assert histogram(BY, **words).channel == made


def test_a_curve_that_falls_is_lowered_and_said_so() -> None:
    made = histogram(BY, outlier="1:1,10:0.5")
    assert isinstance(made.channel, Warped)
    assert made.channel.curve.is_monotone
    assert made.lowered
    assert len(made.describe().remarks) == 1


def test_numbers_are_kept_exactly() -> None:
    made = histogram(BY, crowd=20, sample="0.1", coverage="0.9", at_delta="1e-6", scale_up=True)
    assert (made.sample, made.coverage, made.at_delta, made.scale_up) == (
        Fraction(1, 10),
        Fraction(9, 10),
        Fraction(1, 10**6),
        True,
    )
    assert made.sampled_channel == Subsampled(Fraction(1, 10), ExactOrSuppressed(20))
    plain = histogram(BY, crowd=20)
    assert (plain.sample, plain.collected, plain.sampled_channel) == (None, None, plain.channel)


def test_how_people_were_collected_is_kept() -> None:
    assert histogram(BY, crowd=20, collected="0.05").collected == Collected(low=Fraction(1, 20), high=Fraction(1, 20))
    between = histogram(BY, crowd=20, collected_between=("0.03", "0.06"), exempt=5).collected
    assert between == Collected(low=Fraction(3, 100), high=Fraction(3, 50), exempt=5)


def test_axes_come_in_the_order_asked_for() -> None:
    made = histogram(["b", "a=x"], crowd=20)
    assert made.axes == (Discovered("b"), Values("a", ("x",)))
    assert made.has_found_bins
    assert not histogram(BY, crowd=20).has_found_bins


def test_a_unit_is_said_in_words() -> None:
    assert Unit().describe == "each row is taken to be one person"
    assert Unit(person="id").describe == "id identifies people, and each has one row"
    assert "one row for each value of id" in Unit(person="id", one_row_per_person=True).describe
    assert "at most 3 bins" in Unit(person="id", distinct="3").describe  # type: ignore[arg-type]
    assert Unit(person="id", distinct="3").distinct == 3  # type: ignore[arg-type]


# --- what is refused ----------------------------------------------------------------------------------------------

REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("say how people are protected", {}),
    ("at least one column", {"by": [], "crowd": 20}),
    ("by is a list of columns", {"by": "department", "crowd": 20}),
    ("each column can be used once", {"by": ["a=x", "a=y"], "crowd": 20}),
    ("crowd must be a whole number", {"crowd": "37.3"}),
    ("crowd must be a whole number", {"crowd": Fraction(5, 2)}),
    ("crowd must be a whole number of at least 2", {"crowd": 1}),
    ("crowd must be a whole number of at least 2", {"crowd": -20}),
    ("crowd must be an int, a Fraction or text", {"crowd": True}),
    ("epsilon must lie between", {"epsilon": 0}),
    ("epsilon must lie between", {"epsilon": "1e9"}),
    ("epsilon must be a number", {"epsilon": "one"}),
    ("an outlier curve says everything", {"outlier": "1:1", "crowd": 5}),
    ("show_above goes with an outlier curve", {"epsilon": 1, "show_above": 5}),
    ("drop crowd and outlier", {"channel": "geometric", "crowd": 5}),
    ("there is no channel", {"channel": "laplace"}),
    ("k belongs to a mechanism", {"epsilon": 1, "options": {"k": 5}}),
    ("epsilon_a belongs to a mechanism", {"epsilon": 1, "options": {"epsilon_a": 1}}),
    ("sample must lie between 0 and 1", {"crowd": 5, "sample": 0}),
    ("sample must lie between 0 and 1", {"crowd": 5, "sample": 1}),
    ("sample must lie between 0 and 1", {"crowd": 5, "sample": "1.5"}),
    ("exclude each other", {"crowd": 5, "sample": "0.1", "collected": "0.1"}),
    ("exclude each other", {"crowd": 5, "collected": "0.1", "collected_between": ("0.1", "0.2")}),
    ("the lower rate first", {"crowd": 5, "collected_between": ("0.2", "0.1")}),
    ("exempt people are those outside", {"crowd": 5, "exempt": 3}),
    ("exempt must be a whole number", {"crowd": 5, "collected": "0.1", "exempt": "-1"}),
    ("coverage must lie between 0 and 1", {"crowd": 5, "coverage": 1}),
    ("coverage must lie between 0 and 1", {"crowd": 5, "coverage": "95"}),
    ("at-delta must be above 0", {"crowd": 5, "at_delta": 0}),
    ("at_delta must be below 1", {"crowd": 5, "at_delta": 2}),
    ("add sample=RATE", {"crowd": 5, "scale_up": True}),
    ("cannot be sampled by thinning", {"epsilon": 1, "sample": "0.1", "unit": Unit(person="id", distinct=2)}),
]


@pytest.mark.parametrize(("sentence", "words"), REFUSED, ids=lambda given: str(given)[:50])
def test_words_that_cannot_be_right_get_one_sentence(sentence: str, words: dict[str, Any]) -> None:
    with pytest.raises(WrongUse, match=sentence) as refusal:
        histogram(**({"by": BY} | words))
    text = str(refusal.value)
    assert "\n" not in text
    assert len(text) < 250
    assert not text.endswith(".")


@pytest.mark.parametrize(
    "words",
    [
        {"epsilon": 0.1},
        {"crowd": 20.1},
        {"crowd": 20, "epsilon": 0.3},
        {"crowd": 20, "sample": 0.05},
        {"crowd": 20, "collected": 0.05},
        {"crowd": 20, "collected_between": (0.03, 0.06)},
        {"crowd": 20, "at_delta": 1e-9},
        {"crowd": 20, "coverage": 0.95},
        {"outlier": 0.3},
        {"outlier": "1:1", "show_above": 5.1},
    ],
    ids=str,
)
def test_floats_are_refused_everywhere(words: dict[str, Any]) -> None:
    with pytest.raises(FloatRefused, match="write it as text"):
        histogram(BY, **words)


@pytest.mark.parametrize(
    ("unit", "sentence"),
    [
        ({"one_row_per_person": True}, "add person=COLUMN"),
        ({"distinct": 2}, "add person=COLUMN"),
        ({"person": "id", "distinct": 2, "one_row_per_person": True}, "choose one of them"),
        ({"person": "id", "distinct": 0}, "at least 1"),
        ({"person": "id", "distinct": "2.5"}, "whole number"),
    ],
)
def test_units_that_cannot_be_right_get_one_sentence(unit: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        Unit(**unit)


# --- what it costs to find bins in the data -----------------------------------------------------------------------


def test_finding_bins_is_free_where_one_person_never_shows() -> None:
    for made in (ExactOrSuppressed(2), ExactOrSuppressed(100), channel("simple-suppressed", k=100)):
        assert discovery_cost(made) == arb(0)


def test_finding_bins_costs_the_chance_that_one_person_shows() -> None:
    epsilon, above = 1, 3  # for a flat curve: J = 1 + X for J above 1, with weight (1 - q)/(1 + q), q = e^-epsilon
    q = arb(-epsilon).exp()
    shown = q**above / (1 + q)  # P(1 + X > 3)
    cost = discovery_cost(channel("warped", curve="1:1", show_above=above))
    assert cost.overlaps(shown)
    assert float(cost.rad()) < 1e-60


def test_finding_bins_is_refused_where_every_bin_shows_a_number() -> None:
    for made in (Geometric(Fraction(1)), NoisyBelow(5, Fraction(1)), channel("warped", curve="1:1")):
        with pytest.raises(Refused, match="declare the values, like by=department=Police,Fire,other"):
            discovery_cost(made)


@pytest.mark.parametrize(
    ("curve", "said"),
    [
        ("1", "the same noise on every count"),
        ("0", "numbers that tell nothing"),
        ("inf", "exact counts"),
        ("1:0.01,101:1", "more noise the fewer people a bin has"),
        ("slope:0.02", "more noise the fewer people a bin has"),
        ("1:0.5,20:inf", "exact counts of at least 20, below that the same noise on every count"),
        ("1:0,20:inf", "exact counts of at least 20, below that numbers that tell nothing"),
        ("1:0.1,5:0.2,20:inf", "exact counts of at least 20, below that more noise the fewer people a bin has"),
    ],
)
def test_the_words_of_a_warped_channel_follow_its_curve(curve: str, said: str) -> None:
    published = histogram(["a=x,y"], outlier=curve).describe().published
    assert published == f"Counts of the people in the table, by a: {said}"


def test_the_words_of_found_bins_promise_no_noise_that_grows_with_rarity() -> None:
    published = histogram(["a"], epsilon=1, delta="1e-6").describe().published
    assert published.endswith("the same noise on every count, and values up to 14 hidden")
