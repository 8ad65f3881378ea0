"""The notebooks run from top to bottom, are stored without what came out, and show something in every code cell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from website import notebooks

FOLDER = Path(__file__).parents[3] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_three() -> None:
    assert [each.stem for each in NOTEBOOKS] == ["pandas", "publication", "teaching"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path) -> None:
    code = [cell for cell in notebooks.run(notebook) if cell.kind == "code"]
    assert len(code) >= 4
    assert sum(1 for cell in code if cell.printed or cell.value is not None) >= len(code) - 1


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_output(notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert not [cell for cell in cells if cell.get("outputs")]
