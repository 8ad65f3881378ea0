"""A count whose exact numbers stay with the machines of a cluster: how its bins are cut into parts, and what a task that
goes to a part tells of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from hubbub.runtime.frozen import dataclass
from hubbub.tables.engine import ExactCounts

WRITTEN, NO_FOLDER, OTHER_VERSION = "written", "no folder", "other version"


@dataclass(frozen=True, slots=True)
class Listed:
    """Bins in order, so many in each part; the last may have fewer."""

    total: int
    width: int

    @property
    def parts(self) -> int:
        return -(-self.total // self.width)


@dataclass(frozen=True, slots=True)
class Sparse:
    """Bins in turn: number c is in part c mod `parts`. So bins that lie together are in different parts."""

    total: int
    parts: int


@dataclass(frozen=True, slots=True)
class Found:
    """Bins by a hash of their labels."""

    parts: int


Cut: TypeAlias = Listed | Sparse | Found


class Report(NamedTuple):
    """What a task tells about a part."""

    part: int
    name: str = ""
    sha256: str = ""
    rows: int = 0
    visible: int = 0
    size: int = 0
    state: str = WRITTEN


Task = Callable[[int, ExactCounts], Report]


class RemoteCounts(Protocol):
    """Exact counts that stay where they are, and tasks that go there."""

    def reports(self, cut: Cut, task: Task) -> Sequence[Report]:
        """What `task` tells of each part, given the bins of it that are not empty; of several attempts, one."""
        ...
