"""The pages by address, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from hubbub.errors import HubbubError
from hubbub.report.style import STYLE
from hubbub.studio.app_state import AppState
from hubbub.studio.rendering import page, trouble

_HERE: Final = Path(__file__).parent / "static"
_KINDS: Final = {"studio.css": "text/css", "studio.js": "text/javascript"}

Page = Callable[[Request], Awaitable[Response]]


async def _home(request: Request) -> Response:
    return RedirectResponse("/publish", 303)


@cache
def _static(name: str) -> bytes:
    text = (_HERE / name).read_text(encoding="utf-8")
    return (f"{STYLE}{text}" if name.endswith(".css") else text).encode()


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _KINDS:
        raise HTTPException(404)
    return Response(_static(name), media_type=_KINDS[name])


def _late(module: str, name: str) -> Page:
    """A page whose place is loaded when it is first asked for, so that the studio starts at once."""

    async def show_page(request: Request) -> Response:
        from importlib import import_module

        page: Page = getattr(import_module(f"hubbub.studio.pages.{module}"), name)
        return await page(request)

    return show_page


_READ: Final = (
    ("/publish", "publish", "choose"),
    ("/publish/table", "publish", "table"),
    ("/publish/kind/{kind}", "publish", "generic"),
    ("/publish/answer", "publish", "answer"),
    ("/progress", "progress", "work"),
    ("/progress/events", "progress", "events"),
    ("/release", "progress", "release"),
    ("/document", "progress", "document"),
    ("/file", "progress", "file"),
    ("/check", "check", "check"),
    ("/check/folder", "check", "folder"),
    ("/plan", "plan", "plan"),
    ("/plan/answer", "plan", "answer"),
    ("/vote", "vote", "vote"),
    ("/vote/result", "vote", "result"),
    ("/vote/ballots", "vote", "ballots"),
    ("/vote/map", "vote", "honest"),
    ("/vote/choose", "vote", "choose"),
    ("/ledger", "ledger", "ledger"),
    ("/ledger/series", "series", "series"),
)
_SENT: Final = (
    ("/publish/example", "publish", "example"),
    ("/publish/add", "publish", "add"),
    ("/publish/questions", "publish", "write_questions"),
    ("/publish/welcome", "publish", "welcomed"),
    ("/publish/release", "publish", "release"),
    ("/publish/look", "publish", "inspect_columns"),
    ("/progress/stop", "progress", "stop"),
    ("/check/files", "check", "files"),
    ("/vote/understood", "vote", "understood"),
    ("/vote/count", "vote", "count"),
    ("/vote/release", "vote", "release"),
    ("/ledger/policy", "ledger", "policy"),
    ("/ledger/trust", "ledger", "trusted"),
    ("/ledger/series/publish", "series", "publish"),
)


async def _missing(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    sentence = "There is no such page." if status == 404 else "What was sent cannot be read as a form."
    return page("trouble.html", "Not here", status=status, words=sentence, back="/")


async def _cut_off(request: Request, error: Exception) -> Response:
    sentence = "More was sent than a page takes, or the sending was cut off."
    return page("trouble.html", "That is too large", status=413, words=sentence, back="/")


async def _expected(request: Request, error: Exception) -> Response:
    assert isinstance(error, HubbubError)
    return trouble(error)


async def _unexpected(request: Request, error: Exception) -> Response:
    """A mistake of ours: its words may hold a cell, so its name is all that is told."""
    sentence = (
        f"This went wrong in a way that nobody expected ({type(error).__name__}). What was spent is in the ledger."
    )
    return page("trouble.html", "That went wrong", status=500, words=sentence, back="/")


def studio(app_state: AppState) -> Starlette:
    """All pages, for one app_state."""

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncIterator[None]:
        yield
        await app_state.work.close()
        app_state.answers.close()

    app = Starlette(
        routes=[
            Route("/", _home),
            Route("/static/{name}", _file),
            *(Route(path, _late(module, name), methods=["GET"]) for path, module, name in _READ),
            *(Route(path, _late(module, name), methods=["POST"]) for path, module, name in _SENT),
        ],
        exception_handlers={
            HTTPException: _missing,
            HubbubError: _expected,
            ClientDisconnect: _cut_off,
            Exception: _unexpected,
        },
        lifespan=running,
    )
    app.state.app_state = app_state
    return app
