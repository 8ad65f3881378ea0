"""Other people's software as functions to audit. Nothing of it is imported here: whoever has it hands it over.

::

    audit(opendp(measurement), pair, epsilon=1)
    audit(randomised(mechanism, query), pair, epsilon=1)              # diffprivlib
    audit(noisy(query, lambda: rng.laplace(0, 1)), pair, epsilon=1)   # numpy
    audit(anonymised(rows_to_table, anonymise), (rows, 3), game="crowd-blending", k=5, epsilon=0)   # ARX, anjana
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def opendp(measurement: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """An OpenDP measurement is a function already; this gives it a name."""

    def release(data: Any) -> Any:
        return measurement(data)

    return release


def randomised(mechanism: Any, query: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A mechanism of diffprivlib, which has a ``randomise``, on the answer to a query."""

    def release(data: Any) -> Any:
        return mechanism.randomise(query(data))

    return release


def noisy(query: Callable[[Any], Any], noise: Callable[[], Any]) -> Callable[[Any], Any]:
    """A query with noise added, however that is drawn."""

    def release(data: Any) -> Any:
        return query(data) + noise()

    return release


def anonymised(
    table: Callable[[Sequence[Any]], Any], anonymise: Callable[[Any], Any], as_text: Callable[[Any], Any] = str
) -> Callable[[Sequence[Any]], Any]:
    """A tool that turns a table into an anonymised one, on rows; what comes out is compared as it is written."""

    def release(rows: Sequence[Any]) -> Any:
        return as_text(anonymise(table(rows)))

    return release
