"""How many modules each command loads, counted in a process of its own: most of a small command is loading.

Each may load a dozen more than it does; whoever needs more than that says so by raising the number here.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

HEAVY = (
    "duckdb",
    "flint",
    "numpy",
    "numpy.ma",
    "pandas",
    "pyarrow",
    "pyarrow.compute",
    "pyarrow.parquet",
    "rich",
    "scipy",
)
SCRIPT = f"""
import sys
from hubbub.cli.main import commands
try:
    commands(sys.argv[1:], standalone_mode=False)
finally:
    own = sum(name.partition('.')[0] == 'hubbub' for name in sys.modules)
    print('loaded:', own, *(name for name in {HEAVY!r} if name in sys.modules))
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small town, and one release of it."""
    folder = tmp_path_factory.mktemp("town")
    people = pa.table({"id": list(range(100)), "ward": ["A"] * 60 + ["B"] * 40, "age": [i % 90 for i in range(100)]})
    parquet.write_table(people, folder / "town.parquet")
    loaded(folder, *RELEASE)
    return folder


def loaded(folder: Path, *words: str) -> tuple[int, set[str]]:
    """How many modules of ours a command loads, and which heavy ones of others."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words], capture_output=True, text=True, cwd=folder, check=True
    )
    _, own, *heavy = next(line for line in done.stdout.splitlines() if line.startswith("loaded:")).split()
    return int(own), set(heavy)


RELEASE = (
    "release",
    "histogram",
    "town.parquet",
    "--person",
    "id",
    "--by",
    "ward=A,B",
    "--epsilon",
    "1",
    "--out",
    "out",
)
COMMANDS: dict[str, tuple[tuple[str, ...], int, set[str]]] = {
    "help": (("--help",), 10, set()),
    "release": ((*RELEASE[:-1], "again"), 240, {"duckdb", "flint", "numpy", "pyarrow", "rich"}),
    "verify": (("verify", "out/certificate.json", "--certificate-only"), 190, {"flint", "numpy", "pyarrow"}),
    "explain": (("explain", "out/certificate.json"), 175, {"flint", "numpy", "pyarrow"}),
    "ledger": (("ledger", "show"), 110, {"flint", "numpy", "pyarrow", "rich"}),
    "check": (("check", "town.parquet"), 260, {"duckdb", "flint", "numpy", "pyarrow", "rich"}),
    "account": (
        ("account", "crowd", "--k", "20", "--rate", "0.1", "--delta", "1e-6"),
        130,
        {"flint", "numpy", "pyarrow", "rich"},
    ),
}
"""What is typed, how many modules of ours that may load, and which heavy ones of others."""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_loads_no_more_than_it_did(name: str, home: Path) -> None:
    words, most, allowed = COMMANDS[name]
    own, heavy = loaded(home, *words)
    assert own <= most, f"hubbub {' '.join(words)} loads {own} modules of ours, more than {most}"
    assert heavy <= allowed, f"it loads {sorted(heavy - allowed)}, which it did not"


def test_a_release_loads_its_own_kind_and_no_other(home: Path) -> None:
    script = (
        SCRIPT + "print('kinds:', *sorted({n.split('.')[2] for n in sys.modules if n.startswith('hubbub.kinds.')}))"
    )
    words = (*RELEASE[:-1], "third")
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, cwd=home, check=True)
    kinds = next(line for line in done.stdout.splitlines() if line.startswith("kinds:")).split()[1:]
    assert set(kinds) == {"histogram", "series", "table"}  # series has the calendar of ledgers, and nothing drawn
