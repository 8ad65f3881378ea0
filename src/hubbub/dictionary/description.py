"""A first data dictionary of a table, from the names and the types of its columns; what only data could say is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hubbub.tables.schema import ColumnType, Schema, unnamed_person

_TYPES: Final = {
    ColumnType.TEXT: "string",
    ColumnType.INTEGER: "integer",
    ColumnType.DECIMAL: "number",
    ColumnType.FLOAT: "number",
    ColumnType.DATE: "date",
    ColumnType.BOOLEAN: "boolean",
    ColumnType.OTHER: "any",
}


def describe(
    schema: Schema, *, name: str, path: str | None, public: Mapping[str, Sequence[str]] = {}
) -> dict[str, Any]:
    """A Data Package of one table, with questions where a steward has to say something.

    `public` has the values of columns whose values are declared to be public.

    Guarantee: without `public` it is a function of the schema and of the names alone.
    """
    questions = [_who(schema)]
    fields = []
    for column, column_type in schema.items():
        field: dict[str, Any] = {"name": column, "type": _TYPES[column_type]}
        if column in public:
            field |= {"constraints": {"enum": list(public[column])}, "hubbub": {"public": True}}
        elif asked := _question(column_type):
            field["hubbub"] = {"questions": [asked]}
        fields.append(field)
    questions.append("Which cells mean that something is missing? List them as missingValues of the schema.")
    resource: dict[str, Any] = {"name": name}
    if path is not None:
        resource["path"] = path
    resource |= {
        "schema": {"fields": fields, "missingValues": [""]},
        "hubbub": {"questions": questions},
    }
    return {"name": name, "resources": [resource]}


def _who(schema: Schema) -> str:
    named = unnamed_person(schema)
    may = f" It may be {named}." if named else ""
    return f"Who is a person? Say person: the column that says it; or rows_are_people: true.{may}"


def _question(column_type: ColumnType) -> str:
    if column_type is ColumnType.TEXT:
        return (
            "Is it a number or a date? Then change its type, and say its format. Which values can it have? List those "
            "that are public as constraints.enum."
        )
    if column_type in (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT):
        return (
            "Between which numbers can it lie, by what it means? Say constraints.minimum and maximum, the step in which "
            "it counts, and its bins, like 0..90:10."
        )
    return (
        "Which periods are public? Say its bins, like month:2024-01..2024-12." if column_type is ColumnType.DATE else ""
    )


def package_text(package: Mapping[str, Any]) -> str:
    """As a file."""
    return json.dumps(package, indent=2, ensure_ascii=False) + "\n"
