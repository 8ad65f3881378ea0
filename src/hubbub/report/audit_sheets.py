"""Sheets of a risk-limiting audit: what must be confirmed, which papers to get, and forms to read them into."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from string import Template
from typing import Final

import hubbub
from hubbub.charts.skeleton import standalone_page
from hubbub.report.style import STYLE
from hubbub.report.text import escaped, isolated, items, sentence, visible
from hubbub.serialization.csv_safety import safe
from hubbub.voting.risk_limiting.audit import Audit, papers_needed

_MOST_RANKS: Final = 10  # columns to write ranks into
_BODY: Final = Template(
    """<main>
<header><h1>Audit of $title</h1>
$lead
</header>
<section><h2>What must be confirmed</h2>
$assertions
</section>
<section><h2>Which papers</h2>
<p>Ballots are numbered from 1 in the order of the records. Read each paper before anybody looks at its record.</p>
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
        "papers.csv": _papers(audit),
        "audit.json": json.dumps(audit.as_json(), indent=1, ensure_ascii=False) + "\n",
        "sheets.html": _page(audit, title or "an election"),
    }


def _csv(rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows(safe(row) for row in rows)
    return out.getvalue()


def _assertions(audit: Audit) -> str:
    rows = [["kind", "assertion", "margin", "papers"]]
    for each in audit.assertions:
        papers = papers_needed(each.margin, audit.ballots, audit.risk)
        assertion = each.sentence(audit.candidates)
        rows.append(["NEB" if each.left is None else "NEN", assertion, str(each.margin), str(papers)])
    return _csv(rows)


def _drawn(audit: Audit) -> list[tuple[int, int]]:
    """The papers in the order in which they lie, and how often each was drawn."""
    return sorted(Counter(audit.sample).items())


def _ranks(audit: Audit) -> list[str]:
    return [f"rank {i}" for i in range(1, min(len(audit.candidates), _MOST_RANKS) + 1)]


def _papers(audit: Audit) -> str:
    ranks = _ranks(audit)
    rows = [["ballot", "drawn", *ranks, "agrees with its record"]]
    rows += [[str(number), str(times), *[""] * (len(ranks) + 1)] for number, times in _drawn(audit)]
    return _csv(rows)


def _page(audit: Audit, title: str) -> str:
    software = f"hubbub {hubbub.__version__}"
    heads = "".join(f'<th scope="col">{text}</th>' for text in ("ballot", "drawn", *_ranks(audit), "agrees"))
    empty = "<td></td>" * (len(_ranks(audit)) + 1)
    rows = "".join(
        f'<tr><th scope="row">{number:,}</th><td>{times}</td>{empty}</tr>' for number, times in _drawn(audit)
    )
    sentences = [f"{each.sentence(audit.candidates)} (margin {each.margin:,})" for each in audit.assertions]
    body = _BODY.substitute(
        title=isolated(visible(title, 400)),
        software=software,
        dice=escaped(audit.dice, 400),
        lead="\n".join(f'<p class="lead">{sentence(text, begins_with_a_name=True)}</p>' for text in audit.sentences()),
        assertions=items(sentence(text, begins_with_a_name=True) for text in sentences),
        papers=f'<table class="papers"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>',
    )
    return standalone_page(
        title=escaped(f"Audit of {title}", 400), body=body, style=STYLE + _SHEET_STYLE, generator=software
    )
