"""A property test tries the same examples in every run, whatever ran before it and whatever is loaded."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants


def tried() -> list[int]:
    """The whole numbers that one property test sees."""
    seen: list[int] = []

    @settings(max_examples=300)
    @given(st.integers())
    def look(number: int) -> None:
        seen.append(number)

    look()
    return seen


def test_the_profile_repeats_itself_and_has_no_deadline() -> None:
    used = settings()
    assert (used.derandomize, used.deadline, used.database) == (True, None, None)
    assert tried() == tried()


def test_modules_that_are_loaded_change_no_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the control: as Hypothesis does it by itself, a loaded module changes them."""
    before = tried()
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "full_of_numbers.py").write_text(f"NUMBERS = {list(range(10**6, 10**6 + 200))}\n")
    importlib.invalidate_caches()
    try:
        importlib.import_module("full_of_numbers")
        assert tried() == before
        monkeypatch.undo()
        with monkeypatch.context() as patch:
            patch.setattr(providers, "_get_local_constants", lambda: Constants(integers={10**6}))
            providers.CONSTANTS_CACHE.cache.clear()
            assert tried() != before
    finally:
        providers.CONSTANTS_CACHE.cache.clear()
        sys.modules.pop("full_of_numbers", None)
