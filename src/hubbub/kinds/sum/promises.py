"""What a sum promises, derived from its public description before any data is opened.

::

    epsilon           one person more or less, in the one bin that the person is in
    crowd, epsilon    people of one bin blend; whoever is in a small one is not seen at all
    tailored          Theorem O: the fewer people have about as much, the less each loses; its top is differential
    zero-knowledge    Theorem A1' on a secret sample of K people
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Final

from flint import arb

from hubbub.channels.profile import judge, profile
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, Neighbours, TailoredPrivacy
from hubbub.guarantees.derivation import HERE, Assumption, Derivation, Number, Theorem, state_promise, texts
from hubbub.guarantees.implications import outlier_to_differential
from hubbub.guarantees.people import People, Whose
from hubbub.guarantees.verdict import Proved
from hubbub.kinds.histogram.promises import with_found_bins
from hubbub.kinds.quantile.ranks import largest_loss
from hubbub.kinds.sum import cap as caps
from hubbub.kinds.sum.layers import Layers
from hubbub.kinds.sum.octaves import tau
from hubbub.kinds.sums.promises import (
    CROWDS,
    HIDDEN,
    gaussian_holds,
    granted,
    of_gaussian,
    of_sample,
    profile_crowds,
    sample_holds,
)
from hubbub.kinds.sums.sums import SUMS
from hubbub.numeric.exact import ball, precision, to_text, upper
from hubbub.numeric.format import short
from hubbub.protocol.check import Check
from hubbub.tables.protection import Crowd, Knowledge, Noise

if TYPE_CHECKING:
    from hubbub.kinds.sum.spec import Sum

OCTAVES: Final = Theorem("sum.octaves", "Theorem O, octave sums", HERE)

_SMALL: Final = 64  # steps up to which every value of a person is looked at


@lru_cache(maxsize=64)
def promises(spec: Sum) -> tuple[Derivation, ...]:
    """Every promise of the release, the mechanism's own first.

    Guarantee: each is a theorem applied to the public description, or the call is refused; nothing depends on the data.
    """
    from hubbub.kinds.sums.spec import check_found

    check_found(spec)
    match spec.protection:
        case Noise(epsilon=epsilon) if spec.gaussian is not None:
            return of_gaussian(spec, spec.gaussian, epsilon, _caps(spec))
        case Noise() if spec.tailored is not None:
            own = _tailored(spec)
            return own, outlier_to_differential(own)
        case Noise(epsilon=epsilon):
            return (differential(spec, epsilon, Neighbours.ADD_REMOVE),)
        case Crowd() as crowd:
            own = _crowds(spec, crowd)
            return (profile_crowds(spec, crowd, own) if spec.profiled else own,)
        case Knowledge() as knowledge:
            return of_sample(spec, knowledge, differential(spec, knowledge.rate, Neighbours.REPLACE))


def differential(spec: Sum, epsilon: Fraction, neighbours: Neighbours) -> Derivation:
    """Differential privacy of the mechanism, for one person added or removed, or replaced.

    Guarantee: with one row a person is in one bin at most. With a cap they move its sum by at most the cap, and noise of
    rate loss by the cap costs loss. With layers they move layer j by x_j <= w_j, which costs loss x_j/(J w_j), in all
    loss at most. Of several rows a map of the person's own keeps so few that they are in at most B bins, with at most M
    in each and A in all: B times the concave bound of loss at A/B, to which the rates are scaled; the tables of what is
    kept with and without a person differ in that person's rows alone, whatever the map draws, and closeness survives
    averaging. A cap that is drawn, and what it cut off, cost their shares, and the three add up to epsilon. Replacing
    one is removing and adding, which at most doubles it.
    """
    return state_promise(
        DifferentialPrivacy(epsilon=epsilon, neighbours=neighbours),
        theorem=SUMS,
        numbers=(*texts(epsilon=epsilon), *numbers(spec)),
        assumptions=(*granted(spec), *_caps(spec)),
        people=spec.people,
    )


def _tailored(spec: Sum) -> Derivation:
    """Tailored privacy of octave sums.

    Guarantee: Theorem O. With one row a person is in one band at most; of several rows a map of the person's own keeps
    so few that they are in at most B, and losses and taus add: each band has a B-th part of both. Where that map draws,
    the bands of a person are all that their rows may lead to, and so many people are in a band as may be: given what is
    kept of everybody, it has no more, and closeness survives averaging.
    """
    assert spec.tailored is not None
    octaves = spec.octaves
    return state_promise(
        TailoredPrivacy(curve=spec.tailored.curve, delta=octaves.delta),
        theorem=OCTAVES,
        numbers=(
            ("curve", str(spec.tailored.curve)),
            *texts(bands=len(octaves.bands), most=spec.top, bins=octaves.cells, s=octaves.threshold),
            *texts(delta_out=octaves.delta),
        ),
        assumptions=(*granted(spec), *_caps(spec)),
        people=spec.people,
    )


def _caps(spec: Sum) -> tuple[Assumption, ...]:
    """What is done to the totals of people with several rows."""
    if not spec.unit.counts_rows or (spec.cap is None and spec.cap_per_bin is None):
        return ()
    caps = [] if spec.cap_per_bin is None else [("cap_per_bin", to_text(spec.cap_per_bin))]
    caps += [] if spec.cap is None else [("cap", to_text(spec.cap))]
    each = {"cap_per_bin": "in each bin to {cap_per_bin}", "cap": "in all bins together to {cap}, in a secret order"}
    says = f"what a person adds is cut, {' and '.join(each[name] for name, _ in caps)}"
    return (Assumption("sum.caps", says, tuple(caps)),)


def numbers(spec: Sum) -> tuple[Number, ...]:
    """What goes into it: where layers end and what somebody with so much loses, or the cap; and the shares."""
    _, for_cap, for_lost = spec.shares
    numbers = texts(steps=spec.steps)
    if spec.layered:
        losses = ", ".join(
            f"{to_text(spec.amount(top))}: {to_text(spec.layer_loss * spec.layers.loss(top))}"
            for top in spec.layers.tops
        )
        numbers = (*numbers, *texts(layers=len(spec.layers)), ("losses", losses))
    else:
        numbers = (*numbers, *texts(rate=spec.rates[0]))
    if spec.bounds is not None:
        numbers += texts(bins=spec.most_bins, whole=spec.most_in_all)
    numbers += texts(cap=for_cap) if for_cap else ()
    return numbers + (texts(lost=for_lost) if for_lost else ())


def _crowds(spec: Sum, crowd: Crowd) -> Derivation:
    """Crowd-blending privacy of the people of one bin.

    Guarantee: for two people of one bin every count is the same whoever of them is there. With a cap their sum differs
    by at most what lies between the least value and the cap. With layers the one with less has no larger piece in any
    layer, so that both differ by what the other loses more: epsilon at most. How many lie above a point of the grid of
    caps differs by one and nowhere the other way, and only bins that are shown count there. Whoever is in a bin of fewer than k people is hidden
    with it, and changes nothing by leaving.
    """
    loss = spec.noise_loss
    own = state_promise(
        CrowdBlending(k=crowd.k, epsilon=loss),
        theorem=CROWDS,
        numbers=(*texts(k=crowd.k, epsilon=loss), *numbers(spec)),
        assumptions=(*granted(spec), Assumption(HIDDEN.id, HIDDEN.sentence, texts(k=crowd.k))),
        people=People(whose=Whose.KEPT_ROWS, person=spec.unit.person) if spec.profiled else spec.unit.crowds,
    )
    return with_found_bins(own, arb(0)) if spec.discovered else own


# --- worked out again ---------------------------------------------------------------------------------------------


def checks(spec: Sum) -> Iterator[Check]:
    """The mechanism's exact laws against what is claimed of them.

    Guarantee: a check that passed means that the claim holds: of sums by the laws of the noise at how far one person
    moves them, whatever the value; of a cap that is drawn by the laws over every count of two points.
    """
    if spec.gaussian is not None:
        yield gaussian_holds(spec, spec.gaussian)
        return
    if spec.tailored is not None:
        yield from _octave_checks(spec)
        return
    loss, for_cap, for_lost = spec.shares
    inner = spec.noise_loss
    worst = max(_lost(spec, x) for x in _values(spec))
    if spec.bounds is not None:
        worst = max(worst, spec.layer_loss * spec.layers.spread(spec.most_bins, spec.most_in_all))
    found = (
        f"lose {short(worst, 9)} at most, with {'layers' if spec.layered else 'one sum'} and noise as wide as they are"
    )
    yield Check("the noise of the sums", worst <= loss, found)
    if spec.drawn_cap:
        yield _cap_holds(spec)
    yield Check(
        "the shares of epsilon", loss + for_cap + for_lost <= inner, f"add up to {short(loss + for_cap + for_lost, 9)}"
    )
    if isinstance(spec.protection, Knowledge):
        yield sample_holds(spec, spec.protection)


def _octave_checks(spec: Sum) -> Iterator[Check]:
    """Theorem O by its parts: what the number of a band costs by its exact laws, what a sum costs that is told of at most
    c + s people, and the chance of more."""
    assert spec.tailored is not None
    octaves, curve = spec.octaves, spec.tailored.curve
    counts = judge(octaves.channel, profile(octaves.channel, range(1, _SMALL)))
    yield Check("the numbers of people in the bands", isinstance(counts, Proved), "lose half of the curve at most")
    sizes = sorted({1, 2, *(each for piece in curve.pieces for each in (piece.start, piece.start + 1))})
    sums = all(
        octaves.cells * ((high - low) * octaves.rate(j, octaves.threshold + c) + loss) <= curve.at(c)
        for c in sizes
        for j, (low, high) in enumerate(octaves.bands)
        if high > low and isinstance(loss := octaves.half.at(c), Fraction)
    )
    yield Check(
        "the sums of the bands", sums, "lose the other half at most, where a band has at most s people too many"
    )
    worst = octaves.cells * max(tau(octaves.half, octaves.threshold, c) for c in sizes)
    found = f"has a chance of {short(worst, 6)} at most, s being {octaves.threshold:,}"
    yield Check("a band with more than s people too many", worst <= octaves.delta <= spec.tailored.delta, found)


def _values(spec: Sum) -> Iterator[int]:
    """The steps of a person at which the loss bends, and the ends."""
    yield from (spec.steps, *spec.layers.tops)
    yield from range(1, min(spec.steps, _SMALL))


def _lost(spec: Sum, x: int) -> Fraction:
    """What somebody loses who moves the sums by the pieces of x: geometric noise of rate r, moved by m, is e^(r m) apart
    from itself at every point that is not between, and nowhere more."""
    layers: Layers = spec.layers
    ends = zip((0, *layers.tops), layers.tops, spec.rates, strict=False)
    return sum(((min(max(x, below), top) - below) * rate for below, top, rate in ends), Fraction(0))


def _cap_holds(spec: Sum) -> Check:
    """The law of a cap for every pair of counts above three points that differ by one person, around how many may lie
    above it."""
    _, for_cap, _ = spec.shares
    worst, least = arb(0), max(caps.allowed(spec) - 1, 0)
    with precision():
        for above in product(range(least, least + 4), repeat=3):
            if sorted(above, reverse=True) != list(above):
                continue
            for reach in range(1, 4):  # one person more, above the first so many points
                more = [people + (i < reach) for i, people in enumerate(above)]
                worst = worst.max(largest_loss(*(caps.runs(spec, each) for each in (above, more))))
        right = bool(worst <= ball(for_cap) + ball(Fraction(1, 10**30)))
    return Check("the draw of the cap", right, f"loses {short(upper(worst), 9)} at most over three points")
