from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.studio.opened import CSV, Opened
from tests.unit.studio.opened import opened as open_studio


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "people.csv").write_text(CSV, encoding="utf-8")
    with open_studio(folder) as found:
        yield found
