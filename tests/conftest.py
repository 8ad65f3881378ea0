"""Every test has a ledger of its own: what one test releases is not spent in another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import ABSENT


@pytest.fixture(autouse=True)
def own_ledger(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.delenv("HUBBUB_LEDGER", raising=False)
    return home


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was not run because it is not here, in the last lines."""
    for reason in sorted(set(_absent(terminalreporter.stats.get("skipped", [])))):
        terminalreporter.write_line(f"Not run: {reason}")


def _absent(skipped: list[Any]) -> Iterator[str]:
    for report in skipped:
        _, found, reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else "").partition(ABSENT)
        if found:
            yield reason
