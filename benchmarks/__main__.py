"""Every part of ``make bench``, each in a process of its own: one that fails does not stop the others.

``python -m benchmarks [PART ...]``, all without a name; ``benchmarks.utility``, which is about errors and takes long, has
a page and a command of its own. The exit code is 1 if a part failed, and the last line says
which. Peers that want other packages than ours have an environment of their own; where that is not there, the part runs
without them, and is counted as failed. The figures of a part that ran through are put into its place in README.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks import figures

ROOT: Final = Path(__file__).resolve().parents[1]


class Part(NamedTuple):
    """A benchmark, what it is given, and the folder in .venv of its peers' environment."""

    name: str
    words: tuple[str, ...] = ()
    peers: str = ""


PARTS: Final = (
    *map(Part, ("commands", "release", "statistics", "csv_files", "people", "visits", "ledger", "ids", "spark")),
    Part("growth", ("--write",)),
    *map(Part, ("large", "noise", "channels", "graphs")),
    Part("composition", peers="accountants"),
    Part("voting", peers="peers"),
    *map(Part, ("queries", "far")),
    Part("groups", ("sqlite",)),
)


def run(part: Part) -> str | None:
    """Run a part; what went wrong, None if nothing did."""
    own = ROOT / ".venv" / part.peers / "bin" / "python"
    there = not part.peers or (own.exists() and (own.parents[1] / "installed").exists())
    python = str(own) if part.peers and there else sys.executable
    env = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    where = figures.machine()
    words = [python, "-m", f"benchmarks.{part.name}", *part.words]
    done = subprocess.run(words, cwd=ROOT, env=env, check=False, stdout=subprocess.PIPE, text=True)
    print(done.stdout or "", end="", flush=True)
    if done.returncode:
        return f"{part.name} failed with exit code {done.returncode}"
    figures.write(part.name, done.stdout or "", where)
    return None if there else f"{part.name} ran without its peers, which are not installed in .venv/{part.peers}"


def main(names: list[str]) -> None:
    unknown = set(names) - {part.name for part in PARTS}
    if unknown:
        sys.exit(f"there is no benchmark {sorted(unknown)[0]!r}; there are {', '.join(part.name for part in PARTS)}")
    wrong: list[str] = []
    for part in PARTS:
        if not names or part.name in names:
            print(f"\n== benchmarks.{part.name}", file=sys.stderr, flush=True)
            wrong += [told] if (told := run(part)) else []
    sys.exit("; ".join(wrong) or None)


if __name__ == "__main__":
    main(sys.argv[1:])
