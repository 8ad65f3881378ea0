"""The private folder of a query: gone with it, or with the next one if its process was killed."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.engines.duckdb.connection import Scratch
from hubbub.engines.files.frames import open_frame
from hubbub.errors import WrongUse
from tests.fresh import counts, open

KILLED = """
import os, signal
from hubbub.engines.duckdb.connection import Scratch
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


COPIED = """
import os, signal, sys
from hubbub.engines.files.files import open_file
from hubbub.engines.files import csv_file
if sys.argv[2] == "while it is written":
    write = csv_file._copy_decoded
    def killed(*given):
        write(*given)
        given[1].flush()
        os.kill(os.getpid(), signal.SIGKILL)
    csv_file._copy_decoded = killed
opened = open_file(sys.argv[1])
assert opened.columns()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files have no numbers to read them by")
@pytest.mark.parametrize("when", ["while it is written", "while it is read"])
def test_a_kill_leaves_nothing_of_the_plain_copy_of_a_packed_file(temporary: Path, when: str) -> None:
    """Of a .csv.gz, whose cells nobody may read but its steward: not until the next run, and not for a moment."""
    packed = temporary / "people.csv.gz"
    packed.write_bytes(gzip.compress(b"id,town\n" + b"4711,Bath\n" * 1000))
    done = subprocess.run([sys.executable, "-c", COPIED, str(packed), when], check=False)
    assert done.returncode == -signal.SIGKILL
    left = [path for path in temporary.rglob("*") if path.is_file() and path != packed]
    assert [path for path in left if b"4711" in path.read_bytes()] == []


def test_a_packed_file_is_read_twice_and_closed_once(temporary: Path) -> None:
    packed = temporary / "people.csv.gz"
    packed.write_bytes(gzip.compress(b"id,town\n" + b"4711,Bath\n" * 1000))
    for _ in range(2):
        release = open(packed).histogram(["town=Bath"], crowd=20)
        assert counts(release).published.values.tolist() == [1000]
    scratch = Scratch()
    file, path = scratch.new_file("x")
    with file:
        file.write(b"secret")
    assert Path(path).read_bytes() == b"secret"
    scratch.clear()
    assert not Path(path).exists() or Path(path).read_bytes() != b"secret"


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
