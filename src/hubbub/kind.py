"""What a kind of release is.

Everything that is published about people goes the same way, whatever it is:

::

    Spec         frozen, all that is public: resolves itself against a schema, derives its promises, names its
                 partition, lists what can be checked again, has its words
      .measure   alone sees data and randomness, and returns what mechanisms drew
      .present   pure: estimates, intervals, sheets, sentences and a drawing, from what was drawn
      .load      what was drawn, read back from the published files: whoever verifies presents it again
    Measurement  what mechanisms drew: integers and labels (:mod:`hubbub.measurement`)
    Result       what readers see: sheets of rows, public facts, a drawing
    Release      a spec, its promises, its result and its place in the ledger

Certificate, ledger, verify, explain, report, files and commands work from these and know no kind by name;
:mod:`hubbub.kinds` lists the kinds there are.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias, runtime_checkable

import pyarrow as pa

from hubbub.check import Check as Check
from hubbub.drawing import Drawing
from hubbub.guarantees.definitions import IndependentSample
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.people import People
from hubbub.measurement import Measurement
from hubbub.noise.source import Source
from hubbub.options import Option
from hubbub.published_files import Files
from hubbub.wire.canonical import Plain

if TYPE_CHECKING:
    import polars

    from hubbub.tables.manifest import Part

FEW: int = 12  # rows that are shown where somebody only glances
TABLE, GRAPH, BALLOTS = "table", "graph", "ballots"  # what a release may be of


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A release in plain words. Names of columns come from strangers and are as they are: whoever shows it escapes."""

    title: str  # People by department
    published: str  # Counts of the people in the table, by department: exact counts of at least 20, the others hidden
    entry: str  # how the ledger calls it
    person: str  # who counts as a person
    sampling: str  # who sampled whom
    counts: str  # whom or what the published numbers count
    intervals: str = ""  # what an interval means
    public: tuple[tuple[str, str], ...] = ()  # (column, by which rule it is cut)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows that are published together, in a file of that name: keys first, then numbers. Batches come afresh."""

    name: str
    schema: pa.Schema
    batches: Callable[[], Iterator[pa.RecordBatch]]
    rows: int
    tolerance: Mapping[str, Fraction] = field(default_factory=dict)
    """By column: how far a number may be from the one that is worked out elsewhere, where machines round sums of floats
    differently. All others are compared exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What decides how a release adds up with others about the same people, beside its promises.

    `partition` names the public partition in which people stand in crowds, None if a person has no fixed place in one;
    `collected` says how the table itself was sampled from a population, as declared, and `at_delta` at which delta that
    is worked out. With `exact_crowds`, people of one crowd are exactly interchangeable.
    """

    partition: str | None = None
    collected: IndependentSample | None = None
    at_delta: Fraction = Fraction(1, 10**9)
    exact_crowds: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows for somebody to read: keys (None: missing) and numbers as texts, pale where nothing is shown."""

    keys: tuple[str, ...]  # headings
    numbers: tuple[str, ...]  # headings
    rows: tuple[tuple[tuple[str | None, ...], tuple[str, ...], bool], ...]  # keys, numbers, pale
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A release beside what else was to be had, from public numbers alone: to read, and for JSON."""

    grid: Grid
    rows: tuple[Mapping[str, Any], ...]


Write: TypeAlias = Callable[[Sheet, IO[bytes]], None]
"""How a sheet becomes the bytes of a file."""


class Result(Protocol):
    """What readers see of a release: a function of its measurement, and so of nothing else of the data."""

    def sheets(self) -> tuple[Sheet, ...]:
        """What the files hold; the first is the release itself."""
        ...

    def told(self) -> Mapping[str, Any]:
        """Public facts about it, for JSON."""
        return {}

    def sentences(self) -> tuple[str, ...]:
        """What has to be said beside the rows, such as how many are hidden."""
        return ()

    def grid(self, first: int) -> Grid:
        """The first rows to read: texts are keys, all else is numbers."""
        sheet = self.sheets()[0]
        texts = [name for name in sheet.schema.names if _is_text(sheet.schema.field(name).type)]
        rest = [name for name in sheet.schema.names if name not in texts]
        rows = islice((row for batch in sheet.batches() for row in batch.slice(0, first).to_pylist()), first)
        told = tuple(
            (
                tuple(row[name] for name in texts),
                tuple("" if row[name] is None else f"{row[name]}" for name in rest),
                False,
            )
            for row in rows
        )
        return Grid(tuple(texts), tuple(rest), told)

    def drawing(self) -> Drawing | None:
        """A picture of it, as a value; None if there is nothing to see."""
        return None


def _told(value: object) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value}"


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_dictionary(kind))


class Spec(Protocol):
    """A release that somebody asked for: everything about it that is public."""

    kind: ClassVar[Kind]

    @property
    def people(self) -> People:
        """Whom it is about: those of the table, and which column says who is who."""
        ...

    @property
    def enforced_number(self) -> int | None:
        """How many people there must be, where that is public and anything else is refused; None if any number will do.

        Then nobody comes or goes: every promise compares data of so many people (replace), and the ledger and the audit
        refuse one that does not.
        """
        return None

    def resolved(self, schema: Any) -> Self:
        """With what the schema tells, or one sentence if such a release cannot be made of such columns."""
        ...

    def promises(self) -> tuple[Derivation, ...]:
        """Every promise, the mechanism's own first. Pure: it depends on nothing but the spec."""
        ...

    def alone(self) -> tuple[Derivation, ...]:
        """The promises to the people of the table, whatever was declared about how the table was collected."""
        return self.promises()

    def together(self) -> Together:
        """What decides how it adds up with other releases."""
        return Together()

    def checks(self) -> Iterator[Check]:
        """What can be worked out again without the data: exact laws against claims."""
        return iter(())

    def free(self) -> tuple[str, ...]:
        """What the publisher could write as they liked, since no promise rests on it and no file shows it."""
        return ()

    def words(self) -> Words:
        """The release in plain words."""
        ...

    def described(self) -> dict[str, Plain]:
        """The spec in exact JSON, from which its kind reads it back."""
        ...

    def room(self) -> int:
        """About how many bytes its files will take, from public numbers alone."""
        return 1 << 20

    def measure(self, data: Any, source: Source) -> Measurement:
        """Count exactly and draw. This alone sees data and randomness."""
        ...

    def present(self, measurement: Measurement) -> Result:
        """Pure post-processing of what was drawn. Integers that such a release cannot draw are refused with a
        CheckFailed."""
        ...

    def load(self, files: Files) -> Measurement:
        """What was drawn, from the published files; a CheckFailed if they are not files of such a release.

        Guarantee: for every measurement of this spec, loading the files of `present(measurement)` gives a measurement
        that presents the same files.
        """
        ...


# --- what only some kinds can do --------------------------------------------------------------------------------------


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
        """Whether they do."""
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
class Kind:
    """A kind of release: what it is called, what it can be asked, and how a spec is made of words or read back."""

    name: str  # what is typed
    wire: str  # what certificates and ledgers write, with a version: a change of meaning is a new one
    about: str  # help: one line, then paragraphs
    examples: tuple[str, ...]
    options: tuple[Option, ...]
    ask: Callable[..., Spec]  # words of `options`, with the person column under "person"
    read: Callable[[Mapping[str, Any]], Spec]  # of what `described` wrote; checks it as if somebody had asked for it
    data: str = TABLE  # what it is of, and so how that is opened
    compare: Callable[[Any], Comparison] | None = None  # a spec of this kind with what the papers would have done


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

    def __repr__(self) -> str:
        words = self.spec.words()
        promised = "; ".join(f"{step.conclusion} for {step.people}" for step in self.promises)
        rows = "written when it is saved" if is_deferred(self.result) else f"{len(self):,} rows"
        return f"<{words.entry}: {rows}; promised: {promised}>"

    def _repr_html_(self) -> str:
        if is_deferred(self.result):
            return f"<p>{html.escape(repr(self))}</p>"
        names, rows = self.sheet.schema.names, self.first()
        heads = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join(f"<tr>{''.join(_cell(row[name]) for name in names)}</tr>" for row in rows)
        more = f"<p>and {len(self) - len(rows):,} more rows</p>" if len(self) > len(rows) else ""
        promised = "".join(f"<li>{html.escape(f'{step.conclusion}, for {step.people}')}</li>" for step in self.promises)
        title = html.escape(self.spec.words().title)
        return (
            f"<h4>{title}</h4><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{more}"
            f"<ul>{promised}</ul>"
        )


def _cell(value: object) -> str:
    return f"<td>{'' if value is None else html.escape(str(value))}</td>"
