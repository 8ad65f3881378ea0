"""How many modules each command loads, counted in a process of its own: most of a small command is loading.

Each may load a few more than it does; whoever needs more than that says so by raising the number here. That no command
loads a module in which nothing runs would be the better rule, and is no test: a module of which a command uses a class
in an annotation, a constant or an error that is not raised looks as idle as one that it has no use for.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

HEAVY = (
    "asyncio",
    "concurrent.futures",
    "cryptography",
    "cryptography.x509",
    "duckdb",
    "email",
    "flint",
    "jinja2",
    "multiprocessing",
    "numpy",
    "numpy.ma",
    "pandas",
    "pyarrow",
    "pyarrow.compute",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "scipy",
    "sqlglot",
    "ssl",
    "starlette",
    "uvicorn",
    "xml.etree.ElementTree",
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
    (folder / "ballots.csv").write_text("rank1,rank2\nAda,Ben\nBen,Ada\nAda,\n")
    loaded(folder, *RELEASE)
    return folder


def _own(folder: Path) -> dict[str, str]:
    """One ledger for all commands, so that `verify` knows the key of the release."""
    return {**os.environ, "HUBBUB_LEDGER": str(folder / "ledger.db"), "XDG_STATE_HOME": str(folder / "state")}


def loaded(folder: Path, *words: str) -> tuple[int, set[str]]:
    """How many modules of ours a command loads, and which heavy ones of others."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words], capture_output=True, text=True, cwd=folder, check=True, env=_own(folder)
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
QUERY = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, privacy_unit_column = id) COUNT(DISTINCT id) FROM town "
    "WHERE age >= 65"
)
NUMBERS = {"cryptography", "flint", "numpy"}
TABLES = {*NUMBERS, "pyarrow"}
ENGINE = {*TABLES, "duckdb", "email"}  # DuckDB asks for its own version, which is written as an email is
COMMANDS: dict[str, tuple[tuple[str, ...], int, set[str]]] = {
    "help": (("--help",), 10, set()),
    "help of a release": (("release", "histogram", "--help"), 155, TABLES),
    "check": (("check", "town.parquet"), 202, ENGINE),
    "release histogram": ((*RELEASE[:-1], "again"), 183, ENGINE),
    "release mean": (
        (
            "release",
            "mean",
            "town.parquet",
            "--person",
            "id",
            "--of",
            "age:0..90:10",
            "--epsilon",
            "1",
            "--out",
            "mean",
        ),
        228,
        ENGINE,
    ),
    "sql": (("sql", QUERY, "--data", "town.parquet", "--out", "asked"), 234, {*ENGINE, "sqlglot"}),
    "verify": (("verify", "out/certificate.json"), 116, TABLES),
    "verify, the certificate": (("verify", "out/certificate.json", "--certificate-only"), 116, TABLES),
    "explain": (("explain", "out/certificate.json"), 111, TABLES),
    "ledger": (("ledger", "show"), 73, TABLES),
    "trust": (("trust", "list"), 24, TABLES),
    "account": (
        ("account", "crowd", "--k", "20", "--rate", "0.1", "--delta", "1e-6"),
        82,
        TABLES,
    ),
    "plan": (
        ("plan", "--ask", "k", "--want", "zero-knowledge", "--epsilon", "0.5", "--delta", "1e-9", "--rate", "0.1"),
        183,
        TABLES,
    ),
    "channel": (
        ("channel", "law", "--channel", "geometric", "--epsilon", "1", "--count", "3"),
        39,
        NUMBERS,
    ),
    "vote": (
        ("vote", "tally", "ballots.csv", "--rule", "instant-runoff"),
        200,
        {*TABLES, "xml.etree.ElementTree"},
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
    done = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, cwd=home, check=True, env=_own(home)
    )
    kinds = next(line for line in done.stdout.splitlines() if line.startswith("kinds:")).split()[1:]
    assert set(kinds) == {"count_tables", "histogram", "table"}
