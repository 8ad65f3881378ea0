"""Publishing from the page gives what the command gives, shows its price before, and stops at the ledger's word."""

from __future__ import annotations

import html
import json
import re
import shlex
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub import registry
from hubbub.cli.main import commands
from hubbub.ledger.ledger import Ledger
from hubbub.studio.forms import guided
from hubbub.studio.forms.parts import Parts, parts_of
from tests.conformance import toy
from tests.unit.studio.opened import CSV, FILLED, OWN, Opened, plain

pytestmark = pytest.mark.usefixtures("in_place")

FRESH = ("signature", "ledger", "files")  # digests, nonces and what they go into


def certificate(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "certificate.json").read_bytes())
    return {name: value for name, value in found.items() if name not in FRESH}


def command(text: str) -> list[str]:
    found = re.search(r"<pre[^>]*>((?:echo [^<]*\n)?hubbub [^<]*)</pre>", text)
    assert found is not None, plain(text)
    return shlex.split(html.unescape(found[1]))


PROMISES = {
    "noise": {"promise": "noise", "epsilon": "0.5"},
    "found": {"promise": "noise", "epsilon": "1", "delta": "1e-5", "by1-values": ""},
    "crowd": {"promise": "crowd", "crowd": "7"},
    "sample": {"promise": "sample", "crowd": "20", "sample": "0.1"},
    "rare": {"promise": "rare", "rare": "0.1", "crowd": "30", "epsilon": "2", "show_above": "3"},
}


@pytest.mark.parametrize("name", PROMISES)
def test_the_command_on_the_page_gives_the_same_certificate(
    opened: Opened, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = FILLED | PROMISES[name] | {"by2-use": "on", "by2-low": "20", "by2-high": "70", "by2-step": "25"}
    page = opened.released(form)
    typed = command(page)
    assert (opened.folder / "out" / "report.html").is_file()
    other = tmp_path / "other"
    other.mkdir()
    (other / "people.csv").write_text(CSV, encoding="utf-8")
    monkeypatch.chdir(other)
    for part in ("DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{part}_HOME", str(tmp_path / part))
    done = CliRunner().invoke(commands, typed[1:], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    ours, theirs = certificate(opened.folder / "out"), certificate(other / "out")
    assert ours == theirs
    assert "promises" in ours or "guarantees" in ours or len(ours) > 3


def test_so_do_the_lines_of_python(opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened.released(FILLED | PROMISES["sample"])
    lines = html.unescape(re.findall(r"<pre[^>]*>(import hubbub[^<]*)</pre>", page)[0])
    other = tmp_path / "other"
    other.mkdir()
    (other / "people.csv").write_text(CSV, encoding="utf-8")
    monkeypatch.chdir(other)
    for part in ("DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{part}_HOME", str(tmp_path / part))
    exec(compile(lines, "page", "exec"), {})
    assert certificate(opened.folder / "out") == certificate(other / "out")


def test_the_price_is_shown_before_it_is_paid(opened: Opened) -> None:
    before = plain(opened.get("/publish/answer", params=FILLED)[1])
    assert "This would be the first release of people" in before
    assert "1-DP" in before
    assert Ledger().accounts() == {}  # looking enters nothing
    opened.released(FILLED)
    after = plain(opened.get("/publish/answer", params=FILLED | {"out": "more"})[1])
    assert "people has 1 release in the ledger" in after
    assert "2-DP" in after


def test_the_policy_is_met_before_and_after_the_button(opened: Opened) -> None:
    opened.send("/ledger/policy", {"dataset": "people", "differential_epsilon": "1.5"})
    opened.released(FILLED)
    told = opened.get("/publish/answer", params=FILLED | {"out": "more"})[1]
    assert "The ledger would refuse it" in plain(told)
    assert "disabled" in told
    page = plain(opened.released(FILLED | {"out": "more"}))
    assert "Nothing was published" in page
    assert "above the cap of 1.5" in page
    assert not (opened.folder / "more" / "certificate.json").exists()
    assert len(Ledger().account("people").spent_releases) == 1


def test_a_tab_that_was_weighed_before_the_last_release_is_stopped(opened: Opened) -> None:
    seen = re.findall(r'name="seen" value="(\d+)"', opened.get("/publish/answer", params=FILLED)[1])
    opened.released(FILLED | {"seen": seen[0]})
    status, text = opened.send("/publish/release", FILLED | {"seen": seen[0], "out": "more"})
    assert status == 409
    assert "moved on since this page was shown" in plain(text)
    assert len(Ledger().account("people").spent_releases) == 1


def test_what_is_wrong_is_one_sentence_beside_the_form(opened: Opened) -> None:
    for more, words in (
        ({"by1-use": ""}, "Choose at least one column"),
        ({"who": ""}, "Say who a person is"),
        ({"epsilon": "much"}, "“Privacy loss, epsilon” must be a number"),
        ({"by2-use": "on", "by2-low": "0"}, "fill in all three"),
        ({"people": "-3"}, "people"),
    ):
        assert words in plain(opened.get("/publish/answer", params=FILLED | more)[1])


def test_the_private_check_is_sent_and_never_linked(opened: Opened) -> None:
    form = FILLED | {"who": "column:id"}
    assert opened.client.get("/publish/look", params=form).status_code == 405
    answer = opened.client.post("/publish/look", data=form, headers={"origin": "http://127.0.0.1:8123"})
    text = plain(answer.text)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "Private: this is about the people in the table as they are" in text
    assert "102 rows are read" in text
    assert "102 people by id" in text
    assert Ledger().accounts() == {}
    assert sorted(path.name for path in opened.folder.iterdir()) == ["people.csv"]  # and it is written nowhere


def test_every_kind_of_release_has_a_form(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that nobody thought of: a kind is a line in the registry, and the page makes its question and form. Every
    option of a kind is asked for once, by a part of the form or by a field of its own."""
    monkeypatch.setitem(registry._WHERE, "toy", toy.__name__)
    listed = opened.get("/publish/table", params={"file": "people.csv", "named": "1"})[1]
    for name in registry.names():
        kind = registry.kind(name)
        if kind.data == "ballots":
            continue
        question = guided.question_of({"question": name})
        assert f'value="{question.name}"' in listed
        status, text = opened.get(f"/publish/kind/{name}", params={"file": "people.csv", "named": "1"})
        assert status == 200
        parts = parts_of(question, kind)
        for option in kind.options:
            asked = option.name in parts.names
            assert asked == (f'id="o-{option.name}"' in text), (name, option.name)
            if not asked and not option.for_cluster:
                assert claimed(question, parts, option.name), (name, option.name)
    assert opened.get("/publish/kind/nothing", params={"file": "people.csv"})[0] == 400


def claimed(question: guided.Question, parts: Parts, option: str) -> bool:
    """Whether a part of the form asks for an option."""
    sliders = {name for names in question.ways.values() for name in names} | {"outlier"}
    rows = {"one_row_per_person", "unique_person", "distinct", "rows_per_person", "any_row", "rows_called"}
    rows |= {"count_rows"}
    point = {"columns", "box", "grid"} if parts.point else set()
    own = {parts.by, parts.record, parts.measure, parts.per, parts.condition}
    return option in sliders | rows | point | own


TOWN = [("Bath", 60), ("York", 40), ("Wells", 50)]
PLACES = "id,town,age,lon,lat\n" + "".join(
    f"{i},{town},{20 + i % 50},{i % 10 / 10},{i % 7 / 10}\n"
    for i, town in enumerate(name for name, many in TOWN for _ in range(many))
)
BY_TOWN = {"by1-use": "on", "by1-values": "Bath,York,Wells"}
AGE = {"of-column": "age", "of-low": "0", "of-high": "100", "of-step": "1"}
ASKED = {
    "how-many": (BY_TOWN, "--by town=Bath,York,Wells"),
    "how-many-meet": ({**BY_TOWN, "where-column": "age", "where-sign": ">=", "where-value": "65"}, "age"),
    "share": ({"where-column": "town", "where-value": "St. Ives"}, "'St. Ives'"),
    "average": ({**AGE, **BY_TOWN}, "--of age:0..100:1"),
    "total": (AGE, "--of age:0..100:1"),
    "median": (AGE, "release quantile"),
    "ratio": (
        {**AGE, "per-column": "lon", "per-low": "0", "per-high": "1", "per-step": "0.1"},
        "--of age:0..100:1 --per lon:0..1:0.1",
    ),
    "invented": ({**BY_TOWN, "by2-use": "on"}, "release synthetic"),
    "spread": (AGE, "release std"),
    "cross-table": ({**BY_TOWN, "by2-use": "on"}, "--by age:0..100:10,null"),
    "many-questions": ({**BY_TOWN, "by2-use": "on"}, "--class marginals:2"),
    "records": ({**BY_TOWN, "by2-use": "on", "by2-keep": "ranges", "by2-width": "25"}, "--columns town,age:25"),
    "map": (
        {
            **{"x-column": "lon", "x-low": "0", "x-high": "1", "x-cell": "0.5"},
            **{"y-column": "lat", "y-low": "0", "y-high": "1", "y-cell": "0.5"},
        },
        "--box 0..1,0..1",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("question", ASKED)
def test_every_question_is_answered_from_its_form_and_its_lines(
    opened: Opened, question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is promised first is what was asked for, the numbers have an error beforehand, and the command and the lines
    of Python give the same certificate."""
    (opened.folder / "places.csv").write_text(PLACES, encoding="utf-8")
    filled, words = ASKED[question]
    form = {"file": "places.csv", "named": "1", "who": "column:id", "question": question, "out": "out", **filled}
    for _ in range(200):
        told = opened.get("/publish/answer", params=form)[1]
        if "data-again" not in told:
            break
        time.sleep(0.02)
    assert "Differential privacy, epsilon 1" in told or "Crowd-blending privacy, crowds of at least 20" in told
    if question not in ("records", "map", "invented"):
        assert re.search(r'id="error">\s*± \d', told), plain(told)
        assert "How it could look, with invented people" in told
    page = opened.released(form)
    assert "Published: out" in plain(page)
    line = command(page)
    assert words in shlex.join(line).replace("'\"'\"'", "'") or words in " ".join(line)
    other = tmp_path / "other"
    other.mkdir()
    (other / "places.csv").write_text(PLACES, encoding="utf-8")
    monkeypatch.chdir(other)
    for part in ("DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{part}_HOME", str(tmp_path / part))
    lines = html.unescape(re.findall(r"<pre[^>]*>(import hubbub[^<]*)</pre>", page)[0])
    exec(compile(lines, "page", "exec"), {})
    assert certificate(opened.folder / "out") == certificate(other / "out")


SEVERAL = {
    "rows": ({"rows_per_person": "2", "rows_called": "visits"}, "--rows-per-person 2 --rows-called visits"),
    "bins": ({"distinct": "2"}, "--distinct 2"),
    "one": ({}, "--one-row-per-person"),
    "unique": ({}, "--unique-person"),
}


@pytest.mark.parametrize("several", SEVERAL)
def test_people_with_several_rows_are_asked_about(opened: Opened, several: str) -> None:
    rows = "".join(f"{i % 40},{('Bath', 'York')[i % 3 == 0]}\n" for i in range(120))
    (opened.folder / "visits.csv").write_text(f"id,town\n{rows}", encoding="utf-8")
    form = {"file": "visits.csv", "named": "1", "question": "how-many", "who": "column:id", "out": "out"}
    form |= {"by1-use": "on", "by1-values": "Bath,York"}
    refused = opened.released(form)
    assert "Nothing was published." in plain(refused)
    assert 'href="#several"' in refused  # the field that the refusal is about
    assert not (opened.folder / "out").exists()  # and no empty folder
    assert (
        opened.app_state.open_ledger.accounts() == {}
        or not opened.app_state.open_ledger.account("visits").spent_releases
    )
    more, words = SEVERAL[several]
    page = opened.released({**form, "several": several, **more})
    assert "Published: out" in plain(page)
    assert words in shlex.join(command(page))


PATIENTS = "id,town\n" + "".join(f"{i},{('Bath', 'York')[i % 3 == 0]}\n" for i in range(90))
VISITS = "id,ward\n" + "".join(f"{i % 90},{('North', 'South')[i % 2]}\n" for i in range(200))
JOINED = {
    **{"file": "patients.csv", "named": "1", "question": "how-many", "out": "out"},
    **{"join": "visits.csv", "on": "id", "join_named": "on"},
    **{"several": "rows", "rows_per_person": "3", "rows_called": "visits"},
}


def joined_tables(folder: Path) -> None:
    (folder / "patients.csv").write_text(PATIENTS, encoding="utf-8")
    (folder / "visits.csv").write_text(VISITS, encoding="utf-8")


def test_a_second_table_is_joined_in_the_form(opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns of both are offered, a person is whoever they are joined by, and command and lines do the same."""
    joined_tables(opened.folder)
    page = opened.get("/publish/table", params=JOINED)[1]
    names = re.findall(r'<span class="cname"><bdi>([^<]*)</bdi>', page)
    assert names == ["id", "ward", "town"]
    assert "Whoever the two tables are joined by" in page
    done = opened.released(
        {**JOINED, "by1-use": "on", "by1-values": "North,South", "by2-use": "on", "by2-values": "Bath,York"}
    )
    assert "Published: out" in plain(done)
    line = shlex.join(command(done))
    assert "hubbub describe patients.csv --join visits.csv --on id hubbub release histogram patients.csv" in line
    other = tmp_path / "other"
    other.mkdir()
    joined_tables(other)
    monkeypatch.chdir(other)
    for part in ("DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{part}_HOME", str(tmp_path / part))
    lines = html.unescape(re.findall(r"<pre[^>]*>(import hubbub[^<]*)</pre>", done)[0])
    exec(compile(lines, "page", "exec"), {})
    assert certificate(opened.folder / "out") == certificate(other / "out")


@pytest.mark.parametrize(
    ("wrong", "field", "told"),
    [
        ({"on": ""}, "o-on", "by which column people are found again"),
        ({"join_named": ""}, "o-join_named", "may be somebody's data"),
        ({"on": "town"}, "", "town"),
    ],
    ids=["no column", "first line", "not in both"],
)
def test_a_join_that_cannot_be_leads_back_to_its_fields(
    opened: Opened, wrong: dict[str, str], field: str, told: str
) -> None:
    joined_tables(opened.folder)
    status, page = opened.get("/publish/table", params={**JOINED, "who": "column:id", **wrong})
    assert status == 400
    assert told in html.unescape(plain(page))
    assert f'href="#{field}"' in page or not field
    assert re.findall(r'<span class="cname"><bdi>([^<]*)</bdi>', page) == ["id", "town"]  # nothing of the second table
    assert "ward" not in page


def test_a_workbook_and_another_language_are_asked_for_in_the_form(opened: Opened) -> None:
    page = opened.released({**FILLED, "form": "xlsx", "language": "de"})
    assert "Published: out" in plain(page)
    assert (opened.folder / "out" / "workbook.xlsx").is_file()
    assert '<html lang="de">' in (opened.folder / "out" / "report.html").read_text(encoding="utf-8")
    line = shlex.join(command(page))
    assert "--format xlsx --words words.toml" in line
    assert "heading=Heading(language='de')" in html.unescape(page)
    assert "report can be in en or de" in opened.send("/publish/release", {**FILLED, "out": "two", "language": "xx"})[1]


def test_a_refusal_leads_back_to_the_filled_form(opened: Opened) -> None:
    """Whatever was typed is there again, the sentence is in the form's words, and a link leads to the field."""
    status, page = opened.send("/publish/release", {**FILLED, "epsilon": "much", "size": "777"})
    assert status == 400
    assert "Nothing was published." in page
    assert "“Privacy loss, epsilon” must be a number" in plain(page)
    assert 'href="#f-epsilon"' in page
    for kept in ('value="much"', 'value="777"', 'value="Bath,York,Wells"', 'value="out"'):
        assert kept in page, kept
    assert sorted(path.name for path in opened.folder.iterdir()) == ["people.csv"]


def test_a_form_that_was_begun_is_found_again(opened: Opened) -> None:
    opened.get("/publish/table", params={**FILLED, "question": "how-many"})
    page = opened.get("/publish")[1]
    assert "Go on where you stopped" in page
    query = html.unescape(re.findall(r'href="/publish/table\?([^"]*question=how-many[^"]*)"', page)[0])
    assert 'value="Bath,York,Wells"' in opened.get(f"/publish/table?{query}")[1]
    opened.released({**FILLED, "question": "how-many"})
    assert "Go on where you stopped" not in opened.get("/publish")[1]


def test_of_two_columns_with_one_name_the_second_has_a_number(opened: Opened) -> None:
    lines = "".join(f"{i},{('Bath', 'York')[i % 2]},Wells\n" for i in range(60))
    (opened.folder / "twice.csv").write_text(f"id,town,town\n{lines}", encoding="utf-8")
    form = {"file": "twice.csv", "named": "1", "question": "how-many", "who": "column:id", "out": "out"}
    page = opened.get("/publish/table", params=form)[1]
    names = re.findall(r'<span class="cname"><bdi>([^<]*)</bdi>', page)
    assert names == ["id", "town", "town#2"]
    done = opened.released({**form, "by1-use": "on", "by1-values": "Bath,York", "by2-use": "on", "by2-values": "Wells"})
    assert "Published: out" in plain(done)


def test_a_table_is_added_once_and_nothing_is_written_over(opened: Opened) -> None:
    def add(name: str) -> tuple[int, str]:
        answer = opened.client.post("/publish/add", files={"table": (name, CSV.encode())}, headers=OWN)
        return answer.status_code, answer.text

    status, page = add("../more.csv")
    assert status == 200
    assert "What do you want to publish" in page
    assert (opened.folder / "more.csv").read_text(encoding="utf-8") == CSV
    assert not (opened.folder.parent / "more.csv").exists()
    assert "is not written over" in plain(add("more.csv")[1])
    assert add("more.exe")[0] == 400
    assert add(".csv")[0] == 400


def test_a_list_of_questions_is_written_in_the_form(opened: Opened) -> None:
    form = {"file": "people.csv", "named": "1", "question": "one-sample", "who": "column:id", "out": "out"}
    page = opened.get("/publish/table", params=form)[1]
    assert "The file of questions" in plain(page)
    example = html.unescape(re.findall(r'name="questions_text"[^>]*>([^<]*)</textarea>', page)[0])
    asked = example.replace("people = 10000", "people = 102")
    status, page = opened.send("/publish/questions", {**form, "questions_text": asked})
    assert status == 200
    assert (opened.folder / "people-questions.toml").read_text(encoding="utf-8") == asked
    assert "<option selected>people-questions.toml</option>" in page
    assert "Published: out" in plain(opened.released({**form, "spec": "people-questions.toml"}))


def test_bins_are_suggested_from_names_and_types_and_never_from_cells(opened: Opened) -> None:
    """Two tables with the same columns and other cells have the same page."""
    pages = []
    for cells in ("1,York,90,2024-01-01", "2,Bath,7,1999-12-31"):
        (opened.folder / "one.csv").write_text(f"id,town,age,date\n{cells}\n", encoding="utf-8")
        ticked = {f"by{i}-use": "on" for i in range(4)}
        form = {"file": "one.csv", "named": "1", "question": "how-many", **ticked}
        pages.append(opened.get("/publish/table", params=form)[1].partition("<aside")[0])
    assert pages[0] == pages[1]
    assert 'name="by2-high" value="100"' in pages[0]


def test_a_kind_is_published_from_its_form(opened: Opened) -> None:
    form = {
        "file": "people.csv",
        "kind": "histogram",
        "person": "id",
        "by": "town=Bath,York,other\nage:20..70:50,other",
        "epsilon": "1",
        "out": "whole",
    }
    assert "1-DP" in plain(opened.get("/publish/answer", params=form)[1])
    assert "Published: whole" in plain(opened.released(form))
    assert certificate(opened.folder / "whole")


def test_a_network_is_published_from_its_form(opened: Opened) -> None:
    links = "one,other\n" + "".join(f"{i},{i + 1}\n" for i in range(40))
    (opened.folder / "links.csv").write_text(links, encoding="utf-8")
    form = {"file": "links.csv", "kind": "graph", "vertices": "50", "max_degree": "4", "epsilon": "1", "out": "net"}
    form["of"] = "degree-histogram"
    assert "1-DP" in plain(opened.get("/publish/answer", params=form)[1])
    assert "Published: net" in plain(opened.released(form))
    assert certificate(opened.folder / "net")


def test_a_weak_promise_has_a_box_to_tick_before_the_button_works(opened: Opened) -> None:
    weak = {**FILLED, "epsilon": "50"}
    button = r'<button class="go" id="release"[^>]*>'
    _, page = opened.get("/publish/answer", params=weak)
    assert "This promises little." in page
    assert "Epsilon = 50 is above 5" in page
    assert "disabled" in re.search(button, page)[0]  # type: ignore[index]
    assert "--yes" not in page
    ticked = html.unescape(re.search(r'name="accept_weak" value="([^"]*)"', page)[1])  # type: ignore[index]
    _, page = opened.get("/publish/answer", params={**weak, "accept_weak": ticked})
    assert "disabled" not in re.search(button, page)[0]  # type: ignore[index]
    assert "--yes" in page
    assert "accept_weak=True" in html.unescape(page)
    _, page = opened.get("/publish/answer", params={**weak, "epsilon": "40", "accept_weak": ticked})
    assert "disabled" in re.search(button, page)[0], "the tick was for another promise"  # type: ignore[index]
    _, page = opened.get("/publish/answer", params=FILLED)
    assert "accept_weak" not in page
    assert "disabled" not in re.search(button, page)[0]  # type: ignore[index]


def test_rows_of_a_table_with_a_column_of_people_have_a_box_to_tick(opened: Opened) -> None:
    rows = "".join(f"{n // 2},{'Bath' if n % 3 else 'York'}\n" for n in range(60))
    (opened.folder / "visits.csv").write_text(f"patient_id,town\n{rows}", encoding="utf-8")
    form = {"file": "visits.csv", "kind": "histogram", "rows_are_people": "on", "by": "town=Bath,York", "epsilon": "1"}
    _, page = opened.get("/publish/answer", params={**form, "out": "rows"})
    assert "Each row counts as another person" in page
    assert "patient_id" in page
    status, _ = opened.send("/publish/release", {**form, "out": "rows"})
    assert (status, opened.app_state.open_ledger.accounts()) == (400, {})
    ticked = html.unescape(re.search(r'name="accept_weak" value="([^"]*)"', page)[1])  # type: ignore[index]
    opened.released({**form, "out": "rows", "accept_weak": ticked})
    assert "patient_id" in (opened.folder / "rows" / "certificate.json").read_text(encoding="utf-8")


def test_the_button_refuses_a_weak_promise_without_the_tick_and_spends_nothing(opened: Opened) -> None:
    weak = {**FILLED, "epsilon": "50"}
    status, page = opened.send("/publish/release", weak)
    assert status == 400
    assert "This promises little" in page
    assert opened.app_state.work.job is None
    assert opened.app_state.open_ledger.accounts() == {}
    _, page = opened.get("/publish/answer", params=weak)
    ticked = html.unescape(re.search(r'name="accept_weak" value="([^"]*)"', page)[1])  # type: ignore[index]
    opened.released({**weak, "accept_weak": ticked})
    assert (opened.folder / "out" / "certificate.json").is_file()


def test_a_cube_with_noise_at_every_level_is_weighed(opened: Opened) -> None:
    form = {"file": "people.csv", "asked": "1", "kind": "cube", "person": "id", "by": "town=Bath,York\nage:0..100:50"}
    _, page = opened.get("/publish/answer", params={**form, "margins": "1", "epsilon": "1"})
    assert "1-DP" in page


def test_a_data_dictionary_beside_the_file_is_read(opened: Opened) -> None:
    from hubbub.studio.forms.request import kind_of, request_of

    town = {"name": "town", "type": "string", "constraints": {"enum": ["Bath", "York"], "required": True}}
    schema = {"fields": [{"name": "id"}, town, {"name": "age"}], "missingValues": ["NA"]}
    package = {"resources": [{"name": "people", "path": "people.csv", "schema": schema}]}
    (opened.folder / "datapackage.json").write_text(json.dumps(package))
    form = {"file": "people.csv", "named": "1", "kind": "histogram", "by": "town", "epsilon": "1", "person": "id"}
    given = request_of(opened.app_state, kind_of("histogram"), form)
    assert list(given["words"]["by"]) == ["town=Bath,York"]
    assert (list(given["opening"]["missing"]), given["opening"]["dictionary"]) == (["NA"], "none")
