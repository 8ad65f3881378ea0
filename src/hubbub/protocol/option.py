"""What somebody can be asked for, as values: the command line, the page and Python spell them each in their own way."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing that can be said: its name, what it takes (None: nothing, it is said or not), and what it means."""

    name: str
    metavar: str | None
    help: str
    default: str | None = None
    many: bool = False  # it can be said several times
    parts: int = 1  # how many values follow it
    for_cluster: bool = False  # a table on this machine has no use for it
