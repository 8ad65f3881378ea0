"""Layers of totals with Gaussian noise: exact losses, the choice of the noise, intervals, and faults."""

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

from hubbub.engines.opening import open_source
from hubbub.guarantees.definitions import ConcentratedPrivacy, DifferentialPrivacy
from hubbub.kinds.sum.layers import Layers
from hubbub.kinds.sum.request import KIND
from hubbub.kinds.sum.result import Totals
from hubbub.kinds.sum.spec import Sum
from hubbub.noise.source import ScriptedSource
from hubbub.tables.protection import Noise
from hubbub.verification import verify
from tests.fresh import enter, played, save_over, unsigned
from tests.unit.shared.forged import wrong
from tests.unit.shared.saved import sign


def asked(most: int, **words: Any) -> Sum:
    spec = KIND.ask(person="id", of=f"v:0..{most}:1", **{"epsilon": "1", "delta": "1e-6", "cap": "layers", **words})
    assert isinstance(spec, Sum)
    return spec


def pieces(layers: Layers, x: int) -> list[int]:
    return [min(max(x, low), top) - low for low, top in itertools.pairwise((0, *layers.tops))]


@pytest.mark.parametrize("most", [3, 5])
def test_everybody_loses_what_is_promised_by_the_exact_law(most: int) -> None:
    """Every value of a person: the hockey stick of all layers, added up over the whole numbers; 5 has a layer of width 2."""
    spec = asked(most, epsilon="2", delta="0.01", mechanism="gaussian")
    promise, beside = (each.conclusion for each in spec.promises())
    assert isinstance(promise, DifferentialPrivacy)
    assert isinstance(beside, ConcentratedPrivacy)
    assert promise.delta <= Fraction(1, 100)
    worst = 0.0
    for x in range(1, most + 1):
        joint: dict[float, float] = {0.0: 1.0}  # the loss, rounded to a billionth, and its chance
        for moved, s2 in zip(pieces(spec.layers, x), spec.variances, strict=True):
            if not moved:
                continue
            far = math.ceil(8 * math.sqrt(s2))
            line = np.arange(-far, far + 1)
            law = np.exp(-(line**2) / (2 * float(s2)))
            law /= law.sum()
            losses = (moved**2 - 2 * moved * line) / (2 * float(s2))
            grown: dict[float, float] = {}
            for loss, chance in joint.items():
                for more, p in zip(losses.tolist(), law.tolist(), strict=True):
                    if chance * p > 1e-13:
                        key = round(loss + more, 9)
                        grown[key] = grown.get(key, 0.0) + chance * p
            joint = grown
        stick = sum(
            p * -math.expm1(float(promise.epsilon) - loss) for loss, p in joint.items() if loss > promise.epsilon
        )
        worst = max(worst, stick)
        rho = sum(Fraction(m**2) / (2 * s2) for m, s2 in zip(pieces(spec.layers, x), spec.variances, strict=True))
        assert rho <= beside.rho
    assert float(promise.delta) / 2 < worst <= float(promise.delta)


@pytest.mark.parametrize("words", [{"rows_per_person": "2"}, {"rows_per_person": "3", "distinct": "2"}], ids=str)
def test_a_person_in_several_bins_moves_the_layers_by_no_more_than_is_paid_for(words: dict[str, str]) -> None:
    spec = asked(3, by=["b=a,b,c"], cap="layers", mechanism="gaussian", **words)
    rows, bins = int(words["rows_per_person"]), int(words.get("distinct", 9))
    assert spec.sensitivity is not None
    worst = Fraction(0)
    for person in itertools.product(itertools.product(range(3), range(4)), repeat=rows):
        sums = [sum(value for b, value in person if b == at) for at in range(3)]
        if sum(map(bool, sums)) <= bins:
            moved = [(m, w) for x in sums for m, w in zip(pieces(spec.layers, x), spec.layers.widths, strict=True)]
            worst = max(worst, sum((Fraction(m, w) ** 2 for m, w in moved), Fraction(0)))
    assert 0 < worst <= spec.sensitivity.l2_squared


def test_gaussian_noise_is_taken_where_there_are_many_layers() -> None:
    """18 layers: L1/L2 = sqrt 18 is above epsilon u/sqrt 2 at 1e-6 and at 1e-9; of five layers it is below."""
    for delta in ("1e-6", "1e-9"):
        many = asked(100_000, delta=delta)
        assert len(many.layers) == 18
        assert many.gaussian is not None
        assert "Gaussian" in many.describe().published
        assert asked(100_000, delta=delta, mechanism="geometric").gaussian is None
        assert asked(16, delta=delta).gaussian is None
    assert asked(100_000, delta=None).gaussian is None


@pytest.mark.slow
def test_intervals_hold_and_the_error_is_less_than_with_geometric_noise() -> None:
    """80 releases of 2,000 log-normal totals, with noise that is the same in each run; 16 misses would be six standard
    errors too many."""
    values = np.minimum(np.exp(np.random.default_rng(4).normal(3, 1.2, 2000)), 100_000).round().astype(np.int64)
    engine, truth = open_source(pa.table({"id": range(2000), "v": values})), int(values.sum())
    off: dict[str, list[float]] = {"gaussian": [], "geometric": []}
    for noise, errors in off.items():
        missed = 0
        for i in range(80):
            found = played(
                asked(100_000, mechanism=noise), engine, ScriptedSource.from_label(f"layers {noise} {i}")
            ).result
            assert isinstance(found, Totals)
            (answer,) = found.answers
            assert answer.high is not None
            missed += not answer.low <= truth <= answer.high
            errors.append(float(answer.estimate or 0) / truth - 1)
        assert missed < 16
    ours, theirs = (math.sqrt(float(np.mean(np.square(errors)))) for errors in off.values())
    assert ours < theirs


def test_a_release_is_verified_and_a_variance_1_percent_too_small_is_refuted(tmp_path: Path, forger: Path) -> None:
    spec = asked(100_000)
    release = enter(pa.table({"id": range(50), "v": [i * i for i in range(50)]}), person="id").publish(spec)
    written = save_over(release, tmp_path)
    done = verify(Path(written["certificate"]).read_bytes(), folder=tmp_path)
    assert done.passed, done.failure
    assert {"value", "rho"} == set(release.result.facts()["losses"][0])
    assert isinstance(spec.protection, Noise)
    assert spec.protection.variance is not None
    assert verify(sign(forger, unsigned(spec))).passed
    less = replace(spec, protection=replace(spec.protection, variance=spec.protection.variance * 99 / 100))
    assert wrong(verify(sign(forger, unsigned(spec) | {"release": less.to_json()})))
