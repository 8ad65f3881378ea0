"""``hubbub release``: publish statistics about the people in a table."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hubbub.cli import Commands, examples, json_option, page, print_json, say, shown, waiting
from hubbub.cli.channel import channel_options
from hubbub.errors import HubbubError

if TYPE_CHECKING:
    from hubbub.release import Release, Table

_FIRST = 12  # bins shown on the terminal


@click.group("release", cls=Commands, epilog=examples("hubbub release histogram --help"))
def release() -> None:
    """Publish statistics about the people in a table."""


@release.command(
    "histogram",
    epilog=examples(
        "hubbub release histogram hubbub-demo/millbrook.parquet --by department --crowd 20 --sample 0.2 --out out/",
        "hubbub release histogram hubbub-demo/millbrook.parquet --by salary:0..300000:10000 --epsilon 1 --out out/",
    ),
)
@click.argument("file")
@click.option("--by", "by", metavar="SPEC", multiple=True, help="A column and its bins; repeat it for several columns.")
@click.option("--crowd", metavar="K", help="Exact counts of at least K, the others hidden (with --epsilon: noisy).")
@click.option("--outlier", metavar="CURVE", help="A loss for each crowd size, like 1:0.01,101:1 (warped noise).")
@click.option("--person", metavar="COLUMN", help="The column that says who a row is about; else each row is a person.")
@click.option("--one-row-per-person", is_flag=True, help="Keep one row of each person, chosen secretly and uniformly.")
@click.option("--distinct", metavar="B", help="Count each person once in at most B bins, chosen secretly.")
@click.option("--sample", metavar="P", help="Use a fresh secret sample: each person with probability P.")
@click.option("--scale-up", is_flag=True, help="With --sample: intervals for everybody, not for the sample.")
@click.option("--collected", metavar="P", help="Declare that people came into the table with probability P.")
@click.option("--collected-between", metavar="LOW HIGH", nargs=2, help="The same with rates between LOW and HIGH.")
@click.option("--exempt", metavar="N", default="0", help="How many people may have been collected in any other way.")
@click.option("--at-delta", metavar="D", default="1e-9", show_default=True, help="The delta of what sampling buys.")
@click.option("--coverage", metavar="C", default="0.95", show_default=True, help="How often an interval is right.")
@click.option("--table", metavar="NAME", help="The table of a DuckDB database.")
@click.option("--dataset", metavar="NAME", help="The people's name in the ledger; if not given, that of the file.")
@click.option("--ledger", metavar="FILE", help="Another ledger than your own.")
@click.option("--out", metavar="DIR", required=True, help="The folder for the release, certificate and report.")
@click.option("--format", "form", metavar="csv|parquet", default="csv", show_default=True, help="Of the release.")
@partial(channel_options, required=False)
@json_option
def histogram(file: str, by: tuple[str, ...], out: str, form: str, as_json: bool, **words: Any) -> None:
    """Count people by some columns, and publish the counts so that each person stays lost in the crowd.

    SPEC is a column alone (its values are found in the data, where hidden bins may be absent), column=a,b,null,other
    (these values), column:0..100:10 (a range in steps), column:[0,20000,50000,inf) (edges) or
    column:month:2024-01..2024-12 (dates). Say how people are protected: --crowd K; --crowd K --epsilon E; --epsilon E;
    --outlier CURVE; or --channel NAME with its own options.

    Exit code 3 and the sentence about several rows for one person tell something about the data: they are for you
    alone. What is released about the same people under one name adds up in the ledger (hubbub ledger show).
    """
    from hubbub.release import open as open_table
    from hubbub.staging import prepare
    from hubbub.tables.bins import declared_size, parse

    unit_words = {name: words.pop(name) for name in ("one_row_per_person", "distinct")}
    names = ("person", "table", "dataset", "ledger")
    people = open_table(file, **{name: words.pop(name) for name in names})
    prepare(Path(out), declared_size([parse(spec) for spec in by]))
    with waiting("Counting"):
        done = people.histogram(list(by), **unit_words, **_words(words))
        written = _save(people, done, Path(out), form)
    for remark in done.spec.remarks:
        say(f"Note: {remark}.")
    if as_json:
        print_json(_as_json(done, written))
    else:
        _tell(done, written)


def _save(people: Table, done: Release, out: Path, form: str) -> dict[str, str]:
    """Write the files; if that fails and left nothing behind, nothing was seen, and the ledger is told."""
    from hubbub.files import save
    from hubbub.report import report
    from hubbub.staging import PREFIX

    try:
        return save(done, out, form=form, page=report)
    except HubbubError:
        if done.place is not None and not (out / f"{PREFIX}{done.place.nonce}").exists():
            with suppress(HubbubError):  # then it stays reserved, and counts as spent
                people.ledger.abandon(done.place, drawn=done.drawn)
        raise


def _words(words: dict[str, Any]) -> dict[str, Any]:
    """The command's words as those of Table.histogram; what belongs to a channel goes into `options`."""
    own = (
        "crowd",
        "epsilon",
        "outlier",
        "show_above",
        "sample",
        "scale_up",
        "collected",
        "exempt",
        "at_delta",
        "coverage",
    )
    asked = {name: words.pop(name) for name in own}
    between, name = words.pop("collected_between"), words.pop("channel_name")
    return asked | {"collected_between": between or None, "channel": name, "options": words}


def _as_json(done: Release, written: dict[str, str]) -> dict[str, object]:
    from hubbub.certificate import about
    from hubbub.channels.catalogue import parameters
    from hubbub.tables.bins import declared_size

    declared = declared_size(done.axes)
    shown = int(done.shown.sum())
    return {
        **written,
        "dataset": done.place.dataset if done.place else None,
        "rows_published": shown,
        "rows_suppressed": None if declared is None else done.bins - shown,
        "bins": declared,
        "guarantees": [about(step.conclusion) for step in done.promises],
        "channel": {"name": done.spec.channel.name, **parameters(done.spec.channel)},
    }


def _tell(done: Release, written: dict[str, str]) -> None:
    from rich.table import Table as Grid

    from hubbub.explain import crowd_words, explain_guarantee
    from hubbub.files import columns
    from hubbub.tables.bins import declared_size

    console = page()
    table = Grid(box=None, pad_edge=False)
    for name in columns(done):
        table.add_column(shown(name), max_width=32)
    for name in ("count", "low", "high"):
        table.add_column(name, justify="right")
    keys = list(done.keys(0, min(_FIRST, done.bins)))
    for i in range(min(_FIRST, done.bins)):
        labels = ["(missing)" if (text := labels[int(which[i])]) is None else shown(text) for which, labels in keys]
        value, _ = done.published.outcome(i)
        high = int(done.high[i])
        table.add_row(
            *labels, "hidden" if value is None else f"{value:,}", f"{done.low[i]:,}", "" if high < 0 else f"{high:,}"
        )
    console.print(table)
    if done.bins > _FIRST:
        console.print(f"and {done.bins - _FIRST:,} more bins.")
    hidden = done.bins - int(done.shown.sum())
    if declared_size(done.axes) is None:
        console.print("\nBins that were hidden are absent, and how many there are is not told.")
    else:
        console.print(f"\n{done.bins - hidden:,} of {done.bins:,} bins show a number, {hidden:,} are hidden.")
    for step in done.promises:
        told = f"\nPromised ({step.conclusion.notion}): {explain_guarantee(step.conclusion)} {crowd_words(step)}"
        console.print(told.rstrip())
    console.print()
    for place in written.values():
        console.print(f"Written: {place}", soft_wrap=True)
    if done.place is not None:
        console.print(
            f"Entered in the ledger as release {done.place.release} of {done.place.dataset}. "
            f"Check it: hubbub verify {written['certificate']}",
            soft_wrap=True,
        )
