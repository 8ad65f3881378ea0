"""Frozen values as JSON and back, without losing a digit.

A frozen dataclass becomes a dict of its fields with its name under "is"; a number that is no int becomes exact text,
a curve its own text. `restored` builds the value again through its constructor, which checks it, and refuses a dict
with a field missing, unknown or of another kind.
"""

from __future__ import annotations

import datetime
import types
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from hubbub.errors import CheckFailed, HubbubError
from hubbub.exact import INFINITY, Infinite, rational, to_text
from hubbub.guarantees.canonical import Plain
from hubbub.guarantees.curve import Curve, read

T = TypeVar("T")


def plain(value: object) -> Plain:
    """The value as JSON."""
    if value is None or isinstance(value, bool | int | str):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Fraction | Infinite):
        return to_text(value)
    if isinstance(value, Curve):
        return str(value)
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, tuple | list):
        return [part if type(part) is str else plain(part) for part in value]
    if is_dataclass(value):
        return {"is": type(value).__name__} | {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} has no exact JSON")


def restored(kind: Any, value: Any) -> Any:
    """The value of that type (a dataclass, a union, a tuple, a number, ...) that `plain` wrote so."""
    try:
        return _restored(kind, value)
    except (HubbubError, TypeError, ValueError, KeyError, AttributeError, ArithmeticError):
        named = value.get("is") if isinstance(value, dict) else None
        what = named if isinstance(named, str) else getattr(kind, "__name__", "value")
        raise CheckFailed(f"what is written down as {what[:40]} is none; get the original") from None


def _restored(kind: Any, value: Any) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        return _one_of(get_args(kind), value)
    if get_origin(kind) is tuple:
        part, dots = get_args(kind)
        if dots is not Ellipsis or not isinstance(value, list):
            raise TypeError
        if part is str and all(type(each) is str for each in value):  # a long list of labels
            _text("".join(value))
            return tuple(value)
        return tuple(_restored(part, each) for each in value)
    if is_dataclass(kind) and kind is not Curve:
        return _built(cast(type[Any], kind), value)
    return _scalar(kind, value)


def _one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    if value is None and type(None) in kinds:
        return None
    if isinstance(value, dict):
        named = [kind for kind in kinds if getattr(kind, "__name__", "") == value["is"]]
        return _restored(named[0] if named else None, value)
    rest = [kind for kind in kinds if kind is not type(None)]
    if set(rest) == {Fraction, Infinite}:
        text = _text(value)  # what may not be negative is checked by its constructor; an edge may be
        return INFINITY if text == "inf" else rational(text)
    (only,) = rest
    return _restored(only, value)


def _built(kind: type[Any], value: Any) -> Any:
    hints: dict[str, Any] = _hints(kind)  # type: ignore[arg-type]  # a class is hashable
    if not isinstance(value, dict) or value.get("is") != kind.__name__ or set(value) != {"is", *hints}:
        raise TypeError
    return kind(**{name: _restored(hint, value[name]) for name, hint in hints.items()})


@lru_cache(maxsize=64)
def _hints(kind: type[Any]) -> dict[str, Any]:
    told = get_type_hints(kind)
    return {field.name: told[field.name] for field in fields(kind)}


def _scalar(kind: Any, value: Any) -> Any:
    if kind is bool or kind is int:
        if type(value) is not kind:
            raise TypeError
        return value
    text = _text(value)
    if kind is str:
        return text
    if kind is Fraction:
        return rational(text)
    if kind is Curve:
        return read(text).curve
    if kind is datetime.date:
        return datetime.date.fromisoformat(text)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(text)
    raise TypeError


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # half of a sign cannot be written down, and nothing that Hubbub writes has one
    return value
