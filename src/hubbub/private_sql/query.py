"""A private query whose parts are known: its aggregates with their bounds, its groups, and what its dictionary declares.

What a private query says beside SQL: ``WITH promise OPTIONS (...)`` after SELECT, and bounds after ``=>``.

These are read from the signs of the query, and taken out; what is left is SQL that a parser knows. An aggregate is
renamed to its place in the query, so that its bounds are found again.

WHERE, as the condition that a release takes.

A comparison with a missing cell is unknown in SQL, and a row counts if the whole is true. Here such a comparison is
false and its ``not`` is true; so a ``NOT`` goes down to the comparisons, and each that it reaches also asks that the cell
is there. Then both say the same of every row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final, NamedTuple

from hubbub.dictionary.dictionary import Dictionary
from hubbub.errors import WrongUse, install
from hubbub.numeric.exact import rational, to_text
from hubbub.runtime.frozen import dataclass
from hubbub.tables.condition import Both, Condition, Either, Missing, Node, Not, OneOf
from hubbub.tables.condition import parse as parse_condition

LONGEST: Final = 20_000  # signs of a query
_UNIT: Final = ("privacy_unit_column", "rows_are_people", "one_row_per_person", "unique_person", "coverage")
PROMISES: Final[dict[str, tuple[str, ...]]] = {
    "DIFFERENTIAL_PRIVACY": (
        *("epsilon", "delta", *_UNIT, "max_groups_contributed", "max_rows_contributed"),
        *("rows_per_person", "groups_per_person", "rows_per_group", "people", "rows", "mechanism"),
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
                named |= _read_names(part)
        found.append(named)
    return found


def _read_names(part: list[Token]) -> dict[str, tuple[str, ...]]:
    name = part[0].text.lower()
    given = part[2:]
    if name == STEP and given:
        return {STEP: (_value(given, STEP),)}
    listed = _parts(given[1:-1]) if given and given[0].kind == "L_PAREN" and given[-1].kind == "R_PAREN" else []
    if name not in BOUNDS or len(listed) != 2:
        raise WrongUse(f"an aggregate has {' or '.join(BOUNDS)} => (LOW, HIGH), and {STEP} => STEP; write it so")
    return {name: tuple(_value(each, name) for each in listed)}


_SIGNS = {"LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_FLIPPED = {"LT": "GT", "LTE": "GTE", "GT": "LT", "GTE": "LTE"}
_KNOWN = "WHERE compares columns with values: =, <>, <, <=, >, >=, IN, BETWEEN, IS NULL, joined by AND, OR and NOT"


def condition(nodes: list[Any]) -> str | None:
    """The condition that all of these say together."""
    if not nodes:
        return None
    parts = [_node(each, negated=False, depth=0) for each in nodes]
    return str(parse_condition(str(Condition(parts[0] if len(parts) == 1 else _join_tests(parts, Both)))))


def _join_tests(parts: list[Node], kind: type[Both] | type[Either]) -> Node:
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else (part,))
    return kind(tuple(flat))


def _node(node: Any, *, negated: bool, depth: int) -> Node:
    exp = parser().exp
    if depth > 100:
        raise WrongUse("WHERE has more than 100 conditions inside each other; flatten it")
    if isinstance(node, exp.Paren):
        return _node(node.this, negated=negated, depth=depth + 1)
    if isinstance(node, exp.Not):
        return _node(node.this, negated=not negated, depth=depth + 1)
    if isinstance(node, exp.And | exp.Or):
        parts = [_node(each, negated=negated, depth=depth + 1) for each in (node.this, node.expression)]
        return _join_tests(parts, Both if isinstance(node, exp.And) is not negated else Either)
    if isinstance(node, exp.Between):
        low, high = (_comparison(node.this, sign, node.args[end]) for sign, end in ((">=", "low"), ("<=", "high")))
        column = column_name(node.this)
        return (
            _join_tests([_known_cell(low, column, True), _known_cell(high, column, True)], Either)
            if negated
            else Both((low, high))
        )
    if isinstance(node, exp.Is):
        return _is(node, negated)
    column, found, against = _leaf(node)
    return _known_cell(found, column, negated is not against)


def _known_cell(found: Node, column: str, negated: bool) -> Node:
    """The comparison, or its opposite of a cell that is there."""
    return Both((Not(found), Not(Missing(column)))) if negated else found


def _is(node: Any, negated: bool) -> Node:
    exp = parser().exp
    column = column_name(node.this)
    if isinstance(node.expression, exp.Null):
        return Not(Missing(column)) if negated else Missing(column)
    if isinstance(node.expression, exp.Boolean):  # IS TRUE is never unknown
        found = OneOf(column, (str(bool(node.expression.this)).lower(),))
        return Not(found) if negated else found
    raise WrongUse(f"{_KNOWN}; IS goes with NULL, TRUE or FALSE")


def _leaf(node: Any) -> tuple[str, Node, bool]:
    """A comparison: its column, itself, and whether it is meant the other way round."""
    exp = parser().exp
    if isinstance(node, exp.Column):
        return column_name(node), OneOf(column_name(node), ("true",)), False
    if isinstance(node, exp.In) and node.expressions:
        return column_name(node.this), OneOf(column_name(node.this), tuple(map(value, node.expressions))), False
    if isinstance(node, exp.EQ | exp.NEQ):
        column, other = (
            (node.this, node.expression) if isinstance(node.this, exp.Column) else (node.expression, node.this)
        )
        return column_name(column), OneOf(column_name(column), (value(other),)), isinstance(node, exp.NEQ)
    name = type(node).__name__
    if name in _SIGNS:
        if isinstance(node.this, exp.Column):
            return column_name(node.this), _comparison(node.this, _SIGNS[name], node.expression), False
        return column_name(node.expression), _comparison(node.expression, _SIGNS[_FLIPPED[name]], node.this), False
    raise WrongUse(f"{_KNOWN}, and nothing else; make another column of the rest beforehand")


def _comparison(column: Any, sign: str, than: Any) -> Node:
    quoted = '"' + column_name(column).replace('"', '""') + '"'
    text = "'" + value(than).replace("'", "''") + "'"
    return parse_condition(f"{quoted} {sign} {text}").node


def column_name(node: Any) -> str:
    """The name of a column, without its table."""
    exp = parser().exp
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        raise WrongUse(f"{_KNOWN}; a comparison has a column on one side and a value on the other")
    return str(node.name)


def value(node: Any) -> str:
    """A value, as it is written."""
    exp = parser().exp
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
        return f"-{node.this.this}"
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.to.this.name == "DATE":
        return str(node.this.this)
    if isinstance(node, exp.Boolean):
        return str(bool(node.this)).lower()
    if isinstance(node, exp.Literal):
        return str(node.this)
    raise WrongUse(f"{_KNOWN}; a value is a number, a text, TRUE, FALSE or DATE 'YYYY-MM-DD'")


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


def quote_column(name: str) -> str:
    """A column as a SPEC names it."""
    return name if re.fullmatch(r"[^\W\d]\w*", name) else '"' + name.replace('"', '""') + '"'


def range_of(query: Query, what: Aggregate, bounds: str) -> str:
    """What is measured, with its range and step: as said in the query, or by the data dictionary."""
    several = what.name in ("PERCENTILE_CONT", "APPROX_QUANTILES")
    if not what.arguments or (len(what.arguments) > 1 and not several):
        raise WrongUse(f"{what.name} has one column between its parentheses, and its bounds; write it so")
    if what.distinct:
        raise WrongUse(f"{what.name}(DISTINCT ...) has no meaning for a release; take DISTINCT out")
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
        return quote_column(column)
    low, high = (rational(each, "a bound") for each in given)
    step = rational(what.bounds[STEP][0], STEP) if STEP in what.bounds else step_of(low, high, field)
    return f"{quote_column(column)}:{to_text(low)}..{to_text(high)}:{to_text(step)}"


def most_rows(what: Aggregate) -> str | None:
    """How many rows of a person count in a group, as the bounds of an aggregate say it; or one sentence."""
    low, most = what.bounds.get(GROUP, ("0", None))
    if rational(low, "LOW") != 0:
        raise WrongUse(
            "of a person from none to some rows count in a group; write contribution_bounds_per_group => (0, 5)"
        )
    return most


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
