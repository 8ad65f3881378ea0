"""The Python examples of the README and the documentation run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from hubbub.demo import millbrook

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.name}-{i}")
    for page in PAGES
    for i, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
]


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 2


@pytest.mark.parametrize("block", BLOCKS)
def test_an_example_runs(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hubbub-demo").mkdir()
    parquet.write_table(millbrook.people(), tmp_path / "hubbub-demo" / "millbrook.parquet")  # what the demo leaves
    exec(compile(block, "example", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out
