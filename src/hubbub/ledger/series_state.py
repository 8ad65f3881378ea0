"""What a series keeps in secret, beside the ledger: the increments of its periods, frozen, and who counted how often.

The file is readable by its owner only, is in no export, and is named after its own digest, which the entry of the last
period in the ledger has. So the file and the ledger are of one moment, or the series does not go on: an older copy of either
is noticed. What was drawn is kept too, so that a period that is asked for again is the same, whatever the table says now.

::

    read the state that the last entry names -> count, draw -> write the next state, durably -> enter its digest
                                                               (under the ledger's lock: both)  (the period is drawn)

A kill before the entry leaves a draw that no file of a release ever held, and the next try draws anew. A kill after it
leaves a period that is drawn, and whoever asks for it gets that.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from hubbub.errors import CheckFailed, Refused
from hubbub.ledger import durable, paths
from hubbub.noise.source import SystemSource
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import Plain, canonical

FORMAT: Final = "hubbub series 1"
_NAMED: Final = 16  # signs of a digest in the name of a file
_WORD: Final = 16  # bytes by which a person is known


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenPeriod:
    """A period that was drawn: what was counted in it, what was drawn, and how its table was read."""

    period: int
    increments: tuple[int, ...]
    drawn: tuple[tuple[int, ...], ...]
    reading: dict[str, Plain]
    missed: bool = False  # it was skipped: nobody was counted, and noise was drawn with the next one
    one_row_kept: bool = False  # of people with several rows one was kept, though the series expects one


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesState:
    """Everything that a series stores between periods. Private."""

    nonce: str  # of the series
    secret: str  # the key of the words by which people are known
    bound: Plain = None  # the series with what the schema of its first table told
    person_type: str = ""  # what the column of people held
    periods: tuple[FrozenPeriod, ...] = ()
    used: tuple[frozenset[str], ...] = ()  # words of the people who counted in 1, 2, ... periods
    dated: frozenset[str] = frozenset()  # words of the rows that counted: who, and of which period their date is

    def word(self, person: str) -> str:
        """The keyed hash of a person's id, by which the state recognises them."""
        key = bytes.fromhex(self.secret)
        return hashlib.blake2b(person.encode(), key=key, digest_size=_WORD).hexdigest()

    def is_drawn(self, person: str, rate: Fraction) -> bool:
        """Whether a person is in the panel of the series.

        Guarantee: a keyed hash of the id against the rate: with a secret key from the operating system, as good as a coin of
        that chance for each person, tossed once, by itself (BLAKE2b being a pseudorandom function); never with a larger one.
        """
        key = bytes.fromhex(self.secret)
        tossed = hashlib.blake2b(person.encode(), key=key, digest_size=_WORD, person=b"hubbub panel").digest()
        return int.from_bytes(tossed, "big") < int(rate * (1 << 8 * _WORD))

    def may_count(self, words: list[str], most: int) -> list[bool]:
        """Of each person, whether they counted in less than `most` periods so far.

        Guarantee: a rule of that person's own rows: the first `most` periods with a row of theirs count, and no other.
        """
        spent: frozenset[str] = frozenset().union(*self.used[most - 1 :])
        return [word not in spent for word in words]

    def earliest(self, words: list[str], rows: list[str], days: list[int], stays: list[bool]) -> list[bool]:
        """Of each row that may count, whether it is of the earliest day of its person in periods that did not count yet
        (or of the earliest such period, if the periods are given as days).

        Guarantee: a rule of that person's own rows; the others wait for a later period.
        """
        left = [stay and row not in self.dated for row, stay in zip(rows, stays, strict=True)]
        first: dict[str, int] = {}
        for word, day, stay in zip(words, days, left, strict=True):
            if stay:
                first[word] = min(day, first.get(word, day))
        return [stay and first[word] == day for word, day, stay in zip(words, days, left, strict=True)]

    def used_after(self, words: frozenset[str], most: int) -> tuple[frozenset[str], ...]:
        """Who counted how often, if these people count once more; each of them counted less than `most` times."""
        levels = [frozenset[str](), *self.used, *(frozenset[str]() for _ in range(most - len(self.used)))]
        found = []
        for i in range(1, most + 1):
            new = words & levels[i - 1] if i > 1 else words - frozenset().union(*self.used)
            found.append((levels[i] - words) | new)
        return tuple(found)

    def to_bytes(self) -> bytes:
        """The state as bytes, whose digest the ledger stores."""
        return canonical(
            {
                "format": FORMAT,
                "nonce": self.nonce,
                "secret": self.secret,
                "bound": self.bound,
                "person_type": self.person_type,
                "periods": [
                    {
                        "period": each.period,
                        "increments": list(each.increments),
                        "drawn": [list(line) for line in each.drawn],
                        "reading": each.reading,
                        "missed": each.missed,
                        **({"one_row_kept": True} if each.one_row_kept else {}),
                    }
                    for each in self.periods
                ],
                "used": ["".join(sorted(words)) for words in self.used],
                **({"dated": "".join(sorted(self.dated))} if self.dated else {}),
            }
        )


def new_state(nonce: str) -> SeriesState:
    """The state before the first period."""
    return SeriesState(nonce=nonce, secret=SystemSource().words(4).tobytes().hex())


def _path(ledger: Path, nonce: str, digest: str) -> Path:
    return paths.series_file(ledger, f"{nonce[:_NAMED]}-{digest[:_NAMED]}")


def load(ledger: Path, nonce: str, digest: str) -> SeriesState:
    """The state with that digest, or one sentence: it is missing, or of another moment than the ledger."""
    file = _path(ledger, nonce, digest)
    try:
        data = file.read_bytes()
        if hashlib.sha256(data).hexdigest() != digest:
            raise ValueError
        return _read(json.loads(data))
    except (OSError, ValueError, KeyError, TypeError):
        raise CheckFailed(
            f"what the series keeps beside the ledger, {str(file)!r}, is missing, damaged or of another moment than the "
            "ledger, so it does not go on; restore ledger, key and series together from the latest backup"
        ) from None


def _read(value: Any) -> SeriesState:
    if value["format"] != FORMAT:
        raise ValueError
    return SeriesState(
        nonce=value["nonce"],
        secret=value["secret"],
        bound=value["bound"],
        person_type=value["person_type"],
        periods=tuple(
            FrozenPeriod(
                period=each["period"],
                increments=tuple(each["increments"]),
                drawn=tuple(tuple(line) for line in each["drawn"]),
                reading=each["reading"],
                missed=each["missed"],
                one_row_kept=each.get("one_row_kept", False),
            )
            for each in value["periods"]
        ),
        used=tuple(map(_words, value["used"])),
        dated=_words(value.get("dated", "")),
    )


def _words(text: str) -> frozenset[str]:
    two = 2 * _WORD
    return frozenset(text[i : i + two] for i in range(0, len(text), two))


def keep(ledger: Path, state: SeriesState) -> str:
    """Write a state beside the ledger, durably and for the owner's eyes only; returns its digest."""
    data = state.to_bytes()
    digest = hashlib.sha256(data).hexdigest()
    try:
        durable.write(_path(ledger, state.nonce, digest), data)
    except OSError:
        raise Refused(
            f"what the series keeps could not be written beside the ledger {str(ledger)!r}, so nothing is published; check "
            "the folder"
        ) from None
    return digest


def forget(ledger: Path, nonce: str, digest: str) -> None:
    """Remove the state with that digest, which a later one has replaced."""
    with suppress(OSError):
        _path(ledger, nonce, digest).unlink()


def forget_others(ledger: Path, nonce: str, digest: str) -> None:
    """Remove the states of a series that are not the one with that digest. Only who holds the ledger's lock, and knows
    that its last entry has this digest, may ask for it: somebody else's next state is among the others."""
    for file in paths.series_files(ledger, nonce[:_NAMED]):
        if file != _path(ledger, nonce, digest):
            with suppress(OSError):
                file.unlink()


def frozen(state: SeriesState, new: tuple[FrozenPeriod, ...], **changes: Any) -> SeriesState:
    """The state with these periods added."""
    return replace(state, periods=(*state.periods, *new), **changes)
