"""Every test has a ledger of its own: what one test releases is not spent in another."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_ledger(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.delenv("HUBBUB_LEDGER", raising=False)
    return home


NO_BROWSER = "no browser here"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in the last lines that nobody looked at the pages, if nobody could."""
    reasons = {str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", []) if report.longrepr}
    told = sorted({reason.removeprefix("Skipped: ") for reason in reasons if NO_BROWSER in reason})
    for each in told:
        terminalreporter.write_line(f"The pages were not looked at: {each}")
