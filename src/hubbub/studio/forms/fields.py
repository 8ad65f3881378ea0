"""What a kind of release can be asked, as the fields of a form; and what was filled in, as the words that it takes.

A kind lists its options (:mod:`hubbub.protocol.option`); nothing here knows a kind by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hubbub import opening
from hubbub.errors import WrongUse
from hubbub.protocol.option import Option
from hubbub.protocol.option import options_of as parameters_of
from hubbub.protocol.spec import BALLOTS, GRAPH, TABLE
from hubbub.studio.folder import Folder
from hubbub.studio.rendering import in_page

FILE: Final = "FILE"  # what an option takes that names one
_LONGEST: Final = 10_000  # signs in a field
_FROM_FILE: Final = re.compile(r'^\s*(?:"(?:[^"]|"")*"|[^=:]+)=\s*@')

_TABLE: Final = parameters_of(opening.open)
WHO: Final = tuple(option for option in _TABLE if option.name in ("person", "rows_are_people"))
READING: Final = tuple(option for option in _TABLE if option.name in ("table", "delimiter", "encoding", "no_header"))
OPENING: Final[Mapping[str, tuple[Option, ...]]] = {TABLE: _TABLE, GRAPH: opening.LINKS, BALLOTS: ()}
"""What is said about opening, by what a release is of."""

NAMED: Final = (opening.NAMED,)


@dataclass(frozen=True, slots=True)
class Field:
    """One field: `form` is text, tick, lines (several values) or file."""

    name: str
    label: str
    form: str
    takes: str
    help: str
    value: str | bool


def fields(options: Sequence[Option], given: Mapping[str, Any]) -> tuple[Field, ...]:
    """The fields of these options, with what was filled in or the default. The files of a folder are on no cluster."""
    return tuple(_field(option, given) for option in options if not option.for_cluster)


def _field(option: Option, given: Mapping[str, Any]) -> Field:
    label = option.name.replace("_", " ")
    help_text = in_page(option.help)
    if option.metavar is None:
        return Field(option.name, label, "tick", "", help_text, bool(given.get(option.name)))
    value = given.get(option.name)
    form = "lines" if option.many else "file" if option.metavar == FILE else "text"
    if value is None:
        value = option.default or ""
    joined = "\n".join(value) if option.many and not isinstance(value, str) else value
    text = " ".join(joined) if isinstance(joined, list | tuple) else str(joined)
    return Field(option.name, label, form, option.metavar, help_text, text)


def options_of(options: Sequence[Option], form: Mapping[str, str], folder: Folder) -> dict[str, Any]:
    """What was filled in, as a command would hand it on: None where nothing was said."""
    return {option.name: _word(option, form.get(option.name, ""), folder) for option in options}


def _word(option: Option, text: str, folder: Folder) -> Any:
    if len(text) > _LONGEST:
        raise WrongUse(f"`{option.name}` takes at most {_LONGEST:,} signs; shorten it")
    if option.metavar is None:
        return text not in ("", "off")
    if option.many:
        lines = tuple(line.strip() for line in text.splitlines() if line.strip())
        for each in lines:
            no_file(each)
        return lines
    stripped = text.strip()
    if option.metavar == FILE:
        return str(folder.file(stripped)) if stripped else None
    if option.parts > 1:
        parts = tuple(stripped.split())
        if parts and len(parts) != option.parts:
            raise WrongUse(
                f"`{option.name}` takes {option.parts} values with a space between them; write {option.metavar}"
            )
        return parts or None
    return stripped or option.default


def no_file(spec: str) -> None:
    """A SPEC that lists its values: files of values are read from any place, and so are for the command line."""
    if _FROM_FILE.match(spec):
        raise WrongUse("values from a file (=@FILE) are for the command line; list the values here")
