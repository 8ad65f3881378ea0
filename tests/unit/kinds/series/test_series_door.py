"""What a period publishes is a function of what was drawn, and of nothing else of the increments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hubbub.kinds.series.mechanism import Increments
from hubbub.kinds.series.request import from_options
from hubbub.noise.source import SystemSource
from hubbub.protocol.measurement import Rehearsal, loaded
from hubbub.registry import read
from hubbub.serialization.canonical import canonical

BASE: dict[str, Any] = {
    "name": "s", "kind": "histogram", "by": ["ward=a,b"], "person": "id", "periods": 6, "first": "2026-Q1", "every": "quarter",
}  # fmt: skip
CASES: list[dict[str, Any]] = [
    {"epsilon": 1},
    {"epsilon": 1, "way": "blocks", "periods": 60},
    {"epsilon": 1, "delta": "1e-6", "way": "factor", "recur": 2},
    {"crowd": 5},
    {"epsilon": 1, "recur": 3, "sample": "0.1"},
    {"epsilon": 1, "recur": 3, "sample": "0.1", "panel": True, "date": "seen"},
]


@pytest.mark.parametrize("more", CASES, ids=str)
def test_50_neighbours_whose_draws_are_replayed_publish_the_same(more: dict[str, Any]) -> None:
    spec = replace(from_options(**BASE | more), period="2026-Q3")
    table = np.array([[9, 4], [7, 0], [30, 6]], dtype=np.int64)
    neighbour = table - np.array([[0, 0], [1, 0], [0, 0]], dtype=np.int64)
    first = Rehearsal(SystemSource())
    told = spec.present(spec.measure(Increments(table, ()), first))
    again = Rehearsal(SystemSource(), [loaded(batch.schema, batch) for batch in first.drawn])
    other = spec.present(spec.measure(Increments(neighbour, ()), again))
    for one, two in zip(told.sheets(), other.sheets(), strict=True):
        assert list(one.batches()) == list(two.batches())
    assert (told.facts(), told.sentences()) == (other.facts(), other.sentences())
    ((_, exact),) = first.calls
    ((_, moved),) = again.calls
    assert int(np.abs(exact - moved).sum()) == 1


@pytest.mark.parametrize("more", CASES, ids=str)
def test_a_period_is_read_back_as_it_was_written(more: dict[str, Any]) -> None:
    spec = replace(from_options(**BASE | more), period="2026-Q3", missed=("2026-Q2",))
    assert read("series/1", spec.to_json()) == spec
    assert canonical(read("series/1", spec.to_json()).to_json()) == canonical(spec.to_json())
