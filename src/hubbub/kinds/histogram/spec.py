"""A histogram release, as a value: everything about it that is public, before any data is opened.

Counts by some columns, through a channel, for some unit, perhaps on a fresh secret sample. What each method does
stands in a file of its own, named for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from hubbub.channels.catalogue import parameters
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import Curve
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.kinds.histogram import load as histogram_load
from hubbub.kinds.histogram import mechanism, promises, sparse, text, wire
from hubbub.numeric.exact import Infinite, to_text
from hubbub.protocol.spec import CompositionInfo, Kind, Spec
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import MOST_BINS, Axis, Discovered, declared_size
from hubbub.tables.privacy_unit import EACH_ROW, Collected, Unit
from hubbub.tables.schema import Schema, bind_axes, column

if TYPE_CHECKING:
    from hubbub.channels.protocol import Channel
    from hubbub.guarantees.derivation import Derivation
    from hubbub.guarantees.people import People
    from hubbub.noise.source import Source
    from hubbub.protocol.capabilities import Deferred
    from hubbub.protocol.check import Check
    from hubbub.serialization.canonical import Plain
    from hubbub.tables.engine import Engine

_BYTES_PER_BIN = 100
_BYTES_IN_PARQUET = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(Spec):
    """Counts by some columns, through a channel, for some unit, perhaps on a fresh secret sample."""

    kind: ClassVar[Kind]  # set where the kind is made, in hubbub.kinds.histogram.request
    axes: tuple[Axis, ...]
    channel: Channel
    unit: Unit = EACH_ROW
    sample: Fraction | None = None
    collected: Collected | None = None
    at_delta: Fraction = Fraction(1, 10**9)
    coverage: Fraction = Fraction(19, 20)
    scale_up: bool = False
    lowered: bool = False  # whether the curve is not the one asked for, but the largest below it that never falls
    parts: int | None = None  # in how many the machines of a cluster write it; no promise rests on it

    @property
    def has_found_bins(self) -> bool:
        return any(isinstance(axis, Discovered) for axis in self.axes)

    @property
    def sampled_channel(self) -> Channel:
        """The channel from the count of everybody to what is published: the secret sample is part of it."""
        if self.sample is None:
            return self.channel
        from hubbub.channels.subsample import Subsampled

        return Subsampled(self.sample, self.channel)

    @property
    def every_bin_kept(self) -> bool:
        """Whether a person counts in each bin that they have a row in: they may be in as many as there are."""
        bins = declared_size(self.axes)
        once = self.unit.distinct is not None and not self.unit.counts_rows
        return once and bins is not None and self.unit.distinct is not None and self.unit.distinct >= bins

    @property
    def people(self) -> People:
        return self.unit.people

    @property
    def lowered_to(self) -> Curve | None:
        curve = getattr(self.channel, "curve", None)
        return curve if self.lowered and isinstance(curve, Curve) else None

    def with_schema(self, schema: Schema) -> Self:
        if self.unit.person is not None:
            column(schema, self.unit.person)
        axes = bind_axes(self.axes, schema)
        bins = declared_size(axes)
        if self.unit.distinct is not None and bins is not None and self.unit.distinct > bins:
            raise WrongUse(  # of columns that declare their own bins, like true and false
                f"there are {bins:,} bins, and nobody is in more of them; lower `distinct` to that, for less noise"
            )
        sparse.check(axes, self.channel, spread=self.parts is not None)
        if self.parts is not None:
            sparse.check_parts(axes, self.channel, self.parts)
        return replace(self, axes=axes)

    def table_promises(self) -> tuple[Derivation, ...]:
        """Guarantee: every promise in it holds for adding or removing one person of the table (those to crowds of kept
        rows for the table of kept rows), whatever was declared about how the table was collected. The channel's own
        promise is one of them even where people are sampled first: of two samples that differ by one person of a bin,
        either has the counts (j, j) or (j, j - 1) there with j at most the bin's count, and losses do not fall with
        the count."""
        return promises.promises(replace(self, collected=None))

    def composition(self) -> CompositionInfo:
        partition, noise = wire.partition(self), self.channel.gaussian_noise(self.unit.distinct or 1)
        return CompositionInfo(
            partition=partition,
            collected=None if self.collected is None else self.collected.sample,
            at_delta=self.at_delta,
            exact_crowds=partition is not None,  # every bin is published by itself, from its count alone
            noises=() if noise is None else (noise,),
        )

    def checks(self) -> Iterator[Check]:
        from hubbub.protocol.channel_checks import laws

        yield from laws(self.channel)
        if self.unit.counts_rows:
            own, (promise, *_) = promises.of_one_row(self).conclusion, self.promises()
            assert isinstance(own, DifferentialPrivacy)
            assert isinstance(promise.conclusion, DifferentialPrivacy)
            assert not isinstance(own.epsilon, Infinite)
            bins = declared_size(self.axes)
            yield promises.person_holds(self.unit, bins, own.epsilon, promise.conclusion.epsilon)

    def unverified_fields(self) -> tuple[str, ...]:
        fields = [f"how often an interval is right, {to_text(self.coverage)}: no promise to people rests on it"]
        if self.sample is None and self.collected is None:
            fields.append("the number at_delta: it is for samples, there is none here, and no promise rests on it")
        if self.sample is not None:
            fields.append("whether the intervals are for the sample or for everybody")
        if "curve" in parameters(self.channel):
            fields.append("whether another curve was asked for, of which this one is the part that never falls")
        if self.unit.person is not None:
            fields.append(f"the name of the column that says who is who, {self.unit.person}")
        if self.collected is not None and self.collected.low < self.collected.high:
            fields.append("the lowest rate at which people were collected: no promise rests on it")
        return tuple(fields)

    def to_json(self) -> dict[str, Plain]:
        return wire.to_json(self)

    def size_hint(self) -> int:
        bins = declared_size(self.axes) or 0
        if sparse.is_sparse(self):
            empty = self.channel.empty_bins()
            bins = 0 if empty is None else sparse.expected_visible(empty, bins)
        if self.parts is not None:
            return (1 << 20) + _BYTES_IN_PARQUET * bins
        return (1 << 20) + _BYTES_PER_BIN * min(bins, MOST_BINS)

    # --- where the machines of a cluster write it -----------------------------------------------------------------

    @property
    def is_distributed(self) -> bool:
        return self.parts is not None

    def prepare(self, data: Engine, source: Source) -> Deferred:
        from hubbub.kinds.histogram import distributed as spread

        return spread.prepare_parts(self, data, source)

    promises = promises.promises
    describe = text.describe
    measure = mechanism.measure
    present = present_part = mechanism.present
    load = histogram_load.load
    load_parts = histogram_load.load_parts


def columns(spec: Histogram) -> list[str]:
    """The columns it counts by."""
    return [axis.column for axis in spec.axes]
