"""What four channels share: the exact count from a crowd of `first` on; below, noise or nothing."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from hubbub.channels.empty_bins import EmptyBins, never
from hubbub.channels.law import SUPPRESSED, Law, point, two_sided
from hubbub.channels.protocol import Published, exact_count, exact_counts
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source

NOISY, EXACT = "noisy", "exact"
SILENT: Final = Fraction(0)


class ExactAbove:
    """The count itself from `first` on; below, the count plus two-sided geometric noise of `rate`, or nothing where the
    rate is 0. With `tagged`, it is said which of the two was done.

    Guarantee: f_c and f_(c-1) are (rate, 0)-close for every c below `first`; from there on no loss is bounded.
    """

    __slots__ = ()
    tagged: bool = False

    @property
    def first(self) -> int:
        """The smallest count that is published as it is."""
        raise NotImplementedError

    @property
    def rate(self) -> Fraction:
        """The rate of the noise below; 0 where counts below are hidden."""
        return SILENT

    @property
    def last_change(self) -> int:
        return self.first

    @property
    def exact_from(self) -> int | None:
        return None if self.rate else self.first

    @property
    def noisy_below(self) -> tuple[int, Fraction] | None:
        return (self.first, self.rate) if self.rate else None

    @property
    def certain(self) -> bool:
        return not self.rate

    @property
    def unmarked(self) -> bool:
        return bool(self.rate) and not self.tagged

    @property
    def unbiased(self) -> bool:
        return bool(self.rate)

    @property
    def segments(self) -> tuple[int, ...]:
        """Untagged, a noisy value may exceed an exact one: counts below `first` and from it on are two stretches."""
        return (0, self.first) if self.unmarked else (0,)

    @property
    def _tags(self) -> tuple[str, ...]:
        """The tags from the least to the most informative."""
        if not self.rate:
            return (SUPPRESSED, "")
        return (NOISY, EXACT) if self.tagged else ("",)

    def law(self, count: int) -> Law:
        count, tags = exact_count(count), self._tags
        if count >= self.first:
            return point(count, tags[-1], tags)
        if not self.rate:
            return point(0, SUPPRESSED, tags)
        return Law(two_sided(count, self.rate, tags[0]), tags=tags)

    def release(self, counts: ArrayLike, source: Source) -> Published:
        """Drawn from `law`. Noise is drawn for every bin, so that how much is drawn tells nothing."""
        truth, tags = exact_counts(counts), self._tags
        above = truth >= self.first
        if self.rate:
            values = truth + np.where(above, 0, two_sided_geometric(self.rate, truth.size, source).reshape(truth.shape))
        else:
            values = np.where(above, truth, 0)
        tag_index = above.astype(np.intp) if len(tags) == 2 else np.zeros(truth.shape, dtype=np.intp)
        return Published(values, tag_index, tags)

    def empty_bins(self) -> EmptyBins | None:
        return None if self.rate else never((SUPPRESSED, ""))
