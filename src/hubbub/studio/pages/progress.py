"""The work under way, and what came of it: progress, the report in place, the files."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse

from hubbub.certificate.certificate import signed_by
from hubbub.errors import HubbubError, WrongUse
from hubbub.publication.staging import CERTIFICATE, REPORT
from hubbub.serialization.canonical import LARGEST
from hubbub.studio.app_state import Desk, desk_of
from hubbub.studio.folder import RECORD, RESULTS
from hubbub.studio.forms import typed
from hubbub.studio.forms.request import kind_of
from hubbub.studio.guard import DOCUMENT
from hubbub.studio.rendering import page, sentence_of, trouble
from hubbub.studio.work.work import Job
from hubbub.studio.work.worker import STAGES

_AGAIN: Final = '<noscript><meta http-equiv="refresh" content="2"></noscript>\n'
_PLAIN: Final = "text/plain; charset=utf-8"


async def work(request: Request) -> Response:
    """How far the release is."""
    desk = desk_of(request)
    job = desk.work.job
    if job is None:
        return RedirectResponse("/publish", 303)
    page_query = job.request.get("page", "")
    if job.ended == "done":
        if page_query:
            desk.drafts.drop(job.request["file"])
        return RedirectResponse(f"/release?{urlencode({'folder': job.request['out']})}", 303)
    if job.error is not None and page_query:
        number = desk.drafts.refuse(job.error)
        return RedirectResponse(f"/publish/table?{page_query}&{urlencode({'step': '3', 'refused': number})}", 303)
    return page(
        "work.html",
        "The release under way" if job.running else "The release",
        section="publish",
        head=_AGAIN if job.running else "",
        job=job,
        stages=list(STAGES.values()),
        wrong=None if job.error is None else sentence_of(job.error),
        back=f"/publish/table?{page_query}&step=3" if page_query else "/publish",
        command=typed.command(kind_of(job.request["kind"]), job.request, desk.folder),
    )


async def events(request: Request) -> Response:
    """The same as it happens, as server-sent events."""
    desk = desk_of(request)

    async def events() -> AsyncIterator[str]:
        async for job in desk.work.seen():
            if await request.is_disconnected():
                return
            yield f"data: {json.dumps(_state(job))}\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")


def _state(job: Job | None) -> dict[str, object]:
    if job is None:
        return {"running": False, "words": "", "part": 0}
    return {"running": job.running, "words": job.sentence, "part": job.part, "stopping": job.stopping}


async def stop(request: Request) -> Response:
    """Stop the release, if it can be stopped."""
    await desk_of(request).work.stop()
    return RedirectResponse("/progress", 303)


async def release(request: Request) -> Response:
    """A release that is in the folder: its report in place, its files, and how to make it otherwise."""
    desk = desk_of(request)
    try:
        path = desk.folder.inside(request.query_params.get("folder", ""))
        names = await run_in_threadpool(desk.published, path)
        if CERTIFICATE not in names:
            raise WrongUse(
                "there is no release of the ledger that is open here in this folder; look at the list under Check"
            )
    except HubbubError as error:
        return trouble(error, section="publish", back="/publish")
    job = desk.work.job
    mine = job if job is not None and job.request["place"] == str(path) and job.ended == "done" else None
    kind = None if mine is None else kind_of(mine.request["kind"])
    return page(
        "release.html",
        f"Published: {desk.folder.named(path)}",
        section="publish",
        folder=desk.folder.named(path),
        files=[name for name in names if "/" not in name],
        report=REPORT in names,
        remarks=() if mine is None else mine.remarks,
        command="" if mine is None or kind is None else typed.command(kind, mine.request, desk.folder),
        python="" if mine is None or kind is None else typed.python(kind, mine.request, desk.folder),
        key=desk.book.public_key(),
        again=_again(mine),
    )


def _again(job: Job | None) -> str:
    """The form of the release that was just made, for one more of the same table."""
    query = "" if job is None else str(job.request.get("page", ""))
    return f"/publish/table?{query}&step=2" if query else ""


async def document(request: Request) -> Response:
    """A report or a page of results as it is, in a frame that lets nothing out."""
    try:
        path = await run_in_threadpool(_published, request)
    except HubbubError as error:
        return trouble(error)
    if path.name not in (REPORT, RESULTS):
        return trouble(WrongUse("only reports are shown; save the other files"))
    return FileResponse(path, media_type="text/html", headers={"content-security-policy": DOCUMENT})


async def file(request: Request) -> Response:
    """A published file, to be saved. Files that were not published are not handed out."""
    try:
        path = await run_in_threadpool(_published, request)
    except HubbubError as error:
        return trouble(error)
    return FileResponse(path, media_type=_PLAIN, filename=path.name)


def _published(request: Request) -> Path:
    desk = desk_of(request)
    folder = desk.folder.inside(request.query_params.get("folder", ""))
    name = request.query_params.get("name", "")
    if "/" in name or name not in (*desk.published(folder), *_counted(desk, folder)):
        raise WrongUse("there is no such published file in this folder; look at the list")
    return desk.folder.file(desk.folder.named(folder / name))


def _counted(desk: Desk, folder: Path) -> tuple[str, ...]:
    """The result of a count, if a key of this ledger signed it, and its page, which no signature covers: it is shown
    in a frame that lets nothing out."""
    from hubbub.voting.count.record import FORMAT

    try:
        data = desk.folder.file(desk.folder.named(folder / RECORD)).read_bytes()[: LARGEST + 1]
        known = signed_by(data, desk.book, FORMAT) is not None
    except (OSError, HubbubError):
        known = False
    return (RECORD, RESULTS) if known else ()
