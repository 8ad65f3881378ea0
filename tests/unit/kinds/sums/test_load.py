"""Whoever checks a statistic works its intervals out again: honest files pass, and a forged number does not."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hubbub
from hubbub.kinds.sums import mechanism as statistic_mechanism
from hubbub.kinds.sums.result import Answer, Answers, answers_of
from hubbub.kinds.sums.sums import Estimate
from hubbub.protocol.release import Release
from hubbub.serialization.published_files import FileMissing, Files
from tests.fresh import enter
from tests.fresh import open as open_table
from tests.unit.shared.presented import written, wrong
from tests.unit.shared.statistics import statistic

N = 400
PEOPLE = pa.table(
    {
        "id": list(range(N)),
        "town": ["Bath"] * 250 + ["York"] * 140 + ["Wells"] * 10,
        "age": [7 * i % 90 for i in range(N)],
    }
)
BY = ["town=Bath,York,Wells,other"]
KNOWN: dict[str, Any] = {"zero_knowledge": "2", "rows": 200, "people": N}
EXACT: dict[str, Any] = {"zero_knowledge": "8", "rows": 40, "people": N}  # noise on the exact count
CROWD: dict[str, Any] = {"crowd": 20, "epsilon": "1"}
SAMPLED: dict[str, Any] = {**CROWD, "sample": "0.3"}
OLD, AGE = {"where": "age >= 65"}, {"of": "age:0..90:1"}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "a count": ("count", {**OLD, "epsilon": 1}),
    "counts": ("count", {"by": BY, "epsilon": "0.5"}),
    "counts of crowds": ("count", {"by": BY, "crowd": 20}),
    "counts of sampled crowds": ("count", {"by": BY, "crowd": 20, "sample": "0.3"}),
    "counts of noisy crowds": ("count", {"by": BY, **CROWD}),
    "counts of noisy sampled crowds": ("count", {"by": BY, **SAMPLED}),
    "a count of a sample": ("count", {**OLD, **KNOWN}),
    "counts of a sample": ("count", {"by": BY, **KNOWN}),
    "an exact count": ("count", {**OLD, **EXACT}),
    "a share": ("fraction", {**OLD, "epsilon": 1}),
    "shares of crowds": ("fraction", {"by": BY, **OLD, **CROWD}),
    "shares of sampled crowds": ("fraction", {"by": BY, **OLD, **SAMPLED}),
    "a share of a sample": ("fraction", {**OLD, **KNOWN}),
    "an exact share": ("fraction", {**OLD, **EXACT}),
    "means": ("mean", {"by": BY, **AGE, "epsilon": "0.3"}),
    "means of crowds": ("mean", {"by": BY, **AGE, **CROWD}),
    "means of a sample": ("mean", {"by": BY, **AGE, **KNOWN}),
    "quantiles": ("quantile", {"by": BY, **AGE, "q": "0.5", "epsilon": 2}),
    "quantiles of crowds": ("quantile", {"by": BY, **AGE, "q": "0.25", **CROWD}),
    "quantiles of a sample": ("quantile", {"by": BY, **AGE, "q": "0.5", **KNOWN}),
}
RUNS = 3
HIDDEN_ENDS = {kind: (Fraction(0), Fraction(high)) for kind, high in (("count", 19), ("mean", 90), ("quantile", 90))}


def made(name: str) -> Release:
    kind, words = CASES[name]
    found: Release = getattr(open_table(PEOPLE, person="id"), kind)(**words)
    return found


def forge(file: Path, row: int, column: str, change: Callable[[str], str]) -> None:
    with file.open(newline="") as lines:
        head, *rows = csv.reader(lines)
    at = head.index(column)
    rows[row][at] = change(rows[row][at])
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([head, *rows])


def moved(by: int) -> Callable[[str], str]:
    """A number next to it: a whole one for a count, one a part in 10^11 away else; something where nothing is."""

    def next_to(text: str) -> str:
        if not text:
            return "7"
        return str(int(text) + by) if text.lstrip("-").isdigit() else repr(float(text) * (1 + by * 1e-11) + by * 1e-30)

    return next_to


@pytest.mark.parametrize("name", CASES)
def test_honest_files_pass_and_a_number_that_is_next_to_the_right_one_does_not(name: str, tmp_path: Path) -> None:
    for _ in range(RUNS):
        release = made(name)
        for form in ("csv", "parquet"):
            written(release, tmp_path, form)
            assert wrong(release.spec, tmp_path, form) is None
    file, bins = tmp_path / "release.csv", release.spec.bins  # type: ignore[attr-defined]
    # The points of a quantile are drawn: any step of the range, in their order, may have been, and 1e-9 of one is none.
    changes = [lambda text: repr(float(text) + 1e-9)] if release.spec.kind.name == "quantile" else [moved(-1), moved(1)]
    for row in {0, bins - 1}:
        for column in ("estimate", "low", "high"):
            for change in changes:
                forge(written(release, tmp_path), row, column, lambda text, to=change: to(text) if text else "7")  # type: ignore[misc]
                assert wrong(release.spec, tmp_path), (row, column)
        forge(written(release, tmp_path), row, "status", lambda text: "shown" if text != "shown" else "suppressed")
        assert wrong(release.spec, tmp_path)
    forge(file, 0, "status", lambda text: "")
    assert wrong(release.spec, tmp_path)


@pytest.mark.parametrize("name", [name for name, (kind, _) in CASES.items() if kind != "quantile"])
def test_an_integer_that_is_another_does_not_fit_its_interval(name: str, tmp_path: Path) -> None:
    """Or it is one that such a release cannot publish; words and signs in its place are none at all."""
    release = made(name)
    file = written(release, tmp_path)
    column = file.read_text().splitlines()[0].replace('"', "").split(",")[-5]
    for change in ("x", "1.5", "nan", "9" * 5000, "9" * 40, "-" + "9" * 40, str(2**61), str(-(2**61))):
        forge(written(release, tmp_path), 0, column, lambda _, to=change: to)  # type: ignore[misc]
        assert wrong(release.spec, tmp_path), change
    forge(written(release, tmp_path), 0, column, lambda text: str(int(text or 30) + 37))
    assert wrong(release.spec, tmp_path)


@pytest.mark.parametrize("name", ["counts of crowds", "shares of crowds", "quantiles of crowds"])
def test_a_crowd_that_must_be_hidden_is_not_shown(name: str, tmp_path: Path) -> None:
    """However well its interval fits: nineteen people are no crowd of twenty."""
    release, file = made(name), tmp_path / "release.csv"
    lines = written(release, tmp_path).read_text().splitlines()
    assert lines[3].endswith("suppressed") or lines[3].endswith('"suppressed"')
    shown = {"count": "19,19,19,19", "fraction": "19,0,0,0,1", "quantile": "19,40,40,30,50"}[release.spec.kind.name]
    file.write_text("\n".join([*lines[:3], f"Wells,{shown},shown", *lines[4:]]) + "\n")
    assert wrong(release.spec, tmp_path) == "its numbers are none that such a release publishes"


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["count", "mean", "quantile"])
def test_a_found_bin_is_there_once_and_a_hidden_one_not_at_all(kind: str, form: str, tmp_path: Path) -> None:
    """The name of a small crowd is what is hidden of it, so that a file that lists it is none of these."""
    words = {"crowd": 20} if kind == "count" else {**AGE, **CROWD}
    release: Release = getattr(open_table(PEOPLE, person="id"), kind)(by=["town"], **words)
    result = release.result
    assert isinstance(result, Answers)
    assert result.found is not None
    written(release, tmp_path, form)
    assert wrong(release.spec, tmp_path, form) is None
    nothing = Estimate(None, None, *HIDDEN_ENDS[kind])
    hidden = Answer((None,) * len(result.answers[0].published), (nothing,), is_hidden=True)
    for key, answer, said in (
        (("Wells",), hidden, "a bin is listed that is hidden"),
        (result.found[0], result.answers[0], "a bin is there twice"),
    ):
        rows = [*zip(result.found, result.answers, strict=True), (key, answer)]
        rows.sort(key=lambda row: (row[0][0] is None, row[0][0] or ""))
        more = replace(result, answers=[row[1] for row in rows], found=[row[0] for row in rows])
        written(replace(release, result=more), tmp_path, form)
        assert wrong(release.spec, tmp_path, form) == said


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_missing_label_and_an_empty_one_are_two_bins_though_a_csv_writes_them_alike(
    form: str, tmp_path: Path
) -> None:
    table = pa.table({"id": list(range(60)), "town": [""] * 30 + [None] * 20 + ["Bath"] * 10})
    for release in (open_table(table, person="id").count(["town"], crowd=5), asked_histogram(table)):
        assert len(release) == 3
        written(release, tmp_path, form)
        assert wrong(release.spec, tmp_path, form) is None
        file = tmp_path / f"release.{form}"
        if form == "csv":  # a third empty label, or a second town, is one too many
            whole = file.read_text()
            for at in (1, 2, 3):
                file.write_text(whole + whole.splitlines(keepends=True)[at])
                assert wrong(release.spec, tmp_path, form) == "a bin is there twice"


def asked_histogram(table: pa.Table) -> Release:
    return open_table(table, person="id").histogram(["town"], crowd=5)


def test_whoever_publishes_shorter_intervals_and_signs_them_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shorter(spec: Any, rows: Any) -> list[Answer]:
        found = []
        for answer in answers_of(spec, rows):
            (each,) = answer.estimates
            low = (each.low + 3 * each.high) / 4 if each.high else each.low
            found.append(replace(answer, estimates=(replace(each, low=low),)))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(statistic_mechanism, "answers_of", shorter)  # in the publisher's program alone
        release = enter(PEOPLE, person="id").mean("age:0..90:1", BY, epsilon=1)
    files = hubbub.save(release, tmp_path)
    done = hubbub.verify(files["certificate"])
    assert not done.passed
    assert "column low does not follow" in done.checks[-1].found


def test_a_sampled_end_may_be_a_person_in_a_million_off_and_not_more(tmp_path: Path) -> None:
    """Sums of floats round differently elsewhere; of 5,000,000 people five may be told otherwise."""
    words: dict[str, Any] = {"zero_knowledge": "1", "rows": 1000, "people": 5_000_000}
    spec = statistic("count", by=BY, **words)
    answers = answers_of(spec, [(100 * i,) for i in range(4)])

    def found(off: int) -> str | None:
        rows = [["town", "sampled", "estimate", "low", "high", "status"]]
        for label, each in zip(("Bath", "York", "Wells", "other"), answers, strict=True):
            high = int(each.high or 0) + off
            rows.append(
                [label, str(each.published[0]), str(round(each.estimate or 0)), str(each.low), str(high), "shown"]
            )
        (tmp_path / "release.csv").write_text("\n".join(map(",".join, rows)) + "\n")
        return wrong(spec, tmp_path)

    assert found(0) is found(5) is found(-5) is None
    assert found(6)
    assert found(-6)


def test_answers_to_questions_are_those_of_their_own_files(tmp_path: Path) -> None:
    for _ in range(RUNS):
        with open_table(PEOPLE, person="id").sample(rows=100, people=N, zero_knowledge="1") as people:
            people.count("old", where="age >= 65")
            people.mean("ages", "age:0..90:1", BY)
            people.quantile("middle", "age:0..90:5", q="0.25", by=BY)
        for form in ("csv", "parquet"):
            written(people.release, tmp_path, form)
            assert wrong(people.release.spec, tmp_path, form) is None
    file, spec = tmp_path / "release.csv", people.release.spec
    for row, column in ((0, "high"), (2, "low"), (3, "estimate"), (6, "low"), (8, "high")):
        written(people.release, tmp_path)
        forge(file, row, column, lambda text: repr(float(text) + 1) if text else "1")
        found = wrong(spec, tmp_path)
        assert found
        assert found.startswith("its answers to")
    for name, column in (("old", "low"), ("ages", "high"), ("middle", "estimate")):
        written(people.release, tmp_path)
        forge(tmp_path / f"question-{name}.csv", 0, column, lambda text: repr(float(text) + 1) if "." in text else "1")
        assert wrong(spec, tmp_path), name
    for cell in ("bin", "question"):
        written(people.release, tmp_path)
        forge(file, 3, cell, lambda text: f"{text}s")
        assert wrong(spec, tmp_path) == f"its column {cell} does not follow from what was drawn"
    written(people.release, tmp_path)
    (tmp_path / "question-ages.csv").unlink()
    with pytest.raises(FileMissing, match=r"question-ages\.csv is not there"):
        spec.load(Files("csv", {path.stem: path for path in tmp_path.glob("*.csv")}))


def test_a_thousand_groups_are_checked_number_by_number(tmp_path: Path) -> None:
    """The last of them too."""
    towns = [f"t{i}" for i in range(1000)]
    table = pa.table({"id": list(range(4000)), "town": [towns[i % 1000] for i in range(4000)], "age": [1] * 4000})
    release = open_table(table, person="id").mean("age:0..90:1", [f"town={','.join(towns)}"], epsilon=1)
    file, spec = written(release, tmp_path), release.spec
    assert wrong(spec, tmp_path) is None
    forge(file, 999, "high", moved(-1))
    assert wrong(spec, tmp_path) == "its column high does not follow from what was drawn"


def test_quantiles_off_the_lattice_or_out_of_order_are_none(tmp_path: Path) -> None:
    spec = statistic("quantile", of="age:0..90:5", q="0.5", epsilon=1)
    file = tmp_path / "release.csv"
    for row, right in (
        ("8,40,27.5,52.5", True),
        ("18,90,87.5,90", True),
        ("8,40,30,50", False),
        ("8,41,27.5,52.5", False),
        ("4,20,27.5,52.5", False),
        ("8,40,27.5,97.5", False),
    ):
        file.write_text(f"value_steps,estimate,low,high,status\n{row},shown\n")
        assert (wrong(spec, tmp_path) is None) == right
