"""The guided form: a histogram with its promise in plain words. It gives the same words as a command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.studio.forms.bins import Column, specs
from hubbub.tables.bins import Discovered, parse

KIND: Final = "histogram"


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise that can be chosen: its name in the form, what it means, for whom it is, which sliders it has."""

    name: str
    title: str
    description: str
    sliders: tuple[str, ...]


PROMISES: Final = (
    Promise(
        "noise",
        "Nobody can tell whether I took part",
        "Every count gets a little noise. The smallest errors; further releases may follow while the budget lasts.",
        ("epsilon", "delta"),
    ),
    Promise(
        "sample",
        "No more than a sample would tell",
        "A fresh secret sample is drawn; counts of at least k in it are shown, the others hidden. Further releases may "
        "follow.",
        ("crowd", "sample"),
    ),
    Promise(
        "crowd",
        "Nobody stands alone",
        "Exact counts of at least k, the others hidden. This is for one release of these people.",
        ("crowd",),
    ),
    Promise(
        "rare",
        "The rarer, the less is shown",
        "Much noise for small crowds, little for large ones; numbers up to a threshold are hidden.",
        ("rare", "crowd", "epsilon", "show_above"),
    ),
)


@dataclass(frozen=True, slots=True)
class Slider:
    """A number that can be moved along stops, or typed exactly."""

    name: str
    label: str
    stops: str
    value: str
    description: str


SLIDERS: Final = (
    Slider("crowd", "Crowd, k", "2 3 5 7 10 12 15 20 25 30 40 50 70 100 150 200 300 500", "20", "people in a crowd"),
    Slider(
        "sample",
        "Rate of the secret sample",
        "0.01 0.02 0.03 0.05 0.07 0.1 0.12 0.15 0.2 0.25 0.3 0.35 0.4 0.5",
        "0.1",
        "share of people who are in it",
    ),
    Slider(
        "rare",
        "Loss of the rare, epsilon",
        "0.001 0.002 0.005 0.01 0.02 0.05 0.1 0.2 0.5",
        "0.05",
        "smaller: rare people show less",
    ),
    Slider(
        "epsilon",
        "Privacy loss, epsilon",
        "0.01 0.02 0.05 0.1 0.15 0.2 0.3 0.5 0.7 1 1.5 2 3 4 5",
        "1",
        "smaller: a stronger promise, more noise",
    ),
    Slider(
        "delta",
        "Delta, where bins are found in the data",
        "1e-12 1e-11 1e-10 1e-9 1e-8 1e-7 1e-6 1e-5",
        "1e-6",
        "chance that a rare value is listed",
    ),
    Slider(
        "show_above",
        "Threshold",
        "0 1 2 5 10 15 20 30 50 70 100 150 200",
        "0",
        "published numbers up to it are hidden; costs no privacy",
    ),
)
FIRST: Final = "sample"


def promise_of(form: Mapping[str, str]) -> Promise:
    """The promise that was chosen."""
    wanted = form.get("promise", FIRST)
    found = next((each for each in PROMISES if each.name == wanted), None)
    if found is None:
        raise WrongUse("there is no such promise; choose one of those listed")
    return found


def options_of(form: Mapping[str, str], found: tuple[Column, ...]) -> dict[str, Any]:
    """The words of the release; what was not said is left out."""
    by = specs(found)
    if not by:
        raise WrongUse("choose at least one column to count by")
    options: dict[str, Any] = {"by": by, **_protected(promise_of(form), form, by), **_rows(form)}
    for name in ("coverage", "at_delta"):
        if value := form.get(name, "").strip():
            options[name] = value
    return options


def _protected(promise: Promise, form: Mapping[str, str], by: tuple[str, ...]) -> dict[str, Any]:
    def value_of(name: str) -> str:
        return form.get(name, "").strip() or next(each.value for each in SLIDERS if each.name == name)

    if promise.name == "noise":
        found = any(isinstance(parse(each), Discovered) for each in by)
        return {"epsilon": value_of("epsilon")} | ({"delta": value_of("delta")} if found else {})
    if promise.name == "crowd":
        return {"crowd": value_of("crowd")}
    if promise.name == "sample":
        return {"crowd": value_of("crowd"), "sample": value_of("sample"), "scale_up": True}
    threshold = value_of("show_above")
    curve = f"1:{value_of('rare')},{value_of('crowd')}:{value_of('epsilon')}"
    return {"outlier": curve} | ({} if threshold == "0" else {"show_above": threshold})


def _rows(form: Mapping[str, str]) -> dict[str, Any]:
    """What becomes of people with several rows."""
    several = form.get("several", "")
    if several == "one":
        return {"one_row_per_person": True}
    if several == "distinct":
        return {"distinct": form.get("distinct", "").strip() or "1"}
    if several == "rows":
        return {"rows_per_person": form.get("distinct", "").strip() or "1"}
    return {}
