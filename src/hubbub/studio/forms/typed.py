"""What was filled in, as the command and the lines of Python that do the same. Run in the folder, they give the same
certificate, but for its digests, nonces and signature."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hubbub.protocol.option import Option
from hubbub.protocol.spec import BALLOTS, GRAPH, Kind
from hubbub.studio.folder import Folder
from hubbub.studio.forms.fields import FILE, NAMED, OPENING

_BEFORE: Final[dict[str, tuple[str, ...]]] = {BALLOTS: ("vote", "publish")}
_FORMAT: Final[dict[str, str]] = {BALLOTS: "--file-format"}


def command(kind: Kind, asked: Mapping[str, Any], folder: Folder) -> str:
    """As it is typed in the folder."""
    file = f"./{asked['file']}" if asked["file"].startswith("-") else asked["file"]
    words = ["hubbub", *_BEFORE.get(kind.data, ("release", kind.name)), file]
    said = {**asked["opening"], **asked["words"]}
    for option in (*OPENING[kind.data], *kind.options, *NAMED):
        value = asked["dataset"] if option.name == "dataset" else said.get(option.name)
        words += _typed(option, value, folder)
    if asked["form"] != "csv":
        words += [_FORMAT.get(kind.data, "--format"), asked["form"]]
    if asked["accept_weak"]:
        words.append("--yes")
    if asked["ledger"] is not None:
        words += ["--ledger", _near(asked["ledger"], folder)]
    return shlex.join([*words, "--out", asked["out"]])


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
    place = Path(path)
    return folder.named(place) if place.is_relative_to(folder.root) else path


def python(kind: Kind, asked: Mapping[str, Any], folder: Folder) -> str:
    """As it is written in Python."""
    said = {
        option.name: value
        for option in kind.options
        if (value := asked["words"].get(option.name)) not in (None, False, (), []) and value != option.default
    }
    opening = {
        option.name: value
        for option in OPENING[kind.data]
        if (value := asked["opening"].get(option.name)) not in (None, False) and value != option.default
    }
    for name in ("dataset", "ledger"):
        if asked[name] is not None:
            opening[name] = asked[name] if name == "dataset" else _near(asked[name], folder)
    if kind.data == BALLOTS:
        return ""
    if "columns" in opening:
        opening["columns"] = opening["columns"].split(",")
    opener = "open_graph" if kind.data == GRAPH else "open"
    person = {"person": opening["person"]} if kind.data != GRAPH and "person" in opening else {}
    lines = [
        "import hubbub",
        "from hubbub import registry",
        "",
        f"people = hubbub.{opener}({_call(asked['file'], opening)})",
        f"asked = registry.kind({kind.name!r}).from_options({_given(person | said)})",
        f"made = people.publish(asked{', accept_weak=True' if asked['accept_weak'] else ''})",
        f"hubbub.save(made, {_call(asked['out'], {} if asked['form'] == 'csv' else {'form': asked['form']})})",
    ]
    return "\n".join(lines)


def _call(first: str, given: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (repr(first), _given(given))))


def _given(words: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={list(value) if isinstance(value, tuple) else value!r}" for name, value in words.items())
