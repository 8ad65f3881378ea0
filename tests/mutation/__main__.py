"""Plant faults one by one, show each to the tests that can see it, and write down which were not noticed.

``python -m tests.mutation [--each N] [--folder F]``: N faults of each folder, spread evenly over its lines. Each runs in
a fork of this process, in which the module is loaded from its changed text; no file is touched. What was found stands in
``out/mutants``, a line for each fault, so that a run that was stopped goes on where it was; ``--again`` tries those that
were not noticed once more, ``--page`` only writes the page.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.abc
import importlib.util
import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

import pytest

from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.faults import Fault, faults
from tests.mutation.in_place import Collected, failing, function_of, give
from tests.mutation.who_runs import ROOT, SOURCE, Calls, Ran, able, function_at, read

DOCUMENT: Final = ROOT / "docs" / "mutants.md"
OUT: Final = ROOT / "out" / "mutants"
PATIENCE: Final = 6  # seconds of tests for one fault, as they take without it; one that makes them hang was noticed
FILES: Final = 4  # of tests for one fault; what was not noticed is shown to more with --again
FOLDERS: Final = ("guarantees", "channels", "sampling", "noise", "ledger", "query_classes", "kinds")
UNIT: Final = (*FOLDERS, "audit", "numeric", "plan")
SHOWN: Final = (
    *(f"tests/unit/{name}" for name in UNIT),
    "tests/witnesses",
    "tests/property",
    "tests/conformance/test_channels.py",
)
LEFT: Final = ("chart", "load", "request", "result", "text", "wire")  # of kinds: what reads, asks and shows
HEAVY: Final = ("numpy", "scipy.optimize", "scipy.stats", "pyarrow", "duckdb", "flint", "click", "rich", "hypothesis")
REWRITE: Final = "ignore::pytest.PytestAssertRewriteWarning"  # of what was loaded before pytest
QUIET: Final = ("-x", "-q", "-n0", "-p", "no:cacheprovider", "-m", "not slow", "-W", REWRITE)


class Key(NamedTuple):
    """A fault by its words, so that what was found outlives changes of other lines."""

    module: str
    line: str
    what: str
    nth: int


class Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from another text."""

    def __init__(self, name: str, path: Path, source: str) -> None:
        self._name, self._path, self._source = name, path, source

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=str(self._path))

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = str(self._path)
        exec(compile(self._source, str(self._path), "exec"), module.__dict__)


class Only:
    """Runs these tests in this order, and writes down the one that fails."""

    def __init__(self, tests: Sequence[str], told: int) -> None:
        self._place, self._told = {test: i for i, test in enumerate(tests)}, told

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self._place]
        items.sort(key=lambda item: self._place[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os.write(self._told, report.nodeid.encode())


def in_fork(arguments: Sequence[str], plugin: object, planted: Planted | None, seconds: int) -> int:
    """The exit code of pytest in a fork; after so many seconds of work it is that of a killed process."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        if planted is not None:
            _forget()
            sys.meta_path.insert(0, planted)
        os._exit(int(pytest.main([*QUIET, *arguments], plugins=[plugin])))
    return _ended(child, time.monotonic() + 10 * seconds)


def _forget() -> None:
    """What was loaded is loaded anew."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("hubbub", "tests")]:
        del sys.modules[name]


def _ended(child: int, latest: float) -> int:
    while time.monotonic() < latest:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return -9


def found(module: Path, source: str, tests: Sequence[str]) -> str:
    """The test that fails when the module has this text, or nothing."""
    if not tests:
        return ""
    reading, told = os.pipe()
    files = list(dict.fromkeys(test.split("::")[0] for test in tests))
    code = in_fork(files, Only(tests, told), Planted(_name(module), module, source), 4 * PATIENCE)
    os.close(told)
    failed = os.read(reading, 10_000).decode()
    os.close(reading)
    assert code != 5, f"none of {tests} is there"
    return failed or ("" if code == 0 else "it hangs" if code < 0 else "it cannot be imported")


def modules(folder: str) -> list[Path]:
    every = sorted((SOURCE / folder).rglob("*.py"))
    return [each for each in every if each.stem != "__init__" and not (folder == "kinds" and each.stem in LEFT)]


def planted(folder: str, each: int) -> list[tuple[Key, Fault]]:
    """So many faults of the folder, evenly spread."""
    every = [pair for module in modules(folder) for pair in _of(module)]
    return every if each >= len(every) else [every[i * len(every) // each] for i in range(each)]


def _of(module: Path) -> Iterator[tuple[Key, Fault]]:
    source, seen = module.read_text(encoding="utf-8"), Counter[tuple[str, str]]()
    lines, name = source.splitlines(), str(module.relative_to(SOURCE))
    for fault in faults(source):
        words = lines[fault.line - 1].strip(), fault.what
        yield Key(name, *words, seen[words]), fault
        seen[words] += 1


# --- what was found -------------------------------------------------------------------------------------------------


def results() -> dict[Key, str]:
    """Every fault that was tried, and the test that noticed it or nothing; the last line about one is right."""
    path = OUT / "results.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {Key(*key): test for key, test in map(json.loads, lines)}


def note(key: Key, test: str) -> None:
    with (OUT / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps([key, test]) + "\n")


def who_runs() -> list[Ran]:
    """Which tests run which functions; found out once, in a run of all of them."""
    path = OUT / "calls.jsonl"
    if not path.exists():
        print("looking which tests run which functions", file=sys.stderr, flush=True)
        half = path.with_suffix(".half")
        half.unlink(missing_ok=True)
        in_fork(["--maxfail=1000", "-k", "not vote and not voting", *SHOWN], Calls(half), None, 36_000)
        half.rename(path)
    return read(path)


class Job(NamedTuple):
    """A fault that is to be tried, and the tests that can see it."""

    key: Key
    fault: Fault
    function: str
    tests: list[str]


def jobs(folder: str, each: int, again: bool, ran: list[Ran]) -> list[Job]:
    """What is left to be tried of a folder."""
    before, more, found = results(), 6 if again else 1, list[Job]()
    for key, fault in planted(folder, each):
        if key not in before or (again and not before[key]):
            function = function_at((SOURCE / key.module).read_text(encoding="utf-8"), fault.line)
            tests = able(ran, key.module, function, more * PATIENCE, more * FILES)
            found.append(Job(key, fault, function, tests))
    return found


def try_out(left: Sequence[Job], items: Mapping[str, pytest.Item]) -> list[Job]:
    """Those that have to be loaded anew: what is made with a module or class, and what does not fit."""
    later = []
    for job in left:
        chosen = [items[test] for test in job.tests if test in items]
        test = at_once(SOURCE / job.key.module, job.function, job.fault.source, chosen)
        if test is None:
            later.append(job)
        else:
            tell(job, test)
    return later


def tell(job: Job, test: str) -> None:
    note(job.key, test)
    where = f"{job.key.module}:{job.fault.line}: {job.key.what}"
    print(f"{where}: {test or 'NOT NOTICED'}", file=sys.stderr, flush=True)


def at_once(module: Path, function: str, source: str, items: Sequence[pytest.Item]) -> str | None:
    """The test that fails when a loaded function has its changed code, or nothing; None if it cannot be given it."""
    pair = function_of(_name(module), function, source) if function and items else None
    if pair is None:
        return None
    reading, told = os.pipe()
    child = failing(items, lambda: give(*pair), 24 * PATIENCE, told)
    code = _ended(child, time.monotonic() + 1200)
    os.close(told)
    failed = os.read(reading, 10_000).decode()
    os.close(reading)
    return failed or ("" if code == 0 else "it hangs" if code < 0 else "it cannot be run")


def _name(module: Path) -> str:
    return ".".join(("hubbub", *module.relative_to(SOURCE).with_suffix("").parts))


def known(key: Key) -> str:
    """Why what was planted is no fault, if that is known."""
    return EQUIVALENT.get((key.module, key.line, key.what), "")


# --- the page -------------------------------------------------------------------------------------------------------


def written(tried: dict[Key, str]) -> str:
    rows, left, same = list[str](), list[str](), list[str]()
    total = Counter[str]()
    for folder in FOLDERS:
        keys = [key for module in modules(folder) for key, _ in _of(module) if key in tried]
        survivors = [key for key in keys if not tried[key]]
        left += [f"- {_told(key)}" for key in survivors if not known(key)]
        same += [f"- {_told(key)} ({known(key)})" for key in survivors if known(key)]
        harmless = sum(bool(known(key)) for key in survivors)
        numbers = len(keys), len(keys) - len(survivors), harmless, len(survivors) - harmless
        total.update(dict(zip("abcd", numbers, strict=True)))
        rows.append(_row(f"`{folder}/`", numbers))
    rows.append(_row("together", tuple(total[letter] for letter in "abcd")))
    parts = [
        "# Planted faults",
        "`make mutants` plants small faults, one at a time, in the folders that carry the promises: a comparison that "
        "takes in its end or not, a number one larger, a sum that is a difference, a rounding the other way, `min` for "
        "`max`, `and` for `or`, a `not` left out. It shows each to the fast tests that run the function it stands in. "
        "This page is written by it; the faults are spread evenly over the lines, the same ones in every run. "
        f"{total['a']} were tried so far; a run goes on where the last one was stopped.",
        "\n".join(("| folder | planted | noticed | no faults | not noticed |", "|---|---|---|---|---|", *rows)),
        "## Not noticed\n\n" + ("\n".join(left) or "None."),
        "## No faults\n\n" + ("\n".join(same) or "None is known."),
    ]
    return "\n\n".join(parts) + "\n"


def _row(name: str, numbers: Sequence[int]) -> str:
    return " | ".join((f"| {name}", *map(str, numbers))) + " |"


def _told(key: Key) -> str:
    line = key.line.replace("|", "\\|")
    return f"`{key.module}`, `{line}`: {key.what}"


def main(arguments: Sequence[str] | None = None) -> None:
    words = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    words.add_argument("--each", type=int, default=60, help="faults of each folder")
    words.add_argument("--folder", choices=FOLDERS, action="append", help="only this one")
    words.add_argument("--again", action="store_true", help="try once more what was not noticed")
    words.add_argument("--page", action="store_true", help="only write the page")
    given = words.parse_args(arguments)
    os.chdir(ROOT)
    OUT.mkdir(parents=True, exist_ok=True)
    if not given.page:
        for name in HEAVY:
            importlib.import_module(name)
        ran = who_runs()
        left = [job for folder in given.folder or FOLDERS for job in jobs(folder, given.each, given.again, ran)]
        files = sorted({test.partition("::")[0] for job in left for test in job.tests})
        later: list[Job] = []
        pytest.main([*QUIET, "-s", *files], plugins=[Collected(lambda items: later.extend(try_out(left, items)))])
        for job in later:
            tell(job, found(SOURCE / job.key.module, job.fault.source, job.tests))
    DOCUMENT.write_text(written(results()), encoding="utf-8")


if __name__ == "__main__":
    main()
