"""Dataclasses that cost little to define, since a command defines some two hundred and uses a few of each.

The library's decorator writes the source of six methods and compiles each, for every class, used or not: that was a
quarter of a small release. Here a frozen class gets methods that read its fields by name, and ``__init__``, the only
one whose speed counts, is compiled when it is first wanted. Everything else (fields, slots, defaults, ``replace``) is
the library's own, and so is a class that is not frozen.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, cast


class _Init:
    """The ``__init__`` of a class, made by the library when somebody looks it up, and put in its own place."""

    __slots__ = ("_owner",)

    def __init__(self, owner: type) -> None:
        self._owner = owner

    def __get__(self, one: object, kind: type) -> Any:
        made = _compiled(self._owner)
        type.__setattr__(self._owner, "__init__", made)
        return made.__get__(one, kind) if one is not None else made


_FACTORY: Any = getattr(dataclasses, "_HAS_DEFAULT_FACTORY", object())  # shown as the default of what is made anew


def _compiled(owner: Any) -> Callable[..., None]:
    """The ``__init__`` that the library writes for a frozen class with these fields, and nothing else that it would."""
    of, used = dataclasses.fields(owner), {"_of_set": object.__setattr__, "_of_factory": _FACTORY}
    placed, named, body = list[str](), list[str](), list[str]()
    for each in of:
        name, value, default = each.name, each.name, ""
        if each.default is not dataclasses.MISSING:
            used[f"_of_default_{name}"], default = each.default, f"=_of_default_{name}"
        elif each.default_factory is not dataclasses.MISSING:
            used[f"_of_new_{name}"], default = each.default_factory, "=_of_factory"
            value = f"_of_new_{name}() if {name} is _of_factory else {name}" if each.init else f"_of_new_{name}()"
        if each.init:
            (named if each.kw_only else placed).append(f"{name}{default}")
        if not each.init and default and each.default_factory is dataclasses.MISSING:
            value = f"_of_default_{name}"  # where there are slots, no class has it
        if each.init or default:
            body.append(f"  _of_set(_of_self, {name!r}, {value})")
    if hasattr(owner, "__post_init__"):
        body.append("  _of_self.__post_init__()")
    words = ", ".join(["_of_self", *placed, *(["*", *named] if named else [])])
    lines = [
        f"def _of_make({', '.join(used)}):",
        f" def __init__({words}):",
        *body,
        "  return None",
        " return __init__",
    ]
    found: dict[str, Any] = {}
    exec("\n".join(lines), vars(sys.modules[owner.__module__]), found)  # where names in its annotations are looked up
    made = found["_of_make"](**used)
    made.__annotations__ = {each.name: each.type for each in of if each.init} | {"return": None}
    made.__qualname__ = f"{owner.__qualname__}.__init__"
    return cast("Callable[..., None]", made)


def _made(owner: Any, *, repr: bool, eq: bool) -> Any:
    """Give a class what its own body does not have."""
    of = dataclasses.fields(owner)
    own, names = vars(owner), frozenset(each.name for each in of)

    def set_attribute(self: Any, name: str, value: object) -> None:
        if type(self) is owner or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(owner, self).__setattr__(name, value)

    def delete_attribute(self: Any, name: str) -> None:
        if type(self) is owner or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(owner, self).__delattr__(name)

    methods: dict[str, Any] = {"__setattr__": set_attribute, "__delattr__": delete_attribute}
    if "__init__" not in own:
        methods["__init__"] = _Init(owner)
    if repr and "__repr__" not in own:
        methods["__repr__"] = _repr([each.name for each in of if each.repr])
    if eq:
        methods |= _compared([each.name for each in of if each.compare], own)
    if "__slots__" in own and "__getstate__" not in own:
        methods |= _carried([each.name for each in of])
    for name, method in methods.items():
        setattr(owner, name, method)
    return owner


def _repr(names: list[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def text(self: Any) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({fields})"

    return text


def _compared(names: list[str], own: Any) -> dict[str, Any]:
    """Equal when of one class and equal in these fields, and a hash to match."""
    values = _values(names)

    def equal(self: Any, other: Any) -> Any:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    methods: dict[str, Any] = {} if "__eq__" in own else {"__eq__": equal}
    return methods if own.get("__hash__") else methods | {"__hash__": hashed}


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """These fields of a record, as a tuple also where it is one or none."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _carried(names: list[str]) -> dict[str, Any]:
    """How a class with slots is copied and pickled: its fields in order, set past its own ``__setattr__``."""

    def state(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def restore(self: Any, values: list[Any]) -> None:
        for name, value in zip(names, values, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": state, "__setstate__": restore}


@contextmanager
def _thawed(kind: type) -> Iterator[None]:
    """Inside, the bases of a class are not marked as frozen. The library refuses one that is not frozen below one that
    is, and so ours are marked, but not while the library is told to leave ``__setattr__`` to us."""
    params = [vars(base)["__dataclass_params__"] for base in kind.__mro__[1:] if "__dataclass_params__" in vars(base)]
    frozen = [each for each in params if each.frozen]
    try:
        for each in frozen:
            each.frozen = False
        yield
    finally:
        for each in frozen:
            each.frozen = True


def _dataclass(*, frozen: bool = False, repr: bool = True, eq: bool = True, order: bool = False, **words: bool) -> Any:
    """As ``dataclasses.dataclass``, with which it agrees in all that an object of the class does."""
    if not frozen or order:
        return dataclasses.dataclass(frozen=frozen, repr=repr, eq=eq, order=order, **words)

    def decorated(kind: Any) -> Any:
        kind.__doc__ = kind.__doc__ or kind.__name__  # else the library compiles __init__ to tell how it is called
        with _thawed(kind):
            made = _made(dataclasses.dataclass(init=False, repr=False, eq=False, **words)(kind), repr=repr, eq=eq)
        made.__dataclass_params__.frozen = True
        return made

    return decorated


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass
