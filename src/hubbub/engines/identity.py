"""The identity of what was opened: the files behind a path, a pattern, a database, a view.

A view is known by what it reads: the tables in its plan, and the files whose names stand in its definition or in those
of the views and macros that it uses. What cannot be found out counts as all of the database.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from glob import glob
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.tables.identity import Identity, Part

READ_IN_FULL: Final = (
    16 << 20
)  # bytes: up to here all of them are read, and never more (benchmarks/ledger.py has the cost)
_BLOCK: Final = 1 << 18
_BLOCKS: Final = READ_IN_FULL // _BLOCK  # of a larger file, evenly spaced, its first and last among them
_HARMLESS: Final = ("RANGE", "GENERATE_SERIES", "UNNEST", "REPEAT", "SUMMARY")  # functions that read nothing

Ask = Callable[[str], Sequence[tuple[Any, ...]]]


def digest(path: str) -> str:
    """The same for the same bytes. Of a large file only its size and 64 blocks are looked at: a copy is known by them,
    and two files of one size that differ only elsewhere are taken for one, which errs on the side of one budget."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        hasher = hashlib.sha256(size.to_bytes(8, "big"))
        if size <= READ_IN_FULL:
            for block in iter(lambda: file.read(_BLOCK), b""):
                hasher.update(block)
        else:
            for i in range(_BLOCKS):
                file.seek((size - _BLOCK) * i // (_BLOCKS - 1))
                hasher.update(file.read(_BLOCK))
    return hasher.hexdigest()


def of_files(paths: Iterable[str], tables: Mapping[str, Sequence[str]] | None = None) -> Identity:
    """Of files; `tables` names those of a database that are read, if not all."""
    parts = []
    for path in sorted(set(map(os.path.realpath, paths))):
        try:
            known = os.stat(path)
            hashed = digest(path)
        except OSError:
            raise WrongUse("the table could not be read; check that its files are there and may be read") from None
        read = tuple(sorted((tables or {}).get(path, ())))
        parts.append(
            Part(
                path=path,
                device=known.st_dev,
                inode=known.st_ino,
                digest=hashed,
                changed=known.st_mtime_ns,
                tables=read,
            )
        )
    return Identity(parts=tuple(parts))


def of_relation(query: Ask, relation: str, catalog: str) -> Identity:
    """Of a table or view, by its name in SQL, in a database whose name is `catalog`."""
    bases = {name: os.path.realpath(path) for name, path in query(_DATABASES) if path and os.path.isfile(path)}
    tables = {f"{base}.{schema}.{table}": (base, schema, table) for base, schema, table in query(_TABLES)}
    read: dict[str, set[str]] = {}
    files = set(_files(query, relation))
    for leaf in _leaves(json.loads(query(f"EXPLAIN (FORMAT JSON) SELECT * FROM {relation}")[-1][1])):
        base, schema, table = tables.get(leaf.get("Table", ""), ("", "", ""))
        if base in bases:
            read.setdefault(bases[base], set()).add(table if schema == "main" else f"{schema}.{table}")
        elif "Table" in leaf and not base:
            files.update(bases.values())  # it cannot be told which: all of them
        elif "Function" in leaf and leaf["Function"] not in _HARMLESS and not files and catalog in bases:
            files.add(bases[catalog])
    named = {path: sorted(names) for path, names in read.items() if path not in files}
    return of_files([*files, *read], named)


_DATABASES: Final = "SELECT database_name, path FROM duckdb_databases() WHERE NOT internal"
_TABLES: Final = "SELECT database_name, schema_name, table_name FROM duckdb_tables()"
_DEFINITIONS: Final = (
    "SELECT view_name, sql FROM duckdb_views() WHERE NOT internal UNION ALL "
    "SELECT function_name, macro_definition FROM duckdb_functions() WHERE macro_definition IS NOT NULL AND NOT internal"
)


def _leaves(plan: Any) -> Iterator[dict[str, str]]:
    """What a plan reads, as the engine tells it."""
    for node in plan if isinstance(plan, list) else [plan]:
        details = node.get("extra_info", {})
        if "Table" in details or "Function" in details:
            yield details
        yield from _leaves(node.get("children", []))


def _files(query: Ask, relation: str) -> Iterator[str]:
    """Files whose names stand in the definition of a view, or of what that uses."""
    known: dict[str, list[str]] = {}
    for name, sql in query(_DEFINITIONS):
        known.setdefault(name.lower(), []).append(sql)
    waiting, seen = [relation], {relation}
    while waiting:
        for word in _identifiers(waiting.pop()):
            for sql in known.get(word.lower(), []):
                if sql not in seen:
                    seen.add(sql)
                    waiting.append(sql)
            yield from (match for match in (glob(word) or [word]) if os.path.isfile(match))


def _identifiers(sql: str) -> Iterator[str]:
    """Every name and every text in it."""
    for found in re.finditer(r"""'((?:[^']|'')*)'|"((?:[^"]|"")*)"|([^\W\d]\w*)""", sql):
        text, quoted, plain = found.groups()
        word = text.replace("''", "'") if text is not None else quoted.replace('""', '"') if quoted else plain
        if word and "\0" not in word:
            yield word
