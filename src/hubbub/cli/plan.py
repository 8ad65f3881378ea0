"""``hubbub plan``: a promise in, the parameters of a release out. No data is read."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import click

from hubbub import plan as planning
from hubbub.cli import Commands, examples, json_option, options, page, print_json, question, table
from hubbub.errors import WrongUse, in_shell
from hubbub.plan import Coarsenings, Design, Noises, Planned, PlannedSums, Refinements
from hubbub.plan.planned import FILE, OUT
from hubbub.plan.targets import TARGETS
from hubbub.protocol.option import Option, options_of
from hubbub.runtime.progress import working
from hubbub.tables.privacy_unit import check_one_unit

_ROWS_LISTED: Final = 12  # designs in the table
_PLANNED: Final = tuple(replace(option, required=False) for option in options_of(planning.release))  # but for cubes
_WHAT, _NOISE = options_of(planning.ask)
_COMMAND: Final = (
    Option("facts", "FILE", "A TOML file with people, bins, shape, by, person, rows_are_people, file."),
    replace(_WHAT, name="ask", default="designs", required=False),
    _NOISE,
    Option("file", "FILE", "The table, for the command.", default=FILE),
    Option("person", "COLUMN", "The column that says who a row is about, for the command."),
    Option("rows_are_people", None, "Each row is another person (if no `person` is given)."),
    Option("out", "DIR", "The folder, for the command.", default=OUT),
    Option("chart", "FILE", "Draw error against rate: .png, .svg or .html."),
)
_MORE: Final = """The best design is printed as the command to run.

What everybody may know of the table can stand in a file (`facts`); an option that is given goes before it. Put
nothing there that was counted in the table: a plan is as public as its facts.

With `ask=k`, rate or epsilon only that number is worked out: the smallest k for a rate, the largest rate for a k,
the epsilon at a delta."""


@click.pass_context
def _plan(ctx: click.Context, /, want: str | None, ask: str, as_json: bool, **given: Any) -> None:
    if ctx.invoked_subcommand is not None:
        return
    if want is None:
        raise click.MissingParameter(ctx=ctx, param_hint="'--want'", param_type="option")
    if ask not in ("designs", *TARGETS):
        raise WrongUse(f"`ask` must be one of designs, {', '.join(TARGETS)}, not {ask[:40]!r}")
    if ask != "designs":
        numbers = {name: given[name] for name in ("epsilon", "delta", "k", "rate", "noise_below")}
        answer = planning.ask(ask, want, **numbers)
        if as_json:
            print_json(answer.as_json())
        else:
            page().print(" ".join(answer.sentences()))
        return
    if given["facts"] is not None:
        typed = {name for name in given if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE}
        if typed & {"person", "rows_are_people"}:
            typed |= {"person", "rows_are_people"}  # who a person is was said
        given |= {name: value for name, value in planning.facts(given["facts"]).items() if name not in typed}
    check_one_unit(given["person"], given["rows_are_people"])
    chart, file, out = given["chart"], given["file"], given["out"]
    if chart is not None:
        from hubbub import charts

        charts.ready(chart)
    with working("Planning"):
        found = planning.release(want, **{each.name: given[each.name] for each in _PLANNED if each.name != "want"})
    if chart is not None:
        _draw(found, chart)
    if as_json:
        print_json(
            found.as_json(in_shell, file=file, out=out, person=given["person"])
            | ({} if chart is None else {"chart": chart})
        )
    else:
        _print_plan(found, given)


def _refinements(found: Refinements, *, as_json: bool) -> None:
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
    _rows(found, rows, ["by", "cells", "told", "people told", "survives"], as_json=as_json)


def _coarsenings(found: Coarsenings, *, as_json: bool) -> None:
    rows = [
        (row.columns, f"{row.records:,}", f"{100 * row.share:.1f} %", "yes" if row.enough else "") for row in found.rows
    ]
    _rows(found, rows, ["columns", "records", "rows kept", "enough"], as_json=as_json)


def _noises(found: Noises, *, as_json: bool) -> None:
    if as_json:
        print_json(found.as_json())
        return
    table(found.table(), ["noise", "standard deviation", "promise"])
    for sentence in found.sentences():
        page().print(f"\n{sentence}")


def _sums(found: PlannedSums, *, as_json: bool) -> None:
    if as_json:
        print_json(found.as_json())
        return
    table(found.table(), ["way", "error of a total", "share of it", "ask for it by"])
    for sentence in found.sentences():
        page().print(f"\n{sentence}")


def _rows(
    found: Refinements | Coarsenings, rows: Sequence[Sequence[str]], headings: list[str], *, as_json: bool
) -> None:
    if as_json:
        print_json(found.as_json())
        return
    table(rows, headings)
    for sentence in found.sentences():
        page().print(f"\n{sentence}")


def _print_plan(found: Planned, given: dict[str, Any]) -> None:
    chart, file, out, person = given["chart"], given["file"], given["out"], given["person"]
    console = page()
    console.print(f"{found.title}: {found.meaning}", style="bold")
    rows = [(*row[:3], f"{row[3]}, {row[4]}") for row in found.rows()[:_ROWS_LISTED]]
    table(rows, ["design", "sampled", "error per bin", "people, bins hidden"])
    if len(found.designs) > _ROWS_LISTED:
        console.print(f"and {len(found.designs) - _ROWS_LISTED} more with larger errors (--json lists them).")
    first, *others = found.sentences(in_shell)
    console.print(f"\n{first}\n")
    console.print(found.command(found.best, file=file, out=out, person=person), soft_wrap=True)
    silent = person is None and not given["rows_are_people"]
    invented = [*([FILE] if file == FILE else []), *(["--rows-are-people (or --person COLUMN)"] if silent else [])]
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
    from hubbub.plan.planned import design_label, percent

    rows = [
        {
            "channel": _kind(design),
            "rate": None if design.rate is None else float(design.rate),
            "error": design.expected.error,
            "label": design_label(design) + ("" if design.rate is None else f", sampled {percent(design.rate)}"),
        }
        for design in found.designs
    ]
    title = f"The best design is {found.best.expected.error:.3g} people off per bin: {_kind(found.best)}"
    request = found.request
    allowed = f", delta {short(request.delta)}" if request.delta else ""
    wanted = request.curve or f"epsilon {short(request.epsilon)}{allowed}"
    about = f"{request.want.value} privacy, {wanted}; {found.title.partition(' privacy for ')[2]}"
    designs_chart(rows, title=title, subtitle=[about, "a hidden bin is read as 0"]).save(path)


def _kind(design: Design) -> str:
    name = str(design.spec.channel.name)
    return {
        "exact-or-suppressed": "small counts hidden",
        "noisy-below": "noise on small counts",
        "geometric": "noise on every count",
        "warped": _warped_kind(design),
    }.get(name, name)


def _warped_kind(design: Design) -> str:
    curve = getattr(design.spec.channel, "curve", None)
    hides = getattr(design.spec.channel, "show_above", None) is not None
    if curve is not None and len(curve.pieces) == 1:
        return "noise, small values hidden" if hides else "noise cut off at 0"
    return "warped noise, small values hidden" if hides else "warped noise"


plan: Final = click.group(
    "plan",
    cls=Commands,
    invoke_without_command=True,
    help=in_shell(f"{inspect.cleandoc(planning.release.__doc__ or '').partition('Guarantee:')[0]}{_MORE}"),
    epilog=examples(
        "hubbub plan --people 50000 --bins 400 --want zero-knowledge --epsilon 0.5 --delta 1e-9 --rate 0.05..0.2",
        "hubbub plan --people 50000 --bins 400 --want crowd-blending --k 20 --epsilon 0.5 --shape even --json",
        "hubbub plan --people 50000 --by age:0..100:5 --want 'nobody can tell whether I took part' --epsilon 1",
        "hubbub plan --ask k --want zero-knowledge --epsilon 0.5 --delta 1e-9 --rate 0.1",
        "hubbub plan --ask rate --want zero-knowledge --epsilon 0.5 --delta 1e-9 --k 20",
    ),
)(options(json_option(_plan), (*_PLANNED, *_COMMAND)))
plan.add_command(
    question(
        planning.refinements,
        _refinements,
        "plan cube --by department~8 --by age:0..90:10 --by sex=f,m --people 40000 --crowd 10",
        "plan cube --by department --by age:10 --public hubbub-demo/millbrook.parquet --crowd 10 --json",
        name="cube",
    )
)
plan.add_command(
    question(
        planning.noises,
        _noises,
        "plan noise --epsilon 1 --delta 1e-9 --bins 20",
        "plan noise --epsilon 1 --delta 1e-9 --bins 30 --rows-per-person 60 --rows-per-bin 2 --steps 100",
        "plan noise --epsilon 0.5 --delta 1e-6 --json",
        name="noise",
    )
)
plan.add_command(
    question(
        planning.sums,
        _sums,
        "plan sum --of cost:0..50000:1 --people 10000 --epsilon 1 --typical 400",
        "plan sum --of cost:0..50000:1 --people 40000 --epsilon 1 --typical 900 --bins 8 --rows-per-person 5",
        "plan sum --of pay:0..300000:1000 --people 5000 --epsilon 1 --typical 40000 --spread 0.5 --caps 150000 --json",
        name="sum",
    )
)
plan.add_command(
    question(
        planning.coarsenings,
        _coarsenings,
        "plan records --columns age:5 --columns age:10 --public hubbub-demo/millbrook.parquet --crowd 20",
        name="records",
    )
)
