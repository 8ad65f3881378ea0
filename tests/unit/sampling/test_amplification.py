"""What sampling buys: the printed tables, the edges, and what cannot be had.

The tables are those of the theory (sections 2 to 4 of the re-derivation). Printed constants are rounded to nearest and
are compared to the digits they have.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import FloatRefused, WrongUse
from hubbub.numeric.exact import INFINITY, Exact, to_float
from hubbub.sampling import paper
from hubbub.sampling.amplification import (
    Setting,
    crowd_blending,
    delta_at,
    distributional,
    distributional_crowd,
    epsilon_at,
    exact_or_suppressed,
    floor,
    noisy_below,
    robust,
)
from hubbub.sampling.sampled_crowd import JOINING
from tests.unit.sampling.printed import AT_DELTA, AT_EPSILON_ZK, DIGIT, LOOSE, near, same

# --- section 2: delta at the paper's epsilon_zk -----------------------------------------------------------------


@pytest.mark.parametrize("row", AT_EPSILON_ZK.strip().splitlines())
def test_delta_at_the_papers_epsilon(row: str) -> None:
    rate, k, epsilon, epsilon_zk, chernoff, tails, sharp, histogram, worst = row.split()
    at = paper.crowd_epsilon_zk(epsilon, rate)
    assert f"{to_float(at, round_up=True):.6f}" == epsilon_zk
    assert same(paper.chernoff(k, rate), chernoff, 4)
    assert same(paper.crowd_delta(k, epsilon, rate, at), tails, 4)
    assert same(delta_at(crowd_blending(k, epsilon, rate), at).delta, sharp, 4)
    found = delta_at(noisy_below(k, epsilon, rate), at)
    assert same(found.delta, histogram, 4)
    assert found.direction == JOINING
    assert int(worst) - found.worst_class_size in (
        0,
        1,
    )  # 1: two class sizes are equally bad, and the table has the other
    if epsilon == "0":
        assert delta_at(exact_or_suppressed(k, rate), at).delta == found.delta


# --- section 2: epsilon at a delta ------------------------------------------------------------------------------


@pytest.mark.parametrize("row", AT_DELTA.strip().splitlines())
def test_epsilon_at_a_delta(row: str) -> None:
    rate, k, delta, paper_0, exact_0, paper_half, sharp_half = row.split()
    found = epsilon_at(exact_or_suppressed(k, rate), delta).epsilon
    assert near(found, exact_0, DIGIT), found
    half = epsilon_at(crowd_blending(k, "0.5", rate), delta).epsilon
    assert near(half, sharp_half, LOOSE), half
    assert half <= (Fraction(sharp_half) if sharp_half != "inf" else INFINITY)
    for epsilon, printed in (("0", paper_0), ("0.5", paper_half)):
        if printed == "inf":
            assert paper.crowd_epsilon(k, epsilon, rate, delta) is INFINITY
            continue
        # The paper's number is right if its delta is reached just above and not just below.
        at = Fraction(printed)
        assert paper.crowd_delta(k, epsilon, rate, at + DIGIT) <= Fraction(delta)
        assert paper.crowd_delta(k, epsilon, rate, at - 2 * DIGIT) > Fraction(delta)


def test_the_papers_epsilon_is_searched_to_six_digits() -> None:
    assert near(paper.crowd_epsilon(20, "0.5", "0.1", "1e-6"), "0.44436", DIGIT)
    # Never below ln 1/(1 - p), where its lower direction ends.
    assert near(paper.crowd_epsilon(100, 0, "0.1", "1e-9"), "0.105360516", Fraction(1, 10**9))


@pytest.mark.parametrize(("k", "rate", "epsilon", "delta"), [(20, "0.1", 0, "1e-6"), (50, "0.3", "0.5", "1e-9")])
def test_an_epsilon_that_was_searched_for_is_proved_and_nearly_the_smallest(
    k: int, rate: str, epsilon: Exact, delta: str
) -> None:
    setting = crowd_blending(k, epsilon, rate)
    found = epsilon_at(setting, delta)
    assert isinstance(found.epsilon, Fraction)
    assert delta_at(setting, found.epsilon).delta <= Fraction(delta)
    assert delta_at(setting, found.epsilon * (1 - Fraction(1, 10**8))).delta > Fraction(delta)
    assert found.delta == Fraction(delta)


# --- sections 3 and 4 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "exempt", "low", "high", "highest", "epsilon_zk", "digits", "sharp", "at_a_millionth"),
    [
        (50, 0, "0.1", "0.12", "0.12", "0.3395", 2, "1.5e-10", "0.214"),
        (50, 5, "0.1", "0.12", "1", "1.4745", 2, "4.6e-9", "1.23"),
        (100, 5, "0.1", "0.2", "1", "2.176", 1, "7e-28", "0.997"),
    ],
)
def test_uneven_rates(
    k: int,
    exempt: int,
    low: str,
    high: str,
    highest: str,
    epsilon_zk: str,
    digits: int,
    sharp: str,
    at_a_millionth: str,
) -> None:
    at = paper.robust_epsilon_zk("0.5", low, high, highest)
    assert near(at, epsilon_zk, Fraction(1, 2000))
    setting = robust(k, "0.5", high, highest, exempt)
    assert same(delta_at(setting, at).delta, sharp, digits)
    found = epsilon_at(setting, "1e-6").epsilon
    assert isinstance(found, Fraction)
    assert round(float(found), len(at_a_millionth) - 2) == float(at_a_millionth)
    # The paper's own closed form, at its own epsilon, is worse by orders of magnitude.
    assert paper.robust_delta(k, low, high, highest, exempt) > 10**6 * delta_at(setting, at).delta


@pytest.mark.parametrize(
    ("k", "rate", "at", "printed"),
    [
        (50, "0.1", "0.5", "6.2e-5"),
        (50, "0.1", "1", "4.4e-10"),
        (100, "0.3", "0.5", "3.5e-6"),
        (100, "0.3", "1", "2.6e-13"),
        (200, "0.5", "0.5", "1.5e-7"),
        (200, "0.5", "1", "8.9e-17"),
    ],
)
def test_distributional_delta(k: int, rate: str, at: str, printed: str) -> None:
    assert same(delta_at(distributional(k, 0, rate), at).delta, printed, 2)


@pytest.mark.parametrize(
    ("k", "rate", "printed"),
    [(20, "0.1", "1.259"), (50, "0.1", "0.694"), (100, "0.3", "0.545"), (200, "0.5", "0.447"), (50, "0.2", "0.761")],
)
def test_distributional_epsilon_at_a_millionth(k: int, rate: str, printed: str) -> None:
    found = epsilon_at(distributional(k, 0, rate), "1e-6").epsilon
    assert isinstance(found, Fraction)
    assert f"{float(found):.3f}" == printed


def test_a_simple_outlier_is_a_crowd_of_one_more() -> None:
    # Without noise, (k, 0)-simple outlier privacy is (k + 1, 0)-crowd-blending (Proposition 12).
    for at in ("0", "0.3", "2"):
        assert (
            delta_at(distributional(30, 0, "0.2", 4), at).delta
            == delta_at(distributional_crowd(31, 0, "0.2", 4), at).delta
        )
    # Noise costs something, blending that is not exact more.
    deltas = [delta_at(s, "0.2").delta for s in (distributional(30, 0, "0.2"), distributional(30, 3, "0.2"))]
    deltas.append(delta_at(distributional(30, 3, "0.2", blend="0.1"), "0.2").delta)
    assert deltas == sorted(deltas)


# --- what holds everywhere --------------------------------------------------------------------------------------


def test_below_the_condition_of_theorem_a_the_loss_of_leaving_is_charged() -> None:
    # At epsilon = 0.05 a lonely person (n = 0) of a (k, 1)-crowd-blending mechanism has delta = 0.0324 by leaving.
    for setting in (crowd_blending(20, 1, "0.1"), noisy_below(20, 1, "0.1")):
        assert delta_at(setting, "0.05").delta > Fraction("0.0324")


def test_above_both_limits_noise_below_k_costs_nothing() -> None:
    # E >= max(ln(p e^epsilon + 1 - p), ln 1/(1 - p)): the curve of suppression, whatever epsilon is.
    for epsilon in ("0.1", "1", "2"):
        assert delta_at(noisy_below(20, epsilon, "0.1"), "0.6") == delta_at(noisy_below(20, 0, "0.1"), "0.6")
    assert delta_at(noisy_below(20, 1, "0.1"), "0.1").delta > delta_at(noisy_below(20, 0, "0.1"), "0.1").delta


@pytest.mark.parametrize(
    "setting",
    [
        exact_or_suppressed(10, "0.2"),
        crowd_blending(10, "0.5", "0.2"),
        noisy_below(10, "0.5", "0.2"),
        robust(20, "0.5", "0.2", 1, 3),
        robust(20, "0.5", "0.2", "0.7", 3, bins=True),
        distributional(20, 2, "0.2", 3, "0.1"),
        distributional_crowd(20, "0.5", "0.2", 3, bins=True),
    ],
    ids=lambda setting: setting.theorem,
)
def test_delta_never_rises_with_epsilon_and_ends_at_the_floor(setting: Setting) -> None:
    grid = [Fraction(i, 20) for i in range(0, 60, 3)]
    deltas = [delta_at(setting, at).delta for at in grid]
    assert deltas == sorted(deltas, reverse=True)
    assert delta_at(setting, 40).delta >= floor(setting)
    assert abs(delta_at(setting, 40).delta / floor(setting) - 1) < Fraction(1, 10**6)
    assert epsilon_at(setting, floor(setting) / 2).epsilon is INFINITY


def test_the_floor_itself_is_reached_and_nothing_below() -> None:
    setting = exact_or_suppressed(5, "0.1")
    assert floor(setting) == Fraction(1, 10**5)
    found = epsilon_at(setting, "1e-5")
    # From here on the worst class has k - 1 others: e^s = (K - 1)(1 - p)/p.
    assert near(found.epsilon, "1.50407740", Fraction(1, 10**8))
    assert found.worst_class_size == 4
    assert epsilon_at(setting, "0.999999e-5").epsilon is INFINITY
    assert epsilon_at(exact_or_suppressed(5, "1/3"), Fraction(1, 3**5)).epsilon is not INFINITY


def test_the_edges_are_right() -> None:
    nobody = crowd_blending(20, 1, 0)
    assert delta_at(nobody, 0).delta == 0
    assert epsilon_at(nobody, "1e-300").epsilon == 0
    everybody = crowd_blending(20, 0, 1)
    assert delta_at(everybody, 50).delta == 1
    assert epsilon_at(everybody, "0.5").epsilon is INFINITY
    vacuous = crowd_blending(1, 0, "0.1")  # whoever blends with nobody but themselves is promised nothing
    assert delta_at(vacuous, 50).delta == Fraction(1, 10)
    assert epsilon_at(vacuous, "0.01").epsilon is INFINITY
    pair = exact_or_suppressed(2, "1e-9")
    assert delta_at(pair, 50).delta == Fraction(1, 10**18)
    assert delta_at(pair, 0).delta < Fraction("3.7e-10")
    many = exact_or_suppressed(10**6, "0.1")
    assert near(epsilon_at(many, "1e-300").epsilon, "0.00396545", Fraction(1, 10**8))
    assert near(epsilon_at(crowd_blending(10**6, 50, "0.1"), "1e-9").epsilon, "47.70157", DIGIT)
    alone = robust(50, "0.5", 0, "0.5", 3)  # nobody but the exempt is ever sampled
    assert near(delta_at(alone, 0).delta, "0.12246", DIGIT)  # 0.5 tanh(0.25)
    assert delta_at(alone, "0.5").delta == 0
    assert delta_at(robust(5, 0, "0.1", 1, 9), 3).delta == 1  # more exempt people than a crowd


def test_wrong_numbers_are_refused() -> None:
    with pytest.raises(FloatRefused):
        crowd_blending(20, 0, 0.1)  # type: ignore[arg-type]
    with pytest.raises(WrongUse, match="between 0 and 1"):
        crowd_blending(20, 0, "1.1")
    with pytest.raises(WrongUse, match="finite"):
        crowd_blending(20, "inf", "0.1")
    with pytest.raises(WrongUse, match="whole number of at least 1"):
        crowd_blending(0, 0, "0.1")
    with pytest.raises(WrongUse, match="at most 1,000,000,000"):
        crowd_blending(10**12, 0, "0.1")
    with pytest.raises(WrongUse, match="at least rate-high"):
        robust(20, 0, "0.2", "0.1", 3)
    with pytest.raises(WrongUse, match="nobody is exempt"):
        robust(20, 0, "0.2", "0.3")
    with pytest.raises(WrongUse, match="above 0"):
        epsilon_at(crowd_blending(20, 0, "0.1"), 0)
    with pytest.raises(WrongUse, match="promises nothing"):
        epsilon_at(crowd_blending(20, 0, "0.1"), 1)
    with pytest.raises(WrongUse, match="below 0"):
        delta_at(crowd_blending(20, 0, "0.1"), "-0.1")
    with pytest.raises(WrongUse, match="above 0 and below 1"):
        paper.crowd_delta(20, 0, 1, "0.1")
