"""A private query, carried out: ``hubbub.sql``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from hubbub import registry
from hubbub.dictionary.datapackage import find
from hubbub.engines.addresses import is_address
from hubbub.errors import WrongUse
from hubbub.opening import open as open_table
from hubbub.private_sql.translation import SqlRequest, translate
from hubbub.protocol.release import Release


class Sources(NamedTuple):
    """What a query reads: the table of people, or the one there is, and a second one that is joined with it."""

    first: object
    second: object | None
    table: str | None  # of a database


def prepare(query: object, data: object, dictionary: object = None) -> tuple[SqlRequest, Sources]:
    """The release that a query asks for, and what it is of; `data` is a source, or one for each name after FROM."""
    named = data if isinstance(data, Mapping) else None
    only = next(iter(named.values())) if named is not None and len(named) == 1 else data if named is None else None
    asked = translate(query, find(only, None, dictionary) if only is not None else find(None, None, None))
    sources = [_source(named, name, only) for name in asked.tables]
    if len(sources) == 2 and only is not None:
        raise WrongUse(
            "a join is of two tables; give both by their names, like visits=visits.csv and people=people.csv"
        )
    if only is None:
        asked = translate(query, find(sources[0], None, dictionary))
    table = asked.tables[0] if isinstance(only, str) and is_address(only) else None
    return asked, Sources(sources[0], sources[1] if len(sources) == 2 else None, table)


def _source(named: Mapping[str, object] | None, name: str, only: object | None) -> object:
    if only is not None and (named is None or name in named or len(named) == 1):
        return only
    known = named or {}
    if name not in known:
        raise WrongUse(f"the query reads {name[:60]!r}, and data has {', '.join(map(str, known))[:200]}; name it so")
    return known[name]


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
    (curve = '1:0.01,101:1')``. `data` is a source as :func:`hubbub.open` takes it, or a mapping from the names in the
    query to such; further words are those of :func:`hubbub.open`.

    Guarantee: that of the kind of release that the query means; the text of the query reaches no engine. It is one
    release, entered once, whatever it asks for.
    """
    asked, sources = prepare(query, data, dictionary)
    words = {**opening, **{name: given for name, given in asked.opening.items() if given}}
    if sources.second is not None:
        words["join"] = sources.second
    if sources.table is not None:
        words.setdefault("table", sources.table)
    people = open_table(sources.first, dictionary=dictionary, dataset=dataset, ledger=ledger, **words)
    return people.publish(people.ask(registry.kind(asked.kind), **asked.options), accept_weak=accept_weak)
