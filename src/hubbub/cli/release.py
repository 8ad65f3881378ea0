"""``hubbub release``: publish statistics about people. One command for each kind of release."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
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
from hubbub.protocol.option import WHERE, Option, options_of

if TYPE_CHECKING:
    from hubbub.cli.terminal.table import Table as Rows
    from hubbub.guarantees.derivation import Derivation
    from hubbub.protocol.release import Publish, Release, Reservation
    from hubbub.protocol.result import Comparison, DisplayTable
    from hubbub.protocol.spec import Kind
    from hubbub.serialization.canonical import Plain

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
TABLE: Final = options_of(open_table)
FORM: Final = tuple(
    option for option in TABLE if option.name in ("table", "delimiter", "encoding", "no_header", "missing")
)
"""How a file is read, the same wherever one is."""
ANY: Final = (
    Option("out", "DIR", "The folder for the release and its papers.", required=True, group=WHERE),
    NAMED,
    Option(
        "series", "NAME", "Publish a period of this series, which says what is counted.", group=WHERE, advanced=True
    ),
    Option("period", "PERIOD", "With `series`: which period, like 2026-11.", group=WHERE, advanced=True),
    Option("dry_run", None, "Say what would be published and spent; do nothing.", group=WHERE),
    Option("ledger", "FILE", "Another ledger than your own.", group=WHERE, advanced=True),
    Option("title", "WORDS", "The title of the report, in place of ours.", group=WHERE),
    Option("subtitle", "WORDS", "A line below it.", group=WHERE, advanced=True),
    Option("date", "DATE", "The date that the report shows, as you declare it.", group=WHERE, advanced=True),
    Option("link", "ADDRESS", "Where the report says that there is more.", group=WHERE, advanced=True),
    Option("note", "WORDS", "A note of yours in the report.", many=True, group=WHERE, advanced=True),
    Option(
        "label",
        "COLUMN=WORDS",
        "What the report calls a column, like age='Age in years'.",
        many=True,
        group=WHERE,
        advanced=True,
    ),
    Option(
        "words",
        "FILE",
        "A TOML file with all of these: title, subtitle, publisher, date, link, language, notes, [labels].",
        group=WHERE,
        advanced=True,
    ),
    Option("language", "en|de", "The language of the report; the certificate is English.", group=WHERE, advanced=True),
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
        named = {name: options.pop(name) for name in ("series", "period")}
        if named["series"] is not None:
            _release_period(kind, file, as_json, options, **named)
        elif named["period"] is not None:
            raise WrongUse("`period` is of a series; add `series=NAME`, or leave it out")
        else:
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


def _opened(kind: Kind, file: Any, options: dict[str, Any]) -> _Opened:
    """Open what the release is of. What is said about opening is taken out of `options`, and for a table the person
    column is put there."""
    from hubbub.opening import named_after

    named = {name: options.pop(name) for name in ("dataset", "ledger")}
    if kind.data == "table":
        from hubbub.engines.query import RowsMove, is_query, remarks

        given = {name: options.pop(name) for name in (option.name for option in TABLE)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RowsMove)
            people = open_table(file, **given, **named)
        for remark in (*remarks(given["table"]), *remarks(given["join"])):
            print_text(f"Note: {remark}.")
        if people.dictionary.where:
            print_text(f"Note: what is not said here is read from {display(people.dictionary.where)}.")
            if isinstance(options.get("spec"), str):
                from hubbub.kinds.questions.request import from_file

                options["spec"] = from_file(options["spec"])
        options |= people.dictionary.fill_options(kind.options, options, people.engine.columns())
        options["person"] = people.person
        name = (
            named["dataset"]
            or dict(people.dictionary.opening).get("dataset")
            or (None if is_query(given["table"] or "") else named_after(file, given["table"]))
        )
        return _Opened(people.publish, people.engine, name, given["disjoint"], people.possible_person)
    from hubbub.opening import open_graph

    named["dataset"] = named["dataset"] or (f"{EXAMPLE}-friends" if file == EXAMPLE else None)
    reading = {name: options.pop(name) for name in ("header", "vertex_file")}
    network = open_graph(graph_given(file), columns=two_columns(options.pop("columns")), **reading, **named)
    return _Opened(network.publish, network.links, named["dataset"] or named_after(file))


@contextmanager
def _unpublished() -> Iterator[None]:
    """An interrupt in here says that nothing is published, and whatever else is known."""
    try:
        yield
    except KeyboardInterrupt as stopped:
        raise KeyboardInterrupt(*(stopped.args or ("nothing published",))) from None


def publish(kind: Kind, file: object, as_json: bool, compare: bool, options: dict[str, Any]) -> None:
    """Open what a release is of, make it, write it, and say what was written."""
    from hubbub.ledger.ledger import Ledger
    from hubbub.protocol.capabilities import TakesLong
    from hubbub.protocol.weakness import weaknesses
    from hubbub.publication.files import check_format
    from hubbub.publication.staging import prepared
    from hubbub.release import save
    from hubbub.report.heading import heading

    out, form, replace, yes, explained, dry_run = (
        options.pop(name) for name in ("out", "format", "replace", "yes", "explain", "dry_run")
    )
    declared = {name: options.pop(name) for name in ("title", "subtitle", "date", "link", "language")}
    notes, labels, file_of_words = (options.pop(name) for name in ("note", "label", "words"))
    with _unpublished():
        ledger = Ledger(options["ledger"])
        opened = _opened(kind, file, options)
        asked = kind.ask(**options)
        check_format(form)
        said = heading(**declared, notes=notes, labels=labels, file=file_of_words)
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
    with prepared(Path(out), asked.size_hint(), replace=replace, parts=options.get("parts") is not None, ledger=ledger):
        if isinstance(asked, TakesLong) and (ahead := asked.duration_note()):
            print_text(ahead)
        with _unpublished():
            done = opened.publish(bound, accept_weak=True)  # if it is weak, somebody just confirmed it
        files = save(done, out, form=form, replace=replace, heading=said)
    beside = kind.compare(done.spec) if compare and kind.compare is not None else None
    answer(done, files, as_json=as_json, explained=explained, beside=beside)


def _release_period(kind: Kind, file: str, as_json: bool, options: dict[str, Any], series: str, period: str) -> None:
    """A period of a series: what is counted, and of whom, was declared when it was started."""
    from hubbub import series as planned
    from hubbub.ledger.ledger import Ledger
    from hubbub.protocol.weakness import weak_unit
    from hubbub.publication.files import check_format
    from hubbub.publication.staging import prepared
    from hubbub.release import save
    from hubbub.report.heading import heading

    ledger = Ledger(options["ledger"])
    reservation, record = ledger.series(series)
    declared = planned.series_of_record(record)
    if kind.name != declared.kind:
        raise WrongUse(f"the series {series[:100]} is of a {declared.kind}, not of a {kind.name}; ask for that")
    if period is None:
        raise WrongUse(f"say which period of the series, like `period={declared.calendar.first}`")
    if options["dataset"] not in (None, reservation.dataset):
        raise WrongUse(f"the series {series[:100]} is of the people of {reservation.dataset}; leave out `dataset`")
    if options["date"] is not None and options["date"] == declared.date:
        raise WrongUse(
            f"the series says that {declared.date} dates its rows; leave out `date`, which the report would show"
        )
    _check_declared(kind, options, declared.unit.person, keeps_one_row=declared.may_keep_one_row)
    said = heading(
        **{name: options[name] for name in ("title", "subtitle", "date", "link", "language")},
        notes=options["note"],
        labels=options["label"],
        file=options["words"],
    )
    check_format(options["format"])
    given = {option.name: options[option.name] for option in TABLE}
    given |= {"person": declared.unit.person, "rows_are_people": declared.unit.person is None}
    drawn = {int(each.body["period"]) for each in record.periods}
    opened: Any = None
    reading: Mapping[str, Plain] = {}
    compared: dict[str, Any] = {}
    if declared.calendar.index(period) not in drawn:  # else no table is read
        people = open_table(file, **given, dataset=reservation.dataset, ledger=options["ledger"])
        opened, reading, named = people.engine, people.reading, people.possible_person
        compared = people.ids()
        confirm_weak(weak_unit(declared.unit.people, named), options["yes"])
    if options["dry_run"]:
        raise WrongUse("a period of a series costs nothing more; leave out `dry_run`, or see hubbub series show")
    out, size = options["out"], 1 << 20
    with prepared(Path(out), size, replace=options["replace"], ledger=ledger):
        with _unpublished():
            done = planned.release(
                opened,
                series,
                period,
                ledger=options["ledger"],
                **compared,
                reading=reading,
                one_row_per_person=bool(options.get("one_row_per_person")),
                accept_weak=True,
                beside=Path(out).absolute().parent,
            )
        files = save(done, out, form=options["format"], replace=options["replace"], heading=said)
    answer(done, files, as_json=as_json, explained=options["explain"])


def _check_declared(kind: Kind, options: dict[str, Any], person: str | None, *, keeps_one_row: bool) -> None:
    """Refuse what the series says already; one row of several may be kept where it expects one."""
    context = click.get_current_context()
    typed = click.core.ParameterSource.COMMANDLINE
    for option in kind.options:
        if option.name == "one_row_per_person" and keeps_one_row:
            continue
        if context.get_parameter_source(option.name) is typed:
            raise WrongUse(f"the series says what is counted, and how; leave out `{option.name}`")
    if options["join"] is not None or options["on"] is not None:
        raise WrongUse("a series is of one table in every period; leave out `join`, and give the joined table")
    if options["disjoint"] is not None:
        raise WrongUse("the series says in how many of its periods a person counts; leave out `disjoint`")
    if options["person"] not in (None, person) or (options["rows_are_people"] and person is not None):
        raise WrongUse("the series says who is a person; leave out `person` and `rows_are_people`, or name the same")


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
    from hubbub.guarantees.promise_order import in_brief, requested, requested_first

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
    for step in promises if explained else requested(promises):
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
