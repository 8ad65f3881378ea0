"""Faults that are planted in functions which are loaded already, so that no fault waits for imports.

pytest collects all tests once; for each fault this process forks, the fork gives one function the code that it has in
the changed module, forgets what functions remember, and runs the tests that can see it.
"""

from __future__ import annotations

import functools
import gc
import importlib
import os
import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol


class Collected:
    """A plugin that hands over all tests instead of running them."""

    def __init__(self, work: Callable[[Mapping[str, pytest.Item]], None]) -> None:
        self._work = work

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._work({item.nodeid: item for item in session.items})
        return True


def function_of(module: str, name: str, source: str) -> tuple[FunctionType, FunctionType] | None:
    """A function as it is loaded, and as the changed text has it; None if it cannot be found in both."""
    loaded = importlib.import_module(module)
    changed = ModuleType(f"{module}_changed")
    changed.__dict__.update(__file__=loaded.__file__, __package__=loaded.__package__)
    sys.modules[changed.__name__] = changed  # dataclasses look their types up there
    try:
        exec(compile(source, str(loaded.__file__), "exec"), changed.__dict__)
    except Exception:
        return None
    finally:
        del sys.modules[changed.__name__]
    one, two = (_found(space, name.split(".")) for space in (vars(loaded), vars(changed)))
    fits = one is not None and two is not None and one.__code__.co_freevars == two.__code__.co_freevars
    return (one, two) if fits and one is not None and two is not None else None


def _found(space: Mapping[str, Any], names: Sequence[str]) -> FunctionType | None:
    held = space.get(names[0])
    if len(names) > 1:
        return _found(vars(held), names[1:]) if isinstance(held, type) else None
    for inner in ("fget", "func", "__func__", "__wrapped__"):
        held = getattr(held, inner, held) if not isinstance(held, FunctionType) or inner == "__wrapped__" else held
    return held if isinstance(held, FunctionType) else None


def give(one: FunctionType, two: FunctionType) -> None:
    """From now on the first does what the second does."""
    one.__code__, one.__defaults__, one.__kwdefaults__ = two.__code__, two.__defaults__, two.__kwdefaults__


def remembering() -> list[functools._lru_cache_wrapper[Any]]:
    """The functions of ours that remember what they answered."""
    every = [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]
    return [each for each in every if (each.__module__ or "").partition(".")[0] in ("hubbub", "tests")]


def forget(caches: Sequence[functools._lru_cache_wrapper[Any]]) -> None:
    for each in caches:
        each.cache_clear()


def failing(items: Sequence[pytest.Item], plant: Callable[[], None], seconds: int, told: int) -> int:
    """The process of a fork that runs these tests until one fails and writes down which; 1 if one did."""
    child = os.fork()
    if child:
        return child
    code = 0
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        gc.disable()
        plant()
        for item, after in zip(items, (*items, None)[1:], strict=True):
            if any(report.failed for report in runtestprotocol(item, log=False, nextitem=after)):
                os.write(told, item.nodeid.encode())
                code = 1
                break
    except BaseException:
        code = 1
    os._exit(code)
