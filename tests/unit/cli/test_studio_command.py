"""``hubbub studio``: what it says before anything is opened."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub.cli import studio as command
from hubbub.cli.main import commands
from hubbub.studio import server


def run(*words: str) -> Any:
    return CliRunner().invoke(commands, ["studio", *words], catch_exceptions=False)


def test_a_folder_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("missing", "file"):
        done = run(str(tmp_path / name), "--no-browser")
        assert done.exit_code == 2
        assert done.stderr.count("\n") == 1


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    with server.listening(0) as taken:
        port = str(taken.getsockname()[1])
        done = run(str(tmp_path), "--no-browser", "--port", port)
    assert done.exit_code == 2
    assert f"port {port} cannot be used" in done.stderr


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "starlette" else object())
    done = run(str(tmp_path))
    assert done.exit_code == 2
    assert "the studio needs starlette" in done.stderr
    assert ".[studio]" in done.stderr


def test_the_link_reaches_the_browser_by_a_file_that_nobody_else_reads(tmp_path: Path) -> None:
    """What a program is started with is seen by everybody on the machine."""
    door = server._door(tmp_path, "http://127.0.0.1:1/open/key")
    assert "key" not in door
    assert "/open/key" in (tmp_path / "open.html").read_text()
    assert stat.S_IMODE((tmp_path / "open.html").stat().st_mode) == 0o600
