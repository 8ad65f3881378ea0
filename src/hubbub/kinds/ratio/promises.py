"""What a ratio of two sums promises, derived from its public description before any data is opened."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from hubbub.channels.divergence import largest_ratio
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours
from hubbub.guarantees.derivation import DMNS, Derivation, Theorem, stated, texts
from hubbub.kinds.histogram.promises import several_rows
from hubbub.kinds.statistic.promises import granted
from hubbub.numeric.format import short
from hubbub.protocol.check import Check
from hubbub.tables.protection import Noise

if TYPE_CHECKING:
    from hubbub.kinds.ratio.spec import Ratio

TWO_SUMS: Final = Theorem("ratio.two-sums", "noise on two sums, each for half of epsilon", DMNS)
_SMALL: Final = 10**6  # rates below this are compared by their quotient: such laws are scaled copies


@lru_cache(maxsize=64)
def promises(spec: Ratio) -> tuple[Derivation, ...]:
    """The promise of the release.

    Guarantee: one row more or less is in one bin at most and moves its two sums by at most a and b steps, the highest
    values there are: noise of rates loss/(2 a) and loss/(2 b) costs loss. Of several rows of a person, as
    :func:`hubbub.kinds.histogram.promises.several_rows`.
    """
    assert isinstance(spec.protection, Noise)
    loss, (one, other), (top, bottom) = spec.unit_loss, spec.rates, spec.tops
    assert loss is not None
    own = stated(
        DifferentialPrivacy(epsilon=loss, neighbours=Neighbours.ADD_REMOVE),
        theorem=TWO_SUMS,
        numbers=texts(epsilon=loss, of=top, of_rate=one, per=bottom, per_rate=other),
        assumptions=(*granted(spec), spec.per.rule),
        people=spec.people,
    )
    return (several_rows(own, spec.unit, spec.bins) if spec.unit.counts_rows else own,)


def checks(spec: Ratio) -> Iterator[Check]:
    """The laws of the noise at how far one row moves each sum.

    Guarantee: a check that passed means that both together lose no more than is claimed of one row.
    """
    loss = spec.noise_loss
    worst = sum(top * rate for top, rate in zip(spec.tops, spec.rates, strict=True))
    near = [(top, rate) for top, rate in zip(spec.tops, spec.rates, strict=True) if rate * _SMALL >= 1]
    exact = all(largest_ratio(Geometric(rate).law(top), Geometric(rate).law(0)) == top * rate for top, rate in near)
    found = f"one row moves them by at most {spec.tops[0]:,} and {spec.tops[1]:,} steps, which costs {short(worst, 9)}"
    yield Check("the noise of the two sums", exact and worst <= loss, found)
