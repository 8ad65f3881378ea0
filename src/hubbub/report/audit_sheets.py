"""Sheets of a risk-limiting audit: what must be confirmed, which papers to get, and forms to read them into."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from string import Template
from typing import Final

import hubbub
from hubbub.charts.skeleton import standalone_page
from hubbub.report.style import STYLE
from hubbub.report.text import escaped, isolated, items, sentence, visible
from hubbub.serialization.csv_safety import safe
from hubbub.voting.risk_limiting.audit import Audit, Finding
from hubbub.voting.risk_limiting.papers import PaperRow, rank_columns

_HOW_PAPERS: Final = (
    "Ballots are numbered from 1 in the order of the records. Read each paper before anybody looks at its record. A paper "
    "that marks nobody has the note blank; one that cannot be found, missing."
)
_HOW_BATCHES: Final = "Write a line into papers.csv for each paper of each of these batches: the batch, and the ranks."
_BODY: Final = Template(
    """<main>
<header><h1>Audit of $title</h1>
$lead
</header>
<section><h2>What must be confirmed</h2>
$assertions
</section>
<section><h2>Which papers</h2>
<p>$how</p>
$papers
</section>
<section><h2>For those who sign</h2>
<p>Date: ______________________ Names: ____________________________________________</p></section>
</main>
<footer>Made by $software. Papers drawn from the public words: $dice.</footer>"""
)
_SHEET_STYLE: Final = """
.papers td { min-width: 4rem; border-bottom: 1px solid currentColor; }
@media print { .papers tr { break-inside: avoid; } }
"""


def sheets(audit: Audit, title: str) -> dict[str, str]:
    """The text of each sheet by the name of its file."""
    return {
        "assertions.csv": _assertions(audit),
        "audit.json": json.dumps(audit.as_json(), indent=1, ensure_ascii=False) + "\n",
        **_forms(audit, audit.sample, {}, audit.sentences(), title),
    }


def next_sheets(finding: Finding, read: Mapping[int, PaperRow], title: str) -> dict[str, str]:
    """The sheets of the next round; papers that were drawn before are filled in."""
    found = {"finding.json": json.dumps(finding.as_json(), indent=1, ensure_ascii=False) + "\n"}
    if finding.sample():
        found |= _forms(finding.audit, finding.sample(), read, finding.sentences(), title)
    return found


def _forms(
    audit: Audit, sample: Sequence[int], read: Mapping[int, PaperRow], sentences: Sequence[str], title: str
) -> dict[str, str]:
    ranks, drawn = rank_columns(audit), sorted(Counter(sample).items())
    forms = {"sheets.html": _page(audit, drawn, sentences, title or "an election")}
    if audit.method == "batches":
        rows = [["batch", "ballots", "drawn"]]
        rows += [[audit.batches[i - 1].name, str(audit.batches[i - 1].ballots), str(times)] for i, times in drawn]
        return forms | {"batches.csv": _csv(rows), "papers.csv": _csv([["batch", *ranks, "note"]])}
    rows = [["ballot", "drawn", *ranks, "note"]]
    rows += [[str(number), str(times), *read.get(number, [""] * (len(ranks) + 1))] for number, times in drawn]
    return forms | {"papers.csv": _csv(rows)}


def _csv(rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows(safe(row) for row in rows)
    return out.getvalue()


def _assertions(audit: Audit) -> str:
    rows = [["kind", "assertion", "margin", "papers"]]
    for each, votes in zip(audit.assertions, audit.votes, strict=True):
        papers = audit.papers_for(each, votes)
        assertion = each.sentence(audit.candidates)
        rows.append(["NEB" if each.left is None else "NEN", assertion, str(each.margin), str(papers)])
    return _csv(rows)


def _page(audit: Audit, drawn: Sequence[tuple[int, int]], lead: Sequence[str], title: str) -> str:
    software = f"hubbub {hubbub.__version__}"
    batches, ranks = audit.method == "batches", rank_columns(audit)
    columns = ("batch", "ballots", "drawn") if batches else ("ballot", "drawn", *ranks, "note")
    heads = "".join(f'<th scope="col">{text}</th>' for text in columns)
    empty = "" if batches else "<td></td>" * (len(ranks) + 1)
    rows = ""
    for number, times in drawn:
        batch = audit.batches[number - 1] if batches else None
        what = f"{number:,}" if batch is None else escaped(batch.name, 200)
        many = "" if batch is None else f"<td>{batch.ballots:,}</td>"
        rows += f'<tr><th scope="row">{what}</th>{many}<td>{times}</td>{empty}</tr>'
    sentences = [f"{each.sentence(audit.candidates)} (margin {each.margin:,})" for each in audit.assertions]
    body = _BODY.substitute(
        title=isolated(visible(title, 400)),
        software=software,
        how=_HOW_BATCHES if batches else _HOW_PAPERS,
        dice=escaped(audit.dice, 400),
        lead="\n".join(f'<p class="lead">{sentence(text, begins_with_a_name=True)}</p>' for text in lead),
        assertions=items(sentence(text, begins_with_a_name=True) for text in sentences),
        papers=f'<table class="papers"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>',
    )
    return standalone_page(
        title=escaped(f"Audit of {title}", 400), body=body, style=STYLE + _SHEET_STYLE, generator=software
    )
