"""Estimates of a graph from k random vertices, with intervals that are proved. They protect nobody."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from hubbub.graphs.graph import Graph, Neighbours, neighbours
from hubbub.graphs.samplers import error, estimate_of, seshadhri, seshadhri_interval
from hubbub.graphs.statistics import Sampling, Size, Statistic, most
from hubbub.noise.source import Source
from hubbub.numeric.exact import rounded, to_float, to_text
from hubbub.runtime.frozen import dataclass

NOT_PRIVATE: Final = (
    "These numbers come from real people and protect none of them: they are for you, not for publication."
)

_MARKO_RON: Final = "Marko and Ron, midpoint"
_PLAIN: Final = "degrees of random vertices"
_SESHADHRI: Final = "Seshadhri, a random friend of each"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What the samples say, and where the truth lies with the stated confidence."""

    of: Statistic
    method: str
    value: Fraction
    low: Fraction
    high: Fraction
    confidence: Fraction
    sampling: Sampling

    def as_json(self) -> dict[str, object]:
        return {
            "of": self.of.value,
            "method": self.method,
            "value": float(self.value),
            "low": to_float(self.low, round_up=False),
            "high": to_float(self.high, round_up=True),
            "confidence": to_text(self.confidence),
            "samples": self.sampling.k,
            "explores": self.sampling.s if self.of.explores else 1,
        }

    def cells(self) -> tuple[str, str, str, str]:
        """What, how, how much, within what."""
        low, high = rounded(self.low, up=False, digits=4), rounded(self.high, up=True, digits=4)
        within = f"{float(low):,.6g} to {float(high):,.6g}"
        return self.of.value, self.method, f"{float(self.value):,.6g}", within


def estimates(
    graph: Graph, size: Size, of: tuple[Statistic, ...], how: Sampling, confidence: Fraction, source: Source
) -> tuple[Estimate, ...]:
    """One estimate for each statistic, and for the average degree two.

    Guarantee: each interval contains the truth with probability at least `confidence`, on every graph of that size, by
    the bounds of :mod:`hubbub.graphs.samplers`.
    """
    around = neighbours(graph)
    found = []
    for each in of:
        found.append(_estimate_rows(each, around, size, how, confidence, source))
        if each is Statistic.AVERAGE_DEGREE:
            value = seshadhri(around, how.k, source)
            low, high = seshadhri_interval(value, size.vertices, size.max_degree, how.k, 1 - confidence)
            found.append(_estimate(each, _SESHADHRI, value, low, high, confidence, how))
    return tuple(found)


def _estimate_rows(
    of: Statistic, around: Neighbours, size: Size, how: Sampling, confidence: Fraction, source: Source
) -> Estimate:
    unit = Fraction(2, size.vertices) if of is Statistic.AVERAGE_DEGREE else Fraction(1)
    value, off, top = estimate_of(of, around, how, source), error(of, size, how, 1 - confidence), most(of, size)
    low, high = min(max(value - off, Fraction(0)), top), max(min(value + off, top), Fraction(0))
    method = _MARKO_RON if of.explores else _PLAIN
    return _estimate(of, method, value * unit, low * unit, high * unit, confidence, how)


def _estimate(
    of: Statistic, method: str, value: Fraction, low: Fraction, high: Fraction, confidence: Fraction, how: Sampling
) -> Estimate:
    return Estimate(of=of, method=method, value=value, low=low, high=high, confidence=confidence, sampling=how)
