"""What the recorded releases ask: every statistic by bins, under every protection, for every way of counting rows.

A case is named by what it asks. The options that say so today are in three tables below, and nowhere else: a change of
options changes these tables and none of the names, so that a recording outlives it.
"""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import pyarrow as pa

_TOWNS: Final = ["Bath"] * 30 + ["York"] * 3 + ["Wells"] * 8
_VISITS: Final = [1, 1, 1, 3, 1, 2, 1]

_PEOPLE: Final = pa.table(
    {
        "town": _TOWNS,
        "age": [7 * i % 90 for i in range(41)],
        "days": [3 * i % 31 for i in range(41)],
        "id": list(range(41)),
    }
)
"""41 people, a row each."""

_ROWS: Final = [(i, visit) for i in range(41) for visit in range(_VISITS[i % 7])]
_VISITORS: Final = pa.table(
    {
        "town": [_TOWNS[(i + 13 * visit) % 41] for i, visit in _ROWS],
        "age": [(7 * i + visit) % 90 for i, visit in _ROWS],
        "days": [(3 * i + visit) % 31 for i, visit in _ROWS],
        "id": [i for i, _ in _ROWS],
    }
)
"""The same people, some of them with two or three rows."""
TABLES: Final = {"people": _PEOPLE, "visits": _VISITORS}

_BY: Final = {"by": ("town=Bath,York,other",)}
_OF: Final = {"of": "age:0..90:5"}

STATISTICS: Final[dict[str, dict[str, Any]]] = {
    "histogram": _BY,
    "cube": {"by": (*_BY["by"], "age:0..90:30,null"), "margins": "town; total"},
    "count": {**_BY, "where": "age >= 18"},
    "fraction": {**_BY, "where": "age >= 65"},
    "mean": {**_BY, **_OF},
    "quantile": {**_BY, **_OF},
    "sum": {**_BY, **_OF},
    "sum in layers": {**_BY, **_OF, "cap": "layers"},
    "ratio": {**_BY, **_OF, "per": "days:0..50:1"},
    "variance": {**_BY, **_OF},
    "std": {**_BY, **_OF},
    "summary": {**_BY, "number": ("people", "mean age:0..90:5")},
    "queries": {"columns": ("town=Bath,York,Wells", "age:0..90:30"), "class": "marginals:1"},
    "synthetic": {"columns": ("town=Bath,York,Wells", "age:0..90:30"), "size": "20"},
}

PROTECTIONS: Final[dict[str, dict[str, Any]]] = {
    "noise": {"epsilon": "1"},
    "crowds": {"crowd": "6"},
    "crowds with noise": {"crowd": "6", "epsilon": "1"},
    "Gaussian noise": {"epsilon": "1", "delta": "1e-6", "mechanism": "gaussian"},
    "a secret sample": {"crowd": "6", "epsilon": "1", "sample": "0.2", "at_delta": "1e-3"},
    "zero knowledge": {"zero_knowledge": "0.5", "rows": "10", "people": "41"},
    "an outlier curve": {"outlier": "1:1,5:0.5"},
    "a tailored curve": {"tailored": "1:0.5,11:1", "delta": "1e-6"},
}

CONTRIBUTIONS: Final[dict[str, dict[str, Any]]] = {
    "people with one row": {},
    "people known to have one row": {"unique_person": True},
    "one row of each person": {"one_row_per_person": True},
    "at most 2 rows": {"rows_per_person": "2"},
    "at most 3 rows, 2 in a bin": {"rows_per_person": "3", "rows_per_bin": "2"},
    "at most 2 bins": {"distinct": "2"},
}

SEVERAL: Final = frozenset(list(CONTRIBUTIONS)[2:])
"""The ways of counting that are recorded about people with several rows."""


def cases() -> dict[str, tuple[str, dict[str, Any], str]]:
    """Every case by its name: the statistic, its options, the table."""
    return {
        f"{statistic}, {protection}, {contribution}": (
            statistic.split()[0],
            {"person": "id", **asked, **PROTECTIONS[protection], **CONTRIBUTIONS[contribution]},
            "visits" if contribution in SEVERAL else "people",
        )
        for (statistic, asked), protection, contribution in product(STATISTICS.items(), PROTECTIONS, CONTRIBUTIONS)
    }
