"""Vote: count ballots, see what is promised to voters and how honest a rule is, publish ballots."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from hubbub.errors import HubbubError, WrongUse
from hubbub.numeric.exact import rational
from hubbub.studio.answers import soon
from hubbub.studio.app_state import Desk, desk_of
from hubbub.studio.ballots import EXAMPLE, opened
from hubbub.studio.folder import BALLOTS, RECORD, RESULTS, free_name
from hubbub.studio.forms.fields import NAMED, fields
from hubbub.studio.forms.request import kind_of, request_of
from hubbub.studio.pages.check import kept
from hubbub.studio.pages.publish import confirmed, form_of
from hubbub.studio.pages.strategyproofness import honesty_map, picture
from hubbub.studio.rendering import drawing, fragment, page, sentence_of, trouble
from hubbub.studio.work.counting import RULES, write
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.rules.jurisdictions import RULE_SETS

SECTION = "vote"
_FIRST: Final = {"file": EXAMPLE, "rule": "repeated-plurality", "eta": "1e-12", "as": "", "dice": "", "seats": ""}
_DROPPED: Final = "dropped:"  # how the name of a file begins that is in no folder of the user's
_MOST_HELD: Final = 4
_HELD: dict[str, tempfile.TemporaryDirectory[str]] = {}
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


async def understood(request: Request) -> Response:
    """What the file was understood to hold, before anything is counted; nothing is told of how it ends."""
    desk = desk_of(request)
    try:
        async with request.form(max_files=1, max_fields=30) as sent:
            form = {name: str(sent.get(name, "") or "").strip() or first for name, first in _FIRST.items()}
            upload = sent.get("upload")
            if isinstance(upload, UploadFile) and upload.filename:
                form["file"] = await _hold(upload)
            form["out"] = str(sent.get("out", "") or "").strip()
        read = await run_in_threadpool(_opened, desk, form)
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/vote")
    return page(
        "understood.html",
        "Is this the election?",
        section=SECTION,
        form=form,
        rule=RULES[form["rule"]],
        read=read,
        file=_plain_name(form["file"]),
        name=read.title or Path(form["file"]).name,
        voters=read.ballots.voters,
        candidates=sorted(read.ballots.candidates, key=str.casefold),
        oddities=_oddities(read),
    )


async def _hold(upload: UploadFile) -> str:
    """A file that was dropped, held for this user alone until it is counted, another few are dropped, or the studio ends;
    how the form names it."""
    temporary = tempfile.TemporaryDirectory(prefix="hubbub-ballots-")
    path = await kept(upload, Path(temporary.name))
    while len(_HELD) >= _MOST_HELD:
        _HELD.pop(next(iter(_HELD))).cleanup()
    _HELD[Path(temporary.name).name] = temporary
    return f"{_DROPPED}{Path(temporary.name).name}/{path.name}"


def _path(desk: Desk, file: str) -> str:
    """Where ballots are that a form names."""
    if not file.startswith(_DROPPED):
        return file if file == EXAMPLE else str(desk.folder.file(file))
    folder, _, name = file.removeprefix(_DROPPED).partition("/")
    if folder not in _HELD or Path(name).name != name or not (Path(_HELD[folder].name) / name).is_file():
        raise WrongUse("the file that was dropped is no longer held; drop it again")
    return str(Path(_HELD[folder].name) / name)


def _plain_name(file: str) -> str:
    return Path(file).name if file.startswith(_DROPPED) else file


def _opened(desk: Desk, form: Mapping[str, str]) -> BallotFile:
    if form["rule"] not in RULES or (form["as"] and form["as"] not in RULE_SETS):
        raise WrongUse("choose a rule, and a place, of those listed")
    return opened(_path(desk, form["file"]), form["as"] or None, form["rule"])[0]


def _oddities(read: BallotFile) -> list[str]:
    """What was met on the way: sentences of the reader, ballots that a rule changed, who withdrew."""
    changed = [
        f"{count:,} {'ballot was' if count == 1 else 'ballots were'} changed by the rule for {what}: "
        f"{read.reading.rules().get(what, 'as it says')}."
        for what, count in sorted(read.changed.items())
        if count
    ]
    left = [f"Struck out, because they withdrew: {', '.join(read.withdrawn)}."] if read.withdrawn else []
    return [*read.remarks, *changed, *left]


async def count(request: Request) -> Response:
    """Count, once: what was drawn is written down and not drawn again."""
    desk, form = desk_of(request), await form_of(request)
    try:
        fields = {name: form.get(name, "").strip() or first for name, first in _FIRST.items()}
        given, path = fields["file"], _path(desk, fields["file"])
        fields["file"] = _plain_name(given)
        out = form.get("out", "").strip() or free_name(desk.folder, f"{Path(fields['file']).stem}-count")
        folder = desk.folder.new(out)
        await run_in_threadpool(write, fields, path, folder, desk.book)
        if given.startswith(_DROPPED):
            _HELD.pop(given.removeprefix(_DROPPED).partition("/")[0]).cleanup()
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
        rounds=_rounds(record["count"]),
        draws=_draws(record["count"]),
        file=file if exists else "",
        page_there=(at / RESULTS).is_file(),
        record=RECORD,
        results=RESULTS,
    )


@dataclass(frozen=True, slots=True)
class Round:
    """A round to read: who has how many, the most first, and what became of them."""

    title: str
    rows: tuple[tuple[str, str, str], ...]  # name, ballots, fate
    widths: tuple[int, ...]  # hundredths of the most


def _rounds(counted: Mapping[str, Any]) -> list[Round]:
    """The rounds of a signed result; none where it is of another form, and its page says it."""
    try:
        return [_round(i, each, counted) for i, each in enumerate(counted["rounds"])]
    except (KeyError, TypeError, ValueError, AttributeError, HubbubError):
        return []


def _round(at: int, each: Mapping[str, Any], counted: Mapping[str, Any]) -> Round:
    last = at + 1 == len(counted["rounds"])
    several = "votes" in each
    votes = {who: rational(str(votes)) for who, votes in each["votes" if several else "counts"].items()}
    out = each["of"] if several and each["what"] == "exclusion" else each.get("eliminated", [])
    chosen = each["elected"] if several else counted["winners"] if last else []
    shown = sorted((pair for pair in votes.items() if pair[1] or pair[0] in out), key=lambda pair: (-pair[1], pair[0]))
    most = max((number for _, number in shown), default=Fraction(1)) or Fraction(1)
    fates = {**dict.fromkeys(out, "out"), **dict.fromkeys(chosen, "elected" if several else "wins")}
    rows = tuple((who, _votes(number), fates.get(who, "")) for who, number in shown)
    title = f"{'Stage' if several else 'Round'} {at + 1}: {each['what'] if several else each['counted']}"
    return Round(title, rows, tuple(round(100 * number / most) for _, number in shown))


def _votes(number: Fraction) -> str:
    return f"{int(number):,}" if number.denominator == 1 else f"{float(number):,.2f}"


def _draws(counted: Mapping[str, Any]) -> list[str]:
    """What was left to chance, a sentence for each lot."""
    try:
        return [f"{each['why']}: {each['chosen']}, drawn among {len(each['among'])}" for each in counted["draws"]]
    except (KeyError, TypeError):
        return []


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
