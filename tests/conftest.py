"""Every test has a ledger of its own, every property test the same examples in every run, and a slow test its mark."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from tests import servers
from tests.servers import ABSENT
from tests.slow import is_other_case, is_slow, is_slow_file


def pytest_configure() -> None:
    """Hypothesis also tries constants of the modules that happen to be loaded, others in another order of the tests.

    The "ci" profile repeats itself exactly only without them: what failed for one is then seen to fail by everybody.
    """
    assert hasattr(providers, "_get_local_constants"), "Hypothesis takes constants from modules by another way now"
    providers._get_local_constants = Constants


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where slow tests are left out, files that hold no other are not even imported."""
    return True if config.option.markexpr == "not slow" and is_slow_file(collection_path) else None


@pytest.hookimpl(tryfirst=True)  # before -m looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow."""
    seen: set[tuple[Path, str]] = set()
    for item in items:
        name, marks = getattr(item, "originalname", None) or item.name, {mark.name for mark in item.iter_markers()}
        if is_slow(item.path, name, marks) or is_other_case(item.path, name, seen):
            item.add_marker("slow")


@pytest.hookimpl(tryfirst=True)  # before its fixtures
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Only a slow test starts a database server or Spark, and so `make test` needs none."""
    servers.allowed = item.get_closest_marker("slow") is not None


_homes = count(1)


@pytest.fixture(autouse=True)
def own_ledger(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What one test releases is not spent in another."""
    # Not by mktemp, which looks at the folders of all tests before.
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_homes))
    home.mkdir(parents=True)
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.delenv("HUBBUB_LEDGER", raising=False)
    return home


@pytest.fixture(autouse=True)
def disk_of_fast_tests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fast test does not wait for the disk. What is left after a kill or a power cut, slow tests say."""
    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture(autouse=True)
def nothing_left_behind(own_ledger: Path) -> Iterator[None]:
    """What is one for the whole process is as it was, or the next test fails by the order of the tests."""
    before = csv.field_size_limit(), os.umask(0o022)
    os.umask(before[1])
    yield
    after = csv.field_size_limit(), os.umask(0o022)
    os.umask(after[1])
    assert after == before


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was not run because it is not here, in the last lines."""
    for reason in sorted(set(_absent(terminalreporter.stats.get("skipped", [])))):
        terminalreporter.write_line(f"Not run: {reason}")


def _absent(skipped: list[Any]) -> Iterator[str]:
    for report in skipped:
        _, found, reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else "").partition(ABSENT)
        if found:
            yield reason
