"""Declared domains too big to list: every bin goes through the channel, and those that show a number are listed.

Up to a hundred million declared bins all are listed, hidden ones too. Above that, only those that show a number are,
and a bin that is not listed is hidden; or all are, where the channel says something about each and many machines write
the files (:mod:`hubbub.kinds.histogram.distributed`). Which it is follows from the declared bins and the channel, never
from the data.
The law is that of going through all bins: which of the empty ones show a number, and what, is drawn exactly, in time
and memory proportional to the bins that have people and to those that are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.published import EmptyBins, Published
from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import Assumption
from hubbub.numeric.exact import upper
from hubbub.tables import bins
from hubbub.tables.bins import Axis, declared_size

if TYPE_CHECKING:
    from hubbub.channels.protocol import Channel
    from hubbub.kinds.histogram.spec import Histogram
    from hubbub.noise.source import Source

MOST_SPREAD: Final = 10**12
"""Rows of a release that many machines write."""

NOT_LISTED: Final = Assumption(
    "every-bin.not-listed",
    "every declared bin goes through the channel, empty ones too; one that is not listed is hidden",
)


def is_sparse(spec: Histogram) -> bool:
    """Whether only the bins that show a number are listed. Public: it follows from the declared bins and the channel
    alone."""
    total = declared_size(spec.axes)
    return total is not None and total > bins.MOST_BINS and spec.channel.empty_bins() is not None


def check(axes: Sequence[Axis], channel: Channel, *, spread: bool = False) -> None:
    """Refuse a domain that is too big to list and has to be, from public numbers alone."""
    total, most = declared_size(axes), MOST_SPREAD if spread else bins.MOST_BINS
    if total is None or total <= most:
        return
    empty = channel.empty_bins()
    further = "" if spread else "let Spark write them (`parts=N`), "
    if empty is None:
        raise WrongUse(
            f"the declared bins multiply to {total:,}, and more than {most:,} can be published only where empty ones "
            f"are hardly ever shown, but this channel says something about each; {further}declare coarser bins, or "
            "hide small numbers (`crowd=20`, or `mechanism=warped:curve=CURVE,show-above=T`)"
        )
    by_chance = expected_visible(empty, total)
    if by_chance > most:
        raise WrongUse(
            f"of the {total:,} declared bins about {by_chance:,} would show a number though they are empty, and at "
            f"most {most:,} can be published; {further}declare coarser bins, or hide more (a larger show-above)"
        )


def check_parts(axes: Sequence[Axis], channel: Channel, parts: int) -> None:
    """Refuse parts that are too big for the machine that writes one, from public numbers alone."""
    total = declared_size(axes)
    if total is None:
        return
    empty = channel.empty_bins() if total > bins.MOST_BINS else None
    rows = total if empty is None else expected_visible(empty, total)
    least = -(-rows // bins.MOST_BINS)
    if parts < least:
        raise WrongUse(
            f"the release has about {rows:,} rows, and a part of it holds at most {bins.MOST_BINS:,}, since one "
            f"machine writes it; ask for at least {least:,} parts (`parts={least}`), better for many more"
        )


def expected_visible(empty: EmptyBins, total: int) -> int:
    """How many bins would be tried if all were empty, in the mean; rounded up."""
    return -int(-upper(empty.chance()) * total // 1)


def visible_bins(
    codes: NDArray[np.int64], published: Published, empty: EmptyBins, total: int, source: Source
) -> tuple[NDArray[np.int64], Published]:
    """The bins of a domain that show a number, in the order of their codes: of those with people, whose `codes` and
    outcomes are given, and of all others, which are empty.

    Guarantee: the same joint law as a list of all bins, each drawn by itself from the law of its count, of which those
    that show a number are kept: empty bins are tried independently with one chance (:func:`hubbub.noise.rare.rare`),
    and what was tried has the law that :class:`hubbub.channels.published.EmptyBins` promises. What is hidden is one
    outcome, so that leaving it out loses nothing.
    """
    from hubbub.noise.rare import rare

    taken = np.sort(codes)
    ranks = rare(total - taken.size, empty.chance, source)  # among the empty bins
    drawn = empty.draw(ranks.size, source)
    kept = np.flatnonzero(drawn.visible)
    mine = np.flatnonzero(published.visible)
    others = ranks[kept] + np.searchsorted(taken - np.arange(taken.size), ranks[kept], side="right")
    names = (*published.names, *(name for name in drawn.names if name not in published.names))
    index = np.array([names.index(name) for name in drawn.names], dtype=np.intp)
    every = np.concatenate([codes[mine], others])
    order = np.argsort(every)
    values = np.concatenate([published.values[mine], drawn.values[kept]])
    tags = np.concatenate([published.tags[mine], index[drawn.tags[kept]]])
    return every[order], Published(values[order], tags[order], names)
