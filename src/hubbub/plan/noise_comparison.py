"""Both noises for one promise, and from where on the Gaussian one is better."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from hubbub.channels.noise_choice import NoiseChoice, compare, crossover
from hubbub.errors import WrongUse
from hubbub.guarantees.accountant.gaussian import Sensitivity, in_bins, least_normal_variance
from hubbub.numeric.exact import Exact, ball, precision, rounded
from hubbub.numeric.format import numbers, short
from hubbub.numeric.limits import a_delta, a_loss, a_size
from hubbub.protocol.option import option_help
from hubbub.runtime.frozen import dataclass
from hubbub.tables.contribution import ContributionBounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Noises:
    """Geometric and Gaussian noise for people who move the published numbers by at most so much."""

    choice: NoiseChoice
    crossover: int  # the least number of numbers, each moved by 1, from which Gaussian noise is better
    ratio_from: Fraction  # epsilon u/sqrt(2): the L1/L2 from which it is, about

    @property
    def better(self) -> str:
        """The one that a release takes if nobody says which."""
        return self.choice.better

    @property
    def ratio(self) -> float:
        """L1/L2 of what one person moves."""
        return self.choice.sensitivity.l1 / math.sqrt(self.choice.sensitivity.l2_squared)

    def as_json(self) -> dict[str, Any]:
        choice = self.choice
        return {
            **numbers(epsilon=choice.epsilon, delta=choice.delta),
            "numbers": choice.sensitivity.moved,
            "l1": choice.sensitivity.l1,
            "l2": math.sqrt(choice.sensitivity.l2_squared),
            "ratio": self.ratio,
            "gaussian_from_ratio": float(self.ratio_from),
            "geometric": {**numbers(variance=choice.geometric), "deviation": _deviation(choice.geometric), "delta": 0},
            "gaussian": {**numbers(variance=choice.gaussian), "deviation": _deviation(choice.gaussian)},
            "better": self.better,
            "gaussian_from": self.crossover,
        }

    def table(self) -> list[tuple[str, str, str]]:
        """Each noise with the standard deviation of one number, and what it is promised with."""
        choice = self.choice
        pure = f"epsilon {short(choice.epsilon)}, no delta"
        return [
            ("geometric", f"{_deviation(choice.geometric):.4g}", pure),
            (
                "gaussian",
                f"{_deviation(choice.gaussian):.4g}",
                f"epsilon {short(choice.epsilon)}, delta {short(choice.delta)}",
            ),
        ]

    def sentences(self) -> tuple[str, ...]:
        sensitivity = self.choice.sensitivity
        one = "one published number" if sensitivity.moved == 1 else f"up to {sensitivity.moved:,} published numbers"
        name = "Gaussian" if self.better == "gaussian" else "Geometric"
        if sensitivity.ones:
            return (
                f"{name} noise has less error where a person is in {one}.",
                f"For this promise Gaussian noise is the better one from {self.crossover:,} numbers of one person on.",
            )
        return (
            f"{name} noise has less error where a person moves {one} by {sensitivity.l1:,} in all.",
            f"That is {self.ratio:.3g} times the length of the move. For this promise Gaussian noise is the better one "
            f"from about {float(self.ratio_from):.3g} times on.",
        )


def _deviation(variance: Fraction) -> float:
    return math.sqrt(variance)


def noises(
    epsilon: Annotated[Exact, option_help("EPS", "What all numbers together may lose.")],
    delta: Annotated[Exact, option_help("D", "The delta of Gaussian noise.")],
    *,
    bins: Annotated[Exact, option_help("B", "In how many published numbers one person is, at most.")] = 1,
    rows_per_person: Annotated[Exact | None, option_help("M", "How many rows of a person count, at most.")] = None,
    rows_per_bin: Annotated[
        Exact | None, option_help("C", "How many rows of a person count in one bin, at most.")
    ] = None,
    steps: Annotated[Exact, option_help("W", "By how many steps one row moves a number: of a mean its range.")] = 1,
) -> Noises:
    """Geometric and Gaussian noise for the same epsilon, and from where on the Gaussian wins.

    A release with `epsilon` and `delta` takes the better one by itself (`mechanism=auto`). Counts move by 1 for each row;
    means and sums by up to W steps, the declared range or the cap over the step. No data is read.

    Guarantee: both reach the promise, the geometric one without its delta; the better one has the smaller variance.
    """
    loss, allowed = a_loss(epsilon, "`epsilon`"), a_delta(delta, "`delta`")
    if not loss or not 0 < allowed < 1:
        raise WrongUse("both noises need an epsilon above 0, and the Gaussian a delta between 0 and 1; give both")
    many, width = a_size(bins, "`bins`", least=1), a_size(steps, "`steps`", least=1)
    moved = in_bins(many)
    if rows_per_person is not None or rows_per_bin is not None or width > 1:
        each = None if rows_per_bin is None else a_size(rows_per_bin, "`rows_per_bin`", least=1)
        rows = None if rows_per_person is None else a_size(rows_per_person, "`rows_per_person`", least=1)
        bounds = ContributionBounds(
            rows_per_person=rows, distinct=many, rows_per_bin=1 if each is None and rows is None else each
        )
        l1, squares = bounds.rows(many)
        ones = width == 1 and l1 == squares
        touched = bounds.people(many).l1
        moved = Sensitivity(
            l1=width * l1, l2_squared=width**2 * squares, moved=touched * (1 if width == 1 else 2), ones=ones
        )
    with precision():
        u = ball(least_normal_variance(loss, allowed)).sqrt()
        ratio = rounded(ball(loss) * u / arb(2).sqrt(), up=True, digits=4)
    return Noises(choice=compare(loss, allowed, moved), crossover=crossover(loss, allowed), ratio_from=ratio)
