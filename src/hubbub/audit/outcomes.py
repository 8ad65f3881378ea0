"""What came out of many runs of anything, and the events by which two such heaps are told apart.

An outcome is a number, numbers in lists, dictionaries or frames, or anything that can be written down; an exception is
an outcome too. What cannot be written down is refused: it would look alike whatever it holds. Events are proposed from
one heap of outcomes and are then values: they can be counted in any other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from math import inf
from numbers import Number
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]

_THRESHOLDS: Final = 40
_LABELS: Final = 60
_COORDINATES: Final = 50
_BITS: Final = range(20, 64)  # multiples of 2^-20 .. 2^-63
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+>")  # how Python prints an object that says nothing of itself
_LONG: Final = 300  # characters; a longer outcome is kept by its beginning and its digest
_LONGEST: Final = 60
_SIMPLE: Final = frozenset((int, float))


@dataclass(frozen=True, slots=True, eq=False)
class Heap:
    """Outcomes as texts, by their type and size, and as rows of numbers where they are such (nan elsewhere)."""

    texts: tuple[str, ...]
    shapes: tuple[str, ...]
    numbers: Floats  # run x coordinate

    def __len__(self) -> int:
        return len(self.texts)

    def first(self, runs: int) -> Heap:
        return Heap(self.texts[:runs], self.shapes[:runs], self.numbers[:runs])


class Event(Protocol):
    """Something that an outcome has or has not."""

    @property
    def describe(self) -> str: ...

    def occurs_in(self, heap: Heap) -> Bools: ...


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A number at or above a threshold (or, turned round, below it)."""

    coordinate: int
    threshold: float
    below: bool = False

    @property
    def describe(self) -> str:
        what = "the outcome" if self.coordinate == 0 else f"number {self.coordinate + 1} of it"
        return f"{what} is {'below' if self.below else 'at least'} {self.threshold:.6g}"

    def occurs_in(self, heap: Heap) -> Bools:
        values = _column(heap, self.coordinate)
        found: Bools = values < self.threshold if self.below else values >= self.threshold
        return found


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some outcomes, as texts."""

    texts: frozenset[str]

    @property
    def describe(self) -> str:
        first_texts = sorted(self.texts)[:3]
        more = f" or {len(self.texts) - 3} others" if len(self.texts) > 3 else ""
        return f"the outcome is {' or '.join(text[:40] for text in first_texts)}{more}"

    def occurs_in(self, heap: Heap) -> Bools:
        return np.array([text in self.texts for text in heap.texts], dtype=bool)


@dataclass(frozen=True, slots=True)
class OfShape:
    """An outcome of one type and size: a whole number among fractions, a list with one entry more, an error."""

    shape: str

    @property
    def describe(self) -> str:
        return f"the outcome is of the form {self.shape}"

    def occurs_in(self, heap: Heap) -> Bools:
        return np.array([shape == self.shape for shape in heap.shapes], dtype=bool)


@dataclass(frozen=True, slots=True)
class OnLattice:
    """A number that is a multiple of 2^-bits (or is not): what floating-point noise leaves in the last digits."""

    coordinate: int
    bits: int
    off: bool

    @property
    def describe(self) -> str:
        return f"the outcome is {'no' if self.off else 'a'} multiple of 2^-{self.bits}"

    def occurs_in(self, heap: Heap) -> Bools:
        values = _column(heap, self.coordinate)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.ldexp(values, self.bits)
            integral = np.isfinite(scaled) & (scaled == np.floor(scaled))
        found: Bools = (~integral if self.off else integral) & np.isfinite(values)
        return found


@dataclass(frozen=True, slots=True)
class Scored:
    """A weighted sum of the numbers at or above a threshold: a linear classifier."""

    weights: tuple[float, ...]
    threshold: float
    below: bool

    @property
    def describe(self) -> str:
        heavy = ", ".join(f"{weight:.3g}" for weight in self.weights[:4])
        more = ", ..." if len(self.weights) > 4 else ""
        return f"the score with weights {heavy}{more} is {'below' if self.below else 'at least'} {self.threshold:.6g}"

    def occurs_in(self, heap: Heap) -> Bools:
        if heap.numbers.shape[1] != len(self.weights):
            return np.zeros(len(heap), dtype=bool)
        score = heap.numbers @ np.array(self.weights)
        found: Bools = score < self.threshold if self.below else score >= self.threshold
        return found


def heap(outcomes: Iterable[object]) -> Heap:
    """Outcomes of any kind, gathered."""
    given = [_plain(outcome) for outcome in outcomes]
    rows = [_leaves(outcome) for outcome in given]
    numbers = np.full((len(given), max(map(len, rows), default=0)), np.nan)
    for i, row in enumerate(rows):
        numbers[i, : len(row)] = row
    return Heap(tuple(map(_text, given)), tuple(map(_shape, given)), numbers)


def join_heaps(first: Heap | None, second: Heap) -> Heap:
    """Two heaps, one after the other."""
    if first is None:
        return second
    width = max(first.numbers.shape[1], second.numbers.shape[1])
    parts = []
    for each in (first, second):
        wide = np.full((len(each), width), np.nan)
        wide[:, : each.numbers.shape[1]] = each.numbers
        parts.append(wide)
    return Heap(first.texts + second.texts, first.shapes + second.shapes, np.concatenate(parts))


def _plain(outcome: object) -> object:
    """An outcome as lists, dictionaries, numbers and texts; people's own objects stay as they are."""
    match outcome:
        case np.ndarray() | np.generic():
            return outcome.tolist()
        case Mapping():
            return {str(key): _plain(value) for key, value in outcome.items()}
        case list() | tuple():
            return list(outcome) if _SIMPLE.issuperset(map(type, outcome)) else [_plain(value) for value in outcome]
        case set() | frozenset():
            return ["a set", *sorted(repr(_plain(value)) for value in outcome)]  # in no order, whatever it prints
        case None | str() | bytes() | Number() | BaseException():
            return outcome
    return _of_a_frame(outcome)


def _of_a_frame(outcome: Any) -> object:
    """A table or column of pandas, polars or Arrow as lists; anything else as it is."""
    library = type(outcome).__module__.partition(".")[0]
    if library == "polars" and hasattr(outcome, "collect"):
        outcome = outcome.collect()
    match library:
        case "pandas" if hasattr(outcome, "columns"):
            return _plain({str(name): outcome[name].tolist() for name in outcome.columns})
        case "polars" if hasattr(outcome, "columns"):
            return _plain(outcome.to_dict(as_series=False))
        case "pandas" | "polars" if hasattr(outcome, "to_list"):
            return _plain(outcome.to_list())
        case "pyarrow" if hasattr(outcome, "to_pydict"):
            return _plain(outcome.to_pydict())
        case "pyarrow" if hasattr(outcome, "to_pylist"):
            return _plain(outcome.to_pylist())
    return outcome


def _leaves(outcome: object) -> list[float]:
    """Every number of an outcome, in order."""
    match outcome:
        case dict():
            return [number for value in outcome.values() for number in _leaves(value)]
        case list():
            if _SIMPLE.issuperset(map(type, outcome)):
                return [_float(number) for number in outcome]
            return [number for value in outcome for number in _leaves(value)]
        case Number() if not isinstance(outcome, bool | complex):
            return [_float(outcome)]
    return []


def _shape(outcome: object) -> str:
    """The type of an outcome and, of what has one, its size; of a long text, how many bits its length has."""
    match outcome:
        case dict() | list():
            return f"{type(outcome).__name__} of {len(outcome)}"
        case str() | bytes():
            return f"{type(outcome).__name__} of about {1 << len(outcome).bit_length()}"
    return type(outcome).__name__


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def _text(outcome: object) -> str:
    if isinstance(outcome, BaseException):
        return f"error {type(outcome).__name__}: {outcome}"
    try:
        shown_text = repr(outcome)
    except ValueError:  # an integer of more digits than Python prints
        shown_text = hex(outcome) if isinstance(outcome, int) else ""
    if not shown_text or (not isinstance(outcome, str) and _ADDRESS.search(shown_text)):
        raise WrongUse(
            f"a run returned something that cannot be written down (a {type(outcome).__name__}), and nothing would be "
            "seen of what it holds; return numbers, texts, or lists, dictionaries and frames of them"
        )
    return (
        shown_text
        if len(shown_text) <= _LONG
        else f"{shown_text[:_LONGEST]}... {blake2b(shown_text.encode()).hexdigest()}"
    )


def _column(heap: Heap, coordinate: int) -> Floats:
    if coordinate >= heap.numbers.shape[1]:
        return np.full(len(heap), np.nan)
    column: Floats = heap.numbers[:, coordinate]
    return column


def propose_events(one: Heap, two: Heap) -> Iterator[Event]:
    """Events that may tell two heaps apart, either way round."""
    width = max(one.numbers.shape[1], two.numbers.shape[1])
    for coordinate in range(min(width, _COORDINATES)):
        both = np.concatenate([_column(one, coordinate), _column(two, coordinate)])
        known = both[np.isfinite(both)]
        for threshold in _thresholds(known):
            yield AtLeast(coordinate, threshold)
            yield AtLeast(coordinate, threshold, below=True)
        if known.size and (known != np.floor(known)).any():
            for bits in _BITS:
                yield OnLattice(coordinate, bits, off=True)
                yield OnLattice(coordinate, bits, off=False)
    yield from _by_text(one, two)
    for shape, _ in Counter(one.shapes + two.shapes).most_common(_LABELS):
        yield OfShape(shape)
    if width > 1:
        yield from _by_score(one, two)


def _thresholds(values: Floats) -> list[float]:
    if not values.size:
        return []
    some = np.unique(np.quantile(values, np.linspace(0, 1, _THRESHOLDS), method="nearest"))
    return [float(x) for x in some]


def _by_text(one: Heap, two: Heap) -> Iterator[Event]:
    """Outcomes by how much more often they came up in one heap: the first few of that list together."""
    ours, theirs = Counter(one.texts), Counter(two.texts)
    every = {*ours, *theirs}
    if len(every) > (len(one) + len(two)) / 2:  # nearly all different: only one that comes again says something
        every = {text for text in every if ours[text] + theirs[text] > 1}
    ranked = sorted(every, key=lambda text: ((ours[text] + 0.5) / (theirs[text] + 0.5), text))
    for order in (ranked, ranked[::-1]):
        steps = sorted({*range(1, min(len(order), _LABELS))} | {len(order) * i // 20 for i in range(1, 20)} - {0})
        for stop in steps:
            if stop < len(order) or len(order) == 1:
                yield OneOf(frozenset(order[:stop]))
    for text, _ in (ours + theirs).most_common(_LABELS):
        yield OneOf(frozenset((text,)))


def _by_score(one: Heap, two: Heap) -> Iterator[Event]:
    """Thresholds on the direction in which the means differ most for their spread."""
    width = one.numbers.shape[1]
    if width != two.numbers.shape[1] or min(len(one), len(two)) < 3:
        return
    kept = [each.numbers[np.isfinite(each.numbers).all(axis=1)] for each in (one, two)]
    if min(len(each) for each in kept) < 3:
        return
    spread = sum(np.cov(each, rowvar=False) for each in kept)
    scale = np.trace(spread) / width or 1.0
    weights = np.linalg.solve(spread + 1e-6 * scale * np.eye(width), kept[0].mean(axis=0) - kept[1].mean(axis=0))
    size = float(np.abs(weights).max()) or 1.0
    values = tuple(float(weight) for weight in weights / size)
    for threshold in _thresholds(np.concatenate(kept) @ np.array(values)):
        yield Scored(values, threshold, below=False)
        yield Scored(values, threshold, below=True)
