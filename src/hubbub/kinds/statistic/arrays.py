"""Numbers of a statistic as columns of a file: ends rounded outwards, whole numbers that may be missing, labels."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from hubbub.numeric.exact import to_float, to_text
from hubbub.protocol.result import Sheet
from hubbub.serialization.arrow import floats, integer_array, texts

Interval: TypeAlias = tuple[Fraction | None, Fraction, Fraction | None]
"""An estimate, None where nothing is known, and both ends; None: no upper end."""


def down(value: Fraction) -> float:
    """As a float that is not above it."""
    return to_float(value, round_up=False)


def up(value: Fraction | None) -> float | None:
    """As a float that is not below it."""
    return None if value is None else to_float(value, round_up=True)


def integers(numbers: Sequence[int | None]) -> pa.Array:
    """Whole numbers, null where None."""
    known = np.array([number is not None for number in numbers], dtype=bool)
    return integer_array(np.array([number or 0 for number in numbers], dtype=np.int64), None if known.all() else known)


def interval_arrays(numbers: Sequence[Interval]) -> list[pa.Array]:
    """Estimates, and their ends rounded outwards."""
    return [
        floats([None if estimate is None else float(estimate) for estimate, _, _ in numbers]),
        floats([down(low) for _, low, _ in numbers]),
        floats([up(high) for _, _, high in numbers]),
    ]


def interval_facts(value: Fraction | None, number: Interval) -> dict[str, Any]:
    """What was published exactly, the estimate and its ends, for JSON."""
    estimate, low, high = number
    return {
        "value": None if value is None else to_text(value),
        "estimate": None if estimate is None else float(estimate),
        "low": down(low),
        "high": up(high),
    }


def label_arrays(axes: int, keys: Sequence[tuple[str | None, ...]]) -> list[pa.Array]:
    """The labels of bins, a column for each axis."""
    return [texts([key[i] for key in keys]) for i in range(axes)]


def one_batch(name: str, batch: pa.RecordBatch) -> Sheet:
    """A sheet of one batch."""
    return Sheet(name, batch.schema, lambda: iter((batch,)), batch.num_rows)
