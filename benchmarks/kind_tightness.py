"""What each kind of release claims over what its laws reach, on tables small enough to enumerate all of them.

`measure` runs once for every outcome of its noise (:mod:`tests.conformance.enumeration`), on every table of a few people
and under the neighbours that the promise names. Exact is a loss that two neighbours reach at one outcome, or for a promise
with a delta the delta that they reach at its epsilon; what the enumeration leaves out counts against it. Where the data
of a kind is no table, or people blend in crowds, the same mechanism is run on what was counted, or the same laws are
compared for those of one crowd (:data:`OF_THEIR_OWN`).
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from flint import arb

from hubbub.engines.opening import open_source
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.neighbours import Neighbours
from hubbub.kinds.ballots.mechanism import Ways
from hubbub.kinds.ballots.noisy_prefixes import counted_prefixes
from hubbub.kinds.ballots.request import publish
from hubbub.kinds.ballots.spec import PublishedBallots
from hubbub.kinds.series.mechanism import Increments
from hubbub.kinds.series.request import series
from hubbub.kinds.series.spec import Period
from hubbub.kinds.synthetic.spec import Synthetic
from hubbub.noise.source import Source
from hubbub.numeric.exact import Infinite, ball, exp, lower, precision, upper
from hubbub.protocol.measurement import Measurement, release
from hubbub.protocol.spec import Spec
from hubbub.voting.ballots import Ballots
from tests.conformance import enumeration
from tests.conformance import test_exact_laws_of_rows as several_rows
from tests.conformance.test_exact_laws import BATH, CASES, OLD, WELLS, YORK, Case, Person, laws_of

_LIKELY: Final = 1e-4  # outcomes that are looked at
_ONE: Final = {"of": "age:0..1:1"}
_SECRET: Final = {"zero_knowledge": "1", "rows": "2", "people": "3"}

SMALL: Final[dict[str, tuple[Case, int, float]]] = {
    "histogram, noise": (CASES["histogram, noise"], 1, 1e-7),
    "histogram, Gaussian noise": (CASES["histogram, gaussian"], 1, 1e-6),
    "histogram, half of the people in secret": (CASES["histogram, sampled"], 2, 1e-7),
    "count": (CASES["count"], 2, 1e-7),
    "count, 2 of 3 people in secret": (Case("count", {"where": "age >= 1", **_SECRET}, (BATH, OLD)), 3, 1e-6),
    "fraction": (CASES["fraction"], 1, 1e-7),
    "fraction, 2 of 3 people in secret": (Case("fraction", {"where": "age >= 1", **_SECRET}, (BATH, OLD)), 3, 1e-6),
    "mean": (CASES["mean"], 1, 1e-7),
    "mean, 2 of 3 people in secret": (Case("mean", {**_ONE, **_SECRET}, (BATH, WELLS)), 3, 1e-6),
    "quantile": (CASES["quantile"], 2, 1e-7),
    "sum, cap": (CASES["sum, cap"], 1, 1e-7),
    "sum, layers": (CASES["sum, layers"], 1, 1e-7),
    "summary": (replace(CASES["summary"], options={"number": ("people", "mean age:0..1:1"), "epsilon": "3"}), 1, 1e-6),
    "variance": (Case("variance", {**_ONE, "epsilon": "3"}, (BATH, WELLS)), 1, 1e-7),
    "std": (Case("std", {**_ONE, "epsilon": "3"}, (BATH, WELLS)), 1, 1e-7),
    "cube": (CASES["cube"], 1, 1e-6),
    "queries, cells": (CASES["queries, cells"], 1, 1e-7),
    "queries, tree": (CASES["queries, tree"], 1, 1e-7),
    "queries, marginals": (CASES["queries, marginals"], 1, 1e-7),
    "queries, small database of 3 people": (CASES["queries, small"], 3, 1e-7),
    "queries, 2 of 3 people in secret": (CASES["queries, sampled"], 3, 1e-6),
    "questions, 2 of 3 people in secret": (CASES["questions"], 3, 1e-7),
}
"""A case, how many people there are at the most, and how unlikely what is left out is."""


Laws = Mapping[enumeration.People, enumeration.Law]
Pairs = Iterable[tuple[enumeration.People, enumeration.People]]


@dataclass(frozen=True, kw_only=True)
class Game:
    """A promise, the laws of small tables, and which of them are neighbours; `under` says how."""

    promise: DifferentialPrivacy
    laws: Laws
    pairs: Pairs
    under: str
    of_one_run: bool = False  # each outcome comes from one run, so that none is left out of it


def rows() -> Iterable[tuple[str, DifferentialPrivacy, Fraction, str]]:
    """(kind, its promise, what the laws reach of its epsilon, or of its delta if it has one, and whose laws)."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (case, most, reach) in SMALL.items():
            print(name, file=sys.stderr)
            spec = case.spec(Path(folder))
            promise = smallest(spec)
            laws = laws_of(spec, case.people, most, reach)
            pairs = enumeration.neighbours_among(laws, case.people, promise.neighbours)
            found = reached(laws, pairs, promise, of_one_run=name == "cube")
            yield name, promise, found, promise.neighbours.value
    for name, make in OF_THEIR_OWN.items():
        print(name, file=sys.stderr)
        game = make()
        found = reached(game.laws, game.pairs, game.promise, of_one_run=game.of_one_run)
        yield name, game.promise, found, game.under


def smallest(spec: Spec) -> DifferentialPrivacy:
    """The differential promise with the least epsilon."""
    given = [step.conclusion for step in spec.table_promises()]
    return min((each for each in given if isinstance(each, DifferentialPrivacy)), key=lambda each: each.epsilon)


def reached(laws: Laws, pairs: Pairs, promise: DifferentialPrivacy, *, of_one_run: bool) -> Fraction:
    """The most that two neighbours reach; `of_one_run`: each outcome comes from one run, so that none is left out of it."""
    best = Fraction(0)
    with precision():
        missing = {people: ball(max(upper(1 - sum(law.values(), arb(0))), Fraction(0))) for people, law in laws.items()}
        for one, two in pairs:
            if promise.delta:
                assert not isinstance(promise.epsilon, Infinite)
                factor, other = exp(promise.epsilon), laws[two]
                gains = (mass - factor * other.get(at, arb(0)) for at, mass in laws[one].items())
                found = sum((gain.nonnegative_part() for gain in gains), arb(0)) - factor * missing[two]
                best = max(best, lower(found))
                continue
            for at, mass in laws[one].items():
                there = laws[two].get(at, arb(0))
                if float(mass.mid()) >= _LIKELY and (there > 0 or not of_one_run):
                    best = max(best, lower((mass / (there if of_one_run else there + missing[two])).log()))
    return best


# --- kinds whose neighbours, or whose data, are of their own ------------------------------------------------------------


def _ratio() -> Game:
    """People with up to three rows; noise does not depend on the sums, so every law is that of nobody, moved."""
    case = several_rows.CASES["ratio"]
    spec, people = case.spec(), case.people

    def opened(each: Any) -> Any:
        return open_source(several_rows.table(each))

    exactly = {each: enumeration.without_noise(spec, opened(each)) for each in enumeration.tables(people, 1, None)}
    law, promise = enumeration.law_of(spec, opened(()), 1e-7), smallest(spec)
    laws = {each: several_rows.moved(law, several_rows.apart(exactly[()], exactly[each])) for each in exactly}
    pairs = enumeration.neighbours_among(laws, people, promise.neighbours)
    return Game(promise=promise, laws=laws, pairs=pairs, under=promise.neighbours.value)


def _crowds(kind: str, options: Mapping[str, Any], people: Sequence[Person], cell: Callable[[Any], Hashable]) -> Game:
    """A promise to crowds: two of one cell are exchanged if it has k people; who is in a smaller one is left out."""
    spec = Case(kind, options).spec(Path())
    (promise,) = [step.conclusion for step in spec.table_promises()]
    assert isinstance(promise, CrowdBlending)
    laws = laws_of(spec, people, promise.k, 1e-7)
    blend = DifferentialPrivacy(epsilon=promise.epsilon, neighbours=Neighbours.REPLACE)
    pairs = _in_crowds(laws, people, promise.k, cell)
    return Game(promise=blend, laws=laws, pairs=pairs, under=f"two of a crowd of {promise.k}, one of none")


def _in_crowds(laws: Laws, people: Sequence[Person], k: int, cell: Callable[[Any], Hashable]) -> Pairs:
    for one, two in enumeration.neighbours_among(laws, people, Neighbours.REPLACE):
        (gone, *_), (came, *_) = (list((Counter(a) - Counter(b)).elements()) for a, b in ((one, two), (two, one)))
        if cell(gone) == cell(came) and sum(cell(each) == cell(gone) for each in one) >= k:
            yield one, two
    for one, two in enumeration.neighbours_among(laws, people, Neighbours.ADD_REMOVE):
        (gone,) = ((Counter(one) - Counter(two)) + (Counter(two) - Counter(one))).elements()
        if sum(cell(each) == cell(gone) for each in max(one, two, key=len)) < k:
            yield one, two


def _bin(person: Person) -> Hashable:
    return person[0], person[1] // 2


def _of_counts(spec: Spec, data: Mapping[enumeration.People, Any], people: Sequence[Hashable], reach: float) -> Game:
    """Of a kind that measures what was counted already."""
    laws, promise = {each: enumeration.law_of(spec, exact, reach) for each, exact in data.items()}, smallest(spec)
    pairs = [
        each
        for each in enumeration.neighbours_among(laws, people, promise.neighbours)
        if all(people in laws for people in each)
    ]
    return Game(promise=promise, laws=laws, pairs=pairs, under=promise.neighbours.value)


def _sampled_records() -> Game:
    spec = Case("records", {"columns": "town", "crowd": "2", "sample": "0.2", "at_delta": "0.05"}).spec(Path())
    laws, promise = laws_of(spec, (BATH,), _MANY, 0), smallest(spec)
    pairs = enumeration.neighbours_among(laws, (BATH,), promise.neighbours)
    return Game(promise=promise, laws=laws, pairs=pairs, under=promise.neighbours.value)


def _synthetic() -> Game:
    """The tables that the rows are made of: the seed is drawn after them, and looks at nothing."""
    options = {"columns": ("town=Bath,York", "age:0..4:2"), "ways": "1", "epsilon": "8"}
    spec = Case("synthetic", options).spec(Path())
    assert isinstance(spec, Synthetic)
    people, promise = (BATH, OLD), smallest(spec)
    laws = laws_of(spec.tables, people, 1, 1e-8)
    pairs = enumeration.neighbours_among(laws, people, promise.neighbours)
    return Game(promise=promise, laws=laws, pairs=pairs, under=promise.neighbours.value)


def _series(**words: Any) -> Game:
    """Two periods, drawn at once as after a period that was missed; a person is in one of them, or in both."""
    declared = series("club", kind="count", periods=2, first="2026-01", recur=2, person="id", **words)
    periods = ((0, 1), (1, 0), (1, 1))
    data: dict[enumeration.People, Increments] = {}
    for one in (None, *periods):
        counted = np.array([[0], [0]] if one is None else [[each] for each in one], dtype=np.int64)
        data[() if one is None else (one,)] = Increments(counted, ())
    return _of_counts(Period(series=declared, period="2026-02"), data, periods, 1e-7)


@dataclass(frozen=True)
class _Recounted:
    """Ballots after the recount: the mechanism of their table on numbers of ballots, the official record being fixed."""

    spec: PublishedBallots

    def table_promises(self) -> tuple[Derivation, ...]:
        return self.spec.table_promises()

    def measure(self, data: Mapping[tuple[str, ...], int], source: Source) -> Measurement:
        return Measurement(ways=release(Ways(self.spec), data, source))


def _ballots(counts: Callable[[int], Mapping[tuple[str, ...], int]], piles: Iterable[int], **words: Any) -> Game:
    """Piles of ballots of one kind beside one official record."""
    record = {"rounds": [{"counts": {"a": 4, "b": 0, "c": 0}}], "winner": "a"}
    spec = _Recounted(publish(record, k="2", **words))
    data: dict[enumeration.People, Any] = {("a ballot",) * many: counts(many) for many in piles}
    return _of_counts(cast(Spec, spec), data, ("a ballot",), 1e-7 if "noisy" in words else 0)


def _ranked(many: int) -> Mapping[tuple[str, ...], int]:
    return counted_prefixes(Ballots.from_counts("abc", {("a", "b", "c"): many}), 3)


_MANY: Final = 16  # people of one crowd, of whom a few are drawn
_CELLS: Final = (BATH, ("Bath", 1), YORK)

OF_THEIR_OWN: Final[dict[str, Callable[[], Game]]] = {
    "ratio": _ratio,
    "points": lambda: _crowds(
        "points",
        {"columns": "age", "box": "0..4", "grid": "2", "lattice": "1", "crowd": "2", "epsilon": "3"},
        (BATH, ("Bath", 1), ("Bath", 2)),
        _bin,
    ),
    "records": lambda: _crowds("records", {"columns": "town,age:2", "crowd": "2"}, _CELLS, _bin),
    "records, a fifth of the people in secret": _sampled_records,
    "synthetic, its tables before the seed": _synthetic,
    "series, two periods": lambda: _series(epsilon="3"),
    "series, a secret half in each of two periods": lambda: _series(epsilon="3", sample="0.5"),
    "ballots, noise on three ranks, after the recount": lambda: _ballots(
        _ranked, (3, 4, 5), noisy=True, epsilon="8", depth="3"
    ),
    "ballots, a fifth of them in secret, after the recount": lambda: _ballots(
        lambda many: {("a",): many}, range(_MANY + 1), sample="0.2", at_delta="0.05"
    ),
}
"""What is enumerated in ways of their own."""
