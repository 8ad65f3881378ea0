"""Tables of the same people come together: one release, at most the error of each by itself, each in a file of its name."""

from __future__ import annotations

import csv
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import hubbub
from hubbub.cli.main import commands
from hubbub.errors import Refused
from hubbub.kinds.queries.spec import Queries
from hubbub.ledger.ledger import Ledger
from hubbub.project.joint import Joint
from hubbub.project.plan_file import read_plan
from hubbub.project.planning import Plan, State, plan
from hubbub.project.review import markdown, sheet

STROKE = Path(__file__).resolve().parents[4] / "shared" / "data" / "tables" / "stroke.parquet"
BINS = {
    "age": "age:0..90:15",
    "sex": "sex=F,M",
    "town": "town=Bath,York,Hull",
    "smoker": "smoker=yes,no",
    "visits": "visits:0..4:1",
}
TEN = ["age", "sex", "town", "smoker", "visits", "age+sex", "age+town", "town+smoker", "sex+visits", "sex+town+smoker"]
HEAD = 'ledger = "ledger.db"\n[datasets.people]\nfile = "people.csv"\nperson = "id"\nunlisted = "1"\nepsilon = 2\n'
UNCAPPED = HEAD.replace("epsilon = 2\n", "")


def people(number: int = 600) -> list[tuple[str, ...]]:
    """Some of them are in no declared bin: of Ely, ninety years old or older, or without a sex."""
    towns, sexes = ("Bath", "York", "Hull", "Ely"), ("F", "M", "")
    return [
        (str(n), str(n * 7 % 97), sexes[n % 3], towns[n // 3 % 4], "yes" if n % 5 else "no", str(n % 4))
        for n in range(number)
    ]


def table(columns: str, more: str = "") -> str:
    by = [BINS[each] for each in columns.split("+")]
    return f'[[release]]\nname = "{columns.replace("+", "-")}"\nkind = "histogram"\nby = {json.dumps(by)}\n{more}\n'


def put(folder: Path, text: str) -> Path:
    with (folder / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "age", "sex", "town", "smoker", "visits"), *people()])
    (folder / "hubbub.toml").write_text(text)
    return folder / "hubbub.toml"


def ten(head: str = HEAD) -> str:
    return head + "".join(map(table, TEN))


def planned(file: Path) -> Plan:
    return plan(read_plan(file))


def joint_of(found: Plan) -> Joint:
    (one,) = (each.joint for each in found.releases if each.joint is not None)
    return one


def run(*words: object) -> Result:
    return CliRunner().invoke(commands, ["run", *map(str, words)])


@pytest.mark.parametrize("importance", ["", "importance = 27"], ids=["even", "uneven"])
def test_ten_tables_together_have_at_most_the_error_of_ten_by_themselves(tmp_path: Path, importance: str) -> None:
    text = HEAD + "".join(map(table, TEN[:-1])) + table(TEN[-1], importance)
    found = planned(put(tmp_path, text))
    both = joint_of(found)
    assert len(both.members) == 10
    assert max(both.ratios) <= 1
    assert both.ratio < 0.6
    assert isinstance(both.spec, Queries)
    assert both.spec.request.epsilon == sum(Fraction(str(each.entry.options["epsilon"])) for each in both.members)
    assert 2 - Fraction(1, 10**9) <= both.spec.request.epsilon <= 2
    text = markdown(sheet(found))
    assert f"The mean squared error is {100 * (1 - both.ratio):.0f} % less than that of 10 releases" in text
    assert "in people-tables/age-sex.csv" in text


@pytest.mark.slow
def test_ten_tables_are_one_release_for_the_ledger_and_ten_files_for_readers(tmp_path: Path) -> None:
    file = put(tmp_path, ten())
    written = hubbub.publish_all(file)
    folder = tmp_path / "published" / "people-tables"
    assert written["age-sex"]["release"] == str(folder / "age-sex.csv")
    for name in (each.replace("+", "-") for each in TEN):
        assert (
            (folder / f"{name}.csv")
            .read_text()
            .splitlines()[0]
            .endswith('"estimate","low","high","own_low","own_high"')
        )
    account = Ledger(tmp_path / "ledger.db").accounts()["people"]
    assert len(account.spent_releases) == 1
    assert hubbub.verify(folder / "certificate.json").passed
    again = planned(file)
    assert [each.state for each in again.releases] == [State.OUT]
    assert joint_of(again).ratio == joint_of(planned(put(tmp_path, ten()))).ratio
    assert set(map(str, hubbub.publish_all(file).values())) == {"{}"}
    forged = (folder / "age.csv").read_text().replace("9", "8")
    (folder / "age.csv").write_text(forged)
    assert not hubbub.verify(folder / "certificate.json").passed


def test_everybody_counts_in_each_table_though_they_are_in_no_bin_of_another(tmp_path: Path) -> None:
    """With next to no noise, the numbers are those of the tables by themselves."""
    names = ["age", "sex", "town+smoker", "sex+town"]
    head = HEAD.replace("epsilon = 2", "epsilon = 44")
    file = put(tmp_path, head + "".join(table(each, "accept_weak = true") for each in names))
    assert len(joint_of(planned(file)).members) == 4
    hubbub.publish_all(file)

    def read(name: str) -> dict[tuple[str, ...], int]:
        with (tmp_path / "published" / "people-tables" / f"{name}.csv").open() as opened:
            rows = list(csv.DictReader(opened))
        keys = name.split("-")
        return {tuple(row[key] for key in keys): round(float(row["estimate"])) for row in rows}

    truth = Counter(person[2] for person in people())
    assert read("sex") == {("F",): truth["F"], ("M",): truth["M"], ("",): truth[""], ("other",): 0}
    both = Counter((person[3], person[4]) for person in people())
    found = read("town-smoker")
    assert all(
        found[town, smoker] == both[town, smoker] for town in ("Bath", "York", "Hull") for smoker in ("yes", "no")
    )
    assert found["other", "yes"] == both["Ely", "yes"] > 0
    assert read("age")["[75,90)",] == sum(75 <= int(person[1]) < 90 for person in people())


def test_what_asks_for_something_of_its_own_stays_by_itself(tmp_path: Path) -> None:
    own = (
        table("age", "epsilon = 1")
        + table("sex", "crowd = 20")
        + table("town", "epsilon = 1\nmechanism = 'geometric'")
        + table("visits", "epsilon = 1\none_row_per_person = true")
        + table("sex+town", "epsilon = 1\njoint = false")
        + table("age+town", "epsilon = 1\nformat = 'parquet'")
    )
    file = put(tmp_path, UNCAPPED + own)
    assert all(each.joint is None for each in planned(file).releases)
    other_bins = table("age", "epsilon = 1") + table("age+sex", "epsilon = 1").replace("0..90:15", "0..90:10")
    assert all(each.joint is None for each in planned(put(tmp_path, HEAD + other_bins)).releases)
    file = put(tmp_path, "joint = false\n" + ten())
    assert len(planned(file).releases) == 10


@pytest.mark.slow
def test_tables_that_are_out_together_are_never_published_again(tmp_path: Path) -> None:
    text = UNCAPPED + table("age", "epsilon = 1") + table("sex", "epsilon = 1")
    hubbub.publish_all(put(tmp_path, text))
    account = Ledger(tmp_path / "ledger.db").accounts
    assert {each.state for each in planned(put(tmp_path, "joint = false\n" + text)).releases} == {State.OUT}
    more = text + table("town", "epsilon = 1") + table("smoker", "epsilon = 1")
    states = {each.names: each.state for each in planned(put(tmp_path, more)).releases}
    assert states == {("age", "sex"): State.OUT, ("town", "smoker"): State.OPEN}
    hubbub.publish_all(tmp_path)
    assert (tmp_path / "published" / "people-tables-2" / "town.csv").exists()
    assert len(account()["people"].spent_releases) == 2
    titled = more.replace('name = "age"', 'name = "age"\ntitle = "How old they are"')
    assert {each.state for each in planned(put(tmp_path, titled)).releases} == {State.OUT}
    for changed, sentence in (
        (more.replace("0..90:15", "0..90:10"), "is published already"),
        (
            more.replace(table("sex", "epsilon = 1"), ""),
            "age is published together with sex, which this file has no more",
        ),
        (more.replace(table("sex", "epsilon = 1"), table("sex", "epsilon = 2")), "is published already"),
        (more.replace(table("sex", "epsilon = 1"), table("sex", "crowd = 20")), "sex is published already"),
    ):
        with pytest.raises(Refused, match=sentence):
            planned(put(tmp_path, changed))
    assert len(account()["people"].spent_releases) == 2


def test_a_table_that_is_out_by_itself_stays_so(tmp_path: Path) -> None:
    text = HEAD + table("age", "epsilon = 1") + table("sex", "epsilon = 1")
    hubbub.publish_all(put(tmp_path, text.replace("[[release]]", "[[release]]\njoint = false", 1)))
    states = {each.names: each.state for each in planned(put(tmp_path, text)).releases}
    assert states == {("age",): State.OUT, ("sex",): State.OUT}


def test_tables_of_people_declared_to_have_one_row_come_together_and_apart_from_the_others(tmp_path: Path) -> None:
    declared = "".join(table(each, "unique_person = true") for each in TEN[:5])
    file = put(tmp_path, HEAD + declared + table("sex+town"))
    both = joint_of(planned(file))
    assert {each.entry.name for each in both.members} == set(TEN[:5])
    assert both.spec.unit.unique_person
    assert run(file, "--yes").exit_code == 0
    rests = {
        path.parent.name: "person.declared-unique" in path.read_text() for path in tmp_path.rglob("certificate.json")
    }
    assert len(rests) == 2
    assert not rests.pop("sex-town")
    assert all(rests.values())


def test_a_joint_release_that_breaks_a_cap_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    file = put(tmp_path, ten(HEAD + "policy = { differential_epsilon = 1 }\n"))
    told = run(file)
    assert told.exit_code == 3
    assert "age, sex, town, smoker" in told.stderr
    assert not Ledger(tmp_path / "ledger.db").accounts()


def test_a_check_says_what_comes_together(tmp_path: Path) -> None:
    file = put(tmp_path, HEAD + table("age") + table("sex"))
    told = run(file, "--check").stdout
    assert told.startswith("age, sex: to be published together, in people-tables. The mean squared error is ")
    (found,) = json.loads(run(file, "--check", "--json").stdout)["releases"]
    assert [each["name"] for each in found["tables"]] == ["age", "sex"]
    assert all(each["root_mean_square"] <= each["by_itself"] for each in found["tables"])


@pytest.mark.slow
def test_ten_tables_of_real_people_together(tmp_path: Path) -> None:
    if not STROKE.is_file():
        pytest.skip("stroke.parquet is not here")
    example = Path(__file__).resolve().parents[3] / "examples" / "stroke"
    (tmp_path / "stroke.parquet").symlink_to(STROKE)
    (tmp_path / "datapackage.json").write_text((example / "datapackage.json").read_text())
    asked = [
        "age", "gender", "stroke", "smoking_status", "age+gender", "gender+stroke", "age+stroke", "smoking_status+stroke",
        "hypertension+heart_disease", "age+residence_type",
    ]  # fmt: skip
    text = 'ledger = "ledger.db"\n[datasets.stroke]\nfile = "stroke.parquet"\nepsilon = 2\n'
    for each in asked:
        name = each.replace("+", "-").replace("_", "-")
        text += f'[[release]]\nname = "{name}"\nkind = "histogram"\nby = {json.dumps(each.split("+"))}\n'
    (tmp_path / "hubbub.toml").write_text(text)
    both = joint_of(planned(tmp_path / "hubbub.toml"))
    assert len(both.members) == 10
    assert max(both.ratios) <= 1
    assert both.ratio < 0.6
    hubbub.publish_all(tmp_path)
    assert hubbub.verify(tmp_path / "published" / "stroke-tables" / "certificate.json").passed
