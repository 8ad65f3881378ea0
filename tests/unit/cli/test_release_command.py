"""``hubbub release histogram``: files, JSON, exit codes, and one sentence for each mistake."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands

SIZES = {"Fire": 25, "Police": 40, "Mayor": 3}


@pytest.fixture
def town(tmp_path: Path) -> Path:
    departments = [name for name, size in SIZES.items() for _ in range(size)]
    table = pa.table({"row": list(range(len(departments))), "department": departments})
    place = tmp_path / "town.parquet"
    pq.write_table(table, place)
    return place


def run(*words: str) -> Result:
    who = [] if {"--person", "--rows-are-people", "--help"} & set(words) else ["--rows-are-people"]
    return CliRunner().invoke(commands, ["release", "histogram", *words, *who])


def test_crowds_are_published_and_the_rest_is_absent(town: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run(str(town), "--by", "department", "--crowd", "20", "--out", str(out), "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["rows_published"] == 2
    assert told["rows_suppressed"] is None
    assert told["bins"] is None
    assert told["channel"] == {"name": "exact-or-suppressed", "k": "20"}
    assert [g["notion"] for g in told["guarantees"]] == ["crowd-blending"]
    lines = Path(told["release"]).read_text().splitlines()
    assert sorted(lines[1:]) == ['"Fire",25,25,25,"shown"', '"Police",40,40,40,"shown"']
    certificate = json.loads(Path(told["certificate"]).read_text())
    assert certificate["files"]["release.csv"] == hashlib.sha256(Path(told["release"]).read_bytes()).hexdigest()
    assert "Mayor" not in Path(told["report"]).read_text()


@pytest.mark.parametrize(("bins", "noted"), [("fire,police", True), ("Fire,police", False)])
def test_bins_that_may_all_be_empty_are_noted_from_what_is_published(
    bins: str, noted: bool, town: Path, tmp_path: Path
) -> None:
    declared = str(tmp_path / "declared.json")
    assert CliRunner().invoke(commands, ["describe", str(town), "--unlisted", "1", "--out", declared]).exit_code == 0
    told = ("--crowd", "20", "--dictionary", declared, "--out", str(tmp_path / "out"))
    done = run(str(town), "--by", f"department={bins}", *told)
    assert done.exit_code == 0, done.output
    assert ("Every bin may be empty." in done.output) == noted


HEAVY = ("highspy", "pandas", "pyarrow.compute", "scipy")


@pytest.mark.parametrize("by", ["department", "department=Mayor,Fire,Police,null"])
def test_a_small_release_loads_nothing_heavy(by: str, town: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["release", "histogram", str(town), "--rows-are-people", "--by", by, "--crowd", "20", "--out", str(out)]
    script = (
        "import sys\nfrom hubbub.cli.main import commands\n"
        f"commands({words!r}, standalone_mode=False)\n"
        f"print('loaded:', *(name for name in {HEAVY!r} if name in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded:"
    assert {path.name for path in out.iterdir()} == {
        "release.csv",
        "certificate.json",
        "datapackage.json",
        "report.html",
    }
    assert "<svg" in (out / "report.html").read_text(encoding="utf-8")


def test_declared_bins_are_all_there_in_order(town: Path, tmp_path: Path) -> None:
    done = run(
        str(town), "--by", "department=Mayor,Fire,Police,null", "--crowd", "20", "--out", str(tmp_path), "--json"
    )
    told = json.loads(done.stdout)
    assert (told["bins"], told["rows_published"], told["rows_suppressed"]) == (4, 2, 2)
    lines = Path(told["release"]).read_text().splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == ['"Mayor"', '"Fire"', '"Police"', ""]


def test_a_sample_adds_what_it_buys(town: Path, tmp_path: Path) -> None:
    words = (
        "--by",
        "department",
        "--crowd",
        "20",
        "--sample",
        "0.1",
        "--at-delta",
        "1e-6",
        "--out",
        str(tmp_path),
        "--json",
    )
    told = json.loads(run(str(town), *words).stdout)
    notions = [g["notion"] for g in told["guarantees"]]
    assert notions == ["zero-knowledge", "crowd-blending", "differential", "distributional"]
    knowledge = told["guarantees"][0]
    assert knowledge["delta_exact"] == "0.000001"
    assert knowledge["epsilon"] == pytest.approx(0.18299, abs=5e-6)  # Theorem A at p = .1, k = 20, delta = 1e-6
    assert knowledge["aggregate"] == "iRS(0.1)"


def test_parquet_and_words_for_people(town: Path, tmp_path: Path) -> None:
    words = ("--by", "department=Fire,Police,other", "--epsilon", "1", "--format", "parquet", "--out", str(tmp_path))
    done = run(str(town), *words)
    assert done.exit_code == 0, done.output
    table = pq.read_table(tmp_path / "release.parquet")
    assert table.column_names == ["department", "count", "estimate", "low", "high", "status"]
    assert table.num_rows == 3
    assert "All 3 bins show a number, empty ones too." in done.stdout
    assert "report.html" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--by", "department"), 2, "say how people are protected"),
        (("--crowd", "20"), 2, "at least one column"),
        (("--by", "department", "--epsilon", "1"), 3, "declare the values"),
        (("--by", "nothing", "--crowd", "20"), 2, "there is no column 'nothing'"),
        (("--by", "department", "--crowd", "1"), 2, "--crowd must be a whole number of at least 2"),
        (
            ("--by", "department", "--crowd", "20", "--mechanism", "group:k=5"),
            2,
            "drop --crowd and --outlier, or drop --mechanism",
        ),
        (("--by", "department", "--crowd", "20", "--sample", "1.5"), 2, "sample must lie between 0 and 1"),
        (("--by", "department", "--crowd", "20", "--one-row-per-person"), 2, "add --person COLUMN"),
        (("--by", "department", "--crowd", "20", "--person", "department"), 3, "exactly one row for each person"),
        (("--by", "department=Fire", "--crowd", "20", "--format", "xls"), 2, "csv, parquet or xlsx"),
    ],
)
def test_wrong_use_gets_one_sentence(town: Path, tmp_path: Path, words: tuple[str, ...], code: int, says: str) -> None:
    done = run(str(town), *words, "--out", str(tmp_path / "none"))
    assert done.exit_code == code, done.output
    assert says in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    done = run(str(tmp_path / "nowhere.parquet"), "--by", "a", "--crowd", "5", "--out", str(tmp_path))
    assert done.exit_code == 2
    assert "there is no file" in done.stderr


def test_who_is_a_person_has_to_be_said_and_is_printed(town: Path, tmp_path: Path) -> None:
    words = [
        "release",
        "histogram",
        str(town),
        "--by",
        "department=Fire,other",
        "--epsilon",
        "1",
        "--out",
        str(tmp_path / "o"),
    ]
    silent = CliRunner().invoke(commands, words)
    assert silent.exit_code == 2
    assert "say who a person is: --person COLUMN" in silent.stderr
    assert not (tmp_path / "o").exists()
    both = CliRunner().invoke(commands, [*words, "--person", "department", "--rows-are-people"])
    assert (both.exit_code, "exclude each other" in both.stderr) == (2, True)
    told = CliRunner().invoke(commands, [*words, "--rows-are-people"])
    assert "\nA person: each row is taken to be one person.\n" in told.stdout


def test_epsilon_is_the_total_over_the_bins_of_a_person(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [i // 2 for i in range(80)], "town": ["Bath", "York"] * 40}), tmp_path / "t.parquet")
    words = ("--person", "id", "--by", "town=Bath,York", "--epsilon", "1", "--distinct", "2")
    done = run(str(tmp_path / "t.parquet"), *words, "--out", str(tmp_path / "o"), "--json")
    told = json.loads(done.stdout)
    assert [each["says"] for each in told["guarantees"]] == ["1-DP [add/remove]"]
    assert told["rate_per_bin"] == "0.5"
    assert told["channel"]["epsilon"] == "0.5"


@pytest.mark.parametrize(("kind", "found"), [("histogram", True), ("histogram", False), ("count", False)])
def test_one_row_of_each_person_is_not_called_people_by_ward(kind: str, found: bool, tmp_path: Path) -> None:
    visits = tmp_path / "visits.csv"
    visits.write_text("who,ward\n" + "".join(f"p{n % 60},{'AB'[n % 7 > 3]}\n" for n in range(120)))
    words = ["--by", "ward", "--delta", "1e-6"] if found else ["--by", "ward=A,B"]
    words += ["--person", "who", "--one-row-per-person", "--epsilon", "1", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(commands, ["release", kind, str(visits), *words])
    assert done.exit_code == 0, done.output
    told = " ".join(done.stdout.split())
    explained = CliRunner().invoke(commands, ["explain", str(tmp_path / "out/certificate.json")])
    report = " ".join((tmp_path / "out/report.html").read_text().split())
    says = "Each person counts once, in one of their rows drawn at random. This is neither how many people were ever in a bin"
    assert "People by ward" not in told + report
    assert all(word in told for word in (says, "--distinct B", "--rows-per-person M", "rows with no who are left out"))
    assert says in report
    assert (" public partition" in " ".join(explained.stdout.split())) != found
    assert ("The bins are a public partition" in report) != found
    assert ("--kept-rows gives a shorter one" in told) != found
    assert ("Rows in none of the bins are not counted. List null" in told) != found
    if kind == "histogram":
        assert "Published: One row of each person, drawn at random, by ward" in told
        assert "neither how many were ever in a bin, nor" in " ".join(explained.stdout.split())
        assert ("interval for rows on average" in told) != found
