"""Which tests run which functions: a fault is then shown only to the tests that can see it.

Written down once for each file of tests, and anew when its text has changed; a function is named by its module and its
qualified name, so that the list outlives changes of other lines.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType
from typing import Final, NamedTuple

import pytest
from _pytest.runner import runtestprotocol

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCE: Final = ROOT / "src" / "hubbub"
FAR: Final = 3  # times as long counts a test of another folder


class Ran(NamedTuple):
    """A test that passed: how long it took, and what it called."""

    test: str
    seconds: float
    called: frozenset[str]
    digest: str = ""

    @property
    def file(self) -> str:
        return self.test.partition("::")[0]


def digest(file: str) -> str:
    """By which it is known that a file of tests has not changed."""
    path = ROOT / file
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else ""


def look(items: Sequence[pytest.Item], out: Path, afresh: Callable[[], None]) -> None:
    """Run tests and write a line for each that passes. What functions remember is forgotten before each file."""
    for _, group in groupby(items, lambda item: item.path):
        afresh()
        tests = list(group)
        known = digest(tests[0].nodeid.partition("::")[0])
        for item, after in zip(tests, (*tests, None)[1:], strict=True):
            _look_at(item, after, out, known)


def _look_at(item: pytest.Item, after: pytest.Item | None, out: Path, known: str) -> None:
    seen = set[CodeType]()

    def note(frame: FrameType, event: str, _: object) -> None:
        seen.add(frame.f_code)

    begun = time.process_time()
    sys.settrace(note)
    try:
        passed = all(report.passed for report in runtestprotocol(item, log=False, nextitem=after))
    finally:
        sys.settrace(None)
    if passed:
        _write(out, item.nodeid, time.process_time() - begun, seen, known)


def _write(out: Path, test: str, seconds: float, seen: Iterable[CodeType], known: str) -> None:
    inside = str(SOURCE)
    called = sorted({_name(code) for code in seen if code.co_filename.startswith(inside)})
    line = json.dumps([test, round(seconds, 3), called, known]) + "\n"
    handle = os.open(out, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, line.encode())
    os.close(handle)


def _name(code: CodeType) -> str:
    """``guarantees/implications.py:Group.together``: what a function holds inside belongs to it."""
    return f"{Path(code.co_filename).relative_to(SOURCE)}:{code.co_qualname.split('.<locals>')[0]}"


def read(out: Path) -> list[Ran]:
    """What is known of the files as they are now."""
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    every = {
        test: Ran(test, seconds, frozenset(called), known) for test, seconds, called, known in map(json.loads, lines)
    }
    now = {file: digest(file) for file in {each.file for each in every.values()}}
    return [each for each in every.values() if each.digest == now[each.file]]


def function_at(source: str, line: int) -> str:
    """The qualified name of the outermost function around a line; empty where a module or class is made."""
    return next(_around(ast.parse(source).body, line, ""), "")


def _around(body: list[ast.stmt], line: int, before: str) -> Iterator[str]:
    for node in body:
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            if isinstance(node, ast.FunctionDef):
                yield before + node.name
            elif isinstance(node, ast.ClassDef):
                yield from _around(node.body, line, f"{before}{node.name}.")


def able(ran: Iterable[Ran], module: str, function: str, seconds: float) -> list[Ran]:
    """Tests that call a function, the nearest and quickest first, up to so many seconds; all of a module where it is made."""
    wanted = f"{module}:{function}"
    folder = f"tests/unit/{module.partition('/')[0]}/"
    own = [each for each in ran if _calls(each, wanted, exactly=bool(function))]
    own.sort(key=lambda each: each.seconds * (1 if each.test.startswith(folder) else FAR))
    chosen, spent = list[Ran](), 0.0
    for each in own:
        spent += each.seconds
        if chosen and spent > seconds:
            break
        chosen.append(each)
    return chosen


def _calls(each: Ran, wanted: str, *, exactly: bool) -> bool:
    return wanted in each.called if exactly else any(name.startswith(wanted) for name in each.called)
