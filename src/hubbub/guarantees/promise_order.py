"""The order in which the promises of a release are shown: the requested one comes first."""

from __future__ import annotations

from collections.abc import Sequence

from hubbub.guarantees.definitions import DifferentialPrivacy, OutlierPrivacy, TailoredPrivacy, ZeroKnowledge
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.people import People, Whose


def requested_first(promises: Sequence[Derivation]) -> tuple[Derivation, ...]:
    """The promises with the one that was asked for first, the others as they were derived.

    A secret sample is drawn so that nothing is told beyond such a sample. One loss for every crowd is differential
    privacy, whatever mechanism gives it. In all other cases the mechanism's own promise is what was asked for.
    """
    first = _sampled(promises) or _flat(promises)
    return tuple(promises) if first is None else (first, *(step for step in promises if step is not first))


def requested(promises: Sequence[Derivation]) -> tuple[Derivation, ...]:
    """The promise that was asked for, and the first to any other people than its own."""
    first: dict[People | None, Derivation] = {}
    for step in requested_first(promises):
        first.setdefault(step.people, step)
    return tuple(first.values())


def _sampled(promises: Sequence[Derivation]) -> Derivation | None:
    """What a secret sample promises to the people of the data; not to a population that was only declared."""
    for step in promises:
        declared = step.people is not None and step.people.whose is Whose.POPULATION
        if isinstance(step.conclusion, ZeroKnowledge) and not declared:
            return step
    return None


def _flat(promises: Sequence[Derivation]) -> Derivation | None:
    own = promises[0].conclusion if promises else None
    if not isinstance(own, OutlierPrivacy | TailoredPrivacy) or not own.curve.is_flat:
        return None
    return next((step for step in promises if isinstance(step.conclusion, DifferentialPrivacy)), None)
