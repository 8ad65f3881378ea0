"""What a private query says beside SQL: ``WITH promise OPTIONS (...)`` after SELECT, and bounds after ``=>``.

These are read from the signs of the query, and taken out; what is left is SQL that a parser knows. An aggregate is
renamed to its place in the query, so that its bounds are found again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from hubbub.errors import WrongUse, install
from hubbub.runtime.frozen import dataclass

LONGEST: Final = 20_000  # signs of a query
_UNIT: Final = ("privacy_unit_column", "rows_are_people", "one_row_per_person", "unique_person", "coverage")
PROMISES: Final[dict[str, tuple[str, ...]]] = {
    "DIFFERENTIAL_PRIVACY": (
        *("epsilon", "delta", *_UNIT, "max_groups_contributed", "max_rows_contributed"),
        *("rows_per_person", "groups_per_person", "rows_per_group", "people", "rows", "noise"),
    ),
    "CROWD_BLENDING": ("crowd", "epsilon", "sample", "at_delta", *_UNIT),
    "ZERO_KNOWLEDGE": ("epsilon", "rows", "people", *_UNIT),
    "OUTLIER_PRIVACY": ("curve", "show_above", *_UNIT),
}
"""What can be promised, and what is said about it in its OPTIONS."""

AGGREGATES: Final = (
    "COUNT", "SUM", "AVG", "AVG_ROWS", "VARIANCE", "VAR_SAMP", "VAR_POP", "STDDEV", "STDDEV_SAMP", "STDDEV_POP",
    "APPROX_QUANTILES", "PERCENTILE_CONT",
)  # fmt: skip
BOUNDS: Final = ("contribution_bounds_per_group", "contribution_bounds_per_row")
STEP: Final = "step"
_MARK: Final = "hubbub_aggregate_"
_EXAMPLE: Final = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, privacy_unit_column = person) COUNT(*) FROM table"
)


class Token(NamedTuple):
    """A sign of the query: its kind, its text, and where it stands."""

    kind: str
    text: str
    start: int
    end: int  # the place after it


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateQuery:
    """The query in its parts: the promise with its options, and SQL whose aggregates are numbered; `bounds` are theirs."""

    promise: str
    options: dict[str, str]
    sql: str
    bounds: tuple[dict[str, tuple[str, ...]], ...]


def aggregate(name: str) -> tuple[str, int] | None:
    """The aggregate that a numbered name stands for, and its number."""
    found = re.fullmatch(rf"{_MARK}(\d+)_(\w+)", name)
    return None if found is None else (found[2].upper(), int(found[1]))


def read_query(text: object) -> PrivateQuery:
    """The parts of a query, or one sentence."""
    if not isinstance(text, str) or len(text) > LONGEST or "\0" in text:
        raise WrongUse(f"a query is text of at most {LONGEST:,} signs; shorten it")
    tokens = _tokens(text)
    if any(token.text.lower().startswith(_MARK) for token in tokens):
        raise WrongUse("a name in the query is one that we use ourselves; call it otherwise")
    if any(token.kind == "PIPE_GT" for token in tokens):
        raise WrongUse(
            "a query is one SELECT, and |> goes on with what it made; write WHERE and GROUP BY in the place of it"
        )
    first, last, promise = _clause(tokens)
    options = dict(_options(tokens[first + 4 : last], promise))
    cuts = [(tokens[first + 1].start, tokens[last].end, "")]
    bounds = _bounds(tokens, last, cuts)
    sql, at = "", 0
    for start, end, instead in sorted(cuts):
        sql, at = f"{sql}{text[at:start]}{instead}", end
    return PrivateQuery(promise=promise, options=options, sql=sql + text[at:], bounds=tuple(bounds))


def parser() -> Any:
    """The package that reads SQL."""
    try:
        import sqlglot
    except ImportError:
        raise WrongUse(f"SQL needs one package more; {install('sql')}, or ask with hubbub release") from None
    return sqlglot


def _tokens(text: str) -> list[Token]:
    sqlglot = parser()
    try:
        found = sqlglot.tokenize(text, read="bigquery")
    except (sqlglot.errors.SqlglotError, RecursionError, ValueError):
        raise WrongUse(
            f"this cannot be read as SQL: a quotation mark or a comment is open; write it like {_EXAMPLE}"
        ) from None
    return [Token(each.token_type.name, each.text, each.start, each.end + 1) for each in found]


def _clause(tokens: list[Token]) -> tuple[int, int, str]:
    """Where the clause stands: the place of SELECT and of the closing parenthesis, and what is promised."""
    found = [
        i
        for i, token in enumerate(tokens)
        if token.kind == "SELECT" and i + 1 < len(tokens) and tokens[i + 1].kind == "WITH"
    ]
    if not found:
        raise WrongUse(f"a query says what is promised to people, and this one does not; write it like {_EXAMPLE}")
    if len(found) > 1 or _depth(tokens[: found[0]]):
        raise WrongUse("a query has one promise, in its outermost SELECT; leave out the others")
    words = [token.text.upper() for token in tokens[found[0] + 2 : found[0] + 5]]
    if len(words) < 3 or words[0] not in PROMISES or words[1:] != ["OPTIONS", "("]:
        raise WrongUse(
            f"after SELECT WITH comes one of {', '.join(PROMISES)}, and OPTIONS (...); write it like {_EXAMPLE}"
        )
    return found[0], _closing(tokens, found[0] + 4), words[0]


def _depth(tokens: list[Token]) -> int:
    """How many parentheses are open after these."""
    return sum({"L_PAREN": 1, "R_PAREN": -1}.get(token.kind, 0) for token in tokens)


def _closing(tokens: list[Token], at: int) -> int:
    depth = 0
    for i in range(at, len(tokens)):
        depth += {"L_PAREN": 1, "R_PAREN": -1}.get(tokens[i].kind, 0)
        if depth == 0:
            return i
    raise WrongUse("a parenthesis of the query is not closed; add )")


def _options(tokens: list[Token], promise: str) -> Iterator[tuple[str, str]]:
    """The pairs between the parentheses."""
    known, seen = PROMISES[promise], set()
    for part in _parts(tokens[1:]):
        name = part[0].text.lower() if part else ""
        if name not in known:
            raise WrongUse(f"OPTIONS of {promise} may be {', '.join(known)}, not {name[:40]!r}; leave it out")
        if len(part) < 3 or part[1].kind != "EQ" or name in seen:
            raise WrongUse(f"OPTIONS are written name = value, each once; correct {name}")
        seen.add(name)
        yield name, _value(part[2:], name)


def _value(tokens: list[Token], name: str) -> str:
    """One number, word, text or name; of a name with a table before it, the column."""
    kinds = [token.kind for token in tokens]
    if len(tokens) == 2 and kinds == ["DASH", "NUMBER"]:
        return f"-{tokens[1].text}"
    if kinds[1::2] == ["DOT"] * (len(kinds) // 2) and len(kinds) % 2 and all(kind != "DOT" for kind in kinds[::2]):
        return tokens[-1].text
    raise WrongUse(f"{name} is one number, word or column; write it so")


def _parts(tokens: list[Token]) -> list[list[Token]]:
    """What stands between commas, outside of parentheses."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += {"L_PAREN": 1, "R_PAREN": -1}.get(token.kind, 0)
        if token.kind == "COMMA" and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part] if parts != [[]] else []


def _bounds(tokens: list[Token], last: int, cuts: list[tuple[int, int, str]]) -> list[dict[str, tuple[str, ...]]]:
    """The bounds of each aggregate, which is numbered in the text."""
    found: list[dict[str, tuple[str, ...]]] = []
    for i, token in enumerate(tokens[:-1]):
        if (
            i <= last
            or token.text.upper() not in AGGREGATES
            or tokens[i + 1].kind != "L_PAREN"
            or token.kind == "STRING"
        ):
            continue
        inside = tokens[i + 2 : _closing(tokens, i + 1)]
        cuts.append((token.start, token.end, f"{_MARK}{len(found)}_{token.text.lower()}"))
        named: dict[str, tuple[str, ...]] = {}
        for part in _parts(inside):
            if len(part) > 1 and part[1].kind == "FARROW":
                before = tokens[tokens.index(part[0]) - 1]
                cuts.append((before.start if before.kind == "COMMA" else part[0].start, part[-1].end, ""))
                named |= _named(part)
        found.append(named)
    return found


def _named(part: list[Token]) -> dict[str, tuple[str, ...]]:
    name = part[0].text.lower()
    given = part[2:]
    if name == STEP and given:
        return {STEP: (_value(given, STEP),)}
    listed = _parts(given[1:-1]) if given and given[0].kind == "L_PAREN" and given[-1].kind == "R_PAREN" else []
    if name not in BOUNDS or len(listed) != 2:
        raise WrongUse(f"an aggregate has {' or '.join(BOUNDS)} => (LOW, HIGH), and {STEP} => STEP; write it so")
    return {name: tuple(_value(each, name) for each in listed)}
