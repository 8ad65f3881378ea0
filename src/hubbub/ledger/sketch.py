"""Who is in a dataset, as a few thousand words of a keyed hash: enough to know the same people again.

A word is made of an id: its first 24 bits are those of the id's rank, so that words are in the order of ranks, and the
other 40 are a keyed hash (BLAKE2b) of the id. The key is a secret of the ledger, drawn once, and stays in it as the
words do: whoever has no ledger can test no id, and no certificate, report or message has any of it. Of the people with
the lowest ranks the words are kept (bottom-k), so that a sketch is the same size for a village and a nation, two of
them can be joined, and from two it can be told how many people two tables share.

**Which ids can mean somebody.** A running number (1, 2, 3, ...) says where a row stood and not whose it is: any two
tables that are numbered from the start have such ids in common. An id is taken to mean somebody unless the table's ids,
or those of the table beside it, are running numbers: whole numbers of which nine in ten lie below twenty times the
number of people. The twenty is the inverse of the share that is taken for the same people: ids drawn from a range of
which a table fills less than a twentieth meet those of another table by chance less often than that. Of running numbers
two tables are compared only if their columns have the same names, as those of a copy have, re-sorted, shortened or in
another format.

What that misses: unlike tables of the same people by running numbers (a register's own, such as residents 1 to 40,000),
and a copy by running numbers with a column more or less. What it takes for a copy: tables of one form about unlike
people, both numbered from the start; for these there is `other_people`. Numbers with a prefix (P001) count as meaning
somebody.

**Whose ids they are** may be said: a register that both tables name decides, whatever the ids look like, and ids of two
registers that are named are never compared.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import CheckFailed
from hubbub.numeric.exact_sums import distinct
from hubbub.runtime.frozen import dataclass
from hubbub.tables.identity import EVERYBODY, Chosen

MOST: Final = 4096
SHARE: Final = Fraction(1, 20)
"""Above this share of common people a table is taken for the same people, unless a policy says another."""

_RUNNING: Final = 20  # times the number of people: below that, numbers run; the inverse of the share
_HASHED: Final = 40  # bits
_ALL: Final = EVERYBODY >> _HASHED


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """The words of everybody whose rank, by its first 24 bits, is below `limit`; in order, each once.

    `running` says that the ids are running numbers; `forms` are keyed hashes of the names of the columns beside them,
    one for each form that the table had, none where it was not noted; `registers` are those that somebody said the ids
    are of.
    """

    way: str
    words: NDArray[np.uint64]
    limit: int = _ALL
    running: bool = False
    forms: frozenset[str] = frozenset()
    registers: frozenset[str] = frozenset()

    def same(self, other: Sketch) -> bool:
        one, two = ((each.way, each.limit, each.running, each.forms, each.registers) for each in (self, other))
        return one == two and np.array_equal(self.words, other.words)

    def __or__(self, other: Sketch) -> Sketch:
        """Of the people of both. Ranks that were made in another way are given up for the new ones."""
        if self.way != other.way:
            return other
        limit = min(self.limit, other.limit)
        both = _lowest(
            self.way, distinct(np.concatenate((_below(self.words, limit), _below(other.words, limit)))), limit
        )
        return replace(
            both,
            running=self.running or other.running,
            forms=self.forms | other.forms,
            registers=self.registers | other.registers,
        )

    def to_json(self) -> dict[str, Any]:
        """The sketch as JSON, for an entry of the ledger."""
        words = base64.b64encode(self.words.astype("<u8").tobytes()).decode("ascii")
        more: dict[str, Any] = {"running": self.running, "forms": sorted(self.forms)}
        if self.registers:
            more["registers"] = sorted(self.registers)
        return {"way": self.way, "limit": self.limit, "words": words, **more}


def read(given: Mapping[str, Any]) -> Sketch:
    """The sketch that an entry of the ledger holds."""
    try:
        words = np.frombuffer(base64.b64decode(given["words"], validate=True), "<u8").astype(np.uint64)
        forms = frozenset(map(str, given["forms"]))
        registers = frozenset(map(str, given.get("registers", ())))
        return Sketch(str(given["way"]), words, int(given["limit"]), bool(given["running"]), forms, registers)
    except (KeyError, TypeError, ValueError):
        raise CheckFailed("the ledger has people noted in a way that this version cannot read; update Hubbub") from None


def sketch(chosen: Chosen, key: bytes, columns: Sequence[str] = (), register: str | None = None) -> Sketch:
    """The words of those that an engine chose, of a table with these columns, whose ids are of that register.

    Guarantee: the words are a function of the ids and the key alone, so the same for every table of the same people;
    without the key the 40 hashed bits of a word tell nothing about the id (BLAKE2b being a keyed hash).
    """
    ranks = np.array(chosen.ranks, np.uint64) >> np.uint64(_HASHED) << np.uint64(_HASHED)
    limit = chosen.limit >> _HASHED
    found = _lowest(chosen.way, distinct(_below(ranks | _hash_ids(chosen.ids, key), limit)), limit)
    return replace(
        found,
        running=_are_running(chosen),
        forms=frozenset([_form(columns, key)] if columns else []),
        registers=frozenset([] if register is None else [register]),
    )


def _are_running(chosen: Chosen) -> bool:
    """Whether nine in ten of the ids are whole numbers below twenty times the number of people, as 1, 2, 3, ... are."""
    ids = set(chosen.ids)
    if not ids:
        return False
    numbers = sorted(int(each) if _is_number(each) else math.inf for each in ids)
    people = len(ids) * EVERYBODY // max(chosen.limit, 1)  # those below the limit are so many of all
    return numbers[math.ceil(0.9 * len(numbers)) - 1] <= _RUNNING * people


def _form(columns: Sequence[str], key: bytes) -> str:
    """A word for the names of the columns, whatever their order and their capitals."""
    names = "\0".join(sorted(name.lower() for name in columns))
    return hashlib.blake2b(names.encode(), key=key, digest_size=8, person=b"hubbub columns").hexdigest()


def _is_number(name: str) -> bool:
    """Whether it is 1 to 18 digits."""
    return name.isascii() and name.isdigit() and len(name) <= 18


def _hash_ids(names: Sequence[str], key: bytes) -> NDArray[np.uint64]:
    """40 bits of a keyed hash of each."""
    keyed = hashlib.blake2b(key=key, digest_size=_HASHED // 8, person=b"hubbub people")

    def digest(name: str) -> bytes:
        one = keyed.copy()
        one.update(name.encode())
        return one.digest()

    words = np.zeros((len(names), 8), np.uint8)
    words[:, 8 - _HASHED // 8 :] = np.frombuffer(b"".join(map(digest, names)), np.uint8).reshape(
        len(names), _HASHED // 8
    )
    return words.view(">u8").ravel().astype(np.uint64)


def _below(words: NDArray[np.uint64], limit: int) -> NDArray[np.uint64]:
    return words[words >> np.uint64(_HASHED) < limit]


def _lowest(way: str, words: NDArray[np.uint64], limit: int) -> Sketch:
    if len(words) > MOST:
        limit = int(words[MOST] >> np.uint64(_HASHED))
        words = _below(words, limit)
    return Sketch(way, words, limit)


# --- how many are in both -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Of so many people compared (those chosen, in the smaller of two tables), how many are in the other too."""

    common: int
    compared: int

    def above(self, share: Fraction) -> bool:
        """Whether the share found is above this one.

        Guarantee: tables that share nobody are never above (but for a collision of words, below 1e-9). With a true
        share s, the number in common has the law of m draws without replacement, m = `compared`; so a share of s < t is
        found above t, or one of s > t is missed, with probability at most exp(-m KL(t, s)), where
        KL(t, s) = t ln(t/s) + (1 - t) ln((1 - t)/(1 - s)) (Chernoff; Hoeffding for draws without replacement).
        """
        return self.common > share * self.compared

    def interval(self, doubt: float = 0.05) -> tuple[float, float]:
        """Shares of common people that are not ruled out, by the same bound: wrong with at most this probability."""
        if not self.compared:
            return 0.0, 1.0
        found, enough = self.common / self.compared, math.log(2 / doubt) / self.compared
        return _end(found, 0.0, enough), _end(found, 1.0, enough)


def _end(found: float, end: float, enough: float) -> float:
    """The share between `found` and `end` from which `found` is as far as `enough`, on the outer side."""
    near, far = found, end
    for _ in range(60):
        middle = (near + far) / 2
        near, far = (middle, far) if _distance(found, middle) < enough else (near, middle)
    return far


def _distance(t: float, s: float) -> float:
    parts = ((t, s), (1 - t, 1 - s))
    if any(a > 0 and b <= 0 for a, b in parts):
        return math.inf
    return sum(a * math.log(a / b) for a, b in parts if a > 0)


def can_compare(one: Sketch, two: Sketch) -> bool:
    """Whether ids in common are people in common: unless either table has running numbers and they are unlike in form, or
    both are said to be of a register: then whether it is one.

    Where the form is not known, ids are taken to mean somebody.
    """
    if one.registers and two.registers:
        return bool(one.registers & two.registers)
    running, noted = one.running or two.running, one.forms and two.forms
    return not running or not noted or bool(one.forms & two.forms)


def overlap(one: Sketch, two: Sketch) -> Overlap | None:
    """How many people two tables share, or None if that cannot be told: they were ranked in two ways."""
    if one.way != two.way:
        return None
    limit = min(one.limit, two.limit)
    first, second = _below(one.words, limit), _below(two.words, limit)
    common = len(np.intersect1d(first, second, assume_unique=True))
    return Overlap(common=common, compared=min(len(first), len(second)))
