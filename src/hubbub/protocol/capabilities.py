"""What only some kinds of release can do, each a small protocol of its own: a spec or a result that has the members has
the capability. No member has a default that says that nothing is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.noise.source import Source
    from hubbub.protocol.check import Check
    from hubbub.protocol.measurement import Measurement
    from hubbub.protocol.result import Result, Write
    from hubbub.serialization.canonical import Plain
    from hubbub.serialization.manifest import Part
    from hubbub.serialization.published_files import Files


@runtime_checkable
class HasCompanion(Protocol):
    """A spec whose release stands beside a public file, such as an official record."""

    def check_companion(self, file: Path) -> Check:
        """Whether the file is the one described."""
        ...


@runtime_checkable
class TakesLong(Protocol):
    """A spec that says beforehand how long it takes."""

    def duration_note(self) -> str:
        """What is said before it starts; empty if nothing is."""
        ...


@runtime_checkable
class InspectsCrowds(Protocol):
    """A spec that tells the steward how alike the people of its crowds are, before anything is published."""

    def inspect_crowds(self, data: Any, source: Source) -> Any:
        """What would be kept of a table, as :class:`hubbub.tables.inspection.Crowds`. Private, and no promise."""
        ...


@runtime_checkable
class RunsCustom(Protocol):
    """A spec that runs somebody else's mechanism. What comes out is no measurement of ours and has no certificate."""

    def run_custom(self, data: Any, source: Source) -> Result:
        """Hand the data to the mechanism."""
        ...


@runtime_checkable
class MaybeDistributed(Protocol):
    """A spec that the machines of a cluster may carry out: they measure and present, each a part of the rows."""

    @property
    def is_distributed(self) -> bool:
        """Whether the machines of a cluster carry this one out."""
        ...

    def prepare(self, data: Any, source: Source) -> Deferred:
        """Ask what has to be known before anything is measured, and draw the secret; nothing is counted yet."""
        ...

    def load_parts(self, files: Sequence[Path], rows: Sequence[int]) -> Iterator[tuple[Path, Measurement]]:
        """What was drawn, file by file; a CheckFailed if these are not the parts of such a release."""
        ...

    def present_part(self, measurement: Measurement) -> Result:
        """What one of these files shows."""
        ...


@runtime_checkable
class Deferred(Protocol):
    """A result that has no rows until others write them, when it is saved."""

    @property
    def is_deferred(self) -> bool:
        """Whether it has no rows yet."""
        ...

    def write_remote(self, hidden: Path, write: Write) -> tuple[Part, ...]:
        """The files that others write, in a folder of the hidden one."""
        ...


def is_deferred(result: object) -> bool:
    """Whether others have yet to write its rows."""
    return isinstance(result, Deferred) and result.is_deferred


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPart:
    """Which part of a series a release is: the description of the whole, its own period and the earlier ones."""

    series: Plain
    period: str
    index: int
    earlier: tuple[str, ...]
    missed: tuple[str, ...]


@runtime_checkable
class PartOfSeries(Protocol):
    """A spec of which several make one release: the periods of a series."""

    @property
    def part(self) -> SeriesPart:
        """Which part it is."""
        ...

    def drawn_digests(self, files: Files) -> tuple[str, ...]:
        """A digest of what was drawn in each period so far, from the published files."""
        ...
