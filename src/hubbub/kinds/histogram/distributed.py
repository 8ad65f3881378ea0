"""A histogram that the machines of a cluster publish: counts never come together in one process, nor do the rows.

::

    run     the driver asks what has to be known first (one row for each person, readable cells), and draws a secret
    save    a job counts; each task publishes a part of the bins (hubbub.kinds.histogram.parts) into a hidden folder
    that all
            machines share, and tells the digest of its file; the driver keeps one file for each part, as told by the
            one attempt that the job accepted, removes all others, and lists them (hubbub.serialization.manifest)

The secret is drawn by the driver, travels to the machines inside the task, is written to no file of ours and stands in
no plan, and is overwritten here when the job ends. What it cannot be kept out of is the memory of those who run tasks,
and the network between them, which is Spark's to encrypt. A task of more than a megabyte Spark would send by way of a
file; so the description of the release, which is public and may list very many labels, goes by a file of ours.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, Final

import pyarrow as pa

import hubbub
from hubbub.errors import Refused, WrongUse
from hubbub.kinds.count_tables import ask_counts
from hubbub.kinds.histogram import wire
from hubbub.kinds.histogram.estimands import has_estimates
from hubbub.kinds.histogram.parts import cut_bins, publish_part
from hubbub.kinds.histogram.result import Line, disjoint_counts, facts, first_sentences, is_exact, schema, tabulate
from hubbub.noise.source import BlockKeys, Source, SystemSource
from hubbub.protocol.result import DisplayTable, Result, Sheet, Write
from hubbub.runtime.frozen import dataclass
from hubbub.serialization import manifest
from hubbub.serialization.canonical import canonical, read
from hubbub.serialization.manifest import Part
from hubbub.tables.engine import CountQuery, Engine, ExactCounts
from hubbub.tables.key_columns import key_columns
from hubbub.tables.parts import NO_FOLDER, OTHER_VERSION, Cut, RemoteCounts, Report, Task

if TYPE_CHECKING:
    from hubbub.kinds.histogram.spec import Histogram

WORK: Final = "work"  # the folder that the machines write to
_SPEC: Final = "spec.json"
_KEPT: Final = 1000  # rows in memory, for the report
_NOT_YET: Final = "the machines of the cluster write this release when it is saved; call save first, and read its files"


def prepare_parts(spec: Histogram, engine: Engine, source: Source) -> Spread:
    """Ask what has to be known before anything is published, and draw the secret; nothing is counted yet."""
    remote_count: Callable[[CountQuery, Source], RemoteCounts] | None = getattr(engine, "remote_count", None)
    if remote_count is None:
        raise WrongUse("only Spark can write a release in parts; leave out `parts`, or open the table with Spark")
    counts = remote_count(ask_counts(spec.axes, spec.unit), source)
    return Spread(spec, cut_bins(spec), counts, BlockKeys(source))


@dataclass(slots=True, eq=False)
class Spread(Result):
    """A histogram in parts; it has rows once it was saved. Holds none of them but the first thousand."""

    spec: Histogram
    cut: Cut
    counts: RemoteCounts
    keys: BlockKeys
    done: tuple[Report, ...] = ()
    head: tuple[Line, ...] = ()
    homes: tuple[Path, ...] = field(default=())  # where the parts are: hidden first, then in their place
    begun: Lock = field(default_factory=Lock)  # taken once, by one thread, and for ever; nor can it be copied

    def write_remote(self, hidden: Path, write: Write) -> tuple[Part, ...]:
        """The parts, written into a folder in the hidden one.

        Guarantee: each part is the file of one attempt, whole, with the digest that this attempt told; no file of
        another attempt is left, and the secret is used for this job alone and overwritten when it ends, however it
        ends. So of the noise of each block one draw is ever seen.
        """
        if not self.keys.secure:
            raise Refused("a release draws its noise from the operating system; another source is for tests")
        if not self.begun.acquire(blocking=False):
            raise Refused("this release was written once and its secret is forgotten; copy its files, or make another")
        work, home = hidden / WORK, hidden / manifest.FOLDER
        for folder in (work, home):
            folder.mkdir(mode=0o700)
        try:
            (work / _SPEC).write_bytes(canonical(self.spec.to_json()))
            reports = self.counts.reports(self.cut, going(self.cut, self.keys, write, work))
        finally:
            self.keys.forget()
        kept = tuple(sorted(reports))
        _check(kept, self.cut.parts, work)
        for report in kept:
            os.replace(work / report.name, home / manifest.part_name(report.part))
        _remove_attempts(work)
        self.done, self.homes = kept, (home, hidden.parent / manifest.FOLDER)
        self.head = tuple(self._first(_KEPT))
        return tuple(Part(manifest.part_name(report.part), report.sha256, report.rows) for report in kept)

    @property
    def is_deferred(self) -> bool:
        return not self.done

    def sheets(self) -> tuple[Sheet, ...]:
        return (Sheet("release", schema(self.spec), self._batches, sum(report.rows for report in self._reports())),)

    def facts(self) -> Mapping[str, Any]:
        return {**facts(self.spec, self._visible_bins()), "parts": len(self.done)}

    def disjoint_counts(self) -> str | None:
        return disjoint_counts(self.spec)

    def sentences(self) -> tuple[str, ...]:
        where = (
            f"The rows are in {len(self._reports()):,} Parquet files in the folder {manifest.FOLDER}/, which "
            f"{manifest.NAME} lists with their digests."
        )
        return *first_sentences(self.spec, self._visible_bins()), where

    def display(self, first: int) -> DisplayTable:
        self._reports()
        return tabulate(self.spec, self.head[:first], {line.status for line in self.head})

    @property
    def exact(self) -> bool:
        """Whether no published number can leave a doubt, whatever was published."""
        return is_exact(self.spec)

    def _visible_bins(self) -> int:
        return sum(report.visible for report in self._reports())

    def _reports(self) -> tuple[Report, ...]:
        if not self.done:
            raise WrongUse(_NOT_YET)
        return self.done

    def _batches(self) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as parquet

        home = next((home for home in self.homes if home.is_dir()), None)
        if home is None:
            raise WrongUse("the files of this release are not where they were saved; read them where they are now")
        for report in self._reports():
            with parquet.ParquetFile(home / manifest.part_name(report.part)) as file:
                yield from file.iter_batches()

    def _first(self, rows: int) -> Iterator[Line]:
        keys, beside = len(key_columns(self.spec.axes)), has_estimates(self.spec)
        for batch in self._batches():
            few = batch.slice(0, rows)
            for row in zip(*(column.to_pylist() for column in few.columns), strict=True):
                value, *estimate, low, high, status = row[keys:]
                yield Line(row[:keys], value, estimate[0] if beside else None, low, high, status)
            rows -= few.num_rows
            if not rows:
                return


def _check(reports: Sequence[Report], parts: int, work: Path) -> None:
    """Refuse if a part is missing or twice, or if what was written elsewhere is not here."""
    states = {report.state for report in reports}
    if OTHER_VERSION in states:
        raise WrongUse(
            f"the machines of the cluster have another version of Hubbub; install {hubbub.__version__} there"
        )
    here = NO_FOLDER not in states and all(_size(work / report.name) == report.size for report in reports)
    if not here:
        raise WrongUse(
            f"what the machines of the cluster write to {str(work.parent.parent)!r} is not seen here, or they may not "
            "write there; choose a folder on storage that all of them and this one share"
        )
    if [report.part for report in reports] != list(range(parts)):
        raise Refused("the cluster did not write each part of the release once; try again")


def _remove_attempts(work: Path) -> None:
    """Remove what other attempts left; one that was given up may still be writing there for a moment."""
    for patience in (0.1, 0.5, 2.0):
        with suppress(OSError):
            shutil.rmtree(work)
            return
        time.sleep(patience)
    shutil.rmtree(work)  # or nothing is published


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return -1


def going(cut: Cut, keys: BlockKeys, write: Write, work: Path) -> Task:
    """The task that goes to the machines: small, whatever the release."""
    version, folder = hubbub.__version__, os.path.abspath(work)  # wherever the machines work

    def task(part: int, counted: ExactCounts) -> Report:
        return write_part(cut, keys, write, folder, part, counted, version)

    return task


def write_part(
    cut: Cut, keys: BlockKeys, write: Write, folder: str, part: int, counted: ExactCounts, version: str
) -> Report:
    """Publish a part of the release that the folder describes into a file of a name that no other attempt has; runs on
    the machines of the cluster."""
    if version != hubbub.__version__:
        return Report(part, state=OTHER_VERSION)
    try:
        spec = wire.read(read((Path(folder) / _SPEC).read_bytes(), "the description"))
    except OSError:
        return Report(part, state=NO_FOLDER)
    name = f"{part}-{SystemSource().words(2).tobytes().hex()}"
    visible = rows = 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal visible, rows
        for some in publish_part(spec, cut, keys, part, counted):
            visible, rows = visible + int(some.visible.sum()), rows + some.bins
            yield from some.batches()

    path = Path(folder) / name
    try:
        out = _new_file(path)
    except OSError:
        return Report(part, state=NO_FOLDER)
    with out:
        write(Sheet("release", schema(spec), batches, 0), out)
        out.flush()
        os.fsync(out.fileno())
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Report(part, name, digest, rows, visible, path.stat().st_size)


def _new_file(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")
