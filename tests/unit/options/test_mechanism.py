"""A mechanism in one text: what it means, and what cannot be meant by it."""

from __future__ import annotations

from typing import Any

import pytest

from hubbub import registry
from hubbub.channels.catalogue import CHANNELS, channel_class
from hubbub.errors import WrongUse
from hubbub.kinds.histogram.request import histogram
from hubbub.options.mechanism import Mechanism

BY = ["town=Bath,York"]


def asked(**words: Any) -> dict[str, Any]:
    return registry.kind("histogram").ask(person=None, by=BY, **words).to_json()


SAME: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    ({"mechanism": "geometric", "epsilon": 1}, {"epsilon": 1}),
    ({"mechanism": "geometric:epsilon=1"}, {"epsilon": 1}),
    ({"mechanism": "gaussian", "epsilon": 1, "delta": "1e-9"}, {"epsilon": 1, "delta": "1e-9", "noise": "gaussian"}),
    (
        {"mechanism": "gaussian:variance=18", "epsilon": 1},
        {"channel": "gaussian", "epsilon": 1, "options": {"variance": 18}},
    ),
    (
        {"mechanism": "warped:curve=1:0.01,101:1,show-above=110"},
        {"outlier": "1:0.01,101:1", "show_above": 110},
    ),
    (
        {"mechanism": "staircase:thresholds=1000,100,10,epsilons=1,0.1,0.01,0,alpha=10,as-printed"},
        {
            "channel": "staircase",
            "options": {"thresholds": "1000,100,10", "epsilons": "1,0.1,0.01,0", "alpha": 10, "as_printed": True},
        },
    ),
    ({"mechanism": "lecture:t=50,K=200", "epsilon": "0.2"}, {"channel": "lecture", "epsilon": "0.2", "options": {"t": 50, "K": 200}}),
    ({"mechanism": Mechanism("noisy-below", (("k", "20"), ("tagged", True))), "epsilon": 1},
     {"channel": "noisy-below", "epsilon": 1, "options": {"k": 20, "tagged": True}}),
)  # fmt: skip


@pytest.mark.parametrize(("words", "meant"), SAME, ids=[str(words["mechanism"]) for words, _ in SAME])
def test_a_mechanism_stands_for_the_noise_or_the_channel_of_that_name(words: Any, meant: Any) -> None:
    assert asked(**words) == histogram(BY, **meant).to_json()
    parsed = Mechanism.parse(words["mechanism"])
    assert Mechanism.parse(str(parsed)) == parsed


@pytest.mark.parametrize("name", CHANNELS)
def test_the_example_of_every_channel_is_said_as_a_mechanism_where_something_is_missing(name: str) -> None:
    card = channel_class(name).card
    parameters = card.example.replace("` `", ",").strip("`").replace("_", "-")
    assert asked(mechanism=f"{name}:{parameters}")["channel"]["name"] == name
    if name != "geometric":
        with pytest.raises(WrongUse, match=f"like mechanism={name}:"):
            asked(mechanism=f"{name}:offset=1,grid=1")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"mechanism": ""}, "written as its name, or NAME:key=value"),
        ({"mechanism": 7}, "written as its name"),
        ({"mechanism": "magic"}, "there is no channel 'magic'"),
        ({"mechanism": "group:size=3"}, "no mechanism has 'size'"),
        ({"mechanism": "group:3"}, "written key=value"),
        ({"mechanism": "group:k=3,k=4"}, "said twice"),
        ({"mechanism": "noisy-below:tagged=1,k=3"}, "has no value"),
        ({"mechanism": "geometric:epsilon=1", "epsilon": 2}, "epsilon is said twice, once in mechanism"),
        ({"mechanism": "simple-suppressed:k=3", "crowd": 5}, "drop crowd and outlier"),
        ({"mechanism": "gaussian", "epsilon": 1}, "needs a delta"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        asked(**words)


@pytest.mark.parametrize("kind", ["count", "cube", "summary"])
def test_other_statistics_have_a_choice_of_noise(kind: str) -> None:
    words: dict[str, Any] = {"number": ["people"]} if kind == "summary" else {}
    with pytest.raises(WrongUse, match="the noise of this release is auto, geometric, gaussian, not 'lecture"):
        registry.kind(kind).ask(person=None, by=[*BY, "age:0..9:1"], epsilon=1, mechanism="lecture:t=1", **words)
