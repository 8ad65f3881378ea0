"""WHERE, as the condition that a release takes.

A comparison with a missing cell is unknown in SQL, and a row counts if the whole is true. Here such a comparison is
false and its ``not`` is true; so a ``NOT`` goes down to the comparisons, and each that it reaches also asks that the cell
is there. Then both say the same of every row.
"""

from __future__ import annotations

from typing import Any

from hubbub.errors import WrongUse
from hubbub.private_sql.clause import parser
from hubbub.tables.condition import Both, Condition, Either, Missing, Node, Not, OneOf
from hubbub.tables.condition import parse as parse_condition

_SIGNS = {"LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_FLIPPED = {"LT": "GT", "LTE": "GTE", "GT": "LT", "GTE": "LTE"}
_KNOWN = "WHERE compares columns with values: =, <>, <, <=, >, >=, IN, BETWEEN, IS NULL, joined by AND, OR and NOT"


def condition(nodes: list[Any]) -> str | None:
    """The condition that all of these say together."""
    if not nodes:
        return None
    parts = [_node(each, negated=False, depth=0) for each in nodes]
    return str(parse_condition(str(Condition(parts[0] if len(parts) == 1 else _joined(parts, Both)))))


def _joined(parts: list[Node], kind: type[Both] | type[Either]) -> Node:
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
        return _joined(parts, Both if isinstance(node, exp.And) is not negated else Either)
    if isinstance(node, exp.Between):
        low, high = (_comparison(node.this, sign, node.args[end]) for sign, end in ((">=", "low"), ("<=", "high")))
        column = column_name(node.this)
        return (
            _joined([_known_cell(low, column, True), _known_cell(high, column, True)], Either)
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
