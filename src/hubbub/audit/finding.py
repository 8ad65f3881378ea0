"""What an audit found: one game, one verdict, the witness that anybody can replay."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from enum import Enum
from typing import Any

from hubbub.guarantees.verdict import Proved, Refuted, Undecided, Verdict
from hubbub.runtime.frozen import dataclass


class Depth(Enum):
    """How far an audit looks. Only exact laws can prove; everything can refute."""

    EXACT = "exact"
    """Laws, in certified numbers."""
    REPLAY = "replay"
    """One run with its noise recorded, and the neighbour's with that noise."""
    BLACK_BOX = "black box"
    """Many runs of both, and a confidence bound. It never says that something is private."""
    PUBLISHED = "published files"
    """What several tables determine together, by programs whose answers are proved in rationals."""


class Game(Enum):
    """Which two experiments must look alike, for each definition. The certificate's definition says which is played.

    Exact counts above a crowd are crowd-blending and have an infinite loss as differential privacy: a mechanism is
    held against the game of the promise that it makes and against no other.
    """

    DIFFERENTIAL = "differential"
    """The release of a table and of the same table with one person more, within e^epsilon and delta."""
    TAILORED = "tailored"
    """The same, each person at the epsilon of the people in their cell."""
    OUTLIER = "outlier"
    """The same, each person at the epsilon of their own crowd."""
    CROWD_BLENDING = "crowd-blending"
    """Nobody both stands in a crowd of fewer than k and is missed when left out."""
    ZERO_KNOWLEDGE = "zero-knowledge"
    """The release and a simulator's answer, which knows K random people and not this one."""
    DISTRIBUTIONAL = "distributional"
    """The release of a random table that has the person in it, and of that table without them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Determined:
    """A hidden cell that published tables confine together."""

    table: str
    key: tuple[tuple[str, str], ...]
    low: int
    high: int
    because: str

    def as_json(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "key": dict(self.key),
            "low": self.low,
            "high": self.high,
            "because": self.because,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The verdict of one game, with what it rests on.

    `lower_bound` is a loss that is certainly exceeded or met (of exact laws), or exceeded with `confidence` (of many
    runs); `claimed` is what was promised. Both are text, exact or rounded against whoever made the claim.
    """

    game: Game
    depth: Depth
    verdict: Verdict
    claimed: str
    subject: str = ""
    lower_bound: str | None = None
    confidence: str | None = None
    determined: tuple[Determined, ...] = ()
    notes: tuple[str, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def word(self) -> str:
        """proved, refuted or undecided."""
        return type(self.verdict).__name__.lower()

    @property
    def is_refuted(self) -> bool:
        return isinstance(self.verdict, Refuted)

    @property
    def witness(self) -> dict[str, str] | None:
        """The parts of a refutation by name."""
        return dict(self.verdict.witness) if isinstance(self.verdict, Refuted) else None

    @property
    def why(self) -> str:
        """What the verdict rests on."""
        return self.verdict.why if isinstance(self.verdict, Undecided) else self.verdict.reason

    def sentence(self) -> str:
        """The verdict in one line."""
        match self.verdict:
            case Proved(reason):
                return f"Proved: {reason}"
            case Refuted(reason, witness):
                listed = ", ".join(f"{name} {text}" for name, text in witness)
                return f"Refuted: {reason}{f' ({listed})' if listed else ''}"
            case Undecided(why):
                return f"Not refuted: {why}"

    def as_json(self) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "game": self.game.value,
            "depth": self.depth.value,
            "verdict": self.word,
            "why": self.why,
            "witness": self.witness,
            "lower_bound": self.lower_bound,
            "claimed": self.claimed,
            "confidence": self.confidence,
            "determined": [each.as_json() for each in self.determined],
            "notes": list(self.notes),
            **self.numbers,
            "seconds": round(self.seconds, 3),
        }


def time_audit(audit: Callable[[], Finding]) -> Finding:
    """A finding with the time it took."""
    begun = time.monotonic()
    found = audit()
    return replace(found, seconds=time.monotonic() - begun)
