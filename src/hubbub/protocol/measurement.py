"""What a release measured: the integers that mechanisms drew, and nothing else of the data.

::

    data -> measure: exact numbers -> release(mechanism, exact, source) -> Drawn -> Measurement
                                                     the release boundary           |
            present: estimates, intervals, sheets, sentences, drawing  <------------+      (pure post-processing)

A :class:`Measurement` holds :class:`Drawn` values only, and only two functions make a Drawn value: :func:`release`,
the release boundary, which runs a mechanism on exact numbers, and :func:`loaded`, which reads back what was published.
So whatever a reader sees is a function of what mechanisms drew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.errors import CheckFailed
from hubbub.runtime.progress import working
from hubbub.serialization.arrow import WIDE, column_integers, known

if TYPE_CHECKING:
    from hubbub.noise.source import Source, Words

LABELS: Final = pa.dictionary(pa.int32(), pa.string())
"""The type of labels: those of found bins, and what a mechanism says it did to a number."""

WHOLE: Final = (pa.int64(), WIDE)
"""The types of whole numbers."""

Exact = TypeVar("Exact", contravariant=True)

_DOOR: Final = object()


class Mechanism(Protocol[Exact]):
    """A randomised function of exact numbers: the one thing that stands between the data and what is published.

    A mechanism is a frozen value. `schema` declares what it draws: columns of whole numbers (of 64 bits, or `WIDE` ones
    where declared ranges are too wide for that), and of labels where the labels of found bins, or what was done to a
    number, are part of what it publishes. No column holds a float.
    """

    @property
    def schema(self) -> pa.Schema:
        """The columns that it draws."""
        ...

    def draw(self, exact: Exact, source: Source) -> pa.RecordBatch:
        """One draw, under the schema. Its privacy is what the promises of the release rest on."""
        ...


@final
class Drawn:
    """What a mechanism drew: one record batch of integers and labels. Only :func:`release` and :func:`loaded` make
    one."""

    __slots__ = ("batch",)
    batch: pa.RecordBatch

    def __init__(self, batch: pa.RecordBatch, *, door: object) -> None:
        if door is not _DOOR:
            raise TypeError("only release(mechanism, exact, source) and loaded(schema, batch) make a Drawn value")
        self.batch = batch

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Drawn) and bool(self.batch.equals(other.batch))

    def __hash__(self) -> int:
        return hash(tuple(map(str, self.batch.to_pylist())))

    def integers(self, name: str) -> NDArray[Any]:
        """A column of integers, as an array that cannot be written to; those that need not fit 64 bits are Python's."""
        found = column_integers(self.batch.column(name))
        found.flags.writeable = False
        return found

    def labels(self, name: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """A column of labels: for each row the number of its label (-1 where it is missing), and the labels."""
        column = self.batch.column(name)
        which, valid = column.indices, known(column.indices)
        found = np.frombuffer(which.buffers()[1], dtype=np.int32)[which.offset : which.offset + len(which)]
        numbers = found if valid is None else np.where(valid, found, -1)
        return numbers.astype(np.int64), tuple(column.dictionary.to_pylist())

    def texts(self, name: str) -> list[str | None]:
        """A column of labels, written out."""
        which, labels = self.labels(name)
        every = (*labels, None)
        return [every[i] for i in which.tolist()]


@final
class Measurement:
    """Everything that one release drew: Drawn values by name, and nothing beside them."""

    __slots__ = ("_drawn",)

    def __init__(self, **drawn: Drawn) -> None:
        for name, value in drawn.items():
            if type(value) is not Drawn:
                raise TypeError(f"{name} was not drawn; a measurement holds what came out of release(...) only")
        self._drawn = dict(drawn)

    def __getitem__(self, name: str) -> Drawn:
        return self._drawn[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._drawn)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measurement) and self._drawn == other._drawn

    def __hash__(self) -> int:
        return hash(tuple(self._drawn.items()))


def release(mechanism: Mechanism[Exact], exact: Exact, source: Source) -> Drawn:
    """Run a mechanism on exact numbers: the release boundary between the data and what is published.

    Guarantee: provenance and types, and nothing more. What comes out is what `mechanism.draw` drew, under the schema
    that the mechanism declares: integers and labels. Nothing else that depends on the data can become part of a
    measurement. That the draw is private is not checked here: it rests on `mechanism.draw`.
    """
    with working("Drawing noise"):
        batch = source.through(mechanism, exact) if isinstance(source, Rehearsal) else mechanism.draw(exact, source)
    return _checked(mechanism.schema, batch)


def loaded(schema: pa.Schema, batch: pa.RecordBatch) -> Drawn:
    """What a published file says was drawn, under the mechanism's own schema; a CheckFailed if it has another."""
    try:
        return _checked(schema, batch)
    except TypeError:
        raise CheckFailed("its numbers are none that such a release draws") from None


def _checked(schema: pa.Schema, batch: pa.RecordBatch) -> Drawn:
    for field in schema:
        if field.type not in (*WHOLE, LABELS):
            raise TypeError(f"a mechanism draws whole numbers and labels, and {field.name} is {field.type}")
    if batch.schema != schema:
        raise TypeError("a mechanism drew other columns than it declares")
    if any(field.type in WHOLE and batch.column(field.name).null_count for field in schema):
        raise TypeError("a mechanism drew no number where it declares one")
    return Drawn(batch, door=_DOOR)


class Rehearsal:
    """A source for tests of the boundary: it notes every exact input with its mechanism, and what was drawn; given a
    `script`, it hands that out in order instead of drawing. It is not secure, so no release accepts it."""

    def __init__(self, inner: Source, script: Sequence[Drawn] | None = None) -> None:
        self.inner = inner
        self.calls: list[tuple[Mechanism[Any], Any]] = []
        self.drawn: list[pa.RecordBatch] = []
        self._script = None if script is None else list(script)

    def words(self, n: int) -> Words:
        return self.inner.words(n)

    def through(self, mechanism: Mechanism[Any], exact: Any) -> pa.RecordBatch:
        """One call of :func:`release`."""
        self.calls.append((mechanism, exact))
        batch = mechanism.draw(exact, self.inner) if self._script is None else self._script.pop(0).batch
        self.drawn.append(batch)
        return batch
