"""A series from its start to its last period: charged once, drawn once, frozen, and checked as a whole."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hubbub import series
from hubbub.cli.main import commands
from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.kinds.series.mechanism import Increments
from hubbub.kinds.series.request import from_options
from hubbub.kinds.series.result import Totals, numbers_between
from hubbub.ledger import paths, store
from hubbub.ledger import series_state as states
from hubbub.ledger.backup import backup, restore
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


def people(ids: Iterable[int], ward: str = "abc") -> Engine:
    numbers = list(ids)
    columns = {"id": [f"p{i}" for i in numbers], "ward": [ward[i % len(ward)] for i in numbers], "fee": numbers}
    columns["seen"] = [f"2026-0{1 + i % 3}-15" for i in numbers]
    return open_table(pa.table(columns), person="id", dataset="clinic").engine


def state() -> states.SeriesState:
    _, record = Ledger().series("clinic")
    return states.load(Ledger().path, record.nonce, record.periods[-1].body["state"])


def totals(release: Release) -> Totals:
    assert isinstance(release.result, Totals)
    return release.result


def saved(release: Release, folder: Path) -> dict[str, bytes]:
    release.save(folder)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_series_is_charged_once_whatever_is_published() -> None:
    series.start("clinic", **WORDS)
    epsilons = []
    for period, ids in (("2026-01", range(30)), ("2026-02", range(40)), ("2026-04", range(60))):
        series.release(people(ids), "clinic", period)
        known = Ledger().account("clinic").totals
        assert known is not None
        epsilons.append(known.smallest_loss)
    assert epsilons == [1, 1, 1]
    assert len(Ledger().account("clinic").spent_releases) == 1
    assert Ledger().check() == len(Ledger().entries())


def test_63_a_repeat_is_the_same_bytes_and_reads_no_table(tmp_path: Path) -> None:
    series.start("clinic", **WORDS)
    first = saved(series.release(people(range(30)), "clinic", "2026-01"), tmp_path / "one")
    series.release(people(range(10, 50)), "clinic", "2026-02")
    assert saved(series.release(None, "clinic", "2026-01"), tmp_path / "two") == first
    assert saved(series.release(people(range(900)), "clinic", "2026-01"), tmp_path / "three") == first
    assert len(Ledger().series("clinic")[1].periods) == 2


def test_63_increments_are_frozen_for_the_owner_alone_and_nothing_of_them_is_in_the_files(tmp_path: Path) -> None:
    series.start("clinic", **WORDS)
    done = series.release(people(range(30)), "clinic", "2026-01")
    files = saved(done, tmp_path / "out")
    assert state().periods[0].increments == (10, 10, 10)
    (kept,) = Ledger().path.parent.glob("*.series-*")
    assert stat.S_IMODE(os.stat(kept).st_mode) == 0o600
    secret = state().secret
    assert all(secret.encode() not in data for data in files.values())
    assert not hasattr(done, "increments")
    series.release(people(range(100, 130), "a"), "clinic", "2026-02")
    assert [each.increments for each in state().periods] == [(10, 10, 10), (30, 0, 0)]
    assert len(list(Ledger().path.parent.glob("*.series-*"))) == 1


@pytest.mark.parametrize(("recur", "counts"), [(1, (30, 10, 0, 20)), (2, (30, 40, 10, 20)), (4, (30, 40, 40, 60))])
def test_a_person_counts_in_their_first_periods_and_in_no_other(recur: int, counts: tuple[int, ...]) -> None:
    series.start("clinic", **WORDS | {"recur": recur})
    tables = (range(30), range(40), range(40), [*range(40), *range(100, 120)])
    for period, ids in zip(("2026-01", "2026-02", "2026-03", "2026-04"), tables, strict=True):
        series.release(people(ids), "clinic", period)
    assert tuple(sum(each.increments) for each in state().periods) == counts


def test_a_missed_period_counts_nobody_and_is_not_made_up_for() -> None:
    series.start("clinic", **WORDS)
    series.release(people(range(30)), "clinic", "2026-01")
    done = series.release(people(range(60)), "clinic", "2026-03")
    assert [sum(each.increments) for each in state().periods] == [30, 0, 30]
    assert done.spec.to_json()["missed"] == ["2026-02"]
    assert "counted as nobody: 2026-02" in " ".join(done.result.sentences())
    with pytest.raises(Refused, match="a missed period counts nobody"):
        series.release(people(range(90)), "clinic", "2026-02")
    with pytest.raises(WrongUse, match="2026-04 was not drawn yet"):
        series.release(None, "clinic", "2026-04")


def test_25_an_older_or_missing_state_is_refused() -> None:
    series.start("clinic", **WORDS)
    series.release(people(range(30)), "clinic", "2026-01")
    folder = Ledger().path.parent
    (older,) = folder.glob("*.series-*")
    data = older.read_bytes()
    series.release(people(range(60)), "clinic", "2026-02")
    (newer,) = folder.glob("*.series-*")
    good = newer.read_bytes()
    newer.write_bytes(data)
    with pytest.raises(CheckFailed, match="another moment"):
        series.release(people(range(90)), "clinic", "2026-03")
    newer.unlink()
    with pytest.raises(CheckFailed, match="restore ledger, key and series together"):
        series.release(None, "clinic", "2026-01")
    newer.write_bytes(good)
    series.release(people(range(90)), "clinic", "2026-03")


def test_25_an_older_ledger_with_its_state_is_refused(tmp_path: Path) -> None:
    series.start("clinic", **WORDS)
    series.release(people(range(30)), "clinic", "2026-01")
    folder = Ledger().path.parent
    shutil.copytree(folder, tmp_path / "copy")
    series.release(people(range(60)), "clinic", "2026-02")
    for each in folder.iterdir():
        if each.is_file():
            each.unlink()
    for each in (tmp_path / "copy").iterdir():
        if each.is_file():
            shutil.copy2(each, folder / each.name)
    with pytest.raises((CheckFailed, Refused)):
        series.release(people(range(60)), "clinic", "2026-02")


def test_25_a_machine_that_was_put_back_whole_draws_no_period_again(tmp_path: Path) -> None:
    """Ledger, key, secrets and what the machine remembers are all of last month: what was published tells."""
    series.start("clinic", **WORDS)
    out = tmp_path / "out"
    series.release(people(range(30)), "clinic", "2026-01").save(out / "2026-01")
    places = [Ledger().path.parent, store.anchor_folder()]
    for i, place in enumerate(places):
        shutil.copytree(place, tmp_path / f"copy-{i}")
    series.release(people(range(60)), "clinic", "2026-02").save(out / "2026-02")
    for i, place in enumerate(places):
        shutil.rmtree(place)
        shutil.copytree(tmp_path / f"copy-{i}", place)
    with pytest.raises(CheckFailed, match="an older copy"):
        series.release(people(range(60)), "clinic", "2026-02", beside=out)
    assert len(Ledger().series("clinic")[1].periods) == 1
    forged = out / "2026-02" / "certificate.json"
    forged.write_bytes(forged.read_bytes().replace(b'"clinic"', b'"other1"'))
    series.release(people(range(60)), "clinic", "2026-02", beside=out)  # what nobody signed stops nothing


def test_63_two_who_draw_one_period_at_once_never_both_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    series.start("clinic", **WORDS)
    draw, inner = Ledger.draw_period, list[Any]()

    def overtaken(*given: Any, **named: Any) -> None:
        if not inner:
            inner.append(0)
            inner[0] = series.release(people(range(30)), "clinic", "2026-01")
        draw(*given, **named)

    monkeypatch.setattr(Ledger, "draw_period", overtaken)
    with pytest.raises(Refused, match="drawn once"):
        series.release(people(range(30)), "clinic", "2026-01")
    again = series.release(None, "clinic", "2026-01")
    assert [line.tolist() for line in totals(again).drawn] == [line.tolist() for line in totals(inner[0]).drawn]


def test_63_one_who_ends_late_leaves_what_the_next_period_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the entry of one period and the end of its release, somebody else draws the next one."""
    series.start("clinic", **WORDS)
    draw, later = Ledger.draw_period, list[Release]()

    def slow(*given: Any, **named: Any) -> None:
        draw(*given, **named)
        if not later:
            monkeypatch.setattr(Ledger, "draw_period", draw)
            later.append(series.release(people(range(30, 70)), "clinic", "2026-02"))

    monkeypatch.setattr(Ledger, "draw_period", slow)
    series.release(people(range(30)), "clinic", "2026-01")
    again = totals(series.release(None, "clinic", "2026-02")).drawn
    assert [line.tolist() for line in again] == [line.tolist() for line in totals(later[0]).drawn]
    series.release(people(range(99)), "clinic", "2026-03")
    assert len(list(Ledger().path.parent.glob("*.series-*"))) == 1


def test_63_a_state_that_no_entry_followed_goes_with_the_next_period(monkeypatch: pytest.MonkeyPatch) -> None:
    series.start("clinic", **WORDS)
    keep = states.keep

    def killed(*given: Any) -> str:
        keep(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(states, "keep", killed)
        with pytest.raises(KeyboardInterrupt):
            series.release(people(range(30)), "clinic", "2026-01")
    assert len(list(Ledger().path.parent.glob("*.series-*"))) == 1
    series.release(people(range(30)), "clinic", "2026-01")
    assert len(list(Ledger().path.parent.glob("*.series-*"))) == 1
    assert state().periods[0].increments == (10, 10, 10)


def test_25_a_backup_with_a_series_that_was_closed_is_restored(tmp_path: Path) -> None:
    series.start("clinic", **WORDS)
    books = Ledger()
    backup(books, tmp_path / "older")
    series.release(people(range(30)), "clinic", "2026-01")
    for file in paths.files_of(books.path):
        file.unlink(missing_ok=True)
    for file in (tmp_path / "older").glob("ledger.db*"):
        shutil.copy(file, books.path.with_name(file.name))
    assert books.adopt() is not None
    names, many = backup(books, tmp_path / "closed"), len(books.entries())
    for file in paths.files_of(books.path):
        file.unlink(missing_ok=True)
    assert restore(Ledger(), tmp_path / "closed") == many
    assert all(books.path.with_name(name).exists() for name in names)
    with pytest.raises(Refused, match="start another series"):
        series.release(people(range(30)), "clinic", "2026-01")


def test_25_a_backup_without_what_a_series_keeps_is_put_nowhere(tmp_path: Path) -> None:
    series.start("clinic", **WORDS)
    series.release(people(range(30)), "clinic", "2026-01")
    (kept,) = paths.series_files(Ledger().path)
    secret = kept.read_bytes()
    kept.unlink()
    backup(Ledger(), tmp_path / "backup")
    kept.write_bytes(secret)
    for file in paths.files_of(Ledger().path):
        file.unlink(missing_ok=True)
    with pytest.raises(CheckFailed, match="does not go on"):
        restore(Ledger(), tmp_path / "backup")
    assert not any(file.exists() for file in paths.files_of(Ledger().path))


@pytest.mark.parametrize("ids", [pa.array([0.0, 1.0]), pa.array([b"a", b"\xff"])], ids=["fractions", "bytes"])
def test_ids_that_may_be_written_in_two_ways_are_refused(ids: pa.Array) -> None:
    """0.0 and -0.0 are one number, and would be two people."""
    series.start("clinic", **WORDS | {"kind": "count", "by": []})
    engine = open_table(pa.table({"id": ids}), person="id", dataset="clinic").engine
    with pytest.raises(WrongUse, match="texts or whole numbers"):
        series.release(engine, "clinic", "2026-01")
    assert not Ledger().series("clinic")[1].periods


def test_numbers_between_periods_come_from_signed_files_alone(tmp_path: Path) -> None:
    """Files beside a certificate that it does not name are none of the release, whatever they are called."""
    series.start("clinic", **WORDS)
    for period, ids in (("2026-01", range(30)), ("2026-02", range(60))):
        series.release(people(ids), "clinic", period).save(tmp_path / "all" / period, form="parquet")
        series.release(None, "clinic", period).save(tmp_path / "csv" / period)
    asked = [
        str(tmp_path / "all" / "2026-02" / "certificate.json"),
        "--since",
        "2026-01",
        "--until",
        "2026-02",
        "--json",
    ]
    before = CliRunner().invoke(commands, ["series", "between", *asked])
    assert before.exit_code == 0, before.output
    lines = (tmp_path / "csv" / "2026-02" / "drawn.csv").read_text().rstrip("\n").split("\n")
    moved = [f"{start},{int(number) + 1000}" for start, _, number in (line.rpartition(",") for line in lines[1:])]
    (tmp_path / "all" / "2026-02" / "drawn.csv").write_text("\n".join([lines[0], *moved]) + "\n")
    assert CliRunner().invoke(commands, ["series", "between", *asked]).output == before.output
    assert verify_series(tmp_path / "all").passed


def test_intervals_between_periods_are_rounded_outwards(tmp_path: Path) -> None:
    series.start("clinic", **WORDS | {"delta": "1e-6", "way": "factor"})
    for period, ids in (("2026-01", range(30)), ("2026-02", range(60))):
        done = series.release(people(ids), "clinic", period)
        done.save(tmp_path / period)
    asked = [str(tmp_path / "2026-02" / "certificate.json"), "--since", "2026-01", "--until", "2026-02", "--json"]
    rows = json.loads(CliRunner().invoke(commands, ["series", "between", *asked]).stdout)["rows"]
    assert isinstance(done.result, Totals)
    exact = numbers_between(done.result, "2026-01", "2026-02")
    assert any(each.high.denominator > 2 for each in exact)  # fractions that are no floating-point numbers
    for row, each in zip(rows, exact, strict=True):
        assert Fraction(row["low"]) <= each.low
        assert Fraction(row["high"]) >= each.high


def test_a_period_that_somebody_unknown_signed_is_no_part_of_a_series(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last period, with other numbers and another key: no later file says what was drawn in it."""
    series.start("clinic", **WORDS)
    for period, ids in (("2026-01", range(30)), ("2026-02", range(60))):
        series.release(people(ids), "clinic", period).save(tmp_path / period)
    shutil.rmtree(tmp_path / "2026-02")
    honest, forger = Ledger().public_key(), Ed25519PrivateKey.generate()
    named = forger.public_key().public_bytes_raw().hex()
    done = series.release(None, "clinic", "2026-02")
    drawn = totals(done).drawn
    forged = replace(done, result=replace(totals(done), drawn=(*drawn[:-1], drawn[-1] + 100)))
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "sign", lambda _, data: (named, forger.sign(data).hex()))
        forged.save(tmp_path / "2026-02")
    found = verify_series(tmp_path, known=lambda key: "you" if key == honest else None)
    assert all(done.passed for _, done in found.periods)
    assert not found.passed
    assert "2 keys" in found.verdict
    assert verify_series(tmp_path, known=lambda key: "us" if key in (honest, named) else None).passed


def test_the_ledger_has_everything_that_was_declared() -> None:
    found, reservation = series.start("clinic", **WORDS | {"delta": "1e-6", "way": "factor", "recur": 3})
    declared = Ledger().series("clinic")[1].entry.body["series"]
    assert series.series_of_record(Ledger().series("clinic")[1]) == found
    assert declared["declared"]["way"]["is"] == "Factor"
    assert len(declared["coefficients"]) == 4
    assert {"name", "digest", "rho", "delta"} <= declared.keys()
    assert reservation.dataset == "clinic"
    with pytest.raises(Refused, match="has a series 'clinic' already"):
        series.start("clinic", **WORDS)


@pytest.mark.parametrize(
    "words",
    [
        WORDS,
        WORDS | {"delta": "1e-6", "way": "factor", "recur": 2},
        WORDS | {"way": "blocks", "periods": 60},
        WORDS | {"kind": "count", "by": [], "where": "ward = a"},
        WORDS | {"kind": "sum", "of": "fee:0..100:1"},
        WORDS | {"kind": "sum", "of": "fee:-10..100:5", "delta": "1e-6", "way": "factor"},
        WORDS | {"kind": "cube", "by": ["ward=a,b,c", "fee:0..100:50"], "margins": "ward; total"},
        {key: value for key, value in WORDS.items() if key != "epsilon"} | {"crowd": 5},
        WORDS | {"sample": "0.5", "recur": 3},
        WORDS
        | {
            "kind": "cube",
            "by": ["ward=a,b,c", "fee:0..100:50"],
            "margins": "ward; total",
            "sample": "0.5",
            "panel": True,
        },
        WORDS | {"date": "seen", "recur": 2, "delta": "1e-6", "way": "factor"},
    ],
    ids=["histogram", "factor", "blocks", "count", "sum", "signed sum", "cube", "crowds", "samples", "panel", "dated"],
)
def test_every_number_of_every_period_follows_and_a_changed_one_does_not(words: dict[str, Any], tmp_path: Path) -> None:
    series.start("clinic", **words)
    for number, (period, ids) in enumerate(
        (("2026-01", range(30)), ("2026-02", range(20, 61)), ("2026-03", range(99)))
    ):
        done = series.release(people(ids), "clinic", period)
        done.save(tmp_path / period)
        assert len(done.to_arrow()) == (number + 1) * done.spec.series.cells  # type: ignore[attr-defined]
    found = verify_series(tmp_path)
    assert found.passed, found.verdict
    assert "3 periods are one series" in found.verdict
    file = tmp_path / "2026-02" / "drawn.csv"
    last = file.read_text().rstrip("\n").rpartition(",")
    file.write_text(f"{last[0]},{int(last[2] or 7) + 1}\n")
    assert not verify(load(tmp_path / "2026-02" / "certificate.json"), folder=tmp_path / "2026-02").passed
    assert not verify_series(tmp_path).passed


def test_a_folder_that_lacks_a_period_or_mixes_two_series_is_no_series(tmp_path: Path) -> None:
    series.start("clinic", **WORDS)
    for period, ids in (("2026-01", range(30)), ("2026-02", range(60)), ("2026-03", range(90))):
        series.release(people(ids), "clinic", period).save(tmp_path / "all" / period)
    shutil.copytree(tmp_path / "all", tmp_path / "lacks")
    shutil.rmtree(tmp_path / "lacks" / "2026-02")
    assert "not there: 2026-02" in verify_series(tmp_path / "lacks").verdict
    series.start("other", **WORDS | {"dataset": "clinic"})
    series.release(people(range(30)), "other", "2026-01")
    shutil.copytree(tmp_path / "all", tmp_path / "mixed")
    shutil.rmtree(tmp_path / "mixed" / "2026-01")
    series.release(None, "other", "2026-01").save(tmp_path / "mixed" / "2026-01")
    assert "several promises" in verify_series(tmp_path / "mixed").verdict
    shutil.copytree(tmp_path / "all" / "2026-01", tmp_path / "all" / "again")
    assert "twice" in verify_series(tmp_path / "all").verdict


@pytest.mark.parametrize("more", [{}, {"delta": "1e-6", "way": "factor"}, {"way": "blocks", "periods": 60}], ids=str)
def test_intervals_hold_the_truth_as_often_as_they_say(more: dict[str, Any]) -> None:
    """Totals and increments of 400 bins after 3 periods, 95 % each: of 400 independent intervals fewer than 362 right has a
    chance below 1e-4; if they were right 85 % of the time, that would happen with a chance above 0.99."""
    found = from_options(name="s", **WORDS | {"by": ["age:0..400:1"], "epsilon": "0.2"} | more)
    spec = replace(found, period="2026-03")
    truth = np.tile(np.array([[100], [300], [50]], dtype=np.int64), (1, 400))
    told = spec.present(spec.measure(Increments(truth, ()), SystemSource()))
    assert isinstance(told, Totals)
    for t, total in enumerate((100, 400, 450)):
        for numbers, true in ((told.increment(t), truth[t, 0]), (told.total(t), total)):
            right = sum(n.low <= int(true) <= n.high for n in numbers)
            assert right >= 362, f"{right} of 400 intervals hold the truth, at least 362 were to"


def test_differences_between_two_periods_come_from_the_published_numbers() -> None:
    series.start("clinic", **WORDS | {"delta": "1e-6", "way": "factor"})
    for period, ids in (("2026-01", range(30)), ("2026-02", range(60)), ("2026-03", range(90))):
        found = totals(series.release(people(ids), "clinic", period))
    ends = zip(numbers_between(found, "2026-01", "2026-03"), found.total(2), found.total(0), strict=True)
    for difference, late, early in ends:
        assert late.value is not None
        assert early.value is not None
        assert difference.value == late.value - early.value
        assert difference.low <= difference.high
    with pytest.raises(WrongUse, match="a later one"):
        numbers_between(found, "2026-03", "2026-01")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"kind": "mean"}, "histogram, count, cube, sum"),
        ({"by": ["ward"]}, "are declared"),
        ({"epsilon": None}, "say how people are protected"),
        ({"person": None, "recur": 2}, "a row is in one period"),
        ({"recur": 9}, "more than the 4 periods"),
        ({"first": "2026-13"}, "a month is written like"),
        ({"every": "fortnight"}, "day, week, month"),
        ({"way": "factor"}, "needs a delta"),
        ({"epsilon": None, "crowd": 5, "recur": 2}, "their first period only"),
        ({"kind": "sum"}, "says what a sum adds up"),
    ],
)
def test_what_is_no_series_is_refused_before_anything_is_charged(words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        series.start("clinic", **WORDS | words)
    assert not Ledger().path.exists() or Ledger().accounts() == {}


def test_a_table_with_other_types_is_refused() -> None:
    series.start("clinic", **WORDS)
    series.release(people(range(30)), "clinic", "2026-01")
    other = pa.table({"id": list(range(30)), "ward": ["a"] * 30})
    engine = open_table(other, person="id", dataset="clinic").engine
    with pytest.raises(WrongUse, match="other types"):
        series.release(engine, "clinic", "2026-02")


def test_several_rows_of_a_person_in_a_period_are_refused_and_the_period_stays_open() -> None:
    series.start("clinic", **WORDS)
    with pytest.raises(Refused):
        series.release(people([1, 1, 2]), "clinic", "2026-01")
    assert Ledger().series("clinic")[1].periods == []
    series.release(people([1, 2]), "clinic", "2026-01")


def test_the_commands_start_publish_show_compare_and_verify(tmp_path: Path) -> None:
    def run(*words: str, code: int = 0) -> Any:
        told = CliRunner().invoke(commands, [*words, "--json"])
        assert told.exit_code == code, told.output
        return json.loads(told.stdout) if told.stdout.strip() else told.output

    for month, ids in (("01", range(30)), ("02", range(20, 60))):
        rows = "".join(f"p{i},{'abc'[i % 3]}\n" for i in ids)
        (tmp_path / f"{month}.csv").write_text(f"id,ward\n{rows}")
    begun = run(
        "series", "start", "clinic", str(tmp_path / "01.csv"), "--by", "ward=a,b,c", "--person", "id", "--periods", "12",
        "--first", "2026-01",
        "--epsilon", "1",
    )  # fmt: skip
    assert begun["next"] == "2026-01"
    for month in ("01", "02"):
        period, out = f"2026-{month}", str(tmp_path / "out" / month)
        done = run(
            "series",
            "publish",
            "clinic",
            period,
            str(tmp_path / f"{month}.csv"),
            "--out",
            out,
        )
        assert done["period"] == period
    assert run("series", "show", "clinic")["drawn"] == ["2026-01", "2026-02"]
    last = str(tmp_path / "out" / "02" / "certificate.json")
    assert len(run("series", "between", last, "--since", "2026-01", "--until", "2026-02")["rows"]) == 3
    assert run("verify", str(tmp_path / "out"))["passed"]
    again = ("series", "publish", "clinic", "2026-01", str(tmp_path / "02.csv"))
    run(*again, "--by", "ward=a,b", "--out", str(tmp_path / "x"), code=2)
    run("series", "show", "nothing", code=2)


def test_the_promise_is_that_of_the_whole_series() -> None:
    found, _ = series.start("clinic", **WORDS | {"delta": "1e-6", "way": "factor", "recur": 2})
    done = series.release(people(range(30)), "clinic", "2026-01")
    private, concentrated = (step.conclusion for step in done.promises)
    assert private.epsilon == 1  # type: ignore[union-attr]
    assert 0 < private.delta <= Fraction(1, 10**6)  # type: ignore[union-attr]
    assert concentrated.rho >= found.way.gaussian_noise.rho  # type: ignore[union-attr]
    assert Ledger().account("clinic").spent_releases[0].charge.noises == (found.way.gaussian_noise,)  # type: ignore[union-attr]


# --- one table that grows -------------------------------------------------------------------------------------------


def dated(rows: Iterable[tuple[str, str | None]], kind: pa.DataType | None = None) -> Engine:
    """A table with the person and the date of each row."""
    ids, dates = zip(*rows, strict=True)
    column = pa.array(dates, pa.string()).cast(pa.timestamp("us")).cast(kind or pa.date32())
    table = pa.table({"id": ids, "ward": ["a"] * len(ids), "seen": column})
    return open_table(table, person="id", dataset="clinic").engine


GROWING: dict[str, Any] = {"kind": "count", "by": [], "date": "seen"}
JANUARY = [("p1", "2026-01-01"), ("p2", "2026-01-31"), ("p0", "2025-12-31"), ("p9", "2026-02-01"), ("p8", None)]
LATER = [*JANUARY, ("p3", "2026-01-15"), ("p1", "2026-02-02"), ("p4", "2026-02-28")]
"""p3 came late; p1 came again."""


def counts() -> list[int]:
    return [sum(each.increments) for each in state().periods]


@pytest.mark.parametrize(("recur", "found"), [(1, [2, 3]), (2, [2, 4])])
def test_dated_rows_of_one_growing_table_count_in_their_period_and_late_ones_when_they_come(
    recur: int, found: list[int]
) -> None:
    series.start("clinic", **WORDS | GROWING | {"recur": recur})
    series.release(dated(JANUARY), "clinic", "2026-01")
    series.release(dated(LATER), "clinic", "2026-02")
    assert counts() == found  # p3, p9 and p4, and p1 if people may count twice
    series.release(dated(LATER), "clinic", "2026-03")
    assert counts() == [*found, 0]


def test_a_late_row_waits_where_its_person_has_an_earlier_one() -> None:
    """One row of each person counts in a period, the earliest first; nobody counts twice for one date."""
    series.start("clinic", **WORDS | GROWING | {"recur": 4})
    series.release(dated([("p1", "2026-01-01")]), "clinic", "2026-01")
    both = [("p1", "2026-01-01"), ("p2", "2026-01-05"), ("p2", "2026-02-05")]
    for period, rows in (("2026-02", both), ("2026-03", both), ("2026-04", both)):
        series.release(dated(rows), "clinic", period)
    assert counts() == [1, 1, 1, 0]


def test_rows_of_a_missed_period_do_not_count_later() -> None:
    series.start("clinic", **WORDS | GROWING)
    series.release(dated([("p1", "2026-01-01")]), "clinic", "2026-01")
    series.release(dated([("p2", "2026-02-02"), ("p3", "2026-03-03")]), "clinic", "2026-03")
    assert counts() == [1, 0, 1]


@pytest.mark.parametrize(
    "kind", [pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("s", "America/New_York")], ids=str
)
def test_the_day_of_a_moment_is_that_of_utc(kind: pa.DataType) -> None:
    series.start("clinic", **WORDS | GROWING)
    rows = [("p1", "2026-01-31T23:59:59"), ("p2", "2026-02-01T00:00:00"), ("p3", "1969-12-31T23:59:59")]
    series.release(dated(rows, kind), "clinic", "2026-01")
    assert counts() == [1]


def test_where_rows_are_people_those_dated_in_the_period_count() -> None:
    series.start("clinic", **WORDS | GROWING | {"person": None})
    for period, rows in (("2026-01", JANUARY), ("2026-02", LATER)):
        series.release(dated(rows), "clinic", period, accept_weak=True)
    assert counts() == [2, 3]


def test_a_column_that_holds_no_dates_dates_no_rows() -> None:
    series.start("clinic", **WORDS | GROWING | {"date": "fee"})
    with pytest.raises(WrongUse, match="write dates like"):
        series.release(people(range(5)), "clinic", "2026-01")


TEXTS = ["2026-01-31", " 2026-01-31T23:59:59 ", "2026-02-01 00:30:00+02:00", "", None]  # the first three are of January
UNREAD = ["2026-01", "31.01.2026", "2026-02-30", "20260131", "0001-01-01 00:00:00+14:00"]


@pytest.mark.parametrize(("share", "bad"), [("1", 5), ("0.5", 5), ("0.1", 1), ("0", 0)])
def test_dates_written_as_text_are_read_and_others_are_no_dates(share: str, bad: int) -> None:
    texts = [*TEXTS, *UNREAD[:bad]]
    table = pa.table({"id": [f"p{i}" for i in range(len(texts))], "seen": pa.array(texts, pa.string())})
    series.start("clinic", **WORDS | GROWING)
    engine = open_table(table, person="id", dataset="clinic").engine
    series.release(engine, "clinic", "2026-01", reading={"unreadable": share})
    assert counts() == [3]


def test_14_more_unreadable_dates_than_allowed_are_refused_for_the_steward_alone() -> None:
    texts = [*TEXTS, *UNREAD]
    table = pa.table({"id": [f"p{i}" for i in range(len(texts))], "seen": pa.array(texts, pa.string())})
    series.start("clinic", **WORDS | GROWING)
    engine = open_table(table, person="id", dataset="clinic").engine
    with pytest.raises(Refused, match="too many people have a value"):
        series.release(engine, "clinic", "2026-01", reading={"unreadable": "0.1"})
    assert Ledger().series("clinic")[1].periods == []


def test_of_several_rows_in_a_period_the_first_counts_and_two_of_one_day_are_refused() -> None:
    series.start("clinic", **WORDS | GROWING | {"recur": 2})
    with pytest.raises(Refused):
        series.release(dated([("p1", "2026-01-01"), ("p1", "2026-01-01")]), "clinic", "2026-01")
    assert Ledger().series("clinic")[1].periods == []
    visits = [("p1", "2026-01-09"), ("p1", "2026-01-02"), ("p2", "2026-01-05"), ("p2", "2026-01-06")]
    series.release(dated(visits), "clinic", "2026-01")
    series.release(dated([*visits, ("p1", "2026-01-01"), ("p2", "2026-02-05")]), "clinic", "2026-02")
    assert counts() == [2, 1]


@pytest.mark.parametrize("words", [{"epsilon": "1e300"}, {"epsilon": "1e-300"}, {"sample": "1e-400"}], ids=str)
def test_64_samples_that_nobody_can_work_out_are_refused(words: dict[str, Any]) -> None:
    with pytest.raises(WrongUse, match="choose"):
        series.start("clinic", accept_weak=True, **WORDS | {"sample": "0.1"} | words)


# --- secret samples -------------------------------------------------------------------------------------------------

LOUD = {"epsilon": 2000}
"""So much that the noise is 0 but with a chance below 1e-100: what is left is the sample."""


def test_a_fresh_sample_of_every_period_is_counted() -> None:
    """8,000 people at a quarter: the number has the standard deviation 38.7. One of four is 210 or more off, or all four are
    the same, with a chance below 1e-6."""
    series.start("clinic", accept_weak=True, **WORDS | LOUD | {"kind": "count", "by": [], "recur": 4, "sample": "0.25"})
    for period in ("2026-01", "2026-02", "2026-03", "2026-04"):
        done = series.release(people(range(8000)), "clinic", period)
    drawn = [int(line[0, 0]) for line in totals(done).drawn]
    assert all(abs(each - 2000) < 210 for each in drawn)
    assert len(set(drawn)) > 1
    assert [sum(each.increments) for each in state().periods] == [8000] * 4


def test_one_panel_is_the_same_people_in_every_period() -> None:
    series.start("clinic", accept_weak=True, **WORDS | LOUD | {"recur": 4, "sample": "0.25", "panel": True})
    for period, ids in (("2026-01", range(8000)), ("2026-02", range(8000)), ("2026-03", range(4000))):
        done = series.release(people(ids), "clinic", period)
    first, second, third = (line[0].tolist() for line in totals(done).drawn)
    assert first == second
    assert abs(sum(first) - 2000) < 210
    assert all(few < many for few, many in zip(third, first, strict=True))


@pytest.mark.parametrize("panel", [False, True])
def test_samples_promise_zero_knowledge_and_their_files_are_checked(panel: bool, tmp_path: Path) -> None:
    series.start("clinic", **WORDS | {"recur": 4, "sample": "0.1", "panel": panel})
    for period, ids in (("2026-01", range(30)), ("2026-02", range(60))):
        done = series.release(people(ids), "clinic", period)
        done.save(tmp_path / period)
    told = [str(step.conclusion) for step in done.promises]
    assert told == [f"1-ZK w.r.t. iRS({'0.1' if panel else '0.3439'})", "1-DP [add/remove]"], told
    found = verify_series(tmp_path)
    assert found.passed, found.verdict
    assert "divided by 0.1" in " ".join(done.result.sentences())
    assert "secret" in done.spec.describe().title


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"panel": True}, "give its rate"),
        ({"sample": "1"}, "between 0 and 1"),
        ({"sample": "0.1", "delta": "1e-6"}, "leave out delta"),
        ({"sample": "0.1", "kind": "sum", "by": [], "of": "fee:0..9:1"}, "a sum is no count"),
        ({"sample": "0.1", "panel": True, "person": None}, "knows people again"),
    ],
)
def test_samples_that_no_series_has_are_refused(words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        series.start("clinic", **WORDS | words)
