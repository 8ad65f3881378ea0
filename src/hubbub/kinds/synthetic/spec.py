"""Invented rows as a release: all tables by up to W columns with noise, a model fitted to them, and rows of the model.

Everything that is promised is promised of the tables (`tables`, a release of a class of queries), which is all that sees the
data. The model and the rows are worked out from these and from a public seed that is drawn with them: they tell nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

from hubbub.errors import CheckFailed
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.people import People
from hubbub.kinds.queries.spec import Queries
from hubbub.kinds.queries.spec import read as read_queries
from hubbub.kinds.synthetic import mechanism, result
from hubbub.protocol.check import Check
from hubbub.protocol.spec import CompositionInfo, Kind, Spec
from hubbub.query_classes.classes import ColumnCells
from hubbub.query_classes.marginals.junction_tree import MOST_ROWS
from hubbub.query_classes.table_method import TableMethod
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import Plain
from hubbub.serialization.exact_json import restored
from hubbub.tables.schema import Schema

_BYTES_PER_ROW = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthetic(Spec):
    """Tables with noise, and `size` invented rows; about as many as there are people where that is not said.

    Guarantee: that of the tables. Nothing else of the data is looked at.
    """

    kind: ClassVar[Kind]  # set where the kind is made, in hubbub.kinds.synthetic.request
    tables: Queries
    size: int | None = None

    @property
    def queries(self) -> ColumnCells:
        """The class of all tables."""
        assert isinstance(self.tables.queries, ColumnCells)
        return self.tables.queries

    @property
    def method(self) -> TableMethod:
        """How the tables are drawn."""
        assert isinstance(self.tables.method, TableMethod)
        return self.tables.method

    @property
    def people(self) -> People:
        return self.tables.people

    def with_schema(self, schema: Schema) -> Self:
        return replace(self, tables=self.tables.with_schema(schema))

    def promises(self) -> tuple[Derivation, ...]:
        """Guarantee: those of the tables: rows are a function of what these publish and of words that hide nobody."""
        return self.tables.promises()

    def composition(self) -> CompositionInfo:
        return self.tables.composition()

    def checks(self) -> Iterator[Check]:
        return self.tables.checks()

    def unverified_fields(self) -> tuple[str, ...]:
        return (
            *self.tables.unverified_fields(),
            "which tables the model is made of: no promise rests on it",
            "the seed, if somebody drew until they liked the rows: no promise rests on it",
        )

    def to_json(self) -> dict[str, Plain]:
        return {"tables": self.tables.to_json(), "size": self.size}

    def size_hint(self) -> int:
        return 2 * self.tables.size_hint() + _BYTES_PER_ROW * (self.size or 100_000)

    describe = result.describe
    measure = mechanism.measure
    present = mechanism.present
    load = mechanism.load


def read(given: Mapping[str, Any]) -> Synthetic:
    """The release that a description says, checked as if somebody had asked for it."""
    spec = Synthetic(tables=read_queries(given["tables"]), size=restored(int | None, given["size"]))
    queries, method = spec.tables.queries, spec.tables.method
    fits = isinstance(queries, ColumnCells) and queries.at_most and isinstance(method, TableMethod)
    if not fits or spec.tables.request.people is not None or spec.tables.consistent:
        raise CheckFailed(
            "the tables of the description are none that rows can be made of; get the original certificate"
        )
    if spec.size is not None and not 1 <= spec.size <= MOST_ROWS:
        raise CheckFailed("the number of invented rows is none; get the original certificate")
    return spec
