"""One check, and whether it passed."""

from __future__ import annotations

from hubbub.runtime.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """What was checked, whether it passed, and what was found."""

    what: str
    passed: bool
    found: str = ""
