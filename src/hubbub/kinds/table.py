"""A table of people that has been opened but not read, and what can be asked of it from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Unpack

from hubbub.dictionary.dictionary import NONE, Dictionary
from hubbub.errors import WrongUse
from hubbub.protocol.option import Method, Option, check_options, documented_later
from hubbub.runtime.frozen import dataclass
from hubbub.tables.schema import unnamed_person

if TYPE_CHECKING:
    from hubbub.kinds import options as o
    from hubbub.kinds.questions.one_sample import SampledPeople
    from hubbub.numeric.exact import Exact
    from hubbub.protocol.release import Publish, Release
    from hubbub.protocol.spec import Kind, Spec
    from hubbub.serialization.canonical import Plain
    from hubbub.tables.engine import Engine
    from hubbub.tables.inspection import Inspection


def _kind(where: str) -> Kind:
    """A kind by its module below :mod:`hubbub.kinds`, as KIND if nothing else is said; loaded when it is asked for,
    because a release loads its own kind and no other."""
    module, _, held = where.partition(":")
    found: Kind = getattr(import_module(f"hubbub.kinds.{module}"), held or "KIND")
    return found


def _of_kind(where: str, *, but: str = "") -> Callable[[Method], Method]:
    """The method with the words of its kind, and all of its options `but` one."""

    def help_of() -> tuple[str, tuple[Option, ...]]:
        kind = _kind(where)
        return kind.help, tuple(option for option in kind.options if option.name != but)

    return documented_later(help_of)


def _elsewhere(by: Sequence[str], **how: str | None) -> Inspection:
    raise WrongUse("an inspection needs a table that was opened by hubbub.open; open it so")


def _not_opened(other: object, on: str | None, how: Mapping[str, Any]) -> Table:
    raise WrongUse("a join needs a table that was opened by hubbub.open; open it so")


def possible_person(dictionary: Dictionary, engine: Engine) -> str | None:
    """The column that may say who a row is about, where each row is said to be another person; but not where the data
    dictionary says so, which is written once and for this table."""
    return None if dictionary.rows_are_people else unnamed_person(engine.columns())


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of people. `publish` carries a spec out and enters it in the ledger; `inspect` is the steward's own.

    Every method takes the options of its command, by the same names (:mod:`hubbub.kinds.options`).
    """

    engine: Engine
    person: str | None
    publish: Publish
    inspect: Callable[..., Inspection] = _elsewhere
    joined: Callable[[object, str | None, Mapping[str, Any]], Table] = _not_opened
    dictionary: Dictionary = NONE
    reading: Mapping[str, Plain] = field(default_factory=dict)  # how the table is read, as declared

    @property
    def possible_person(self) -> str | None:
        """As :func:`possible_person`."""
        return possible_person(self.dictionary, self.engine)

    def ids(self) -> dict[str, Any]:
        """Whose ids the table has, as it was opened or as its dictionary declares, for a period of a series."""
        return {"other_people": bool(self.dictionary.say("other_people")), "ids_of": self.dictionary.say("ids_of")}

    def __repr__(self) -> str:
        who = "each row is a person" if self.person is None else f"people by {self.person}"
        return f"<a table with the columns {', '.join(self.engine.columns())}; {who}>"

    def _release(self, kind: str, *, accept_weak: bool = False, **options: Any) -> Release:
        return self.publish(self.ask(_kind(kind), **options), accept_weak=accept_weak)

    def ask(self, kind: Kind, **options: Any) -> Spec:
        """The spec that these words ask for, with what the data dictionary says of columns that are only named."""
        check_options(kind.name, kind.options, options)
        spelled = self.dictionary.fill_options(kind.words, options, self.engine.columns())
        return kind.ask(person=self.person, **spelled)

    def check(self, by: Sequence[str] = (), *, where: str | None = None, of: str | None = None) -> Inspection:
        """A private look before anything is published, as ``hubbub check`` prints it: how many rows there are and how
        many of each person, what cannot be read as declared, how much would be shown, and where bins, a condition
        `where` or the range `of` a measure and the data do not meet; without `by`, how each column could be read. It is
        made from the data as they are: publish none of it, and make no bins from it. Nothing is
        entered in the ledger.

        Guarantee: none.
        """
        return self.inspect(by, where=where, of=of)

    def join(
        self,
        other: object,
        *,
        on: str | None = None,
        table: str | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        no_header: str | None = None,
    ) -> Table:
        """The rows of another table about the same people, each with the columns of its person's row in this one.

        This is a table with one row for each person (patients), and `other` one with any number of them (visits): a
        source as :func:`hubbub.open` takes it, or the name of a table where this one is of a database, a connection or
        a session. `on` is the column of people in both; without it, the one by which this table was opened. A row
        whose person is not in this table stays, and these columns are missing there; people without a row in the
        other table are in none of the numbers. A name that both tables have is numbered, ``ward#1`` in this one.

        Guarantee: what a person contributes to the join depends on their own rows of both tables alone, so that what
        is promised to people is promised to whoever leaves both (:mod:`hubbub.engines.join`). A release counts for the
        dataset of this table, and the ledger then knows both: later releases of either add up with it.
        """
        how = {"table": table, "delimiter": delimiter, "encoding": encoding, "no_header": no_header}
        return self.joined(other, on, {name: given for name, given in how.items() if given is not None})

    @_of_kind("histogram.request")
    def histogram(
        self,
        by: Sequence[str],
        **chosen: Unpack[o.HistogramOptions],
    ) -> Release:
        """Count people by some columns, and publish the counts so that each person stays lost in the crowd.

        A promise so weak that somebody has to confirm it (:mod:`hubbub.protocol.weakness`) is refused without
        `accept_weak`, before anything is spent.

        Guarantee: the promises of the release, derived before the table is read and entered in the ledger, durably,
        before any noise is drawn; noise and samples come from the operating system, fresh for this call. With the
        earlier releases of the dataset there is still a theorem that covers all of them, or the call is refused.
        """
        return self._release("histogram.request", by=by, **chosen)

    @_of_kind("records.request")
    def records(self, columns: Sequence[str], **chosen: Unpack[o.RecordsOptions]) -> Release:
        """Publish the records that at least `crowd` people share, made coarser by public functions.

        Guarantee: (crowd, 0)-crowd-blending and what sampling adds to it, as :meth:`histogram` has it.
        """
        return self._release("records.request", columns=columns, **chosen)

    @_of_kind("cube.request")
    def cube(self, by: Sequence[str], **chosen: Unpack[o.CubeOptions]) -> Release:
        """Count people by several columns at once, and by fewer of them, under one promise.

        Guarantee: as :meth:`histogram` has it, for all files together.
        """
        return self._release("cube.request", by=by, **chosen)

    @_of_kind("points.request")
    def points(self, columns: Sequence[str], **chosen: Unpack[o.PointsOptions]) -> Release:
        """Publish a point for each person whose cell has at least `crowd` people, moved by noise as wide as the cell.

        Guarantee: (crowd, epsilon)-crowd-blending, as :meth:`histogram` has it.
        """
        return self._release("points.request", columns=columns, **chosen)

    @_of_kind("queries.request", but="class")
    def queries(self, columns: Sequence[str], of: str, **chosen: Unpack[o.QueriesOptions]) -> Release:
        """Answer a whole class of questions at once, like ``marginals:2`` or ``intervals``, each within a proved bound.

        `of` is the class. Ask the result: ``release.result.answer({"sex": "F", "town": "Bath"})``.

        Guarantee: that of :meth:`histogram`; and with a chance of `coverage`, all answers are within their bounds.
        """
        return self._release("queries.request", columns=columns, **{"class": of}, **chosen)

    @_of_kind("synthetic.request")
    def synthetic(self, columns: Sequence[str], **chosen: Unpack[o.SyntheticOptions]) -> Release:
        """Invent rows that have about the tables of yours: a model of noisy tables, and people drawn from it.

        Guarantee: that of :meth:`queries` for the tables; the rows are made of these and of a public seed alone.
        """
        return self._release("synthetic.request", columns=columns, **chosen)

    @_of_kind("sums.count:COUNT")
    def count(self, by: Sequence[str] = (), **chosen: Unpack[o.CountOptions]) -> Release:
        """Count the people who meet a condition, in all or by bins.

        Guarantee: as :meth:`histogram`.
        """
        return self._release("sums.count:COUNT", by=by, **chosen)

    @_of_kind("sums.fraction:FRACTION")
    def fraction(self, by: Sequence[str] = (), **chosen: Unpack[o.FractionOptions]) -> Release:
        """Publish the share of people, of all or of each bin, who meet the condition `where`.

        Guarantee: as :meth:`histogram`.
        """
        return self._release("sums.fraction:FRACTION", by=by, **chosen)

    @_of_kind("sums.mean:MEAN")
    def mean(self, of: str, by: Sequence[str] = (), **chosen: Unpack[o.MeanOptions]) -> Release:
        """Publish the mean of a column, of all or by bins; `of` is its range and step, like ``salary:0..300000:100``.

        Guarantee: as :meth:`histogram`.
        """
        return self._release("sums.mean:MEAN", of=of, by=by, **chosen)

    @_of_kind("quantile.quantile:QUANTILE")
    def quantile(self, of: str, by: Sequence[str] = (), **chosen: Unpack[o.QuantileOptions]) -> Release:
        """Publish a quantile of a column (its range and step declared), of all or by bins; 0.5 is the median.

        Guarantee: as :meth:`histogram`.
        """
        return self._release("quantile.quantile:QUANTILE", of=of, by=by, **chosen)

    @_of_kind("sum.request")
    def sum(self, of: str, by: Sequence[str] = (), **chosen: Unpack[o.SumOptions]) -> Release:
        """Publish the total of a column, of all or by bins; `of` is its range and step, like ``cost:0..50000:1``.

        Guarantee: as :meth:`histogram`.
        """
        return self._release("sum.request", of=of, by=by, **chosen)

    @_of_kind("sums.ratio")
    def ratio(self, of: str, per: str, by: Sequence[str] = (), **chosen: Unpack[o.RatioOptions]) -> Release:
        """Publish the sum of a column divided by that of another, of all or by bins, like ``cost:0..50000:1`` for each
        of ``days:0..30:1``.

        Guarantee: as :meth:`histogram`.
        """
        return self._release("sums.ratio", of=of, per=per, by=by, **chosen)

    @_of_kind("summary.request")
    def summary(self, number: Sequence[str], by: Sequence[str] = (), **chosen: Unpack[o.SummaryOptions]) -> Release:
        """Publish several numbers of the same bins as one table, like ``["people", "rows 5", "mean cost:0..50000:1"]``.

        Guarantee: as :meth:`histogram`.
        """
        return self._release("summary.request", number=number, by=by, **chosen)

    @_of_kind("sums.variance:VARIANCE")
    def variance(self, of: str, by: Sequence[str] = (), **chosen: Unpack[o.VarianceOptions]) -> Release:
        """Publish the variance of a column and its mean, of all or by bins.

        Guarantee: as :meth:`histogram`.
        """
        return self._release("sums.variance:VARIANCE", of=of, by=by, **chosen)

    @_of_kind("sums.variance:STD")
    def std(self, of: str, by: Sequence[str] = (), **chosen: Unpack[o.StdOptions]) -> Release:
        """Publish the standard deviation of a column and its mean, of all or by bins.

        Guarantee: as :meth:`histogram`.
        """
        return self._release("sums.variance:STD", of=of, by=by, **chosen)

    def sample(
        self,
        *,
        rows: Exact,
        people: Exact,
        zero_knowledge: Exact | None = None,
        coverage: Exact = "0.95",
        delta: Exact | None = None,
        noise: str | None = None,
        one_row_per_person: bool = False,
        expected_rows: bool = False,
        kept_rows: bool = False,
        rows_per_person: Exact | None = None,
        distinct: Exact | None = None,
        rows_per_bin: Exact | None = None,
        rows_called: str | None = None,
        unique_person: bool = False,
        accept_weak: bool = False,
    ) -> SampledPeople:
        """A secret sample of `rows` of the `people` in the table, to be asked several questions in a block.

        ``with table.sample(rows=1000, people=40_000, zero_knowledge="0.5") as people: people.count("old", where=...)``
        releases all questions of the block together, as one release with one entry in the ledger, when the block ends:
        ``people.release``. `zero_knowledge` is shared among the questions (`share`, equally if not said); without it
        each question says its `epsilon` inside the sample. `one_row_per_person` keeps one row of a person with several,
        the same one for all questions; `rows_per_person` (with `distinct` and `rows_per_bin`) several, so that counts,
        shares and means are of rows; `unique_person` declares, unchecked, that nobody has several. With `delta`, `mechanism`
        is geometric or Gaussian, whichever errs less.

        Guarantee: with E the sum of what the questions lose inside, ln(1 + (rows/people)(e^E - 1))-zero-knowledge
        private with respect to `rows` random people; else as :meth:`histogram`.
        """
        from hubbub.kinds.questions.one_sample import SampledPeople
        from hubbub.tables.privacy_unit import of_numbers

        unit = of_numbers(
            self.person,
            one_row_per_person=one_row_per_person,
            expected_rows=expected_rows,
            distinct=distinct,
            rows_per_person=rows_per_person,
            rows_per_bin=rows_per_bin,
            rows_called=rows_called,
            unique_person=unique_person,
        )
        return SampledPeople(
            partial(self.publish, accept_weak=accept_weak),
            unit,
            kept_rows=kept_rows,
            rows=rows,
            people=people,
            zero_knowledge=zero_knowledge,
            coverage=coverage,
            delta=delta,
            noise=noise,
        )
