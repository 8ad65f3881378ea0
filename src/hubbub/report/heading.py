"""What a report says of itself that no release knows: its title, who publishes it, the date, names of columns, notes.

Whoever publishes declares these words, and nobody checks them. They are part of the report, whose digest the
certificate signs. They come from a TOML file::

    title = "Who lives in Millbrook"
    subtitle = "Census of May 2026"
    publisher = "The town of Millbrook"
    date = "May 2026"
    link = "https://example.org/census"
    language = "de"
    notes = ["People in homes are counted where they sleep."]

    [labels]
    age = "Age in years"

The publisher is a setting too: the environment's HUBBUB_PUBLISHER, or the first line of ``hubbub/publisher`` among the
user's settings (``~/.config``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from hubbub.charts.language import ENGLISH, check_language
from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass

_LONGEST: Final = 120  # signs
_A_NOTE: Final = 1000
_MOST_NOTES: Final = 10
_MOST_LABELS: Final = 200
_SCHEMES: Final = ("https://", "http://")


def _check(text: str, what: str, longest: int) -> None:
    if len(text) > longest or not text.isprintable():
        raise WrongUse(f"{what} is one line of at most {longest} signs that show; shorten it")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """Public words, as they were declared; nobody checks them."""

    title: str = ""
    subtitle: str = ""
    publisher: str = ""
    date: str = ""
    link: str = ""
    notes: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()  # (column, what it is called)
    language: str = ENGLISH  # of the report's own sentences

    def __post_init__(self) -> None:
        check_language(self.language)
        for what in ("title", "subtitle", "publisher", "date", "link"):
            _check(getattr(self, what), f"the {what}", _LONGEST)
        for note in self.notes:
            _check(note, "a note", _A_NOTE)
        for _, words in self.labels:
            _check(words, "the label of a column", _LONGEST)
        if len(self.notes) > _MOST_NOTES or len(self.labels) > _MOST_LABELS:
            raise WrongUse(f"a report has at most {_MOST_NOTES} notes and {_MOST_LABELS} labels; shorten them")
        if self.link and not self.link.startswith(_SCHEMES):
            raise WrongUse(f"the link must begin with {' or '.join(_SCHEMES)}, not {self.link[:40]!r}")

    def with_labels(self, declared: Sequence[tuple[str, str]]) -> Heading:
        """With what a data dictionary calls columns that have no label here; what is too long to be one is left out."""
        own = dict(self.labels)
        more = [(name, words) for name, words in declared if name not in own and len(words) <= _LONGEST]
        more = [each for each in more if each[1].isprintable()][: max(0, _MOST_LABELS - len(own))]
        return replace(self, labels=(*self.labels, *more)) if more else self


NO_HEADING: Final = Heading()


def heading(file: str | None = None, **declared: Any) -> Heading:
    """The heading by a file of words, or by the same words as they are declared elsewhere, and the user's settings."""
    given = declared if file is None else _words(file)
    lines = {name: str(given.get(name) or "").strip() for name in ("title", "subtitle", "publisher", "date", "link")}
    return Heading(
        **lines | {"publisher": lines["publisher"] or _publisher().strip()},
        notes=tuple(note.strip() for note in given.get("notes", ())),
        labels=tuple((column, words.strip()) for column, words in given.get("labels", {}).items()),
        language=(given.get("language") or ENGLISH).strip(),
    )


def _words(file: str) -> Mapping[str, Any]:
    from hubbub.serialization.toml import read_toml  # late: few releases have such a file

    try:
        given = read_toml(file, float)  # a number is no text
    except OSError as error:
        raise WrongUse(f"the words of the report cannot be read from {file}: {error.strerror or error}") from error
    except ValueError as error:
        raise WrongUse(f'{file} is no TOML file: {error}; write lines like title = "Who lives here"') from error
    kinds: dict[str, type] = dict.fromkeys(("title", "subtitle", "publisher", "date", "link", "language"), str)
    kinds |= {"notes": list, "labels": dict}
    for name, value in given.items():
        if name not in kinds:
            raise WrongUse(f"{file} has the unknown word {name[:40]!r}; it may have {', '.join(kinds)}")
        inside = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
        if not isinstance(value, kinds[name]) or not all(isinstance(each, str) for each in inside):
            raise WrongUse(f"{name} in {file} must be {_SAID[kinds[name]]}")
    return given


_SAID: Final[Mapping[type, str]] = {str: "a text", list: "a list of texts", dict: "a table of texts, by column"}


def _publisher() -> str:
    named = os.environ.get("HUBBUB_PUBLISHER")
    if named is not None:
        return named
    settings = os.environ.get("XDG_CONFIG_HOME", "")
    try:
        folder = Path(settings) if os.path.isabs(settings) else Path.home() / ".config"
        with open(folder / "hubbub" / "publisher", encoding="utf-8") as file:
            return file.readline(10 * _LONGEST)
    except (OSError, RuntimeError, UnicodeDecodeError):
        return ""
