"""What a report says of itself that no release knows: who publishes it, and the date that they declare.

The publisher is a setting: the environment's HUBBUB_PUBLISHER, or the first line of ``hubbub/publisher`` among the
user's settings (``~/.config``).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hubbub.errors import WrongUse

_LONGEST: Final = 120  # signs


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """Public words, as they were declared; nobody checks them."""

    publisher: str = ""
    date: str = ""


NO_HEADING: Final = Heading()


def heading(date: str | None = None) -> Heading:
    """The heading by the user's settings."""
    return Heading(publisher=_line(_publisher(), "the publisher's name"), date=_line(date or "", "the date"))


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


def _line(text: str, what: str) -> str:
    stripped = text.strip()
    if len(stripped) > _LONGEST or not stripped.isprintable():
        raise WrongUse(f"{what} is one line of at most {_LONGEST} signs that show; shorten it")
    return stripped
