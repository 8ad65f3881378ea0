"""Numbers that were once looser than what could be proved, each with the sharp one, and with laws that reach it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.channels.custom_curve import own_delta_at, own_epsilon_at
from hubbub.channels.divergence import hockey_stick
from hubbub.channels.mechanisms.exact_above import NoisyBelow
from hubbub.channels.mechanisms.warped import Warped
from hubbub.channels.papers import staircase
from hubbub.channels.papers.outliers import OutlierNoisy
from hubbub.channels.profile import exact_delta
from hubbub.channels.sampled import UNMARKED, UNMARKED_NOISE
from hubbub.channels.subsample import Subsampled
from hubbub.guarantees.curve import read
from hubbub.guarantees.definitions import CrowdBlending, OutlierPrivacy
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.admission import Entered, totals
from hubbub.ledger.charge import charge as charge_of
from hubbub.numeric.exact import lower, upper
from hubbub.protocol.bound import Bound

NEARLY = Fraction(1_000_001, 1_000_000)


def test_example_5_claims_what_its_law_reaches() -> None:
    channel = OutlierNoisy.with_offset(5, 1, 3)
    assert float(channel.delta) == pytest.approx(7.3734e-3, rel=1e-4)  # once 8.46e-3
    assert lower(exact_delta(channel, 5, Fraction(1, 5))) * NEARLY > channel.delta


@given(
    k=st.integers(2, 8),
    epsilon=st.fractions(Fraction(1, 5), Fraction(6), max_denominator=20),
    offset=st.integers(0, 6),
)
@settings(max_examples=40, deadline=None)
def test_the_delta_of_example_5_holds_at_every_count_in_both_directions(k: int, epsilon: Fraction, offset: int) -> None:
    channel = OutlierNoisy.with_offset(k, epsilon, offset)
    found = [
        side
        for c in range(1, k + 1)
        for side in (
            hockey_stick(channel.law(c), channel.law(c - 1), epsilon / k),
            hockey_stick(channel.law(c - 1), channel.law(c), epsilon / k),
        )
    ]
    assert max(map(lower, found)) <= channel.delta <= max(map(upper, found)) * NEARLY


def test_a_staircase_with_given_offsets_claims_its_exact_delta() -> None:
    channel = staircase.from_offsets((100, 10), (1, "0.2", "0.05"), (12, 50))
    assert float(staircase.coupling_bound(channel.epsilons, channel.offsets)) == pytest.approx(2.269e-4, rel=1e-3)
    assert float(channel.delta) == pytest.approx(2.956e-6, rel=1e-3)
    reached = [exact_delta(channel, c, channel.claim.loss_at(c)[0]) for c in range(1, 101)]
    assert max(map(lower, reached)) <= channel.delta <= max(map(upper, reached)) * NEARLY


def test_crowds_of_bins_blend_exactly_beside_differential_privacy() -> None:
    crowd, plain = histogram(["a=x,y"], crowd=20, epsilon=1), histogram(["b=x,y"], epsilon="0.5")
    both = [Entered(number=i, charge=charge_of(Bound(each))) for i, each in enumerate((crowd, plain), 1)]
    assert totals(both).crowd_blending.guarantee == CrowdBlending(k=20, epsilon=Fraction(3, 2))  # once 2


def test_certificate_ledger_and_account_agree_on_the_curve_of_unmarked_noise() -> None:
    spec = histogram(["a=x,y"], crowd=20, epsilon=1, sample="0.1")
    _, knowledge, population, _ = spec.promises()
    epsilon = own_epsilon_at(20, 1, "0.1", "1e-9", tagged=False).epsilon
    assert isinstance(epsilon, Fraction)
    assert float(epsilon) == pytest.approx(0.18197, rel=1e-4)  # once 0.36987
    assert (knowledge.conclusion.epsilon, population.conclusion.epsilon) == (epsilon, epsilon)  # type: ignore[union-attr]
    assert population.theorem.name == UNMARKED_NOISE
    assert UNMARKED in population.assumptions
    assert charge_of(Bound(spec)).differential == population.conclusion
    own = Subsampled(Fraction(1, 10), NoisyBelow(20, Fraction(1)))
    worst = own_delta_at(20, 1, "0.1", epsilon, tagged=False).worst_class_size + 1
    assert upper(exact_delta(own, worst, epsilon)) <= Fraction(1, 10**9)
    assert lower(exact_delta(own, worst, epsilon * Fraction(99, 100))) > Fraction(1, 10**9)


def test_marked_noise_is_promised_no_more_than_theorem_a() -> None:
    marked = histogram(["a=x,y"], channel="noisy-below", epsilon=1, options={"k": 20, "tagged": True}, sample="0.1")
    population = marked.promises()[2]
    assert float(population.conclusion.epsilon) == pytest.approx(0.36987, rel=1e-4)  # type: ignore[union-attr]
    assert UNMARKED not in population.assumptions


def test_the_own_promise_of_a_sampled_curve_is_thinned() -> None:
    spec = histogram(["a=x,y"], outlier="1:0.01,101:1", sample="0.1")
    own = spec.promises()[0].conclusion
    assert isinstance(own, OutlierPrivacy)
    assert [round(float(own.curve.at(count)), 7) for count in (1, 100, 1000)] == [0.0010045, 0.0010045, 0.1585651]  # type: ignore[arg-type]
    assert float(own.curve.at(101)) == pytest.approx(0.001005, rel=1e-3)  # type: ignore[arg-type]  # once 0.1586
    sampled = Subsampled(Fraction(1, 10), Warped(read("1:0.01,101:1").curve))
    assert exact_delta(sampled, 1, own.curve.at(1) * Fraction(99, 100)) > 0  # type: ignore[operator]
