"""A private query whose parts are known: its aggregates with their bounds, its groups, and what its dictionary declares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from hubbub.dictionary.dictionary import Dictionary
from hubbub.errors import WrongUse
from hubbub.numeric.exact import rational, to_text
from hubbub.private_sql.clause import STEP, PrivateQuery, parser
from hubbub.private_sql.where import column_name
from hubbub.runtime.frozen import dataclass

GROUP, ROW = "contribution_bounds_per_group", "contribution_bounds_per_row"
ALL_ROWS: Final = "1000000"  # a cap alone is what bounds a person
_FINE: Final = 100  # steps that a range has at least, where no step is said


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """COUNT, SUM and their like, with what stands between the parentheses."""

    name: str  # COUNT, SUM, ...
    arguments: list[Any]
    distinct: bool
    bounds: Mapping[str, tuple[str, ...]]
    alias: str
    part: Fraction | None = None  # of APPROX_QUANTILES, which one


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query whose parts are known."""

    private: PrivateQuery
    aggregates: list[Aggregate]
    by: list[str]
    where: str | None
    person: str | None
    declared: Dictionary

    def option(self, *names: str) -> str | None:
        return next((self.private.options[name] for name in names if name in self.private.options), None)

    def flag(self, name: str) -> bool:
        text = self.private.options.get(name, "false").lower()
        if text not in ("true", "false"):
            raise WrongUse(f"{name} is TRUE or FALSE; write it so")
        return text == "true"

    @property
    def people_once(self) -> bool:
        """Whether a person counts by one row, as it is said."""
        said = any(map(self.flag, ("rows_are_people", "one_row_per_person", "unique_person")))
        return said or self.declared.rows_are_people


def of_people(query: Query, what: Aggregate) -> bool:
    """Whether a COUNT is of people, and not of rows; or one sentence."""
    exp = parser().exp
    if len(what.arguments) != 1:
        raise WrongUse("COUNT has * or DISTINCT and the privacy unit between its parentheses; write it so")
    over = what.arguments[0]
    if what.distinct:
        if not isinstance(over, exp.Column) or str(over.name) != query.person:
            raise WrongUse(
                "COUNT(DISTINCT ...) counts people, by the privacy unit column; for how many values a column has, no kind "
                "of release is built"
            )
        return True
    if not isinstance(over, exp.Star) and not (isinstance(over, exp.Literal) and not over.is_string):
        raise WrongUse("COUNT of a column is COUNT(*) with WHERE column IS NOT NULL; write it so")
    return query.people_once


def quoted(name: str) -> str:
    """A column as a SPEC names it."""
    return name if re.fullmatch(r"[^\W\d]\w*", name) else '"' + name.replace('"', '""') + '"'


def range_of(query: Query, what: Aggregate, bounds: str) -> str:
    """What is measured, with its range and step: as said in the query, or by the data dictionary."""
    several = what.name in ("PERCENTILE_CONT", "APPROX_QUANTILES")
    if not what.arguments or (len(what.arguments) > 1 and not several):
        raise WrongUse(f"{what.name} has one column between its parentheses, and its bounds; write it so")
    column = column_name(what.arguments[0])
    given = what.bounds.get(bounds) or (what.bounds.get(GROUP) if query.people_once else None)
    field = query.declared.field(column)
    if given is None:
        if len(what.bounds) - (STEP in what.bounds):
            raise WrongUse(f"{what.name} has {bounds} => (LOW, HIGH); write it so")
        if field is None or field.range is None:
            raise WrongUse(
                f"{what.name} has {bounds} => (LOW, HIGH), as nothing about it may be found in the data; add it"
            )
        return quoted(column)
    low, high = (rational(each, "a bound") for each in given)
    step = rational(what.bounds[STEP][0], STEP) if STEP in what.bounds else step_of(low, high, field)
    return f"{quoted(column)}:{to_text(low)}..{to_text(high)}:{to_text(step)}"


def step_of(low: Fraction, high: Fraction, field: Any) -> Fraction:
    """The step that the dictionary declares, or 1 where that is fine enough."""
    if field is not None and field.range is not None:
        found = rational(field.range.rpartition(":")[2], STEP)
        if high > low and ((high - low) / found).denominator == 1:
            return found
    if high - low >= _FINE and (high - low).denominator == 1:
        return Fraction(1)
    raise WrongUse(
        "values count in steps, and for such bounds a step has to be said; add step => 0.1 beside the bounds"
    )
