"""A look at a table of a database, for its steward alone: the same as at a file, by queries that count where it is.

Text is read on this side, by the grammar that reads files. For a column with bins all texts come back, once each, as
they do for a release. For one without, at most a hundred thousand different texts: those with the least hashes, so that
they are like the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import pyarrow as pa

from hubbub.engines.arrow_columns import numbers
from hubbub.engines.duckdb.inspection import GROUPS, Relation
from hubbub.engines.sql import groups
from hubbub.engines.sql.database import Database
from hubbub.engines.sql.dialect import Field, Form, Part
from hubbub.engines.sql.queries import groups as grouped
from hubbub.engines.sql.queries import in_database, part, people_of
from hubbub.noise.source import Source
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Axis, Edges, Steps, Values
from hubbub.tables.engine import CountQuery, ExactCounts
from hubbub.tables.inspection import Cells, Persons
from hubbub.tables.schema import ColumnType

_TEXTS: Final = 100_000
_COLUMNS: Final = 200  # of one query


@dataclass(frozen=True, slots=True)
class InDatabase:
    """A table that stays where it is while it is looked at."""

    database: Database
    fields: Mapping[str, Field]
    count: Callable[[CountQuery, Source], ExactCounts]
    left_out: tuple[tuple[str, int], ...] = ()

    def rows(self) -> int:
        return self.database.fetch_numbers(grouped({}, self.database.people))[0]

    def persons(self, person: str) -> Persons:
        """Rows of nobody come as one group, with how many there are."""
        who = part(self.database.dialect, self.fields[person])
        each = f"SELECT CASE WHEN who IS NULL THEN 1 ELSE 0 END AS nobody, n AS g FROM ({self._people_of(who)}) AS p"
        sql = f"SELECT nobody, g, count(*) AS n FROM ({each}) AS p GROUP BY nobody, g"
        table = self._fetch(sql, {"nobody": Form.INTEGER, "g": Form.INTEGER})
        found = list(zip(*(numbers(column).tolist() for column in table.columns), strict=True))
        rows = tuple(sorted((of, many) for nobody, of, many in found if not nobody))
        return Persons(
            column=person,
            people=sum(many for _, many in rows),
            nobody=sum(of for nobody, of, _ in found if nobody),
            rows=rows,
        )

    def cells(self, spec: str, axis: Axis, rows: int) -> Cells:
        field, dialect = self.fields[axis.column], self.database.dialect
        if in_database(field, axis):
            assert isinstance(axis, Edges | Steps)
            return self._count_bins(spec, axis, field)
        handed = part(dialect, field, None if isinstance(axis, Values) else axis)
        engine = groups.register_groups(self._groups(handed), {"g": handed})
        here = replace(axis, column="g")
        found = Relation(engine.query, engine.sql, GROUPS).cells(spec, here, engine.column_types()["g"], rows)
        return replace(found, column=axis.column)

    def _count_bins(self, spec: str, axis: Edges | Steps, field: Field) -> Cells:
        """The database makes the bins, and tells what is missing and what is in none of them as two more."""
        bins = replace(axis, null=True, other=True)
        table = self._groups(part(self.database.dialect, field, bins))
        codes, many = numbers(table.column("g")), numbers(table.column("n"))
        missing, outside = (int(many[codes == len(axis) + more].sum()) for more in (0, 1))
        return Cells(column=axis.column, spec=spec, missing=missing, outside=outside)

    def every_column(self, rows: int) -> tuple[Cells, ...]:
        fields = list(self.fields.values())
        found: list[Cells] = []
        for start in range(0, len(fields), _COLUMNS):
            found += self._several(fields[start : start + _COLUMNS], rows)
        return tuple(found)

    def _several(self, fields: list[Field], rows: int) -> list[Cells]:
        """In one query how many cells are there, and how many values; then how text could be read."""
        dialect, parts, columns = self.database.dialect, [], []
        forms: dict[str, Form] = {}
        for i, field in enumerate(fields):
            each, name = part(dialect, field), f"g{i}"
            present = f"{name} IS NOT NULL"
            if field.kind is ColumnType.TEXT:
                broken = dialect.broken(name)
                present += f" AND {dialect.trim(name)} <> ''" + ("" if broken is None else f" AND NOT ({broken})")
            parts.append(f"{each.sql} AS {name}")
            columns += [f"count(CASE WHEN {present} THEN 1 END) AS t{i}", f"{dialect.different(name)} AS d{i}"]
            forms |= {f"t{i}": Form.INTEGER, f"d{i}": Form.INTEGER}
        inner = f"SELECT {', '.join(parts)} FROM {self.database.people}"
        table = self.database.fetch(f"SELECT {', '.join(columns)} FROM ({inner}) AS t", forms)
        counts = [int(numbers(column)[0]) for column in table.columns]
        found = []
        for field, filled, values in zip(fields, counts[::2], counts[1::2], strict=True):
            way, spelled = self._way(field) if filled else (None, ())
            found.append(Cells(column=field.name, missing=rows - filled, reads=way, values=values, spelled=spelled))
        return found

    def _way(self, field: Field) -> tuple[str | None, tuple[tuple[str, int], ...]]:
        """How text could be read, and how cells are spelled that look missing."""
        if field.kind is not ColumnType.TEXT:
            return None, ()
        dialect = self.database.dialect
        text = part(dialect, field)
        each = f"SELECT * FROM ({grouped({'g': text}, self.database.people)}) AS t WHERE g IS NOT NULL"
        table = self._fetch(f"{each} ORDER BY {dialect.sha256('g')} LIMIT {_TEXTS}", {"g": text.form})
        engine = groups.register_groups(table, {"g": text})
        relation, column = Relation(engine.query, engine.sql, GROUPS), engine.column_types()["g"]
        return relation.way(None, column)[0], relation.missing_spellings(column)

    def _people_of(self, who: Part) -> str:
        return people_of(who, self.database.people)

    def _groups(self, handed: Part) -> pa.Table:
        return self._fetch(grouped({"g": handed}, self.database.people), {"g": handed.form})

    def _fetch(self, sql: str, forms: Mapping[str, Form]) -> pa.Table:
        return self.database.fetch(sql, {**forms, "n": Form.INTEGER})
