"""A channel held against its claim, as far as that can be done in a while: for whoever checks a certificate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from hubbub.channels.channel import Channel
from hubbub.channels.lecture import Lecture
from hubbub.channels.lower_bound import LowerBound
from hubbub.channels.outliers import OutlierNoisy
from hubbub.channels.profile import checkable, judge, loss_curve, profile
from hubbub.channels.staircase import Staircase, certified
from hubbub.check import Check
from hubbub.errors import HubbubError
from hubbub.guarantees.verdict import Proved, Refuted, Undecided

_MOST_COUNTS: Final = 12  # at which the channel's laws are compared; beyond them stands its proof
_MOST_PARTS: Final = 3_000  # of a law that is compared
_FEW_COUNTS: Final = 3
_LOWEST_RATE: Final = Fraction(1, 1000)  # of a second noise
_BEYOND: Final = (ValueError, ArithmeticError, RecursionError, MemoryError)  # numbers that nobody can work with


def laws(channel: Channel) -> Iterator[Check]:
    """The channel's claim against its exact laws at the counts where something changes, and its proof beyond.

    Guarantee: a check that passed means that the channel has the privacy it claims, proved, with its exact laws
    compared where they change and are not too wide.
    """
    what = f"the channel {channel.name} has what it claims"
    claim = checkable(channel.claim)
    try:
        rows = profile(channel, critical(channel), claim)
        verdict = judge(channel, rows, claim)
        if isinstance(verdict, Proved) and isinstance(channel, Lecture) and not channel.holds:
            verdict = Undecided("its delta is smaller than the largest of the exact ones up to K - t")
        if isinstance(verdict, Undecided) and isinstance(channel, Staircase) and _is_certified(channel):
            verdict = Proved("every count up to each threshold was checked exactly; above, the first noise")
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


def _is_certified(channel: Staircase) -> bool:
    return not _is_wide(channel) and certified(channel)


def critical(channel: Channel) -> list[int]:
    """A few counts: the first, and those around each change of what is claimed."""
    claim = checkable(channel.claim)
    around = {1, 2}
    for piece in loss_curve(claim).pieces:
        around |= {count for count in (piece.start - 1, piece.start, piece.start + 1) if count >= 1}
    if _is_wide(channel):
        return []
    if isinstance(channel, LowerBound):
        return [count for count in sorted(around) if _parts(channel, count) <= _MOST_PARTS][:_FEW_COUNTS]
    return sorted(around)[:_MOST_COUNTS]


def _is_wide(channel: Channel) -> bool:
    """Whether its laws are tables too long to be compared in a while: noise upon noise, of a low rate."""
    rates = channel.epsilons[1:] if isinstance(channel, Staircase) else ()
    if isinstance(channel, OutlierNoisy):
        rates = (channel.epsilon / channel.k,)
    return any(0 < rate < _LOWEST_RATE for rate in rates)


def _parts(channel: LowerBound, count: int) -> int:
    """Of how many parts a law consists: one for each value of the estimate."""
    centre, reach = channel.made.centre(count), channel.made.reach(count)
    return reach if reach > 10 * _MOST_PARTS else len(channel.made.cells(centre - reach, centre + reach))
