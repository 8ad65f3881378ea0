"""What a sum promises, derived from its public description before any data is opened.

::

    epsilon           one person more or less, in the one bin that the person is in
    crowd, epsilon    people of one bin blend; whoever is in a small one is not seen at all
    zero-knowledge    Theorem A1' on a secret sample of K people
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Final

from flint import arb

from hubbub.errors import Refused
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, Neighbours, RandomSample, ZeroKnowledge
from hubbub.guarantees.derivation import DMNS, HERE, Assumption, Derivation, Number, Theorem, stated, texts
from hubbub.guarantees.implications import SECRET, SYMMETRIC
from hubbub.guarantees.indistinguishability import mixed
from hubbub.guarantees.people import People, Whose
from hubbub.kinds.histogram.promises import with_found_bins
from hubbub.kinds.statistic.promises import HALF_WAY, HIDDEN, REPLACED, declared, granted, profile_crowds
from hubbub.kinds.statistic.promises import who as who
from hubbub.kinds.sum import cap as caps
from hubbub.kinds.sum.layers import Layers
from hubbub.numeric.exact import Infinite, ball, exp, precision, to_text, upper
from hubbub.numeric.format import short
from hubbub.protocol.check import Check
from hubbub.sampling.sanitize import outside
from hubbub.tables.protection import Crowd, Knowledge, Noise

if TYPE_CHECKING:
    from hubbub.kinds.sum.spec import Sum

CAPPED: Final = Theorem("sum.capped", "noise on sums that one person moves by at most a cap", DMNS)
LAYERS: Final = Theorem("sum.layers", "noise on the layers of a sum, as wide as each layer is", HERE)
CROWDS: Final = Theorem("sum.crowds", "sums of crowds, small ones hidden", HERE)

_SMALL: Final = 64  # steps up to which every value of a person is looked at


@lru_cache(maxsize=64)
def promises(spec: Sum) -> tuple[Derivation, ...]:
    """Every promise of the release, the mechanism's own first.

    Guarantee: each is a theorem applied to the public description, or the call is refused; nothing depends on the data.
    """
    from hubbub.kinds.statistic.spec import check_found

    check_found(spec)
    match spec.protection:
        case Noise(epsilon=epsilon):
            return (differential(spec, epsilon, Neighbours.ADD_REMOVE),)
        case Crowd() as crowd:
            own = _crowds(spec, crowd)
            return (profile_crowds(spec, crowd, own) if spec.profiled else own,)
        case Knowledge() as knowledge:
            return _of_sample(spec, knowledge)


def differential(spec: Sum, epsilon: Fraction, neighbours: Neighbours) -> Derivation:
    """The mechanism itself, for one person more or less, or replaced.

    Guarantee: with one row a person is in one bin at most. With a cap they move its sum by at most the cap, and noise of
    rate loss by the cap costs loss. With layers they move layer j by x_j <= w_j, which costs loss x_j/(J w_j), in all
    loss at most. Of several rows a map of the person's own keeps so few that they are in at most B bins, with at most M
    in each and A in all: B times the concave bound of loss at A/B, to which the rates are scaled; the tables of what is
    kept with and without a person differ in that person's rows alone, whatever the map draws, and closeness survives
    averaging. A cap that is drawn, and what it cut off, cost their shares, and the three add up to epsilon. Replacing
    one is removing and adding, which at most doubles it.
    """
    return stated(
        DifferentialPrivacy(epsilon=epsilon, neighbours=neighbours),
        theorem=LAYERS if spec.layered else CAPPED,
        numbers=(*texts(epsilon=epsilon), *numbers(spec)),
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
    """People of one bin blend.

    Guarantee: for two people of one bin every count is the same whoever of them is there. With a cap their sum differs
    by at most what lies between the least value and the cap. With layers the one with less has no larger piece in any
    layer, so that both differ by what the other loses more: epsilon at most. How many lie above a point of the grid of
    caps differs by one, and only bins that are shown count there. Whoever is in a bin of fewer than k people is hidden
    with it, and changes nothing by leaving.
    """
    loss = spec.unit_loss
    assert loss is not None
    own = stated(
        CrowdBlending(k=crowd.k, epsilon=loss),
        theorem=CROWDS,
        numbers=(*texts(k=crowd.k, epsilon=loss), *numbers(spec)),
        assumptions=(*granted(spec), Assumption(HIDDEN.id, HIDDEN.sentence, texts(k=crowd.k))),
        people=People(whose=Whose.KEPT_ROWS, person=spec.unit.person) if spec.profiled else spec.unit.crowds,
    )
    return with_found_bins(own, arb(0)) if spec.discovered else own


def _of_sample(spec: Sum, knowledge: Knowledge) -> tuple[Derivation, ...]:
    """A differentially private mechanism on K people drawn in secret without replacement.

    Guarantee: inside the sample one row replaced costs `rate`, and half of it if it is replaced by a blank that is in
    no bin: Theorem A1', and amplification by sampling. Refused if the rate is too high for the epsilon.
    """
    k, n, rate = knowledge.rows, knowledge.people, knowledge.rate
    if not _enough(spec, knowledge):
        raise Refused("the noise is too little for the epsilon that is claimed; raise one of them")
    inner = differential(spec, rate, Neighbours.REPLACE)
    names, used = texts(k=k, n=n, rate=rate), (SYMMETRIC, SECRET, declared(knowledge))
    swapped = mixed(rate, knowledge.share)
    return (
        Derivation(
            conclusion=ZeroKnowledge(epsilon=knowledge.epsilon, aggregate=RandomSample(k=k, n=n)),
            theorem=HALF_WAY,
            premises=(inner,),
            numbers=(*names, *texts(epsilon_out=knowledge.epsilon)),
            assumptions=used,
        ),
        Derivation(
            conclusion=DifferentialPrivacy(epsilon=swapped, neighbours=Neighbours.REPLACE),
            theorem=REPLACED,
            premises=(inner,),
            numbers=(*names, *texts(epsilon_out=swapped)),
            assumptions=used,
        ),
    )


def _enough(spec: Sum, knowledge: Knowledge) -> bool:
    reached = outside(knowledge.rows, knowledge.people, knowledge.rate, blank=spec.blank).epsilon_zk
    return not isinstance(reached, Infinite) and reached <= knowledge.epsilon


# --- worked out again ---------------------------------------------------------------------------------------------


def checks(spec: Sum) -> Iterator[Check]:
    """The mechanism's exact laws against what is claimed of them.

    Guarantee: a check that passed means that the claim holds: of sums by the laws of the noise at how far one person
    moves them, whatever the value; of a cap that is drawn by the laws over every count of two points.
    """
    loss, for_cap, for_lost = spec.shares
    inner = spec.unit_loss
    assert inner is not None
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
        k, n = spec.protection.rows, spec.protection.people
        reached = outside(k, n, spec.protection.rate, blank=spec.blank).epsilon_zk
        found = f"is all that is told, up to epsilon = {short(reached, 9)} (Theorem A1')"
        yield Check(f"what {k:,} of {n:,} random people could tell", _enough(spec, spec.protection), found)


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
    """The law of a cap for every pair of counts above three points that differ by one person."""
    _, for_cap, _ = spec.shares
    worst = arb(0)
    with precision():
        for above in product(range(3), repeat=3):
            if sorted(above, reverse=True) != list(above):
                continue
            for reach in range(1, 4):  # one person more, above the first so many points
                more = [people + (i < reach) for i, people in enumerate(above)]
                one, other = ([exp(-run.exponent) for run in caps.runs(spec, each)] for each in (above, more))
                for mass, beside in zip(one, other, strict=True):
                    apart = (mass / sum(one, arb(0))) / (beside / sum(other, arb(0)))
                    worst = worst.max(abs(apart.log()))
        right = bool(worst <= ball(for_cap) + ball(Fraction(1, 10**30)))
    return Check("the draw of the cap", right, f"loses {short(upper(worst), 9)} at most over three points")
