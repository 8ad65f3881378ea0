"""A cap on rows that is drawn from the data: how many rows of a person count in a bin.

N(y) is how many pairs of a person and a bin have y rows or more, and a point y of the grid stands for the ranks from
N(y'), y' being the next one, to N(y): these tile all ranks. It is drawn with a weight of exp(-(loss/(2 B)) d), by
permute-and-flip (:mod:`hubbub.kinds.statistic.quantile`), d being how far the aim lies from them: one person is in at most
B bins and moves every N(y), and so d, by at most B, and so the chance of each point by at most a factor e^loss. (By the distance to N(y) alone, points that nobody reaches are hardly
less likely than the best one where few numbers of rows occur.) What is aimed at is public: the error of a bin is about its noise,
sqrt(2) B/loss' for each row of the cap, and what is cut off there, N(y) over all bins; a private choice errs by
(2 B/loss) ln(points/0.02) of these pairs but for a chance of 1 in 50, so that no fewer are aimed at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hubbub.kinds.statistic.quantile import Run, draw
from hubbub.kinds.sum.cap import aim
from hubbub.noise.source import Source

if TYPE_CHECKING:
    from hubbub.kinds.summary.numbers import Number
    from hubbub.kinds.summary.spec import Summary


def runs(spec: Summary, number: Number, above: Sequence[int]) -> list[Run]:
    """The weights of the points, given how many pairs have so many rows or more.

    Guarantee: between two tables that differ by one person the law of a point drawn by these weights changes by at most
    a factor e^loss, loss being :meth:`hubbub.kinds.summary.spec.Summary.for_cap`.
    """
    loss, bins = spec.for_cap(number), spec.most_bins
    wanted = aim(len(above), (spec.part - loss) / (max(spec.bins, 1) * bins), loss / bins)
    ends = zip([*above[1:], 0], above, strict=True)
    return [Run(i, 1, loss / (2 * bins) * max(low - wanted, wanted - high, 0)) for i, (low, high) in enumerate(ends)]


def drawn(spec: Summary, number: Number, above: Sequence[int], source: Source) -> int:
    """A point of the grid."""
    return spec.cap_points[draw(runs(spec, number, above), source)]
