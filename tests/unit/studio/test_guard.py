"""Who may speak to the studio (threats 31 to 34): each refusal is a page that says why."""

from __future__ import annotations

import logging
import socket
from hmac import compare_digest
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from hubbub.studio import guard as guards
from hubbub.studio.app import studio
from hubbub.studio.app_state import AppState
from hubbub.studio.folder import Folder
from hubbub.studio.guard import Guard
from hubbub.studio.server import LOOPBACK, listening
from tests.unit.studio.opened import HOME, HOST, OWN, PORT, Opened

PLACES = ("/publish", "/check", "/plan", "/vote", "/ledger", "/progress", "/release?folder=out", "/static/studio.js")


def fresh(tmp_path: Path) -> tuple[TestClient, Guard]:
    guard = Guard(studio(AppState(Folder.at(tmp_path))), PORT)
    return TestClient(guard, base_url=HOME), guard


def test_the_link_opens_once_and_hands_out_a_cookie_that_scripts_and_other_sites_never_see(tmp_path: Path) -> None:
    client, guard = fresh(tmp_path)
    first = client.get(guard.link().removeprefix(HOME))
    said = first.headers["set-cookie"].lower()
    assert first.status_code == 200
    assert "httponly" in said
    assert "samesite=strict" in said
    assert "path=/" in said
    assert "domain" not in said
    assert first.headers["referrer-policy"] == "no-referrer"
    assert guard.link().rpartition("/")[2] not in first.text  # the key is in no page, and so in no referrer
    assert client.cookies[guard.cookie] not in first.text
    assert client.get("/publish").status_code == 200
    other = TestClient(guard, base_url=HOME)
    again = other.get(guard.link().removeprefix(HOME))
    assert again.status_code == 403
    assert "opens the studio once" in again.text
    assert "set-cookie" not in again.headers


def test_keys_are_fresh_and_long_and_compared_in_constant_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {guards.secret() for _ in range(20)}
    assert len(secrets) == 20
    assert all(len(each) == 64 for each in secrets)
    client, guard = fresh(tmp_path)
    compared: list[tuple[bytes, bytes]] = []

    def noted(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return compare_digest(one, other)

    monkeypatch.setattr(guards, "compare_digest", noted)
    client.get("/open/wrong")
    client.cookies.set(guard.cookie, "wrong")
    client.get("/publish")
    assert [a for a, _ in compared] == [b"wrong", b"wrong"]


@pytest.mark.parametrize("path", PLACES)
def test_without_the_cookie_no_page_is_shown(tmp_path: Path, path: str) -> None:
    client, guard = fresh(tmp_path)
    unknown = client.get(path)
    assert unknown.status_code == 403
    assert "belongs to whoever started it" in unknown.text
    client.cookies.set(guard.cookie, "0" * 64)
    stale = client.get(path)
    assert stale.status_code == 403
    assert "earlier start" in stale.text


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", f"{HOST}.evil.example", ""]
)
def test_a_name_that_only_leads_here_is_refused(opened: Opened, host: str) -> None:
    """DNS rebinding."""
    answer = opened.client.get("/publish", headers={"host": host})
    assert answer.status_code == 400
    assert "millbrook" not in answer.text.lower()


def test_localhost_is_this_machine_too(opened: Opened) -> None:
    cookie = {"cookie": f"{opened.guard.cookie}={opened.client.cookies[opened.guard.cookie]}"}
    assert opened.client.get("/publish", headers={"host": f"localhost:{PORT}", **cookie}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"origin": f"https://{HOST}"},
        {"sec-fetch-site": "cross-site", "origin": HOME},
        {"sec-fetch-site": "same-site", "origin": HOME},
        {},
    ],
)
def test_a_form_of_another_page_is_refused(opened: Opened, headers: dict[str, str]) -> None:
    """CSRF: also from another port of this machine, which is the same site."""
    answer = opened.client.post("/publish/example", headers=headers)
    assert answer.status_code == 403
    assert not (opened.folder / "millbrook.parquet").exists()


def test_a_form_of_its_own_is_taken(opened: Opened) -> None:
    assert opened.client.post("/ledger/policy", data={"dataset": "people"}, headers=OWN).status_code == 200
    site = {"sec-fetch-site": "same-origin"}
    assert opened.client.post("/ledger/policy", data={"dataset": "people"}, headers=site).status_code == 200


def test_another_page_cannot_even_read(opened: Opened) -> None:
    for site in ("cross-site", "same-site"):
        assert opened.client.get("/ledger", headers={"sec-fetch-site": site}).status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_but_reading_and_sending(opened: Opened, method: str) -> None:
    answer = opened.client.request(method, "/publish", headers=OWN)
    assert answer.status_code == 405
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize("path", [*PLACES, "/nowhere", "/publish/table?file=people.csv", "/plan/answer"])
def test_every_answer_says_the_rules(opened: Opened, path: str) -> None:
    answer = opened.client.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert not any(name.startswith("access-control") for name in answer.headers)
    assert "server" not in answer.headers
    if answer.headers["content-type"].startswith("text/html"):
        assert "<script>" not in answer.text
        assert " style=" not in answer.text
        assert "<style" not in answer.text
        assert " on" + "click=" not in answer.text
        assert "http://" not in answer.text.replace(HOME, "")
        assert "https://" not in answer.text


def test_uploads_are_bounded(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "LARGEST", 10_000)
    files = {"files": ("certificate.json", b"x" * 20_000)}
    answer = opened.client.post("/check/files", files=files, headers=OWN)
    assert answer.status_code == 413
    liar = opened.client.post(
        "/check/files",
        content=iter([b"x" * 9_000] * 3),
        headers={**OWN, "content-type": "multipart/form-data; boundary=b"},
    )
    assert liar.status_code == 413
    wrong = opened.client.post("/check/files", content=b"", headers={**OWN, "content-length": "-1"})
    assert wrong.status_code == 400


def test_it_listens_on_this_machine_alone() -> None:
    with listening(0) as found:
        assert found.getsockname()[0] == LOOPBACK == "127.0.0.1"
        port = found.getsockname()[1]
        with socket.create_connection((LOOPBACK, port), timeout=2):
            pass


def test_keys_are_in_no_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    client, guard = fresh(tmp_path)
    with caplog.at_level(logging.DEBUG):
        client.get(guard.link().removeprefix(HOME))
        client.get("/publish")
    logged = "\n".join(record.getMessage() for record in caplog.records if not record.name.startswith("httpx"))
    assert guard.link().rpartition("/")[2] not in logged
    assert client.cookies[guard.cookie] not in logged
