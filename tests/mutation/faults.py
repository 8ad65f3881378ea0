"""Small faults of the kind that expose people: a bound off by one, an end that belongs or not, a rounding reversed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_COMPARED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
_SIGNS: Final = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_ADDED: Final[dict[type[ast.operator], type[ast.operator]]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}
_CALLED: Final = {"min": "max", "max": "min", "upper": "lower", "lower": "upper", "floor": "ceil", "ceil": "floor"}
_DIRECTIONS: Final = ("up", "round_up", "above")
_SPOKEN: Final = ("__repr__", "__str__", "words", "sentence", "sentences", "summary", "why")


@dataclass(frozen=True, slots=True)
class Fault:
    """One place of a module that can be changed."""

    line: int
    what: str
    right: str = field(repr=False)
    number: int

    @property
    def source(self) -> str:
        """The module with this place changed."""
        tree = ast.parse(self.right)
        _change(list(_places(tree))[self.number][0])
        return ast.unparse(tree)


def faults(source: str) -> Iterator[Fault]:
    """Every fault of a module, in order. Words, types and decorators are left alone: nobody is exposed by them."""
    for number, (node, what) in enumerate(_places(ast.parse(source))):
        yield Fault(node.lineno, what, source, number)


def _places(node: ast.AST) -> Iterator[tuple[ast.expr | ast.keyword, str]]:
    """The places that can be changed, and what becomes of each."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
        return
    if isinstance(node, ast.expr | ast.keyword):
        what = _what(node)
        if what:
            yield node, what
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            spoken = isinstance(child, ast.FunctionDef) and child.name in _SPOKEN
            if isinstance(child, ast.AST) and not spoken:
                yield from _places(child)


def _what(node: ast.expr | ast.keyword) -> str:
    match node:
        case ast.Compare(ops=[op]) if type(op) in _COMPARED:
            return f"{_SIGNS[type(op)]} becomes {_SIGNS[_COMPARED[type(op)]]}"
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right) if not (_text(left) or _text(right)):
            return "+ becomes -" if isinstance(node.op, ast.Add) else "- becomes +"
        case ast.Constant(value=int(value)) if type(node.value) is int:
            return f"{value} becomes {value + 1}"
        case ast.Call(func=ast.Name(id=name)) if name in _CALLED:
            return f"{name} becomes {_CALLED[name]}"
        case ast.keyword(arg=name, value=ast.Constant(value=bool(value))) if name in _DIRECTIONS:
            return f"{name}={value} becomes {not value}"
        case ast.BoolOp(op=ast.And()):
            return "and becomes or"
        case ast.BoolOp():
            return "or becomes and"
        case ast.UnaryOp(op=ast.Not()):
            return "not is left out"
    return ""


def _change(node: ast.expr | ast.keyword) -> None:
    match node:
        case ast.Compare(ops=[op]):
            node.ops = [_COMPARED[type(op)]()]
        case ast.BinOp():
            node.op = _ADDED[type(node.op)]()
        case ast.Constant(value=int(value)):
            node.value = value + 1
        case ast.Call(func=ast.Name() as called):
            called.id = _CALLED[called.id]
        case ast.keyword(value=ast.Constant() as given):
            given.value = not given.value
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.UnaryOp():
            node.operand = ast.UnaryOp(op=ast.Not(), operand=node.operand)


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
