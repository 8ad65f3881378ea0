"""One ballot's contest as a vendor's file has it: who was marked at which rank, and where it was cast; and what a
vendor's own manifests say: the contests, and who stands in each by the codes that marks have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from hubbub.runtime.frozen import dataclass


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
