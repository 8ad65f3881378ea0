"""A channel held against its claim, as far as that can be done in a while: for whoever checks a certificate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hubbub.channels.profile import checkable, judge, loss_curve, profile
from hubbub.channels.protocol import Channel
from hubbub.errors import HubbubError
from hubbub.guarantees.verdict import Proved, Refuted
from hubbub.protocol.check import Check

_BEYOND: Final = (ValueError, ArithmeticError, RecursionError, MemoryError)  # numbers that nobody can work with


def laws(channel: Channel) -> Iterator[Check]:
    """The channel's claim against its exact laws at the counts where something changes, and its proof beyond.

    Guarantee: a check that passed means that the channel has the privacy it claims, proved, with its exact laws
    compared where they change and are not too wide.
    """
    what = f"the way the numbers are drawn ({channel.name}) is as private as it claims"
    claim = checkable(channel.claim)
    try:
        rows = profile(channel, critical(channel), claim)
        verdict = channel.reconsider(judge(channel, rows, claim))
    except (HubbubError, *_BEYOND) as error:
        why = f"{error}" if isinstance(error, HubbubError) else "they lie beyond all numbers"
        yield Check(what, False, f"its laws cannot be worked out: {why}")
        return
    if isinstance(verdict, Proved):
        counts = ", ".join(str(row.count) for row in rows) or "none: too wide"
        yield Check(what, True, f"proved ({verdict.reason}); laws compared exactly at counts {counts}")
    elif isinstance(verdict, Refuted):
        yield Check(what, False, f"{verdict.reason}: " + ", ".join(f"{name} {text}" for name, text in verdict.witness))
    else:
        yield Check(what, False, f"undecided: {verdict.why}")


def critical(channel: Channel) -> list[int]:
    """A few counts: the first, and those around each change of what is claimed."""
    claim = checkable(channel.claim)
    around = {1, 2}
    for piece in loss_curve(claim).pieces:
        around |= {count for count in (piece.start - 1, piece.start, piece.start + 1) if count >= 1}
    return list(channel.comparable(sorted(around)))
