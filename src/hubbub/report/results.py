"""The page of an election's result: who won, how, what was left to chance, what is promised, how to repeat it.

One file that opens without a network, runs no code, fits telephones and desks, and prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import Template
from typing import Any, Final

import hubbub
from hubbub.charts.skeleton import standalone_page
from hubbub.numeric.exact import rational
from hubbub.protocol.drawing import Bar, Bars, Drawing, Flow, FlowColumn, FlowLink
from hubbub.report.picture import picture
from hubbub.report.style import STYLE
from hubbub.report.text import escaped, isolated, items, lines, name, sentence, visible
from hubbub.runtime.frozen import dataclass
from hubbub.voting.count.counted import Counted, draw_sentence, draws_json
from hubbub.voting.count.flow import Column, flow
from hubbub.voting.count.stv_flow import seats_flow
from hubbub.voting.formats.ballot_file import HAND_OUT, RANKS, BallotFile
from hubbub.voting.formats.reading import MET
from hubbub.voting.guarantees.strategyproofness import Promised
from hubbub.voting.result import Result
from hubbub.voting.rules.pairwise import Pairwise
from hubbub.voting.rules.stv_result import Seats

MOST_PAIRED: Final = 8  # candidates in the table of pairs
_MOST_DRAWN: Final = 12  # of those that a lot was among
_TITLE: Final = 400  # signs
_MOST_ROUNDS: Final = 9  # that are all open
_LAST_ROUNDS: Final = 6
_OF_THEORY: Final = 2  # sentences at the end of a count's, about what was found of the winner

ROUNDS_STYLE: Final = """
main, footer { max-width: 68rem; }
header, section > p, section > ul, section > dl { max-width: 46rem; }
figure { max-width: 58rem; }
.rounds { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); gap: 1.2rem 2rem; }
details { margin: 1.2rem 0; }
.rounds h3 { margin-bottom: .2rem; }
.rounds td, .rounds th, .pairs td, .pairs th { padding: .2rem .5rem; }
.rounds tr.out td, .rounds tr.out th { color: var(--quiet); }
.rounds tr.wins td, .rounds tr.wins th, .pairs td.more { font-weight: 700; }
.pairs { overflow-x: auto; }
.pairs table { width: auto; }
.pairs th { min-width: 0; }
@media print { .rounds { grid-template-columns: repeat(2, 1fr); } .rounds div { break-inside: avoid; } }
"""

_EXHAUSTED: Final = (
    "<p>An exhausted ballot ranks nobody who is still in; a blank one ranks nobody, and is among them.</p>"
)

_BODY: Final = Template(
    """<main>
<header>
<h1>$title</h1>
$lead
<nav aria-label="On this page"><a href="#rounds">The rounds</a> <a href="#pairs">Pair by pair</a>
<a href="#draws">What was drawn</a> <a href="#promised">What is promised</a>
<a href="#repeat">How to check it</a></nav>
</header>
$picture
<section id="rounds">
<h2>The rounds</h2>
$rounds
</section>
<section id="pairs">
<h2>Pair by pair</h2>
$pairs
</section>
<section id="draws">
<h2>What was drawn</h2>
$draws
</section>
<section id="promised">
<h2>What is promised, and to whom</h2>
$promised
</section>
<section id="repeat">
<h2>How to check it</h2>
$repeat
</section>
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
    lead = [f"{result.winner_name} wins{_score(result)}."]
    if answer.beside_winner is not None:
        lead.append(answer.beside_winner)
    lead.append(f"{read.counted()}, {len(result.candidates)} candidates, counted by {result.rule.name}.")
    sentences = answer.sentences()[1 if answer.struck_nobody is None else 2 :]
    if result.draws:
        by_hand = any(draw.by_hand for draw in result.draws)
        lead.append(f"{'Ties were broken by hand' if by_hand else 'Lots were drawn'} on the way; they are below.")
    return _page(
        read,
        lead=lead,
        drawing=_drawing(result),
        rounds=some([_round(number, result) for number in range(len(result.rounds))], "rounds"),
        pairs=_pairs(pairs, _lasting(result)),
        drawn=answer.drawn(_MOST_DRAWN),
        source=_source(result),
        promised=_promised(sentences, answer),
        exhausted=any(counted.exhausted for counted in result.rounds),
        repeating=repeating,
    )


def seats_page(result: Seats, read: BallotFile, repeating: Repeating) -> str:
    """The page of a count for several seats."""
    drawn = [
        draw_sentence(lot, ", ".join(lot["among"]))
        for lot in draws_json(result.draws, secure=result.secure, dice=repeating.dice)
    ]
    stages = result.as_json()["stages"]
    seats = seats_flow(result)
    columns = tuple(FlowColumn(f"stage {each.stage}", each.note, each.piles) for each in seats.columns)
    names = result.winner_names
    return _page(
        read,
        lead=result.sentences(),
        drawing=Flow(
            columns=columns,
            links=tuple(FlowLink(each.column, each.origin, each.target, each.votes) for each in seats.links),
            order=seats.order,
            winner=names[0],
            plain=tuple(each for each in seats.order if each not in result.candidates),
            description=f"{', '.join(names)} are elected after {len(columns)} stages. The tables below have the numbers.",
            note="Votes from stage to stage; point at a band for its number.",
        ),
        rounds=some([_stage(number, stages) for number in range(1, len(stages) + 1)], "stages"),
        pairs="<p>Several seats are filled, so pairs do not decide.</p>",
        drawn=drawn,
        source=_source(result),
        promised="<p>Nothing is promised about lies in a count for several seats.</p>",
        exhausted=any(rational(each["exhausted"]) for each in stages),
        repeating=repeating,
    )


def _page(
    read: BallotFile,
    *,
    lead: Sequence[str],
    drawing: Drawing | None,
    rounds: str,
    pairs: str,
    drawn: Sequence[str],
    source: str | None,
    promised: str,
    exhausted: bool,
    repeating: Repeating,
) -> str:
    title = read.title or "The result of the election"
    chance = items(map(sentence, drawn)) if drawn else "<p>Nothing was left to chance.</p>"
    software = f"hubbub {hubbub.__version__}"
    body = _BODY.substitute(
        software=software,
        title=isolated(visible(title, _TITLE)),
        lead="\n".join(f'<p class="lead">{sentence(text, begins_with_a_name=True)}</p>' for text in lead),
        picture=picture(drawing),
        rounds=f"{_EXHAUSTED}\n{rounds}" if exhausted else rounds,
        pairs=pairs,
        draws=chance,
        promised=promised,
        repeat=_repeat(read, repeating, source),
    )
    return standalone_page(title=escaped(title, _TITLE), body=body, style=STYLE + ROUNDS_STYLE, generator=software)


def some(cards: Sequence[str], what: str) -> str:
    """All rounds; of many the first and the last ones, and the others where somebody asks for them."""
    if len(cards) <= _MOST_ROUNDS:
        return _grid(cards)
    middle = cards[1:-_LAST_ROUNDS]
    more = f"The {len(middle)} {what} in between"
    return (
        f"{_grid(cards[:1])}\n<details><summary>{more}</summary>\n{_grid(middle)}\n</details>\n"
        f"{_grid(cards[-_LAST_ROUNDS:])}"
    )


def _grid(cards: Sequence[str]) -> str:
    return f'<div class="rounds">\n{chr(10).join(cards)}\n</div>'


def _score(result: Result) -> str:
    last = sorted(result.rounds[-1].counts, key=lambda pair: -pair[1])
    leads = len(last) > 1 and last[0][0] == result.winner and last[0][1] > last[1][1]
    return f", {last[0][1]:,} to {last[1][1]:,} in the last round" if leads else ""


def _drawing(result: Result) -> Drawing:
    ballot_flow = flow(result)
    if len(ballot_flow.columns) == 1:
        counts = sorted(ballot_flow.columns[0].piles, key=lambda pile: -pile[1])
        bars = tuple(Bar(label, count, count, count) for label, count in counts)
        return Bars(
            bars=bars,
            by="",
            numbers=ballot_flow.what,
            upright=False,
            bar=f"A bar is a number of {ballot_flow.what}",
            line="",
        )
    return Flow(
        columns=tuple(FlowColumn(f"round {each.round}", _gone(each), each.piles) for each in ballot_flow.columns),
        links=tuple(FlowLink(each.column, each.origin, each.target, each.ballots) for each in ballot_flow.links),
        order=ballot_flow.order,
        winner=ballot_flow.winner,
        plain=tuple(each for each in ballot_flow.order if each not in result.candidates),
        description=f"{result.winner_name} wins after {len(result.rounds)} rounds. The tables below have the numbers.",
        note="Ballots from round to round; point at a band for its number.",
    )


def _gone(column: Column) -> str:
    if not column.out:
        return ""
    return f"out: {column.out[0]}" if column.gone == 1 else f"out: {column.gone} candidates"


def _round(at: int, result: Result) -> str:
    counted = result.rounds[at]
    margin = "" if counted.margin is None else f", margin {counted.margin:,}"
    rows = []
    for candidate, count in sorted(counted.counts, key=lambda pair: (-pair[1], pair[0])):
        wins = at + 1 == len(result.rounds) and candidate == result.winner
        fate = "wins" if wins else "out" if candidate in counted.eliminated else ""
        rows.append(table_row(result.candidates[candidate], f"{count:,}", fate))
    if counted.exhausted:
        rows.append(table_row("(exhausted)", f"{counted.exhausted:,}", ""))
    return card(f"Round {at + 1}", f"{counted.what}{margin}", rows)


def _stage(number: int, stages: Sequence[dict[str, Any]]) -> str:
    """One stage of several; whoever was elected in an earlier one still has votes, and is said to be."""
    stage = stages[number - 1]
    before = {who for each in stages[: number - 1] for who in each["elected"]}
    done = stage["what"] if not stage["of"] else f"{stage['what']} of {', '.join(stage['of'])}"
    out = stage["of"] if stage["what"] == "exclusion" else []
    rows = []
    for who, text in stage["votes"].items():
        if rational(text) or who in out:
            fate = "wins" if who in stage["elected"] else "out" if who in out else ""
            note = "elected" if fate == "wins" else "elected before" if who in before else None
            rows.append(table_row(who, votes_text(text), fate, note))
    for label, key in (("(exhausted)", "exhausted"), ("(lost to rounding)", "lost_to_rounding")):
        if rational(stage[key]):
            rows.append(table_row(label, votes_text(stage[key]), ""))
    return card(f"Stage {number}", done, rows)


def votes_text(text: str) -> str:
    """All digits."""
    digits, point, decimals = text.partition(".")
    return f"{int(digits):,}{point}{decimals}"


def table_row(who: str, number: str, fate: str, note: str | None = None) -> str:
    start = f'<tr class="{fate}">' if fate else "<tr>"
    return f'{start}<th scope="row">{name(who)}</th><td>{escaped(number)}</td><td>{note or fate}</td></tr>'


def card(title: str, what: str, rows: Sequence[str]) -> str:
    return (
        f"<div><h3>{escaped(title)} <small>{escaped(what, 400)}</small></h3>\n"
        f"<table><tbody>\n{chr(10).join(rows)}\n</tbody></table></div>"
    )


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


def _promised(sentences: Sequence[str], answer: Counted) -> str:
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
