"""What a summary promises, derived from its public description before any data is opened."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Final

from flint import arb

from hubbub.channels.divergence import largest_ratio
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.profile import judge, profile
from hubbub.errors import WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours
from hubbub.guarantees.derivation import Assumption, Derivation, state_promise, texts
from hubbub.guarantees.verdict import Proved
from hubbub.kinds.histogram.discovery import discovery_cost
from hubbub.kinds.histogram.promises import with_found_bins
from hubbub.kinds.quantile.ranks import largest_loss
from hubbub.kinds.summary import cap as caps
from hubbub.kinds.summary.numbers import Average, Number, RowCount, Total, spelled
from hubbub.kinds.sums.promises import gaussian_holds, granted, of_gaussian
from hubbub.kinds.sums.sums import SUMS
from hubbub.numeric.exact import ball, exp, precision, to_text, upper
from hubbub.numeric.format import short
from hubbub.protocol.check import Check
from hubbub.tables.protection import Noise

if TYPE_CHECKING:
    from hubbub.kinds.summary.spec import Summary

_SMALL: Final = 10**6  # rates below this are compared by their quotient: such laws are scaled copies


@lru_cache(maxsize=64)
def promises(spec: Summary) -> tuple[Derivation, ...]:
    """The promise of the release.

    Guarantee: a map of a person's own rows and randomness keeps them in at most B bins and leaves of each a vector:
    1, at most c rows, a total within its range, and of an average x and W - x. The tables with and without the person
    then differ by these B vectors. Number i moves by at most B w_i in all, which noise of the rate (epsilon/k)/(B w_i)
    hides up to epsilon/k; the k parts add up to epsilon. A cap on rows that is drawn costs a fifth of its part
    (:mod:`hubbub.kinds.summary.cap`), and given the cap the noise costs the rest. Closeness survives averaging over the
    map. With Gaussian noise, as :attr:`hubbub.kinds.summary.spec.Summary.sensitivity` says in widths.
    """
    assert isinstance(spec.protection, Noise)
    epsilon, cuts = spec.protection.epsilon, tuple(map(_cut, spec.numbers))
    read = tuple(each for each in cuts if each is not None)
    if spec.gaussian is not None:
        return of_gaussian(spec, spec.gaussian, epsilon, read)
    numbers = [("numbers", ", ".join(spelled(each) for each in spec.numbers)), *texts(bins=spec.most_bins)]
    numbers += [(each.name, to_text(spec.rate(each, spec.most_rows))) for each in spec.numbers]
    own = state_promise(
        DifferentialPrivacy(epsilon=epsilon, neighbours=Neighbours.ADD_REMOVE),
        theorem=SUMS,
        numbers=(*texts(epsilon=epsilon), *numbers),
        assumptions=(*granted(spec), *read),
        people=spec.people,
    )
    return (with_found_bins(own, _discovery_cost(spec)) if spec.discovered else own,)


def _discovery_cost(spec: Summary) -> arb:
    """The chance that somebody who is alone in B bins is seen in any: B times that of one.

    Guarantee: with this as delta the promise holds where only bins that occur are published. Given which bins are kept of
    a person, let k of them have nobody else. If none of these is shown, what is published is, with the person there or
    not, as close as the numbers of the other bins are; and with the person there none is shown with a chance of (1-t)^k.
    So upwards the loss is that of the other bins, but for a chance of k t; downwards it is k ln(1/(1-t)) more, and no more
    than the k number of people would have lost, of the rate r each, if t <= 1 - e^-r.
    """
    spec.counted_people  # noqa: B018  # refuses where there is none
    channel = spec.people_channel
    with precision():
        alone = discovery_cost(channel)
        if not alone <= 1 - exp(-spec.part / spec.most_bins):
            raise WrongUse("the delta is too large beside epsilon; lower it, or list the bins, like ward=A,B,other")
        return spec.most_bins * alone


def _cut(number: Number) -> Assumption | None:
    """What is done to what a person has in a bin."""
    match number:
        case RowCount(cap=int(cap)):
            return Assumption("summary.rows", "of a person at most {cap} rows count in a bin", texts(cap=cap))
        case RowCount():
            says = "of a person at most as many rows count in a bin as a cap says that is drawn from the data"
            return Assumption("summary.drawn-cap", says)
        case Total(of=of):
            says = "{column}: the total that a person has in a bin is cut to {low}..{high}"
        case Average(of=of):
            says = (
                "{column}: what a person has in a bin on average is cut to {low}..{high} and rounded to the nearest step, "
                "halves upwards"
            )
        case _:
            return None
    given = (("column", of.column), ("low", to_text(of.low)), ("high", to_text(of.high)))
    return Assumption("summary.total" if isinstance(number, Total) else "summary.average", says, given)


# --- worked out again ---------------------------------------------------------------------------------------------


def checks(spec: Summary) -> Iterator[Check]:
    """The laws of the noise at how far one person moves each number, and those of a cap that is drawn.

    Guarantee: checks that passed mean that all numbers together lose no more than is claimed, whatever caps are drawn.
    """
    if spec.gaussian is not None:
        yield gaussian_holds(spec, spec.gaussian)
        return
    every = [(each, cap) for each in spec.numbers for cap in _caps(spec, each)]
    worst = sum(max(_lost(spec, each, cap) for other, cap in every if other == each) for each in spec.numbers)
    near = [(each, cap) for each, cap in every if spec.rate(each, cap) * _SMALL >= 1]
    exact = all(_apart(spec, each, cap) for each, cap in near)
    found = f"one person moves them in at most {spec.most_bins:,} bins, which costs {short(worst, 9)}"
    yield Check("the noise of the numbers", exact and worst <= spec.noise_loss, found)
    for number in spec.numbers:
        if spec.for_cap(number):
            yield _cap_holds(spec, number)
    if spec.discovered:
        yield from _found_hold(spec)


def _found_hold(spec: Summary) -> Iterator[Check]:
    """The number of people of a found bin by its exact laws, and how often somebody alone is seen."""
    channel = spec.people_channel
    counts = judge(channel, profile(channel, range(1, 64)))
    yield Check("the number of people of a found bin", isinstance(counts, Proved), "loses what its noise does at most")
    with precision():
        alone = upper(_discovery_cost(spec))
    found = f"has a chance of {short(alone, 6)} at most, in {spec.most_bins:,} of them"
    yield Check("a found bin of one person", spec.found_delta is not None and alone <= spec.found_delta, found)


def _caps(spec: Summary, number: Number) -> tuple[int | None, ...]:
    return spec.cap_points if spec.for_cap(number) else (None,)


def _lost(spec: Summary, number: Number, cap: int | None) -> Fraction:
    """What a person loses by one number: by its noise, and by the choice of its cap."""
    return spec.moved_by_one(number, cap) * spec.rate(number, cap) + spec.for_cap(number)


def _apart(spec: Summary, number: Number, cap: int | None) -> bool:
    """Whether the noise of a number is as far apart from itself, moved by its width, as its rate says."""
    noise, width = Geometric(spec.rate(number, cap)), spec.width(number, cap)
    return largest_ratio(noise.law(width), noise.law(0)) == width * noise.epsilon


def _cap_holds(spec: Summary, number: Number) -> Check:
    """The law of a cap for every pair of counts above three points that differ by one person in up to B bins, around how
    many may lie above it."""
    loss, worst = spec.for_cap(number), arb(0)
    most, least = min(spec.most_bins, 2), max(caps.allowed(spec, number) - 1, 0)
    with precision():
        for above in product(range(least, least + 4), repeat=3):
            for more in product(range(most + 1), repeat=3):
                if sorted(above, reverse=True) != list(above) or sorted(more, reverse=True) != list(more):
                    continue
                both = (above, [a + b for a, b in zip(above, more, strict=True)])
                worst = worst.max(largest_loss(*(caps.runs(spec, number, each) for each in both)))
        right = bool(worst <= ball(loss * most / spec.most_bins) + ball(Fraction(1, 10**30)))
    return Check("the draw of the cap", right, f"loses {short(upper(worst), 9)} at most over three points")
