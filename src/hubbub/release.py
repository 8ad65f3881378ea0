"""A release, from the words that ask for it to the values that are published. Read this first.

::

    spec -> promises derived (pure, before any data is opened) -> ledger reserves (refuses: nothing was read)
    people -> engine counts (exact integers) -> the secret sample (thinning) -> channel -> Release
                                       hubbub.save -> ledger commits the digest -> the files are visible

Nothing but the release depends on the data: reports, charts and certificates are made from it alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.channel import Published
from hubbub.channels.estimate import intervals
from hubbub.channels.law import SUPPRESSED
from hubbub.engines.protocol import Counted, Engine, Question, Repeats
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.guarantees.derivation import Derivation
from hubbub.ledger.book import Ledger, Reservation
from hubbub.ledger.charge import for_histogram
from hubbub.noise.binomial import binomial
from hubbub.noise.source import Source, SystemSource, is_secure
from hubbub.tables.bins import Axis, Discovered, all_labels, declared_size, size
from hubbub.tables.histogram import Histogram, Unit, histogram
from hubbub.tables.promises import promises
from hubbub.tables.scaling import is_certain, population_intervals, split

_BATCH = 1 << 20  # bins at a time


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """What is published, and what is promised about it. Holds no count and no row."""

    spec: Histogram
    axes: tuple[Axis, ...]
    promises: tuple[Derivation, ...]
    published: Published
    low: NDArray[np.int64]  # bin -> lower end of its interval
    high: NDArray[np.int64]  # bin -> upper end, -1 where there is none
    found: tuple[list[str | None], ...] = field(default=())  # labels of discovered axes, shown bins only
    codes: NDArray[np.int64] | None = None  # declared part of the shown bins; None: every declared bin, in order
    place: Reservation | None = None  # in the ledger; without one it cannot be saved
    drawn: bool = True  # whether randomness went into it

    @property
    def bins(self) -> int:
        """How many bins the release lists."""
        return int(self.published.values.size)

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Which of them show a number."""
        hidden = np.array([name.startswith(SUPPRESSED) for name in self.published.names], dtype=bool)
        return ~hidden[self.published.tags]

    def keys(self, start: int, stop: int) -> Iterator[tuple[NDArray[np.int64], Sequence[str | None]]]:
        """Bins start..stop-1, one axis after the other: which label each has, and the labels."""
        codes = np.arange(start, stop) if self.codes is None else self.codes[start:stop]
        steps = [1 if isinstance(axis, Discovered) else size(axis) for axis in self.axes]
        found = iter(self.found)
        for i, axis in enumerate(self.axes):
            if isinstance(axis, Discovered):
                labels = next(found)[start:stop]
                yield np.arange(len(labels)), labels
            else:
                yield codes // prod(steps[i + 1 :]) % steps[i], all_labels(axis)


class Table:
    """A table of people that has been opened but not read."""

    def __init__(
        self,
        engine: Engine,
        person: str | None = None,
        *,
        dataset: str | None = None,
        ledger: str | os.PathLike[str] | None = None,
        origin: str = "",
    ) -> None:
        self.engine, self.person, self.dataset = engine, person, dataset
        self.ledger, self.origin = Ledger(ledger), origin

    def histogram(
        self, by: list[str], *, one_row_per_person: bool = False, distinct: int | None = None, **words: Any
    ) -> Release:
        """Counts by some columns: the words are those of ``hubbub release histogram`` (crowd, epsilon, outlier, ...).

        Guarantee: the promises of the release, derived before the table is read and entered in the ledger, durably,
        before any noise is drawn; noise and samples come from the operating system, fresh for this call. With the
        earlier releases of the dataset there is still a theorem that covers all of them, or the call is refused.
        """
        unit = Unit(person=self.person, one_row_per_person=one_row_per_person, distinct=distinct)
        spec = histogram(by, unit=unit, **words)
        if self.dataset is None:
            raise WrongUse("this table has no name in the ledger; give it one, like open(people, dataset='town')")
        axes = self.engine.resolve(spec.axes)
        promises(spec, axes)  # refuses here before anything is reserved
        place = self.ledger.reserve(self.dataset, for_histogram(spec, axes), source=self.origin)
        noise = SystemSource()
        try:
            done = run(self.engine, spec, noise)
        except BaseException:
            with suppress(HubbubError):  # then it stays reserved, and counts as spent
                self.ledger.abandon(place, drawn=noise.used)
            raise
        return replace(done, place=place, drawn=noise.used)


def open(
    source: object,
    *,
    person: str | None = None,
    table: str | None = None,
    dataset: str | None = None,
    ledger: str | os.PathLike[str] | None = None,
) -> Table:
    """A table of people: a path (CSV, Parquet, a glob of Parquet files, a DuckDB file), a frame, or a connection.

    `dataset` is its name in the ledger, by which releases about the same people are known; a file is named after
    itself unless told otherwise. `ledger` is the ledger's file, if not the user's own.
    """
    from hubbub.engines import duckdb as engine  # late: an import of hubbub loads no engine

    if isinstance(source, str | os.PathLike):
        opened = engine.open_file(source, table=table)
        origin = os.path.realpath(source) + (f"#{table}" if table else "")  # links lead to one table
        name = dataset if dataset is not None else named_after(source, table)
        return Table(opened, person, dataset=name, ledger=ledger, origin=origin)
    if engine.is_connection(source):
        if table is None:
            raise WrongUse("a connection holds many tables; name one, like open(connection, table='people')")
        return Table(engine.open_table(source, table), person, dataset=dataset, ledger=ledger)
    return Table(engine.open_frame(source), person, dataset=dataset, ledger=ledger)


def named_after(source: str | os.PathLike[str], table: str | None = None) -> str:
    """The dataset's name that a file gives: its own, without folder and ending.

    >>> named_after("data/town 2024.parquet"), named_after("city.duckdb", "people")
    ('town-2024', 'city.people')
    """
    stem = Path(os.fspath(source)).stem
    text = re.sub(r"[^\w.*-]+", "-", stem if table is None else f"{stem}.{table}").strip("-_.*")
    return text[:100] or "table"


def run(engine: Engine, spec: Histogram, source: Source) -> Release:
    """Derive, count, sample, publish."""
    if not is_secure(source):
        raise Refused("a release draws its noise from the operating system; another source is for tests of its parts")
    return _run(engine, spec, source)


def _run(engine: Engine, spec: Histogram, source: Source) -> Release:
    axes = engine.resolve(spec.axes)
    derived = promises(spec, axes)  # refuses here: nothing was read
    total = declared_size(axes)
    counted = engine.count(_question(spec, axes), source)
    counts = _sampled(spec, counted.counts if total is None else _every_bin(counted, total), source)
    if total is not None:
        published = _published(spec, counts, source)
        return Release(spec, axes, derived, published, *_intervals(spec, published))
    # Bins are those found in the sample: one that nobody of the sample is in must not reach the channel.
    some = np.flatnonzero(counts)
    published = _published(spec, counts[some], source)
    # An absent bin looks like a hidden one, so hidden ones are absent too.
    hidden = np.array([name.startswith(SUPPRESSED) for name in published.names], dtype=bool)
    shown = np.flatnonzero(~hidden[published.tags])
    published = Published(published.values[shown], published.tags[shown], published.names)
    keep = some[shown]
    found = tuple([labels[i] for i in keep.tolist()] for labels in counted.found)
    return Release(spec, axes, derived, published, *_intervals(spec, published), found, counted.codes[keep])


def _intervals(spec: Histogram, published: Published) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For the counts that the channel saw, or for everybody if the release is scaled up from its sample."""
    if not spec.scale_up or spec.sample is None:
        return intervals(spec.channel, published, spec.coverage)
    low, high = intervals(spec.channel, published, split(spec.coverage))
    return population_intervals(low, high, spec.sample, spec.coverage, certain=is_certain(spec.channel))


def _question(spec: Histogram, axes: tuple[Axis, ...]) -> Question:
    unit = spec.unit
    if unit.one_row_per_person:
        return Question(axes=axes, person=unit.person, repeats=Repeats.ONE_ROW)
    if unit.distinct is not None:
        return Question(axes=axes, person=unit.person, repeats=Repeats.DISTINCT, most_bins=unit.distinct)
    return Question(axes=axes, person=unit.person)


def _every_bin(counted: Counted, total: int) -> NDArray[np.int64]:
    """Empty bins are bins: a count for every declared one."""
    counts = np.zeros(total, dtype=np.int64)
    counts[counted.codes] = counted.counts
    return counts


def _sampled(spec: Histogram, counts: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
    """The counts of a fresh secret sample, if there is to be one."""
    if spec.sample is None:
        return counts
    parts = (counts[start : start + _BATCH] for start in range(0, counts.size, _BATCH))
    return np.concatenate([counts[:0], *(binomial(part, spec.sample, source) for part in parts)])


def _published(spec: Histogram, counts: NDArray[np.int64], source: Source) -> Published:
    """The channel, a batch of bins at a time."""
    values, tags = np.empty(counts.size, dtype=np.int64), np.empty(counts.size, dtype=np.intp)
    names: dict[str, int] = {}
    for start in range(0, counts.size, _BATCH) or [0]:  # no bins at all have the same names as any
        out = spec.channel.release(counts[start : start + _BATCH], source)
        index = np.array([names.setdefault(name, len(names)) for name in out.names], dtype=np.intp)
        values[start : start + _BATCH], tags[start : start + _BATCH] = out.values, index[out.tags]
    return Published(values, tags, tuple(names))
