"""What a variance promises, derived from its public description before any data is opened."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from flint import arb

from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, Neighbours
from hubbub.guarantees.derivation import DMNS, HERE, Assumption, Derivation, Theorem, stated, texts
from hubbub.kinds.histogram.promises import with_found_bins
from hubbub.kinds.statistic.promises import HIDDEN, granted, of_sample, sample_holds, sampled_crowds
from hubbub.numeric.format import short
from hubbub.protocol.check import Check
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
            return of_sample(spec, knowledge, differential(spec, knowledge.rate, Neighbours.REPLACE))


def differential(spec: Moments, epsilon: Fraction, neighbours: Neighbours) -> Derivation:
    """Differential privacy of the mechanism, for one person added or removed, or replaced.

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
    """Crowd-blending privacy of the people of one bin.

    Guarantee: for two people of one bin every count is the same whoever of them is there. With u = x/W and v = y/W,
    u >= v, their sums differ by (u - v) W and their squares by |(2 u - 1)^2 - (2 v - 1)^2| W^2. The first and that of
    the squares without the bars are convex in u, so largest at u = 1, and there (1 - v) + 1 - (2 v - 1)^2 is largest at
    v = 3/8: 25/16; with the other sign alike, from the other end. So rates of 16/25 epsilon/W and 16/25 epsilon/W^2
    cost epsilon. Whoever is in a bin of fewer than k people is hidden with it, and changes nothing by leaving. On a
    secret sample the same holds.
    """
    assert crowd.epsilon is not None
    first, second = spec.rates
    own = stated(
        CrowdBlending(k=crowd.k, epsilon=crowd.epsilon),
        theorem=CROWDS,
        numbers=texts(k=crowd.k, epsilon=crowd.epsilon, steps=spec.of.steps, sums=first, squares=second),
        assumptions=(*granted(spec), Assumption(HIDDEN.id, HIDDEN.sentence, texts(k=crowd.k))),
        people=spec.unit.crowds,
    )
    own = with_found_bins(own, arb(0)) if spec.discovered else own
    return sampled_crowds(own, crowd, SAMPLED_CROWDS)


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
        yield sample_holds(spec, spec.protection)
