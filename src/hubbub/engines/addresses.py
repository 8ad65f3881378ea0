"""Addresses of databases, and which engine opens one. No message repeats an address: it may hold a password."""

from __future__ import annotations

import os
import re
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from hubbub.errors import WrongUse, install

if TYPE_CHECKING:
    from hubbub.engines.sql.sql_engine import SqlEngine

_POSTGRESQL: Final = ("postgresql://", "postgres://")
_SPARK: Final = ("spark://", "sc://")
_SQLITE: Final = "sqlite:///"
_EXTRAS: Final = {"psycopg": "postgresql", "pyspark": "spark"}
_WHERE: Final = {
    "sqlite": "hubbub.engines.sql.sqlite",
    "postgresql": "hubbub.engines.sql.postgresql",
    "spark": "hubbub.engines.spark.spark_engine",
}


def is_address(source: str | os.PathLike[str]) -> bool:
    """Whether it is an address and not a path."""
    return "://" in os.fspath(source)


def without_secrets(url: str) -> str:
    """An address as it may be shown: nothing after the user's name up to the last @, and no parameters.

    >>> without_secrets("postgresql://steward:open@sesame@host/city?sslmode=require&password=open")
    'postgresql://steward@host/city'
    >>> without_secrets("sc://host:15002/;token=open;user_id=steward"), without_secrets("sqlite:////tmp/a@b.sqlite")
    ('sc://host:15002/', 'sqlite:////tmp/a@b.sqlite')
    """
    if url.startswith(_SQLITE):
        return url
    scheme, mark, rest = url.partition("://")
    user, at, host = rest.rpartition("@")
    host = re.split(r"[?;#]", host, maxsplit=1)[0]
    return f"{scheme}{mark}{re.split(r'[:?;#/]', user, maxsplit=1)[0]}{at}{host}"


def open_address(url: str, table: str | None, *, unreadable: Fraction = Fraction(1)) -> SqlEngine:
    """The table, or the query, at an address."""
    if not is_text(url):
        raise WrongUse("an address is text in UTF-8; check how it was typed")
    if url.startswith(_SQLITE):
        return _engine("sqlite").open_sqlite(url.removeprefix(_SQLITE), table, unreadable=unreadable)  # type: ignore[no-any-return]
    if url.startswith(_POSTGRESQL):
        return _engine("postgresql").open_postgresql(url, table, unreadable=unreadable)  # type: ignore[no-any-return]
    if url.startswith(_SPARK):
        return _engine("spark").open_spark(url, table, unreadable=unreadable)  # type: ignore[no-any-return]
    raise WrongUse(
        "an address begins with postgresql://, sqlite:///, spark:// or sc:// (Spark Connect); give one of those, a "
        "file, or a frame"
    )


def is_text(given: str) -> bool:
    """What a shell hands over may be any bytes."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in given


def _engine(name: str) -> Any:
    """Loaded when it is asked for, and not before."""
    try:
        return import_module(_WHERE[name])
    except ModuleNotFoundError as missing:
        extra = _EXTRAS.get((missing.name or "").partition(".")[0])
        if extra is None:
            raise
    raise WrongUse(f"{name} needs a package that is not installed; {install(extra)}")
