"""A table of ballots, as a value: everything about it that is public, before any ballot is read.

Ballots by their way through the official rounds (tally paths), through "at least k, else hidden", on a fresh secret
half of them; or exact; or by prefixes of a public tree; or a tree with noise on every node. There is no option
whose cells depend on the ballots: for those no such promise can hold (adaptive shortening is not crowd-blending).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path as File
from typing import Any, ClassVar, Self

from hubbub.channels.mechanisms.exact_above import ExactOrSuppressed
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.people import People
from hubbub.kinds.ballots import promises as ballots_promises
from hubbub.kinds.ballots.noisy_prefixes import level_channel
from hubbub.noise.source import Source
from hubbub.numeric.exact import to_text
from hubbub.protocol.channel_checks import laws
from hubbub.protocol.check import Check
from hubbub.protocol.spec import CompositionInfo, Description, Files, Kind, Measurement, Result, Spec
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import Plain, digest
from hubbub.serialization.exact_json import plain
from hubbub.voting.count.official import Official, read_official

METHODS = ("paths", "prefix", "noisy")
_DEEPEST = 6


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
            raise WrongUse("`sample`, `at_delta` and `coverage` must lie between 0 and 1; choose others")
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
    def least_visible(self) -> int:
        """The largest number that is not shown."""
        return self.k - 1 if self.method != "noisy" else level_channel(self.k, self.level_epsilon).show_above or 0

    @property
    def enforced_number(self) -> int | None:
        """None: the totals that are enforced are those of the official record, which the promise leaves out and says so
        (:mod:`hubbub.kinds.ballots.promises`)."""
        return None

    @property
    def visible_at_most(self) -> int | None:
        """About how many ways can be shown at most, by the official first choices and k alone; None with noise."""
        if self.method == "noisy":
            return None
        first, rate = self.official.rounds[0], 1 if self.sample is None else self.sample
        return sum(int(rate * ballots // self.k) for ballots in (*dict(first.totals).values(), first.exhausted or 0))

    @property
    def shows_nothing(self) -> str | None:
        if self.visible_at_most != 0:
            return None
        share = "" if self.sample is None else " in the share of ballots that is drawn"
        return f"k = {self.k} is above the official first choices that anybody has{share}"

    def with_schema(self, schema: Any) -> Self:
        return self

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
        fields = [f"how often an interval is right, {to_text(self.coverage)}: no promise to voters rests on it"]
        fields.append("the official record, as long as nobody compares it with the one that the office published")
        if self.method != "noisy" and self.sample is None:
            fields.append("the number at_delta: it is for samples, there is none here, and no promise rests on it")
        if self.method != "noisy":
            fields.append("depth and epsilon: they are about a noisy tree")
        return tuple(fields)

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

    promises = ballots_promises.promises

    def describe(self) -> Description:
        from hubbub.kinds.ballots import text

        return text.describe(self)

    def measure(self, data: Any, source: Source) -> Measurement:
        from hubbub.kinds.ballots import mechanism

        return mechanism.measure(self, data, source)

    def present(self, measurement: Measurement) -> Result:
        from hubbub.kinds.ballots import mechanism

        return mechanism.present(self, measurement)

    def load(self, files: Files) -> Measurement:
        from hubbub.kinds.ballots.load import load

        return load(self, files)
