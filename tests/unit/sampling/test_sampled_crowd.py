"""Theorem A's machinery: the split of f into two hills, stopping early, and numbers that need many bits."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial

import pytest
from flint import arb

from hubbub.errors import WrongUse
from hubbub.numeric.exact import INFINITY, ball, log, rounded, upper
from hubbub.sampling import sampled_crowd
from hubbub.sampling.sampled_crowd import JOINING, LEAVING, Case, Delta, _parts, worst

ZERO, HALF, TENTH = Fraction(0), Fraction(1, 2), Fraction(1, 10)


def case(rate: Fraction, crowd: int, loss: Fraction = ZERO, own: Fraction | None = None) -> Case:
    return Case(rate=rate, own=rate if own is None else own, crowd=crowd, removal=loss, blending=loss)


def top(delta: Delta) -> Fraction:
    return upper(delta)


@pytest.mark.parametrize("loss", [ZERO, Fraction(1, 10), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("g", [Fraction(1), Fraction(5, 4), Fraction(10)])
def test_the_best_of_close_pairs_is_the_sum_of_two_hills(loss: Fraction, g: Fraction) -> None:
    # max of u y - g v x over the corners of {(x, y): e-close}, which are (0, 0), (1, 1) and two more.
    e = math.exp(loss)
    corners = [(0.0, 0.0), (1.0, 1.0), (1 / (1 + e), e / (1 + e)), (e / (1 + e), 1 / (1 + e))]
    for u, v in itertools.product((0.0, 0.1, 0.5, 1.0), repeat=2):
        direct = max(u * y - float(g) * v * x for x, y in corners)
        hills = sum((weight * (u - r * v).nonnegative_part() for weight, r in _parts(loss, ball(g))), arb(0))
        assert abs(float(hills.mid()) - direct) < 1e-12


def test_stopping_early_only_rounds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    question = case(TENTH, 12, Fraction(3, 10)), Fraction(1, 20)
    exactly = top(worst(*question).delta)
    loosest = exactly * 2
    for halvings in (1, 2, 3, 5, 8):
        monkeypatch.setattr(sampled_crowd, "_HALVINGS", halvings)
        worst.cache_clear()
        early = top(worst(*question).delta)
        assert exactly <= early <= loosest
        loosest = early
    worst.cache_clear()
    assert exactly < top(worst(*question).delta) * (1 + Fraction(1, 10**3))


def test_both_directions_can_be_the_worst() -> None:
    # With the person surely in the data and epsilon large, leaving shows in classes far larger than joining does.
    assert worst(case(TENTH, 20), Fraction(1, 20)).direction == JOINING
    leaving = worst(Case(rate=TENTH, own=Fraction(1), crowd=5, removal=Fraction(1, 2), blending=ZERO), Fraction(4, 5))
    assert leaving.direction == LEAVING


def test_class_sizes_of_many_bits() -> None:
    # e^300 others: the precision is raised until the class size is known.
    found = worst(case(TENTH, 5, own=Fraction(1)), Fraction(300))
    assert found.delta == Fraction(1, 10**4)
    assert found.others == 4


def test_next_to_the_end_of_the_lower_direction() -> None:
    # At ln 1/(1 - p) leaving is over; a hair below, the class it needs is astronomical and its weight nothing.
    end = rounded(-log(1 - TENTH), up=True, digits=40)
    deltas = [
        top(worst(case(TENTH, 20), end + step).delta) for step in (-Fraction(1, 10**30), ZERO, Fraction(1, 10**30))
    ]
    assert max(deltas) / min(deltas) < 1 + Fraction(1, 10**20)


def test_what_promises_nothing_or_everything() -> None:
    assert worst(case(ZERO, 5), ZERO).delta == 0
    assert worst(case(HALF, 1), Fraction(9)).delta == HALF
    assert worst(case(HALF, -3), Fraction(9)).delta == HALF
    assert worst(case(Fraction(1), 7), Fraction(9)).delta == 1
    assert case(ZERO, 1).floor == 0
    assert case(HALF, 4).floor == Fraction(1, 16)
    assert case(Fraction(1), 4).floor == 1
    assert top(case(HALF, 5000).floor) >= Fraction(1, 2**5000)


def test_wrong_cases_are_refused() -> None:
    with pytest.raises(WrongUse, match="finite"):
        Case(rate=HALF, own=HALF, crowd=3, removal=INFINITY, blending=ZERO)  # type: ignore[arg-type]
    with pytest.raises(WrongUse, match="at most 1,000,000,000"):
        case(HALF, 10**9 + 1)
    with pytest.raises(WrongUse, match="between 0 and 1"):
        case(Fraction(3, 2), 3)
    with pytest.raises(WrongUse, match="below 0"):
        worst(case(HALF, 3), Fraction(-1))


# --- the worst class size --------------------------------------------------------------------------------------------


def mass(n: int, p: Fraction, m: int) -> Fraction:
    return math.comb(n, m) * p**m * (1 - p) ** (n - m) if 0 <= m <= n else ZERO


def joining_sum(n: int, p: Fraction, crowd: int, r: Fraction, head: Fraction) -> Fraction:
    """U_n(R) + h F(K - 2), term by term."""
    terms = (mass(n, p, m) - r * mass(n, p, m + 1) for m in range(crowd - 1, n + 1))
    return sum((max(each, ZERO) for each in terms), head * sum((mass(n, p, m) for m in range(crowd - 1)), ZERO))


def leaving_sum(n: int, p: Fraction, crowd: int, r: Fraction) -> Fraction:
    """L_n(R), term by term."""
    below = [sum((mass(n, p, m) for m in range(end)), ZERO) for end in (crowd, crowd - 1)]
    terms = (mass(n, p, m) - r * mass(n, p, m - 1) for m in range(crowd, n + 1))
    return sum((max(each, ZERO) for each in terms), max(below[0] - r * below[1], ZERO))


@pytest.mark.parametrize("crowd", [2, 3, 6])
@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(2, 5), Fraction(7, 10)])
@pytest.mark.parametrize("r", [Fraction(11, 10), Fraction(3, 2), Fraction(4)])
def test_a_hill_has_its_peak_where_the_largest_term_is(crowd: int, p: Fraction, r: Fraction) -> None:
    """The bound of a stretch is that of its better end, and nothing is looked at beyond the last peak. With a peak one
    lower the class size n that is worst lies in between or beyond, and delta comes out too small: unsound."""
    of, weight = case(p, crowd), Fraction(2, 3)
    hills = [
        (sampled_crowd._l_hill(of, ball(weight), ball(r)), partial(leaving_sum, p=p, crowd=crowd, r=r)),
        *(
            (
                sampled_crowd._u_hill(of, ball(weight), ball(r), ball(head)),
                partial(joining_sum, p=p, crowd=crowd, r=r, head=head),
            )
            for head in (ZERO, Fraction(1, 5))
        ),
    ]
    for hill, exactly in hills:
        values = [weight * exactly(n) for n in range(max(hill.peaks) + 12)]
        for n, value in enumerate(values):
            assert abs(float((hill.at(n) - ball(value)).mid())) < 1e-12
        best = max(values)
        assert {n for n, value in enumerate(values) if value == best} & set(hill.peaks)
        first = values.index(best)
        assert values[: first + 1] == sorted(values[: first + 1])
        assert values[first:] == sorted(values[first:], reverse=True)
        found, bound = sampled_crowd._top([hill], of)
        assert values[found] == best
        assert upper(bound) >= best
