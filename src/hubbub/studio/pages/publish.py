"""Publish: from a file in the folder to a release, with its price before it is paid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.protocol.spec import TABLE as TABLE_KIND
from hubbub.protocol.spec import Kind
from hubbub.protocol.weakness import sentence as weak_sentence
from hubbub.protocol.weakness import weaknesses
from hubbub.studio.app_state import Desk, desk_of
from hubbub.studio.example import FILLED, TABLE, put
from hubbub.studio.folder import TABLES, free_name
from hubbub.studio.forms import guided, typed
from hubbub.studio.forms.fields import NAMED, OPENING, READING, fields
from hubbub.studio.forms.live_preview import weigh
from hubbub.studio.forms.request import (
    dataset_of,
    identity_of,
    in_full,
    kind_of,
    others,
    reading,
    request_of,
    schema_of,
    table_columns,
)
from hubbub.studio.forms.shape import PEOPLE, SHAPES, VALUES, Stated
from hubbub.studio.rendering import drawing, fragment, page, sentence_of, trouble
from hubbub.tables.bins import UNITS

SECTION = "publish"
PRIVATE = (
    "Private: this is about the people in the table as they are, for you alone. Publish none of it, and no bins made "
    "from it."
)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, sent either way; of a name that comes twice, the last."""
    if request.method == "POST":
        async with request.form(max_files=0, max_fields=2000) as sent:
            return {name: value for name, value in sent.items() if isinstance(value, str)}
    return dict(request.query_params.items())


async def choose(request: Request) -> Response:
    """Which file."""
    desk = desk_of(request)
    files = await run_in_threadpool(desk.folder.files, TABLES, desk.published)
    links = [(name, urlencode(FILLED if name == TABLE else {"file": name})) for name in files]
    return page(
        "publish.html",
        "Publish",
        section=SECTION,
        files=links,
        folder=str(desk.folder.root),
        made_up=TABLE not in files,
    )


async def example(request: Request) -> Response:
    """Put the made-up town into the folder."""
    await run_in_threadpool(put, desk_of(request).folder.root)
    return RedirectResponse(f"/publish/table?{urlencode(FILLED)}", 303)


async def table(request: Request) -> Response:
    """The guided form, with what it would give so far."""
    desk, form = desk_of(request), await form_of(request)
    try:
        found = await run_in_threadpool(table_columns, desk, form)
        answer = await run_in_threadpool(weighed, desk, {**form, "guided": "1"})
    except HubbubError as error:
        if not form.get("file"):
            return RedirectResponse("/publish", 303)
        return page(
            "unread.html",
            "How is this file read?",
            section=SECTION,
            status=400,
            words=sentence_of(error),
            file=form.get("file", ""),
            fields=fields(READING, form),
        )
    return page(
        "table.html",
        f"Publish from {form['file']}",
        section=SECTION,
        file=form["file"],
        form=form,
        columns=found,
        units=UNITS,
        promises=guided.PROMISES,
        chosen=form.get("promise", guided.FIRST),
        sliders=guided.SLIDERS,
        shapes=SHAPES,
        people=PEOPLE,
        values=VALUES,
        reading=reading(form, desk),
        kinds=others(),
        front=guided.KIND,
        answer=answer,
    )


async def generic(request: Request) -> Response:
    """The form of any kind, from its options."""
    desk, form = desk_of(request), await form_of(request)
    try:
        kind = kind_of(request.path_params["kind"])
        desk.folder.file(form.get("file", ""))
        answer = await run_in_threadpool(weighed, desk, {**form, "kind": kind.name}) if "asked" in form else None
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/publish")
    return page(
        "kind.html",
        f"Publish a {kind.name} from {form['file']}",
        section=SECTION,
        kind=kind,
        file=form["file"],
        first=kind.help.partition("\n")[0],
        opening=fields(OPENING[kind.data], form),
        options=fields(kind.options, form),
        named=fields(NAMED, form),
        out=form.get("out", "") or free_name(desk.folder, f"{dataset_of(form)}-{kind.name}"),
        answer=answer,
    )


def weighed(desk: Desk, form: Mapping[str, str]) -> dict[str, Any]:
    """What the form would give, or one sentence why it gives nothing yet."""
    kind = kind_of(form.get("kind") or guided.KIND)
    try:
        given = request_of(desk, kind, form)
        schema = schema_of(desk, form) if kind.data == TABLE_KIND else {}
        source = identity_of(desk, form)
        found = weigh(desk, kind, in_full(kind, given), Stated.of(form), dataset_of(form), source, schema)
        given["accept_weak"] = accepted(form, found.weak)
    except HubbubError as error:
        return {"weighed": None, "words": sentence_of(error), "waiting": False}
    shape, hoped = found.expected.value if isinstance(found.expected.value, tuple) else (None, None)
    return {
        "weighed": found,
        "words": "",
        "waiting": found.waiting,
        "shape": shape,
        "expected": hoped,
        "expected_wrong": None if found.expected.error is None else sentence_of(found.expected.error),
        "frontier": drawing(found.frontier.value) if found.frontier.value else None,
        "trial": found.trial.value,
        "trial_wrong": None if found.trial.error is None else sentence_of(found.trial.error),
        "refusal": None
        if found.trial.value is None or found.trial.value.refusal is None
        else sentence_of(found.trial.value.refusal),
        "command": typed.command(kind, given, desk.folder),
        "python": typed.python(kind, given, desk.folder),
        "weak": found.weak,
        "confirms": "; ".join(found.weak),
        "accepted": given["accept_weak"],
        "out": given["out"],
        "seen": _seen(desk, dataset_of(form)),
        "specs": given["words"].get("by") or (),
    }


def _seen(desk: Desk, dataset: str) -> str:
    """How far the ledger is with a dataset: what a page was weighed against."""
    account = desk.book.accounts().get(dataset)
    return "0" if account is None else str(len(account.records))


async def answer(request: Request) -> Response:
    """The part of the page that follows the sliders."""
    desk, form = desk_of(request), await form_of(request)
    found = await run_in_threadpool(weighed, desk, form)
    return HTMLResponse(fragment("answer.html", answer=found))


async def release(request: Request) -> Response:
    """The one button."""
    desk, form = desk_of(request), await form_of(request)
    kind_name = form.get("kind") or guided.KIND
    back = f"/publish/table?{urlencode({'file': form.get('file', '')})}"
    try:
        kind = kind_of(kind_name)
        given = await run_in_threadpool(request_of, desk, kind, form)
        _still(desk, form)
        given["accept_weak"] = await run_in_threadpool(confirmed, desk, kind, form, given)
        await desk.work.begin(given)
    except HubbubError as error:
        return trouble(error, section=SECTION, back=back)
    return RedirectResponse("/progress", 303)


def accepted(form: Mapping[str, str], weak: tuple[str, ...]) -> bool:
    """Whether the box beside these very warnings was ticked, or that of a form that shows none."""
    return bool(weak) and form.get("accept_weak") in ("on", "; ".join(weak))


def confirmed(desk: Desk, kind: Kind, form: Mapping[str, str], given: Mapping[str, Any]) -> bool:
    """Whether a weak promise was confirmed; one that was not is refused here, before anything is spent."""
    schema = schema_of(desk, form) if kind.data == TABLE_KIND else {}
    weak = weaknesses(kind.ask(**in_full(kind, given)).bind(schema))
    if weak and not accepted(form, weak):
        raise WrongUse(
            f"{weak_sentence(weak)}; go back and tick the box that confirms it, or choose a stronger promise"
        )
    return bool(weak)


def _still(desk: Desk, form: Mapping[str, str]) -> None:
    """Refuse a page that was drawn before the last release of these people: its price is an old one."""
    seen = form.get("seen")
    if seen is not None and seen != _seen(desk, dataset_of(form)):
        raise Refused(
            "the ledger has moved on since this page was shown: another tab or program released something about these "
            "people; go back, load the page again and look at what it costs now"
        )


async def inspect_columns(request: Request) -> Response:
    """The private check: sent and not linked, so that it is in no history; kept nowhere."""
    desk, form = desk_of(request), await form_of(request)
    try:
        found = await run_in_threadpool(_inspection, desk, form)
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/publish")
    return page("look.html", "A private check", section=SECTION, private=PRIVATE, look=found, file=form.get("file", ""))


def _inspection(desk: Desk, form: Mapping[str, str]) -> Any:
    from hubbub.engines.opening import open_inspection
    from hubbub.studio.forms.bins import specs

    person = form.get("who", "").removeprefix("column:") if form.get("who", "").startswith("column:") else None
    by = specs(table_columns(desk, form))
    return open_inspection(str(desk.folder.file(form.get("file", ""))), by, person, **reading(form, desk))
