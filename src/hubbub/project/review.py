"""The sheet that somebody reads, and an ethics board signs, before a publication: as Markdown and as a page.

It is made of public words alone: what is asked, whom it is about, what is promised, how exact it will be, what is public
by declaration, and what all of it comes to.

A recorded approval: a signature over a review sheet, by somebody whose key the publisher knows.

Whoever approves needs the sheet alone, and neither the data nor the ledger of the publisher. What is signed is the sheet
without the lines that say how far a publication is, so that one approval holds for all of its runs.
"""

from __future__ import annotations

import hashlib
import html
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from hubbub.certificate.explanation import in_numbers, meaning
from hubbub.errors import CheckFailed, Refused
from hubbub.guarantees.promise_order import requested_first
from hubbub.ledger.key import is_signature
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.overlap import COMPARED
from hubbub.plan.error import EXAMPLE_PEOPLE, expected_error
from hubbub.plan.invented import UNKNOWN, how_exact
from hubbub.project.joint import Joint
from hubbub.project.planning import Plan, Planned, SeriesRun, losses
from hubbub.runtime.regular_file import open_regular
from hubbub.serialization.canonical import LARGEST, canonical, read

STATE: Final = "State"
"""The term of the line that says how far a release is."""


class Line(NamedTuple):
    """A line of the sheet: a heading (level 1 or 2), or a point with its term."""

    level: int  # 0 for a point
    term: str
    text: str = ""


def sheet(plan: Plan) -> tuple[Line, ...]:
    """All lines.

    Guarantee: a function of the file of the publication, of the names and types of columns, and of the ledger.
    """
    return tuple(_lines(plan))


def _lines(plan: Plan) -> Iterator[Line]:
    yield Line(1, f"Review of {plan.publication.file.name}")
    for each in plan.releases:
        yield from _release(each)
    for dataset in plan.publication.datasets:
        if dataset.opening.get("disjoint") is not None:
            yield Line(2, f"The period {dataset.opening['disjoint']} of {dataset.name}")
            yield Line(0, "Compared", f"{COMPARED}.")
    yield Line(2, "What all of it comes to")
    for name, after in plan.after.items():
        together = "; ".join(losses(after)) or "nothing is promised about all releases together"
        yield Line(0, f"The people of {name}", f"{together}, with everything that was published of them before.")


def _release(planned: Planned) -> Iterator[Line]:
    spec, entry = planned.spec, planned.entry
    about, promises = planned.bound.description, requested_first(planned.bound.promises)
    title = about.title if planned.joint is None else f"{len(planned.names)} tables, planned together"
    yield Line(2, f"{entry.name}: {entry.report.get('title') or title}")
    yield Line(0, STATE, f"{planned.state.value}.")
    yield Line(0, "Question", f"{about.published}.")
    yield Line(0, "About", f"the people of {entry.dataset}; {about.person}.")
    yield Line(
        0, "Promise", f"{in_numbers(promises[0])}. {meaning(promises[0].conclusion, promises[0].people).promised}"
    )
    for step in promises[1:]:
        yield Line(0, "Also holds", f"{in_numbers(step)}.")
    if planned.series is not None:
        yield Line(0, "Series", _series(planned.series))
    if entry.corrects is not None:
        yield Line(0, "Corrects", f"{entry.corrects}, which a signed notice then says: {entry.reason}.")
    if planned.joint is not None:
        yield from _tables(planned.joint, entry.name, entry.form)
    if (error := expected_error(spec)) is not None:
        yield Line(0, "How exact", f"a number of {EXAMPLE_PEOPLE:,} people is off by about {error:,.3g}.")
    elif planned.joint is None:
        tried = how_exact(spec, planned.table.engine.columns())
        yield Line(0, "How exact", f"{tried or UNKNOWN}.")
    if about.hidden:
        yield Line(0, "Not shown", about.hidden)
    for column, rule in about.public:
        yield Line(0, "Public by declaration", f"{column}: {rule}.")
    for weakness in planned.weak:
        yield Line(0, "Weak", f"{weakness}.")


def _series(run: SeriesRun) -> str:
    calendar = run.series.calendar
    periods = f"all {calendar.periods:,} periods from {calendar.first} to {calendar.last}"
    return f"period {run.period} of {calendar.periods:,}. The promise is about {periods} together, and is charged once."


def _tables(joint: Joint, folder: str, form: str) -> Iterator[Line]:
    """Where each table is, how exact it is, and what is gained over separate releases."""
    ending = "csv" if form == "xlsx" else form
    for each, variance in zip(joint.members, joint.variances, strict=True):
        title = each.entry.report.get("title")
        yield Line(
            0,
            f"Table {each.entry.name}",
            f"{f'{title}; ' if title else ''}in {folder}/{each.entry.name}.{ending}. A number is off by about "
            f"{math.sqrt(variance):,.3g} (root mean square); in a release of its own, by {math.sqrt(each.variance):,.3g}.",
        )
    yield Line(
        0,
        "Together",
        f"{gain(joint)} No table is less exact than by itself. Whoever is in no declared bin of a column is under null or "
        "other there.",
    )


def gain(joint: Joint) -> str:
    """By how much a joint release is better, in one sentence."""
    return (
        f"The mean squared error is {100 * (1 - joint.ratio):.0f} % less than that of {len(joint.members)} releases with the "
        "same promise in all, the mean over tables by their parts of it."
    )


def markdown(lines: tuple[Line, ...]) -> str:
    """As Markdown; what strangers wrote acts on nothing."""
    return (
        "\n".join(
            f"\n{'#' * line.level} {_escape(line.term)}\n" if line.level else f"- **{line.term}**: {_escape(line.text)}"
            for line in lines
        ).strip()
        + "\n"
    )


def _escape(text: str) -> str:
    plain = "".join(sign if sign.isprintable() else " " for sign in text)
    return "".join(f"\\{sign}" if sign in "\\`*_<>[]|#" else sign for sign in plain)


def page(lines: tuple[Line, ...]) -> str:
    """As a page by itself."""
    body = "\n".join(
        f"<h{line.level}>{html.escape(line.term)}</h{line.level}>"
        if line.level
        else f"<p><b>{html.escape(line.term)}</b>: {html.escape(line.text)}</p>"
        for line in lines
    )
    style = "body{font:16px/1.5 system-ui,sans-serif;max-width:46em;margin:2em auto;padding:0 1em}"
    title = html.escape(lines[0].term)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{style}</style>'
        f"</head>\n<body>\n{body}\n</body></html>\n"
    )


APPROVAL: Final = "approval.json"
_FORMAT: Final = "hubbub approval/1"


def _signed_bytes(sheet: str) -> bytes:
    lines = [line for line in sheet.splitlines() if not line.startswith(f"- **{STATE}**:")]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return f"{_FORMAT}\n{digest}\n".encode()


def approve(sheet: str, ledger: Ledger) -> bytes:
    """The approval of a sheet in Markdown, signed with the key of a ledger."""
    public, signature = ledger.sign(_signed_bytes(sheet))
    return canonical({"format": _FORMAT, "public_key": public, "signature": signature})


def check_approval(sheet: str, file: Path, key: str) -> None:
    """Refuse a publication that the holder of a key did not approve as its sheet is now.

    Guarantee: returns only if the file holds a signature of this key over this sheet, but for the lines of its state.
    """
    try:
        with open_regular(file) as opened:
            data = opened.read(LARGEST + 1)
    except OSError:
        raise Refused(
            f"this publication waits for an approval, and there is none in {file}; let the sheet be signed with "
            "hubbub trust approve, and put it there"
        ) from None
    found: Any = read(data, str(file))
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise CheckFailed(f"{file} is no approval; ask for the original")
    if found.get("public_key") != key:
        raise Refused(f"{file} is signed with another key than the one that has to approve; ask for their signature")
    if not is_signature(key, str(found.get("signature")), _signed_bytes(sheet)):
        raise Refused("what was approved is another sheet than that of this plan; let this one be reviewed and signed")
