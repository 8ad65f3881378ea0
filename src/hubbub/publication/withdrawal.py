"""A release that its publisher takes back: a signed notice beside its certificate, which whoever verifies is told of.

What was spent stays spent: numbers that were out cannot be made unseen. The release and its certificate stay as they are.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from hubbub.certificate.certificate import SIGNATURE, sign, signed_by, signed_bytes
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.ledger import durable
from hubbub.ledger.key import signed
from hubbub.ledger.ledger import Ledger
from hubbub.publication.signed_files import CERTIFICATE
from hubbub.serialization.canonical import LARGEST, read

NOTICE: Final = "withdrawn.json"
_FORMAT: Final = "hubbub withdrawal/1"
_LONGEST: Final = 1000  # signs of a reason


def withdraw(folder: Path, reason: str, ledger: Ledger) -> Path:
    """Write the notice that the release in a folder is withdrawn, signed by the ledger that published it."""
    if not reason.strip() or len(reason) > _LONGEST or not reason.isprintable():
        raise WrongUse(f"say why it is withdrawn, in one line of at most {_LONGEST:,} signs, with `reason`")
    try:
        data = (folder / CERTIFICATE).read_bytes()
    except OSError:
        raise WrongUse(f"there is no release in {str(folder)[:200]!r}; give the folder of one") from None
    if signed_by(data, ledger) is None:
        raise Refused("only who published a release withdraws it, and this ledger did not; use the ledger that did")
    if json.loads(data)[SIGNATURE]["public_key"] != ledger.public_key():
        raise Refused("this release was signed with an earlier key, which signs no more; tell its readers yourself")
    if (folder / NOTICE).exists():
        raise WrongUse(f"the release in {str(folder)[:200]!r} is withdrawn already, and stays so")
    body = {"format": _FORMAT, "certificate": hashlib.sha256(data).hexdigest(), "reason": reason.strip()}
    durable.write(folder / NOTICE, sign(body, ledger))
    (folder / NOTICE).chmod(0o644)  # it is to be read
    return folder / NOTICE


def reason_of(folder: Path, certificate: bytes, public_key: str) -> str | None:
    """Why a release was withdrawn, by a notice in its folder; None if there is none.

    Guarantee: a notice counts only if the key that signed the certificate signed it, about this very certificate.
    """
    try:
        with (folder / NOTICE).open("rb") as file:
            body: Any = read(file.read(LARGEST + 1), NOTICE)
        signature = body.pop(SIGNATURE)
        same = body["format"] == _FORMAT and body["certificate"] == hashlib.sha256(certificate).hexdigest()
        ours = signature["public_key"] == public_key and signed(public_key, signature["value"], signed_bytes(body))
        return str(body["reason"]) if same and ours else None
    except (OSError, HubbubError, KeyError, TypeError, AttributeError):
        return None
