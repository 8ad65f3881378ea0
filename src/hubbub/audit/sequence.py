"""The releases that certificates describe, one by one and as one sequence: exact laws against what they promise.

Nothing here knows a kind: each release is looked at through its own checks. Where all of a sequence are channels on one
partition, their joint laws are held against the total that the ledger's theorems give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hubbub import registry
from hubbub.audit.exact import of_spec
from hubbub.audit.finding import Depth, Finding, Game, timed
from hubbub.audit.joint import of_sequence
from hubbub.errors import CheckFailed, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy, Guarantee
from hubbub.guarantees.verdict import Undecided
from hubbub.ledger.admission import Entered, totals
from hubbub.ledger.charge import charge
from hubbub.protocol.bound import Bound
from hubbub.protocol.spec import Spec
from hubbub.serialization.canonical import read
from hubbub.serialization.exact_json import restored


def release_in(path: Path) -> tuple[Spec, tuple[Guarantee, ...]]:
    """The release that a certificate describes, and what it promises; who signed it is for hubbub verify."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise WrongUse(
            f"{path.name} cannot be read ({error.strerror or error}); give the path of a certificate"
        ) from error
    try:
        body: Any = read(data, "the certificate")
        claims = tuple(restored(Guarantee, each["promise"]) for each in body["guarantees"])
        return registry.read(body["kind"], body["release"]), claims
    except (KeyError, TypeError) as error:
        raise CheckFailed(
            f"{path.name} does not describe a release as certificates do; hubbub verify says what is wrong"
        ) from error


def of_certificates(paths: Sequence[Path]) -> tuple[Finding, ...]:
    """Each release by its exact laws, and all of them together if there are several."""
    both = [release_in(path) for path in paths]
    specs = [spec for spec, _ in both]
    found: list[Finding] = []
    for path, (spec, claims) in zip(paths, both, strict=True):
        found += [replace(each, subject=f"{path.name}: {each.subject}") for each in of_spec(spec, claims=claims)]
    return (*found, timed(lambda: of_specs(specs))) if len(specs) > 1 else tuple(found)


def of_specs(specs: Sequence[Spec]) -> Finding:
    """Releases of the same people, in order: what they promise together, against their joint laws where known.

    Guarantee: `Refuted` only as :func:`hubbub.audit.joint.of_sequence` does. What no theorem covers together is left
    undecided, and the ledger refuses it.
    """
    entered = [Entered(number=i, charge=charge(Bound(spec))) for i, spec in enumerate(specs, start=1)]
    total = totals(entered)
    if not total.holds:
        why = total.crowd_blending.why or total.differential.why
        return _undecided(f"no theorem covers these releases together ({why}); the ledger would refuse them", "nothing")
    promise = total.differential.guarantee
    channels = [each for each in (getattr(spec, "sampled_channel", None) for spec in specs) if each is not None]
    one_partition = len({spec.composition().partition for spec in specs}) == 1
    if isinstance(promise, DifferentialPrivacy) and one_partition and len(channels) == len(specs):
        return of_sequence(channels, promise)
    every = (total.differential, total.replaced, total.zero_knowledge, total.crowd_blending, total.outlier)
    guarantee = next(each.guarantee for each in every if each.guarantee is not None)
    return _undecided("the joint laws of such releases are not worked out here", str(guarantee))


def _undecided(why: str, claimed: str) -> Finding:
    return Finding(
        game=Game.DIFFERENTIAL,
        depth=Depth.EXACT,
        verdict=Undecided(why),
        claimed=claimed,
        subject="all of them together",
    )
