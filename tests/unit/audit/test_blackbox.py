"""THREATS 18: a wrong noise scale is seen; what is right is accused no more often than the confidence allows."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from hubbub.audit.blackbox import (
    Experiment,
    _from_pairs,
    at_least,
    at_most,
    compare,
    look_sizes,
    most_events,
    power,
    power_on_leak,
    repeat_runs,
)
from hubbub.audit.outcomes import heap, propose_events
from hubbub.channels.catalogue import channel
from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource

# --- exact confidence bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("events", "runs"), [(0, 10), (1, 10), (10, 10), (3, 250), (4000, 10_000), (9999, 10_000)])
@pytest.mark.parametrize("alpha", [Fraction(1, 20), Fraction(1, 10_000)])
def test_the_bounds_are_those_of_clopper_and_pearson_rounded_outwards(events: int, runs: int, alpha: Fraction) -> None:
    low, high = at_least(events, runs, alpha), at_most(events, runs, alpha)
    exact_low = 0.0 if events == 0 else float(stats.beta.ppf(float(alpha), events, runs - events + 1))
    exact_high = 1.0 if events == runs else float(stats.beta.isf(float(alpha), events + 1, runs - events))
    width = exact_high - exact_low
    assert exact_low - width / 500 <= low <= exact_low + 1e-11
    assert exact_high - 1e-11 <= high <= exact_high + width / 500


def test_nonsense_is_refused() -> None:
    with pytest.raises(WrongUse):
        at_least(5, 4, Fraction(1, 20))
    with pytest.raises(WrongUse):
        compare(lambda n: [0] * n, lambda n: [0] * n, epsilon=1, runs=10)


# --- size and power -------------------------------------------------------------------------------------------------

REPEATS = 40
RUNS = 1000
CONFIDENCE = Fraction(9, 10)
ALARMS = 10  # P(Bin(40, 0.1) > 10) is 0.0015: the size of the test
SEEN = 36  # P(Bin(40, 0.99) < 36) is below 0.0001: its power against epsilon 2 is stated below


def drawn(name: str, count: int, label: str, **options: str) -> Experiment:
    made, source = channel(name, **options), ScriptedSource.from_label(label)

    def many(n: int) -> list[object]:
        published = made.release(np.full(n, count, dtype=np.int64), source)
        return [published.outcome(i)[0] for i in range(n)]

    return many


def refuted(epsilon: str, label: str) -> bool:
    pair = [drawn("geometric", count, f"{label} {count}", epsilon=epsilon) for count in (7, 8)]
    return compare(*pair, epsilon=1, runs=RUNS, confidence=CONFIDENCE).is_refuted


def test_false_alarms_stay_within_the_binomial_expectation() -> None:
    """make audit does this 200 times at 1 %."""
    alarms = sum(refuted("1", f"size {i}") for i in range(REPEATS))
    assert alarms <= ALARMS, f"n = {REPEATS}: {alarms} alarms, at most {ALARMS} expected"


def test_noise_that_is_half_too_small_is_seen() -> None:
    assert power(1, 0, float(CONFIDENCE), RUNS) < 2
    seen = sum(refuted("2", f"power {i}") for i in range(REPEATS))
    assert seen >= SEEN, f"n = {REPEATS}: {seen} seen, at least {SEEN} expected"


def test_a_tenth_too_much_is_seen_with_a_hundred_thousand_runs() -> None:
    pair = [drawn("geometric", count, f"many {count}", epsilon="1.2") for count in (7, 8)]
    found = compare(*pair, epsilon=1, runs=100_000)
    assert found.is_refuted
    assert float(Fraction(found.lower_bound or "0")) <= 1.2 + 0.1


# --- a leak in one run of hundreds ----------------------------------------------------------------------------------

PAIRS = 14


@pytest.mark.parametrize(
    ("p", "q", "delta"), [("0.4", "0.2", "0"), ("0.9", "0.5", "0"), ("0.2", "0.02", "0"), ("0.5", "0.1", "0.3")]
)
@pytest.mark.parametrize("alpha", [Fraction(1, 5), Fraction(1, 20)])
def test_the_bound_from_pairs_is_too_high_no_more_often_than_alpha(p: str, q: str, delta: str, alpha: Fraction) -> None:
    """By listing how many of 14 pairs have both events, the first alone, the second alone, or none."""
    often, seldom, slack = map(float, (p, q, delta))
    loss = np.log((often - slack) / seldom)
    chances = (often * seldom, often * (1 - seldom), (1 - often) * seldom, (1 - often) * (1 - seldom))
    above = 0.0
    for both in range(PAIRS + 1):
        for first in range(PAIRS + 1 - both):
            for second in range(PAIRS + 1 - both - first):
                none = PAIRS - both - first - second
                one = np.repeat([True, True, False, False], [both, first, second, none])
                two = np.repeat([True, False, True, False], [both, first, second, none])
                if _from_pairs(one, two, Fraction(delta), alpha) > loss:
                    above += stats.multinomial.pmf((both, first, second, none), PAIRS, chances)
    assert above <= float(alpha), f"above the loss {loss:.3f} with probability {above:.4f}"


@pytest.mark.parametrize("alpha", [Fraction(1, 20), Fraction(1, 10_000)])
@pytest.mark.parametrize("chance", ["0.000001", "0.01", "0.5"])
def test_more_events_than_that_come_up_with_a_chance_of_at_most_alpha(chance: str, alpha: Fraction) -> None:
    most = most_events(Fraction(chance), 1000, alpha)
    assert stats.binom.sf(most, 1000, float(chance)) <= float(alpha)
    assert most <= 1000 * float(chance) or stats.binom.sf(most - 1, 1000, float(chance)) > float(alpha) * 0.999


def leaking(count: int, once_in: int, *, floats: bool) -> Experiment:
    """Noise of epsilon 1 and, once in so many runs, the number itself."""
    source = ScriptedSource.from_label(f"leak {count} {once_in} {floats}")
    noisy = channel("geometric", epsilon="0.01")

    def many(n: int) -> list[object]:
        numbers = noisy.release(np.full(n, 100 * count, dtype=np.int64), source).values
        leaks = source.words(n) % np.uint64(once_in) == 0
        fine = source.words(n).astype(float) / 2**64 if floats else np.zeros(n)
        return [count if leak else float(x) / 100 + f / 100 for x, leak, f in zip(numbers, leaks, fine, strict=True)]

    return many


@pytest.mark.parametrize("floats", [False, True], ids=["steps", "nearly all different"])
def test_the_exact_number_once_in_300_runs_is_found(floats: bool) -> None:
    pair = [leaking(count, 300, floats=floats) for count in (1000, 1001)]
    found = compare(*pair, epsilon=1, runs=20_000)
    assert found.is_refuted, found.sentence()
    assert power_on_leak(1, 0, 0.99, 20_000, 300) > 0.9
    assert power_on_leak(1, 0, 0.99, 20_000, 1000) < 0.1
    assert "1 in 1,000" in " ".join(found.notes)


def test_one_entry_more_in_one_run_of_200_is_found() -> None:
    def lists(more: bool) -> Experiment:
        source = ScriptedSource.from_label(f"lists {more}")

        def many(n: int) -> list[object]:
            words = source.words(n)
            return [[int(w % 1000)] * (1 + (more and w % 200 == 0)) for w in words.tolist()]

        return many

    assert compare(lists(False), lists(True), epsilon=1, runs=20_000).is_refuted


# --- what can be told apart ---------------------------------------------------------------------------------------


def words(*texts: str) -> Experiment:
    return lambda n: [texts[i % len(texts)] for i in range(n)]


def fails(text: str) -> Experiment:
    def run() -> object:
        raise ValueError(text)

    return repeat_runs(run)


def vectors(shift: float) -> Experiment:
    source = ScriptedSource.from_label(f"vector {shift}")

    def many(n: int) -> list[object]:
        noise = channel("geometric", epsilon="0.4").release(np.zeros(5 * n, dtype=np.int64), source).values
        return [tuple(row + shift) for row in noise.reshape(n, 5).astype(float)]

    return many


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (words("a"), words("b")),
        (words("a", "b"), words("a", "c")),
        (fails("bin Bath is empty"), fails("bin York is empty")),
        (vectors(0), vectors(2)),  # no single coordinate tells more than 0.8; together they tell 4
        (lambda n: [1.5] * n, lambda n: [0.3] * n),
        (lambda n: [np.array([1, 2])] * n, lambda n: [np.array([1, 2, 3])] * n),
    ],
    ids=["words", "some words", "messages", "vectors", "floats", "lengths"],
)
def test_outcomes_of_every_kind_are_told_apart(one: Experiment, two: Experiment) -> None:
    assert compare(one, two, epsilon=1, runs=2000).is_refuted


@pytest.mark.parametrize("same", [words("a", "b"), fails("always"), vectors(0)], ids=["words", "messages", "vectors"])
def test_the_same_is_not_told_apart(same: Experiment) -> None:
    found = compare(same, same, epsilon="0.5", runs=1000)
    assert found.word == "undecided"
    assert "private" not in found.sentence()


def test_a_delta_is_allowed_for() -> None:
    often: Callable[[float], Experiment] = lambda share: lambda n: [int(i % 10 < 10 * share) for i in range(n)]  # noqa: E731
    assert compare(often(0.0), often(0.2), epsilon=1, runs=2000).is_refuted
    assert not compare(often(0.0), often(0.2), epsilon=1, delta="0.25", runs=2000).is_refuted


def test_events_are_proposed_from_the_first_half_alone_and_looks_are_fixed() -> None:
    assert look_sizes(500) == (500,)
    assert look_sizes(20_000) == (500, 2000, 8000, 20_000)
    one, two = heap([1, 2, 3] * 50), heap([2, 3, 4] * 50)
    for event in propose_events(one, two):
        assert event.describe
        assert event.occurs_in(one).shape == (150,)


def test_it_stops_early_and_says_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    found = compare(words("a"), words("b"), epsilon=1, progress=lambda done, of: told.append((done, of)))
    assert told == [(500, 20_000)]
    assert found.as_json()["runs"] == 500


# --- whatever comes out is looked at --------------------------------------------------------------------------------


class _Silent:
    """An answer that says nothing of itself."""


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x], lambda x: {"answer": x}], ids=["bare", "list", "dict"])
def test_what_cannot_be_written_down_is_refused_and_not_called_alike(wrap: Callable[[object], object]) -> None:
    with pytest.raises(WrongUse, match="cannot be written down"):
        compare(lambda n: [wrap(_Silent()) for _ in range(n)], lambda n: [0] * n, epsilon=1, runs=500)


def _frames(middle: int) -> Experiment:
    """A hundred rows, of which printing shows the first and the last few; the one in the middle tells."""
    seeded = np.random.default_rng(middle)

    def many(n: int) -> list[object]:
        return [pa.table({"count": np.append(seeded.integers(0, 99, 99), 9 * middle)}) for _ in range(n)]

    return many


def test_rows_of_a_frame_are_seen_though_printing_it_would_hide_them() -> None:
    assert compare(_frames(40), _frames(41), epsilon=1, runs=500).is_refuted


def test_the_numbers_in_a_dictionary_are_seen() -> None:
    seeded = np.random.default_rng(7)

    def towns(bath: int) -> Experiment:
        return lambda n: [{"Bath": bath + float(x), "York": 0.5} for x in seeded.normal(size=n)]

    assert compare(towns(40), towns(44), epsilon=1, runs=500).is_refuted


def test_the_order_in_which_a_set_prints_is_no_outcome() -> None:
    one, two = {8, 0}, {0, 8}
    assert repr(one) != repr(two)
    assert not compare(lambda n: [one] * n, lambda n: [two] * n, epsilon=0, runs=500).is_refuted


def test_no_outcome_ends_in_a_traceback() -> None:
    for odd in ([1j, 2], 10**400, 10**5000, -(10**400), float("nan"), None, b"x", {"a": [10**400]}):
        assert not compare(lambda n, odd=odd: [odd] * n, lambda n, odd=odd: [odd] * n, epsilon=0, runs=500).is_refuted
