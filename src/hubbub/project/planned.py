"""A release of a publication with its spec, and where it is: published, written, or still to come."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hubbub.errors import Refused
from hubbub.kinds.table import Table
from hubbub.ledger.ledger import Ledger
from hubbub.project.joint import Joint
from hubbub.project.plan_file import PlanEntry
from hubbub.protocol.bound import Bound
from hubbub.protocol.spec import Spec
from hubbub.publication.signed_files import published
from hubbub.publication.staging import DRAFT, unfinished
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.published_files import CERTIFICATE

if TYPE_CHECKING:
    from hubbub.project.planning import SeriesRun

ANOTHER: Final = (
    "{} is published already, and what this file asks for now is another release; give that another name, and it is planned as "
    "a new one"
)


class State(Enum):
    """Where a release is."""

    OUT = "published"
    READY = "written, and to be brought out"
    OPEN = "to be published"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A release with its spec, bound to the columns of its table, and where it is. Of a joint one, `entry` is what names
    its folder, and the tables that were asked for are its members."""

    entry: PlanEntry
    table: Table
    bound: Bound
    state: State
    weak: tuple[str, ...]
    joint: Joint | None = None
    series: SeriesRun | None = None
    charged: bool = True  # whether it is entered in the ledger: a period of a series that is started is not

    @property
    def spec(self) -> Spec:
        """What is asked for."""
        return self.bound.spec

    @property
    def names(self) -> tuple[str, ...]:
        """Of the releases that the file wants, those that come out with this one."""
        return (self.entry.name,) if self.joint is None else tuple(each.entry.name for each in self.joint.members)


def is_ready(folder: Path) -> bool:
    """Whether a release of this folder is whole, and to be brought out."""
    return any((hidden / DRAFT).exists() for hidden in unfinished(folder))


def is_begun(folder: Path) -> bool:
    """Whether a release of this folder is out, or whole and to be brought out."""
    return (folder / CERTIFICATE).exists() or is_ready(folder)


def certificate_in(folder: Path, ledger: Ledger, dataset: str) -> dict[str, Any]:
    """The certificate of the release in a folder, if this ledger published it of this dataset."""
    if CERTIFICATE not in published(folder, ledger):
        raise Refused(f"{folder} holds a release that this ledger did not publish; move it, or choose another folder")
    found: dict[str, Any] = json.loads((folder / CERTIFICATE).read_bytes())
    if found["ledger"]["dataset"] != dataset:
        raise Refused(f"{folder.name} is published of other people; give this release another name")
    return found
