"""Bins: a public partition of a column, written down before any data is seen.

::

    department                       every value that occurs (only where an absent bin means a hidden one)
    department=Police,Fire,null      these values; `null` is the bin of missing values, `other` that of all the rest
    diagnosis=@codes.txt,other       the values in a file, one on each line
    age:0..100:10                    0 <= age < 100 in steps of 10; append ,null or ,other as above
    salary:[0,20000,50000,inf)       from each edge up to, not including, the next
    hired:month                      calendar months (day, month, quarter or year) that occur
    hired:month:2024-01..2024-12     these months
    smoker:boolean                   true and false, however they are written

How numbers and dates are written is said after the bins, like ``,money`` or ``,date=%m/%d/%Y``
(:mod:`hubbub.tables.cell_format`). A value with a comma or an @ in front, or a text that reads null or other, is
written in double quotes: ``city="Washington, DC","null"``.
Whoever fits none of the declared bins is left out, by a rule that does not look at anybody else. Not-a-number is a
missing value; an infinite number is in no interval, and an infinite date in no period. Text is compared sign by sign,
so that an accented letter written as one sign and the same letter written as two are two values.

Positions along a column of numbers, which points are put on before they move.
"""

from __future__ import annotations

import datetime
import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import gcd, lcm, prod
from typing import ClassVar, TypeAlias

from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import Assumption
from hubbub.numeric.exact import INFINITY, Loss, positive, ratio_to_text, rational, to_text
from hubbub.runtime.frozen import dataclass
from hubbub.runtime.regular_file import open_regular
from hubbub.tables import cell_format
from hubbub.tables.cell_format import BOOLEAN, DATE
from hubbub.tables.generalization import Coarser, parse_generalization


@dataclass(frozen=True, slots=True)
class Lattice:
    """Positions 0..steps-1 along a column of numbers, which points are put on: the i-th is from low + i * step up to,
    not including, the next.

    Which one a value is on is worked out in floating point, so that one on a line may go to either side; that depends
    on nothing but the value. Whoever is beyond the ends, or has no number, is left out.
    """

    kind: ClassVar[str] = "lattice"
    null: ClassVar[bool] = False
    other: ClassVar[bool] = False
    column: str
    low: Fraction
    step: Fraction
    steps: int
    reads: str = ""

    @property
    def high(self) -> Fraction:
        return self.low + self.steps * self.step

    def __len__(self) -> int:
        return self.steps


NULL, OTHER = "null", "other"
MOST_BINS = 10**8
"""Up to so many declared bins all are listed, at some 50 bytes of memory each; of more, those that show a number."""

MOST_CODES = 2**63
"""A bin is numbered by 64 bits."""

_NUMERAL = r"-?(?:\d+(?:\.\d+)?|\.\d+|inf)"
_DAY = r"\d{4}(?:-\d\d){0,2}"
_RANGE = rf"{_NUMERAL}\.\.{_NUMERAL}(?::{_NUMERAL})?|(?:day|month|quarter|year):{_DAY}\.\.{_DAY}"
_EDGES = rf"\[{_NUMERAL}(?:,\s*{_NUMERAL})+\)"
_MOST_BYTES = 1 << 28  # of a file with values


@dataclass(frozen=True, slots=True)
class Values:
    """The listed values, each a bin."""

    kind: ClassVar[str] = "values"
    column: str
    values: tuple[str, ...]
    null: bool = False
    other: bool = False
    reads: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        return self.values

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True)
class Edges:
    """Half-open intervals between consecutive edges; the first may be minus and the last plus infinity."""

    kind: ClassVar[str] = "edges"
    column: str
    edges: tuple[Loss | Fraction, ...]  # None of them infinite but, possibly, the last
    open_below: bool = False  # the first edge is minus infinity and is not listed
    null: bool = False
    other: bool = False
    reads: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        texts = (["-inf"] if self.open_below else []) + [to_text(edge) for edge in self.edges]
        return tuple(f"[{a},{b})" for a, b in pairwise(texts))

    def __len__(self) -> int:
        return len(self.edges) - 1 + self.open_below


@dataclass(frozen=True, slots=True)
class Steps:
    """Half-open intervals of one width: from low + i * width, i = 0 .. steps - 1."""

    kind: ClassVar[str] = "steps"
    column: str
    low: Fraction
    width: Fraction
    steps: int
    null: bool = False
    other: bool = False
    reads: str = ""

    @property
    def edges(self) -> tuple[Fraction, ...]:
        return tuple(self.low + i * self.width for i in range(self.steps + 1))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.labels_at(range(self.steps)))

    def labels_at(self, positions: Iterable[int]) -> Iterator[str]:
        """Some of them, of which there may be millions: an edge between two neighbours is written once."""
        edge = self._edge_writer()
        after, end = -1, ""
        for i in positions:
            begin = end if i == after else edge(i)
            after, end = i + 1, edge(i + 1)
            yield f"[{begin},{end})"

    def _edge_writer(self) -> Callable[[int], str]:
        """From the number of an edge to its text, all over one denominator: a sum of fractions costs ten times that."""
        below = lcm(self.low.denominator, self.width.denominator)
        begin, wide = int(self.low * below), int(self.width * below)
        if below == 1:
            return lambda i: str(begin + i * wide)

        def edge(i: int) -> str:
            above = begin + i * wide
            common = gcd(above, below)
            return ratio_to_text(above // common, below // common)

        return edge

    def __len__(self) -> int:
        return self.steps


@dataclass(frozen=True, slots=True)
class Dates:
    """Calendar periods from the one that starts at `first` to the one that starts at `last`."""

    kind: ClassVar[str] = "dates"
    column: str
    unit: str
    first: datetime.date
    last: datetime.date
    null: bool = False
    other: bool = False
    reads: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(period_label(self.unit, i) for i in range(*self.span))

    @property
    def span(self) -> tuple[int, int]:
        """The numbers of the first period and of the one after the last."""
        return period_number(self.unit, self.first), period_number(self.unit, self.last) + 1

    def __len__(self) -> int:
        first, stop = self.span
        return stop - first


@dataclass(frozen=True, slots=True)
class Discovered:
    """Every value that occurs (or every period, with a unit; or what a public function makes of it). Null is one."""

    kind: ClassVar[str] = "discovered"
    column: str
    unit: str | None = None
    reads: str = ""
    coarser: Coarser | None = None


Declared: TypeAlias = Values | Edges | Steps | Dates
"""An axis whose bins are known beforehand; its length is their number, without null and other."""

Axis: TypeAlias = Declared | Discovered


Countable: TypeAlias = Axis | Lattice
"""Whatever people are counted by."""

UNITS = ("day", "month", "quarter", "year")


def size(axis: Declared | Lattice) -> int:
    """How many bins an axis has, with null and other."""
    return len(axis) + axis.null + axis.other


@lru_cache(maxsize=64)
def all_labels(axis: Declared) -> tuple[str | None, ...]:
    """The labels in the order of their codes; None is the bin of missing values, "other" comes last."""
    extra: tuple[str | None, ...] = ((None,) if axis.null else ()) + ((OTHER,) if axis.other else ())
    return (*axis.labels, *extra)


def declared_size(axes: Sequence[Countable]) -> int | None:
    """The number of bins of a partition, or None if some axis is discovered."""
    total = prod(size(axis) for axis in axes if not isinstance(axis, Discovered))
    if total > MOST_CODES:
        raise WrongUse(
            f"the declared bins multiply to {total:,}, and at most 2^63 can be numbered; declare coarser bins"
        )
    return None if any(isinstance(axis, Discovered) for axis in axes) else total


def rule(axis: Axis) -> Assumption:
    """What happens to values that are not listed."""
    given: tuple[tuple[str, str], ...] = (("column", axis.column),)
    written, read = "", ""
    if axis.reads:
        given, written, read = (*given, ("reads", axis.reads)), "; cells are read as {reads}", ".read"
    if isinstance(axis, Discovered) and axis.coarser is not None:
        return axis.coarser.rule(axis.column)
    if isinstance(axis, Discovered):
        sentence = "{column}: every value of {column} that occurs is a bin, and so is a missing value"
        return Assumption(f"bins.found{read}", f"{sentence}{written}", given)
    missing = "missing values are a bin" if axis.null else "missing values count as not listed"
    rest = "all other values are one bin" if axis.other else "people with any other value are left out"
    name = f"bins.{'null' if axis.null else 'no-null'}.{'other' if axis.other else 'left-out'}"
    return Assumption(f"{name}{read}", f"{{column}}: {missing}; {rest}{written}", given)


def parse(spec: str) -> Axis:
    """The axis that a SPEC says."""
    text = _unicode(spec).strip()
    match = re.match(r'("(?:[^"]|"")*"|[^=:]+)(?:([=:])(.*))?$', text, re.DOTALL)
    if not match or not match[1].strip():
        raise WrongUse(f"a bin specification names a column, like department or age:0..100:10, not {spec[:60]!r}")
    column = _unquote(match[1].strip())
    if match[2] is None:
        return Discovered(column)
    if match[2] == "=":
        is_file = match[3].strip().startswith("@")
        return _from_file(column, match[3].strip()) if is_file else _values(column, match[3])
    return _parse_bins(column, match[3].strip())


def _unicode(spec: object) -> str:
    """A SPEC that is text which can be written down (a command line may hold bytes that are none)."""
    if not isinstance(spec, str) or any("\ud800" <= sign <= "\udfff" for sign in spec):
        raise WrongUse("a bin specification is text in Unicode, like department or age:0..100:10; write it so")
    return spec


def _values(column: str, text: str) -> Values:
    listed, null, other = _parse_listed(column, text)
    if len(set(listed)) != len(listed):
        raise WrongUse(f"the values of {column} are listed twice somewhere; list each once")
    if any(value.startswith("missing=") for value in listed):
        raise WrongUse(
            f"missing=... is no value of {column}; how a missing cell is spelled is said beside the bins, like "
            "`missing=NA,?`"
        )
    if other and OTHER in listed:
        raise WrongUse(f"{column} has two bins labelled other, the listed value and all the rest; leave one out")
    return Values(column, tuple(listed), null, other)


def _from_file(column: str, text: str) -> Values:
    """The values in a file, and after its name whether null and other are bins too."""
    path, null, other = _extras(text.removeprefix("@"))
    listed = _values_in(path.strip(), column)
    if len(set(listed)) != len(listed):
        raise WrongUse(f"the file with the values of {column} has one of them twice; leave it there once")
    if other and OTHER in listed:
        raise WrongUse(f"{column} has two bins labelled other, the listed value and all the rest; leave one out")
    return Values(column, tuple(listed), null, other)


def _values_in(path: str, column: str) -> list[str]:
    """The values in a public file, one on each line, as in ``diag_1=@codes.txt``; blank lines are none."""
    try:
        with open_regular(path) as file:
            raw = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError):
        raise WrongUse(f"the values of {column} cannot be read from {path[:200]!r}; check the path") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    listed = [line for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if line.strip()]
    if len(raw) > _MOST_BYTES or "\0" in text or not listed:
        raise WrongUse(f"a file with the values of {column} has one on each line, in UTF-8, up to 256 MiB; write it so")
    return listed


def _parse_listed(column: str, text: str) -> tuple[list[str], bool, bool]:
    """Comma-separated values, in double quotes where needed, and whether null and other are among them."""
    bare = re.sub(r'"(?:[^"]|"")*"', lambda m: "\0" * len(m[0]), text)  # quoted parts blanked, same length
    parts, start = [], 0
    for i, sign in enumerate(bare + ","):
        if sign == ",":
            parts.append(text[start:i])
            start = i + 1
    tokens = [part.strip() for part in parts]
    _check_meant(column, text.strip(), bare, tokens)
    for token in tokens:
        if not token:
            raise WrongUse(f'a value of {column} is empty; write {column}=a,b, and "" for the empty text')
        if not re.fullmatch(r'"(?:[^"]|"")*"|[^"]+', token, re.DOTALL):
            raise WrongUse(f'a value of {column} with a " in it is written between two others and doubled, like "5"""')
    null, other = NULL in tokens, OTHER in tokens
    values = [_unquote(token) for token in tokens if token not in (NULL, OTHER)]
    return values, null, other


def _check_meant(column: str, text: str, bare: str, tokens: Sequence[str]) -> None:
    """Refuse listed values that were meant as a range, or that a comma cuts in two; in double quotes they are values."""
    ranges = [token for token in tokens if re.fullmatch(_RANGE, token)]
    if ranges or re.fullmatch(_EDGES, text):
        raise WrongUse(
            f"ranges stand after a colon; write {column}:{(ranges or [text])[0][:40]}, or put a text that reads so between "
            "double quotes"
        )
    if cut := re.search(r"[\[(][^\[\]()]*,[^\[\]()]*[\])]", bare):
        raise WrongUse(
            f'a comma ends a value of {column}; put one with a comma in it between double quotes, like "{cut[0][:40]}"'
        )


def _unquote(token: str) -> str:
    return token[1:-1].replace('""', '"') if len(token) > 1 and token[0] == token[-1] == '"' else token


def _parse_bins(column: str, text: str) -> Axis:
    rest, null, other = _extras(text)
    first, *more = rest.split(",")
    if more and first not in (*UNITS, BOOLEAN) and not re.search(r"[\[(:=]|\.\.", rest):
        raise WrongUse(f"listed values stand after an equals sign; write {column}={text[:40]}")
    body, reads = _reading(rest, column)
    if body == BOOLEAN:
        if reads:
            raise WrongUse(f"booleans are read in every way that is usual; write {column}:boolean")
        return Values(column, ("false", "true"), null, other, BOOLEAN)
    if body.startswith("["):
        return replace(_edges(column, body), null=null, other=other, reads=_of_numbers(reads, column))
    unit, _, span = body.partition(":")
    if unit in UNITS:
        if reads and not reads.startswith(DATE):
            raise WrongUse(f"the dates of {column} are no {reads}; say how they are written, like date=%m/%d/%Y")
        if not span:
            if null or other:
                raise WrongUse(f"{column}:{unit} without a span finds its bins in the data, null included; give a span")
            return Discovered(column, unit, reads)
        return replace(_dates(column, unit, span), null=null, other=other, reads=reads)
    return replace(_range(column, body), null=null, other=other, reads=_of_numbers(reads, column))


def _of_numbers(reads: str, column: str) -> str:
    if reads.startswith(DATE):
        raise WrongUse(f"{column} is cut at numbers, and date= is about dates; use {column}:month, or drop date=")
    return reads


def _extras(text: str) -> tuple[str, bool, bool]:
    """What is left without null and other at its end, and whether they were there."""
    null = other = False
    while True:
        body, comma, word = text.rpartition(",")
        if comma and word.strip() in (NULL, OTHER):
            null, other, text = null or word.strip() == NULL, other or word.strip() == OTHER, body
        else:
            return text.strip(), null, other


def _reading(text: str, column: str) -> tuple[str, str]:
    """The bins, and how cells are written if that is said after them."""
    body, dated, pattern = text.partition(f",{DATE}")
    if dated:
        return body.strip(), cell_format.dates(pattern.strip(), column)
    parts = []
    while match := re.fullmatch(r"(.*),\s*([a-z]+|decimal=(?:,|[^,]*))", text, re.DOTALL):
        text = match[1]
        parts.append(match[2].strip())
    return text.strip(), cell_format.numbers(parts, column)


def with_reading(spec: str, reads: str) -> str:
    """A SPEC of numbers or dates that also says how their cells are written; null and other stay last.

    >>> with_reading("salary:0..100:10,null", "money")
    'salary:0..100:10,money,null'
    """
    axis = parse(spec)
    if axis.reads or isinstance(axis, Values) or (isinstance(axis, Discovered) and axis.unit is None):
        return spec
    body, ends = spec, ""
    while body.endswith((",null", ",other")):
        body, _, word = body.rpartition(",")
        ends = f",{word}{ends}"
    return f"{body},{reads}{ends}"


_MOST_STEPS = 10_000_000


def _range(column: str, text: str) -> Steps:
    match = re.fullmatch(r"([^:]+)\.\.([^:]+):([^:]+)", text)
    if not match:
        raise WrongUse(
            f"the bins of {column} are written {column}:0..100:10, {column}:[0,50,100) or {column}:month, with money, "
            "decimal=, or date=%m/%d/%Y after a comma if cells are written so, "
            f"not {text[:40]!r}"
        )
    what = f"a bound of {column}"
    low, high, width = rational(match[1], what), rational(match[2], what), positive(match[3], f"the width of {column}")
    steps = (high - low) / width
    if steps <= 0:
        raise WrongUse(
            f"the range of {column} ends at {match[2]}, not above its beginning {match[1]}; write the lower end first"
        )
    if steps.denominator != 1:
        raise WrongUse(
            f"the range of {column} from {match[1]} to {match[2]} is no whole number of steps of {match[3]}; change the width, or "
            "one end"
        )
    if steps > _MOST_STEPS:
        raise WrongUse(
            f"the range of {column} has more than {_MOST_STEPS:,} steps of {match[3]}; choose a larger width"
        )
    return Steps(column, low, width, int(steps))


def _edges(column: str, text: str) -> Edges:
    if not re.fullmatch(r"\[.*\)", text):
        raise WrongUse(f"edges of {column} are written {column}:[0,20000,50000,inf), not {text[:40]!r}")
    parts = [part.strip() for part in text[1:-1].split(",")]
    open_below = parts[0] == "-inf"
    edges: list[Loss] = [_edge(part, column) for part in parts[open_below:]]
    if len(parts) < 2 or any(a >= b for a, b in pairwise(edges)) or not edges:
        raise WrongUse(f"the edges of {column} must grow, like {column}:[0,20000,50000,inf)")
    return Edges(column, tuple(edges), open_below)


def _edge(text: str, column: str) -> Loss:
    if text == "inf":
        return INFINITY
    return rational(text, f"an edge of {column}")


def _dates(column: str, unit: str, span: str) -> Dates:
    first, dots, last = span.partition("..")
    if not dots:
        raise WrongUse(f"a span of dates is written {column}:{unit}:2024-01..2024-12, not {span[:40]!r}")
    begin, end = _date(first, column), _date(last, column, end=True)
    if period_number(unit, begin) > period_number(unit, end):
        raise WrongUse(f"the span of {column} must not end before it begins; swap its ends")
    return Dates(column, unit, begin, end)


def _date(text: str, column: str, *, end: bool = False) -> datetime.date:
    """2024, 2024-01 or 2024-01-31; what is not said is the first of it, or the last with `end`."""
    parsed = re.fullmatch(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", text.strip(), re.ASCII)
    try:
        if parsed:
            year, month = int(parsed[1]), int(parsed[2] or (12 if end else 1))
            return datetime.date(year, month, int(parsed[3] or (monthrange(year, month)[1] if end else 1)))
    except ValueError:  # no such month or day
        pass
    raise WrongUse(f"a date of {column} is written 2024, 2024-01 or 2024-01-31, not {text[:20]!r}; check it")


def period_number(unit: str, day: datetime.date) -> int:
    """Consecutive numbers for consecutive periods."""
    if unit in ("day", "week"):
        return day.toordinal() if unit == "day" else (day.toordinal() - 1) // 7
    months = day.year * 12 + day.month - 1
    return months // _MONTHS[unit]


def period_begin(unit: str, number: int) -> datetime.date:
    """The first day of a period, which is a Monday for a week."""
    if unit in ("day", "week"):
        return datetime.date.fromordinal(number if unit == "day" else 7 * number + 1)
    months = number * _MONTHS[unit]
    return datetime.date(months // 12, months % 12 + 1, 1)


def period_label(unit: str, number: int) -> str:
    """A period as text that sorts."""
    begin = period_begin(unit, number)
    if unit == "week":
        year, week, _ = begin.isocalendar()
        return f"{year:04d}-W{week:02d}"
    if unit == "quarter":
        return f"{begin.year:04d}-Q{number % 4 + 1}"
    return begin.isoformat()[: _SIGNS[unit]]


_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_SIGNS = {"day": 10, "month": 7, "year": 4}


def axis(spec: str) -> Axis:
    """A column as somebody names it: with the public function that makes it coarser, or with its bins."""
    if not isinstance(spec, str):
        raise WrongUse("a column is named by a text, like age:10 or zip/3; write it so")
    found = parse_generalization(spec)
    return parse(spec) if found is None else Discovered(found[0], coarser=found[1])
