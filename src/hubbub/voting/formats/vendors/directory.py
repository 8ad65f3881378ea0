"""What a vendor's own manifests say: the contests, and who stands in each by the codes that marks have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """Contests by number; for each the candidates by code; and how many are elected, where that is said."""

    contests: Mapping[str, str]
    people: Mapping[str, Mapping[str, str]]
    seats: Mapping[str, int] = field(default_factory=dict)
