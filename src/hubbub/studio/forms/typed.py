"""What was filled in, as the command and the lines of Python that do the same. Run in the folder, they give the same
certificate, but for its digests, nonces and signature."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from hubbub.charts.language import ENGLISH
from hubbub.kinds.table import Table
from hubbub.protocol.option import DECLARED, Option
from hubbub.protocol.spec import BALLOTS, GRAPH, TABLE, Kind
from hubbub.studio.folder import Folder
from hubbub.studio.forms.fields import FILE, NAMED, OPENING, WHO
from hubbub.studio.forms.series import OPTIONS, SERIES, is_series, kind_of_counts
from hubbub.tables.generalization import split_list

_BEFORE: Final[dict[str, tuple[str, ...]]] = {BALLOTS: ("vote", "publish")}
_WORDS: Final = "words.toml"  # where a command finds what the report says of itself
_FORMAT: Final[dict[str, str]] = {BALLOTS: "--file-format"}


def command(kind: Kind, request: Mapping[str, Any], folder: Folder) -> str:
    """As it is typed in the folder."""
    if is_series(kind):
        return _start(request, folder)
    file = f"./{request['file']}" if request["file"].startswith("-") else request["file"]
    period = tuple(request[name] for name in ("series", "period") if name in request)
    verb = ("series", "publish", *period) if period else _BEFORE.get(kind.data, ("release", kind.name))
    arguments = ["hubbub", *verb, file]
    options = {**request["opening"], **request["words"]}
    opening = tuple(option for option in OPENING[kind.data] if option.name not in DECLARED)
    for option in (*opening, *kind.options, *(() if period else NAMED)):
        value = request["dataset"] if option.name == "dataset" else options.get(option.name)
        arguments += _typed(option, value, folder)
    if request["form"] != "csv":
        arguments += [_FORMAT.get(kind.data, "--format"), request["form"]]
    language = request.get("language", ENGLISH)
    if language != ENGLISH:
        arguments += ["--words", _WORDS]
    if request["accept_weak"]:
        arguments.append("--yes")
    if request["ledger"] is not None:
        arguments += ["--ledger", _near(request["ledger"], folder)]
    lines = [*_describe_command(kind, request, folder), shlex.join([*arguments, "--out", request["out"]])]
    words = shlex.quote(f'language = "{language}"')
    return "\n".join(lines if language == ENGLISH else [f"echo {words} > {_WORDS}", *lines])


def _describe_command(kind: Kind, request: Mapping[str, Any], folder: Folder) -> list[str]:
    """The command that writes down how the table is read, if it is not as usual."""
    reading = [option for option in OPENING[kind.data] if option.name in DECLARED]
    words = [part for option in reading for part in _typed(option, request["opening"].get(option.name), folder)]
    table = request["opening"].get("table")
    where = ["--table", table] if table else []
    return [shlex.join(["hubbub", "describe", request["file"], *where, *words])] if words else []


def _start(request: Mapping[str, Any], folder: Folder) -> str:
    """The command that starts a series; each of its periods has one of its own."""
    words = {**request["words"], **request["opening"], "dataset": request["dataset"]}
    file = f"./{request['file']}" if request["file"].startswith("-") else request["file"]
    arguments = ["hubbub", "series", "start", words["name"], file, "--kind", kind_of_counts(words.get("by", ()))]
    reading = tuple(option for option in OPENING[TABLE] if option.name == "table")
    for option in (*OPTIONS, *WHO, *reading, *NAMED):
        if option.name != "name":
            arguments += _typed(replace(option, default=None), words.get(option.name), folder)
    if request["ledger"] is not None:
        arguments += ["--ledger", _near(request["ledger"], folder)]
    line = shlex.join([*arguments, *(["--yes"] if request["accept_weak"] else [])])
    return "\n".join([*_describe_command(SERIES, request, folder), line])


def _python_of_series(request: Mapping[str, Any], folder: Folder) -> str:
    """Its start, or one of its periods."""
    named = {name: request[name] for name in ("dataset", "ledger") if request[name] is not None}
    named |= {"ledger": _near(named["ledger"], folder)} if "ledger" in named else {}
    person = {name: value for name, value in request["opening"].items() if name == "person" and value is not None}
    if "period" not in request:
        words = {"kind": kind_of_counts(request["words"].get("by", ())), **person, **request["words"], **named}
        words |= {"accept_weak": True} if request["accept_weak"] else {}
        who = person or {"rows_are_people": True}
        return "\n".join(
            (
                "import hubbub",
                "from hubbub import series",
                "",
                f"people = hubbub.open({_call(request['file'], who | named)})",
                f"series.start({words.pop('name')!r}, people.engine, reading=people.reading, {_given(words)})",
            )
        )
    ledger = {"ledger": named["ledger"]} if "ledger" in named else {}
    ledger |= {name: True for name in ("one_row_per_person",) if request["words"].get(name)}
    drawn = f"people.engine, {request['series']!r}, {_call(request['period'], ledger)}"
    return "\n".join(
        (
            "import hubbub",
            "from hubbub import series",
            "",
            f"people = hubbub.open({_call(request['file'], person | named)})",
            f"release = series.release({drawn}, reading=people.reading)",
            f"release.save({request['out']!r})",
        )
    )


def _typed(option: Option, value: Any, folder: Folder) -> list[str]:
    flag = f"--{option.name.replace('_', '-')}"
    if value in (None, False, (), []) or value == option.default:
        return []
    if value is True:
        return [flag]
    if option.metavar == FILE:
        return [flag, _near(value, folder)]
    if option.many:
        return [part for each in value for part in (flag, each)]
    return [flag, *value] if option.parts > 1 else [flag, str(value)]


def _near(path: str, folder: Folder) -> str:
    file = Path(path)
    return folder.named(file) if file.is_relative_to(folder.root) else path


def python(kind: Kind, request: Mapping[str, Any], folder: Folder) -> str:
    """As it is written in Python, by the methods that the documentation teaches."""
    if is_series(kind) or "series" in request:
        return _python_of_series(request, folder)
    options = {
        option.name: value
        for option in kind.options
        if (value := request["words"].get(option.name)) not in (None, False, (), []) and value != option.default
    }
    opening = {
        option.name: _near(value, folder) if option.metavar == FILE else value
        for option in OPENING[kind.data]
        if (value := request["opening"].get(option.name)) not in (None, False, (), []) and value != option.default
    }
    for name in ("dataset", "ledger"):
        if request[name] is not None:
            opening[name] = request[name] if name == "dataset" else _near(request[name], folder)
    if kind.data == BALLOTS:
        return ""
    if "columns" in opening:
        opening["columns"] = opening["columns"].split(",")
    opener = "open_graph" if kind.data == GRAPH else "open"
    person = {"person": opening["person"]} if kind.data != GRAPH and "person" in opening else {}
    saved = _call(request["out"], {} if request["form"] == "csv" else {"form": request["form"]})
    lines, imported, written = ["import hubbub"], [], f"release.save({saved})"
    if (current_language := request.get("language", ENGLISH)) != ENGLISH:
        imported.append("from hubbub.report.heading import Heading")
        written = f"hubbub.save(release, {saved}, heading=Heading(language={current_language!r}))"
    weak = {"accept_weak": True} if request["accept_weak"] else {}
    opened = f"people = hubbub.{opener}({_call(request['file'], opening)})"
    if kind.data == TABLE and (method := _method(kind, options)) is not None:
        return "\n".join(
            (*lines, *imported, "", opened, f"release = people.{kind.name}({_given(method | weak)})", written)
        )
    return "\n".join(
        (
            *lines,
            "from hubbub import registry",
            *imported,
            "",
            opened,
            f"asked = registry.kind({kind.name!r}).from_options({_given(person | options)})",
            f"release = people.publish({', '.join(filter(None, ('asked', _given(weak))))})",
            written,
        )
    )


def _method(kind: Kind, options: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the method of a table takes for these options; None where there is no such method."""
    method = getattr(Table, kind.name, None)
    if method is None:
        return None
    renamed = {"of" if name == "class" else name: value for name, value in options.items()}
    if isinstance(renamed.get("columns"), str):
        renamed["columns"] = tuple(split_list(renamed["columns"]))
    taken = set(inspect.signature(method).parameters)
    return renamed if set(renamed) <= taken else None


def _call(first: str, given: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (repr(first), _given(given))))


def _given(options: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}={list(value) if isinstance(value, tuple) else value!r}" for name, value in options.items()
    )
