"""What lies in a folder as it was published: known by a certificate that the ledger signed, and by the bytes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hubbub.certificate.certificate import signed_by
from hubbub.errors import HubbubError
from hubbub.ledger.durable import sha256
from hubbub.protocol.release import release_digests
from hubbub.runtime.regular_file import open_regular
from hubbub.serialization import manifest
from hubbub.serialization.canonical import LARGEST
from hubbub.serialization.published_files import CERTIFICATE

if TYPE_CHECKING:
    from hubbub.ledger.ledger import Ledger


def published(folder: Path, ledger: Ledger) -> dict[str, str]:
    """The files of the release in a folder, with their digests; its parts are called like release/part-00000.parquet.

    Guarantee: there is a certificate that a key of this ledger signed, and each file is, to the byte, one that it
    names, or the certificate itself. Whoever can write to the folder can put no other file among them.
    """
    try:
        with open_regular(folder / CERTIFICATE) as file:
            data = file.read(LARGEST + 1)
        body = signed_by(data, ledger)
    except (OSError, HubbubError):
        return {}
    if body is None:
        return {}
    named = {name: digest for name, digest in release_digests(body).items() if Path(name).name == name}
    found = {name: digest for name, digest in named.items() if _is(folder / name, digest)}
    if manifest.NAME in found:
        parts = manifest.parts_of((folder / manifest.NAME).read_bytes())
        listed = {f"{manifest.FOLDER}/{part.name}": part.sha256 for part in parts}
        found |= {name: digest for name, digest in listed.items() if _is(folder / name, digest)}
    return {**found, CERTIFICATE: hashlib.sha256(data).hexdigest()}


def _is(path: Path, digest: str) -> bool:
    """Whether a file is there with these bytes."""
    try:
        return path.is_file() and sha256(path) == digest
    except OSError:
        return False


def remove(folder: Path, files: Mapping[str, str]) -> None:
    """Remove files that were published, if they are still the same, and the folder of parts if that is empty then."""
    for name, digest in files.items():
        if _is(folder / name, digest):
            (folder / name).unlink()
    if any("/" in name for name in files):
        with suppress(OSError):
            (folder / manifest.FOLDER).rmdir()


def only_parts(path: Path, ours: Mapping[str, str]) -> bool:
    """Whether a folder of parts has published ones in it and nothing else."""
    if not path.is_dir() or path.is_symlink():
        return False
    return all(f"{manifest.FOLDER}/{name}" in ours for name in os.listdir(path))
