"""How wide intervals will be, tried on invented people, as many as were stated. Nothing of the steward's table is in it, and
nothing is spent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from hubbub.errors import HubbubError, WrongUse
from hubbub.noise.source import SystemSource
from hubbub.numeric.exact import integer
from hubbub.plan.invented import MOST, columns_of, fill, half_width, result
from hubbub.protocol.spec import Kind
from hubbub.report.picture import picture
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import parse as parse_condition
from hubbub.tables.schema import ColumnType

_DRAWN: Final = 120  # numbers in a picture


@dataclass(frozen=True, slots=True)
class Tried:
    """How wide an interval was on invented people, or how many rows came out: a number with its words."""

    width: str
    people: int
    numbers: int
    picture: str  # what its report would show, as HTML; "" where there is too much to see


def tried(kind: Kind, options: Mapping[str, Any], schema: Mapping[str, ColumnType], people: str, shape: str) -> Tried:
    """The median half-width of the intervals of a release of invented people."""
    many = min(integer(people, "the number of people", least=1), MOST)
    from hubbub.engines.opening import open_source

    engine = open_source(table(options, schema, many, shape))
    shown = result(kind.ask(**options).with_schema(engine.columns()), engine, SystemSource())
    sheet = shown.sheets()[0]
    drawn = shown.drawing() if sheet.rows <= _DRAWN else None
    shows = "" if drawn is None else picture(drawn)
    ends = ("low", "high") if "low" in sheet.schema.names else ("increment_low", "increment_high")
    if not set(ends) <= set(sheet.schema.names):
        return Tried("", many, sheet.rows, shows)
    width = half_width(sheet, *ends)
    return Tried("" if width is None else f"{width:.3g}", many, sheet.rows, shows)


def table(options: Mapping[str, Any], schema: Mapping[str, ColumnType], many: int, shape: str) -> pa.Table:
    """People of every bin, with values all over the declared ranges; half of them meet each comparison."""
    return fill(columns_of(_declared(options), shape), schema, many, options.get("person"))


def _declared(options: Mapping[str, Any]) -> Iterator[Any]:
    for name in ("by", "columns"):
        given = options.get(name) or ()
        if isinstance(given, str):
            raise WrongUse("what is expected of such a release is not known beforehand")
        yield from map(parse, given)
    for name in ("of", "per"):
        if options.get(name) is not None:
            yield measured(options[name])
    if options.get("where") is not None:
        yield parse_condition(options["where"])


def expected(
    kind: Kind, options: Mapping[str, Any], schema: Mapping[str, ColumnType], people: str, shape: str
) -> Tried | str:
    """As :func:`tried`; "none" where it cannot be tried, which says nothing about the release."""
    try:
        return tried(kind, options, schema, people, shape)
    except HubbubError:
        return "none"
    except (ValueError, TypeError, OverflowError, ZeroDivisionError, pa.ArrowException):
        return "none"
