"""Gaussian noise on counts, shares, means and sums: chosen from the spec alone, promised exactly, verified, in the ledger."""

from __future__ import annotations

import math
from copy import deepcopy
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub import plan
from hubbub.errors import WrongUse
from hubbub.guarantees.accountant.gaussian import by_ones
from hubbub.guarantees.definitions import ConcentratedPrivacy, DifferentialPrivacy
from hubbub.kinds.sum.request import total
from hubbub.kinds.sums.spec import Statistic
from hubbub.ledger.charge import charge
from hubbub.numeric.gaussian_sums import reach_of_equals
from hubbub.protocol.bound import Bound
from hubbub.tables.privacy_unit import Unit
from hubbub.tables.protection import Noise
from hubbub.verification import verify
from tests.fresh import unsigned
from tests.unit.shared.forged import wrong
from tests.unit.shared.saved import sign
from tests.unit.shared.statistics import statistic

PLACES, VALUES = ["place:0..40:1"], "cost:0..100:1"
BOTH: dict[str, Any] = {"epsilon": "1", "delta": "1e-9"}
CROSSOVERS = [
    ("0.1", "1e-6", 7), ("0.1", "1e-9", 13), ("0.5", "1e-6", 9), ("0.5", "1e-9", 15),
    ("1", "1e-6", 9), ("1", "1e-9", 16), ("2", "1e-6", 10), ("2", "1e-9", 17),
]  # fmt: skip


def several(bins: int, **more: int) -> Unit:
    return Unit(person="who", distinct=bins, **more)


def asked(kind: str, unit: Unit, **words: Any) -> Statistic:
    own: dict[str, Any] = {"by": PLACES, "unit": unit, **BOTH, **words}
    if kind == "sum":
        most = (unit.distinct or 1) * 100
        return total(of=VALUES, cap_per_bin=100, cap=most, **own)
    if kind == "mean":
        own["of"] = VALUES
    if kind == "fraction":
        own["where"] = "age >= 65"
    return statistic(kind, **own)


def variance(spec: Statistic) -> Fraction | None:
    assert isinstance(spec.protection, Noise)
    return spec.protection.variance


@pytest.mark.parametrize("kind", ["count", "fraction", "mean", "sum"])
def test_the_noise_with_less_error_is_taken_by_default_and_the_other_where_it_is_asked_for(kind: str) -> None:
    few, many = (asked(kind, several(bins, rows_per_bin=1)) for bins in (15, 16))
    assert (variance(few), variance(many)) != (None, None)
    assert variance(few) is None, "at (1, 1e-9) the Gaussian is better from 16 numbers on"
    for noise in ("geometric", "gaussian"):
        told = asked(kind, several(16, rows_per_bin=1), noise=noise)
        assert variance(told) == (variance(many) if noise == "gaussian" else None)
    assert variance(asked(kind, several(16, rows_per_bin=1), delta=None)) is None, "without a delta there is none"


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "delta", "bins"), CROSSOVERS)
def test_the_crossover_of_counts_is_that_of_the_table(epsilon: str, delta: str, bins: int) -> None:
    words = {"epsilon": epsilon, "delta": delta}
    chosen = [variance(asked("count", several(b, rows_per_bin=1), **words)) for b in (bins - 1, bins)]
    assert chosen[0] is None
    assert chosen[1] is not None


@pytest.mark.parametrize("rows", [(60, 2, 30), (12, 3, 4), (20, 20, 1)])
def test_the_choice_is_the_smaller_variance_and_the_plan_shows_it(rows: tuple[int, int, int]) -> None:
    most, each, bins = rows
    unit = several(bins, rows_per_person=most, rows_per_bin=each)
    spec = asked("mean", unit)
    found = plan.noises(*BOTH.values(), bins=bins, rows_per_person=most, rows_per_bin=each, steps=100)
    assert (variance(spec) is None) == (found.better == "geometric")
    assert (found.ratio > found.ratio_from) == (found.better == "gaussian"), "L1/L2 against epsilon u/sqrt 2"
    assert variance(spec) in (None, found.choice.gaussian)
    assert 3.85 < found.ratio_from < 3.93
    assert found.as_json()["l1"] == 100 * min(most, each * bins)


def test_one_number_of_a_person_stays_geometric_whatever_the_range() -> None:
    for kind in ("count", "fraction", "mean"):
        assert variance(asked(kind, Unit())) is None
    assert variance(total(of=VALUES, cap=50, **BOTH)) is None
    assert variance(total(of=VALUES, **BOTH)) is None, "eight layers are too few"


def brute(moves: list[tuple[int, ...]], s2: float, epsilon: float) -> float:
    """The largest sum of (P - e^epsilon Q)_+ over these moves, in floating point."""
    worst = 0.0
    for v in moves:
        reach = math.ceil(9 * math.sqrt(s2)) + max(map(abs, v))
        line = np.arange(-reach, reach + 1, dtype=np.float64)
        logs = [-(line**2) / (2 * s2), *(-((line - m) ** 2) / (2 * s2) for m in v)]
        norm = np.exp(logs[0]).sum()
        grids = np.meshgrid(*([logs[0]] * len(v)), indexing="ij")
        moved = np.meshgrid(*logs[1:], indexing="ij")
        p, q = (np.exp(sum(each)) / norm ** len(v) for each in (grids, moved))
        worst = max(worst, float(np.maximum(p - math.exp(epsilon) * q, 0).sum()))
    return worst


def test_the_promise_of_a_mean_covers_every_value_of_a_person() -> None:
    """x and W - x move both sums: the delta of every x, by enumeration, is at most the promised one."""
    spec = statistic("mean", of="cost:0..3:1", by=["place:0..2:1"], epsilon="1", delta="1e-3", noise="gaussian")
    s2, (own, rho) = variance(spec), (step.conclusion for step in spec.promises())
    assert s2 is not None
    assert isinstance(own, DifferentialPrivacy)
    assert own.delta <= Fraction(1, 1000)
    moves = [(x, 3 - x) for x in range(4)]
    worst = brute(moves, float(s2), 1.0)
    assert 0.8 * float(own.delta) < worst <= float(own.delta) * (1 + 1e-9)
    assert rho == ConcentratedPrivacy(rho=9 / (2 * s2))


def test_the_promise_of_a_sum_covers_every_pair_of_bins_within_the_caps() -> None:
    unit = several(2, rows_per_person=1_000_000)
    spec = total(
        of="cost:0..9:1", by=["place:0..4:1"], cap_per_bin=2, cap=4, unit=unit, epsilon="1", delta="1e-3", noise="gaussian"
    )  # fmt: skip
    s2, own = variance(spec), spec.promises()[0].conclusion
    assert s2 is not None
    assert isinstance(own, DifferentialPrivacy)
    worst = brute([v for v in product(range(3), repeat=2) if any(v)], float(s2), 1.0)
    assert 0.8 * float(own.delta) < worst <= float(own.delta) * (1 + 1e-9)


@pytest.mark.parametrize(("s2", "terms"), [("0.4", 1), ("30.25", 1), ("9", 5), ("400", 40), ("2", 7)])
@pytest.mark.parametrize("miss", ["0.05", "0.0001"])
def test_the_noise_of_several_bins_reaches_no_farther_than_is_said_and_nearly_as_far(
    s2: str, terms: int, miss: str
) -> None:
    reach = math.ceil(12 * math.sqrt(float(s2))) + 2
    one = np.exp(-(np.arange(-reach, reach + 1, dtype=np.float64) ** 2) / (2 * float(s2)))
    law = one / one.sum()
    for _ in range(terms - 1):
        law = np.convolve(law, one / one.sum())
    above = 1 - np.cumsum(law)[len(law) // 2 :]  # P(W > 0), P(W > 1), ...
    exact = int(np.argmax(above <= float(miss)))
    found = reach_of_equals(Fraction(s2), terms, Fraction(miss))
    assert above[found] <= float(miss) * (1 + 1e-6)
    assert found <= exact + max(1, 0.02 * exact)


def test_the_ledger_gets_the_noise_and_its_rho() -> None:
    spec = asked("count", several(20, rows_per_bin=1))
    s2 = variance(spec)
    assert s2 is not None
    found = charge(Bound(spec))
    assert found.noises == (by_ones(s2, 20),)
    assert found.zcdp == ConcentratedPrivacy(rho=Fraction(20) / (2 * s2))
    swapped = charge(Bound(asked("mean", several(20, rows_per_bin=1)))).noises[0].under_replacement()
    assert swapped.squared == 2 * 20 * 100**2, "twice the square, not four times"


def test_the_certificate_says_which_noise_and_why() -> None:
    for kind in ("count", "mean", "sum"):
        (why,) = asked(kind, several(30, rows_per_bin=1)).describe().remarks
        assert why.startswith("The noise is Gaussian: one person moves the numbers by 3")
        assert "less than" in why
        assert "geometric noise for the same epsilon" in why


def test_words_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(WrongUse, match="needs a delta"):
        statistic("count", epsilon=1, noise="gaussian")
    with pytest.raises(WrongUse, match="go with epsilon alone"):
        statistic("count", crowd=5, delta="1e-9")
    with pytest.raises(WrongUse, match="a cap that is said"):
        total(of=VALUES, cap="auto", **BOTH, noise="gaussian")
    with pytest.raises(WrongUse, match="noise is one of"):
        statistic("count", **BOTH, noise="normal")
    with pytest.raises(WrongUse, match="noise is one of"):
        total(of=VALUES, **BOTH, noise="normal")
    with pytest.raises(WrongUse, match="no secret survey"):
        statistic("count", weight="w:0..3:1", poisson_survey=True, **BOTH, noise="gaussian")


# --- planted faults ---------------------------------------------------------------------------------------------------


def made(kind: str) -> dict[str, Any]:
    return unsigned(asked(kind, several(20, rows_per_bin=1)))


def changed(kind: str, change: str) -> dict[str, Any]:
    body = deepcopy(made(kind))
    promises, protection = body["guarantees"], body["release"]["protection"]
    match change:
        case "a variance 1 % too small":
            protection["variance"] = str(Fraction(protection["variance"]) * 99 / 100)
        case "geometric noise":
            del protection["variance"]
        case "a bin more":
            body["release"]["unit"]["distinct"] = 21
        case "a rho 1 % too small":
            promises[-1]["promise"]["rho"] = str(Fraction(promises[-1]["promise"]["rho"]) * 99 / 100)
        case "no rho":
            del promises[-1]
    return body


@pytest.mark.parametrize("kind", ["count", "mean", "sum"])
@pytest.mark.parametrize(
    "change", ["a variance 1 % too small", "geometric noise", "a bin more", "a rho 1 % too small", "no rho"]
)
def test_a_planted_fault_is_refuted_though_signed_again(forger: Path, kind: str, change: str) -> None:
    if change == "no rho":
        assert verify(sign(forger, made(kind))).passed, "the test can pass"
    assert wrong(verify(sign(forger, changed(kind, change))))
