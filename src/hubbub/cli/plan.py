"""``hubbub plan``: a promise in, the parameters of a release out. No data is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import examples, json_option, page, print_json, table, waiting
from hubbub.errors import WrongUse, in_shell

if TYPE_CHECKING:
    from hubbub.plan import Design, Planned

WANTS: Final = {  # as the plan knows them, which is not loaded for a help text
    "zero-knowledge": "no more than a sample would tell",
    "differential": "nobody can tell whether I took part",
    "crowd-blending": "nobody stands alone",
    "outlier": "the fewer are like me, the less is told",
    "distributional": "nobody can tell who of the population came into the table",
}
ASKS: Final = ("designs", "k", "rate", "epsilon")
_SHOWN: Final = 12  # designs in the table
_FILE: Final = "people.parquet"


@click.group(
    "plan",
    invoke_without_command=True,
    epilog=examples(
        "hubbub plan --people 50000 --bins 400 --want zero-knowledge --epsilon 0.5 --delta 1e-9 --rate 0.05..0.2",
        "hubbub plan --people 50000 --bins 400 --want crowd-blending --k 20 --epsilon 0.5 --shape even --json",
        "hubbub plan --people 50000 --by age:0..100:5 --want 'nobody can tell whether I took part' --epsilon 1",
        "hubbub plan --ask k --want zero-knowledge --epsilon 0.5 --delta 1e-9 --rate 0.1",
        "hubbub plan --ask rate --want zero-knowledge --epsilon 0.5 --delta 1e-9 --k 20",
    ),
)
@click.option("--want", metavar="KIND", help=f"The promise: {', '.join(WANTS)}; or in words (below).")
@click.option(
    "--facts", metavar="FILE", help="A TOML file with people, bins, shape, by, person, rows_are_people, file."
)
@click.option("--people", metavar="N", help="How many people the table has, about.")
@click.option("--bins", metavar="M", help="How many bins are published, unless --by says it.")
@click.option("--shape", metavar="SHAPE", help="zipf, zipf:1.5, even, or a CSV file.  [default: zipf]")
@click.option("--epsilon", metavar="EPS", help="The loss that is allowed.")
@click.option("--delta", metavar="D", help="The delta that is allowed.")
@click.option("--rate", metavar="P", help="Sampling rates: 0.1, or 0.05,0.1, or 0.05..0.2.")
@click.option("--k", metavar="K", help="The size of a crowd, where it is wanted or given.")
@click.option("--curve", metavar="CURVE", help="A loss for each crowd size, for --want outlier.")
@click.option("--ask", metavar="WHAT", default="designs", show_default=True, help=f"One of {', '.join(ASKS)}.")
@click.option("--noise-below", metavar="EPS", default="0", help="With --ask: counts below k get noise; 0 hides them.")
@click.option("--file", metavar="FILE", help=f"The table, for the command.  [default: {_FILE}]")
@click.option("--person", metavar="COLUMN", help="The column that says who a row is about, for the command.")
@click.option("--rows-are-people", is_flag=True, help="Each row is another person (if no --person is given).")
@click.option("--by", metavar="SPEC", multiple=True, help="The bins, for the command; else bin:0..M:1.")
@click.option("--out", metavar="DIR", default="out/", show_default=True, help="The folder, for the command.")
@click.option("--chart", metavar="FILE", help="Draw error against rate: .png, .svg or .html.")
@json_option
@click.pass_context
def plan(ctx: click.Context, /, want: str | None, ask: str, as_json: bool, **given: Any) -> None:
    """Which crowd, sampling rate and noise reach a promise, and how exact each is for data of a stated shape.

    Zero-knowledge privacy is with respect to iRS(rate), the knowledge of a sample of that rate: a smaller rate promises
    more. For distributional privacy the rate is a fact: at most that share of people came into the table. The error is
    the mean absolute error per bin of the published number, scaled up where there is a sample; a hidden bin is read as
    0. The best design is printed as the command to run.

    What is wanted can be said plainly: "no more than a sample would tell" (zero-knowledge), "nobody can tell whether I
    took part" (differential), "nobody stands alone" (crowd-blending), "the fewer are like me, the less is told"
    (outlier), "nobody can tell who of the population came into the table" (distributional).

    What everybody may know of the table can stand in a file (--facts); an option that is given goes before it. Put
    nothing there that was counted in the table: a plan is as public as its facts.

    With --ask k, rate or epsilon only that number is worked out: the smallest k for a rate, the largest rate for a k,
    the epsilon at a delta.
    """
    if ctx.invoked_subcommand is not None:
        return
    from hubbub import plan

    if want is None:
        raise click.MissingParameter(ctx=ctx, param_hint="'--want'", param_type="option")
    if ask not in ASKS:
        raise WrongUse(f"`ask` must be one of {', '.join(ASKS)}, not {ask[:40]!r}")
    if ask != "designs":
        numbers = {name: given[name] for name in ("epsilon", "delta", "k", "rate", "noise_below")}
        answer = plan.ask(ask, want, **numbers)
        if as_json:
            print_json(answer.as_json())
        else:
            page().print(" ".join(answer.sentences()))
        return
    if given["facts"] is not None:
        for name, value in plan.facts(given["facts"]).items():
            if name in ("person", "rows_are_people") and (given["person"] or given["rows_are_people"]):
                continue  # who a person is was said
            given[name] = given[name] or value
    given["shape"], given["file"] = given["shape"] or "zipf", given["file"] or _FILE
    if given["person"] is not None and given["rows_are_people"]:
        raise WrongUse("`person` and `rows_are_people` exclude each other; keep the one that is so")
    chart, file, out = given["chart"], given["file"], given["out"]
    if chart is not None:
        from hubbub import charts

        charts.ready(chart)
    words = {name: given[name] for name in ("people", "bins", "shape", "epsilon", "delta", "rate", "k", "curve", "by")}
    with waiting("Planning"):
        found = plan.release(want, **words)
    if chart is not None:
        _draw(found, chart)
    if as_json:
        print_json(
            found.as_json(in_shell, file=file, out=out, person=given["person"])
            | ({} if chart is None else {"chart": chart})
        )
    else:
        _print_plan(found, given)


@plan.command(
    "cube",
    epilog=examples(
        "hubbub plan cube --by department~8 --by age:0..90:10 --by sex=f,m --people 40000 --crowd 10",
        "hubbub plan cube --by department --by age:10 --public hubbub-demo/millbrook.parquet --crowd 10 --json",
    ),
)
@click.option("--by", metavar="SPEC", multiple=True, help="A column and its bins, or its size: town~12. Repeat it.")
@click.option("--people", metavar="N", help="How many people the table has, about.")
@click.option("--crowd", metavar="K", help="Cells of at least K people are told.")
@click.option("--epsilon", metavar="EPS", help="Noise alone: cells beyond its reach are told.")
@click.option("--sample", metavar="P", help="A secret sample: each person with probability P.")
@click.option(
    "--shape", metavar="SHAPE", default="zipf", show_default=True, help="Of a column: even, zipf or zipf:1.5."
)
@click.option("--public", metavar="FILE", help="A public table to count instead, such as last year's.")
@click.option("--keep", metavar="SHARE", default="0.9", show_default=True, help="The share of people to be told.")
@json_option
def cube(by: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Which refinements of a cube survive: for every choice of its columns, how many people are in cells that are told.

    From public information alone. Do not give --public the table that is to be released: what is chosen by looking at
    people is promised to nobody.
    """
    from hubbub import plan

    with waiting("Planning"):
        found = plan.refinements(by, **given)
    if as_json:
        print_json(found.as_json())
        return
    rows = [
        (
            ", ".join(row.columns),
            f"{row.cells:,}",
            f"{row.published:,}",
            f"{100 * row.share:.1f} %",
            "yes" if row.survives else "",
        )
        for row in found.rows
    ]
    table(rows, ["by", "cells", "told", "people told", "survives"])
    for sentence in found.sentences():
        page().print(f"\n{sentence}")


@plan.command(
    "records",
    epilog=examples(
        "hubbub plan records --columns age:5 --columns age:10 --public hubbub-demo/millbrook.parquet --crowd 20",
    ),
)
@click.option("--columns", metavar="LIST", multiple=True, help="Columns with their functions; repeat it to compare.")
@click.option("--public", metavar="FILE", help="A public table, such as last year's; never the one to be released.")
@click.option("--crowd", metavar="K", required=True, help="Records that at least K people share are kept.")
@click.option("--people", metavar="N", help="How many people your table has, about; else as many as the public one.")
@click.option("--sample", metavar="P", help="A secret sample: each person with probability P.")
@click.option("--keep", metavar="SHARE", default="0.9", show_default=True, help="The share of rows to be kept.")
@json_option
def plan_records(columns: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Which public functions keep most records: a public table, counted with each.

    The function of a release may not be chosen by looking at its people, so --public names another table.
    """
    from hubbub import plan

    with waiting("Planning"):
        found = plan.coarsenings(columns, **given)
    if as_json:
        print_json(found.as_json())
        return
    rows = [
        (row.columns, f"{row.records:,}", f"{100 * row.share:.1f} %", "yes" if row.enough else "") for row in found.rows
    ]
    table(rows, ["columns", "records", "rows kept", "enough"])
    for sentence in found.sentences():
        page().print(f"\n{sentence}")


def _print_plan(found: Planned, given: dict[str, Any]) -> None:
    chart, file, out, person = given["chart"], given["file"], given["out"], given["person"]
    console = page()
    console.print(f"{found.title}: {found.meaning}", style="bold")
    rows = [(*row[:3], f"{row[3]}, {row[4]}") for row in found.rows()[:_SHOWN]]
    table(rows, ["design", "sampled", "error per bin", "people, bins hidden"])
    if len(found.designs) > _SHOWN:
        console.print(f"and {len(found.designs) - _SHOWN} more with larger errors (--json lists them).")
    words, *others = found.sentences(in_shell)
    console.print(f"\n{words}\n")
    console.print(found.command(found.best, file=file, out=out, person=person), soft_wrap=True)
    silent = person is None and not given["rows_are_people"]
    invented = [*([_FILE] if file == _FILE else []), *(["--rows-are-people (or --person COLUMN)"] if silent else [])]
    invented += [f"--by {found.request.by[0]}"] if found.invented else []
    if invented:
        console.print(f"\nPut your own in the place of {' and '.join(invented)}.")
    for sentence in others:
        console.print(f"\n{sentence}")
    if chart is not None:
        console.print(f"\nThe chart is in {chart}.")


def _draw(found: Planned, path: str) -> None:
    from hubbub.charts.designs import designs_chart
    from hubbub.numeric.format import short
    from hubbub.plan.planned import named, percent

    rows = [
        {
            "channel": _kind(design),
            "rate": None if design.rate is None else float(design.rate),
            "error": design.expected.error,
            "label": named(design) + ("" if design.rate is None else f", sampled {percent(design.rate)}"),
        }
        for design in found.designs
    ]
    title = f"The best design is {found.best.expected.error:.3g} people off per bin: {_kind(found.best)}"
    asked = found.request
    allowed = f", delta {short(asked.delta)}" if asked.delta else ""
    wanted = asked.curve or f"epsilon {short(asked.epsilon)}{allowed}"
    about = f"{asked.want.value} privacy, {wanted}; {found.title.partition(' privacy for ')[2]}"
    designs_chart(rows, title=title, subtitle=[about, "a hidden bin is read as 0"]).save(path)


def _kind(design: Design) -> str:
    return {
        "exact-or-suppressed": "small counts hidden",
        "noisy-below": "noise on small counts",
        "geometric": "noise on every count",
        "warped": _warped_kind(design),
    }.get(design.spec.channel.name, design.spec.channel.name)


def _warped_kind(design: Design) -> str:
    curve = getattr(design.spec.channel, "curve", None)
    hides = getattr(design.spec.channel, "show_above", None) is not None
    if curve is not None and len(curve.pieces) == 1:
        return "noise, small values hidden" if hides else "noise cut off at 0"
    return "warped noise, small values hidden" if hides else "warped noise"
