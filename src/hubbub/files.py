"""A release as files: the values as CSV or Parquet, with the certificate that goes with them.

Files are written beside their places, readable by their owner only, and moved there when all of them are whole. In a
CSV, a text that a spreadsheet would run as a formula gets an apostrophe in front.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from hubbub.certificate import certificate
from hubbub.errors import WrongUse
from hubbub.release import Release

FORMATS: Final = ("csv", "parquet")
_BATCH: Final = 1 << 20
_FORMULA: Final = tuple("=+-@\t\r\n＝＋－＠")  # noqa: RUF001 (the wide ones run as formulas too, in some countries)
_NUMBERS: Final = ("count", "low", "high")
_STATUS: Final = "status"


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


def save(release: Release, folder: str | os.PathLike[str], *, form: str = "csv") -> dict[str, str]:
    """Write release.csv or release.parquet, and certificate.json, into a folder; returns their paths."""
    if form not in FORMATS:
        raise WrongUse(f"format must be csv or parquet, not {form[:20]!r}")
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise WrongUse(f"there is no folder {str(place)!r} and none can be made; choose another") from None
    values, promise = place / f"release.{form}", place / "certificate.json"
    write = _write_csv if form == "csv" else _write_parquet
    written: dict[str, Path] = {}  # beside its place -> its place
    try:
        digest = _beside(values, lambda out: write(release, out), written)
        text = json.dumps(certificate(release, digest), indent=1, sort_keys=True, ensure_ascii=True) + "\n"
        _beside(promise, lambda out: out.write(text.encode()), written)
        for name, target in written.items():
            os.replace(name, target)
    except OSError:
        raise WrongUse(f"the release could not be written to {str(place)!r}; check that there is room") from None
    finally:
        for name in written:
            with suppress(FileNotFoundError):  # moved to its place
                os.unlink(name)
    return {"release": str(values), "certificate": str(promise)}


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


def _beside(place: Path, write: Callable[[IO[bytes]], object], written: dict[str, Path]) -> str:
    """Write a file beside its place; returns the SHA-256 of what was written."""
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    written[name] = place
    with os.fdopen(handle, "wb") as out:
        write(out)
    digest = hashlib.sha256()
    with open(name, "rb") as back:
        while chunk := back.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
