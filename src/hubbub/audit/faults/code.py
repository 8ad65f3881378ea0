"""Functions with a fault in the code around the noise, and the same without: what replay and many runs must see.

They take a table and a source, as a function of a user's would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np

from hubbub.audit.blackbox import compare, repeated
from hubbub.audit.finding import Finding
from hubbub.audit.replay import replay
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.noise.source import Source, SystemSource
from hubbub.numeric.exact import rational

TOWNS: Final = ("Bath", "Wells", "York")
RATE: Final = rational(1)

Visit: TypeAlias = tuple[str, str]  # person, town
Counter: TypeAlias = Callable[[Sequence[Visit], Source], Mapping[str, int]]

SOME: Final[tuple[Visit, ...]] = tuple((f"p{i}", TOWNS[i % 2]) for i in range(9))
MORE: Final[tuple[Visit, ...]] = (*SOME, *(("t", "York") for _ in range(20)))


def _noisy(counts: Sequence[int], source: Source) -> list[int]:
    return [int(x) for x in Geometric(RATE).release(np.array(counts, dtype=np.int64), source).values]


def by_rows(visits: Sequence[Visit], source: Source) -> Mapping[str, int]:
    """Every row counts."""
    towns = [town for _, town in visits]
    return dict(zip(TOWNS, _noisy([towns.count(town) for town in TOWNS], source), strict=True))


def by_people(visits: Sequence[Visit], source: Source) -> Mapping[str, int]:
    """A person counts once, where they were first."""
    towns = list(dict(reversed(visits)).values())
    return dict(zip(TOWNS, _noisy([towns.count(town) for town in TOWNS], source), strict=True))


def occupied(visits: Sequence[Visit], source: Source) -> Mapping[str, int]:
    """Bins are those with somebody in them."""
    towns = [town for _, town in visits]
    seen = sorted(set(towns))
    return dict(zip(seen, _noisy([towns.count(town) for town in seen], source), strict=True))


declared = by_people  # every declared bin gets its noise


def cut_by_the_data(ages: Sequence[int], source: Source) -> Mapping[str, int]:
    """Four ranges up to the oldest."""
    return _cut(ages, max(ages) // 4 + 1, source)


def cut_as_declared(ages: Sequence[int], source: Source) -> Mapping[str, int]:
    """Four ranges up to 120."""
    return _cut(ages, 30, source)


def _cut(ages: Sequence[int], width: int, source: Source) -> Mapping[str, int]:
    counts = [sum(i * width <= age < (i + 1) * width for age in ages) for i in range(4)]
    named = [f"{i * width} to {(i + 1) * width}" for i in range(4)]
    return dict(zip(named, _noisy(counts, source), strict=True))


def naive_laplace(count: int, source: Source) -> float:
    """The logarithm of a uniform float, as textbooks have it."""
    word = int(source.words(1)[0])
    half = (word >> 11) / (1 << 53) - 0.5
    return count - math.copysign(math.log(1 - 2 * abs(half) or 2**-53), half)


def geometric(count: int, source: Source) -> int:
    """Integers, exactly drawn."""
    return _noisy([count], source)[0]


# --- audits ---------------------------------------------------------------------------------------------------------


def rows(count: Counter) -> Finding:
    """With and without somebody who has twenty rows."""
    return replay(count, SOME, MORE, distance=1, subject=count.__name__)


def bins(count: Counter) -> Finding:
    """With and without the only person of a town."""
    return replay(count, SOME, (*SOME, ("t", "York")), distance=1, subject=count.__name__)


def ages(cut: Callable[[Sequence[int], Source], Mapping[str, int]]) -> Finding:
    """With and without the oldest."""
    some = [3, 17, 34, 45, 52, 61, 78]
    return replay(cut, some, [*some, 107], distance=1, subject=cut.__name__)


def bits(noise: Callable[[int, Source], float]) -> Finding:
    """Counts of 0 and 1."""
    source = SystemSource()
    none, one = (repeated(lambda count=count: noise(count, source)) for count in (0, 1))  # type: ignore[misc]
    return compare(none, one, epsilon=1, runs=4000, subject=noise.__name__)
