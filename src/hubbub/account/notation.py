"""A promise as text: ``differential:epsilon=1,delta=1e-9``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.guarantees.accountant.gaussian import GaussianNoise, by_ones
from hubbub.guarantees.curve import read
from hubbub.guarantees.definitions import (
    Aggregate,
    BernoulliSample,
    ConcentratedPrivacy,
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
from hubbub.runtime.frozen import dataclass


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


def _relation(v: _Values) -> Neighbours:
    relations = {"add/remove": Neighbours.ADD_REMOVE, "replace": Neighbours.REPLACE}
    which = v.given.get("neighbours", "add/remove")
    if which not in relations:
        raise WrongUse(f"neighbours are add/remove or replace, not {which[:20]!r}")
    return relations[which]


def _differential(v: _Values) -> Guarantee:
    group = v.integer("group", "1")
    return DifferentialPrivacy(epsilon=v.loss("epsilon"), delta=v.delta(), neighbours=_relation(v), group=group)


def _concentrated(v: _Values) -> Guarantee:
    rho = v.loss("rho")
    if rho == INFINITY:
        raise WrongUse("an infinite rho promises nothing; give a number, like concentrated:rho=0.005")
    assert isinstance(rho, Fraction)
    return ConcentratedPrivacy(rho=rho, neighbours=_relation(v), group=v.integer("group", "1"))


def noise(text: str) -> GaussianNoise | None:
    """The Gaussian noise that ``gaussian:variance=100,numbers=5`` says: of so many numbers one person moves each by 1;
    None for other text.

    >>> noise("gaussian:variance=100").rho
    Fraction(1, 200)
    """
    kind, given = _split(text)
    if kind != "gaussian":
        return None
    _check_names(kind, given, frozenset({"variance", "numbers"}))
    values = _Values(kind, given)
    variance = a_loss(values.text("variance"), "variance")
    if not variance:
        raise WrongUse("Gaussian noise has a variance above 0; give one, like gaussian:variance=100")
    return by_ones(variance, values.integer("numbers", "1"))


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
    "concentrated": (frozenset({"rho", "neighbours", "group"}), _concentrated),
    "crowd-blending": (
        frozenset({"k", "epsilon", "delta"}),
        lambda v: CrowdBlending(k=v.integer("k"), epsilon=v.loss("epsilon"), delta=v.delta()),
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
    kind, given = _split(text)
    if kind not in _READERS:
        raise WrongUse(f"a promise begins with one of {', '.join(_READERS)} and a colon, not {kind[:40]!r}")
    names, reader = _READERS[kind]
    _check_names(kind, given, names)
    return reader(_Values(kind, given))


def _split(text: str) -> tuple[str, dict[str, str]]:
    kind, _, rest = text.partition(":")
    pairs = [part.partition("=") for part in re.split(r",(?=\s*[a-z_]+=)", rest)] if rest.strip() else []
    given = {name.strip(): value.strip() for name, _, value in pairs}
    if len(given) < len(pairs):
        raise WrongUse(f"{kind} has a number that is given twice; give each once")
    return kind.strip(), given


def _check_names(kind: str, given: Mapping[str, str], names: frozenset[str]) -> None:
    for name in given:
        if name not in names:
            raise WrongUse(f"{kind} has no number {name[:40]!r}; it has {', '.join(sorted(names))}")
