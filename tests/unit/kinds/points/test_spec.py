"""Noisy points: what is deleted, what moves, what is promised, and what is refused before it costs anything."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from click.testing import CliRunner
from flint import arb

from hubbub.cli.main import commands
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.definitions import CrowdBlending
from hubbub.guarantees.people import Whose
from hubbub.kinds.points.mechanism import move_points
from hubbub.kinds.points.request import points
from hubbub.kinds.points.result import PublishedPoints
from hubbub.kinds.points.spec import NoisyPoints
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.numeric.exact import Infinite, ball, exp
from hubbub.protocol.drawing import Bars, Map
from hubbub.protocol.release import Release
from hubbub.release import save
from hubbub.tables.engine import CountQuery
from hubbub.tables.privacy_unit import Unit
from tests.fresh import open as open_table
from tests.fresh import opened, played, wrong_in

LINE = {"columns": "x", "grid": "2", "box": "0..4", "lattice": "1"}  # two cells of two positions
PLANE = {"columns": "x,y", "grid": "10,10", "box": "0..100,-50..50"}
PLACES = pa.table({"x": [5.0] * 30 + [55.5] * 3, "y": [-49.9] * 30 + [0.0] * 3, "id": list(range(33))})


def asked(**words: Any) -> NoisyPoints:
    return points(**{**PLANE, "crowd": 20, "epsilon": 1, **words})


def published(release: Release) -> PublishedPoints:
    assert isinstance(release.result, PublishedPoints)
    return release.result


# --- the promise, exactly, on small lattices ------------------------------------------------------------------------


def noise(rate: Fraction, x: int) -> arb:
    return (ball(rate) / 2).tanh() * exp(-rate * abs(x))


@cache
def law(spec: NoisyPoints, people: tuple[int, ...], outcome: tuple[int, ...]) -> arb:
    """The probability that people at these positions of a line publish this sorted list, by the definition."""
    side = spec.space.per_cell[0]
    kept = [at for at in people if sum(other // side == at // side for other in people) >= spec.crowd]
    if len(kept) != len(outcome):
        return arb(0)
    assert not isinstance(spec.rate, Infinite)
    total = arb(0)
    for ways in set(permutations(outcome)):
        chance = arb(1)
        for at, to in zip(kept, ways, strict=True):
            chance *= noise(spec.rate, to - at)
        total += chance
    return total


@cache
def close(spec: NoisyPoints, one: tuple[int, ...], other: tuple[int, ...], epsilon: Fraction) -> bool:
    """Whether the laws of two tables are epsilon-close on all outcomes of up to three points in a window."""
    factor = exp(epsilon)
    for size in {len(one), len(other), 0}:
        for outcome in combinations_with_replacement(range(-2, 6), size):
            p, q = law(spec, one, outcome), law(spec, other, outcome)
            if p > q * factor * (1 + ball("1e-50")) or q > p * factor * (1 + ball("1e-50")):
                return False
    return True


def is_crowd_blending(spec: NoisyPoints, crowd: int, epsilon: Fraction) -> bool:
    """Definition 4 for all tables of up to three people at four positions."""
    places = range(spec.space.size)
    others = [rest for size in range(3) for rest in combinations_with_replacement(places, size)]
    blend = {
        (t, u): all(close(spec, (*rest, t), (*rest, u), epsilon) for rest in others)
        for t, u in product(places, repeat=2)
        if t <= u
    }
    for table in (rest for size in range(1, 4) for rest in combinations_with_replacement(places, size)):
        for t in set(table):
            if sum(blend[min(t, u), max(t, u)] for u in table) >= crowd:
                continue
            without = list(table)
            without.remove(t)
            if not close(spec, table, tuple(without), epsilon):
                return False
    return True


def test_proposition_11_noisy_points_are_crowd_blending_and_no_more() -> None:
    """(2, 1) as promised; neither a larger crowd nor a smaller epsilon, so the check can fail."""
    spec = points(**LINE, crowd=2, epsilon=1)
    (promise,) = spec.promises()
    assert promise.conclusion == CrowdBlending(k=2, epsilon=Fraction(1))
    assert is_crowd_blending(spec, 2, Fraction(1))
    assert not is_crowd_blending(spec, 2, Fraction(99, 100))
    assert not is_crowd_blending(spec, 3, Fraction(1))


def test_without_deleting_small_cells_nobody_blends() -> None:
    """The sibling that keeps everybody is not crowd-blending: who is alone in a cell cannot be missed."""
    spec = points(**LINE, crowd=2, epsilon=1)
    everybody = NoisyPoints(space=spec.space, crowd=2, epsilon=Fraction(1))
    object.__setattr__(everybody, "crowd", 1)
    assert not is_crowd_blending(everybody, 2, Fraction(1))


def test_where_a_cell_is_one_position_nothing_moves_and_nothing_is_lost() -> None:
    spec = points(columns="x", grid="1", box="0..4", lattice="1", crowd=2, epsilon=3)
    assert [str(step.conclusion) for step in spec.promises()] == ["(2, 0)-crowd-blending"]
    source = SystemSource()
    assert move_points(spec, np.array([0, 2]), np.array([3, 1]), source)[0].tolist() == [0, 0, 0]
    assert not source.used
    assert all(check.passed for check in spec.checks())


@pytest.mark.parametrize("words", [{}, {"lattice": "1,10"}, {"grid": "20,5", "lattice": "4,5"}], ids=str)
def test_the_checks_of_verify_compare_exact_laws(words: dict[str, str]) -> None:
    spec = asked(**words)
    checks = list(spec.checks())
    assert all(check.passed for check in checks)
    assert len(checks) == 1 + sum(spec.space.moving)
    assert sum((Fraction(many - 1) for many in spec.space.per_cell), Fraction(0)) == spec.space.diameter
    assert spec.rate == Fraction(1, spec.space.diameter)


# --- what comes out -------------------------------------------------------------------------------------------------


def test_small_cells_are_deleted_and_the_others_move() -> None:
    found = published(open_table(PLACES).points("x,y", grid="10,10", box="0..100,-50..50", crowd=4, epsilon=50))
    assert len(found) == 30
    x, y = found.coordinates()
    assert np.all(np.abs(x - 5.05) < 20)
    assert np.all(np.abs(y + 49.85) < 20)


def test_a_table_of_nobody_is_a_release_of_nothing(tmp_path: Path) -> None:
    table = pa.table({"x": pa.array([], pa.float64()), "y": pa.array([], pa.float64())})
    done = opened(table, dataset="town").points("x,y", grid="10,10", box="0..100,-50..50", crowd=20, epsilon=1)
    assert len(done) == 0
    assert done.result.sentences()[0].startswith("0 points are published")
    file = Path(save(done, tmp_path)["release"])
    assert wrong_in(done.spec, file, "csv") is None
    assert done.result.drawing() is None


@pytest.mark.parametrize(("people", "kept"), [(19, 0), (20, 20), (21, 21)])
def test_a_crowd_begins_at_k(people: int, kept: int) -> None:
    table = pa.table({"x": [5.0] * people, "y": [5.0] * people})
    found = open_table(table).points("x,y", grid="10,10", box="0..100,-50..50", crowd=20, epsilon=1)
    assert len(found) == kept


def test_rows_come_in_the_order_of_what_is_published_whatever_their_order_was(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0, 100, 500), rng.uniform(-50, 50, 500)
    spec = asked(crowd=2)
    tables = [pa.table({"x": x, "y": y}), pa.table({"x": x[::-1].copy(), "y": y[::-1].copy()})]
    first, second = (
        played(spec, opened(table).engine, ScriptedSource.from_label("points")).to_arrow() for table in tables
    )
    assert first.equals(second)
    rows = list(zip(first["x"].to_pylist(), first["y"].to_pylist(), strict=True))
    assert rows == sorted(rows)
    assert len(rows) > 400


def test_whoever_is_beyond_the_box_or_has_no_number_is_left_out() -> None:
    odd = [math.nan, math.inf, -math.inf, -0.0001, 100.0, 1e308, None]
    table = pa.table({"x": [0.0, 99.999, *odd] * 20, "y": [0.0] * 180})
    found = published(open_table(table).points("x,y", grid="10,10", box="0..100,-50..50", crowd=20, epsilon=50))
    assert len(found) == 40
    text = pa.table({"x": ["1.5", "x", "", "nan", "1e400"] * 20, "y": ["0"] * 100})
    assert len(open_table(text).points("x,y", grid="10,10", box="0..100,-50..50", crowd=20, epsilon=50)) == 20


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.float32(), pa.decimal128(9, 2), pa.uint64()])
def test_every_type_of_number_is_a_coordinate(kind: pa.DataType) -> None:
    values = pa.array([Decimal(each) for each in (0, 1, 3, 4, 7)] * 10, pa.decimal128(9, 2)).cast(kind)
    spec = points("x", grid="4", box="0..8", lattice="1", crowd=2, epsilon=1)
    counted = opened(pa.table({"x": values})).engine.count(CountQuery(axes=spec.space.axes), SystemSource())
    assert dict(zip(counted.codes.tolist(), counted.counts.tolist(), strict=True)) == {
        0: 10,
        1: 10,
        3: 10,
        4: 10,
        7: 10,
    }


def test_clamped_points_stay_in_the_box_and_others_may_leave_it() -> None:
    table = pa.table({"x": [0.5] * 200, "y": [-49.0] * 200})
    free, kept = (
        published(
            open_table(table).points("x,y", grid="10,10", box="0..100,-50..50", crowd=20, epsilon=1, leave_outside=out)
        )
        for out in (True, False)
    )
    assert free.positions[0].min() < 0
    assert "left where they are" in free.sentences()[1]
    assert kept.positions[0].min() == 0
    assert kept.coordinates()[0].min() == 0.05
    assert "put back on its edge" in kept.sentences()[1]


@pytest.mark.parametrize("columns", [1, 3, 10])
def test_any_dimension_up_to_ten(columns: int) -> None:
    names = [f"c{i}" for i in range(columns)]
    table = pa.table({name: [1.0] * 25 for name in names})
    done = open_table(table).points(
        names, grid=["2"] * columns, box=[("0", "4")] * columns, lattice=["0.5"] * columns, crowd=20, epsilon=1
    )
    assert done.to_arrow().column_names == names
    assert len(done) == 25
    assert isinstance(done.result.drawing(), Bars if columns == 1 else Map | None)  # type: ignore[arg-type]


def test_coordinates_are_short_decimals() -> None:
    spec = points("lon,lat", grid="0.01,0.01", box="-74.3..-73.7,40.5..41.0", crowd=20, epsilon=1)
    at = spec.space.coordinates(0, np.array([0, 1, 2999]))
    assert [repr(each) for each in at.tolist()] == ["-74.29995", "-74.29985", "-74.00005"]
    assert spec.space.nearest(0, at).tolist() == [0, 1, 2999]


# --- refusals: one sentence, nothing spent, no cell of the table ----------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"grid": "0,10"}, "width above 0"),
        ({"grid": "-1,10"}, "width above 0"),
        ({"lattice": "0,1"}, "width above 0"),
        ({"grid": "10"}, "grid has one entry for each column, 2 here, not 1"),
        ({"box": "0..100"}, "box has one entry"),
        ({"box": "0,1"}, "two ends"),
        ({"box": "100..0,-50..50"}, "must grow"),
        ({"box": "0..nan,-50..50"}, "a number like"),
        ({"box": "0..inf,-50..50"}, "a number like"),
        ({"grid": "7,10"}, "whole number of them"),
        ({"lattice": "3,1"}, "steps of the lattice wide"),
        ({"lattice": "1e-12,1"}, "million steps wide"),
        ({"lattice": "1e-17,1"}, "finer than a floating-point number"),
        ({"columns": ",".join("abcdefghijk"), "grid": ",".join("1" * 11), "box": ",".join(["0..9"] * 11)}, "1 to 10"),
        ({"columns": "x,x"}, "a column of its own"),
        ({"columns": "x,"}, "name each"),
        ({"columns": ",".join("abcdefghij"), "grid": ",".join("1" * 10), "box": ",".join(["0..9"] * 10)}, "2\\^63"),
        ({"crowd": 1}, "crowd"),
        ({"crowd": "2.5"}, "crowd"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 51}, "at most 50"),
        ({"within": 0}, "within"),
    ],
    ids=str,
)
def test_words_that_make_no_release_are_one_sentence(words: dict[str, Any], told: str) -> None:
    with pytest.raises(WrongUse, match=told) as error:
        asked(**words)
    assert "\n" not in str(error.value)
    assert not str(error.value).endswith(".")


@pytest.mark.parametrize("column", ["when", "flag", "nobody"])
def test_columns_without_numbers_are_refused_before_anything_is_spent(column: str) -> None:
    table = pa.table({"x": [1.0], "when": pa.array([0]).cast(pa.timestamp("s")), "flag": [True]})
    with pytest.raises(WrongUse, match=column):
        opened(table, dataset="town").points(
            ["x", column], grid=["10", "10"], box=[("0", "100")] * 2, crowd=20, epsilon=1
        )
    assert not Ledger().accounts()


def test_a_person_with_two_points_is_refused_and_nothing_is_spent() -> None:
    twice = pa.table({"id": [*range(40), 7], "x": [5.0] * 41, "y": [5.0] * 41})
    words: dict[str, Any] = {"grid": "10,10", "box": "0..100,-50..50", "crowd": 20, "epsilon": 1}
    with pytest.raises(Refused, match="exactly one row for each person"):
        opened(twice, person="id", dataset="town").points("x,y", **words)
    (record,) = Ledger().account("town").records
    assert not record.is_spent
    done = opened(twice, person="id", dataset="town").points("x,y", **words, one_row_per_person=True)
    assert len(done) == 40
    assert all(step.people is not None and step.people.whose is Whose.KEPT_ROWS for step in done.promises)


def test_a_second_release_of_the_same_people_is_refused() -> None:
    """Crowd-blending does not compose."""
    table = opened(PLACES, person="id", dataset="town")
    words: dict[str, Any] = {"grid": "10,10", "box": "0..100,-50..50", "crowd": 20, "epsilon": 1}
    table.points("x,y", **words)
    with pytest.raises(Refused):
        table.points("x,y", **words)
    with pytest.raises(Refused):
        table.histogram(["x:0..100:10"], crowd=20)


def test_points_and_noise_add_up_by_proposition_8() -> None:
    table = opened(PLACES, person="id", dataset="town")
    table.points("x,y", grid="10,10", box="0..100,-50..50", crowd=20, epsilon=1)
    table.histogram(["x:0..100:10"], epsilon=1)
    total = Ledger().account("town").totals
    assert total is not None
    assert str(total.crowd_blending.guarantee) == "(20, 3)-crowd-blending"


# --- files, report, command -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_planted_difference_in_the_file_is_found(form: str, tmp_path: Path) -> None:
    done = opened(PLACES, person="id", dataset="town").points(
        "x,y", grid="10,10", box="0..100,-50..50", crowd=20, epsilon=1
    )
    file = Path(save(done, tmp_path, form=form)["release"])
    assert wrong_in(done.spec, file, form) is None
    if form == "csv":
        text = file.read_text().splitlines()
        swapped = [text[0], *text[2:], text[1]]
        other = [text[0], *(line + "1" for line in text[1:])]
        for lines, told in (
            (swapped, "its column x"),
            (other, "not on the lattice"),
            (text[1:], "columns that are described"),
        ):
            file.write_text("\n".join(lines) + "\n")
            assert told in str(wrong_in(done.spec, file, form))
    file.write_bytes(b"\0")
    assert wrong_in(done.spec, file, form) is not None


def test_the_sums_beside_the_points_are_checked_as_far_as_they_can_be(tmp_path: Path) -> None:
    """Clamped points do not tell how far they had left the box; whether any can have, they do."""
    corner = pa.table({"x": [0.5] * 60, "y": [-49.9] * 60})
    done = opened(corner, dataset="town").points("x,y", grid="10,10", box="0..100,-50..50", crowd=20, epsilon=4)
    file = Path(save(done, tmp_path)["release"])
    means, found = tmp_path / "means.csv", published(done)
    heading, first, second = means.read_text().splitlines()
    assert wrong_in(done.spec, file, "csv") is None
    assert all(each < 0 for each in found.beyond)
    for row, mean in zip(pa_csv.read_csv(means).to_pylist(), found.means(), strict=True):
        assert (row["column"], row["sum"], row["mean"]) == (mean.column, float(mean.sum), float(mean.mean))
        assert row["low"] <= mean.low <= mean.mean <= mean.high <= row["high"]

    def wrong(cell: int, other: str) -> str:
        cells = first.split(",")
        cells[cell] = other
        means.write_text("\n".join([heading, ",".join(cells), second]) + "\n")
        return str(wrong_in(done.spec, file, "csv"))

    for cell in range(1, 5):
        assert wrong(cell, "1.25").startswith("means.csv: its column")
    assert wrong(5, str(found.beyond[0] - 1)).startswith("means.csv: its column sum")
    assert "none is on that edge" in wrong(5, "1")
    assert "is missing" in wrong(5, "")
    means.write_text(f"{heading}\n{first}\n")
    assert "not those of its columns" in str(wrong_in(done.spec, file, "csv"))
    means.unlink()
    assert wrong_in(done.spec, file, "csv") == "means.csv is not there"


def test_points_that_are_left_outside_have_left_no_edge(tmp_path: Path) -> None:
    words: dict[str, Any] = {"grid": "10,10", "box": "0..100,-50..50", "crowd": 20, "epsilon": 1, "leave_outside": True}
    done = opened(PLACES, person="id", dataset="town").points("x,y", **words)
    file = Path(save(done, tmp_path)["release"])
    assert published(done).beyond == (0, 0)
    means = tmp_path / "means.csv"
    means.write_text(means.read_text().replace(",0\n", ",3\n", 1))
    assert "none is on that edge" in str(wrong_in(done.spec, file, "csv"))


def test_the_map_has_every_square_and_some_dots() -> None:
    rng = np.random.default_rng(2)
    table = pa.table({"lon": rng.normal(-74.0, 0.05, 5000), "lat": rng.normal(40.75, 0.05, 5000)})
    done = open_table(table).points("lon,lat", grid="0.01,0.01", box="-74.3..-73.7,40.5..41.0", crowd=2, epsilon=1)
    drawing = done.result.drawing()
    assert isinstance(drawing, Map)
    inside = published(done).positions
    shown = int(np.sum((inside[0] >= 0) & (inside[0] < 6000) & (inside[1] >= 0) & (inside[1] < 5000)))
    assert sum(points for *_, points in drawing.squares) == shown
    assert (drawing.across, drawing.up) == (60, 50)
    assert 500 < len(drawing.dots) <= 1500
    assert drawing.tall == pytest.approx(1 / math.cos(math.radians(40.75)), rel=1e-3)
    left, right, bottom, top = drawing.box
    assert all(left <= x <= right and bottom <= y <= top for x, y in drawing.dots)


def test_the_command_says_what_the_call_does(tmp_path: Path) -> None:
    pa_csv.write_csv(PLACES, tmp_path / "places.csv")
    words = f"release points {tmp_path}/places.csv --person id --columns x,y --grid 10,10 --box 0..100,-50..50"
    done = CliRunner().invoke(
        commands,
        [*words.split(), "--crowd", "20", "--epsilon", "1", "--within", "200", "--out", str(tmp_path), "--json"],
    )
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["points"] == 30
    assert told["useful"]["within"]["missed"] < 0.1
    assert told["guarantees"][0]["notion"] == "crowd-blending"
    assert "<svg" in Path(told["report"]).read_text()
    for missing in ("--columns", "--crowd", "--epsilon", "--grid", "--box"):
        parts = [*words.split(), "--crowd", "20", "--epsilon", "1", "--out", str(tmp_path / "no")]
        at = parts.index(missing)
        less = CliRunner().invoke(commands, parts[:at] + parts[at + 2 :])
        assert (less.exit_code, less.stderr.count("\n")) == (2, 1), less.output
        assert missing in less.stderr


def test_the_unit_of_points_is_a_person() -> None:
    with pytest.raises(WrongUse, match="a person is one point"):
        asked(unit=Unit(person="id", distinct=2))


@pytest.mark.parametrize(("lattice", "told"), [("1", "moved by noise"), ("2", "at the middle of its cell")])
def test_where_a_point_is_put_is_said_as_it_is(lattice: str, told: str) -> None:
    """Noise may leave a point where it was, and where a cell is one position there is none."""
    spec = points(**{**LINE, "lattice": lattice}, crowd=2, epsilon=1)  # type: ignore[arg-type]
    assert spec.describe().counts == f"each row is one of the people, {told}"
    shown = PublishedPoints(spec, move_points(spec, np.array([0]), np.array([3]), SystemSource()), (0,))
    assert told in shown.display(2).notes[0]


@pytest.mark.parametrize("cell", ["", "nan", "inf"])
def test_a_file_with_a_cell_that_is_no_number_is_noticed(cell: str, tmp_path: Path) -> None:
    file = tmp_path / "release.csv"
    file.write_text(f'"x","y"\n5.05,{cell}\n')
    (tmp_path / "means.csv").write_text('"column","sum","mean","low","high","beyond"\n"x",0,0,0,0,0\n"y",0,0,0,0,0\n')
    assert wrong_in(asked(), file, "csv") == "its points are not on the lattice"
