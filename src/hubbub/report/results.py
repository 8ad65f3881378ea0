"""The page of an election's result: who won, how, what was left to chance, what is promised, how to repeat it.

One file that opens without a network, runs no code, fits telephones and desks, and prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from string import Template
from typing import Final

import hubbub
from hubbub.charts.skeleton import standalone_page
from hubbub.report.picture import picture
from hubbub.report.style import STYLE
from hubbub.report.text import escaped, isolated, items, lines, name, sentence, visible
from hubbub.runtime.frozen import dataclass
from hubbub.voting.count.counted import Counted, draw_sentence, draws_json
from hubbub.voting.formats.ballot_file import HAND_OUT, RANKS, BallotFile
from hubbub.voting.formats.reading import MET
from hubbub.voting.formats.vendors.rctab_config import Configuration
from hubbub.voting.guarantees.strategyproofness import Promised
from hubbub.voting.rctab.answer_rounds import answer_rounds
from hubbub.voting.rctab.exports import UnitCounts
from hubbub.voting.rctab.result import ConfiguredCount, ConfiguredRound, votes_text
from hubbub.voting.rctab.rounds_flow import rounds_flow
from hubbub.voting.result import Result
from hubbub.voting.rules.pairwise import Pairwise
from hubbub.voting.rules.stv_result import Seats

MOST_PAIRED: Final = 8  # candidates in the table of pairs
_MOST_HEADS: Final = 6  # names above the columns of a table; more are numbered
_MOST_DRAWN: Final = 12  # of those that a lot was among
_TITLE: Final = 400  # signs
_MOST_ROUNDS: Final = 9  # that are all open
_LAST_ROUNDS: Final = 6
_OF_THEORY: Final = 2  # sentences at the end of a count's, about what was found of the winner

ROUNDS_STYLE: Final = """
main, footer { max-width: 68rem; }
header, section > p, section > ul, section > dl { max-width: 46rem; }
figure { max-width: 58rem; }
.winners { list-style: none; padding: 0; margin: 1.2rem 0; border-left: 6px solid var(--bar); padding-left: 1rem; }
.winners li { margin: .5rem 0; }
.winners strong { display: block; font: 700 1.9rem/1.2 Helvetica, Arial, sans-serif; text-wrap: balance; }
.rounds { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(23rem, 100%), 1fr)); gap: 1.6rem 2.2rem; }
details { margin: 1.2rem 0; }
.rounds h3 { margin-bottom: .2rem; }
.rounds td, .rounds th, .pairs td, .pairs th { padding: .25rem .4rem; }
p, .rounds th, .pairs th, .units th { overflow-wrap: break-word; }
.rounds table { table-layout: fixed; }
.rounds th { width: 40%; }
.rounds td { width: 22%; padding-left: 0; }
.rounds td + td { width: 17%; }
.rounds td:last-child { white-space: normal; width: 21%; }
.rounds tr.out td, .rounds tr.out th { color: var(--quiet); }
.rounds tr.wins td, .rounds tr.wins th, .pairs td.more { font-weight: 700; }
.track { display: block; position: relative; height: .5rem; margin-top: .15rem; background: var(--panel); }
.track i { position: absolute; left: 0; top: 0; bottom: 0; background: var(--bar); }
.out .track i { background: var(--quiet); opacity: .55; }
.track b { position: absolute; top: -2px; bottom: -2px; width: 2px; background: var(--ink); }
.pairs, .units { overflow-x: auto; }
.pairs table, .units table { width: auto; }
.pairs th { min-width: 0; }
.units thead th:not(.number) { min-width: 0; }
.units td, .units th { padding: .2rem .45rem; }
.key { columns: 14rem; font-size: .85rem; }
.signatures .line { display: inline-block; min-width: 18rem; border-bottom: 1px solid currentColor; }
@media screen { .signatures { display: none; } }
@media print {
  nav { display: none; }
  .winners strong { font-size: 18pt; }
  .rounds { grid-template-columns: repeat(2, 1fr); gap: .8rem 1.4rem; }
  .rounds div { break-inside: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
  .pairs, .units { overflow: visible; }
  .units table { font-size: 8pt; }
}
"""

_EXHAUSTED: Final = "<p>An exhausted ballot ranks nobody who is still in.</p>"
_SIGNATURES: Final = """<section id="signatures" class="signatures">
<h2>For those who sign</h2>
<p>Date: <span class="line"></span></p>
<p>Name and office: <span class="line"></span></p>
<p>Signature: <span class="line"></span></p>
</section>"""
_OFFICE_PROMISE: Final = "<p>Nothing is promised about lies in a count by an office's rules.</p>"

_BODY: Final = Template(
    """<main>
<header>
<h1>$title</h1>
$winners
$lead
<nav aria-label="On this page">$links</nav>
</header>
$sections
</main>
<footer>Made by $software.</footer>"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeating:
    """What somebody needs to repeat the count: the ballots' digest, commands, and the key that signed the result."""

    digest: str
    commands: tuple[str, ...] = ()
    key: str | None = None
    dice: str | None = None


def results_page(answer: Counted, read: BallotFile, pairs: Pairwise | None, repeating: Repeating) -> str:
    """The page of a count for one winner. It tells what the terminal tells, and nothing else."""
    result = answer.result
    lead = [] if answer.beside_winner is None else [answer.beside_winner]
    lead.append(f"{read.ballots_text()}, {len(result.candidates)} candidates, counted by {result.rule.name}.")
    if result.draws:
        by_hand = any(draw.by_hand for draw in result.draws)
        lead.append(f"{'Ties were broken by hand' if by_hand else 'Lots were drawn'} on the way; they are below.")
    margins = ["" if each.margin is None else f", margin {each.margin:,}" for each in result.rounds]
    return _page(
        read.title,
        answer_rounds(result, read.ballots),
        lead=lead,
        units=result.rounds[-1].what,
        notes=[f"{each.what}{margin}" for each, margin in zip(result.rounds, margins, strict=True)],
        needs=result.rule.name == "instant-runoff",
        sections=[
            ("pairs", "Pair by pair", _pairs(pairs, _lasting(result))),
            ("draws", "What was drawn", _draw_sentences(answer.draw_sentences(_MOST_DRAWN))),
            (
                "promised",
                "What is promised, and to whom",
                _promise_sentences(answer.sentences()[1 if answer.struck_nobody is None else 2 :], answer),
            ),
            ("repeat", "How to check it", _repeat(read, repeating, _source(result))),
        ],
    )


def seats_page(result: Seats, read: BallotFile, repeating: Repeating) -> str:
    """The page of a count for several seats."""
    drawn = [
        draw_sentence(lot, ", ".join(lot["among"]))
        for lot in draws_json(result.draws, secure=result.secure, dice=repeating.dice)
    ]
    names = result.candidates
    done = [
        f"{each.what} of {', '.join(names[i] for i in each.of)}" if each.of else each.what for each in result.stages
    ]
    return _page(
        read.title,
        answer_rounds(result, read.ballots),
        lead=[*result.sentences(), f"{read.ballots_text()}, {len(names)} candidates."],
        word="stage",
        notes=done,
        sections=[
            ("draws", "What was drawn", _draw_sentences(drawn)),
            (
                "promised",
                "What is promised, and to whom",
                "<p>Nothing is promised about lies in a count for several seats.</p>",
            ),
            ("repeat", "How to check it", _repeat(read, repeating, _source(result))),
        ],
    )


def office_page(
    configuration: Configuration, counted: ConfiguredCount, units: Sequence[UnitCounts], repeating: Repeating
) -> str:
    """The page of a count by an office's rules: the same, with the first and the last round of every precinct or batch,
    and lines to sign on paper."""
    about = ", ".join(part for part in (configuration.office, configuration.jurisdiction, configuration.date) if part)
    blank = f", of which {counted.undervotes:,} mark nobody" if counted.undervotes else ""
    sentences = [
        f"The ballots have the digest {repeating.digest}, in whatever order they come.",
        "The configuration says everything else: candidates, rules, and the seed of every draw.",
        *([] if repeating.key is None else [f"The result is signed with the key {repeating.key}."]),
    ]
    repeat = "".join(f"<p>{sentence(text)}</p>" for text in sentences)
    ties = items(map(sentence, counted.ties)) if counted.ties else "<p>There was none that mattered.</p>"
    return _page(
        counted.title,
        counted,
        lead=[*([about] if about else []), f"{counted.cast:,} ballots{blank}; {len(counted.candidates)} candidates."],
        sections=[
            ("ties", "Ties", ties),
            *((f"by-{each.what}", f"By {each.what}", _units_tables(each)) for each in units),
            ("promised", "What is promised, and to whom", _OFFICE_PROMISE),
            ("repeat", "How to check it", f"{repeat}\n<pre>{lines(chr(10).join(repeating.commands))}</pre>"),
        ],
        end=_SIGNATURES,
    )


def _page(
    title: str,
    counted: ConfiguredCount,
    *,
    lead: Sequence[str],
    sections: Sequence[tuple[str, str, str]],
    word: str = "round",
    units: str = "votes",
    notes: Sequence[str] | None = None,
    needs: bool = True,
    end: str = "",
) -> str:
    """One page for all counts: who is elected and when, the flow, the rounds, then what each kind of count has to say.

    `notes` stand beside the headings of the rounds, in the place of the threshold; `needs` says whether that is what a
    winner must have, and then it is drawn.
    """
    title = title or "The result of the election"
    software = f"hubbub {hubbub.__version__}"
    parts = [("rounds", f"The {word}s", _rounds(counted, word, notes, needs=needs)), *sections]
    body = _BODY.substitute(
        software=software,
        title=isolated(visible(title, _TITLE)),
        winners=_winners(counted, word, units),
        lead="\n".join(f'<p class="lead">{sentence(text, begins_with_a_name=True)}</p>' for text in lead),
        links=" ".join(f'<a href="#{at}">{escaped(heading)}</a>' for at, heading, _ in parts),
        sections="\n".join(
            f'<section id="{at}">\n<h2>{escaped(heading)}</h2>\n{text}\n</section>' for at, heading, text in parts
        )
        + f"\n{end}",
    )
    return standalone_page(title=escaped(title, _TITLE), body=body, style=STYLE + ROUNDS_STYLE, generator=software)


def _winners(counted: ConfiguredCount, word: str, units: str) -> str:
    """Everybody who is elected, with the round and the votes."""
    found = []
    for number, rounds in enumerate(counted.passes, 1):
        of_pass = f"pass {number}, " if len(counted.passes) > 1 else ""
        for at, each in enumerate(rounds, 1):
            of = f" in {of_pass}{word} {at} of {len(rounds)}" if of_pass or len(rounds) > 1 else ""
            for who in each.elected:
                votes = dict(each.tally).get(who, Fraction(0))
                share = f" ({_percent(votes, each)})" if each.threshold else ""
                how = f"elected{of} with {votes_text(votes)} {units}{share}"
                found.append(f"<li><strong>{name(who)}</strong> {escaped(how, 400)}</li>")
    if not found:
        return "<p>Nobody is elected yet: the rules stop the count before.</p>"
    return f'<ul class="winners">{"".join(found)}</ul>'


def _rounds(counted: ConfiguredCount, word: str, notes: Sequence[str] | None, *, needs: bool) -> str:
    """For each pass the flow and a table of every round."""
    texts = []
    if any(each.exhausted_votes for rounds in counted.passes for each in rounds):
        texts.append(_EXHAUSTED)
    if counted.passes[0][0].threshold:
        line = f" The black line is what is needed to be elected in that {word}." if needs else ""
        texts.append(f"<p>Percentages are of the votes that count in the {word}.{line}</p>")
    for number, rounds in enumerate(counted.passes):
        start = f"Pass {number + 1}, {word}" if len(counted.passes) > 1 else word.capitalize()
        flow = rounds_flow(counted, number, word=word)
        if len(flow.columns) > 1:
            texts.append(picture(flow))
        valid = sum((votes for _, votes in rounds[0].tally), rounds[0].exhausted_votes)
        most = max(
            [
                Fraction(1),
                *(votes for each in rounds for _, votes in each.tally),
                *(r.threshold for r in rounds if needs),
            ]
        )
        before: set[str] = set()
        cards = []
        for at, each in enumerate(rounds):
            note = f"threshold {votes_text(each.threshold)}" if notes is None else notes[at]
            cards.append(_card(f"{start} {at + 1}", note, each, before, valid, most, needs=needs))
            before |= set(each.elected)
        texts.append(_some(cards, f"{word}s"))
    return "\n".join(texts)


def _card(
    heading: str, note: str, each: ConfiguredRound, before: set[str], valid: Fraction, most: Fraction, *, needs: bool
) -> str:
    """One round: a bar for everybody, then why votes count for nobody."""
    line = f'<b style="left:{_width(each.threshold, most)}"></b>' if needs and each.threshold else ""
    rows = []
    for who, votes in sorted(each.tally, key=lambda pair: (-pair[1], pair[0])):
        fate = "wins" if who in each.elected else "out" if who in each.eliminated else ""
        what = {"wins": "elected", "out": "out"}.get(fate, "elected before" if who in before else "")
        bar = f'<span class="track"><i style="width:{_width(votes, most)}"></i>{line}</span>'
        percent = f"<td>{_percent(votes, each)}</td>" if each.threshold else ""
        start = f'<tr class="{fate}">' if fate else "<tr>"
        rows.append(
            f'{start}<th scope="row">{name(who)}{bar}</th><td>{votes_text(votes)}</td>{percent}<td>{what}</td></tr>'
        )
    if each.threshold:
        lost = valid - sum((votes for _, votes in each.tally), each.exhausted_votes + each.last_surplus)
        none = [(f"exhausted: {why}", votes) for why, votes in each.inactive]
        none += [("surplus of the last seats", each.last_surplus), ("lost to rounding", lost)]
        rows += [
            f'<tr><th scope="row">({why})</th><td>{votes_text(votes)}</td><td></td><td></td></tr>'
            for why, votes in none
            if votes
        ]
    return (
        f"<div><h3>{escaped(heading)} <small>{escaped(note, 400)}</small></h3>\n"
        f"<table><tbody>\n{chr(10).join(rows)}\n</tbody></table></div>"
    )


def _width(votes: Fraction, most: Fraction) -> str:
    return f"{min(100.0, float(100 * votes / most)):.2f}%"


def _percent(votes: Fraction, each: ConfiguredRound) -> str:
    return f"{float(100 * votes / (sum(count for _, count in each.tally) or 1)):.1f} %"


def _draw_sentences(drawn: Sequence[str]) -> str:
    return items(map(sentence, drawn)) if drawn else "<p>Nothing was left to chance.</p>"


def _some(cards: Sequence[str], what: str) -> str:
    """All rounds; of many the first and the last ones, and the others where somebody asks for them, and on paper."""
    if len(cards) <= _MOST_ROUNDS:
        return _grid(cards)
    middle = cards[1:-_LAST_ROUNDS]
    more = f"The {len(middle)} {what} in between"
    return (
        f'{_grid(cards[:1])}\n<details class="short"><summary>{more}</summary>\n{_grid(middle)}\n</details>\n'
        f"{_grid(cards[-_LAST_ROUNDS:])}"
    )


def _grid(cards: Sequence[str]) -> str:
    return f'<div class="rounds">\n{chr(10).join(cards)}\n</div>'


def _units_tables(counts: UnitCounts) -> str:
    """The first and the last round, a row for each unit, and the total that they come to."""
    first = next(iter(counts.units.values())).passes
    shown = dict.fromkeys([(0, 0), (len(first) - 1, len(first[-1]) - 1)])
    tables = []
    for number, at in shown:
        names = [who for who, _ in first[number][at].tally]
        by_number = len(names) > _MOST_HEADS
        heads = [str(i) for i in range(1, len(names) + 1)] if by_number else [name(who) for who in names]
        key = f'<ol class="key">{"".join(f"<li>{name(who)}</li>" for who in names)}</ol>' if by_number else ""
        rows, total = [], [Fraction(0)] * (len(names) + 1)
        for unit, part in counts.units.items():
            each = part.passes[number][at]
            numbers = [*(votes for _, votes in each.tally), each.exhausted_votes + each.last_surplus]
            total = [one + other for one, other in zip(total, numbers, strict=True)]
            rows.append(_line(unit, numbers))
        rows.append(_line("All", total))
        rounds = f"pass {number + 1}, round {at + 1}" if len(first) > 1 else f"round {at + 1}"
        columns = "".join(f'<th scope="col" class="number">{head}</th>' for head in (*heads, "(inactive)"))
        tables.append(
            f'<h3>By {counts.what}, {rounds}</h3>{key}<div class="units" role="region" tabindex="0" '
            f'aria-label="By {counts.what}, {rounds}"><table><thead><tr><th scope="col">{counts.what}</th>{columns}</tr>'
            f"</thead><tbody>{''.join(rows)}</tbody></table></div>"
        )
    return "\n".join(tables)


def _line(unit: str, numbers: Sequence[Fraction]) -> str:
    cells = "".join(f"<td>{votes_text(votes)}</td>" for votes in numbers)
    return f'<tr><th scope="row">{name(unit)}</th>{cells}</tr>'


def _lasting(result: Result) -> list[int]:
    """Candidates, those who were in longest first, the winner before all."""
    last: dict[int, tuple[int, int]] = {}
    for number, counted in enumerate(result.rounds):
        for candidate, count in counted.counts:
            last[candidate] = (number + (candidate not in counted.eliminated), count)
    return sorted(last, key=lambda i: (i != result.winner, -last[i][0], -last[i][1], i))


def _pairs(pairs: Pairwise | None, order: Sequence[int]) -> str:
    if pairs is None:
        return "<p>Pairs were not compared.</p>"
    paired = list(order[:MOST_PAIRED])
    heads = "".join(f'<th scope="col" class="number">{i}</th>' for i in range(1, len(paired) + 1))
    rows = []
    for number, one in enumerate(paired, 1):
        cells = "".join(
            "<td></td>"
            if one == other
            else f'<td class="more">{pairs.table[one][other]:,}</td>'
            if pairs.table[one][other] > pairs.table[other][one]
            else f"<td>{pairs.table[one][other]:,}</td>"
            for other in paired
        )
        rows.append(f'<tr><th scope="row">{number}. {name(pairs.candidates[one])}</th>{cells}</tr>')
    some = f" The {len(paired)} who lasted longest are shown." if len(paired) < len(order) else ""
    return (
        f"<p>{sentence(pairs.sentence(), begins_with_a_name=True)} How many ballots prefer the candidate of the row to "
        f"that of the column; the larger number of a pair is bold.{some}</p>\n"
        '<div class="pairs" role="region" aria-label="Pair by pair" tabindex="0">'
        f"<table><thead><tr><th></th>{heads}</tr></thead>\n<tbody>\n{chr(10).join(rows)}\n</tbody></table></div>"
    )


def _promise_sentences(sentences: Sequence[str], answer: Counted) -> str:
    paragraphs = [f"<p>{sentence(text, begins_with_a_name=True)}</p>\n" for text in sentences]
    about_lies, theory = "".join(paragraphs[:-_OF_THEORY]), "".join(paragraphs[-_OF_THEORY:])
    folded = f"<details><summary>For those who know the theory</summary>\n{theory}</details>"
    if not isinstance(answer.honesty, Promised):
        return f"{about_lies}{folded}"
    whom = items(map(sentence, answer.honesty.assumptions))
    return f"{about_lies}<p>It is promised to every voter for whom this is so:</p>\n{whom}\n{folded}"


def _source(result: Result | Seats) -> str | None:
    """Where draws came from that follow from no public words; None where nothing was drawn."""
    if not result.draws:
        return None
    if any(draw.by_hand for draw in result.draws):
        return "Ties were broken by hand. Anybody can check that the result follows from the answers, and nobody why they are so."
    return (
        "The draws came from the operating system. Anybody can check that the result follows from them, and nobody where "
        "they came from."
    )


def _to_check(repeating: Repeating) -> Iterator[str]:
    """What somebody needs who wants to check the result."""
    if repeating.key is None:
        yield "To check the result you need the file of ballots and the program hubbub; the command below counts it again."
        return
    yield (
        "To check the result, get the file of ballots and the record from whoever counted, and the program hubbub. The "
        "last command below counts the ballots again and compares every number."
    )
    yield f"The record is signed with the key {repeating.key}. Get this key another way too, and give it with --key."


def _repeat(read: BallotFile, repeating: Repeating, source: str | None) -> str:
    sentences = [*_to_check(repeating)]
    if read.format.startswith(("csv", "xlsx")):
        sentences.append(f"{HAND_OUT} The check does not need them, and rows may stand in any order.")
    sentences.append(f"The {read.ballots.voters:,} ballots, in whatever order, have the digest {repeating.digest}.")
    if read.ballots.blank:
        sentences.append(
            "Rows of empty cells are left out when a file is read, so blank ballots may be missing from it; the check "
            "then says how many."
        )
    if read.marks == RANKS:
        sentences.append(f"Marks were read by these rules: {read.reading.describe()}.")
    changed = [f"{MET.get(what, what)}: {count:,}" for what, count in sorted(read.changed.items()) if count]
    if changed:
        sentences.append(f"Ballots {'; '.join(changed)}.")
    if repeating.dice is not None:
        sentences.append(f"Every draw follows from the public words: {repeating.dice}.")
    elif source is not None:
        sentences.append(source)
    commands = f"<pre>{lines(chr(10).join(repeating.commands))}</pre>" if repeating.commands else ""
    return f"{''.join(f'<p>{sentence(text)}</p>' for text in sentences)}\n{commands}"
