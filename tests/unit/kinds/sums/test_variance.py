"""Variance and standard deviation: what one person loses, exactly, and the ends of intervals over a box."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from hubbub.errors import WrongUse
from hubbub.kinds.sums import mechanism
from hubbub.kinds.sums.columns import Row, rows_of
from hubbub.kinds.sums.result import Answers, answers_of
from hubbub.kinds.sums.variance import Box, Deviation, Side, Spread, Variance, means, spread, variances
from hubbub.noise.source import ScriptedSource
from hubbub.protocol.measurement import loaded
from hubbub.tables.engine import ExactCounts


def exactly(spec: Spread, values: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> Row:
    """What the mechanism adds noise to, of one bin."""
    monkeypatch.setattr(mechanism, "wide_noise", lambda rate, size, source: np.zeros(size, dtype=np.int64))
    steps, people = np.unique(np.array(values, dtype=np.int64), return_counts=True)
    batch = mechanism.NoisyBins(spec).draw(ExactCounts(steps, people), ScriptedSource.from_label("none"))
    (row,) = rows_of(spec, spec.columns, loaded(mechanism.NoisyBins(spec).schema, batch))
    return row


def apart(rates: tuple[Fraction, ...], one: Row, two: Row) -> Fraction:
    both = zip(rates, one, two, strict=True)
    return sum((rate * abs((a or 0) - (b or 0)) for rate, a, b in both), Fraction(0))


def test_one_person_more_loses_epsilon_whatever_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table of up to three people, every person more: W^2 together."""
    spec = spread(Deviation, of="x:0..5:1", epsilon="1")
    for size in range(3):
        for table in combinations_with_replacement(range(6), size):
            fewer = exactly(spec, table, monkeypatch)
            for x in range(6):
                assert apart(spec.sums.rates, fewer, exactly(spec, (*table, x), monkeypatch)) == 1


def test_people_of_one_crowd_lose_epsilon_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any one of three replaced by another; from three eighths of the range to its end all of epsilon is lost."""
    spec = spread(Variance, of="x:0..8:1", crowd="2", epsilon="1")
    worst = Fraction(0)
    for one, other in product(range(9), repeat=2):
        here, there = (exactly(spec, (1, 4, x), monkeypatch) for x in (one, other))
        assert here[0] == there[0] == 3
        worst = max(worst, apart(spec.sums.rates, here[1:], there[1:]))
    assert worst == 1
    assert exactly(spec, (4,), monkeypatch) == (None, None, None)


def test_spread_and_mean_have_a_status_each() -> None:
    """Sums from which no variance follows while the mean is known: one number of the row is shown, the other is not."""
    spec = spread(Variance, of="x:0..5:1", epsilon="1", by=["mean_status=a,b"])
    for low in range(-40, 400, 10):
        answers = answers_of(spec, [(low, 0, 0), (0, 0, 0)])
        spreads, means_ = ([each.statuses[i] for each in answers] for i in (0, 1))
        if spreads[0] != means_[0]:
            break
    assert (spreads, means_) == (["not usable", "not usable"], ["shown", "not usable"])
    result = Answers(spec, answers)
    ((table,),) = (list(sheet.batches()) for sheet in result.sheets())
    assert table.column("by_mean_status").to_pylist() == ["a", "b"]
    assert (table.column("status").to_pylist(), table.column("mean_status").to_pylist()) == (spreads, means_)
    first, second = result.facts()["answers"]
    assert (first["status"], first["mean"]["status"], second["mean"]["status"]) == (spreads[0], *means_)
    (_, cells, pale), (_, _, dark) = result.display(2).rows
    assert (cells[0], cells[2] == "not usable", pale, dark) == ("not usable", False, False, True)
    assert result.sentences()[0] == "1 of 4 numbers are shown; 3 not usable, since noise alone may have drawn them."


@pytest.mark.parametrize("values", [(0, 0, 5), (5, 5), (0, 1, 2, 3, 4, 5), (2, 2, 3)])
def test_without_noise_the_numbers_are_the_true_ones(values: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    for words in ({"epsilon": "1000"}, {"crowd": "2", "epsilon": "1000"}):
        spec = spread(Variance, of="x:10..20:2", **words)  # type: ignore[arg-type]
        found, middle = spec.estimate([exactly(spec, values, monkeypatch)])[0]
        true = [10 + 2 * x for x in values]
        mean = Fraction(sum(true), len(true))
        assert middle.value == mean
        assert found.value == sum((x - mean) ** 2 for x in true) / len(true)
        assert found.low <= (found.value or 0) <= (found.high or 0) <= 25


SIDES: list[Side] = [(Fraction(a), Fraction(b)) for a, b in ((0, 0), (0, 2), (1, 1), (1, 4), (3, 9), (5, 6))]


def test_no_point_of_a_box_has_a_variance_or_mean_outside_of_the_ends_and_the_ends_are_reached() -> None:
    """Against a grid of 9 points on each side: nothing is outside, and the grid comes within a fiftieth of each end."""
    for box in product(SIDES, repeat=3):
        sides: Box = (box[0], box[1], box[2])
        grid = [[low + (high - low) * i / 8 for i in range(9)] if low < high else [low] for low, high in sides]
        points = [(b0, b1, b2) for b0, b1, b2 in product(*grid) if b0 + b1 + b2]
        if not points:
            continue
        spreads = [(b0 * b2 - b1**2 / 4) / (b0 + b1 + b2) ** 2 for b0, b1, b2 in points]
        middles = [(b1 / 2 + b2) / (b0 + b1 + b2) for b0, b1, b2 in points]
        (low, high), (least, most) = variances(sides), means(sides)
        assert low <= max(min(spreads), Fraction(0))
        assert high >= max(spreads)
        assert least <= min(middles) <= max(middles) <= most
        if sum(side[0] for side in sides):
            assert max(min(spreads), Fraction(0)) - low <= Fraction(1, 50)
            if max(spreads) > 0:
                assert high - max(spreads) <= Fraction(1, 50)
            else:  # no table has such sums, unless there is one point: nothing is told
                assert high == (0 if min(spreads) == max(spreads) == 0 else Fraction(1, 4))
            assert (least, most) == (min(middles), max(middles))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({}, "of=salary"),
        ({"of": "x"}, "must be declared"),
        ({"of": "x:0..5:1", "crowd": "5", "epsilon": None}, "with noise"),
        ({"of": "x:0..9000000:1", "epsilon": "0.001"}, "coarser step"),
        ({"of": "x:0..5:1", "by": "town"}, "list of columns"),
        ({"of": "x:0..5:1", "coverage": "2"}, "coverage"),
    ],
)
def test_a_wrong_use_is_one_sentence(words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence) as found:
        spread(Deviation, **{"epsilon": "1", **words})
    assert "\n" not in str(found.value)
