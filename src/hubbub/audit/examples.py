"""A small function and two neighbouring tables, for whoever wants to see an audit before writing one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.noise.source import Source
from hubbub.numeric.exact import rational

TOWNS: Final = ("Bath",) * 12 + ("York",) * 5
pair: Final = (TOWNS, (*TOWNS, "Bath"))
"""Two tables, of which one has one person more."""


def bath(towns: Sequence[str], source: Source) -> int:
    """How many people live in Bath, with noise of epsilon 1."""
    return int(Geometric(rational(1)).release(np.array([towns.count("Bath")]), source).values[0])
