"""One release at a time, in a process that can be stopped: what was not drawn is not spent."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hubbub.engines.duckdb.duckdb_engine import DuckDB
from hubbub.errors import Refused
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import SystemSource
from hubbub.studio.work import worker
from tests.unit.studio.opened import CSV, FILLED, Here, Opened, plain

STAGES = ["opening", "preparing", "counting", "writing"]


def asked(folder: Path, **words: Any) -> dict[str, Any]:
    return {
        "kind": "histogram",
        "file": "people.csv",
        "path": str(folder / "people.csv"),
        "opening": {"person": "id"},
        "words": {"by": ["town=Bath,York,other"], "epsilon": "1"} | words,
        "out": "out",
        "place": str(folder / "out"),
        "dataset": None,
        "ledger": None,
        "form": "csv",
        "accept_weak": False,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(CSV, encoding="utf-8")
    return tmp_path


def test_it_tells_its_stages_and_what_it_wrote(folder: Path) -> None:
    told: list[dict[str, Any]] = []
    worker.work(asked(folder), told.append, Here())  # type: ignore[arg-type]
    assert [each["stage"] for each in told if "stage" in each] == STAGES
    assert Path(told[-1]["written"]["certificate"]).is_file()


def test_stopped_before_noise_is_drawn_it_costs_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(DuckDB, "observing_ids", stop)
    told: list[dict[str, Any]] = []
    worker.work(asked(folder), told.append, Here())  # type: ignore[arg-type]
    assert told[-1] == {"stopped": True, "spent": False}
    account = Ledger().account("people")
    assert [record.state for record in account.records] == ["abandoned"]
    assert account.spent_releases == []
    assert not (folder / "out" / "release.csv").exists()


def test_a_release_that_is_refused_or_stopped_leaves_no_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refused):
        worker.work(asked(folder, by=["town"]), lambda told: None, Here())  # found bins need a delta
    assert not (folder / "out").exists()
    monkeypatch.setattr("hubbub.kinds.histogram.spec.Histogram.measure", lambda self, data, source: _drawn(source))
    worker.work(asked(folder), lambda told: None, Here())
    assert not (folder / "out").exists()


def test_stopped_after_that_it_says_that_it_is_spent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict[str, Any]] = []
    monkeypatch.setattr("hubbub.kinds.histogram.spec.Histogram.measure", lambda self, data, source: _drawn(source))
    worker.work(asked(folder), told.append, Here())  # type: ignore[arg-type]
    assert told[-1] == {"stopped": True, "spent": True}
    assert len(Ledger().account("people").spent_releases) == 1


def _drawn(source: SystemSource) -> Any:
    source.words(3)
    raise KeyboardInterrupt


def test_once_drawn_nothing_stops_it(folder: Path) -> None:
    called: list[str] = []

    class Noted(Here):
        def shield(self) -> None:
            called.append("shield")

    worker.work(asked(folder), lambda told: called.append(told.get("stage", "done")), Noted())
    assert called == ["opening", "preparing", "counting", "shield", "writing", "done"]


@pytest.mark.parametrize("wait", [0.0, 0.7])
def test_an_interrupt_at_any_moment_leaves_files_or_nothing_spent(folder: Path, wait: float) -> None:
    """In the process itself, as the page stops it."""
    (folder / "people.csv").write_text(CSV + "".join(f"{i},Bath,30\n" for i in range(1000, 120_000)), encoding="utf-8")
    command = [sys.executable, "-m", "hubbub.studio.work.worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(json.dumps(asked(folder)))
        running.stdin.close()
        running.stdout.readline()
        time.sleep(wait)
        running.send_signal(signal.SIGINT)
        said = [json.loads(line) for line in running.stdout]
        ended = running.wait(60)
    account = Ledger().accounts().get("people")
    spent = 0 if account is None else len(account.spent_releases)
    published = (folder / "out" / "certificate.json").exists()
    assert spent == published or said[-1] == {"stopped": True, "spent": True}
    assert said[-1].get("done", False) == published
    # Python ends as interrupted, although it was caught, if it came while a library ran code from text (as dataclasses).
    assert ended == 0 or (ended == -signal.SIGINT and said[-1] == {"stopped": True, "spent": False})


def test_a_mistake_of_ours_tells_its_name_and_no_word_of_the_data(folder: Path) -> None:
    wrong = asked(folder) | {"words": 4711}
    done = subprocess.run(
        [sys.executable, "-m", "hubbub.studio.work.worker"],
        input=json.dumps(wrong),
        capture_output=True,
        text=True,
        check=True,
    )
    said = json.loads(done.stdout.splitlines()[-1])
    assert "TypeError" in said["error"]
    assert "4711" not in done.stdout + done.stderr


def test_one_release_at_a_time(opened: Opened) -> None:
    many = CSV + "".join(f"{i},Bath,30\n" for i in range(1000, 60_000))
    (opened.folder / "people.csv").write_text(many, encoding="utf-8")
    assert opened.send("/publish/release", FILLED)[0] == 200
    status, text = opened.send("/publish/release", FILLED | {"out": "second"})
    assert status == 409
    assert "one is made at a time" in plain(text)
    page = opened.get("/progress")[1]
    assert "Stop it" in page
    assert 'http-equiv="refresh"' in page  # it is read without a script too
    assert opened.send("/progress/stop", {})[0] == 200
    for _ in range(3000):
        assert opened.app_state.work.job is not None
        if not opened.app_state.work.job.running:
            break
        time.sleep(0.02)
    account = Ledger().accounts().get("people")
    spent = account is not None and bool(account.spent_releases)
    published = (opened.folder / "out" / "certificate.json").exists()
    assert spent == (published or opened.app_state.work.job.spent)  # type: ignore[union-attr]
    assert "Stopped" in plain(opened.get("/progress")[1]) or published


def test_progress_is_told_as_it_happens(opened: Opened) -> None:
    assert opened.send("/publish/release", FILLED, follow_redirects=False)[0] == 303
    with opened.client.stream("GET", "/progress/events") as events:
        assert events.headers["content-type"].startswith("text/event-stream")
        states = [json.loads(line.removeprefix("data: ")) for line in events.iter_lines() if line.startswith("data: ")]
    assert states[-1]["running"] is False
    assert states[-1]["words"] == "Published"
    parts = [state["part"] for state in states]
    assert parts == sorted(parts)


@pytest.mark.usefixtures("in_place")
def test_results_stand_on_the_page_and_the_report_in_a_tab_that_lets_nothing_out(opened: Opened) -> None:
    page = opened.released(FILLED)
    assert "<iframe" not in page
    assert "What this shows" in page
    report = (opened.folder / "out" / "report.html").read_text(encoding="utf-8")
    for part in ("table", "figure", "dl class=.top."):
        first = re.search(f"<{part}.*?</{part[:2]}", report, re.DOTALL)
        assert first is not None
        assert first[0] in page, "as the report has it"
    answer = opened.client.get("/document", params={"folder": "out", "name": "report.html"})
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox;")
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    saved = opened.client.get("/file", params={"folder": "out", "name": "release.csv"})
    assert saved.headers["content-disposition"].startswith("attachment")
    assert saved.content == (opened.folder / "out" / "release.csv").read_bytes()
    assert opened.client.get("/document", params={"folder": "out", "name": "release.csv"}).status_code == 400


def test_a_release_that_follows_at_once_is_not_taken_for_the_one_before(opened: Opened) -> None:
    """The process of a release ends a moment after it said so; by then another may be under way."""
    for out in ("one", "two"):
        assert f"Published: {out}" in plain(opened.released(FILLED | {"out": out}))
