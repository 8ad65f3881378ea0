"""On real tables whose people have 1 to 40 rows: every interval holds what it says it is for as often as it says.

300 releases are drawn as one: the table stands 300 times under a column `copy`, each time with people of its own, and
the release counts by copy and bin. Rows are chosen, samples drawn and noise added person by person and bin by bin, so
the copies are 300 independent releases by the code that makes one.

The tables are not part of the repository: without them beside the repository these tests are skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy import stats

from hubbub.kinds.histogram import mechanism as histogram_mechanism
from hubbub.kinds.histogram.estimands import Estimand, of_interval
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.histogram.result import Counts
from hubbub.noise.source import ScriptedSource
from hubbub.tables.privacy_unit import Unit
from tests.fresh import counts, open, played

TABLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "tables"
pytestmark = pytest.mark.skipif(not TABLES.exists(), reason="the tables are not here")

RELEASES = 300
ROWS = 3000  # of a table, at most
LEVEL = Fraction(9, 10)
SIZE = 1e-6  # of each test: the probability that intervals which cover at exactly this rate are rejected
POWER = 0.99  # at least this probability that a bin is rejected whose intervals cover at OFF
OFF = 0.7

Ints = NDArray[np.int64]


@lru_cache(maxsize=4)
def people(name: str, column: str) -> tuple[tuple[str, ...], Ints, Ints]:
    """Labels, the bin of each row, and whose it is: half of the rows of people with one bin, half of any."""
    table = pq.read_table(TABLES / f"{name}.parquet", columns=[column]).column(column)
    rng = np.random.default_rng(6)
    labels, bins = np.unique(np.array(table.to_pylist(), dtype=str), return_inverse=True)
    bins = rng.permutation(bins)[:ROWS].astype(np.int64)
    bins[: len(bins) // 2].sort()
    sizes = rng.choice(np.arange(1, 41), len(bins), p=1 / np.arange(1, 41) / np.sum(1 / np.arange(1, 41)))
    who = np.repeat(np.arange(len(bins)), sizes)[: len(bins)]
    return tuple(labels.tolist()), bins, who.astype(np.int64)


def copies(labels: tuple[str, ...], bins: Ints, who: Ints) -> pa.Table:
    copy = np.repeat(np.arange(RELEASES), len(bins))
    texts = pa.DictionaryArray.from_arrays(pa.array(np.tile(bins, RELEASES), pa.int32()), pa.array(labels))
    ids = np.tile(who, RELEASES) + copy * (int(who.max()) + 1)
    return pa.table({"copy": copy, "bin": texts.cast(pa.string()), "id": ids})


def expected(bins: Ints, who: Ints, most: int) -> NDArray[np.float64]:
    """For each bin, over people: the share of their rows in it; or the chance that it is among at most so many bins."""
    matrix = np.zeros((int(who.max()) + 1, int(bins.max()) + 1))
    np.add.at(matrix, (who, bins), 1)
    if not most:
        shares = matrix / matrix.sum(axis=1, keepdims=True)
    else:
        shares = (matrix > 0) * np.minimum(1, most / (matrix > 0).sum(axis=1, keepdims=True))
    return np.asarray(shares.sum(axis=0))


def drawn(
    name: str, column: str, words: dict[str, Any], unit: dict[str, Any], patch: pytest.MonkeyPatch
) -> tuple[Counts, NDArray[np.float64]]:
    """300 releases, and beside each interval the number that it is for."""
    labels, bins, who = people(name, column)
    if not unit:
        who = np.arange(len(bins))
    seen: dict[Estimand, Any] = {}
    whole: Callable[..., Ints] = histogram_mechanism.sample_people

    def sampled(spec: Any, found: Ints, source: Any) -> Ints:
        seen[Estimand.KEPT_ROWS], seen[Estimand.SAMPLE] = found, whole(spec, found, source)
        kept: Ints = seen[Estimand.SAMPLE]
        return kept

    patch.setattr(histogram_mechanism, "sample_people", sampled)
    values = ",".join('"' + label.replace('"', '""') + '"' for label in labels)
    by = [f"copy:0..{RELEASES}:1", f"bin={values}"]
    spec = histogram(by, coverage=LEVEL, unit=Unit(person="id", **unit), **words)
    done = counts(played(spec, open(copies(labels, bins, who)).engine, ScriptedSource.from_label(f"{name} {words}")))
    seen[Estimand.TABLE] = seen[Estimand.EVERYBODY] = np.tile(np.bincount(bins), RELEASES)
    seen[Estimand.EXPECTED_ROWS] = np.tile(expected(bins, who, unit.get("distinct", 0)), RELEASES)
    return done, np.asarray(seen[of_interval(spec)], dtype=np.float64)


def too_many(missed: Ints, of: Ints) -> Ints:
    """The bins in which more intervals missed than 1 - coverage allows, all bins together at a size of SIZE."""
    return np.flatnonzero(stats.binom.sf(missed - 1, of, 1 - float(LEVEL)) < SIZE / (2 * len(of)))


def by_bin(flags: NDArray[np.bool_]) -> Ints:
    return np.asarray(flags.reshape(RELEASES, -1).sum(axis=0), dtype=np.int64)


ONE, FEW = {"one_row_per_person": True}, {"distinct": 2}
MEAN = {"expected_rows": True}
SCALED = {"sample": "1/4", "scale_up": True}
CASES: list[tuple[str, str, dict[str, Any], dict[str, Any], Estimand]] = [
    ("adult_train", "occupation", {"epsilon": 1}, {}, Estimand.TABLE),
    ("adult_train", "occupation", {"crowd": 50, "epsilon": 1}, {}, Estimand.TABLE),
    ("adult_train", "occupation", {"crowd": 20} | SCALED, {}, Estimand.EVERYBODY),
    ("adult_train", "occupation", {"epsilon": 1}, ONE, Estimand.KEPT_ROWS),
    ("adult_train", "occupation", {"crowd": 20}, ONE | MEAN, Estimand.EXPECTED_ROWS),
    ("adult_train", "occupation", {"epsilon": "1/2"}, ONE | MEAN, Estimand.EXPECTED_ROWS),
    ("adult_train", "occupation", {"epsilon": 2}, FEW | MEAN, Estimand.EXPECTED_ROWS),
    ("adult_train", "occupation", {"epsilon": 1, "sample": "1/4"}, ONE, Estimand.SAMPLE),
    ("adult_train", "occupation", {"epsilon": 1} | SCALED, ONE, Estimand.KEPT_ROWS),
    ("chicago_salaries_2015", "department", {"crowd": 20}, ONE | MEAN, Estimand.EXPECTED_ROWS),
    ("chicago_salaries_2015", "department", {"outlier": "1:0.3,20:1"}, ONE, Estimand.KEPT_ROWS),
    ("stroke", "work_type", {"crowd": 10, "epsilon": 1}, ONE | MEAN, Estimand.EXPECTED_ROWS),
]


@pytest.mark.parametrize(("name", "column", "words", "unit", "stated"), CASES, ids=str)
def test_what_an_interval_is_for_is_covered_at_the_stated_rate(
    name: str,
    column: str,
    words: dict[str, Any],
    unit: dict[str, Any],
    stated: Estimand,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done, truth = drawn(name, column, words, unit, monkeypatch)
    assert of_interval(done.spec) is stated
    assert done.facts()["counts"]["interval"] == stated.value
    missed = (done.low > truth) | ((done.high >= 0) & (done.high < truth))
    shown = by_bin(done.visible)
    assert shown.sum() > RELEASES  # there is something to look at
    for part, of in ((done.visible, shown), (~done.visible, np.full_like(shown, RELEASES))):
        found = by_bin(missed & part)
        wrong = too_many(found, of)
        assert not wrong.size, f"bins {wrong}: {found[wrong]} of {of[wrong]} intervals miss, at most {1 - LEVEL} may"


def test_the_expected_rows_are_not_covered_by_intervals_for_the_kept_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: held against another number than they are for, intervals of the same releases fail."""
    done, _ = drawn("adult_train", "occupation", {"epsilon": 1}, ONE, monkeypatch)
    _, bins, who = people("adult_train", "occupation")
    truth = np.tile(expected(bins, who, 0), RELEASES)
    missed = by_bin((done.low > truth) | (done.high < truth))
    assert too_many(missed, np.full_like(missed, RELEASES)).size > 3


def test_a_bin_that_is_covered_too_rarely_is_noticed() -> None:
    bins = 35  # as many as any table here has
    limit = stats.binom.isf(SIZE / (2 * bins), RELEASES, 1 - float(LEVEL)) + 1
    power = float(stats.binom.sf(limit - 1, RELEASES, 1 - OFF))
    assert power > POWER, f"n = {RELEASES}: power {power} at a coverage of {OFF}, wanted {POWER}"
