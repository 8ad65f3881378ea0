"""Reading a million cast-vote records with ten ranks, beside DuckDB, polars and VoteKit: part of ``benchmarks.voting``.

The file has an id and ten columns of names, most ballots short (a spread of favourites). Ours reads, interprets every
mark and leaves weighted unique rankings; DuckDB and polars group the ten columns by value and interpret nothing;
VoteKit makes a profile, of a tenth of the rows since it takes gigabytes. Each reader runs in a process of its own, on
one thread where it can be told so; processor time is that of the process with all its imports, memory its largest
resident set (on Linux; elsewhere that of the process or of this one, whichever is larger).
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from hubbub.noise.source import SystemSource

ROWS: Final = 1_000_000
RANKS: Final = 10
SPREAD: Final = 2.5
FAMILY: Final = ("Smith", "Jones", "Brown", "Lee", "Green", "White", "Black", "Grey", "Hill", "Ford")
NAMES: Final = tuple(f"Candidate {letter} {name}" for letter, name in zip("ABCDEFGHIJ", FAMILY, strict=True))
REPEATS: Final = 3

_AFTER: Final = """
import json, pathlib, resource
used = resource.getrusage(resource.RUSAGE_SELF)
status = pathlib.Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
peak = next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), used.ru_maxrss)
print(json.dumps({"seconds": used.ru_utime + used.ru_stime, "megabytes": peak / 1024, "rows": rows}))
"""
_COLUMNS: Final = ", ".join(f"rank{i}" for i in range(1, RANKS + 1))
READERS: Final = {
    "hubbub": "from hubbub.voting.formats.formats import read, strict\nrows = len(strict(read(PATH)).ballots.rankings)",
    "DuckDB": "import duckdb\nduckdb.sql('SET threads TO 1')\n"
    f"each = f\"SELECT count(*) FROM read_csv('{{PATH}}', header=true) GROUP BY {_COLUMNS}\"\n"
    "rows = duckdb.sql(f'SELECT count(*) FROM ({each})').fetchall()[0][0]",
    "polars": "import os\nos.environ['POLARS_MAX_THREADS'] = '1'\nimport polars as pl\n"
    f"rows = pl.read_csv(PATH).group_by({_COLUMNS.split(', ')!r}).len().height",
    "VoteKit": "import warnings\nwarnings.simplefilter('ignore')\nfrom votekit.cvr_loaders import load_ranking_csv\n"
    f"rows = len(load_ranking_csv(PATH, list(range(1, {RANKS + 1})), header_row=0, print_profile=False).df)",
}


@dataclass(frozen=True, slots=True)
class Read:
    """Seconds of processor time and megabytes, the best of repeats; `rows` different rows were found."""

    reader: str
    seconds: float
    megabytes: float
    rows: int
    of: int = ROWS
    limit: float | None = None  # seconds
    most_megabytes: float | None = None


def write_file(path: Path, rows: int) -> None:
    """So many ballots, most of them short."""
    words = SystemSource().words(rows * (RANKS + 1)).reshape(rows, RANKS + 1)
    noise = -np.log(-np.log((words[:, :RANKS] + 0.5) / 2.0**64))  # Gumbel: stronger candidates come first more often
    order = np.argsort(np.linspace(0, SPREAD, RANKS) - noise, axis=1)
    length = 1 + (words[:, RANKS] % np.uint64(RANKS)).astype(np.int64)
    with path.open("w", encoding="utf-8") as file:
        file.write(f"id,{_COLUMNS.replace(' ', '')}\n")
        for i, (row, many) in enumerate(zip(order.tolist(), length.tolist(), strict=True)):
            file.write(f"{i},{','.join(NAMES[j] for j in row[:many])}{',' * (RANKS - many)}\n")


def measured(reader: str, path: Path, rows: int) -> Read | None:
    """One reader in a process of its own; None if it is not installed."""
    script = f"PATH = {str(path)!r}\n{READERS[reader]}\n{_AFTER}"
    best: Read | None = None
    for _ in range(REPEATS):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        if done.returncode:
            if "ModuleNotFoundError" in done.stderr:
                return None
            raise SystemExit(done.stderr)
        answer = json.loads(done.stdout.splitlines()[-1])
        needs = (3.0, 300.0) if reader == "hubbub" else (None, None)
        run = Read(reader, answer["seconds"], answer["megabytes"], answer["rows"], rows, *needs)
        best = run if best is None or run.seconds < best.seconds else best
    return best


def from_files() -> list[Read]:
    found: list[Read] = []
    with TemporaryDirectory() as folder:
        for rows, readers in ((ROWS, ("hubbub", "DuckDB", "polars")), (ROWS // 10, ("VoteKit",))):
            path = Path(folder) / f"{rows}.csv"
            write_file(path, rows)
            found += [row for reader in readers if (row := measured(reader, path, rows)) is not None]
    return found
