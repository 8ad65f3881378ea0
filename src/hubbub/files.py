"""A release as files: the values as CSV or Parquet, with the certificate that goes with them.

Files are written beside their places, readable by their owner only, and moved there when all of them are whole and the
ledger knows them (:mod:`hubbub.staging`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from hubbub.certificate import issue
from hubbub.errors import Refused, WrongUse
from hubbub.ledger.book import Ledger
from hubbub.ledger.durable import sha256
from hubbub.release import Release
from hubbub.staging import CERTIFICATE, REPORT, Staged, opened, publish
from hubbub.tables.written import NUMBERS, STATUS, key_columns, safe

FORMATS: Final = ("csv", "parquet")
_BATCH: Final = 1 << 20

Page = Callable[..., str]


def columns(release: Release) -> list[str]:
    """The names of the key columns."""
    return key_columns(release.axes)


def batches(release: Release, *, safe_text: bool) -> Iterator[pa.RecordBatch]:
    """The release, a million bins at a time: keys, published value (null if hidden), interval, status."""
    keys = columns(release)
    names = [*(safe(keys) if safe_text else keys), *NUMBERS, STATUS]
    shown = release.shown
    statuses = [name or "shown" for name in release.published.names]
    for start in range(0, release.bins, _BATCH) or [0]:
        stop = min(start + _BATCH, release.bins)
        label = _written if safe_text else _labelled
        arrays = [label(which, safe(labels) if safe_text else labels) for which, labels in release.keys(start, stop)]
        arrays.append(_whole(release.published.values[start:stop], shown[start:stop]))
        arrays.append(_whole(release.low[start:stop]))
        arrays.append(_whole(release.high[start:stop], release.high[start:stop] >= 0))
        arrays.append(label(release.published.tags[start:stop], statuses))
        yield pa.record_batch(arrays, names=names)


def _labelled(which: np.ndarray[Any, Any], labels: Sequence[str | None]) -> pa.DictionaryArray:
    texts = _texts(np.arange(len(labels)), labels, pa.string())
    return pa.DictionaryArray.from_arrays(_whole(which.astype(np.int32), _known(which, labels)), texts)


def _written(which: np.ndarray[Any, Any], labels: Sequence[str | None]) -> pa.Array:
    """The labels one by one, as a CSV has them."""
    return _texts(which, labels, pa.large_string(), _known(which, labels))


def _known(which: np.ndarray[Any, Any], labels: Sequence[str | None]) -> np.ndarray[Any, Any] | None:
    there = np.array([label is not None for label in labels], dtype=bool)
    return None if there.all() else there[which]


# Arrays are made from their bytes: where pandas is installed, pyarrow.array would load it, which takes longer than a
# small release.


def _whole(numbers: np.ndarray[Any, Any], known: np.ndarray[Any, Any] | None = None) -> pa.Array:
    """Whole numbers, null where not `known`."""
    kind = pa.int32() if numbers.dtype == np.int32 else pa.int64()
    buffers = [_bits(known), pa.py_buffer(np.ascontiguousarray(numbers))]
    return pa.Array.from_buffers(kind, numbers.size, buffers)


def _texts(
    which: np.ndarray[Any, Any],
    labels: Sequence[str | None],
    kind: pa.DataType,
    known: np.ndarray[Any, Any] | None = None,
) -> pa.Array:
    parts = [(label or "").encode() for label in labels]
    lengths = np.array([len(part) for part in parts], dtype=np.int64)[which]
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32 if kind == pa.string() else np.int64)
    data = b"".join(map(parts.__getitem__, which.tolist()))
    return pa.Array.from_buffers(kind, which.size, [_bits(known), pa.py_buffer(ends), pa.py_buffer(data)])


def _bits(known: np.ndarray[Any, Any] | None) -> pa.Buffer | None:
    return None if known is None else pa.py_buffer(np.packbits(known, bitorder="little"))


def save(
    release: Release, folder: str | os.PathLike[str], *, form: str = "csv", page: Page | None = None
) -> dict[str, str]:
    """Write release.csv or release.parquet, and certificate.json, into a folder; returns their paths.

    `page` makes the report from the release, the names of its files and its digest; it is written with them.

    Guarantee: the digest of the file is in the ledger, on the disk, before the file has its name. If this is cut short
    at any moment, the folder holds either nothing new or bytes that are paid for, and :func:`hubbub.staging.finish`
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
        if page is not None:
            text = page(release, files={"release": name, "certificate": CERTIFICATE}, digest=digest)
            staged.add(REPORT, lambda out: out.write(text.encode()))
        staged.certify(issue(release, name, digest, ledger, release.place), name)
        return staged


def _write_csv(release: Release, out: IO[bytes]) -> None:
    options = arrow_csv.WriteOptions(quoting_style="needed")
    writer = None
    for batch in batches(release, safe_text=True):
        writer = writer or arrow_csv.CSVWriter(out, batch.schema, write_options=options)
        writer.write_batch(batch)
    if writer is not None:
        writer.close()


def _write_parquet(release: Release, out: IO[bytes]) -> None:
    import pyarrow.parquet as parquet

    writer = None
    for batch in batches(release, safe_text=False):
        writer = writer or parquet.ParquetWriter(out, batch.schema, compression="zstd", compression_level=1)
        writer.write_batch(batch)
    if writer is not None:
        writer.close()
