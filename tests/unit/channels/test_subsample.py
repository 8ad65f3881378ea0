"""A channel on a secret sample: its laws against brute force, its exact privacy against the closed forms."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from flint import arb

from hubbub.channels.law import SUPPRESSED, Law
from hubbub.channels.mechanisms.exact_above import ExactOrSuppressed, NoisyBelow, SimpleNoisy, SimpleSuppressed
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.mechanisms.warped import Warped
from hubbub.channels.papers.lecture import Lecture
from hubbub.channels.papers.outliers import OutlierNoisy
from hubbub.channels.profile import decide, exact_delta
from hubbub.channels.protocol import Channel
from hubbub.channels.subsample import Subsampled
from hubbub.errors import FloatRefused, Refused, WrongUse
from hubbub.guarantees.curve import read
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.guarantees.verdict import Proved, Refuted, Undecided
from hubbub.noise.binomial import binomial
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import INFINITY, ball, exp, lower, upper
from hubbub.sampling.amplification import delta_at, epsilon_at, exact_or_suppressed, floor, noisy_below

TENTH, THIRD, HALF = Fraction(1, 10), Fraction(1, 3), Fraction(1, 2)

CHANNELS: list[Channel] = [
    ExactOrSuppressed(4),
    SimpleSuppressed(3),
    NoisyBelow(4, HALF, tagged=True),
    NoisyBelow(4, HALF),
    SimpleNoisy(3, Fraction(3)),
    Geometric(HALF),
    Warped(read("1:0.3,4:1").curve),
    Warped(read("slope:0.2").curve, 2),
    Warped(read("1:0.5,6:inf").curve),
    Lecture.with_factor(2, 8, 1, 3),  # every count below the boundary has noise of its own
    OutlierNoisy.with_alpha(4, 1, 3),
]


def weights(n: int, p: Fraction) -> list[Fraction]:
    return [comb(n, m) * p**m * (1 - p) ** (n - m) for m in range(n + 1)]


def outcomes(law: Law) -> list[tuple[int, str]]:
    return [(value, tag) for tag, value, _ in law.atoms(Fraction(1, 10**12))]


# --- the law ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
@pytest.mark.parametrize(("count", "p"), [(0, THIRD), (1, THIRD), (9, THIRD), (12, TENTH)])
def test_the_law_is_the_mixture(channel: Channel, count: int, p: Fraction) -> None:
    law = Subsampled(p, channel).law(count)
    inner = [channel.law(m) for m in range(count + 1)]
    total = law.total()
    assert lower(total) <= 1
    assert upper(total) + law.missing >= 1
    assert law.missing < Fraction(1, 10**30)
    tolerance = law.missing + Fraction(1, 10**30)
    for value, tag in {*outcomes(law), *outcomes(inner[-1]), *outcomes(inner[0])}:
        truth = sum((ball(w) * f.mass(value, tag) for w, f in zip(weights(count, p), inner, strict=True)), arb(0))
        assert abs(upper(law.mass(value, tag) - truth)) < tolerance, (value, tag)


def test_exact_or_suppressed_in_closed_form() -> None:
    law = Subsampled(TENTH, ExactOrSuppressed(5)).law(60)
    b = weights(60, TENTH)
    assert law.tags == (SUPPRESSED, "")
    assert abs(upper(law.mass(0, SUPPRESSED) - ball(sum(b[:5], Fraction(0))))) < Fraction(1, 10**40)
    for m in (5, 6, 20, 60):
        assert law.mass(m).overlaps(ball(b[m]))
    assert Subsampled(TENTH, ExactOrSuppressed(5)).law(4).mass(0, SUPPRESSED) == 1


def test_a_rate_of_one_changes_nothing() -> None:
    inner = NoisyBelow(4, HALF)
    thinned = Subsampled(Fraction(1), inner)
    assert thinned.law(3) == inner.law(3)
    assert thinned.is_unbiased
    assert not Subsampled(TENTH, inner).is_unbiased
    drawn, plain = (c.release(np.arange(9), ScriptedSource.from_label("one")).values for c in (thinned, inner))
    assert drawn.tolist() == plain.tolist()


def test_large_counts_have_laws_and_huge_ones_are_refused() -> None:
    law = Subsampled(TENTH, ExactOrSuppressed(20)).law(1_000_000)
    assert len(law.dense[1].masses) < 20_000
    assert 0 < law.missing < Fraction(1, 10**79)
    assert abs(upper(law.total()) - 1) < Fraction(1, 10**60)
    with pytest.raises(WrongUse, match="not listed"):
        Subsampled(TENTH, ExactOrSuppressed(20)).law(2**60)
    with pytest.raises(WrongUse, match="too many values"):
        Subsampled(TENTH, Lecture.with_factor(2, 2000, "0.001", 3)).law(1000)


# --- the exact checker and the closed forms ---------------------------------------------------------------------


def suppression_by_hand(n: int, k: int, p: Fraction, epsilon: Fraction) -> arb:
    """The larger of p H_g(Q||P) and w H_g'(P||Q) for n others, summed over the outcomes hidden, k, k + 1, ..."""
    b = [ball(w) for w in weights(n, p)]
    without = [sum(b[:k], arb(0)), *b[k:]]  # hidden, k, ..., n
    with_ = [sum(b[: k - 1], arb(0)), *b[k - 1 :]]  # one more: hidden, k, ..., n + 1
    without += [arb(0)] * (len(with_) - len(without))
    g = (ball(epsilon).expm1() + ball(p)) / ball(p)
    joining = sum(((y - g * x).nonnegative_part() for x, y in zip(without, with_, strict=True)), arb(0))
    w = 1 - ball(1 - p) * exp(epsilon)
    if not w > 0:
        return ball(p) * joining
    leaving = sum(
        ((w * x - ball(p) * exp(epsilon) * y).nonnegative_part() for x, y in zip(without, with_, strict=True)), arb(0)
    )
    return (ball(p) * joining).max(leaving)


@pytest.mark.parametrize(
    ("p", "k", "epsilon"), [("0.1", 5, "0.05"), ("0.3", 4, "0.2"), ("0.3", 4, "0.5"), ("1/2", 3, 1)]
)
def test_suppression_on_a_sample_is_theorem_a_at_every_class_size(p: str, k: int, epsilon: str) -> None:
    rate, at = Fraction(p), Fraction(epsilon)
    channel = Subsampled(rate, ExactOrSuppressed(k))
    claimed = delta_at(exact_or_suppressed(k, p), epsilon)
    last = 3 * claimed.worst_class_size + 30
    found = []
    for n in range(last):
        exact = exact_delta(channel, n + 1, at)
        assert abs(upper(exact - suppression_by_hand(n, k, rate, at))) < Fraction(1, 10**60)
        assert lower(exact) <= claimed.delta
        found.append(upper(exact))
    worst = max(range(last), key=found.__getitem__)
    assert abs(worst - claimed.worst_class_size) <= 1  # two sizes may tie
    assert abs(found[claimed.worst_class_size] / claimed.delta - 1) < Fraction(1, 10**15)


@pytest.mark.parametrize(
    ("p", "k", "at"), [("0.1", 20, "0.105361"), ("0.1", 50, "0.08"), ("0.01", 20, "0.0101"), ("0.5", 100, "0.6")]
)
def test_the_worst_class_size_is_exact(p: str, k: int, at: str) -> None:
    claimed = delta_at(exact_or_suppressed(k, p), at)
    channel, n = Subsampled(Fraction(p), ExactOrSuppressed(k)), claimed.worst_class_size
    here, before, after = (exact_delta(channel, n + 1 + step, Fraction(at)) for step in (0, -1, 1))
    assert abs(upper(here) / claimed.delta - 1) < Fraction(1, 10**15)
    assert lower(before) <= upper(here)
    assert lower(after) <= upper(here)


@pytest.mark.parametrize(
    ("k", "epsilon", "at"), [(10, "0.5", "0.2216"), (10, "0.5", "0.1054"), (20, "1", "0.2"), (20, "1", "0.5")]
)
def test_noise_that_is_marked_has_the_curve_of_suppression(k: int, epsilon: str, at: str) -> None:
    # For E >= max(ln(p e^epsilon + 1 - p), ln 1/(1 - p)), at every class size, and whatever epsilon is.
    hidden, noisy = (
        Subsampled(TENTH, ExactOrSuppressed(k)),
        Subsampled(TENTH, NoisyBelow(k, Fraction(epsilon), tagged=True)),
    )
    for n in (0, 3, k - 1, 2 * k, 5 * k, 8 * k):
        exact = exact_delta(hidden, n + 1, Fraction(at))
        assert abs(upper(exact_delta(noisy, n + 1, Fraction(at)) - exact)) < Fraction(1, 10**30)
    assert delta_at(noisy_below(k, epsilon, "0.1"), at).delta == delta_at(exact_or_suppressed(k, "0.1"), at).delta


@pytest.mark.parametrize("at", ["0", "0.02", "0.05", "0.1", "0.15"])
@pytest.mark.parametrize("tagged", [True, False])
def test_below_that_the_bound_holds_at_every_class_size(at: str, tagged: bool) -> None:
    claimed = delta_at(noisy_below(5, 1, "0.1"), at)
    channel = Subsampled(TENTH, NoisyBelow(5, Fraction(1), tagged))
    found = [exact_delta(channel, n + 1, Fraction(at)) for n in range(0, 90, 3)]
    assert all(lower(exact) <= claimed.delta for exact in found)
    if tagged:  # and it is not idle: max(p eta, delta of suppression) is within a factor 2 of it
        assert 2 * max(map(upper, found)) > claimed.delta


@pytest.mark.parametrize(
    ("k", "epsilon", "at", "marked", "unmarked"),
    [(10, "0.5", "0.1", "7.8e-04", "1.4e-05"), (20, "1", "0.2", "4.8e-07", "6.5e-11")],
)
def test_noise_that_is_not_marked_hides_more(k: int, epsilon: str, at: str, marked: str, unmarked: str) -> None:
    for tagged, printed in ((True, marked), (False, unmarked)):
        channel = Subsampled(TENTH, NoisyBelow(k, Fraction(epsilon), tagged))
        worst = max(upper(exact_delta(channel, count, Fraction(at))) for count in range(30, 180))
        assert f"{float(worst):.1e}" == printed


# --- claims and proofs ------------------------------------------------------------------------------------------


def test_a_pure_channel_is_amplified() -> None:
    channel = Subsampled(TENTH, Geometric(HALF))
    assert channel.claim == DifferentialPrivacy(epsilon=subsampled_loss(HALF, TENTH))
    assert isinstance(decide(channel, channel.claim, 20), Proved)
    assert isinstance(channel.claim.epsilon, Fraction)
    # It is nearly tight: a little less is refuted by a small count.
    assert isinstance(
        decide(channel, DifferentialPrivacy(epsilon=channel.claim.epsilon * Fraction(9, 10)), 20), Refuted
    )


def test_the_delta_of_a_channel_is_amplified_too() -> None:
    inner = OutlierNoisy.with_alpha(4, 1, 3)
    channel = Subsampled(TENTH, inner)
    assert channel.claim == DifferentialPrivacy(epsilon=subsampled_loss(Fraction(1), TENTH), delta=TENTH * inner.delta)
    assert isinstance(decide(channel, channel.claim, 20), Proved)


def test_a_crowd_is_promised_differential_privacy() -> None:
    channel = Subsampled(TENTH, ExactOrSuppressed(20), Fraction(1, 10**6))
    epsilon = epsilon_at(exact_or_suppressed(20, "0.1"), "1e-6").epsilon
    assert channel.claim == DifferentialPrivacy(epsilon=epsilon, delta=Fraction(1, 10**6))
    assert isinstance(decide(channel, channel.claim, 130), Proved)
    assert isinstance(epsilon, Fraction)
    smaller = DifferentialPrivacy(epsilon=epsilon * Fraction(999, 1000), delta=Fraction(1, 10**6))
    assert isinstance(decide(channel, smaller, 130), Refuted)
    assert Subsampled(TENTH, ExactOrSuppressed(20)).delta == Fraction(1, 10**9)


def test_simple_outliers_and_cut_curves_are_crowds_of_one_more() -> None:
    crowd = Subsampled(TENTH, ExactOrSuppressed(21)).claim
    assert Subsampled(TENTH, SimpleSuppressed(20)).claim == crowd
    assert Subsampled(TENTH, Warped(read("1:0,21:inf").curve)).claim == crowd
    noisy = Subsampled(TENTH, NoisyBelow(21, HALF)).claim
    assert Subsampled(TENTH, Warped(read("1:0.25,10:0.5,21:inf").curve)).claim == noisy
    assert Subsampled(TENTH, SimpleNoisy(20, Fraction(10))).claim == noisy


def test_a_delta_below_the_floor_promises_nothing() -> None:
    channel = Subsampled(HALF, ExactOrSuppressed(5))
    assert floor(exact_or_suppressed(5, "1/2")) > channel.delta
    assert channel.claim.epsilon is INFINITY


def test_what_is_not_known_is_refused() -> None:
    channel = Subsampled(TENTH, Warped(read("slope:0.1").curve))
    with pytest.raises(Refused, match="does not say that counts below some k"):
        _ = channel.claim
    # Its proofs still bound every count: a slope without end stays as steep, from a lower start.
    (proof,) = channel.proofs
    assert (proof.curve.at(1), proof.curve.pieces[0].rate) == (subsampled_loss(TENTH, TENTH), TENTH)
    assert isinstance(decide(channel, DifferentialPrivacy(epsilon=Fraction(1)), 10), Undecided)


def test_proofs_are_mixed_level_by_level() -> None:
    proofs = Subsampled(TENTH, NoisyBelow(20, Fraction(1))).proofs
    assert proofs[0].curve.at(19) == subsampled_loss(Fraction(1), TENTH)
    assert proofs[0].curve.at(20) is INFINITY
    assert proofs[0].delta == 0
    assert proofs[1].reason.startswith("Theorem A")
    assert proofs[1].delta == Fraction(1, 10**9)
    # A proof that is stronger for larger counts says nothing about a sample, which may be small.
    inner = Lecture.with_factor(2, 8, 1, 3)
    assert len(inner.proofs) == 2
    assert len(Subsampled(TENTH, inner).proofs) == 2
    assert all(proof.curve.is_monotone for proof in Subsampled(TENTH, inner).proofs)


# --- the release ------------------------------------------------------------------------------------------------


def test_a_release_thins_and_then_runs_the_channel() -> None:
    counts = np.array([[0, 3, 50], [1000, 7, 200]])
    channel = Subsampled(THIRD, NoisyBelow(20, HALF, tagged=True))
    published = channel.release(counts, ScriptedSource.from_label("thin"))
    source = ScriptedSource.from_label("thin")
    again = channel.channel.release(binomial(counts, THIRD, source), source)
    assert published.values.tolist() == again.values.tolist()
    assert published.tags.tolist() == again.tags.tolist()
    assert published.values.shape == counts.shape


def test_parameters_are_exact_and_in_range() -> None:
    assert Subsampled("0.1", ExactOrSuppressed(5)).p == TENTH  # type: ignore[arg-type]
    with pytest.raises(FloatRefused):
        Subsampled(0.1, ExactOrSuppressed(5))  # type: ignore[arg-type]
    for p in (0, Fraction(-1, 2), 2):
        with pytest.raises(WrongUse, match="above 0 and at most 1"):
            Subsampled(Fraction(p), ExactOrSuppressed(5))
    for delta in (0, 1):
        with pytest.raises(WrongUse, match="delta must be"):
            Subsampled(TENTH, ExactOrSuppressed(5), Fraction(delta))
    with pytest.raises(WrongUse, match="never below 0"):
        Subsampled(TENTH, ExactOrSuppressed(5)).release([-1], ScriptedSource())


def test_it_is_a_channel() -> None:
    assert isinstance(Subsampled(TENTH, ExactOrSuppressed(5)), Channel)
