"""Certificates by somebody who wants to be believed: changed, made up, and signed with a key of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hubbub.kinds.histogram import wire as histogram_wire
from hubbub.verification import Checked
from tests.fresh import unsigned
from tests.unit.shared.saved import sign

BASE: dict[str, Any] = {
    "bins": [{"is": "Values", "column": "town", "values": ["Bath"], "null": False, "other": True, "reads": ""}],
    "channel": {"name": "exact-or-suppressed", "k": "20"},
    "unit": {"is": "Unit", "person": None, "one_row_per_person": False, "distinct": None, "expected_rows": False},
    "sample": None,
    "collected": None,
    "at_delta": "0.000000001",
    "coverage": "0.95",
    "scale_up": False,
    "lowered": False,
}
DESCRIBED = set(BASE)


def described(forger: Path, **changes: Any) -> bytes:
    """A certificate for this description in which nothing else is changed: whoever reads it must not stumble."""
    made = unsigned(histogram_wire.read(BASE))
    inner = {name: value for name, value in changes.items() if name in DESCRIBED}
    outer = {name: value for name, value in changes.items() if name not in DESCRIBED}
    return sign(forger, made | {"release": made["release"] | inner} | outer)


def consistent(forger: Path, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> bytes:
    """A certificate that a forger makes with this very program, after taking out its checks of the description."""
    with monkeypatch.context() as patch:
        patch.setattr("hubbub.channels.catalogue._check_made", lambda kind, given: None)
        made = unsigned(histogram_wire._build(BASE | changes))
    return sign(forger, made)


def wrong(done: Checked) -> str:
    assert not done.passed
    assert [check.passed for check in done.checks] == [True] * (len(done.checks) - 1) + [False]
    return f"{done.checks[-1].what}: {done.checks[-1].found}"
