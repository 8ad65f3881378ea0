"""The one theorem, of every declaration: its peaks are the maximum, and its rates cost what is promised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from hubbub.kinds.sums.count import count
from hubbub.kinds.sums.fraction import fraction
from hubbub.kinds.sums.mean import mean
from hubbub.kinds.sums.promises import laws_hold
from hubbub.kinds.sums.ratio import ratio
from hubbub.kinds.sums.spec import Declared
from hubbub.kinds.sums.sums import Sums
from hubbub.kinds.sums.variance import Deviation, spread
from hubbub.tables.protection import Crowd


def declared() -> Iterator[Declared]:
    """Every declaration, over short ranges of many lengths."""
    for width in (*range(1, 20), 40):
        of = f"x:0..{width}:1"
        yield ratio(of=of, per="y:2..9:1", epsilon="1")
        yield spread(Deviation, of=of, epsilon="1")
        yield spread(Deviation, of=of, crowd="3", epsilon="1")
        yield mean(of=of, epsilon="1")
        yield mean(of=of, crowd="3", epsilon="1")
        yield mean(of=of, zero_knowledge="1", rows=10, people=20)
    yield fraction(where="x >= 1", by=["y=a,b"], epsilon="1")
    yield fraction(where="x >= 1", crowd="3", epsilon="1")
    yield fraction(where="x >= 1", zero_knowledge="1", rows=10, people=20)
    yield count(by=["y=a,b"], zero_knowledge="1", rows=10, people=20)


def everything(sums: Sums) -> Iterator[tuple[int, ...]]:
    if not sums.measures:  # a condition, which is met or not, or nothing
        return iter(sums.peaks)
    return product(*(range(each.steps + 1) for each in sums.measures))


def steps(spec: Declared) -> int:
    return max((each.steps for each in spec.measures), default=1)


def loses(spec: Declared, sums: Sums, of: Iterator[tuple[int, ...]] | None = None) -> Fraction:
    return sums.loss_of_replacing(of) if isinstance(spec.protection, Crowd) else sums.loss(of)


@pytest.mark.parametrize("spec", list(declared()), ids=lambda spec: f"{spec.kind.name}-{steps(spec)}")
def test_nobody_loses_more_than_at_the_peaks_nor_than_is_promised(spec: Declared) -> None:
    """Every x of the range, exactly; and a rate that is a twentieth higher is found."""
    sums = spec.sums
    assert loses(spec, sums, everything(sums)) == loses(spec, sums) <= spec.noise_loss
    assert sums.largest == max(max(map(abs, sums.contribution(1, *x))) for x in everything(sums))
    assert laws_hold(sums)
    assert all(check.passed for check in spec.checks())
    higher = replace(sums, rates=tuple(rate * Fraction(21, 20) for rate in sums.rates))
    if steps(spec) >= 8:
        assert loses(spec, higher) > spec.noise_loss
