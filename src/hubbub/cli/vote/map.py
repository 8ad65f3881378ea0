"""``hubbub vote map``: what a lie gains over a triangle of beliefs, rule by rule, and what the rules elect."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import examples, json_option, page, print_json, say, watched
from hubbub.errors import WrongUse

if TYPE_CHECKING:
    from hubbub.voting.manipulation.beliefs import Belief
    from hubbub.voting.manipulation.gain_map import GainMap, Weights
    from hubbub.voting.manipulation.gain_winners import Contest

RULES: Final = ("plurality", "instant-runoff", "repeated-plurality", "approximate-runoff", "borda")


@click.command(
    "map",
    short_help="How honest a rule is, over a triangle of beliefs.",
    epilog=examples(
        "hubbub vote map --rules plurality,borda --voters 101 --steps 6",
        "hubbub vote map --rules plurality,instant-runoff --voters 101 --steps 6 --corners abc,bca,cab --json",
        "hubbub vote map --rules plurality --voters 101 --steps 6 --poll a:30,b:25,c:15",
    ),
)
@click.option(
    "--rules",
    metavar="R1,R2,..",
    default="plurality,instant-runoff,repeated-plurality,borda",
    show_default=True,
    help="plurality, instant-runoff, repeated-plurality, approximate-runoff, borda.",
)
@click.option("--voters", metavar="N", default="1001", show_default=True, help="How many vote, she included.")
@click.option("--eta", metavar="E", default="1e-12", show_default=True, help="The gain that margins are made for.")
@click.option(
    "--margin", metavar="B", help="A number, or n^0.75, for rules with a margin. Left out: B*, made for --eta."
)
@click.option(
    "--steps", metavar="S", default="12", show_default=True, help="Cells on a side of the triangle, less one."
)
@click.option(
    "--corners", metavar="R,R,R", help="Rankings at the corners, like abc,bca,cab. Left out: a, b or c first."
)
@click.option("--poll", "polls", metavar="A:N,..", multiple=True, help="A poll as a point, like a:30,b:25,c:15.")
@click.option("--truth", metavar="RANKING", help="The voter's true ranking. Left out: of whoever gains most.")
@click.option("--no-efficiency", is_flag=True, help="Leave out Condorcet efficiency, which takes half of the time.")
@click.option("--chart", metavar="PATH", help="Draw the triangles: .html, .png or .svg.")
@json_option
def gain_map(rules: str, voters: str, eta: str, steps: str, as_json: bool, chart: str | None, **more: Any) -> None:
    """What the best lie gains in each cell of a triangle of beliefs, for three candidates a, b and c.

    A corner says that all others have one candidate first, with either second choice equally likely; a cell mixes the
    three. Each cell is what hubbub vote gain says for its belief and truth. A poll is where a uniform prior and the
    votes of the poll put a voter (Dirichlet). Condorcet efficiency is how often a rule elects whoever beats everybody
    else one to one, if somebody does and all vote as the cell says; at the centre all orders are equally likely.
    """
    from hubbub.numeric.exact import whole
    from hubbub.voting.manipulation import gain_map as maps
    from hubbub.voting.manipulation.beliefs import read_ranking

    if chart is not None:
        from hubbub import charts

        charts.ready(chart)
    n = whole(voters, "--voters", least=2)
    labels, corners = _corners(more["corners"])
    found = maps.gain_map(
        [_contest(rule.strip(), n, eta, more["margin"]) for rule in rules.split(",")],
        n,
        steps=whole(steps, "--steps", least=2),
        corners=corners,
        labels=labels,
        polls=[_poll(poll, labels) for poll in more["polls"]],
        truth=None if more["truth"] is None else read_ranking(more["truth"], maps.NAMES),
        elects=not more["no_efficiency"],
        watch=lambda tasks: watched(tasks, "Cells"),
    )
    if chart is not None:
        _draw(found, chart)
    if as_json:
        print_json(found.as_json() if chart is None else {**found.as_json(), "chart": chart})
        return
    _print_map(found)
    if chart is not None:
        say(f"Chart: {chart}")


def _contest(rule: str, voters: int, eta: str, margin_text: str | None) -> Contest:
    from hubbub.voting.manipulation.gain_winners import Contest
    from hubbub.voting.rules.margins import KINDS
    from hubbub.voting.rules.threshold import ForGain, margin, share, threshold

    if rule not in RULES:
        raise WrongUse(f"--rules takes {', '.join(RULES)}, not {rule[:40]!r}")
    allowed = share(eta, "--eta")
    if rule not in KINDS:
        return Contest(kind=rule)
    asked = ForGain(allowed) if margin_text is None else margin(margin_text, "--margin")
    return Contest(kind=rule, margin=threshold(asked, rule, voters, 3))


def _corners(text: str | None) -> tuple[tuple[str, str, str], tuple[Belief, Belief, Belief] | None]:
    from hubbub.voting.manipulation.beliefs import Belief, read_ranking
    from hubbub.voting.manipulation.gain_map import NAMES

    if text is None:
        return NAMES, None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 3 or len(set(parts)) != 3:
        raise WrongUse("--corners takes three different rankings of a, b and c, like abc,bca,cab")
    ends = [Belief(candidates=NAMES, shares=((read_ranking(part, NAMES), Fraction(1)),)) for part in parts]
    return (parts[0], parts[1], parts[2]), (ends[0], ends[1], ends[2])


def _poll(text: str, labels: tuple[str, str, str]) -> Weights:
    from hubbub.numeric.exact import whole

    votes = dict.fromkeys(labels, 0)
    for part in text.split(","):
        label, colon, number = (piece.strip() for piece in part.rpartition(":"))
        if not colon or label not in votes:
            like = ",".join(f"{name}:{count}" for name, count in zip(labels, (30, 25, 15), strict=True))
            raise WrongUse(f"--poll gives numbers of ballots, like {like}, not {part.strip()[:40]!r}")
        votes[label] = whole(number, f"the number of ballots for {label} in --poll")
    return votes[labels[0]], votes[labels[1]], votes[labels[2]]


def _print_map(found: GainMap) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("rule", "margin", "gain at most", "where others are", "mean gain", "Condorcet"):
        left = heading in ("rule", "where others are")
        table.add_column(heading, justify="left" if left else "right", no_wrap=heading == "rule", overflow="fold")
    for row in found.rows():
        table.add_row(*row)
    console = page()
    cells = len(found.rules[0].cells)
    console.print(f"{found.voters:,} voters, 3 candidates, {cells:,} beliefs", style="bold")
    console.print(table)
    for sentence in found.sentences():
        say(sentence)


def _draw(found: GainMap, path: str) -> None:
    from hubbub import charts
    from hubbub.voting.figures import approximately, float_up

    cells = []
    for each in found.rules:
        for cell in each.cells:
            said = cell.as_json()
            elects = said["condorcet_efficiency"]
            shares = ", ".join(f"{name} {part}" for name, part in zip(found.labels, said["weights"], strict=True))
            sentence = (
                f"{shares}: {approximately(cell.gain.high)}, truth {said['truth']}, lie {said['lie'] or 'none known'}"
            )
            if elects is not None:
                sentence += f", Condorcet efficiency {100 * elects:.1f} %"
            cells.append(
                {
                    "rule": each.contest.kind,
                    "weights": list(cell.weights),
                    "gain": float_up(cell.gain.high),
                    "told": sentence,
                    "efficiency": elects,
                }
            )
    headings = []
    for each in found.rules:
        margin = "" if each.contest.margin is None else f", margin {each.contest.margin:,}"
        headings.append([f"{each.contest.kind}{margin}", f"{approximately(each.worst.gain.high)} at most"])
    polls = [
        {
            "weights": list(weights),
            "label": "poll: " + ", ".join(f"{name} {n - 1:,}" for name, n in zip(found.labels, weights, strict=True)),
        }
        for weights in found.polls
    ]
    chart = charts.gain_triangles(
        cells,
        polls,
        rules=[each.contest.kind for each in found.rules],
        headings=headings,
        labels=found.labels,
        steps=found.steps,
        title="What the best lie gains, by what a voter believes of the others",
        subtitle=[
            f"{found.voters:,} voters, three candidates; corners: all others vote so"
            f"{', second choices even' if found.labels == ('a', 'b', 'c') else ''}; cells: mixtures of the three",
            *(["diamonds: where a poll puts a voter (uniform prior and its ballots)"] if polls else []),
        ],
    )
    chart.save(path)
