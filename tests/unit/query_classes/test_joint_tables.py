"""Named tables planned together: what is measured loses epsilon exactly, the fit, and no table worse than by itself."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.query_classes import split_tables
from hubbub.query_classes.choice import choose_method, parameters, restore_method
from hubbub.query_classes.classes import NamedTables, parse
from hubbub.query_classes.marginals.shares import Design, best_parts, precision
from hubbub.query_classes.residual import Residual
from hubbub.query_classes.setting import Cells, Drawn, Setting
from hubbub.query_classes.split_tables import JointTables

TEN = "tables:a=1,b=2,c=3,d=4,e=1+2,f=1+3,g=2+3,h=3+4,i=1+4,j=1+2+3"
SHAPES = [(5, 4, 3, 6), (2, 2, 2, 2), (12, 2, 3, 40)]
LOSSES = [Fraction(1, 10), Fraction(1), Fraction(6)]


def setting(of: str, shape: tuple[int, ...], loss: Fraction = Fraction(1), delta: Fraction = Fraction(0)) -> Setting:
    return Setting(queries=parse(of, shape), half_way=loss, any_row=loss, doubt=Fraction(1, 20), delta=delta)


def alone(asked: Setting) -> list[float]:
    """The variance of each table with noise for its own share of the loss."""
    assert isinstance(asked.queries, NamedTables)
    total = sum(each.share for each in asked.queries.tables)
    return [1 / (math.cosh(asked.half_way * each.share / total) - 1) for each in asked.queries.tables]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("of", [TEN, TEN.replace("=1+2+3", "=1+2+3*9").replace("d=4", "d=4*3")], ids=["even", "uneven"])
def test_no_table_has_more_error_than_by_itself(of: str, shape: tuple[int, ...], loss: Fraction) -> None:
    asked = setting(of, shape, loss)
    method = split_tables.best(asked)
    assert not method.why_not(asked)
    assert isinstance(asked.queries, NamedTables)
    variances = method.table_variances(asked)
    ratios = [variances[each] / own for each, own in zip(asked.queries.sets, alone(asked), strict=True)]
    assert max(ratios) <= 1
    assert sum(ratios) / len(ratios) < 0.9  # ten tables of four columns have much in common


def test_gauss_and_markov_no_table_is_worse_when_each_is_measured_as_by_itself() -> None:
    """And the planned variances are those of the coefficients of all noises, worked out another way."""
    tables = parse(TEN, (5, 4, 3, 6))
    assert isinstance(tables, NamedTables)
    design = Design((5, 4, 3, 6), tables.sets, (0.1,) * 10)
    assert design.ratios(design.start).max() < 1
    asked = setting(TEN, (5, 4, 3, 6))
    every = JointTables(tuple("+".join(str(i + 1) for i in each) for each in tables.sets), (1,) * 10)
    found = every.table_variances(asked)
    told = design.ratios(design.start) / precision(np.array([0.1] * 10))
    assert [found[each] for each in tables.sets] == pytest.approx(told.tolist(), rel=1e-9)


def test_a_plan_has_the_variances_of_least_squares_over_all_cells() -> None:
    """A small domain, every measured cell a row of a matrix: the pseudo-inverse gives the same variances."""
    shape, asked = (3, 2, 2), setting("tables:x=1+2*3,y=2+3,z=1", (3, 2, 2))
    method = JointTables(("1+2", "2+3"), (700_000, 300_000))
    noise, cells = method.noise(asked), list(product(*map(range, shape)))

    def rows(columns: tuple[int, ...]) -> np.ndarray:
        keys = list(product(*(range(shape[i]) for i in columns)))
        return np.array([[tuple(cell[i] for i in columns) == key for cell in cells] for key in keys], dtype=float)

    weights = np.concatenate(
        [np.full(len(rows(each)), math.sqrt(math.cosh(r) - 1)) for each, r in noise.of_table.items()]
    )
    measured = np.concatenate([rows(each) for each in noise.of_table]) * weights[:, None]
    covariance = np.linalg.pinv(measured.T @ measured)
    assert isinstance(asked.queries, NamedTables)
    for each in asked.queries.sets:
        wanted = rows(each)
        assert noise.variance(each) == pytest.approx(float((wanted @ covariance @ wanted.T)[0, 0]), rel=1e-6)


def test_without_noise_every_table_is_the_truth() -> None:
    asked = setting("tables:x=1+2*3,y=2+3,z=1", (3, 4, 2))
    method, codes = JointTables(("1+2", "2+3"), (600_000, 400_000)), np.arange(24, dtype=np.int64)
    counts = codes * 5 % 13
    drawn = Drawn(method.drawn_tables(asked.queries).of_listed(codes, counts))
    said = [Fraction(int(x), part.scale) for part in method.every_answer(asked, drawn) for x in part.scaled.ravel()]
    assert isinstance(asked.queries, NamedTables)
    assert said == asked.queries.of_listed(codes, counts).tolist()
    noisy = method.draw(asked, Cells((3, 4, 2), codes, counts), ScriptedSource.from_label("joint"))
    assert noisy.numbers.size == 12 + 8


@pytest.mark.parametrize("of", [TEN, "tables:x=1+2,y=1", "tables:x=1+2+3+4,y=4*7,z=2+3"])
def test_whoever_comes_or_goes_loses_epsilon_exactly(of: str) -> None:
    """Geometric noise of rate r on a count that moves by 1 has the ratio e^r at worst: over every cell, the moved counts
    times their rates add up to the loss, whoever it is; never more."""
    asked = setting(of, (3, 2, 2, 3), Fraction(7, 5))
    method = split_tables.best(asked)
    noise, drawn = method.noise(asked), method.drawn_tables(asked.queries)
    rates = [rate for rate, a, b in zip(noise.rates, drawn.starts, drawn.starts[1:], strict=False) for _ in range(a, b)]
    for code in range(36):
        moved = drawn.of_listed(np.array([code]), np.array([1]))
        assert sum(rate * int(n) for rate, n in zip(rates, moved, strict=True)) == Fraction(7, 5)
    assert method.spends(asked) == Fraction(7, 5)


def test_what_does_not_follow_from_the_measured_tables_is_refused() -> None:
    asked = setting("tables:x=1+2,y=3", (3, 2, 2))
    assert JointTables(("1", "3"), (1, 1)).why_not(asked) == "a table does not follow from what it measures"
    assert JointTables(("1+2", "9"), (1, 1)).why_not(asked) == "its tables are none of this domain"
    assert JointTables(("1+2", "1+2"), (1, 1)).why_not(asked) == "its tables are none of this domain"
    assert JointTables(("1+2", "3"), (1,)).why_not(asked) == "its parts are none for these tables"
    assert JointTables(("1+2", "3"), (1, 0)).why_not(asked) == "its parts are none for these tables"
    assert JointTables(("1+2",), (1,)).why_not(setting("marginals:2", (3, 2))) == "it answers tables that have names"
    good = JointTables(("1+2", "3"), (2, 1))
    assert not good.why_not(asked)
    assert restore_method(parameters(good)) == good
    with pytest.raises(WrongUse, match="update Hubbub"):
        restore_method({"name": "joint-tables", "measured": ["1+a"], "parts": [1]})


@pytest.mark.slow
def test_with_a_delta_the_residuals_of_named_tables_are_planned_by_their_shares() -> None:
    pairs = ",".join(f"t{i}{j}={i}+{j}" for i in range(1, 8) for j in range(i + 1, 8))
    asked = setting(f"tables:{pairs}", (4, 3, 5, 2, 6, 3, 4), delta=Fraction(1, 10**6))
    method = choose_method(asked)
    assert isinstance(method, Residual)
    assert method.spent_delta(asked) <= Fraction(1, 10**6)
    assert method.above_least(asked) <= Fraction(51, 50)
    pure = split_tables.best(asked)
    assert max(method.table_variances(asked).values()) < max(pure.table_variances(asked).values())


@pytest.mark.parametrize(
    ("of", "sentence"),
    [
        ("tables:", "is written NAME="),
        ("tables:a", "is written NAME="),
        ("tables:a=1,a=2", "each with a name and columns of its own"),
        ("tables:a=1,b=1", "each with a name and columns of its own"),
        ("tables:a=2+1", "in their order"),
        ("tables:a=0", "numbers from 1 to 3"),
        ("tables:a=4", "numbers from 1 to 3"),
        ("tables:a=1*0", "whole number from 1"),
        ("tables:release=1", "none of release"),
        ("tables:A=1", "small letters"),
        ("tables:../a=1", "small letters"),
    ],
)
def test_tables_that_are_none_get_a_sentence(of: str, sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        parse(of, (3, 2, 2))


def test_the_name_of_named_tables_says_all_of_them() -> None:
    found = parse("tables: a=1+3*5, b=2", (3, 2, 2))
    assert found.name == "tables:a=1+3*5,b=2*1"
    assert parse(found.name, (3, 2, 2)) == found
    assert isinstance(found, NamedTables)
    assert found.has(((0, 1), (0, 2), (1, 2)))
    assert not found.has(((0, 1), (0, 1), (1, 2)))
    assert found.around([0]) == (0, 2)
    assert found.around([0, 1]) is None


def test_one_table_is_measured_alone() -> None:
    assert best_parts(Design((3, 2), ((0, 1),), (1.0,))) == (((0, 1),), (1,))
