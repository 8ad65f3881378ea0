"""The private folder of a query: gone with it, or with the next one if its process was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.engines.frames import open_frame
from hubbub.engines.scratch import Scratch
from hubbub.errors import WrongUse

KILLED = """
import os, signal
from hubbub.engines.scratch import Scratch
folder = Scratch().folder
(folder / "spill").mkdir()
(folder / "spill" / "rows").write_text("secret")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_what_a_killed_process_spilled_is_removed_by_the_next_one(temporary: Path) -> None:
    assert subprocess.run([sys.executable, "-c", KILLED], check=False).returncode == -signal.SIGKILL
    assert [path.read_text() for path in temporary.glob("*/spill/rows")] == ["secret"]
    Scratch().clear()
    assert os.listdir(temporary) == []


def test_folders_in_use_and_folders_of_others_stay(temporary: Path) -> None:
    used = Scratch()
    kept = [temporary / "hubbub-demo", temporary / "hubbub-spill-abcdefgh", temporary / "hubbub-spill-somethingelse"]
    for folder in kept:
        folder.mkdir(mode=0o700)
        (folder / "mine").write_text("")
    (temporary / "hubbub-spill-12345678").symlink_to(kept[0])
    Scratch().clear()
    assert used.folder.is_dir()
    assert all((folder / "mine").exists() for folder in kept)
    used.clear()
    assert not used.folder.exists()


def test_a_full_folder_for_temporary_files_gets_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with pytest.raises(WrongUse, match=r"no temporary folder can be made; make room .* TMPDIR"):
        open_frame(pa.table({"x": [1]}))
