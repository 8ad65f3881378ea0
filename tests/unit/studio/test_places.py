"""Check, Plan, Vote and Ledger: what the commands do, on pages."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl
from xml.etree import ElementTree

import pytest

from hubbub.cli.vote.command import PAIRS, RATED, STV, TRANSFERS
from hubbub.cli.vote.command import RULES as CLI_RULES
from hubbub.ledger import trust
from hubbub.ledger.ledger import Ledger
from hubbub.studio.answers import Answer, Answers
from hubbub.voting.rules.jurisdictions import RULE_SETS
from tests.unit.studio.opened import FILLED, OWN, Opened, plain

pytestmark = pytest.mark.usefixtures("in_place")


def dropped(opened: Opened, *paths: Path, **form: str) -> str:
    files = [("files", (path.name, path.read_bytes())) for path in paths]
    answer = opened.client.post("/check/files", files=files, data=form, headers=OWN)
    return answer.text


def verdict(text: str) -> str:
    found = re.search(r'id="verdict">([^<]*)<', text)
    assert found is not None, plain(text)
    return found[1]


@pytest.fixture
def released(opened: Opened) -> Path:
    opened.released(FILLED | {"promise": "crowd", "crowd": "10"})
    return opened.folder / "out"


# --- check ------------------------------------------------------------------------------------------------------


def test_a_certificate_and_its_files_are_checked(opened: Opened, released: Path) -> None:
    text = dropped(opened, released / "certificate.json", released / "release.csv", released / "report.html")
    assert verdict(text).startswith("The certificate holds, signed by you")
    words = plain(text)
    assert "What is promised, in plain words" in words
    assert "at least 10 people" in words
    assert text.count("<details") >= 3  # the derivation opens step by step
    assert "Nothing, in a bin of up to 9 people" in words  # which needs no picture
    assert dropped(opened, released / "certificate.json").count("half") == 1  # without its files, it is not whole
    assert verdict(opened.get("/check/folder", params={"folder": "out"})[1]).startswith("The certificate holds")


def test_what_one_person_shows_is_drawn(opened: Opened) -> None:
    opened.released(FILLED | {"out": "noisy"})
    assert '<svg class="chart wide"' in opened.get("/check/folder", params={"folder": "noisy"})[1]


def test_a_file_that_was_changed_is_found_out(opened: Opened, released: Path, tmp_path: Path) -> None:
    other = tmp_path / "release.csv"
    other.write_bytes((released / "release.csv").read_bytes().replace(b"60", b"61"))
    text = dropped(opened, released / "certificate.json", other)
    assert verdict(text).startswith("The certificate does not hold")
    assert "✗" in text
    forged = tmp_path / "certificate.json"
    forged.write_bytes((released / "certificate.json").read_bytes().replace(b'"10"', b'"11"', 1))
    assert "does not hold" in verdict(dropped(opened, forged, released / "release.csv"))


def test_who_must_have_signed_is_a_name_or_a_key_and_no_file(opened: Opened, released: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("ab" * 32)
    both = (released / "certificate.json", released / "release.csv", released / "report.html")
    assert "another than the one that was given" in dropped(opened, *both, key="ab" * 32)
    assert "64 signs" in plain(dropped(opened, *both, key=str(tmp_path / "key")))
    trust.add("office", Ledger().public_key())
    assert "The certificate holds" in verdict(dropped(opened, *both, key="office"))


def test_what_is_no_certificate_is_a_sentence(opened: Opened, tmp_path: Path) -> None:
    for name, content in (("x.json", b"{}"), ("x.json", b"\xff" * 100), ("x.json", b"[" * 100_000), ("x.csv", b"a\n")):
        (tmp_path / name).write_bytes(content)
        text = dropped(opened, tmp_path / name)
        assert "does not hold" in text or "give one certificate" in plain(text).lower()
    (tmp_path / ".hidden.json").write_bytes(b"{}")
    assert "plain one" in plain(dropped(opened, tmp_path / ".hidden.json"))


# --- plan -------------------------------------------------------------------------------------------------------

WANTED = {
    "differential": {"epsilon": "1"},
    "crowd-blending": {"k": "20", "epsilon": "1"},
    "outlier": {"curve": "1:0.5,21:1"},
}


def planned(opened: Opened, **form: str) -> str:
    for _ in range(400):
        text = opened.get("/plan/answer", params=form)[1]
        if "data-again" not in text:
            return text
        opened.client.portal.call(_moment)  # type: ignore[union-attr]
    raise AssertionError("the plan did not end")


async def _moment() -> None:
    import asyncio

    await asyncio.sleep(0.05)


def test_a_plan_says_that_it_is_being_proved_and_then_what_the_command_says(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hubbub import plan

    with monkeypatch.context() as patch:
        patch.setattr(Answers, "answer", lambda *given, **more: Answer())
        assert "still being proved" in plain(opened.get("/plan/answer")[1])
    for want, words in WANTED.items():
        told = planned(opened, want=want, people="1000", bins="10", **words)
        found = plan.release(want, people="1000", bins="10", **words)
        assert f"{found.best.expected.error:.3g} people off" in plain(told)
        assert '<svg class="chart' in told
        heads, *rows = re.findall(r"<tr>(.*?)</tr>", told)
        assert {row.count("<td") + 1 for row in rows} == {heads.count("<th")}, "every column has its heading"
    none = planned(opened, want="differential", people="1000", bins="10", epsilon="much")
    assert "must be a number" in plain(none)
    page = opened.get("/plan", params={"want": "differential", "people": "1000", "bins": "10", "epsilon": "1"})[1]
    assert "The best design" in page  # and it is read without a script
    query = re.search(r'href="/publish\?([^"]+)"', page)
    assert query is not None
    assert dict(parse_qsl(unescape(query[1]))) == {
        "promise": "noise", "epsilon": "1", "size": "1000", "shape": "zipf",
    }  # fmt: skip


# --- vote -------------------------------------------------------------------------------------------------------

BALLOTS = b"count,ranking\n50,Ann>Bob\n30,Bob>Ann\n30,Cid>Ann\n"


def test_an_election_is_counted_signed_and_counted_again(opened: Opened) -> None:
    (opened.folder / "club.csv").write_bytes(BALLOTS)
    form = {"file": "club.csv", "rule": "instant-runoff", "dice": "three swans"}
    status, text = opened.send("/vote/count", form)
    assert status == 200
    assert "Ann wins" in plain(text)
    folder = opened.folder / "club-count"
    assert json.loads((folder / "result.json").read_bytes())["count"]["winners"] == ["Ann"]
    assert "<script" not in (folder / "results.html").read_text(encoding="utf-8")
    again = opened.get("/check/folder", params={"folder": "club-count", "count": "1", "ballots": "club.csv"})[1]
    assert "counted again from the ballots" in verdict(again)
    status, text = opened.send("/vote/count", form | {"out": "club-count"})
    assert status == 400
    assert "what was drawn stays" in plain(text)


def test_ballots_that_are_dropped_are_counted_and_not_kept(opened: Opened) -> None:
    answer = opened.client.post(
        "/vote/understood", data={"rule": "plurality"}, files={"upload": ("club.csv", BALLOTS)}, headers=OWN
    )
    fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', answer.text))
    assert "Ann wins" in plain(opened.send("/vote/count", fields)[1])
    status, text = opened.send("/vote/count", fields)
    assert status == 400
    assert "no longer held; drop it again" in plain(text)
    assert not (opened.folder / "club.csv").exists()
    assert sorted(path.name for path in (opened.folder / "club-count").iterdir()) == ["result.json", "results.html"]


def test_what_was_understood_is_shown_before_anything_is_counted(opened: Opened) -> None:
    ranks = b"rank1,rank2,rank3\n" + b"Ann,Bob,skipped\n" * 20 + b"Bob,overvote,Ann\n" * 11
    (opened.folder / "ward 7.csv").write_bytes(ranks)
    status, page = opened.send("/vote/understood", {"file": "ward 7.csv", "rule": "instant-runoff"})
    text = plain(page)
    assert status == 200
    assert "Nothing is counted yet" in text
    assert "31, with ranks" in text
    assert "2 candidates Ann Bob" in text
    assert "Instant runoff (ranked choice)" in text
    assert "11 ballots were changed by the rule for overvotes" in text
    assert "wins" not in text
    assert not (opened.folder / "ward-7-count").exists()
    assert opened.send("/vote/understood", {"file": "nothing.csv"})[0] == 400
    assert opened.send("/vote/understood", {"file": "dropped:hubbub-ballots-x/../../people.csv"})[0] == 400


def test_several_files_are_dropped_and_counted_together(opened: Opened) -> None:
    parts = [("north.csv", b"rank1,rank2\nAnn,Bob\nAnn,\n"), ("south.csv", b"rank1,rank2\nBob,Ann\nAnn,Bob\n")]
    answer = opened.client.post(
        "/vote/understood",
        data={"rule": "plurality"},
        files=[("upload", part) for part in parts],
        headers=OWN,
    )
    assert "4, with ranks" in plain(answer.text)
    fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', answer.text))
    assert "Ann wins" in plain(opened.send("/vote/count", fields)[1])
    again = opened.client.post(
        "/vote/understood", data={}, files=[("upload", parts[0]), ("upload", ("copy.csv", parts[0][1]))], headers=OWN
    )
    assert "holds the same as" in plain(again.text)


CONFIGURATION: dict[str, Any] = {
    "outputSettings": {"contestName": "Mayor of Oz", "contestDate": "2026-01-01"},
    "cvrFileSources": [
        {
            "filePath": "records/cvr.csv",
            "provider": "genericCsv",
            "firstVoteColumnIndex": "2",
            "firstVoteRowIndex": "2",
            "precinctColumnIndex": "1",
        }
    ],
    "candidates": [{"name": name, "excluded": False, "aliases": []} for name in ("Ann", "Bob", "Cid")],
    "rules": {
        "tiebreakMode": "useCandidateOrder",
        "overvoteRule": "exhaustImmediately",
        "winnerElectionMode": "singleWinnerMajority",
        "numberOfWinners": "1",
        "decimalPlacesForVoteArithmetic": "4",
        "maxRankingsAllowed": "max",
        "maxSkippedRanksAllowed": "1",
    },
}
RECORDS = "precinct,Ann,Bob,Cid\n" + "north,1,2,\n" * 4 + "south,2,1,3\n" * 3 + "south,,2,1\n" * 2


def test_a_configuration_is_understood_counted_and_counted_again(opened: Opened) -> None:
    (opened.folder / "records").mkdir()
    (opened.folder / "records" / "cvr.csv").write_text(RECORDS, encoding="utf-8")
    (opened.folder / "config.json").write_text(json.dumps(CONFIGURATION), encoding="utf-8")
    assert "config.json" in opened.get("/vote")[1]
    text = plain(opened.send("/vote/understood", {"file": "config.json"})[1])
    assert all(words in text for words in ("Mayor of Oz", "9, with ranks", "As the configuration says"))
    assert "Bob wins" in plain(opened.send("/vote/count", {"file": "config.json", "out": "oz"})[1])
    assert {path.name for path in (opened.folder / "oz").iterdir()} == {
        "result.json", "results.html", "rounds.csv", "rounds.json", "by-precinct.csv", "results-cdf.json",
    }  # fmt: skip
    again = opened.get("/check/folder", params={"folder": "oz", "count": "1", "ballots": "config.json"})[1]
    assert "counted again from the ballots" in verdict(again)
    files = {
        "result.json": (opened.folder / "oz" / "result.json").read_bytes(),
        "config.json": json.dumps(CONFIGURATION).encode(),
        "cvr.csv": RECORDS.encode(),
    }
    dropped = opened.client.post("/check/files", files=[("files", each) for each in files.items()], headers=OWN)
    assert "counted again from the ballots" in verdict(dropped.text)


def test_a_configuration_reads_nothing_outside_of_the_folder(opened: Opened) -> None:
    outside = {**CONFIGURATION["cvrFileSources"][0], "filePath": "../outside.csv"}
    (opened.folder.parent / "outside.csv").write_text(RECORDS, encoding="utf-8")
    (opened.folder / "config.json").write_text(json.dumps(CONFIGURATION | {"cvrFileSources": [outside]}))
    for page in ("/vote/understood", "/vote/count"):
        status, text = opened.send(page, {"file": "config.json"})
        assert (status, "outside of this folder" in plain(text)) == (400, True)


def test_a_result_is_read_without_a_frame(opened: Opened) -> None:
    (opened.folder / "club.csv").write_bytes(BALLOTS)
    page = opened.send("/vote/count", {"file": "club.csv", "rule": "instant-runoff", "dice": "three swans"})[1]
    assert "<iframe" not in page
    text = plain(page)
    assert "The last round" in text
    assert "How it came to that Round 1" in text
    assert "80" in text
    assert 'width="100"' in page  # the longest bar is the largest number


def test_the_ballots_of_millbrook_are_published_beside_its_record(opened: Opened) -> None:
    assert opened.send("/vote/count", {"file": "millbrook", "rule": "instant-runoff"})[0] == 200
    form = opened.get("/vote/ballots", params={"file": "millbrook", "official": "millbrook-count/result.json"})[1]
    assert 'value="millbrook-count/result.json"' in form
    asked = {"file": "millbrook", "official": "millbrook-count/result.json", "out": "ballots"}
    page = plain(opened.released(asked, "/vote/release"))
    assert "Published: ballots" in page
    assert "hubbub vote publish millbrook --official millbrook-count/result.json" in page
    assert "The certificate holds" in verdict(opened.get("/check/folder", params={"folder": "ballots"})[1])


def test_several_seats_are_filled(opened: Opened) -> None:
    status, text = opened.send("/vote/count", {"file": "millbrook", "rule": "stv", "seats": "2"})
    assert status == 200
    assert "Ben Cole and Ada Bell are elected" in plain(text)
    last = text[text.index('id="last"') : text.index('id="before"')]
    assert dict(re.findall(r"<bdi>([^<]*)</bdi>.*?<td>([^<]*)</td></tr>", last))["Ben Cole"] == "elected before"


def test_a_rule_that_is_not_listed_is_refused(opened: Opened) -> None:
    assert opened.send("/vote/count", {"file": "millbrook", "rule": "dictator"})[0] == 400
    assert opened.send("/vote/count", {"file": "../x.csv", "rule": "plurality"})[0] == 400


def test_a_rule_is_recommended_for_a_club(opened: Opened) -> None:
    for _ in range(400):
        text = opened.get("/vote/choose", params={"voters": "12", "candidates": "3"})[1]
        if "data-again" not in text:
            break
        opened.client.portal.call(_moment)  # type: ignore[union-attr]
    assert "Choose " in plain(text)
    assert "With 12 voters the theorems promise nothing" in plain(text)
    assert text.count("<tr>") == 10
    refused = opened.get("/vote/choose", params={"voters": "12", "candidates": "2"})[1]
    assert "data-again" in refused or "majority" in refused


def test_the_honesty_map_is_drawn(opened: Opened) -> None:
    for _ in range(400):
        text = opened.get("/vote/map", params={"voters": "11"})[1]
        if "data-again" not in text:
            break
        opened.client.portal.call(_moment)  # type: ignore[union-attr]
    assert text.count('<svg class="chart triangle"') == 4
    assert "instant runoff" in plain(text)
    assert 'data-label="gain at most"' in text
    assert "scroll" not in text, "a telephone shows a row as a card, not a box to push"


# --- ledger -----------------------------------------------------------------------------------------------------


def test_the_ledger_draws_what_is_spent_release_by_release_and_its_cap(opened: Opened) -> None:
    opened.send("/ledger/policy", {"dataset": "people", "differential_epsilon": "3"})
    for i in range(2):
        opened.released(FILLED | {"epsilon": "0.75", "out": f"out{i}"})
    page = opened.get("/ledger", params={"dataset": "people"})[1]
    assert "after release 1: epsilon 0.75" in page
    assert "after release 2: epsilon 1.5" in page
    assert "the cap, 3" in page
    svg = ElementTree.fromstring(re.search(r'<svg class="chart wide".*?</svg>', page, re.S)[0])  # type: ignore[index]
    marks = [float(each.get("cy", "")) for each in svg.iter("circle") if "mark" in each.get("class", "")]
    (cap,) = (float(each.get("y1", "")) for each in svg.iter("line") if each.get("class") == "rule")
    bottom = next(float(each.get("y1", "")) for each in svg.iter("line") if each.get("class") == "axis")
    heights = [(bottom - y) / (bottom - cap) for y in marks]
    assert heights == pytest.approx([0, 0.75 / 3, 1.5 / 3], abs=0.01)


def test_a_failed_check_says_what_it_means_and_what_to_do(opened: Opened, tmp_path: Path) -> None:
    opened.released(FILLED)
    folder = opened.folder / "out"
    changed = tmp_path / "release.csv"
    changed.write_text((folder / "release.csv").read_text(encoding="utf-8").replace("Bath", "Bth", 1), encoding="utf-8")
    text = plain(dropped(opened, folder / "certificate.json", changed))
    assert "What that means This file is not the one that was signed" in text
    assert "What to do: Get the file again" in text
    assert "What that means" not in plain(opened.get("/check/folder", params={"folder": "out"})[1])


def test_the_ledger_tells_what_was_spent_and_what_is_left(opened: Opened) -> None:
    assert "Nothing has been released yet" in plain(opened.get("/ledger")[1])
    opened.send("/ledger/policy", {"dataset": "people", "differential_epsilon": "3"})
    opened.released(FILLED)
    text = opened.get("/ledger", params={"dataset": "people"})[1]
    words = plain(text)
    assert "1 release counts as spent" in words
    assert "1-DP" in words
    assert "2 left of 3" in words
    assert 'value="33"' in text  # the meter
    assert Ledger().account("people").policy.differential_epsilon == 3


def test_a_policy_that_cannot_be_is_a_sentence(opened: Opened) -> None:
    for wrong in ({"delta": "2"}, {"crowd": "1"}, {"differential_epsilon": "-1"}, {"delta": "x"}):
        assert opened.send("/ledger/policy", {"dataset": "people", **wrong})[0] == 400
    assert opened.send("/ledger/policy", {"dataset": "../x", "delta": "0.1"})[0] == 400
    assert Ledger().accounts() == {}


def test_keys_are_remembered_and_forgotten(opened: Opened) -> None:
    key = "cd" * 32
    assert opened.send("/ledger/trust", {"name": "the office", "key": key})[0] == 200
    assert trust.names() == {"the office": key}
    assert opened.send("/ledger/trust", {"name": "the office", "key": "ef" * 32})[0] == 409
    assert opened.send("/ledger/trust", {"name": "x", "key": "/etc/hostname"})[0] == 400
    opened.send("/ledger/trust", {"name": "the office", "forget": "1"})
    assert trust.names() == {}


# --- every rule -------------------------------------------------------------------------------------------------

SCORES = b"voter,Ann,Bob,Cid\n" + b"".join(b"%d,%d,%d,%d\n" % (i, 5 - i % 2, i % 6, i % 3) for i in range(60))
APPROVALS = b"voter,Ann,Bob,Cid\n" + b"".join(b"%d,%d,%d,%d\n" % (i, 1, i % 2, int(i % 3 == 0)) for i in range(60))


def test_every_rule_of_the_command_can_be_chosen_by_a_plain_name(opened: Opened) -> None:
    page = opened.get("/vote")[1]
    for name in (*CLI_RULES, *PAIRS, *RATED, STV, *(f"as:{place}" for place in RULE_SETS)):
        words = re.search(rf'<option value="{name}"(?: selected)?>([^<]+)</option>', page)
        assert words is not None, name
        assert words[1] != name
    for name in TRANSFERS:
        words = re.search(rf'<option value="{name}">([^<]+)</option>', page.partition('id="transfers"')[2])
        assert words is not None, name
        assert words[1] != name


@pytest.mark.parametrize("rule", [*CLI_RULES, *PAIRS, *RATED, STV, "as:minneapolis", "as:scotland"])
def test_every_rule_counts_from_the_form_and_is_counted_again(opened: Opened, rule: str) -> None:
    files = {"score": SCORES, "star": SCORES, "approval": APPROVALS}
    (opened.folder / "club.csv").write_bytes(files.get(rule, BALLOTS))
    form = {
        "file": "club.csv",
        "rule": rule,
        "points": "2,1,0",
        "seats": "1",
        "dice": "three swans",
        "out": "club-count",
    }
    form["columns"] = {"approval": "approvals=Ann/Bob/Cid"}.get(rule, "scores=Ann/Bob/Cid" if rule in files else "")
    status, understood = opened.send("/vote/understood", form)
    assert status == 200, plain(understood)
    status, page = opened.send("/vote/count", form)
    assert status == 200, plain(page)
    assert re.search(r"<h1>.*(wins|are elected).*</h1>", page)
    assert "<iframe" not in page
    assert "Counted by" in plain(page)
    again = opened.get("/check/folder", params={"folder": "club-count", "count": "1", "ballots": "club.csv"})[1]
    assert "counted again from the ballots" in verdict(again)


def test_what_a_count_lacks_is_said_beside_the_filled_form(opened: Opened) -> None:
    (opened.folder / "club.csv").write_bytes(BALLOTS)
    for lacking, words in (
        ({"rule": "positional"}, "needs points"),
        ({"rule": "positional", "points": "a,b"}, "points are whole numbers"),
        ({"rule": "stv"}, "how many seats"),
        ({"rule": "star"}, "needs scores"),
    ):
        status, page = opened.send("/vote/understood", {"file": "club.csv", "dice": "three swans", **lacking})
        assert status == 400
        assert words.lower() in plain(page).lower()
        assert 'value="three swans"' in page
        assert '<option value="club.csv" selected>' in page
        assert f'<option value="{lacking["rule"]}" selected>' in page
