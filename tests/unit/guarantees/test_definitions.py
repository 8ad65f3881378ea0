"""Definitions are frozen values with exact parameters, one text and one meaning."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable
from fractions import Fraction

import pytest

from hubbub.errors import FloatRefused, WrongUse
from hubbub.guarantees.curve import Curve, Piece, flat, read
from hubbub.guarantees.definitions import (
    NEVER,
    BernoulliSample,
    ConcentratedPrivacy,
    CrowdBlending,
    DifferentialPrivacy,
    DistributionalPrivacy,
    Guarantee,
    Neighbours,
    OutlierGroup,
    OutlierPrivacy,
    RandomSample,
    RobustSample,
    SimpleOutlier,
    StaircaseOutlier,
    TailoredPrivacy,
    ZeroKnowledge,
)
from hubbub.numeric.exact import INFINITY

TENTH, HALF = Fraction(1, 10), Fraction(1, 2)
ROBUST = RobustSample(low=Fraction(0), high=TENTH, highest=Fraction(1), exempt=2)

EXAMPLES: list[tuple[Guarantee, str, str]] = [
    (DifferentialPrivacy(epsilon=HALF), "differential", "0.5-DP [add/remove]"),
    (
        DifferentialPrivacy(epsilon=HALF, delta=TENTH, neighbours=Neighbours.REPLACE, group=3),
        "differential",
        "(0.5, 0.1)-DP [replace, groups of 3]",
    ),
    (
        ConcentratedPrivacy(rho=HALF, neighbours=Neighbours.REPLACE, group=2),
        "zero-concentrated differential",
        "0.5-zCDP [replace, groups of 2]",
    ),
    (CrowdBlending(k=10, epsilon=HALF, delta=TENTH), "crowd-blending", "(10, 0.5, 0.1)-crowd-blending"),
    (ZeroKnowledge(epsilon=HALF, aggregate=RandomSample(k=5, n=9)), "zero-knowledge", "0.5-ZK w.r.t. RS(5 of 9)"),
    (
        ZeroKnowledge(epsilon=HALF, delta=TENTH, aggregate=BernoulliSample(p=TENTH), group=2),
        "zero-knowledge",
        "(0.5, 0.1)-ZK w.r.t. iRS(0.1), groups of 2",
    ),
    (CrowdBlending(k=10, epsilon=Fraction(0)), "crowd-blending", "(10, 0)-crowd-blending"),
    (OutlierPrivacy(curve=read("1:0.1,9:1").curve), "outlier", "[1:0.1,9:1]-outlier"),
    (OutlierPrivacy(curve=flat(1), delta=TENTH), "outlier", "([1], 0.1)-outlier"),
    (TailoredPrivacy(curve=read("1:0.1,9:1").curve, delta=TENTH), "tailored", "([1:0.1,9:1], 0.1)-tailored"),
    (SimpleOutlier(k=10, epsilon=Fraction(1)), "simple-outlier", "(10, 1)-simple-outlier"),
    (
        SimpleOutlier(k=10, epsilon=Fraction(1), delta=TENTH, differential=True),
        "simple-outlier",
        "(10, 1, 0.1)-simple-outlier-DP",
    ),
    (
        StaircaseOutlier(thresholds=(100, 10), epsilons=(INFINITY, TENTH, Fraction(0))),
        "staircase",
        "(100, 10), (inf, 0.1, 0)-staircase-outlier",
    ),
    (OutlierGroup(k=10, size=10, epsilon=HALF, delta=TENTH), "outlier-group", "(0.5, 0.1)-removal of 10 10-outliers"),
    (
        DistributionalPrivacy(epsilon=HALF, delta=TENTH, sample=ROBUST),
        "distributional",
        "(0.5, 0.1)-DP w.r.t. the distributions iRS(0, 0.1, 2; at most 1)",
    ),
]


@pytest.mark.parametrize(("guarantee", "notion", "text"), EXAMPLES, ids=[text for *_, text in EXAMPLES])
def test_notion_and_text(guarantee: Guarantee, notion: str, text: str) -> None:
    assert guarantee.notion == notion
    assert str(guarantee) == text


def test_the_examples_cover_every_guarantee() -> None:
    assert {type(guarantee) for guarantee, *_ in EXAMPLES} == set(typing.get_args(Guarantee))


@pytest.mark.parametrize("cls", typing.get_args(Guarantee))
def test_definitions_are_frozen_keyword_values_whose_docstring_cites(cls: type) -> None:
    fields = dataclasses.fields(cls)
    assert all(field.kw_only for field in fields)
    assert hasattr(cls, "__slots__")
    assert "every" in (cls.__doc__ or "") or "For all" in (cls.__doc__ or "")
    assert any(year in (cls.__doc__ or "") for year in ("2006", "2011", "2012", "2015", "2016"))
    example = next(guarantee for guarantee, *_ in EXAMPLES if type(guarantee) is cls)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(example, fields[0].name, 1)
    assert hash(example) == hash(dataclasses.replace(example))


@pytest.mark.parametrize(
    "build",
    [
        lambda e: DifferentialPrivacy(epsilon=e),
        lambda e: ZeroKnowledge(epsilon=e, aggregate=RandomSample(k=1)),
        lambda e: CrowdBlending(k=2, epsilon=e),
        lambda e: SimpleOutlier(k=2, epsilon=e),
        lambda e: StaircaseOutlier(thresholds=(2,), epsilons=(e, Fraction(0))),
        lambda e: OutlierGroup(k=2, size=2, epsilon=e),
        lambda e: DistributionalPrivacy(epsilon=e, sample=BernoulliSample(p=TENTH)),
    ],
)
def test_epsilon_is_exact_and_not_negative(build: Callable[[object], Guarantee]) -> None:
    with pytest.raises(FloatRefused, match="epsilon must be exact"):
        build(0.5)
    with pytest.raises(WrongUse, match="must be an int or a Fraction"):
        build("0.5")
    with pytest.raises(WrongUse, match="at least 0"):
        build(Fraction(-1))
    assert build(1) == build(Fraction(1))
    assert "inf" in str(build(INFINITY))


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: DifferentialPrivacy(epsilon=HALF, delta=Fraction(2)), "between 0 and 1"),
        (lambda: DifferentialPrivacy(epsilon=HALF, group=0), "the group size must be a whole number of at least 1"),
        (lambda: DifferentialPrivacy(epsilon=HALF, neighbours="replace"), "choose one"),  # type: ignore[arg-type]
        (lambda: ZeroKnowledge(epsilon=HALF, aggregate=5), "class of samples"),  # type: ignore[arg-type]
        (lambda: CrowdBlending(k=0, epsilon=HALF), "at least 1"),
        (lambda: OutlierPrivacy(curve=HALF), "given by a Curve"),  # type: ignore[arg-type]
        (lambda: StaircaseOutlier(thresholds=(), epsilons=(HALF,)), "l at least 1"),
        (lambda: StaircaseOutlier(thresholds=(5,), epsilons=(HALF,)), "l \\+ 1 epsilons"),
        (lambda: StaircaseOutlier(thresholds=(5, 5), epsilons=(HALF, TENTH, Fraction(0))), "fall strictly"),
        (lambda: StaircaseOutlier(thresholds=(5,), epsilons=(TENTH, HALF)), "fall strictly"),
        (
            lambda: DistributionalPrivacy(epsilon=HALF, sample=RandomSample(k=1)),  # type: ignore[arg-type]
            "sampled independently",
        ),
    ],
)
def test_parameters_out_of_range_are_refused(call: Callable[[], object], reason: str) -> None:
    with pytest.raises(WrongUse, match=reason):
        call()


def test_a_decreasing_curve_is_refused_and_the_envelope_is_named() -> None:
    falling = Curve((Piece(1, HALF), Piece(5, TENTH)))
    with pytest.raises(WrongUse, match=r"never decrease.*use its envelope\(\)"):
        OutlierPrivacy(curve=falling)
    assert OutlierPrivacy(curve=falling.envelope()).curve == flat(TENTH)


def test_definitions_6_and_14_simple_outlier_as_a_curve() -> None:
    simple = SimpleOutlier(k=100, epsilon=Fraction(1))
    assert simple.as_outlier() == OutlierPrivacy(curve=read("1:0.01,101:inf").curve)
    assert SimpleOutlier(k=100, epsilon=Fraction(1), delta=TENTH, differential=True).as_outlier() == OutlierPrivacy(
        curve=read("1:0.01,101:1").curve, delta=TENTH
    )
    assert SimpleOutlier(k=1, epsilon=HALF, differential=True).as_outlier().curve == flat(HALF)
    assert SimpleOutlier(k=5, epsilon=Fraction(0), differential=True).as_outlier().curve == flat(0)
    assert SimpleOutlier(k=5, epsilon=INFINITY).as_outlier().curve == flat(INFINITY)


def test_definition_17_staircase_as_a_curve() -> None:
    stairs = StaircaseOutlier(thresholds=(1000, 100, 10), epsilons=(Fraction(1), TENTH, Fraction(1, 100), Fraction(0)))
    assert stairs.as_outlier() == OutlierPrivacy(curve=read("1:0,11:0.01,101:0.1,1001:1").curve)
    assert [stairs.loss_at(c)[0] for c in (10, 11, 100, 101, 1000, 1001)] == [
        Fraction(0),
        Fraction(1, 100),
        Fraction(1, 100),
        TENTH,
        TENTH,
        Fraction(1),
    ]


def test_loss_at_says_what_removal_costs_in_a_bin() -> None:
    assert DifferentialPrivacy(epsilon=HALF, delta=TENTH).loss_at(7) == (HALF, TENTH)
    assert DifferentialPrivacy(epsilon=HALF, neighbours=Neighbours.REPLACE).loss_at(7) == (INFINITY, NEVER)
    crowd = CrowdBlending(k=10, epsilon=HALF)
    assert [crowd.loss_at(c) for c in (1, 9, 10, 11)] == [(HALF, NEVER)] * 2 + [(INFINITY, NEVER)] * 2
    simple = SimpleOutlier(k=10, epsilon=Fraction(1), delta=TENTH)
    assert [simple.loss_at(c)[0] for c in (1, 10, 11)] == [TENTH, TENTH, INFINITY]
    assert OutlierPrivacy(curve=read("slope:0.1").curve, delta=TENTH).loss_at(3) == (Fraction(3, 10), TENTH)


def test_k_equal_to_one_promises_nothing() -> None:
    assert CrowdBlending(k=1, epsilon=Fraction(0)).loss_at(1) == (INFINITY, NEVER)


@pytest.mark.parametrize("guarantee", [g for g, *_ in EXAMPLES if hasattr(g, "loss_at")], ids=str)
def test_nobody_stands_in_an_empty_bin(guarantee: DifferentialPrivacy) -> None:
    with pytest.raises(WrongUse, match="somebody stands"):
        guarantee.loss_at(0)
