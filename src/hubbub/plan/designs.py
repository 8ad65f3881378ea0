"""The designs that reach a promise, each with what a release of it would promise and how exact it would be.

A design is the words of a release. Its promise is not computed here but derived by the same code
that derives a release's, from the same words; so the certificate will say what the plan says.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, Final

from hubbub.channels.protocol import LARGEST_RATE, SMALLEST_RATE
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.guarantees import implications as implied
from hubbub.guarantees.curve import Curve, read
from hubbub.guarantees.definitions import (
    BernoulliSample,
    CrowdBlending,
    DifferentialPrivacy,
    DistributionalPrivacy,
    OutlierKind,
    OutlierPrivacy,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import Derivation
from hubbub.kinds.histogram.request import plan_histogram
from hubbub.kinds.histogram.spec import Histogram
from hubbub.numeric.exact import Exact, Infinite, integer, rational, rounded, to_text
from hubbub.options.mechanism import Mechanism
from hubbub.plan.error import Expected, error_over_shape
from hubbub.plan.shape import Shape
from hubbub.plan.targets import Target, Want, largest_inner, smallest_crowd, why_not
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Discovered, parse

SHARES: Final = (Fraction(1), Fraction(3, 4), Fraction(1, 2), Fraction(1, 4))  # of the largest loss below k
_DIGITS: Final = 6
_SMALLEST: Final = Fraction(1, 10**9)  # of a rate: nobody draws one person in a billion

Asked = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is wanted, from which sampling rates, for data of which shape."""

    want: Want
    shape: Shape
    by: tuple[str, ...]
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    k: int | None = None
    curve: Curve | None = None
    rates: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """One way to do it: the words of a release, its promise, and what to expect of it.

    `stated` is the promise of the certificate that `promise` is, or follows from.
    """

    options: Asked
    spec: Histogram
    stated: Derivation
    promise: Derivation
    expected: Expected

    @property
    def rate(self) -> Fraction | None:
        return self.spec.sample

    def command(self, file: str, by: Sequence[str], out: str, *, person: str | None = None) -> str:
        """The release, as it is typed; without a person column, each row is a person."""
        words, described = dict(self.options), ""
        if "collected" in words:
            described = shlex.join(["hubbub", "describe", file, *_option("--collected", str(words.pop("collected")))])
        if "channel" in words or "show_above" in words:
            own = {name: words.pop(name) for name in tuple(words) if name not in _OF_RELEASE}
            own |= {"curve": own.pop("outlier")} if "outlier" in own else {}
            name = str(own.pop("channel", "warped"))
            parameters = tuple((key, value if value is True else str(value)) for key, value in own.items())
            words["mechanism"] = str(Mechanism(name, parameters))
        who = ["--rows-are-people"] if person is None else _option("--person", person)
        flags: list[str] = []
        for name, value in words.items():
            flag = "--" + name.replace("_", "-")
            flags += [flag] if value is True else _option(flag, str(value))
        columns = [part for spec in by for part in _option("--by", spec)]
        table = f"./{file}" if file.startswith("-") else file
        arguments = ["hubbub", "release", self.spec.kind.name, table, *who, *columns, *flags, *_option("--out", out)]
        return " && ".join(filter(None, (described, shlex.join(arguments))))


_OF_RELEASE: Final = ("sample", "scale_up", "at_delta")  # and not of its mechanism


def _option(flag: str, value: str) -> list[str]:
    """As a shell takes it, also where the value looks like an option."""
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The feasible designs, the smallest error first (of equal ones that with the plainer words), and why others were
    left out."""

    designs: tuple[Design, ...]
    left_out: tuple[str, ...]


def plan(request: Request) -> Plan:
    """Every design that reaches the promise.

    Guarantee: each design's promise was derived from the words of its release, and is at least what was asked for. Its
    error is an expectation for the stated shape, not a promise.
    """
    found: list[Design] = []
    left_out: dict[str, None] = {}
    for options in _candidates(request, left_out):
        try:
            found.append(_design(request, options))
        except HubbubError as error:
            left_out[error.marked] = None
    if not found:
        reasons = "; ".join(left_out) or "no rate was given"
        raise Refused(f"nothing reaches this promise: {reasons}")
    found.sort(
        key=lambda design: (round(design.expected.error, 6), design.expected.hidden_people, "outlier" in design.options)
    )
    return Plan(designs=tuple(found), left_out=tuple(left_out))


def _design(request: Request, options: Asked) -> Design:
    spec = plan_histogram(request.by, options)
    found = _promise_that_reaches(spec, request)
    if found is None:
        raise Refused(f"{' '.join(f'{k} {v}' for k, v in options.items())} does not reach the promise")
    rate = None if spec.sample is None else float(spec.sample)
    stated, promise = found
    hoped = error_over_shape(spec.channel, rate, request.shape)
    return Design(options=options, spec=spec, stated=stated, promise=promise, expected=hoped)


# --- what may do it ---------------------------------------------------------------------------------------------


def _candidates(request: Request, left_out: dict[str, None]) -> Iterator[Asked]:
    e = request.epsilon
    if request.want is Want.OUTLIER:
        yield from _outlier(request)
        return
    if request.want is Want.CROWD_BLENDING:
        assert request.k is not None
        yield {"crowd": request.k}
        if _drawable(e):
            yield {"crowd": request.k, "epsilon": to_text(e)}
            yield {"outlier": f"1:{to_text(e)},{request.k}:inf"}
            yield from _plain(e, {})
        return
    if request.want is not Want.ZERO_KNOWLEDGE and _drawable(e):
        yield from _plain(e, {})
        found = any(isinstance(parse(each), Discovered) for each in request.by)
        if request.want is Want.DIFFERENTIAL and found:
            if request.delta:
                yield {"epsilon": to_text(e), "delta": _brief(request.delta)}
            else:
                left_out["values that are found in the data cost a delta; add `delta`, like `delta=1e-6`"] = None
    for rate in request.rates:
        sample: dict[str, object] = {"sample": to_text(rate), "scale_up": True}
        if request.want is Want.DISTRIBUTIONAL:
            sample = {"collected": to_text(rate)}  # the table is the sample, and somebody is known to be in it
        else:
            yield from _plain(largest_inner(e, rate), sample)
        yield from _crowds(request, rate, {**sample, "at_delta": _brief(request.delta)}, left_out)


def _plain(e: Fraction, more: Asked) -> Iterator[Asked]:
    """Noise on every count, as it is or cut off at 0."""
    if _drawable(e):
        yield {"epsilon": to_text(e), **more}
        yield {"outlier": to_text(e), **more}


def _crowds(request: Request, rate: Fraction, more: Asked, left_out: dict[str, None]) -> Iterator[Asked]:
    """Exact counts from k on, and below nothing, or as little noise as the target lets."""
    most = request.epsilon if request.want is Want.DISTRIBUTIONAL else largest_inner(request.epsilon, rate)
    smallest = None
    for loss in dict.fromkeys((Fraction(0), *(_decimal(most * share) for share in SHARES))):
        if loss and not _drawable(loss):
            continue
        goal = Target(want=request.want, epsilon=request.epsilon, delta=request.delta, inner=loss)
        try:
            k = request.k if request.k is not None else smallest_crowd(goal, rate)
        except Refused as refusal:
            left_out[refusal.marked] = None
            continue
        reason = why_not(goal, k, rate)
        if k > request.shape.people:
            reason = f"a crowd of {k:,} is more than there are people; lower the rate, or raise epsilon or delta"
        if reason is not None:
            left_out[reason] = None
            continue
        yield {"crowd": k, **({"epsilon": to_text(loss)} if loss else {}), **more}
        if loss and k == smallest:
            return  # more noise buys no smaller crowd
        smallest = k if not loss else smallest


def _outlier(request: Request) -> Iterator[Asked]:
    curve = request.curve
    assert curve is not None
    yield {"outlier": str(curve)}
    last = curve.pieces[-1]
    if last.start > 1 and not last.rate:
        yield {"outlier": str(curve), "show_above": last.start - 1}
    lowest = curve.at(1)
    if not isinstance(lowest, Infinite) and _drawable(lowest) and len(curve.pieces) > 1:
        yield from _plain(lowest, {})
    simple = _simple(curve)
    if simple is not None and request.delta:
        k, epsilon = simple
        given = {"k": k, "epsilon": to_text(epsilon), "delta": _brief(request.delta)}
        yield {"channel": "outlier-suppressed", **given}
        yield {"channel": "outlier-noisy", **given}
    if lowest == 0 and isinstance(last.value, Infinite) and len(curve.pieces) == 2:
        yield {"channel": "simple-suppressed", "k": last.start - 1}


def _simple(curve: Curve) -> tuple[int, Fraction] | None:
    """(k, epsilon) if the curve is epsilon/k up to k and epsilon above."""
    if len(curve.pieces) != 2 or any(piece.rate for piece in curve.pieces):
        return None
    low, high = curve.pieces
    k = high.start - 1
    if isinstance(high.value, Infinite) or isinstance(low.value, Infinite) or low.value * k != high.value:
        return None
    return k, high.value


def _drawable(e: Fraction) -> bool:
    return SMALLEST_RATE <= e <= LARGEST_RATE


def _decimal(value: Fraction) -> Fraction:
    return rounded(value, up=False, digits=_DIGITS)


def _brief(value: Fraction) -> str:
    """As short as exact text can be: 1e-9 where it is that."""
    zeros = len(str(value.denominator)) - 1
    return f"1e-{zeros}" if zeros > 2 and value == Fraction(1, 10**zeros) else to_text(value)


# --- whether it does --------------------------------------------------------------------------------------------


def _promise_that_reaches(spec: Histogram, request: Request) -> tuple[Derivation, Derivation] | None:
    """The first promise of the certificate that is, or implies, what was asked for; and the one asked for."""
    of_the_table = spec.sample is None and spec.collected is None  # else some promises are about the population
    steps: tuple[Derivation, ...] = spec.promises()
    for step in steps:
        following = list(_follow(step, request)) if of_the_table else []
        for derived in (step, *following):
            if _enough(derived, request):
                return step, derived
    return None


def _follow(step: Derivation, request: Request) -> Iterator[Derivation]:
    given = step.conclusion
    with suppress(HubbubError):
        if request.want is Want.CROWD_BLENDING and request.k is not None:
            if isinstance(given, DifferentialPrivacy):
                yield implied.differential_to_crowd_blending(step, k=request.k)
            elif isinstance(given, OutlierKind):
                yield implied.outlier_to_crowd_blending(implied.to_outlier(step), k=request.k)
        if request.want is Want.OUTLIER:
            if isinstance(given, DifferentialPrivacy):
                yield implied.differential_to_outlier(step)
            elif isinstance(given, OutlierKind):
                yield implied.to_outlier(step)
        if request.want is Want.DISTRIBUTIONAL and isinstance(given, DifferentialPrivacy):
            for rate in request.rates[-1:] or [Fraction(1)]:
                yield implied.differential_to_distributional(step, sample=BernoulliSample(p=rate))


def _enough(step: Derivation, request: Request) -> bool:
    given = step.conclusion
    if request.want is Want.CROWD_BLENDING:
        enough = isinstance(given, CrowdBlending) and not given.delta and given.k >= (request.k or 0)
        return enough and isinstance(given, CrowdBlending) and given.epsilon <= request.epsilon
    if request.want is Want.OUTLIER:
        assert request.curve is not None
        curved = isinstance(given, OutlierPrivacy) and given.delta <= request.delta
        return curved and isinstance(given, OutlierPrivacy) and given.curve.at_most(request.curve)
    kinds = {
        Want.ZERO_KNOWLEDGE: ZeroKnowledge,
        Want.DIFFERENTIAL: DifferentialPrivacy,
        Want.DISTRIBUTIONAL: DistributionalPrivacy,
    }
    if not isinstance(given, kinds[request.want]):
        return False
    assert isinstance(given, ZeroKnowledge | DifferentialPrivacy | DistributionalPrivacy)
    return given.epsilon <= request.epsilon and given.delta <= request.delta


# --- the request, from text -------------------------------------------------------------------------------------


def read_rates(text: str | None) -> tuple[Fraction, ...]:
    """``0.1``, ``0.05,0.1`` or ``0.05..0.2``: five rates, from the one to the other. All lie between 0 and 1."""
    if text is None:
        return ()
    first, dots, last = text.partition("..")
    if dots:
        low, high = rational(first, "`rate`"), rational(last, "`rate`")
        if low > high:
            raise WrongUse(f"`rate` takes a range that rises, not {text[:40]!r}; put the smaller rate first")
        found = [low + (high - low) * Fraction(i, 4) for i in range(5)] if low < high else [low]
    else:
        found = [rational(part, "`rate`") for part in text.split(",")]
    if not all(_SMALLEST <= rate < 1 for rate in found):
        raise WrongUse("`rate` takes rates of at least 1e-9 and below 1, like 0.1 or 0.05..0.2; choose such rates")
    return tuple(sorted(set(found)))


def request(
    want: Want,
    shape: Shape,
    by: Sequence[str],
    *,
    epsilon: Exact | None,
    delta: Exact | None = None,
    k: Exact | None = None,
    curve: str | None = None,
    rates: tuple[Fraction, ...] = (),
) -> Request:
    """The request that these words make, or one sentence that says what is missing."""
    if want is Want.OUTLIER and curve is None:
        raise WrongUse("outlier privacy is wanted for a curve; add `curve`, like `curve=1:0.01,101:1`")
    if want is not Want.OUTLIER and curve is not None:
        raise WrongUse("`curve` goes with `want=outlier`; leave it out")
    if want is Want.CROWD_BLENDING and k is None:
        raise WrongUse("crowd-blending is wanted for a crowd; add `k`, like `k=20`")
    if want in (Want.ZERO_KNOWLEDGE, Want.DIFFERENTIAL, Want.DISTRIBUTIONAL) and epsilon is None:
        raise WrongUse(f"{want.value} privacy is wanted for a loss; add `epsilon`, like `epsilon=0.5`")
    if want in (Want.ZERO_KNOWLEDGE, Want.DISTRIBUTIONAL) and not rates:
        raise WrongUse(f"{want.value} privacy is about a secret sample; add `rate`, like `rate=0.05..0.2`")
    if want is Want.DISTRIBUTIONAL and len(rates) > 1:
        raise WrongUse("for distributional privacy `rate` is a fact about the table, at most which people came into it")
    if want in (Want.CROWD_BLENDING, Want.OUTLIER) and rates:
        raise WrongUse(f"{want.value} privacy is about the table itself; leave out `rate`")
    wanted = rational(epsilon, "`epsilon`") if epsilon is not None else Fraction(0)
    allowed = rational(delta, "`delta`") if delta is not None else Fraction(0)
    if wanted < 0 or not 0 <= allowed < 1:
        raise WrongUse("`epsilon` must be at least 0, and `delta` at least 0 and below 1; choose such numbers")
    if want is Want.CROWD_BLENDING and allowed:
        raise WrongUse("crowd-blending has no delta; leave out `delta`")
    return Request(
        want=want,
        shape=shape,
        by=tuple(by),
        epsilon=wanted,
        delta=allowed,
        k=None if k is None else integer(k, "`k`", least=2),
        curve=None if curve is None else read(curve).curve,
        rates=rates,
    )
