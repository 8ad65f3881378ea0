"""What a statistic and several questions measure: integers under a declared schema, from which all files follow."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hubbub import registry
from hubbub.engines.opening import open_source
from hubbub.errors import CheckFailed, Refused
from hubbub.kinds.questions.mechanism import OneSample
from hubbub.kinds.questions.spec import Questions
from hubbub.kinds.sums.mechanism import NoisyBins, _by_answer
from hubbub.kinds.sums.spec import Statistic
from hubbub.ledger import key
from hubbub.ledger.durable import sha256
from hubbub.noise.source import ScriptedSource
from hubbub.protocol.measurement import LABELS, Measurement, Rehearsal, loaded
from hubbub.serialization.canonical import read
from hubbub.serialization.published_files import CERTIFICATE
from hubbub.tables.engine import ExactCounts, Joint
from hubbub.verification import verify
from tests.fresh import enter, save_over
from tests.unit.shared.saved import sign
from tests.unit.shared.statistics import statistic

N = 600
PEOPLE = pa.table(
    {
        "id": list(range(N)),
        "town": ["Bath"] * 350 + ["York"] * 247 + ["Wells"] * 3,
        "age": [7 * i % 90 for i in range(N)],
    }
)
BY = {"by": ["town=Bath,York"]}
AGE, OLD = {"of": "age:0..90:5"}, {"where": "age >= 45"}
CROWD = {"crowd": "20", "epsilon": "1"}
KNOWN = {"zero_knowledge": "2", "rows": "300", "people": str(N)}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "count, noise": ("count", {**BY, **OLD, "epsilon": "1"}),
    "count, crowds": ("count", {"by": ["town=Bath,York,Wells"], "crowd": "20"}),
    "count, sample": ("count", {**BY, **KNOWN}),
    "fraction, noise": ("fraction", {**BY, **OLD, "epsilon": "1"}),
    "fraction, crowds": ("fraction", {"by": ["town=Bath,York,Wells"], **OLD, **CROWD}),
    "mean, sample": ("mean", {**BY, **AGE, **KNOWN}),
    "mean, found": ("mean", {"by": ["town"], **AGE, **CROWD}),
    "quantile, noise": ("quantile", {**BY, **AGE, "epsilon": "1"}),
    "quantile, crowds": ("quantile", {"by": ["town=Bath,York,Wells"], **AGE, **CROWD}),
}
# No other number follows from these, or none where the value of a quantile is not usable.
ALONE = {"mean, found": ["town"], "quantile, crowds": ["people", "value_steps"]}
QUESTIONS = """
zero_knowledge = 2
rows = 300
people = 600
[[question]]
name = "old"
kind = "count"
where = "age >= 45"
[[question]]
name = "ages"
kind = "mean"
of = "age:0..90:5"
by = ["town=Bath,York"]
[[question]]
name = "middle"
kind = "quantile"
of = "age:0..90:5"
q = "0.5"
"""


def questions(folder: Path) -> Questions:
    (folder / "q.toml").write_text(QUESTIONS)
    asked = registry.kind("questions").from_options(spec=str(folder / "q.toml"), person="id")
    assert isinstance(asked, Questions)
    return asked


def asked(name: str, folder: Path) -> Statistic | Questions:
    if name == "questions":
        return questions(folder)
    kind, words = CASES[name]
    spec = registry.kind(kind).from_options(person="id", **words)
    assert isinstance(spec, Statistic)
    return spec


# --- what is published follows from what was drawn ----------------------------------------------------------------


def _changed(cell: str) -> str:
    """Another cell: one more where there is a number, which is no step of five years."""
    if not cell:
        return "7"
    try:
        return str(int(cell) + 1) if cell.lstrip("-").isdigit() else repr(float(cell) + 1)
    except ValueError:
        return f"{cell}s"


def _with_one_cell_changed(file: Path, alone: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The file with each cell changed, one at a time, but for columns that were drawn and stand `alone`."""
    before = file.read_bytes()
    with file.open(newline="", encoding="utf-8") as lines:
        table = list(csv.reader(lines))
    for i, row in enumerate(table):
        for j in range(len(row)):
            if i and table[0][j] in alone:
                continue
            other = [list(each) for each in table]
            other[i][j] = _changed(row[j])
            with file.open("w", newline="", encoding="utf-8") as out:
                csv.writer(out, lineterminator="\n").writerows(other)
            yield i, j
    file.write_bytes(before)


@pytest.mark.parametrize("name", [*CASES, "questions"])
def test_no_file_with_one_cell_changed_holds_though_it_is_signed_anew(name: str, tmp_path: Path) -> None:
    out, forger = tmp_path / "out", tmp_path / "forger" / "ledger.db"
    save_over(enter(PEOPLE, person="id").publish(asked(name, tmp_path)), out, report=False)
    forger.parent.mkdir()
    key.make(forger)
    body: Any = read((out / CERTIFICATE).read_bytes(), "the certificate")
    body.pop("signature")
    assert verify(sign(forger, body), folder=out).passed
    files = sorted(path.name for path in out.glob("*.csv"))
    assert len(files) == (4 if name == "questions" else 1)
    for file in files:
        for place in _with_one_cell_changed(out / file, ALONE.get(name, ())):
            again = {**body, "files": {**body["files"], file: sha256(out / file)}}
            done = verify(sign(forger, again), folder=out)
            assert not done.passed, (file, place)
            assert done.checks[-1].what.startswith("the numbers of"), done.checks[-1]


@pytest.mark.parametrize("name", [*CASES, "questions"])
def test_the_door_is_passed_once_with_exact_counts_and_all_else_follows(name: str, tmp_path: Path) -> None:
    """The secret sample is drawn behind it: what goes in are counts of everybody."""
    engine = open_source(PEOPLE)
    spec = asked(name, tmp_path).with_schema(engine.columns())
    source = Rehearsal(ScriptedSource.from_label(name))
    measured = spec.measure(engine, source)
    ((mechanism, exact),) = source.calls
    assert isinstance(mechanism, NoisyBins | OneSample)
    assert isinstance(exact, ExactCounts | Joint)
    if spec.kind.name == "questions" or name.endswith("sample"):
        assert int(exact.counts.sum()) == N
    assert all(field.type in (pa.int64(), LABELS) for field in mechanism.schema)
    others = PEOPLE.set_column(2, "age", pa.array([i % 90 for i in range(N)]))  # of whom the same is drawn
    again = Rehearsal(ScriptedSource.from_label("others"), [measured["answers"]])
    assert spec.measure(open_source(others), again) == measured
    sheets = spec.present(measured).sheets(), spec.present(measured).sheets()
    for one, two in zip(*sheets, strict=True):
        assert list(one.batches()) == list(two.batches())


# --- what cannot be drawn -----------------------------------------------------------------------------------------


def presented(spec: Statistic, **columns: list[int]) -> object:
    schema = NoisyBins(spec).schema
    batch = pa.record_batch([pa.array(columns[name], pa.int64()) for name in schema.names], schema=schema)
    return spec.present(Measurement(answers=loaded(schema, batch)))


def test_integers_that_such_a_release_cannot_draw_are_refused() -> None:
    ranked = statistic("quantile", of="age:0..90:5", q="0.5", epsilon=1)
    alone = statistic("quantile", of="age:0..90:5", q="0.5", epsilon=1, interval_share=0)
    assert presented(ranked, value_steps=[9], low=[3], high=[15])
    assert presented(ranked, value_steps=[3], low=[0], high=[8])  # 5 on either side, cut at the end of the range
    assert presented(ranked, value_steps=[3], low=[0], high=[18])
    assert presented(alone, value_steps=[3], low=[0], high=[18])
    with pytest.raises(CheckFailed, match="its numbers are none"):
        presented(alone, value_steps=[9], low=[3], high=[15])
    for points in (
        {"value_steps": [19], "low": [13], "high": [18]},
        {"value_steps": [3], "low": [-2], "high": [8]},
        {"value_steps": [9], "low": [3], "high": [16]},  # not as far on the one side as on the other
        {"value_steps": [12], "low": [3], "high": [18]},  # 9 is none of the offsets
    ):
        with pytest.raises(CheckFailed, match="its numbers are none"):
            presented(ranked, **points)
    noisy = statistic("count", epsilon=1)
    assert presented(noisy, count=[-3])
    with pytest.raises(CheckFailed, match="its numbers are none"):
        presented(noisy, count=[-(2**62) - 1])
    with pytest.raises(CheckFailed, match="not as many as its bins"):
        presented(noisy, count=[1, 2])
    mean = statistic("mean", of="age:0..90:5", epsilon=1)
    assert presented(mean, part=[100], whole=[200])
    with pytest.raises(CheckFailed, match="its numbers are none"):
        presented(mean, part=[-(2**63)], whole=[200])


def test_questions_with_more_or_fewer_integers_are_refused(tmp_path: Path) -> None:
    spec = questions(tmp_path)
    right = [140, 2000, 4000, 1800, 3600, 9, 8, 10]
    for numbers in (right, right[:-1], [*right, 1]):
        batch = pa.record_batch([pa.array(numbers, pa.int64())], schema=OneSample.schema)
        measured = Measurement(answers=loaded(OneSample.schema, batch))
        if numbers is right:
            assert len(spec.present(measured).sheets()) == 4
            continue
        with pytest.raises(CheckFailed, match="not as many as its bins"):
            spec.present(measured)


class Unused:
    """A source that nobody may ask."""

    def words(self, n: int) -> Any:
        raise AssertionError("a word was drawn")


def test_another_number_of_people_than_declared_is_refused_before_a_word_is_drawn(tmp_path: Path) -> None:
    engine = open_source(PEOPLE.slice(1))
    for spec in (asked("mean, sample", tmp_path), questions(tmp_path)):
        with pytest.raises(Refused, match="not of as many people as were declared"):
            spec.with_schema(engine.columns()).measure(engine, Unused())


def test_a_hidden_crowd_draws_zeros_and_says_so() -> None:
    spec = statistic("mean", of="age:0..90:5", by=["town=a,b"], crowd=20, epsilon=1)
    exact = ExactCounts(np.array([0, 1]), np.array([19, 20]), (), (100, 200))
    batch = NoisyBins(spec).draw(exact, ScriptedSource.from_label("hidden"))
    rows = batch.to_pylist()
    assert rows[0] == {"people": 0, "sum": 0, "status": "suppressed"}
    assert (rows[1]["people"], rows[1]["status"]) == (20, "shown")
    assert abs(Fraction(rows[1]["sum"]) - 200) < 1000


# --- shares by bins, of a sample -----------------------------------------------------------------------------------


@pytest.mark.parametrize("people", [(5, 7, 11), (1, 1, 1), (3, 0, 4), (0, 0, 1)])
@pytest.mark.parametrize("nobodys", [0, 2])
def test_shares_of_several_bins_are_of_the_people_of_each(people: tuple[int, ...], nobodys: int) -> None:
    """Everybody is drawn, and noise is next to none: of each bin those who meet the condition, and all."""
    met = tuple(count // 2 for count in people)
    codes = np.array([-1, 0, 1, 2]) if nobodys else np.array([0, 1, 2])
    apart = (nobodys,) if nobodys else ()
    exact = ExactCounts(codes, np.array([*apart, *people]), (), (*(0 for _ in apart), *met))
    everybody = sum(people) + nobodys
    spec = statistic(
        "fraction", where="old = yes", by=["town=a,b,c"], zero_knowledge=10**6, rows=everybody, people=everybody
    )
    drawn = NoisyBins(spec).draw(exact, ScriptedSource.from_label("shares")).to_pylist()
    assert [(row["part"], row["whole"]) for row in drawn] == list(zip(met, people, strict=True))


def test_those_who_meet_a_condition_and_those_who_do_not_are_two_cells() -> None:
    exact = ExactCounts(np.array([4, -1, 0]), np.array([9, 3, 5]), (["x", None, "y"], ["u", "v", "w"]), (2, 0, 5))
    found = _by_answer(exact)
    cells = zip(found.codes.tolist(), found.counts.tolist(), *found.found, strict=True)
    assert sorted(cells, key=lambda cell: cell[0]) == [
        (-1, 3, None, "v"),
        (0, 0, "y", "w"),
        (1, 5, "y", "w"),
        (8, 7, "x", "u"),
        (9, 2, "x", "u"),
    ]
