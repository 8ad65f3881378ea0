"""One case, replayed with scripted randomness: what it drew, published, said and promised."""

from __future__ import annotations

import hashlib
import io
import json
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import duckdb

from hubbub import registry
from hubbub.engines.opening import open_source
from hubbub.errors import HubbubError
from hubbub.noise.source import RecordingSource, ScriptedSource
from hubbub.publication.files import write
from tests.recording.cases import TABLES, cases

DIGESTS: Final = Path(__file__).with_name("digests.json")
REFUSED: Final = "refused"


def replay(statistic: str, options: dict[str, Any], table: str) -> dict[str, Any]:
    """Everything about the case that a reader, a verifier or an attacker could see, by what it is.

    Guarantee: none; it draws from a script, for tests alone. A case that cannot be asked says so.
    """
    engine, kind = _engine_in_order(table), registry.kind(statistic)
    if not options.keys() <= {"person", *(option.name for option in kind.options)}:
        return {REFUSED: True}
    try:
        spec = kind.ask(**options).with_schema(engine.columns())
        promises = spec.promises()
    except HubbubError:
        return {REFUSED: True}
    source = RecordingSource(ScriptedSource.from_label("recording"))
    measurement = spec.measure(engine, source)
    result = spec.present(measurement)
    return {
        "randomness": list(source.record.sizes),
        "measurement": {name: measurement[name].batch.to_pydict() for name in measurement},
        "sheets": {sheet.name: _csv(sheet) for sheet in result.sheets()},
        "facts": dict(result.facts()),
        "promises": [
            [step.theorem.id, repr(step.conclusion), step.numbers] for promise in promises for step in promise.steps()
        ],
    }


@cache
def _engine_in_order(table: str) -> Any:
    """The engine of a table, on one thread: on several, the order in which groups arrive may differ, and with it who
    is drawn by the same words."""
    connect = duckdb.connect

    def connect_single(*args: Any, config: dict[str, Any], **options: Any) -> duckdb.DuckDBPyConnection:
        return connect(*args, config={**config, "threads": 1}, **options)

    with patch("duckdb.connect", connect_single):
        return open_source(TABLES[table])


def _csv(sheet: Any) -> str:
    out = io.BytesIO()
    write(sheet, "csv", out)
    return out.getvalue().decode()


def text(part: Any) -> str:
    """One text for one value, to be read, compared and hashed."""
    return json.dumps(part, indent=1, sort_keys=True, default=str, ensure_ascii=False)


def digests(replayed: dict[str, Any]) -> dict[str, str]:
    """A short digest of every part."""
    return {name: hashlib.sha256(text(part).encode()).hexdigest()[:16] for name, part in replayed.items()}


def canonical_digests() -> str:
    """The file of digests: a line for each case that can be asked, and the names of those that cannot."""
    replayed = {name: digests(replay(*case)) for name, case in cases().items()}
    lines = [f" {json.dumps(name)}: {json.dumps(parts)}" for name, parts in replayed.items() if REFUSED not in parts]
    return "{\n" + ",\n".join(lines) + "\n}\n"
