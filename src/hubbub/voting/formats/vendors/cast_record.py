"""One ballot's contest as a vendor's file has it: who was marked at which rank, and where it was cast; and what a
vendor's own manifests say: the contests, and who stands in each by the codes that marks have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from hubbub.runtime.frozen import dataclass

LeftOut = Counter[str]
"""How much of each kind stands in the records and is not in the count; readers add to it."""


def left_out_sentences(left: LeftOut) -> tuple[str, ...]:
    return tuple(f"left out: {many:,} {what}" for what, many in sorted(left.items()) if many)


class CastRecord(NamedTuple):
    """Marks as (rank, code or name); precinct and batch are empty where the file does not say."""

    marks: list[tuple[int, str]]
    precinct: str = ""
    batch: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """Contests by number; for each the candidates by code; and how many are elected, where that is said."""

    contests: Mapping[str, str]
    people: Mapping[str, Mapping[str, str]]
    seats: Mapping[str, int] = field(default_factory=dict)
