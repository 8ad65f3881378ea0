"""Packages by their hashes, so that what is installed is what was tested.

::

    python website/lock.py install EXTRAS    hubbub[EXTRAS] into this environment, as make does
    python website/lock.py write             hashes.txt again, after a change of constraints.txt (make lock)

``hashes.txt`` lists every package of ``constraints.txt`` that an extra of ``pyproject.toml`` needs, for which extras it
is, and the SHA-256 of its source and of its wheels for Linux. Where the platform is another one, or the packages cannot
be had, they are installed by their versions, and that is said. A package whose bytes are others than those that were
tested is never installed. The standard library is all that this file needs: it runs before anything is installed.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote
from urllib.request import Request, urlopen

ROOT: Final = Path(__file__).resolve().parents[1]
HASHES: Final = ROOT / "hashes.txt"
VERSIONS: Final = ROOT / "constraints.txt"
OWN: Final = "hubbub"  # what it needs without any extra
BUILDING: Final = "setuptools"  # comes first, and the build uses it as it is
MACHINES: Final = ("x86_64", "aarch64")
PYTHONS: Final = ((3, 11), (3, 14))  # the first and the last whose wheels are listed
MISMATCH: Final = "DO NOT MATCH THE HASHES"
_PIP: Final = ("-m", "pip", "--disable-pip-version-check", "--no-input", "-qq")


class Locked(NamedTuple):
    """A package: which extras need it, and the lines that pip reads."""

    name: str
    extras: frozenset[str]
    lines: str


def canonical(name: str) -> str:
    """How a package is called, however it is spelt.

    >>> canonical("Typing_Extensions")
    'typing-extensions'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(text: str) -> Iterator[Locked]:
    """What a file of hashes lists."""
    for extras, lines in re.findall(r"^# for: (.*)\n((?:.*\\\n)*.*\n)", text, re.MULTILINE):
        yield Locked(canonical(lines.partition("==")[0]), frozenset(extras.split()), lines)


def wanted(text: str, extras: Iterable[str]) -> str:
    """The lines for a set of extras, as a file of requirements."""
    asked = {OWN, *extras}
    return "".join(each.lines for each in locked(text) if each.extras & asked)


def covered() -> bool:
    """Whether wheels for this machine are listed."""
    first, last = PYTHONS
    version = sys.version_info[:2]
    return sys.platform == "linux" and platform.machine() in MACHINES and first <= version <= last


# --- installing -----------------------------------------------------------------------------------------------------


def by_hashes(python: str | Path, extras: Iterable[str], *, where: str | Path = ROOT) -> str | None:
    """Install what hubbub[EXTRAS] needs, by hashes; why that cannot be done, None if it was.

    Guarantee: ends the process where a package has other bytes than those that were tested.
    """
    if not covered():
        return f"hashes.txt is for Linux on {' and '.join(MACHINES)}, and this is another platform or Python"
    text = HASHES.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in (("first", wanted_alone(text, BUILDING)), ("all", wanted(text, extras))):
            file = Path(folder) / f"{name}.txt"
            file.write_text(lines, encoding="utf-8")
            words = ["install", "--require-hashes", "--no-build-isolation", "--requirement", str(file)]
            done = subprocess.run([str(python), *_PIP, *words], cwd=where, capture_output=True, text=True, check=False)
            if MISMATCH in done.stderr:
                sys.exit(
                    f"{done.stderr.strip()}\n\nA package is not the one that was tested, so nothing more is installed. "
                    "If its version was changed on purpose, run make lock; else ask where the other bytes come from."
                )
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["no word from pip"])[-1]
                return f"pip says: {last[:300]}"
    return None


def wanted_alone(text: str, name: str) -> str:
    """The lines of one package."""
    return next(each.lines for each in locked(text) if each.name == name)


def install(extras: str) -> None:
    """This repository, editable, with some extras: by hashes, or else by versions, and then it says so."""
    why = by_hashes(sys.executable, extras.split(","))
    editable = ["--no-build-isolation", "--editable", f"{ROOT}[{extras}]"]
    if why is None:
        done = subprocess.run([sys.executable, *_PIP, "install", "--no-index", *editable], check=False)
        if not done.returncode:
            return
        why = "hashes.txt lacks a package that pyproject.toml asks for; run make lock"
    print(f"Not installed by hashes but by versions, so that nobody checks the bytes: {why}", file=sys.stderr)
    for words in ([BUILDING], editable):
        subprocess.run([sys.executable, *_PIP, "install", "--constraint", str(VERSIONS), *words], check=True)


# --- writing --------------------------------------------------------------------------------------------------------


def write() -> None:
    """``hashes.txt`` from ``constraints.txt``: what each extra needs as pip resolves it here, and the hashes as the
    package index that pip is set to lists them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs: dict[str, set[str]] = {BUILDING: {OWN}}
    own = _resolved([*project["dependencies"]])
    for extra, more in {OWN: [], **project["optional-dependencies"]}.items():
        for name in _resolved([*project["dependencies"], *more]) if more else own:
            needs.setdefault(name, set()).add(OWN if name in own else extra)
    listed = [line for line in VERSIONS.read_text(encoding="utf-8").splitlines() if "==" in line]
    versions = {canonical(line.partition("==")[0]): line.strip() for line in listed}
    head = (
        "Written by make lock: the packages of constraints.txt, with the hashes of their sources and of their wheels",
        f"for Linux on {' and '.join(MACHINES)} and Python 3.{PYTHONS[0][1]} to 3.{PYTHONS[1][1]}. After `for` stand "
        "the extras that need one.",
    )
    parts = ["".join(f"# {line}\n" for line in head)]
    for name in sorted(needs):
        digests = sorted(_digests(name, versions[name].partition("==")[2]))
        lines = " \\\n".join([versions[name], *(f"    --hash=sha256:{digest}" for digest in digests)])
        parts.append(f"# for: {' '.join(sorted(needs[name]))}\n{lines}\n")
        print(f"{versions[name]}: {len(digests)} files", file=sys.stderr)
    HASHES.write_text("".join(parts), encoding="utf-8")


def _resolved(requirements: list[str]) -> set[str]:
    """Every package that these need, as pip finds them with the versions of constraints.txt."""
    words = ["install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-", "--constraint", str(VERSIONS)]
    done = subprocess.run([sys.executable, *_PIP, *words, *requirements], capture_output=True, text=True, check=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return {canonical(each["metadata"]["name"]) for each in report["install"]}


def _digests(name: str, version: str) -> set[str]:
    """The SHA-256 of the files of a version that are for us."""
    asked = Request(f"{_index()}/{name}/", headers={"Accept": "text/html"})
    with urlopen(asked, timeout=60) as answer:
        page = unescape(answer.read().decode())
    files = re.findall(r'href="[^"]*?([^/"]+)#sha256=([0-9a-f]{64})"', page)
    found = {digest for file, digest in files if is_ours(unquote(file), version)}
    if not found:
        raise SystemExit(f"the index has no file of {name} {version} for us; check constraints.txt")
    return found


def _index() -> str:
    """The package index that pip is set to."""
    words = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    known = os.environ.get("PIP_INDEX_URL") or subprocess.run(words, capture_output=True, text=True, check=False).stdout
    if not known.strip():
        from pip._internal.models.index import PyPI

        known = str(PyPI.simple_url)
    return known.strip().rstrip("/")


def is_ours(file: str, version: str) -> bool:
    """Whether a file is that of a version, and its source or a wheel for the machines and Pythons that are listed.

    >>> is_ours("numpy-2.4.6-cp312-cp312-manylinux_2_28_x86_64.whl", "2.4.6")
    True
    >>> is_ours("numpy-2.4.6-cp312-cp312-macosx_14_0_arm64.whl", "2.4.6"), is_ours("numpy-2.4.6.tar.gz", "2.4.6")
    (False, True)
    >>> is_ours("numpy-2.4.6-cp310-cp310-manylinux_2_28_x86_64.whl", "2.4.6"), is_ours("numpy-2.4.60.tar.gz", "2.4.6")
    (False, False)
    """
    if not file.endswith(".whl"):
        return re.fullmatch(rf".+-{re.escape(version)}\.(tar\.gz|zip)", file) is not None
    parts = file.removesuffix(".whl").split("-")
    if parts[1] != version:
        return False
    python, abi, machine = parts[-3:]
    minors = [f"cp3{minor}" for minor in range(PYTHONS[0][1], PYTHONS[1][1] + 1)]
    right_python = abi in ("none", "abi3") or (python in minors and abi in minors)
    return right_python and (machine == "any" or ("linux" in machine and machine.endswith(MACHINES)))


def main(words: list[str]) -> None:
    if words == ["write"]:
        write()
    elif len(words) == 2 and words[0] == "install":
        install(words[1])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
