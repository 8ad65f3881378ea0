"""E6: Theorem 20 needs a curve that never decreases; with one that does, the noise on the count as it is printed fails.

The curve is 0.5 up to 49 people, 1 up to 99, 0.2 from 100 on, with epsilon_A = 0.1 and alpha = 10. At 174 people n is
about 74, in the middle of the stretch that stands for 1, and the bin gets noise for 1 where 0.2 was promised.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import pytest

from hubbub.channels.papers.lower_bound import count_estimator, estimator_law, lower_bound
from hubbub.channels.profile import judge, profile, worst
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import Curve, Piece, flat, read
from hubbub.guarantees.definitions import OutlierPrivacy
from hubbub.guarantees.verdict import Proved, Refuted
from hubbub.numeric.exact import exp, rounded, upper
from tests.witnesses.family import Family, rounds_to

CURVE = Curve((Piece(1, Fraction(1, 2)), Piece(50, Fraction(1)), Piece(100, Fraction(1, 5))))
EPSILON_A, ALPHA = Fraction(1, 10), 10
CLAIM = OutlierPrivacy(curve=flat("0.2"), delta=rounded(exp(-ALPHA) / 2, up=True))


@cache
def without_envelope() -> Family:
    estimator = count_estimator(CURVE, EPSILON_A, math.ceil(ALPHA / EPSILON_A))
    return Family(cache(lambda count: estimator_law(estimator, EPSILON_A, count)), CLAIM)


def test_e6_without_the_envelope_it_is_refuted() -> None:
    # From 100 people on, the curve itself promises 0.2, so nothing here depends on how "outlier" is read below.
    rows = profile(without_envelope(), range(100, 230))
    assert worst(rows).count == 174
    assert rounds_to(worst(rows).exact_delta, "0.335")
    assert rounds_to(CLAIM.delta, "2.3e-5")
    found = judge(without_envelope(), rows)
    assert isinstance(found, Refuted)
    assert int(dict(found.witness)["count"]) >= 100


def test_e6_with_the_envelope_it_is_proved() -> None:
    assert CURVE.envelope() == flat("0.2")
    right = lower_bound(CURVE.envelope(), "count", EPSILON_A, ALPHA)
    rows = profile(right, range(1, 230))
    assert isinstance(judge(right, rows), Proved)
    assert all(upper(row.exact_delta) <= CLAIM.delta for row in rows)


def test_e6_a_curve_that_decreases_is_refused_or_lowered() -> None:
    with pytest.raises(WrongUse, match="decrease"):
        lower_bound(CURVE, "count", EPSILON_A, ALPHA)
    with pytest.raises(WrongUse, match="decrease"):
        OutlierPrivacy(curve=CURVE)
    reading = read("1:0.5,50:1,100:0.2")
    assert reading.lowered
    assert reading.curve == flat("0.2")
