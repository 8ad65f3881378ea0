"""A cube as a release: cells by several columns and their sums by fewer, under one promise.

Crowd-blending does not compose (Proposition 7): two tables of one crowd can be subtracted from each other. So the cells
of the finest table go through the channel once, and every margin is a sum of what was published. Where the promise is
differential privacy, which does compose, every table gets noise of its own for its share of epsilon instead.
What is promised and run for the cells alone is the histogram `cells`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, prod
from typing import Any, ClassVar, Self

from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.protocol import Channel
from hubbub.errors import CheckFailed, WrongUse
from hubbub.guarantees import composition
from hubbub.guarantees.definitions import CrowdBlending
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.people import People
from hubbub.kinds.cube import mechanism, noise, text
from hubbub.kinds.cube.margins import Margin, check_margins
from hubbub.kinds.histogram import promises
from hubbub.kinds.histogram import wire as histogram_wire
from hubbub.kinds.histogram.spec import Histogram, columns
from hubbub.numeric.exact import to_text
from hubbub.protocol.check import Check
from hubbub.protocol.spec import CompositionInfo, Kind, Spec
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import Plain
from hubbub.serialization.exact_json import restored
from hubbub.tables.bins import Axis, Declared, Discovered, declared_size, size
from hubbub.tables.privacy_unit import within_bins
from hubbub.tables.schema import Schema

MOST_CELLS = 10**6
"""Of a cube with noise at every level: its tables are made consistent in exact numbers."""

_BYTES_PER_BIN = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Cube(Spec):
    """Cells and margins of one table of people.

    Guarantee: without shares, the margins are sums of the published cells, so what is promised of the cells is promised
    of all files together. With shares, every table has geometric noise of its share of epsilon, and the losses add up.
    """

    kind: ClassVar[Kind]  # set where the kind is made, in hubbub.kinds.cube.request
    cells: Histogram
    margins: tuple[Margin, ...]
    consistent: bool = False
    shares: tuple[Fraction, ...] = ()  # of epsilon, for the cells and for each margin; known once the schema is
    noise: str = ""  # with noise at every level: geometric or gaussian; auto until the schema is known
    delta: Fraction = Fraction(0)  # of Gaussian noise
    variances: tuple[Fraction, ...] = ()  # of Gaussian noise, for each table of the closure
    weights: tuple[Fraction, ...] = ()  # of the tables, which prove that the largest variance is near the least
    public_number: int | None = None  # of people, where it is public and enforced

    @property
    def has_noisy_margins(self) -> bool:
        """Whether every table has noise of its own."""
        return self.cells.channel.plain_noise is not None

    @property
    def gaussian(self) -> bool:
        """Whether the noise at every level is Gaussian."""
        return self.noise == noise.GAUSSIAN

    @property
    def epsilon(self) -> Fraction:
        """With noise at every level: what all tables together lose, for one row where several of a person count."""
        assert self.cells.channel.plain_noise is not None
        return self.cells.channel.plain_noise

    @property
    def person_epsilon(self) -> Fraction:
        """The same for a person with all rows that count."""
        return self.epsilon * self.cells.unit.moved(self.sizes[0])

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.cells.axes

    @property
    def declared_axes(self) -> tuple[Declared, ...]:
        """The columns, where the bins of all are declared."""
        return tuple(axis for axis in self.axes if not isinstance(axis, Discovered))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many bins each column has, where all are declared."""
        return tuple(map(size, self.declared_axes))

    def margin_histogram(self, margin: Margin, channel: Channel | None = None) -> Histogram:
        """A margin as the histogram that it would be by itself."""
        axes = tuple(axis for axis in self.axes if axis.column in margin)
        return replace(self.cells, axes=axes, channel=channel or self.cells.channel)

    @property
    def every_margin(self) -> tuple[Margin, ...]:
        """The cells by all columns, and the margins."""
        return (tuple(columns(self.cells)), *self.margins)

    @property
    def tables(self) -> tuple[Histogram, ...]:
        """With noise at every level: the cells and the margins, each with its share where it has one of its own."""
        if self.gaussian:
            return tuple(map(self.margin_histogram, self.every_margin))
        shares = map(Geometric, self.shares)
        return tuple(
            self.margin_histogram(names, share) for names, share in zip(self.every_margin, shares, strict=True)
        )

    @property
    def levels(self) -> tuple[frozenset[int], ...]:
        """The cells and the margins by the places of their columns."""
        order = columns(self.cells)
        return tuple(frozenset(map(order.index, margin)) for margin in self.every_margin)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers in each table, where all bins are declared."""
        return tuple(_size(self.margin_histogram(margin).axes) for margin in self.every_margin)

    @property
    def reaches(self) -> tuple[int, ...]:
        """With noise at every level: how far every number of each table is from the truth at most."""
        return tuple(map(ceil, noise.joint_reaches(self)))

    @property
    def people(self) -> People:
        return self.cells.people

    @property
    def enforced_number(self) -> int | None:
        return self.public_number

    def with_schema(self, schema: Schema) -> Self:
        known = replace(self, cells=self.cells.with_schema(schema))
        total = known.cells.channel.plain_noise
        if total is None:
            return known
        check_levels(known.cells)
        if known.cells.unit != within_bins(known.cells.unit, known.axes):
            raise WrongUse("a bound on bins, or on rows in them, is more than there can be; lower it, for less noise")
        found = noise.choose_noise(known)
        return replace(
            known,
            noise=found.noise,
            delta=found.delta,
            shares=found.shares,
            variances=found.variances,
            weights=found.weights,
        )

    def promises(self) -> tuple[Derivation, ...]:
        """Guarantee: each is a theorem applied to the one before, or the call is refused."""
        if self.gaussian:
            return (noise.gaussian_promise(self),)
        return _promises_of_shares(self) if self.has_noisy_margins else self.cells.promises()

    def table_promises(self) -> tuple[Derivation, ...]:
        """Guarantee: that of the cells, or of all tables with their noise, whatever was declared about collecting."""
        return replace(self, cells=replace(self.cells, collected=None)).promises()

    def composition(self) -> CompositionInfo:
        found = self.cells.composition()
        return replace(found, partition=None, exact_crowds=False, noises=()) if self.has_noisy_margins else found

    def checks(self) -> Iterator[Check]:
        return noise.checks(self) if self.has_noisy_margins else self.cells.checks()

    def unverified_fields(self) -> tuple[str, ...]:
        return self.cells.unverified_fields()

    def to_json(self) -> dict[str, Plain]:
        return {
            "cells": histogram_wire.to_json(self.cells),
            "margins": [list(margin) for margin in self.margins],
            "consistent": self.consistent,
            "shares": [to_text(share) for share in self.shares],
            "noise": self.noise,
            "delta": to_text(self.delta),
            "variances": [to_text(each) for each in self.variances],
            "weights": [to_text(each) for each in self.weights],
            "people": self.public_number,
        }

    def size_hint(self) -> int:
        return self.cells.size_hint() + _BYTES_PER_BIN * sum(self.sizes[1:])

    describe = text.describe
    measure = mechanism.measure
    present = mechanism.present
    load = mechanism.load


@lru_cache(maxsize=64)
def _promises_of_shares(spec: Cube) -> tuple[Derivation, ...]:
    """Differential privacy of all tables together, then what a sample buys.

    Guarantee: a person is in one bin of each table, so each loses at most its share; losses add (basic composition).
    Where several rows of a person count, one row is in one bin of each table, so that all of them lose the sum of the
    shares for each row: a person as many times that as rows are kept by the bounds, which are about the cells.
    """
    if spec.cells.unit.counts_rows:
        own = composition.differential(*map(promises.of_one_row, spec.tables))
        return (promises.several_rows(own, spec.cells.unit, declared_size(spec.axes)),)
    once = [replace(table, sample=None, collected=None).promises()[0] for table in spec.tables]
    return promises.following(composition.differential(*once), None, None, spec.cells)


def _size(axes: tuple[Axis, ...]) -> int:
    return prod(size(axis) for axis in axes if not isinstance(axis, Discovered))


def check_levels(cells: Histogram) -> None:
    """Refuse noise at every level where bins are found, or too many."""
    if cells.has_found_bins:
        raise WrongUse(
            "noise at every level needs declared bins, like department=Police,Fire,other or age:0..100:10; declare "
            "them, or use `crowd`"
        )
    if _size(cells.axes) > MOST_CELLS:
        raise WrongUse(f"a cube with noise at every level has at most {MOST_CELLS:,} cells; declare coarser bins")


def read(given: Mapping[str, Any]) -> Cube:
    """The release that a description says, checked as if somebody had asked for it."""
    cells = histogram_wire.read(given["cells"])
    found_margins = tuple(restored(tuple[str, ...], margin) for margin in given["margins"])
    spec = Cube(
        cells=cells,
        margins=found_margins,
        consistent=restored(bool, given["consistent"]),
        shares=restored(tuple[Fraction, ...], given["shares"]),
        noise=restored(str, given["noise"]),
        delta=restored(Fraction, given["delta"]),
        variances=restored(tuple[Fraction, ...], given["variances"]),
        weights=restored(tuple[Fraction, ...], given["weights"]),
        public_number=restored(int | None, given["people"]),
    )
    known = columns(cells)
    check_margins(found_margins, known, CheckFailed)
    ordered = all(margin == tuple(name for name in known if name in margin) for margin in found_margins)
    if not ordered or len(set(found_margins)) != len(found_margins) or not is_possible(cells):
        raise CheckFailed("the description is not one of a cube; get the original certificate")
    if cells.channel.plain_noise is not None:
        check_levels(cells)
    noise.check_noise(spec)
    return spec


def is_possible(cells: Histogram) -> bool:
    """Whether a cube can have such cells."""
    unit, noisy = cells.unit, cells.channel.plain_noise is not None
    everybody = cells.sample is None and cells.collected is None and not cells.has_found_bins
    once = (unit.distinct is None and not unit.expected_rows) if not unit.counts_rows else noisy and everybody
    return once and not cells.scale_up and not cells.lowered and _adds_up(cells.channel) and len(cells.axes) > 1


def _adds_up(channel: Channel) -> bool:
    """Whether tables have noise of their own, or crowds are published so that sums of cells can be told."""
    if channel.plain_noise is not None:
        return True
    summable = channel.exact_from is not None or (channel.noisy_below is not None and channel.is_unmarked)
    return summable and isinstance(channel.claim, CrowdBlending)
