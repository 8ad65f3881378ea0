"""Conditions on people: a small grammar over the columns of a table, parsed to a value and never pasted anywhere.

::

    age >= 65 and sex = F
    town in (Bath, 'St. Ives') or not (member = true)
    "home address" is missing
    hired >= 2020-01-01 and salary != 0

``<  <=  >  >=`` compare numbers, or dates written like 2020-01-01. ``=``, ``!=``, ``in`` and ``not in`` compare numbers
where the column holds numbers and else text, sign by sign; booleans are the words true and false. A comparison with a
missing cell is false, so ``not (age >= 65)`` holds for whoever has no age, and so do ``age != 65`` and ``age not in
(65, 66)``, which are the ``not`` of others; ``is missing`` and ``is not missing`` ask for it. Not-a-number is missing,
and so is text that is no number where numbers are compared.
``not`` binds closest, then ``and``, then ``or``. Names and values with other signs than letters, digits, ``_``, ``.``
and ``-`` stand in quotation marks, single or double, doubled where they occur inside; a name in them is a name on the
left of a comparison and a value on its right.

A condition looks at one person's row alone, so whom it takes is a public rule like the bins.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final, TypeAlias

from hubbub.errors import WrongUse
from hubbub.numeric.exact import rational, to_text
from hubbub.runtime.frozen import dataclass
from hubbub.tables.schema import ColumnType, Schema
from hubbub.tables.schema import column as known

LONGEST: Final = 4000  # signs
MOST: Final = 200  # comparisons
DEEPEST: Final = 30  # parentheses and nots within each other

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")|(?P<sign><=|>=|!=|<>|==|[<>=(),])|(?P<word>[\w.+-]+))"""
)
_PLAIN: Final = re.compile(r"[^\W\d][\w.]*")
_KEYWORDS: Final = frozenset(("and", "or", "not", "in", "is", "missing"))
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_NUMBERS: Final = (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT)
_ORDERS: Final = ("<", "<=", ">", ">=")
_RULE: Final = 'a condition is written like "age >= 65 and sex = F", "town in (Bath, York)" or "age is missing"'


@dataclass(frozen=True, slots=True)
class Compare:
    """The cell is a number (or a date) below, above or at another."""

    column: str
    sign: str
    than: Fraction | datetime.date


@dataclass(frozen=True, slots=True)
class OneOf:
    """The cell is one of these values, as they were written."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """The cell is missing."""

    column: str


@dataclass(frozen=True, slots=True)
class Not:
    """A negation."""

    part: Node


@dataclass(frozen=True, slots=True)
class Both:
    """A conjunction: every part holds."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """A disjunction: at least one part holds."""

    parts: tuple[Node, ...]


Node: TypeAlias = Compare | OneOf | Missing | Not | Both | Either
Leaf: TypeAlias = Compare | OneOf | Missing


@dataclass(frozen=True, slots=True)
class Condition:
    """Whom a release is about, as a rule for one row. Its text is canonical: equal conditions read the same.

    >>> print(parse('age>=65 AND (sex = F or town != York)'))
    age >= 65 and (sex = 'F' or not town = 'York')
    """

    node: Node

    @classmethod
    def from_text(cls, text: str) -> Condition:
        """The condition that is written so."""
        return parse(text)

    def leaves(self) -> Iterator[Leaf]:
        """Its comparisons, from the left."""
        waiting: list[Node] = [self.node]
        while waiting:
            node = waiting.pop()
            match node:
                case Not(part):
                    waiting.append(part)
                case Both(parts) | Either(parts):
                    waiting.extend(reversed(parts))
                case _:
                    yield node

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at, each once."""
        return tuple(dict.fromkeys(leaf.column for leaf in self.leaves()))

    def __str__(self) -> str:
        return _node_text(self.node, 0)


def bind(condition: Condition, schema: Schema) -> Condition:
    """Itself, or one sentence if its comparisons cannot be made with such columns."""
    for leaf in condition.leaves():
        holds = known(schema, leaf.column)
        if holds is ColumnType.OTHER:
            raise WrongUse(f"the column {leaf.column} holds {holds.value}; choose another column")
        if isinstance(leaf, Compare):
            dated = isinstance(leaf.than, datetime.date)
            if holds not in ((ColumnType.DATE, ColumnType.TEXT) if dated else (*_NUMBERS, ColumnType.TEXT)):
                wanted = "a date" if dated else "a number"
                raise WrongUse(f"the column {leaf.column} holds {holds.value} and is not compared with {wanted}")
        elif isinstance(leaf, OneOf):
            wrong = next((value for value in leaf.values if not fits(value, holds)), None)
            if wrong is not None:
                raise WrongUse(f"the column {leaf.column} holds {holds.value}, of which {wrong[:40]!r} is none; fix it")
    return condition


def fits(value: str, holds: ColumnType) -> bool:
    """Whether a cell of such a column can have that value, as a condition compares it."""
    if holds in _NUMBERS:
        return bool(_NUMBER.fullmatch(value))
    if holds is ColumnType.BOOLEAN:
        return value in ("true", "false")
    if holds is not ColumnType.DATE:
        return True
    try:
        return bool(_DATE.fullmatch(value) and datetime.date.fromisoformat(value))
    except ValueError:  # no such month or day
        return False


def parse(text: object) -> Condition:
    """The condition that a text says, or one sentence."""
    if not isinstance(text, str) or len(text) > LONGEST or not text.isprintable():
        raise WrongUse(f"{_RULE}, in at most {LONGEST:,} signs that show; write it so")
    reader = _Reader(_tokens(text))
    node = reader.either(0)
    if reader.left:
        raise WrongUse(
            f"{_RULE}; what comes after a whole condition is joined by and, or or; add one, or put a value of several "
            "words in quotes, like town = 'New York'"
        )
    found = Condition(node)
    if sum(len(leaf.values) if isinstance(leaf, OneOf) else 1 for leaf in found.leaves()) > MOST:
        raise WrongUse(f"a condition has at most {MOST} comparisons; declare bins instead")
    if len(str(found)) > LONGEST:  # else nobody could read back what a certificate says
        raise WrongUse(f"a condition that is written out, without exponents, has at most {LONGEST:,} signs; shorten it")
    return found


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # quoted, sign, word
    text: str


def _tokens(text: str) -> list[_Token]:
    found, at = [], 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise WrongUse(f"{_RULE}; the sign {text[at:].lstrip()[:1]!r} has no meaning there; put names in quotes")
        kind = match.lastgroup or ""
        part = match[kind]
        found.append(_Token(kind, part[1:-1].replace(part[0] * 2, part[0]) if kind == "quoted" else part))
        at = match.end()
    return found


class _Reader:
    """Tokens, read from the left."""

    __slots__ = ("left",)

    def __init__(self, tokens: list[_Token]) -> None:
        self.left = tokens[::-1]

    def _is(self, *texts: str) -> bool:
        """Whether these signs or keywords come next."""
        ahead = self.left[: -len(texts) - 1 : -1]
        return len(ahead) == len(texts) and all(
            token.kind != "quoted" and token.text.lower() == text for token, text in zip(ahead, texts, strict=True)
        )

    def _take(self, *texts: str) -> bool:
        if not self._is(*texts):
            return False
        del self.left[-len(texts) :]
        return True

    def either(self, depth: int) -> Node:
        parts = [self._both(depth)]
        while self._take("or"):
            parts.append(self._both(depth))
        return parts[0] if len(parts) == 1 else Either(_flat(parts, Either))

    def _both(self, depth: int) -> Node:
        parts = [self._one(depth)]
        while self._take("and"):
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else Both(_flat(parts, Both))

    def _one(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise WrongUse(f"a condition has at most {DEEPEST} parentheses and nots inside each other; flatten it")
        if self._take("not"):
            return _not(self._one(depth + 1))
        if self._take("("):
            inside = self.either(depth + 1)
            if not self._take(")"):
                raise WrongUse(f"{_RULE}; a parenthesis is not closed; add )")
            return inside
        return self._leaf()

    def _leaf(self) -> Node:
        column = self._name()
        if self._take("is", "not", "missing"):
            return Not(Missing(column))
        if self._take("is", "missing"):
            return Missing(column)
        if self._take("in"):
            return OneOf(column, self._values())
        if self._take("not", "in"):
            return Not(OneOf(column, self._values()))
        for sign in ("=", "==", "!=", "<>"):
            if self._take(sign):
                value = OneOf(column, (self._value(),))
                return Not(value) if sign in ("!=", "<>") else value
        for sign in _ORDERS:
            if self._take(sign):
                return Compare(column, sign, _order(self._value(), column))
        raise WrongUse(f"{_RULE}; after {column[:40]!r} comes =, !=, <, <=, >, >=, in, or is missing; write one")

    def _name(self) -> str:
        token = self.left.pop() if self.left else _Token("", "")
        if token.kind in ("", "sign") or (token.kind == "word" and token.text.lower() in _KEYWORDS) or not token.text:
            raise WrongUse(f"{_RULE}; a comparison begins with the name of a column; write one")
        return token.text

    def _value(self) -> str:
        token = self.left.pop() if self.left else _Token("", "")
        if token.kind in ("", "sign") or (token.kind == "word" and token.text.lower() in _KEYWORDS):
            raise WrongUse(f"{_RULE}; a comparison ends with a value, in quotes if it is a word like and; write one")
        return token.text

    def _values(self) -> tuple[str, ...]:
        if not self._take("("):
            raise WrongUse(f"{_RULE}; after in comes a list in parentheses; write one")
        values = [self._value()]
        while self._take(","):
            values.append(self._value())
        if not self._take(")"):
            raise WrongUse(f"{_RULE}; a list of values is not closed; add )")
        return tuple(dict.fromkeys(values))


def _order(text: str, column: str) -> Fraction | datetime.date:
    """What a cell is compared with: a number, or a date."""
    if _NUMBER.fullmatch(text):
        return rational(text, f"what {column} is compared with")
    if _DATE.fullmatch(text):
        try:
            return datetime.date.fromisoformat(text)
        except ValueError:  # no such month or day
            pass
    raise WrongUse(
        f"{column[:40]} is compared by <, <=, > and >= with a number or a date like 2020-01-01, not {text[:40]!r}; "
        "write one, or use = or in"
    )


def _not(node: Node) -> Node:
    return node.part if isinstance(node, Not) else Not(node)


def _flat(parts: list[Node], kind: type[Both] | type[Either]) -> tuple[Node, ...]:
    found: list[Node] = []
    for part in parts:
        found.extend(part.parts if isinstance(part, kind) else (part,))
    return tuple(found)


def _node_text(node: Node, around: int) -> str:
    """Canonical text; `around` is how closely what stands around binds: 0 nothing, 1 or, 2 and, 3 not."""
    match node:
        case Compare(column, sign, than):
            value = than.isoformat() if isinstance(than, datetime.date) else to_text(than)
            return f"{_name(column)} {sign} {value}"
        case OneOf(column, values):
            listed = ", ".join(map(_quote, values))
            return f"{_name(column)} = {listed}" if len(values) == 1 else f"{_name(column)} in ({listed})"
        case Missing(column):
            return f"{_name(column)} is missing"
        case Not(Missing(column)):
            return f"{_name(column)} is not missing"
        case Not(part):
            return f"not {_node_text(part, 3)}"
        case Both(parts):
            text = " and ".join(_node_text(part, 2) for part in parts)
            return f"({text})" if around > 1 else text
        case Either(parts):
            text = " or ".join(_node_text(part, 1) for part in parts)
            return f"({text})" if around else text


def _name(column: str) -> str:
    plain = _PLAIN.fullmatch(column) and column.lower() not in _KEYWORDS
    return column if plain else '"' + column.replace('"', '""') + '"'


def _quote(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
