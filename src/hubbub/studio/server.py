"""The studio's server: this machine alone, one link that opens once, no log of what is asked.

Connections that never finish a request: they are let go after a while, and at once where others need the room.

Whoever is on this machine can open connections, and a process has only so many. So a request has to be there in time,
and of too many connections the one that has waited longest without a whole request goes. A browser's requests are whole
at once, so they are answered however many others wait.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from hubbub.errors import WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.runtime import child_process
from hubbub.studio.app import studio
from hubbub.studio.app_state import AppState
from hubbub.studio.folder import Folder
from hubbub.studio.guard import Guard

LOOPBACK: Final = "127.0.0.1"


def listening(port: int) -> socket.socket:
    """A socket on this machine's own address; port 0 takes any that is free."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((LOOPBACK, port))
        opened.listen(64)
    except (OSError, OverflowError):
        opened.close()
        raise WrongUse(f"port {port} cannot be used; leave it out, and a free one is taken") from None
    return opened


def serve(
    folder: str | os.PathLike[str],
    *,
    ledger: str | os.PathLike[str] | None = None,
    example: bool = False,
    port: int = 0,
    browser: bool = True,
    announce: Callable[[str], object] = print,
) -> None:
    """Open the studio on a folder, and stay until it is stopped. With `example`, Millbrook is put into the folder, with
    a ledger of its own: nobody lives there, and the user's own ledger is not for that."""
    sys.path[:] = child_process.safe_path()  # pages are loaded when they are asked for, and never from among the tables
    path = Path(folder)
    if example:
        from hubbub.studio.example_data import put

        path.mkdir(parents=True, exist_ok=True)
        put(path)
        ledger = path / "ledger" / "ledger.db" if ledger is None else ledger
    books = None if ledger is None else Path(ledger).resolve()
    app_state = AppState(Folder.at(path, Ledger(books).path), books)
    opened = listening(port)
    logging.disable(logging.CRITICAL)  # what went wrong is told on the page; a traceback may hold a cell
    guard = Guard(studio(app_state), opened.getsockname()[1])
    announce(guard.link())
    Thread(target=_warm, args=(app_state,), daemon=True).start()
    settings: dict[str, Any] = {
        "http": Patient,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "lifespan": "on",
    }
    server = uvicorn.Server(uvicorn.Config(guard, timeout_graceful_shutdown=5, **settings))
    with tempfile.TemporaryDirectory(prefix="hubbub-studio-") as own:
        if browser:
            Thread(target=webbrowser.open, args=(_door(Path(own), guard.link()),), daemon=True).start()
        server.run(sockets=[opened])


def _door(folder: Path, link: str) -> str:
    """A file for this user alone that leads to the link: what a program is started with, everybody here can see."""
    door = folder / "open.html"
    text = f'<!DOCTYPE html><meta http-equiv="refresh" content="0;url={link}"><a href="{link}">Open the studio</a>'
    with os.fdopen(os.open(door, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as out:
        out.write(text)
    return door.as_uri()


def _warm(app_state: AppState) -> None:
    """Load what the pages will need while the reader is still looking at the first."""
    for name in ("publish", "progress", "plan", "check", "ledger", "vote"):
        import_module(f"hubbub.studio.pages.{name}")
    app_state.answers.warm()


# --- connections that never finish a request ----------------------------------------------------------------------


MOST: Final = 100  # connections at once
HEAD = 10.0  # seconds for what is asked
BODY: Final = 120.0  # seconds for what is sent with it


class Patient(H11Protocol):
    """HTTP as uvicorn speaks it, with an end to patience."""

    since: float = 0.0
    _deadline: asyncio.TimerHandle | None = None
    _state: Any = None

    @property
    def half_open(self) -> bool:
        """Whether a request is not whole, or has not begun."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = self.loop.time()
        if len(self.connections) > MOST:
            waiting = [each for each in self.connections if isinstance(each, Patient) and each.half_open]
            min(waiting, key=lambda each: each.since).transport.abort()
        self._expect()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._expect()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _expect(self) -> None:
        """The clock runs from when the state changed, not from the last byte: who sends one at a time gains nothing."""
        state = self.conn.their_state
        if state is self._state:
            return
        self._forget()
        self._state = state
        if self.half_open:
            self.since = self.loop.time()
            self._deadline = self.loop.call_later(HEAD if state is h11.IDLE else BODY, self.transport.abort)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
