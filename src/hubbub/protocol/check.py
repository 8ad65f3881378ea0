"""One thing that was looked at, and whether it is right."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, whether it is right, and what was found."""

    what: str
    passed: bool
    found: str = ""
