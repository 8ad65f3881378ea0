"""The bounds of the made-up hospital visits that Hubbub and its peers publish in benchmarks.utility."""

from __future__ import annotations

from typing import Final

ROWS_OF_A_PERSON: Final = 20
WARDS: Final = 8
MONTHS: Final = 12
COST: Final = 50_000
STAY: Final = 60
