"""One series: what is promised and spent, what is out, and the form that publishes its next period."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from hubbub import series as planned
from hubbub.charts.language import ENGLISH
from hubbub.errors import HubbubError, WrongUse
from hubbub.guarantees.promise_order import in_brief
from hubbub.kinds.series.promises import promises
from hubbub.kinds.series.text import noise, rows_rule, what
from hubbub.ledger.ledger import Ledger
from hubbub.protocol.option import Option
from hubbub.report import excerpt
from hubbub.studio.app_state import AppState, app_state_of
from hubbub.studio.folder import TABLES, free_name
from hubbub.studio.forms.fields import READING, TABLE_MORE, fields, options_of
from hubbub.studio.pages.publish import form_of
from hubbub.studio.rendering import drawing, page, sentence_of, trouble

SECTION: Final = "ledger"


_PERIOD: Final = tuple(option for option in (*READING, *TABLE_MORE) if option.name != "disjoint")
"""What can be said about the table of a period; the series says in how many of them people are."""


_ONE_ROW: Final = Option(
    "one_row_per_person",
    None,
    "If people have several rows in the table: one of each counts, chosen secretly, and the report says so.",
)


async def series(request: Request) -> Response:
    """What is public of a series, its running totals, and what comes next."""
    app_state, form = app_state_of(request), await form_of(request)
    try:
        facts = await run_in_threadpool(_facts, app_state.open_ledger, form.get("name", ""))
        tables = await run_in_threadpool(app_state.folder.files, TABLES, app_state.published)
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/ledger")
    wrong = app_state.drafts.refusal(form.get("refused"))
    return page(
        "series.html",
        f"Series {facts['name']}",
        section=SECTION,
        status=200 if wrong is None else 400,
        tables=tables,
        file=form.get("file", ""),
        reading=fields(_PERIOD, form),
        one_row=fields((_ONE_ROW,), form)[0] if facts["may_keep_one_row"] else None,
        wrong=None if wrong is None else sentence_of(wrong),
        **facts,
    )


def _facts(ledger: Ledger, name: str) -> dict[str, Any]:
    reservation, record = ledger.series(name)
    found = planned.series_of_record(record)
    drawn = [found.calendar.labels[int(each.body["period"])] for each in record.periods]
    last = planned.release(None, name, drawn[-1], ledger=ledger.path) if drawn else None
    return {
        "name": found.name,
        "kind": found.kind,
        "what": f"{what(found)}; {noise(found)}",
        "dataset": reservation.dataset,
        "promises": [in_brief(step.conclusion) for step in promises(found)],
        "periods": found.calendar.periods,
        "first": found.calendar.first,
        "last": found.calendar.last,
        "published": len(drawn),
        "recur": found.recur if found.limits_people else None,
        "person": found.unit.person,
        "date": found.date,
        "rows": rows_rule(found),
        "may_keep_one_row": found.may_keep_one_row,
        "next": planned.next_period(record),
        "excerpt": None if last is None else drawing(excerpt(last, reservation.dataset)),
    }


async def publish(request: Request) -> Response:
    """Publish the next period from a table of the folder."""
    app_state, form = app_state_of(request), await form_of(request)
    try:
        given = await run_in_threadpool(_period_request, app_state, form)
        await app_state.work.begin(given)
    except HubbubError as error:
        kept = {name: value for name, value in form.items() if value and name != "refused"}
        return RedirectResponse(f"/ledger/series?{urlencode({**kept, 'refused': app_state.drafts.refuse(error)})}", 303)
    return RedirectResponse("/progress", 303)


def _period_request(app_state: AppState, form: Mapping[str, str]) -> dict[str, Any]:
    """What a worker is handed. The page says which period it showed, so that a second tab publishes none by mistake."""
    name = form.get("name", "")
    reservation, record = app_state.open_ledger.series(name)
    found = planned.series_of_record(record)
    if form.get("period") != planned.next_period(record):
        raise WrongUse(
            "this period was published meanwhile, or is not the next; look at what is out, and go on from there"
        )
    if not form.get("file", "").strip():
        raise WrongUse("no table was chosen; choose that of the period")
    file = app_state.folder.file(form["file"])
    folder = app_state.folder.new(free_name(app_state.folder, f"{name}-{form['period']}"))
    opening = options_of(_PERIOD, form, app_state.folder)
    return {
        "kind": found.kind,
        "series": name,
        "period": form["period"],
        "file": app_state.folder.named(file),
        "path": str(file),
        "opening": {**opening, "person": found.unit.person, "rows_are_people": found.unit.person is None},
        "words": {_ONE_ROW.name: True} if form.get(_ONE_ROW.name) else {},
        "out": app_state.folder.named(folder),
        "place": str(folder),
        "dataset": reservation.dataset,
        "ledger": app_state.ledger_name,
        "form": "csv",
        "accept_weak": form.get("accept_weak") == "on",
        "date": None,
        "language": ENGLISH,
        "back": f"/ledger/series?{urlencode({'name': name, 'file': app_state.folder.named(file)})}",
    }
