"""``hubbub run``: publish what a file wants, planned together."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hubbub.cli import display, echo, examples, json_option, page, print_json, print_text
from hubbub.errors import WrongUse

if TYPE_CHECKING:
    from hubbub.project.joint import Joint
    from hubbub.project.planning import Plan


@click.command(
    "run", epilog=examples("hubbub run hubbub-demo/hubbub.toml --dry-run", "hubbub run hubbub-demo/hubbub.toml")
)
@click.argument("file", default="hubbub.toml")
@click.option("--dry-run", is_flag=True, help="Print the review sheet; publish and spend nothing.")
@click.option("--check", is_flag=True, help="Say in a few lines what a run would publish and spend, for CI.")
@click.option("--sheet", metavar="DIR", help="Write the review sheet there, as review.md and review.html.")
@click.option("--yes", is_flag=True, help="Confirm promises that are weak.")
@json_option
def run(file: str, dry_run: bool, check: bool, sheet: str | None, yes: bool, as_json: bool) -> None:
    """Publish what a file wants, all of it planned together first.

    FILE is TOML (hubbub.toml): datasets, caps, and the releases that are wanted, each with its kind and options. What
    cannot be published together is refused before anything is spent. Then whatever is not yet published is, in order;
    a run that was cut short goes on where it stopped, a second run publishes nothing twice, and two at once take turns.
    A release that is out and that the file now asks for in other words is refused: give it another name, and it is a new
    plan. A new title or label changes no release.
    """
    from hubbub.project.plan_file import read_plan
    from hubbub.project.planning import plan
    from hubbub.project.review import markdown
    from hubbub.project.review import sheet as review_sheet
    from hubbub.project.running import exclusive_plan
    from hubbub.project.running import run as run_plan
    from hubbub.runtime.progress import working

    if dry_run and check:
        raise WrongUse("a check is a shorter dry run; keep one of the two")
    publication = read_plan(file)
    if dry_run or check:
        with working("Planning"):
            planned = plan(publication)
        _write_sheet(planned, sheet)
        if as_json:
            more = {"sheet": markdown(review_sheet(planned))} if dry_run else {}
            print_json(_as_json(planned) | {"dry_run": True} | more)
        elif dry_run:
            echo(markdown(review_sheet(planned)).rstrip("\n"))
        else:
            _print(planned)
        return
    with ExitStack() as stack:
        with working("Planning"):
            planned = stack.enter_context(exclusive_plan(publication, on_wait=_say_waiting))
        _write_sheet(planned, sheet)
        written = run_plan(planned, accept_weak=yes, report=lambda name: print_text(f"{name} ..."))
    if as_json:
        print_json(_as_json(planned) | {"written": written})
        return
    new = [name for name, files in written.items() if files]
    console = page()
    console.verdict(f"Published: {len(new):,} of {len(written):,}; the others were out already.\n")
    together = {name for each in planned.releases if each.joint is not None for name in each.names}
    for name in new:
        files = written[name]
        where = files["release"] if name in together else files.get("report", files["certificate"])
        console.print(f"{name}: {display(where)}", soft_wrap=True)
    _print_totals(planned)


def _say_waiting() -> None:
    print_text("Another run publishes into the same folder; waiting for it ...")


def _write_sheet(planned: Plan, where: str | None) -> None:
    """Write the review sheet into a folder, if one is named."""
    from hubbub.project.review import markdown, page, sheet

    if where is None:
        return
    folder, lines = Path(where), sheet(planned)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "review.md").write_text(markdown(lines), encoding="utf-8")
    (folder / "review.html").write_text(page(lines), encoding="utf-8")


def _as_json(planned: Plan) -> dict[str, Any]:
    from hubbub.certificate.certificate import about
    from hubbub.project.planning import losses

    return {
        "releases": [
            {
                "name": each.entry.name,
                **({} if each.joint is None else _of_joint(each.joint)),
                "dataset": each.entry.dataset,
                "state": each.state.value,
                "published": each.bound.description.published,
                **({"hidden": each.bound.description.hidden} if each.bound.description.hidden else {}),
                "weak": list(each.weak),
                "guarantees": [about(step.conclusion, step.people) for step in each.bound.promises],
            }
            for each in planned.releases
        ],
        "together": {name: list(losses(after)) for name, after in planned.after.items()},
    }


def _of_joint(joint: Joint) -> dict[str, Any]:
    tables = zip(joint.members, joint.variances, strict=True)
    return {
        "tables": [
            {"name": each.entry.name, "root_mean_square": variance**0.5, "by_itself": each.variance**0.5}
            for each, variance in tables
        ],
        "error_over_separate": joint.ratio,
    }


def _print(planned: Plan) -> None:
    """What a run would do, in a few lines."""
    from hubbub.project.review import gain

    console = page()
    for each in planned.releases:
        where = "" if each.joint is None else f" together, in {each.entry.name}"
        more = "" if each.joint is None else f" {gain(each.joint)}"
        console.print(f"{', '.join(each.names)}: {each.state.value}{where}.{more}", soft_wrap=True)
    _print_totals(planned)


def _print_totals(planned: Plan) -> None:
    from hubbub.project.planning import losses

    for name, after in planned.after.items():
        page().print(f"All releases of {display(name)} together: {'; '.join(losses(after))}.", soft_wrap=True)
