"""Ballots measured and presented: how many go each way through the official rounds, small crowds hidden or with noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from hubbub.channels.mechanisms.exact_above import ExactOrSuppressed
from hubbub.kinds.ballots.noisy_prefixes import STOP, counted_prefixes, noisy_tree, tree_intervals
from hubbub.kinds.ballots.result import PathTable, Row
from hubbub.kinds.ballots.tally_paths import Path, check_recount, in_order, prefix_cells, tally_paths
from hubbub.noise.binomial import binomial
from hubbub.noise.source import Source
from hubbub.numeric.binomial import at_least, at_most
from hubbub.numeric.bisection import first_from
from hubbub.numeric.exact import ball
from hubbub.protocol.measurement import LABELS, Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array, labelled

if TYPE_CHECKING:
    from hubbub.kinds.ballots.spec import PublishedBallots
    from hubbub.voting.ballots import BallotBox

WAY, COUNT = "way", "count"  # columns of what is drawn
_STOPS: Final = "stops"


@dataclass(frozen=True, slots=True)
class Ways:
    """The mechanism of published ballots: how many ballots go each way, those of small crowds hidden; each ballot is
    sampled by a coin of its own (a count becomes Binomial(count, p)), and once. Or, for a noisy tree, a number with
    noise for every node below one that is shown.

    Guarantee: one ballot more or less moves the count of one way by one; of a noisy tree, of one node of each level.
    The law of a way that is shown is that of "at least k, else hidden" on its (sampled) count, or that of the level.
    """

    spec: PublishedBallots

    @property
    def schema(self) -> pa.Schema:
        """The ways that are shown, by the numbers of their candidates, and the number of each."""
        return pa.schema([(WAY, LABELS), (COUNT, pa.int64())])

    def draw(self, exact: Mapping[Path, int], source: Source) -> pa.RecordBatch:
        spec = self.spec
        if spec.method == "noisy":
            visible = noisy_tree(
                exact, spec.official, k=spec.k, depth=spec.depth, epsilon=spec.level_epsilon, source=source
            )
            return in_columns(self, dict(visible))
        counts = np.fromiter(exact.values(), dtype=np.int64, count=len(exact))
        if spec.sample is not None:
            counts = binomial(counts, spec.sample, source)
        published = ExactOrSuppressed(spec.k).release(counts, source)
        numbers = ((way, published.outcome(i)[0]) for i, way in enumerate(exact))
        return in_columns(self, {way: count for way, count in numbers if count is not None})


def in_columns(mechanism: Ways, visible: Mapping[Path, int]) -> pa.RecordBatch:
    """The ways that are shown, under the schema of the mechanism."""
    number = {name: str(i) for i, name in enumerate(mechanism.spec.official.candidates)} | {STOP: _STOPS}
    labels = [" ".join(number[name] for name in way) for way in visible]
    counts = np.array(list(visible.values()), dtype=np.int64)
    columns = [labelled(np.arange(len(labels)), labels), integer_array(counts)]
    return pa.record_batch(columns, schema=mechanism.schema)


def measure(spec: PublishedBallots, data: BallotBox, source: Source) -> Measurement:
    """Guarantee: nothing is drawn unless the ballots give every official total."""
    paths = tally_paths(data.ballots, spec.official)
    check_recount(paths, spec.official)
    match spec.method:
        case "paths":
            exact = paths
        case "prefix":
            exact = prefix_cells(data.ballots, spec.official, spec.k)
        case _:
            exact = counted_prefixes(data.ballots, spec.depth)
    return Measurement(ways=release(Ways(spec), exact, source))


def present(spec: PublishedBallots, measurement: Measurement) -> PathTable:
    """The ways that are shown, in an order that follows from the official record, with their intervals."""
    from hubbub.kinds.ballots.load import check_possible

    drawn = measurement["ways"]
    labels, counts = drawn.texts(WAY), drawn.integers(COUNT).tolist()
    visible = {_path(spec, label): count for label, count in zip(labels, counts, strict=True)}
    check_possible(spec, visible)
    ways = _order_paths(spec, visible)
    ends: list[tuple[int, int | None]]
    if spec.method == "noisy":
        numbers = [visible[way] for way in ways]
        ends = tree_intervals(numbers, k=spec.k, epsilon=spec.level_epsilon, coverage=spec.coverage)
    else:
        ends = [path_interval(visible[way], spec.k, spec.sample, spec.coverage) for way in ways]
    return PathTable(spec, tuple(Row(way, visible[way], *each) for way, each in zip(ways, ends, strict=True)))


def _path(spec: PublishedBallots, label: str | None) -> Path:
    numbers = (label or "").split()
    return tuple(STOP if number == _STOPS else spec.official.candidates[int(number)] for number in numbers)


def _order_paths(spec: PublishedBallots, ways: Iterable[Path]) -> list[Path]:
    """By the candidates as the first official round lists them; a tree level after level."""
    if spec.method != "noisy":
        return in_order(ways, spec.official)
    order = {name: i for i, name in enumerate((*spec.official.candidates, STOP))}
    return sorted(ways, key=lambda way: (len(way), [order[name] for name in way]))


@lru_cache(maxsize=65536)
def path_interval(count: int, k: int, sample: Fraction | None, coverage: Fraction) -> tuple[int, int]:
    """Guarantee: given that the path is shown (at least k of its ballots were sampled), the interval misses its number
    of ballots with probability at most 1 - coverage, at most half of it on either side. A number c is left out below if
    Pr[Bin(c, p) >= count] is at most a tail of Pr[Bin(c, p) >= k]; above, being shown only makes counts larger."""
    if sample is None:
        return count, count
    tail = ball((1 - coverage) / 2)
    low = first_from(lambda c: not at_least(c, sample, count) <= tail * at_least(c, sample, k), count)
    return low, first_from(lambda c: bool(at_most(c, sample, count) <= tail), count) - 1
