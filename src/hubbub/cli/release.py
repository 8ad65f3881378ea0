"""``hubbub release``: publish statistics about the people in a table. One command for each kind of release."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import Command, Commands, examples, json_option, options, page, print_json, say, shown, waiting

if TYPE_CHECKING:
    from hubbub.kind import Kind, Release

_FIRST: Final = 12  # rows shown on the terminal
_TABLE: Final = ("person", "rows_are_people", "table", "dataset", "ledger")


class Kinds(Commands):
    """A command for each kind, made from the registry when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from hubbub import kinds

        return list(kinds.names())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from hubbub import kinds

        return _command(kinds.kind(cmd_name)) if cmd_name in kinds.names() else None


@click.group("release", cls=Kinds, epilog=examples("hubbub release --help"))
def release() -> None:
    """Publish statistics about the people in a table."""


def _command(kind: Kind) -> click.Command:
    """The command of a kind: its own options, and those that every release from a table has."""

    def run(file: str, out: str, form: str, as_json: bool, **words: Any) -> None:
        _release(kind, file, out, form, as_json, words)

    made = click.command(kind.name, help=kind.about, epilog=examples(*kind.examples))
    return made(click.argument("file")(options(_of_a_table(json_option(run)), kind.options)))


def _of_a_table(command: Command) -> Command:
    for flags, takes, words, more in reversed(
        (
            (("--person",), "COLUMN", "The column that says who a row is about.", {}),
            (("--rows-are-people",), None, "Each row is another person.", {"is_flag": True}),
            (("--table",), "NAME", "The table of a DuckDB database.", {}),
            (("--dataset",), "NAME", "The people's name in the ledger; if not given, that of the file.", {}),
            (("--ledger",), "FILE", "Another ledger than your own.", {}),
            (("--out",), "DIR", "The folder for the release, certificate and report.", {"required": True}),
            (("--format", "form"), "csv|parquet", "Of the release.", {"default": "csv", "show_default": True}),
        )
    ):
        command = click.option(*flags, metavar=takes, help=words, **more)(command)
    return command


def _release(kind: Kind, file: str, out: str, form: str, as_json: bool, words: dict[str, Any]) -> None:
    from hubbub.files import check_format
    from hubbub.release import open as open_table
    from hubbub.release import save
    from hubbub.staging import prepare

    people = open_table(file, **{name: words.pop(name) for name in _TABLE})
    spec = kind.ask(person=people.person, **words)
    check_format(form)
    prepare(Path(out), spec.room())
    with waiting("Counting"):
        done = people.publish(spec)
        written = save(done, out, form=form)
    for remark in done.spec.words().remarks:
        say(f"Note: {remark}.")
    if as_json:
        print_json(_as_json(done, written))
    else:
        _tell(done, written)


def _as_json(done: Release, written: dict[str, str]) -> dict[str, object]:
    from hubbub.certificate import about

    return {
        **written,
        "dataset": done.place.dataset if done.place else None,
        **done.result.told(),
        "guarantees": [about(step.conclusion, step.people) for step in done.promises],
    }


def _tell(done: Release, written: dict[str, str]) -> None:
    from rich.table import Table as Rows

    from hubbub.explain import crowd_words, meaning
    from hubbub.ledger.book import Ledger

    console = page()
    person = done.spec.words().person
    console.print(f"Who is a person: {shown(person)}.\n")
    grid, total = done.result.grid(_FIRST), len(done)
    table = Rows(box=None, pad_edge=False)
    for name in grid.keys:
        table.add_column(shown(name), max_width=32)
    for name in grid.numbers:
        table.add_column(name, justify="right")
    for keys, numbers, _ in grid.rows:
        table.add_row(*("(missing)" if key is None else shown(key) for key in keys), *map(shown, numbers))
    console.print(table)
    if total > len(grid.rows):
        console.print(f"and {total - len(grid.rows):,} more rows.")
    console.print()
    for sentence in (*done.result.sentences(), *grid.notes):
        console.print(sentence)
    for step in done.promises:
        told = meaning(step.conclusion, step.people)
        said = " ".join(filter(None, (told.promised, told.crowd, crowd_words(step))))
        console.print(f"\nPromised ({step.conclusion.notion}, for {step.people}): {said}")
        console.print(f"Not promised: {told.not_promised}")
    console.print()
    for place in written.values():
        console.print(f"Written: {place}", soft_wrap=True)
    if done.place is not None:
        book = Ledger(done.place.ledger)
        key = (
            "" if book.path == Ledger().path else f" --key {book.public_key()}"
        )  # another ledger's is not known as yours
        console.print(
            f"Entered in the ledger as release {done.place.release} of {done.place.dataset}. "
            f"Check it: hubbub verify {shlex.quote(written['certificate'])}{key}",
            soft_wrap=True,
        )
