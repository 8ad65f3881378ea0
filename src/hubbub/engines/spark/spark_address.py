"""A session of Spark's by its address. No message has the address in it: that may hold a token.

Left alone, pyspark asks a Connect server that does not answer again and again, for about ten minutes. So it is asked
first whether it is there, for a stated time. What comes after that, such as a cluster that has to be started first, is
left to Spark's own limits.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

from hubbub.errors import WrongUse

WAIT: Final = 30
"""Seconds that a server has to answer, whichever it is."""

SILENT: Final = (
    "the Spark server does not answer within {seconds} seconds; check the address, that the server is running, and "
    "that no firewall is in between"
)
UNREACHABLE: Final = "the Spark cluster cannot be reached; check the address, and that pyspark and Java are installed"


def session_at(url: str, wait: float = WAIT) -> Any:
    """A session at spark://host:port or, by Connect, at sc://host:port."""
    session, answers = None, True
    try:
        from pyspark.sql import SparkSession

        connect = url.startswith("sc://")
        answers = _is_ready(url, wait) if connect else _listens(url, wait)
        if answers:
            builder = SparkSession.builder.appName("hubbub")
            ours = not connect and SparkSession.getActiveSession() is None
            session = (builder.remote(url) if connect else builder.master(url)).getOrCreate()
            if ours:
                session.sparkContext.setLogLevel("OFF")  # what Spark says when a task fails may quote a cell
    except Exception:  # its message may have the address in it, and that a token
        pass
    if not answers:
        raise WrongUse(SILENT.format(seconds=f"{wait:g}"))
    if session is None:
        raise WrongUse(UNREACHABLE)
    return session


def _is_ready(url: str, wait: float) -> bool:
    """Whether a Connect server speaks with us: that a port is open says little, a proxy may hold it."""
    import grpc
    from pyspark.sql.connect.client import core

    builder = getattr(core, "DefaultChannelBuilder", core.ChannelBuilder)
    channel = builder(url).toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=wait)
        return True
    except grpc.FutureTimeoutError:
        return False
    finally:
        channel.close()


def _listens(url: str, wait: float) -> bool:
    """Whether one of the masters, spark://host:port,host:port, takes a connection; Spark itself then gives up within
    a minute."""
    end = time.monotonic() + wait
    for master in url.removeprefix("spark://").split(","):
        parsed = urlsplit(f"spark://{master}")
        with suppress(OSError):
            left = max(end - time.monotonic(), 1)
            socket.create_connection((parsed.hostname or "", parsed.port or 7077), timeout=left).close()
            return True
    return False
