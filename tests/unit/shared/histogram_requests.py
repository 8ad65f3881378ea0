"""Words that ask for a histogram in every way there is, and the towns of those who are counted."""

from __future__ import annotations

from typing import Any

TOWNS = ["Bath"] * 30 + ["York"] * 3

WORDS: dict[str, dict[str, Any]] = {
    "crowd": {"crowd": 20},
    "noisy": {"crowd": 20, "epsilon": "0.5"},
    "plain": {"epsilon": "1/3"},
    "outlier": {"outlier": "1:0.01,101:1"},
    "sample": {"crowd": 20, "sample": "0.05"},
    "scaled": {"epsilon": 1, "sample": "0.05", "scale_up": True},
    "collected": {"crowd": 20, "collected": "0.05"},
    "uneven": {"crowd": 20, "collected_between": ("0.03", "0.06"), "exempt": 5},
    "one row": {"crowd": 20, "one_row_per_person": True},
    "distinct": {"epsilon": 1, "distinct": 2},
    "staircase": {
        "channel": "staircase",
        "options": {"thresholds": "1000,100,10", "epsilons": "1,0.1,0.01,0", "alpha": 10},
    },
}
