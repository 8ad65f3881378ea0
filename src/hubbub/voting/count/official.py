"""The official record of an election: rounds as sets of candidates with their totals, recorded draws, the winner.

It is public, and everything that is published beside it is held against it. Rounds are compared as sets: several may go
at once, candidates without a vote go together, and a count that stopped at a majority leaves more than two finalists.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NoReturn

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.runtime.regular_file import open_regular

ARROW: Final = " > "
"""What stands between the candidates of a path; no candidate's name may hold it."""

BLANK: Final = "(blank)"
_TOPS: Final = "top choices"
_LARGEST: Final = 1 << 26  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialRound:
    """Who was in, with how many ballots, and how many counted for nobody (None: not told)."""

    totals: tuple[tuple[str, int], ...]
    exhausted: int | None = None

    @property
    def continuing(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.totals)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialDraw:
    """A lot that was drawn: among whom, and whom it chose."""

    why: str
    among: tuple[str, ...]
    chosen: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Official:
    """An elimination count as an office publishes it. Whoever stands in the last round is a finalist."""

    rounds: tuple[OfficialRound, ...]
    winner: str
    draws: tuple[OfficialDraw, ...] = ()

    def __post_init__(self) -> None:
        _check(self)

    @property
    def candidates(self) -> tuple[str, ...]:
        """All who stood in the first round, in its order."""
        return tuple(name for name, _ in self.rounds[0].totals)

    @property
    def first_choices(self) -> dict[str, int]:
        return dict(self.rounds[0].totals)

    @property
    def finalists(self) -> frozenset[str]:
        return self.rounds[-1].continuing

    def last_round(self) -> dict[str, int]:
        """The last round (the first being 1) in which each candidate stood."""
        return {name: number for number, each in enumerate(self.rounds, 1) for name, _ in each.totals}

    def as_json(self) -> dict[str, Any]:
        """The record, from which :func:`official_of` reads it back."""
        return {
            "rounds": [{"counts": dict(each.totals), "exhausted": each.exhausted} for each in self.rounds],
            "winner": self.winner,
            "draws": [{"why": each.why, "among": list(each.among), "chosen": each.chosen} for each in self.draws],
        }

    def gone(self, number: int) -> frozenset[str]:
        """Who stood in that round and not in the next."""
        return self.rounds[number - 1].continuing - self.rounds[number].continuing


def _check(record: Official) -> None:
    rounds = record.rounds
    if not rounds:
        raise _wrong("it has no round")
    names = record.candidates
    if len(names) < 2 or not all(name.strip() for name in names):
        raise _wrong("its first round needs at least two candidates, each with a name")
    if BLANK in names or any(ARROW.strip() in name for name in names):
        raise _wrong(f"a candidate's name has {ARROW.strip()!r} in it, or is {BLANK!r}; call them otherwise (`alias`)")
    for each in rounds:
        listed = [name for name, _ in each.totals]
        if len(set(listed)) != len(listed) or not listed:
            raise _wrong("a round names a candidate twice, or nobody")
        if any(total < 0 for _, total in each.totals) or (each.exhausted or 0) < 0:
            raise _wrong("a total is a whole number of at least 0")
    for before, after in pairwise(rounds):
        if not after.continuing < before.continuing:
            raise _wrong("each round must have fewer candidates than the one before, and nobody new")
        was = dict(before.totals)
        if any(total < was[name] for name, total in after.totals):
            raise _wrong("a candidate loses ballots from one round to the next, which no elimination does")
        if _ballots(after) > _ballots(before):
            raise _wrong("a round has more ballots than the one before")
        if None not in (before.exhausted, after.exhausted) and _all(before) != _all(after):
            raise _wrong("totals and exhausted ballots do not add up to the same number in every round")
    if record.winner not in record.finalists:
        raise _wrong("its winner does not stand in the last round")


def _ballots(each: OfficialRound) -> int:
    return sum(total for _, total in each.totals)


def _all(each: OfficialRound) -> int:
    return _ballots(each) + (each.exhausted or 0)


def _wrong(why: str) -> WrongUse:
    return WrongUse(f"the official record is not that of an elimination count: {why}")


def read_official(path: str | Path) -> Official:
    """The record of a file: a signed result or JSON of ``hubbub vote tally``, or JSON written by hand.

    By hand: ``{"rounds": [{"counts": {"Ann": 40, "Bob": 31}, "exhausted": 2}, ...], "winner": "Ann"}``, with
    `exhausted` and `draws` (each with `why`, `among` and `chosen`) where they are known.
    """
    try:
        with open_regular(path) as file:
            data = file.read(_LARGEST)
        return official_of(json.loads(data.decode("utf-8-sig"), parse_constant=_no_constant))
    except OSError as error:
        raise WrongUse(f"the official record cannot be read: {error.strerror or error}; check its name") from None
    except (ValueError, RecursionError):
        raise WrongUse(
            "the official record is no JSON with whole numbers; hubbub vote tally FILE --record PATH writes one"
        ) from None


def _no_constant(text: str) -> NoReturn:
    raise ValueError(text)


def official_of(value: Any) -> Official:
    """The record that some JSON tells."""
    try:
        count = value["count"] if "count" in value and "rounds" not in value else value
        if "stages" in count or any(each.get("counted", _TOPS) != _TOPS for each in count["rounds"]):
            raise _wrong("it has other rounds than of top choices, or fills several seats")
        winner = count["winner"] if "winner" in count else _only(count["winners"])
        return Official(
            rounds=tuple(_round(each) for each in count["rounds"]),
            winner=_text(winner),
            draws=tuple(_draw(each) for each in count.get("draws") or ()),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _wrong('it needs "rounds", each with "counts", and "winner"') from None


def _only(winners: Sequence[Any]) -> Any:
    (winner,) = winners
    return winner


def _round(each: Mapping[str, Any]) -> OfficialRound:
    exhausted = each.get("exhausted")
    return OfficialRound(
        totals=tuple((_text(name), _integer(total)) for name, total in sorted(each["counts"].items())),
        exhausted=None if exhausted is None else _integer(exhausted),
    )


def _draw(each: Mapping[str, Any]) -> OfficialDraw:
    return OfficialDraw(
        why=_text(each.get("why", "")), among=tuple(map(_text, each["among"])), chosen=_text(each["chosen"])
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # half of a sign cannot be written down
    return value


def _integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    return value
