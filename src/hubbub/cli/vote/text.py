"""How ``hubbub vote tally`` shows a count: tables for people, and the picture of how ballots moved."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from hubbub.cli import display, echo, page
from hubbub.numeric.exact import rational
from hubbub.voting.rctab.result import votes_text
from hubbub.voting.rules.elimination import DEFAULT, ApproximateRunoff, RepeatedPlurality

if TYPE_CHECKING:
    from hubbub.voting.formats.ballot_file import BallotFile
    from hubbub.voting.rules.stv_result import Seats
if TYPE_CHECKING:
    from hubbub.voting.count.comparison import Comparison
    from hubbub.voting.count.counted import Counted
    from hubbub.voting.formats.ballot_file import BallotFile
    from hubbub.voting.result import Result
    from hubbub.voting.rules.pairwise import Pairwise


def print_seats(result: Seats, read: BallotFile, answer: Mapping[str, Any]) -> None:
    """A table for each stage, and who is elected."""
    from hubbub.voting.count.counted import draw_sentence

    title = f"{read.title}: " if read.title else ""
    elected, *more = result.sentences()
    echo(elected)
    echo(
        f"{title}{result.voters:,} ballots, {len(result.candidates)} candidates, {result.rule.seats} seats, "
        f"quota {votes_text(result.quota)}"
    )
    if read.withdrawn:
        echo(f"Withdrawn: {', '.join(read.withdrawn)}.")
    for number, stage in enumerate(answer["stages"], 1):
        _draw_stage(number, len(answer["stages"]), stage, result.quota)
    for draw in answer["draws"]:
        echo(draw_sentence(draw, ", ".join(draw["among"])))
    echo()
    for sentence in more:
        echo(sentence)


def _draw_stage(number: int, stages: int, stage: Mapping[str, Any], quota: Fraction) -> None:
    from hubbub.cli.terminal.table import Column, Table

    done = stage["what"] if not stage["of"] else f"{stage['what']} of {', '.join(stage['of'])}"
    columns = Column(least=24), Column("votes", right=True), Column("to the quota", right=True), Column()
    table = Table(*columns, title=f"Stage {number} of {stages}: {done}", indent=" ")
    out = stage["of"] if stage["what"] == "exclusion" else []
    for name, text in stage["votes"].items():
        votes = rational(text)
        if not votes and name not in out:
            continue
        fate = "elected" if name in stage["elected"] else ("out" if name in out else "")
        short = "" if votes >= quota or name in out else votes_text(quota - votes)
        table.add(name, votes_text(votes), short, fate)
    for label, key in (("(exhausted)", "exhausted"), ("(lost to rounding)", "lost_to_rounding")):
        if rational(stage[key]):
            table.add(label, votes_text(rational(stage[key])), "", "")
    echo()
    page().print(table)


def draw_seats_flow(result: Seats, read: BallotFile, path: str) -> None:
    """The picture of a count for several seats."""
    from hubbub import charts
    from hubbub.voting.rctab.answer_rounds import answer_rounds
    from hubbub.voting.rctab.rounds_flow import rounds_flow

    names = result.winner_names
    chart = charts.transfers_chart(
        rounds_flow(answer_rounds(result, read.ballots), word="stage"),
        title=f"Elected: {', '.join(names)}",
        subtitle=[
            " · ".join(
                part
                for part in (
                    read.title,
                    f"single transferable vote, {result.rule.rules.name}",
                    f"{result.valid:,} ballots, quota {votes_text(result.quota)}",
                )
                if part
            )
        ],
    )
    chart.save(path)


MOST_PAIRS: Final = 6  # candidates up to whom every pair is shown
MOST: Final = 30  # rounds, draws, and candidates of one of them, that are shown
_FIRST: Final = 5


def print_count(answer: Counted, read: BallotFile, comparison: Comparison | None) -> None:
    """What the count was, a table for each round, and what is promised."""
    result = answer.result
    sentences = answer.sentences()
    first = 1 if answer.beside_winner is None else 2
    echo(" ".join(sentences[:first]))
    title = f"{display(read.title)}: " if read.title else ""
    echo(f"{title}{read.ballots_text()}, {len(result.candidates)} candidates, {result.rule.name}")
    changed = {rule: count for rule, count in read.changed.items() if count}
    if changed:
        rules = read.reading.rules()
        parts = [f"{what}={rules[what]} changed {count:,}" for what, count in sorted(changed.items())]
        echo(f"Of these ballots {'; '.join(parts)}.")
    for number in _some(len(result.rounds), "rounds"):
        _draw_round(number, result)
    drawn = answer.draw_sentences(MOST)
    for number in _some(len(drawn), "draws"):
        echo(drawn[number])
    echo()
    for sentence in sentences[first:]:
        echo(sentence)
    if answer.honesty.margin is not None and answer.honesty.promise()["empty"]:
        echo("How many voters a promise takes: hubbub vote guarantee --help.")
        _print_gain(result)
    if comparison is not None:
        _draw_comparison(comparison)


def _print_gain(result: Result) -> None:
    """The command that finds what a lie pays, for the rules it knows."""
    rule, names = result.rule, result.candidates
    if not isinstance(rule, RepeatedPlurality | ApproximateRunoff):
        return
    truth = shlex.quote(">".join(names)) if len(names) <= MOST_PAIRS else '"A>B>C"'
    more = "" if rule.name == RepeatedPlurality.name else f" --rule {rule.name}"
    if rule.margin != DEFAULT:
        more += f" --margin {next(each.margin for each in result.rounds if each.margin is not None)}"
    echo("What a lie could gain a voter, by her true ranking:")
    echo(f"  hubbub vote gain --ballots FILE --truth {truth} --voters {result.voters}{more}")


def _some(number: int, what: str) -> Iterator[int]:
    """All of them, or the first and the last, with a line for what is left out."""
    if number <= MOST:
        yield from range(number)
        return
    yield from range(_FIRST)
    echo(f"\n({number - MOST:,} {what} are left out here; --json has them all)")
    yield from range(number - MOST + _FIRST, number)


def _draw_round(at: int, result: Result) -> None:
    from hubbub.cli.terminal.table import Column, Table

    counted, rounds = result.rounds[at], len(result.rounds)
    margin = "" if counted.margin is None else f", margin {counted.margin:,}"
    title = f"Round {at + 1} of {rounds}: {counted.what}{margin}"
    columns = Column(least=24), Column(counted.what, right=True), Column("behind", right=True), Column()
    table = Table(*columns, title=title, indent=" ")
    most = max(count for _, count in counted.counts)
    ordered = sorted(counted.counts, key=lambda pair: (-pair[1], pair[0]))
    out = set(counted.eliminated)
    for candidate, count in ordered[:MOST]:
        wins = at + 1 == rounds and candidate == result.winner
        fate = "out" if candidate in out else ("wins" if wins else "")
        behind = f"{most - count:,}" if most != count else ""
        table.add(display(result.candidates[candidate]), f"{count:,}", behind, fate)
    if len(ordered) > MOST:
        rest = ordered[MOST:]
        gone = sum(candidate in out for candidate, _ in rest)
        table.add(
            f"({len(rest):,} others)", f"{sum(count for _, count in rest):,}", "", f"{gone:,} out" if gone else ""
        )
    if counted.exhausted:
        table.add("(exhausted)", f"{counted.exhausted:,}", "", "")
    echo()
    page().print(table)


def _draw_comparison(comparison: Comparison) -> None:
    from hubbub.cli.terminal.table import Column, Table

    rule, winner = Column("rule", firm=True, folds=True), Column("winner", folds=True)
    numbers = ("chance", "a lie gains", "if beliefs are", "beats all")
    others = (Column(heading, right=True, firm=True, folds=True) for heading in numbers)
    table = Table(rule, winner, *others, title="All rules", indent=" ")
    for row in comparison.rows():
        table.add(*map(display, row))
    echo()
    page().print(table)
    if comparison.pairs is not None:
        _draw_pairs(comparison.pairs)
    for sentence in comparison.sentences():
        echo(sentence)


def print_pairs(pairs: Pairwise) -> None:
    """The table that a rule of pairs looks at, and who beats everybody."""
    _draw_pairs(pairs)
    echo(pairs.sentence())


def _draw_pairs(pairs: Pairwise) -> None:
    """Every pair, unless candidates are many."""
    from hubbub.cli.terminal.table import Column, Table

    if len(pairs.candidates) > MOST_PAIRS:
        return
    names = (Column(heading, folds=True) for heading in ("preferred", "to"))
    votes = (Column(heading, right=True, folds=True) for heading in ("by", "against"))
    table = Table(*names, *votes, title="Who would win each pair", indent=" ")
    for one, other, more, less in pairs.pairs():
        name = pairs.candidates[one] if more > less else f"{pairs.candidates[one]} (a tie)"
        table.add(display(name), display(pairs.candidates[other]), f"{more:,}", f"{less:,}")
    echo()
    page().print(table)


def draw_flow(answer: Counted, read: BallotFile, path: str) -> None:
    """The picture of a count."""
    from hubbub import charts
    from hubbub.voting.rctab.answer_rounds import answer_rounds
    from hubbub.voting.rctab.rounds_flow import rounds_flow

    result = answer.result
    what = result.rounds[0].what
    last = sorted(result.rounds[-1].counts, key=lambda pair: -pair[1])
    leads = len(last) > 1 and last[0][0] == result.winner
    ended = f"{last[0][1]:,} to {last[1][1]:,}" if leads else ""
    drawn_too = result.rounds[-1].what == what  # else the last two are counted in another unit than the bars
    score = f", {ended}" if ended and drawn_too else ""
    margin = next((counted.margin for counted in result.rounds if counted.margin is not None), None)
    chart = charts.transfers_chart(
        rounds_flow(answer_rounds(result, read.ballots)),
        title=f"{result.winner_name} wins{score}",
        subtitle=[
            *([] if answer.beside_winner is None else [answer.beside_winner]),
            " · ".join(
                part
                for part in (
                    read.title,
                    result.rule.name,
                    f"{result.voters:,} ballots",
                    "" if margin is None else f"margin {margin:,}",
                    "" if what == "top choices" else what,
                )
                if part
            ),
            *([f"then {ended} in top choices between the last two"] if ended and not drawn_too else []),
            *(["nothing is promised about lies"] if margin is not None and answer.honesty.promise()["empty"] else []),
        ],
    )
    chart.save(path)
