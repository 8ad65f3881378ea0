"""Five numbers of a hospital's visits, with several rows of each patient: their intervals are right at their rate.

200 releases of a made-up hospital with 400 patients, no noise of which is seeded. Size: a true rate of 95 % gives fewer
than HELD of 200 with a chance of about 1e-6. Power: intervals for 60 % hold so many with a chance below 1e-12, and of
visits, whose intervals have no slack, such ones are tried as well and are found out.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy import stats

from hubbub import registry
from hubbub.engines.opening import open_source
from hubbub.noise.source import SystemSource

RELEASES, PATIENTS, MOST, WARDS = 200, 400, 5, 4
HELD = int(stats.binom.ppf(1e-6, RELEASES, 0.95))


def visits() -> dict[str, NDArray[np.int64]]:
    """One to five visits of each patient."""
    numbers = np.random.default_rng(5)
    patients = np.repeat(np.arange(PATIENTS), numbers.integers(1, MOST + 1, PATIENTS))
    many = len(patients)
    return {
        "patient": patients,
        "ward": numbers.integers(0, WARDS, many),
        "cost": np.minimum(np.exp(numbers.normal(4, 1, many)), 1000).astype(np.int64),
        "readmitted": numbers.integers(0, 9, many) // 8,
        "stay": np.minimum(numbers.geometric(0.2, many), 30),
    }


ROWS = visits()
WARD = {"by": [f"ward:0..{WARDS}:1"]}
NUMBERS: dict[str, tuple[str, dict[str, Any], float]] = {
    "visits": ("count", {**WARD, "count_rows": True}, float((ROWS["ward"] == 0).sum())),
    "total": ("sum", {**WARD, "of": "cost:0..1000:1", "cap": 5000}, float(ROWS["cost"][ROWS["ward"] == 0].sum())),
    "mean": ("mean", {"of": "cost:0..1000:1"}, float(ROWS["cost"].mean())),
    "share": ("fraction", {"where": "readmitted = 1"}, float(ROWS["readmitted"].mean())),
    "percentile": (
        "quantile",
        {"of": "stay:0..30:1", "q": "0.9"},
        float(np.quantile(ROWS["stay"], 0.9, method="inverted_cdf")),
    ),
}


def held(name: str, coverage: str) -> int:
    """How many of the intervals hold the exact number: that of the first ward, or of all."""
    kind, options, truth = NUMBERS[name]
    engine = open_source(pa.table(ROWS))
    asked = registry.kind(kind).from_options(
        person="patient", rows_per_person=MOST, epsilon="1", coverage=coverage, **options
    )
    spec, found = asked.with_schema(engine.columns()), 0
    for _ in range(RELEASES):
        (low, *_), (high, *_) = ends(spec.present(spec.measure(engine, SystemSource())))
        found += low <= truth <= high
    return found


def ends(result: Any) -> tuple[list[float], list[float]]:
    """Both ends of every interval; one that is open has none on that side."""
    facts = result.facts()["answers"]
    low, high = ([each[end] for each in facts] for end in ("low", "high"))
    return [-inf if end is None else float(end) for end in low], [inf if end is None else float(end) for end in high]


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMBERS)
def test_intervals_of_numbers_of_rows_hold_as_often_as_they_say(name: str) -> None:
    found = held(name, "0.95")
    assert found >= HELD, f"{found} of {RELEASES} hold, below {HELD}"


@pytest.mark.slow
def test_intervals_that_hold_too_seldom_are_noticed() -> None:
    assert stats.binom.sf(HELD - 1, RELEASES, 0.6) < 1e-12
    assert held("visits", "0.6") < HELD
