"""The page of a count by an office's configuration: one file for the screen and for paper, all rounds, all units."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from string import Template
from typing import Final

import hubbub
from hubbub.charts.skeleton import standalone_page
from hubbub.numeric.exact import to_text
from hubbub.report.results import ROUNDS_STYLE, Repeating, card, some, table_row, votes_text
from hubbub.report.style import STYLE
from hubbub.report.text import escaped, isolated, items, lines, name, sentence, visible
from hubbub.voting.formats.vendors.rctab_config import Configuration
from hubbub.voting.rctab.reporting_units import UnitCounts
from hubbub.voting.rctab.result import ConfiguredCount, ConfiguredRound

_TITLE: Final = 400
_BODY: Final = Template(
    """<main>
<header>
<h1>$title</h1>
$lead
</header>
<section id="rounds">
<h2>The rounds</h2>
$rounds
</section>
<section id="ties">
<h2>Ties</h2>
$ties
</section>
$units
<section id="repeat">
<h2>How to repeat it</h2>
$repeat
</section>
<section id="signatures" class="signatures">
<h2>For those who sign</h2>
<p>Date: <span class="line"></span></p>
<p>Name and office: <span class="line"></span></p>
<p>Signature: <span class="line"></span></p>
</section>
</main>
<footer>Made by $software.</footer>"""
)
_OFFICE_STYLE: Final = """
.signatures .line { display: inline-block; min-width: 18rem; border-bottom: 1px solid currentColor; }
.units { overflow-x: auto; }
@media screen { .signatures { display: none; } }
@media print { .units table { font-size: 8pt; } .units tr { break-inside: avoid; } }
"""


def office_page(
    configuration: Configuration, counted: ConfiguredCount, units: Sequence[UnitCounts], repeating: Repeating
) -> str:
    """The page. It tells what the terminal tells, and the first and the last round of every unit."""
    title = counted.title or "The result of the election"
    about = ", ".join(part for part in (configuration.office, configuration.jurisdiction, configuration.date) if part)
    blank = f", of which {counted.undervotes:,} mark nobody" if counted.undervotes else ""
    winners, *_, promised = counted.sentences()
    lead = [winners, f"{counted.cast:,} ballots{blank}; {len(counted.candidates)} candidates.", promised]
    cards = [
        _card(each, at, number if len(counted.passes) > 1 else None)
        for number, rounds in enumerate(counted.passes, 1)
        for at, each in enumerate(rounds, 1)
    ]
    software = f"hubbub {hubbub.__version__}"
    sentences = [
        f"The ballots have the digest {repeating.digest}, in whatever order they come.",
        "The configuration says everything else: candidates, rules, and the seed of every draw.",
        *([] if repeating.key is None else [f"The result is signed with the key {repeating.key}."]),
    ]
    body = _BODY.substitute(
        software=software,
        title=isolated(visible(title, _TITLE)),
        lead="\n".join(
            f'<p class="lead">{sentence(text, begins_with_a_name=True)}</p>'
            for text in ([about] if about else []) + lead
        ),
        rounds=some(cards, "rounds"),
        ties=items(map(sentence, counted.ties)) if counted.ties else "<p>There was none that mattered.</p>",
        units="\n".join(map(_units_table, units)),
        repeat=f"{''.join(f'<p>{sentence(text)}</p>' for text in sentences)}\n"
        f"<pre>{lines(chr(10).join(repeating.commands))}</pre>",
    )
    style = STYLE + ROUNDS_STYLE + _OFFICE_STYLE
    return standalone_page(title=escaped(title, _TITLE), body=body, style=style, generator=software)


def _card(counted: ConfiguredRound, at: int, number: int | None) -> str:
    rows = [
        table_row(who, _votes(votes), _fate(counted, who), "elected" if who in counted.elected else None)
        for who, votes in sorted(counted.tally, key=lambda pair: (-pair[1], pair[0]))
    ]
    rows += [table_row(f"({why})", _votes(votes), "") for why, votes in counted.inactive if votes]
    what = f"threshold {_votes(counted.threshold)}"
    return card(f"Round {at}" if number is None else f"Pass {number}, round {at}", what, rows)


def _fate(counted: ConfiguredRound, who: str) -> str:
    return "wins" if who in counted.elected else "out" if who in counted.eliminated else ""


def _units_table(counts: UnitCounts) -> str:
    """A table of the first and the last round, a row for each unit, and the total that they come to."""
    first = next(iter(counts.units.values())).passes
    shown = [(0, 0)] if len(first) == 1 and len(first[0]) == 1 else [(0, 0), (len(first) - 1, len(first[-1]) - 1)]
    tables = []
    for number, at in shown:
        names = [who for who, _ in first[number][at].tally]
        heads = "".join(f'<th scope="col">{name(who)}</th>' for who in (*names, "(inactive)"))
        rows, total = [], [Fraction(0)] * (len(names) + 1)
        for unit, part in counts.units.items():
            each = part.passes[number][at]
            numbers = [*(votes for _, votes in each.tally), each.exhausted + each.last_surplus]
            total = [one + other for one, other in zip(total, numbers, strict=True)]
            rows.append(_line(unit, numbers))
        rows.append(_line("All", total))
        rounds = f"pass {number + 1}, round {at + 1}" if len(first) > 1 else f"round {at + 1}"
        tables.append(
            f'<h3>By {counts.what}, {rounds}</h3><div class="units"><table><thead><tr><th scope="col">{counts.what}</th>'
            f"{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        )
    return f'<section id="by-{counts.what}"><h2>By {counts.what}</h2>\n{"".join(tables)}</section>'


def _line(unit: str, numbers: Sequence[Fraction]) -> str:
    cells = "".join(f"<td>{_votes(votes)}</td>" for votes in numbers)
    return f'<tr><th scope="row">{name(unit)}</th>{cells}</tr>'


def _votes(votes: Fraction) -> str:
    return votes_text(to_text(votes))
