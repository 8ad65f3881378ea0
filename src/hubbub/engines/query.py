"""A query in the place of a table: what is one, which functions it calls, and what its text says about its rows.

What a query may do is seen to by each engine with its own means, before anything else is asked: it is one statement,
one that only reads, and stands in brackets of ours only after it was read without them.
"""

from __future__ import annotations

import re
from typing import Final

_BEGINS: Final = re.compile(r"\s*(select|with|table|values|from)\b\s*\S", re.IGNORECASE)
_LITERALS: Final = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--[^\n]*|/\*.*?\*/", re.DOTALL)
_MOVING: Final = (
    (re.compile(r"\bover(\s*\(|\s+\w)"), "a window function"),
    (
        re.compile(r"\b(limit|offset|fetch\s+(first|next)|top\s+\d+|distinct\s+on|tablesample|using\s+sample)\b"),
        "LIMIT or the like",
    ),
)
_NAME: Final = r"\"(?:[^\"]|\"\")+\"|`[^`]+`|[^\W\d][\w$]*"
_CALL: Final = re.compile(rf"({_NAME})\s*\(")

ONE_SELECT: Final = (
    "a query must be one statement that begins with SELECT and only reads; check it by itself, that it calls nothing "
    "that could change something, and that you may read what it names"
)


NAMES_ONLY: Final = "a table of this database is asked for by the name of a table or a view; make a view of the query"


class RowsMove(UserWarning):
    """A warning: one person may move more than one row of the query's result."""


def is_query(table: str) -> bool:
    """Whether it is a query and not the name of a table.

    >>> is_query("SELECT * FROM people"), is_query("people"), is_query("selection"), is_query("table")
    (True, False, False, False)
    """
    return _BEGINS.match(table) is not None


def bare(query: str) -> str:
    """The query without its final semicolon."""
    return query.strip().rstrip(";").rstrip()


def function_names(query: str) -> set[str]:
    """The names of all functions that a query may call, as they are looked up: rather too many than too few.

    >>> sorted(function_names("SELECT nextval ('s'), \\"Odd\\"(1) FROM t"))
    ['Odd', 'nextval']
    """
    # A comment may stand before the bracket, and where it ends is each database's own rule: every word may be called.
    has_comment = "/*" in query or "--" in query
    names = re.findall(_NAME, query) if has_comment else _CALL.findall(query)
    return {word[1:-1].replace('""', '"') if word[0] in '"`' else word.lower() for word in names}


def remarks(table: str | None) -> tuple[str, ...]:
    """What a steward is told about a query, from its text alone.

    >>> remarks("SELECT * FROM people"), len(remarks("SELECT a, rank() OVER (ORDER BY b) FROM t LIMIT 5"))
    ((), 1)
    """
    if table is None or not is_query(table):
        return ()
    plain_text = _LITERALS.sub(" ", table).lower()
    found = [what for sign, what in _MOVING if sign.search(plain_text)]
    if not found:
        return ()
    return (
        f"the query has {' and '.join(found)}, so one person may move more than one row: whoever comes or goes changes "
        "which other rows are there, or what is in them, and the promise is about that person's own rows alone; leave "
        "it out, or see to it that each row depends on one person",
    )
