"""What it costs to publish only the bins that occur."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from hubbub.channels.law import SUPPRESSED
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.curve import flat
from hubbub.numeric.bisection import first_from
from hubbub.numeric.exact import Exact, ball, positive, rounded, to_text

if TYPE_CHECKING:
    from hubbub.channels.protocol import Channel


def discovery_cost(channel: Channel) -> arb:
    """What it costs to publish only bins that occur: the probability that one person alone makes a bin appear.

    Guarantee: if an absent bin looks like a hidden one, then leaving out empty bins makes the pair of counts 1 and 0
    (0, cost)-close, at every epsilon, and changes no other pair.
    """
    law = channel.law(1)
    hidden = [tag for tag in law.tags if tag.startswith(SUPPRESSED)]
    if hidden != [SUPPRESSED]:
        raise Refused(
            "bins may be found in the data only where an absent bin looks like a hidden one, and this channel "
            "publishes a number for every bin; declare the values, like `by=department=Police,Fire,other`, or hide "
            "small numbers, with `crowd=20` or with `delta=1e-6` beside `epsilon`"
        )
    visible_mass = ball(law.missing) + sum((block.total() for block in law.blocks if block.tag != SUPPRESSED), arb(0))
    visible_mass += sum((sum(table.masses, arb(0)) for table in law.dense if table.tag != SUPPRESSED), arb(0))
    return visible_mass


def smallest_threshold(epsilon: Exact, delta: Exact) -> int:
    """The smallest T for which noise of rate epsilon, shown above T only, may find its bins in the data for delta.

    Guarantee: the discovery cost of the flat warped channel that shows values above T, rounded as a promise rounds it,
    is at most delta; with T - 1 it is more, or T is 0.
    """
    from hubbub.channels.mechanisms.warped import Warped

    rate, target = positive(epsilon, "epsilon"), positive(delta, "delta")
    if target >= 1:
        raise WrongUse(f"delta must be below 1, not {to_text(target)}; choose one like 1e-6")

    def suffices(threshold: int) -> bool:
        price: Fraction = rounded(discovery_cost(Warped(flat(rate), threshold)), up=True)
        return price <= target

    return first_from(suffices, 0)
