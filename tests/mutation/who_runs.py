"""Which tests run which functions: a fault is then shown only to the tests that can see it.

Written down once by running the tests with :class:`Calls`; a function is named by its module and its qualified name, so
that the list outlives changes of other lines.
"""

from __future__ import annotations

import ast
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCE: Final = ROOT / "src" / "hubbub"


class Ran(NamedTuple):
    """A test that passed: how long it took, and what it called."""

    test: str
    seconds: float
    called: frozenset[str]


class Calls:
    """A plugin that writes a line for each test that passes."""

    def __init__(self, out: Path) -> None:
        self._out, self._seen, self._failed = out, set[CodeType](), False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._seen, self._failed, begun = set(), False, time.process_time()
        sys.setprofile(self._note)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            if not self._failed:
                self._write(item.nodeid, time.process_time() - begun)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed = self._failed or not report.passed

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self._seen.add(frame.f_code)

    def _write(self, test: str, seconds: float) -> None:
        inside = str(SOURCE)
        called = sorted({_name(code) for code in self._seen if code.co_filename.startswith(inside)})
        with self._out.open("a", encoding="utf-8") as file:
            file.write(json.dumps([test, round(seconds, 3), called]) + "\n")


def _name(code: CodeType) -> str:
    """``guarantees/groups.py:Group.together``: what a function holds inside belongs to it."""
    return f"{Path(code.co_filename).relative_to(SOURCE)}:{code.co_qualname.split('.<locals>')[0]}"


def read(out: Path) -> list[Ran]:
    lines = out.read_text(encoding="utf-8").splitlines()
    return [Ran(test, seconds, frozenset(called)) for test, seconds, called in map(json.loads, lines)]


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


def able(ran: list[Ran], module: str, function: str, seconds: float, files: int) -> list[str]:
    """Tests that call a function, the quickest first, of so many files and seconds; where a module is made, all of it."""
    wanted = f"{module}:{function}"
    own = [each for each in ran if _calls(each, wanted, exactly=bool(function))]
    chosen, seen, spent = list[str](), set[str](), 0.0
    for each in sorted(own, key=lambda each: each.seconds):
        spent, seen = spent + each.seconds, seen | {each.test.partition("::")[0]}
        if spent > seconds or len(seen) > files:
            break
        chosen.append(each.test)
    return chosen or [each.test for each in own[:1]]


def _calls(each: Ran, wanted: str, *, exactly: bool) -> bool:
    return wanted in each.called if exactly else any(name.startswith(wanted) for name in each.called)
