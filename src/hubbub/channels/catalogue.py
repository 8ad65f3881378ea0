"""Channels by name, with their options as exact text, as on the command line and in certificates."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, get_args, get_type_hints

from hubbub.channels.protocol import Card, Channel
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import Curve, Reading, read
from hubbub.numeric.exact import Exact, Infinite, integer, loss, positive, rational, to_text
from hubbub.runtime.frozen import dataclass

Options = Mapping[str, Any]

_MOST_LEVELS, _MOST_WAYS = 64, 10  # of a staircase, nested and as printed, that is read back


@dataclass(frozen=True, slots=True)
class Made:
    """A channel made from options, remarks for the user, and how its offset compares with the paper's."""

    channel: Channel
    remarks: tuple[str, ...] = ()
    calibration: Mapping[str, object] | None = None


def _make_outlier(kind: type[Any], o: Options) -> Made:
    from hubbub.channels.papers.outliers import calibrate

    k, epsilon = o["k"], o["epsilon"]
    if "alpha" in o:
        return Made(kind.with_alpha(k, epsilon, o["alpha"]))
    if "offset" in o:
        return Made(kind.with_offset(k, epsilon, o["offset"]))
    channel = kind.with_delta(k, epsilon, o["delta"])
    offsets = calibrate(channel.k, channel.epsilon, positive(o["delta"], "delta"), noisy=kind.name == "outlier-noisy")
    return Made(channel, calibration=offsets.as_json())


def _make_staircase(kind: type[Any], o: Options) -> Made:
    from hubbub.channels.papers import staircase

    nested = not o.get("as_printed", False)
    stairs = tuple(_parse_list(o["thresholds"])), tuple(_parse_list(o["epsilons"]))
    if "alpha" in o:
        return Made(staircase.from_alpha(*stairs, o["alpha"], nested=nested))
    if "offsets" in o:
        return Made(staircase.from_offsets(*stairs, tuple(_parse_list(o["offsets"])), nested=nested))
    channel = staircase.calibrate_staircase(*stairs, o["delta"], nested=nested)
    paper = staircase.paper_offsets(channel.epsilons, positive(o["delta"], "delta"))
    return Made(channel, calibration={"paper_offsets": list(paper), "exact_offsets": list(channel.offsets)})


def _curve(given: object) -> Reading:
    """A curve as text, as a number (the same for everybody), or as it is."""
    if isinstance(given, Curve):
        return Reading(given, False) if given.is_monotone else Reading(given.envelope(), True)
    return read(given if isinstance(given, str) else to_text(rational(given, "a curve")))  # type: ignore[arg-type]


def _make_lower_bound(kind: type[Any], o: Options) -> Made:
    from hubbub.channels.papers import lower_bound

    reading = _curve(o["curve"])
    extra = {name: o[name] for name in ("delta_a", "grid") if name in o}
    channel = lower_bound.lower_bound(reading.curve, o["estimator"], o["epsilon_a"], o["alpha"], **extra)
    return Made(channel, (reading.remark,) if reading.lowered else ())


def _make_lecture(kind: type[Any], o: Options) -> Made:
    if "factor" in o:
        return Made(kind.with_factor(o["t"], o["K"], o["epsilon"], o["factor"]))
    return Made(kind.with_delta(o["t"], o["K"], o["epsilon"], o.get("delta", "1e-6")))


def _make_gaussian(kind: type[Any], o: Options) -> Made:
    if "variance" in o:
        return Made(kind(o["epsilon"], o["variance"]))
    return Made(kind.with_delta(o["epsilon"], o["delta"]))


def _make_warped(kind: type[Any], o: Options) -> Made:
    reading = _curve(o["curve"])
    return Made(kind(reading.curve, o.get("show_above")), (reading.remark,) if reading.lowered else ())


def _parse_list(text: object) -> list[Exact]:
    if isinstance(text, str):
        return [part.strip() for part in text.split(",")]
    if isinstance(text, list | tuple):
        return list(text)
    raise WrongUse("a list is written with commas, like 1000,100,10")


def _noises() -> tuple[type[Any], ...]:
    from hubbub.channels.mechanisms.geometric import Geometric, Group

    return Geometric, Group


def _hiding() -> tuple[type[Any], ...]:
    from hubbub.channels.mechanisms.exact_above import ExactOrSuppressed, NoisyBelow

    return ExactOrSuppressed, NoisyBelow


def _tails() -> tuple[type[Any], ...]:
    from hubbub.channels.mechanisms.gaussian import Gaussian
    from hubbub.channels.mechanisms.warped import Warped

    return Gaussian, Warped


def _papers() -> tuple[type[Any], ...]:
    from hubbub.channels.mechanisms.exact_above import SimpleNoisy, SimpleSuppressed
    from hubbub.channels.papers.lecture import Lecture
    from hubbub.channels.papers.lower_bound import LowerBound
    from hubbub.channels.papers.outliers import OutlierNoisy, OutlierSuppressed
    from hubbub.channels.papers.staircase import Staircase

    return SimpleSuppressed, SimpleNoisy, OutlierSuppressed, OutlierNoisy, Staircase, LowerBound, Lecture


CHANNELS: Mapping[str, Callable[[], tuple[type[Any], ...]]] = {
    "exact-or-suppressed": _hiding,
    "noisy-below": _hiding,
    "geometric": _noises,
    "group": _noises,
    "gaussian": _tails,
    "simple-suppressed": _papers,
    "simple-noisy": _papers,
    "outlier-suppressed": _papers,
    "outlier-noisy": _papers,
    "staircase": _papers,
    "lower-bound": _papers,
    "lecture": _papers,
    "warped": _tails,
}
"""Every channel by name, with what loads its class: a release needs one of them, and of the papers' mostly none."""


def channel_class(name: str) -> type[Any]:
    """The class of the channel of that name; one sentence if there is none."""
    if name not in CHANNELS:
        raise WrongUse(f"there is no channel {name[:40]!r}; choose one of {', '.join(CHANNELS)}")
    return next(kind for kind in CHANNELS[name]() if kind.name == name)


def cards() -> dict[str, Card]:
    """What each channel says about itself."""
    return {name: channel_class(name).card for name in CHANNELS}


_MAKERS: Mapping[str, Callable[[type[Any], Options], Made]] = {
    "gaussian": _make_gaussian,
    "outlier-suppressed": _make_outlier,
    "outlier-noisy": _make_outlier,
    "staircase": _make_staircase,
    "lower-bound": _make_lower_bound,
    "lecture": _make_lecture,
    "warped": _make_warped,
}
"""How those are made that can be asked for in several ways; the others take their options as they are."""


def make(name: str, *, mechanism: bool = False, **options: Any) -> Made:
    """The channel of that name; options that are None or False count as not given. What is wrong with them is said in the
    words of a release where it is its `mechanism`, else in those of ``hubbub channel``."""
    kind = channel_class(name)
    entry: Card = kind.card
    given = {key: value for key, value in options.items() if value is not None and value is not False}
    known = {*entry.needs, *entry.may, *entry.one_of}
    example = f"like `channel={name}` {entry.example}"
    if mechanism:
        parameters = re.sub("` `", ",", entry.example).strip("`").replace("_", "-")
        example = f"like `mechanism={name}:{parameters}`"
    marked = str if mechanism else "`{}`".format
    for key in given:
        if key not in known:
            raise WrongUse(f"the channel {name} has no option {marked(key)}; use it {example}")
    for key in entry.needs:
        if key not in given:
            raise WrongUse(f"the channel {name} needs {marked(key)}, {example}")
    chosen = [key for key in entry.one_of if key in given]
    if entry.one_of and len(chosen) != 1:
        choices = ", ".join(map(marked, entry.one_of))
        raise WrongUse(f"the channel {name} needs exactly one of {choices}, {example}")
    return _MAKERS[name](kind, given) if name in _MAKERS else Made(kind(**given))


def channel(name: str, **options: Any) -> Channel:
    """A channel by name, with options as ints, Fractions or text: ``channel("warped", curve="1:0.01,101:1")``."""
    return make(name, **options).channel


def parameters(made: Channel) -> dict[str, object]:
    """Every parameter of a channel as exact text."""
    return {field.name: _text(getattr(made, field.name)) for field in fields(made) if field.name != "made"}  # type: ignore[arg-type]


def _text(value: object) -> object:
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, tuple):
        return [_text(part) for part in value]
    if isinstance(value, int | Fraction | Infinite):
        return to_text(Fraction(value) if isinstance(value, int) else value)
    if isinstance(value, Curve):
        return str(value)
    raise TypeError(type(value).__name__)


def restore(name: str, given: Mapping[str, object]) -> Channel:
    """The channel whose name and :func:`parameters` these are, built by its own constructor; else WrongUse."""
    kind = channel_class(name)
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind) if field.name != "made"]
    if set(given) != set(names):
        raise WrongUse(f"the channel {name} has the parameters {', '.join(names)}; give each of them once")
    read_back = {key: _value(hints[key], given[key], key) for key in names}
    made: Channel
    _check_made(kind, read_back)
    if name == "lower-bound":
        from hubbub.channels.papers import lower_bound

        read_back["grid"] = None if read_back["estimator"] == "count" else read_back["grid"]
        if not read_back["delta_a"]:
            del read_back["delta_a"]
        made = lower_bound.lower_bound(**read_back)
    else:
        made = kind(**read_back)
    if parameters(made) != dict(given):
        raise WrongUse(f"the parameters of the channel {name} are not written as Hubbub writes them; get the original")
    return made


def _check_made(kind: type[Any], given: Mapping[str, Any]) -> None:
    """The checks that the makers of some channels do and the constructors do not."""
    if kind.name in ("outlier-suppressed", "outlier-noisy"):
        kind.with_offset(given["k"], given["epsilon"], given["offset"])
    elif kind.name == "lecture":
        kind.check_parameters(given["t"], given["K"], given["epsilon"], given["factor"])
    elif kind.name == "staircase" and len(given["thresholds"]) > (_MOST_LEVELS if given["nested"] else _MOST_WAYS):
        raise WrongUse("a staircase of so many levels has too many ways through it; use fewer")


def _value(hint: Any, text: object, what: str) -> Any:
    """A parameter from its exact text."""
    kinds = get_args(hint) or (hint,)
    if text is None and type(None) in kinds:
        return None
    if isinstance(text, list):
        return tuple(_value(kinds[0], part, what) for part in text)
    if bool in kinds and isinstance(text, bool):
        return text
    if not isinstance(text, str):
        raise WrongUse(f"{what} is written as text, like 20 or 1/3; check it")
    if int in kinds:
        return integer(text, what)
    if Infinite in kinds:
        return loss(text, what)
    if Curve in kinds:
        return read(text).curve
    return text if str in kinds else rational(text, what)
