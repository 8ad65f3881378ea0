"""``hubbub graph``: statistics of a social network that do not give friends away."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import Command, Commands, examples, json_option, page, print_json, print_text, table
from hubbub.cli.release import command, graph_given, reading_options, two_columns
from hubbub.errors import WrongUse
from hubbub.runtime.progress import working

if TYPE_CHECKING:
    from hubbub.graphs.graph import Graph
    from hubbub.graphs.plan import GraphPlan
    from hubbub.graphs.statistics import Size

ALL: Final = "connectivity,eulerian,cycle-freeness,average-degree,edges"


class Graphs(Commands):
    """The commands below, and `release`, which is made from the registry of kinds when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), "release"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name != "release":
            return super().get_command(ctx, cmd_name)
        from hubbub import registry

        return command(registry.kind("graph"), "release")


@click.group(
    "graph",
    cls=Graphs,
    epilog=examples(
        "hubbub graph plan --vertices 1000000 --max-degree 200 --samples 10000 --epsilon 1",
        "hubbub graph estimate millbrook --samples 500",
    ),
)
def graph() -> None:
    """Social networks: how far from connected, Eulerian or free of cycles, and how many friends people have."""


def _what(default: str) -> Callable[[Command], Command]:
    return click.option("--of", "of", metavar="A,B,..", default=default, show_default=True, help="What is asked.")


@graph.command(
    "plan",
    epilog=examples(
        "hubbub graph plan --vertices 1000000 --max-degree 200 --samples 10000 --epsilon 1",
        "hubbub graph plan --vertices 4039 --max-degree 1045 --samples 254 --epsilon 1 --average-at-most 50 --json",
        "hubbub graph plan --vertices 4039 --max-degree 1045 --samples 254 --epsilon 1 --of connectivity --centred",
        "hubbub graph plan --vertices 50000 --max-degree 100 --epsilon 1 --of degree-histogram,triangles",
    ),
)
@click.option("--vertices", metavar="N", required=True, help="How many people there are; public.")
@click.option("--max-degree", metavar="D", required=True, help="How many friends nobody exceeds; public.")
@click.option("--samples", metavar="K", help="How many random people the simulator may know.")
@click.option("--explore", metavar="S", help="How many people it may see from each; without it 2 sqrt(K).")
@click.option("--epsilon", metavar="EPS", required=True, help="The loss of each statistic.")
@click.option("--average-at-most", metavar="L", help="A public bound on the average degree.")
@click.option("--centred", is_flag=True, help="Less noise, down to half: what zero-knowledge alone needs.")
@_what(ALL)
@json_option
def plan(as_json: bool, of: str, **given: Any) -> None:
    """The noise that each statistic of a graph would get. No data is read.

    Scales are of integer noise on a number of edges: ours (MGF theorem, zero-knowledge with respect to K random people
    and a walk of S from each), that of the paper's Proposition 12 with its best parameters, and that of differential
    privacy alone, for a person with all their edges. Eulerian means a path that uses every edge, in a graph connected
    on all its vertices; distances are to the nearest graph with the property, whatever its degrees, and count edges
    divided by N D/2.
    """
    from hubbub.graphs.plan import plan as plan_noise
    from hubbub.graphs.statistics import Statistic, parse_statistics, sampling
    from hubbub.numeric.exact import positive, rational
    from hubbub.numeric.limits import a_loss, a_size

    size = _size(given["vertices"], given["max_degree"])
    requested = parse_statistics(of)
    epsilon = positive(a_loss(given["epsilon"], "--epsilon"), "--epsilon")
    how = None
    if given["samples"] is not None:
        explore = None if given["explore"] is None else a_size(given["explore"], "--explore")
        how = sampling(size, a_size(given["samples"], "--samples"), explore)
    elif any(each.is_sampled for each in requested):
        raise WrongUse("zero-knowledge is with respect to a number of random people; say how many with --samples")
    bound: Fraction | None = None
    if given["average_at_most"] is not None:
        bound = rational(given["average_at_most"], "--average-at-most")
        if not 0 < bound <= size.max_degree or not {Statistic.EDGES, Statistic.AVERAGE_DEGREE} & set(requested):
            raise WrongUse(
                "--average-at-most is above 0, at most --max-degree, and for --of average-degree or edges; change one"
            )
    with working("Working it out"):
        found = plan_noise(size, requested, epsilon, how, bound, centred=given["centred"])
    if as_json:
        print_json(found.as_json())
    else:
        _print_plan(found)


def _print_plan(found: GraphPlan) -> None:
    from hubbub.graphs.plan import HEADINGS

    table([[row.of.value, *row.cells()] for row in found.rows], ["noise, in edges", *HEADINGS])
    page().print(f"\n{found.sentence()}")


@graph.command(
    "estimate",
    epilog=examples(
        "hubbub graph estimate millbrook --samples 500",
        "hubbub graph estimate millbrook --samples 1000 --explore 30 --of connectivity,average-degree --json",
    ),
)
@click.argument("file")
@click.option("--samples", metavar="K", required=True, help="How many random people are drawn.")
@click.option("--explore", metavar="S", help="How many people a walk from each may see; without it 2 sqrt(K).")
@click.option("--vertices", metavar="N", help="How many people there are, those without links too.")
@click.option("--max-degree", metavar="D", help="How many friends nobody exceeds; without it, those of the graph.")
@click.option("--confidence", metavar="C", default="0.95", show_default=True, help="How often an interval is right.")
@_what("connectivity,eulerian,cycle-freeness,average-degree")
@reading_options
@json_option
def estimate(file: str, as_json: bool, of: str, **given: Any) -> None:
    """What K random people of a graph tell about it, with proved errors. This protects nobody: it is for you alone.

    FILE is a list of links (.csv, .tsv, .txt, .parquet), a .gml or a .graphml; millbrook is an invented network. The
    direction of a link is ignored, links between the same two are one edge, links from one to itself are dropped. These
    are the samplers that the simulator of a private release runs: breadth-first walks (Marko and Ron, with the middle
    of what is possible for what was not seen), the degrees of random people, and a random friend of each (Seshadhri).
    """
    from hubbub.graphs.distances import facts
    from hubbub.graphs.samplers import NOT_PRIVATE, estimates
    from hubbub.graphs.statistics import parse_statistics, sampling
    from hubbub.noise.source import SystemSource
    from hubbub.numeric.exact import rational
    from hubbub.numeric.limits import a_size

    requested = parse_statistics(of)
    wrong = [each.value for each in requested if not each.is_sampled]
    if wrong:
        raise WrongUse(f"{wrong[0]} has no sampler; ask for some of {ALL}")
    confidence = rational(given["confidence"], "--confidence")
    if not 0 < confidence < 1:
        raise WrongUse(f"--confidence must lie between 0 and 1, not {confidence}")
    with working("Reading"):
        read = read_graph(file, given)
    largest = given["max_degree"]
    degree = facts(read).largest_degree
    if largest is not None and a_size(largest, "--max-degree") < degree:
        raise WrongUse("somebody has more friends than --max-degree says; raise it, or leave it out")
    size = _size(str(read.vertices), str(max(degree, 1)) if largest is None else largest)
    explore = None if given["explore"] is None else a_size(given["explore"], "--explore")
    how = sampling(size, a_size(given["samples"], "--samples"), explore)
    with working("Walking"):
        found = estimates(read, size, requested, how, confidence, SystemSource())
    if as_json:
        print_json({"private": False, "warning": NOT_PRIVATE, "estimates": [each.as_json() for each in found]})
        return
    table([[*each.cells()] for each in found], ["", "by", "estimate", f"between ({given['confidence']})"])
    print_text(f"\n{NOT_PRIVATE}")


@graph.command("preview", epilog=examples("hubbub graph preview millbrook --out private.html"))
@click.argument("file")
@click.option("--vertices", metavar="N", help="How many people there are, those without links too.")
@click.option("--out", metavar="FILE", required=True, help="The page to write, for you alone.")
@reading_options
@json_option
def preview(file: str, out: str, as_json: bool, **given: Any) -> None:
    """Look at the degrees of a graph before anything is protected. This is private: it is for you alone.

    The page shows how many people have at least 1, 2, 3, ... friends, exactly. It is no release, costs nothing, and
    must not be shown. What may be shown is in the report of hubbub graph release --of degree-histogram.
    """
    from pathlib import Path

    from hubbub.charts.page import page as page_of
    from hubbub.graphs.degrees import WARNING, draw_degrees
    from hubbub.report.picture import picture

    path = Path(out)
    if path.suffix.lower() != ".html":
        raise WrongUse(f"--out must be a page that ends in .html, not {path.name[:60]!r}; rename it")
    with working("Reading"):
        drawn = draw_degrees(read_graph(file, given))
    text = page_of("Private: degrees before a release", picture(drawn), above=[WARNING], below=[])
    try:
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
    except OSError:
        raise WrongUse(f"--out must be a file that can be written, not {str(path)[:200]!r}; choose another") from None
    if as_json:
        print_json({"private": True, "warning": WARNING, "page": str(path)})
    else:
        page().print(f"Written, for you alone: {path}", soft_wrap=True)
        print_text(WARNING)


def read_graph(file: str, given: dict[str, Any]) -> Graph:
    """The graph of a file, or the invented one."""
    from hubbub.graphs.readers import load
    from hubbub.numeric.limits import a_size

    return load(
        graph_given(file),
        columns=two_columns(given["columns"]),
        header=given["header"],
        vertices=None if given["vertices"] is None else a_size(given["vertices"], "--vertices"),
        vertex_file=given["vertex_file"],
    )


def _size(vertices: str, max_degree: str) -> Size:
    from hubbub.graphs.statistics import Size
    from hubbub.numeric.limits import a_size

    return Size(vertices=a_size(vertices, "--vertices"), max_degree=a_size(max_degree, "--max-degree"))
