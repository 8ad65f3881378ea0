"""The paper's calibration, Proposition 12, with its best delta: floating-point numbers, claimed by nobody.

epsilon = ln((1 - beta) e^(min(Delta + delta, W)/scale) + beta e^(W/scale)), beta = 2 e^(-2 k (delta - b)^2/R^2): the
samples are within delta but for a chance of beta, and then anywhere in the range W of the value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.graphs.statistics import Bounds

_STEPS = 400
_ROUNDS = 3

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """The smallest scale in edges, and the delta (in edges) and beta that give it."""

    scale: float
    delta: float
    beta: float


def proposition_12(bounds: Bounds, k: int, epsilon: float, most: float | None = None) -> Paper:
    """The smallest scale that Proposition 12 proves, over all delta; `most` replaces the range where less is public."""
    width, b, reach = float(bounds.most) if most is None else most, float(bounds.bias), float(bounds.reach)
    if width == 0:
        return Paper(scale=0.0, delta=0.0, beta=1.0)
    best = Paper(scale=width / epsilon, delta=width, beta=1.0)  # nothing is known, and nothing has to be
    low, high = math.log(1e-9 * width), math.log(width)  # of delta - b
    for _ in range(_ROUNDS):
        grid = np.linspace(low, high, _STEPS + 1)
        over = np.exp(grid)
        log_betas = math.log(2) - 2 * k * (over / reach) ** 2 if reach else np.full_like(over, -np.inf)
        shifts = np.minimum(bounds.sensitivity + b + over, width)
        scales = _scales(shifts, log_betas, width, epsilon)
        at = int(scales.argmin())
        if scales[at] < best.scale:
            best = Paper(scale=float(scales[at]), delta=b + float(over[at]), beta=math.exp(log_betas[at]))
        low, high = float(grid[max(at - 1, 0)]), float(grid[min(at + 1, _STEPS)])
    return best


def _scales(shifts: Floats, log_betas: Floats, width: float, epsilon: float) -> Floats:
    """For each (Delta + delta, ln beta) the smallest scale; width/epsilon where beta is 1 or more."""
    usable = log_betas < 0
    logs = np.where(usable, log_betas, -1.0)
    rest = np.log1p(-np.exp(logs))
    low, high = np.full_like(shifts, epsilon / width), epsilon / shifts * 2  # of 1/scale
    for _ in range(70):
        x = (low + high) / 2
        fits = np.logaddexp(rest + shifts * x, logs + width * x) <= epsilon
        low, high = np.where(fits, x, low), np.where(fits, high, x)
    found: Floats = np.where(usable, 1 / low, width / epsilon)
    return found
