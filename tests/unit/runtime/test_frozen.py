"""A frozen class of ours does what one of the library's does, in all that an object shows."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hubbub.runtime import frozen

ROOT = Path(__file__).resolve().parents[3]


def _pairs(make: Callable[[Any], Any]) -> tuple[Any, Any]:
    return make(frozen.dataclass), make(dataclasses.dataclass)


def _plain(decorator: Any) -> Any:
    @decorator(frozen=True, slots=True)
    class Plain:
        a: int
        b: str = "x"
        c: list[int] = dataclasses.field(default_factory=list, compare=False)
        d: int = dataclasses.field(default=3, repr=False)

    return Plain


def _checked(decorator: Any) -> Any:
    @decorator(frozen=True, slots=True, kw_only=True)
    class Base:
        a: int
        b: int = 1

        def __post_init__(self) -> None:
            object.__setattr__(self, "b", self.b + 1)

    @decorator(frozen=True, slots=True, kw_only=True)
    class Checked(Base):
        c: int = 2

    return Checked


def _own(decorator: Any) -> Any:
    @decorator(frozen=True)
    class Own:
        a: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own) and self.a % 2 == other.a % 2

        def __repr__(self) -> str:
            return "own"

    return Own


def _made(decorator: Any) -> Any:
    @decorator(frozen=True)
    class Made:
        self: int
        a: int = dataclasses.field(default=5, kw_only=True)
        b: list[int] = dataclasses.field(default_factory=lambda: [1], kw_only=True, compare=False)
        c: int = dataclasses.field(default=7, init=False)
        d: list[int] = dataclasses.field(default_factory=lambda: [2], init=False, compare=False)
        e: type = dataclasses.field(default=int)

    return Made


def _unequal(decorator: Any) -> Any:
    @decorator(frozen=True, slots=True, eq=False)
    class Unequal:
        a: int

    return Unequal


def _empty(decorator: Any) -> Any:
    @decorator(frozen=True, slots=True)
    class Empty:
        pass

    return Empty


SHAPES = {"plain": _plain, "checked": _checked, "own": _own, "made": _made, "unequal": _unequal, "empty": _empty}
WORDS: dict[str, list[dict[str, Any]]] = {
    "plain": [{"a": 1}, {"a": 1, "b": "y"}, {"a": 1, "c": [1]}, {"a": 2, "d": 4}],
    "checked": [{"a": 1}, {"a": 1, "b": 5}, {"a": 1, "c": 3}, {"a": 2}],
    "own": [{"a": 1}, {"a": 3}, {"a": 2}],
    "made": [{"self": 1}, {"self": 1, "a": 2, "b": [3]}, {"self": 1, "e": str}],
    "unequal": [{"a": 1}, {"a": 1}],
    "empty": [{}, {}],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_objects_look_and_compare_alike(shape: str) -> None:
    ours, theirs = _pairs(SHAPES[shape])
    one, two = ([kind(**words) for words in WORDS[shape]] for kind in (ours, theirs))
    assert [repr(each) for each in one] == [repr(each) for each in two]
    assert [[a == b for a in one] for b in one] == [[a == b for a in two] for b in two]
    assert all(a != b for a in one for b in two)
    if shape not in ("own", "unequal"):
        assert [hash(each) for each in one] == [hash(each) for each in two]
    assert [[hash(a) == hash(b) for a in one if a == b] for b in one] == [
        [hash(a) == hash(b) for a in two if a == b] for b in two
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_they_are_called_alike(shape: str) -> None:
    ours, theirs = _pairs(SHAPES[shape])
    assert inspect.signature(ours) == inspect.signature(theirs)
    assert [each.name for each in dataclasses.fields(ours)] == [each.name for each in dataclasses.fields(theirs)]
    assert ours.__match_args__ == theirs.__match_args__
    with pytest.raises(TypeError):
        ours(nothing=1)


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_is_set_or_deleted(shape: str) -> None:
    one = SHAPES[shape](frozen.dataclass)(**WORDS[shape][0])
    for name in ("a", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, name, 1)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(one, name)
    assert hasattr(one, "__dict__") == (shape in ("own", "made"))


@pytest.mark.parametrize("shape", SHAPES)
def test_copies_and_changes_are_alike(shape: str) -> None:
    ours, theirs = _pairs(SHAPES[shape])
    for words in WORDS[shape]:
        one, two = ours(**words), theirs(**words)
        for alike in (copy.copy, copy.deepcopy):
            assert repr(alike(one)) == repr(alike(two)) == repr(one)
        if words:
            assert repr(dataclasses.replace(one, a=7)) == repr(dataclasses.replace(two, a=7))
            assert dataclasses.asdict(one) == dataclasses.asdict(two)


@frozen.dataclass(frozen=True, slots=True)
class Carried:
    """At the top of a module, as what is pickled must be."""

    a: int
    b: tuple[int, ...] = ()


def test_the_types_of_its_words_are_found_in_its_own_module() -> None:
    known = inspect.signature(Carried, eval_str=True).parameters
    assert known["b"].annotation == tuple[int, ...]


def test_it_is_pickled() -> None:
    one = Carried(1, (2, 3))
    assert pickle.loads(pickle.dumps(one)) == one


def test_a_class_that_is_not_frozen_is_the_librarys() -> None:
    @frozen.dataclass(slots=True)
    class Loose:
        a: int

    one = Loose(1)
    one.a = 2
    assert one == Loose(2)
    assert Loose.__hash__ is None


def test_every_class_of_ours_is_defined_so() -> None:
    found = [
        place.relative_to(ROOT).as_posix()
        for place in (ROOT / "src" / "hubbub").rglob("*.py")
        if place.name != "frozen.py" and "dataclasses import dataclass" in place.read_text(encoding="utf-8")
    ]
    assert not found, "from hubbub.runtime.frozen import dataclass costs a fifth to define"


def test_the_library_and_ours_are_frozen_below_each_other() -> None:
    @frozen.dataclass(frozen=True)
    class Ours:
        a: int

    @dataclasses.dataclass(frozen=True)
    class Theirs(Ours):
        b: int

    @frozen.dataclass(frozen=True)
    class Again(Theirs):
        c: int

    one = Again(1, 2, 3)
    assert one == Again(1, 2, 3) != Again(1, 2, 4)
    for name in "abc":
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, name, 5)
    with pytest.raises(TypeError, match="non-frozen"):
        dataclasses.dataclass(type("Thawed", (Ours,), {"__annotations__": {"d": int}}))
