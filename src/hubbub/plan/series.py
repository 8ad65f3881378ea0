"""The ways to publish the same numbers every period under one promise, side by side."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any, Final

from hubbub.errors import WrongUse
from hubbub.numeric.exact import Exact, to_float
from hubbub.numeric.format import numbers, short
from hubbub.numeric.limits import a_crowd, a_delta, a_loss, a_rate, a_size
from hubbub.protocol.option import option_help
from hubbub.query_classes.series import (
    MOST_PERIODS,
    Blocks,
    Factor,
    best_blocks,
    best_factor,
    geometric_variance,
    least_factor,
)
from hubbub.runtime.frozen import dataclass

INCREMENTS: Final = "increments"
BLOCKS: Final = "blocks"
FACTOR: Final = "factor"
OWN_NOISE: Final = "own noise per table"
FRESH_SAMPLES: Final = "fresh samples"
ONE_PANEL: Final = "one panel"
CROWDS: Final = "crowd increments"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to publish a series: the largest variance of a running total and of an increment, and its delta.

    `strategy` draws it, where a series can be started so. `promise` is what it promises, in words; the other ways promise
    differential privacy.
    """

    name: str
    total: Fraction
    increment: Fraction
    delta: Fraction
    how: str
    strategy: Blocks | Factor | None = None
    promise: str = ""
    known: Fraction | None = None  # p of the class iRS(p), where it is a promise of zero-knowledge privacy
    inner: Fraction | None = None  # the epsilon of the noise on one number inside a sample

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "sd_total": _deviation(self.total),
            "sd_increment": _deviation(self.increment),
            **numbers(delta=self.delta),
            "how": self.how,
            **(
                {"class": f"iRS({short(self.known)})", **numbers(inner_epsilon=self.inner)}
                if self.known is not None and self.inner is not None
                else {}
            ),
            **({"promise": self.promise} if self.promise else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPlan:
    """All ways for one promise, those with the same promise first, the smallest error of a running total first."""

    periods: int
    recur: int
    epsilon: Fraction
    ways: tuple[Way, ...]

    @property
    def best(self) -> Way:
        """Of the ways that keep the promise that was asked for, the one with the least error."""
        return self.ways[0]

    def as_json(self) -> dict[str, Any]:
        return {
            "periods": self.periods,
            "recur": self.recur,
            **numbers(epsilon=self.epsilon),
            "ways": [way.as_json() for way in self.ways],
            "best": self.best.name,
        }

    def table(self) -> list[tuple[str, str, str, str]]:
        """Each way with its errors and its delta."""
        return [
            (way.name, f"{_deviation(way.total):.3g}", f"{_deviation(way.increment):.3g}", short(way.delta))
            for way in self.ways
        ]

    def sentences(self) -> tuple[str, ...]:
        best = self.best
        found = [
            f"Best: {best.name} ({best.how}). The standard error of a running total is then at most "
            f"{_deviation(best.total):.3g}, that of the number of one period {_deviation(best.increment):.3g}.",
            f"The promise, epsilon {short(self.epsilon)}, is for all {self.periods:,} periods together, and is charged once.",
        ]
        if self.recur < self.periods:
            found.append(f"Each person counts in their first {_periods(self.recur)}, and in no other.")
        others = [way for way in self.ways if way.promise]
        found += [f"{way.name[:1].upper()}{way.name[1:]}: {way.promise}." for way in others]
        return tuple(found)


def _periods(many: int) -> str:
    return "period" if many == 1 else f"{many:,} periods"


def _deviation(variance: Fraction) -> float:
    return math.sqrt(to_float(variance, round_up=True))


def series(
    periods: Annotated[Exact, option_help("T", "How many periods are published, like 12 months.")],
    epsilon: Annotated[Exact, option_help("EPS", "What all periods together may lose.")],
    *,
    recur: Annotated[Exact, option_help("R", "In how many periods one person counts, at most.")] = 1,
    delta: Annotated[Exact | None, option_help("D", "The delta of Gaussian noise; without it, none.")] = None,
    tables: Annotated[Exact, option_help("B", "In how many numbers of one period a person is, at most.")] = 1,
    sample: Annotated[
        Exact | None, option_help("P", "Also show secret samples of this rate, for zero-knowledge privacy.")
    ] = None,
    crowd: Annotated[Exact | None, option_help("K", "Also show exact increments of at least K people.")] = None,
) -> SeriesPlan:
    """The ways to publish the same table every period: errors of running totals and of increments, best first.

    All of them promise the same for all periods together: increments and blocks have geometric noise, the factor has
    Gaussian noise on a factor of the running sums, `own noise per table` a share of the promise for every total. No data
    is read.

    Guarantee: each way keeps the promise by its own theorem; variances are exact, or upper bounds next to it.
    """
    many, loss = a_size(periods, "`periods`", least=1), a_loss(epsilon, "`epsilon`")
    often, numbers_each = a_size(recur, "`recur`", least=1), a_size(tables, "`tables`", least=1)
    if many > MOST_PERIODS:
        raise WrongUse(f"a series has at most {MOST_PERIODS:,} periods, not {many:,}; plan a shorter one")
    if often > many:
        raise WrongUse(f"nobody is in more than the {many:,} periods there are; lower `recur` to that")
    if not loss:
        raise WrongUse("a series needs an epsilon above 0; give one, like 1")
    found = _pure(many, often, numbers_each, loss)
    if delta is not None:
        allowed = a_delta(delta, "`delta`")
        found += _gaussian(many, often, numbers_each, loss, allowed)
    ways = sorted(found, key=lambda way: (way.total, way.delta))
    once = {way.name: way for way in reversed(ways)}  # of two noises on every table the better one
    ways = sorted(once.values(), key=lambda way: (way.total, way.delta))
    if sample is not None:
        rate = a_rate(sample, "`sample`")
        if not 0 < rate < 1:
            raise WrongUse("a secret sample has a rate between 0 and 1; give one, like 0.1")
        ways += _samples(many, often, numbers_each, loss, rate)
    if crowd is not None:
        ways.append(_crowds(a_crowd(crowd, "`crowd`", least=2), many))
    return SeriesPlan(periods=many, recur=often, epsilon=loss, ways=tuple(ways))


def _pure(periods: int, recur: int, tables: int, epsilon: Fraction) -> list[Way]:
    plain = Blocks(periods=periods, recur=recur, l1=tables, epsilon=epsilon)
    found = [_way(INCREMENTS, plain, "geometric noise on every increment")]
    blocks = best_blocks(periods, recur, tables, epsilon)
    if blocks.block > 1:
        found.append(_way(BLOCKS, blocks, f"geometric noise on increments and on blocks of {blocks.block} periods"))
    moved = sum(min(t, recur) for t in range(1, periods + 1)) * tables
    total = geometric_variance(epsilon / moved)
    found.append(
        Way(name=OWN_NOISE, total=total, increment=2 * total, delta=Fraction(0), how="geometric noise on every total")
    )
    return found


def _gaussian(periods: int, recur: int, tables: int, epsilon: Fraction, delta: Fraction) -> list[Way]:
    best = best_factor(periods, recur, tables, tables, epsilon, delta)
    own = least_factor(periods, recur, tables, tables, epsilon, delta, Fraction(1))
    return [
        _way(
            FACTOR,
            best,
            f"Gaussian noise on a factor of the running sums, theta {to_float(best.theta, round_up=True):g}",
        ),
        Way(name=OWN_NOISE, total=own.s2, increment=2 * own.s2, delta=own.delta, how="Gaussian noise on every total"),
    ]


def _way(name: str, strategy: Blocks | Factor, how: str) -> Way:
    total, increment = strategy.largest_variances
    return Way(
        name=name,
        total=total,
        increment=increment,
        delta=strategy.delta,
        how=how,
        strategy=strategy,
    )


def _samples(periods: int, recur: int, tables: int, epsilon: Fraction, rate: Fraction) -> list[Way]:
    """Zero-knowledge privacy by samples; the noise is that inside a sample.

    Guarantee: that of :class:`Blocks` with a sample.
    """
    found = []
    for name, panel, which in (
        (FRESH_SAMPLES, False, "of every period, drawn anew"),
        (ONE_PANEL, True, "of people, kept for all periods"),
    ):
        strategy = Blocks(periods=periods, recur=recur, l1=tables, epsilon=epsilon, sample=rate, panel=panel)
        way = _way(
            name, strategy, f"a secret sample {which}, and geometric noise of epsilon {short(strategy.single_rate, 3)}"
        )
        promise = (
            f"class iRS({short(strategy.known_rate)}), epsilon {short(epsilon)}: zero-knowledge privacy; what is told could be "
            f"told from a secret sample that has each person with probability {short(strategy.known_rate)}; errors are of "
            "numbers in the sample"
        )
        found.append(replace(way, promise=promise, known=strategy.known_rate, inner=strategy.single_rate))
    return found


def _crowds(k: int, periods: int) -> Way:
    return Way(
        name=CROWDS,
        total=Fraction(0),
        increment=Fraction(0),
        delta=Fraction(0),
        how=f"exact increments of at least {k:,} people, the others hidden for good",
        promise=(
            f"crowd-blending in crowds of {k:,}, and no differential privacy; each person counts in their first period; a "
            f"total may lack up to {k - 1:,} people for each hidden period, at most {(k - 1) * periods:,}"
        ),
    )
