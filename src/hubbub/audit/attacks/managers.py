"""Find the bin: 100 managers earn much more than everybody else, all of them in one of 40 bins, and which?

The attack is the best there is: look at how much more likely each candidate's published value is with 100 people
than with none, and name the candidate where that is largest. Its success is computed from the exact laws, in floats.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.law import Block, Law
from hubbub.channels.protocol import Channel
from hubbub.numeric.exact import ball, to_float

Floats: TypeAlias = NDArray[np.float64]

MANAGERS: Final = 100
CANDIDATES: Final = 40

REACH: Final = 8000
"""Values this far from 0 have a chance below e^-35 in all laws here."""


def spread(law: Law) -> dict[str, Floats]:
    """The chance of each value from -REACH to REACH, by tag."""
    found: dict[str, Floats] = {}
    for part in law.parts:
        if isinstance(part, Block) and part.shape is not None and part.lo != part.hi:
            continue  # a lump of values with less than e^-150 in all
        lo = -REACH if part.lo is None else max(part.lo, -REACH)
        hi = REACH if part.hi is None else min(part.hi, REACH)
        if lo > hi:
            continue
        if isinstance(part, Block):
            weight = to_float(part.weight.value.log() + ball(part.intercept + part.slope * lo), round_up=False)
            masses = np.exp(weight + to_float(part.slope, round_up=False) * np.arange(hi - lo + 1))
        else:
            masses = np.array([to_float(mass, round_up=False) for mass in part.masses[lo - part.lo : hi - part.lo + 1]])
        row = found.setdefault(part.tag, np.zeros(2 * REACH + 1))
        row[lo + REACH : hi + REACH + 1] += masses
    return found


def attack(made: Channel) -> float:
    """How often the attacker who names the candidate with the largest likelihood ratio f_100/f_0 is right.

    With p the chance of a ratio at an empty candidate and below the chance of a smaller one, a candidate with that
    ratio beats 39 empty ones, ties split evenly, with probability ((below + p)^40 - below^40) / (40 p).
    """
    full, empty = spread(made.law(MANAGERS)), spread(made.law(0))
    nothing = np.zeros(2 * REACH + 1)
    tags = sorted({*full, *empty})
    f = np.concatenate([full.get(tag, nothing) for tag in tags])
    g = np.concatenate([empty.get(tag, nothing) for tag in tags])
    f, g = f[(f > 0) | (g > 0)], g[(f > 0) | (g > 0)]
    with np.errstate(divide="ignore"):
        ratios = np.round(np.log(f) - np.log(g), 9)
    _, level = np.unique(ratios, return_inverse=True)
    f, p = np.bincount(level, weights=f), np.bincount(level, weights=g)
    upto = np.cumsum(p)
    below = upto - p
    powers = sum(upto ** (CANDIDATES - 1 - j) * below**j for j in range(CANDIDATES))
    return float(np.sum(f * powers) / CANDIDATES)
