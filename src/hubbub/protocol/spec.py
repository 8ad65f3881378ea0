"""What a kind of release is.

Everything that is published about people goes the same way, whatever it is:

::

    Spec         frozen, all that is public: resolves itself against a schema, derives its promises, names its
                 partition, lists what can be checked again, has its words
      .measure   alone sees data and randomness, and returns what mechanisms drew
      .present   pure: estimates, intervals, sheets, sentences and a drawing, from what was drawn
      .load      what was drawn, read back from the published files: whoever verifies presents it again
    Measurement  what mechanisms drew: integers and labels (:mod:`hubbub.protocol.measurement`)
    Result       what readers see: sheets of rows, public facts, a drawing
    Release      a spec, its promises, its result and its place in the ledger

Certificate, ledger, verify, explain, report, files and commands work from these and know no kind by name;
:mod:`hubbub.registry` lists the kinds there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from hubbub.protocol.bound import Bound
from hubbub.protocol.check import Check as Check
from hubbub.protocol.measurement import Measurement as Measurement
from hubbub.protocol.option import Option, check_options, spell_out
from hubbub.protocol.result import Result as Result
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.published_files import Files as Files

if TYPE_CHECKING:
    from hubbub.guarantees.accountant.gaussian import GaussianNoise
    from hubbub.guarantees.accountant.sampled_counts import SampledCounts
    from hubbub.guarantees.curve import Curve
    from hubbub.guarantees.definitions import IndependentSample
    from hubbub.guarantees.derivation import Derivation
    from hubbub.guarantees.people import People
    from hubbub.guarantees.survey import PoissonSurvey
    from hubbub.noise.source import Source
    from hubbub.protocol.result import Comparison
    from hubbub.serialization.canonical import Plain

TABLE, GRAPH, BALLOTS = "table", "graph", "ballots"  # what a release may be of


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A release in plain words. Names of columns come from strangers and are as they are: whoever shows it escapes."""

    title: str  # People by department
    published: str  # Counts of the people in the table, by department: exact counts of at least 20, the others hidden
    entry: str  # how the ledger calls it
    person: str  # who counts as a person
    sampling: str  # who sampled whom
    counts: str  # whom or what the published numbers count
    intervals: str = ""  # what an interval means
    headline: str = ""  # `published` in everyday words, for the top of a report, if that needs others
    interval_headline: str = ""  # the same of `intervals`
    public: tuple[tuple[str, str], ...] = ()  # (column, by which rule it is cut)
    hidden: str = ""  # which groups are not shown, by public numbers alone; known before anything is counted
    remarks: tuple[str, ...] = ()
    each: str = ""  # what a published number is, where it counts nothing: the mean of pay of the people in the table
    columns: tuple[tuple[str, str], ...] = ()  # (column of the file, what its numbers are), where a name needs words

    @property
    def what_numbers_are(self) -> str:
        """What a published number is, as a sentence without its stop."""
        return f"Each number is {self.each}" if self.each else f"The numbers count {self.counts}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositionInfo:
    """What decides how a release adds up with others about the same people, beside its promises.

    `partition` names the public partition in which people stand in crowds, None if a person has no fixed place in one;
    `collected` says how the table itself was sampled from a population, as declared, and `at_delta` at which delta that
    is worked out. With `exact_crowds`, people of one crowd are exactly interchangeable. `noises` is discrete Gaussian
    noise that all of it is computed from: what that loses adds up with others exactly. `sampled` is counts of a network
    that one sample of its people tells, which may serve other releases of that network too.
    """

    partition: str | None = None
    collected: IndependentSample | PoissonSurvey | None = None
    at_delta: Fraction = Fraction(1, 10**9)
    exact_crowds: bool = False
    noises: tuple[GaussianNoise, ...] = ()
    sampled: SampledCounts | None = None


class Spec(Protocol):
    """A release that somebody asked for: everything about it that is public."""

    kind: ClassVar[Kind]

    @property
    def people(self) -> People:
        """Whom it is about: those of the table, and which column says who is who."""
        ...

    @property
    def enforced_number(self) -> int | None:
        """How many people there must be, where that is public and anything else is refused; None if any number will do.

        Then nobody comes or goes: every promise compares data of so many people (replace), and the ledger and the audit
        refuse one that does not.
        """
        return None

    @property
    def lowered_to(self) -> Curve | None:
        """The curve in the place of one that falls somewhere; None where the curve is the one that was asked for."""
        return None

    @property
    def shows_nothing(self) -> str | None:
        """Why, by what is public, hardly anything will be shown; None where something will, or nobody can say."""
        return None

    def bind(self, schema: Any) -> Bound:
        """The release of a table with such columns, for everybody after this; refuses as `with_schema` does."""
        return Bound(self.with_schema(schema))

    def with_schema(self, schema: Any) -> Self:
        """With what the schema tells, or one sentence if such a release cannot be made of such columns."""
        ...

    def promises(self) -> tuple[Derivation, ...]:
        """Every promise, the mechanism's own first. Pure: it depends on nothing but the spec.

        A release calls it after `with_schema`, so it may rest on what the schema told.
        """
        ...

    def table_promises(self) -> tuple[Derivation, ...]:
        """The promises to the people of the table, whatever was declared about how the table was collected."""
        return self.promises()

    def composition(self) -> CompositionInfo:
        """What decides how it adds up with other releases."""
        return CompositionInfo()

    def checks(self) -> Iterator[Check]:
        """What can be worked out again without the data: exact laws against claims."""
        return iter(())

    def unverified_fields(self) -> tuple[str, ...]:
        """What the publisher could write as they liked, since no promise rests on it and no file shows it."""
        return ()

    def describe(self) -> Description:
        """The release in plain words."""
        ...

    def to_json(self) -> dict[str, Plain]:
        """The spec in exact JSON, from which its kind reads it back."""
        ...

    def size_hint(self) -> int:
        """About how many bytes its files will take, from public numbers alone."""
        return 1 << 20

    def measure(self, data: Any, source: Source) -> Measurement:
        """Count exactly and draw. This alone sees data and randomness."""
        ...

    def present(self, measurement: Measurement) -> Result:
        """Pure post-processing of what was drawn. Integers that such a release cannot draw are refused with a
        CheckFailed."""
        ...

    def load(self, files: Files) -> Measurement:
        """What was drawn, from the published files; a CheckFailed if they are not files of such a release.

        Guarantee: for every measurement of this spec, loading the files of `present(measurement)` gives a measurement
        that presents the same files.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of release: what it is called, what it can be asked, and how a spec is made of words or read back."""

    name: str  # what is typed
    wire: str  # what certificates and ledgers write, with a version: a change of meaning is a new one
    help: str  # help: one line, then paragraphs
    examples: tuple[str, ...]
    options: tuple[Option, ...]
    from_options: Callable[..., Spec]  # words of `options`, with the person column under "person"
    from_json: Callable[[Mapping[str, Any]], Spec]  # of what `to_json` wrote; checks it as if somebody had asked for it
    data: str = TABLE  # what it is of, and so how that is opened
    from_file: Callable[[str], Any] | None = None  # where its words come as a file, under "spec": what is in it
    compare: Callable[[Any], Comparison] | None = None  # a spec of this kind with what the papers would have done
    declared: tuple[Option, ...] = ()  # said of the table, in hubbub.open or its dictionary, and not of a release

    @property
    def words(self) -> tuple[Option, ...]:
        """All that a spec of this kind is made of: what a release is asked, and what is declared about its table."""
        return (*self.options, *self.declared)

    def ask(self, **words: Any) -> Spec:
        """The spec that these words ask for, or one sentence that says what is wrong with them; of words that are left
        out, the defaults of the kind."""
        check_options(self.name, self.words, {name: words[name] for name in words if name != "person"})
        return self.from_options(**spell_out(self.options, words))
