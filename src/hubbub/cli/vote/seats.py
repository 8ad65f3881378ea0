"""What ``hubbub vote tally`` says about a count for several seats."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hubbub.cli import echo, page
from hubbub.numeric.exact import rational
from hubbub.voting.rctab.result import votes_text

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


def draw_flow(result: Seats, read: BallotFile, path: str) -> None:
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
