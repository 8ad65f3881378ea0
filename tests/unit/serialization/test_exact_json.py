"""Frozen values as JSON and back: no digit lost, and nothing read that was not written so."""

from __future__ import annotations

import datetime
import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hubbub.errors import CheckFailed
from hubbub.guarantees.curve import Curve, steps
from hubbub.guarantees.definitions import (
    BernoulliSample,
    CrowdBlending,
    DifferentialPrivacy,
    Guarantee,
    Neighbours,
    OutlierPrivacy,
    RobustSample,
    SimpleOutlier,
    ZeroKnowledge,
)
from hubbub.ledger.charge import Charge
from hubbub.ledger.policy import Policy
from hubbub.numeric.exact import INFINITY, Loss
from hubbub.serialization.canonical import canonical, read
from hubbub.serialization.exact_json import agrees, line, plain, restored
from hubbub.tables.bins import Axis, Dates, Discovered, Edges, Steps, Values
from hubbub.tables.privacy_unit import Unit

FRACTIONS = st.fractions(0, 10**6, max_denominator=10**30)
CHANCES = st.fractions(0, 1, max_denominator=10**30)
LOSSES = FRACTIONS | st.just(INFINITY)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
CURVES = st.builds(lambda a, b: steps((1, min(a, b)), (5, max(a, b)), (9, INFINITY)), FRACTIONS, FRACTIONS)
SAMPLES = st.builds(BernoulliSample, p=CHANCES) | st.builds(
    lambda rates, n: RobustSample(low=rates[0], high=rates[1], highest=rates[2] if n else rates[1], exempt=n),
    st.tuples(CHANCES, CHANCES, CHANCES).map(sorted),
    st.integers(0, 99),
)
GUARANTEES = st.one_of(
    st.builds(DifferentialPrivacy, epsilon=LOSSES, delta=CHANCES, neighbours=st.sampled_from(Neighbours)),
    st.builds(ZeroKnowledge, epsilon=LOSSES, delta=CHANCES, aggregate=SAMPLES),
    st.builds(CrowdBlending, k=st.integers(1, 10**30), epsilon=LOSSES),
    st.builds(OutlierPrivacy, curve=CURVES, delta=CHANCES),
    st.builds(SimpleOutlier, k=st.integers(1, 99), epsilon=LOSSES, delta=CHANCES, differential=st.booleans()),
)
CHARGES = st.builds(
    Charge,
    what=TEXTS,
    promises=st.lists(GUARANTEES, max_size=4).map(tuple),
    partition=st.none() | TEXTS,
    collected=st.none() | SAMPLES,
    at_delta=CHANCES,
)
POLICIES = st.builds(
    Policy, differential_epsilon=st.none() | FRACTIONS, delta=st.none() | CHANCES, crowd=st.none() | st.integers(2, 99)
)
EDGES = st.lists(st.fractions(-(10**6), 10**6), max_size=5).map(lambda parts: (*sorted(parts), INFINITY))
AXES = st.one_of(
    st.builds(Values, TEXTS, st.lists(TEXTS, max_size=3).map(tuple), st.booleans(), st.booleans()),
    st.builds(Edges, TEXTS, EDGES, st.booleans(), st.booleans(), st.booleans()),
    st.builds(Steps, TEXTS, st.fractions(-9, 9), FRACTIONS, st.integers(1, 9)),
    st.builds(Dates, TEXTS, st.just("day"), st.dates(), st.dates()),
    st.builds(Discovered, TEXTS, st.none() | TEXTS),
)


def back(kind: Any, value: object) -> Any:
    """Through the very bytes."""
    return restored(kind, read(canonical(plain(value)), "it"))


@given(GUARANTEES)
def test_a_guarantee_comes_back(value: Guarantee) -> None:
    assert back(Guarantee, value) == value


@given(CHARGES)
def test_a_charge_comes_back(value: Charge) -> None:
    assert back(Charge, value) == value


@given(POLICIES)
def test_a_policy_comes_back(value: Policy) -> None:
    assert back(Policy, value) == value


@given(st.lists(AXES, max_size=3).map(tuple))
def test_bins_come_back_negative_edges_too(value: tuple[Axis, ...]) -> None:
    assert back(tuple[Axis, ...], value) == value


@given(CURVES)
def test_a_curve_comes_back(value: Curve) -> None:
    assert back(Curve, value) == value


def test_scalars_come_back() -> None:
    values: list[tuple[Any, object]] = [
        (bool, True),
        (int, -5),
        (str, "é\n"),
        (Fraction, Fraction(-1, 3)),
        (Fraction | None, None),
        (Loss, INFINITY),
        (datetime.date, datetime.date(2024, 2, 29)),
        (Neighbours, Neighbours.REPLACE),
    ]
    for kind, value in values:
        assert back(kind, value) == value
        assert type(back(kind, value)) is type(value)


GOOD = plain(CrowdBlending(k=20, epsilon=Fraction(1, 3)))
assert isinstance(GOOD, dict)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        "CrowdBlending",
        {},
        {"is": "CrowdBlending"},
        GOOD | {"more": 1},
        GOOD | {"is": "Unit"},
        GOOD | {"is": []},
        GOOD | {"is": None},
        GOOD | {"k": "20"},
        GOOD | {"k": True},
        GOOD | {"k": 0},
        GOOD | {"epsilon": "-1"},
        GOOD | {"epsilon": "1/0"},
        GOOD | {"epsilon": "nan"},
        GOOD | {"epsilon": 1},
        GOOD | {"epsilon": None},
        GOOD | {"epsilon": {"is": "Infinite"}},
    ],
    ids=str,
)
def test_what_was_not_written_so_is_refused(value: Any) -> None:
    with pytest.raises(CheckFailed):
        restored(Guarantee, value)


def test_half_a_sign_is_no_text() -> None:
    for kind, value in (
        (str, "\ud800"),
        (tuple[str, ...], ["a", "\ud800"]),
        (Unit | None, plain(Unit(person="\ud800"))),
    ):
        with pytest.raises(CheckFailed):
            restored(kind, value)


@pytest.mark.parametrize("value", [1.5, object(), {1: 2}, b""])
def test_what_has_no_exact_text_is_not_written(value: object) -> None:
    with pytest.raises(TypeError):
        plain(value)


@given(CHARGES | POLICIES | GUARANTEES | TEXTS | FRACTIONS | LOSSES | st.integers() | st.booleans() | st.none())
@example(Steps(column="a%s", low=Fraction(-1), width=Fraction(1, 3), steps=9))
@example((datetime.date(2024, 2, 29), Neighbours.REPLACE, INFINITY, [], (), "\ud800"))
def test_a_value_on_one_line_is_its_json(value: Any) -> None:
    """Values of fields that are left out at their default are left out of the line as well."""
    assert line(value) == json.dumps(plain(value), sort_keys=True, separators=(",", ":"))


TREES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 1) | st.sampled_from(["a", "b", "1"]) | st.sampled_from([0.0, 1.0]),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.sampled_from("xy"), parts, max_size=2),
    max_leaves=6,
)


@given(TREES, TREES)
@example([True], [1])
@example([["a"], 0], [["a"], False])
def test_what_was_read_agrees_with_what_would_be_written_where_the_texts_do(given_: Any, expected: Any) -> None:
    """One and true are equal for Python, and so are 1 and 1.0."""
    assert agrees(given_, expected) == (json.dumps(given_, sort_keys=True) == json.dumps(expected, sort_keys=True))
    assert agrees(expected, expected)
