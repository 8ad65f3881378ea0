"""A release: a spec, its promises, its result and its place in the ledger."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from hubbub.guarantees.asked import asked_first
from hubbub.guarantees.derivation import Derivation
from hubbub.numeric.exact import Loss
from hubbub.protocol.capabilities import is_deferred
from hubbub.protocol.result import Result, Sheet
from hubbub.protocol.spec import Spec

if TYPE_CHECKING:
    import polars

    from hubbub.charts import Chart


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
    together: Loss | None = None  # of several releases of the dataset: the smallest loss that covers all of them


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Release:
    """What is published, and what is promised about it. Holds no count and no row of the data."""

    spec: Spec
    promises: tuple[Derivation, ...]
    result: Result
    place: Reservation | None = None  # in the ledger; without one it cannot be saved
    drawn: bool = True  # whether randomness went into it

    @property
    def sheet(self) -> Sheet:
        """The release itself; a cube has further sheets."""
        return self.result.sheets()[0]

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

    def plot(self) -> Chart:
        """Its picture: a notebook shows it, and ``plot().save("chart.svg")`` writes it (.svg, .html, .png)."""
        chart: Chart = import_module("hubbub.report.picture").chart_of(self)  # drawing stands above what is drawn
        return chart

    def __repr__(self) -> str:
        words = self.spec.describe()
        promised = "; ".join(f"{step.conclusion} for {step.people}" for step in asked_first(self.promises))
        rows = "written when it is saved" if is_deferred(self.result) else f"{len(self):,} rows"
        return f"<{words.entry}: {rows}; promised: {promised}>"

    def _repr_html_(self) -> str:
        if is_deferred(self.result):
            return f"<p>{html.escape(repr(self))}</p>"
        names, rows = self.sheet.schema.names, self.first()
        heads = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join(f"<tr>{''.join(_cell(row[name]) for name in names)}</tr>" for row in rows)
        more = f"<p>and {len(self) - len(rows):,} more rows</p>" if len(self) > len(rows) else ""
        steps = asked_first(self.promises)
        promised = "".join(f"<li>{html.escape(f'{step.conclusion}, for {step.people}')}</li>" for step in steps)
        title = html.escape(self.spec.describe().title)
        return (
            f"<h4>{title}</h4><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{more}"
            f"<ul>{promised}</ul>"
        )


def _cell(value: object) -> str:
    return f"<td>{'' if value is None else html.escape(str(value))}</td>"


class Publish(Protocol):
    """How a spec is carried out on data that were opened, and entered in the ledger."""

    def __call__(self, spec: Spec, *, accept_weak: bool = False) -> Release:
        """The release. A weak promise (:mod:`hubbub.protocol.weakness`) is refused unless it is accepted."""
        ...
