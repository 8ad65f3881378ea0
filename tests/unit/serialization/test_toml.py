"""TOML files of people: exact numbers, and no file that takes more than a moment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hubbub.errors import WrongUse
from hubbub.kinds.questions.request import from_file
from hubbub.plan.shape import facts
from hubbub.project.plan_file import read_plan
from hubbub.report.heading import _words
from hubbub.serialization.toml import LARGEST, read_toml

HOSTILE = {
    "dots": "a" + ".a" * 20_000 + " = 1",
    "header": "[" + "a." * 20_000 + "a]",
    "keys under a long header": "[" + "a." * 2_000 + "a]\n" + "\n".join(f"k{i} = 1" for i in range(6_000)),
    "brackets": "a = " + "[" * 50_000,
    "large": "#" * (LARGEST + 1),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_64_a_file_that_would_take_gigabytes_is_refused_before_it_is_parsed(tmp_path: Path, name: str) -> None:
    file = tmp_path / "hubbub.toml"
    file.write_text(HOSTILE[name], encoding="utf-8")
    for reader in (read_plan, from_file, facts, lambda path: _words(str(path))):
        with pytest.raises(WrongUse):
            reader(file)


def test_64_a_pipe_or_a_device_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "hubbub.toml")
    for place in (tmp_path / "hubbub.toml", Path("/dev/zero")):
        for reader in (read_plan, from_file, facts, lambda path: _words(str(path))):
            with pytest.raises(WrongUse, match="read"):
                reader(place)


def test_an_ordinary_file_is_read_with_its_numbers_as_written(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    lines = "\n".join(f'[b{i}.c.d]\nnotes = "One. Two. Three."' for i in range(2_000))
    file.write_text(f"a = [{', '.join(['0.10'] * 150)}]\n{lines}", encoding="utf-8")
    assert read_toml(file)["a"][0] == "0.10"
