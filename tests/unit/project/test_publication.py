"""A publication in one file: planned together, published once, resumed after a crash; labels change nothing."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import hubbub
from hubbub.cli.main import commands
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.ledger import trust
from hubbub.ledger.ledger import Ledger
from hubbub.project.plan_file import cube_root, read_plan
from hubbub.project.planning import State, plan
from hubbub.project.review import approve, check_approval, markdown, page, sheet

FIELDS = [
    {"name": "worker", "type": "integer"},
    {"name": "unit", "title": "Department", "constraints": {"enum": ["Fire", "Police"], "required": True}},
    {"name": "salary", "type": "integer", "constraints": {"minimum": 0, "maximum": 90000}, "hubbub": {"bins": "0..90000:30000", "step": 100}},
]  # fmt: skip
TOML = """
ledger = "ledger.db"

[datasets.staff]
file = "staff.csv"
epsilon = 3

[[release]]
name = "units"
kind = "histogram"
by = "unit"
title = "Who works where"

[[release]]
name = "pay"
kind = "mean"
of = "salary"
by = ["unit"]
importance = 8
"""


def put(folder: Path, text: str = TOML) -> Path:
    rows = "".join(f"{n},{'Fire' if n % 3 else 'Police'},{n * 37 % 90000}\n" for n in range(900))
    (folder / "staff.csv").write_text(f"worker,unit,salary\n{rows}")
    table = {"name": "staff", "path": "staff.csv", "schema": {"fields": FIELDS}, "hubbub": {"person": "worker"}}
    (folder / "datapackage.json").write_text(json.dumps({"resources": [table]}))
    file = folder / "hubbub.toml"
    file.write_text(text)
    return file


def run(*words: object) -> Result:
    return CliRunner().invoke(commands, ["run", *map(str, words)])


def spent(folder: Path) -> int:
    account = Ledger(folder / "ledger.db").accounts().get("staff")
    return 0 if account is None else len(account.spent_releases)


def states(file: Path) -> list[State]:
    return [each.state for each in plan(read_plan(file)).releases]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_what_a_file_wants_is_published_once(tmp_path: Path) -> None:
    file = put(tmp_path)
    done = run(file)
    assert done.exit_code == 0, done.output
    assert "Published: 2 of 2" in done.stdout
    assert "All releases of staff together: differential privacy, epsilon 3" in done.stdout
    before = bytes_of(tmp_path / "published")
    again = json.loads(run(file, "--json").stdout)
    assert again["written"] == {"units": {}, "pay": {}}
    assert [each["state"] for each in again["releases"]] == ["published", "published"]
    assert bytes_of(tmp_path / "published") == before
    assert spent(tmp_path) == 2
    for name in ("units", "pay"):
        assert hubbub.verify(tmp_path / "published" / name / "certificate.json").passed
    assert "Who works where" in (tmp_path / "published" / "units" / "report.html").read_text()


def test_the_budget_is_shared_by_importance(tmp_path: Path) -> None:
    epsilons = {each.name: each.options["epsilon"] for each in read_plan(put(tmp_path)).entries}
    assert epsilons == {"units": "1", "pay": "2"}
    text = TOML.replace("epsilon = 3", 'epsilon = "0.1"').replace("importance = 8", "importance = 216")
    shares = [each.options["epsilon"] for each in read_plan(put(tmp_path, text)).entries]
    assert shares == ["0.0142857142857", "0.0857142857142"]  # rounded down


def test_shares_by_the_cube_roots_of_importance_have_the_least_weighted_error() -> None:
    """Exact over a grid: with 1 : 8 no split of epsilon into hundredths has a smaller sum of importance/epsilon^2."""
    roots = [cube_root(Fraction(1)), cube_root(Fraction(8)), cube_root(Fraction(27, 64))]
    assert roots == [1, 2, Fraction(3, 4)]
    assert 0 <= Fraction(2) - cube_root(Fraction(2)) ** 3 < Fraction(1, 10**17)

    def error(first: Fraction) -> Fraction:
        return 1 / first**2 + 8 / (1 - first) ** 2

    best = error(Fraction(1, 3))
    assert best == 27
    assert all(error(Fraction(n, 100)) > best for n in range(1, 100))
    assert error(Fraction(1, 9)) > best  # by importance itself


def test_a_dry_run_spends_nothing_and_has_a_sheet_to_sign(tmp_path: Path) -> None:
    file = put(tmp_path)
    told = run(file, "--dry-run", "--sheet", tmp_path / "review")
    assert told.exit_code == 0, told.output
    for words in (
        "## units: Who works where",
        "**Question**",
        "**Promise**",
        "off by about",
        "**Public by declaration**: salary",
        "The people of staff**: differential privacy, epsilon 3",
    ):
        assert words in told.stdout
    assert (tmp_path / "review" / "review.md").read_text() == told.stdout
    assert "<h2>units: Who works where</h2>" in (tmp_path / "review" / "review.html").read_text()
    assert spent(tmp_path) == 0
    assert not (tmp_path / "published").exists()
    short = run(file, "--check")
    assert short.stdout.splitlines()[:2] == ["units: to be published.", "pay: to be published."]
    assert hubbub.publish_all(file, dry_run=True) == {}
    assert spent(tmp_path) == 0


def test_a_sheet_is_words_and_acts_on_nothing(tmp_path: Path) -> None:
    file = put(tmp_path, TOML.replace("Who works where", "<script>*x*</script>"))
    lines = sheet(plan(read_plan(file)))
    assert "\\<script\\>\\*x\\*" in markdown(lines)
    assert "<script>" not in page(lines)


def test_a_label_changes_no_release_and_a_bin_is_a_new_plan(tmp_path: Path) -> None:
    file = put(tmp_path)
    assert run(file).exit_code == 0
    file.write_text(TOML.replace("Who works where", "Where people work"))
    described = (tmp_path / "datapackage.json").read_text()
    (tmp_path / "datapackage.json").write_text(described.replace("Department", "Unit"))
    assert states(file) == [State.OUT, State.OUT]
    (tmp_path / "datapackage.json").write_text(described.replace('"Police"]', '"Police", "Parks"]'))
    told = run(file)
    assert (told.exit_code, "units is published already" in told.stderr) == (3, True)
    file.write_text(TOML.replace('name = "units"', 'name = "units-2"').replace('name = "pay"', 'name = "pay-2"'))
    assert states(file) == [State.OPEN, State.OPEN]
    assert spent(tmp_path) == 2


def test_what_cannot_be_published_together_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    capped = TOML.replace("epsilon = 3", "epsilon = 3\npolicy = { differential_epsilon = 2 }")
    told = run(put(tmp_path, capped))
    assert (told.exit_code, told.stderr.startswith("hubbub: pay cannot follow the others: ")) == (3, True)
    assert spent(tmp_path) == 0
    enough = capped.replace("differential_epsilon = 2", "differential_epsilon = 3")
    assert run(put(tmp_path, enough)).exit_code == 0
    assert Ledger(tmp_path / "ledger.db").accounts()["staff"].policy.differential_epsilon == 3
    more = enough + '\n[[release]]\nname = "more"\nkind = "count"\nepsilon = 1\n'
    told = run(put(tmp_path, more))
    assert told.exit_code == 3
    assert spent(tmp_path) == 2


def test_a_weak_promise_is_confirmed_first(tmp_path: Path) -> None:
    file = put(tmp_path, TOML.replace("epsilon = 3", "epsilon = 60"))
    assert run(file).exit_code == 2
    assert spent(tmp_path) == 0
    assert run(file, "--yes").exit_code == 0


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.slow
def test_a_run_that_was_cut_short_goes_on_and_pays_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each of the moments at which a file settles on the disk, every seventh."""
    whole, publish = os.fsync, 0
    for nth in range(2, 80, 7):
        folder = tmp_path / str(nth)
        folder.mkdir()
        file, calls = put(folder), iter(range(1, 1000))

        def killing(handle: int, calls: Any = calls, nth: int = nth) -> None:
            if next(calls) == nth:
                raise Killed
            whole(handle)

        monkeypatch.setattr(os, "fsync", killing)
        try:
            hubbub.publish_all(file)
            publish += 1
        except Killed:
            pass
        finally:
            monkeypatch.setattr(os, "fsync", whole)
        if publish:
            break
        written = hubbub.publish_all(file)
        assert set(written) == {"units", "pay"}
        assert states(file) == [State.OUT, State.OUT]
        assert spent(folder) <= 3  # one that was drawn and lost counts, and no more
        for name in ("units", "pay"):
            assert hubbub.verify(folder / "published" / name / "certificate.json").passed
    assert publish, "no run was left alone"


SQL = 'sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) unit, AVG(salary) FROM staff GROUP BY unit"'


def test_a_release_may_be_a_query(tmp_path: Path) -> None:
    pytest.importorskip("sqlglot")
    asked = TOML.replace('kind = "mean"\nof = "salary"\nby = ["unit"]\nimportance = 8', SQL)
    assert asked != TOML
    assert states(put(tmp_path, asked)) == [State.OPEN, State.OPEN]


WRONG = [
    ("[[release", "is no TOML file"),
    ("", "says which tables there are"),
    ("[datasets.staff]\nfile = 'staff.csv'", "wants no release"),
    (TOML + "\n[extra]\n", "and not 'extra'; leave it out"),
    (TOML.replace('"pay"', '"units"'), "have the same name"),
    (TOML.replace('"pay"', '"../pay"'), "has a name for its folder"),
    (TOML.replace('kind = "mean"', 'kind = "median"'), "there is no kind of release 'median'"),
    (TOML.replace('kind = "mean"', 'kind = "graph"'), "publish networks and ballots by their commands"),
    (TOML.replace('of = "salary"', 'off = "salary"'), "did you mean of?"),
    (TOML.replace("epsilon = 3", ""), "says no promise"),
    (TOML.replace("epsilon = 3", "policy = 3"), "is a table of caps"),
    (TOML.replace('name = "pay"', 'name = "pay"\ndataset = "others"'), "is of one of staff"),
    (TOML.replace("epsilon = 3", 'epsilon = 3\ndelimeter = ";"'), "did you mean delimiter?"),
    (TOML.replace("ledger =", "ledgr ="), "did you mean ledger?"),
    (TOML.replace("importance", "importence"), "the release pay has no 'importence'; did you mean importance?"),
    (TOML.replace("epsilon = 3", "policy = { differential_epsilonn = 2 }"), "did you mean differential_epsilon?"),
    (TOML.replace("epsilon = 3", "epsilon = 0"), "the epsilon of staff must be above 0, not 0; write one like 1"),
    (TOML.replace("epsilon = 3", "epsilon = nan"), "the epsilon of staff must be a number"),
    (TOML.replace("epsilon = 3", "epsilon = true"), "not bool; write one like 1"),
    (TOML.replace("epsilon = 3", "epsilon = 3\ndelta = 2"), "the delta of staff must be below 1"),
    (TOML.replace('by = "unit"', 'by = "unit"\nepsilon = 0'), "units: epsilon must lie between"),
    (TOML.replace("staff.csv", "nowhere.csv"), "and nothing is there; correct its file"),
    (TOML.replace('by = "unit"', 'by = "departement"'), "units: there is no column 'departement'"),
    (TOML.replace('by = "unit"', "by = 3"), "by is a text, or several in brackets"),
    (TOML.replace('by = "unit"', 'by = "unit"\ncrowd = 20\ncrowd = 30'), "is no TOML file"),
    (TOML.replace('by = "unit"', 'by = "unit"\nmechanism = "pink"'), "there is no channel 'pink'"),
    (TOML.replace("importance = 8", "importance = 0"), "the importance of pay must be above 0"),
    (TOML.replace("importance = 8", "importance = 1e400"), "lies between 1/1,000,000 and 1,000,000"),
    (TOML.replace("importance = 8", 'accept_weak = "yes"'), "is true or false, without quotes"),
    ('joint = "no"\n' + TOML, "joint is true or false, without quotes"),
    (TOML.replace('"Who works where"', "3"), "the title of units is a text; put it in quotes"),
    (TOML.replace('title = "Who works where"', "notes = 3"), "the notes of units are texts in brackets"),
    (TOML.replace('title = "Who works where"', "labels = { unit = 3 }"), "the labels of units are texts by columns"),
    (TOML.replace('title = "Who works where"', 'format = "pdf"'), "format must be csv, parquet or xlsx"),
    ("out = 3\n" + TOML, "out is a text; put it in quotes"),
    ('approval = "nobody"\n' + TOML, "add it with hubbub trust add, or write the key there"),
    (TOML.replace("[datasets.staff]", "[dataset.staff]"), "did you mean datasets?"),
    (TOML.replace("datasets.staff", 'datasets."a/b"'), "choose such a name"),
    (
        TOML.replace("epsilon = 3", "")
        .replace('by = "unit"', 'by = "unit"\ncrowd = 20')
        .replace('kind = "mean"\nof = "salary"\nby = ["unit"]', 'kind = "histogram"\nby = ["salary"]\ncrowd = 20'),
        "pay cannot follow the others",
    ),
    (TOML.replace('kind = "mean"', 'kind = "mean"\n' + SQL), "say one of the two"),
]


@pytest.mark.parametrize(("text", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_a_file_without_a_meaning_is_refused_with_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises((WrongUse, Refused)) as told:
        hubbub.publish_all(put(tmp_path, text))
    assert sentence in str(told.value)
    assert isinstance(told.value, HubbubError)
    assert spent(tmp_path) == 0
    assert not (tmp_path / "published").exists()


def test_a_folder_with_somebody_elses_release_is_left_alone(tmp_path: Path) -> None:
    file = put(tmp_path)
    (tmp_path / "published" / "units").mkdir(parents=True)
    (tmp_path / "published" / "units" / "certificate.json").write_text("{}")
    told = run(file)
    assert (told.exit_code, "that this ledger did not publish" in told.stderr) == (3, True)
    assert spent(tmp_path) == 0


def test_a_publication_waits_for_the_signature_of_whoever_approves(tmp_path: Path) -> None:
    asked = 'approval = "board"\n' + TOML
    file, board = put(tmp_path, asked), Ledger(tmp_path / "board.db")
    trust.add("board", board.public_key())
    assert run(file, "--dry-run", "--sheet", tmp_path).exit_code == 0
    told = run(file)
    assert (told.exit_code, "waits for an approval" in told.stderr, spent(tmp_path)) == (3, True, 0)
    signing = ["trust", "approve", str(tmp_path / "review.md"), "--out", str(tmp_path / "approval.json")]
    assert CliRunner().invoke(commands, [*signing, "--ledger", str(tmp_path / "stranger.db")]).exit_code == 0
    told = run(file)
    assert (told.exit_code, "another key" in told.stderr, spent(tmp_path)) == (3, True, 0)
    (tmp_path / "approval.json").unlink()
    done = CliRunner().invoke(commands, [*signing, "--ledger", str(tmp_path / "board.db")])
    assert done.exit_code == 0, done.output
    file.write_text(asked.replace("epsilon = 3", "epsilon = 4"))
    told = run(file)
    assert (told.exit_code, "another sheet" in told.stderr, spent(tmp_path)) == (3, True, 0)
    file.write_text(asked)
    assert run(file).exit_code == 0
    assert run(file).exit_code == 0  # nothing is open
    assert spent(tmp_path) == 2
    again = CliRunner().invoke(commands, signing)
    assert (again.exit_code, "is there already" in again.stderr) == (2, True)


def test_one_approval_holds_for_all_runs_of_a_publication(tmp_path: Path) -> None:
    file = put(tmp_path)
    before = markdown(sheet(plan(read_plan(file))))
    assert run(file).exit_code == 0
    after = markdown(sheet(plan(read_plan(file))))
    (tmp_path / "approval.json").write_bytes(approve(before, Ledger(tmp_path / "board.db")))
    assert before != after
    check_approval(after, tmp_path / "approval.json", Ledger(tmp_path / "board.db").public_key())


OWN = TOML.replace('by = "unit"\n', 'by = "unit"\nepsilon = 2\n')


def test_the_epsilon_of_a_dataset_caps_all_releases_of_the_file(tmp_path: Path) -> None:
    """Threat 70: what the file says for all of them is held before anything is spent."""
    above = OWN.replace("epsilon = 3", "epsilon = 1")
    told = run(put(tmp_path, above))
    assert told.exit_code == 2
    assert "nothing is left for pay" in told.output
    alone = above[: above.index('[[release]]\nname = "pay"')]
    told = run(put(tmp_path, alone), "--dry-run")
    assert told.exit_code == 3
    assert "lose epsilon 2 together, and the file allows them 1" in told.output
    assert spent(tmp_path) == 0
    assert states(put(tmp_path, alone.replace("epsilon = 1", "epsilon = 2"))) == [State.OPEN]


def test_what_is_left_is_shared_by_the_others(tmp_path: Path) -> None:
    units, pay = read_plan(put(tmp_path, OWN)).entries
    assert (Fraction(units.options["epsilon"]), Fraction(pay.options["epsilon"])) == (2, 1)
    assert run(put(tmp_path, OWN)).exit_code == 0
    assert states(tmp_path / "hubbub.toml") == [State.OUT, State.OUT]


def test_a_delta_and_a_promise_without_epsilon_are_held_to_it_too(tmp_path: Path) -> None:
    delta = 'by = "unit"\nepsilon = 1\ndelta = "1e-6"\nmechanism = "gaussian"\n'
    wide = TOML.replace("epsilon = 3", 'epsilon = 3\ndelta = "1e-9"').replace('by = "unit"\n', delta)
    wide = wide[: wide.index('[[release]]\nname = "pay"')]
    assert "lose delta" in run(put(tmp_path, wide)).output
    crowd = TOML.replace('by = "unit"\n', 'by = "unit"\ncrowd = 20\n')
    told = run(put(tmp_path, crowd))
    assert (told.exit_code, "not all of them promise differential privacy" in told.output) == (3, True)
    assert spent(tmp_path) == 0


def test_the_sheet_says_how_exact_every_release_is_and_says_it_again(tmp_path: Path) -> None:
    planned = plan(read_plan(put(tmp_path)))
    lines = [line.text for line in sheet(planned) if line.term == "How exact"]
    assert len(lines) == 2
    assert "is off by about" in lines[0]
    assert "invented people" in lines[1]
    assert lines == [line.text for line in sheet(planned) if line.term == "How exact"]
