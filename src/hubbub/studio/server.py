"""The studio's server: this machine alone, one link that opens once, no log of what is asked."""

from __future__ import annotations

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

import uvicorn

from hubbub import children
from hubbub.errors import WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.studio.app import studio
from hubbub.studio.app_state import Desk
from hubbub.studio.connections import Patient
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
    sys.path[:] = children.safe_path()  # pages are loaded when they are asked for, and never from among the tables
    path = Path(folder)
    if example:
        from hubbub.studio.example import put

        path.mkdir(parents=True, exist_ok=True)
        put(path)
        ledger = path / "ledger" / "ledger.db" if ledger is None else ledger
    books = None if ledger is None else Path(ledger).resolve()
    desk = Desk(Folder.at(path, Ledger(books).path), books)
    opened = listening(port)
    logging.disable(logging.CRITICAL)  # what went wrong is told on the page; a traceback may hold a cell
    guard = Guard(studio(desk), opened.getsockname()[1])
    announce(guard.link())
    Thread(target=_warm, args=(desk,), daemon=True).start()
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


def _warm(desk: Desk) -> None:
    """Load what the pages will need while the reader is still looking at the first."""
    for name in ("publish", "progress", "plan", "check", "ledger", "vote"):
        import_module(f"hubbub.studio.pages.{name}")
    desk.answers.warm()
