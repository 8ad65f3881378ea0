"""``hubbub release``: publish statistics about people. One command for each kind of release."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import (
    Command,
    Commands,
    confirm_weak,
    examples,
    json_option,
    options,
    page,
    print_json,
    say,
    shown,
    verdict,
    waiting,
    yes_option,
)
from hubbub.errors import in_shell

if TYPE_CHECKING:
    from rich.table import Table as Rows

    from hubbub.guarantees.derivation import Derivation
    from hubbub.protocol.release import Publish, Release
    from hubbub.protocol.result import Comparison, DisplayTable
    from hubbub.protocol.spec import Kind

_FIRST: Final = 12  # rows shown on the terminal
EXAMPLE: Final = "millbrook"  # an invented network
_WHO: Final = ("person", "rows_are_people", "other_people")
_TABLE: Final = (*_WHO, "table", "delimiter", "encoding", "no_header", "unreadable")


FORM: Final[tuple[tuple[tuple[str, ...], str, str, dict[str, Any]], ...]] = (
    (("--table",), "NAME", "The table of a database (or a query, SELECT ...), or the sheet of an Excel file.", {}),
    (("--delimiter",), "SIGN", "What separates the cells of a CSV: comma, semicolon, tab or pipe.", {}),
    (("--encoding",), "NAME", "How a CSV is encoded, if not in UTF-8: latin-1, cp1252, utf-16 ...", {}),
    (("--no-header",), "NAMES", "The columns of a CSV whose first line is data, like id,town,age.", {}),
)
"""How a file is read, the same wherever one is."""


class Kinds(Commands):
    """A command for each kind, made from the registry when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from hubbub import registry
        from hubbub.protocol.spec import BALLOTS

        return [name for name in registry.names() if registry.kind(name).data != BALLOTS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from hubbub import registry

        return command(registry.kind(cmd_name)) if cmd_name in self.list_commands(ctx) else None


@click.group("release", cls=Kinds, epilog=examples("hubbub release --help"))
def release() -> None:
    """Publish statistics about people: of a table, or of a social network (hubbub graph release)."""


def command(kind: Kind, name: str | None = None) -> click.Command:
    """The command of a kind: its own options, and those that every release of such data has."""

    def run(file: str, as_json: bool, compare: bool = False, **words: Any) -> None:
        _release(kind, file, as_json, compare, words)

    asked: Callable[..., None] = json_option(run)
    if kind.compare is not None:
        asked = click.option("--compare", is_flag=True, help="Show beside it what others do to the same end.")(asked)
    asked = _of_any(asked)
    asked = _of_a_table(asked) if kind.data == "table" else reading_options(asked)
    made = click.command(name or kind.name, help=in_shell(kind.help), epilog=examples(*kind.examples))
    return made(click.argument("file")(options(asked, kind.options)))


def _with(command: Command, *asked: tuple[str, str, str]) -> Command:
    for flag, takes, words in reversed(asked):
        command = click.option(flag, metavar=takes, help=words)(command)
    return command


def _of_any(command: Command) -> Command:
    command = click.option(
        "--format", "form", metavar="csv|parquet", default="csv", show_default=True, help="Its form."
    )(command)
    command = click.option("--out", metavar="DIR", required=True, help="The folder for the release and its papers.")(
        command
    )
    command = yes_option(command)
    command = click.option(
        "--explain", is_flag=True, help="Also print the exact numbers of each promise, and what is not promised."
    )(command)
    for flag, takes, about in (
        ("--note", "WORDS", "A note of yours in the report; give it again for another."),
        ("--label", "COLUMN=WORDS", "What the report calls a column, like age='Age in years'."),
    ):
        command = click.option(flag, f"{flag[2:]}s", metavar=takes, multiple=True, help=about)(command)
    command = click.option("--replace", is_flag=True, help="Replace a release that is in the folder already.")(command)
    return _with(
        command,
        ("--title", "WORDS", "The title of the report, in place of ours."),
        ("--subtitle", "WORDS", "A line below it."),
        ("--date", "DATE", "The date that the report shows, as you declare it."),
        ("--link", "ADDRESS", "Where to read more."),
        ("--words", "FILE", "A TOML file with all of these: title, subtitle, publisher, date, link, notes, [labels]."),
        ("--dataset", "NAME", "The people's name in the ledger; if not given, that of the file."),
        ("--ledger", "FILE", "Another ledger than your own."),
    )


def _of_a_table(command: Command) -> Command:
    command = click.option(
        "--other-people", is_flag=True, help="Declare that these are not the people of a dataset with the same ids."
    )(command)
    for flags, takes, words, more in reversed(
        (
            (("--person",), "COLUMN", "The column that says who a row is about.", {}),
            (("--rows-are-people",), None, "Each row is another person.", {"is_flag": True}),
            *FORM,
            (
                ("--unreadable",),
                "SHARE",
                "Refuse if a row of more of the people cannot be read as declared.",
                {"default": "0.01", "show_default": True},
            ),
        )
    ):
        command = click.option(*flags, metavar=takes, help=words, **more)(command)
    return command


def reading_options(command: Command) -> Command:
    """How a file of links is read."""
    command = click.option("--header/--no-header", default=None, help="Whether the first line names the columns.")(
        command
    )
    return _with(
        command,
        ("--vertex-file", "FILE", "A list of all people, so that those without links count too."),
        ("--columns", "A,B", "The columns with the two ends of a link; without it, the two that there are."),
    )


def graph_given(file: str) -> object:
    """A file of links by its name, or the invented network."""
    if file != EXAMPLE:
        return file
    from hubbub.demo.friends import friends

    return friends().graph


def two_columns(text: str | None) -> list[str] | None:
    """The two names in ``A,B``."""
    return None if text is None else [part.strip() for part in text.split(",")]


def _opened(kind: Kind, file: str, words: dict[str, Any]) -> tuple[Publish, object]:
    """Open what the release is of; returns how one is made of it, and its columns. What is said about opening is taken
    out of `words`, and for a table the person column is put there."""
    named = {name: words.pop(name) for name in ("dataset", "ledger")}
    if kind.data == "table":
        from hubbub.engines.query import RowsMove, remarks
        from hubbub.opening import open as open_table

        given = {name: words.pop(name) for name in _TABLE}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RowsMove)
            people = open_table(file, **given, **named)
        for remark in remarks(given["table"]):
            say(f"Note: {remark}.")
        words["person"] = people.person
        return people.publish, people.engine.columns()
    from hubbub.opening import open_graph

    named["dataset"] = named["dataset"] or (f"{EXAMPLE}-friends" if file == EXAMPLE else None)
    reading = {name: words.pop(name) for name in ("header", "vertex_file")}
    network = open_graph(graph_given(file), columns=two_columns(words.pop("columns")), **reading, **named)
    return network.publish, network.links.columns()


def _release(kind: Kind, file: str, as_json: bool, compare: bool, words: dict[str, Any]) -> None:
    from hubbub.ledger.ledger import Ledger
    from hubbub.protocol.capabilities import TakesLong
    from hubbub.publication.files import check_format
    from hubbub.publication.staging import prepared
    from hubbub.release import save
    from hubbub.report.heading import heading

    out, form, replace, yes, explained = (words.pop(name) for name in ("out", "form", "replace", "yes", "explain"))
    declared = {name: words.pop(name) for name in ("title", "subtitle", "date", "link", "notes", "labels")}
    said = heading(**declared, file=words.pop("words"))
    ledger = Ledger(words["ledger"])
    publish, columns = _opened(kind, file, words)
    spec = kind.from_options(**words)
    check_format(form)
    confirm_weak(spec.bind(columns), yes)
    with prepared(Path(out), spec.size_hint(), replace=replace, parts=words.get("parts") is not None, ledger=ledger):
        if isinstance(spec, TakesLong) and (ahead := spec.duration_note()):
            say(ahead)
        with waiting("Counting"):
            done = publish(spec, accept_weak=True)  # if it is weak, somebody just confirmed it
            written = save(done, out, form=form, replace=replace, heading=said)
    beside = kind.compare(done.spec) if compare and kind.compare is not None else None
    answer(done, written, as_json=as_json, explained=explained, beside=beside)


def answer(
    done: Release,
    written: dict[str, str],
    *,
    as_json: bool,
    explained: bool = False,
    beside: Comparison | None = None,
) -> None:
    """What is said about a release that was made, whatever its kind."""
    for remark in done.spec.describe().remarks:
        say(f"Note: {remark}.")
    _say_if_weak_together(done)
    if as_json:
        more = {} if beside is None else {"compare": {"rows": [dict(row) for row in beside.rows]}}
        print_json(_as_json(done, written) | more)
    else:
        _print_answer(done, written, explained=explained)
        if beside is not None:
            page().print()
            page().print(_rows(beside.grid))
            for note in beside.grid.notes:
                page().print(in_shell(note))


def _say_if_weak_together(done: Release) -> None:
    """Each release of a series may promise enough, and all of them together little: that is said whenever it is so."""
    from hubbub.numeric.format import short
    from hubbub.protocol.weakness import LARGEST_EPSILON

    if done.place is not None and done.place.together is not None and done.place.together > LARGEST_EPSILON:
        name, loss = done.place.dataset, short(done.place.together, 3)
        say(
            f"Note: all releases of {name} together promise little: epsilon = {loss} is above {LARGEST_EPSILON}. See "
            "hubbub ledger show, and cap what is still to come with hubbub ledger policy."
        )


def _as_json(done: Release, written: dict[str, str]) -> dict[str, object]:
    from hubbub.certificate.certificate import about

    return {
        **written,
        "dataset": done.place.dataset if done.place else None,
        **done.result.facts(),
        "guarantees": [about(step.conclusion, step.people) for step in done.promises],
    }


def _print_answer(done: Release, written: dict[str, str], *, explained: bool) -> None:
    """The answer first: verdict, numbers, a sentence for each promise, the files, the next command."""
    from hubbub.certificate.explanation import crowd_words, in_brief, meaning
    from hubbub.guarantees.asked import asked_first

    console = page()
    promises = list(asked_first(done.promises))
    brief = f", with {in_brief(promises[0].conclusion)}" if promises else ""
    console.print(verdict(f"Published: {shown(done.spec.describe().title)}{brief}.\n"))
    grid, total = done.result.display(_FIRST), len(done)
    console.print(_rows(grid))
    if total > len(grid.rows):
        console.print(f"and {total - len(grid.rows):,} more rows.")
    console.print()
    for sentence in (*done.result.sentences(), *grid.notes):
        console.print(sentence)
    console.print(f"A person: {shown(done.spec.describe().person)}.\n")
    for step in promises:
        read = meaning(step.conclusion, step.people)
        known = (
            " ".join(filter(None, (read.crowd, crowd_words(step))))
            if step.conclusion.notion == "zero-knowledge"
            else ""
        )
        console.print(f"Promise ({step.conclusion.notion}): {read.promised} {known}".rstrip())
    if explained:
        _print_details(done, promises)
    if written:
        console.print(f"\nFiles: {', '.join(written.values())}", soft_wrap=True)
    if done.place is not None:
        console.print(f"Ledger: release {done.place.release} of {done.place.dataset}.", soft_wrap=True)
        console.print(f"Next: {_check_command(done.place.ledger, written)}", soft_wrap=True)


def _print_details(done: Release, promises: Sequence[Derivation]) -> None:
    """What the numbers of a promise are, and what nobody promises."""
    from hubbub.certificate.explanation import crowd_words, in_numbers, meaning

    console = page()
    for step in promises:
        read = meaning(step.conclusion, step.people)
        more = " ".join(filter(None, (read.crowd, crowd_words(step))))
        console.print(f"\nIn numbers: {shown(in_numbers(step))}. {more}".rstrip())
        console.print(f"Not promised: {read.not_promised}")


def _check_command(ledger: Path, written: dict[str, str]) -> str:
    """How a reader checks the release; the key of another ledger than your own has to be named."""
    from hubbub.ledger.ledger import Ledger

    book = Ledger(ledger)
    key = "" if book.path == Ledger().path else f" --key {book.public_key()}"
    return f"hubbub verify {shlex.quote(written['certificate'])}{key}" if written else "hubbub ledger show"


def _rows(grid: DisplayTable) -> Rows:
    """A grid as a table of the terminal."""
    from rich.table import Table as Rows

    table = Rows(box=None, pad_edge=False)
    for name in grid.keys:
        table.add_column(shown(name), max_width=32)
    for name in grid.numbers:
        table.add_column(name, justify="right")
    for keys, numbers, _ in grid.rows:
        table.add_row(*("(missing)" if key is None else shown(key) for key in keys), *map(shown, numbers))
    return table
