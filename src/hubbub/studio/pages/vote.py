"""Vote: count ballots, see what is promised to voters and how honest a rule is, publish ballots."""

from __future__ import annotations

import html
import json
import math
import re
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from hubbub.charts.svg import px, text_lines
from hubbub.errors import HubbubError, WrongUse
from hubbub.numeric.exact import integer, rational
from hubbub.runtime.frozen import dataclass
from hubbub.studio.answers import Answer, soon
from hubbub.studio.app_state import AppState, app_state_of
from hubbub.studio.ballots import EXAMPLE, opened, opened_office
from hubbub.studio.folder import BALLOTS, RECORD, RESULTS, free_name
from hubbub.studio.forms.fields import NAMED, fields
from hubbub.studio.forms.request import kind_of, request_of
from hubbub.studio.pages.check import kept
from hubbub.studio.pages.publish import confirmed, form_of
from hubbub.studio.rendering import drawing, fragment, page, sentence_of, trouble
from hubbub.studio.work.counting import (
    AS,
    CONFIGURED,
    GROUPS,
    RULES,
    in_plain_words,
    rule_in_words,
    rule_of,
    settled_rule,
    write,
    write_office,
)
from hubbub.vote import choose as choose_rule
from hubbub.voting.figures import approximately, float_up
from hubbub.voting.formats.understanding import Understanding, understanding_of, understanding_of_office
from hubbub.voting.formats.vendors.rctab_config import is_configuration
from hubbub.voting.manipulation.gain_map import GainMap, gain_map
from hubbub.voting.manipulation.gain_winners import Contest
from hubbub.voting.manipulation.rule_choice import RuleChoice
from hubbub.voting.rules.jurisdictions import RULE_SETS
from hubbub.voting.rules.margins import KINDS
from hubbub.voting.rules.stv import RULES as TRANSFERS
from hubbub.voting.rules.threshold import ForGain, threshold

SECTION = "vote"
_FIRST: Final = {
    "file": EXAMPLE,
    "rule": "repeated-plurality",
    "eta": "1e-12",
    "as": "",
    "dice": "",
    "seats": "",
    "transfers": "",
    "points": "",
    "contest": "",
    "columns": "",
}
_DROPPED: Final = "dropped:"  # how the name of a file begins that is in no folder of the user's
_MOST_HELD: Final = 4
_MOST_DROPPED: Final = 1000  # files at once
_OFFICE: Final = re.compile(r"cvr|cdf|config", re.IGNORECASE)  # JSON that may hold ballots or say how to count
_HELD: dict[str, tempfile.TemporaryDirectory[str]] = {}
_PAPERS: Final = "which papers"  # how the reason of a lot begins that is drawn for one paper of many
_CLUBS: Final = ("10", "20", "40", "80", "150", "300")
_VOTERS: Final = ("11", "51", "101", "201", "501")


async def vote(request: Request) -> Response:
    """What can be counted; what was chosen before stays chosen."""
    return await _choosing(app_state_of(request), await form_of(request))


async def _choosing(app_state: AppState, form: Mapping[str, str], error: HubbubError | None = None) -> Response:
    """The form, with why nothing came of it, if so."""
    given = _given_fields(form)
    return page(
        "vote.html",
        "Vote",
        section=SECTION,
        status=200 if error is None else 400,
        example=EXAMPLE,
        files=await run_in_threadpool(_files, app_state),
        form=given | {"out": form.get("out", "")},
        held=_plain_name(given["file"]) if given["file"].startswith(_DROPPED) else "",
        groups=GROUPS,
        places=[(f"{AS}{name}", in_plain_words(name), RULES[each.rule]) for name, each in RULE_SETS.items()],
        reads=[(name, in_plain_words(name)) for name in RULE_SETS],
        ways=[(name, in_plain_words(name)) for name in TRANSFERS],
        wrong="" if error is None else sentence_of(error),
        counts=await run_in_threadpool(app_state.folder.having, RECORD),
        voters=_VOTERS,
        map=await run_in_threadpool(_map, app_state, "101"),
        choice=await run_in_threadpool(_choice, app_state, "40", "3"),
        clubs=_CLUBS,
    )


def _given_fields(form: Mapping[str, str]) -> dict[str, str]:
    """The fields of a count, with what is usual where nothing was said."""
    return {name: str(form.get(name, "") or "").strip() or first for name, first in _FIRST.items()}


def _files(app_state: AppState) -> list[str]:
    """Files of the folder that may hold ballots, and configurations that name such files."""
    other = app_state.folder.files((".json",), app_state.published)
    return [
        *app_state.folder.files(BALLOTS, app_state.published),
        *(name for name in other if _OFFICE.search(Path(name).name)),
    ]


async def understood(request: Request) -> Response:
    """What the file was understood to hold, before anything is counted; nothing is told of how it ends."""
    app_state, form = app_state_of(request), dict(_FIRST)
    try:
        async with request.form(max_files=_MOST_DROPPED, max_fields=30) as sent:
            form = _given_fields({name: value for name, value in sent.items() if isinstance(value, str)})
            dropped = [each for each in sent.getlist("upload") if isinstance(each, UploadFile) and each.filename]
            if dropped:
                form["file"] = await _hold(dropped)
            form["out"] = str(sent.get("out", "") or "").strip()
        understood, rule = await run_in_threadpool(_understood, app_state, form)
    except HubbubError as error:
        return await _choosing(app_state, form, error)
    return page(
        "understood.html",
        "Is this the election?",
        section=SECTION,
        form=form,
        rule=rule,
        understood=understood,
        file=_plain_name(form["file"]),
        name=understood.contest or Path(form["file"]).name,
        again=urlencode({name: value for name, value in form.items() if value}),
    )


async def _hold(uploads: Sequence[UploadFile]) -> str:
    """Files that were dropped, held for this user alone until they are counted, another few are dropped, or the studio
    ends; how the form names them: by the one file, by the configuration, or by their folder."""
    temporary = tempfile.TemporaryDirectory(prefix="hubbub-ballots-")
    inside = Path(temporary.name) / "ballots"
    inside.mkdir()
    for upload in uploads:
        await kept(upload, inside)
    names = [path.name for path in inside.iterdir()]
    configurations = [name for name in names if is_configuration(inside / name)]
    while len(_HELD) >= _MOST_HELD:
        _HELD.pop(next(iter(_HELD))).cleanup()
    _HELD[Path(temporary.name).name] = temporary
    called = names if len(names) == 1 else configurations
    what = called[0] if len(called) == 1 else inside.name
    return f"{_DROPPED}{Path(temporary.name).name}/{what}"


def _path(app_state: AppState, file: str) -> str:
    """Where ballots are that a form names."""
    if not file.startswith(_DROPPED):
        return file if file == EXAMPLE else str(app_state.folder.file(file))
    folder, _, name = file.removeprefix(_DROPPED).partition("/")
    if folder not in _HELD or Path(name).name != name:
        raise WrongUse("the file that was dropped is no longer held; drop it again")
    inside = Path(_HELD[folder].name) / "ballots"
    return str(inside / name if (inside / name).is_file() else inside)


def _plain_name(file: str) -> str:
    return Path(file).name if file.startswith(_DROPPED) else file


def _root(app_state: AppState, file: str) -> Path:
    """The folder out of which nothing is read for a form."""
    if not file.startswith(_DROPPED):
        return app_state.folder.root
    held = _HELD.get(file.removeprefix(_DROPPED).partition("/")[0])
    if held is None:
        raise WrongUse("the file that was dropped is no longer held; drop it again")
    return Path(held.name)


def _understood(app_state: AppState, form: Mapping[str, str]) -> tuple[Understanding, str]:
    """What the files hold, and by which rule they are to be counted."""
    chosen = settled_rule(form)
    path = _path(app_state, form["file"])
    office = opened_office(path, _root(app_state, form["file"]))
    if office is not None:
        return understanding_of_office(office.configuration, office.ballots), CONFIGURED
    read, _ = opened(path, chosen["as"] or None, chosen["rule"], form["contest"] or None, form["columns"] or None)
    rule_of(chosen, read)
    return understanding_of(read), rule_in_words(chosen)


async def count(request: Request) -> Response:
    """Count, once: what was drawn is written down and not drawn again."""
    app_state, form = app_state_of(request), await form_of(request)
    try:
        fields = _given_fields(form)
        given, path = fields["file"], _path(app_state, fields["file"])
        fields["file"] = _plain_name(given)
        out = form.get("out", "").strip() or free_name(app_state.folder, f"{Path(fields['file']).stem}-count")
        folder = app_state.folder.new(out)
        office = await run_in_threadpool(opened_office, path, _root(app_state, given))
        if office is not None:
            await run_in_threadpool(write_office, office, fields["file"], folder, app_state.open_ledger)
        else:
            await run_in_threadpool(write, fields, path, folder, app_state.open_ledger)
        if given.startswith(_DROPPED):
            _HELD.pop(given.removeprefix(_DROPPED).partition("/")[0]).cleanup()
    except HubbubError as error:
        return await _choosing(app_state, form, error)
    query = urlencode({"folder": app_state.folder.named(folder), "file": fields["file"]})
    return RedirectResponse(f"/vote/result?{query}", 303)


async def result(request: Request) -> Response:
    """A count that is in the folder."""
    app_state = app_state_of(request)
    try:
        at = app_state.folder.inside(request.query_params.get("folder", ""))
        record = await run_in_threadpool(_record, app_state.folder.file(app_state.folder.named(at / RECORD)))
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/vote")
    file = request.query_params.get("file", "").strip()
    exists = file == EXAMPLE or (bool(file) and (app_state.folder.root / file).is_file())
    return page(
        "result.html",
        f"The count in {app_state.folder.named(at)}",
        section=SECTION,
        folder=app_state.folder.named(at),
        winners=record["count"]["winners"],
        voters=record["count"]["ballots"]["voters"],
        rule=_rule_in_words(record["count"].get("rule")),
        rounds=_rounds(record["count"]),
        draws=_draws(record["count"]),
        file=file if exists else "",
        page_there=(at / RESULTS).is_file(),
        record=RECORD,
        results=RESULTS,
    )


def _rule_in_words(rule: Any) -> str:
    """The rule of a signed result in plain words; "" where it is of another form."""
    name = rule.get("name") if isinstance(rule, dict) else None
    if name not in RULES:
        return ""
    way = f", {in_plain_words(str(rule['rules']))}" if isinstance(rule.get("rules"), str) else ""
    return f"{RULES[name][:1].lower()}{RULES[name][1:]}{way}"


@dataclass(frozen=True, slots=True)
class Round:
    """A round to read: who has how many, the most first, and what became of them."""

    title: str
    rows: tuple[tuple[str, str, str], ...]  # name, ballots, fate
    widths: tuple[int, ...]  # hundredths of the most
    counted: str = "votes"  # what the numbers are


def _rounds(counted: Mapping[str, Any]) -> list[Round]:
    """The rounds of a signed result; none where it is of another form, and its page says it."""
    try:
        if "passes" in counted:
            passes = counted["passes"]
            return [
                _office_round(number if len(passes) > 1 else 0, at, each)
                for number, rounds in enumerate(passes, 1)
                for at, each in enumerate(rounds, 1)
            ]
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
    before = [who for stage in counted["rounds"][:at] for who in stage["elected"]] if several else []
    fates = {**dict.fromkeys(out, "out"), **dict.fromkeys(before, "elected before")}
    fates |= dict.fromkeys(chosen, "elected" if several else "wins")
    rows = tuple((who, _votes(number), fates.get(who, "")) for who, number in shown)
    of = f" of {', '.join(each['of'])}" if several and each["of"] else ""
    title = f"Stage {at + 1}: {each['what']}{of}" if several else f"Round {at + 1}: {each['counted']}"
    what = "votes" if several else str(each["counted"])
    return Round(title, rows, tuple(round(100 * number / most) for _, number in shown), what)


def _office_round(number: int, at: int, each: Mapping[str, Any]) -> Round:
    """A round of a count by a configuration; `number` is that of its pass, 0 where there is one."""
    votes = {who: rational(str(votes)) for who, votes in each["tally"].items()}
    shown = sorted(votes.items(), key=lambda pair: (-pair[1], pair[0]))
    most = max((many for _, many in shown), default=Fraction(1)) or Fraction(1)
    fates = {**dict.fromkeys(each["eliminated"], "out"), **dict.fromkeys(each["elected"], "elected")}
    rows = tuple((who, _votes(many), fates.get(who, "")) for who, many in shown)
    title = f"Round {at}: threshold {_votes(rational(str(each['threshold'])))}"
    return Round(
        f"Pass {number}, {title.lower()}" if number else title,
        rows,
        tuple(round(100 * many / most) for _, many in shown),
    )


def _votes(number: Fraction) -> str:
    return f"{int(number):,}" if number.denominator == 1 else f"{float(number):,.2f}"


def _draws(counted: Mapping[str, Any]) -> list[str]:
    """What was left to chance: a sentence for each lot, or for many of one kind."""
    if "ties" in counted:
        return [str(text).rstrip(".") for text in counted["ties"]]
    try:
        lots = [(str(each["why"]), f"{each['chosen']}, drawn among {len(each['among'])}") for each in counted["draws"]]
        many = Counter(why for why, _ in lots if why.startswith(_PAPERS))
        single = [f"{why}: {drawn}" for why, drawn in lots if many[why] < 2]
        return [*single, *(f"{why}: {number:,} lots, one for each" for why, number in many.items() if number > 1)]
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
        _ = found["count"]["winners"], found["count"]["ballots"]["voters"], found["count"]["wire"]
    except (KeyError, TypeError):
        raise WrongUse("this result of a count is damaged; get the original") from None
    return dict(found)


async def ballots(request: Request) -> Response:
    """The form to publish ballots, from the options of their kind."""
    app_state, form = app_state_of(request), await form_of(request)
    kind = kind_of("ballots")
    file = form.get("file", "")
    return page(
        "ballots.html",
        "Publish ballots",
        usual=("official", "k", "sample"),
        section=SECTION,
        kind=kind,
        file=file,
        first=kind.help,
        options=fields(kind.options, form),
        named=fields(NAMED, form),
        out=free_name(app_state.folder, f"{Path(file).stem or 'ballots'}-ballots"),
    )


async def release(request: Request) -> Response:
    """Publish ballots, by the same way as every release."""
    app_state, form = app_state_of(request), await form_of(request)
    try:
        kind = kind_of("ballots")
        given = await run_in_threadpool(request_of, app_state, kind, form)
        given["accept_weak"] = await run_in_threadpool(confirmed, app_state, kind, form, given)
        await app_state.work.begin(given)
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/vote")
    return RedirectResponse("/progress", 303)


async def honest(request: Request) -> Response:
    """The honesty map that follows its slider."""
    app_state, form = app_state_of(request), await form_of(request)
    return HTMLResponse(
        fragment("honesty.html", map=await run_in_threadpool(_map, app_state, form.get("voters", "101")))
    )


async def choose(request: Request) -> Response:
    """Which rule fits an electorate, as its sliders say."""
    app_state, form = app_state_of(request), await form_of(request)
    size = form.get("voters", "40"), form.get("candidates", "3")
    return HTMLResponse(fragment("choice.html", choice=await run_in_threadpool(_choice, app_state, *size)))


def _choice(app_state: AppState, voters: str, candidates: str) -> dict[str, Any]:
    find = partial(choose_rule, voters=voters, candidates=candidates)
    return _answer_fields(app_state.answers.answer(("choose", voters, candidates), find, soon(), slow=True))


def _map(app_state: AppState, voters: str) -> dict[str, Any]:
    found = app_state.answers.answer(("map", voters), partial(strategyproofness_map, voters), soon(), slow=True)
    return _answer_fields(found) | ({} if found.value is None else {"chart": drawing(picture(found.value))})


def _answer_fields(found: Answer[RuleChoice] | Answer[GainMap]) -> dict[str, Any]:
    """An answer's table and sentences, that it is still being worked out, or why there is none."""
    if found.error is not None:
        return {"waiting": False, "words": sentence_of(found.error), "rows": ()}
    if found.value is None:
        return {"waiting": True, "words": "", "rows": ()}
    return {"waiting": False, "words": "", "rows": found.value.rows(), "sentences": found.value.sentences()}


# How honest a rule is: what the best lie gains, over a triangle of beliefs, a triangle for each rule.
_MAP_RULES: Final = ("plurality", "instant-runoff", "repeated-plurality", "borda")
_STEPS: Final = 6
_ETA: Final = Fraction(1, 10**12)
_MOST: Final = 501  # voters that a page waits for
_SIDE, _ROOM = 150.0, 24.0  # pixels of a triangle, and around it
_LEVELS: Final = (1e-9, 1e-6, 1e-4, 1e-3, 1e-2)  # gains at which the shade changes


def strategyproofness_map(voters: str) -> GainMap:
    """The map for three candidates and so many voters."""
    n = min(integer(voters, "the number of voters", least=2), _MOST)
    contests = [
        Contest(kind=rule, margin=threshold(ForGain(_ETA), rule, n, 3)) if rule in KINDS else Contest(kind=rule)
        for rule in _MAP_RULES
    ]
    return gain_map(contests, n, steps=_STEPS, elects=False)


def picture(found: GainMap) -> str:
    """The triangles, one small drawing each: a page sets them side by side, or below one another."""
    return "\n".join(_triangle(found, i) for i in range(len(found.rules)))


def _triangle(found: GainMap, at: int) -> str:
    each = found.rules[at]
    high = _SIDE * math.sqrt(3) / 2
    wide, tall = _SIDE + 2 * _ROOM, high + 2 * _ROOM + 34
    radius = _SIDE / found.steps / math.sqrt(3)
    top = _ROOM + 30
    gained = approximately(each.worst.gain.high)
    parts = [
        text_lines(wide / 2, 13, [each.contest.kind.replace("-", " ")], "panel", anchor="middle"),
        text_lines(wide / 2, 29, [f"{gained} at most"], "quiet", anchor="middle"),
    ]
    for cell in each.cells:
        a, b, c = (part / found.steps for part in cell.weights)
        x, y = _ROOM + _SIDE * (c + a / 2), top + high * (1 - a)
        shade = sum(float_up(cell.gain.high) >= level for level in _LEVELS)
        explained = html.escape(
            f"{found.labels[0]} {a:.0%}, {found.labels[1]} {b:.0%}, {found.labels[2]} {c:.0%}: "
            f"{approximately(cell.gain.high)}"
        )
        corners = " ".join(
            f"{px(x + radius * math.sin(math.pi / 3 * i))},{px(y - radius * math.cos(math.pi / 3 * i))}"
            for i in range(6)
        )
        parts.append(f'<g><title>{explained}</title><polygon class="heat h{shade}" points="{corners}"/></g>')
    ends = (
        (wide / 2 + radius + 6, top + 4, "start"),
        (8, top + high + 12, "start"),
        (wide - 8, top + high + 12, "end"),
    )
    for label, (x, y, anchor) in zip(found.labels, ends, strict=True):
        parts.append(text_lines(x, y, [label], "quiet", anchor=anchor))
    explained = (
        f"<title>{html.escape(each.contest.kind)}</title><desc>The best lie gains {html.escape(gained)} at most.</desc>"
    )
    size = f'viewBox="0 0 {px(wide)} {px(tall)}"'
    return f'<svg class="chart triangle" {size} role="img">{explained}{"".join(parts)}</svg>'
