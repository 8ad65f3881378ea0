"""Threat 66: no refusal, no wrap and no other path by what was counted: neighbours at every limit publish alike."""

from __future__ import annotations

import io
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.protocol import LARGEST_COUNT
from hubbub.engines.opening import open_source
from hubbub.errors import CheckFailed
from hubbub.kinds.quantile.ranks import Target, weights
from hubbub.kinds.sum import mechanism
from hubbub.kinds.sum.request import total
from hubbub.kinds.summary.request import from_options as summary
from hubbub.kinds.sums.columns import in_columns, integer_type, rows_of
from hubbub.kinds.sums.ratio import ratio
from hubbub.kinds.sums.spec import Statistic
from hubbub.kinds.sums.variance import Variance, spread
from hubbub.noise.binomial import LARGEST, binomial
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact_sums import MOST_ROWS, fits, sums_by
from hubbub.protocol.measurement import WHOLE, Measurement, Rehearsal, loaded
from hubbub.publication.files import write
from hubbub.publication.workbook import write_workbook
from hubbub.serialization.arrow import WIDE, column_integers, integer_column
from hubbub.serialization.published_files import Files
from hubbub.tables.engine import CountQuery, ExactCounts, Joint
from hubbub.tables.kept_rows import KeptRows
from hubbub.tables.privacy_unit import Unit
from tests.unit.shared.statistics import statistic

FAR = 10**18
"""A value of which five people have more than 2^62."""

SEVERAL = Unit(person="id", rows_per_person=3)


class Alike:
    """A table of so many people who are all alike: in the first bin, with so many steps in each column."""

    def __init__(self, people: int, *steps: int) -> None:
        self.people, self.steps = people, steps

    def count(self, query: CountQuery, source: object) -> ExactCounts:
        at, people = (self.steps[0] if query.by_value else 0), self.people
        sums = None if query.measure is None or query.by_value else (people * (query.first_step + self.steps[0]),)
        if sums is not None and not query.sums:
            sums = (people * self.steps[0],)
        return ExactCounts(np.array([at]), np.array([people]), (), sums)

    def joint_count(self, queries: tuple[CountQuery, ...], source: object) -> Joint:
        return Joint(tuple(np.array([at]) for at in self._codes(queries)), np.array([self.people]))

    def kept_rows(self, queries: tuple[CountQuery, ...], source: object, people: int | None = None) -> KeptRows:
        rows = np.arange(self.people)
        return KeptRows(self.people, rows, tuple(np.full(self.people, at) for at in self._codes(queries)))

    def _codes(self, queries: tuple[CountQuery, ...]) -> list[int]:
        steps = iter(self.steps)
        return [0 if query.measure is None else next(steps, 0) for query in queries]


Case = tuple[Callable[[], Statistic], int, tuple[int, ...]]

CASES: dict[str, Case] = {
    "variance": (lambda: spread(Variance, of="x:0..1000000:1", epsilon="1"), 4_611_686, (10**6,)),
    "variance of a crowd": (
        lambda: spread(Variance, of="x:0..1000000:1", crowd=20, epsilon="5"),
        4_611_686,
        (10**6,),
    ),
    "mean": (lambda: statistic("mean", of="x:0..10000000:1", epsilon=10**7), 2**62 // 10**7, (10**7,)),
    "weighted mean": (
        lambda: statistic("mean", of="x:0..10000:1", weight="w:0..1000:1", epsilon=10**5),
        2**62 // 10**7,
        (10**4, 1000),
    ),
    "weighted sum": (
        lambda: total(of="x:0..10000000:1", weight="w:0..1000000:1", epsilon=10**21),
        461_168,
        (10**7, 10**6),
    ),
    "sum with a cap": (lambda: total(of=f"x:{FAR}..{FAR + 10}:1", cap=FAR + 10, epsilon=10**21), 4, (10,)),
    "sum below 0": (lambda: total(of=f"x:{-FAR - 10}..{-FAR}:1", cap=FAR + 10, epsilon=10**21), 4, (0,)),
    "sum with a cap that is drawn": (
        lambda: total(of="x:0..10000000:1", cap="auto", epsilon=10**21),
        2**62 // 10**7,
        (10**7,),
    ),
    "sum in layers": (lambda: total(of="x:0..10000000:1", epsilon=10**7), 2**62 // 10**7, (10**7,)),
    "sum of a crowd": (lambda: total(of=f"x:{FAR}..{FAR + 10}:1", cap=FAR + 10, crowd=2, epsilon=10**21), 4, (10,)),
    "sum of rows": (
        lambda: total(of=f"x:{FAR}..{FAR + 10}:1", cap=2**53, epsilon=10**21, unit=SEVERAL),
        512,
        (10,),
    ),
    "sum of rows and what a cap cut off": (
        lambda: total(of=f"x:{FAR}..{FAR + 10}:1", cap=2**53, lost="0.1", epsilon=10**21, unit=SEVERAL),
        512,
        (10,),
    ),
    "sum of rows with a cap that is drawn": (
        lambda: total(of=f"x:{FAR}..{FAR + 10}:1", cap="auto", epsilon=10**21, unit=SEVERAL),
        4,
        (10,),
    ),
    "ratio": (
        lambda: ratio(of=f"x:{FAR}..{FAR + 10}:1", per="y:0..5:1", epsilon=10**21),
        4,
        (10, 5),
    ),
    "ratio of rows": (
        lambda: ratio(of=f"x:{FAR}..{FAR + 10}:1", per="y:0..5:1", epsilon=10**21, unit=SEVERAL),
        4,
        (10, 5),
    ),
    "summary": (
        lambda: summary(number=["people", f"sum x:{FAR}..{FAR + 10}:1"], by=[], epsilon=10**21),
        4,
        (10,),
    ),
    "summary of rows": (
        lambda: summary(
            number=["people", f"sum x:{FAR}..{FAR + 10}:1", f"mean y:{FAR}..{FAR + 10}:1"],
            by=[],
            epsilon=10**21,
            person="id",
            rows_per_person=3,
        ),
        4,
        (10, 10),
    ),
}


def published(spec: Statistic, people: int, steps: tuple[int, ...]) -> tuple[Measurement, list[dict[str, Any]]]:
    source = ScriptedSource.from_label("limit")
    measured = spec.measure(Alike(people, *steps), source)  # type: ignore[arg-type]
    return measured, [
        row for sheet in spec.present(measured).sheets() for each in sheet.batches() for row in each.to_pylist()
    ]


@pytest.mark.parametrize("name", CASES)
def test_66_neighbours_at_the_limits_of_arithmetic_publish_alike(name: str) -> None:
    """With the same words one person more moves what was drawn by what that person has, and by nothing else."""
    ask, most, steps = CASES[name]
    spec = ask()
    found = [published(spec, people, steps) for people in (most - 1, most, most + 1, most + 2)]
    assert len({len(rows) for _, rows in found}) == 1
    (one, _), (two, _), (three, _), (four, _) = found
    moved = []
    for before, after in ((one, two), (two, three), (three, four)):
        names = [field.name for field in before["answers"].batch.schema if field.type in WHOLE]
        both = [[each["answers"].integers(name).tolist() for name in names] for each in (before, after)]
        moved.append([[b - a for a, b in zip(*each, strict=True)] for each in zip(*both, strict=True)])
    assert moved[0] == moved[1] == moved[2]
    assert max(abs(each) for column in moved[0] for each in column) > 1


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_66_numbers_beyond_64_bits_are_written_and_read_back(name: str, form: str, tmp_path: Path) -> None:
    ask, most, steps = CASES[name]
    spec = ask()
    if spec.bins > 1:
        return
    measured, _ = published(spec, (1000 if most > 512 else 10) * most, steps)
    sheets = spec.present(measured).sheets()
    for sheet in sheets:
        with open(tmp_path / f"{sheet.name}.{form}", "wb") as out:
            write(sheet, form, out)
    files = Files(form, {sheet.name: tmp_path / f"{sheet.name}.{form}" for sheet in sheets})
    assert spec.load(files) == measured
    write_workbook(sheets, [("a", "b")], io.BytesIO())


@pytest.mark.parametrize(
    "words", [{"cap": 2**53}, {"cap": 2**53, "cap_per_bin": 2**52, "by": ["k=a,b"]}, {"cap": "layers"}], ids=str
)
def test_66_an_engine_adds_up_what_one_person_has_beyond_64_bits(words: dict[str, Any]) -> None:
    """5 * 10^14 in each of 18,447 rows is more than 2^63."""
    far = 5 * 10**14
    unit = Unit(person="id", rows_per_person=10**6)
    spec = total(of=f"x:{far}..{far + 10}:1", epsilon=10**21, unit=unit, **words)
    for rows in (18_446, 18_447):
        table = pa.table({"id": [0] * rows, "x": [far] * rows, "k": ["a"] * rows})
        rehearsal = Rehearsal(ScriptedSource.from_label("one"))
        spec.measure(open_source(table), rehearsal)
        ((_, exact),) = rehearsal.calls
        most = min(rows * far, words.get("cap_per_bin", rows * far if words["cap"] == "layers" else words["cap"]))
        assert [each for each in exact.sums if each] == [most]


def test_66_weights_that_come_to_more_than_a_channel_takes_move_it_no_further() -> None:
    spec = statistic("count", weight="w:0..10000000:1", epsilon=10**7)
    drawn = [
        published(spec, 2**62 // 10**7 + more, (10**7,))[0]["answers"].integers("weight_steps") for more in range(4)
    ]
    moved = [int(after[0] - before[0]) for before, after in pairwise(drawn)]
    assert moved == [2**62 % 10**7, 0, 0]


def test_66_weights_of_many_bins_are_counted_wherever_somebody_is() -> None:
    """The last of 100,000 bins with 10^14 steps each begins beyond 2^63."""
    spec = total(of="x:0..10000000:1", weight="w:0..10000000:1", by=["k:0..100000:1"], cap=10**14, epsilon=10**21)
    for place in (0, 99_999):
        table = Alike(3, place * (10**7 + 1) + 10**7, 10**7)
        cells = mechanism._cells(spec, mechanism._weighted(spec, table, ScriptedSource()))  # type: ignore[arg-type]
        (sums,) = cells.layers(spec, None)
        assert [(i, each) for i, each in enumerate(sums) if each] == [(place, 3 * 10**14)]


# --- which path it is follows from what is declared ------------------------------------------------------------------


def test_66_ordinary_ranges_are_summed_and_published_in_64_bits() -> None:
    ordinary = [
        total(of="pay:0..100000:0.01", epsilon="1"),
        total(of="pay:0..10000000:1", epsilon="1", unit=Unit(person="id", rows_per_person=1000)),
        statistic("mean", of="pay:0..10000000:1", epsilon="50"),
        spread(Variance, of="age:0..120:1", epsilon="1"),
        ratio(of="cost:0..50000:1", per="days:1..30:1", epsilon="1"),
        summary(number=["people", "sum cost:0..9000:10"], by=[], epsilon="1"),
    ]
    assert [integer_type(spec) for spec in ordinary] == [pa.int64()] * len(ordinary)
    wide = [CASES[name][0]() for name in ("variance", "weighted sum", "sum with a cap", "ratio", "summary")]
    assert [integer_type(spec) for spec in wide] == [WIDE] * len(wide)


@pytest.mark.parametrize(("most", "inside"), [(1, True), (2**24, True), (2**24 + 1, False), (10**12, False)])
def test_66_sums_are_in_64_bits_by_what_a_row_adds_at_most(most: int, inside: bool) -> None:
    kinds = {
        sums_by(np.zeros(1, np.int64), np.ones(1, np.int64), 1, most, np.array([people])).dtype
        for people in (1, 1000, MOST_ROWS)
    }
    assert kinds == {np.dtype(np.int64 if inside else object)}
    assert fits(most) is inside


@pytest.mark.parametrize("people", [MOST_ROWS - 1, MOST_ROWS, MOST_ROWS + 1, 2**61, 2**62, 2**63 - 1])
def test_66_sums_are_exact_however_many_there_are(people: int) -> None:
    places, values = np.array([0, 0, 1]), np.array([2**24, -3, 7])
    found = sums_by(places, values, 2, 2**24, np.full(3, people)).tolist()
    assert found == [people * (2**24 - 3), people * 7]


@pytest.mark.parametrize("kind", WHOLE, ids=str)
def test_66_whole_numbers_come_back_as_they_were(kind: pa.DataType) -> None:
    most = 2**63 - 1 if kind != WIDE else 10**38 - 1
    numbers = [0, 1, -1, most, -most, 2**62]
    column = integer_column(numbers, kind)
    assert [int(each) for each in column.to_pylist()] == numbers == column_integers(column).tolist()
    assert column_integers(column.slice(2, 3)).tolist() == numbers[2:5]
    assert integer_column([3, None], kind).null_count == 1


def test_66_what_noise_pushes_beyond_a_column_is_cut_to_it_and_what_no_release_draws_is_refused() -> None:
    for spec, least, most in (
        (statistic("mean", of="x:0..100:1", epsilon="1"), -(2**62), 2**63 - 1),
        (CASES["weighted sum"][0](), 1 - 10**38, 10**38 - 1),
    ):
        names = spec.columns if spec.kind.name == "mean" else ("sum", "other")
        batch = in_columns(spec, names, [(most + 1, least - 1)])
        (row,) = rows_of(spec, names, loaded(batch.schema, batch))
        assert row == (most, least)
    spec = statistic("mean", of="x:0..100:1", epsilon="1")
    forged = in_columns(spec, spec.columns, [(0, 0)])
    forged = pa.record_batch([integer_column([-(2**62) - 1], pa.int64()), forged.column(1)], schema=forged.schema)
    with pytest.raises(CheckFailed, match="none that such a release publishes"):
        rows_of(spec, spec.columns, loaded(forged.schema, forged))


# --- counts --------------------------------------------------------------------------------------------------------


def test_66_a_channel_takes_every_count() -> None:
    top = [LARGEST_COUNT - 1, LARGEST_COUNT, LARGEST_COUNT + 1, 2**63 - 1]
    drawn = [Geometric(Fraction(1)).release([count], ScriptedSource.from_label("far")).values for count in top]
    assert [int(each[0] - drawn[0][0]) for each in drawn] == [0, 1, 1, 1]
    again = Geometric(Fraction(1)).release(np.array([2**64 - 1], dtype=np.uint64), ScriptedSource.from_label("far"))
    assert again.values.tolist() == drawn[1].tolist()


def test_66_a_sample_is_drawn_of_every_count() -> None:
    counts = np.array([LARGEST - 1, LARGEST, LARGEST + 1, 2**62])
    assert binomial(counts, 1, ScriptedSource()).tolist() == [LARGEST - 1, LARGEST, LARGEST, LARGEST]


def test_66_a_quantile_is_found_in_64_bits_by_what_is_declared() -> None:
    """Half of an even number is a whole one, and of an odd one not: the numbers are halves for both."""
    for slope, kind in ((Fraction(1, 2), np.int64), (Fraction(1, 10**12), object)):
        target = Target(slope=slope, offset=Fraction(0), replacing=False)
        for people in (2, 3, 3 * 10**6, MOST_ROWS):
            found = weights([(1, people)], 2, target, Fraction(1))
            assert found.units.dtype == kind
            assert found.unit == Fraction(slope.numerator, slope.denominator) / slope.numerator / (2 * target.moved)
