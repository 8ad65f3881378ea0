"""A census table by education, occupation, sex and race: what is shown at k = 10, and how much noise costs.

The table is not part of the repository: without it beside the repository these tests are skipped.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

from hubbub.errors import Refused
from hubbub.guarantees.definitions import CrowdBlending
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.histogram.result import Counts
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import ScriptedSource
from hubbub.release import save
from tests.fresh import counts, open, played
from tests.fresh import opened as open_table

ADULT = Path(__file__).resolve().parents[5] / "shared" / "data" / "tables" / "adult_train.parquet"
pytestmark = pytest.mark.skipif(not ADULT.exists(), reason="the census table is not here")

DOMAIN = {
    "education": "Preschool,1st-4th,5th-6th,7th-8th,9th,10th,11th,12th,HS-grad,Some-college,Assoc-voc,Assoc-acdm,"
    "Bachelors,Masters,Prof-school,Doctorate",
    "occupation": "?,Adm-clerical,Armed-Forces,Craft-repair,Exec-managerial,Farming-fishing,Handlers-cleaners,"
    "Machine-op-inspct,Other-service,Priv-house-serv,Prof-specialty,Protective-serv,Sales,Tech-support,Transport-moving",
    "sex": "Female,Male",
    "race": "Amer-Indian-Eskimo,Asian-Pac-Islander,Black,Other,White",
}
BY = [f"{column}={values}" for column, values in DOMAIN.items()]
KEYS = list(product(*(values.split(",") for values in DOMAIN.values())))
BINS = 2400
K = 10


@pytest.fixture(scope="module")
def truth() -> dict[tuple[str, ...], int]:
    """Counts by Arrow's own grouping."""
    table = pq.read_table(ADULT, columns=list(DOMAIN))
    groups = table.group_by(list(DOMAIN)).aggregate([([], "count_all")]).to_pylist()
    return {tuple(group[column] for column in DOMAIN): group["count_all"] for group in groups}


def keys(release: Counts) -> list[tuple[str | None, ...]]:
    columns = [[labels[i] for i in which.tolist()] for which, labels in release.keys(0, release.bins)]
    return list(zip(*columns, strict=True))


def test_exactly_the_counts_of_at_least_ten_are_shown(truth: dict[tuple[str, ...], int]) -> None:
    release = counts(open(ADULT).histogram(BY, crowd=K))
    assert keys(release) == KEYS
    assert len(KEYS) == release.bins == BINS
    shown = {key: release.published.outcome(i)[0] for i, key in enumerate(KEYS) if release.visible[i]}
    assert shown == {key: count for key, count in truth.items() if count >= K}
    assert 0 < len(shown) < len(truth) < BINS
    assert sum(truth.values()) == 32_561


def test_bins_found_in_the_data_are_those_shown_above(truth: dict[tuple[str, ...], int]) -> None:
    release = counts(open(ADULT).histogram(list(DOMAIN), crowd=K))
    assert dict(zip(keys(release), release.published.values.tolist(), strict=True)) == {
        key: count for key, count in truth.items() if count >= K
    }
    assert keys(release) == sorted(keys(release))


# --- the cost of noise --------------------------------------------------------------------------------------------

SIZE = 1e-6  # how often noise of epsilon 1 would be rejected
POWER = 0.999  # how often noise of an epsilon OFF away would be
OFF = 0.2


def mean_and_deviation(epsilon: float) -> tuple[float, float]:
    """Of |X| over all bins: E|X| = 1/sinh(epsilon), E X^2 = 1/(2 sinh^2(epsilon/2)), and bins are independent."""
    mean = 1 / math.sinh(epsilon)
    square = 1 / (2 * math.sinh(epsilon / 2) ** 2)
    return BINS * mean, math.sqrt(BINS * (square - mean**2))


def reach() -> float:
    """How far from the mean the sum may be (a sum of 2,400 terms is normal enough for that)."""
    return float(stats.norm.isf(SIZE / 2)) * mean_and_deviation(1)[1]


def test_noise_of_epsilon_one_has_the_total_error_of_theory(truth: dict[tuple[str, ...], int]) -> None:
    engine = open(ADULT).engine
    release = counts(played(histogram(BY, epsilon=1), engine, ScriptedSource.from_label("census")))
    assert keys(release) == KEYS
    true = np.array([truth.get(key, 0) for key in KEYS])
    error = int(np.abs(release.published.values - true).sum())
    mean = mean_and_deviation(1)[0]
    assert mean == pytest.approx(2400 / math.sinh(1))
    assert abs(error - mean) < reach(), f"n = {BINS}: error {error}, expected {mean:.0f} within {reach():.0f}"


@pytest.mark.parametrize("epsilon", [1 - OFF, 1 + OFF])
def test_noise_of_another_epsilon_would_be_noticed(epsilon: float) -> None:
    mean, deviation = mean_and_deviation(epsilon)
    power = float(stats.norm.cdf((abs(mean - mean_and_deviation(1)[0]) - reach()) / deviation))
    assert power > POWER, f"n = {BINS}: power {power}, wanted {POWER}"


def test_the_two_margins_that_together_show_hidden_cells_are_refused_as_two_releases(tmp_path: Path) -> None:
    """THREATS 19: by education, occupation, sex, race and by education, occupation, race, both at k = 10."""
    table = open_table(ADULT, ledger=tmp_path / "ledger.db")
    without_sex = [spec for spec in BY if not spec.startswith("sex")]
    assert len(without_sex) == len(BY) - 1
    save(table.histogram(BY, crowd=K), tmp_path / "first")
    with pytest.raises(Refused) as refused:
        table.histogram(without_sex, crowd=K)
    told = str(refused.value)
    assert "already has release 1" in told
    for way in ("publish a function of release 1", "differentially private", "fresh secret sample", "as one cube"):
        assert way in told
    noisy = table.histogram(without_sex, epsilon=1)  # the second way out
    assert noisy.reservation is not None
    assert noisy.reservation.release == 2
    assert noisy.reservation.dataset == ADULT.stem
    total = Ledger(tmp_path / "ledger.db").account(ADULT.stem).totals
    assert total is not None
    assert total.crowd_blending.guarantee == CrowdBlending(k=K, epsilon=Fraction(2))
