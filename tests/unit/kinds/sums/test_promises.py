"""What counts, shares, means and quantiles promise, held against exact laws that share nothing with the code."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb, exp, expm1, log, log1p, tanh
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, Neighbours, RandomSample, ZeroKnowledge
from hubbub.kinds.sums.routes import by_exact_count, by_sample
from hubbub.kinds.sums.spec import Declared, Statistic
from hubbub.numeric.exact import to_text
from hubbub.sampling import exact_count
from hubbub.sampling.amplification import crowd_blending, delta_at
from hubbub.tables.protection import Knowledge, Route
from tests.unit.shared.statistics import statistic

MISS = Fraction(1, 20)


def known(name: str, rows: int, people: int, epsilon: str = "0.1", **words: Any) -> Statistic:
    words = {"where": "age >= 65"} | words if name in ("count", "fraction") else words
    return statistic(name, zero_knowledge=epsilon, rows=rows, people=people, **words)


def knowledge(spec: Statistic) -> Knowledge:
    assert isinstance(spec.protection, Knowledge)
    return spec.protection


# --- the two ways -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "people", "epsilon", "route"),
    [
        (100, 10**4, "0.1", Route.SAMPLE),
        (1000, 10**4, "0.1", Route.SAMPLE),
        (100, 10**4, "0.5", Route.SAMPLE),
        (100, 10**4, "1", Route.EXACT),
        (10**4, 10**6, "3", Route.EXACT),  # large epsilon
        (30, 41, "2", Route.EXACT),
        (10**4, 10**4, "0.1", Route.SAMPLE),  # everybody may be known: a sample of all, and the same noise either way
        (100, 10**9, "0.5", Route.SAMPLE),  # the noise of the other way could not be drawn
    ],
)
def test_the_better_way_is_taken(rows: int, people: int, epsilon: str, route: Route) -> None:
    for name in ("count", "fraction"):
        spec = known(name, rows, people, epsilon)
        assert knowledge(spec).route is route
        sample = by_sample(rows, people, Fraction(epsilon), MISS)
        exact = by_exact_count(rows, people, Fraction(epsilon), MISS)
        errors = {Route.SAMPLE: sample.error, Route.EXACT: None if exact is None else exact.error}
        mine = errors.pop(route)
        (other,) = errors.values()
        assert mine is not None
        assert other is None or mine <= other


def test_a_sample_errs_as_theorem_a1_says() -> None:
    """The root mean square errors of the table, .0151 and .0498, as halves of intervals at 95 %: 1.96 times that."""
    for rows, people, error in ((1000, 10**4, 0.0151), (100, 10**4, 0.050), (10**4, 10**6, 0.00498)):
        found = float(by_sample(rows, people, Fraction(1, 10), MISS).error) / people
        assert found == pytest.approx(1.96 * error, rel=0.06)


def test_theorem_a1_prime_is_what_is_spent() -> None:
    spec = known("fraction", 1000, 10**6)
    assert float(knowledge(spec).rate) == pytest.approx(log1p(2000 * expm1(0.1)))  # a fair coin: half the share
    (zk, private) = spec.promises()
    assert zk.conclusion == ZeroKnowledge(epsilon=Fraction(1, 10), aggregate=RandomSample(k=1000, n=10**6))
    assert isinstance(private.conclusion, DifferentialPrivacy)
    assert private.conclusion.neighbours is Neighbours.REPLACE
    assert float(private.conclusion.epsilon) == pytest.approx(log1p(1e-3 * expm1(float(knowledge(spec).rate))))  # type: ignore[arg-type]
    binned = known("mean", 1000, 10**4, "0.5", of="age:0..100:1")
    y, p = exp(float(knowledge(binned).rate) / 2), 0.1
    assert log((1 - p + p * y * y) / (1 - p + p * y)) == pytest.approx(0.5)


def test_what_the_exact_way_promises_is_a_decimal() -> None:
    """It is shown to people, and added up in the ledger."""
    for rows, epsilon in ((20, "5"), (100, "2"), (7, "60")):
        for step in statistic("count", where="a = 1", zero_knowledge=epsilon, rows=rows, people=300).promises():
            assert "/" not in to_text(getattr(step.conclusion, "epsilon"))  # noqa: B009


def test_the_exact_way_is_the_exact_worst_case_or_more() -> None:
    """The simulator of Theorem A3 with the mechanism, law by law over every database of twelve people."""
    n, k, epsilon = 12, 8, 2.0
    rate = float(1 / exact_count.closed_scale(k, n, "2"))
    outcomes = np.arange(-40, n + 41)

    def noisy(at: NDArray[np.float64], chances: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.exp(-rate * np.abs(outcomes[:, None] - at[None, :])) @ chances * tanh(rate / 2)

    worst = 0.0
    for others, own in product(range(n), (0, 1)):
        real = noisy(np.array([others + own]), np.array([1.0]))
        at, chances = [], []
        for blank in (0, 1):  # whether the person is drawn, with 1/2 in the row
            for s in range(k - blank + 1):
                chance = comb(others, s) * comb(n - 1 - others, k - blank - s) / comb(n, k)
                told = n / k * (s + blank / 2)
                at += [np.floor(told), np.floor(told) + 1]
                chances += [chance * (np.floor(told) + 1 - told), chance * (told - np.floor(told))]
        simulated = noisy(np.array(at), np.array(chances))
        worst = max(worst, float(np.abs(np.log(real / simulated)).max()))
    assert 0.5 * epsilon < worst <= epsilon


# --- sums ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 3, 10])
def test_two_sums_cost_epsilon_and_no_part_of_it_is_for_the_number_of_people(steps: int) -> None:
    """The law of (A', B') with a person of any value and without: the loss is epsilon, for every value."""
    spec = statistic("mean", of=f"age:0..{steps}:1", epsilon="0.8")
    assert spec.unit_loss is not None
    rate = float(spec.unit_loss) / steps
    for x in range(steps + 1):
        shifts = np.arange(-4 * steps, 4 * steps + 1)
        one, two = (np.abs(shifts - moved) - np.abs(shifts) for moved in (x, steps - x))
        assert rate * (np.abs(one).max() + np.abs(two).max()) == pytest.approx(0.8)


ENUMERATED = [  # k, epsilon, p, E, and the worst delta of the crowd mean
    (2, 0.5, 0.3, 0.6, 0.0900),
    (3, 1.0, 0.2, 0.5, 0.02812),
    (4, 1.0, 0.5, 1.2, 0.07523),
    (5, 0.5, 0.1, 0.2, 0.00182),
]


def _crowd_law(k: int, epsilon: float, p: float, low: int, high: int) -> dict[object, NDArray[np.float64]]:
    """Of a bin with so many people at 0 and at W = 1: the law of (count, sum with noise), or of being hidden."""
    reach = 60
    sums = np.arange(-reach, low + high + reach + 1)
    law: dict[object, NDArray[np.float64]] = {"hidden": np.zeros(1)}
    for a, b in product(range(low + 1), range(high + 1)):
        chance = comb(low, a) * comb(high, b) * p ** (a + b) * (1 - p) ** (low + high - a - b)
        if a + b < k:
            law["hidden"] = law["hidden"] + chance
        else:
            shown = chance * tanh(epsilon / 2) * np.exp(-epsilon * np.abs(sums - b))
            law[a + b] = law.get(a + b, np.zeros(sums.size)) + shown
    return law


def _delta(one: dict[object, NDArray[np.float64]], other: dict[object, NDArray[np.float64]], at: float) -> float:
    found = 0.0
    for outcome in one.keys() | other.keys():
        first, second = (law.get(outcome) for law in (one, other))
        size = max(0 if each is None else each.size for each in (first, second))
        padded = [np.zeros(size) if each is None else np.pad(each, (0, size - each.size)) for each in (first, second)]
        found += float(np.maximum(padded[0] - exp(at) * padded[1], 0).sum())
    return found


@pytest.mark.parametrize(("k", "epsilon", "p", "at", "worst"), ENUMERATED)
def test_the_crowd_mean_meets_its_enumeration(k: int, epsilon: float, p: float, at: float, worst: float) -> None:
    """With t and without, over bins of up to 13 people with extreme values each way: at most what Theorem A claims,
    and all of it where the worst class is as small as that."""
    found = 0.0
    for low, high in product(range(0, 14, 1 if k < 5 else 2), repeat=2):
        without = _crowd_law(k, epsilon, p, low, high)
        for more in ((low + 1, high), (low, high + 1)):
            with_t = _crowd_law(k, epsilon, p, *more)
            found = max(found, _delta(with_t, without, at), _delta(without, with_t, at))
    claimed = delta_at(crowd_blending(k, Fraction(str(epsilon)), Fraction(str(p))), Fraction(str(at))).delta
    assert found <= float(claimed) * (1 + 1e-9)
    assert found == pytest.approx(worst, abs=2e-4)


def test_crowds_promise_theirs_and_theorem_a_on_top() -> None:
    words = {"of": "age:0..100:1", "crowd": 20, "epsilon": "0.5"}
    (own,) = statistic("mean", **words).promises()
    assert own.conclusion == CrowdBlending(k=20, epsilon=Fraction(1, 2))
    kept, zk, private = statistic("mean", **words, sample="0.1").promises()
    assert kept.conclusion == own.conclusion
    assert isinstance(zk.conclusion, ZeroKnowledge)
    assert isinstance(private.conclusion, DifferentialPrivacy)
    setting = crowd_blending(20, "0.5", "0.1")
    assert delta_at(setting, zk.conclusion.epsilon).delta <= Fraction(1, 10**9)  # type: ignore[arg-type]


def test_noise_that_is_too_little_is_refused_when_it_is_read_back() -> None:
    asked = (known("fraction", 100, 1000), known("count", 500, 1000, "3"), known("mean", 100, 1000, of="age:0..9:1"))
    assert {knowledge(spec).route for spec in asked} == {*Route}
    for spec in asked:
        told = spec.to_json()
        assert all(check.passed for check in spec.checks())
        forged = spec.kind.from_json(told | {"protection": {**told["protection"], "rate": "9"}})  # type: ignore[dict-item]
        assert not all(check.passed for check in forged.checks())
        with pytest.raises(Exception, match="too little for the epsilon"):
            forged.promises()


@pytest.mark.parametrize("ways", [{"epsilon": 1}, {"crowd": 20, "epsilon": 1}], ids=["noise", "crowd"])
def test_noise_that_is_a_little_small_for_the_sums_is_noticed(
    ways: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = statistic("mean", of="pay:0..49000:1000", **ways)
    assert [check.passed for check in spec.checks() if check.what == "the noise of the sums"] == [True]
    assert isinstance(spec, Declared)
    higher = tuple(rate * Fraction(101, 100) for rate in spec.sums.rates)
    monkeypatch.setattr(type(spec), "sums", replace(spec.sums, rates=higher))
    assert [check.passed for check in spec.checks() if check.what == "the noise of the sums"] == [False]
