"""Aggregates of the same groups side by side, as one release: ``hubbub release summary``.

COUNT(*), COUNT(DISTINCT unit), SUM and AVG have in it the meaning that BigQuery gives them: all rows of a person count,
in at most ``max_groups_contributed`` groups; what a person has in a group is cut to the bounds of the aggregate, and
epsilon is split evenly between aggregates. COUNT(*) without bounds has its cap drawn, as part of its own epsilon.
"""

from __future__ import annotations

import re
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.private_sql.query import ALL_ROWS, GROUP, Aggregate, Query, most_rows, of_people, range_of

TOGETHER: Final = ("COUNT", "SUM", "AVG")


def is_summary(query: Query) -> bool:
    """Whether a query is one of people with several rows that one release of all its numbers is for."""
    if query.private.promise != "DIFFERENTIAL_PRIVACY" or query.option("people", "rows") is not None:
        return False
    if len(query.aggregates) > 1:
        return True
    (what,) = query.aggregates
    if query.people_once or what.distinct:
        return False
    rows = query.option("max_rows_contributed", "rows_per_person")
    if what.name == "COUNT":
        return rows is None and query.option("rows_per_group") is None and GROUP not in what.bounds
    return what.name == "AVG" or (what.name == "SUM" and rows is None and GROUP in what.bounds)


def summary_words(query: Query) -> dict[str, Any]:
    """The words that ask for it; those of the promise, of groups and of WHERE come beside."""
    numbers = list(dict.fromkeys(_number(query, each) for each in query.aggregates))
    if len({_number_name(each) for each in numbers}) < len(numbers):
        raise WrongUse("two aggregates of the query are called alike; give each a name of its own, with AS")
    return {"number": numbers} | _bounds(query)


def _number_name(number: str) -> str:
    """The name of a number, or what it is."""
    name, sign, _ = number.partition(" = ")
    return name if sign else re.sub(r"^(\w+ [^:]*).*|^(\w+).*", r"\1\2", number)


def _bounds(query: Query) -> dict[str, Any]:
    """What one person contributes at most."""
    groups = query.option("max_groups_contributed", "groups_per_person")
    rows = query.option("max_rows_contributed", "rows_per_person")
    per_group = query.option("rows_per_group")
    if query.people_once:
        if any(each is not None for each in (groups, rows, per_group)):
            raise WrongUse("people with one row are in one group; take the bounds on groups and rows out")
        return {}
    given = {"rows_per_person": rows or ALL_ROWS, "rows_per_bin": per_group}
    if query.by:
        given["distinct"] = groups or (None if rows else "1")
    return {name: each for name, each in given.items() if each is not None}


def _number(query: Query, what: Aggregate) -> str:
    """An aggregate as a NUMBER."""
    if what.name not in TOGETHER:
        raise WrongUse(
            "COUNT, SUM and AVG are one release together; ask for spreads, quantiles and averages of rows apart, or add "
            "people = 40000 to OPTIONS, where quantiles go with COUNT and AVG of people with one row"
        )
    name = what.alias.lower()
    called = f"{name} = " if re.fullmatch(r"[a-z][a-z0-9_]{0,29}", name) else ""
    return called + _what(query, what)


def _what(query: Query, what: Aggregate) -> str:
    if what.name == "COUNT":
        return "people" if of_people(query, what) else _rows(query, what)
    return _measure_words(query, what)


def _measure_words(query: Query, what: Aggregate) -> str:
    if query.option("max_rows_contributed") is not None:
        raise WrongUse(
            f"{what.name} beside others is cut by groups; say max_groups_contributed and contribution_bounds_per_group "
            "in the place of max_rows_contributed, or ask for it apart"
        )
    if what.name == "SUM" and GROUP not in what.bounds and not query.people_once:
        raise WrongUse(
            "SUM has contribution_bounds_per_group => (LOW, HIGH), between which what a person has in a group is cut; "
            "add it"
        )
    return f"{'sum' if what.name == 'SUM' else 'mean'} {range_of(query, what, GROUP)}"


def _rows(query: Query, what: Aggregate) -> str:
    cap = most_rows(what) or query.option("rows_per_group", "max_rows_contributed", "rows_per_person")
    return "rows" if cap is None else f"rows {cap}"
