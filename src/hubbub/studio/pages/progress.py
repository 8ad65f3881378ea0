"""The work under way, and what came of it: progress, the results, the report, the files."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse

from hubbub import registry
from hubbub.certificate.certificate import signed_by
from hubbub.errors import HubbubError, WrongUse
from hubbub.protocol.bound import Bound
from hubbub.protocol.release import Release
from hubbub.report import excerpt
from hubbub.serialization.canonical import LARGEST
from hubbub.serialization.published_files import CERTIFICATE, REPORT, Files
from hubbub.studio.app_state import AppState, app_state_of
from hubbub.studio.folder import RECORD, RESULTS
from hubbub.studio.forms import typed
from hubbub.studio.forms.request import kind_of
from hubbub.studio.guard import DOCUMENT
from hubbub.studio.rendering import drawing, page, sentence_of, trouble
from hubbub.studio.work.work import Job
from hubbub.studio.work.worker import STAGES

_AGAIN: Final = '<noscript><meta http-equiv="refresh" content="2"></noscript>\n'
_LARGEST_SHOWN: Final = 4 << 20  # bytes of files whose numbers a page shows
_NO_SHEET: Final = (".json", ".xlsx")
_PLAIN: Final = "text/plain; charset=utf-8"


async def work(request: Request) -> Response:
    """How far the release is."""
    app_state = app_state_of(request)
    job = app_state.work.job
    if job is None:
        return RedirectResponse("/publish", 303)
    page_query, origin = job.request.get("page", ""), job.request.get("back", "")
    if job.ended == "done":
        if page_query:
            app_state.drafts.drop(job.request["file"])
        return RedirectResponse(f"/release?{urlencode({'folder': job.request['out']})}", 303)
    origin = origin or (f"/publish/table?{page_query}&step=3" if page_query else "")
    if job.error is not None and origin:
        return RedirectResponse(f"{origin}&{urlencode({'refused': app_state.drafts.refuse(job.error)})}", 303)
    return page(
        "work.html",
        "The release under way" if job.running else "The release",
        section="publish",
        head=_AGAIN if job.running else "",
        job=job,
        stages=list(STAGES.values()),
        wrong=None if job.error is None else sentence_of(job.error),
        back=origin or "/publish",
        command=typed.command(kind_of(job.request["kind"]), job.request, app_state.folder),
    )


async def events(request: Request) -> Response:
    """The same as it happens, as server-sent events."""
    app_state = app_state_of(request)

    async def events() -> AsyncIterator[str]:
        async for job in app_state.work.seen():
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
    await app_state_of(request).work.stop()
    return RedirectResponse("/progress", 303)


async def release(request: Request) -> Response:
    """A release that is in the folder: its results, its report and files, and how to make it otherwise."""
    app_state = app_state_of(request)
    try:
        path = app_state.folder.inside(request.query_params.get("folder", ""))
        names = await run_in_threadpool(app_state.published, path)
        if CERTIFICATE not in names:
            raise WrongUse(
                "there is no release of the ledger that is open here in this folder; look at the list under Check"
            )
    except HubbubError as error:
        return trouble(error, section="publish", back="/publish")
    shown = await run_in_threadpool(_excerpt, path, tuple(names))
    job = app_state.work.job
    mine = job if job is not None and job.request["place"] == str(path) and job.ended == "done" else None
    kind = None if mine is None else kind_of(mine.request["kind"])
    return page(
        "release.html",
        f"Published: {app_state.folder.named(path)}",
        section="publish",
        folder=app_state.folder.named(path),
        files=[name for name in names if "/" not in name],
        report=REPORT in names,
        title_of_it=None if shown is None else shown[0],
        excerpt=None if shown is None else drawing(shown[1]),
        remarks=() if mine is None else mine.remarks,
        command="" if mine is None or kind is None else typed.command(kind, mine.request, app_state.folder),
        python="" if mine is None or kind is None else typed.python(kind, mine.request, app_state.folder),
        key=app_state.open_ledger.public_key(),
        again=_again(mine),
        series=_series(mine),
    )


def _excerpt(folder: Path, names: Sequence[str]) -> tuple[str, str] | None:
    """The title of a release and its results as HTML, made again from files that were found to be the signed ones; None
    where they are too large to be made while somebody waits, or not all there."""
    body = json.loads((folder / CERTIFICATE).read_bytes())
    main = next((name for name in names if name.startswith("release.") and not name.endswith(_NO_SHEET)), None)
    if main is None or sum((folder / name).stat().st_size for name in names) > _LARGEST_SHOWN:
        return None
    form = main.rpartition(".")[2]
    sheets = {name.rpartition(".")[0]: folder / name for name in names if name.endswith(f".{form}")}
    try:
        spec = registry.read(body["kind"], body["release"])
        release = Release(Bound(spec), spec.present(spec.load(Files(form, sheets))), reading=body["reading"])
        return release.bound.description.title, excerpt(release, body["ledger"]["dataset"])
    except (HubbubError, OSError):  # the report is there all the same
        return None


def _again(job: Job | None) -> str:
    """The form of the release that was just made, for one more of the same table."""
    query = "" if job is None else str(job.request.get("page", ""))
    return f"/publish/table?{query}&step=2" if query else ""


def _series(job: Job | None) -> str:
    """The page of the series that a period is of."""
    return (
        ""
        if job is None or "series" not in job.request
        else f"/ledger/series?{urlencode({'name': job.request['series']})}"
    )


async def document(request: Request) -> Response:
    """A report or a page of results as it is, with an origin of its own that lets nothing out."""
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
    app_state = app_state_of(request)
    folder = app_state.folder.inside(request.query_params.get("folder", ""))
    name = request.query_params.get("name", "")
    if "/" in name or name not in (*app_state.published(folder), *_counted(app_state, folder)):
        raise WrongUse("there is no such published file in this folder; look at the list")
    return app_state.folder.file(app_state.folder.named(folder / name))


def _counted(app_state: AppState, folder: Path) -> tuple[str, ...]:
    """The result of a count, if a key of this ledger signed it, and its page, which no signature covers: it is shown
    with an origin of its own that lets nothing out."""
    from hubbub.voting.count.record import FORMAT

    try:
        data = app_state.folder.file(app_state.folder.named(folder / RECORD)).read_bytes()[: LARGEST + 1]
        known = signed_by(data, app_state.open_ledger, FORMAT) is not None
    except (OSError, HubbubError):
        known = False
    return (RECORD, RESULTS) if known else ()
