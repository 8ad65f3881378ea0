"""Several questions with Gaussian noise on one sample: exact losses, the choice of the noise, intervals, and faults."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy, RandomSample, ZeroKnowledge
from hubbub.kinds.quantile.quantile import QUANTILE
from hubbub.kinds.questions.request import from_options, questions
from hubbub.kinds.questions.result import Replies
from hubbub.kinds.questions.spec import Questions, read
from hubbub.kinds.sum.request import KIND as SUM
from hubbub.kinds.sums.mean import MEAN
from hubbub.kinds.sums.variance import STD
from hubbub.sampling import sampled_share
from hubbub.verification import verify
from tests.fresh import enter, save_over, unsigned
from tests.unit.shared.forged import wrong
from tests.unit.shared.saved import sign

MANY = [{"name": f"q{i}", "kind": "count", "where": f"a{i} = 1"} for i in range(20)]
TOWNS = {"name": "towns", "kind": "count", "by": ["town=Bath,York,other"]}
AGES = {"name": "ages", "kind": "mean", "of": "age:0..90:5", "by": ["town=Bath,York,other"], "share": 2}
MEDIAN = {"name": "middle", "kind": "quantile", "of": "age:0..90:5"}
TYPES = list(itertools.product((0, 1), (0, 1)))  # (meets the condition, bin)


def law(rows: tuple[tuple[float, int | None], ...], k: int, s2: tuple[float, float]) -> NDArray[np.float64]:
    """Of (count, first bin, second bin) with noise, up to 9 standard deviations: the exact law but for 1e-17."""
    grid = np.arange(-14, k + 15)
    found = np.zeros((grid.size,) * 3)

    def around(count: float, square: float) -> NDArray[np.float64]:
        each = np.exp(-((grid - count) ** 2) / (2 * square))
        return np.asarray(each / each.sum(), dtype=np.float64)

    drawn = list(itertools.combinations(rows, k))
    for some in drawn:
        met, first, second = sum(a for a, _ in some), *(sum(b == at for _, b in some) for at in (0, 1))
        one, two, three = around(met, s2[0]), around(first, s2[1]), around(second, s2[1])
        found += one[:, None, None] * two[:, None] * three / len(drawn)
    return found


def hockey_stick(one: NDArray[np.float64], other: NDArray[np.float64], epsilon: float) -> float:
    return float(np.maximum(one - math.exp(epsilon) * other, 0).sum())


@pytest.mark.parametrize(("k", "n"), [(1, 3), (2, 4), (3, 3)])
def test_theorem_a1_with_a_delta_on_every_table_of_few_people(k: int, n: int) -> None:
    """Any person replaced by any other, and the release against the simulator, to whom that person is in no bin and a
    coin where the count is asked: never above the delta that is claimed, and some pair within a third of it."""
    asked = [
        {"name": "met", "kind": "count", "where": "a = 1"},
        {"name": "bins", "kind": "count", "by": ["b=0,1"], "share": 2},
    ]
    spec = questions(asked, rows=k, people=n, epsilon="3/2", delta="0.02", noise="gaussian")
    knows, private = (each.conclusion for each in spec.promises())
    assert isinstance(knows, ZeroKnowledge)
    assert isinstance(private, DifferentialPrivacy)
    assert knows.aggregate == RandomSample(k=k, n=n)
    assert knows.delta == private.delta <= Fraction(1, 50)
    assert knows.epsilon == private.epsilon <= Fraction(3, 2)
    s2 = (float(spec.asked[0].variance or 0), float(spec.asked[1].variance or 0))
    worst = 0.0
    for others in itertools.combinations_with_replacement(TYPES, n - 1):
        laws = [law((*others, mine), k, s2) for mine in TYPES]
        coins = [law((*others, (met, None)), k, s2) for met in (0, 1)]
        blank = (coins[0] + coins[1]) / 2
        for one, other in itertools.permutations([*laws, blank], 2):
            worst = max(worst, hockey_stick(one, other, float(private.epsilon)))
    assert float(private.delta) / 3 < worst <= float(private.delta) * (1 + 1e-9)


def test_the_noise_with_less_error_is_taken_by_the_questions_alone() -> None:
    """Twenty counts of a person: L1/L2 = sqrt 20 is above epsilon u/sqrt 2; of three it is not."""
    for delta in ("1e-6", "1e-9"):
        many = questions(MANY, rows=1000, people=10_000, epsilon=1, delta=delta)
        assert many.gaussian
        assert many.reached_delta <= Fraction(delta)
        plain = questions(MANY, rows=1000, people=10_000, epsilon=1)
        ours = math.sqrt(float(many.asked[0].variance or 0))
        theirs = math.sqrt(2) / float(plain.statistics[0].sum_rate or 1)
        assert ours < theirs / 1.1
        assert "Gaussian" in many.describe().remarks[0]
        assert not questions(MANY[:3], rows=1000, people=10_000, epsilon=1, delta=delta).gaussian
        assert not questions(MANY, rows=1000, people=10_000, epsilon=1, delta=delta, noise="geometric").gaussian
    known = questions(MANY, rows=1000, people=10_000, zero_knowledge=1, delta="1e-6")
    assert known.gaussian
    assert known.epsilon == 1
    assert known.reached <= 1


def test_a_share_is_the_inverse_of_the_deviation_and_quantiles_keep_theirs() -> None:
    spec = questions([TOWNS, AGES, MEDIAN], rows=50, people=100, epsilon=1, delta="1e-6", noise="gaussian")
    towns, ages, middle = spec.asked
    assert middle.variance is None
    assert towns.loss == middle.loss == ages.loss / 2
    assert towns.variance is not None
    assert ages.variance is not None
    assert ages.variance / towns.variance == pytest.approx(18**2 / 4, rel=1e-4)  # 18 steps, twice the share
    assert spec.inside == spec.inside_gaussian + middle.loss
    squares = [noise.squared for noise in spec.noises]
    assert squares == [2, 2 * 18**2], "one replaced by another: twice the square of one who comes"
    assert all(check.passed for check in spec.checks())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"noise": "gaussian"}, "Gaussian noise needs a delta"),
        ({"delta": "1"}, "delta must lie between 0 and 1"),
        ({"noise": "normal", "delta": "1e-6"}, "noise is one of"),
        ({"noise": "gaussian", "delta": "1e-6", "questions": [MEDIAN]}, "there is none of them"),
    ],
)
def test_words_that_are_none_are_refused(words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        questions(words.pop("questions", [TOWNS]), rows=10, people=20, epsilon=1, **words)


def test_the_file_and_the_command_say_the_delta_once() -> None:
    known = {"rows": 10, "people": 20, "epsilon": 1, "delta": "1e-6", "question": [TOWNS]}
    assert isinstance(from_options(spec=known, noise="gaussian"), Questions)
    with pytest.raises(WrongUse, match="says its delta itself"):
        from_options(spec=known, delta="1e-6")


def test_a_release_is_verified_and_planted_faults_are_refuted(tmp_path: Path, forger: Path) -> None:
    """A variance 1 % too small, a question left out of the noise, a delta that is too small, and Gaussian noise on one
    statistic of a sample alone, of which nothing is proved."""
    table = pa.table({"town": ["Bath"] * 30 + ["York"] * 11, "age": [7 * i % 90 for i in range(41)]})
    words: dict[str, Any] = {"rows": 20, "people": 41, "epsilon": 1, "delta": "1e-6", "noise": "gaussian"}
    spec = questions([TOWNS, AGES, MEDIAN], **words)
    release = enter(table).publish(spec)
    assert isinstance(release.result, Replies)
    assert release.result.facts()["noise"] == "gaussian"
    written = save_over(release, tmp_path)
    assert "Gaussian" in Path(written["report"]).read_text()
    done = verify(Path(written["certificate"]).read_bytes(), folder=tmp_path)
    assert done.passed, done.failure
    assert "the delta of all questions together" in [check.what for check in done.checks]
    assert read(spec.to_json()) == spec
    assert verify(sign(forger, unsigned(spec))).passed
    towns, ages, middle = spec.asked
    assert towns.variance is not None
    for fault in (
        {"asked": (replace(towns, variance=towns.variance * 99 / 100), ages, middle)},
        {"asked": (towns, replace(ages, variance=towns.variance), middle)},
        {"delta": spec.delta / 2},
    ):
        forged = unsigned(spec) | {"release": replace(spec, **fault).to_json()}
        assert wrong(verify(sign(forger, forged)))
    with pytest.raises(CheckFailed):
        read(replace(spec, asked=(replace(towns, variance=None), ages, middle)).to_json() | {"delta": "0"})
    alone = spec.statistics[0]
    with pytest.raises(Refused, match="several questions together"):
        alone.promises()
    known: dict[str, Any] = {"zero_knowledge": 1, "rows": 20, "people": 41, "of": "age:0..90:5"}
    for kind in (MEAN, QUANTILE, SUM, STD):
        description: Any = kind.ask(person="id", **known).to_json()
        assert kind.from_json(description)
        description["protection"]["variance"] = "5"
        with pytest.raises(CheckFailed, match="get the original"):
            kind.from_json(description)


@pytest.mark.parametrize(
    ("n", "k", "variance"), [(30, 12, Fraction(3)), (12, 12, Fraction(1, 2)), (25, 1, Fraction(9))]
)
def test_intervals_of_a_share_of_a_sample_hold_by_the_exact_law(n: int, k: int, variance: Fraction) -> None:
    """Every number of people who have it: how often the interval misses it, by the law of the sample and the noise."""
    far = 14 * (math.isqrt(math.ceil(variance)) + 1)
    noise = np.exp(-(np.arange(-far, far + 1, dtype=np.float64) ** 2) / (2 * float(variance)))
    noise /= noise.sum()
    tail = sampled_share.gaussian_tail(variance)
    for x in range(-far, far + 1):
        assert float(tail(np.array([x]))[0]) == pytest.approx(float(noise[x + far :].sum()), rel=1e-9, abs=1e-30)
    ends = {t: sampled_share.interval(n, k, None, t, Fraction(1, 20), variance) for t in range(-far, k + far + 1)}
    for have in range(n + 1):
        low, masses = sampled_share.masses(n, have, k)
        missed = 0.0
        for drawn, chance in enumerate(masses.tolist(), start=low):
            for z, p in zip(range(-far, far + 1), noise.tolist(), strict=True):
                least, most = ends[drawn + z]
                missed += chance * p * (not least <= have <= most)
        assert missed <= 0.05
