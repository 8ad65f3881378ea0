from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.concurrency import run_in_threadpool

from hubbub.errors import HubbubError
from hubbub.studio.answers import Answers
from hubbub.studio.work.work import Job, Work
from hubbub.studio.work.worker import work
from tests.unit.studio.opened import CSV, Here, Opened
from tests.unit.studio.opened import opened as open_studio


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "people.csv").write_text(CSV, encoding="utf-8")
    with open_studio(folder) as found:
        yield found


@pytest.fixture
def in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases are made here and not in a process of their own, which takes a second to start."""

    async def begin(self: Work, asked: Mapping[str, Any]) -> None:
        self.job = Job(request=asked)
        try:
            await run_in_threadpool(work, asked, self._receive, Here())
        except HubbubError as error:
            self._receive({"error": error.marked, "code": error.exit_code})

    monkeypatch.setattr(Work, "begin", begin)
    monkeypatch.setattr(Answers, "_background", lambda self: self._hands)
