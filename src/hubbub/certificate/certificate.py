"""The certificate of a release: what is promised, to whom, under which assumptions, by which theorems, signed.

It is made from the release's public description, its place in the ledger and the digests of the published files, and
from nothing else. It holds identifiers and exact numbers and no sentence: :mod:`hubbub.certificate.explanation` makes
the sentences from those, so that a better sentence, or a sharper bound, leaves an old certificate as good as it was.
:mod:`hubbub.verification` derives everything again and compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import hubbub
from hubbub.guarantees.curve import Curve
from hubbub.ledger.key import ALGORITHM, is_signature
from hubbub.numeric.exact import Infinite, Loss, to_float, to_text
from hubbub.serialization.canonical import Plain, canonical, read
from hubbub.serialization.exact_json import plain

if TYPE_CHECKING:
    from hubbub.guarantees.definitions import Guarantee
    from hubbub.guarantees.derivation import Derivation
    from hubbub.guarantees.people import People
    from hubbub.ledger.ledger import Ledger
    from hubbub.protocol.release import Release, Reservation

FORMAT: Final = "hubbub certificate 1"
SIGNATURE: Final = "signature"
_ANY_FORMAT: Final = "hubbub certificate "


def draft(release: Release, files: Mapping[str, str], reservation: Reservation) -> dict[str, Any]:
    """The certificate of a release that was written to files of these names and digests, not yet signed."""
    return certificate(release, files, entry_of(reservation))


def sign(body: Mapping[str, Any], ledger: Ledger) -> bytes:
    """The certificate, signed by the ledger's key."""
    public, signature = ledger.sign(signed_bytes(body))
    return canonical(dict(body) | {SIGNATURE: {"algorithm": ALGORITHM, "public_key": public, "value": signature}})


def signed_bytes(body: Mapping[str, Any]) -> bytes:
    """What is signed: the certificate without its signature, marked as one of its format."""
    return str(body.get("format", FORMAT)).encode() + b"\n" + canonical(dict(body))


def signed_by(data: bytes, ledger: Ledger, form: str = _ANY_FORMAT) -> dict[str, Any] | None:
    """The certificate in these bytes without its signature, if a key of this ledger signed it; else None. `form` is how
    its format begins."""
    body: Any = read(data, "the certificate")
    try:
        signature = body.pop(SIGNATURE)
        public, value = str(signature["public_key"]), str(signature["value"])
        ours = str(body["format"]).startswith(form) and public in ledger.public_keys()
    except (KeyError, TypeError, AttributeError):
        return None
    return dict(body) if ours and is_signature(public, value, signed_bytes(body)) else None


def entry_of(reservation: Reservation) -> dict[str, Plain]:
    """The release's place in the ledger, as the certificate names it.

    Not by number: attempts that were given up because of the data are numbered too, and would be told.
    """
    return {
        "id": reservation.identity,
        "dataset": reservation.dataset,
        "hash": reservation.hash,
        "nonce": reservation.nonce,
    }


def certificate(release: Release, files: Mapping[str, str], entry: Mapping[str, Plain]) -> dict[str, Any]:
    """All of it but the signature, as JSON values without a float: numbers are exact text."""
    return {
        "format": FORMAT,
        "software": f"hubbub {hubbub.__version__}",
        "kind": release.spec.kind.wire,
        "release": release.bound.json,
        "reading": dict(release.reading),
        "files": dict(files),
        "ledger": dict(entry),
        "guarantees": [derivation_json(step) for step in release.promises],
    }


def derivation_json(step: Derivation) -> dict[str, Plain]:
    """A promise with whom it is about, the theorem behind it, what went into that, and what it rests on."""
    return {
        "promise": plain(step.conclusion),
        **whom(step.people),
        "theorem": step.theorem.id,
        "given": dict(step.inputs),
        "assumptions": [{"id": each.id, **dict(each.given)} for each in step.assumptions],
        "premises": [derivation_json(premise) for premise in step.premises],
    }


def whom(people: People | None) -> dict[str, Plain]:
    """Whom a promise is about, for JSON: whose data, and the column that says who is who ("row": each row a person)."""
    return {} if people is None else {"people": people.whose.value, "unit": people.unit}


def about(guarantee: Guarantee, people: People | None = None) -> dict[str, Any]:
    """A guarantee for JSON: its notion, whom it is about, the neighbouring relation, and each parameter as exact text
    and as a float rounded up."""

    under = {"neighbours": guarantee.neighbours.value, "number_is_public": guarantee.neighbours.number_is_public}
    fields: dict[str, Any] = {"notion": guarantee.notion, "says": str(guarantee), **whom(people), **under}
    for name, field in guarantee.__dataclass_fields__.items():
        value = getattr(guarantee, name)
        if field.metadata.get("unsaid") and value == field.default:
            continue
        if isinstance(value, Curve):
            fields[name] = str(value)
        elif isinstance(value, tuple):
            fields[name] = [to_text(part) if not isinstance(part, int) else part for part in value]
        elif isinstance(value, bool | int):
            fields[name] = value
        elif isinstance(value, Loss):
            fields[name] = "inf" if isinstance(value, Infinite) else to_float(value, round_up=True)
            fields[f"{name}_exact"] = to_text(value)
        else:
            fields[name] = str(getattr(value, "value", value))
    return fields
