"""Vote: count ballots, see what is promised to voters and how honest a rule is, publish ballots."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from hubbub.errors import HubbubError, WrongUse
from hubbub.studio.answers import soon
from hubbub.studio.app_state import Desk, desk_of
from hubbub.studio.ballots import EXAMPLE
from hubbub.studio.folder import BALLOTS, RECORD, RESULTS, free_name
from hubbub.studio.forms.fields import NAMED, fields
from hubbub.studio.forms.request import kind_of, request_of
from hubbub.studio.pages.check import kept
from hubbub.studio.pages.publish import confirmed, form_of
from hubbub.studio.pages.strategyproofness import honesty_map, picture
from hubbub.studio.rendering import drawing, fragment, page, sentence_of, trouble
from hubbub.studio.work.counting import RULES, write
from hubbub.voting.rules.jurisdictions import RULE_SETS

SECTION = "vote"
_FIRST: Final = {"file": EXAMPLE, "rule": "repeated-plurality", "eta": "1e-12", "as": "", "dice": "", "seats": ""}
_VOTERS: Final = ("11", "51", "101", "201", "501")


async def vote(request: Request) -> Response:
    """What can be counted."""
    desk = desk_of(request)
    return page(
        "vote.html",
        "Vote",
        section=SECTION,
        example=EXAMPLE,
        files=await run_in_threadpool(desk.folder.files, BALLOTS, desk.published),
        rules=RULES,
        places=sorted(RULE_SETS),
        counts=await run_in_threadpool(desk.folder.having, RECORD),
        voters=_VOTERS,
        map=await run_in_threadpool(_map, desk, "101"),
    )


async def count(request: Request) -> Response:
    """Count, once: what was drawn is written down and not drawn again."""
    desk = desk_of(request)
    try:
        async with request.form(max_files=1, max_fields=30) as sent:
            fields = {name: str(sent.get(name, "") or "").strip() or first for name, first in _FIRST.items()}
            upload = sent.get("upload")
            with tempfile.TemporaryDirectory(prefix="hubbub-count-") as temporary:  # for this user alone
                if isinstance(upload, UploadFile) and upload.filename:
                    path = str(await kept(upload, Path(temporary)))
                    fields["file"] = Path(path).name
                else:
                    path = fields["file"] if fields["file"] == EXAMPLE else str(desk.folder.file(fields["file"]))
                out = str(sent.get("out", "") or "").strip() or free_name(
                    desk.folder, f"{Path(fields['file']).stem}-count"
                )
                folder = desk.folder.new(out)
                await run_in_threadpool(write, fields, path, folder, desk.book)
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/vote")
    query = urlencode({"folder": desk.folder.named(folder), "file": fields["file"]})
    return RedirectResponse(f"/vote/result?{query}", 303)


async def result(request: Request) -> Response:
    """A count that is in the folder."""
    desk = desk_of(request)
    try:
        at = desk.folder.inside(request.query_params.get("folder", ""))
        record = await run_in_threadpool(_record, desk.folder.file(desk.folder.named(at / RECORD)))
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/vote")
    file = request.query_params.get("file", "").strip()
    exists = file == EXAMPLE or (bool(file) and (desk.folder.root / file).is_file())
    return page(
        "result.html",
        f"The count in {desk.folder.named(at)}",
        section=SECTION,
        folder=desk.folder.named(at),
        winners=record["count"]["winners"],
        voters=record["count"]["ballots"]["voters"],
        rule=record["count"]["rule"],
        file=file if exists else "",
        page_there=(at / RESULTS).is_file(),
        record=RECORD,
        results=RESULTS,
    )


def _record(path: Path) -> Mapping[str, Any]:
    from hubbub.serialization.canonical import LARGEST
    from hubbub.verification.counts import is_count

    data = path.read_bytes()[: LARGEST + 1]
    if not is_count(data):
        raise WrongUse("this is no result of a count; choose one of those listed")
    found = json.loads(data)
    try:
        _ = found["count"]["winners"], found["count"]["ballots"]["voters"], found["count"]["rule"]
    except (KeyError, TypeError):
        raise WrongUse("this result of a count is damaged; get the original") from None
    return dict(found)


async def ballots(request: Request) -> Response:
    """The form to publish ballots, from the options of their kind."""
    desk, form = desk_of(request), await form_of(request)
    kind = kind_of("ballots")
    file = form.get("file", "")
    return page(
        "ballots.html",
        "Publish ballots",
        section=SECTION,
        kind=kind,
        file=file,
        first=kind.help,
        options=fields(kind.options, form),
        named=fields(NAMED, form),
        out=free_name(desk.folder, f"{Path(file).stem or 'ballots'}-ballots"),
    )


async def release(request: Request) -> Response:
    """Publish ballots, by the same way as every release."""
    desk, form = desk_of(request), await form_of(request)
    try:
        kind = kind_of("ballots")
        given = await run_in_threadpool(request_of, desk, kind, form)
        given["accept_weak"] = await run_in_threadpool(confirmed, desk, kind, form, given)
        await desk.work.begin(given)
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/vote")
    return RedirectResponse("/progress", 303)


async def honest(request: Request) -> Response:
    """The honesty map that follows its slider."""
    desk, form = desk_of(request), await form_of(request)
    return HTMLResponse(fragment("honesty.html", map=await run_in_threadpool(_map, desk, form.get("voters", "101"))))


def _map(desk: Desk, voters: str) -> dict[str, Any]:
    found = desk.answers.answer(("map", voters), partial(honesty_map, voters), soon(), slow=True)
    if found.error is not None:
        return {"waiting": False, "words": sentence_of(found.error), "rows": ()}
    if found.value is None:
        return {"waiting": True, "words": "", "rows": ()}
    return {
        "waiting": False,
        "words": "",
        "rows": found.value.rows(),
        "sentences": found.value.sentences(),
        "chart": drawing(picture(found.value)),
    }
