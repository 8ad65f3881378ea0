"""What a curve with a delta costs on a sample: by the laws of the sample, never less and hardly more."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.channels.catalogue import channel as build
from hubbub.channels.divergence import hockey_stick
from hubbub.channels.profile import checkable, exact_delta, loss_curve
from hubbub.channels.protocol import Channel
from hubbub.channels.sampled_outlier import sampled_delta, top_delta
from hubbub.channels.subsample import Subsampled
from hubbub.guarantees.definitions import DifferentialPrivacy, OutlierPrivacy
from hubbub.guarantees.implications import CURVE_OF_LAWS, subsampled_curve
from hubbub.kinds.histogram.request import histogram
from hubbub.numeric.exact import lower, upper

SUPPRESSED = {"name": "outlier-suppressed", "k": 5, "epsilon": 1, "offset": 3}
NOISY = {"name": "outlier-noisy", "k": 4, "epsilon": 1, "offset": 2}
STAIRS = {"name": "staircase", "thresholds": "6,3", "epsilons": "1,0.5,0.2", "offsets": "2,5"}
BOUND = {"name": "lower-bound", "curve": "1:0.2,8:1", "estimator": "count", "epsilon_a": "0.1", "alpha": 3}
LECTURE = {"name": "lecture", "epsilon": "1", "t": 4, "K": 12}


def channel_of(words: dict[str, object]) -> Channel:
    given = {name: value for name, value in words.items() if name != "name"}
    return build(str(words["name"]), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("words", [SUPPRESSED, NOISY, STAIRS, BOUND], ids=lambda words: str(words["name"]))
@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 2)], ids=str)
def test_the_delta_of_a_curve_on_a_sample_is_that_of_its_laws(words: dict[str, object], p: Fraction) -> None:
    channel = channel_of(words)
    found, claim = sampled_delta(channel, p), checkable(channel.claim)
    assert found is not None
    assert found < p * claim.delta
    curve = subsampled_curve(loss_curve(claim), p)
    laws = {c: exact_delta(Subsampled(p, channel), c, curve.at(c)) for c in range(1, 40)}
    assert all(lower(laws[c]) <= found for c in laws)
    assert found <= Fraction(101, 100) * max(upper(each) for each in laws.values())


def test_a_lower_bound_by_the_count_needs_no_delta_at_the_top() -> None:
    channel = channel_of(BOUND)
    for count in range(1, 40):
        more, fewer = channel.neighbours(count)
        for one, other in ((more, fewer), (fewer, more)):
            assert upper(hockey_stick(one, other, Fraction(1))) < Fraction(1, 10**25)
    more, fewer = channel.neighbours(20)
    assert lower(hockey_stick(more, fewer, Fraction(9, 10))) > 0


def test_everybody_loses_the_top_of_a_curve_at_the_delta_of_the_laws() -> None:
    channel = channel_of(LECTURE)
    found, claim = top_delta(channel), checkable(channel.claim)
    assert found is not None
    top = loss_curve(claim).limit
    assert isinstance(top, Fraction)
    largest = max(upper(exact_delta(channel, count, top)) for count in range(1, 30))
    assert largest <= found <= Fraction(101, 100) * largest


def test_a_release_of_a_sample_says_so() -> None:
    words = {"channel": "outlier-suppressed", "epsilon": 1, "options": {"k": 5, "offset": 3}}
    own, *_, everybody = histogram(["a=x,y"], **words, sample="0.1").promises()  # type: ignore[arg-type]
    assert own.theorem == CURVE_OF_LAWS
    assert isinstance(own.conclusion, OutlierPrivacy)
    assert own.conclusion.delta == sampled_delta(channel_of(SUPPRESSED), Fraction(1, 10))
    assert isinstance(everybody.conclusion, DifferentialPrivacy)
    assert everybody.conclusion.delta == 0


def test_what_is_not_worked_out_keeps_the_delta_times_the_rate() -> None:
    assert sampled_delta(build("geometric", epsilon=1), Fraction(1, 10)) is None
    assert sampled_delta(channel_of(SUPPRESSED), Fraction(1)) is None
