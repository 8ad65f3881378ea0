"""Publish: from a file in the folder to a release, with its price before it is paid."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from hubbub import series
from hubbub.dictionary.datapackage import find
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.numeric.exact import rational
from hubbub.opening import open as open_table
from hubbub.protocol.spec import TABLE as TABLE_KIND
from hubbub.protocol.spec import Kind
from hubbub.protocol.weakness import sentence as weak_sentence
from hubbub.protocol.weakness import weaknesses
from hubbub.studio.app_state import AppState, app_state_of
from hubbub.studio.drafts import FLEETING, query_of
from hubbub.studio.example_data import FILLED, TABLE, put
from hubbub.studio.folder import TABLES, free_name
from hubbub.studio.forms import bins, guided, typed
from hubbub.studio.forms.fields import NAMED, OPENING, READING, TABLE_MORE, Field, fields, label_of
from hubbub.studio.forms.invented import Tried
from hubbub.studio.forms.live_preview import LivePreview, live_preview
from hubbub.studio.forms.misfilled import PART_LABELS, Misfilled, field_of, in_form
from hubbub.studio.forms.parts import SIGNS, Parts, parts_of
from hubbub.studio.forms.request import (
    dataset_of,
    identity_of,
    in_full,
    is_guided,
    kind_of,
    reading,
    request_of,
    schema_of,
    table_columns,
)
from hubbub.studio.forms.series import is_series, kind_of_counts
from hubbub.studio.forms.shape import PEOPLE, SHAPES, VALUES, Stated
from hubbub.studio.rendering import drawing, fragment, page, sentence_of, trouble
from hubbub.tables.bins import UNITS
from hubbub.tables.schema import unnamed_person

SECTION = "publish"
PRIVATE = (
    "Private: this is about the people in the table as they are, for you alone. Publish none of it, and no bins made "
    "from it."
)
_FROM_PLAN: Final = ("promise", "people", "size", "shape", *(slider.name for slider in guided.SLIDERS))
_LANGUAGES: Final = (("en", "English"), ("de", "German; numbers as 1.234,5"))
_LONGEST_LIST: Final = 60_000  # signs of a list of questions
_TYPED: Final = (".toml", ".geojson", ".json", ".txt", ".csv")  # files that an option may name


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, sent either way; of a name that comes twice, the last."""
    if request.method == "POST":
        async with request.form(max_files=0, max_fields=2000) as sent:
            found = {name: value for name, value in sent.items() if isinstance(value, str)}
    else:
        found = dict(request.query_params.items())
    if found.get("join") and found.get("on"):  # a person is whoever the tables are joined by
        found["who"] = f"column:{found['on']}"
    return found


# --- which table ------------------------------------------------------------------------------------------------


async def choose(request: Request) -> Response:
    """Which file."""
    app_state, form = app_state_of(request), await form_of(request)
    files = await run_in_threadpool(app_state.folder.files, TABLES, app_state.published)
    planned = {name: form[name] for name in _FROM_PLAN if form.get(name)}
    begun = {draft.file: draft for draft in app_state.drafts.begun() if draft.file in files}
    titles = {question.name: question.title for question in guided.questions()}
    return page(
        "publish.html",
        "Publish",
        section=SECTION,
        files=[(name, _size(app_state, name), _ending(name), _to(name, planned)) for name in files],
        begun=[(name, titles.get(draft.question, ""), draft.query) for name, draft in begun.items()],
        folder=str(app_state.folder.root),
        made_up=TABLE not in files,
        planned=planned,
        series=await run_in_threadpool(_under_way, app_state),
        tour=not app_state.drafts.welcomed and not app_state.open_ledger.accounts(),
    )


def _under_way(app_state: AppState) -> list[tuple[str, str]]:
    """The series of the ledger that have a period to come, each with that."""
    every = [record for account in app_state.open_ledger.accounts().values() for record in account.records]
    return [(name, period) for each in every if (name := each.series) and (period := series.next_period(each))]


def _to(name: str, planned: Mapping[str, str]) -> str:
    first = FILLED if name == TABLE and not planned else {"file": name}
    return urlencode({**first, **planned})


def _size(app_state: AppState, name: str) -> str:
    try:
        size = float((app_state.folder.root / name).stat().st_size)
    except OSError:
        return ""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def _ending(name: str) -> str:
    return Path(name).suffix.removeprefix(".").upper() or "FILE"


async def example(request: Request) -> Response:
    """Put the made-up town into the folder."""
    await run_in_threadpool(put, app_state_of(request).folder.root)
    return RedirectResponse(f"/publish/table?{urlencode(FILLED)}", 303)


async def welcomed(request: Request) -> Response:
    """Put the tour away."""
    app_state_of(request).drafts.welcomed = True
    return RedirectResponse("/publish", 303)


async def add(request: Request) -> Response:
    """Copy a table that was picked into the folder; nothing there is written over."""
    app_state = app_state_of(request)
    try:
        async with request.form(max_files=1, max_fields=5) as sent:
            upload = sent.get("table")
            if not isinstance(upload, UploadFile) or not upload.filename:
                raise WrongUse("no file was chosen; choose one")
            name = await run_in_threadpool(_copied, app_state, upload)
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/publish")
    return RedirectResponse(f"/publish/table?{urlencode({'file': name})}", 303)


def _copied(app_state: AppState, upload: UploadFile) -> str:
    name = os.path.basename((upload.filename or "").replace("\\", "/"))
    if not name.lower().endswith(TABLES):
        raise WrongUse(f"a table is a file that ends in {', '.join(TABLES)}; choose one of these")
    path = app_state.folder.inside(name)
    if os.path.lexists(path):
        raise WrongUse("a file of that name is in the folder already, and is not written over; rename one of them")
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as out:
        while part := upload.file.read(1 << 20):
            out.write(part)
    return app_state.folder.named(path)


async def write_questions(request: Request) -> Response:
    """A list of questions that was written in the form, as a file in the folder, which the form then names."""
    app_state, form = app_state_of(request), await form_of(request)
    text = form.pop("questions_text", "").replace("\r\n", "\n")
    try:
        if len(text) > _LONGEST_LIST:
            raise WrongUse(f"a list of questions has at most {_LONGEST_LIST:,} signs; shorten it")
        form["spec"] = await run_in_threadpool(_save_questions, app_state, dataset_of(form), text)
    except HubbubError as error:
        return refused(app_state, form, error)
    return RedirectResponse(f"/publish/table?{query_of(form, step='2')}", 303)


def _save_questions(app_state: AppState, dataset: str, text: str) -> str:
    stem, number = free_name(app_state.folder, f"{dataset}-questions"), 1
    while True:
        path = app_state.folder.inside(f"{stem}.toml" if number == 1 else f"{stem}-{number}.toml")
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            number += 1
            continue
        except OSError:
            raise WrongUse("the folder cannot be written to; make it so, or write the file by another way") from None
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        return app_state.folder.named(path)


def _example_questions(columns: tuple[bins.Column, ...], size: str) -> str:
    """A list to begin with, by the names of the columns."""
    number = next((column for column in columns if column.suggestion.bins.get("high")), None)
    lines = ["rows = 100        # so many are drawn in secret", f"people = {size}    # exactly so many there are", ""]
    if number is not None:
        low, high = number.suggestion.bins["low"], number.suggestion.bins["high"]
        of = f"{bins.quoted(number.name)}:{low}..{high}:1".replace('"', '\\"')
        lines += ["[[question]]", 'name = "average"', 'kind = "mean"', f'of = "{of}"']
    else:
        lines += ["[[question]]", 'name = "first"', 'kind = "count"', 'where = "COLUMN = value"']
    return "\n".join((*lines, ""))


# --- the form ---------------------------------------------------------------------------------------------------


async def table(request: Request) -> Response:
    """The form: first the question, then its columns and its promise, with what it would give beside it."""
    app_state, form = app_state_of(request), await form_of(request)
    if not form.get("file"):
        return RedirectResponse("/publish", 303)
    if form.get("ask"):
        form |= {"question": form["ask"], "step": "2"}
    refusal = app_state.drafts.refusal(form.get("refused"))
    try:
        if not is_guided(form) or form.get("step") == "1":
            return await run_in_threadpool(_questions, app_state, form)
        return await run_in_threadpool(_filled, app_state, form, refusal)
    except HubbubError as error:
        return page(
            "unread.html",
            "How is this file read?",
            section=SECTION,
            status=400,
            words=sentence_of(error),
            file=form.get("file", ""),
            kept=_kept(form, "named", *(option.name for option in READING)),
            fields=fields(READING, form),
        )


def _kept(form: Mapping[str, str], *but: str) -> list[tuple[str, str]]:
    """What was filled in so far, to be sent again."""
    return [(name, value) for name, value in form.items() if value and name not in (*FLEETING, *but)]


def _questions(app_state: AppState, form: Mapping[str, str]) -> Response:
    app_state.folder.file(form["file"])
    public = schema_of(app_state, form).public or bool(form.get("named"))
    return page(
        "questions.html",
        f"Publish from {form['file']}",
        section=SECTION,
        file=form["file"],
        kept=_kept(form, "question", "guided", "named", *(option.name for option in READING)),
        questions=guided.grouped_questions(),
        current=form.get("question", ""),
        public=public,
        named=form.get("named", ""),
        reading=fields(READING, form),
    )


def _filled(app_state: AppState, form: dict[str, str], refusal: HubbubError | None) -> Response:
    question = guided.question_of(form)
    kind = kind_of(question.kind)
    form |= {"question": question.name}
    wrong_join = None
    own: tuple[bins.Column, ...] = ()
    columns = own
    if kind.data == TABLE_KIND:
        own = table_columns(app_state, {**form, "join": ""})
        try:
            columns = table_columns(app_state, form) if form.get("join") else own
        except HubbubError as error:
            wrong_join, columns = error, own
    refusal = refusal or wrong_join
    parts = parts_of(question, kind)
    answer = preview_facts(app_state, form)
    app_state.drafts.keep(form, question.name)
    wrong = None
    if refusal is not None:
        wrong = {"words": in_form(refusal, _labels(question)), "field": _field(refusal, form, app_state)}
    return page(
        "table.html",
        f"{question.title} · {form['file']}",
        section=SECTION,
        status=200 if refusal is None else {3: 409}.get(refusal.exit_code, 400),
        file=form["file"],
        form=form,
        question=question,
        kind=kind,
        parts=parts,
        columns=columns,
        own_columns=[column.name for column in own],
        tables=[name for name in app_state.folder.files(TABLES, app_state.published) if name != form["file"]],
        wrong_join=wrong_join,
        languages=_LANGUAGES,
        chosen=bins.chosen(columns),
        step=_step(form, parts, wrong),
        cells=bins.CELLS,
        written=bins.WRITTEN,
        units=UNITS,
        signs=SIGNS,
        promises=guided.promises_of(question),
        promise=guided.promise_of(question, form) if question.ways else None,
        sliders=guided.sliders_of(question),
        ways=question.ways,
        opening=fields(OPENING[kind.data], form) if kind.data != TABLE_KIND else (),
        plain=fields(parts.plain, form),
        plain_promise=fields(parts.plain_promise, form),
        more=grouped(fields(parts.more, form)),
        reading_more=fields(TABLE_MORE, form) if kind.data == TABLE_KIND else (),
        files=app_state.folder.files(_TYPED, app_state.published) if _names_files(kind) else (),
        example_questions=_example_questions(columns, form.get("size") or PEOPLE),
        shapes=SHAPES,
        size=form.get("size") or form.get("people") or PEOPLE,
        values=VALUES,
        reading=reading(form, app_state) if kind.data == TABLE_KIND else {},
        named=fields(NAMED, form),
        answer=answer,
        wrong=wrong,
    )


def _labels(question: guided.Question) -> dict[str, str]:
    """What options are called in the form, by the names of which errors speak."""
    kind = kind_of(question.kind)
    plain = {option.name: label_of(option.name) for option in (*kind.options, *OPENING[kind.data], *NAMED)}
    return plain | {slider.name: slider.label for slider in guided.SLIDERS} | PART_LABELS


def _sentence(error: HubbubError, form: Mapping[str, str]) -> str:
    try:
        return in_form(error, _labels(guided.question_of(form))) if is_guided(form) else sentence_of(error)
    except HubbubError:  # there is no such question
        return sentence_of(error)


def _names_files(kind: Kind) -> bool:
    return any(option.metavar == "FILE" for option in (*kind.options, *OPENING[kind.data]))


def grouped(found: tuple[Field, ...]) -> list[tuple[str, list[Field]]]:
    """Fields under the headings that help has."""
    groups: dict[str, list[Field]] = {}
    for each in found:
        groups.setdefault(each.group, []).append(each)
    return list(groups.items())


def _step(form: Mapping[str, str], parts: Parts, wrong: Mapping[str, str] | None) -> str:
    """Which step is open: that of the field which a refusal is about, or the one that was asked for."""
    if wrong is not None and (at := wrong["field"]):
        promise = {f"o-{option.name}" for option in (*parts.plain_promise, *parts.more, *NAMED)} | {"out", "size"}
        return "3" if at in promise or at.startswith(("f-", "accept")) else "2"
    return "3" if form.get("step") == "3" else "2"


async def generic(request: Request) -> Response:
    """The form of a kind, by its name."""
    form = await form_of(request)
    try:
        question = guided.question_of({"question": request.path_params["kind"]})
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/publish")
    return RedirectResponse(f"/publish/table?{query_of(form, question=question.name)}", 303)


def _field(error: HubbubError, form: Mapping[str, str], app_state: AppState) -> str:
    """The element of the form that an error is about, "" if it is about none."""
    if not is_guided(form):
        return ""
    try:
        question = guided.question_of(form)
        kind = kind_of(question.kind)
        columns = table_columns(app_state, {**form, "join": ""}) if kind.data == TABLE_KIND else ()
    except HubbubError:
        return ""
    with suppress(HubbubError):
        columns = table_columns(app_state, form) if form.get("join") else columns
    plain = {*parts_of(question, kind).names, *(option.name for option in (*OPENING[kind.data], *NAMED))}
    sliders = {slider.name for slider, _ in guided.sliders_of(question)}
    own = ("who", "several", "columns", "of-column", "per-column", "where-column", "size", "out", "join_named")
    known = {*plain, *sliders, *own}
    used = [(column.name, f"bins-{column.number}") for column in bins.chosen(columns)]
    found = field_of(error, known, used)
    if found in sliders:
        return f"f-{found}"
    return f"o-{found}" if found in plain or found == "join_named" else found


# --- what it would give -----------------------------------------------------------------------------------------


def preview_facts(app_state: AppState, form: Mapping[str, str]) -> dict[str, Any]:
    """What the form would give, or one sentence why it gives nothing yet."""
    try:
        kind = kind_of(guided.question_of(form).kind if is_guided(form) else form.get("kind") or guided.FIRST.kind)
        given = request_of(app_state, kind, form)
        schema = schema_of(app_state, form) if kind.data == TABLE_KIND else {}
        source = identity_of(app_state, form)
        found = live_preview(app_state, kind, in_full(kind, given), Stated.of(form), dataset_of(form), source, schema)
        given["accept_weak"] = accepted(form, found.weak)
    except HubbubError as error:
        return {
            "preview": None,
            "words": _sentence(error, form),
            "waiting": False,
            "field": _field(error, form, app_state),
            "found": False,
        }
    shape, hoped = found.expected.value if isinstance(found.expected.value, tuple) else (None, None)
    return {
        "preview": found,
        "words": "",
        "field": "",
        "waiting": found.waiting,
        "shape": shape,
        "expected": hoped,
        "tried": None if hoped is not None else _tried(found, form),
        "picture": drawing(found.tried.value.picture) if isinstance(found.tried.value, Tried) else None,
        "cost": _cost(found),
        "coverage": f"{float(rational(given['words'].get('coverage') or '0.95', 'coverage')) * 100:.4g} %",
        "unit": given["words"].get("rows_called") or ("rows" if "rows_per_person" in given["words"] else "people"),
        "found": "delta" in given["words"],
        "expected_wrong": None if found.expected.error is None else sentence_of(found.expected.error),
        "frontier": drawing(found.frontier.value) if found.frontier.value else None,
        "dry_run": found.dry_run.value,
        "dry_run_wrong": None if found.dry_run.error is None else sentence_of(found.dry_run.error),
        "refusal": None
        if found.dry_run.value is None or found.dry_run.value.refusal is None
        else sentence_of(found.dry_run.value.refusal),
        "command": typed.command(kind, given, app_state.folder),
        "python": typed.python(kind, given, app_state.folder),
        "weak": found.weak,
        "confirms": "; ".join(found.weak),
        "accepted": given["accept_weak"],
        "out": given["out"],
        "start": given["words"] if is_series(kind) else None,
        "seen": _seen(app_state, dataset_of(form)),
        "description": found.bound.description,
    }


def _tried(found: LivePreview, form: Mapping[str, str]) -> dict[str, str] | None:
    """What came out of trying it on invented people, in words."""
    value = found.tried.value
    if not isinstance(value, Tried) or not value.width:
        return None
    noun = guided.question_of(form).noun if is_guided(form) else ""
    sentence = f"Tried on {value.people:,} invented people: half of the {value.numbers:,} intervals were narrower."
    width = f"{100 * float(value.width):.3g}" if noun == "share" else value.width
    if value.numbers == 1:
        sentence = f"Tried on {value.people:,} invented people."
    unit = {"share": "percentage points", "people": "people", "value": form.get("of-column", "")}.get(noun, "")
    return {"width": width, "unit": unit, "sentence": sentence}


def _cost(found: LivePreview) -> str:
    """Which release it would be, and what the caps leave."""
    dry_run = found.dry_run.value
    if dry_run is None:
        return ""
    return f"Release {dry_run.releases + 1}"


def _seen(app_state: AppState, dataset: str) -> str:
    """How far the ledger is with a dataset: what a page was weighed against."""
    account = app_state.open_ledger.accounts().get(dataset)
    return "0" if account is None else str(len(account.records))


async def answer(request: Request) -> Response:
    """The part of the page that follows what is filled in."""
    app_state, form = app_state_of(request), await form_of(request)
    found = await run_in_threadpool(preview_facts, app_state, form)
    if form.get("question"):
        app_state.drafts.keep(form, form["question"])
    return HTMLResponse(fragment("answer.html", answer=found))


# --- the button -------------------------------------------------------------------------------------------------


async def release(request: Request) -> Response:
    """The one button. Whatever refuses leads back to the form, with all that was filled in."""
    app_state, form = app_state_of(request), await form_of(request)
    try:
        kind = kind_of(guided.question_of(form).kind if is_guided(form) else form.get("kind") or guided.FIRST.kind)
        given = await run_in_threadpool(request_of, app_state, kind, form)
        _still(app_state, form)
        given["accept_weak"] = await run_in_threadpool(confirmed, app_state, kind, form, given)
        given["page"] = query_of(form) if is_guided(form) else ""
        if is_series(kind):
            await run_in_threadpool(_start, app_state, kind, given)
            app_state.drafts.drop(form["file"])
            return RedirectResponse(f"/ledger/series?{urlencode(_next_table(form, given))}", 303)
        await app_state.work.begin(given)
    except HubbubError as error:
        return refused(app_state, form, error)
    return RedirectResponse("/progress", 303)


def _start(app_state: AppState, kind: Kind, given: Mapping[str, Any]) -> None:
    """Start a series, and charge all of it, once its first period was rehearsed."""
    words, opening = in_full(kind, given), given["opening"]
    if opening.get("join"):
        raise WrongUse("a series is of one table in every period; leave out the second one, and give the joined table")
    if opening.get("disjoint"):
        raise WrongUse("the series says in how many of its periods a person counts; leave out `disjoint`")
    named = {name: given[name] for name in ("dataset", "ledger")}
    people = open_table(given["path"], **opening, **named)
    series.start(
        words.pop("name"),
        people.engine,
        reading=people.reading,
        **people.ids(),
        kind=kind_of_counts(words.get("by", ())),
        dataset=given["dataset"],
        ledger=given["ledger"],
        accept_weak=given["accept_weak"],
        **words,
    )


def _next_table(form: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, str]:
    """The page of a series with the table of its form, read in the same way, for the first period."""
    kept = {option.name: form[option.name] for option in (*READING, *TABLE_MORE) if form.get(option.name)}
    return {"name": given["words"]["name"], "file": given["file"], **kept}


def refused(app_state: AppState, form: Mapping[str, str], error: HubbubError) -> Response:
    """Back to the form, which says why."""
    if not is_guided(form) or not form.get("file"):
        return trouble(error, section=SECTION, back="/publish")
    number = app_state.drafts.refuse(error)
    return RedirectResponse(f"/publish/table?{query_of(form, refused=number, step='3')}", 303)


def accepted(form: Mapping[str, str], weak: tuple[str, ...]) -> bool:
    """Whether the box beside these very warnings was ticked, or that of a form that shows none."""
    return bool(weak) and form.get("accept_weak") in ("on", "; ".join(weak))


def confirmed(app_state: AppState, kind: Kind, form: Mapping[str, str], given: Mapping[str, Any]) -> bool:
    """Whether a weak promise was confirmed; one that was not is refused here, before anything is spent."""
    schema = schema_of(app_state, form) if kind.data == TABLE_KIND else {}
    weak = weaknesses(kind.ask(**in_full(kind, given)).bind(schema), unnamed_person(schema))
    if weak and not accepted(form, weak):
        raise Misfilled(
            "accept-weak", f"{weak_sentence(weak)}; tick the box that confirms it, or choose a stronger promise"
        )
    return bool(weak)


def _still(app_state: AppState, form: Mapping[str, str]) -> None:
    """Refuse a page that was drawn before the last release of these people: its price is an old one."""
    seen = form.get("seen")
    if seen is not None and seen != _seen(app_state, dataset_of(form)):
        raise Refused(
            "the ledger has moved on since this page was shown: another tab or program released something about these "
            "people; look at what it costs now, and publish again if that is right"
        )


# --- a private look ---------------------------------------------------------------------------------------------


async def inspect_columns(request: Request) -> Response:
    """The private check: sent and not linked, so that it is in no history; kept nowhere."""
    app_state, form = app_state_of(request), await form_of(request)
    beside = request.headers.get("x-beside") == "1"
    try:
        found = await run_in_threadpool(_inspection, app_state, form)
    except HubbubError as error:
        if beside:
            return HTMLResponse(fragment("look.html", error=sentence_of(error), look=None, beside=True), 200)
        return trouble(error, section=SECTION, back="/publish")
    values = {"error": "", "private": PRIVATE, "look": found, "file": form.get("file", ""), "beside": beside}
    if beside:
        return HTMLResponse(fragment("look.html", **values))
    return page("look.html", "A private check", section=SECTION, **values)


def _inspection(app_state: AppState, form: Mapping[str, str]) -> Any:
    from hubbub.engines.opening import open_inspection

    person = form.get("who", "").removeprefix("column:") if form.get("who", "").startswith("column:") else None
    by = bins.specs(table_columns(app_state, form))
    join: dict[str, Any] = (
        {"join": str(app_state.folder.file(form["join"])), "on": form.get("on")} if form.get("join") else {}
    )
    file, how = str(app_state.folder.file(form.get("file", ""))), reading(form, app_state)
    declared = find(file, how.get("table"))
    said = declared.open_words(how)
    how |= {name: said[name] for name in ("delimiter", "encoding", "missing") if said.get(name)}
    return open_inspection(file, by, person, **join, declared=declared, **how)
