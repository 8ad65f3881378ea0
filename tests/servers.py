"""Real databases for tests: started on free ports of the loopback, in temporary folders, as an ordinary user.

A server that is running already is never touched. What is not installed, or does not start in time, is skipped with a
sentence that `make test-all` repeats in its last lines.
"""

from __future__ import annotations

import atexit
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping
from functools import cache
from glob import glob
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

ABSENT = "not run: "  # begins the reason of every such skip
_LIMIT = 60.0  # seconds for a server to start

allowed = True  # whether the test that runs may start one: tests/conftest.py asks whether it is slow


class Absent(Exception):
    """Why a database is not here."""


def or_skip(start: Any) -> Any:
    """What `start` gives, or a skipped test."""
    assert allowed, "a test that starts a server is slow: give it pytest.mark.xdist_group or pytest.mark.slow"
    try:
        return start()
    except Absent as reason:
        why = str(reason)
    pytest.skip(f"{ABSENT}{why}")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


# --- PostgreSQL -----------------------------------------------------------------------------------------------------


@cache
def _postgresql() -> str | Absent:
    try:
        return _started()
    except Absent as reason:
        return reason


def postgresql() -> str:
    """The address of a server of our own, with its password, for this process."""
    found = _postgresql()
    if isinstance(found, Absent):
        raise Absent(str(found))
    return found


def _program(name: str) -> str:
    places = [shutil.which(name), *sorted(glob(f"/usr/lib/postgresql/*/bin/{name}"), reverse=True)]
    for place in places:
        if place:
            return place
    raise Absent("PostgreSQL (its server is not installed: Debian's package is postgresql)")


def _ordinary() -> dict[str, Any]:
    """PostgreSQL refuses to run as root: then it runs as a user who may do nothing."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            known = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": known.pw_uid, "group": known.pw_gid, "extra_groups": []}
    raise Absent("PostgreSQL (root may not start it, and there is no other user)")


def _started() -> str:
    if find_spec("psycopg") is None:
        raise Absent("PostgreSQL (the Python package psycopg is not installed)")
    initdb, server, who = _program("initdb"), _program("postgres"), _ordinary()
    folder = Path(tempfile.mkdtemp(prefix="hubbub-postgresql-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    password, port = secrets.token_hex(8), free_port()
    (folder / "password").write_text(password)
    if who:
        for place in (folder, folder / "password"):
            os.chown(place, who["user"], who["group"])
    data = str(folder / "data")
    words = ["-D", data, "-U", "steward", "-A", "scram-sha-256", "--pwfile", str(folder / "password")]
    made = [initdb, *words, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
    surroundings = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"}
    here: dict[str, Any] = {"cwd": folder, "env": surroundings, "stdin": subprocess.DEVNULL, **who}
    try:
        subprocess.run(made, check=True, capture_output=True, timeout=_LIMIT, **here)
    except (OSError, subprocess.SubprocessError):
        raise Absent("PostgreSQL (initdb failed)") from None
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": port,
        "unix_socket_directories": "",
        "fsync": "off",
        "shared_buffers": "16MB",
        "max_connections": 50,
        "log_statement": "all",
        "log_parameter_max_length": 0,
    }
    given = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([server, "-D", data, *given], stdout=log, stderr=log, **here)
    atexit.register(_ended, process)
    url = f"postgresql://steward:{password}@127.0.0.1:{port}/postgres"
    _waited(process, url)
    return url


def _waited(process: subprocess.Popen[bytes], url: str) -> None:
    import psycopg

    end = time.monotonic() + _LIMIT
    while time.monotonic() < end and process.poll() is None:
        try:
            psycopg.connect(url, connect_timeout=2).close()
            return
        except psycopg.Error:
            time.sleep(0.1)
    _ended(process)
    raise Absent("PostgreSQL (its server did not start in time)")


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()


_POSTGRESQL = {
    "int64": "bigint",
    "int32": "integer",
    "string": "text",
    "decimal128(9, 2)": "numeric(9, 2)",
    "double": "double precision",
    "float": "real",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
    "timestamp[us, tz=UTC]": "timestamptz",
    "bool": "boolean",
}
_tables = count(1)


def load_postgresql(url: str, table: pa.Table, types: Mapping[str, str] | None = None) -> str:
    """The name of a new table with these rows."""
    import psycopg

    name = f"people_{next(_tables)}"
    declared = ", ".join(
        f'"{field.name}" {(types or {}).get(field.name, _POSTGRESQL[str(field.type)])}' for field in table.schema
    )
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({declared})")
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in table.to_pylist():
                copy.write_row(list(row.values()))
    return name


# --- Spark ----------------------------------------------------------------------------------------------------------


@cache
def _spark() -> Any:
    if find_spec("pyspark") is None:
        return Absent("Spark (the Python package pyspark is not installed)")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return Absent("Spark (no Java runtime is installed)")
    folder = tempfile.mkdtemp(prefix="hubbub-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # of the workers
    settings = {
        "spark.master": "local[2, 4]",  # a task may fail three times
        "spark.driver.memory": "2g",
        **dict.fromkeys(_REMEMBERED, "1"),  # hundreds of tests have long plans, which it would keep to show
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.default.parallelism": "1",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.local.dir": folder,
        "spark.sql.session.timeZone": "Asia/Kolkata",  # which must not reach the counts
        "spark.sql.adaptive.enabled": "true",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    if _serves_connect():
        settings |= {
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(free_port()),
        }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions of pandas, which is not used
            from pyspark.sql import SparkSession

            builder = SparkSession.builder.appName("hubbub tests")
            for name, value in settings.items():
                builder = builder.config(name, value)
            session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
    except Exception:
        return Absent("Spark (its session did not start)")
    atexit.register(_stopped, session)
    return session


_REMEMBERED = (
    "spark.sql.ui.retainedExecutions",
    "spark.ui.retainedJobs",
    "spark.ui.retainedStages",
    "spark.ui.retainedTasks",
)


def _answers(session: Any) -> bool:
    """Whether its Java process still takes commands."""
    try:
        session._jvm.java.lang.System.nanoTime()
    except Exception:
        return False
    return True


def _stopped(session: Any) -> None:
    if _answers(session):
        session.stop()


def _forget_spark() -> None:
    """Let go of a Java process that takes no more commands, so that another is started."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    SparkContext._gateway.proc.kill()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None
    _spark.cache_clear()
    _connect.cache_clear()


def _serves_connect() -> bool:
    """Since 4.0 the package has the server with it."""
    found = find_spec("pyspark")
    return (
        any(glob(f"{place}/jars/spark-connect_*.jar") for place in found.submodule_search_locations or ())
        if found
        else False
    )


@cache
def _connect() -> Any:
    session = _spark()
    if isinstance(session, Absent):
        return session
    if not _serves_connect():
        return Absent("Spark Connect (this version of pyspark comes without its server)")
    missing = [name for name in ("grpc", "google.protobuf", "zstandard", "pandas") if not _found(name)]
    if missing:
        return Absent(f"Spark Connect (the Python package {missing[0]} is not installed)")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql.connect.session import SparkSession

            port = session.conf.get("spark.connect.grpc.binding.port")
            remote = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
            remote.sql("SELECT 1").toArrow()
    except Exception:
        return Absent("Spark Connect (its server did not answer)")
    atexit.register(remote.stop)
    return remote


def _found(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def connect() -> Any:
    """A session of the same Spark by Connect."""
    spark()
    found = _connect()
    if isinstance(found, Absent):
        raise Absent(str(found))
    return found


def spark() -> Any:
    """A session on two cores, for this process; a new one if the last has died."""
    found = _spark()
    if not isinstance(found, Absent) and not _answers(found):
        _forget_spark()
        found = _spark()
    if isinstance(found, Absent):
        raise Absent(str(found))
    return found
