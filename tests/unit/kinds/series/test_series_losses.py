"""Exact losses of small series: all histories of up to three people in up to three periods, for every way.

The histories go through the rule that decides who may count, and through the weights that are drawn: what is left is noise,
whose exact laws are compared here.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, exp, log

import numpy as np
import pyarrow as pa
import pytest

from hubbub.kinds.series.request import series as asked
from hubbub.ledger.series_state import SeriesState
from hubbub.query_classes.series import Blocks, Crowds, Factor, best_factor, least_factor
from hubbub.series import _choose_rows

History = tuple[tuple[int, ...], ...]
"""For each person and period: 0 absent, else 1 + the bin."""


def histories(people: int, periods: int, bins: int) -> Iterator[History]:
    """Every one."""
    yield from product(product(range(bins + 1), repeat=periods), repeat=people)


def increments(history: History, recur: int, bins: int) -> np.ndarray:
    """What is counted in every period, by the rule that the ledger has."""
    periods = len(history[0]) if history else 0
    state = SeriesState(nonce="0", secret="00" * 32)
    found = np.zeros((periods, bins), dtype=np.int64)
    used: tuple[frozenset[str], ...] = ()
    for t in range(periods):
        state = SeriesState(nonce="0", secret="00" * 32, used=used)
        present = [(state.word(f"p{i}"), person[t]) for i, person in enumerate(history) if person[t]]
        stays = state.may_count([word for word, _ in present], recur)
        kept = [each for each, stay in zip(present, stays, strict=True) if stay]
        for _, place in kept:
            found[t, place - 1] += 1
        used = state.used_after(frozenset(word for word, _ in kept), recur)
    return found


@cache
def moved(periods: int, recur: int, bins: int) -> frozenset[tuple[tuple[int, ...], ...]]:
    """By what one person may move the increments, in any history of three people: every difference that occurs."""
    found = set()
    for history in histories(3, periods, bins):
        whole = increments(history, recur, bins)
        for i in range(3):
            left = (*history[:i], (0,) * periods, *history[i + 1 :])
            found.add(tuple(map(tuple, (whole - increments(left, recur, bins)).tolist())))
    return frozenset(found)


def shifts(way: Blocks | Factor, periods: int, bins: int) -> list[list[tuple[int, int]]]:
    """For each difference: (which row of its period, by how much it moves), of all drawn numbers."""
    found = []
    for difference in moved(periods, way.recur, bins):
        lines = []
        for t in range(periods):
            for i, weights in enumerate(way.rows(t)):
                for cell in range(bins):
                    lines.append((i, sum(w * difference[j][cell] for j, w in enumerate(weights))))
        found.append(lines)
    return found


SHAPES = [(2, 1, 1), (2, 2, 1), (3, 1, 1), (3, 2, 1), (3, 3, 1), (2, 1, 2), (2, 2, 2)]


@pytest.mark.parametrize(("periods", "recur", "bins"), SHAPES)
@pytest.mark.parametrize("block", [1, 2])
def test_no_history_loses_more_than_geometric_increments_and_blocks_promise_and_some_lose_it_all(
    periods: int, recur: int, bins: int, block: int
) -> None:
    """The loss of geometric noise of rate a, moved by v, is a |v|, and losses of independent noises add up: attained."""
    share = Fraction(0) if block == 1 else Fraction(2, 5)
    way = Blocks(periods=periods, recur=recur, l1=1, epsilon=Fraction(1), block=block, share=share)
    rates = (way.single_rate, way.block_rate or Fraction(0))
    losses = [sum((rates[i] * abs(v) for i, v in lines), Fraction(0)) for lines in shifts(way, periods, bins)]
    assert max(losses) <= 1
    covered = block == 1 or (periods // block) * block >= recur  # who is in whole blocks only, loses both shares
    assert not covered or max(losses) >= Fraction(99, 100)


def exact_delta(shift: list[int], s2: Fraction, epsilon: float) -> float:
    """H_{e^epsilon} of discrete Gaussian noise and the same moved by v, summed over S = sum v_i X_i."""
    reach = int(9 * float(s2) ** 0.5) + 1
    xs = np.arange(-reach, reach + 1)
    mass = np.exp(-(xs.astype(float) ** 2) / (2 * float(s2)))
    mass /= mass.sum()
    law = {0: 1.0}
    for v in filter(None, shift):
        new: dict[int, float] = {}
        for s, p in law.items():
            for x, m in zip((v * xs).tolist(), mass.tolist(), strict=True):
                new[s + x] = new.get(s + x, 0.0) + p * m
        law = new
    square = sum(v * v for v in shift)
    terms = ((p, (square + 2 * s) / (2 * float(s2))) for s, p in law.items())
    return sum(p * (1 - exp(epsilon - loss)) for p, loss in terms if loss > epsilon)


@pytest.mark.parametrize(("periods", "recur", "bins"), [(2, 1, 1), (2, 2, 1), (3, 1, 1), (2, 1, 2)])
def test_no_history_loses_more_than_the_factor_promises(periods: int, recur: int, bins: int) -> None:
    """Lemma C is an upper bound: the largest exact delta is within a few per cent of it, and never above."""
    epsilon, delta = Fraction(1), Fraction(1, 100)
    way = least_factor(periods, recur, 1, 1, epsilon, delta, Fraction(1, 2), bits=1)
    known = {tuple(sorted(abs(v) for _, v in lines if v)) for lines in shifts(way, periods, bins)}
    worst = max(exact_delta(list(each), way.s2, 1.0) for each in known if each)
    assert worst <= float(way.delta) * (1 + 1e-9)
    assert worst >= 0.5 * float(way.delta)


@pytest.mark.parametrize(("periods", "recur"), [(3, 1), (3, 2), (3, 3)])
def test_no_history_moves_more_than_the_zcdp_of_the_factor(periods: int, recur: int) -> None:
    """rho is |v|^2/(2 s2) for the v that moves most, and some history attains it."""
    way = best_factor(periods, recur, 1, 1, Fraction(1), Fraction(1, 10**6))
    most = max(sum(v * v for _, v in lines) for lines in shifts(way, periods, 1))
    assert Fraction(most) / (2 * way.s2) == way.gaussian_noise.rho


@pytest.mark.parametrize(("k", "bins", "periods"), [(2, 1, 3), (3, 1, 3), (2, 2, 2), (3, 2, 2)])
def test_increments_of_crowds_blend_or_ignore_everybody_in_every_history(k: int, bins: int, periods: int) -> None:
    """(k, 0)-crowd-blending: at least k people of the same bin and first period, who are exactly interchangeable, or nothing
    changes without the person."""
    way = Crowds(periods=periods, k=k)

    def shown(history: History) -> list[list[int]]:
        return [way.publish(line).tolist() for line in increments(history, 1, bins)]

    def place(person: tuple[int, ...]) -> tuple[int, int] | None:
        return next(((t, where) for t, where in enumerate(person) if where), None)

    alone = 0
    for history in histories(3, periods, bins):
        whole = shown(history)
        for i, person in enumerate(history):
            if place(person) is None:
                continue
            crowd = sum(place(other) == place(person) for other in history)
            if crowd < k:
                alone += 1
                assert shown((*history[:i], (0,) * periods, *history[i + 1 :])) == whole
    assert alone > 100


# --- secret samples -------------------------------------------------------------------------------------------------


def geometric(rate: float, y: np.ndarray) -> np.ndarray:
    """The law of two-sided geometric noise."""
    q = exp(-rate)
    return np.asarray((1 - q) / (1 + q) * q ** np.abs(y))


def fresh_law(counts: tuple[int, ...], way: Blocks, periods: int) -> np.ndarray:
    """The joint law of what is drawn in all periods, of one bin, at numbers from -1 to 4: beyond them no ratio changes."""
    assert way.sample is not None
    p, ys = float(way.sample), np.arange(-1, 5)
    found = np.ones(1)
    for count in counts:
        sampled = sum(
            comb(count, s) * p**s * (1 - p) ** (count - s) * geometric(float(way.single_rate), ys - s)
            for s in range(count + 1)
        )
        found = np.multiply.outer(found, sampled)
    return found.reshape((len(ys),) * periods)


def panel_law(people: list[tuple[int, ...]], way: Blocks, periods: int) -> np.ndarray:
    """The same where each person is in all periods or in none, by one coin."""
    assert way.sample is not None
    p, ys = float(way.sample), np.arange(-1, 5)
    found = np.zeros((len(ys),) * periods)
    for tossed in product((0, 1), repeat=len(people)):
        chance = np.prod([p if coin else 1 - p for coin in tossed])
        one = np.ones(1)
        for t in range(periods):
            counted = sum(coin * person[t] for coin, person in zip(tossed, people, strict=True))
            one = np.multiply.outer(one, geometric(float(way.single_rate), ys - counted))
        found += chance * one.reshape(found.shape)
    return found


def counted_periods(person: tuple[int, ...], recur: int) -> tuple[int, ...]:
    """In which periods somebody counts: by the rule of the ledger, alone."""
    return tuple(increments((person,), recur, 1)[:, 0].tolist())


@pytest.mark.parametrize(("periods", "recur"), [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)])
@pytest.mark.parametrize("panel", [False, True])
def test_no_history_loses_more_than_secret_samples_promise_and_some_lose_it_all(
    periods: int, recur: int, panel: bool
) -> None:
    """Zero-knowledge privacy too: the simulator draws the samples without the person, so that the same laws are compared."""
    way = Blocks(periods=periods, recur=recur, l1=1, epsilon=Fraction(1), sample=Fraction(1, 4), panel=panel)
    worst = 0.0
    for history in histories(3, periods, 1):
        counting = [counted_periods(person, recur) for person in history]
        whole = [tuple(line) for line in increments(history, recur, 1).tolist()]
        assert [sum(each) for each in zip(*counting, strict=True)] == [line[0] for line in whole]
        if sorted(counting) != counting:
            continue  # people stand for each other
        laws = []
        for kept in (counting, counting[1:], counting[:1] + counting[2:], counting[:2]):
            counts = tuple(sum(each) for each in zip(*kept, strict=True))
            laws.append(panel_law(kept, way, periods) if panel else fresh_law(counts, way, periods))
        worst = max(worst, *(float(np.abs(np.log(laws[0] / law)).max()) for law in laws[1:]))
    assert worst <= 1 + 1e-9
    assert worst >= 0.99


@pytest.mark.parametrize("recur", [1, 2, 3])
def test_who_is_told_of_people_at_the_known_rate_can_toss_all_fresh_samples(recur: int) -> None:
    """Each person is in no sample with the chance that the class leaves; the samples of who is told of are tossed."""
    way = Blocks(periods=3, recur=recur, l1=1, epsilon=Fraction(1), sample=Fraction(1, 4))
    p, known = Fraction(1, 4), way.known_rate
    tossed = {
        subset: p ** sum(subset) * (1 - p) ** (recur - sum(subset)) / known for subset in product((0, 1), repeat=recur)
    }
    nobody = tossed.pop((0,) * recur)
    assert sum(tossed.values()) == 1
    assert nobody * known == 1 - known
    assert log(float(1 + p * (Fraction(exp(way.inner)) - 1))) <= 1 / recur + 1e-12


# --- one table that grows -------------------------------------------------------------------------------------------

ARRIVALS = list(product(*([None, *range(t, 3)] for t in range(3))))
"""Of one person: for each of three periods no row, or one of that date that arrives in that period or later."""


def counted_dates(people: dict[str, tuple[int | None, ...]], recur: int) -> list[list[tuple[str, int]]]:
    """Who counts in each of three periods, with the date of the row, by the rule of the ledger."""
    spec = asked("s", kind="count", periods=3, first="2026-01", recur=recur, person="id", date="seen", epsilon=1)
    state, found = SeriesState(nonce="0", secret="00" * 32, person_type="text"), []
    for t in range(3):
        rows = [
            (name, d)
            for name, came in people.items()
            for d, a in enumerate(came)
            if a is not None and d <= t and a <= t
        ]
        table = pa.table({"id": pa.array([name for name, _ in rows], pa.string())})
        days = np.array([spec.calendar.days[d] for _, d in rows], dtype=np.int64)
        stays, kept = _choose_rows(table, spec, state, days, t)
        found.append([row for row, stay in zip(rows, stays, strict=True) if stay])
        state = SeriesState(nonce="0", secret="00" * 32, **{"dated": state.dated, **kept})
    return found


@pytest.mark.parametrize("recur", [1, 2, 3])
def test_in_every_growing_table_each_person_counts_by_their_own_rows_and_in_few_enough_periods(recur: int) -> None:
    alone = {came: counted_dates({"a": came}, recur) for came in ARRIVALS}
    for came, periods in alone.items():
        assert all(len(rows) <= 1 for rows in periods)
        every = [row for rows in periods for row in rows]
        assert len(every) <= recur
        assert len(set(every)) == len(every), "a row counted twice"
        due = [t for t, a in enumerate(came) if a is not None]
        assert bool(every) is bool(due), "a row that came late, or in time, was lost"
    for one, two in product(ARRIVALS[::5], ARRIVALS):
        both = counted_dates({"a": one, "b": two}, recur)
        for t in range(3):
            assert [row for row in both[t] if row[0] == "a"] == alone[one][t]
            assert [d for name, d in both[t] if name == "b"] == [d for _, d in alone[two][t]]
