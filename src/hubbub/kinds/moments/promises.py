"""What a variance promises, derived from its public description before any data is opened."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from flint import arb

from hubbub.channels.sampled import sampled_crowd_blending
from hubbub.errors import Refused
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, Neighbours, RandomSample, ZeroKnowledge
from hubbub.guarantees.derivation import DMNS, HERE, Assumption, Derivation, Theorem, stated, texts
from hubbub.guarantees.implications import SECRET, SYMMETRIC
from hubbub.guarantees.indistinguishability import mixed
from hubbub.guarantees.subsampled_curve import SAMPLED
from hubbub.kinds.histogram.promises import of_people, with_found_bins
from hubbub.kinds.statistic.promises import HALF_WAY, HIDDEN, REPLACED, declared, granted
from hubbub.kinds.statistic.promises import who as who
from hubbub.numeric.exact import Infinite
from hubbub.numeric.format import short
from hubbub.protocol.check import Check
from hubbub.sampling.sanitize import outside
from hubbub.tables.protection import Crowd, Knowledge, Noise

if TYPE_CHECKING:
    from hubbub.kinds.moments.spec import Moments

THREE_SUMS: Final = Theorem("moments.bernstein", "noise on three sums that one person moves together by W^2", DMNS)
CROWDS: Final = Theorem("moments.crowds", "sums and squares of crowds, small ones hidden", HERE)
SAMPLED_CROWDS: Final = Theorem("moments.crowds-sampled", "sums and squares of crowds of a secret sample", HERE)

_SMALL: Final = 64  # steps up to which every value of a person is looked at


@lru_cache(maxsize=64)
def promises(spec: Moments) -> tuple[Derivation, ...]:
    """Every promise of the release, the mechanism's own first.

    Guarantee: each is a theorem applied to the public description, or the call is refused; nothing depends on the data.
    """
    from hubbub.kinds.statistic.spec import check_found

    check_found(spec)
    match spec.protection:
        case Noise(epsilon=epsilon):
            return (differential(spec, epsilon, Neighbours.ADD_REMOVE),)
        case Crowd() as crowd:
            return _crowds(spec, crowd)
        case Knowledge() as knowledge:
            return _of_sample(spec, knowledge)


def differential(spec: Moments, epsilon: Fraction, neighbours: Neighbours) -> Derivation:
    """The mechanism itself, for one person more or less, or replaced.

    Guarantee: a person is in one bin at most, and moves its three sums by (W - x)^2 + 2 x (W - x) + x^2 = W^2 together:
    noise of rate loss/W^2 on each costs loss. Replacing one is removing and adding, which at most doubles it.
    """
    return stated(
        DifferentialPrivacy(epsilon=epsilon, neighbours=neighbours),
        theorem=THREE_SUMS,
        numbers=texts(epsilon=epsilon, steps=spec.of.steps, rate=spec.rates[0]),
        assumptions=granted(spec),
        people=spec.people,
    )


def _crowds(spec: Moments, crowd: Crowd) -> tuple[Derivation, ...]:
    """People of one bin blend.

    Guarantee: for two people of one bin every count is the same whoever of them is there. With u = x/W and v = y/W,
    u >= v, their sums differ by (u - v) W and their squares by |(2 u - 1)^2 - (2 v - 1)^2| W^2. The first and that of
    the squares without the bars are convex in u, so largest at u = 1, and there (1 - v) + 1 - (2 v - 1)^2 is largest at
    v = 3/8: 25/16; with the other sign alike, from the other end. So rates of 16/25 epsilon/W and 16/25 epsilon/W^2
    cost epsilon. Whoever is in a bin of fewer than k people is hidden with it, and changes nothing by leaving. On a
    secret sample the same holds.
    """
    assert crowd.epsilon is not None
    claim = CrowdBlending(k=crowd.k, epsilon=crowd.epsilon)
    first, second = spec.rates
    own = stated(
        claim,
        theorem=CROWDS,
        numbers=texts(k=crowd.k, epsilon=crowd.epsilon, steps=spec.of.steps, sums=first, squares=second),
        assumptions=(*granted(spec), Assumption(HIDDEN.id, HIDDEN.sentence, texts(k=crowd.k))),
        people=spec.unit.crowds,
    )
    own = with_found_bins(own, arb(0)) if spec.discovered else own
    if crowd.sample is None:
        return (own,)
    kept = Derivation(
        conclusion=claim,
        theorem=SAMPLED_CROWDS,
        premises=(own,),
        numbers=texts(p=crowd.sample),
        assumptions=(SAMPLED,),
    )
    return (kept, *map(of_people, sampled_crowd_blending(own, crowd.sample, at_delta=crowd.at_delta)))


def _of_sample(spec: Moments, knowledge: Knowledge) -> tuple[Derivation, ...]:
    """Theorem A1' on K people drawn in secret without replacement; refused if the rate is too high for the epsilon."""
    k, n, rate = knowledge.rows, knowledge.people, knowledge.rate
    if not _enough(spec, knowledge):
        raise Refused("the noise is too little for the epsilon that is claimed; raise one of them")
    inner = differential(spec, rate, Neighbours.REPLACE)
    names, used = texts(k=k, n=n, rate=rate), (SYMMETRIC, SECRET, declared(knowledge))
    swapped = mixed(rate, knowledge.share)
    knows = Derivation(
        conclusion=ZeroKnowledge(epsilon=knowledge.epsilon, aggregate=RandomSample(k=k, n=n)),
        theorem=HALF_WAY,
        premises=(inner,),
        numbers=(*names, *texts(epsilon_out=knowledge.epsilon)),
        assumptions=used,
    )
    private = Derivation(
        conclusion=DifferentialPrivacy(epsilon=swapped, neighbours=Neighbours.REPLACE),
        theorem=REPLACED,
        premises=(inner,),
        numbers=(*names, *texts(epsilon_out=swapped)),
        assumptions=used,
    )
    return knows, private


def _enough(spec: Moments, knowledge: Knowledge) -> bool:
    reached = outside(knowledge.rows, knowledge.people, knowledge.rate, blank=spec.blank).epsilon_zk
    return not isinstance(reached, Infinite) and reached <= knowledge.epsilon


def checks(spec: Moments) -> Iterator[Check]:
    """What one person moves against the rates of the noise: at every value of a short range, at some of a long one."""
    loss, width = spec.unit_loss, spec.of.steps
    assert loss is not None
    some = sorted({*range(min(width, _SMALL) + 1), width // 2, width - 1, width})
    if isinstance(spec.protection, Crowd):
        first, second = spec.rates
        worst = max(
            first * abs(x - y) + second * abs((2 * x - width) ** 2 - (2 * y - width) ** 2) for x in some for y in some
        )
    else:
        sums = [((width - x) ** 2, 2 * x * (width - x), x**2) for x in some]
        worst = max(sum(rate * each for rate, each in zip(spec.rates, moved, strict=True)) for moved in sums)
    yield Check("the noise of the sums", worst <= loss, f"loses {short(worst, 9)} at most, whatever the value")
    if isinstance(spec.protection, Knowledge):
        k, n = spec.protection.rows, spec.protection.people
        reached = outside(k, n, spec.protection.rate, blank=spec.blank).epsilon_zk
        found = f"is all that is told, up to epsilon = {short(reached, 9)} (Theorem A1')"
        yield Check(f"what {k:,} of {n:,} random people could tell", _enough(spec, spec.protection), found)
