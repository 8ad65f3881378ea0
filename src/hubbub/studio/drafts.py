"""Forms that were begun, so that nobody types anything twice: the last one of each file, while the studio runs, and why
a release was refused. Both are words that somebody typed or was told; nothing of a table is in them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import field
from threading import Lock
from typing import Final
from urllib.parse import urlencode

from hubbub.errors import HubbubError
from hubbub.runtime.frozen import dataclass

_MOST: Final = 50
FLEETING: Final = ("step", "ask", "seen", "refused", "accept_weak", "questions_text")
"""Fields that belong to one moment of a page."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A form that was begun: its file, the question, and all of it as the query of an address."""

    file: str
    question: str
    query: str


@dataclass(slots=True)
class Drafts:
    """What is kept while the studio runs."""

    _begun: OrderedDict[str, Draft] = field(default_factory=OrderedDict)
    _refusals: OrderedDict[str, HubbubError] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)
    _number: int = 0
    welcomed: bool = False  # whether the first visit's tour was put away

    def keep(self, form: Mapping[str, str], question: str) -> None:
        """Remember a form under its file."""
        file = form.get("file", "")
        with self._lock:
            self._begun[file] = Draft(file, question, query_of(form))
            self._begun.move_to_end(file)
            while len(self._begun) > _MOST:
                self._begun.popitem(last=False)

    def drop(self, file: str) -> None:
        """It was published."""
        with self._lock:
            self._begun.pop(file, None)

    def begun(self) -> tuple[Draft, ...]:
        """All of them, the last one first."""
        with self._lock:
            return tuple(reversed(self._begun.values()))

    def refuse(self, error: HubbubError) -> str:
        """Remember why a release was refused; the number by which a page asks for it."""
        with self._lock:
            self._number += 1
            self._refusals[str(self._number)] = error
            while len(self._refusals) > _MOST:
                self._refusals.popitem(last=False)
            return str(self._number)

    def refusal(self, number: str | None) -> HubbubError | None:
        """Why it was."""
        return None if number is None else self._refusals.get(number)


def query_of(form: Mapping[str, str], **more: str) -> str:
    """A form as the query of an address.

    >>> query_of({"file": "a.csv", "step": "3", "epsilon": "", "who": "rows"}, refused="1")
    'file=a.csv&who=rows&refused=1'
    """
    kept = {name: value for name, value in form.items() if value and name not in FLEETING}
    return urlencode(kept | more)
