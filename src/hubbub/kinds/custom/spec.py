"""A differentially private mechanism of the user's, run on K secret people: zero-knowledge privacy out of it.

::

    private = hubbub.sample_and_sanitize(
        mechanism, rows=1000, people=40_000, columns="age", epsilon=1, neighbours="replace"
    )
    private.promises          # before any data is opened
    private(table).value      # entered in the ledger

Theorem A1 (Proposition 16 of the paper, made sharp): what is (epsilon, delta)-differentially private when one of K rows
is replaced is, on K of N rows drawn in secret and handed over in a secret order, (ln(1 + (K/N)(e^epsilon - 1)),
(K/N) delta)-zero-knowledge private with respect to RS(K).

That the mechanism has its epsilon is the claim of whoever gives it, or of the library that made it: Hubbub sees a
function and cannot prove it. So there is no certificate. A certificate is worked out again by anybody from a public
description, and of a function there is none; what there is is a derivation that begins with the claim and says whose it
is. The ledger takes the claim at its word, because releases that are not counted protect nobody.

What is claimed of a mechanism; and what a measurement of OpenDP claims itself, read without importing OpenDP.

A measurement has `map`, from how far two data sets are apart to what is lost, `input_metric` and `output_measure`. One
row replaced is a distance of 2 where rows come and go (SymmetricDistance, InsertDeleteDistance), and of 1 where they
change (ChangeOneDistance, HammingDistance). A map rounds up, so its number is taken as it stands, to the last bit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours
from hubbub.guarantees.derivation import BBG, Assumption, Derivation, Theorem, state_promise, texts
from hubbub.guarantees.implications import (
    BLANK,
    PUBLIC_SIZES,
    SECRET,
    SYMMETRIC,
    add_remove_to_replace,
    sanitize_sample,
)
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.guarantees.people import People
from hubbub.noise.source import Source
from hubbub.numeric.exact import Exact, integer, loss, rational, to_text
from hubbub.protocol.measurement import Measurement
from hubbub.protocol.release import Reservation
from hubbub.protocol.result import Result, Sheet
from hubbub.protocol.spec import Description, Kind, Spec
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.ranks import ranks
from hubbub.serialization.canonical import Plain
from hubbub.serialization.published_files import Files
from hubbub.tables.engine import OTHER_NUMBER, Engine
from hubbub.tables.privacy_unit import EACH_ROW, Unit
from hubbub.tables.schema import Schema, column

if TYPE_CHECKING:
    from hubbub.kinds.table import Table

CLAIMED: Final = Theorem("mechanism.claimed", "the claim of whoever gave the mechanism", "the caller")
REPLACED: Final = Theorem("mechanism.sample-replaced", "amplification by sampling without replacement", BBG)
MOST_ROWS: Final = 10_000_000
FAILED: Final = (
    "the mechanism failed on the sample, and nothing came out of it; it counts as spent, since who was drawn decided "
    "that: try the mechanism on made-up rows first"
)
NO_CERTIFICATE: Final = (
    "the value of a mechanism of your own has no certificate, because nobody could check it without the mechanism; "
    "publish the value together with its promises, which say whose claim they rest on"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnMechanism(Spec):
    """A mechanism on `rows` of `of_people` people, with what is claimed of it."""

    kind: ClassVar[Kind]
    mechanism: Callable[[Any], Any]
    claim: Claim
    rows: int
    of_people: int
    columns: tuple[str, ...]
    as_list: bool  # one column, handed over as a list
    unit: Unit = EACH_ROW

    @property
    def people(self) -> People:
        return self.unit.people

    @property
    def enforced_number(self) -> int | None:
        return self.of_people

    def with_schema(self, schema: Schema) -> Self:
        for name in (*self.columns, *([] if self.unit.person is None else [self.unit.person])):
            column(schema, name)
        return self

    def promises(self) -> tuple[Derivation, ...]:
        """Guarantee: if the claim is true, Theorem A1 on K of N rows in a secret order; and amplification by sampling
        for one person replaced."""
        claim = self.claim
        own = state_promise(
            DifferentialPrivacy(epsilon=claim.epsilon, delta=claim.delta, neighbours=claim.neighbours),
            theorem=CLAIMED,
            numbers=texts(epsilon=claim.epsilon, delta=claim.delta),
            assumptions=(claim.assumption, self.unit.assumption),
            people=self.people,
        )
        inner = own if claim.neighbours is Neighbours.REPLACE else add_remove_to_replace(own)
        knows = sanitize_sample(inner, k=self.rows, n=self.of_people)
        given, share = inner.concluding(DifferentialPrivacy, REPLACED), Fraction(self.rows, self.of_people)
        epsilon, delta = subsampled_loss(given.epsilon, share), share * given.delta
        private = inner.then(
            REPLACED,
            DifferentialPrivacy(epsilon=epsilon, delta=delta, neighbours=Neighbours.REPLACE),
            numbers=texts(k=self.rows, n=self.of_people, epsilon_out=epsilon, delta_out=delta),
            assumptions=(SYMMETRIC, SECRET, BLANK, PUBLIC_SIZES),
        )
        return knows, private

    def describe(self) -> Description:
        sample = f"{self.rows:,} of {self.of_people:,} people"
        return Description(
            title=f"A mechanism of the publisher's own on {sample}",
            published=f"The value of a mechanism of the publisher's own on {sample}, drawn in secret",
            entry=f"a mechanism of your own on {sample}, epsilon {to_text(self.claim.epsilon)} by {self.claim.whose}",
            person=self.unit.describe,
            sampling=(
                f"a fresh secret sample was drawn: {sample}, without replacement, every such set equally likely, "
                "handed over in a secret order, and who was drawn is not kept"
            ),
            counts="whatever the mechanism tells of the people in the sample",
            each="whatever the mechanism tells of the people in the sample",
        )

    def to_json(self) -> dict[str, Plain]:
        _refuse_certificate()

    def measure(self, data: Engine, source: Source) -> Measurement:
        _refuse_certificate()

    def present(self, measurement: Measurement) -> Result:
        _refuse_certificate()

    def load(self, files: Files) -> Measurement:
        _refuse_certificate()

    def run_custom(self, data: Engine, source: Source) -> Result:
        """Draw, fetch, shuffle, hand over.

        Guarantee: every set of K of the N people, in every order, is equally likely, if the words of the source are
        uniform and independent. A table of another number of people is refused before a word is drawn.
        """

        def choose_rows(people: int) -> NDArray[np.int64]:
            if people != self.of_people:
                raise Refused(OTHER_NUMBER)
            found = ranks(self.rows, people, source)
            return found[_order(self.rows, source)]

        table = data.rows(self.columns, self.unit.person, choose_rows)
        failed = False
        try:
            value = self.mechanism(table.column(0).to_pylist() if self.as_list else table)
        except Exception:  # whatever it says may quote a row
            failed = True
        if failed:
            raise Refused(FAILED)
        return _Value(value)


def _order(size: int, source: Source) -> NDArray[np.int64]:
    """A uniform order: by random words, drawn again if two are the same."""
    while True:
        words = source.words(size)
        if np.unique(words).size == size:
            return np.argsort(words)


@dataclass(frozen=True, slots=True, eq=False)
class _Value(Result):
    value: Any

    def sheets(self) -> tuple[Sheet, ...]:
        _refuse_certificate()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SanitizedValue:
    """What the mechanism said, and what that promises if the claim about the mechanism is true."""

    value: Any
    promises: tuple[Derivation, ...]
    claim: Claim
    reservation: Reservation | None

    def __repr__(self) -> str:
        promised = "; ".join(str(step.conclusion) for step in self.promises)
        return (
            f"<the value of a mechanism on a secret sample; promised, by the claim of {self.claim.whose}: {promised}>"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sanitizing:
    """A mechanism that draws its own secret sample. Call it with a table; each call is a release."""

    mechanism: Callable[[Any], Any]
    claim: Claim
    rows: int
    people: int
    columns: tuple[str, ...]
    as_list: bool

    @property
    def promises(self) -> tuple[Derivation, ...]:
        """What a call promises, if the claim is true: zero-knowledge privacy first."""
        return self._spec(Unit()).promises()

    def _spec(self, unit: Unit) -> OwnMechanism:
        return OwnMechanism(
            mechanism=self.mechanism,
            claim=self.claim,
            rows=self.rows,
            of_people=self.people,
            columns=self.columns,
            as_list=self.as_list,
            unit=unit,
        )

    def __call__(self, table: Table, *, accept_weak: bool = False) -> SanitizedValue:
        """Draw a fresh secret sample of the table and run the mechanism on it. `accept_weak` confirms a weak promise.

        Guarantee: if the claim about the mechanism is true, its promises; they are entered in the ledger, durably,
        before anybody is drawn.
        """
        release = table.publish(self._spec(Unit(person=table.person)), accept_weak=accept_weak)
        assert isinstance(release.result, _Value)
        return SanitizedValue(release.result.value, release.promises, self.claim, release.reservation)


def sample_and_sanitize(
    mechanism: Callable[[Any], Any],
    *,
    rows: Exact,
    people: Exact,
    columns: str | Sequence[str],
    epsilon: Exact | None = None,
    delta: Exact = 0,
    neighbours: str | None = None,
) -> Sanitizing:
    """Turn a differentially private mechanism into a zero-knowledge one: it gets `rows` of the `people`, in secret.

    The mechanism is a function of a list (the cells of one column, if `columns` is a name) or of an Arrow table (if it
    is a list of names). What it loses is your claim: `epsilon` and `delta`, for one row replaced
    (``neighbours="replace"``) or for one row more or less (``neighbours="add/remove"``, which costs twice). An OpenDP
    measurement says it itself. Call the result with a table: ``sample_and_sanitize(...)(table).value``.

    Guarantee: if the claim is true, the value is (ln(1 + (K/N)(e^epsilon - 1)), (K/N) delta)-zero-knowledge private
    with respect to RS(K) (Theorem A1); the mechanism must accept a blank row, and know nothing else of the table.
    """
    if not callable(mechanism):
        raise WrongUse("a mechanism is a function of the rows of the sample, or an OpenDP measurement; give one")
    k, n = integer(rows, "rows", least=1), integer(people, "people", least=1)
    if k > n:
        raise WrongUse(f"`rows` is how many of all people may be known, at most {n}, not {k}; lower it")
    if k > MOST_ROWS:
        raise WrongUse(f"at most {MOST_ROWS:,} rows are handed to a mechanism; lower `rows`")
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise WrongUse("`columns` are those that the mechanism sees: a name, or a list of different names; give them")
    claim = _state_claim(epsilon, delta, neighbours) if epsilon is not None else read_claim(mechanism)
    return Sanitizing(mechanism, claim, k, n, names, isinstance(columns, str))


def _state_claim(epsilon: Exact, delta: Exact, neighbours: str | None) -> Claim:
    kinds = {each.value: each for each in Neighbours}
    if neighbours not in kinds:
        raise WrongUse(
            "say what your epsilon is about, since it differs by a factor of two: `neighbours='replace'` (one row has "
            "other cells) or `neighbours='add/remove'` (one row more or less)"
        )
    lost, slack = loss(epsilon, "epsilon"), rational(delta, "delta")
    if not isinstance(lost, Fraction) or lost <= 0 or not 0 <= slack < 1:
        raise WrongUse("epsilon is above 0 and finite, and delta from 0 to below 1; choose such ones")
    return Claim(epsilon=lost, delta=slack, neighbours=kinds[neighbours], whose="whoever stated it")


def _refuse_certificate(*_: Any, **__: Any) -> NoReturn:
    raise WrongUse(NO_CERTIFICATE)


OwnMechanism.kind = Kind(
    name="mechanism",
    wire="mechanism/1",
    help="A mechanism of your own, from Python.",
    examples=(),
    options=(),
    from_options=_refuse_certificate,
    from_json=_refuse_certificate,
)


_APART: Final = {"SymmetricDistance": 2, "InsertDeleteDistance": 2, "ChangeOneDistance": 1, "HammingDistance": 1}
_PURE: Final = re.compile(r"MaxDivergence(\(.*\))?")
_WITH_DELTA: Final = re.compile(r"(Approximate\(MaxDivergence(\(.*\))?\)|FixedSmoothedMaxDivergence(\(.*\))?)")
_STATE: Final = "state its `epsilon`, `delta` and `neighbours` yourself"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """(epsilon, delta)-differential privacy of a mechanism on K rows, and whose word that is."""

    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours
    whose: str

    @property
    def assumption(self) -> Assumption:
        """What nobody has checked."""
        sentence = (
            "the mechanism is ({epsilon}, {delta})-differentially private [{neighbours}] on such rows, and takes what "
            "it is handed for its only data; this is the claim of {whose}, and nothing here has checked it"
        )
        given = (*texts(epsilon=self.epsilon, delta=self.delta), ("neighbours", self.neighbours.value))
        return Assumption("mechanism.claim", sentence, (*given, ("whose", self.whose)))


def read_claim(measurement: Any) -> Claim:
    """What it says it loses when one row is replaced, or one sentence."""
    parts = [getattr(measurement, name, None) for name in ("map", "input_metric", "output_measure")]
    if any(part is None for part in parts) or not callable(parts[0]):
        raise WrongUse(f"nothing says what this mechanism loses, since it is no OpenDP measurement; {_STATE}")
    metric, measure = re.match(r"\w*", str(parts[1])), str(parts[2])
    name = metric[0] if metric else ""
    if name not in _APART:
        raise WrongUse(f"the input metric {name[:40]!r} does not say how far one replaced row is; {_STATE}")
    pure, slack = _PURE.fullmatch(measure), _WITH_DELTA.fullmatch(measure)
    if not pure and not slack:
        raise WrongUse(
            f"the output measure {measure[:40]!r} is no epsilon and delta; fix a delta in OpenDP, or {_STATE}"
        )
    declared: Any = None
    try:
        declared = parts[0](_APART[name])
        epsilon, delta = (Fraction(declared), Fraction(0)) if pure else (Fraction(declared[0]), Fraction(declared[1]))
    except Exception:  # OpenDP's own, NaN, infinity, or a tuple where none was expected
        declared = None
    if declared is None or epsilon <= 0 or not 0 <= delta < 1:
        raise WrongUse(f"the map of the measurement gives no finite loss for one replaced row; {_STATE}")
    whose = "the measurement's own map, by OpenDP"
    return Claim(epsilon=epsilon, delta=delta, neighbours=Neighbours.REPLACE, whose=whose)
