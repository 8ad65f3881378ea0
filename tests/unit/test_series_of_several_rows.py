"""People with several rows in a period: the series says what counts of them, and nothing is charged that cannot be done."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from hubbub import series
from hubbub.cli.main import commands
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.kinds.series.mechanism import count_period
from hubbub.kinds.series.request import from_options
from hubbub.kinds.series.result import Totals
from hubbub.kinds.series.spec import Series
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import SystemSource
from hubbub.opening import open as open_table
from hubbub.protocol.release import Release
from hubbub.tables.engine import Engine
from hubbub.verification import load, verify
from hubbub.verification.series import verify_series

WORDS: dict[str, Any] = {
    "kind": "histogram", "by": ["ward=a,b,c"], "person": "id", "periods": 4, "first": "2026-01", "epsilon": 1,
}  # fmt: skip
ONE = {"one_row_per_person": True}
SEVERAL: list[dict[str, Any]] = [
    ONE,
    {"rows_per_person": 3},
    {"rows_per_person": 3, "distinct": 2, "rows_per_bin": 2},
    {"distinct": 2},
    {"rows_per_bin": 2},
]


def visits(people: Iterable[int], rows: int = 3, month: int = 1, dataset: str = "clinic") -> Engine:
    """So many rows of each, one in each ward at first."""
    numbers = [(i, j) for i in people for j in range(rows)]
    columns: dict[str, Any] = {
        "id": [f"p{i}" for i, _ in numbers],
        "ward": ["abc"[(i + j) % 3] for i, j in numbers],
        "fee": [10 * j - 10 for _, j in numbers],
        "seen": [f"2026-{month:02}-{1 + j:02}" for _, j in numbers],
    }
    types = {"id": pa.string(), "ward": pa.string(), "fee": pa.int64(), "seen": pa.string()}
    return open_table(pa.table(columns, schema=pa.schema(types)), person="id", dataset=dataset).engine


def spent() -> int:
    known = Ledger().accounts().get("clinic")
    return 0 if known is None else len(known.spent_releases)


def totals(release: Release) -> Totals:
    assert isinstance(release.result, Totals)
    return release.result


@pytest.mark.parametrize("more", SEVERAL, ids=str)
def test_every_period_of_a_series_with_several_rows_comes_out_and_verifies(
    more: dict[str, Any], tmp_path: Path
) -> None:
    series.start("clinic", visits(range(40)), **WORDS | more)
    for month in (1, 2, 3):
        release = series.release(visits(range(20 * month, 20 * month + 40), 3, month), "clinic", f"2026-0{month}")
        release.save(tmp_path / f"2026-0{month}")
    assert spent() == 1
    key = json.loads(load(tmp_path / "2026-03" / "certificate.json"))["signature"]["public_key"]
    assert verify_series(tmp_path, key=key).passed
    assert any("In a period" in sentence for sentence in totals(release).sentences())


@pytest.mark.parametrize("more", [{}, *SEVERAL], ids=str)
@pytest.mark.parametrize("kind", ["histogram", "sum"])
def test_70_no_person_moves_a_period_further_than_the_noise_is_for(kind: str, more: dict[str, Any]) -> None:
    """Exact increments with and without a person of four rows, against what the spec says that one moves."""
    if kind == "sum" and more == {"distinct": 2}:
        pytest.skip("a sum has no people to count")
    words = WORDS | more | ({"kind": "sum", "of": "fee:-10..20:5"} if kind == "sum" else {})
    spec = from_options(name="clinic", **words | {"delta": "1e-6", "way": "factor"}).series
    blocks = from_options(name="clinic", **words).series
    rows = 4 if spec.unit.chooses else 1
    one = visits(range(1), rows)
    for _ in range(4):
        moved = np.abs(count_period(spec, one, SystemSource()))  # of nobody all are 0
        assert int(moved.sum()) <= spec.sensitivity.l1 <= blocks.way.l1  # type: ignore[union-attr]
        assert int((moved**2).sum()) <= spec.sensitivity.l2_squared <= spec.way.squared  # type: ignore[union-attr]
        assert int((moved > 0).sum()) <= spec.numbers_moved <= spec.way.moved  # type: ignore[union-attr]


def test_70_what_the_first_period_would_refuse_is_refused_before_the_charge() -> None:
    for wrong in (visits(range(40)), visits(range(40)), open_table(pa.table({"id": ["x"]}), person="id").engine):
        with pytest.raises(HubbubError) as told:
            series.start("clinic", wrong, **WORDS)
        assert spent() == 0
    assert "column" in str(told.value)
    with pytest.raises(Refused, match=r"one_row_per_person=True.*rows_per_person=M.*distinct=B.*nothing was charged"):
        series.start("clinic", visits(range(40)), **WORDS)
    series.start("clinic", visits(range(40)), **WORDS | ONE)
    assert spent() == 1


def test_70_every_option_that_a_refusal_names_is_taken() -> None:
    crowds = {name: value for name, value in WORDS.items() if name != "epsilon"} | {"crowd": 5}
    for words in (WORDS, crowds, WORDS | {"sample": "0.5"}, WORDS | {"kind": "sum", "of": "fee:-10..20:5"}):
        with pytest.raises(Refused) as told:
            series.start("clinic", visits(range(40)), **words)
        named = {"one_row_per_person": True, "rows_per_person": 2, "distinct": 2}
        for name, value in named.items():
            taken = f"{name}=" in str(told.value)
            if taken:
                series.start("clinic", visits(range(40)), **words | {name: value})
                series.cancel("clinic")
            else:
                with pytest.raises(WrongUse):
                    series.start("clinic", visits(range(40)), **words | {name: value})
    assert spent() == 0


def test_70_the_same_people_under_another_name_are_refused_before_the_charge() -> None:
    open_table(_named_table(), person="id", dataset="before").count(epsilon=1)
    with pytest.raises(Refused, match="dataset=before"):
        series.start("clinic", open_table(_named_table(), person="id", dataset="clinic").engine, **WORDS)
    assert spent() == 0
    table = open_table(_named_table(), person="id", dataset="clinic").engine
    series.start("clinic", table, other_people=True, **WORDS)
    assert spent() == 1


def _named_table() -> pa.Table:
    return pa.table({"id": [f"p{i}" for i in range(40)], "ward": ["a", "b"] * 20})


def test_70_a_series_that_was_charged_can_be_completed_by_one_row_of_each(tmp_path: Path) -> None:
    series.start("clinic", **WORDS | {"recur": 4})
    series.release(visits(range(20), 1), "clinic", "2026-01")
    with pytest.raises(Refused, match="one_row_per_person=True"):
        series.release(visits(range(40), 3), "clinic", "2026-02")
    series.release(visits(range(40), 3), "clinic", "2026-02", one_row_per_person=True)
    third = series.release(visits(range(20), 1), "clinic", "2026-03")
    third.save(tmp_path / "march")
    assert series.release(None, "clinic", "2026-02").spec.to_json()["one_row_kept"] == ["2026-02"]
    done = verify(load(tmp_path / "march" / "certificate.json"), folder=tmp_path / "march")
    assert done.passed
    said = load(tmp_path / "march" / "certificate.json").decode()
    assert "series.one-row-kept" in said
    assert "person.one-row-each" not in said
    assert any("one was kept, chosen secretly, in 2026-02" in each for each in totals(third).sentences())
    first = series.release(None, "clinic", "2026-01").spec.to_json()
    assert "one_row_kept" not in first


def test_crowds_of_kept_rows_are_no_crowds_of_people() -> None:
    words = {name: value for name, value in WORDS.items() if name != "epsilon"} | {"crowd": 5}
    series.start("clinic", **words)
    with pytest.raises(Refused, match="give a table that has one"):
        series.release(visits(range(40)), "clinic", "2026-01")
    with pytest.raises(WrongUse, match="leave out one_row_per_person"):
        series.release(visits(range(40)), "clinic", "2026-01", one_row_per_person=True)
    series.release(visits(range(40), 1), "clinic", "2026-01")
    kept = from_options(name="kept", **words | ONE)
    assert "kept" in str(kept.promises()[0].people)
    assert kept.composition().partition is None
    assert not kept.composition().exact_crowds


def test_a_period_is_of_a_partition_by_its_dates_and_its_condition() -> None:
    words = {name: value for name, value in WORDS.items() if name != "epsilon"} | {"crowd": 5, "name": "s"}
    plain, dated, some, others = (
        from_options(**words | more).composition().partition
        for more in ({}, {"date": "seen"}, {"where": "fee >= 5"}, {"where": "fee >= 6"})
    )
    assert len({plain, dated, some, others}) == 4


def test_a_series_can_be_cancelled_until_something_is_drawn() -> None:
    series.start("clinic", **WORDS)
    series.cancel("clinic")
    assert spent() == 0
    with pytest.raises(WrongUse, match="no series"):
        series.release(visits(range(40), 1), "clinic", "2026-01")
    series.start("clinic", **WORDS)
    series.release(visits(range(40), 1), "clinic", "2026-01")
    with pytest.raises(Refused, match="stays"):
        series.cancel("clinic")
    assert spent() == 1
    assert Ledger().check() == len(Ledger().entries())


def test_a_period_whose_series_was_cancelled_meanwhile_is_not_drawn() -> None:
    from hubbub.ledger import series_state as states

    _, reservation = series.start("clinic", **WORDS)
    series.cancel("clinic")
    with pytest.raises(Refused, match="cancelled"):
        Ledger().draw_period(reservation, 0, before="", keep=lambda: states.FORMAT)


@pytest.mark.parametrize("more", [ONE, {"rows_per_person": 2}], ids=str)
def test_of_a_table_that_grows_the_rows_of_one_period_count(more: dict[str, Any]) -> None:
    """Three rows in January and three in February: each period counts of its own, and no row counts twice."""
    series.start("clinic", **WORDS | more | {"date": "seen", "recur": 4, "epsilon": 100}, accept_weak=True)
    january = visits(range(40), 3, 1)
    both = pa.concat_tables([_rows(january), _rows(visits(range(40), 3, 2))])
    for period, engine in (("2026-01", january), ("2026-02", open_table(both, person="id", dataset="clinic").engine)):
        done = totals(series.release(engine, "clinic", period))
    each = 1 if more == ONE else 2
    assert [round(sum(n.value for n in done.increment(t) if n.value is not None)) for t in (0, 1)] == [40 * each] * 2


def _rows(engine: Engine) -> pa.Table:
    return engine.rows(["id", "ward", "fee", "seen"], None, lambda many: np.arange(many, dtype=np.int64))


def test_words_that_a_series_does_not_take_are_refused() -> None:
    for more, sentence in (
        ({"kind": "count", "by": [], "distinct": 2}, "name bins"),
        ({"person": None, "rows_per_person": 2}, "person"),
        ({"crowd": 5, "epsilon": None, "rows_per_person": 2}, "one_row_per_person"),
        ({"sample": "0.1", "distinct": 2}, "one_row_per_person"),
        ({"one_row_per_person": True, "rows_per_person": 2}, "exclude"),
    ):
        with pytest.raises(WrongUse, match=sentence):
            from_options(name="s", **WORDS | more)  # type: ignore[operator]


def test_a_bound_above_the_bins_costs_no_more_noise() -> None:
    few, many = (from_options(name="s", **WORDS | {"distinct": n}).series for n in (3, 30))
    assert few == many
    assert isinstance(few, Series)


def test_70_the_commands_rehearse_publish_complete_and_cancel(tmp_path: Path) -> None:
    file = tmp_path / "january.csv"
    file.write_text("id,ward\n" + "".join(f"p{i},{'abc'[(i + j) % 3]}\n" for i in range(40) for j in range(2)))
    start = ["series", "start", "clinic", str(file), "--by", "ward=a,b,c", "--person", "id", "--periods", "4", "--first",
             "2026-01", "--epsilon", "1"]  # fmt: skip
    told = CliRunner().invoke(commands, start)
    assert told.exit_code == 3
    assert "--rows-per-person M" in told.output
    assert spent() == 0
    assert CliRunner().invoke(commands, [*start, "--rows-per-person", "2"]).exit_code == 0
    assert CliRunner().invoke(commands, ["series", "cancel", "clinic"]).exit_code == 0
    assert spent() == 0
    series.start("clinic", **WORDS)
    period = [
        "series",
        "publish",
        "clinic",
        "2026-01",
        str(file),
        "--out",
        str(tmp_path / "o"),
    ]
    told = CliRunner().invoke(commands, period)
    assert (told.exit_code, "--one-row-per-person" in told.output) == (3, True)
    assert CliRunner().invoke(commands, [*period, "--rows-per-person", "2"]).exit_code == 2
    told = CliRunner().invoke(commands, [*period, "--one-row-per-person"])
    assert told.exit_code == 0, told.output
