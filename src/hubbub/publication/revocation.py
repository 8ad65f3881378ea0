"""What a publisher says of a release that is out: that it is withdrawn, or replaced by a corrected one.

Either is a revocation, a notice: the digest of a certificate, the digest of the certificate that stands in its place (of a withdrawal,
none), and a reason, signed by the ledger that published the release. It lies beside the certificate, as ``withdrawn.json``
or ``replaced.json``, and whoever verifies is told. The corrected release has the same bytes as ``replaces.json``.

What was spent stays spent: numbers that were out cannot be made unseen. A corrected release is a release like any other
and costs what it costs. Both stay as they are, with their certificates.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hubbub.certificate.certificate import SIGNATURE, sign, signed_by, signed_bytes
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.ledger import durable
from hubbub.ledger.key import is_signature
from hubbub.runtime.frozen import dataclass
from hubbub.runtime.regular_file import open_regular
from hubbub.serialization.canonical import LARGEST, read
from hubbub.serialization.published_files import CERTIFICATE

if TYPE_CHECKING:
    from hubbub.ledger.ledger import Ledger

WITHDRAWN: Final = "withdrawn.json"
REPLACED: Final = "replaced.json"
REPLACES: Final = "replaces.json"
_FORMAT: Final = "hubbub notice/1"
_LONGEST: Final = 1000  # signs of a reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """The release with this certificate stands no more: it is withdrawn, or `by` is the certificate in its place."""

    certificate: str
    by: str | None
    reason: str

    def sentence(self) -> str:
        """For whoever verifies the release that stands no more."""
        if self.by is None:
            return f"its publisher withdrew it: {self.reason}"
        return f"its publisher replaced it by the release whose certificate has the digest {self.by}: {self.reason}"

    def replacing(self) -> str:
        """For whoever verifies the one that stands in its place."""
        return f"the release whose certificate has the digest {self.certificate}: {self.reason}"


def withdraw(
    folder: str | os.PathLike[str], reason: str, *, ledger: str | os.PathLike[str] | Ledger | None = None
) -> Path:
    """Take back the release in a folder, with a signed notice beside its certificate; returns where that is.

    Whoever verifies is then told, wherever the notice lies beside the certificate: publish it with the release.

    Guarantee: nothing is deleted, and nothing is given back: what was spent stays spent.
    """
    books, out = _ledger(ledger), Path(folder)
    words = _checked_reason(reason)
    revocation = Revocation(certificate=_valid_certificate(out, books), by=None, reason=words)
    _write(out / WITHDRAWN, revocation, books)
    return out / WITHDRAWN


def correct(
    folder: str | os.PathLike[str],
    by: str | os.PathLike[str],
    reason: str,
    *,
    ledger: str | os.PathLike[str] | Ledger | None = None,
) -> Path:
    """Say that the release in a folder is replaced by a corrected one in another; returns where the notice is.

    The corrected release is published first, like any other, and costs what it costs. The notice names both by the digests
    of their certificates, and lies in both folders: verify fails for the one, and says of the other what it replaces.

    Guarantee: nothing is deleted, and nothing is given back: what was spent stays spent.
    """
    books, old, new = _ledger(ledger), Path(folder), Path(by)
    words = _checked_reason(reason)
    replaced, standing = _valid_certificate(old, books), _valid_certificate(new, books)
    if replaced == standing:
        raise WrongUse("a release cannot replace itself; give the folder of the corrected one")
    revocation = Revocation(certificate=replaced, by=standing, reason=words)
    if (new / REPLACES).exists() and _read(new / REPLACES, books.public_key()) != revocation:
        raise WrongUse(f"the release in {str(new)[:200]!r} replaces another one already; publish one more for this")
    _write(new / REPLACES, revocation, books)
    _write(old / REPLACED, revocation, books)
    return old / REPLACED


def _ledger(given: str | os.PathLike[str] | Ledger | None) -> Ledger:
    from hubbub.ledger.ledger import Ledger  # whoever verifies reads notices without it

    return given if isinstance(given, Ledger) else Ledger(given)


def is_corrected(folder: Path, by: Path, ledger: Ledger) -> bool:
    """Whether a notice says that the release in one folder is replaced by the one in the other."""
    found = revocation_of(folder, _certificate(folder), ledger.public_key())
    return found is not None and found.by == _digest(_certificate(by))


def revocation_of(folder: Path, certificate: bytes, public_key: str) -> Revocation | None:
    """What a notice in the folder of a release says of it; None if there is none.

    Guarantee: a notice counts only if the key that signed the certificate signed it, about this very certificate.
    """
    for name in (WITHDRAWN, REPLACED):
        found = _read(folder / name, public_key)
        if (
            found is not None
            and found.certificate == _digest(certificate)
            and (found.by is None) is (name == WITHDRAWN)
        ):
            return found
    return None


def replaced_by(folder: Path, certificate: bytes, public_key: str) -> Revocation | None:
    """The notice in the folder of a corrected release, if it stands in the place of another; None if there is none.

    Guarantee: as that of :func:`revocation_of`.
    """
    found = _read(folder / REPLACES, public_key)
    return found if found is not None and found.by == _digest(certificate) else None


def _checked_reason(reason: str) -> str:
    if not isinstance(reason, str) or not reason.strip() or len(reason) > _LONGEST or not reason.isprintable():
        raise WrongUse(f"say why, in one line of at most {_LONGEST:,} signs, with `reason`")
    return reason.strip()


def _digest(certificate: bytes) -> str:
    return hashlib.sha256(certificate).hexdigest()


def _certificate(folder: Path) -> bytes:
    try:
        return (folder / CERTIFICATE).read_bytes()
    except OSError:
        raise WrongUse(f"there is no release in {str(folder)[:200]!r}; give the folder of one") from None


def _valid_certificate(folder: Path, ledger: Ledger) -> str:
    """The digest of the certificate of a release that this ledger published, and of which no notice says anything."""
    data = _certificate(folder)
    if signed_by(data, ledger) is None:
        raise Refused(
            "only who published a release withdraws or corrects it, and this ledger did not; use the ledger that did"
        )
    public = json.loads(data)[SIGNATURE]["public_key"]
    if public != ledger.public_key():
        raise Refused("this release was signed with an earlier key, which signs no more; tell its readers yourself")
    found = revocation_of(folder, data, public)
    if found is not None:
        what = "withdrawn" if found.by is None else "replaced"
        raise WrongUse(f"the release in {str(folder)[:200]!r} is {what} already, and stays so")
    return _digest(data)


def _write(path: Path, revocation: Revocation, ledger: Ledger) -> None:
    body = {"format": _FORMAT, "certificate": revocation.certificate, "by": revocation.by, "reason": revocation.reason}
    durable.write(path, sign(body, ledger))
    path.chmod(0o644)  # it is to be read


def _read(path: Path, public_key: str) -> Revocation | None:
    """A notice that this key signed; None if there is none."""
    try:
        with open_regular(path) as file:
            body: Any = read(file.read(LARGEST + 1), path.name)
        signature = body.pop(SIGNATURE)
        if body["format"] != _FORMAT or signature["public_key"] != public_key:
            return None
        if not is_signature(public_key, signature["value"], signed_bytes(body)):
            return None
        by = None if body["by"] is None else str(body["by"])
        return Revocation(certificate=str(body["certificate"]), by=by, reason=str(body["reason"]))
    except (OSError, HubbubError, KeyError, TypeError, AttributeError):
        return None
