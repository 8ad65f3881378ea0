"""A release as files: the values as CSV or Parquet, with the certificate that goes with them.

Files are written beside their places, readable by their owner only, and moved there when all of them are whole and the
ledger knows them (:mod:`hubbub.staging`). In a CSV, a text that a spreadsheet would run as a formula gets an apostrophe
in front.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from hubbub.certificate import draft
from hubbub.errors import Refused, WrongUse
from hubbub.ledger.book import Ledger
from hubbub.ledger.durable import sha256
from hubbub.release import Release
from hubbub.staging import CERTIFICATE, Staged, opened, publish

FORMATS: Final = ("csv", "parquet")
_BATCH: Final = 1 << 20
_FORMULA: Final = tuple("=+-@\t\r\n＝＋－＠")  # noqa: RUF001 (the wide ones run as formulas too, in some countries)
_NUMBERS: Final = ("count", "low", "high")
_STATUS: Final = "status"

Page = Callable[..., str]


def columns(release: Release) -> list[str]:
    """The names of the key columns; one that would collide with a column of ours gets `by_` in front."""
    taken, names = {*_NUMBERS, _STATUS}, []
    for axis in release.axes:
        name = axis.column
        while name in taken:
            name = f"by_{name}"
        taken.add(name)
        names.append(name)
    return names


def batches(release: Release, *, safe_text: bool) -> Iterator[pa.RecordBatch]:
    """The release, a million bins at a time: keys, published value (null if hidden), interval, status."""
    keys = columns(release)
    names = [*(_safe(keys) if safe_text else keys), *_NUMBERS, _STATUS]
    shown = release.shown
    statuses = [name or "shown" for name in release.published.names]
    for start in range(0, release.bins, _BATCH) or [0]:
        stop = min(start + _BATCH, release.bins)
        arrays = [
            _labelled(which, _safe(labels) if safe_text else labels) for which, labels in release.keys(start, stop)
        ]
        arrays.append(pa.array(release.published.values[start:stop], mask=~shown[start:stop]))
        arrays.append(pa.array(release.low[start:stop]))
        arrays.append(pa.array(release.high[start:stop], mask=release.high[start:stop] < 0))
        arrays.append(_labelled(release.published.tags[start:stop], statuses))
        yield pa.record_batch(arrays, names=names)


def _labelled(which: np.ndarray[Any, Any], labels: Sequence[str | None]) -> pa.DictionaryArray:
    missing = np.array([label is None for label in labels], dtype=bool)
    texts = pa.array(["" if label is None else label for label in labels], pa.string())
    mask = missing[which] if missing.any() else None
    return pa.DictionaryArray.from_arrays(pa.array(which.astype(np.int32), mask=mask), texts)


def _safe(labels: Sequence[str | None]) -> list[str | None]:
    """With an apostrophe before a formula, and one more before apostrophes and a formula: different labels stay so."""
    return [f"'{label}" if label is not None and label.lstrip("'").startswith(_FORMULA) else label for label in labels]


def save(
    release: Release, folder: str | os.PathLike[str], *, form: str = "csv", page: Page | None = None
) -> dict[str, str]:
    """Write release.csv or release.parquet, and certificate.json, into a folder; returns their paths.

    `page` makes the report from the release, the names of its files and its digest; it is written with them, without
    its picture if that cannot be drawn.

    Guarantee: the digest of the file is in the ledger, on the disk, before the file has its name. If this is cut short
    at any moment, the folder holds either nothing new or bytes that are paid for, and :func:`hubbub.finishing.finish`
    brings out the rest of them.
    """
    return publish(stage(release, folder, form=form, page=page))


def stage(release: Release, folder: str | os.PathLike[str], *, form: str = "csv", page: Page | None = None) -> Staged:
    """Write everything into a hidden folder beside its place, durably; nothing is visible yet."""
    if form not in FORMATS:
        raise WrongUse(f"format must be csv or parquet, not {form[:20]!r}")
    if release.place is None:
        raise Refused("this release is in no ledger, so it is not published; make it with open(...).histogram(...)")
    write = _write_csv if form == "csv" else _write_parquet
    ledger = Ledger(release.place.ledger)
    with opened(Path(folder), release.place) as staged:
        name = f"release.{form}"
        staged.add(name, lambda out: write(release, out))
        digest = sha256(staged.path(name))
        body = draft(release, name, digest, release.place)
        staged.draft(body)
        staged.sign(body, ledger)
        if page is not None:
            told = partial(page, release, files={"release": name, "certificate": CERTIFICATE}, digest=digest)
            staged.report(told(drawn=False))  # it stands if drawing fails, or takes the process down with it
            with suppress(Exception):
                staged.report(told())
        return staged


def _write_csv(release: Release, out: IO[bytes]) -> None:
    options = arrow_csv.WriteOptions(quoting_style="needed")
    writer = None
    for batch in batches(release, safe_text=True):
        plain = pa.record_batch(
            [c.dictionary_decode() if isinstance(c, pa.DictionaryArray) else c for c in batch.columns],
            names=batch.schema.names,
        )
        writer = writer or arrow_csv.CSVWriter(out, plain.schema, write_options=options)
        writer.write_batch(plain)
    if writer is not None:
        writer.close()


def _write_parquet(release: Release, out: IO[bytes]) -> None:
    writer = None
    for batch in batches(release, safe_text=False):
        writer = writer or parquet.ParquetWriter(out, batch.schema, compression="zstd", compression_level=1)
        writer.write_batch(batch)
    if writer is not None:
        writer.close()
