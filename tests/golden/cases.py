"""What the golden releases are asked: one of each kind, about invented people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TOWNS = ["Bath"] * 30 + ["York"] * 3 + ["Wells"] * 8
PEOPLE = {
    "town": TOWNS,
    "age": [7 * i % 90 for i in range(41)],
    "east": [3 * i % 100 for i in range(41)],
    "id": [f"p{i}" for i in range(41)],
}
EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (4, 0)]
RECORD = {"rounds": [{"counts": {"a": 200, "b": 150, "c": 92}}, {"counts": {"a": 290, "b": 150}}], "winner": "a"}

_TOWN, _AGE = ("town=Bath,York,other",), "age:0..90:5"
_NOISE = {"by": _TOWN, "epsilon": "1"}
_DOMAIN = ("town=Bath,York,Wells", "age:0..90:30")

CASES: dict[str, dict[str, Any]] = {
    "histogram": {"by": _TOWN, "crowd": "20", "sample": "0.05"},
    "cube": {"by": (*_TOWN, "age:0..90:30,null"), "epsilon": "1", "margins": "town; total"},
    "records": {"columns": "town,age:30", "crowd": "3"},
    "points": {"columns": "age,east", "box": "0..100,0..100", "grid": "50,50", "crowd": "5", "epsilon": "2"},
    "queries": {"columns": _DOMAIN, "class": "marginals:2", "epsilon": "1"},
    "synthetic": {"columns": _DOMAIN, "epsilon": "1", "delta": "1e-6", "size": "20"},
    "count": {"where": "age >= 65", "zero_knowledge": "0.5", "rows": "10", "people": "41"},
    "fraction": {"where": "age >= 65", **_NOISE},
    "mean": {"of": _AGE, **_NOISE, "unique_person": True},
    "quantile": {"of": _AGE, "epsilon": "1"},
    "sum": {"of": _AGE, "cap": "layers", **_NOISE},
    "ratio": {"of": _AGE, "per": "east:0..50:1", **_NOISE},
    "summary": {"number": ("people", "mean age:0..90:5"), "by": _TOWN, "epsilon": "2"},
    "variance": {"of": _AGE, "epsilon": "1"},
    "std": {"of": _AGE, **_NOISE},
    "questions": {"spec": str(Path(__file__).with_name("questions.toml"))},
    "graph": {"vertices": "9", "max_degree": "4", "epsilon": "1", "of": "degree-histogram,triangles"},
    "ballots": {},
}

SERIES: dict[str, Any] = {
    "kind": "histogram", "by": list(_TOWN), "person": "id", "periods": 2, "first": "2026-01", "epsilon": 1,
}  # fmt: skip
PERIODS = {
    "2026-01": {"id": [f"p{i}" for i in range(20)], "town": TOWNS[:20]},
    "2026-02": {"id": [f"p{i}" for i in range(20, 41)], "town": TOWNS[20:]},
}
