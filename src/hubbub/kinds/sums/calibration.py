"""Means and shares by calibration cells, put together by public totals: post-stratification of what was published.

Weights that were calibrated depend on everybody and cannot be hidden. The published table of cells can be calibrated
instead: with N_b people in cell b, as everybody knows, and the published mean m_b, the calibrated mean is the sum of
N_b m_b over the sum of N_b. It is worked out from what was published and public numbers alone, and costs nothing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import Assumption
from hubbub.kinds.sums.columns import Row, key_of
from hubbub.kinds.sums.result import answers_of, usable
from hubbub.kinds.sums.sums import Estimate
from hubbub.numeric.clamped_interval import clamp
from hubbub.numeric.exact import rational
from hubbub.protocol.option import Option
from hubbub.runtime.regular_file import open_regular
from hubbub.tables.bins import Axis, Discovered, declared_size

if TYPE_CHECKING:
    from hubbub.kinds.sums.spec import Statistic

TOTAL: Final = "total"
_MOST_BYTES: Final = 1 << 26
CALIBRATE: Final = Option(
    "calibrate",
    "FILE",
    "A CSV of public totals: the columns of `by` and `total`; the numbers of the bins are put together by them.",
    takes="object",
    advanced=True,
)
PUBLIC_TOTALS: Final = Assumption(
    "calibration.totals", "the totals that the bins are calibrated to are public, and were not made from this table"
)


def totals_of(given: object, axes: Sequence[Axis]) -> tuple[Fraction, ...] | None:
    """The public total of every bin, in order, or one sentence: from a file, or from a mapping by label (by all labels
    of a bin where there are several columns)."""
    if given is None:
        return None
    if not axes or any(isinstance(axis, Discovered) for axis in axes):
        raise WrongUse("numbers are calibrated by bins that are declared; add `by`, like region=north,south")
    bins = declared_size(axes)
    assert bins is not None
    keys = [key_of(axes, code) for code in range(bins)]
    found = _listed(given, axes) if isinstance(given, str) else _mapped(given, len(axes))
    missing, unknown = [key for key in keys if key not in found], [key for key in found if key not in set(keys)]
    if missing or unknown:
        what = f"has none for {_named(missing[0])}" if missing else f"names {_named(unknown[0])}, which is no bin"
        raise WrongUse(f"public totals are said of every bin, and of no other; the list {what}")
    totals = tuple(rational(found[key], TOTAL) for key in keys)
    if min(totals) < 0 or not sum(totals):
        raise WrongUse("a public total is a number of people, not below 0, and not all are 0; check the list")
    return totals


def _mapped(given: object, columns: int) -> dict[tuple[str | None, ...], Any]:
    if not isinstance(given, Mapping):
        raise WrongUse("public totals are in a CSV, or listed by bin like {'north': 1000, 'south': 2000}; give one")
    found = {key if isinstance(key, tuple) else (key,): total for key, total in given.items()}
    if any(len(key) != columns for key in found):
        raise WrongUse("public totals by several columns are listed by all labels of a bin, like ('north', 'F')")
    return found


def _listed(path: str, axes: Sequence[Axis]) -> dict[tuple[str | None, ...], str]:
    columns = [axis.column for axis in axes]
    try:
        with open_regular(path) as file:
            raw = file.read(_MOST_BYTES)
        rows = list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline="")))
    except (OSError, ValueError, csv.Error):
        raise WrongUse(
            f"the public totals cannot be read from {path[:200]!r}; check the path, and that it is a CSV"
        ) from None
    header, *body = [row for row in rows if row] or [[]]
    if sorted(header) != sorted([*columns, TOTAL]) or any(len(row) != len(header) for row in body):
        raise WrongUse(
            f"a CSV of public totals has the columns {', '.join([*columns, TOTAL])}, and no other; write it so"
        )
    places = [header.index(column) for column in columns]
    found = {tuple(row[at] or None for at in places): row[header.index(TOTAL)] for row in body}
    if len(found) < len(body):
        raise WrongUse("a bin stands twice in the list of public totals; add its rows up")
    return found


def _named(key: tuple[str | None, ...]) -> str:
    return ", ".join("(missing)" if part is None else repr(part[:40]) for part in key)


def calibrated(spec: Statistic, rows: Sequence[Row]) -> Estimate | None:
    """The mean over all bins by their public totals, from what was published of each.

    Guarantee: nothing but the published integers and public numbers goes in, so that every promise of the release
    holds of it. The interval holds the sum of N_b times the true mean of the people of the table in bin b over the sum
    of N_b, with the coverage of the release: that of each bin is as often wrong as 1 - coverage over how many there are.
    """
    if spec.totals is None:
        return None
    used = [i for i, total in enumerate(spec.totals) if total]
    finer = replace(spec, coverage=1 - (1 - spec.coverage) / len(used))
    answers = answers_of(finer, rows)
    everybody = sum(spec.totals, Fraction(0))
    shares = [(spec.totals[i] / everybody, answers[i]) for i in used]
    low, high = (
        sum((share * end for share, answer in shares if (end := getattr(answer, name)) is not None), Fraction(0))
        for name in ("low", "high")
    )
    if any(answer.value is None for _, answer in shares):
        return Estimate(None, None, low, high)
    about = sum((share * answer.value for share, answer in shares if answer.value is not None), Fraction(0))
    return usable(spec, Estimate(about, clamp(about, low, high), low, high))
