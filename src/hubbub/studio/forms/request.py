"""From a filled-in form to what a worker is handed, and what a page shows of it; for every kind of release alike."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hubbub import registry
from hubbub.charts.language import ENGLISH, check_language
from hubbub.dictionary.datapackage import NO_DICTIONARY, find
from hubbub.errors import WrongUse
from hubbub.opening import named_after
from hubbub.protocol.spec import BALLOTS, TABLE, Kind
from hubbub.studio.app_state import AppState
from hubbub.studio.ballots import EXAMPLE
from hubbub.studio.folder import free_name
from hubbub.studio.forms.bins import Column, columns
from hubbub.studio.forms.fields import NAMED, OPENING, READING, options_of
from hubbub.studio.forms.guided import question_of
from hubbub.studio.forms.misfilled import Misfilled
from hubbub.studio.forms.parts import options_from
from hubbub.studio.forms.series import SERIES, filled_in, is_series
from hubbub.tables.engine import Engine
from hubbub.tables.identity import Identity
from hubbub.tables.schema import Schema

FORMS = ("csv", "parquet", "xlsx")


def kind_of(name: str) -> Kind:
    """The kind of that name."""
    return SERIES if name == SERIES.name else registry.kind(name)


def is_guided(form: Mapping[str, str]) -> bool:
    """Whether a form was filled in by its parts, and not option by option."""
    return bool(form.get("guided") or form.get("question"))


def reading(form: Mapping[str, str], app_state: AppState) -> dict[str, Any]:
    """How a file is read, as far as it was said."""
    return {name: value for name, value in options_of(READING, form, app_state.folder).items() if value is not None}


def schema_of(app_state: AppState, form: Mapping[str, str]) -> Schema:
    """The columns of the file, which are public; the table is opened and not read."""
    from hubbub.engines.opening import open_source

    path = app_state.folder.file(form.get("file", ""))
    how = reading(form, app_state)
    second = app_state.folder.file(form["join"]) if form.get("join") else None
    on, named = form.get("on", ""), bool(form.get("join_named"))
    files = [each for each in (path, second) if each is not None]
    stats = [each.stat() for each in files]
    seen = [part for stat in stats for part in (stat.st_mtime_ns, stat.st_size)]
    key = ("schema", *map(str, files), *seen, on, str(named), *sorted(how.items()))

    def columns_of() -> Schema:
        first = open_source(str(path), **how)
        return first.columns() if second is None else _joined_columns(path, first, second, on, named, how)

    found = app_state.answers.answer(key, columns_of, _patiently())
    if found.error is not None:
        raise found.error
    if found.value is None:
        raise WrongUse("the columns of this file are still being read; ask again in a moment")
    return found.value


def _joined_columns(path: Path, first: Engine, second: Path, on: str, named: bool, how: Mapping[str, Any]) -> Schema:
    """The columns of a table and of a second one about the same people."""
    from hubbub.engines.opening import open_join, open_source

    if not on:
        raise Misfilled("on", "say by which column people are found again in the second table; choose one")
    written = {name: how[name] for name in ("delimiter", "encoding") if name in how}
    if not named and not open_source(str(second), **written).columns().public:
        raise Misfilled(
            "join_named", "the first line of the second table may be somebody's data; tick that it names the columns"
        )
    return open_join(str(path), first, str(second), on, **written).columns()


def _patiently() -> float:
    from hubbub.studio.answers import soon

    return soon(60)


def table_columns(app_state: AppState, form: Mapping[str, str]) -> tuple[Column, ...]:
    """The columns with what was filled in. The first line of a CSV may be data, and is shown once somebody says that it
    names the columns."""
    schema = schema_of(app_state, form)
    if not schema.public and not form.get("named"):
        raise WrongUse(
            "the first line of this file may name its columns, or may be somebody's data; say which, so that nothing "
            "is shown by mistake"
        )
    return columns(schema, form)


def identity_of(app_state: AppState, form: Mapping[str, str]) -> Identity | None:
    """What the file is, for the ledger; None where that is not known before it is opened."""
    from hubbub.engines.identity import of_files

    path = app_state.folder.file(form.get("file", ""))
    if path.suffix.lower() in (".duckdb", ".db", ".xlsx") or form.get("join"):
        return None
    seen = path.stat()
    key = ("identity", str(path), seen.st_mtime_ns, seen.st_size)
    return app_state.answers.answer(key, lambda: of_files([str(path)]), _patiently()).value


def dataset_of(form: Mapping[str, str]) -> str:
    """The people's name in the ledger."""
    return form.get("dataset", "").strip() or named_after(form.get("file", ""), form.get("table", "").strip() or None)


def request_of(app_state: AppState, kind: Kind, form: Mapping[str, str]) -> dict[str, Any]:
    """All that a release needs, as plain values; paths are real ones inside the folder."""
    file = form.get("file", "").strip()
    example = kind.data == BALLOTS and file == EXAMPLE
    path = file if example else str(app_state.folder.file(file))
    opening = options_of(OPENING[kind.data], form, app_state.folder)
    if kind.data == TABLE:
        opening = _who(form, opening)
    if is_guided(form):
        found = table_columns(app_state, form) if kind.data == TABLE else ()
        options = options_from(question_of(form), kind, form, found, app_state.folder)
    else:
        options = options_of(kind.options, form, app_state.folder)
    if kind.data == TABLE:  # a data dictionary beside the file is read here, so that a page shows what a worker does
        declared = find(path, opening.get("table"))
        options = declared.fill_options(kind.words, options, schema_of(app_state, form)) if declared.where else options
        opening = {**declared.open_words(opening), "dictionary": NO_DICTIONARY}
    dataset = options_of(NAMED, form, app_state.folder)["dataset"]
    if is_series(kind):  # its name is no name of people: who is in the table has one, as for every release
        dataset = dataset_of(form)
        options = filled_in(options, dataset, app_state.open_ledger)
    out = form.get("out", "").strip() or free_name(app_state.folder, f"{dataset_of(form)}-{kind.name}")
    folder = app_state.folder.new(out)
    form_of_file = form.get("form", "csv")
    if form_of_file not in FORMS:
        raise WrongUse("a release is written as csv, parquet or xlsx; choose one of them")
    return {
        "kind": kind.name,
        "file": file if example else app_state.folder.named(app_state.folder.file(file)),
        "path": path,
        "opening": opening,
        "words": options,
        "out": app_state.folder.named(folder),
        "place": str(folder),
        "dataset": dataset,
        "ledger": app_state.ledger_name,
        "form": form_of_file,
        "accept_weak": False,
        "date": form.get("date", "").strip() or None,
        "language": check_language(form.get("language", "").strip() or ENGLISH),
    }


def _who(form: Mapping[str, str], opening: dict[str, Any]) -> dict[str, Any]:
    """Who a person is: the guided form asks it once, as a column or as each row."""
    who = form.get("who")
    if who is None and not is_guided(form):
        return opening
    if who == "rows":
        return opening | {"person": None, "rows_are_people": True}
    if who is not None and who.startswith("column:"):
        return opening | {"person": who.removeprefix("column:"), "rows_are_people": False}
    raise Misfilled("who", "say who a person is: choose the column that says it, or that each row is another person")


def in_full(kind: Kind, given: Mapping[str, Any]) -> dict[str, Any]:
    """The words with the person column, as a kind is asked."""
    options = dict(given["words"])
    if kind.data == TABLE:
        options["person"] = given["opening"].get("person")
    return options
