"""Frozen values as JSON and back, without losing a digit.

A frozen dataclass becomes a dict of its fields with its name under "is"; a number that is no int becomes exact text,
and so does a value that can be made `from_text`. `restored` builds the value again through its constructor, which
checks it. Every field must be there, save for one that is `UNSAID` where it has its default (it came later, and what
was written before reads as ever); one that is not known was written by a later version, and is refused with a
sentence that says so.
"""

from __future__ import annotations

import datetime
import json
import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from itertools import compress
from operator import attrgetter, ne
from typing import Any, Final, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from hubbub.errors import CheckFailed, HubbubError
from hubbub.numeric.exact import INFINITY, Infinite, rational, to_text
from hubbub.serialization.canonical import Plain

T = TypeVar("T")

UNSAID: Final[Mapping[str, bool]] = {"unsaid": True}
"""Metadata of a field that is left out where it has its default."""


class Newer(CheckFailed):
    """Something was written down by a later version of this program."""


def plain(value: object) -> Plain:
    """The value as JSON."""
    kind: Any = type(value)
    return _writer(kind)(value)


@lru_cache(maxsize=512)
def _writer(kind: type[Any]) -> Callable[[Any], Plain]:
    """How values of a class are written."""
    if kind in (type(None), str, int, bool):
        return _as_it_is
    if issubclass(kind, Fraction | Infinite):
        return to_text
    if issubclass(kind, Enum):
        return lambda value: plain(value.value)
    if issubclass(kind, int | str):
        return _as_it_is
    if hasattr(kind, "from_text"):
        return str
    if issubclass(kind, datetime.date):
        return lambda value: value.isoformat()
    if issubclass(kind, tuple | list):
        return lambda value: [part if type(part) is str else plain(part) for part in value]
    if is_dataclass(kind):
        return _fields_writer(kind)
    raise TypeError(f"{kind.__name__} has no exact JSON")


def _as_it_is(value: Any) -> Plain:
    return cast(Plain, value)


def _fields_writer(kind: Any) -> Callable[[Any], Plain]:
    said = tuple((each.name, each.default if each.metadata.get("unsaid") else _SAID) for each in fields(kind))

    def write(value: Any) -> Plain:
        found: dict[str, Plain] = {"is": kind.__name__}
        for name, default in said:  # with the value at which a field is left out
            each = getattr(value, name)
            if default is _SAID or each != default:
                found[name] = plain(each)
        return found

    return write


_SAID: Final = object()


def line(value: object) -> str:
    """The value as JSON on one line: the text of ``json.dumps(plain(value), sort_keys=True, separators=(",", ":"))``.

    It is written without the dicts and lists between, for a ledger with many entries, each of which is written again
    when it is checked.
    """
    return _LINES[type(value)](value)


class _Lines(dict[type[Any], Callable[[Any], str]]):
    """How values of each class are written on one line, found when the first of them is."""

    def __missing__(self, kind: type[Any]) -> Callable[[Any], str]:
        return self.setdefault(kind, _line_writer(kind))


def _line_writer(kind: type[Any]) -> Callable[[Any], str]:
    if issubclass(kind, Enum):
        texts = {each: line(each.value) for each in kind}
        return lambda value: texts[value]
    if issubclass(kind, Fraction | Infinite | int | str | datetime.date) or hasattr(kind, "from_text"):
        return lambda value: _ONE_LINE.encode(plain(value))
    if issubclass(kind, tuple | list):
        return _listed
    if is_dataclass(kind):
        return _fields_line(kind)
    raise TypeError(f"{kind.__name__} has no exact JSON")


def _listed(values: Any) -> str:
    return f"[{','.join([_LINES[type(each)](each) for each in values])}]"


def _fields_line(kind: Any) -> Callable[[Any], str]:
    unsaid = {each.name: each.default for each in fields(kind) if each.metadata.get("unsaid")}
    always = [each.name for each in fields(kind) if each.name not in unsaid]
    if not unsaid:
        return _form(kind, always)
    later, defaults = _values_of([*unsaid]), [*unsaid.values()]
    forms: dict[tuple[bool, ...], Callable[[Any], str]] = {}  # by which of them are said

    def write(value: Any) -> str:
        said = (*map(ne, later(value), defaults),)
        if said not in forms:
            forms[said] = _form(kind, [*always, *compress(unsaid, said)])
        return forms[said](value)

    return write


def _form(kind: Any, names: list[str]) -> Callable[[Any], str]:
    """How objects of a class are written with these fields."""
    keyed = {name: f'"{name}":%s' for name in names} | {"is": f'"is":"{kind.__name__}"'}
    form, values = f"{{{','.join(keyed[name] for name in sorted(keyed))}}}", _values_of(sorted(names))
    return lambda value: form % (*[_LINES[type(each)](each) for each in values(value)],)


def _values_of(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """These fields of an object, as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


_ONE_LINE: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_LINES: Final = _Lines(
    {
        str: json.encoder.encode_basestring_ascii,
        int: int.__repr__,
        Fraction: lambda value: f'"{to_text(value)}"',
        bool: lambda value: "true" if value else "false",
        type(None): lambda _: "null",
    }
)


def agrees(given: Any, expected: Plain) -> bool:
    """Whether something that was read is what this program would write: the same values, and of the same types."""
    if isinstance(expected, dict):
        same = isinstance(given, dict) and given.keys() == expected.keys()
        return same and all(agrees(given[name], expected[name]) for name in given)
    if isinstance(expected, list):
        if not isinstance(given, list) or len(given) != len(expected):
            return False
        if {*map(type, given)} == {str}:  # a long list of labels
            return given == expected
        return all(map(agrees, given, expected))
    return type(given) is type(expected) and given == expected


def restored(kind: Any, value: Any) -> Any:
    """The value of that type (a dataclass, a union, a tuple, a number, ...) that `plain` wrote so."""
    try:
        return _restored(kind, value)
    except Newer:
        raise
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
    if is_dataclass(kind) and not hasattr(kind, "from_text"):
        return _built(cast(type[Any], kind), value)
    return _scalar(kind, value)


def _one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    if value is None and type(None) in kinds:
        return None
    if isinstance(value, dict):
        named = [kind for kind in kinds if getattr(kind, "__name__", "") == value["is"]]
        if not named:
            raise Newer(f"{str(value['is'])[:40]!r} is nothing that this version knows; update Hubbub")
        return _restored(named[0], value)
    rest = [kind for kind in kinds if kind is not type(None)]
    if set(rest) == {Fraction, Infinite}:
        text = _text(value)  # what may not be negative is checked by its constructor; an edge may be
        return INFINITY if text == "inf" else rational(text)
    (only,) = rest
    return _restored(only, value)


def _built(kind: type[Any], value: Any) -> Any:
    hints: dict[str, Any] = _hints(kind)  # type: ignore[arg-type]  # a class is hashable
    if not isinstance(value, dict) or value.get("is") != kind.__name__:
        raise TypeError
    unknown = set(value) - {"is", *hints}
    if unknown:
        raise Newer(f"{kind.__name__} has {sorted(unknown)[0][:40]!r}, which this version does not know; update Hubbub")
    later = {field.name for field in fields(kind) if field.metadata.get("unsaid")}
    return kind(
        **{name: _restored(hint, value[name]) for name, hint in hints.items() if name in value or name not in later}
    )


@lru_cache(maxsize=64)
def _hints(kind: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


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
    if hasattr(kind, "from_text"):
        return kind.from_text(text)
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


def read_description(given: Any, build: Callable[[Any], T], write: Callable[[T], Plain]) -> T:
    """What `build` makes of a description of a release that somebody was given.

    Guarantee: it is written as this program writes what was made of it; anything else is refused with one sentence.
    """
    try:
        found = build(given)
    except CheckFailed:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, HubbubError):
        raise CheckFailed("the description of the release is not one; get the original certificate") from None
    if not agrees(given, write(found)):
        raise CheckFailed("the description of the release is not written as Hubbub writes it; get the original")
    return found
