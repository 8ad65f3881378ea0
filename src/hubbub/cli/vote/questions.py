"""``hubbub vote choose``, ``guarantee``, ``gain`` and ``map``: which rule to use, what a margin promises, what a lie pays;
and ``generate``, which invents ballots.

Each is a function of :mod:`hubbub.vote`: its parameters are the options, its docstring is the help.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hubbub import vote
from hubbub.cli import page, print_answer, print_json, print_text, question
from hubbub.cli.terminal.progress import watched
from hubbub.demo import council
from hubbub.errors import WrongUse
from hubbub.protocol.option import Option
from hubbub.voting.formats import formats
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.guarantees.assurance import Assurance
from hubbub.voting.manipulation.gain_answer import GainAnswer
from hubbub.voting.manipulation.gain_map import GainMap, circle, first_choices
from hubbub.voting.manipulation.rule_choice import RuleChoice
from hubbub.voting.manipulation.worst_gain import WorstGain


def _print_assurance(answer: Assurance, *, as_json: bool) -> None:
    if as_json:
        print_json(answer.as_json())
        return
    from hubbub.cli.terminal.table import Table
    from hubbub.voting.figures import approximately

    table = Table("", "", headed=False)
    for row in answer.rows():
        table.add(*row)
    console = page()
    console.print(f"{answer.rule}, {answer.voters:,} voters, {answer.candidates:,} candidates", style="bold")
    console.print(table)
    for parts, bound in answer.curve:
        console.print(f"coarseness {f'1/{parts}':>6}: gain at most {approximately(bound)}")
    for sentence in answer.sentences():
        print_text(sentence)


def _print_choice(found: RuleChoice, *, as_json: bool) -> None:
    if as_json:
        print_json(found.as_json())
        return
    from hubbub.cli.terminal.table import Column, Table

    headings = ("rule", "a lie gains", "under", "proved", "by lot", "explained")
    table = Table(*(Column(each, right=each == "by lot", firm=each == "rule", folds=True) for each in headings))
    for row in found.rows():
        table.add(*row)
    console = page()
    console.print(f"{found.voters:,} voters, {found.candidates} candidates", style="bold")
    reason, *rest = found.sentences()
    console.print(reason)
    console.print(table)
    for sentence in rest:
        print_text(sentence)


def _print_gain(found: GainAnswer, *, as_json: bool) -> None:
    if as_json:
        print_json(found.as_json())
        return
    console = page()
    console.print(found.title(), style="bold")
    for sentence in found.sentences():
        console.print(sentence)
    print_text(found.verdict_sentence())


def _print_worst(found: WorstGain, *, as_json: bool) -> None:
    if as_json:
        print_json(found.as_json())
        return
    margin = "" if found.contest.margin is None else f", margin {found.contest.margin:,}"
    page().print(f"{found.contest.kind}, {found.voters:,} voters, 3 candidates{margin}", style="bold")
    for sentence in found.sentences():
        print_text(sentence)


def _watched_beliefs(options: dict[str, Any]) -> None:
    options["watch"] = lambda tasks: watched(tasks, "Beliefs")


def _millbrook(options: dict[str, Any]) -> None:
    """The invented election in the place of a file."""
    if options["ballots"] == council.NAME:
        options["ballots"] = council.ballots()


def _watched(options: dict[str, Any]) -> None:
    if options["chart"] is not None:
        from hubbub import charts

        charts.ready(options["chart"])
    options["watch"] = lambda tasks: watched(tasks, "Cells")


def _print_map(found: GainMap, *, chart: str | None, as_json: bool) -> None:
    if chart is not None:
        _draw(found, chart)
    if as_json:
        print_json(found.as_json() if chart is None else {**found.as_json(), "chart": chart})
        return
    from hubbub.cli.terminal.table import Column, Table

    texts = ("rule", "where others are")
    headings = ("rule", "margin", "gain at most", "where others are", "mean gain", "Condorcet")
    table = Table(*(Column(each, right=each not in texts, firm=each == "rule", folds=True) for each in headings))
    for row in found.rows():
        table.add(*row)
    console = page()
    cells = len(found.rules[0].cells)
    console.print(f"{found.voters:,} voters, 3 candidates, {cells:,} beliefs", style="bold")
    console.print(table)
    for sentence in found.sentences():
        print_text(sentence)
    if chart is not None:
        print_text(f"Chart: {chart}")


def _corner_words(found: GainMap) -> str:
    if found.corners == circle():
        return " (abc, bca, cab)"
    return ", second choices even" if found.corners == first_choices() else ""


def _draw(found: GainMap, path: str) -> None:
    from hubbub import charts
    from hubbub.voting.figures import approximately, float_up

    cells = []
    for each in found.rules:
        for cell in each.cells:
            facts = cell.as_json()
            elects = facts["condorcet_efficiency"]
            shares = ", ".join(f"{name} {part}" for name, part in zip(found.labels, facts["weights"], strict=True))
            sentence = (
                f"{shares}: {approximately(cell.gain.high)}, truth {facts['truth']}, lie {facts['lie'] or 'none known'}"
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
            f"{_corner_words(found)}; cells: mixtures of the three",
            *(["diamonds: where a poll puts a voter (uniform prior and its ballots)"] if polls else []),
        ],
    )
    chart.save(path)


def _check_title(options: dict[str, Any]) -> None:
    """Refuse a file that has no room for the title, which says that its ballots are invented."""
    if Path(options["out"]).suffix.lower() not in (".soc", ".soi"):
        raise WrongUse("invented ballots are written to .soc or .soi files, whose title says what they are")


def _write_ballots(found: BallotFile, *, out: str, as_json: bool) -> None:
    formats.write(found.ballots, out, title=found.title)
    n, m, orders = found.ballots.voters, len(found.ballots.candidates), len(found.ballots.weights)
    facts = {"invented": True, "title": found.title, "voters": n, "candidates": m, "orders": orders, "file": out}
    print_answer(
        facts,
        f"{out} holds {n:,} invented ballots in {orders:,} different orders of {m:,} candidates. Nobody cast them.",
        as_json=as_json,
    )


choose = question(
    vote.choose,
    _print_choice,
    "vote choose --voters 40 --candidates 4",
    "vote choose --voters 25 --candidates 3 --belief abc:2/3,bac:1/3 --json",
)
guarantee = question(
    vote.guarantee,
    _print_assurance,
    "vote guarantee --voters 10000 --candidates 3 --eta 1e-12 --json",
    "vote guarantee --ask voters --candidates 3 --dirichlet 10",
    "vote guarantee --voters 100000 --candidates 4 --margin n^0.75 --coarseness 1/6",
)
gain = question(
    vote.gain,
    _print_gain,
    "vote gain --belief abc:1/2,bac:1/2 --truth cab --voters 1001 --rule plurality --json",
    "vote gain --belief abc:1/2,bac:1/4,cab:1/4 --truth cab --voters 10001 --margin 1249",
    "vote gain --observed abc:3,bac:2 --dirichlet --truth cab --voters 501 --rule instant-runoff",
    prepare=_millbrook,
)
worst_gain = question(
    vote.worst_gain,
    _print_worst,
    "vote worst --voters 301 --coarseness 1/3 --margin 60",
    name="worst",
    prepare=_watched_beliefs,
)
gain_map = question(
    vote.gain_map,
    _print_map,
    "vote map --rules plurality,borda --voters 101 --steps 6",
    "vote map --rules plurality,instant-runoff --voters 101 --steps 6 --corners abc,bca,cab --json",
    "vote map --rules plurality --voters 101 --steps 6 --poll a:30,b:25,c:15",
    name="map",
    also=(Option("chart", "PATH", "Draw the triangles: .html, .png or .svg."),),
    prepare=_watched,
)
generate = question(
    vote.generate,
    _write_ballots,
    "vote generate --model mallows --phi 0.8 --voters 1000 --candidates 5 --seed 7 --out mallows.soc",
    "vote generate --model plackett-luce --weights 3,2,1 --voters 1000 --candidates 3 --seed 7 --out luce.soc",
    "vote generate --model spatial --dimensions 2 --voters 1000 --candidates 5 --seed 7 --out spatial.soc --json",
    also=(Option("out", "FILE", "The file for the ballots, PrefLib by its ending: .soc or .soi.", required=True),),
    prepare=_check_title,
)
