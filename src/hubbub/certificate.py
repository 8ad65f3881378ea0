"""The certificate of a release: what is promised, under which assumptions, by which theorems, in exact numbers.

It is made from the release's public description and the digest of the published file, and from nothing else.
"""

from __future__ import annotations

from typing import Any

import hubbub
from hubbub.channels.catalogue import parameters
from hubbub.exact import Infinite, Loss, to_float, to_text
from hubbub.guarantees.curve import Curve
from hubbub.guarantees.definitions import Guarantee
from hubbub.guarantees.derivation import Derivation
from hubbub.release import Release
from hubbub.tables.bins import Discovered, declared_size, rule, size

FORMAT = "hubbub certificate 1"


def certificate(release: Release, digest: str) -> dict[str, Any]:
    """The certificate as JSON values. Numbers are exact text; `about` repeats them as floats rounded up."""
    spec = release.spec
    total = declared_size(release.axes)
    return {
        "format": FORMAT,
        "software": f"hubbub {hubbub.__version__}",
        "release_sha256": digest,
        "channel": {"name": spec.channel.name, **parameters(spec.channel)},
        "sample": None if spec.sample is None else to_text(spec.sample),
        "bins": {
            "columns": [
                {
                    "column": axis.column,
                    "kind": axis.kind,
                    "bins": None if isinstance(axis, Discovered) else size(axis),
                    "rule": rule(axis),
                }
                for axis in release.axes
            ],
            "declared": total,
        },
        "unit": spec.unit.words,
        "neighbours": "one person is added or removed",
        "intervals": {"coverage": to_text(spec.coverage), "for": counted_people(release)},
        "remarks": list(spec.remarks),
        "guarantees": [{**about(step.conclusion), "derivation": tree(step)} for step in release.promises],
    }


def counted_people(release: Release) -> str:
    """Whom the published numbers and intervals count."""
    if release.spec.sample is None:
        return "the people in the table"
    return (
        "everybody in the table, scaled up from a sample"
        if release.spec.scale_up
        else "the people in the secret sample"
    )


def about(guarantee: Guarantee) -> dict[str, Any]:
    """A guarantee by its notion, with each parameter as exact text and as a float rounded up."""
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
        else:
            fields[name] = "inf" if isinstance(value, Infinite) else to_float(value, round_up=True)
            fields[f"{name}_exact"] = to_text(value)
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
