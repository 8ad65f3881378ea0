"""Ballots from frames and other libraries' profiles, and back: nothing is lost on the way."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest

from hubbub import vote
from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats.profiles import _part, to_pref_voting, to_rows, to_votekit

CAST = Ballots.from_counts(
    ("Ann", "Bob", "Cid"),
    {("Ann", "Bob", "Cid"): 5, ("Bob", "Cid", "Ann"): 4, ("Cid",): 2},
    tied={(frozenset(("Ann", "Bob")), frozenset(("Cid",))): 3},
)


def same(one: Ballots, other: Ballots) -> None:
    assert set(one.candidates) == set(other.candidates)
    assert one.counts() == other.counts()
    assert one.tied_counts() == other.tied_counts()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_and_back(library: str) -> None:
    frames = pytest.importorskip(library)
    same(vote.ballots(frames.DataFrame(to_rows(CAST))), CAST)


@dataclass
class Paper:
    """As VoteKit has a ballot."""

    ranking: list[set[str]]
    weight: float


@dataclass
class RankProfile:
    ballots: list[Paper]
    candidates: list[str]


@dataclass
class Ranking:
    rmap: dict[int, int]


@dataclass
class Profile:
    """As pref_voting has a profile, with or without ties."""

    rankings: list[Any]
    rcounts: list[int]
    cmap: dict[int, str]
    candidates: list[int] = field(default_factory=lambda: [0, 1, 2])

    @property
    def rankings_counts(self) -> tuple[list[Any], list[int]]:
        made = [Ranking(each) if isinstance(each, dict) else each for each in self.rankings]
        return made, self.rcounts


def installed(monkeypatch: pytest.MonkeyPatch, name: str, **parts: Any) -> None:
    module = ModuleType(name)
    for part, value in parts.items():
        setattr(module, part, value)
    monkeypatch.setitem(sys.modules, name, module)


def test_a_profile_of_votekit_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "votekit")
    installed(monkeypatch, "votekit.ballot", RankBallot=Paper)
    installed(monkeypatch, "votekit.pref_profile", RankProfile=RankProfile)
    same(vote.ballots(to_votekit(CAST)), CAST)
    with pytest.raises(WrongUse, match="no whole number"):
        vote.ballots(RankProfile([Paper([{"Ann"}], 0.5)], ["Ann", "Bob"]))


def test_a_profile_of_pref_voting_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "pref_voting")
    installed(monkeypatch, "pref_voting.profiles", Profile=Profile)
    installed(monkeypatch, "pref_voting.profiles_with_ties", ProfileWithTies=Profile)
    same(vote.ballots(to_pref_voting(CAST)), CAST)
    complete = Ballots.from_counts("abc", {tuple("abc"): 3, tuple("cab"): 2})
    linear = to_pref_voting(complete)
    assert linear.rankings == [[0, 1, 2], [2, 0, 1]]
    same(vote.ballots(linear), complete)


def test_what_is_no_profile_is_refused() -> None:
    with pytest.raises(WrongUse, match="this is none of them"):
        vote.ballots(object())
    assert vote.ballots(CAST) is CAST
    with pytest.raises(WrongUse, match="needs nosuch"):
        _part("nosuch.library", "Thing")
