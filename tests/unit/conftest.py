"""Releases and keys that several files look at, made once for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from hubbub.ledger import key
from tests.unit.shared.saved import Saved, made_once


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """A release with several promises, made once."""
    return made_once(tmp_path_factory.mktemp("saved"), {"epsilon": 1, "sample": "0.05"})


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """One with a short certificate."""
    return made_once(tmp_path_factory.mktemp("small"), {"epsilon": 1})


@pytest.fixture(scope="module")
def forger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody else's key."""
    place = tmp_path_factory.mktemp("forger") / "ledger.db"
    key.make(place)
    return place
