"""Tables that a release must survive, in every form, and what a call lets out about them.

Neighbouring tables, one person more or less, must differ in nothing but published values: same exception or none, same
keys in the same order, same words on every stream. Each test of this folder names its item of the list of threats.
"""

from __future__ import annotations

import io
import json
import logging
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.errors import HubbubError
from hubbub.protocol.release import Release
from tests.fresh import certificate_of, open
from tests.fresh import counts as result

WORDS: list[dict[str, Any]] = [{"crowd": 3}, {"epsilon": 1}, {"crowd": 3, "epsilon": 1}, {"outlier": "1:0.5,5:2"}]

Rows = list[tuple[object, ...]]


def rows(release: Release) -> Rows:
    """(label, ..., value or None) for each bin, in order."""
    found = result(release)
    keys = [[labels[i] for i in which.tolist()] for which, labels in found.keys(0, found.bins)]
    return [(*key, found.published.outcome(i)[0]) for i, key in enumerate(zip(*keys, strict=True))]


def counts(source: object, *by: str, crowd: int = 2, **words: Any) -> dict[object, object]:
    """Published values by label, for one axis."""
    return {row[0]: row[-1] for row in rows(open(source, **words).histogram(list(by), crowd=crowd))}


def written(folder: Path, name: str, content: bytes | str) -> Path:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / name


def sources(table: pa.Table, folder: Path) -> dict[str, object]:
    """The same table as Arrow, pandas, CSV and Parquet."""
    pq.write_table(table, folder / "people.parquet")
    lines = [table.column_names, *(row.values() for row in table.to_pylist())]
    path = written(folder, "people.csv", "".join(",".join(map(csv_cell, line)) + "\n" for line in lines))
    return {"arrow": table, "pandas": table.to_pandas(), "csv": path, "parquet": folder / "people.parquet"}


def csv_cell(cell: object) -> str:
    """Nothing for a missing value, quotation marks around text."""
    return "" if cell is None else '"' + cell.replace('"', '""') + '"' if isinstance(cell, str) else str(cell)


class Told:
    """Everything but published values that a call lets out: keys, exception, warnings, log, streams."""

    def __init__(self, call: Callable[[], Release]) -> None:
        out, err, log = io.StringIO(), io.StringIO(), io.StringIO()
        handler = logging.StreamHandler(log)
        logging.getLogger().addHandler(handler)
        level = logging.getLogger().level
        logging.getLogger().setLevel(logging.DEBUG)
        self.release: Release | None = None
        self.raised: tuple[type, str] | None = None
        try:
            with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.release = call()
        except HubbubError as error:
            self.raised = (type(error), str(error))
        finally:
            logging.getLogger().removeHandler(handler)
            logging.getLogger().setLevel(level)
        self.words = (out.getvalue(), err.getvalue(), log.getvalue(), [str(warning.message) for warning in caught])

    @property
    def keys(self) -> list[tuple[object, ...]] | None:
        return None if self.release is None else [row[:-1] for row in rows(self.release)]

    @property
    def public(self) -> object:
        """What neighbours must share; with a declared domain, the certificate too."""
        made = None if self.release is None else json.dumps(certificate_of(self.release))
        return self.keys, self.raised, self.words, made
