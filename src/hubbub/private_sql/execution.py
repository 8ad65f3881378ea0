"""A private query, carried out: ``hubbub.sql``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hubbub import registry
from hubbub.dictionary.datapackage import find
from hubbub.engines.opening import is_address
from hubbub.errors import WrongUse
from hubbub.opening import address, named_after
from hubbub.opening import open as open_table
from hubbub.private_sql.translation import SqlRequest, translate
from hubbub.protocol.release import Release


class Sources(NamedTuple):
    """What a query reads: the table of people, or the one there is, and a second one that is joined with it."""

    first: object
    second: object | None
    table: str | None  # of a database


def prepare(
    query: object, data: object, dictionary: object = None, *, dataset: str | None = None, table: str | None = None
) -> tuple[SqlRequest, Sources]:
    """The release that a query asks for, and what it is of; `data` is a source, or one for each name after FROM.

    A source without such a name is called as its file, its `table` or its `dataset` is. A query that reads anything else
    is refused.
    """
    named = data if isinstance(data, Mapping) else None
    only = next(iter(named.values())) if named is not None and len(named) == 1 else data if named is None else None
    asked = translate(query, find(only, None, dictionary) if only is not None else find(None, None, None))
    if len(asked.tables) == 2 and only is not None:
        raise WrongUse(
            "a join is of two tables; give both by their names, like visits=visits.csv and people=people.csv"
        )
    from_database = isinstance(only, str) and is_address(only)
    if named is None and not (from_database and table is None):
        _check_name(asked.tables[0], _names(data, dataset, table))
    sources = [only if named is None else _source(named, name) for name in asked.tables]
    if only is None:
        asked = translate(query, find(sources[0], None, dictionary))
    read = asked.tables[0] if from_database and table is None else None
    return asked, Sources(sources[0], sources[1] if len(sources) == 2 else None, read)


def _source(named: Mapping[str, object], name: str) -> object:
    _check_name(name, list(map(str, named)))
    return named[name]


def _check_name(name: str, known: list[str]) -> None:
    if name not in known:
        there = f"data has {', '.join(known)[:200]}" if known else "data has no name"
        raise WrongUse(
            f"the query reads {name[:60]!r}, and {there}; name the table so, or give data by the name in the query, like "
            "visits=visits.csv"
        )


def _names(source: object, dataset: str | None, table: str | None) -> list[str]:
    """What a table may be called in a query: as its file is, its table or sheet, or its dataset."""
    found = [dataset, table, table and table.rpartition(".")[2]]
    if isinstance(source, str | os.PathLike) and not address(source):
        file = Path(source)
        found += [file.name.partition(".")[0], file.stem, file.name, named_after(source), named_after(source, table)]
    return list(dict.fromkeys(name for name in found if name))


def sql(
    query: str,
    data: object,
    *,
    dataset: str | None = None,
    ledger: str | os.PathLike[str] | None = None,
    accept_weak: bool = False,
    dictionary: str | os.PathLike[str] | None = None,
    **opening: Any,
) -> Release:
    """Publish what a private query asks for.

    ``SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, privacy_unit_column = patient) ward, COUNT(DISTINCT patient)
    FROM visits GROUP BY ward``, as BigQuery has it; beside it ``WITH CROWD_BLENDING OPTIONS (crowd = 20, sample = 0.2)``,
    ``WITH ZERO_KNOWLEDGE OPTIONS (epsilon = 0.5, rows = 1000, people = 40000)`` and ``WITH OUTLIER_PRIVACY OPTIONS
    (curve = '1:0.01,101:1')``. `data` is a source as :func:`hubbub.open` takes it, which the query calls as its
    file, table or `dataset` is called, or a mapping from the names in the query to such; further words are those of :func:`hubbub.open`.

    Guarantee: that of the kind of release that the query means; the text of the query reaches no engine. It is one
    release, entered once, whatever it asks for.
    """
    asked, sources = prepare(query, data, dictionary, dataset=dataset, table=opening.get("table"))
    words = {**opening, **{name: given for name, given in asked.opening.items() if given}}
    if sources.second is not None:
        words["join"] = sources.second
    if sources.table is not None:
        words.setdefault("table", sources.table)
    people = open_table(sources.first, dictionary=dictionary, dataset=dataset, ledger=ledger, **words)
    return people.publish(people.ask(registry.kind(asked.kind), **asked.options), accept_weak=accept_weak)
