"""How large the tree is and how far a small release travels in it, in figures that can be held.

``python -m tests.unit.tree.size`` prints them beside their ceilings; ``python -m tests.unit.tree.size lower`` writes
every ceiling down to what is there now. None is ever raised by the script.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

CEILINGS: Final = Path(__file__).with_name("ceilings.json")
VARIES: Final = 1.03
"""How far the way of a release varies from run to run: which functions draw its noise depends on the draw."""
_SOURCE: Final = Path(__file__).parents[3] / "src" / "hubbub"

_BARE: Final = re.compile(r"_?(of|beside|apart|whom|between|within|ahead|away|along|among|behind|after|before|without)")
_PARTICIPLE: Final = re.compile(r"_?(?!need|feed|seed|speed|exceed|proceed|embed|bed|red|shed)[a-z]{2,}ed")
_IRREGULAR: Final = frozenset(
    [
        "drawn",
        "told",
        "found",
        "said",
        "made",
        "kept",
        "shown",
        "given",
        "taken",
        "written",
        "known",
        "seen",
        "cut",
        "held",
        "bound",
        "built",
        "sent",
        "spent",
        "left",
        "met",
        "put",
        "set_out",
        "split",
        "thrown",
        "chosen",
        "hidden",
        "read_back",
        "worn",
        "lost",
    ]
)

_TRAVEL: Final = """
import json, sys
from pathlib import Path
functions, switches = set(), set()
ROOT = sys.argv[1]
def package_of(code):
    return Path(code.co_filename).relative_to(ROOT).parts[0]
def watch(frame, event, argument):
    if event == "call" and frame.f_code.co_filename.startswith(ROOT):
        code = frame.f_code
        if code.co_name.startswith("<"):
            return  # a module, a lambda, a comprehension
        functions.add((code.co_filename, code.co_qualname))
        caller = frame.f_back and frame.f_back.f_code
        if caller and caller.co_filename.startswith(ROOT) and package_of(caller) != package_of(code):
            switches.add((caller, code))
from hubbub.cli.main import main
sys.argv = ["hubbub", *json.loads(sys.argv[2])]
sys.setprofile(watch)
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
finally:
    sys.setprofile(None)
    print(json.dumps([len(functions), len(switches)]), file=sys.stderr)
"""


@cache
def _trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(_SOURCE.rglob("*.py"))}


def count_statements() -> int:
    """Statements of the library, docstrings not counted."""
    every = (node for tree in _trees().values() for node in ast.walk(tree) if isinstance(node, ast.stmt))
    return sum(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in every)


def count_files() -> int:
    """Modules of the library."""
    return len(_trees())


def longest_file() -> int:
    """Lines of the longest module."""
    return max(len(path.read_text(encoding="utf-8").splitlines()) for path in _trees())


def _function_names() -> Iterator[str]:
    for tree in _trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                yield node.name


def is_nameless(name: str) -> bool:
    """Whether a function's name is a participle or preposition alone, which says neither what it does nor what it is."""
    return bool(_BARE.fullmatch(name) or _PARTICIPLE.fullmatch(name)) or name.lstrip("_") in _IRREGULAR


def count_nameless() -> int:
    """Functions that are called by a participle or preposition alone."""
    return sum(map(is_nameless, _function_names()))


def most_options() -> int:
    """Options of the release that has most."""
    from hubbub import registry

    return max(len(registry.kind(name).options) for name in registry.names())


def count_guards() -> int:
    """Places that raise WrongUse."""
    every = (node for tree in _trees().values() for node in ast.walk(tree) if isinstance(node, ast.Raise))
    return sum(
        isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name) and node.exc.func.id == "WrongUse"
        for node in every
    )


def count_outside_imports() -> int:
    """Imports of a kind by name outside of `kinds` and of the registry, which lists them."""
    kinds = {path.parent.name for path in _trees() if path.parent.parent == _SOURCE / "kinds"}
    outside = (
        tree
        for path, tree in _trees().items()
        if not path.is_relative_to(_SOURCE / "kinds") and path != _SOURCE / "registry.py"
    )
    modules = (node.module or "" for tree in outside for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return sum(module.startswith(tuple(f"hubbub.kinds.{kind}" for kind in kinds)) for module in modules)


@cache
def travel() -> dict[str, int]:
    """Functions visited, and calls from one package into another (each pair of functions once), of a histogram of three bins, and of its verification."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "people.csv").write_text("town\n" + "Bath\nYork\nWells\n" * 9, encoding="utf-8")
        release = "release histogram people.csv --rows-are-people --by town=Bath,York,Wells --epsilon 1 --out out"
        found: dict[str, int] = {}
        for name, words in (("histogram", release.split()), ("verify", ["verify", "out/certificate.json"])):
            functions, switches = _watch(folder, words)
            found |= {f"{name}: functions visited": functions, f"{name}: package switches": switches}
        return found


def _watch(folder: str, words: list[str]) -> tuple[int, int]:
    environment = {"XDG_DATA_HOME": f"{folder}/data", "XDG_STATE_HOME": f"{folder}/state", "HOME": folder}
    command = [sys.executable, "-c", _TRAVEL, f"{_SOURCE}/", json.dumps(words)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    functions, switches = json.loads(done.stderr.splitlines()[-1])
    return functions, switches


def above(now: dict[str, int], ceilings: dict[str, int]) -> dict[str, int]:
    """The figures that are above their ceilings."""
    most = {name: ceiling * VARIES if ":" in name else ceiling for name, ceiling in ceilings.items()}
    return {name: figure for name, figure in now.items() if figure > most[name]}


def figures() -> dict[str, int]:
    """Every figure by its name."""
    return {
        "statements": count_statements(),
        "files": count_files(),
        "lines of the longest file": longest_file(),
        "functions without a name": count_nameless(),
        "options of the largest release": most_options(),
        "places that refuse options": count_guards(),
        "imports of a kind from outside": count_outside_imports(),
        **travel(),
    }


def main(words: list[str]) -> None:
    now, ceilings = figures(), json.loads(CEILINGS.read_text(encoding="utf-8")) if CEILINGS.exists() else {}
    for name, figure in now.items():
        print(f"{name}: {figure:,} (at most {ceilings.get(name, figure):,})")
    if words == ["lower"]:
        lowered = {name: min(figure, ceilings.get(name, figure)) for name, figure in now.items()}
        CEILINGS.write_text(json.dumps(lowered, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
