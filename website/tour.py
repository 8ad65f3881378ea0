"""Build the wheel, install it in an empty environment, and do the README's tour there, away from the repository.

``make wheel`` runs it and prints what it measured: the size of what was installed beside its limit, and how long the
command takes to start.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

from website.lock import by_hashes

ROOT = Path(__file__).parents[1]
LIMIT = 380  # MB that the package and all it needs may take


def _run(*words: str | Path, at: Path) -> str:
    """Run a command in a folder of its own, with nothing of the user's: ledger, settings or search path."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "XDG_", "HUBBUB_"))}
    done = subprocess.run(
        [str(word) for word in words], cwd=at, env=own | {"HOME": str(at)}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, words))}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def _install(bin_: Path, wheel: Path, extra: str, at: Path) -> None:
    """The wheel and what it needs, by hashes; else by versions, and that is said."""
    why = by_hashes(bin_ / "python", filter(None, [extra]), where=at)
    found = ["--no-index"] if why is None else ["--constraint", str(ROOT / "constraints.txt")]
    if why is not None:
        print(f"not installed by hashes but by versions: {why}")
    _run(bin_ / "pip", "install", "-qq", *found, f"{wheel}[{extra}]" if extra else wheel, at=at)


def _megabytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // 10**6


def steps() -> list[list[str]]:
    """What the README says to type, in its order: commands, and programs for Python."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        if language == "python":
            found.append(["python", "-c", block])
        elif not language:
            typed = [line for line in block.splitlines() if line.startswith("hubbub ") and " studio" not in line]
            found += [shlex.split(line, comments=True) for line in typed]
    return found


def main() -> None:
    """Build, install, tour."""
    dist = ROOT / "dist"
    for old in dist.glob("hubbub-*"):
        old.unlink()
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", dist, ROOT, at=ROOT)
    (wheel,) = dist.glob("*.whl")
    (source,) = dist.glob("*.tar.gz")
    print(f"{wheel.name}: {wheel.stat().st_size // 1000} kB; {source.name}: {source.stat().st_size // 1000} kB")
    with TemporaryDirectory() as folder:
        there = Path(folder)
        venv.create(there / "venv", with_pip=True)
        bin_ = there / "venv" / "bin"
        before = _megabytes(there / "venv")
        _install(bin_, wheel, "", there)
        size = _megabytes(there / "venv") - before
        print(f"installed: {size} MB with all it needs, at most {LIMIT} wanted: {'met' if size <= LIMIT else 'missed'}")
        _run(bin_ / "hubbub", "--version", at=there)
        started = time.perf_counter()
        _run(bin_ / "hubbub", "--help", at=there)
        print(f"hubbub --help: {time.perf_counter() - started:.2f} s")
        _install(bin_, wheel, "charts", there)
        print(f"installed with charts: {_megabytes(there / 'venv') - before} MB")
        _run(bin_ / "hubbub", "demo", at=there)
        for program, *words in steps():
            _run(bin_ / program, *words, at=there)
        print(f"the demo and {len(steps())} steps of the README ran")


if __name__ == "__main__":
    main()
