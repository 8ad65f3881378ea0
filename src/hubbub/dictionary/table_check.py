"""A table held against its data dictionary, for its steward alone: what is declared and is not so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hubbub.dictionary.dictionary import Dictionary, Field, held_as
from hubbub.tables.inspection import Cells, Persons
from hubbub.tables.schema import Schema


def held_specs(declared: Dictionary, schema: Schema) -> list[tuple[str, str]]:
    """The columns whose cells are looked at, each with the bins that every cell must be in."""
    found = [(each, held_as(each, schema)) for each in declared.fields if each.name in schema]
    return [(each.name, spec or _name_columns(each.name)) for each, spec in found if spec or each.required]


def _name_columns(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def held_keys(declared: Dictionary, schema: Schema) -> list[str]:
    """The columns in which no two rows have the same."""
    return [each.name for each in declared.fields if each.unique and each.name in schema]


def broken(declared: Dictionary, schema: Schema, cells: Sequence[Cells], keys: Sequence[Persons]) -> Iterator[str]:
    """One sentence for each thing that is declared and is not so."""
    names = [each.name for each in declared.fields]
    if absent := [name for name in names if name not in schema]:
        yield f"The dictionary lists {', '.join(absent)}, and the table has no such column."
    if more := [name for name in schema if name not in names]:
        yield f"The table has {', '.join(more)}, and the dictionary does not list it."
    for each in cells:
        field = declared.field(each.column)
        if field is not None:
            yield from _broken(field, each)
    for key in keys:
        if many := sum(people for rows, people in key.rows if rows > 1):
            yield f"{key.column}: each row should have its own, and {many:,} are in several rows."


def _broken(field: Field, cells: Cells) -> Iterator[str]:
    if field.required and cells.missing:
        yield f"{field.name}: {_cells(cells.missing)} missing, and the dictionary says that none is."
    if cells.unreadable:
        yield f"{field.name}: {_cells(cells.unreadable)} not written as the dictionary says."
    if cells.outside:
        yield f"{field.name}: {_cells(cells.outside)} none of the values that the dictionary allows."


def _cells(many: int) -> str:
    return "1 cell is" if many == 1 else f"{many:,} cells are"
