"""How far a total will be off, for each way to publish it, from public numbers alone.

What people have is taken to be log-normal: half of them have at most the typical amount, and the deviation of its
logarithm is the spread. A release knows nothing of that. What is worked out is the root of the mean squared error

::

    a cap        what the model has above it, and the noise, which is as wide as the cap
    auto         the same on average over the caps that may be drawn, as likely as the model makes them
    layers       the first layer that is drowned by its noise is as likely as the noise of each layer makes it
    octaves      bands as the model fills them

and for the last three it is an approximation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.kinds.sum.cap import allowed
from hubbub.kinds.sum.estimates import DROWNED
from hubbub.kinds.sum.octaves import SURE, Octaves
from hubbub.kinds.sum.request import from_options
from hubbub.kinds.sum.spec import Sum
from hubbub.numeric.bisection import first_from
from hubbub.numeric.exact import Exact, positive
from hubbub.numeric.format import readable
from hubbub.numeric.limits import a_size
from hubbub.protocol.option import option_help
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bounded_column import measured

_MODEL: Final = 4000  # amounts that stand for all people
_FAR, _POINTS = 40, 4001  # scales of noise on either side, and points between
_WINDOW: Final = 2000  # people on either side of a band of whom J is looked at
_PERSON: Final = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class WayToSum:
    """One way, with what the release is asked for by and how far a total is off."""

    name: str
    option: str
    noise: float  # the deviation of the noise
    lost: float  # what is left out, on average
    error: float

    def as_json(self) -> dict[str, Any]:
        return {"way": self.name, "option": self.option, "noise": self.noise, "lost": self.lost, "error": self.error}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSums:
    """Every way to publish a total, the least error first."""

    total: float  # of a bin, by the model
    bins: int
    ways: tuple[WayToSum, ...]

    @property
    def best(self) -> WayToSum:
        return self.ways[0]

    def as_json(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "bins": self.bins,
            "best": self.best.option,
            "ways": [w.as_json() for w in self.ways],
        }

    def table(self) -> list[tuple[str, str, str, str]]:
        return [
            (way.name, readable(Fraction(round(way.error))), f"{100 * way.error / self.total:.2g} %", way.option)
            for way in self.ways
        ]

    def sentences(self) -> tuple[str, ...]:
        whole = "The total" if self.bins == 1 else f"The total of each of {self.bins:,} bins"
        return (
            f"{whole} is about {readable(Fraction(round(self.total)))}, if people have what you said.",
            "A cap that is known from elsewhere is better than one that is chosen in private. The errors of layers, "
            "octaves and a chosen cap are approximations, and all of them are as good as what you said about people.",
        )


def sums(
    of: Annotated[str, option_help("RANGE", "What is added up: column:LOW..HIGH, like cost:0..50000.")],
    people: Annotated[Exact, option_help("N", "About how many people there are.")],
    epsilon: Annotated[Exact, option_help("EPS", "What the sum may lose.")],
    typical: Annotated[Exact, option_help("X", "What half of the people have at most, from public knowledge.")],
    *,
    spread: Annotated[Exact, option_help("S", "The deviation of the logarithm: 0.5 even, 1 uneven, 2 wild.")] = 1,
    caps: Annotated[Sequence[str], option_help("A", "A cap to look at; repeat it for several.")] = (),
    bins: Annotated[Exact, option_help("B", "Over how many bins people are spread.")] = 1,
    rows_per_person: Annotated[Exact | None, option_help("M", "How many rows of a person count, at most.")] = None,
) -> PlannedSums:
    """How far a total will be off: with a cap, in layers, with a cap that is chosen in private, in octaves.

    Everything comes from public numbers: the declared range, about how many people there are, and what they typically
    have in all of their rows together. No data is read. Without `caps` a few are looked at.
    """
    n, many = a_size(people, "`people`", least=1), a_size(bins, "`bins`", least=1)
    middle, deviation = positive(typical, "typical"), positive(spread, "spread")
    measure = measured(of)
    if measure.low < 0 or not middle <= measure.high * (1 if rows_per_person is None else a_size(rows_per_person, "M")):
        raise WrongUse("the typical amount lies in the range, which begins at 0 or above; choose another")

    def spec_of(**words: Any) -> Sum:
        by = [f"bin:0..{many}:1"] if many > 1 else []
        return from_options(person=_PERSON, of=of, by=by, rows_per_person=rows_per_person, **words)

    spread_over = 1 if rows_per_person is None else min(many, a_size(rows_per_person, "M"))
    layered = spec_of(epsilon=epsilon, cap="layers")
    share = max(n * spread_over / many, 1.0)  # people with something in a bin
    ranks = (np.arange(_MODEL) + 0.5) / _MODEL
    amounts = float(middle / measure.step) * np.exp(float(deviation) * np.array([*map(NormalDist().inv_cdf, ranks)]))
    whole = np.clip(np.rint(amounts), 0, layered.most_in_all)
    model = _Model(np.clip(np.rint(whole / spread_over), 0, layered.top), share / _MODEL, whole, n / _MODEL)
    ways = [_way_with_cap(spec_of(epsilon=epsilon, cap=cap), model) for cap in caps or _some_caps(layered, model)]
    ways += [_layers(layered, model), _way_with_private_cap(spec_of(epsilon=epsilon, cap="auto"), model)]
    ways.append(_octaves(spec_of(tailored=str(positive(epsilon, "epsilon"))), model))
    unit = float(layered.unit_step)
    scaled = [
        WayToSum(name=w.name, option=w.option, noise=w.noise * unit, lost=w.lost * unit, error=w.error * unit)
        for w in ways
    ]
    return PlannedSums(total=model.total * unit, bins=many, ways=tuple(sorted(scaled, key=lambda way: way.error)))


@dataclass(frozen=True, slots=True)
class _Model:
    """What people have in a bin, in steps, each amount of so many people; and what they have in all bins."""

    x: NDArray[np.float64]
    each: float
    whole: NDArray[np.float64]
    everybody: float

    @property
    def total(self) -> float:
        return float(self.x.sum()) * self.each

    def above(self, cap: float) -> float:
        """What a cap on what people have in all bins takes from a bin."""
        cut = np.where(self.whole > cap, self.x * (1 - cap / np.maximum(self.whole, 1)), 0)
        return float(cut.sum()) * self.each

    def layer(self, low: float, high: float) -> float:
        return float((np.clip(self.x, low, high) - low).sum()) * self.each


def _some_caps(spec: Sum, model: _Model) -> Iterator[str]:
    """Where the noise is as much as what is lost, half of that, twice that, and the maximum; whole steps."""
    epsilon = float(spec.shares[0])
    most = spec.most_in_all
    best = min(
        (2 ** (i / 4) for i in range(4 * most.bit_length()) if 2 ** (i / 4) <= most),
        key=lambda cap: _root(model.above(cap), _deviation(epsilon / cap)),
        default=float(most),
    )
    steps = {max(min(round(best * factor), most), 1) for factor in (0.5, 1, 2)} | {most}
    for cap in sorted(steps):
        yield str(cap * spec.of.step)


def _way_with_cap(spec: Sum, model: _Model) -> WayToSum:
    noise, lost = _deviation(float(spec.rates[0])), model.above(float(spec.most_in_all))
    assert spec.cap is not None
    said = readable(spec.cap)
    return WayToSum(
        name=f"at most {said} of a person", option=f"--cap {spec.cap}", noise=noise, lost=lost, error=_root(lost, noise)
    )


def _way_with_private_cap(spec: Sum, model: _Model) -> WayToSum:
    for_sum, for_cap, _ = spec.shares
    left, points = allowed(spec), np.array(spec.cap_points, dtype=np.float64)
    above = np.array([float((model.whole > point).sum()) * model.everybody for point in points])
    exponents = np.arange(points.size) + float(for_cap) * np.maximum(above - left, 0)
    law = np.exp(exponents.min() - exponents)
    law /= law.sum()
    lost = np.array([model.above(point) for point in points])
    noise = np.array([_deviation(float(for_sum) / point) for point in points])
    return WayToSum(
        name="a cap that is chosen",
        option="--cap auto",
        noise=math.sqrt(float(law @ noise**2)),
        lost=float(law @ lost),
        error=math.sqrt(float(law @ (noise**2 + lost**2))),
    )


def _layers(spec: Sum, model: _Model) -> WayToSum:
    """Noises are independent, so that which layer is the first that drowns has a law, and given it so has the error."""
    z = np.linspace(-_FAR, _FAR, _POINTS)
    mass = np.exp(-np.abs(z))
    mass /= mass.sum()
    lows, rates = (0, *spec.layers.tops[:-1]), [float(rate) for rate in spec.rates]
    sums = [model.layer(low, top) for low, top in zip(lows, spec.layers.tops, strict=True)]
    rest, chance, mean, variance, square, noise = sum(sums), 1.0, 0.0, 0.0, 0.0, 0.0
    for j, (held, rate) in enumerate(zip(sums, rates, strict=True)):
        drowned = held * rate + z < DROWNED
        here = float(mass[drowned].sum())
        rest -= held
        if here and j:
            fills = sums[j - 1] * rates[j - 1]  # in scales of its noise, which is as many people in every layer
            part = np.clip(held * rate + z[drowned], 0, max(fills, 0)) / rate - held
            law = mass[drowned] / here
            off = float((part * law).sum())
            more = float((part**2 * law).sum()) - off**2
            square += chance * here * ((mean + off - rest) ** 2 + variance + more)
            noise += chance * here * (variance + more)
        elif here:
            square += chance * here * sum(sums) ** 2
        chance *= 1 - here
        if not chance:
            break
        law = mass[~drowned] / (1 - here)
        off = float((z[~drowned] * law).sum()) / rate
        mean, variance = mean + off, variance + float((z[~drowned] ** 2 * law).sum()) / rate**2 - off**2
    square += chance * (mean**2 + variance)
    error = math.sqrt(square)
    return WayToSum(
        name="in layers",
        option="--cap layers",
        noise=math.sqrt(noise),
        lost=math.sqrt(max(square - noise, 0)),
        error=error,
    )


def _octaves(spec: Sum, model: _Model) -> WayToSum:
    """A band counts with the chance that its number of people is large enough, and so are those towards the fullest."""
    octaves, lost, square = spec.octaves, 0.0, 0.0
    inside = [(model.x >= low) & (model.x <= high) for low, high in octaves.bands]
    people = [round(float(each.sum()) * model.each) for each in inside]
    least = SURE + math.log(len(people))
    enough = first_from(lambda j: float(octaves.channel.total_loss(j)) >= least, 0)
    alone = [float(octaves.channel.mass_at_least(each, enough).mid()) for each in people]
    fullest = max(range(len(people)), key=lambda j: people[j])
    for j, ((low, high), number) in enumerate(zip(octaves.bands, people, strict=True)):
        held = float(model.x[inside[j]].sum()) * model.each
        drawn, law = _number_law(octaves, number)
        told = np.array([octaves.has_sum(j, each) for each in drawn.tolist()])
        off = np.where(told, low * (drawn - number), (low + high) / 2 * drawn - held)
        off = np.where(drawn >= enough, off, -held)
        extra = np.array(
            [
                2 / float(octaves.rate(j, each)) ** 2 if sum_told else 0.0
                for each, sum_told in zip(drawn.tolist(), told, strict=True)
            ]
        )
        others = math.prod(alone[min(j, fullest) : max(j, fullest) + 1]) / max(alone[j], 1e-300)
        mean = others * float((law * off).sum()) - (1 - others) * held
        second = others * float((law * (off**2 + extra)).sum()) + (1 - others) * held**2
        lost, square = lost - mean, square + second - mean**2
    assert spec.tailored is not None
    noise, option = math.sqrt(square), f"--tailored {spec.tailored.curve}"
    return WayToSum(name="in octaves", option=option, noise=noise, lost=lost, error=_root(lost, noise))


def _number_law(octaves: Octaves, people: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The values of J that matter, and their chances."""
    channel, first = octaves.channel, octaves.half.at(1)
    assert isinstance(first, Fraction)
    far = min(int(30 / first) + 10, _WINDOW)
    drawn = np.arange(max(people - far, 0), people + far + 1)
    law = np.exp(-np.abs(np.array([float(channel.total_loss(j) - channel.total_loss(people)) for j in drawn.tolist()])))
    law[drawn == 0] /= -math.expm1(-float(first))
    return drawn, law / law.sum()


def _deviation(rate: float) -> float:
    """Of two-sided geometric noise."""
    q = math.exp(-rate)
    return math.sqrt(2 * q) / -math.expm1(-rate)


def _root(*parts: float) -> float:
    return math.sqrt(sum(part**2 for part in parts))
