"""The noise of a graph release before there is a graph: ours, the paper's, and that of differential privacy alone."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.graphs.noise_scale import scale_for, spread
from hubbub.graphs.statistics import Bounds, Sampling, Size, Statistic, bounds, most, sensitivity
from hubbub.numeric.exact import rounded, to_float
from hubbub.numeric.format import short
from hubbub.runtime.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The scales of the noise on one count, in edges. Those of the paper are floating-point numbers, for comparison."""

    of: Statistic
    scale: Fraction
    paper: Paper | None
    node_dp: Fraction
    explores: int | None
    aggregate: str | None
    unit: Fraction  # one edge, as a distance or as an average degree

    def as_json(self) -> dict[str, object]:
        fields: dict[str, object] = {
            "of": self.of.value,
            "scale": to_float(self.scale, round_up=True),
            "scale_proposition_12": None if self.paper is None else self.paper.scale,
            "scale_node_dp": to_float(self.node_dp, round_up=True),
            "explores": self.explores,
            "aggregate": self.aggregate,
            "told_as": self._word,
            "scale_told": to_float(self.scale * self.unit, round_up=True),
            "scale_node_dp_told": to_float(self.node_dp * self.unit, round_up=True),
        }
        if self.paper is not None:
            one = float(self.unit)
            fields["proposition_12"] = {
                "scale_told": self.paper.scale * one,
                "delta_told": self.paper.delta * one,
                "beta": self.paper.beta,
            }
        return fields

    @property
    def _word(self) -> str:
        return {Statistic.AVERAGE_DEGREE: "average degree"}.get(self.of, "distance" if self.of.explores else "count")

    def cells(self) -> tuple[str, ...]:
        """Ours, the paper's, that of differential privacy alone, ours as it is told, and what it is with respect to."""
        paper = "-" if self.paper is None else f"{self.paper.scale:,.0f}"
        number = "" if self.unit == 1 else f"{self._word} {_short(self.scale * self.unit, 3)}"
        return _short(self.scale), paper, _short(self.node_dp), number, self.aggregate or "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPlan:
    """Rows, and the public numbers that they follow from."""

    size: Size
    epsilon: Fraction
    sampling: Sampling | None
    average_at_most: Fraction | None
    rows: tuple[Row, ...]
    centred: bool = False

    def as_json(self) -> dict[str, object]:
        return {
            "vertices": self.size.vertices,
            "max_degree": self.size.max_degree,
            "samples": None if self.sampling is None else self.sampling.k,
            "epsilon": to_float(self.epsilon, round_up=True),
            "centred": self.centred,
            "rows": [row.as_json() for row in self.rows],
        }

    def sentence(self) -> str:
        """What the numbers are."""
        sentence = (
            "The count, in whole edges, gets two-sided geometric noise of that scale. "
            f"Each row is private by itself with epsilon = {short(self.epsilon)}"
        )
        if self.sampling is None:
            return f"{sentence}, differentially, for a vertex with all its edges."
        return (
            f"{sentence}: zero-knowledge with respect to {self.sampling.k:,} random people and a walk from each that sees "
            "so many; degree-histogram and triangles differentially, for a vertex with all its edges."
            f"{_CENTRED if self.centred else ''}"
        )


_CENTRED = (
    " The simulator is centred, so that the noise is what the zero-knowledge promise alone needs; differentially a person "
    "may lose more than epsilon, up to twice that."
)
HEADINGS = ("ours", "Prop. 12", "DP alone", "ours, told as", "w.r.t.")


def _short(scale: Fraction, digits: int = 6) -> str:
    return f"{float(rounded(scale, up=True, digits=digits)):,.{digits}g}" if scale else "0"


def plan(
    size: Size,
    of: tuple[Statistic, ...],
    epsilon: Fraction,
    how: Sampling | None,
    average_at_most: Fraction | None = None,
    *,
    centred: bool = False,
) -> GraphPlan:
    """The scales for each statistic, each published by itself with this epsilon."""
    return GraphPlan(
        size=size,
        epsilon=epsilon,
        sampling=how,
        average_at_most=average_at_most,
        rows=tuple(_row(size, each, epsilon, how, average_at_most, centred) for each in of),
        centred=centred,
    )


def _row(
    size: Size, of: Statistic, epsilon: Fraction, how: Sampling | None, bound: Fraction | None, centred: bool
) -> Row:
    unit = Fraction(1)
    if of.explores:
        unit = 1 / size.most_edges
    elif of is Statistic.AVERAGE_DEGREE:
        unit = Fraction(2, size.vertices)
    noise_only = Fraction(sensitivity(of, size)) / epsilon
    if not of.is_sampled or how is None:
        return Row(of=of, scale=noise_only, paper=None, node_dp=noise_only, explores=None, aggregate=None, unit=unit)
    limits = bounds(of, size, how)
    share = None if bound is None or of.explores else bound / size.max_degree
    return Row(
        of=of,
        scale=scale_for(spread(limits, how.k, size.vertices, share, centred=centred), epsilon),
        paper=proposition_12(limits, how.k, float(epsilon), float(most(of, size, bound if share else None))),
        node_dp=noise_only,
        explores=how.s if of.explores else 1,
        aggregate=f"RSE({how.k}, {how.s})" if of.explores else f"RSN({how.k}, 1)",
        unit=unit,
    )


# The paper's calibration, Proposition 12, with its best delta: floating-point numbers, claimed by nobody.
#
# epsilon = ln((1 - beta) e^(min(Delta + delta, W)/scale) + beta e^(W/scale)), beta = 2 e^(-2 k (delta - b)^2/R^2): the
# samples are within delta but for a chance of beta, and then anywhere in the range W of the value.


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
