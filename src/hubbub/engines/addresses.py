"""Addresses of databases, and which engine opens one. No message repeats an address: it may hold a password."""

from __future__ import annotations

import os
from fractions import Fraction
from importlib import import_module
from typing import Any, Final

from hubbub.engines.portable import Portable
from hubbub.errors import WrongUse

_POSTGRESQL: Final = ("postgresql://", "postgres://")
_SPARK: Final = ("spark://", "sc://")
_SQLITE: Final = "sqlite:///"
_EXTRAS: Final = {"psycopg": "postgresql", "pyspark": "spark"}


def is_address(source: str | os.PathLike[str]) -> bool:
    """Whether it is an address and not a path."""
    return "://" in os.fspath(source)


def open_address(url: str, table: str | None, *, unreadable: Fraction = Fraction(1)) -> Portable:
    """The table, or the query, at an address."""
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


def _engine(name: str) -> Any:
    """Loaded when it is asked for, and not before."""
    try:
        return import_module(f"hubbub.engines.{name}")
    except ModuleNotFoundError as missing:
        extra = _EXTRAS.get((missing.name or "").partition(".")[0])
        if extra is None:
            raise
    raise WrongUse(f"{name} needs a package that is not installed; install hubbub[{extra}]")
