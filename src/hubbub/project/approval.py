"""A recorded approval: a signature over a review sheet, by somebody whose key the publisher knows.

Whoever approves needs the sheet alone, and neither the data nor the ledger of the publisher. What is signed is the sheet
without the lines that say how far a publication is, so that one approval holds for all of its runs.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final

from hubbub.errors import CheckFailed, Refused
from hubbub.ledger.key import is_signature
from hubbub.ledger.ledger import Ledger
from hubbub.project.review import STATE
from hubbub.runtime.regular_file import open_regular
from hubbub.serialization.canonical import LARGEST, canonical, read

APPROVAL: Final = "approval.json"
_FORMAT: Final = "hubbub approval/1"


def _signed_bytes(sheet: str) -> bytes:
    lines = [line for line in sheet.splitlines() if not line.startswith(f"- **{STATE}**:")]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return f"{_FORMAT}\n{digest}\n".encode()


def approve(sheet: str, ledger: Ledger) -> bytes:
    """The approval of a sheet in Markdown, signed with the key of a ledger."""
    public, signature = ledger.sign(_signed_bytes(sheet))
    return canonical({"format": _FORMAT, "public_key": public, "signature": signature})


def check_approval(sheet: str, file: Path, key: str) -> None:
    """Refuse a publication that the holder of a key did not approve as its sheet is now.

    Guarantee: returns only if the file holds a signature of this key over this sheet, but for the lines of its state.
    """
    try:
        with open_regular(file) as opened:
            data = opened.read(LARGEST + 1)
    except OSError:
        raise Refused(
            f"this publication waits for an approval, and there is none in {file}; let the sheet be signed with "
            "hubbub trust approve, and put it there"
        ) from None
    found: Any = read(data, str(file))
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise CheckFailed(f"{file} is no approval; ask for the original")
    if found.get("public_key") != key:
        raise Refused(f"{file} is signed with another key than the one that has to approve; ask for their signature")
    if not is_signature(key, str(found.get("signature")), _signed_bytes(sheet)):
        raise Refused("what was approved is another sheet than that of this plan; let this one be reviewed and signed")
