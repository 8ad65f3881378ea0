"""Publishing from the page gives what the command gives, shows its price before, and stops at the ledger's word."""

from __future__ import annotations

import html
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub import registry
from hubbub.cli.main import commands
from hubbub.ledger.ledger import Ledger
from tests.conformance import toy
from tests.unit.studio.opened import CSV, FILLED, Opened, plain

pytestmark = pytest.mark.usefixtures("in_place")

FRESH = ("signature", "ledger", "files")  # digests, nonces and what they go into


def certificate(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "certificate.json").read_bytes())
    return {name: value for name, value in found.items() if name not in FRESH}


def command(text: str) -> list[str]:
    found = re.search(r"<pre[^>]*>(hubbub [^<]*)</pre>", text)
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
    assert len(Ledger().account("people").spent) == 1


def test_a_tab_that_was_weighed_before_the_last_release_is_stopped(opened: Opened) -> None:
    seen = re.findall(r'name="seen" value="(\d+)"', opened.get("/publish/answer", params=FILLED)[1])
    opened.released(FILLED | {"seen": seen[0]})
    status, text = opened.send("/publish/release", FILLED | {"seen": seen[0], "out": "more"})
    assert status == 409
    assert "moved on since this page was shown" in plain(text)
    assert len(Ledger().account("people").spent) == 1


def test_what_is_wrong_is_one_sentence_beside_the_form(opened: Opened) -> None:
    for more, words in (
        ({"by1-use": ""}, "Choose at least one column"),
        ({"who": ""}, "Say who a person is"),
        ({"epsilon": "much"}, "“epsilon” must be a number"),
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
    """Also one that nobody thought of: a kind is a line in the registry, and the page makes its form."""
    monkeypatch.setitem(registry._WHERE, "toy", toy.__name__)
    listed = opened.get("/publish/table", params={"file": "people.csv", "named": "1"})[1]
    for name in registry.names():
        kind = registry.kind(name)
        if kind.data == "ballots":
            continue
        assert f"/publish/kind/{name}?" in listed
        status, text = opened.get(f"/publish/kind/{name}", params={"file": "people.csv"})
        assert status == 200
        for option in kind.options:
            assert (f'name="{option.name}"' in text) != option.for_cluster, option.name
    assert opened.get("/publish/kind/nothing", params={"file": "people.csv"})[0] == 400


def test_a_kind_is_published_from_its_form(opened: Opened) -> None:
    form = {
        "file": "people.csv",
        "kind": "histogram",
        "rows_are_people": "on",
        "by": "town=Bath,York\nage:20..70:50",
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


def test_the_button_refuses_a_weak_promise_without_the_tick_and_spends_nothing(opened: Opened) -> None:
    weak = {**FILLED, "epsilon": "50"}
    status, page = opened.send("/publish/release", weak)
    assert status == 400
    assert "This promises little" in page
    assert opened.desk.work.job is None
    assert opened.desk.book.accounts() == {}
    _, page = opened.get("/publish/answer", params=weak)
    ticked = html.unescape(re.search(r'name="accept_weak" value="([^"]*)"', page)[1])  # type: ignore[index]
    opened.released({**weak, "accept_weak": ticked})
    assert (opened.folder / "out" / "certificate.json").is_file()


def test_a_cube_with_noise_at_every_level_is_weighed(opened: Opened) -> None:
    form = {"file": "people.csv", "asked": "1", "kind": "cube", "person": "id", "by": "town=Bath,York\nage:0..100:50"}
    _, page = opened.get("/publish/answer", params={**form, "margins": "1", "epsilon": "1"})
    assert "1-DP" in page
