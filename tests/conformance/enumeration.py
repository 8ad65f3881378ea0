"""The exact law of `measure` on a small table, by running it once for every outcome of its noise.

`measure` runs as it is, on a table that is counted once. Only the samplers are replaced, each by one that takes the
outcome whose turn it is and multiplies its exact probability (a ball) to that of the run::

    law_of(spec, engine)   what is drawn -> its probability; runs less likely than `REACH` are left out, and missing
    accused(promise, ...)  what the auditor has against a promise, on all pairs of neighbours among small tables

A mechanism that draws a word by any other way than these samplers stops the enumeration: the source has none to give.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from flint import arb

from hubbub.audit.exact import of_laws
from hubbub.channels.mechanisms.warped import Warped
from hubbub.channels.mechanisms.warped_walk import walk
from hubbub.guarantees.curve import Curve
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, Guarantee, TailoredPrivacy
from hubbub.guarantees.neighbours import Neighbours
from hubbub.kinds.quantile import ranks as quantile
from hubbub.noise.binomial import binomial
from hubbub.noise.gaussian import discrete_gaussian
from hubbub.noise.sampler import distinct, two_sided_geometric
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import Infinite, ball, exp
from hubbub.numeric.gaussian_sums import masses
from hubbub.protocol.spec import Spec
from hubbub.query_classes.tails import exponential

Law = Mapping[Hashable, arb]
People = tuple[Hashable, ...]
"""Who is in a table: one entry for each person, in order."""

REACH = 1e-6
"""Runs less likely than this are not followed to their end. What is left out is in no law, and known exactly."""

Options = Sequence[tuple[Any, arb]]


class Turn:
    """Which outcome of each draw a run takes: the first run takes the likeliest of each, the next changes the last."""

    def __init__(self, reach: float) -> None:
        self._reach = reach
        self._taken: list[int] = []
        self._options: list[int] = []  # how many each draw of this run had
        self.at = 0
        self.chance = arb(1)

    def take(self, options: Options) -> Any:
        """The outcome whose turn it is; the options come from the likeliest to the least likely."""
        if self.at == len(self._taken):
            self._taken.append(0)
            self._options.append(0)
        likely = [(value, mass) for value, mass in options if float((self.chance * mass).mid()) >= self._reach]
        self._options[self.at] = len(likely)
        if not likely:
            raise TooUnlikely
        value, mass = likely[self._taken[self.at]]
        self.at += 1
        self.chance *= mass
        return value

    def again(self) -> bool:
        """Get ready for the next run; False if there is none."""
        used = min(self.at + 1, len(self._taken))
        del self._taken[used:], self._options[used:]
        while self._taken and self._taken[-1] + 1 >= self._options[-1]:
            self._taken.pop()
            self._options.pop()
        if self._taken:
            self._taken[-1] += 1
        self.at, self.chance = 0, arb(1)
        return bool(self._taken)


class TooUnlikely(Exception):
    """Nothing that this run could still draw is likely enough."""


class NoWords:
    """A source that has nothing to give: every sampler in use is one of those that are enumerated."""

    def words(self, n: int) -> Any:
        raise AssertionError("a word was drawn by a sampler that is not enumerated")


class CountedOnce:
    """A table whose exact answers are kept, so that the data is read once and not for each outcome."""

    def __init__(self, engine: Any) -> None:
        self._engine, self._known = engine, list[tuple[str, Any, Any]]()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def answer(question: Any, source: Any) -> Any:
            for asked, same, found in self._known:
                if (asked, same) == (name, question):
                    return found
            found = getattr(self._engine, name)(question, source)
            self._known.append((name, question, found))
            return found

        return answer


def law_of(spec: Spec, engine: Any, reach: float = REACH) -> Law:
    """The probability of everything that a measurement of this table may draw."""
    table = CountedOnce(engine) if hasattr(engine, "count") else engine  # or numbers that were counted already
    turn, law = Turn(reach), dict[Hashable, arb]()
    spec.measure(table, ScriptedSource.from_label("first"))  # loads every module before its samplers are replaced
    with _enumerated(turn):
        while True:
            try:
                drawn = spec.measure(table, NoWords())
            except TooUnlikely:
                pass
            else:
                outcome = _outcome(drawn)
                law[outcome] = law.get(outcome, arb(0)) + turn.chance
            if not turn.again():
                return law


Outcome = tuple[tuple[tuple[int, ...], ...], ...]
"""What is drawn: of each mechanism its rows."""


def without_noise(spec: Spec, engine: Any) -> Outcome:
    """What a measurement of this table draws if every noise is the likeliest, which is none."""
    table = CountedOnce(engine)
    spec.measure(table, ScriptedSource.from_label("first"))  # counts before the samplers are replaced
    with _enumerated(Turn(REACH)):
        return _outcome(spec.measure(table, NoWords()))


def _outcome(drawn: Any) -> Outcome:
    return tuple(tuple(map(tuple, _rows(drawn[name].batch))) for name in drawn)


def _rows(batch: Any) -> Iterator[Sequence[Any]]:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


# --- the samplers -------------------------------------------------------------------------------------------------


@contextmanager
def _enumerated(turn: Turn) -> Iterator[None]:
    """Every module of ours that has one of the samplers has the one below instead."""
    instead = {
        two_sided_geometric: lambda rate, size, source: _each(size, turn, _geometric(rate)),
        discrete_gaussian: lambda s2, size, source: _each(size, turn, _gaussian(s2)),
        binomial: lambda counts, p, source: np.array(
            [turn.take(_binomial(int(n), Fraction(p))) for n in counts], dtype=np.int64
        ),
        distinct: lambda k, n, source: np.array(turn.take(_subsets(k, n)), dtype=np.int64),
        walk: lambda curve, cap, counts, source: np.array(
            [turn.take(_warped(curve, int(n))) for n in counts], dtype=np.int64
        ),
        quantile.draw: lambda runs, source: turn.take(_points(runs)),
        exponential: lambda losses, rate, source: turn.take(_choice(losses.tolist(), rate)),
    }
    changed = [
        (module, name, value)
        for label, module in list(sys.modules.items())
        if label.startswith("hubbub.") and module is not None
        for name, value in list(vars(module).items())
        if callable(value) and isinstance(value, Hashable) and value in instead
    ]
    for module, name, value in changed:
        setattr(module, name, instead[value])
    try:
        yield
    finally:
        for module, name, value in changed:
            setattr(module, name, value)


def _each(size: int, turn: Turn, options: Options) -> Any:
    return np.array([turn.take(options) for _ in range(size)], dtype=np.int64)


_KNOWN: dict[tuple[Hashable, ...], Options] = {}


def _kept(key: tuple[Hashable, ...], make: Callable[[], Options]) -> Options:
    if key not in _KNOWN:
        _KNOWN[key] = sorted(make(), key=lambda each: -float(each[1].mid()))
    return _KNOWN[key]


def _geometric(rate: Any) -> Options:
    if isinstance(rate, Infinite):
        return [(0, arb(1))]
    q = exp(-Fraction(rate))
    peak, far = (1 - q) / (1 + q), int(16 / Fraction(rate)) + 2
    return _kept(("geometric", Fraction(rate)), lambda: [(x, peak * q ** abs(x)) for x in range(-far, far + 1)])


def _gaussian(s2: Any) -> Options:
    def make() -> Options:
        sides = masses(int(7 * float(s2) ** 0.5) + 2, Fraction(s2))
        return [(sign * x, mass) for x, mass in enumerate(sides) for sign in ((1, -1) if x else (1,))]

    return _kept(("gaussian", Fraction(s2)), make)


def _warped(curve: Curve, n: int) -> Options:
    """By its definition: w_j e^-|E(n) - E(j)|, up to where the tail is hardly anything."""

    def make() -> Options:
        channel = Warped(curve)
        here, step = channel.total_loss(n), curve.at(n + 1)
        assert isinstance(step, Fraction)  # a curve without an end, where nothing is exact
        reach = range(n + int(16 / step) + 3)
        return [(j, channel.weight(j).value * exp(-abs(here - channel.total_loss(j)))) for j in reach]

    return _kept(("warped", curve, n), make)


def _binomial(n: int, p: Fraction) -> Options:
    return _kept(("binomial", n, p), lambda: [(x, ball(comb(n, x) * p**x * (1 - p) ** (n - x))) for x in range(n + 1)])


def _subsets(k: int, n: int) -> Options:
    return _kept(
        ("subsets", k, n), lambda: [(each, ball(Fraction(1, comb(n, k)))) for each in combinations(range(n), k)]
    )


def _points(runs: Sequence[Any]) -> Options:
    return sorted(quantile.law(runs).items(), key=lambda each: -float(each[1].mid()))


def _choice(losses: Sequence[int], rate: Fraction) -> Options:
    return _shares([(i, exp(-rate * (loss - min(losses)))) for i, loss in enumerate(losses)])


def _shares(weights: Sequence[tuple[Any, arb]]) -> Options:
    total = sum((weight for _, weight in weights), arb(0))
    return sorted(((value, weight / total) for value, weight in weights), key=lambda each: -float(each[1].mid()))


# --- the games ----------------------------------------------------------------------------------------------------


def tables(kinds: Sequence[Hashable], most: int, enforced: int | None) -> Iterator[People]:
    """Every table of up to so many people, or of as many as are enforced, of the given kinds of people."""
    for people in range(most + 1) if enforced is None else (enforced,):
        yield from combinations_with_replacement(kinds, people)


def accused(
    promise: Guarantee,
    laws: Mapping[People, Law],
    kinds: Sequence[Hashable],
    cell: Callable[[Any], Hashable] = lambda person: person,
) -> str | None:
    """The sentence of the auditor about two neighbours that break this promise; None if it has nothing against any.

    Of a promise of crowds, everybody counts who is in no crowd: fewer than k people of the table could stand in their
    place without anybody noticing. Of a tailored promise everybody is owed the loss of as many as there are in their cell.
    """
    if isinstance(promise, TailoredPrivacy):
        return _owed(promise, laws, kinds, cell)
    match promise:
        case DifferentialPrivacy():
            pairs, alike = neighbours_among(laws, kinds, promise.neighbours), promise
        case CrowdBlending():
            alike = DifferentialPrivacy(epsilon=promise.epsilon)
            pairs = _outside_crowds(promise.k, alike, laws)
        case _:
            raise TypeError(f"no game for {promise}")
    for one, two in pairs:
        found = of_laws(laws[one], laws[two], alike)
        if found.is_refuted:
            return f"{one} and {two}, {promise}: {found.sentence()}"
    return None


def _owed(
    promise: TailoredPrivacy, laws: Mapping[People, Law], kinds: Sequence[Hashable], cell: Callable[[Any], Hashable]
) -> str | None:
    for people in laws:
        for person in set(people):
            here = sum(cell(other) == cell(person) for other in people)
            epsilon = promise.curve.at(here)
            assert isinstance(epsilon, Fraction)
            rest = _of(Counter(people) - Counter([person]))
            for one, two in ((people, rest), (rest, people)):
                found = of_laws(laws[one], laws[two], DifferentialPrivacy(epsilon=epsilon, delta=promise.delta))
                if found.is_refuted:
                    return f"{one} and {two}, {promise}: {found.sentence()}"
    return None


def _outside_crowds(k: int, alike: DifferentialPrivacy, laws: Mapping[People, Law]) -> Iterator[tuple[People, People]]:
    for people in laws:
        for person in set(people):
            rest = Counter(people) - Counter([person])
            replaced = [_of(rest + Counter([other])) for other in people]
            if sum(not of_laws(laws[people], laws[each], alike).is_refuted for each in replaced) < k:
                yield people, _of(rest)
                yield _of(rest), people


def neighbours_among(
    tables: Iterable[People], kinds: Sequence[Hashable], neighbours: Neighbours
) -> Iterator[tuple[People, People]]:
    """All pairs of them that differ by one person who comes or goes, or is replaced by one of these kinds."""
    for people in tables:
        for person in set(people):
            rest = Counter(people) - Counter([person])
            others = [rest] if neighbours is Neighbours.ADD_REMOVE else [rest + Counter([kind]) for kind in kinds]
            for other in map(_of, others):
                if other != people:
                    yield people, other
                    yield other, people


def _of(counts: Counter[Hashable]) -> People:
    return tuple(sorted(counts.elements(), key=str))
