"""The tutorial runs as it stands: her file, the commands in their order, what they print, their exit codes.

Its black-box answers are random. What is refuted there is so far off that it is missed less than once in a million
times, and what is not is accused about as seldom.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands

PAGE = Path(__file__).resolve().parents[3] / "docs" / "tutorials" / "audit.md"
FILES = ("by-town-and-sex.csv", "by-town.csv")


def test_a_newcomer_audits_a_function_of_her_own_in_five_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    code, said, run, tables = "", "", 0, iter(FILES)
    refuted = []
    for language, block in blocks:
        match language:
            case "py":
                code += block
                if run == 0:
                    assert len([line for line in code.splitlines() if line.strip()]) <= 5
                Path("mine.py").write_text(code, encoding="utf-8")
            case "csv":
                Path(next(tables)).write_text(block, encoding="utf-8")
            case "text":
                assert all(line in said for line in block.splitlines()), said
            case "":
                sys.modules.pop("mine", None)
                done = CliRunner().invoke(commands, shlex.split(block)[1:], catch_exceptions=False)
                said, run = done.stdout, run + 1
                refuted.append(done.exit_code == 4)
                assert done.exit_code in (0, 4), done.stderr
    sys.modules.pop("mine", None)
    assert refuted == [True, False, True, True, False, True]
