"""Check: a certificate and its files, every check with its number, and how each promise follows."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response

from hubbub.certificate.explanation import meaning
from hubbub.channels.profile import checkable, exact_loss, loss_curve, profile
from hubbub.channels.protocol import Channel
from hubbub.charts.lines import Axes, Series, responsive_lines
from hubbub.errors import HubbubError, WrongUse
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.promise_order import requested_first
from hubbub.numeric.exact import Infinite, to_float, upper
from hubbub.numeric.format import short
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import LARGEST
from hubbub.serialization.published_files import CERTIFICATE
from hubbub.studio.app_state import AppState, app_state_of, key_of, whose
from hubbub.studio.ballots import EXAMPLE, read_again
from hubbub.studio.folder import RECORD
from hubbub.studio.forms.live_preview import PromiseText, text_of_promise
from hubbub.studio.rendering import drawing, page, trouble
from hubbub.verification import Checked
from hubbub.verification.counts import CountChecked

SECTION = "check"
_MOST_FILES: Final = 12
_SO: Final = "whether this is so: "  # how an assumption begins among what nobody can check
_PART: Final = 1 << 20  # bytes that are copied at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a check found, ready to be shown."""

    done: Checked | CountChecked
    promises: tuple[PromiseText, ...] = ()
    steps: tuple[Step, ...] = ()
    chart: str = ""
    rows: tuple[Mapping[str, Any], ...] = ()
    published: str = ""
    numbers: str = ""
    person: str = ""

    @property
    def wrong(self) -> tuple[str, str] | None:
        """What a check that failed means, and what to do; None if all passed."""
        failed = next((each.what for each in self.done.checks if not each.passed), None)
        if failed is None:
            return None
        found = next((each for begins, *each in FAILURES if failed.startswith(begins)), None)
        return (found[0], found[1]) if found is not None else FALSE_CLAIM


_ORIGINAL: Final = "Get the certificate and its files again from whoever published them, and check those."
FALSE_CLAIM: Final = (
    "What the certificate claims does not follow from what it says was done. Do not rely on this release.",
    "Tell whoever signed it, with the words of the check that failed.",
)
FAILURES: Final = (
    ("canonical form", "This file is no certificate, or it was changed after it was written.", _ORIGINAL),
    (
        "format",
        "This certificate is of another version of the program.",
        "Update the studio, or get the certificate in a form that this version reads.",
    ),
    ("signed", "Nobody signed this certificate, so nobody vouches for it.", _ORIGINAL),
    ("the signature", "The certificate was changed after it was signed.", _ORIGINAL),
    (
        "the key",
        "Somebody else signed it than the one you named.",
        "Compare the key with the publisher's, by another way than this file.",
    ),
    (
        "the file ",
        "This file is not the one that was signed. Even one changed sign, or saving it again from a spreadsheet, does "
        "that.",
        "Get the file again from whoever published it. The certificate itself may be right.",
    ),
    (
        "the numbers of",
        "The numbers in the file do not follow from what was drawn: the file and its certificate are not one release.",
        _ORIGINAL,
    ),
    ("the parts", "A part of the release is missing, or was changed.", _ORIGINAL),
    ("counted again", "The ballots do not give this result.", "Choose the file that the count was made from."),
    ("the ballots", "These are not the ballots that were counted.", "Choose the file that the count was made from."),
)
"""By how the name of a check begins: what its failure means, and what to do."""


async def check(request: Request) -> Response:
    """What can be checked."""
    app_state = app_state_of(request)
    return page(
        "check.html",
        "Check",
        section=SECTION,
        releases=await run_in_threadpool(app_state.folder.having, CERTIFICATE),
        counts=await run_in_threadpool(app_state.folder.having, RECORD),
        names=await run_in_threadpool(_names),
    )


def _names() -> list[str]:
    from hubbub.ledger import trust

    try:
        return sorted(trust.names())
    except HubbubError:
        return []


async def folder(request: Request) -> Response:
    """Check a release, or a count, that is in the folder."""
    app_state = app_state_of(request)
    try:
        at = app_state.folder.inside(request.query_params.get("folder", ""))
        name = RECORD if request.query_params.get("count") else CERTIFICATE
        certificate = app_state.folder.file(app_state.folder.named(at / name))
        ballots = request.query_params.get("ballots", "").strip()
        where = ballots if ballots in ("", EXAMPLE) else str(app_state.folder.file(ballots))
        given = [where] if where else []
        found = await run_in_threadpool(_seen, app_state, certificate, at, request.query_params.get("key", ""), given)
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/check")
    return _page(found, f"Check of {app_state.folder.named(at)}")


async def files(request: Request) -> Response:
    """Check files that were dropped; they are kept for as long as that takes."""
    app_state = app_state_of(request)
    try:
        async with request.form(max_files=_MOST_FILES, max_fields=20) as sent:
            key = sent.get("key", "")
            given = [each for each in sent.getlist("files") if isinstance(each, UploadFile) and each.filename]
            with tempfile.TemporaryDirectory(prefix="hubbub-check-") as temporary:  # for this user alone
                at = Path(temporary)
                for each in given:
                    await kept(each, at)
                certificate, ballots = await run_in_threadpool(_found, at)
                found = await run_in_threadpool(_seen, app_state, certificate, at, str(key), ballots)
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/check")
    return _page(found, "Check of the files")


async def kept(upload: UploadFile, folder: Path) -> Path:
    """A file that was dropped, written into a folder under its own plain name."""
    name = Path(str(upload.filename).replace("\\", "/")).name
    if not name or name.startswith(".") or "\0" in name or len(name.encode()) > 200:
        raise WrongUse("a file has a name that cannot be used; give it a plain one, like release.csv")
    with open(folder / name, "wb") as out:
        while part := await upload.read(_PART):
            out.write(part)
    return folder / name


def _found(folder: Path) -> tuple[Path, list[str]]:
    """The certificate, or the result of a count with the other files as its ballots, or with its configuration."""
    from hubbub.verification.counts import is_count
    from hubbub.voting.formats.vendors.rctab_config import is_configuration

    entries = sorted(folder.iterdir())
    claims = [each for each in entries if each.suffix.lower() == ".json"]
    counts = [each for each in claims if is_count(each.read_bytes()[: LARGEST + 1])]
    if len(counts) == 1:
        rest = [each for each in entries if each not in counts]
        configurations = [each for each in rest if is_configuration(each)]
        return counts[0], [str(each) for each in configurations or rest]
    if len(claims) != 1:
        raise WrongUse("give one certificate (a file that ends in .json) and the published file that it is about")
    return claims[0], []


def _seen(app_state: AppState, certificate: Path, folder: Path, key: str, ballots: Sequence[str]) -> Seen:
    from functools import partial

    from hubbub.verification import load, verify
    from hubbub.verification.counts import is_count, verify_count

    signed = key_of(key.strip()) if key.strip() else None
    data = load(certificate)
    known = partial(whose, app_state)
    if is_count(data):
        again = partial(read_again, ballots) if ballots else None
        return Seen(done=verify_count(data, ballots=again, key=signed, known=known))
    release = _release(folder)
    done = verify(data, folder=folder, release=release, key=signed, known=known)
    if done.bound is None:
        return Seen(done=done)
    description = done.bound.description
    chart, rows = _profile(done.bound.spec)
    return Seen(
        done=done,
        promises=tuple(map(text_of_promise, requested_first(done.promises))),
        steps=tuple(map(tree, requested_first(done.promises))),
        chart=chart,
        rows=rows,
        published=description.published,
        numbers=description.what_numbers_are,
        person=description.person,
    )


def _release(folder: Path) -> Path | None:
    """The published file, if it was renamed and is the only one beside the certificate that it can be."""
    tables = [each for each in folder.iterdir() if each.suffix in (".csv", ".parquet") and each.is_file()]
    usual = any(each.name.startswith("release.") for each in tables)
    return tables[0] if len(tables) == 1 and not usual else None


def _profile(spec: Any) -> tuple[str, tuple[Mapping[str, Any], ...]]:

    channel = getattr(spec, "channel", None)
    if channel is None:
        return "", ()
    try:
        return profile_of(channel)
    except (HubbubError, ValueError):
        return "", ()


def _page(found: Seen, title: str) -> Response:
    chart = drawing(found.chart) if found.chart else None
    bounded = [row for row in found.rows if row["promised"] != inf]
    silent = bounded[-1]["count"] if bounded and all(row["promised"] == row["exact"] == 0 for row in bounded) else 0
    return page("checked.html", title, section=SECTION, seen=found, done=found.done, chart=chart, so=_SO, silent=silent)


# A derivation as a tree that opens step by step, each step said in plain words.
_DEEP: Final = 40  # steps below one another that are shown


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what follows, by which theorem, in words, with which numbers, if what is so, from what."""

    conclusion: str
    people: str
    theorem: str
    source: str
    text: str
    numbers: tuple[tuple[str, str], ...]
    assumptions: tuple[str, ...]
    premises: tuple[Step, ...]


def tree(step: Derivation, depth: int = 0) -> Step:
    """The step and what it rests on."""
    below = tuple(tree(premise, depth + 1) for premise in step.premises) if depth < _DEEP else ()
    return Step(
        conclusion=str(step.conclusion),
        people="" if step.people is None else str(step.people),
        theorem=step.theorem.name,
        source=step.theorem.source,
        text=meaning(step.conclusion, step.people).promised,
        numbers=tuple((name.removesuffix("_out").replace("_", " "), text) for name, text in step.numbers),
        assumptions=tuple(map(str, step.assumptions)),
        premises=below,
    )


# A channel's exact profile as a picture: what is promised to one person of a bin, and what is exactly so.
_COUNTS: Final = 48  # that are looked at
_FURTHEST: Final = 400


def profile_of(channel: Channel) -> tuple[str, tuple[Mapping[str, Any], ...]]:
    """The picture, and its rows: count, promised, exact, and the exact delta; "" where there is nothing to draw."""
    claim = checkable(channel.claim)
    rows = []
    for row in profile(channel, _counts(claim), claim):
        rows.append(
            {
                "count": row.count,
                "promised": _number(row.epsilon),
                "exact": _exact(channel, row.count),
                "delta": to_float(upper(row.exact_delta), round_up=True) or 0.0,
            }
        )
    return _picture(rows), tuple(rows)


def _counts(claim: Any) -> list[int]:
    """Counts around those where the promise changes."""
    last = max(piece.start for piece in loss_curve(claim).pieces)
    top = min(max(2 * last, 12), _FURTHEST)
    every = max(math.ceil(top / _COUNTS), 1)
    near = range(max(last - 2, 1), min(last + 3, top + 1))
    return sorted({*range(1, top + 1, every), *near})


def _exact(channel: Channel, count: int) -> float | None:
    try:
        return _number(exact_loss(channel, count))
    except ValueError:  # the law is a table, and the ratio in its tails is not known
        return None


def _number(loss: Any) -> float:
    return math.inf if isinstance(loss, Infinite) else to_float(loss, round_up=True) or 0.0


def _picture(rows: list[dict[str, Any]]) -> str:
    series = []
    for name, key, broad in (("promised", "promised", True), ("exact", "exact", False)):
        finite = [row for row in rows if row[key] is not None and math.isfinite(row[key])]
        if finite:
            points = tuple((float(row["count"]), row[key]) for row in finite)
            labels = tuple(f"{row['count']:,} people: {short(row[key])}" for row in finite)
            series.append(Series(name=name, points=points, labels=labels, marks=not broad, broad=broad))
    if not series:
        return ""
    axes = Axes(
        title="Privacy loss of one person, by the size of the bin",
        description="What is promised and what is exactly so; the table below has the numbers.",
        x="people in the bin",
        y="privacy loss of one person (epsilon)",
    )
    return responsive_lines(series, axes)
