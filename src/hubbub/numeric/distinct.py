"""Different values of an array. NumPy's own functions of sets load its masked arrays, which takes longer than a small
release needs to be counted."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value", bound=np.generic)


def distinct(values: NDArray[Value]) -> NDArray[Value]:
    """The different values, in order."""
    ordered = np.sort(values)
    return ordered[_is_new(ordered)]


def distinct_and_inverse(values: NDArray[Value]) -> tuple[NDArray[Value], NDArray[np.intp]]:
    """The same, and for each value its place among them; in little time where they are in order already."""
    if _is_in_order(values):
        new = _is_new(values)
        return values[new], np.cumsum(new) - 1
    order = np.argsort(values, kind="stable")
    new = _is_new(values[order])
    places = np.empty(values.size, dtype=np.intp)
    places[order] = np.cumsum(new) - 1
    return values[order][new], places


def _is_in_order(values: NDArray[Any]) -> bool:
    return bool(np.all(values[1:] >= values[:-1]))


def _is_new(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    new = np.ones(ordered.size, dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return new
