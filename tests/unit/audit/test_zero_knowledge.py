"""The release beside the paper's simulator: the worst database attains the claim, computed and not quoted."""

from __future__ import annotations

import math
from itertools import product

import pytest

from hubbub.audit.zero_knowledge import of_count, simulate, simulate_table, visible_range
from hubbub.errors import WrongUse
from hubbub.numeric.exact import to_float


@pytest.mark.parametrize(("people", "rows", "epsilon"), [(20, 4, "1"), (50, 10, "0.5"), (60, 60, "1"), (120, 12, "3")])
def test_the_worst_case_over_all_databases_is_the_claim(people: int, rows: int, epsilon: str) -> None:
    done = simulate(people, rows, people // 2, epsilon_dp=epsilon)
    assert done.worst is not None
    claim = math.log1p(rows / people * math.expm1(float(epsilon)))
    assert to_float(done.worst, round_up=True) == pytest.approx(claim, abs=1e-9)
    assert of_count(done).word == ("proved" if rows < people else "undecided")  # exactly 1, which no ball is within


@pytest.mark.parametrize("rows", [3, 10, 30])
def test_a_fair_coin_attains_half_the_share(rows: int) -> None:
    done = simulate(30, rows, 7, epsilon_dp=2, coin=True)
    assert done.worst is not None
    assert to_float(done.worst, round_up=True) == pytest.approx(math.log1p(rows / 60 * math.expm1(2)), abs=1e-9)


@pytest.mark.parametrize(("people", "rows"), [(20, 4), (30, 9)])
def test_a_table_whose_blank_is_in_no_bin_attains_theorem_a1_prime(people: int, rows: int) -> None:
    done = simulate_table(people, rows, people // 2, epsilon_dp=2)
    p, y = rows / people, math.e
    assert done.worst is not None
    claim = math.log((1 - p + p * y * y) / (1 - p + p * y))
    assert to_float(done.worst, round_up=True) == pytest.approx(claim, abs=1e-9)
    assert of_count(done).word == "proved"
    assert of_count(simulate_table(people, rows, 3, epsilon_dp=2, claimed_rows=rows - 1)).is_refuted
    assert sum(done.mechanism) == pytest.approx(1)


def test_the_laws_are_those_of_enumeration() -> None:
    people, rows, ones, epsilon = 6, 3, 2, 1.0
    done = simulate(people, rows, ones, epsilon_dp=1)
    draws = [draw for draw in product((0, 1), repeat=people) if sum(draw) == rows]
    peak = math.tanh(epsilon / 2)
    for have, law in ((ones, done.mechanism), (ones - 1, done.simulator)):
        for x in range(rows + 1):
            mass = sum(peak * math.exp(-epsilon * abs(x - sum(draw[:have]))) for draw in draws) / len(draws)
            assert law[x] == pytest.approx(mass, abs=1e-12)


def test_more_rows_than_claimed_are_refuted_and_fewer_are_not() -> None:
    assert of_count(simulate(100, 20, 50, epsilon_dp=2, claimed_rows=19)).is_refuted
    assert not of_count(simulate(100, 20, 50, epsilon_dp=2, claimed_rows=21)).is_refuted


def test_one_database_among_many_is_not_called_a_proof() -> None:
    done = simulate(10**6, 100, 5 * 10**5, epsilon_zk="0.1")
    assert done.worst is None
    assert of_count(done).word == "undecided"
    assert "not worked out" in " ".join(done.sentences())
    low, high = visible_range(done)
    assert 0 <= low < high <= 100


@pytest.mark.parametrize("given", [{}, {"epsilon_dp": 1, "epsilon_zk": 1}])
def test_one_epsilon_is_asked_for(given: dict[str, int]) -> None:
    with pytest.raises(WrongUse):
        simulate(10, 5, 5, **given)
    with pytest.raises(WrongUse):
        simulate_table(10, 5, 5, **given)


def test_more_rows_than_people_are_refused() -> None:
    with pytest.raises(WrongUse):
        simulate(10, 11, 5, epsilon_dp=1)
