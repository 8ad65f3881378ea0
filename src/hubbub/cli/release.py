"""``hubbub release``: publish statistics about people. One command for each kind of release."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from hubbub.cli import (
    Command,
    Commands,
    InGroups,
    confirm_weak,
    display,
    examples,
    json_option,
    options,
    page,
    print_answer,
    print_json,
    print_text,
    yes_option,
)
from hubbub.cli.dry_run import answer as dry_run_answer
from hubbub.errors import WrongUse, in_shell
from hubbub.opening import LINKS, NAMED
from hubbub.opening import open as open_table
from hubbub.protocol.option import DECLARED, WHERE, Option, options_of

if TYPE_CHECKING:
    from hubbub.cli.terminal.table import Table as Rows
    from hubbub.guarantees.derivation import Derivation
    from hubbub.ledger.ledger import Ledger
    from hubbub.protocol.release import Publish, Release, Reservation
    from hubbub.protocol.result import Comparison, DisplayTable
    from hubbub.protocol.spec import Kind
    from hubbub.report.heading import Heading

_FIRST: Final = 12  # rows shown on the terminal
_LABEL: Final = 32  # cells of a label in one line
_LOOKED_THROUGH: Final = 10_000  # rows of a release, for the note that follows
ALL_EMPTY: Final = (
    "Every bin may be empty. If that surprises you, the values may be spelled otherwise in the table: hubbub check with "
    "the same --by compares them."
)
_FEW_GIVEN_UP: Final = 3  # releases that are named one by one
_FIRST_RELEASE: Final = (
    "hubbub release histogram hubbub-demo/millbrook.parquet --person resident --by age:0..90:10 --epsilon 1 --out o"
)
EXAMPLE: Final = "millbrook"  # an invented network
_OPENING: Final = options_of(open_table)
TABLE: Final = tuple(option for option in _OPENING if option.name not in DECLARED)
"""Which table a release is of, and who a person is."""
READING: Final = tuple(replace(option, advanced=False) for option in _OPENING if option.name in DECLARED)
"""How a table is read, and what else is public about it: hubbub describe writes it into the data dictionary."""
ANY: Final = (
    Option("out", "DIR", "The folder for the release and its papers.", required=True, group=WHERE),
    NAMED,
    Option("dry_run", None, "Say what would be published and spent; do nothing.", group=WHERE),
    Option("ledger", "FILE", "Another ledger than your own.", group=WHERE, advanced=True),
    Option(
        "words",
        "FILE",
        "The report's title, language, notes and [labels], as TOML.",
        group=WHERE,
    ),
    Option("replace", None, "Replace a release that is in the folder already.", group=WHERE, advanced=True),
    Option(
        "format",
        "csv|parquet|xlsx",
        "Its form; with xlsx, an Excel workbook beside the CSV.",
        default="csv",
        group=WHERE,
        advanced=True,
    ),
    Option(
        "explain",
        None,
        "Also print all about the numbers, exact promises, and what is not promised.",
        group=WHERE,
        advanced=True,
    ),
)
"""What every release takes."""
_COMPARE: Final = Option("compare", None, "Show beside it what others do to the same end.", group=WHERE, advanced=True)


class Kinds(Commands):
    """A command for each kind, made from the registry when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from hubbub import registry
        from hubbub.protocol.spec import BALLOTS

        return [*(name for name in registry.names() if registry.kind(name).data != BALLOTS), *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from hubbub import registry
        from hubbub.protocol.spec import BALLOTS

        if cmd_name in self.commands:
            return self.commands[cmd_name]
        if cmd_name not in registry.names() or (kind := registry.kind(cmd_name)).data == BALLOTS:
            return None
        return command(kind)


@click.group("release", cls=Kinds, epilog=examples(_FIRST_RELEASE))
def release() -> None:
    """Publish statistics about people: of a table, or of a social network (hubbub graph release)."""


@release.command(
    "withdraw",
    epilog=examples(
        'hubbub release withdraw hubbub-demo --reason "It was a draft" --ledger hubbub-demo/ledger/ledger.db'
    ),
)
@click.argument("folder")
@click.option("--reason", metavar="WORDS", required=True, help="Why, in one line that readers are shown.")
@click.option("--ledger", "book", metavar="FILE", help="Another ledger than your own.")
@json_option
def withdraw(folder: str, reason: str, book: str | None, as_json: bool) -> None:
    """Take a release back: write a signed notice, withdrawn.json, beside its certificate.

    hubbub verify then fails and says so, wherever the notice lies beside the certificate; publish it with the release.
    Nothing is deleted, and what was spent stays spent: numbers that were out cannot be made unseen.
    """
    from hubbub.publication import revocation

    notice = revocation.withdraw(folder, reason, ledger=book)
    print_answer({"withdrawn": str(notice)}, f"Withdrawn: {notice}. What was spent stays spent.", as_json=as_json)


@release.command(
    "correct",
    epilog=examples(
        "hubbub release histogram hubbub-demo/millbrook.parquet --person resident --by department --epsilon 1 "
        "--delta 1e-9 --ledger hubbub-demo/ledger/ledger.db --out corrected",
        "hubbub release correct hubbub-demo --by corrected --reason 'Two departments were mixed up' "
        "--ledger hubbub-demo/ledger/ledger.db",
    ),
)
@click.argument("folder")
@click.option("--by", metavar="DIR", required=True, help="The folder of the corrected release.")
@click.option("--reason", metavar="WORDS", required=True, help="Why, in one line that readers are shown.")
@click.option("--ledger", "book", metavar="FILE", help="Another ledger than your own.")
@json_option
def correct(folder: str, by: str, reason: str, book: str | None, as_json: bool) -> None:
    """Say that a release is replaced by a corrected one, with a signed notice in both folders.

    Publish the corrected release first, like any other: it costs what it costs. Then hubbub verify fails for the old one,
    where replaced.json lies beside its certificate, and names the new one; of the new one it says what it replaces
    (replaces.json). Nothing is deleted, and what was spent stays spent.
    """
    from hubbub.publication import revocation

    notice = revocation.correct(folder, by, reason, ledger=book)
    said = f"Replaced: {notice}. What was spent stays spent, for both."
    print_answer({"replaced": str(notice)}, said, as_json=as_json)


def command(kind: Kind, name: str | None = None) -> click.Command:
    """The command of a kind: its own options, and those that every release of such data has."""

    def run(file: str, as_json: bool, compare: bool = False, **options: Any) -> None:
        publish(kind, file, as_json, compare, options)

    command: Callable[..., None] = yes_option(json_option(run))
    command = options(command, (*ANY, *((_COMPARE,) if kind.compare is not None else ())))
    command = options(command, kind.options)
    command = options(command, TABLE) if kind.data == "table" else reading_options(command)
    made = click.command(name or kind.name, cls=InGroups, help=in_shell(kind.help), epilog=examples(*kind.examples))
    return made(click.argument("file")(command))


def reading_options(command: Command) -> Command:
    """How a file of links is read."""
    header = click.option("--header/--no-header", default=None, help="Whether the first line names the columns.")
    return header(options(command, LINKS))


def graph_given(file: str) -> object:
    """A file of links by its name, or the invented network."""
    if file != EXAMPLE:
        return file
    from hubbub.demo.friends import friends

    return friends().graph


def two_columns(text: str | None) -> list[str] | None:
    """The two names in ``A,B``."""
    return None if text is None else [part.strip() for part in text.split(",")]


class _Opened(NamedTuple):
    """What a release is made of: how one is made, the data, and its name in the ledger."""

    publish: Publish
    data: Any  # an engine, or a file of links
    dataset: str | None
    disjoint: str | None = None  # the period of it, whose people are in no other
    possible_person: str | None = None  # a column that may say who a row is about, where each row is a person


def _opened(kind: Kind, file: Any, options: dict[str, Any], opening: Mapping[str, Any]) -> _Opened:
    """Open what the release is of, with further words of `opening`. What is said about it is taken out of `options`, and
    for a table the person column is put there."""
    from hubbub.opening import named_after

    named = {name: options.pop(name) for name in ("dataset", "ledger")}
    if kind.data == "table":
        from hubbub.engines.query import RowsMove, is_query, remarks

        given = {option.name: options.pop(option.name) for option in TABLE} | dict(opening)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RowsMove)
            people = open_table(file, **given, **named)
        for remark in (*remarks(given["table"]), *remarks(given.get("join"))):
            print_text(f"Note: {remark}.")
        if people.dictionary.where:
            print_text(f"Note: what is not said here is read from {display(people.dictionary.where)}.")
            if kind.from_file is not None and isinstance(options.get("spec"), str):
                options["spec"] = kind.from_file(options["spec"])
        options |= people.dictionary.fill_options(kind.words, options, people.engine.columns())
        options["person"] = people.person
        name = (
            named["dataset"]
            or dict(people.dictionary.opening).get("dataset")
            or (None if is_query(given["table"] or "") else named_after(file, given["table"]))
        )
        return _Opened(people.publish, people.engine, name, people.dictionary.say("disjoint"), people.possible_person)
    from hubbub.opening import open_graph

    named["dataset"] = named["dataset"] or (f"{EXAMPLE}-friends" if file == EXAMPLE else None)
    reading = {name: options.pop(name) for name in ("header", "vertex_file")}
    network = open_graph(graph_given(file), columns=two_columns(options.pop("columns")), **reading, **named)
    return _Opened(network.publish, network.links, named["dataset"] or named_after(file))


@contextmanager
def unpublished() -> Iterator[None]:
    """An interrupt in here says that nothing is published, and whatever else is known."""
    try:
        yield
    except KeyboardInterrupt as stopped:
        raise KeyboardInterrupt(*(stopped.args or ("nothing published",))) from None


def publish(
    kind: Kind,
    file: object,
    as_json: bool,
    compare: bool,
    options: dict[str, Any],
    opening: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Open what a release is of, make it, write it, and say what was written."""
    from hubbub.ledger.ledger import Ledger
    from hubbub.protocol.capabilities import TakesLong
    from hubbub.protocol.weakness import weaknesses
    from hubbub.publication.files import check_format
    from hubbub.report.heading import heading

    saved = {name: options.pop(name) for name in ("out", "format", "replace")}
    yes, explained, dry_run = (options.pop(name) for name in ("yes", "explain", "dry_run"))
    words = options.pop("words")
    with unpublished():
        ledger = Ledger(options["ledger"])
        opened = _opened(kind, file, options, opening)
        asked = kind.ask(**options)
        check_format(saved["format"])
        said = heading(words)
        bound = asked.bind(opened.data.columns())
        weak = weaknesses(bound, opened.possible_person)
    if dry_run:
        if opened.dataset is None:
            raise WrongUse("this has no name in the ledger; give it one with `dataset`")
        table, disjoint = opened.data.identity(), opened.disjoint
        known = opened.data.columns() if kind.data == "table" else None
        dry_run_answer(
            bound, ledger, opened.dataset, table, weak=weak, as_json=as_json, disjoint=disjoint, schema=known
        )
        return
    confirm_weak(weak, yes)
    ahead = asked.duration_note() if isinstance(asked, TakesLong) else None
    done, files = save_into(
        saved,
        ledger,
        said,
        partial(opened.publish, bound, accept_weak=True),  # if it is weak, somebody just confirmed it
        note=" ".join(filter(None, (bound.description.hidden, ahead))),
        size=asked.size_hint(),
        parts=options.get("parts") is not None,
    )
    beside = kind.compare(done.spec) if compare and kind.compare is not None else None
    answer(done, files, as_json=as_json, explained=explained, beside=beside)


def save_into(
    options: Mapping[str, Any],
    ledger: Ledger,
    words: Heading,
    make: Callable[[], Release],
    *,
    note: str = "",
    size: int = 1 << 20,
    parts: bool = False,
) -> tuple[Release, dict[str, str]]:
    """Make a release and write it into the folder that was named, which is ready before anything is drawn."""
    from hubbub.publication.files import check_format
    from hubbub.publication.staging import prepared
    from hubbub.release import save

    out, form, replace = options["out"], options["format"], options["replace"]
    check_format(form)
    with prepared(Path(out), size, replace=replace, parts=parts, ledger=ledger):
        if note:
            print_text(note)
        with unpublished():
            done = make()
        return done, save(done, out, form=form, replace=replace, heading=words)


def answer(
    done: Release,
    files: dict[str, str],
    *,
    as_json: bool,
    explained: bool = False,
    beside: Comparison | None = None,
) -> None:
    """What is said about a release that was made, whatever its kind."""
    for remark in done.bound.description.remarks:
        print_text(f"Note: {remark}.")
    _note_comparison(done)
    _warn_if_weak_in_total(done)
    if as_json:
        more = {} if beside is None else {"compare": {"rows": [dict(row) for row in beside.rows]}}
        print_json(_as_json(done, files) | more)
    else:
        _print_answer(done, files, explained=explained)
        if beside is not None:
            page().print()
            page().print(_rows(beside.grid))
            for note in beside.grid.notes:
                page().print(in_shell(note))


def _note_comparison(done: Release) -> None:
    """Of a period whose people are declared to be in no other: in part that was checked, and the rest is declared."""
    from hubbub.ledger.ledger import Ledger
    from hubbub.ledger.overlap import COMPARED

    place = done.reservation
    if place is not None and Ledger(place.ledger).account(place.dataset).part_of is not None:
        print_text(f"Note: {COMPARED}.")


def _warn_if_weak_in_total(done: Release) -> None:
    """Each release of a series may promise enough, and all of them together little: that is said whenever it is so."""
    from hubbub.numeric.format import short
    from hubbub.protocol.weakness import LARGEST_EPSILON

    if (
        done.reservation is not None
        and done.reservation.composed_loss is not None
        and done.reservation.composed_loss > LARGEST_EPSILON
    ):
        name, loss = done.reservation.dataset, short(done.reservation.composed_loss, 3)
        print_text(
            f"Note: all releases of {name} together promise little: epsilon = {loss} is above {LARGEST_EPSILON}. See "
            "hubbub ledger show, and cap what is still to come with hubbub ledger policy."
        )


def _as_json(done: Release, files: dict[str, str]) -> dict[str, object]:
    from hubbub.certificate.certificate import about
    from hubbub.guarantees.promise_order import requested_first

    return {
        **files,
        "dataset": done.reservation.dataset if done.reservation else None,
        **done.result.facts(),
        "guarantees": [about(step.conclusion, step.people) for step in requested_first(done.promises)],
    }


def _print_answer(done: Release, files: dict[str, str], *, explained: bool) -> None:
    """The answer first: verdict, numbers, a sentence for each promise, the files, the next command."""
    from hubbub.certificate.explanation import crowd_sentence, meaning, reading_rules
    from hubbub.guarantees.promise_order import in_brief, requested_first, requested_promises

    console = page()
    promises = list(requested_first(done.promises))
    brief = f", with {in_brief(promises[0].conclusion)}" if promises else ""
    console.verdict(f"Published: {display(done.bound.description.title)}{brief}.\n")
    grid = done.result.display(_FIRST)
    total = len(done) if grid.total is None else grid.total
    console.print(_rows(grid))
    if total > len(grid.rows):
        console.print(f"and {total - len(grid.rows):,} more rows.")
    console.print()
    words = done.bound.description
    meant = words.interval_headline or words.intervals
    cut = words.headline.partition(". ")[2] if words.interval_headline else ""  # what counts as something else
    short = (*(f"{sentence}." for sentence in (cut, meant) if sentence), *grid.cautions)
    for sentence in (*done.result.sentences(), *(grid.notes if explained else short)):
        console.print(sentence)
    console.print(f"A person: {display(words.person)}.")
    for note in reading_rules(done.reading):
        console.print(f"Taken for granted: {display(note)}.")
    if _may_all_be_empty(done):
        console.print(ALL_EMPTY)
    console.print()
    for step in promises if explained else requested_promises(promises):
        read = meaning(step.conclusion, step.people)
        known = (
            " ".join(filter(None, (read.crowd, crowd_sentence(step))))
            if step.conclusion.notion == "zero-knowledge"
            else ""
        )
        console.print(f"Promise ({step.conclusion.notion}): {read.promised} {known}".rstrip())
    if promises and (smaller := _delta_allowed(promises[0])):
        console.print(smaller)
    if explained:
        _print_details(done, promises)
    if files:
        console.print(f"\nFiles: {', '.join(files.values())}", soft_wrap=True)
    if done.reservation is not None:
        console.print(
            f"Ledger: release {done.reservation.release} of {done.reservation.dataset}{_given_up(done.reservation)}."
            f"{_so_far(done.reservation)}",
            soft_wrap=True,
        )
        console.print(f"Next: {_check_command(done.reservation.ledger, files)}", soft_wrap=True)
    if files and not explained:
        command = f"hubbub explain {shlex.quote(files['certificate'])}"
        console.print(f"More about these numbers: the report, or {command}", soft_wrap=True)


def _may_all_be_empty(done: Release) -> bool:
    """Whether no published interval of a count is above 0: seen in what is published, so that nothing else is told."""
    sheet = done.sheet
    if not 0 < sheet.rows <= _LOOKED_THROUGH or "low" not in sheet.schema.names:
        return False
    lows = [low for batch in sheet.batches() for low in batch.column("low").to_pylist()]
    return all(isinstance(low, int) and low <= 0 for low in lows)


def _delta_allowed(step: Derivation) -> str:
    """Why another delta is told than the one that was typed; empty where it is the same, or none was."""
    from hubbub.numeric.exact import rational
    from hubbub.numeric.format import chance

    context = click.get_current_context(silent=True)
    typed = None if context is None else context.params.get("delta")
    delta = getattr(step.conclusion, "delta", None)
    if not typed or not delta or chance(delta) == chance(rational(typed)) or delta >= rational(typed):
        return ""
    return f"Delta, {chance(delta)}, is less than the {chance(rational(typed))} that you allowed: no more was needed."


def _given_up(reservation: Reservation) -> str:
    """Which earlier releases cost nothing, so that nobody takes the number for what was spent."""
    from hubbub.ledger.ledger import Ledger

    if reservation.release == 1:
        return ""
    records = Ledger(reservation.ledger).account(reservation.dataset).records
    free = [
        str(each.release.number) for each in records if not each.is_spent and each.release.number < reservation.release
    ]
    if not free:
        return ""
    if len(free) > _FEW_GIVEN_UP:
        return f" ({len(free):,} earlier ones were given up and cost nothing)"
    several = len(free) > 1
    which = f"releases {', '.join(free[:-1])} and {free[-1]} were" if several else f"release {free[0]} was"
    return f" ({which} given up and {'cost' if several else 'costs'} nothing)"


def _so_far(reservation: Reservation) -> str:
    """What all releases of a dataset lose together, where that is a number."""
    from hubbub.numeric.exact import Infinite
    from hubbub.numeric.format import short

    loss = reservation.composed_loss
    return "" if loss is None or isinstance(loss, Infinite) else f" All of them together: epsilon {short(loss, 3)}."


def _print_details(done: Release, promises: Sequence[Derivation]) -> None:
    """What the numbers of a promise are, and what nobody promises."""
    from hubbub.certificate.explanation import crowd_sentence, in_numbers, meaning

    console = page()
    for step in promises:
        read = meaning(step.conclusion, step.people)
        more = " ".join(filter(None, (read.crowd, crowd_sentence(step))))
        console.print(f"\nIn numbers: {display(in_numbers(step))}. {more}".rstrip())
        console.print(f"Not promised: {read.not_promised}")


def _check_command(ledger: Path, files: dict[str, str]) -> str:
    """How a reader checks the release; the key of another ledger than your own has to be named."""
    from hubbub.ledger.ledger import Ledger

    book = Ledger(ledger)
    key = "" if book.path == Ledger().path else f" --key {book.public_key()}"
    return f"hubbub verify {shlex.quote(files['certificate'])}{key}" if files else "hubbub ledger show"


def _rows(grid: DisplayTable) -> Rows:
    """A grid as a table of the terminal."""
    from hubbub.cli.terminal.table import Column
    from hubbub.cli.terminal.table import Table as Rows

    table = Rows(
        *(Column(display(name), most=_LABEL) for name in grid.keys),
        *(Column(name, right=True) for name in grid.numbers),
    )
    for keys, numbers, _ in grid.rows:
        table.add(*("(missing)" if key is None else display(key) for key in keys), *map(display, numbers))
    return table
