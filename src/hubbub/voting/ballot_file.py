"""A file of ballots that has been read, and what its readers share: lines, whole numbers, one sentence for an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hubbub.errors import WrongUse
from hubbub.voting.ballots import MOST_VOTERS, Ballots
from hubbub.voting.reading import Reading

Levels = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BallotFile:
    """Ballots, tied ones as they stand, with the format they came in and the rules they were read by."""

    ballots: Ballots
    format: str
    title: str
    reading: Reading
    changed: Mapping[str, int] = field(default_factory=dict)  # ballots that each rule changed


def text_of(path: str | Path) -> str:
    """The text of a file, which must hold some."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise WrongUse("the ballot file is not text in UTF-8; save it as such") from error
    except OSError as error:
        raise WrongUse(f"the ballot file cannot be read: {error.strerror or error}; check its name") from error
    if not text.strip():
        raise WrongUse("the ballot file is empty; it must hold candidates and ballots")
    return text


def weight_of(text: str, where: str) -> int:
    """A number of identical ballots."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 17 or int(digits) > MOST_VOTERS:
        raise WrongUse(f"{where}: a weight is a number of identical ballots, a whole number of at least 0")
    return int(digits)


def gather(candidates: tuple[str, ...], counts: Mapping[Levels, int]) -> Ballots:
    """Ballots from levels: those with one candidate each are strict, the others tied."""
    if not sum(counts.values()):
        raise WrongUse("the ballot file holds no ballot; at least one is needed")
    strict: dict[tuple[str, ...], int] = {}
    tied: dict[Levels, int] = {}
    for levels, weight in counts.items():
        if not weight:
            continue
        if all(len(level) == 1 for level in levels):
            ranking = tuple(name for level in levels for name in level)
            strict[ranking] = strict.get(ranking, 0) + weight
        else:
            tied[levels] = tied.get(levels, 0) + weight
    return Ballots.of(candidates, strict, tied=tied)
