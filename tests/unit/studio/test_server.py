"""The studio as it runs: over a socket, in a process of its own."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

Running = tuple[str, int, "subprocess.Popen[str]"]


FEW = 200  # files that the studio may have open
SHORT = 1.0  # seconds of patience in a test
STUDIO = f"""
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, ({FEW}, {FEW}))
from hubbub.cli.main import main
import hubbub.studio.server
try:
    import hubbub.studio.connections as connections
    connections.HEAD = {SHORT}
except ImportError:
    pass
main()
"""


@pytest.fixture
def running(tmp_path: Path, own_ledger: Path) -> Iterator[Running]:
    start = [sys.executable, "-c", STUDIO, "studio", str(tmp_path), "--no-browser"]
    process = subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stdout is not None
    assert process.stderr is not None
    link = process.stdout.readline().strip()
    try:
        yield link, int(link.split(":")[2].partition("/")[0]), process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
        process.stderr.close()


def ask(port: int, method: str, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in (
            {"Host": f"127.0.0.1:{port}"} | {k.replace("_", "-"): v for k, v in headers.items()}
        ).items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode()
    finally:
        connection.close()


def test_it_answers_its_link_and_nobody_else(running: Running) -> None:
    link, port, process = running
    path = link.partition(str(port))[2]
    assert ask(port, "GET", "/ledger")[0] == 403
    assert ask(port, "GET", "/ledger", Host="evil.example")[0] == 400
    assert ask(port, "GET", path, Host="evil.example")[0] == 400  # and the link is not used up by that
    status, headers, _ = ask(port, "GET", path)
    assert status == 200
    cookie = headers["set-cookie"].partition(";")[0]
    assert ask(port, "GET", "/ledger", Cookie=cookie)[0] == 200
    assert ask(port, "GET", path)[0] == 403
    assert (
        ask(port, "POST", "/ledger/policy", Cookie=cookie, Origin="http://evil.example", Content_Length="0")[0] == 403
    )
    assert ask(port, "POST", "/check/files", Cookie=cookie, Content_Length="999999999999")[0] == 403
    own = {"Cookie": cookie, "Origin": f"http://127.0.0.1:{port}"}
    assert ask(port, "POST", "/check/files", Content_Length="999999999999", **own)[0] == 413
    assert ask(port, "OPTIONS", "/ledger", Cookie=cookie, Origin="http://evil.example")[0] == 405
    _elsewhere(port)
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 1, 130, -2)
    assert said == ""
    token = cookie.partition("=")[2]
    assert token not in errors
    assert path not in errors
    assert "Traceback" not in errors
    assert "GET" not in errors  # what was asked is logged nowhere


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1", b"POST /publish/release HTTP/1.1\r\n"])
def test_requests_that_nobody_finishes_do_not_silence_it(running: Running, begun: bytes) -> None:
    """Half-open ones, more than it may have files: 1,200 of them silenced the studio for as long as they were there."""
    link, port, _ = running
    opened = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(FEW + 50)]
    try:
        for each in opened:
            with suppress(OSError):  # it was let go already
                each.sendall(begun)
        started = time.monotonic()
        assert ask(port, "GET", link.partition(str(port))[2])[0] == 200
        assert ask(port, "GET", "/ledger")[0] == 403
        assert time.monotonic() - started < 20
        assert opened[-1].recv(1) == b""  # and those that wait are let go after a while
    finally:
        for each in opened:
            each.close()


def test_who_sends_one_byte_at_a_time_gains_no_time(running: Running) -> None:
    _, port, _ = running
    started = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as slow, suppress(OSError):
        while time.monotonic() - started < 30:
            slow.sendall(b"G")
            time.sleep(SHORT / 10)
    assert time.monotonic() - started < 20


def _elsewhere(port: int) -> None:
    """No other address of this machine answers."""
    for found in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET, socket.SOCK_STREAM):
        address = str(found[4][0])
        if not address.startswith("127."):
            with pytest.raises(OSError, match=r"."), socket.create_connection((address, port), timeout=5):
                pass
