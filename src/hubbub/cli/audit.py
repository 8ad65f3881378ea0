"""``hubbub audit``: try to break a mechanism, a certificate, a function, or a set of published files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import (
    Commands,
    display,
    examples,
    json_option,
    options,
    page,
    print_json,
    print_text,
    table,
)
from hubbub.errors import CheckFailed, WrongUse, writing
from hubbub.protocol.channel_options import OPTIONS
from hubbub.runtime.progress import working

if TYPE_CHECKING:
    from hubbub.audit.finding import Finding
    from hubbub.audit.stories import Story
    from hubbub.audit.zero_knowledge import Simulated

FEW: Final = 20  # determined cells that are shown on the terminal
EXAMPLE: Final = "example"


@click.group("audit", cls=Commands, epilog=examples("hubbub audit channel geometric --epsilon 1"))
def audit() -> None:
    """Try to break a promise: by exact laws, frozen noise, many runs, or published files against each other.

    Exit code 4 if a claim is refuted. What is not refuted is not thereby proved: the verdict says which.
    """


def _done(findings: Sequence[Finding], as_json: bool, extra: dict[str, Any] | None = None) -> None:
    """Tell what was found, and end with exit code 4 if a claim is refuted."""
    refuted = [each for each in findings if each.is_refuted]
    if as_json:
        first = refuted[0] if refuted else findings[0]
        rest = {"findings": [each.as_json() for each in findings]} if len(findings) > 1 else {}
        print_json({**first.as_json(), **(extra or {}), **rest})
    else:
        for each in findings:
            _print_finding(each)
    if refuted:
        raise CheckFailed(f"{refuted[0].subject}: the claim ({refuted[0].claimed}) is refuted: {refuted[0].why}")


def _print_finding(found: Finding) -> None:
    console = page()
    console.print(f"{display(found.subject)}, claimed: {display(found.claimed)}", style="bold", soft_wrap=True)
    console.print(f"{found.game.value} game, {found.depth.value}: {display(found.sentence())}", soft_wrap=True)
    for each in found.determined[:FEW]:
        key = ", ".join(f"{name}={value}" for name, value in each.key)
        size = f"{each.low}" if each.low == each.high else f"{each.low} to {each.high}"
        console.print(f"  {display(each.table)}: {display(key)} is {size}: {display(each.because)}", soft_wrap=True)
    if len(found.determined) > FEW:
        console.print(f"  and {len(found.determined) - FEW:,} more; --json has all of them.")
    for note in found.notes:
        console.print(f"  {display(note)}", soft_wrap=True)


# --- exact ----------------------------------------------------------------------------------------------------------


def _channel_options(command: Any) -> Any:
    return options(command, OPTIONS)


@audit.command(
    "channel",
    epilog=examples(
        "hubbub audit channel geometric --epsilon 1",
        "hubbub audit channel exact-or-suppressed --k 20 --json",
        "hubbub audit channel warped --curve 1:0.01,101:1 --counts 1..130",
    ),
)
@click.argument("name")
@_channel_options
@click.option("--counts", metavar="A..B", help="The counts to look at; without it, those around each change.")
@json_option
def channel(name: str, counts: str | None, as_json: bool, **given: Any) -> None:
    """A channel against its claim, by its exact laws. `hubbub channel list` names them.

    Every count is looked at where something changes, or all of --counts; the channel's proof stands for the others.
    """
    from hubbub.audit.exact import of_channel
    from hubbub.audit.finding import time_audit
    from hubbub.channels.catalogue import make
    from hubbub.cli.channel.command import read_counts

    made = make(name, **given)
    counts_given = None if counts is None else read_counts(counts)
    with working("Comparing laws"):
        found = time_audit(lambda: of_channel(made.channel, counts=counts_given))
    _done([found], as_json)


@audit.command("certificate", epilog=examples("hubbub audit certificate hubbub-demo/certificate.json"))
@click.argument("certificates", metavar="CERT...", nargs=-1, required=True)
@json_option
def certificate(certificates: tuple[str, ...], as_json: bool) -> None:
    """The releases that certificates describe, by their exact laws; several of one dataset as one sequence.

    Signatures and files are for hubbub verify. A sequence is added up as the ledger would, in the order given; what no
    theorem covers together is left undecided, and the ledger refuses it.
    """
    from hubbub.audit.sequence import of_certificates

    with working("Comparing laws"):
        found = of_certificates([Path(each) for each in certificates])
    _done(found, as_json)


@audit.command("table", epilog=examples("hubbub audit table example --k 2", "hubbub audit table example --k 2 --json"))
@click.argument("file")
@click.option("--k", metavar="K", required=True, help="The crowd that is claimed.")
@click.option("--epsilon", metavar="EPS", default="0", show_default=True, help="The loss that is claimed, or inf.")
@json_option
def table_of_laws(file: str, k: str, epsilon: str, as_json: bool) -> None:
    """A small mechanism as a table of laws, in exact rationals: is it crowd-blending? Prints the smallest witness.

    FILE is JSON, {"kinds": ["x", "y"], "laws": [{"people": [0, 0], "outcomes": {"hidden": "1"}}, ...]}, with a law for
    every data set up to some size; "example" hides counts below 2.
    """
    from fractions import Fraction

    from hubbub.audit.blending import of_table, read, table_of_laws
    from hubbub.audit.finding import time_audit
    from hubbub.numeric.exact import integer, loss

    names: tuple[str, ...]
    if file == EXAMPLE:
        laws, names = (
            table_of_laws(lambda data: {tuple(c if c > 1 else "hidden" for c in data): Fraction(1)}, 2, 4),
            ("x", "y"),
        )
    else:
        given, names = read(file)
        laws = dict(given)
    crowd, level = integer(k, "--k", least=1), loss(epsilon, "--epsilon")
    with working("Looking at every data set"):
        found = time_audit(lambda: of_table(laws, crowd, level, names, subject=file))
    _done([found], as_json)


# --- replay and black box -------------------------------------------------------------------------------------------


_MINE: Final = "hubbub audit function hubbub.audit.examples:bath --neighbours hubbub.audit.examples:pair"


@audit.command("function", epilog=examples(f"{_MINE} --epsilon 1 --runs 500"))
@click.argument("function", metavar="MODULE:NAME")
@click.option("--neighbours", metavar="MODULE:NAME", required=True, help="Two tables with one person more or less.")
@click.option("--game", metavar="GAME", default="differential", show_default=True, help="Which promise is held to.")
@click.option("--epsilon", metavar="EPS", required=True, help="The loss that is claimed.")
@click.option("--delta", metavar="D", default="0", show_default=True, help="The delta that is claimed.")
@click.option("--k", metavar="K", help="The crowd that is claimed (crowd-blending).")
@click.option("--curve", metavar="CURVE", help="The losses by crowd (outlier), in place of --epsilon, with --crowd.")
@click.option("--crowd", metavar="C", help="How many people are like the person, them included (outlier).")
@click.option("--simulator", metavar="MODULE:NAME", help="What stands in for the release (zero-knowledge).")
@click.option("--distance", metavar="D", help="Replay too: how far apart what reaches the noise may be.")
@click.option("--runs", metavar="N", default="20000", show_default=True, help="At most so many runs of each.")
@click.option("--confidence", metavar="P", default="0.99", show_default=True, help="That a refutation is right.")
@json_option
def function(function: str, as_json: bool, **given: Any) -> None:
    """A Python function of yours against the promise it makes, in the folder you stand in.

    It takes a table and returns whatever is published; with a parameter called "source" it is handed our noise, and
    --distance replays it with the noise frozen. --neighbours names a pair of tables (or a function that gives one):
    for crowd-blending a list of rows and the number of the person; for zero-knowledge the table and what --simulator
    sees; for distributional two functions that draw tables.

    Many runs can refute a promise and never prove it.
    """
    from hubbub.audit import function as own
    from hubbub.numeric.limits import a_size

    epsilon = given["epsilon"] if given["curve"] is None else _at(given["curve"], given["crowd"])
    simulator = None if given["simulator"] is None else own.load(given["simulator"])
    found = own.audit(
        own.load(function),
        own.load(given["neighbours"]),
        game=given["game"],
        epsilon=epsilon,
        delta=given["delta"],
        k=given["k"],
        simulator=simulator,
        distance=given["distance"],
        runs=a_size(given["runs"], "--runs", least=100),
        confidence=given["confidence"],
        subject=function,
        progress=_progress(),
    )
    _done(found, as_json)


def _at(curve: str, crowd: str | None) -> Any:
    from hubbub.guarantees.curve import read
    from hubbub.numeric.exact import integer

    if crowd is None:
        raise WrongUse("--curve gives a loss for each crowd; say with --crowd how many people are like the person")
    return read(curve).curve.at(integer(crowd, "--crowd", least=1))


def _progress() -> Callable[[int, int], None]:
    import sys

    def show_progress(done: int, of: int) -> None:
        if sys.stderr.isatty():
            print_text(f"{done:,} of at most {of:,} runs of each")

    return show_progress


# --- published files ------------------------------------------------------------------------------------------------


@audit.command("releases", epilog=examples("hubbub audit releases hubbub-demo/release.csv --k 20"))
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--k", metavar="K", required=True, help="Counts below this are hidden.")
@click.option(
    "--values", metavar="V", default="1", show_default=True, help="Find cells with at most V possible values."
)
@click.option("--count", metavar="COLUMN", help="The column of counts, if it is not called count.")
@click.option("--total", metavar="LABEL", help="The label of rows that are totals over a column, like All.")
@click.option("--hidden-any", is_flag=True, help="Hidden counts may be of any size, not only below --k.")
@click.option("--seconds", metavar="S", default="60", show_default=True, help="At most so long for programs.")
@click.option(
    "--periods",
    metavar="COLUMN",
    help="The files are of a table that comes every period, in order of publication; this column has the period.",
)
@json_option
def releases(files: tuple[str, ...], k: str, as_json: bool, **given: Any) -> None:
    """What published tables over the same people determine together, ours or anybody's.

    CSV files with key columns, a column of counts, and a mark or a blank where a count is hidden. Every hidden cell
    whose range is a single number (or --values of them) is listed, with the rows that give it away. Exit code 4 if
    there is one. It needs one package more: pip install ".[audit]" in your clone.

    With --periods, a number of a period that was hidden must never come back, neither later nor in a total.
    """
    from hubbub.audit.finding import time_audit
    from hubbub.audit.published.inference import of_files
    from hubbub.audit.published.periods import of_periods
    from hubbub.numeric.exact import positive
    from hubbub.numeric.limits import a_crowd, a_size

    options = {
        "values": a_size(given["values"], "--values", least=1),
        "count": given["count"],
        "total": given["total"],
        "hidden": "any" if given["hidden_any"] else "below",
        "seconds": float(positive(given["seconds"], "--seconds")),
    }
    crowd = a_crowd(k, "--k")
    if given["periods"] is not None:
        more = {} if given["count"] is None else {"count": given["count"]}
        _done([time_audit(lambda: of_periods(files, crowd, period=given["periods"], **more))], as_json)
        return
    with working("Subtracting tables from each other"):
        found = time_audit(lambda: of_files(files, crowd, **options))
    _done([found], as_json)


# --- zero-knowledge -------------------------------------------------------------------------------------------------


@audit.command(
    "zero-knowledge",
    epilog=examples(
        "hubbub audit zero-knowledge --people 200 --rows 20 --ones 100 --epsilon-zk 1 --out laws.html",
        "hubbub audit zero-knowledge --people 200 --rows 20 --ones 100 --epsilon-dp 2 --two-valued --json",
    ),
)
@click.option("--people", metavar="N", required=True, help="How many people there are; public.")
@click.option("--rows", metavar="K", required=True, help="How many of them are drawn, and known to the simulator.")
@click.option("--ones", metavar="T", required=True, help="How many have what is counted, the person among them.")
@click.option("--epsilon-zk", metavar="EPS", help="The zero-knowledge privacy that is promised.")
@click.option("--epsilon-dp", metavar="EPS", help="What is spent inside the sample, to ask for the promise.")
@click.option("--claimed-rows", metavar="K", help="The number of rows that is claimed, if it is another.")
@click.option("--two-valued", is_flag=True, help="A blank row is a fair coin; else it is not counted.")
@click.option("--table", "two_bins", is_flag=True, help="A table of two bins, with --ones people in the first.")
@click.option("--out", metavar="FILE", help="Draw both laws on a page.")
@json_option
def zero_knowledge(out: str | None, two_valued: bool, two_bins: bool, as_json: bool, **given: Any) -> None:
    """A count, a share, or a table, from a secret sample beside the paper's own simulator, which misses the person.

    The exact divergence of both laws on this database, over all databases where they are few enough, and the claim.
    """
    from hubbub.audit.finding import time_audit
    from hubbub.audit.zero_knowledge import of_count, simulate, simulate_table

    if two_valued and two_bins:
        raise WrongUse("--two-valued is about a count and --table about a table; keep one of them")
    size = (given["people"], given["rows"], given["ones"])
    claims = {name: given[name] for name in ("epsilon_dp", "epsilon_zk", "claimed_rows")}
    with working("Working out both laws"):
        done = simulate_table(*size, **claims) if two_bins else simulate(*size, coin=two_valued, **claims)
        what = "a table of two bins" if two_bins else "a count"
        found = time_audit(lambda: of_count(done, f"{what} from a secret sample"))
    if out is not None:
        _write(out, _laws_page(done))
    if not as_json:
        for sentence in done.sentences():
            page().print(sentence, soft_wrap=True)
    _done([found], as_json, {"chart": out})


def _laws_page(done: Simulated) -> str:
    from hubbub.audit.zero_knowledge import visible_range
    from hubbub.charts.laws import two_laws
    from hubbub.charts.page import page as one_page

    low, high = visible_range(done)
    title = "The release beside a simulator that does not know the person"
    names = ("the release", "the simulator")
    parts = (done.mechanism[low : high + 1], done.simulator[low : high + 1])
    chart = two_laws(*parts, low, names, title, "people in the sample who have it, with noise")
    return one_page(title, chart, above=done.sentences(), below=["Both laws are exact; the numbers are rounded up."])


def _write(out: str, text: str) -> None:
    with writing(f"the page {out}"):
        Path(out).write_text(text, encoding="utf-8")


# --- stories and everything -----------------------------------------------------------------------------------------


@audit.command("story", epilog=examples("hubbub audit story", "hubbub audit story one-row"))
@click.argument("name", required=False)
@click.option("--out", metavar="FILE", help="Write the story with its chart as a page.")
@json_option
def story(name: str | None, out: str | None, as_json: bool) -> None:
    """An attack, told with its numbers; without a NAME, which there are."""
    from hubbub.audit.stories import STORIES
    from hubbub.audit.stories import story as told

    if name is None:
        if as_json:
            print_json({"stories": list(STORIES)})
        else:
            for each in STORIES:
                page().print(f"hubbub audit story {each}")
        return
    with working("Working it out"):
        found = told(name)
    if out is not None:
        _write(out, found.page())
    if as_json:
        print_json({**found.as_json(), "chart": out})
    else:
        _print_story(found)


def _print_story(found: Story) -> None:
    console = page()
    console.print(found.title, style="bold")
    for sentence in found.sentences:
        console.print(sentence)
    console.print()
    table([(label, text) for label, _, text in found.bars], ["", found.axis])
    console.print(f"\n{found.protects}")


@audit.command("all", epilog=examples("hubbub audit all"))
@json_option
def everything(as_json: bool) -> None:
    """Every planted fault beside its right twin, and every channel: does the auditor see what it must, and no more?

    Exit code 4 if a fault was missed or a right mechanism was accused.
    """
    from hubbub.audit.faults import Row, suite
    from hubbub.cli.terminal.progress import watched

    rows: list[Row] = [row() for row in watched(suite(), "auditing")]
    wrong = [row for row in rows if not row.as_it_should]
    if as_json:
        answer = {"rows": [row.as_json() for row in rows], "missed": [row.name for row in wrong]}
        print_json({**answer, "verdict": "refuted" if wrong else "proved"})
    else:
        table(
            [[row.name, row.depth, row.verdict_word, f"{row.seconds:.2f} s"] for row in rows],
            ["mechanism", "depth", "verdict", "time"],
        )
    if wrong:
        raise CheckFailed(f"the auditor is wrong about {', '.join(row.name for row in wrong)}; do not rely on it")
