"""A promise as text: ``differential:epsilon=1,delta=1e-9``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.guarantees.curve import read
from hubbub.guarantees.definitions import (
    Aggregate,
    BernoulliSample,
    CrowdBlending,
    DifferentialPrivacy,
    Guarantee,
    Neighbours,
    OutlierPrivacy,
    RandomSample,
    SimpleOutlier,
    ZeroKnowledge,
)
from hubbub.numeric.exact import INFINITY, Loss
from hubbub.numeric.limits import a_delta, a_loss, a_rate, a_size


@dataclass(frozen=True, slots=True)
class _Values:
    """The numbers of a promise by name, read when they are asked for."""

    kind: str
    given: Mapping[str, str]

    def text(self, name: str) -> str:
        if name not in self.given:
            raise WrongUse(f"{self.kind} needs {name}, like {self.kind}:{name}=...; see hubbub account convert --help")
        return self.given[name]

    def loss(self, name: str) -> Loss:
        given = self.text(name)
        return INFINITY if given.lower() in ("inf", "infinity") else a_loss(given, name)

    def rate(self) -> Fraction:
        return a_rate(self.text("rate"), "rate")

    def delta(self) -> Fraction:
        return a_delta(self.given.get("delta", "0"), "delta")

    def integer(self, name: str, default: str | None = None) -> int:
        return a_size(self.given[name] if name in self.given else default or self.text(name), name)


def _differential(v: _Values) -> Guarantee:
    relations = {"add/remove": Neighbours.ADD_REMOVE, "replace": Neighbours.REPLACE}
    which = v.given.get("neighbours", "add/remove")
    if which not in relations:
        raise WrongUse(f"neighbours are add/remove or replace, not {which[:20]!r}")
    group = v.integer("group", "1")
    return DifferentialPrivacy(epsilon=v.loss("epsilon"), delta=v.delta(), neighbours=relations[which], group=group)


def _zero_knowledge(v: _Values) -> Guarantee:
    aggregate: Aggregate
    if "rate" in v.given:
        aggregate = BernoulliSample(p=v.rate())
    else:
        aggregate = RandomSample(k=v.integer("k"), n=v.integer("n") if "n" in v.given else None)
    return ZeroKnowledge(epsilon=v.loss("epsilon"), delta=v.delta(), aggregate=aggregate, group=v.integer("group", "1"))


_READERS: Final[Mapping[str, tuple[frozenset[str], Callable[[_Values], Guarantee]]]] = {
    "differential": (frozenset({"epsilon", "delta", "neighbours", "group"}), _differential),
    "zero-knowledge": (frozenset({"epsilon", "delta", "k", "n", "rate", "group"}), _zero_knowledge),
    "crowd-blending": (
        frozenset({"k", "epsilon"}),
        lambda v: CrowdBlending(k=v.integer("k"), epsilon=v.loss("epsilon")),
    ),
    "simple-outlier": (
        frozenset({"k", "epsilon", "delta"}),
        lambda v: SimpleOutlier(k=v.integer("k"), epsilon=v.loss("epsilon"), delta=v.delta()),
    ),
    "outlier": (
        frozenset({"curve", "delta"}),
        lambda v: OutlierPrivacy(curve=read(v.text("curve")).curve, delta=v.delta()),
    ),
}


def promise(text: str) -> Guarantee:
    """The guarantee that ``kind:name=value,name=value`` says.

    >>> print(promise("crowd-blending:k=20,epsilon=0.5"))
    (20, 0.5)-crowd-blending
    """
    kind, _, rest = text.partition(":")
    pairs = [part.partition("=") for part in re.split(r",(?=\s*[a-z_]+=)", rest)] if rest.strip() else []
    given = {name.strip(): value.strip() for name, _, value in pairs}
    if len(given) < len(pairs):
        raise WrongUse(f"{kind} has a number that is given twice; give each once")
    if kind.strip() not in _READERS:
        raise WrongUse(f"a promise begins with one of {', '.join(_READERS)} and a colon, not {kind.strip()[:40]!r}")
    names, reader = _READERS[kind.strip()]
    for name in given:
        if name not in names:
            raise WrongUse(f"{kind} has no number {name[:40]!r}; it has {', '.join(sorted(names))}")
    return reader(_Values(kind, given))
