"""Parts of what releases say, each by an exact case: ends of intervals, what a check finds, zeros that are numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from hubbub.channels.mechanisms.warped import Warped
from hubbub.channels.protocol import LARGEST_COUNT
from hubbub.engines.opening import open_source
from hubbub.guarantees.curve import flat
from hubbub.kinds.cube.request import cube
from hubbub.kinds.quantile.quantile import _line
from hubbub.kinds.queries.replaced import _farthest
from hubbub.kinds.series.mechanism import count_period as counted_in_a_period
from hubbub.kinds.series.request import series
from hubbub.kinds.sum import promises as sum_promises
from hubbub.kinds.sum.estimates import Row, _surely, estimated_answers
from hubbub.kinds.sum.mechanism import _weighted
from hubbub.kinds.sum.octaves import tau
from hubbub.kinds.sum.request import from_options as ask_sum
from hubbub.kinds.sum.request import total
from hubbub.kinds.sums import mechanism as sums_mechanism
from hubbub.kinds.sums.count import Count, estimate_channel
from hubbub.kinds.sums.intervals import drawn, noise_reach, of_sums, widened
from hubbub.kinds.sums.mean import Mean, estimate_in_crowd
from hubbub.kinds.sums.ratio import ratio
from hubbub.kinds.sums.variance import Variance, _best, _variance, _widened, spread
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import ball, precision
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.tables.bounded_column import Measure
from hubbub.tables.protection import Crowd
from tests.fresh import opened, played
from tests.unit.shared.statistics import statistic

TWENTIETH = Fraction(1, 20)


# --- variances ------------------------------------------------------------------------------------------------------


def test_the_parts_of_three_sums_in_a_box_are_least_and_most_at_its_corners() -> None:
    box = ((Fraction(1), Fraction(2)), (Fraction(3), Fraction(5)), (Fraction(4), Fraction(8)))
    assert _widened(box, Fraction(0)) == (
        (Fraction(1, 14), Fraction(2, 9)),
        (Fraction(3, 13), Fraction(5, 10)),
        (Fraction(4, 11), Fraction(8, 12)),
    )


@pytest.mark.parametrize(("end", "middle"), [(1, 0), (1, 1), (3, 2), (5, 9)])
def test_the_variance_falls_on_both_sides_of_its_largest(end: int, middle: int) -> None:
    first, second = Fraction(end), Fraction(middle)
    (at,) = _best(first, second, (Fraction(0), Fraction(1000)))
    for near in (Fraction(-1, 50), Fraction(1, 50)):
        assert _variance(first, second, at + near) < _variance(first, second, at)


def test_the_check_of_a_variance_finds_what_is_lost() -> None:
    (noise,) = spread(Variance, of="x:0..5:1", epsilon="1").checks()
    assert noise.passed
    assert noise.found == "loses 1 at most, whatever the value"


# --- ratios, series, queries ----------------------------------------------------------------------------------------


def test_a_sum_of_nothing_is_drawn_as_nothing() -> None:
    spec = ratio(of="cost:0..60:10", per="days:0..3:1", epsilon="1")
    schema = sums_mechanism.NoisyBins(spec).schema
    nothing = Measurement(answers=loaded(schema, pa.record_batch([[0], [0]], schema=schema)))
    (answer,) = sums_mechanism.present(spec, nothing).answers
    assert answer.published == (0, 0)
    assert answer.estimates == spec.estimate([(0, 0)])[0]


def test_a_period_has_its_own_increments() -> None:
    spec = series("s", by=["town=a,b"], first="2030-01", periods=3, epsilon="1")
    table = pa.table({"id": [1, 2, 3], "town": ["a", "b", "b"]})
    assert counted_in_a_period(spec, open_source(table), ScriptedSource.from_label("none")).tolist() == [1, 2]


def test_answers_that_are_alike_are_nowhere_apart() -> None:
    one, two = np.array([1, 2, 3]), np.array([1, 4, 2])
    assert _farthest([one, one]) == (0, 0)
    assert _farthest([one, two]) == (3, 2)


# --- counts, means and quantiles --------------------------------------------------------------------------------------


def test_a_count_is_read_up_to_the_most_that_noise_may_make_of_it() -> None:
    spec = statistic("count", where="age >= 65", crowd="5")
    most = 2 * LARGEST_COUNT - 1
    assert isinstance(spec, Count)
    ((answer,),) = estimate_channel(spec, [(most,)])
    assert answer.value == most
    for beyond in (most + 1, most + 2):
        with pytest.raises(ValueError, match="so many people"):
            estimate_channel(spec, [(beyond,)])


def test_the_mean_of_a_sampled_crowd_is_as_far_off_as_hoeffding_says() -> None:
    spec = statistic("mean", of="x:0..10:1", crowd="5", epsilon="1", sample="0.5")
    crowd = spec.protection
    assert isinstance(crowd, Crowd)
    assert isinstance(spec, Mean)
    (answer,) = estimate_in_crowd(spec, 1000, 5000)
    off = noise_reach(spec, (1 - spec.coverage) / 2)
    low, high = widened(of_sums(5000, 10_000, off), drawn(1000, (1 - spec.coverage) / 2))
    assert isinstance(spec.measured, Measure)
    assert (answer.low, answer.high) == spec.measured.unrounded(
        *(spec.value(*end.as_integer_ratio()) for end in (low, high))
    )


def test_the_line_of_a_quantile_touches_the_root_and_is_nowhere_below() -> None:
    spec = statistic("quantile", of="x:0..10:1", q="0.5", zero_knowledge="0.5", rows=400, people=10_000)
    slope, offset = _line(spec, TWENTIETH, None)
    for people in (0, 1, 10, 100, 399, 400, 401, 1000, 10_000):
        assert slope * people + offset >= Fraction(math.sqrt(people * math.log(20) / 2) * (1 - 1e-12))
    assert float(slope * 400 + offset) == pytest.approx(math.sqrt(400 * math.log(20) / 2), rel=1e-6)


# --- sums -----------------------------------------------------------------------------------------------------------


def test_of_people_that_are_public_a_sum_lies_between_all_at_the_least_and_all_at_the_most() -> None:
    spec = total(of="x:-5..10:1", cap="10", zero_knowledge="0.5", rows=400, people=10_000)
    assert _surely(spec, Row((0,)), -5, 10) == (-50_000, 100_000)
    assert _surely(spec, Row((0,)), 5, 10) == (0, 100_000)


def test_what_is_told_of_a_cut_sum_has_two_ends_and_the_estimate_between_them() -> None:
    spec = total(of="x:0..1000:1", cap="layers", epsilon="1")
    sums = tuple(10_000 for _ in spec.layers.tops)
    (answer,) = estimated_answers(spec, [Row(sums)])
    assert answer.cut is not None
    assert answer.cut.low < answer.cut.high
    assert answer.estimate is not None
    assert answer.cut.low <= answer.estimate <= answer.cut.high


def test_the_check_of_a_sum_finds_the_loss_of_whoever_loses_most() -> None:
    spec = total(of="x:0..100:1", cap="layers", epsilon="1")
    noise, *_ = sum_promises.checks(spec)
    assert noise.passed
    assert noise.found.startswith("lose 1 at most")
    lost = [sum_promises._lost(spec, x) for x in range(101)]
    assert min(lost) == 0 < max(lost) == 1


def test_the_chance_to_tell_of_more_people_is_rounded_up() -> None:
    half = flat(Fraction(1, 3))
    for threshold in range(12):
        with precision():
            exact = Warped(half).mass_at_least(1, threshold + 2)
            assert ball(tau(half, threshold)) >= exact
            assert ball(tau(half, threshold)) <= exact * ball(1 + Fraction(1, 10**4))


def test_a_weighted_sum_counts_people_by_bin_and_by_weight_times_value() -> None:
    spec = ask_sum(by=["town=a,b"], of="x:0..3:1", weight="w:0..1.5:0.5", epsilon="1")
    people = pa.table({"town": ["a", "b", "b", "b"], "x": [1, 3, 2, 2], "w": [0.5, 1.5, 1.0, 1.0]})
    exact = _weighted(spec, open_source(people), ScriptedSource.from_label("w"))
    cells = dict(zip(exact.codes.tolist(), exact.counts.tolist(), strict=True))
    wide = spec.top + 1
    assert cells == {1: 1, wide + 9: 1, wide + 4: 2}


def test_margins_of_found_bins_count_the_people_of_theirs() -> None:
    people = [("Bath", 10, "f"), ("Bath", 70, "m"), ("York", 10, "f"), ("York", 40, "m")]
    rows = [each for each, many in zip(people, (7, 8, 9, 10), strict=True) for _ in range(many)]
    table = pa.table(dict(zip(("town", "age", "sex"), zip(*rows, strict=True), strict=True)))
    engine = opened(table).engine
    spec = cube(["town", "age:0..90:30", "sex=f,m"], crowd=5, margins="town,age").with_schema(engine.columns())
    release = played(spec, engine, ScriptedSource.from_label("margins"))
    sheets = {each.name: pa.Table.from_batches(each.batches()).to_pylist() for each in release.result.sheets()}
    found = {(row["town"], row["age"]): row["count"] for row in sheets["margin-town-age"]}
    cells = {(row["town"], row["age"]): row["count"] for row in sheets["release"]}
    assert found == cells
    assert sorted(found.values()) == [7, 8, 9, 10]
