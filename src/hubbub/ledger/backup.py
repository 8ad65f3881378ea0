"""A copy of a ledger with its key and what its series keep, of one moment, and the way back.

A restored ledger is used only if it is not older than what this machine remembers, and than every certificate that is shown
to it: an older one would spend again what was spent, and draw periods again that were drawn.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.ledger import durable, key, paths
from hubbub.ledger import series_state as states
from hubbub.ledger.ledger import CLOSED, Ledger, entries_missing
from hubbub.ledger.log import Entry
from hubbub.ledger.records import fold
from hubbub.serialization.canonical import canonical, read

CONTENTS: Final = "backup.json"
LEDGER: Final = "ledger.db"
FORMAT: Final = "hubbub backup 1"


def backup(ledger: Ledger, folder: str | os.PathLike[str]) -> list[str]:
    """Copy a ledger, its key and what its series keep into a new folder, for the owner's eyes only; returns their names.

    Guarantee: all copies are of one moment, taken under the ledger's lock, and are on the disk when this returns; the list
    of their digests comes last, so that a backup without it was cut short.
    """
    target = Path(folder)
    if target.exists() and any(target.iterdir()):
        raise WrongUse(f"a backup goes into a folder of its own, and {str(target)!r} is not empty; choose another")
    if not ledger.path.exists():
        raise WrongUse(f"there is no ledger {str(ledger.path)!r}; name the one to back up with `ledger`")
    durable.make_folder(target)
    files = ledger.copied_to(target / LEDGER)
    digests = {LEDGER: durable.sha256(target / LEDGER)}
    for end, data in files.items():
        name = f"{LEDGER}{end}"
        durable.write(target / name, data)
        digests[name] = durable.sha256(target / name)
    durable.write(target / CONTENTS, canonical({"format": FORMAT, "files": digests}))
    return list(digests)


def restore(ledger: Ledger, folder: str | os.PathLike[str], certificates: Sequence[str | os.PathLike[str]] = ()) -> int:
    """Put a backup where a ledger is gone; returns the number of its entries.

    Guarantee: nothing is replaced: there must be no ledger and no key. The copies are those that were listed. If this machine
    remembers an entry that the backup does not have, or the backup does not know one of the certificates, it is too old,
    and nothing is put anywhere.
    """
    target = Path(folder)
    contents = _contents(target)
    present = next((path for path in paths.files_of(ledger.path) if path.exists()), None)
    if present is not None:
        raise Refused(f"nothing is replaced, and {str(present)!r} is there; move it away, or name another `ledger`")
    entries = Ledger.entries_of(target / LEDGER)
    if missing := entries_missing(entries):
        raise CheckFailed(
            f"the backup has {len(entries):,} entries, and this machine remembers entry {missing[-1]:,}: it is older "
            "than what was spent and published since; restore the latest one"
        )
    _check_certificates(entries, certificates)
    _check_states(target / LEDGER, entries)
    for name in contents:
        durable.write(
            ledger.path.with_name(f"{ledger.path.name}{name.removeprefix(LEDGER)}"), (target / name).read_bytes()
        )
    ledger.adopt()
    ledger.check()
    key.public(ledger.path)
    return len(entries)


def _check_states(ledger: Path, entries: Sequence[Entry]) -> None:
    """Whether what each series that goes on keeps is there, and of the moment of the ledger."""
    for account in fold(entries).values():
        for record in account.records:
            state = str(record.periods[-1].body["state"]) if record.series is not None and record.periods else CLOSED
            if state != CLOSED:
                states.load(ledger, record.nonce, state)


def _contents(target: Path) -> dict[str, str]:
    """What the backup has, with digests that fit."""
    if not (target / CONTENTS).is_file():
        raise WrongUse(f"there is no backup in {str(target)[:200]!r}; name a folder that hubbub ledger backup made")
    try:
        listed = read((target / CONTENTS).read_bytes(), "the list of the backup")
        files = {str(name): str(digest) for name, digest in listed["files"].items()}
        complete = listed["format"] == FORMAT and all(
            name.startswith(LEDGER) and Path(name).name == name and durable.sha256(target / name) == digest
            for name, digest in files.items()
        )
    except (OSError, KeyError, TypeError, AttributeError, CheckFailed):
        complete = False
    if not complete:
        raise CheckFailed(f"{str(target)!r} is no whole backup: it was cut short or changed; use another")
    return files


def _check_certificates(entries: Sequence[Entry], certificates: Sequence[str | os.PathLike[str]]) -> None:
    committed = {str(entry.body["certificate"]) for entry in entries if "certificate" in entry.body}
    for path in certificates:
        try:
            digest = durable.sha256(path)
        except OSError:
            raise WrongUse(f"there is no certificate {str(path)[:200]!r} that can be read; check the name") from None
        if digest not in committed:
            raise CheckFailed(
                f"the backup does not know the certificate {str(path)[:200]!r}: it is older than that, or of another ledger; "
                "restore the latest one"
            )
