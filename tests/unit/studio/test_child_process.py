"""Processes of ours start with a safe path, in a neutral folder: planted modules never run (threat 56)."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from hubbub.runtime import child_process
from hubbub.studio.answers import Answers, soon
from tests.unit.shared.workbooks import sheet_of
from tests.unit.studio.opened import CSV, FILLED, Opened, plain
from tests.unit.studio.opened import opened as open_studio

pytest.importorskip("python_calamine")

SOURCE = Path(child_process.__file__).parents[1]
OURS = ("hubbub.engines.files.excel_reader", "hubbub.studio.background", "hubbub.studio.work.worker")
PLANTED = (
    *("pickle", "csv", "json", "struct", "runpy", "multiprocessing", "datetime", "decimal", "sitecustomize"),
    "hubbub",
    "pyarrow",
    "numpy",
    "duckdb",
    "flint",
    "python_calamine",
)
ROWS = {1: ("id", "town"), **{i: (str(i), "Bath") for i in range(2, 40)}}


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with tables and with modules in it that say so if they run; a parent that would run them,
    but has loaded its own."""
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "people.csv").write_text(CSV, encoding="utf-8")
    sheet_of(folder / "sheet.xlsx", ROWS)
    for name in PLANTED:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('{name} ')\nraise SystemExit\n")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", ["", str(folder), *sys.path])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", os.environ.get("PYTHONPATH", "")]))
    return folder


def ran(folder: Path) -> str:
    marks = folder.parent / "ran"
    return marks.read_text() if marks.exists() else ""


@pytest.mark.parametrize("module", OURS)
def test_what_lies_beside_the_tables_does_not_run(planted: Path, module: str) -> None:
    asked = {"path": str(planted / "sheet.xlsx"), "name": None, "memory": 8 << 30, "seconds": 60, "close": True}
    given = b"" if module.endswith("background") else json.dumps(asked).encode()
    start = child_process.command(module)
    done = subprocess.run(start, input=given, capture_output=True, cwd=child_process.NEUTRAL, check=False)
    assert ran(planted) == ""
    assert done.returncode == 0, done.stderr
    assert bool(done.stdout) is (module != "hubbub.studio.background")


def test_it_would_run_if_they_were_started_as_usual(planted: Path) -> None:
    """The control."""
    subprocess.run([sys.executable, "-m", "hubbub.studio.work.worker"], input=b"{}", capture_output=True, check=False)
    assert ran(planted) != ""


def test_a_studio_among_planted_modules_releases_plans_and_reads_sheets(planted: Path) -> None:
    sys.path[:] = child_process.safe_path()  # as the server of the studio does
    with open_studio(planted) as studio:
        studio.app_state.answers.warm()
        assert _slow(studio.app_state.answers, "where", partial(os.getcwd)) == child_process.NEUTRAL
        assert studio.get("/publish/table", params={"file": "sheet.xlsx", "named": "1"})[0] == 200
        page = studio.released({**FILLED, "who": "column:id"})
        assert "Published" in plain(page)
        assert (planted / "out" / "certificate.json").is_file()
    assert ran(planted) == ""


def _slow(answers: Answers, key: str, work: partial[str]) -> str:
    for _ in range(2000):
        found = answers.answer(key, work, soon(), slow=True)
        if not found.waiting:
            assert found.value is not None, found.error
            return found.value
        time.sleep(0.02)
    raise AssertionError("it did not end")


def test_an_installation_is_found_wherever_it_is() -> None:
    """A checkout on a relative PYTHONPATH, seen from its own folder; and one that lies in the current folder itself."""
    ask = "import hubbub; print(hubbub.__file__)"
    code = (
        "import subprocess, sys; from hubbub.runtime import child_process; start = child_process.command('hubbub.studio.background'); "
        f"start[3] = start[3].partition('import runpy')[0] + {ask!r}; "
        "print(subprocess.run(start, capture_output=True, text=True, cwd=child_process.NEUTRAL).stdout, end='')"
    )
    for where, path in ((SOURCE.parents[1], SOURCE.parent.name), (SOURCE.parent, "."), (SOURCE.parent, "")):
        env = {**os.environ, "PYTHONPATH": path}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=where, env=env, capture_output=True, text=True, check=True
        )
        assert Path(done.stdout.strip()) == SOURCE / "__init__.py", (where, path)


def test_the_studio_outlives_a_reader_that_crashes(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    sheet_of(opened.folder / "people.xlsx", ROWS)
    dying = [sys.executable, "-c", "import os; os.abort()"]
    with monkeypatch.context() as crashing:
        crashing.setattr(child_process, "command", lambda module: dying)
        status, text = opened.get("/publish/table", params={"file": "people.xlsx"})
    assert status == 400
    assert "The Excel file could not be read" in plain(text)
    assert opened.get("/publish/table", params={"file": "people.csv", "named": "1"})[0] == 200


# --- no process starts otherwise -----------------------------------------------------------------------------------

STARTERS = ("run", "Popen", "call", "check_call", "check_output", "create_subprocess_exec", "create_subprocess_shell")
OTHER = ("multiprocessing", "pty", "os.system", "os.popen", "os.fork", "os.exec", "os.spawn", "os.posix_spawn")


def unsafe(source: str) -> Iterator[str]:
    """Processes that a module starts otherwise than by `child_process.command` in `child_process.NEUTRAL`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            told = ast.unparse(node)
            if "multiprocessing" in told or "ProcessPool" in told or "import pty" in told or "from subprocess" in told:
                yield told
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, told = ast.unparse(node.func), ast.unparse(node)
            starts = node.func.attr in STARTERS and name.startswith(("subprocess.", "asyncio."))
            if (
                name.startswith(OTHER)
                or (starts and node.func.attr == "create_subprocess_shell")
                or (starts and not ("child_process.command(" in told and "cwd=child_process.NEUTRAL" in told))
            ):
                yield told


def test_every_process_starts_so() -> None:
    found = {path: list(unsafe(path.read_text(encoding="utf-8"))) for path in SOURCE.rglob("*.py")}
    assert {path.name: each for path, each in found.items() if each} == {}
    planted = "import multiprocessing", "import subprocess\nsubprocess.run(['ls'])", "import os\nos.system('ls')"
    for source in (*planted, "subprocess.Popen(child_process.command('a'))"):
        assert list(unsafe(source)), source
