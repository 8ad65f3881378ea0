"""The certificate of a release: what is promised, under which assumptions, by which theorems, in exact numbers, signed.

It is made from the release's public description, its place in the ledger and the digest of the published file, and
from nothing else; :mod:`hubbub.verify` makes it again from those and compares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import hubbub
from hubbub.exact import Infinite, Loss, to_float, to_text
from hubbub.guarantees.canonical import canonical
from hubbub.guarantees.curve import Curve
from hubbub.guarantees.definitions import Guarantee
from hubbub.guarantees.derivation import Derivation
from hubbub.ledger.book import Ledger, Reservation
from hubbub.ledger.key import ALGORITHM
from hubbub.release import Release
from hubbub.tables.bins import Axis
from hubbub.tables.description import description
from hubbub.tables.histogram import Histogram

FORMAT: Final = "hubbub certificate 2"
NEIGHBOURS: Final = "one person is added or removed"
SIGNATURE: Final = "signature"


def draft(release: Release, file: str, sha256: str, place: Reservation) -> dict[str, Any]:
    """The certificate of the release that was written to a file of that name and digest, not yet signed."""
    return certificate(release.spec, release.axes, release.promises, release_of(file, sha256), entry_of(place))


def sign(body: Mapping[str, Any], ledger: Ledger) -> bytes:
    """The certificate, signed by the ledger's key."""
    public, signature = ledger.sign(signed_bytes(body))
    return canonical(dict(body) | {SIGNATURE: {"algorithm": ALGORITHM, "public_key": public, "value": signature}})


def signed_bytes(body: Mapping[str, Any]) -> bytes:
    """What is signed: the certificate without its signature, marked as one."""
    return FORMAT.encode() + b"\n" + canonical(dict(body))


def release_of(file: str, sha256: str) -> dict[str, str]:
    """The published file, as the certificate names it."""
    return {"release_file": file, "release_sha256": sha256}


def entry_of(place: Reservation) -> dict[str, Any]:
    """The release's place in the ledger, as the certificate names it.

    Not by number: attempts that were given up because of the data are numbered too, and would be told.
    """
    return {
        "id": place.identity,
        "dataset": place.dataset,
        "hash": place.hash,
        "nonce": place.nonce,
    }


def certificate(
    spec: Histogram,
    axes: tuple[Axis, ...],
    promises: Sequence[Derivation],
    release: Mapping[str, str],
    entry: Mapping[str, Any],
    software: str = f"hubbub {hubbub.__version__}",
) -> dict[str, Any]:
    """All of it but the signature, as JSON values without a float: numbers are exact text."""
    return {
        **description(spec, axes),
        **release,
        "format": FORMAT,
        "software": software,
        "ledger": dict(entry),
        "person": spec.unit.words,
        "neighbours": NEIGHBOURS,
        "counted": counted_people(spec),
        "assumptions": list(dict.fromkeys(text for step in promises for text in step.all_assumptions())),
        "guarantees": [{**about(step.conclusion, floats=False), "derivation": tree(step)} for step in promises],
    }


def counted_people(spec: Histogram) -> str:
    """Whom the published numbers and intervals count."""
    if spec.sample is None:
        return "the people in the table"
    return "everybody in the table, scaled up from a sample" if spec.scale_up else "the people in the secret sample"


def about(guarantee: Guarantee, *, floats: bool = True) -> dict[str, Any]:
    """A guarantee by its notion, with each parameter as exact text; with `floats` also as a float rounded up."""
    fields: dict[str, Any] = {"notion": _notion(guarantee), "says": str(guarantee)}
    for name in ("k", "epsilon", "delta", "group", "curve", "aggregate", "sample", "thresholds", "epsilons"):
        value = getattr(guarantee, name, None)
        if value is None:
            continue
        if isinstance(value, Curve):
            fields[name] = str(value)
        elif isinstance(value, tuple):
            fields[name] = [to_text(part) if not isinstance(part, int) else part for part in value]
        elif isinstance(value, int) or not isinstance(value, Loss):
            fields[name] = value if isinstance(value, int) else str(value)
        elif floats:
            fields[name] = "inf" if isinstance(value, Infinite) else to_float(value, round_up=True)
            fields[f"{name}_exact"] = to_text(value)
        else:
            fields[name] = to_text(value)
    return fields


def _notion(guarantee: Guarantee) -> str:
    return {"simple-outlier": "outlier", "staircase": "outlier"}.get(guarantee.notion, guarantee.notion)


def tree(step: Derivation) -> dict[str, Any]:
    """A derivation with its premises, numbers and assumptions."""
    return {
        "conclusion": str(step.conclusion),
        "theorem": step.theorem,
        "source": step.source,
        "numbers": dict(step.numbers),
        "assumptions": list(step.assumptions),
        "premises": [tree(premise) for premise in step.premises],
    }
