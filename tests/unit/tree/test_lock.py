"""What is installed is what was tested: hashes.txt lists every package of constraints.txt that an extra needs."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest

from website import lock

TEXT = lock.HASHES.read_text(encoding="utf-8")
LOCKED = {each.name: each for each in lock.locked(TEXT)}
PROJECT = tomllib.loads((lock.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = {lock.OWN: [], **PROJECT["optional-dependencies"]}


def test_versions_are_those_of_the_constraints_and_every_package_has_hashes() -> None:
    lines = lock.VERSIONS.read_text(encoding="utf-8").splitlines()
    versions = {lock.canonical(line.partition("==")[0]): line for line in lines if "==" in line}
    assert set(LOCKED) <= set(versions)
    assert len(LOCKED) > 80
    for each in LOCKED.values():
        first, *hashes = [line.removesuffix(" \\").strip() for line in each.lines.splitlines()]
        assert first == versions[each.name]
        assert hashes
        assert all(re.fullmatch("--hash=sha256:[0-9a-f]{64}", line) for line in hashes)
        assert each.extras <= set(EXTRAS)


def test_no_address_stands_in_it() -> None:
    assert "://" not in TEXT


def needed(requirements: list[str]) -> set[str]:
    """What these need, as far as it is installed here, whatever its own extras."""
    found: set[str] = set()
    waiting = [re.split(r"[\s\[<>=!;~]", each, maxsplit=1)[0] for each in requirements]
    while waiting:
        name = lock.canonical(waiting.pop())
        if name in found:
            continue
        found.add(name)
        try:
            more = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        waiting += [re.split(r"[\s\[<>=!;~(]", each, maxsplit=1)[0] for each in more if ";" not in each]
    return found


@pytest.mark.parametrize("extra", EXTRAS)
def test_what_an_extra_needs_is_listed_for_it(extra: str) -> None:
    asked = {
        lock.canonical(line.partition("==")[0]) for line in lock.wanted(TEXT, [extra]).splitlines() if "==" in line
    }
    assert needed([*PROJECT["dependencies"], *EXTRAS[extra]]) <= asked


def said(answer: str, code: int, calls: list[list[str]]) -> Any:
    def run(words: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        calls.append(words)
        hashed = "--require-hashes" in words
        return subprocess.CompletedProcess(words, code if hashed else 0, "", answer if hashed else "")

    return run


def test_other_bytes_than_those_that_were_tested_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(lock, "covered", lambda: True)
    monkeypatch.setattr(subprocess, "run", said(f"ERROR: THESE PACKAGES {lock.MISMATCH} FROM ...", 1, calls))
    with pytest.raises(SystemExit, match="not the one that was tested"):
        lock.install("charts")
    assert len(calls) == 1  # nothing was installed by its version instead


def test_where_hashes_cannot_help_versions_do_and_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(lock, "covered", lambda: True)
    monkeypatch.setattr(subprocess, "run", said("ERROR: no way to the index", 1, calls))
    lock.install("charts,studio")
    assert (
        "by versions, so that nobody checks the bytes: pip says: ERROR: no way to the index" in capsys.readouterr().err
    )
    assert ["--constraint" in words for words in calls] == [False, True, True]
    monkeypatch.setattr(lock, "covered", lambda: False)
    lock.install("charts")
    assert "this is another platform or Python" in capsys.readouterr().err


def test_installed_by_hashes_nothing_more_is_fetched(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(lock, "covered", lambda: True)
    monkeypatch.setattr(subprocess, "run", said("", 0, calls))
    lock.install("charts")
    assert ["--require-hashes" in words or "--no-index" in words for words in calls] == [True, True, True]
    assert capsys.readouterr().err == ""


def test_pip_refuses_a_file_whose_hash_is_another(tmp_path: Path) -> None:
    """The word that tells a wrong hash from all else is pip's own: this is what it says today."""
    wheel = tmp_path / "odd-1.0-py3-none-any.whl"
    wheel.write_bytes(b"PK\x05\x06" + bytes(18))
    asked = tmp_path / "asked.txt"
    asked.write_text(f"odd==1.0 --hash=sha256:{'0' * 64}\n")
    words = ["install", "--no-index", "--find-links", str(tmp_path), "--require-hashes", "--dry-run", "-r", str(asked)]
    done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False)
    assert done.returncode
    assert lock.MISMATCH in done.stderr


def test_the_site_is_built_with_what_its_notebooks_run() -> None:
    """The site runs them, in an environment that has the extras charts and docs and no other."""
    text = "".join(page.read_text(encoding="utf-8") for page in (lock.ROOT / "docs" / "notebooks").glob("*.ipynb"))
    wanted = {"pandas": "pandas", "polars": "polars", "sqlglot": "SELECT WITH", "pyspark": "pyspark", "scipy": "scipy"}
    used = {package for package, sign in wanted.items() if sign in text}
    listed = {lock.canonical(line.partition("==")[0]) for line in lock.wanted(TEXT, ["charts", "docs"]).splitlines()}
    assert used >= {"pandas", "sqlglot"}
    assert used <= listed
