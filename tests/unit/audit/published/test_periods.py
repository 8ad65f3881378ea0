"""Files of a crowd table that comes every period: planted violations of both tempting rules are found, our own are not."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from hubbub import series
from hubbub.audit.published.periods import of_periods
from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.opening import open as open_table

MONTHS = ("2026-01", "2026-02", "2026-03")


def written(folder: Path, month: str, rows: list[tuple[str, str, str]]) -> Path:
    """A file of one month: period, increment and total of one bin."""
    path = folder / month / "release.csv"
    path.parent.mkdir()
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["period", "ward", "increment", "total"])
        out.writerows((period, "a", increment, total) for period, increment, total in rows)
    return path


def test_totals_from_k_on_are_found(tmp_path: Path) -> None:
    """0, 1, 2 arrivals and k = 3: every number of a period is hidden, and the total of March is 3."""
    hidden = [(month, "", "") for month in MONTHS]
    files = [written(tmp_path, MONTHS[0], hidden[:1]), written(tmp_path, MONTHS[1], hidden[:2])]
    files.append(written(tmp_path, MONTHS[2], [*hidden[:2], (MONTHS[2], "", "3")]))
    found = of_periods(files, 3)
    assert found.is_refuted
    assert "3 people of hidden periods" in found.determined[0].because
    assert not of_periods(files[:2], 3).is_refuted


def test_numbers_held_back_until_k_have_gathered_are_found(tmp_path: Path) -> None:
    """The same arrivals: when three have gathered, what February and March had is shown."""
    files = [written(tmp_path, MONTHS[0], [(MONTHS[0], "", "0")])]
    files.append(written(tmp_path, MONTHS[1], [(MONTHS[0], "", "0"), (MONTHS[1], "", "0")]))
    files.append(written(tmp_path, MONTHS[2], [(MONTHS[0], "", "0"), (MONTHS[1], "1", "1"), (MONTHS[2], "2", "3")]))
    found = of_periods(files, 3)
    assert found.is_refuted
    assert any("hid it, and it is shown now" in each.because for each in found.determined)
    assert any("below 3" in each.because for each in found.determined)


def test_our_own_files_have_no_such_number(tmp_path: Path) -> None:
    series.start("clinic", kind="histogram", by=["ward=a,b"], person="id", periods=3, first="2026-01", crowd=5)
    for t, month in enumerate(MONTHS):
        wards = ["a"] * 8 + ["b"] * (t + 3)
        table = pa.table({"id": [f"{month}-{i}" for i in range(len(wards))], "ward": wards})
        engine = open_table(table, person="id", dataset="clinic").engine
        series.release(engine, "clinic", month).save(tmp_path / month)
    files = [str(tmp_path / month / "release.csv") for month in MONTHS]
    assert not of_periods(files, 5).is_refuted
    told = CliRunner().invoke(commands, ["audit", "releases", *files, "--k", "5", "--periods", "period", "--json"])
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["verdict"] == "undecided"
    with pytest.raises(WrongUse, match="has no columns"):
        of_periods(files, 5, period="month")
