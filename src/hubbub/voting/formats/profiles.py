"""Ballots from frames and from the profiles of other libraries, and back.

A frame (pandas, polars: whatever writes itself as CSV) goes through the readers of CSV files, with all that they refuse.
A profile of VoteKit has `ballots` with a `ranking` of sets and a `weight`; one of pref_voting has `rankings_counts` and
names in `cmap`. Neither library is imported to read: what has the parts is read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats import formats
from hubbub.voting.formats.ballot_file import Levels, gather


def ballots_of(source: Any, *, columns: Mapping[str, str | Sequence[str]] | None = None) -> Ballots:
    """The ballots of a frame, or of a profile of VoteKit or pref_voting.

    Guarantee: equal candidates stay equal, whoever a ballot leaves out stays unranked, and each weight is a whole number
    of ballots; a profile with other weights is refused.
    """
    if isinstance(source, Ballots):
        return source
    if hasattr(source, "rankings_counts"):
        return _of_pref_voting(source)
    if hasattr(source, "ballots") and hasattr(source, "candidates"):
        return _of_votekit(source)
    for writer, more in (("to_csv", {"index": False}), ("write_csv", {})):
        if hasattr(source, writer):
            with tempfile.TemporaryDirectory(prefix="hubbub-ballots-") as folder:
                path = Path(folder) / "ballots.csv"
                getattr(source, writer)(path, **more)
                return formats.read(path, columns=columns).ballots
    raise WrongUse(
        "ballots come from a frame that writes CSV, from a profile of VoteKit or of pref_voting, or from a file with "
        "`read`; this is none of them"
    )


def _of_votekit(profile: Any) -> Ballots:
    names = tuple(str(name) for name in profile.candidates)
    counts: dict[Levels, int] = {}
    for ballot in profile.ballots:
        groups = tuple(frozenset(map(str, group)) for group in ballot.ranking or () if group)
        counts[groups] = counts.get(groups, 0) + _times(ballot.weight)
    return gather(names, counts)


def _of_pref_voting(profile: Any) -> Ballots:
    names = {c: str(profile.cmap.get(c, c)) for c in profile.candidates}
    rankings, times = profile.rankings_counts
    counts: dict[Levels, int] = {}
    for ranking, many in zip(rankings, times, strict=True):
        if hasattr(ranking, "rmap"):
            ranks = sorted(set(ranking.rmap.values()))
            groups = tuple(frozenset(names[c] for c, r in ranking.rmap.items() if r == rank) for rank in ranks)
        else:
            groups = tuple(frozenset((names[int(c)],)) for c in ranking)
        counts[groups] = counts.get(groups, 0) + _times(many)
    return gather(tuple(names.values()), counts)


def _times(weight: Any) -> int:
    number = int(weight)
    if number != weight or number < 0:
        raise WrongUse("a weight is a number of identical ballots, and the profile has one that is no whole number")
    return number


def to_rows(ballots: Ballots) -> list[dict[str, int | str]]:
    """A row for each different ballot, like ``{"count": 3, "ranking": "Ann>Bob=Cid"}``: a frame is made of such rows,
    and `ballots_of` reads it back."""
    rows: list[dict[str, int | str]] = []
    for ranking, weight in ballots.counts().items():
        rows.append({"count": weight, "ranking": ">".join(ranking)})
    for groups, weight in ballots.tied_counts().items():
        rows.append({"count": weight, "ranking": ">".join("=".join(sorted(group)) for group in groups)})
    return rows


def to_votekit(ballots: Ballots) -> Any:
    """A profile of VoteKit, which must be installed."""
    ballot, profile = _part("votekit.ballot", "RankBallot"), _part("votekit.pref_profile", "RankProfile")
    papers = [ballot(ranking=[{name} for name in ranking], weight=w) for ranking, w in ballots.counts().items()]
    papers += [
        ballot(ranking=[set(group) for group in groups], weight=w) for groups, w in ballots.tied_counts().items()
    ]
    return profile(ballots=papers, candidates=list(ballots.candidates))


def to_pref_voting(ballots: Ballots) -> Any:
    """A profile of pref_voting, which must be installed; one with ties unless every ballot ranks all, strictly."""
    cmap = dict(enumerate(ballots.candidates))
    number = {name: i for i, name in cmap.items()}
    strict, tied = ballots.counts(), ballots.tied_counts()
    if not tied and all(len(ranking) == len(cmap) for ranking in strict):
        made = _part("pref_voting.profiles", "Profile")
        return made([[number[name] for name in r] for r in strict], rcounts=list(strict.values()), cmap=cmap)
    maps = [{number[name]: rank for rank, name in enumerate(ranking, 1)} for ranking in strict]
    maps += [{number[name]: rank for rank, group in enumerate(groups, 1) for name in group} for groups in tied]
    made = _part("pref_voting.profiles_with_ties", "ProfileWithTies")
    return made(maps, rcounts=[*strict.values(), *tied.values()], candidates=list(cmap), cmap=cmap)


def _part(module: str, name: str) -> Any:
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        library = module.partition(".")[0]
        raise WrongUse(f"this needs {library}, which is not installed in a version that has {name}") from error
