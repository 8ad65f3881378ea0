"""What it costs to publish only the bins that occur."""

from __future__ import annotations

from flint import arb

from hubbub.channels.channel import Channel
from hubbub.channels.law import SUPPRESSED
from hubbub.errors import Refused
from hubbub.exact import ball


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
            "publishes a number for every bin; declare the values, like `by=department=Police,Fire,other`"
        )
    shown = ball(law.missing) + sum((block.total() for block in law.blocks if block.tag != SUPPRESSED), arb(0))
    shown += sum((sum(table.masses, arb(0)) for table in law.dense if table.tag != SUPPRESSED), arb(0))
    return shown
