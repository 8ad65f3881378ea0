"""How marks become rankings: each rule by its name."""

from __future__ import annotations

from typing import Any

import pytest

from hubbub.errors import WrongUse
from hubbub.voting.formats.reading import CHOICES, Changes, Rank, Reading, ranking_of

A, B, C, NONE = frozenset("a"), frozenset("b"), frozenset("c"), frozenset[str]()
OVER: Rank = None


def read(*ranks: Rank, **rules: Any) -> tuple[str, dict[str, int]]:
    changes = Changes()
    levels = ranking_of(ranks, Reading(**rules).for_marks(counted=False), changes, 7, "line 5")
    return ">".join("=".join(sorted(level)) for level in levels), dict(changes.ballots)


@pytest.mark.parametrize(
    ("ranks", "rules", "ranking", "changed"),
    [
        ((A, B, C), {}, "a>b>c", {}),
        ((A, OVER, C), {}, "a", {"overvotes": 7}),
        ((A, OVER, C), {"overvotes": "skip"}, "a>c", {"overvotes": 7}),
        ((A, A | B, C), {}, "a>b>c", {"repeats": 7}),
        ((A, B | C), {}, "a>b=c", {}),
        ((NONE, A, NONE, B), {}, "a>b", {"skips": 7}),
        ((A, NONE, B), {"skips": "stop"}, "a", {"skips": 7}),
        ((A, NONE, B, NONE, NONE, C), {"skips": "stop-at-two"}, "a>b", {"skips": 7}),
        ((A, NONE, NONE), {"skips": "stop"}, "a", {}),
        ((A, A, B), {}, "a>b", {"repeats": 7}),
        ((A, A, B), {"repeats": "stop"}, "a", {"repeats": 7}),
        ((A, NONE, A, NONE, B), {"skips": "stop-at-two"}, "a>b", {"skips": 7, "repeats": 7}),
        ((), {}, "", {}),
        ((NONE, NONE), {}, "", {}),
    ],
)
def test_each_rule(ranks: tuple[Rank, ...], rules: dict[str, str], ranking: str, changed: dict[str, int]) -> None:
    assert read(*ranks, **rules) == (ranking, changed)


@pytest.mark.parametrize(
    ("ranks", "rules", "sentence"),
    [
        ((A, OVER), {"overvotes": "refuse"}, "line 5: an overvote"),
        ((A, A), {"repeats": "refuse"}, "line 5: a candidate"),
    ],
)
def test_refused_marks_name_the_line(ranks: tuple[Rank, ...], rules: dict[str, str], sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        read(*ranks, **rules)


def test_the_first_choice_is_the_default_and_goes_into_the_result() -> None:
    assert Reading().for_marks(counted=False).rules() == {what: choices[0] for what, choices in CHOICES.items()}
    assert Reading().for_marks(counted=True).rules()["repeats"] == "refuse"
    assert Reading(repeats="stop").for_marks(counted=True).rules()["repeats"] == "stop"


def test_an_unknown_rule_is_refused() -> None:
    for what in CHOICES:
        with pytest.raises(WrongUse, match="must be one of"):
            Reading(**{what: "perhaps"})
