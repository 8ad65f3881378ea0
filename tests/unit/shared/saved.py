"""Releases on the disk with their certificates, and somebody else who signs."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hubbub.certificate.certificate import SIGNATURE, signed_bytes
from hubbub.ledger import key
from hubbub.release import save
from hubbub.serialization.canonical import canonical
from hubbub.verification import load
from tests.fresh import enter, opening_words
from tests.unit.shared.histogram_requests import TOWNS

DAYS = [date(9999, 12, 31), date(2024, 2, 29), None]
TABLE = pa.table(
    {
        "town": pa.array(TOWNS, pa.string()),
        "id": list(range(len(TOWNS))),
        "age": [float(i - 10) for i in range(len(TOWNS))],
        "day": pa.array([DAYS[i % 3] for i in range(len(TOWNS))], pa.date32()),
    }
)
OTHERS: dict[str, dict[str, Any]] = {
    "printed": {
        "channel": "staircase",
        "options": {"thresholds": "30,10", "epsilons": "1,0.5,0", "delta": "1e-3", "as_printed": True},
    },
    "calibrated": {
        "channel": "staircase",
        "options": {"thresholds": "30,10", "epsilons": "1,0.5,0", "delta": "1e-4"},
    },
    "group": {"channel": "group", "options": {"k": 10, "epsilon": 1}},
    "simple hidden": {"channel": "simple-suppressed", "options": {"k": 10}},
    "simple noisy": {"channel": "simple-noisy", "options": {"k": 10, "epsilon": 2}, "sample": "0.05"},
    "example 4": {"channel": "outlier-suppressed", "options": {"k": 10, "epsilon": 1, "delta": "1e-6"}},
    "example 5": {"channel": "outlier-noisy", "options": {"k": 10, "epsilon": 1, "alpha": 10}},
    "lecture": {"channel": "lecture", "options": {"t": 5, "K": 20, "epsilon": 1}},
    "lower bound": {
        "channel": "lower-bound",
        "options": {"curve": "1:0.5,20:1", "estimator": "count", "epsilon_a": "0.1", "alpha": 5},
    },
    "a curve that was lowered": {"outlier": "1:1,5:0.5"},
}


class Saved:
    """A release on the disk, with its certificate and without a report."""

    def __init__(self, folder: Path, words: dict[str, Any], by: str = "town=Bath,York,other") -> None:
        how, given = opening_words(words)
        self.made = enter(TABLE, person="id", unlisted=1, **how).histogram([by], **given)
        written = save(self.made, folder, report=False)
        self.release, self.certificate = Path(written["release"]), Path(written["certificate"])
        self.data = load(self.certificate)

    @property
    def body(self) -> dict[str, Any]:
        """Without its signature."""
        read: dict[str, Any] = json.loads(self.data)
        del read[SIGNATURE]
        return read


def made_once(home: Path, words: dict[str, Any]) -> Saved:
    """A release for several tests, in a ledger of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(home / "data"))
        patch.setenv("XDG_STATE_HOME", str(home / "state"))
        return Saved(home / "out", words)


def sign(forger: Path, body: dict[str, Any]) -> bytes:
    """A certificate that says this, signed with the key beside a ledger of that name."""
    value = key.sign(forger, signed_bytes(body))
    return canonical(body | {SIGNATURE: {"algorithm": key.ALGORITHM, "public_key": key.public(forger), "value": value}})
