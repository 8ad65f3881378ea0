"""Tables, networks and ballots, opened for releases: what Python and the commands begin with.

A graph that was opened: the file of links, or the object, and what it is for the ledger.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from hubbub.dictionary.datapackage import find, find_second
from hubbub.engines.identity import of_files
from hubbub.errors import WrongUse
from hubbub.kinds.table import Table, possible_person
from hubbub.ledger.ledger import Ledger
from hubbub.numeric.exact import Exact, rational, to_text
from hubbub.protocol.bound import Bound
from hubbub.protocol.option import WHERE, WHOSE, Option, option_help
from hubbub.protocol.release import CLAMPED, JOIN, MISSING, UNLISTED, UNNAMED_PERSON, UNREADABLE, Release
from hubbub.protocol.spec import Spec
from hubbub.protocol.weakness import check_accepted
from hubbub.release import execute
from hubbub.runtime.frozen import dataclass
from hubbub.runtime.interruption import interruptible
from hubbub.runtime.progress import working
from hubbub.serialization.canonical import Plain
from hubbub.tables.cell_format import Missing
from hubbub.tables.engine import Engine
from hubbub.tables.identity import Identity
from hubbub.tables.privacy_unit import check_one_unit, declared_collected
from hubbub.tables.schema import column, unnamed_person


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Opened:
    """What `hubbub.kinds.network.Links` asks for."""

    given: object
    two: tuple[str, ...] | None
    header: bool | None
    vertex_file: str | os.PathLike[str] | None

    def columns(self) -> dict[str, object]:
        """A graph has no schema."""
        return {}

    def identity(self) -> Identity:
        """The files of links and vertices; an object has no identity but the name that somebody gives it."""
        if not isinstance(self.given, str | os.PathLike):
            return Identity()
        files = (self.given,) if self.vertex_file is None else (self.given, self.vertex_file)
        found = of_files(os.fspath(name) for name in files)
        roles = [part.digest for part in found.parts]  # the same two files, the other way round, are another network
        return replace(found, links=(*roles, f"header {self.header}", *(f"column {each}" for each in self.two or ())))

    def graph(self, vertices: int | None = None) -> Graph:
        """All of it, read once."""
        from hubbub.graphs.readers import load

        return load(self.given, columns=self.two, header=self.header, vertices=vertices, vertex_file=self.vertex_file)


def open_links(
    given: object,
    *,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    vertex_file: str | os.PathLike[str] | None = None,
) -> Opened:
    """The links of a file or an object. Nothing is read yet, but a file has to be there."""
    from hubbub.graphs.readers import file_at

    for each in (given, vertex_file):
        if isinstance(each, str | os.PathLike):
            file_at(each)
    return Opened(given=given, two=None if columns is None else tuple(columns), header=header, vertex_file=vertex_file)


if TYPE_CHECKING:
    from hubbub.graphs.graph import Graph
    from hubbub.kinds.network import Network
    from hubbub.tables.inspection import Inspection
    from hubbub.voting.formats.ballot_file import BallotFile

LINKS: Final = (
    Option(
        "columns", "A,B", "The columns with the two ends of a link; without it, the two that there are.", group=WHOSE
    ),
    Option("vertex_file", "FILE", "A list of all people, so that those without links count too.", group=WHOSE),
)
"""How a file of links is read."""
_reading = partial(option_help, group=WHOSE, advanced=True)
SHARES: Final[Mapping[str, Exact]] = {UNREADABLE: "0.01", UNLISTED: "0.01", CLAMPED: "0.5"}
"""Of people, where nothing is said: who cannot be read, fits no bin, or no range."""
NAMED: Final = Option("dataset", "NAME", "The people's name in the ledger; else the file's.", group=WHERE)


def open(
    source: object,
    *,
    person: Annotated[
        str | None, option_help("COLUMN", "The column that says who a row is about.", group=WHOSE)
    ] = None,
    rows_are_people: Annotated[
        bool,
        option_help(
            None,
            "Each row is another person: no cell is looked at.",
            group=WHOSE,
        ),
    ] = False,
    join: Annotated[
        object | None,
        _reading(
            "FILE",
            "A second table, of events: its rows are counted, with the columns of their person's row in the first. Of "
            "a database, the name of its table.",
        ),
    ] = None,
    on: Annotated[str | None, _reading("COLUMN", "With `join`: the column of people, which both tables have.")] = None,
    table: Annotated[
        str | None,
        _reading(
            "NAME", "The table of a database (or a query, SELECT ..., but of SQLite), or the sheet of an Excel file."
        ),
    ] = None,
    delimiter: Annotated[
        str | None, _reading("SIGN", "What separates the cells of a CSV: comma, semicolon, tab or pipe.")
    ] = None,
    encoding: Annotated[
        str | None, _reading("NAME", "How a CSV is encoded, if not in UTF-8 or marked as UTF-16: latin-1, cp1252.")
    ] = None,
    no_header: Annotated[
        str | None, _reading("NAMES", "The columns of a CSV whose first line is data, like id,town,age.")
    ] = None,
    missing: Annotated[
        str | Sequence[str],
        _reading(
            "SPELLINGS",
            "How missing cells are spelled, like NA,?,k.A., or income=-99 for one column.",
            takes="str | Sequence[str]",
        ),
    ] = (),
    unreadable: Annotated[
        Exact | None,
        _reading("SHARE", "Refuse if a row of more of the people cannot be read as declared; 0.01 if nothing is said."),
    ] = None,
    unlisted: Annotated[
        Exact | None,
        _reading("SHARE", "Refuse if more of the people are in none of the bins; 0.01 if nothing is said."),
    ] = None,
    clamped: Annotated[
        Exact | None,
        _reading(
            "SHARE", "Refuse if the values of more of the people lie outside of the range; 0.5 if nothing is said."
        ),
    ] = None,
    other_people: Annotated[
        bool, _reading(None, "Declare that these are not the people of a dataset with the same ids.")
    ] = False,
    ids_of: Annotated[
        str | None,
        _reading(
            "NAME",
            "Whose ids these are, like a register's name: they are compared with those of the same name, and no other.",
        ),
    ] = None,
    disjoint: Annotated[
        str | None,
        _reading(
            "PERIOD",
            "Declare that people of this period are in no other of the dataset: then periods do not add up. The ids of some "
            "4,000 people are compared.",
        ),
    ] = None,
    collected: Annotated[
        Exact | None,
        _reading("P", "Declare that people came into the table with probability P."),
    ] = None,
    collected_between: Annotated[
        tuple[Exact, Exact] | None, _reading("LOW HIGH", "The same with rates between LOW and HIGH.", parts=2)
    ] = None,
    exempt: Annotated[
        Exact | None, _reading("N", "How many people may have been collected in any other way; 0 if nothing is said.")
    ] = None,
    dictionary: Annotated[
        str | os.PathLike[str] | None,
        _reading(
            "FILE",
            "The data dictionary; else datapackage.json beside the file, if it is about it. Or none.",
            takes="str",
        ),
    ] = None,
    dataset: str | None = None,
    ledger: str | os.PathLike[str] | None = None,
) -> Table:
    """A table of people: a path (CSV, Parquet, Excel, a glob of such, a DuckDB file), a frame (of Spark too), a DuckDB
    relation, a connection, a Spark session, or an address (postgresql://, sqlite:///, spark://, sc://) with `table`, a
    name or a query that begins with SELECT.

    `person` is the column that says who a row is about; where each row is another person, `rows_are_people` says so.
    One of the two has to be said, since all that is promised is promised to people. `dataset` is the table's name in
    the ledger, by which releases about the same people are known; a file is named after itself unless told otherwise.
    `ledger` is the ledger's file, if not the user's own. `delimiter`, `encoding` and `no_header` (the names of the
    columns, like ``"id,town,age"``) say how a CSV is written, if not as usual. `missing` lists how missing cells are
    spelled, like ``"NA,?,k.A."``, or ``"income=-99"`` for one column; a list says several of these. A release is refused
    if a larger share of people than `unreadable` have a row that cannot be read as declared (of rows, if each row is a
    person), if a larger one than `unlisted` is in none of the bins of a release, or if a larger one than `clamped` has no
    value inside of the range that it declares, and always if it is more than one person; 1 never refuses. With `join` and `on` it is a join, as :meth:`hubbub.Table.join` makes it, and `missing` is about both
    tables. A query
    with LIMIT or a window function gets a warning: one person may move more than one row of it. With `other_people`
    somebody declares that these are not the people of a dataset that has the same ids. `ids_of` names the register that
    the ids are of: two tables whose registers are named are compared if it is the same one, and not otherwise. `disjoint`
    names the period that this table is of, like ``"2026-01"``, where somebody declares that its people are in no other
    period of the dataset: each person then loses what their own period loses. Of two periods the ids of about 4,096 people
    are compared, all of them where there are no more. `collected` declares that the table is itself a random sample,
    with the probability of each person, or with probabilities between two (`collected_between`), but for so many people
    (`exempt`); releases that can use it promise more to the population.

    A data dictionary (`dictionary`, or ``datapackage.json`` beside the file) says what is not said here: who a person
    is, how cells are written and missing ones are spelled, and the bins of columns that a release only names.
    """
    from hubbub.engines import opening  # late: an import of hubbub loads no engine
    from hubbub.engines.query import RowsMove, is_query, remarks

    declared = find(source, table, dictionary)
    join, on = join or declared.say("join"), on or declared.say("on")
    if join is not None:
        second = find_second(join, dictionary)
        on = on or next((column for column, _ in second.partners if column in (person, declared.person)), None)
        declared = declared.with_second(second)
    if join is not None or on is not None:
        if rows_are_people:
            raise WrongUse("in a join a person is whoever the tables are joined by; leave out `rows_are_people`")
        person = opening.joined_person(join, on, person)
    stated = declared.open_words(
        {
            "person": person,
            "rows_are_people": rows_are_people,
            "delimiter": delimiter,
            "encoding": encoding,
            "no_header": no_header,
            "missing": missing,
            UNREADABLE: unreadable,
            UNLISTED: unlisted,
            CLAMPED: clamped,
            "other_people": other_people,
            "ids_of": ids_of,
            "disjoint": disjoint,
            "join": join,
            "on": on,
        }
    )
    declared = declared.with_words(stated).with_collected(collected, collected_between, exempt)
    person, rows_are_people, missing = stated["person"], stated["rows_are_people"], stated["missing"]
    delimiter, encoding, other_people = stated["delimiter"], stated["encoding"], stated["other_people"]
    ids_of, no_header, disjoint = stated["ids_of"], stated["no_header"], stated["disjoint"]
    shares = {name: usual if stated[name] is None else stated[name] for name, usual in SHARES.items()}
    declared_collected(**dict(declared.collected))
    _check_person_declared(person, rows_are_people, declared.offer())
    with working("Reading the table"), interruptible():
        engine = opening.open_source(
            source,
            table=table,
            delimiter=delimiter,
            encoding=encoding,
            no_header=no_header,
            **shares,
            missing=missing if join is None else (),
        )
    if person is not None and join is None:
        column(engine.columns(), person)
    for remark in (*remarks(table), *(remarks(join) if isinstance(join, str) else ())):
        warnings.warn(remark, RowsMove, stacklevel=2)
    if dataset is None and isinstance(source, str | os.PathLike) and not (address(source) and is_query(table or "")):
        dataset = named_after(source, table)  # but not after a query
    books = Ledger(ledger)

    def make_table(data: Engine, reading: Mapping[str, Plain]) -> Table:
        def carry_out(spec: Spec | Bound, *, accept_weak: bool = False) -> Release:
            bound = spec.bind(data.columns())
            check_accepted(bound, accept_weak, possible_person(declared, data))
            return execute(
                bound,
                data,
                books,
                dataset,
                other_people=other_people,
                ids_of=ids_of,
                disjoint=disjoint,
                reading=reading,
                labels=declared.labels,
            )

        def inspect(by: Sequence[str], **how: Any) -> Inspection:
            with working("Looking"), interruptible():
                return opening.inspect(data, [declared.bins(each, data.columns()) for each in by], person, **how)

        def join_with(other: object, by: str | None, how: Mapping[str, Any]) -> Table:
            if person is None:
                raise WrongUse("a join is of people by a column of both tables; open the first with `person=COLUMN`")
            key = opening.joined_person(other, by or person, person)
            with working("Reading the table"), interruptible():
                both = opening.open_join(source, data, other, key, **{**shares, **how}, missing=missing)
            return make_table(both, {**reading, JOIN: key})

        return Table(data, person, carry_out, inspect, join_with, declared, reading)

    first = make_table(engine, reading_of(shares, missing, None if person else unnamed_person(engine.columns())))
    return first if join is None else first.join(join, on=on, delimiter=delimiter, encoding=encoding)


def reading_of(
    shares: Mapping[str, Exact], missing: str | Sequence[str], unnamed_person: str | None = None
) -> dict[str, Plain]:
    """How the table is read, as the certificate says it."""
    spelled = Missing.parse(missing).to_json()
    share: dict[str, Plain] = {name: to_text(rational(shares[name], name)) for name in SHARES}
    rows: dict[str, Plain] = {} if unnamed_person is None else {UNNAMED_PERSON: unnamed_person}
    return {**share, MISSING: [*spelled], **rows} if spelled else {**share, **rows}


def open_graph(
    source: object,
    *,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    vertex_file: str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    ledger: str | os.PathLike[str] | None = None,
) -> Network:
    """A social network: a path (CSV, TSV, text, Parquet, GML, GraphML), or an object of networkx, igraph, scipy, Arrow.

    `columns` names the two ends of a link where there are more than two; `vertex_file` lists everybody, with links or
    without. `dataset` is the network's name in the ledger; a file is named after itself unless told otherwise.
    """
    from hubbub.kinds.network import Network

    with working("Reading the network"), interruptible():
        links = open_links(source, columns=columns, header=header, vertex_file=vertex_file)
    if dataset is None and isinstance(source, str | os.PathLike):
        dataset = named_after(source)
    books = Ledger(ledger)

    def carry_out(spec: Spec | Bound, *, accept_weak: bool = False) -> Release:
        bound = spec.bind(links.columns())
        check_accepted(bound, accept_weak)
        return execute(bound, links, books, dataset)

    return Network(links, carry_out)


def publish_ballots(
    spec: Spec | Bound,
    file: BallotFile,
    path: str | os.PathLike[str] | None,
    *,
    dataset: str | None = None,
    ledger: str | os.PathLike[str] | None = None,
    accept_weak: bool = False,
) -> Release:
    """Ballots that were read from a file, published beside the official record (see hubbub.kinds.ballots.request)."""
    from hubbub.engines.identity import of_files
    from hubbub.voting.ballots import BallotBox

    bound = spec.bind({})
    check_accepted(bound, accept_weak)
    if dataset is None and path is not None:
        dataset = named_after(path)
    box = BallotBox(file.ballots, Identity() if path is None else of_files([os.fspath(path)]))
    return execute(bound, box, Ledger(ledger), dataset)


def _check_person_declared(person: str | None, rows_are_people: bool, offer: str) -> None:
    """Who is a person cannot be guessed from a table: twenty rows may be twenty people, or one."""
    if person is None and not rows_are_people:
        raise WrongUse(
            "say who a person is: `person=COLUMN`, the column that says who a row is about, or `rows_are_people=True` "
            f"if each row is another person{offer}"
        )
    check_one_unit(person, rows_are_people)


def address(source: str | os.PathLike[str]) -> bool:
    """Whether it is the address of a database and not a path."""
    return "://" in os.fspath(source)


def named_after(source: str | os.PathLike[str], table: str | None = None) -> str:
    """The dataset's name that a file gives: its own, without folder and ending.

    >>> named_after("data/town 2024.parquet"), named_after("city.duckdb", "people")
    ('town-2024', 'city.people')
    >>> named_after("postgresql://steward:secret@host/city", "people"), named_after("sc://host/;token=secret", "people")
    ('city.people', 'people')
    """
    name = os.fspath(source)
    if address(name):  # nothing of it but the last step of its path: before and after that there may be a secret
        path = name.partition("://")[2]
        if not name.startswith("sqlite:"):
            path = re.split(r"[?;#]", path.rpartition("@")[2], maxsplit=1)[0]
        name = path.rpartition("/")[2] if "/" in path else ""
    stem = re.sub(r"\.(csv|tsv|txt)$", "", Path(name).stem, flags=re.IGNORECASE)
    text = re.sub(r"[^\w.*-]+", "-", stem if table is None else f"{stem}.{table}").strip("-_.*")
    return text[:100] or "table"
