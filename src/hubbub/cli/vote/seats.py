"""What ``hubbub vote tally`` says about a count for several seats."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hubbub.cli import echo, page
from hubbub.numeric.exact import rational, to_text

if TYPE_CHECKING:
    from hubbub.voting.formats.ballot_file import BallotFile
    from hubbub.voting.rules.stv_result import Seats


def print_seats(result: Seats, read: BallotFile, answer: Mapping[str, Any]) -> None:
    """A table for each stage, and who is elected."""
    from hubbub.voting.count.counted import draw_sentence

    title = f"{read.title}: " if read.title else ""
    elected, *more = result.sentences()
    echo(elected)
    echo(
        f"{title}{result.voters:,} ballots, {len(result.candidates)} candidates, {result.rule.seats} seats, "
        f"quota {_votes_text(result.quota)}"
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
        short = "" if votes >= quota or name in out else _votes_text(quota - votes)
        table.add(name, _votes_text(votes), short, fate)
    for label, key in (("(exhausted)", "exhausted"), ("(lost to rounding)", "lost_to_rounding")):
        if rational(stage[key]):
            table.add(label, _votes_text(rational(stage[key])), "", "")
    echo()
    page().print(table)


def _votes_text(votes: Fraction) -> str:
    """All digits: votes are whole numbers of the last decimal place."""
    digits, point, decimals = to_text(votes).partition(".")
    return f"{int(digits):,}{point}{decimals}"


def draw_flow(result: Seats, read: BallotFile, path: str) -> None:
    """The picture of a count for several seats."""
    from hubbub import charts
    from hubbub.protocol.drawing import Flow, FlowColumn, FlowLink
    from hubbub.voting.count.stv_flow import seats_flow

    drawn = seats_flow(result)
    names = result.winner_names
    chart = charts.transfers_chart(
        Flow(
            columns=tuple(FlowColumn(f"stage {each.stage}", each.note, tuple(each.piles)) for each in drawn.columns),
            links=tuple(FlowLink(each.column, each.origin, each.target, each.votes) for each in drawn.links),
            order=tuple(drawn.order),
            winner=names[0],
            plain=tuple(name for name in drawn.order if name not in result.candidates),
        ),
        title=f"Elected: {', '.join(names)}",
        subtitle=[
            " · ".join(
                part
                for part in (
                    read.title,
                    f"single transferable vote, {result.rule.rules.name}",
                    f"{result.valid:,} ballots, quota {_votes_text(result.quota)}",
                )
                if part
            )
        ],
    )
    chart.save(path)
