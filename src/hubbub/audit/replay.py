"""Record and replay: run on one table, freeze the noise, run on the neighbour, and compare everything but the data.

A function takes a table and a source of noise. Every call that is handed the source is a place where noise is drawn,
and its other arguments are what reaches the noise. On both tables these calls must be the same ones in the same order
with the same parameters, and the numbers that reach them may differ by no more than was declared. With frozen noise
every branch, message, key and exit code must be the same too. So a count of rows instead of people, a bin that is
skipped because it is empty, or a policy that was read off the data shows in one run, where statistics would need
thousands.
"""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from fractions import Fraction
from math import isfinite
from numbers import Number
from types import FrameType
from typing import Any, Final

import numpy as np

from hubbub.audit.finding import Depth, Finding, Game
from hubbub.errors import HubbubError
from hubbub.guarantees.verdict import Refuted, Undecided, Verdict
from hubbub.noise.source import Record, RecordingSource, ScriptedSource, Source, SystemSource, Words
from hubbub.numeric.exact import Exact, rational, rounded, to_text
from hubbub.protocol.spec import Spec
from hubbub.runtime.frozen import dataclass

_KEYS: Final = 10_000  # rows whose keys are compared
_SAMPLING: Final = "hubbub.sampling."  # draws people
_THINNING: Final = "hubbub.noise.binomial."  # draws some of each count
_CHOOSING: Final = "hubbub.noise.bernoulli."  # draws one of many
_DOORS: Final = ("hubbub.noise.", "hubbub.channels.", _SAMPLING)  # what happens inside is noise
_COUNTING: Final = "hubbub.engines."  # draws a word for each row where one of a person's rows is chosen

Run = Callable[[Any, Source], object]


@dataclass(frozen=True, slots=True)
class Drawn:
    """One place where noise was drawn: which function, its parameters, the numbers that reached it."""

    function: str
    parameters: tuple[tuple[str, object], ...]
    numbers: tuple[tuple[str, np.ndarray[Any, Any]], ...]
    words: int  # of noise that had been taken before
    sampled: bool = False  # whether it drew people, and not noise
    subsampled: bool = False  # whether it drew some of each count
    chosen: bool = False  # whether it drew one of many, on which what is drawn next may depend


@dataclass(frozen=True, slots=True)
class Ran:
    """All that a run shows to somebody who sees everything but the data."""

    code: int
    outcome: str
    shape: object
    numbers: tuple[float | int, ...]  # of the result
    drawn: tuple[Drawn, ...]
    requests: tuple[int, ...]


class _Frozen:
    """Plays a recording; where a run asks for something else, it goes on with words of its own and says so."""

    def __init__(self, record: Record) -> None:
        self._record, self._at = record, 0
        self._rest = ScriptedSource.from_label("replay")
        self.asked_counts: list[int] = []

    def words(self, n: int) -> Words:
        self.asked_counts.append(n)
        given = self._record.requests[self._at] if self._at < len(self._record.requests) else b""
        self._at += 1
        return np.frombuffer(given, dtype=np.uint64).copy() if len(given) == 8 * n else self._rest.words(n)


class _Counting:
    """Passes a source through and counts its words, so that a place knows how much noise came before it."""

    def __init__(self, inner: Source) -> None:
        self.inner, self.taken = inner, 0
        self.sizes: list[int] = []

    def words(self, n: int) -> Words:
        self.taken += n
        self.sizes.append(n)
        return self.inner.words(n)


def replay(
    run: Run,
    one: Any,
    two: Any,
    *,
    distance: Exact = 1,
    shape: Callable[[Any], object] | None = None,
    added: bool = True,
    sizes: bool = True,
    game: Game = Game.DIFFERENTIAL,
    subject: str = "a function",
    source: Source | None = None,
) -> Finding:
    """Run on one table with its noise recorded, and on its neighbour with that noise.

    `distance` is how far apart, in all, the numbers that reach the noise may be. `shape` says what of a result may not
    depend on the data (its keys, its columns); without it, the result with every number taken out. Where noise is added
    to a result after it was drawn, nothing is seen to reach it; then the results themselves, whose noise is the same,
    are so far apart (`added`). Where it is published how many there are, how many numbers reach the noise may depend on
    the data (not `sizes`); from there on the runs cannot be set beside each other.

    Guarantee: `Refuted` only if the two runs differed in something that frozen noise should have kept, or by more than
    was declared: both are facts about these two tables. Nothing is proved about others.
    """
    declared = rational(distance, "`distance`")
    recording = RecordingSource(SystemSource() if source is None else source)
    first = _ran(run, one, _Counting(recording), shape or shape_of)
    frozen = _Frozen(recording.record)
    second = _ran(run, two, _Counting(frozen), shape or shape_of)
    verdict, moved = _compare_runs(first, second, declared, added, sizes)
    return Finding(
        game=game,
        depth=Depth.REPLAY,
        verdict=verdict,
        claimed=f"distance {to_text(declared)}",
        subject=subject,
        lower_bound=None if moved is None else f"distance {to_text(rounded(moved, up=False, digits=12))}",
        notes=_notes(first, second),
        numbers={"draws": len(first.drawn), "distance": None if moved is None else float(moved)},
    )


def of_spec(
    spec: Spec, one: Any, two: Any, *, distance: Exact = 1, declared: bool = True, subject: str | None = None
) -> Finding:
    """A release of any kind on two neighbouring inputs: its sheets, keys and names of facts may not depend on them.

    Where which rows come out is part of what is published (bins that are found), they are not `declared`. Sentences are
    left alone: `present` writes them from what was drawn ("too few people in 2 bins"), and sees nothing else.
    """

    def shape(result: Any) -> object:
        sheets = tuple((sheet.name, str(sheet.schema), sheet.rows if declared else None) for sheet in result.sheets())
        keys = tuple(row[0] for row in result.display(_KEYS).rows) if declared else None
        return sheets, keys, tuple(sorted(result.facts()))

    name = spec.describe().entry if subject is None else subject

    def run(data: Any, source: Source) -> object:
        return spec.present(spec.measure(data, source))

    return replay(run, one, two, distance=distance, shape=shape, added=False, sizes=declared, subject=name)


# --- running --------------------------------------------------------------------------------------------------------


def _ran(run: Run, data: Any, source: _Counting, shape: Callable[[Any], object]) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    drawn: list[Drawn] = []
    code, outcome, seen = 0, "", None
    numbers: tuple[float | int, ...] = ()
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with _watching(source, drawn):
                result = run(data, source)
            seen, numbers = shape(result), tuple(_numbers_of(result))
        except HubbubError as error:
            code, outcome = error.exit_code, str(error)
        except Exception as error:  # whatever a function raises is something that it shows
            code, outcome = 1, f"{type(error).__name__}: {error}"
    output = (outcome, out.getvalue(), err.getvalue(), *(str(warning.message) for warning in warned))
    return Ran(code, "\n".join(output), seen, numbers, tuple(drawn), tuple(source.sizes))


@contextmanager
def _watching(source: _Counting, drawn: list[Drawn]) -> Iterator[None]:
    """Note every call, while this lasts, that is handed the source."""

    inside: list[FrameType] = []  # the door that was entered

    def trace(frame: FrameType, event: str, _: object) -> None:
        if event == "return" and inside and inside[-1] is frame:
            inside.clear()
        if event != "call" or inside:
            return
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        local = frame.f_locals
        if not any(local.get(name) is source for name in names if name != "self"):
            return
        module = f"{frame.f_globals.get('__name__', '')}."
        if module.startswith((*_DOORS, _COUNTING)):
            inside.append(frame)
        if not module.startswith(_DOORS):
            return
        given = {name: local[name] for name in names if name not in ("self", "cls") and local[name] is not source}
        parameters, numbers = [], []
        for name, value in given.items():
            array = _as_numbers(value)
            if array is not None:
                numbers.append((name, array))
            elif isinstance(value, str | int | Fraction | float | bool) or value is None:
                parameters.append((name, value))
        sampled = module.startswith(_SAMPLING)
        kind = (sampled, module == _THINNING, module == _CHOOSING)
        drawn.append(Drawn(code.co_qualname, tuple(parameters), tuple(numbers), source.taken, *kind))

    before = sys.getprofile()
    sys.setprofile(trace)
    try:
        yield
    finally:
        sys.setprofile(before)


def _as_numbers(value: object) -> np.ndarray[Any, Any] | None:
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        return value.copy()
    if isinstance(value, list | tuple) and value and all(isinstance(x, Number | np.number) for x in value):
        return np.array(value)
    return None


# --- comparing ------------------------------------------------------------------------------------------------------


def _compare_runs(one: Ran, two: Ran, declared: Fraction, added: bool, sizes: bool) -> tuple[Verdict, Fraction | None]:
    """The first thing in which two runs differ that must not, and how far apart what reached the noise was."""
    moved: Fraction | None = None
    for i, (first, second) in enumerate(zip(one.drawn, two.drawn, strict=False)):
        if first.function != second.function:
            return _not_alike("another branch", i, first.function, second.function), moved
        if first.parameters != second.parameters:
            name = next(a[0] for a, b in zip(first.parameters, second.parameters, strict=False) if a != b)
            return _not_alike(f"the parameter {name} of {first.function}", i, "one value", "another"), moved
        if first.sampled:
            break  # the same draws take other people of another table, and what follows from them is not the same
        apart = _distance(first, second)
        if apart is None and not sizes:
            break
        if apart is None:
            return _not_alike(f"how many numbers reach {first.function}", i, "some", "others"), moved
        if first.words != second.words:
            break  # the noise is no longer the same, and neither is what follows from it
        if first.numbers:
            moved = apart if moved is None else max(moved, apart)
        if apart > declared:
            return _too_far(f"what reaches {first.function}", apart, declared), moved
        if first.chosen:
            break  # the same noise may choose another, and what is drawn next may depend on that
        if first.subsampled:
            break  # a count more may take other words for its own coins, and what follows from them is not the same
    else:
        if len(one.drawn) != len(two.drawn):
            times = str(len(one.drawn)), str(len(two.drawn))
            return _not_alike("how often noise is drawn", None, *times), moved
    if one.code != two.code:
        return _not_alike("the exit code", None, str(one.code), str(two.code)), moved
    if _without_numbers(one.outcome) != _without_numbers(two.outcome):
        return _not_alike("messages", None, "some words", "others"), moved
    if one.shape != two.shape:
        return _not_alike("keys or columns of what comes out", None, "some", "others"), moved
    frozen = one.requests == two.requests
    if added and frozen and one.requests and not any(draw.numbers for draw in one.drawn):
        both = list(zip(one.numbers, two.numbers, strict=False))
        if any(isfinite(a) != isfinite(b) for a, b in both):
            return _not_alike("whether the result is a number", None, "one", "the other"), moved
        finite = ((Fraction(a), Fraction(b)) for a, b in both if isfinite(a))
        moved = sum((abs(a - b) for a, b in finite), Fraction(0))
        if moved > declared:
            return _too_far("the result, with the same noise,", moved, declared), moved
    if not one.drawn and not frozen:
        return _not_alike("how much noise is drawn", None, str(sum(one.requests)), str(sum(two.requests))), moved
    if not one.drawn and not one.requests:
        return Undecided("no noise was drawn from the source, so that there is nothing to freeze"), moved
    near = "what reached it was not seen" if moved is None else "what reaches it is as near as declared"
    return Undecided(f"with the noise frozen, both runs look alike, and {near}"), moved


def _not_alike(what: str, position: int | None, first: str, second: str) -> Refuted:
    witness = (("first", first), ("second", second))
    at = () if position is None else (("place", str(position + 1)),)
    return Refuted(f"{what} depends on the data", (*at, *witness))


def _too_far(what: str, apart: Fraction, declared: Fraction) -> Refuted:
    witness = (("distance", to_text(rounded(apart, up=False, digits=12))), ("declared", to_text(declared)))
    return Refuted(f"{what} moves further than was declared", witness)


def _distance(one: Drawn, two: Drawn) -> Fraction | None:
    """The sum of all differences; None if there are more numbers in one of them."""
    total = Fraction(0)
    if [name for name, _ in one.numbers] != [name for name, _ in two.numbers]:
        return None
    for (_, first), (_, second) in zip(one.numbers, two.numbers, strict=True):
        if first.shape != second.shape:
            return None
        exact = all(each.dtype.kind in "iuO" for each in (first, second))
        if not exact and not (np.isfinite(first) == np.isfinite(second)).all():
            return None
        apart = (
            np.abs(first.astype(object) - second.astype(object)).sum() if exact else np.nansum(np.abs(first - second))
        )
        total += Fraction(apart) if exact else Fraction(float(apart))
    return total


def _numbers_of(result: Any) -> Iterator[float | int]:
    """Every number of a result, in order."""
    if isinstance(result, Mapping):
        for key in sorted(result, key=str):
            yield from _numbers_of(result[key])
    elif isinstance(result, np.ndarray) and result.dtype.kind in "iuf":
        yield from result.ravel().tolist()
    elif isinstance(result, list | tuple):
        for value in result:
            yield from _numbers_of(value)
    elif isinstance(result, np.integer | int) and not isinstance(result, bool):
        yield int(result)
    elif isinstance(result, float | np.floating | Fraction):
        yield float(result)


def _notes(one: Ran, two: Ran) -> tuple[str, ...]:
    if any(draw.sampled or draw.subsampled for draw in one.drawn):
        return ("People were drawn; what came after that was compared by its shape alone.",)
    if any(draw.chosen for draw in one.drawn):
        return ("One of many was drawn; what came after that was compared by its shape alone.",)
    if one.requests == two.requests:
        return ()
    return (
        "The runs took different amounts of noise (a secret sample takes as many words as there are people); what came "
        "after that was compared by its shape alone.",
    )


def _without_numbers(text: str) -> str:
    """A text with every number, and whether it is hidden, taken out."""
    return " ".join(re.sub(r"[-\d,.]+|\bhidden\b", "#", text).split())


def shape_of(result: Any) -> object:
    """A result with every number taken out: types, keys, lengths."""
    if isinstance(result, Mapping):
        return {str(key): shape_of(value) for key, value in result.items()}
    if isinstance(result, np.ndarray):
        return "array", result.shape
    if isinstance(result, list | tuple):
        return type(result).__name__, tuple(shape_of(value) for value in result)
    if isinstance(result, Number | np.number) or result is None:
        return "a number" if result is not None else "nothing"
    return type(result).__name__ if not isinstance(result, str) else _without_numbers(result)
