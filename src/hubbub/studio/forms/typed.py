"""What was filled in, as the command and the lines of Python that do the same. Run in the folder, they give the same
certificate, but for its digests, nonces and signature."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hubbub.kinds.table import Table
from hubbub.protocol.option import Option
from hubbub.protocol.spec import BALLOTS, GRAPH, TABLE, Kind
from hubbub.studio.folder import Folder
from hubbub.studio.forms.fields import FILE, NAMED, OPENING
from hubbub.tables.generalization import split

_BEFORE: Final[dict[str, tuple[str, ...]]] = {BALLOTS: ("vote", "publish")}
_FORMAT: Final[dict[str, str]] = {BALLOTS: "--file-format"}


def command(kind: Kind, request: Mapping[str, Any], folder: Folder) -> str:
    """As it is typed in the folder."""
    file = f"./{request['file']}" if request["file"].startswith("-") else request["file"]
    arguments = ["hubbub", *_BEFORE.get(kind.data, ("release", kind.name)), file]
    options = {**request["opening"], **request["words"]}
    for option in (*OPENING[kind.data], *kind.options, *NAMED):
        value = request["dataset"] if option.name == "dataset" else options.get(option.name)
        arguments += _typed(option, value, folder)
    if request["form"] != "csv":
        arguments += [_FORMAT.get(kind.data, "--format"), request["form"]]
    if request["accept_weak"]:
        arguments.append("--yes")
    if request["ledger"] is not None:
        arguments += ["--ledger", _near(request["ledger"], folder)]
    return shlex.join([*arguments, "--out", request["out"]])


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
    options = {
        option.name: value
        for option in kind.options
        if (value := request["words"].get(option.name)) not in (None, False, (), []) and value != option.default
    }
    opening = {
        option.name: value
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
    weak = {"accept_weak": True} if request["accept_weak"] else {}
    opened = f"people = hubbub.{opener}({_call(request['file'], opening)})"
    if kind.data == TABLE and (method := _method(kind, options)) is not None:
        return "\n".join(
            (
                "import hubbub",
                "",
                opened,
                f"release = people.{kind.name}({_given(method | weak)})",
                f"release.save({saved})",
            )
        )
    return "\n".join(
        (
            "import hubbub",
            "from hubbub import registry",
            "",
            opened,
            f"asked = registry.kind({kind.name!r}).from_options({_given(person | options)})",
            f"release = people.publish({', '.join(filter(None, ('asked', _given(weak))))})",
            f"release.save({saved})",
        )
    )


def _method(kind: Kind, options: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the method of a table takes for these options; None where there is no such method."""
    method = getattr(Table, kind.name, None)
    if method is None:
        return None
    renamed = {"of" if name == "class" else name: value for name, value in options.items()}
    if isinstance(renamed.get("columns"), str):
        renamed["columns"] = tuple(split(renamed["columns"]))
    taken = set(inspect.signature(method).parameters)
    return renamed if set(renamed) <= taken else None


def _call(first: str, given: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (repr(first), _given(given))))


def _given(options: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}={list(value) if isinstance(value, tuple) else value!r}" for name, value in options.items()
    )
