"""Empty bins that are not listed show what listed ones would: chance times what a try publishes is law(0), exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from hubbub.channels.catalogue import make
from hubbub.channels.law import SUPPRESSED
from hubbub.channels.mechanisms.warped import Warped
from hubbub.channels.papers.staircase import Staircase
from hubbub.channels.protocol import Channel
from hubbub.channels.subsample import Subsampled
from hubbub.channels.visibility import given_visible
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.numeric.exact import INFINITY, Infinite, ball, exp


def channel(name: str, **options: Any) -> Channel:
    return make(name, **options).channel


def stairs(thresholds: str, epsilons: str, offsets: str, **more: Any) -> Channel:
    return channel("staircase", thresholds=thresholds, epsilons=epsilons, offsets=offsets, **more)


HIDING = {
    "crowd": channel("exact-or-suppressed", k=20),
    "simple": channel("simple-suppressed", k=5),
    "warped": channel("warped", curve="0.5", show_above=6),
    "warped, two levels": channel("warped", curve="1:0.1,5:1", show_above=7),
    "warped, a slope": channel("warped", curve="slope:0.1", show_above=4),
    "warped, silent at first": channel("warped", curve="1:0,4:1", show_above=5),
    "warped, exact from 9": channel("warped", curve="1:0.5,9:inf", show_above=6),
    "warped, exact from 4": channel("warped", curve="1:0.5,4:inf", show_above=6),
    "example 4": channel("outlier-suppressed", k=3, epsilon=1, offset=2),
    "one level": stairs("5", "1,0", "1"),
    "two levels": stairs("8,2", "1,0.5,0", "2,7"),
    "two levels, exact at first": stairs("8,2", "inf,0.5,0", "0,7"),
    "three levels": stairs("9,6,2", "2,1,0.5,0", "2,4,8"),
    "sampled": Subsampled(Fraction(1, 2), channel("warped", curve="0.5", show_above=6)),
}
LISTED = {
    "noise": channel("geometric", epsilon=1),
    "noise below": channel("noisy-below", k=20, epsilon=1),
    "warped": channel("warped", curve="1"),
    "example 5": channel("outlier-noisy", k=3, epsilon=1, offset=2),
    "stairs with noise at the end": stairs("5", "1,0.5", "1"),
    "stairs as printed": stairs("8,2", "1,0.5,0", "2,7", as_printed=True),
    "stairs often up": stairs("2,1", "0.2,0.1,0", "0,0"),
}


@pytest.mark.parametrize("name", LISTED)
def test_where_an_empty_bin_says_something_all_are_listed(name: str) -> None:
    assert LISTED[name].empty_bins() is None


@pytest.mark.parametrize("name", HIDING)
def test_a_try_is_no_rarer_than_being_shown_and_what_comes_out_can_come_out(name: str) -> None:
    hiding = HIDING[name]
    empty = hiding.empty_bins()
    assert empty is not None
    law = given_visible(hiding.law(0))
    assert not empty.chance() < law.total()
    if not empty.chance().is_zero():
        out = empty.draw(500, ScriptedSource.from_label(name))
        assert out.values.size == out.tags.size == 500
        assert out.visible.any()
        for i in range(500):
            value, tag = out.outcome(i)
            if value is not None:
                assert law.mass(value, tag) > 0
    nothing = empty.draw(0, SystemSource())
    assert nothing.values.size == 0
    assert sum(tag == SUPPRESSED for tag in nothing.names) == 1


@pytest.mark.parametrize("name", [name for name in HIDING if name.startswith("warped")])
def test_a_warped_bin_just_above_the_threshold_shows_what_an_empty_one_does(name: str) -> None:
    """law(T + 1) given that it is shown is law(0) given that it is, at every value."""
    hiding = HIDING[name]
    assert isinstance(hiding, Warped)
    empty, first = hiding.empty_bins(), (hiding.show_above or 0) + 1
    assert empty is not None
    at_0, at_first = given_visible(hiding.law(0)), given_visible(hiding.law(first))
    assert empty.chance().overlaps(at_0.total())
    if empty.chance().is_zero():
        return
    assert not at_first.total() < ball("1/2")
    for value in range(first, first + 40):
        assert at_0.mass(value).overlaps(at_first.mass(value) / at_first.total() * at_0.total()), value


def noise(rate: Fraction | Infinite, x: int) -> arb:
    if isinstance(rate, Infinite):
        return arb(1 if x == 0 else 0)
    return (ball(rate) / 2).tanh() * exp(-rate * abs(x))


def tried(stairs: Staircase, level: int, value: int, reach: int) -> arb:
    """chance_i times P(a try at the level is kept and publishes the value), summed over what the recipe draws."""
    rate, cut = stairs.epsilons[level], stairs.cuts[level]
    if isinstance(rate, Infinite):
        return arb(0)
    before = {0: arb(1)}  # sum of tilted noises that met their tests -> mass, the normaliser being part of the chance
    for first, test in zip(stairs.epsilons[:level], stairs.cuts, strict=False):
        moved: dict[int, arb] = {}
        for at, mass in before.items():
            for x in [0] if isinstance(first, Infinite) else range(-reach, reach + 1):
                if at + x <= test:
                    moved[at + x] = moved.get(at + x, arb(0)) + mass * noise(first, x) * exp(rate * x)
        before = moved
    total = arb(0)
    for at, mass in before.items():
        if at <= cut:
            total += mass * noise(rate, value - cut - 1) if value > cut else arb(0)
        else:
            total += mass * exp(-rate * (at - cut - 1)) * noise(rate, value - at) if value > cut else arb(0)
    return total * exp(-rate * (cut + 1))


@pytest.mark.parametrize("name", ["one level", "two levels", "two levels, exact at first", "example 4"])
def test_tries_of_a_staircase_have_the_law_of_an_empty_bin(name: str) -> None:
    hiding = HIDING[name]
    flight = hiding if isinstance(hiding, Staircase) else hiding._stairs  # type: ignore[attr-defined]
    law, reach = flight.law(0), 60
    left_out = exp(-(Fraction(1, 2) * reach)) * 50  # tilted by 1/2, a noise of rate 1 reaches further with e^(-reach/2)
    for level, tag in enumerate(flight.tags[::-1][:-1]):
        for value in range(flight.cuts[level], flight.cuts[level] + 12):
            difference = tried(flight, level, value, reach) - law.mass(value, tag)
            assert abs(difference) < left_out, (level, value)
            assert value == flight.cuts[level] or level == 0 or law.mass(value, tag) > 1000 * left_out  # it can fail


def test_infinity_is_a_first_rate() -> None:
    flight = HIDING["two levels, exact at first"]
    assert isinstance(flight, Staircase)
    assert flight.epsilons[0] is INFINITY
