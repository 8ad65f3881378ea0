"""Three-valued answers: proved, refuted or undecided. "Not refuted" is not "proved", so none of them has a truth value.

Take them apart with ``match`` or ``isinstance``.
"""

from __future__ import annotations

from typing import TypeAlias

from hubbub.runtime.frozen import dataclass


def _no_truth_value(answer: object) -> TypeError:
    name = type(answer).__name__
    return TypeError(f"a verdict is proved, refuted or undecided, and {name} is neither true nor false; use match")


@dataclass(frozen=True, slots=True)
class Proved:
    """The claim holds, and this is why."""

    reason: str

    def __bool__(self) -> bool:
        raise _no_truth_value(self)


@dataclass(frozen=True, slots=True)
class Refuted:
    """The claim fails, and anybody can replay the witness: its parts by name, as exact text."""

    reason: str
    witness: tuple[tuple[str, str], ...]

    def __bool__(self) -> bool:
        raise _no_truth_value(self)


@dataclass(frozen=True, slots=True)
class Undecided:
    """Neither was established, and this is what stood in the way."""

    why: str

    def __bool__(self) -> bool:
        raise _no_truth_value(self)


Verdict: TypeAlias = Proved | Refuted | Undecided
