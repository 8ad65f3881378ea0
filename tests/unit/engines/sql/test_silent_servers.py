"""A server that takes a connection and says nothing: one sentence after a stated time, and the address is not in it."""

from __future__ import annotations

import socket
import warnings
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from hubbub.engines.opening import open_address
from hubbub.engines.spark.spark_engine import SILENT, WAIT, session_at
from hubbub.errors import WrongUse
from tests.servers import ABSENT, free_port

SHORT = 0.5  # seconds; a test need not wait as long as a user


@pytest.fixture
def silent() -> Iterator[int]:
    """A port where somebody listens and never speaks."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield int(listening.getsockname()[1])


def needs(*packages: str) -> None:
    for package in packages:
        if find_spec(package) is None:
            pytest.skip(f"{ABSENT}{package} (the Python package is not installed)")


def refusal(url: str, wait: float) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions of pandas, which is not used
        with pytest.raises(WrongUse) as refused:
            session_at(url, wait)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None
    return str(refused.value)


def test_a_connect_server_that_says_nothing(silent: int) -> None:
    needs("pyspark", "grpc", "pandas")
    for port in (silent, free_port()):
        told = refusal(f"sc://127.0.0.1:{port}/;token=hush;user_id=ann", SHORT)
        assert told == SILENT.format(seconds="0.5")
        assert not [secret for secret in ("hush", "ann", "127.0.0.1", str(port)) if secret in told]


def test_a_master_where_nobody_listens() -> None:
    needs("pyspark")
    told = refusal(f"spark://127.0.0.1:{free_port()},127.0.0.1:{free_port()}", SHORT)
    assert told == SILENT.format(seconds="0.5")


def test_a_postgresql_server_that_says_nothing(silent: int) -> None:
    needs("psycopg")
    with pytest.raises(WrongUse, match=f"does not answer within {WAIT} seconds") as refused:
        open_address(f"postgresql://ann:hush@127.0.0.1:{silent}/town?connect_timeout=2", "people")
    told = str(refused.value)
    assert not [secret for secret in ("hush", "ann:", "127.0.0.1", str(silent), "town") if secret in told]
    assert refused.value.__context__ is None
