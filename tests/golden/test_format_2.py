"""What was published and entered by a version that wrote certificates of format 2: the same today, or refused aloud.

The files beside this one were written by that version. In `releases.json` are releases of two tables, with noise from a
source that repeats itself; they must promise and write today what they did then.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from hubbub.certificate.explanation import explain_release
from hubbub.cli.main import commands
from hubbub.ledger.ledger import Ledger, known
from hubbub.noise.source import ScriptedSource
from hubbub.publication.files import write
from hubbub.verification import verify
from tests.fresh import opened as open_table
from tests.fresh import played, spec_of

GOLDEN = Path(__file__).parent / "format-2"
RELEASES: dict[str, dict[str, Any]] = json.loads((GOLDEN / "releases.json").read_text())
CERTIFICATES = sorted(path.parent.name for path in GOLDEN.glob("certificates/*/certificate.json"))
TOTALS: dict[str, dict[str, str | None] | None] = json.loads((GOLDEN / "ledger" / "totals.json").read_text())
FALSE = {"collected", "collected-plain", "uneven"}  # they say of the table what holds for the population

TOWNS = ["Bath"] * 30 + ["York"] * 3 + ["Hull"] * 45 + [None] * 2 + ["Wells"] * 19
ONCE = pa.table(
    {
        "town": pa.array(TOWNS, pa.string()),
        "age": pa.array([(7 * i) % 90 for i in range(len(TOWNS))]),
        "id": list(range(len(TOWNS))),
    }
)
TWICE = pa.table(
    {
        "town": pa.array([town for town in TOWNS for _ in range(2)], pa.string()),
        "age": pa.array([(7 * i) % 90 for i in range(2 * len(TOWNS))]),
        "id": [i // 2 for i in range(2 * len(TOWNS))],
    }
)


SHARPER = {
    "sample-noisy": [
        "(20, 0.15856507874042911101)-crowd-blending",
        "(0.1819663, 0.000000001)-ZK w.r.t. iRS(0.1)",
        "(0.1819663, 0.000000001)-DP [add/remove]",
        "(1.156899, 0.000000001)-DP w.r.t. the distributions iRS(0.1)",
    ],
    "outlier-noisy": ["(20, 1, 0.0000074878440489050877362)-simple-outlier-DP", "1-DP [add/remove]"],
    "outlier-suppressed": [
        "(20, 1, 0.000022699964881242425768)-simple-outlier-DP",
        "(1, 0.000000000000068409705469557844846)-DP [add/remove]",
    ],
    "staircase": [
        "((1000, 100, 10), (1, 0.1, 0.01, 0), 0.00013619978928745455461)-staircase-outlier",
        "1-DP [add/remove]",
    ],
}
"""What is promised today where a better bound was proved since; what was said then follows from it."""

OTHER_INTERVALS = {"scaled-crowd", "staircase", "outlier-shown", "outlier-suppressed"}
"""Where bins are hidden: intervals are right given that a bin is shown since, and a hidden bin's says how often a
larger one is hidden; before, both had half of the doubt, whatever was shown."""


def _rows(lines: list[str], name: str) -> list[dict[str, str]]:
    """The rows that a version wrote, by column, without what later ones have beside.

    An estimate stands beside a number that counts a sample or can be below 0 since: such a number stood beside an
    interval that did not hold it.
    """
    words = {"000": "shown", "100": "more noise at level 1", "110": "more noise at levels 1 and 2"}  # bits before
    words |= {"0": "shown", "1": "more noise at level 1"}
    rows = [{key: cell for key, cell in row.items() if key != "estimate"} for row in csv.DictReader(lines)]
    rows = [row | {"status": words.get(row["status"], row["status"])} for row in rows]
    if name in OTHER_INTERVALS:
        rows = [{key: cell for key, cell in row.items() if key not in ("low", "high")} for row in rows]
    return rows


def test_there_is_a_certificate_of_every_release() -> None:
    assert sorted(RELEASES) == CERTIFICATES
    assert len(CERTIFICATES) == 26


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_promises_and_writes_what_it_did(name: str) -> None:
    then = RELEASES[name]
    words = dict(then["words"])
    if "distinct" in words:  # what is said is the total over all bins of a person since, and was the rate of each
        words["epsilon"] = Fraction(words["epsilon"]) * words["distinct"]
    several = words.get("one_row_per_person") or words.get("distinct")
    engine = open_table(TWICE if several else ONCE, person="id").engine
    spec = spec_of(then["by"], words, "id").bind(engine.columns())
    done = played(spec, engine, ScriptedSource([], then=f"golden {name}"))
    told = [str(step.conclusion) for step in done.promises]
    assert told == SHARPER.get(name, then["promises"])
    out = io.BytesIO()
    write(done.sheet, "csv", out)
    lines = out.getvalue().decode().splitlines()
    assert _rows(lines, name) == _rows(then["csv"], name)


@pytest.mark.parametrize("name", sorted(set(CERTIFICATES) - FALSE))
def test_a_certificate_still_holds(name: str) -> None:
    folder = GOLDEN / "certificates" / name
    done = verify((folder / "certificate.json").read_bytes(), folder=folder)
    assert done.passed, done.verdict
    assert (done.files, done.missing) == (("release.csv",), ())
    if name not in SHARPER:
        assert [str(step.conclusion) for step in done.promises] == RELEASES[name]["promises"]
    assert any("of an earlier version and were not compared" in check.found for check in done.checks)
    assert done.spec is not None
    assert all(line.strip() for line in explain_release(done.spec, done.promises).split("\n\n"))


@pytest.mark.parametrize("name", sorted(FALSE))
def test_a_certificate_that_says_too_much_fails_with_the_reason(name: str) -> None:
    place = GOLDEN / "certificates" / name / "certificate.json"
    done = verify(place.read_bytes())
    assert not done.passed
    assert done.checks[-1].what == "whom it is about"
    assert "it says of the table what holds for the population" in done.checks[-1].found
    told = CliRunner().invoke(commands, ["verify", str(place), "--certificate-only"])
    assert told.exit_code == 4
    assert "ask the publisher for a new certificate" in told.stderr


@pytest.mark.parametrize("name", ["crowd", "sample", "staircase"])
def test_a_certificate_that_was_changed_fails(name: str) -> None:
    data = (GOLDEN / "certificates" / name / "certificate.json").read_bytes()
    for old, new in ((b'"k": "20"', b'"k": "30"'), (b'"alpha"', b'"alpho"'), (b'"town"', b'"age"')):
        if old in data:
            assert not verify(data.replace(old, new, 1)).passed, old
    assert not verify(data[:-2]).passed


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """The ledger of that version, moved here."""
    for name in ("ledger.db", "ledger.db.key"):
        shutil.copyfile(GOLDEN / "ledger" / name, tmp_path / name)
        (tmp_path / name).chmod(0o600)
    found = Ledger(tmp_path / "ledger.db")
    found.adopt()
    return found


def test_the_ledger_opens_and_its_totals_are_what_they_were(ledger: Ledger) -> None:
    told: dict[str, dict[str, str | None] | None] = {}
    for name, account in ledger.accounts().items():
        total = account.totals
        told[name] = (
            None
            if total is None
            else {
                notion: None if (guarantee := getattr(total, notion).guarantee) is None else str(guarantee)
                for notion in ("differential", "zero_knowledge", "crowd_blending", "outlier", "population")
            }
        )
    assert told == TOTALS
    assert len(ledger.public_keys()) == 2


def test_the_ledger_can_be_shown_and_added_to(ledger: Ledger, tmp_path: Path) -> None:
    shown = CliRunner().invoke(commands, ["ledger", "show", "--ledger", str(ledger.path)])
    assert shown.exit_code == 0, shown.stderr
    assert all(name in shown.stdout for name in TOTALS)
    fresh = open_table(ONCE, person="id", dataset="a-new-town", ledger=ledger.path)
    assert fresh.histogram(["age:0..90:30"], epsilon=1).place is not None


def test_the_ledger_does_not_know_a_certificate_of_another(ledger: Ledger) -> None:
    from hubbub.errors import CheckFailed

    data = (GOLDEN / "certificates" / "crowd" / "certificate.json").read_bytes()
    with pytest.raises(CheckFailed, match="does not know the certificate"):
        known(ledger, data, "it")
