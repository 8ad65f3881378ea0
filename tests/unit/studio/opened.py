"""A studio on a folder, without a socket: what a browser that was let in would see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from hubbub.studio.app import studio
from hubbub.studio.app_state import AppState
from hubbub.studio.folder import Folder
from hubbub.studio.guard import Guard
from hubbub.studio.work.worker import Interrupt

PORT = 8123
HOST = f"127.0.0.1:{PORT}"
HOME = f"http://{HOST}"
OWN = {"origin": HOME}

TOWNS = ["Bath"] * 60 + ["York"] * 40 + ["Wells"] * 2
CSV = "id,town,age\n" + "".join(f"{i},{town},{20 + i % 50}\n" for i, town in enumerate(TOWNS))

FILLED = {
    "file": "people.csv",
    "guided": "1",
    "asked": "1",
    "named": "1",
    "who": "column:id",
    "by1-use": "on",
    "by1-values": "Bath,York,Wells",
    "by1-null": "on",
    "promise": "noise",
    "epsilon": "1",
    "out": "out",
}


class Opened:
    """A client that has the cookie; `outside` has none."""

    def __init__(self, client: TestClient, guard: Guard, app_state: AppState, folder: Path) -> None:
        self.client, self.guard, self.app_state, self.folder = client, guard, app_state, folder

    def get(self, path: str, **more: object) -> tuple[int, str]:
        answer = self.client.get(path, **more)  # type: ignore[arg-type]
        return answer.status_code, answer.text

    def send(self, path: str, form: dict[str, str], **more: object) -> tuple[int, str]:
        answer = self.client.post(path, data=form, headers=OWN, **more)  # type: ignore[arg-type]
        return answer.status_code, answer.text

    def released(self, form: dict[str, str], path: str = "/publish/release") -> str:
        """Release, and wait for it; the last page."""
        status, text = self.send(path, form)
        assert status in (200, 400, 409), text  # what the release met leads back to the form
        for _ in range(3000):
            job = self.app_state.work.job
            assert job is not None, plain(text)
            if not job.running:
                return self.get("/progress")[1]
            self.client.portal.call(_moment)  # type: ignore[union-attr]
        raise AssertionError("the release did not end")


class Here(Interrupt):
    """For work in this process: nobody interrupts it."""

    def listen(self) -> None: ...

    def shield(self) -> None: ...


async def _moment() -> None:
    import asyncio

    await asyncio.sleep(0.02)


@contextmanager
def opened(folder: Path, ledger: Path | None = None) -> Iterator[Opened]:
    """The studio, opened by its link."""
    folder.mkdir(exist_ok=True)
    app_state = AppState(Folder.at(folder, ledger), ledger)
    guard = Guard(studio(app_state), PORT)
    with TestClient(guard, base_url=HOME) as client:
        assert client.get(guard.link().removeprefix(HOME)).status_code == 200
        yield Opened(client, guard, app_state, folder)


def plain(text: str) -> str:
    """The words of a page."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))
