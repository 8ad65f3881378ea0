"""Plant faults one by one, show each to the tests that can see it, and write down which were not noticed.

``python -m tests.mutation [--each N] [--folder F]``: N faults of each folder, spread evenly over its lines. All tests
are collected once; each fault runs in a fork of that process, and no file is touched. What was found stands in
``out/mutants``, a line for each fault, so that a run that was stopped goes on where it was; ``--again`` tries those that
were not noticed once more, with more tests, ``--seen`` takes only tests of which it is known what they run (and files that are named),
``--page`` only writes the page.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.abc
import importlib.util
import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Final, NamedTuple

import pytest
from hypothesis import Phase, settings

from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.faults import Fault, faults
from tests.mutation.in_place import Collected, failing, forget, function_of, give, remembering
from tests.mutation.who_runs import ROOT, SOURCE, Ran, able, digest, function_at, look, read

DOCUMENT: Final = ROOT / "docs" / "mutants.md"
OUT: Final = ROOT / "out" / "mutants"
PATIENCE: Final = 3  # seconds of tests for one fault, as they take without it
LONGER: Final = 3  # times as long: what was not noticed, with --again
FILES: Final = 3  # of tests for a fault that makes the package be loaded anew
FOLDERS: Final = ("guarantees", "channels", "sampling", "noise", "ledger", "query_classes", "kinds")
UNIT: Final = (*FOLDERS, "audit", "numeric", "plan")
SHOWN: Final = (*(f"tests/unit/{name}" for name in UNIT), "tests/witnesses", "tests/conformance/test_channels.py")
LEFT: Final = ("chart", "load", "request", "result", "text", "wire")  # of kinds: what reads, asks and shows
HEAVY: Final = ("numpy", "scipy.optimize", "scipy.stats", "pyarrow", "duckdb", "flint", "click", "hypothesis")
REWRITE: Final = "ignore::pytest.PytestAssertRewriteWarning"  # of what was loaded before pytest
PROFILE: Final = "mutants"  # few examples, and none that is made smaller
QUIET: Final = (
    *("-x", "-q", "-n0", "-s", "-m", "not slow", "-W", REWRITE, f"--hypothesis-profile={PROFILE}"),
    *("--tb=native", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-k", "not vote and not voting"),
)


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


def in_fork(arguments: Sequence[str], plugin: object, planted: Planted, seconds: int) -> int:
    """The exit code of pytest in a fork; after so many seconds of work it is that of a killed process."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        _silent()
        _forget()
        sys.meta_path.insert(0, planted)
        os._exit(int(pytest.main([*QUIET, *arguments], plugins=[plugin])))
    return _ended(child, time.monotonic() + 20 * seconds)


def _silent() -> None:
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)


def _forget() -> None:
    """What was loaded is loaded anew."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("hubbub", "tests")]:
        del sys.modules[name]


def _ended(child: int, latest: float) -> int:
    while time.monotonic() < latest:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return -9


def shared(work: Callable[[int], None], processes: int) -> None:
    """Do the parts of a work in processes of their own, and wait for all."""
    children = []
    for part in range(processes):
        child = os.fork()
        if child == 0:
            try:
                work(part)
            except BaseException as error:
                print(f"part {part}: {error!r}", file=sys.stderr, flush=True)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def modules(folder: str) -> list[Path]:
    every = sorted((SOURCE / folder).rglob("*.py"))
    return [each for each in every if each.stem != "__init__" and not (folder == "kinds" and each.stem in LEFT)]


def planted(folder: str, each: int, tried: Mapping[Key, str]) -> list[tuple[Key, Fault]]:
    """So many faults of the folder: those that were tried, and of the others some that are evenly spread."""
    every = [pair for module in modules(folder) for pair in _of(module)]
    before = [pair for pair in every if pair[0] in tried]
    others = [pair for pair in every if pair[0] not in tried]
    more = min(max(each - len(before), 0), len(others))
    return before + [others[i * len(others) // more] for i in range(more)]


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


def files_seen() -> list[str]:
    """The files of tests of which it is known what they run."""
    path = OUT / "seen.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return sorted({file for file, known in map(json.loads, lines) if known == digest(file)})


def learn(items: Mapping[str, pytest.Item], processes: int) -> list[Ran]:
    """Which tests run which functions; a file that has not changed since is not run again."""
    path, seen = OUT / "calls.jsonl", OUT / "seen.jsonl"
    before = files_seen()
    files = dict.fromkeys(test.partition("::")[0] for test in items)
    new = {file: digest(file) for file in files if file not in before}
    caches = remembering()

    def part(number: int) -> None:
        _silent()
        for file in list(new)[number::processes]:
            look([item for test, item in items.items() if test.startswith(f"{file}::")], path, lambda: forget(caches))
            if digest(file) == new[file]:  # else it was changed meanwhile, and is looked at again
                with seen.open("a", encoding="utf-8") as out:
                    out.write(json.dumps([file, new[file]]) + "\n")

    if new:
        print(f"looking what the tests of {len(new)} files run", file=sys.stderr, flush=True)
        shared(part, processes)
    return read(path)


class Job(NamedTuple):
    """A fault that is to be tried, and the tests that can see it."""

    key: Key
    fault: Fault
    function: str
    tests: list[Ran]

    @property
    def seconds(self) -> int:
        """After which it hangs."""
        return 15 + int(4 * sum(each.seconds for each in self.tests))


def jobs(folder: str, each: int, again: bool, ran: list[Ran]) -> list[Job]:
    """What is left to be tried of a folder."""
    before, patience, found = results(), (LONGER if again else 1) * PATIENCE, list[Job]()
    for key, fault in planted(folder, each, before):
        if key not in before or (again and not before[key] and not known(key)):
            function = function_at((SOURCE / key.module).read_text(encoding="utf-8"), fault.line)
            found.append(Job(key, fault, function, able(ran, key.module, function, patience)))
    return found


def try_out(left: Sequence[Job], items: Mapping[str, pytest.Item], processes: int) -> list[Job]:
    """Those that have to be loaded anew: what is made with a module or class, and what does not fit."""
    caches, now, later = remembering(), list[tuple[Job, tuple[FunctionType, FunctionType]]](), list[Job]()
    for job in left:
        pair = function_of(_name(SOURCE / job.key.module), job.function, job.fault.source) if job.function else None
        if pair is None:
            later.append(job)
        else:
            now.append((job, pair))
    forget(caches)
    gc.collect()
    gc.freeze()

    def part(number: int) -> None:
        for job, pair in now[number::processes]:
            begun = os.times()
            test = in_place(job, pair, items)
            tell(job, test, begun)

    shared(part, processes)
    return later


def in_place(job: Job, pair: tuple[FunctionType, FunctionType], items: Mapping[str, pytest.Item]) -> str:
    """The test that fails when a loaded function has its changed code, or nothing."""
    chosen = [items[each.test] for each in job.tests if each.test in items]
    while chosen:
        test = _shown(chosen, lambda: give(*pair), job.seconds)
        if test not in items or not _shown([items[test]], lambda: None, job.seconds):
            return test
        chosen.remove(items[test])  # it fails by itself here, and says nothing
    return ""


def _shown(items: Sequence[pytest.Item], plant: Callable[[], None], seconds: int) -> str:
    reading, told = os.pipe()
    child = failing(items, plant, seconds, told)
    return _outcome(_ended(child, time.monotonic() + 20 * seconds), reading, told)


def anew(job: Job) -> str:
    """The test that fails when the package is loaded with the changed module, or nothing."""
    files = list(dict.fromkeys(each.file for each in job.tests))[:FILES]
    tests = [each.test for each in job.tests if each.file in files]
    if not tests:
        return ""
    reading, told = os.pipe()
    module = SOURCE / job.key.module
    fault = Planted(_name(module), module, job.fault.source)
    return _outcome(in_fork(files, Only(tests, told), fault, job.seconds + 20), reading, told)


def _outcome(code: int, reading: int, told: int) -> str:
    os.close(told)
    failed = os.read(reading, 10_000).decode()
    os.close(reading)
    return failed or ("" if code in (0, 5) else "it hangs" if code < 0 else "it cannot be run")


def tell(job: Job, test: str, begun: os.times_result) -> None:
    note(job.key, test)
    now = os.times()
    spent = now.children_user + now.children_system - begun.children_user - begun.children_system
    where = f"{job.key.module}:{job.fault.line}: {job.key.what}"
    print(f"{where}: {test or 'NOT NOTICED'} ({len(job.tests)} tests, {spent:.1f} s)", file=sys.stderr, flush=True)


def _name(module: Path) -> str:
    return ".".join(("hubbub", *module.relative_to(SOURCE).with_suffix("").parts))


def known(key: Key) -> str:
    """Why what was planted is no fault, if that is known."""
    return EQUIVALENT.get(tuple(key), "")


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
        "`max`, `and` for `or`, a `not` left out. It shows each to the fast tests that run the function it stands in, and some of the rest to slow ones. "
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
    words.add_argument("--seen", nargs="*", help="only tests of which it is known what they run, and these files")
    words.add_argument("--processes", type=int, default=1, help="that work side by side")
    words.add_argument("--page", action="store_true", help="only write the page")
    given = words.parse_args(arguments)
    os.chdir(ROOT)
    OUT.mkdir(parents=True, exist_ok=True)
    if not given.page:
        run(given.folder or FOLDERS, given, SHOWN if given.seen is None else [*files_seen(), *given.seen])
    DOCUMENT.write_text(written(results()), encoding="utf-8")


def run(folders: Sequence[str], given: argparse.Namespace, files: Sequence[str]) -> None:
    """Try what is left of these folders with the tests of these files."""
    processes = given.processes
    for name in HEAVY:
        importlib.import_module(name)
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile(PROFILE, settings.get_profile("ci"), max_examples=25, phases=phases)
    later: list[Job] = []

    def work(items: Mapping[str, pytest.Item]) -> None:
        ran = learn(items, processes)
        left = [job for folder in folders for job in jobs(folder, given.each, given.again, ran)]
        later.extend(try_out(left, items, processes))

    def part(number: int) -> None:
        for job in later[number::processes]:
            begun = os.times()
            tell(job, anew(job), begun)

    pytest.main([*QUIET, *files], plugins=[Collected(work)])
    shared(part, processes)


if __name__ == "__main__":
    main()
