"""From promises to promises: several releases as one, several people as one, one notion of privacy as another.

A promise as text: ``differential:epsilon=1,delta=1e-9``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import partial, reduce
from typing import Annotated, Any, Final

from hubbub.certificate.certificate import about
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees import composition as c
from hubbub.guarantees import implications as i
from hubbub.guarantees.accountant.accountant import Accountant, differential_exactly, of_noises, of_pair
from hubbub.guarantees.accountant.advanced_composition import (
    differential_beforehand,
    differential_of_sums,
    differential_so_far,
)
from hubbub.guarantees.accountant.concentrated import (
    compose_concentrated,
    concentrated_group,
    concentrated_to_differential,
    concentrated_to_replace,
    differential_to_concentrated,
    of_noise,
)
from hubbub.guarantees.accountant.gaussian import GaussianNoise, by_ones
from hubbub.guarantees.accountant.privacy_loss import RandomizedResponsePair
from hubbub.guarantees.curve import read
from hubbub.guarantees.definitions import (
    Aggregate,
    BernoulliSample,
    ConcentratedPrivacy,
    CrowdBlending,
    DifferentialPrivacy,
    Guarantee,
    Neighbours,
    OutlierKind,
    OutlierPrivacy,
    RandomSample,
    SimpleOutlier,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import Derivation, state_promise
from hubbub.guarantees.indistinguishability import cap_probability
from hubbub.guarantees.indistinguishability import times as so_often
from hubbub.numeric.exact import INFINITY, Exact, Infinite, Loss, ball, precision
from hubbub.numeric.format import numbers
from hubbub.numeric.limits import a_delta, a_loss, a_rate, a_size
from hubbub.protocol.option import option_help
from hubbub.runtime.frozen import dataclass

TARGETS: Final = (
    "differential",
    "replace",
    "zero-knowledge",
    "concentrated",
    "crowd-blending",
    "simple-outlier",
    "outlier",
    "distributional",
)

Promise = str | Guarantee
"""A guarantee, or text that says one."""
OnePromise = Annotated[Promise, option_help("PROMISE", "", first=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """What follows, in one way or in several that all hold, and what the paper has in the place of each."""

    ways: tuple[Derivation, ...]
    paper: tuple[dict[str, Any] | None, ...] = ()

    @property
    def conclusion(self) -> Guarantee:
        return self.ways[0].conclusion

    def sentences(self) -> tuple[str, ...]:
        """The promise, the theorem, and what is taken for granted."""
        return _premise_sentences(self.ways[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed(Following):
    """Several releases as one. `adaptive` is what holds if each was chosen after seeing earlier results."""

    at_delta: bool = False
    adaptive: Derivation | None = None

    def as_json(self) -> dict[str, Any]:
        also = None if self.adaptive is None else _as_json(self.adaptive)
        return _as_json(self.ways[0]) | ({"adaptive": also} if self.at_delta else {})

    def sentences(self) -> tuple[str, ...]:
        more = () if self.adaptive is None else ("", *_premise_sentences(self.adaptive))
        return (*_premise_sentences(self.ways[0]), *more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped(Following):
    """Several people as one, in every way that is known."""

    def as_json(self) -> dict[str, Any]:
        ways = [_as_json(way) | {"paper": paper} for way, paper in zip(self.ways, self.paper, strict=True)]
        return {**ways[0], "ways": ways}

    def sentences(self) -> tuple[str, ...]:
        sentences = tuple(f"{way.conclusion}, by {way.theorem}" for way in self.ways)
        return (*sentences, "", "All of these hold; use the one that suits.") if len(sentences) > 1 else sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted(Following):
    """One notion of privacy as another; `given` is the promise as it was said."""

    given: str

    def as_json(self) -> dict[str, Any]:
        return _as_json(self.ways[0]) | {"from": self.given, "paper": self.paper[0]}


def _as_json(step: Derivation) -> dict[str, Any]:
    return {
        **about(step.conclusion),
        "theorem": step.theorem.name,
        "source": step.theorem.source,
        "assumptions": list(step.all_assumptions()),
        "numbers": dict(step.numbers),
    }


def _premise_sentences(step: Derivation) -> tuple[str, ...]:
    return (
        f"{step.conclusion}",
        f"by {step.theorem} ({step.theorem.source}).",
        *(f"  if {text}" for text in step.all_assumptions()),
    )


def _derivation_of(given: Promise) -> Derivation:
    noise = _noise(given)
    if noise is not None:
        return of_noise(noise)
    return state_promise(read_promise(given) if isinstance(given, str) else given)


# --- several releases -------------------------------------------------------------------------------------------


def compose(
    *promises: Annotated[Promise, option_help("PROMISE PROMISE...", "", first=True)],
    same_partition: Annotated[
        bool, option_help(None, "All publish each bin of one public partition by itself.")
    ] = False,
    same_sample: Annotated[
        tuple[Exact, Exact] | None, option_help("K N", "All run on one secret sample of K of N rows.", parts=2)
    ] = None,
    times: Annotated[Exact, option_help("N", "All of them N times.")] = 1,
    delta: Annotated[
        Exact | None, option_help("D", "Differential privacy at this delta: less than the sum of the epsilons.")
    ] = None,
) -> Composed:
    """Several releases about the same people, taken as one. What does not compose is refused, with the way out.

    With `delta`, differentially private releases are composed at that delta: by the exact law of their losses, if every
    epsilon was fixed beforehand, and beside it what holds if each was chosen after seeing earlier results.

    Guarantee: what follows holds for all of them together, by the theorem that it names.
    """
    often = a_size(times, "`times`", least=1)
    noises = [_noise(given) for given in promises] * often
    steps = [_derivation_of(given) for given in promises] * often
    if len(steps) < 2:
        raise WrongUse("compose takes at least two promises, like differential:epsilon=1 differential:epsilon=0.5")
    if delta is not None:
        if same_partition or same_sample:
            raise WrongUse("`delta` is for plain differential privacy; leave out `same_partition` and `same_sample`")
        if any(noise is not None for noise in noises):
            return _with_gaussian(steps, noises, a_delta(delta, "`delta`"))
        return _at_delta(steps, a_delta(delta, "`delta`"))
    if same_sample:
        k, n = a_size(same_sample[0], "K", least=1), a_size(same_sample[1], "N", least=1)
        return Composed(ways=(c.zero_knowledge_same_sample(*steps, k=k, n=n),))
    if any(isinstance(step.conclusion, ConcentratedPrivacy) for step in steps):
        return Composed(ways=(compose_concentrated(*steps),))
    return Composed(ways=(reduce(partial(c.compose, same_partition=same_partition), steps),))


def _noise(given: Promise) -> GaussianNoise | None:
    return read_noise(given) if isinstance(given, str) else None


def _with_gaussian(steps: list[Derivation], noises: list[GaussianNoise | None], delta: Fraction) -> Composed:
    """Geometric and Gaussian releases by the exact law of all losses, and beside it what holds if each was chosen after
    seeing earlier results."""
    private = [each.conclusion for each in steps]
    total = Accountant()
    for noise, promise in zip(noises, private, strict=True):
        if noise is not None:
            total += of_noises([noise])
        elif isinstance(promise, DifferentialPrivacy) and not isinstance(promise.epsilon, Infinite):
            pair = RandomizedResponsePair(epsilon=promise.epsilon, delta=promise.delta)
            total += of_pair(pair, promise.neighbours)
        else:
            raise Refused(
                f"Gaussian noise adds up exactly with differential privacy, and {promise} is none; convert it"
            )
    exact = differential_exactly(total, *steps, at_delta=delta)
    own, chosen = total.infinite_mass, None
    if own < delta:
        losses = [
            concentrated_to_differential(s, delta=delta) if n is not None else s
            for n, s in zip(noises, steps, strict=True)
        ]
        chosen = differential_of_sums(
            *losses, grown=total.growths(), basic=total.basic, at_delta=delta - own, own_delta=own
        )
    return Composed(ways=(exact,), at_delta=True, adaptive=chosen)


def _at_delta(steps: list[Derivation], delta: Fraction) -> Composed:
    """Both theorems, the sharper one first; the other pays for its own delta beside those of the releases."""
    beforehand = differential_beforehand(*steps, at_delta=delta)
    own = sum(getattr(step.conclusion, "delta", 0) for step in steps)
    chosen = None
    with suppress(Refused):
        chosen = differential_so_far(*steps, at_delta=delta - own) if own < delta else None
    return Composed(ways=(beforehand,), at_delta=True, adaptive=chosen)


# --- several people ---------------------------------------------------------------------------------------------


def group(
    promise: OnePromise,
    people: Annotated[Exact, option_help("C", "How many people stand or fall together.")],
    *,
    k: Annotated[Exact | None, option_help("K", "For outlier privacy: each of them is a K-outlier.")] = None,
) -> Grouped:
    """What is promised to several people together, if one of them has a promise, in every way that is known.

    Guarantee: every way holds, by the theorem that it names.
    """
    step, size = _derivation_of(promise), a_size(people, "`people`", least=1)
    given = step.conclusion
    found: list[tuple[Derivation, dict[str, Any] | None]] = []
    if isinstance(given, DifferentialPrivacy):
        found.append((i.differential_group(step, group=size), None))
    elif isinstance(given, ConcentratedPrivacy):
        found.append((concentrated_group(step, group=size), None))
    elif isinstance(given, ZeroKnowledge):
        found.append((i.zero_knowledge_group(step, group=size), _paper_3(given, size)))
        found.append((i.zero_knowledge_group_total_variation(step, group=size), _paper_4(given, size)))
        with suppress(Refused):  # it is for k of n rows
            found.append((i.zero_knowledge_group_by_sampling(step, group=size), None))
    elif isinstance(given, OutlierKind):
        if k is None:
            raise WrongUse(
                "a group of outliers needs to know whose: add `k`, each of them being in a crowd of at most k"
            )
        found.append((i.outlier_group(i.to_outlier(step), k=a_size(k, "`k`", least=1), size=size), None))
    else:
        raise WrongUse(f"no theorem is about groups under {given}; convert it first")
    return Grouped(ways=tuple(way for way, _ in found), paper=tuple(paper for _, paper in found))


def _paper_3(given: ZeroKnowledge, people: int) -> dict[str, Any] | None:
    """Proposition 3 is for delta = 0."""
    return None if given.delta else numbers(epsilon=so_often(given.epsilon, 2 * people - 1), delta=0)


def _paper_4(given: ZeroKnowledge, people: int) -> dict[str, Any]:
    """Proposition 4 as printed: (2c - 1)(e^epsilon - 1 + delta)."""
    if isinstance(given.epsilon, Infinite):
        return numbers(epsilon=0, delta=1)
    with precision():
        delta = cap_probability((2 * people - 1) * (ball(given.epsilon).expm1() + ball(given.delta)))
    return numbers(epsilon=0, delta=delta)


# --- another notion ---------------------------------------------------------------------------------------------


def convert(
    promise: OnePromise,
    to: Annotated[str, option_help("KIND", f"One of {', '.join(TARGETS)}.")],
    *,
    k: Annotated[Exact | None, option_help("K", "The crowd size, where the target has one.")] = None,
    n: Annotated[Exact | None, option_help("N", "The number of rows, for differential to zero-knowledge.")] = None,
    rate: Annotated[
        Exact | None, option_help("P", "The rate at which people came into the data, for distributional.")
    ] = None,
    delta: Annotated[Exact | None, option_help("D", "The delta, for zCDP to differential privacy.")] = None,
) -> Converted:
    """From one notion of privacy to another. What does not follow is refused, with the reason.

    Differential privacy gives crowd-blending only where adding or removing a person is meant: publishing the number of
    people is 0-differentially private under replacement and hides nobody in a small table.

    Guarantee: what follows holds whenever the given promise does, by the theorem that it names.
    """
    if to not in TARGETS:
        raise WrongUse(f"`to` must be one of {', '.join(TARGETS)}, not {to[:40]!r}")
    step = _derivation_of(promise)
    given = step.conclusion
    paper = None
    if to == "zero-knowledge":
        found = i.differential_to_zero_knowledge(step, n=_number(n, "`n`"))
    elif to == "replace":
        is_rho = isinstance(given, ConcentratedPrivacy)
        found = concentrated_to_replace(step) if is_rho else i.add_remove_to_replace(step)
    elif to == "concentrated":
        found = differential_to_concentrated(step)
    elif to == "differential" and isinstance(given, ConcentratedPrivacy):
        if delta is None:
            raise WrongUse("zCDP is differential privacy at a delta; add `delta`, like 1e-9")
        found = concentrated_to_differential(step, delta=a_delta(delta, "`delta`"))
    elif to == "differential":
        outlier = isinstance(given, OutlierKind)
        found = i.outlier_to_differential(i.to_outlier(step)) if outlier else i.zero_knowledge_to_differential(step)
        paper = _paper_7(given)
    elif to == "crowd-blending":
        found = _crowds(step, k)
    elif to == "simple-outlier":
        found = i.differential_to_simple_outlier(step, k=_number(k, "`k`"))
    elif to == "distributional":
        if rate is None:
            raise WrongUse("distributional privacy is about how people came into the data; add `rate`")
        found = i.differential_to_distributional(step, sample=BernoulliSample(p=a_rate(rate, "`rate`")))
    else:
        found = i.differential_to_outlier(step) if isinstance(given, DifferentialPrivacy) else i.to_outlier(step)
    return Converted(ways=(found,), paper=(paper,), given=f"{promise}")


def _crowds(step: Derivation, k: Exact | None) -> Derivation:
    given = step.conclusion
    if isinstance(given, SimpleOutlier):
        return i.simple_outlier_to_crowd_blending(step)
    if isinstance(given, OutlierKind):
        return i.outlier_to_crowd_blending(i.to_outlier(step), k=_number(k, "`k`"))
    return i.differential_to_crowd_blending(step, k=_number(k, "`k`"))


def _paper_7(given: Guarantee) -> dict[str, Any] | None:
    """Proposition 7 is for delta = 0, and there as sharp as ours."""
    if not isinstance(given, ZeroKnowledge) or given.delta:
        return None
    return numbers(epsilon=so_often(given.epsilon, 2), delta=0)


def _number(given: Exact | None, what: str) -> int:
    if given is None:
        raise WrongUse(f"this conversion needs {what}; add it")
    return a_size(given, what, least=1)


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


def _read_concentrated(v: _Values) -> Guarantee:
    rho = v.loss("rho")
    if rho == INFINITY:
        raise WrongUse("an infinite rho promises nothing; give a number, like concentrated:rho=0.005")
    assert isinstance(rho, Fraction)
    return ConcentratedPrivacy(rho=rho, neighbours=_relation(v), group=v.integer("group", "1"))


def read_noise(text: str) -> GaussianNoise | None:
    """The Gaussian noise that ``gaussian:variance=100,numbers=5`` says: of so many numbers one person moves each by 1;
    None for other text.

    >>> read_noise("gaussian:variance=100").rho
    Fraction(1, 200)
    """
    kind, given = _split_text(text)
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
    "concentrated": (frozenset({"rho", "neighbours", "group"}), _read_concentrated),
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


def read_promise(text: str) -> Guarantee:
    """The guarantee that ``kind:name=value,name=value`` says.

    >>> print(read_promise("crowd-blending:k=20,epsilon=0.5"))
    (20, 0.5)-crowd-blending
    """
    kind, given = _split_text(text)
    if kind not in _READERS:
        raise WrongUse(f"a promise begins with one of {', '.join(_READERS)} and a colon, not {kind[:40]!r}")
    names, reader = _READERS[kind]
    _check_names(kind, given, names)
    return reader(_Values(kind, given))


def _split_text(text: str) -> tuple[str, dict[str, str]]:
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
