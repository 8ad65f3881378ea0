"""A release: a spec, its promises, its result and its place in the ledger."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypedDict, Unpack

import pyarrow as pa

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.promise_order import in_brief, requested_first
from hubbub.protocol.capabilities import is_deferred
from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    import polars

    from hubbub.charts import Chart
    from hubbub.guarantees.derivation import Derivation
    from hubbub.numeric.exact import Loss
    from hubbub.protocol.bound import Bound
    from hubbub.protocol.result import DisplayTable, Result, Sheet
    from hubbub.protocol.spec import Spec
    from hubbub.serialization.canonical import Plain


UNREADABLE: Final = "unreadable"
UNLISTED: Final = "unlisted"
CLAMPED: Final = "clamped"
"""The share of people with a row that cannot be read, above which there is no release."""

MISSING: Final = "missing"
"""How missing cells are spelled, where that was declared."""

JOIN: Final = "join"
"""The column by which rows of a second table were joined with one row each of a first."""

UNNAMED_PERSON: Final = "unnamed_person"
"""A column that may say who a row is about, where each row was declared to be another person all the same."""

FEW: int = 12  # rows that are shown where somebody only glances


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A release's place in a ledger; its certificate names it."""

    ledger: Path
    identity: str
    dataset: str
    number: int  # of the entry
    release: int  # 1 for the first release of the dataset
    nonce: str
    hash: str  # of the entry
    composed_loss: Loss | None = None  # of several releases of the dataset: the smallest loss that covers all of them


def release_digests(body: Mapping[str, Any]) -> dict[str, str]:
    """The files that a certificate is about, by name, with their digests; the release itself comes first."""
    named = {str(name): str(digest) for name, digest in body["files"].items()}
    first = next(name for name in named if name.startswith("release."))
    return {first: named.pop(first), **named}


def dataset_name(text: str, what: str = "dataset") -> str:
    """A name for a dataset: letters, digits and a few signs, so that it reads the same everywhere."""
    if not re.fullmatch(r"[^\W_][\w.*-]{0,99}", text):
        raise WrongUse(
            f"`{what}` is a name of letters, digits, '.', '-' and '_', at most 100 of them, not {text[:40]!r}; choose such a "
            "name"
        )
    return text


class Publisher(Protocol):
    """What writes releases and draws them; handed to each release by whoever made it."""

    def save(self, release: Release, folder: str | os.PathLike[str], **how: Unpack[Saving]) -> dict[str, str]:
        """Write its files; returns where they are."""
        ...

    def plot(self, release: Release) -> Chart:
        """The picture of its report."""
        ...


class Saving(TypedDict, total=False):
    """How a release is written: as CSV or Parquet (`form`), with a report or without, replacing an earlier one or not."""

    form: str
    report: bool
    replace: bool


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """What is published, and what is promised about it. Holds no count and no row of the data."""

    bound: Bound
    result: Result
    reservation: Reservation | None = None  # in the ledger; without one it cannot be saved
    drawn: bool = True  # whether randomness went into it
    publisher: Publisher | None = None  # writes and draws it; none for a release that is in no ledger
    reading: Mapping[str, Plain] = field(default_factory=dict)  # how the table was read, as declared
    labels: tuple[tuple[str, str], ...] = ()  # what its columns are called, as declared

    @property
    def spec(self) -> Spec:
        """What was asked for, with what the columns of the data told."""
        return self.bound.spec

    @property
    def promises(self) -> tuple[Derivation, ...]:
        """Every promise, the mechanism's own first."""
        return self.bound.promises

    @cached_property
    def sheets(self) -> tuple[Sheet, ...]:
        """The tables of rows that are published, one file each, the release itself first."""
        return tuple(self.result.sheets())

    @property
    def sheet(self) -> Sheet:
        """The release itself; a cube has further sheets."""
        return self.sheets[0]

    def __len__(self) -> int:
        return self.sheet.rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Row by row."""
        for batch in self.sheet.batches():
            yield from batch.to_pylist()

    def first(self, rows: int = FEW) -> list[dict[str, Any]]:
        """The first rows."""
        batch = next(self.sheet.batches(), None)
        found: list[dict[str, Any]] = [] if batch is None else batch.slice(0, rows).to_pylist()
        return found

    def to_arrow(self) -> pa.Table:
        """As an Arrow table."""
        return pa.Table.from_batches(list(self.sheet.batches()), self.sheet.schema)

    def to_pandas(self) -> Any:
        """As a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """As a polars frame."""
        import polars

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def save(self, folder: str | os.PathLike[str], **how: Unpack[Saving]) -> dict[str, str]:
        """Write the release, its report and its certificate into a folder, as :func:`hubbub.save` does."""
        return self._published_by().save(self, folder, **how)

    def plot(self) -> Chart:
        """The picture that the report shows: a notebook shows it, and ``plot().save("chart.svg")`` writes it."""
        return self._published_by().plot(self)

    def table(self, rows: int = FEW) -> DisplayTable:
        """The first rows as a reader sees them: with separators, ranges and "(missing)"."""
        return self.result.display(rows).without_repetition()

    def _published_by(self) -> Publisher:
        if self.publisher is None:
            raise Refused("this release is in no ledger, so it is not published; make it with hubbub.open(...)")
        return self.publisher

    def _headings(self) -> tuple[str, ...]:
        promises = [
            f"Promise: {in_brief(step.conclusion)}, for {step.people}." for step in requested_first(self.promises)
        ]
        description = self.bound.description
        intervals = (
            [f"{description.intervals}."] if "values cut to" in description.intervals else []
        )  # not of those in the data
        return (description.title, *intervals, *promises)

    def __str__(self) -> str:
        if is_deferred(self.result):
            return repr(self)
        title, *sentences = self._headings()
        shown = self.table()
        more = [f"and {len(self) - len(shown.rows):,} more rows"] if len(self) > len(shown.rows) else []
        return "\n".join((title, str(shown), *more, *sentences))

    def __repr__(self) -> str:
        promised = "; ".join(in_brief(step.conclusion) for step in requested_first(self.promises))
        rows = "written when it is saved" if is_deferred(self.result) else _rows(len(self))
        return f"<{self.bound.description.entry}: {rows}; promised: {promised}>"

    def _repr_html_(self) -> str:
        if is_deferred(self.result):
            return f"<p>{html.escape(repr(self))}</p>"
        title, *sentences = map(html.escape, self._headings())
        shown = self.table()
        more = f"<p>and {len(self) - len(shown.rows):,} more rows</p>" if len(self) > len(shown.rows) else ""
        return (
            f"<h4>{title}</h4>{shown._repr_html_()}{more}<ul>{''.join(f'<li>{text}</li>' for text in sentences)}</ul>"
        )


def _rows(number: int) -> str:
    return f"{number:,} row" if number == 1 else f"{number:,} rows"


class Publish(Protocol):
    """How a spec is carried out on data that were opened, and entered in the ledger."""

    def __call__(self, spec: Spec | Bound, *, accept_weak: bool = False) -> Release:
        """The release; a spec that is not bound yet is bound to the columns of the data. A weak promise (:mod:`hubbub.protocol.weakness`) is refused unless it is accepted."""
        ...
