"""The releases that certificates describe, one by one and as one sequence: exact laws against what they promise.

Nothing here knows a kind: each release is looked at through its own checks. Where all of a sequence are channels on one
partition, their joint laws are held against the total that the ledger's theorems give.

What several releases give away together, worked out from their exact laws, with no theorem.

The joint law of independent releases is the product of their laws. Outcomes far out are lumped, and so are outcomes
with the same likelihood ratio: both are post-processing, so what is found here is never more than what is given away;
with the tails of geometric laws, whose ratio does not change, it is not less either. Numbers are floats, within 1e-9:
for finding a sequence of releases that breaks its total, and so nothing is called proved here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub import registry
from hubbub.audit.exact import game_of, of_spec
from hubbub.audit.finding import Depth, Finding, Game, time_audit
from hubbub.channels.law import Block, Dense
from hubbub.channels.protocol import Channel
from hubbub.errors import CheckFailed, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy, Guarantee
from hubbub.guarantees.verdict import Refuted, Undecided, Verdict
from hubbub.ledger.admission import Entered, totals
from hubbub.ledger.charge import charge
from hubbub.numeric.exact import Infinite
from hubbub.numeric.format import short
from hubbub.protocol.bound import Bound
from hubbub.protocol.spec import Spec
from hubbub.runtime.regular_file import open_regular
from hubbub.serialization.canonical import read
from hubbub.serialization.exact_json import restored


def release_in(path: Path) -> tuple[Spec, tuple[Guarantee, ...]]:
    """The release that a certificate describes, and what it promises; who signed it is for hubbub verify."""
    try:
        with open_regular(path) as file:
            data = file.read()
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
    return (*found, time_audit(lambda: of_specs(specs))) if len(specs) > 1 else tuple(found)


def of_specs(specs: Sequence[Spec]) -> Finding:
    """Releases of the same people, in order: what they promise together, against their joint laws where known.

    Guarantee: `Refuted` only as :func:`hubbub.audit.sequence.of_sequence` does. What no theorem covers together is left
    undecided, and the ledger refuses it.
    """
    entered = [Entered(number=i, charge=charge(Bound(spec))) for i, spec in enumerate(specs, start=1)]
    total = totals(entered)
    if not total.holds:
        why = total.crowd_blending.why or total.differential.why
        return _undecided_finding(
            f"no theorem covers these releases together ({why}); the ledger would refuse them", "nothing"
        )
    promise = total.differential.guarantee
    channels = [each for each in (getattr(spec, "sampled_channel", None) for spec in specs) if each is not None]
    one_partition = len({spec.composition().partition for spec in specs}) == 1
    if isinstance(promise, DifferentialPrivacy) and one_partition and len(channels) == len(specs):
        return of_sequence(channels, promise)
    every = (total.differential, total.replaced, total.zero_knowledge, total.crowd_blending, total.outlier)
    guarantee = next(each.guarantee for each in every if each.guarantee is not None)
    return _undecided_finding("the joint laws of such releases are not worked out here", str(guarantee))


def _undecided_finding(why: str, claimed: str) -> Finding:
    return Finding(
        game=Game.DIFFERENTIAL,
        depth=Depth.EXACT,
        verdict=Undecided(why),
        claimed=claimed,
        subject="all of them together",
    )


Array: TypeAlias = NDArray[np.float64]
Pair: TypeAlias = tuple[Array, Array]
"""Two laws over the same outcomes."""

LOW: Final = -8
HIGH: Final = 13
SLACK: Final = 1e-9
_NOTHING: Final = 1e-300  # below any mass here that is not 0


@cache
def outcomes(channel: Channel, count: int, low: int = LOW, high: int = HIGH) -> Mapping[tuple[str, int], float]:
    """The law of one bin, with all below `low` and all above `high` lumped."""
    found: dict[tuple[str, int], float] = {}
    law = channel.law(count)
    for part in law.parts:
        for value in range(low, high + 1):
            mass = _mass_within(part, None if value == low else value, None if value == high else value)
            if mass is not None and float(mass.mid()) > _NOTHING:
                found[part.tag, value] = found.get((part.tag, value), 0.0) + float(mass.mid())
    assert abs(sum(found.values()) - 1) < 1e-6 + float(law.missing), "a law that is not all there"
    return found


def _mass_within(part: Block | Dense, low: int | None, high: int | None) -> arb | None:
    if isinstance(part, Block):
        cut = part.restrict(low, high)
        return None if cut is None else cut.total()
    first = 0 if low is None else max(0, low - part.lo)
    last = len(part.masses) if high is None else max(0, high - part.lo + 1)
    return sum(part.masses[first:last], arb(0)) if first < last else None


def pair(one: Mapping[object, float], two: Mapping[object, float]) -> Pair:
    """Both laws, outcomes with one likelihood ratio lumped."""
    if one == two:
        return np.ones(1), np.ones(1)
    keys = {**one, **two}
    p = np.array([one.get(key, 0.0) for key in keys])
    return lump_by_ratio(p, np.array([two.get(key, 0.0) for key in keys]))


def lump_by_ratio(p: Array, q: Array) -> Pair:
    """Outcomes with the same likelihood ratio put together."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.round(np.log(p) - np.log(q), 8)
    _, where = np.unique(ratio, return_inverse=True)
    return np.bincount(where, p).astype(float), np.bincount(where, q).astype(float)


def joint_pair(pairs: Iterable[Pair]) -> Pair:
    """Of independent releases."""
    p = q = np.ones(1)
    for one, two in pairs:
        if len(one) == 1:  # nothing is told apart
            continue
        p, q = lump_by_ratio(np.outer(p, one).ravel(), np.outer(q, two).ravel())
    return p, q


def loss(both: Pair) -> float:
    """The largest logarithm of a ratio."""
    p, q = both
    if ((p > 0) != (q > 0)).any():
        return math.inf
    return float(np.abs(np.log(p) - np.log(q)).max())


def delta(both: Pair, epsilon: float) -> float:
    """The smallest delta with which both are (epsilon, delta)-close."""
    p, q = both
    if math.isinf(epsilon):
        return 0.0
    factor = math.exp(epsilon)
    return float(max(np.maximum(p - factor * q, 0).sum(), np.maximum(q - factor * p, 0).sum()))


@cache
def bin_apart(channel: Channel, one: int, two: int) -> Pair:
    """One bin of two tables."""
    return pair(dict(outcomes(channel, one)), dict(outcomes(channel, two)))


def of_sequence(
    channels: Sequence[Channel], promise: DifferentialPrivacy, counts: Iterable[int] = range(1, 9), subject: str = ""
) -> Finding:
    """Several releases of one table by one partition, each through its channel, against what all promise together.

    Guarantee: `Refuted` only if at some count the joint laws are further apart than promised, by more than 1e-9.
    """
    assert not isinstance(promise.epsilon, Infinite), "nothing is promised"
    epsilon, most, examined = float(promise.epsilon), float(promise.delta), tuple(counts)
    worst, at = -math.inf, examined[0]
    for count in examined:
        excess = delta(joint_pair(bin_apart(channel, count, count - 1) for channel in channels), epsilon) - most
        worst, at = max((worst, at), (excess, count))
    verdict: Verdict = Undecided(
        f"at counts {examined[0]} to {examined[-1]} the joint laws are as close as promised, to nine digits"
    )
    if worst > SLACK:
        witness = (
            ("count", str(at)),
            ("neighbour", str(at - 1)),
            ("delta_at_least", short(most + worst - SLACK, 6, up=False)),
        )
        verdict = Refuted("all releases together tell more than is promised", witness)
    return Finding(
        game=game_of(promise),
        depth=Depth.EXACT,
        verdict=verdict,
        claimed=str(promise),
        subject=subject or f"{len(channels)} releases of one table",
        lower_bound=f"delta {short(max(most + worst - SLACK, 0), 6, up=False)}",
    )
