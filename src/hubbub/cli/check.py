"""``hubbub check``: a private look at a table before anything is published. Nothing is entered, nothing is written."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import display, echo, examples, json_option, options, page, print_json, print_text
from hubbub.cli.proposals import (
    BOUND,
    PROMISE,
    examined,
    groups_hidden,
    mean_command,
    percent_of,
    propose_command,
    propose_declaration,
    propose_range,
    reading_suffix,
    weight_column,
)
from hubbub.cli.release import READING, TABLE
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.runtime.interruption import interruptible
from hubbub.runtime.progress import working
from hubbub.tables.privacy_unit import check_one_unit

if TYPE_CHECKING:
    from hubbub.tables.inspection import Cells, Crowds, Inspection, Partners, Persons

PRIVATE: Final = (
    "Private: this is about the people in the table as they are, for you alone; publish none of it, and no bins made "
    "from it."
)
ONCE: Final = (
    "What has --epsilon adds up with whatever else has it that you publish about these people later. Exact counts of "
    "crowds (--crowd K) are a choice that you make once: no second such table can follow."
)
_CSV: Final = ("delimiter", "encoding", "no_header")
_COLUMNS: Final = 40  # that are listed
_UNIQUE: Final = {
    True: "That each person has one row (--unique-person) is true of this table.",
    False: (
        "That each person has one row (--unique-person) is false of this table: leave it out, or the promise does not "
        "hold."
    ),
}

_LOOKED: Final = tuple(
    option for option in (*TABLE, *READING) if option.name in (*_CSV, "table", "missing", "join", "on")
)
"""How a table may be read in a look, before it is declared."""


class LikeARelease(click.Command):
    """A command that takes a release's options too, so that a release is checked by changing two words of it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {name for param in self.params for name in param.opts}
        if any(word.startswith("--") and word.partition("=")[0] not in {*own, "--help"} for word in args):
            self.params = [*self.params, *_of_releases(own)]
        return super().parse_args(ctx, args)


def _of_releases(own: set[str]) -> list[click.Option]:
    """The options of releases of tables that a look has no use for, each once; help does not show them."""
    from hubbub import registry
    from hubbub.cli.release import command

    found: dict[str, click.Option] = {}
    for kind in map(registry.kind, registry.names()):
        for param in command(kind).params if kind.data == "table" else ():
            if isinstance(param, click.Option) and not own.intersection(param.opts):
                param.required, param.hidden, param.default = False, True, None
                param.type = param.type if param.is_flag else click.STRING  # what it says is not looked at
                found.setdefault(param.opts[0], param)
    return list(found.values())


@click.command(
    "check",
    cls=LikeARelease,
    epilog=examples(
        "hubbub check hubbub-demo/millbrook.parquet",
        "hubbub check hubbub-demo/millbrook.parquet --by department --by salary:0..300000:10000",
    ),
)
@click.argument("file")
@click.option("--person", metavar="COLUMN", help="The column that says who a row is about.")
@click.option("--rows-are-people", is_flag=True, help="Each row is another person.")
@click.option("--by", metavar="SPEC", multiple=True, help="A column and its bins, as a release takes them.")
@click.option("--where", metavar="CONDITION", help="A condition, as a release takes it: does anybody meet it?")
@click.option("--of", metavar="RANGE", help="What is to be measured, like salary:0..300000:100: do values lie there?")
@click.option("--columns", metavar="LIST", help="The columns of records, as release records takes them.")
@click.option("--crowd", metavar="K", help="With --columns: the size of a crowd.")
@click.option("--keep", metavar="LIST", help="With --columns: columns kept untouched. How alike are crowds in them?")
@click.option(
    "--dictionary", metavar="FILE", help="The data dictionary, if not datapackage.json beside the file; or none."
)
@partial(options, declared=_LOOKED)
@json_option
def check(
    file: str,
    person: str | None,
    rows_are_people: bool,
    join: str | None,
    on: str | None,
    by: tuple[str, ...],
    where: str | None,
    of: str | None,
    columns: str | None,
    crowd: str | None,
    keep: str | None,
    dictionary: str | None,
    as_json: bool,
    **words: Any,
) -> None:
    """Look at a table before you publish anything about it.

    It tells what is read and what is left out, by which rule; which cells cannot be read as declared, and what they
    look like (digits and letters masked); how many rows people have; how much would be shown; where bins, condition or
    range and the data do not meet, so that zeros would be published and paid for; where a data dictionary beside the
    table and the table do not meet; and a command that you could run next. What it prints is private: it comes from the
    data as it is. Nothing is entered in the ledger.
    A table of a database is looked at where it is: FILE is then its address, with --table.
    The options of a release are taken too, so that "check" in the place of "release histogram" looks at the same.
    """
    from hubbub.dictionary.datapackage import find
    from hubbub.engines.opening import open_inspection

    how = {name: words.pop(name) for name in (*_CSV, "table", "missing")}
    typed = {name: value for name, value in (how | {"join": join, "on": on}).items() if value and name != "table"}
    unique = bool(words.pop("unique_person", None))
    check_one_unit(person, rows_are_people)
    declared = find(file, how["table"], dictionary)
    said = declared.open_words({"person": person, "rows_are_people": rows_are_people, **how})
    how = {name: tuple(said[name]) if name == "missing" else said[name] for name in how}
    join, on = join or said.get("join"), on or said.get("on")
    person, rows_are_people = (on or person) if join or on else said["person"], said["rows_are_people"]
    promise_words = {name: words[name] for name in PROMISE if words.get(name)}
    unused = sorted(
        f"--{name.replace('_', '-')}" for name, value in words.items() if value and name not in promise_words
    )
    if unused:
        print_text(f"Note: a look has no use for {', '.join(unused)}; the release will.")
    separated = _separator(file, how) if join is None else None
    if separated is not None:
        how["delimiter"] = typed["delimiter"] = separated
    try:
        with working("Looking"), interruptible():
            found = open_inspection(
                file,
                by,
                person,
                where=where,
                of=of,
                join=join,
                on=on,
                by_name=not rows_are_people,
                declared=declared,
                **how,
            )
    except (WrongUse, Refused):
        if not as_json:
            _first_line(file, how)
        raise
    guessed = found.persons is not None and on is None and person is None
    person = on or person or (found.persons.column if found.persons is not None else None)
    if unique and found.persons is None:
        raise WrongUse(
            "`unique_person` declares that no id comes twice; say which column has the ids (`person=COLUMN`)"
        )
    asks = bool(found.possible_ids) and person is None and not rows_are_people  # nobody said yet whom rows are about
    declare = propose_declaration(found, file, how, typed)
    command = (
        None
        if asks
        else propose_command(
            found, file, person, by, how | {"on": on, "dictionary": dictionary}, promise_words, declare, unique=unique
        )
    )
    of_records = columns is not None and crowd is not None and "box" not in words
    crowds = _crowds(file, person, columns or "", crowd, keep, how) if of_records else None
    if as_json:
        told = {"unique_person": found.persons.once} if unique and found.persons is not None else {}
        hidden = None if command is None else groups_hidden(found, command)
        print_json(
            found.as_json()
            | {"declare": declare, "command": command, "hidden": None if hidden is None else hidden.as_json()}
            | told
            | ({} if crowds is None else {"records": crowds.as_json()})
        )
        return
    echo(PRIVATE)
    if separated is not None:
        echo(
            f"Cells are separated by a {separated}, as the first line shows; declare it with --delimiter {separated}, as below."
        )
    for sentence in found.broken:
        echo(display(sentence))
    if declared.fields and not found.broken and not (by or where or of or join):
        echo(f"The table is as {display(declared.where)} says, as far as that can be looked at.")
    if guessed:
        echo(
            f"By its name, the column {display(person or '')} says who a row is about, and is taken so here. If each row is "
            "another person all the same, look again with --rows-are-people."
        )
    if found.unnamed_person is not None:
        echo(
            f"By its name, the column {display(found.unnamed_person)} may say who a row is about. Whoever has several rows gets "
            "less if each counts as another person: a release asks, and --yes says that it is so."
        )
    for sentence in _sentences(found):
        echo(sentence)
    if unique and found.persons is not None:
        echo(_UNIQUE[found.persons.once])
    _tall_cells(file, how)
    for sentence in () if crowds is None else _of_crowds(crowds):
        echo(sentence)
    _draw(found)
    _draw_kept(found)
    _draw_values(found, of)
    if asks:
        echo(
            f"\nMore values than a category has, and some of them in several rows: {', '.join(map(display, found.possible_ids))}. "
            "Does one of these columns say who a row is about? Then look again with --person and its name: whoever has "
            "several rows gets less if each counts as another person. If each row is another person, look again with "
            "--rows-are-people. A release does not look for such columns: it knows names alone, since a refusal must not "
            "depend on the people in a table, and takes what you say."
        )
    elif command is None and not by and of is None:
        echo(
            "\nNo command is proposed, because no column has few values: name one and its bins, like --by age:0..90:10."
        )
    elif command:
        if declare is not None:
            echo(f"\nFirst write down how the table is read, for all releases: {declare}")
        echo(f"\nYou could run: {command}")
        if bound := re.search(r" --(distinct|rows-per-person) (\d+) ", command):
            _of_bound(*bound.groups())
        if (hidden := groups_hidden(found, command)) is not None:
            echo(hidden.sentence())
        echo("Choose the bins by what is public about the column, not by what stands above.")
        if "--delta" in command:
            echo(
                "Values that are public, like the answers of a form, are better listed: with --by COLUMN=a,b,c and without "
                "--delta no bin is hidden."
            )
        if not by and of is None and (weight := weight_column(found, person)) is not None:
            echo(
                f"{display(weight)} may be a survey weight: with --weight {display(weight)}:0..HIGH:STEP a count, fraction, "
                "mean or sum counts people by it. HIGH is public, and the weights were fixed beforehand, one by one: not "
                "raked, post-stratified or scaled to a total."
            )
        if not by and of is None and (measured := propose_range(found, person)) is not None:
            echo(
                f"For an average: {mean_command(command, measured)} (or sum for mean, of values from 0), with a range that is public."
            )
            echo("By groups, list them: --by COLUMN=a,b,c. No mean is told of groups that were found in the data.")
        echo(ONCE)
        if person is None and not rows_are_people:
            echo(
                "Each row is taken for another person here. If people have several rows, name the column that says who "
                "(--person COLUMN), and look again."
            )


def _crowds(
    file: str, person: str | None, columns: str, crowd: str | None, keep: str | None, how: dict[str, Any]
) -> Crowds:
    """What records with these columns would keep, for the steward."""
    from hubbub import registry
    from hubbub.engines.opening import open_source
    from hubbub.noise.source import SystemSource
    from hubbub.protocol.capabilities import InspectsCrowds

    spec = registry.kind("records").from_options(columns=columns, crowd=crowd, keep=keep, person=person)
    assert isinstance(spec, InspectsCrowds)
    with working("Looking"), interruptible():
        found: Crowds = spec.inspect_crowds(open_source(file, **how), SystemSource())
    return found


def _of_crowds(crowds: Crowds) -> Iterator[str]:
    share = percent_of(crowds.kept / max(crowds.people, 1))
    yield f"Records that at least {crowds.crowd} people share: {crowds.kept:,} of {crowds.people:,} people ({share})."
    for each in crowds.diversity:
        if each.least_values is None or each.largest_distance is None:
            continue
        yield (
            f"{display(each.column)}, untouched: the people of a crowd have at least {each.least_values:,} different "
            f"values (l-diversity), and those of a crowd and of everybody differ by at most "
            f"{float(each.largest_distance):.3f} (t-closeness)."
        )
        if each.people_alike:
            yield (
                f"  {each.people_alike:,} people stand in a crowd of one value: whoever finds the crowd knows it of each "
                "of them. Make keys coarser, or leave the column out."
            )


def _first_line(file: str, how: dict[str, Any]) -> None:
    """What is known of a CSV that cannot be opened, for whoever has to mend it: its columns, and open marks."""
    from hubbub.engines.files.csv_file import first_names, form, kind
    from hubbub.engines.files.files import open_marks

    names, marks = [], []
    with suppress(HubbubError):
        declared = form(**{name: how[name] for name in _CSV})
        if not os.path.isfile(file) or kind(file) not in (".csv", ".tsv", ".txt"):
            return
        if declared.names is None:
            names = first_names(file, declared.delimiter or ("\t" if kind(file) == ".tsv" else ","), declared)
        marks = open_marks(file, declared)
    if names or marks:
        echo(PRIVATE)
    if names:
        echo(f"The first line has {len(names):,} cells: {', '.join(map(display, names[:_COLUMNS]))}")
    for address, line in marks:
        echo(f"A quotation mark that opens a cell on line {line:,} of {display(address)} does not close as it should.")


def _separator(file: str, how: dict[str, Any]) -> str | None:
    """What seems to separate the cells of a CSV whose first line has no comma; a release is told, and never guesses."""
    from hubbub.engines.files.csv_file import MARKS, first_names, form, kind

    with suppress(HubbubError):
        declared = form(**{name: how[name] for name in _CSV})
        if kind(file) == ".csv" and os.path.isfile(file) and declared.delimiter is None and declared.names is None:
            names = first_names(file, ",", declared)
            there = [word for word, mark in MARKS.items() if len(names) == 1 and mark in names[0]]
            return there[0] if len(there) == 1 else None
    return None


def _tall_cells(file: str, how: dict[str, Any]) -> None:
    """Cells of a CSV that run over several lines: two stray quotation marks make one of all the rows between them."""
    from hubbub.engines.files.csv_file import form, kind
    from hubbub.engines.files.files import tall

    with suppress(HubbubError):
        if kind(file) not in (".csv", ".tsv", ".txt"):
            return
        for address, many, line, lines in tall(file, form(**{each: how[each] for each in _CSV})):
            echo(
                f"{many:,} {'cell runs' if many == 1 else 'cells run'} over several lines in {display(address)}, the longest "
                f"over {lines:,} from line {line:,} on. If rows of other people stand in it, two stray quotation marks "
                "took them for one cell: remove the marks."
            )


def _sentences(found: Inspection) -> Iterator[str]:
    if found.partners is not None:
        yield from _of_partners(found.partners)
        if not found.partners.can_join:
            return
    yield f"{found.rows:,} rows are read."
    for rule, many in found.left_out:
        yield f"{many:,} records are left out: {rule}."
    if any("encoding" in rule for rule, _ in found.left_out):
        yield "If the file is not in UTF-8, declare it: hubbub describe FILE --encoding latin-1, or cp1252 if it comes from Windows."
    if found.persons is not None:
        yield from _of_people(found.persons)
    for cells in found.columns:
        if cells.spec is not None:
            yield from _of_bins(cells, found.rows)
    if found.measured is not None:
        yield from _of_bins(found.measured, found.rows, "outside of the range", "range")
    if found.met:
        who = "rows" if found.persons is None else "people"
        yield f"{found.met:,} {who} meet the condition."
    yield from map(display, found.misses())
    spelled = [cells.missing_option() for cells in examined(found) if cells.spelled]
    if spelled:
        yield f"If they are missing, declare it: {' '.join(f'--missing {shlex.quote(each)}' for each in spelled)}"


def _of_partners(met: Partners) -> Iterator[str]:
    yield f"The first table has {met.people:,} people by {display(met.on)}; {met.idle:,} have no row in the second."
    if not met.can_join:
        yield (
            f"{met.repeated:,} of them have several rows there, and {met.nobody:,} rows there have no {display(met.on)}: a "
            "release is refused until each person has one row. Mend the first table, and look again."
        )
    if met.rows_without:
        yield (
            f"{met.rows_without:,} rows of the second table, of {met.people_without:,} people, find no partner in the "
            "first: they count, and its columns are missing there."
        )


def _of_people(persons: Persons) -> Iterator[str]:
    if persons.nobody:
        yield f"{persons.nobody:,} rows have no {persons.column}, and would be left out."
    if persons.once:
        yield f"{persons.people:,} people by {persons.column}, each with one row."
        return
    most = max((rows for rows, _ in persons.rows), default=0)
    several = sum(people for rows, people in persons.rows if rows > 1)
    have = "has" if several == 1 else "have"
    yield (
        f"{persons.people:,} people by {persons.column}: {several:,} {have} several rows, at most {most:,}; count each in at "
        "most B bins (--distinct B), count rows, at most M of each (--rows-per-person M), or draw one row of each at random "
        "(--one-row-per-person)."
    )


def _of_bound(option: str, most: str) -> None:
    """What a proposed bound on the bins or rows of a person counts, and by what it is chosen."""
    if option == "distinct":
        echo(
            f"It counts how many people were ever in each bin, each person in at most {most} bins. To count rows, such as "
            f"visits, put --rows-per-person {BOUND} in place of --distinct {most}, list the bins and leave out --delta."
        )
    echo(f"The {most} does not come from the cells: choose this bound by what is public.")


def _draw_kept(found: Inspection) -> None:
    """What bounds on the rows and bins of a person would keep, as it is: a bound that is chosen by it tells of it."""
    from hubbub.cli.terminal.table import Table as Rows

    if found.persons is None or found.persons.once:
        return
    console, people = page(), max(found.persons.people, 1)
    console.print(
        "\nWhat a bound on each person's rows, or bins, would keep (a bound that is chosen by this leaks it):"
    )
    grid = Rows("at most", "rows", "all rows of", *(["bins", "all bins of"] if found.bins_kept else []), indent=" ")
    bins = found.bins_kept or (None,) * len(found.persons.rows_kept)
    for rows, own in zip(found.persons.rows_kept, bins, strict=True):
        cells = ["all" if rows.most is None else str(rows.most), percent_of(rows.kept / max(rows.of, 1))]
        cells.append(f"{percent_of(rows.people / people)} of people")
        if own is not None:
            there = max(found.bins_kept[-1].people, 1)
            cells += [percent_of(own.kept / max(own.of, 1)), f"{percent_of(own.people / there)} of people"]
        grid.add(*cells)
    console.print(grid)


def _draw_values(found: Inspection, of: str | None) -> None:
    """The same for caps on what a person's values sum up to."""
    from hubbub.cli.terminal.table import Table as Rows
    from hubbub.numeric.exact import to_text
    from hubbub.tables.bounded_column import measured

    if not found.values_kept or of is None:
        return
    range_, people = measured(of), max(found.values_kept[-1].people, 1)
    console = page()
    console.print(f"\nWhat a cap on each person's total of {display(range_.column)} would keep (the same leak):")
    grid = Rows("at most", "of the sum", "nothing is cut of", indent=" ")
    for kept in found.values_kept:
        cap = "all" if kept.most is None else f"{to_text(kept.most * range_.high)}"
        grid.add(cap, percent_of(kept.kept / max(kept.of, 1)), f"{percent_of(kept.people / people)} of people")
    console.print(grid)


def _of_bins(cells: Cells, rows: int, outside: str = "in no listed bin", after: str = "bins") -> Iterator[str]:
    sentences = [
        f"{many:,} {text} ({percent_of(many / max(rows, 1))})"
        for many, text in (
            (cells.missing, "missing"),
            (cells.unreadable, "cannot be read as declared"),
            (cells.outside, outside),
        )
        if many
    ]
    yield f"{cells.spec}: {', '.join(sentences) or 'every cell is read and inside'}."
    if cells.shapes:
        shapes = ", ".join(f"{shape} ({many:,})" for shape, many in cells.shapes)
        yield f"  Unreadable ones look like {shapes}; 9 is any digit, x any letter."
    if cells.unreadable and cells.reads is not None:
        how = f"with {cells.reads} after the {after}" if reading_suffix(cells) else "as they are"
        yield f"  Nearly all can be read {how}."


def _draw(found: Inspection) -> None:
    from hubbub.cli.terminal.table import Table as Rows

    console = page()
    if found.partners is not None and not found.partners.can_join:
        return
    if not any(cells.spec for cells in found.columns):
        grid = Rows("column", "missing", "values", "could be read as")
        for cells in found.columns[:_COLUMNS]:
            grid.add(
                display(cells.column),
                f"{cells.missing:,}",
                f"about {min(cells.values or 0, found.rows):,}",
                cells.reads or "",
            )
        console.print(grid)
        if len(found.columns) > _COLUMNS:
            more = ", ".join(display(cells.column) for cells in found.columns[_COLUMNS:])
            console.print(f"and {len(found.columns) - _COLUMNS:,} more columns: {more}.")
        return
    if not found.fares:
        console.print("Nobody would be in any bin.")
        return
    rates = list(dict.fromkeys(fare.rate for fare in found.fares))
    bins = "1 bin" if found.bins == 1 else f"{found.bins:,} bins"
    console.print(f"\nWith crowds of k, this share of {bins} would be shown / of the people in them:")
    grid = Rows("k", *("everybody" if rate == 1 else f"sample {float(rate):g}" for rate in rates), indent=" ")
    for k in dict.fromkeys(fare.crowd for fare in found.fares):
        each = {fare.rate: fare for fare in found.fares if fare.crowd == k}
        grid.add(str(k), *(f"{percent_of(each[rate].bins)} / {percent_of(each[rate].people)}" for rate in rates))
    console.print(grid)
