"""The shape that four channels share: exact from a crowd of `first` on, noise or nothing below.

Noise of rate 0 is no number at all: the count is suppressed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from hubbub.channels.law import SUPPRESSED, Law, point, two_sided
from hubbub.channels.protocol import Published, exact_count, exact_counts
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source

NOISY, EXACT = "noisy", "exact"


def tags_of(rate: Fraction, tagged: bool) -> tuple[str, ...]:
    """The tags from the least to the most informative."""
    if not rate:
        return (SUPPRESSED, "")
    return (NOISY, EXACT) if tagged else ("",)


def exact_above_law(count: int, first: int, rate: Fraction, *, tagged: bool = False) -> Law:
    """The count itself from `first` on; below, the count plus two-sided geometric noise, or nothing if rate is 0."""
    count = exact_count(count)
    tags = tags_of(rate, tagged)
    if count >= first:
        return point(count, tags[-1], tags)
    if not rate:
        return point(0, SUPPRESSED, tags)
    return Law(two_sided(count, rate, tags[0]), tags=tags)


def exact_above_release(
    counts: ArrayLike, first: int, rate: Fraction, source: Source, *, tagged: bool = False
) -> Published:
    """Drawn from :func:`exact_above_law`. Noise is drawn for every bin, so that how much is drawn tells nothing."""
    truth = exact_counts(counts)
    tags = tags_of(rate, tagged)
    above = truth >= first
    if rate:
        values = truth + np.where(above, 0, two_sided_geometric(rate, truth.size, source).reshape(truth.shape))
    else:
        values = np.where(above, truth, 0)
    tag_index = above.astype(np.intp) if len(tags) == 2 else np.zeros(truth.shape, dtype=np.intp)
    return Published(values, tag_index, tags)
