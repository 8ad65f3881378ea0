"""A table of ballots, as a value: everything about it that is public, before any ballot is read.

Ballots by their way through the official rounds (tally paths), through "at least k, else hidden", on a fresh secret
half of them; or exact; or by prefixes of a public tree; or a tree with noise on every node. There is no option
whose cells depend on the ballots: for those no such promise can hold (adaptive shortening is not crowd-blending).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path as File
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from hubbub.channels.mechanisms.exact_or_suppressed import ExactOrSuppressed
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.people import People
from hubbub.kinds.ballots import promises as ballots_promises
from hubbub.kinds.ballots import text
from hubbub.kinds.ballots.noisy_prefixes import STOP, counted_prefixes, level_channel, noisy_tree, tree_intervals
from hubbub.kinds.ballots.path_intervals import path_interval
from hubbub.kinds.ballots.public_tree import prefix_cells
from hubbub.kinds.ballots.result import PathTable, Row
from hubbub.kinds.ballots.tally_paths import Path, check_recount, in_order, tally_paths
from hubbub.noise.binomial import binomial
from hubbub.noise.source import Source
from hubbub.numeric.exact import to_text
from hubbub.protocol.channel_checks import laws
from hubbub.protocol.check import Check
from hubbub.protocol.measurement import LABELS, Measurement, release
from hubbub.protocol.spec import CompositionInfo, Description, Kind, Spec
from hubbub.serialization.arrow import labelled, whole
from hubbub.serialization.canonical import Plain, digest
from hubbub.serialization.exact_json import plain
from hubbub.serialization.published_files import Files
from hubbub.voting.ballots import Ballots
from hubbub.voting.count.official import Official, read_official

METHODS = ("paths", "prefix", "noisy")
_DEEPEST = 6
WAY, COUNT = "way", "count"  # columns of what is drawn
_STOPS = "stops"


@dataclass(frozen=True, slots=True)
class BallotBox:
    """Ballots that were read, and by what the ledger knows their file."""

    ballots: Ballots
    source: Any = None

    def columns(self) -> tuple[str, ...]:
        return ()

    def identity(self) -> Any:
        return self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedBallots(Spec):
    """Ballots of an election, published beside its official record."""

    kind: ClassVar[Kind]  # set where the kind is made, in hubbub.kinds.ballots.request
    official: Official
    method: str = "paths"
    k: int = 30
    sample: Fraction | None = Fraction(1, 2)
    at_delta: Fraction = Fraction(1, 10**6)
    coverage: Fraction = Fraction(19, 20)
    depth: int = 3  # ranks of a noisy tree
    epsilon: Fraction = Fraction(1)  # of a noisy tree, all levels together

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise WrongUse(f"ballots are published by {', '.join(METHODS)}, not {self.method[:20]!r}; choose one")
        if self.k < 2:
            raise WrongUse(f"k must be at least 2, not {self.k}; 30 is the default")
        rates = [self.at_delta, self.coverage, *([] if self.sample is None else [self.sample])]
        if not all(0 < rate < 1 for rate in rates):
            raise WrongUse("sample, at-delta and coverage must lie between 0 and 1; choose others")
        if self.method == "noisy":
            if self.sample is not None or not 2 <= self.depth <= _DEEPEST or self.epsilon <= 0:
                raise WrongUse(f"a noisy tree has no sample, 2 to {_DEEPEST} ranks and an epsilon above 0; choose so")
        elif self.method == "prefix" and self.sample is None and len(self.official.rounds) > 1:
            raise Refused(
                "exact prefixes beside round totals can be subtracted from them until single ballots are left, so this "
                "is refused; leave out `full_count`, or publish paths"
            )

    @property
    def people(self) -> People:
        return ballots_promises.VOTERS

    @property
    def level_epsilon(self) -> Fraction:
        """What a level of a noisy tree may lose."""
        return self.epsilon / (self.depth - 1)

    @property
    def shown_above(self) -> int:
        """The largest number that is not shown."""
        return self.k - 1 if self.method != "noisy" else level_channel(self.k, self.level_epsilon).show_above or 0

    @property
    def enforced_number(self) -> int | None:
        """None: the totals that are enforced are those of the official record, which the promise leaves out and says so
        (:mod:`hubbub.kinds.ballots.promises`)."""
        return None

    def bind(self, schema: Any) -> Self:
        return self

    def promises(self) -> tuple[Derivation, ...]:
        """Guarantee: each is a theorem applied to the one before, or the call is refused."""
        return ballots_promises.promises(self)

    def composition(self) -> CompositionInfo:
        if self.method == "noisy":
            return CompositionInfo()
        public: dict[str, Plain] = {"official": self.official.as_json(), "method": self.method}
        if self.method == "prefix":
            public["k"] = self.k
        return CompositionInfo(partition=digest(public), at_delta=self.at_delta, exact_crowds=True)

    def checks(self) -> Iterator[Check]:
        return laws(level_channel(self.k, self.level_epsilon) if self.method == "noisy" else ExactOrSuppressed(self.k))

    def check_companion(self, file: File) -> Check:
        """Draws may be worded otherwise; rounds, totals and the winner are compared."""
        given = read_official(file)
        same = all(
            (dict(ours.totals) == dict(theirs.totals) and None in (ours.exhausted, theirs.exhausted))
            or (dict(ours.totals), ours.exhausted) == (dict(theirs.totals), theirs.exhausted)
            for ours, theirs in zip(self.official.rounds, given.rounds, strict=False)
        )
        same = same and len(self.official.rounds) == len(given.rounds) and self.official.winner == given.winner
        found = "is the one that was given, round by round" if same else "is another than the one that was given"
        return Check("the official record", same, found)

    def unverified_fields(self) -> tuple[str, ...]:
        told = [f"how often an interval is right, {to_text(self.coverage)}: no promise to voters rests on it"]
        told.append("the official record, as long as nobody compares it with the one that the office published")
        if self.method != "noisy" and self.sample is None:
            told.append("at_delta: without a sample no promise rests on it")
        if self.method != "noisy":
            told.append("depth and epsilon: they are about a noisy tree")
        return tuple(told)

    def describe(self) -> Description:
        return text.words(self)

    def to_json(self) -> dict[str, Plain]:
        return {
            "official": self.official.as_json(),
            "method": self.method,
            "k": self.k,
            "sample": plain(self.sample),
            "at_delta": plain(self.at_delta),
            "coverage": plain(self.coverage),
            "depth": self.depth,
            "epsilon": plain(self.epsilon),
        }

    def measure(self, data: BallotBox, source: Source) -> Measurement:
        """Guarantee: nothing is drawn unless the ballots give every official total."""
        paths = tally_paths(data.ballots, self.official)
        check_recount(paths, self.official)
        match self.method:
            case "paths":
                exact = paths
            case "prefix":
                exact = prefix_cells(data.ballots, self.official, self.k)
            case _:
                exact = counted_prefixes(data.ballots, self.depth)
        return Measurement(ways=release(Ways(self), exact, source))

    def present(self, measurement: Measurement) -> PathTable:
        from hubbub.kinds.ballots.load import check_possible

        drawn = measurement["ways"]
        shown = dict(zip(map(self._path, drawn.texts(WAY)), drawn.integers(COUNT).tolist(), strict=True))
        check_possible(self, shown)
        ways = self._ordered(shown)
        if self.method == "noisy":
            ends = tree_intervals(
                [shown[way] for way in ways], k=self.k, epsilon=self.level_epsilon, coverage=self.coverage
            )
        else:
            ends = [path_interval(shown[way], self.k, self.sample, self.coverage) for way in ways]
        return PathTable(self, tuple(Row(way, shown[way], *each) for way, each in zip(ways, ends, strict=True)))

    def load(self, files: Files) -> Measurement:
        from hubbub.kinds.ballots.load import load

        return load(self, files)

    def _path(self, label: str | None) -> Path:
        numbers = (label or "").split()
        return tuple(STOP if number == _STOPS else self.official.candidates[int(number)] for number in numbers)

    def _ordered(self, ways: Iterable[Path]) -> list[Path]:
        """By the candidates as the first official round lists them; a tree level after level."""
        if self.method != "noisy":
            return in_order(ways, self.official)
        place = {name: i for i, name in enumerate((*self.official.candidates, STOP))}
        return sorted(ways, key=lambda way: (len(way), [place[name] for name in way]))


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
            shown = noisy_tree(
                exact, spec.official, k=spec.k, depth=spec.depth, epsilon=spec.level_epsilon, source=source
            )
            return in_columns(self, dict(shown))
        counts = np.fromiter(exact.values(), dtype=np.int64, count=len(exact))
        if spec.sample is not None:
            counts = binomial(counts, spec.sample, source)
        published = ExactOrSuppressed(spec.k).release(counts, source)
        numbers = ((way, published.outcome(i)[0]) for i, way in enumerate(exact))
        return in_columns(self, {way: count for way, count in numbers if count is not None})


def in_columns(mechanism: Ways, shown: Mapping[Path, int]) -> pa.RecordBatch:
    """The ways that are shown, under the schema of the mechanism."""
    number = {name: str(i) for i, name in enumerate(mechanism.spec.official.candidates)} | {STOP: _STOPS}
    labels = [" ".join(number[name] for name in way) for way in shown]
    counts = np.array(list(shown.values()), dtype=np.int64)
    columns = [labelled(np.arange(len(labels)), labels), whole(counts)]
    return pa.record_batch(columns, schema=mechanism.schema)
