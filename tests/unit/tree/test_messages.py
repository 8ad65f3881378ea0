"""Every message that is written out in the source, in one catalogue: short, one sentence, in words that users know.

A message names a parameter between backquotes, so that Python and the command line each spell it their way; flags stand
only in commands, and in modules of the command line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from hubbub import registry
from hubbub.errors import in_python, in_shell
from hubbub.opening import open as open_table
from hubbub.protocol.option import options_of

SOURCE = Path(__file__).parents[3] / "src"
ERRORS = ("WrongUse", "Refused", "CheckFailed", "FloatRefused")
LONGEST = 330  # signs, what is filled in aside
PRIVATE = re.compile(r"\b(vouch\w*|told (?!how)|axis|axes|payload|wire|adjacency|engine|tuple|dataclass)\b")
FLAG = re.compile(r"(?<![\w`-])--[a-z][a-z-]+")
COMMAND = re.compile(r"hubbub [a-z]+[^;,]*$")


class Message(NamedTuple):
    place: str
    text: str


def _text(said: ast.expr) -> str | None:
    if isinstance(said, ast.Constant) and isinstance(said.value, str):
        return said.value
    if isinstance(said, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in said.values)
    return None


@cache
def messages() -> tuple[Message, ...]:
    return tuple(_messages())


def _messages() -> Iterator[Message]:
    for file in sorted(SOURCE.rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if any(f"{error}(" in source for error in ERRORS) else ():
            made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS
            text = _text(node.args[0]) if made and isinstance(node, ast.Call) and node.args else None
            if text is not None:
                yield Message(f"{file.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}", text)


def parameters() -> set[str]:
    """Those of two words and more, which nobody writes without meaning the parameter."""
    kinds = (option for name in registry.names() for option in registry.kind(name).options)
    found = {option.name for option in (*kinds, *options_of(open_table)) if "_" in option.name}
    return found - {"zero_knowledge"}  # which is also a promise, and a key of a file


def test_there_are_many() -> None:
    assert len(messages()) > 1000


def wrong(rule: str) -> list[Message]:
    return [message for message in messages() if not RULES[rule](message)]


def _names_flags_as_the_front_end_does(message: Message) -> bool:
    if message.place.startswith("hubbub/cli/"):
        return True
    return all(COMMAND.search(message.text[: found.start()]) for found in FLAG.finditer(message.text))


def _marks_parameters(message: Message) -> bool:
    if message.place.startswith("hubbub/private_sql/"):  # OPTIONS of a query are spelt as in the query, wherever it is
        return True
    names = "|".join(sorted(f"{name}|{name.replace('_', '-')}" for name in parameters()))
    return re.search(rf"(?<![\w`-])({names})(?![\w-])", message.text) is None


RULES: dict[str, Callable[[Message], bool]] = {
    "it is short": lambda message: len(message.text) <= LONGEST,
    "it is one line and no full stop ends it": lambda message: "\n" not in message.text and message.text[-1:] != ".",
    "it has no private vocabulary": lambda message: PRIVATE.search(message.text) is None,
    "flags stand in commands alone": _names_flags_as_the_front_end_does,
    "parameters are marked": _marks_parameters,
    "no mark is left, however it is spelt": lambda message: (
        "`" not in in_python(message.text) and "`" not in in_shell(message.text)
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_of_every_message(rule: str) -> None:
    assert wrong(rule) == []
