"""What the methods of a table and a network take, from the options of each kind: written by ``make options``."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Required, TypedDict

from hubbub.numeric.exact import Exact


class Confirmed(TypedDict, total=False):
    """What every release takes."""

    accept_weak: bool


class NumberOptions(Confirmed, total=False):
    """What every release of a number, or of one for each bin, takes."""

    where: str | None
    one_row_per_person: bool
    unique_person: bool
    zero_knowledge: Exact | None
    rows: Exact | None
    people: Exact | None
    crowd: Exact | None
    epsilon: Exact | None
    coverage: Exact


class RowOptions(TypedDict, total=False):
    """How many rows of a person count, where several do."""

    distinct: Exact | None
    rows_per_person: Exact | None
    rows_per_bin: Exact | None
    rows_called: str | None


class SampleOptions(TypedDict, total=False):
    """A secret sample before a promise to crowds."""

    sample: Exact | None
    at_delta: Exact


class NoiseOptions(TypedDict, total=False):
    """Which noise, and its delta."""

    delta: Exact | None
    mechanism: str | None


class WeightOptions(TypedDict, total=False):
    """Design weights."""

    weight: str | None
    poisson_survey: bool
    calibrated: bool


class KeptOptions(TypedDict, total=False):
    """What intervals of one row per person are for."""

    expected_rows: bool
    kept_rows: bool


class HistogramOptions(Confirmed, RowOptions, SampleOptions, NoiseOptions, KeptOptions, total=False):
    """The options of ``hubbub release histogram``, but for what the method takes first."""

    crowd: Exact | None
    epsilon: Exact | None
    outlier: str | None
    one_row_per_person: bool
    unique_person: bool
    scale_up: bool
    coverage: Exact
    weight: str | None
    parts: Exact | None


class RecordsOptions(Confirmed, SampleOptions, total=False):
    """The options of ``hubbub release records``, but for what the method takes first."""

    crowd: Required[Exact]
    keep: str | Sequence[str] | None
    one_row_per_person: bool
    unique_person: bool


class CubeOptions(Confirmed, RowOptions, SampleOptions, NoiseOptions, total=False):
    """The options of ``hubbub release cube``, but for what the method takes first."""

    margins: str | Sequence[str | Sequence[str]] | None
    crowd: Exact | None
    epsilon: Exact | None
    people: Exact | None
    consistent: bool
    one_row_per_person: bool
    unique_person: bool
    coverage: Exact


class PointsOptions(Confirmed, total=False):
    """The options of ``hubbub release points``, but for what the method takes first."""

    box: Required[str | Sequence[tuple[Exact, Exact]]]
    grid: str | Sequence[Exact] | None
    regions: str | PathLike[str] | None
    quadtree: str | Sequence[str] | None
    lattice: str | Sequence[Exact] | None
    crowd: Required[Exact]
    epsilon: Required[Exact]
    one_row_per_person: bool
    unique_person: bool
    within: Exact | None
    leave_outside: bool


class QueriesOptions(Confirmed, RowOptions, total=False):
    """The options of ``hubbub release queries``, but for what the method takes first."""

    epsilon: Exact | None
    delta: Exact | None
    zero_knowledge: Exact | None
    rows: Exact | None
    people: Exact | None
    method: str | None
    least: str | None
    consistent: bool
    unique_person: bool
    coverage: Exact


class SyntheticOptions(Confirmed, RowOptions, total=False):
    """The options of ``hubbub release synthetic``, but for what the method takes first."""

    epsilon: Exact | None
    delta: Exact | None
    ways: Exact
    size: Exact | None
    unique_person: bool
    coverage: Exact


class CountOptions(NumberOptions, RowOptions, SampleOptions, NoiseOptions, WeightOptions, KeptOptions, total=False):
    """The options of ``hubbub release count``, but for what the method takes first."""

    totals: bool
    any_row: bool
    count_rows: bool


class FractionOptions(NumberOptions, RowOptions, SampleOptions, NoiseOptions, WeightOptions, KeptOptions, total=False):
    """The options of ``hubbub release fraction``, but for what the method takes first."""

    totals: bool
    any_row: bool
    calibrate: object | None


class MeanOptions(NumberOptions, RowOptions, SampleOptions, NoiseOptions, WeightOptions, KeptOptions, total=False):
    """The options of ``hubbub release mean``, but for what the method takes first."""

    totals: bool
    calibrate: object | None


class QuantileOptions(NumberOptions, RowOptions, SampleOptions, total=False):
    """The options of ``hubbub release quantile``, but for what the method takes first."""

    q: Exact
    interval_share: Exact


class SumOptions(NumberOptions, RowOptions, NoiseOptions, total=False):
    """The options of ``hubbub release sum``, but for what the method takes first."""

    totals: bool
    cap: Exact | None
    cap_per_bin: Exact | None
    cap_share: Exact | None
    lost: Exact | None
    cap_max: Exact | None
    weight: str | None
    calibrated: bool
    tailored: str | None


class RatioOptions(Confirmed, RowOptions, total=False):
    """The options of ``hubbub release ratio``, but for what the method takes first."""

    where: str | None
    one_row_per_person: bool
    unique_person: bool
    epsilon: Exact | None
    coverage: Exact


class SummaryOptions(Confirmed, NoiseOptions, total=False):
    """The options of ``hubbub release summary``, but for what the method takes first."""

    where: str | None
    one_row_per_person: bool
    unique_person: bool
    distinct: Exact | None
    rows_per_person: Exact | None
    rows_per_bin: Exact | None
    epsilon: Exact | None
    coverage: Exact


class VarianceOptions(NumberOptions, SampleOptions, total=False):
    """The options of ``hubbub release variance``, but for what the method takes first."""


class StdOptions(NumberOptions, SampleOptions, total=False):
    """The options of ``hubbub release std``, but for what the method takes first."""


class GraphOptions(Confirmed, total=False):
    """The options of ``hubbub release graph``, but for what the method takes first."""

    vertices: Required[Exact]
    max_degree: Required[Exact]
    average_at_most: Exact | None
    epsilon: Required[Exact]
    samples: Exact | None
    explore: Exact | None
    centred: bool
    per_edge: bool
    coverage: Exact
