"""What any declared statistic promises, derived from its public description before any data is opened.

::

    noise           one person more or less, in the one bin that the person is in; of several rows as many times
    crowds          people of one bin blend; whoever is in a small one is not seen at all; also on a secret sample
    zero-knowledge  Theorem A1' on a secret sample of K people
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from flint import arb

from hubbub.channels.divergence import largest_ratio
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, Neighbours
from hubbub.guarantees.derivation import Assumption, Derivation, state_promise, texts
from hubbub.kinds.histogram.promises import several_rows, with_found_bins
from hubbub.kinds.statistic.promises import (
    CROWDS,
    HIDDEN,
    SAMPLED_CROWDS,
    SUMS,
    granted,
    of_sample,
    sample_holds,
    sampled_crowds,
)
from hubbub.kinds.statistic.spec import check_found
from hubbub.kinds.sums.sums import Sums, every_step
from hubbub.numeric.format import short
from hubbub.protocol.check import Check
from hubbub.tables.protection import Crowd, Knowledge, Noise

if TYPE_CHECKING:
    from hubbub.kinds.sums.spec import Declared

_SMALL: Final = 10**6  # rates below this are compared by their quotient: such laws are scaled copies


@lru_cache(maxsize=64)
def promises(spec: Declared) -> tuple[Derivation, ...]:
    """Every promise of the release, the mechanism's own first.

    Guarantee: each is a theorem applied to the public description, or the call is refused; nothing depends on the data.
    Of several rows of a person, as :func:`hubbub.kinds.histogram.promises.several_rows`.
    """
    check_found(spec)
    match spec.protection:
        case Noise():
            own = promise_of_noise(spec, spec.noise_loss, Neighbours.ADD_REMOVE)
            return (several_rows(own, spec.unit, spec.bins) if spec.unit.counts_rows else own,)
        case Crowd() as crowd:
            return sampled_crowds(promise_to_crowds(spec, crowd), crowd, SAMPLED_CROWDS)
        case Knowledge() as knowledge:
            return of_sample(spec, knowledge, promise_of_noise(spec, knowledge.rate, Neighbours.REPLACE))


def promise_of_noise(spec: Declared, epsilon: Fraction, neighbours: Neighbours) -> Derivation:
    """Differential privacy of the mechanism, for one row added or removed, or replaced.

    Guarantee: a row is in one bin at most, and moves its columns by v(x): noise of the declared rates costs
    :meth:`hubbub.kinds.sums.sums.Sums.loss`. Replacing one is removing and adding, which at most doubles it.
    """
    return state_promise(
        DifferentialPrivacy(epsilon=epsilon, neighbours=neighbours),
        theorem=SUMS,
        numbers=(*texts(epsilon=epsilon), *spec.sums.stated),
        assumptions=granted(spec),
        people=spec.people,
    )


def promise_to_crowds(spec: Declared, crowd: Crowd) -> Derivation:
    """Crowd-blending privacy of the people of one bin.

    Guarantee: for two people of one bin every count is the same whoever of them is there, and their columns differ by
    v(x) - v(y), which costs :meth:`hubbub.kinds.sums.sums.Sums.loss_of_replacing`. Whoever is in a bin of fewer than k
    people is hidden with it, and changes nothing by leaving. On a secret sample the same holds.
    """
    assert crowd.epsilon is not None
    own = state_promise(
        CrowdBlending(k=crowd.k, epsilon=crowd.epsilon),
        theorem=CROWDS,
        numbers=(*texts(k=crowd.k, epsilon=crowd.epsilon), *spec.sums.stated),
        assumptions=(*granted(spec), Assumption(HIDDEN.id, HIDDEN.sentence, texts(k=crowd.k))),
        people=spec.unit.crowds,
    )
    return with_found_bins(own, arb(0)) if spec.discovered else own  # k is at least 2: one person shows no bin


def checks(spec: Declared) -> Iterator[Check]:
    """What one person moves against the rates of the noise, at the peaks and at steps beside them; and the sample.

    Guarantee: a check that passed means that no person whose values were looked at loses more than is claimed, by the
    laws of the noise.
    """
    sums, crowd = spec.sums, isinstance(spec.protection, Crowd)
    worst = sums.loss_of_replacing(every_step(sums)) if crowd else sums.loss(every_step(sums))
    found = f"loses {short(worst, 9)} at most, whatever the value"
    yield Check("the noise of the sums", laws_hold(sums) and worst <= spec.noise_loss, found)
    if isinstance(spec.protection, Knowledge):
        yield sample_holds(spec, spec.protection)


def laws_hold(sums: Sums) -> bool:
    """Whether noise that is moved by as much as somebody may add is apart from itself by the rate for each step."""
    columns = zip(*(sums.contribution(1, *x) for x in sums.peaks), strict=True)
    return all(
        largest_ratio(Geometric(rate).law(int(abs(by))), Geometric(rate).law(0)) == rate * abs(by)
        for rate, moved in zip(sums.rates, columns, strict=True)
        for by in moved
        if rate * _SMALL >= 1
    )
