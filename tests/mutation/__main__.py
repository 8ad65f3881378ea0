"""Plant faults one by one, run the tests of their folder on each, and write down which were not noticed.

``python -m tests.mutation [--each N]``: N faults of each folder, spread evenly over its lines. Each runs in a fork of
this process, in which the module is loaded from its changed text; no file is touched.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.util
import os
import sys
import time
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.faults import Fault, faults

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCE: Final = ROOT / "src" / "hubbub"
DOCUMENT: Final = ROOT / "docs" / "mutants.md"
PATIENCE: Final = 1800  # seconds for the tests of one fault; a fault that makes them hang was noticed
TESTS: Final = {
    "guarantees": ["tests/unit/guarantees", "tests/property/test_guarantees_algebra.py"],
    "channels": ["tests/unit/channels", "tests/conformance/test_channels.py"],
    "ledger": [
        *(f"tests/unit/ledger/test_{name}.py" for name in ("admission", "running_total", "policy", "overlap")),
        "tests/unit/cli/test_ledger_command.py",
        "tests/witnesses",
    ],
}
HEAVY: Final = ("numpy", "scipy.optimize", "scipy.stats", "pyarrow", "duckdb", "flint", "click", "rich")


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


def tests_of(folder: str, module: Path) -> list[str]:
    """Those of the module itself first, since a fault is noticed soonest there."""
    own = ROOT / "tests" / "unit" / module.relative_to(SOURCE).with_name(f"test_{module.stem}.py")
    return [*([str(own)] if own.exists() else []), *TESTS[folder]]


def noticed(folder: str, module: Path, fault: Fault) -> bool:
    """Whether some test fails, or does not come to an end."""
    child = os.fork()
    if child == 0:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        name = ".".join(("hubbub", *module.relative_to(SOURCE).with_suffix("").parts))
        sys.meta_path.insert(0, Planted(name, module, fault.source))
        code: int = pytest.main(["-x", "-q", "-n0", "-p", "no:cacheprovider", *tests_of(folder, module)])
        os._exit(int(code))
    begun = time.monotonic()
    while time.monotonic() - begun < PATIENCE:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status != 0
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return True


def chosen(folder: str, each: int) -> list[tuple[Path, Fault]]:
    """So many faults of the folder, evenly spread."""
    every = [
        (module, fault)
        for module in sorted((SOURCE / folder).rglob("*.py"))
        if module.stem != "__init__"
        for fault in faults(module.read_text(encoding="utf-8"))
    ]
    return every if each >= len(every) else [every[i * len(every) // each] for i in range(each)]


def known(module: Path, fault: Fault) -> str:
    """Why what was planted is no fault, if that is known."""
    line = module.read_text(encoding="utf-8").splitlines()[fault.line - 1].strip()
    return EQUIVALENT.get((f"{module.parent.name}/{module.name}", line, fault.what), "")


def written(found: dict[str, tuple[int, list[tuple[Path, Fault]]]]) -> str:
    rows: list[str] = []
    left: list[str] = []
    same: list[str] = []
    for folder, (tried, survivors) in found.items():
        harmless = [each for each in survivors if known(*each)]
        rows.append(
            f"| `{folder}/` | {tried} | {tried - len(survivors)} | {len(harmless)} | {len(survivors) - len(harmless)} |"
        )
        for module, fault in survivors:
            line = module.read_text(encoding="utf-8").splitlines()[fault.line - 1].strip().replace("|", "\\|")
            told = f"`{folder}/{module.name}`, `{line}`: {fault.what}"
            why = known(module, fault)
            (same if why else left).append(f"- {told}{f' ({why})' if why else ''}")
    parts = [
        "# Planted faults",
        "`make mutants` plants small faults, one at a time, in the folders that carry the promises: a comparison that "
        "takes in its end or not, a number one larger, a sum that is a difference, a rounding the other way, `min` for "
        "`max`, `and` for `or`, a `not` left out. Then it runs the tests of that folder. This page is written by it; "
        "the faults are spread evenly over the lines, the same ones in every run.",
        "\n".join(("| folder | planted | noticed | no faults | not noticed |", "|---|---|---|---|---|", *rows)),
        "## Not noticed\n\n" + ("\n".join(left) or "None."),
        "## No faults\n\n" + ("\n".join(same) or "None is known."),
    ]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    words = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    words.add_argument("--each", type=int, default=60, help="faults of each folder")
    words.add_argument("--folder", choices=TESTS, action="append", help="only this one, here and on the page")
    given = words.parse_args(arguments)
    os.chdir(ROOT)
    for name in HEAVY:
        importlib.import_module(name)
    found: dict[str, tuple[int, list[tuple[Path, Fault]]]] = {}
    for folder in given.folder or TESTS:
        planted, survivors = chosen(folder, given.each), []
        module = planted[0][0]
        if noticed(folder, module, Fault(1, "nothing", module.read_text(encoding="utf-8"))):
            sys.exit(f"the tests of {folder} fail without any fault; mend that first")
        for number, (module, fault) in enumerate(planted, 1):
            if not noticed(folder, module, fault):
                survivors.append((module, fault))
                print(f"{folder}/{module.name}:{fault.line}: {fault.what}: not noticed", flush=True)
            print(f"{folder}: {number} of {len(planted)}, {len(survivors)} not noticed", file=sys.stderr, flush=True)
        found[folder] = len(planted), survivors
    DOCUMENT.write_text(written(found), encoding="utf-8")


if __name__ == "__main__":
    main()
