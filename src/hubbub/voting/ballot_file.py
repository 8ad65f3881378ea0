"""A file of ballots that has been read, and what its readers share: lines, whole numbers, one sentence for an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hubbub.errors import WrongUse
from hubbub.voting.ballots import MOST_VOTERS, Ballots
from hubbub.voting.reading import Reading

Levels = tuple[frozenset[str], ...]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tabs and ends of lines


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
        raw = Path(path).read_bytes()
    except OSError as error:
        raise WrongUse(f"the ballot file cannot be read: {error.strerror or error}; check its name") from error
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise WrongUse(f"line {line}: the ballot file is not text in UTF-8; save it as such") from error
    if not text.strip():
        raise WrongUse("the ballot file is empty; it must hold candidates and ballots")
    if found := _CONTROL.search(text):  # in a name it could rewrite the screen that the name is shown on
        line = text.count("\n", 0, found.start()) + 1
        raise WrongUse(f"line {line}: a control character, which no ballot file holds; is this another format?")
    return text


def weight_of(text: str, where: str) -> int:
    """A number of identical ballots."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 17 or int(digits) > MOST_VOTERS:
        raise WrongUse(f"{where}: a weight is a number of identical ballots, a whole number from 0 to 2^53")
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
