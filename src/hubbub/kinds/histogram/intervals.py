"""The intervals of what a histogram published: for what the channel saw, for everybody, or for expected rows."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.estimate import intervals

if TYPE_CHECKING:
    from hubbub.channels.published import Published
    from hubbub.kinds.histogram.spec import Histogram


def of_published(spec: Histogram, published: Published) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For the counts that the channel saw, or for everybody if the release is scaled up from its sample.

    Guarantee: that of :func:`hubbub.channels.estimate.interval`, of
    :func:`hubbub.tables.estimation.population_intervals` or of
    :func:`hubbub.tables.estimation.expected_intervals`. A bin that was found has somebody in it.
    """
    if spec.unit.expected_rows:
        from hubbub.tables.estimation import expected_intervals

        low, high = expected_intervals(spec.channel, published, spec.sample or Fraction(1), spec.coverage)
        return low, high
    if not spec.scale_up or spec.sample is None:
        low, high = intervals(spec.channel, published, spec.coverage)
    else:
        from hubbub.tables.estimation import population_intervals

        low, high = population_intervals(spec.channel, published, spec.sample, spec.coverage, found=spec.discovered)
    return (np.maximum(low, 1) if spec.discovered else low), high
