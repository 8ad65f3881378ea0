"""A release in parts, from the words that ask for it to files that are checked: one digest stands for all parts."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hubbub
from hubbub.certificate.certificate import sign
from hubbub.cli.release import answer
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.kinds.histogram.distributed import Spread, write_part
from hubbub.kinds.histogram.parts import cut_bins
from hubbub.ledger.durable import sha256
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import BlockKeys, ScriptedSource
from hubbub.protocol.release import Release
from hubbub.protocol.result import Sheet
from hubbub.publication.files import write_parquet
from hubbub.publication.recovery import finish
from hubbub.publication.staging import PREFIX, prepare, publish
from hubbub.release import execute, save, stage
from hubbub.serialization import manifest
from hubbub.serialization.canonical import LARGEST, canonical
from hubbub.tables import bins
from hubbub.tables.engine import ExactCounts
from hubbub.tables.parts import Report, Task
from hubbub.verification import Checked, load, verify
from tests.fresh import opened, spec_of
from tests.spreading import Cluster, Running, everything_twice, in_turn, rows_of

PEOPLE = pa.table({"a": [i * i % 50 for i in range(3000)], "t": [("x", "y", None)[i % 3] for i in range(3000)]})
TWO = ["a:0..50:1", "t=x,y,null"]  # 150 bins


def made(by: list[str] | None = None, running: Running = in_turn, dataset: str = "town", **words: Any) -> Release:
    spec = spec_of(by or TWO, {"parts": 4, **(words or {"epsilon": 1})})
    return execute(
        spec.bind(Cluster(opened(PEOPLE, dataset=dataset).engine, running).columns()),
        Cluster(opened(PEOPLE, dataset=dataset).engine, running),
        Ledger(),
        dataset,
    )


def checked(folder: Path) -> Checked:
    return verify(load(folder / "certificate.json"), folder=folder)


def test_the_parts_their_list_and_the_certificate_are_published(tmp_path: Path) -> None:
    release = made()
    assert "written when it is saved" in repr(release)
    assert "written when it is saved" in release._repr_html_()
    written = save(release, tmp_path / "out")
    assert list(written) == ["release", "certificate", "folder", "report"]
    assert sorted(os.listdir(tmp_path / "out")) == ["certificate.json", "release", "release.json", "report.html"]
    assert sorted(os.listdir(tmp_path / "out" / "release")) == [f"part-0000{i}.parquet" for i in range(4)]
    assert stat.S_IMODE((tmp_path / "out" / "release").stat().st_mode) & 0o700 == 0o700
    found = checked(tmp_path / "out")
    assert found.passed, found.verdict
    assert found.files == ("release.json", "report.html", "release/")
    assert found.missing == ()
    assert "4 Parquet files in the folder release/" in (tmp_path / "out" / "report.html").read_text()


def test_the_rows_are_those_of_the_release_and_the_same_facts_are_told(tmp_path: Path) -> None:
    release = made(crowd=20)
    save(release, tmp_path / "out")
    alone = opened(PEOPLE, dataset="alone").histogram(TWO, crowd=20)
    told = [dict(row) for row in rows_of(tmp_path / "out" / "release")]
    assert told == list(alone) == list(release)
    assert len(release) == 150
    facts = dict(release.result.facts())
    assert facts.pop("parts") == 4
    assert facts == alone.result.facts()
    assert release.result.sentences()[0] == alone.result.sentences()[0]
    assert release.result.display(7) == alone.result.display(7)


@pytest.mark.parametrize(
    ("by", "words"),
    [
        (TWO, {"epsilon": 1}),
        (TWO, {"crowd": 20}),
        (["a:0..50:1", "t"], {"crowd": 20}),
        (TWO, {"epsilon": 1, "sample": "0.5"}),
        (["a:0..10000:1", "t=x,y,null"], {"crowd": 20}),  # too many to list, as they are counted here
    ],
)
def test_the_certificate_is_that_of_one_process_but_for_the_files(
    by: list[str], words: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bins, "MOST_BINS", 1000)
    save(made(by, everything_twice, **words), tmp_path / "parts", report=False)
    save(opened(PEOPLE, dataset="alone").histogram(by, **words), tmp_path / "alone", report=False)
    bodies = [json.loads((tmp_path / name / "certificate.json").read_bytes()) for name in ("parts", "alone")]
    assert [sorted(body["files"]) for body in bodies] == [["release.json"], ["datapackage.json", "release.csv"]]
    for body in bodies:
        for name in ("files", "ledger", "reading", "signature"):  # (parts are made here without opening a table)
            del body[name]
    assert bodies[0] == bodies[1]
    assert checked(tmp_path / "parts").passed


def test_attempts_that_ran_twice_leave_nothing(tmp_path: Path) -> None:
    save(made(running=everything_twice), tmp_path / "out")
    assert len(os.listdir(tmp_path / "out" / "release")) == 4
    assert [name for name in os.listdir(tmp_path / "out") if name.startswith(".")] == []
    assert checked(tmp_path / "out").passed


def test_the_terminal_and_the_json_tell_what_and_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release = made(crowd=20, parts="3")
    written = save(release, tmp_path / "out")
    answer(release, written, as_json=False)
    told = " ".join(capsys.readouterr().out.split())
    assert "3 Parquet files in the folder release/" in told
    assert "and 138 more rows" in told
    answer(release, written, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["parts"], found["bins"], found["rows_published"] + found["rows_suppressed"]) == (3, 150, 150)
    assert found["release"] == str(tmp_path / "out" / "release.json")
    assert found["folder"] == str(tmp_path / "out" / "release")


def test_a_folder_is_named_in_full_to_machines_that_work_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(task: Task, parts: list[tuple[int, ExactCounts]]) -> list[Report]:
        with contextlib.chdir("/"):
            return in_turn(task, parts)

    monkeypatch.chdir(tmp_path)
    save(made(running=elsewhere), "out")
    assert checked(tmp_path / "out").passed


# --- tampering ------------------------------------------------------------------------------------------------------


def _swapped(folder: Path) -> None:
    one, other = (folder / "release" / f"part-0000{i}.parquet" for i in (1, 2))
    one.rename(folder / "x")
    other.rename(one)
    (folder / "x").rename(other)


def _changed(folder: Path) -> None:
    place = folder / "release" / "part-00001.parquet"
    table = pq.read_table(place)
    pq.write_table(table.set_column(2, "count", pa.array([7] * table.num_rows)), place)


def _listed_anew(folder: Path) -> None:
    """A part is left out of the list too, whose digest the certificate has."""
    place = folder / "release.json"
    place.write_bytes(manifest.manifest_bytes(manifest.parts_of(place.read_bytes())[:-1]))
    (folder / "release" / "part-00003.parquet").unlink()


TAMPERED: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda folder: (folder / "release" / "part-00002.parquet").unlink(), "is missing"),
    "added": (
        lambda folder: shutil.copy(folder / "release" / "part-00002.parquet", folder / "release" / "more.parquet"),
        "not among those",
    ),
    "changed": (_changed, "another file than the one that is listed"),
    "swapped": (_swapped, "another file than the one that is listed"),
    "listed anew": (_listed_anew, "another file than the certificate is about"),
    "cut short": (lambda folder: os.truncate(folder / "release" / "part-00000.parquet", 100), "another file"),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_parts_that_are_not_those_that_were_published_are_found(how: str, tmp_path: Path) -> None:
    save(made(), tmp_path / "out")
    assert checked(tmp_path / "out").passed
    tamper, told = TAMPERED[how]
    tamper(tmp_path / "out")
    found = checked(tmp_path / "out")
    assert not found.passed
    assert told in found.verdict


def _signed_anew(folder: Path) -> None:
    """By the ledger's own key, with a list of what lies there now."""
    files = sorted((folder / "release").glob("*.parquet"))
    listed = [manifest.Part(file.name, sha256(file), pq.read_metadata(file).num_rows) for file in files]
    (folder / "release.json").write_bytes(manifest.manifest_bytes(listed))
    body = json.loads((folder / "certificate.json").read_bytes())
    del body["signature"]
    body["files"]["release.json"] = sha256(folder / "release.json")
    (folder / "certificate.json").write_bytes(sign(body, Ledger()))


def _row_in_two_parts(folder: Path) -> None:
    """A second answer about a bin, in another part and in order there."""
    tables = {file: pq.read_table(file) for file in sorted((folder / "release").iterdir())}
    (place, one), (_, other), *_ = (each for each in tables.items() if each[1].num_rows)
    both = pa.concat_tables([one, other.slice(0, 1)])
    keys = [(int(row["a"][1:].partition(",")[0]), row["t"] is None, row["t"]) for row in both.to_pylist()]
    pq.write_table(both.take(sorted(range(both.num_rows), key=keys.__getitem__)), place)


def _row_less(folder: Path) -> None:
    place = folder / "release" / "part-00002.parquet"
    pq.write_table(pq.read_table(place).slice(1), place)


FORGED: dict[str, tuple[list[str], Callable[[Path], object]]] = {
    "listed, a row less": (TWO, _row_less),
    "listed, swapped": (TWO, _swapped),
    "listed, a bin twice": (TWO, _row_in_two_parts),
    "too many to list, a bin twice": (["a:0..10000:1", "t=x,y,null"], _row_in_two_parts),
    "too many to list, swapped": (["a:0..10000:1", "t=x,y,null"], _swapped),
    "found, a bin twice": (["a:0..50:1", "t"], _row_in_two_parts),
}


@pytest.mark.parametrize("how", FORGED)
def test_parts_that_are_signed_anew_and_not_those_of_the_description_are_found(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bins, "MOST_BINS", 1000)
    by, tamper = FORGED[how]
    out = tmp_path / "out"
    save(made(by, crowd=20), out)
    _signed_anew(out)
    assert checked(out).passed, checked(out).verdict
    tamper(out)
    _signed_anew(out)
    found = checked(out)
    assert not found.passed
    assert "its bins are" in found.verdict or "its column" in found.verdict


def test_a_part_that_is_a_pipe_and_a_list_without_end_are_told_at_once(tmp_path: Path) -> None:
    out = tmp_path / "out"
    save(made(), out)
    part = out / "release" / "part-00003.parquet"
    part.unlink()
    os.mkfifo(part)
    assert "is no file" in checked(out).verdict
    os.truncate(out / "release.json", LARGEST + 2)
    body = json.loads((out / "certificate.json").read_bytes())
    del body["signature"]
    body["files"]["release.json"] = sha256(out / "release.json")
    (out / "certificate.json").write_bytes(sign(body, Ledger()))
    assert "larger than 64 MiB" in checked(out).verdict


def test_of_many_parts_the_verdict_says_whose_numbers_were_looked_at(tmp_path: Path) -> None:
    for parts, told in ((10, "the numbers of release/"), (11, "the numbers of release/, of its first 10 parts")):
        save(made(crowd=20, parts=parts, dataset=f"town-{parts}"), tmp_path / str(parts))
        assert told in [check.what for check in checked(tmp_path / str(parts)).checks]


def test_without_the_folder_of_parts_the_verdict_says_what_was_not_checked(tmp_path: Path) -> None:
    save(made(), tmp_path / "out")
    shutil.rmtree(tmp_path / "out" / "release")
    found = checked(tmp_path / "out")
    assert found.passed
    assert not found.complete
    assert found.missing == ("release/",)
    assert any("names of columns and bins" in each for each in found.free)


# --- crashes --------------------------------------------------------------------------------------------------------


def test_a_release_that_was_ready_is_brought_out_whole(tmp_path: Path) -> None:
    release = made()
    stage(release, tmp_path / "out").close()
    assert [name for name in os.listdir(tmp_path / "out") if not name.startswith(".")] == []
    (hidden,) = (tmp_path / "out").glob(f"{PREFIX}*")
    written = finish(hidden)
    assert Path(written["folder"]).is_dir()
    assert checked(tmp_path / "out").passed


@pytest.mark.parametrize("moved", [1, 2, 3])
def test_a_release_that_was_half_out_is_brought_out_whole(
    moved: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged, done = stage(made(), tmp_path / "out"), 0
    right = os.replace

    def power_cut(source: Any, target: Any) -> None:
        nonlocal done
        if Path(target).parent == tmp_path / "out":
            done += 1
            if done > moved:
                raise KeyboardInterrupt
        right(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", power_cut)
        with pytest.raises(KeyboardInterrupt):
            publish(staged)
    assert not (tmp_path / "out" / "certificate.json").exists()
    (hidden,) = (tmp_path / "out").glob(f"{PREFIX}*")
    finish(hidden)
    assert checked(tmp_path / "out").passed


def test_a_part_that_was_changed_while_hidden_is_not_brought_out(tmp_path: Path) -> None:
    stage(made(), tmp_path / "out").close()
    (hidden,) = (tmp_path / "out").glob(f"{PREFIX}*")
    os.truncate(hidden / "release" / "part-00001.parquet", 50)
    with pytest.raises(HubbubError, match="not those that its certificate is about"):
        finish(hidden)
    assert hidden.exists()


def test_a_job_that_fails_leaves_nothing_and_counts_as_spent(tmp_path: Path) -> None:
    def breaks(task: Task, parts: list[tuple[int, ExactCounts]]) -> list[Report]:
        in_turn(task, parts[:2])
        raise WrongUse("the cluster is gone; look for it")

    release = made(running=breaks)
    with pytest.raises(WrongUse, match="the cluster is gone"):
        save(release, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (record,) = Ledger().account("town").records
    assert record.state == "abandoned"
    assert Ledger().account("town").records[0].drawn
    with pytest.raises(Refused, match="forgotten"):
        save(release, tmp_path / "other")


def test_parts_of_a_driver_that_died_are_cleared_away_and_nothing_was_visible(tmp_path: Path) -> None:
    out, kept = tmp_path / "out", tmp_path / "kept"

    def dies(task: Task, parts: list[tuple[int, ExactCounts]]) -> list[Report]:
        in_turn(task, parts[:2])
        (hidden,) = out.glob(f"{PREFIX}*")
        shutil.copytree(hidden, kept / hidden.name)  # what lies there at this moment
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save(made(running=dies), out)
    shutil.copytree(kept, out, dirs_exist_ok=True)
    (hidden,) = out.glob(f"{PREFIX}*")
    assert len(list((hidden / "work").glob("?-*"))) == 2
    assert [name for name in os.listdir(out) if not name.startswith(".")] == []
    with pytest.raises(Refused, match="cut short before it was whole"):
        finish(hidden)
    assert os.listdir(out) == []


# --- what is told by the machines -----------------------------------------------------------------------------------


def _elsewhere(task: Task, parts: list[tuple[int, ExactCounts]]) -> list[Report]:
    """The machines write somewhere that is not seen here."""
    told = in_turn(task, parts)
    return [report._replace(name="unseen") for report in told]


def _one_missing(task: Task, parts: list[tuple[int, ExactCounts]]) -> list[Report]:
    return in_turn(task, parts)[1:]


def _one_twice(task: Task, parts: list[tuple[int, ExactCounts]]) -> list[Report]:
    return in_turn(task, [*parts, parts[0]])


@pytest.mark.parametrize(
    ("running", "told"),
    [
        (_elsewhere, "storage that all of them and this one share"),
        (lambda task, parts: [Report(0, state="no folder")], "storage that all of them and this one share"),
        (lambda task, parts: [Report(0, state="other version")], "another version of Hubbub"),
        (_one_missing, "each part of the release once"),
        (_one_twice, "each part of the release once"),
    ],
)
def test_what_did_not_arrive_is_not_published(running: Running, told: str, tmp_path: Path) -> None:
    with pytest.raises(HubbubError, match=told):
        save(made(running=running), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_machine_without_the_folder_says_so_and_one_of_another_version_too(tmp_path: Path) -> None:
    spec, secret = spec_of(TWO, {"epsilon": 1, "parts": 1}), BlockKeys(ScriptedSource.from_label("there"))
    nothing = ExactCounts(*(pa.array([], pa.int64()).to_numpy(),) * 2)
    words = (cut_bins(spec), secret, lambda sheet, out: None)
    absent = write_part(*words, str(tmp_path / "absent"), 0, nothing, hubbub.__version__)
    assert absent.state == "no folder"
    assert write_part(*words, str(tmp_path), 0, nothing, "0.0").state == "other version"
    assert os.listdir(tmp_path) == []


def test_a_part_reports_how_many_rows_it_has_and_how_many_are_shown(tmp_path: Path) -> None:
    spec, secret = spec_of(TWO, {"crowd": 20, "parts": 1}), BlockKeys(ScriptedSource.from_label("there"))
    (tmp_path / "spec.json").write_bytes(canonical(spec.to_json()))
    two = ExactCounts(np.array([3, 7, 8]), np.array([50, 5, 60]))
    parts: list[int] = []

    def write(sheet: Sheet, out: object) -> None:
        parts.append(sum(len(batch) for batch in sheet.batches()))

    report = write_part(cut_bins(spec), secret, write, str(tmp_path), 0, two, hubbub.__version__)
    assert (report.rows, report.visible, sum(parts)) == (150, 2, 150)


# --- saving ---------------------------------------------------------------------------------------------------------


def test_parts_replace_a_release_and_are_replaced_by_one(tmp_path: Path) -> None:
    out = tmp_path / "out"
    save(opened(PEOPLE, dataset="one").histogram(TWO, crowd=20), out)
    with pytest.raises(WrongUse, match="already"):
        save(made(dataset="two", crowd=20), out)
    save(made(dataset="three", crowd=20), out, replace=True)
    assert sorted(os.listdir(out)) == ["certificate.json", "release", "release.json", "report.html"]
    fewer = made(dataset="four", crowd=20, parts=2)
    save(fewer, out, replace=True)
    assert len(os.listdir(out / "release")) == 2
    assert checked(out).passed
    (out / "release" / "mine.txt").write_text("not of Hubbub")
    save(opened(PEOPLE, dataset="five").histogram(TWO, crowd=20), out, replace=True)
    assert sorted(os.listdir(out)) == [
        "certificate.json",
        "datapackage.json",
        "release",
        "release.csv",
        "report.html",
    ]
    assert os.listdir(out / "release") == ["mine.txt"]


def _folder(place: Path) -> None:
    place.mkdir()
    (place / "mine.txt").write_text("not of Hubbub")


def _spark_wrote(place: Path) -> None:
    place.mkdir()
    (place / "part-00000-5f2c.snappy.parquet").write_text("not of Hubbub")


def _link(place: Path) -> None:
    _folder(place.with_name("elsewhere"))
    place.symlink_to("elsewhere")


@pytest.mark.parametrize("lay", [_folder, _spark_wrote, _link, lambda place: place.write_text("not of Hubbub")])
@pytest.mark.parametrize("replace", [False, True])
def test_what_lies_where_the_parts_are_to_be_and_is_no_release_stays(
    lay: Callable[[Path], object], replace: bool, tmp_path: Path
) -> None:
    def seen() -> list[tuple[str, str | None]]:
        return [(str(file), file.read_text() if file.is_file() else None) for file in sorted(tmp_path.rglob("*"))]

    lay(tmp_path / "release")
    before = seen()
    with pytest.raises(WrongUse, match="where something else is; move that"):
        save(made(crowd=20), tmp_path, replace=replace)
    with pytest.raises(WrongUse, match="where something else is; move that"):
        prepare(tmp_path, 0, replace=replace, parts=True)
    prepare(tmp_path, 0, replace=replace)
    assert seen() == before


def test_what_comes_to_lie_between_the_parts_stays_too(tmp_path: Path) -> None:
    out = tmp_path / "out"
    save(made(dataset="one", crowd=20), out)
    staged = stage(made(dataset="two", crowd=20, parts=2), out, replaces=sha256(out / "certificate.json"))
    (out / "release" / "mine.txt").write_text("not of Hubbub")
    with pytest.raises(WrongUse, match="hubbub ledger finish"):
        publish(staged)
    assert (out / "release" / "mine.txt").read_text() == "not of Hubbub"
    (out / "release" / "mine.txt").unlink()
    (hidden,) = out.glob(f"{PREFIX}*")
    finish(hidden)
    assert len(os.listdir(out / "release")) == 2
    assert checked(out).passed


def test_a_release_is_written_once_and_read_after_that(tmp_path: Path) -> None:
    release = made()
    for look in (lambda: len(release), release.first, release.result.facts, lambda: release.result.display(3)):
        with pytest.raises(WrongUse, match="call save first"):
            look()
    save(release, tmp_path / "out")
    assert release.to_arrow().num_rows == 150
    with pytest.raises(Refused, match="written once"):
        save(release, tmp_path / "again")
    assert not (tmp_path / "again" / "certificate.json").exists()
    assert isinstance(release.result, Spread)
    assert not any(release.result.keys._secret)


def test_while_a_release_is_written_neither_it_nor_a_copy_of_it_is_written_again(tmp_path: Path) -> None:
    """Both would draw the same noise, for counts that may have changed between them."""
    results: list[Any] = []

    def meanwhile(task: Task, parts: list[tuple[int, ExactCounts]]) -> list[Report]:
        while results:
            again = tmp_path / f"again {len(results)}"
            again.mkdir()
            with pytest.raises(Refused, match="written once"):
                results.pop().write_remote(again, write_parquet)
            assert os.listdir(again) == []
        return in_turn(task, parts)

    release = made(running=meanwhile)
    results += [release.result, copy.copy(release.result)]
    save(release, tmp_path / "out")
    assert checked(tmp_path / "out").passed


def test_noise_that_is_known_is_not_published(tmp_path: Path) -> None:
    cluster = Cluster(opened(PEOPLE, dataset="town").engine)
    result = spec_of(TWO, {"epsilon": 1, "parts": 2}).prepare(cluster, ScriptedSource.from_label("known"))
    with pytest.raises(Refused, match="operating system"):
        result.write_remote(tmp_path, lambda sheet, out: None)
    assert os.listdir(tmp_path) == []


# --- asking ---------------------------------------------------------------------------------------------------------


def test_other_tables_than_those_of_spark_are_refused_and_nothing_is_spent() -> None:
    with pytest.raises(WrongUse, match="only Spark can write a release in parts"):
        opened(PEOPLE, dataset="town").histogram(TWO, epsilon=1, parts=4)
    assert not Ledger().account("town").records[0].drawn


@pytest.mark.parametrize("parts", [0, 100_001])
def test_the_number_of_parts_is_checked(parts: int) -> None:
    with pytest.raises(WrongUse, match="number of files, from 1 to 100,000"):
        spec_of(TWO, {"epsilon": 1, "parts": parts})


def test_where_bins_outgrow_one_machine_the_refusal_names_the_way_on(tmp_path: Path) -> None:
    million = ["a:0..1000000:1", "t=x,y,null", "a2:0..1000:1"]
    people = PEOPLE.append_column("a2", PEOPLE.column("a"))
    with pytest.raises(WrongUse, match="let Spark write them"):
        opened(people, dataset="town").histogram(million, epsilon=1)
    spec = spec_of(million, {"epsilon": 1, "parts": 64}).with_schema(opened(people, dataset="town").engine.columns())
    assert spec.promises() == spec_of(million, {"epsilon": 1}).promises()
    more = people.append_column("b", PEOPLE.column("a"))
    with pytest.raises(WrongUse, match="more than 1,000,000,000,000 can be published"):
        opened(more, dataset="town").histogram([*million, "b:0..1000:1"], epsilon=1, parts=64)


def test_parts_that_no_machine_could_write_are_refused_and_nothing_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bins, "MOST_BINS", 40)
    with pytest.raises(WrongUse, match=r"about 150 rows, .*at least 4 parts"):
        made(epsilon=1, parts=3)
    with pytest.raises(WrongUse, match=r"at least \d+ parts"):
        made(
            ["a:0..10000:1", "t=x,y,null"], outlier="1", show_above=1, parts=1
        )  # of bins that are not listed, empty ones are shown by chance
    assert not Ledger().accounts()
    made(epsilon=1, parts=4)
    made(crowd=20, parts=1, dataset="other")


def test_bins_by_the_billion_that_are_all_listed_have_a_certificate_that_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bins, "MOST_BINS", 100)
    release = made(epsilon=1)  # 150 bins, all listed
    save(release, tmp_path / "out")
    assert len(list(rows_of(tmp_path / "out" / "release"))) == 150
    assert checked(tmp_path / "out").passed


# --- the list of parts ----------------------------------------------------------------------------------------------


def test_a_list_of_parts_is_read_as_it_is_written() -> None:
    parts = (manifest.Part("part-00000.parquet", "0" * 64, 3), manifest.Part("part-00001.parquet", "f" * 64, 0))
    assert manifest.parts_of(manifest.manifest_bytes(parts)) == parts


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        (manifest.Part("part-00001.parquet", "0" * 64, 3),),
        (manifest.Part("../part-00000.parquet", "0" * 64, 3),),
        (manifest.Part("part-00000.parquet", "0" * 63, 3),),
        (manifest.Part("part-00000.parquet", "0" * 64, -1),),
        (manifest.Part("part-00000.parquet", "0" * 64, True),),
        (manifest.Part("part-00000.parquet", None, 1),),
    ],
)
def test_a_list_that_is_none_of_ours_is_refused(wrong: Any) -> None:
    with pytest.raises(HubbubError, match="list of parts"):
        manifest.parts_of(manifest.manifest_bytes(wrong))
    with pytest.raises(HubbubError, match="list of parts"):
        manifest.parts_of(b'{"format":"hubbub parts 1"}')
