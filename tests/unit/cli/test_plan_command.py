"""``hubbub plan``: designs, single numbers, refusals, and a command that the release takes as it stands."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands
from hubbub.cli.plan import plan
from hubbub.plan.targets import Want

TOWN = "--people 2000 --bins 20"


def run(line: str, *more: str) -> Result:
    return CliRunner().invoke(commands, ["plan", *line.split(), *more], catch_exceptions=False)


def ask(line: str) -> dict[str, Any]:
    result = run(line, "--json")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("\n") == 1
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_the_best_design_is_told_with_its_command() -> None:
    found = ask("--people 50000 --bins 400 --want zero-knowledge --epsilon 0.5 --delta 1e-9 --rate 0.05..0.2")
    assert found["shape"] == {"name": "zipf", "people": 50000, "bins": 400}
    best = found["best"]
    assert (best["channel"], best["k"], best["rate"], best["noise"]) == ("noisy-below", 31, 0.2, "1.44541")
    assert best["guarantee"]["notion"] == "zero-knowledge"
    assert best["guarantee"]["epsilon"] <= 0.5
    assert (best["guarantee"]["people"], best["guarantee"]["unit"]) == ("table", "row")
    assert best["guarantee"]["aggregate"] == "iRS(0.2)"  # k and the rate are shown, not epsilon alone
    assert best["error"] == pytest.approx(13.9713, abs=1e-3)
    assert best["command"] == (
        "hubbub release histogram people.parquet --rows-are-people --by bin:0..400:1 --crowd 31 --epsilon 1.44541 "
        "--sample 0.2 --scale-up --at-delta 1e-9 --out out/"
    )
    assert "secret sample of 20 %" in best["words"]
    assert [d["error"] for d in found["designs"]] == sorted(d["error"] for d in found["designs"])
    hidden = next(d for d in found["designs"] if d["channel"] == "exact-or-suppressed")
    assert 0.3 < hidden["suppressed_people"] < 0.4


@pytest.mark.parametrize(
    "line",
    [
        f"{TOWN} --want zero-knowledge --epsilon 0.5 --delta 1e-6 --rate 0.2",
        f"{TOWN} --want differential --epsilon 0.5",
        f"{TOWN} --want crowd-blending --k 10 --epsilon 0.5",
        f"{TOWN} --want crowd-blending --k 10",
        f"{TOWN} --want outlier --curve 1:0.01,101:1 --delta 1e-6",
        f"{TOWN} --want outlier --curve 1:0,11:inf",
        f"{TOWN} --want distributional --epsilon 0.5 --delta 1e-6 --rate 0.1",
    ],
)
def test_every_design_is_a_command_that_the_release_takes(line: str, tmp_path: Path) -> None:
    counts = [100] * 20
    table = pa.table({"bin": [i for i, count in enumerate(counts) for _ in range(count)]})
    pq.write_table(table, tmp_path / "people.parquet")
    answer = ask(f"{line} --file {tmp_path}/people.parquet --out {tmp_path}/out")
    for number, design in enumerate(answer["designs"]):
        shutil.rmtree(
            tmp_path / "out", ignore_errors=True
        )  # each ledger replaces what it published itself, and no other
        (tmp_path / "datapackage.json").unlink(missing_ok=True)  # what an earlier design declared of the table
        *before, release = design["command"].split(" && ")
        more = f" --json --replace --ledger {tmp_path}/ledger-{number}.db"
        for command in (*before, release + more):
            result = CliRunner().invoke(commands, shlex.split(command)[1:], catch_exceptions=False)
            assert result.exit_code == 0, (command, result.stderr)
        told = json.loads(result.stdout)
        assert told["bins"] == 20
        # The certificate says what the plan says that it will say; and that is the promise, or the promise follows.
        assert design["certificate"] in {promise["says"] for promise in told["guarantees"]}
        notion = design["guarantee"]["notion"]
        if notion in ("zero-knowledge", "differential"):
            assert design["certificate"] == design["guarantee"]["says"]


def test_single_numbers() -> None:
    goal = "--want zero-knowledge --epsilon 0.5 --delta 1e-9"
    assert ask(f"--ask k {goal} --rate 0.1")["k"] == 17
    found = ask(f"--ask rate {goal} --k 20")
    assert (found["rate_exact"], found["k"]) == ("0.128288", 20)
    found = ask("--ask epsilon --want differential --delta 1e-9 --k 20 --rate 0.1")
    assert found["epsilon"] == pytest.approx(0.36987, abs=1e-5)
    found = ask("--ask epsilon --want differential --delta 1e-9 --k 5 --rate 0.5")
    assert found["epsilon"] == "inf"
    assert "0.0313" in found["why"]
    assert ask(f"--ask k {goal} --rate 0.1 --noise-below 2")["k"] == 17
    assert "A smaller one fails" in run(f"--ask k {goal} --rate 0.1").stdout
    assert "Impossible" in run("--ask epsilon --want differential --delta 1e-9 --k 5 --rate 0.5").stdout


@pytest.mark.parametrize(
    ("line", "exit_code", "says"),
    [
        ("--want magic", 2, "--want must be one of"),
        ("--want differential --epsilon 1", 2, "needs --people and --bins"),
        (f"{TOWN} --want zero-knowledge --epsilon 1", 2, "add --rate"),
        ("--ask k --want zero-knowledge --epsilon 1 --delta 1e-9", 2, "needs --rate"),
        ("--ask luck --want zero-knowledge", 2, "--ask must be one of"),
        ("--ask k --want outlier --epsilon 1 --delta 1e-9 --rate 0.1", 2, "about the table itself"),
        ("--ask k --want zero-knowledge --epsilon 1 --delta 0 --rate 0.1", 3, "rate^k"),
        (
            f"{TOWN} --want zero-knowledge --epsilon 1e-7 --delta 1e-9 --k 5 --rate 0.5",
            3,
            "nothing reaches this promise",
        ),
        (f"{TOWN} --want differential --epsilon 1 --chart plan.txt", 2, "must end in"),
    ],
)
def test_wrong_questions_get_one_sentence(line: str, exit_code: int, says: str) -> None:
    result = run(line)
    assert result.exit_code == exit_code, result.output
    assert says in result.stderr
    assert result.stdout == ""


def test_a_chart_is_drawn(tmp_path: Path) -> None:
    for ending, line in (
        ("png", f"{TOWN} --want zero-knowledge --epsilon 0.5 --delta 1e-6 --rate 0.1,0.2"),
        ("svg", f"{TOWN} --want differential --epsilon 0.5"),
    ):
        place = tmp_path / f"plan.{ending}"
        assert ask(f"{line} --chart {place}")["chart"] == str(place)
        assert place.stat().st_size > 3000


def test_exact_crowds_of_everybody_come_with_a_warning() -> None:
    for line, channels in (
        (f"{TOWN} --want crowd-blending --k 10 --epsilon 0.5", {"exact-or-suppressed", "noisy-below", "warped"}),
        (f"{TOWN} --want distributional --epsilon 0.5 --delta 1e-6 --rate 0.1", {"exact-or-suppressed", "noisy-below"}),
        (f"{TOWN} --want zero-knowledge --epsilon 0.5 --delta 1e-6 --rate 0.2", set()),
        (f"{TOWN} --want differential --epsilon 0.5", set()),
    ):
        designs = ask(line)["designs"]
        assert {design["channel"] for design in designs if design["warning"]} == channels
        assert not any(design["warning"] for design in designs if design["channel"] == "geometric")
    told = run(f"{TOWN} --want crowd-blending --k 10").stdout
    assert "This is for one release" in told
    assert (
        "Put your own in the place of people.parquet and --rows-are-people (or --person COLUMN) and --by bin:0..20:1."
        in " ".join(told.split())
    )


@pytest.mark.parametrize("value", ["nan", "-1", "1/0", "1e999", "", "9" * 2000])
@pytest.mark.parametrize(
    "line",
    [
        "--want zero-knowledge --people 1000 --bins 10 --epsilon 0.5 --delta 1e-9 --rate 0.1 --k 10",
        "--want zero-knowledge --ask k --epsilon 0.5 --delta 1e-9 --rate 0.1 --noise-below 1",
        "--want zero-knowledge --ask rate --epsilon 0.5 --delta 1e-9 --k 20",
    ],
)
def test_numbers_that_cannot_be_meant_get_one_short_sentence(line: str, value: str) -> None:
    words = line.split()
    for at in range(3, len(words), 2):
        if words[at - 1] == "--ask":
            continue
        given = [*words[:at], value, *words[at + 1 :]]
        result = CliRunner().invoke(commands, ["plan", *given], catch_exceptions=False)
        assert result.exit_code == 2, (words[at - 1], result.output)
        assert result.stdout == ""
        assert result.stderr.count("\n") == 1
        assert len(result.stderr) < 250


@pytest.mark.parametrize(("name", "plainly"), [(want.value, want.plainly) for want in Want])
def test_a_promise_can_be_wanted_in_plain_words(name: str, plainly: str) -> None:
    assert Want(name).plainly == plainly
    more = {"outlier": ["--curve", "1:1"], "crowd-blending": ["--k", "5"]}.get(name, ["--epsilon", "1"])
    more += ["--rate", "0.1", "--delta", "1e-6"] if name in ("zero-knowledge", "distributional") else []
    found = [run(TOWN, "--want", want, *more) for want in (name, plainly, f" {plainly.capitalize()}.")]
    assert len({each.stdout for each in found}) == 1
    first = " ".join(found[0].stdout.split())
    assert first.startswith(f"{name} privacy for 2,000 people in 20 bins, zipf: {plainly} ")
    assert "people, bins hidden" in first


def test_other_words_are_refused_with_those_that_are_known() -> None:
    done = run(TOWN, "--want", "nobody minds", "--epsilon", "1")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "crowd-blending ('nobody stands alone')" in done.stderr


FACTS = """
people = 2000
by = ["age:0..100:10", "sex=f,m"]
person = "patient"
file = "hospital.csv"
"""


def test_facts_about_a_table_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "facts.toml").write_text(FACTS)
    line = f"--facts {tmp_path}/facts.toml --want differential --epsilon 1"
    found = ask(line)
    assert found["shape"] == {"name": "zipf", "people": 2000, "bins": 20}
    asked = f"hubbub release histogram {tmp_path}/hospital.csv --person patient --by age:0..100:10 --by sex=f,m "
    assert found["best"]["command"].startswith(asked)
    other = ask(f"{line} --people 500 --rows-are-people --shape even")  # what is said goes before the file
    assert other["shape"] == {"name": "even", "people": 500, "bins": 20}
    assert "--rows-are-people" in other["best"]["command"]
    assert "patient" not in other["best"]["command"]
    (tmp_path / "last.csv").write_text("count\n70\n30\n")
    (tmp_path / "facts.toml").write_text('shape = "last.csv"\nrows_are_people = true\n')
    assert ask(line)["shape"] == {"name": "the counts in last.csv", "people": 100, "bins": 2}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "must be a TOML file that can be read"),
        ("people = \n", "must be a TOML file that can be read"),
        ("people = 2000.0\n", "the fact people must be a whole number"),
        ("people = true\n", "the fact people must be a whole number"),
        ('by = "age"\n', "the fact by must be a list of texts"),
        ("by = [1]\n", "the fact by must be a list of texts"),
        ("epsilon = 1\n", "and not 'epsilon'"),
        ('person = "id"\nrows_are_people = true\n', "exclude each other"),
    ],
)
def test_facts_that_cannot_be_meant_get_one_sentence(text: str | None, says: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "facts.toml").write_text(text)
    done = run(f"--facts {tmp_path}/facts.toml --want differential --epsilon 1")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert says in done.stderr


def test_for_people() -> None:
    told = run(f"{TOWN} --want zero-knowledge --epsilon 0.5 --delta 1e-6 --rate 0.2 --shape even").stdout
    assert "error per bin" in told
    assert "Draw a secret sample of 20 %" in told
    assert "hubbub release histogram people.parquet" in told


def test_every_example_runs() -> None:
    lines = [line.strip() for line in (plan.epilog or "").splitlines() if line.strip().startswith("hubbub plan")]
    assert len(lines) >= 3
    for line in lines:
        result = CliRunner().invoke(commands, shlex.split(line)[1:], catch_exceptions=False)
        assert result.exit_code == 0, result.output


def test_the_command_says_who_a_person_is() -> None:
    words = ["plan", "--people", "2000", "--bins", "20", "--want", "crowd-blending", "--k", "20", "--json"]
    told = json.loads(CliRunner().invoke(commands, [*words, "--person", "patient"]).stdout)
    assert "people.parquet --person patient --by" in told["best"]["command"]
    both = CliRunner().invoke(commands, [*words, "--person", "patient", "--rows-are-people"])
    assert both.exit_code == 2
