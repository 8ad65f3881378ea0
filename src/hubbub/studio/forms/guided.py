"""The guided form: a question in words, the kind of release that answers it, and the promises that go with it.

A question says which promises can be asked for and by which options of its kind. All else of the form comes from the
kind's own options (:mod:`hubbub.studio.forms.parts`); a kind that no question is about has one made from its help.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from hubbub import registry
from hubbub.options.mechanism import Mechanism
from hubbub.protocol.option import HOW
from hubbub.protocol.spec import GRAPH, TABLE, Kind
from hubbub.runtime.frozen import dataclass
from hubbub.studio.forms.misfilled import Misfilled
from hubbub.tables.bins import Discovered, parse


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise that can be chosen: its name in the form, what it means, and what it costs in usefulness."""

    name: str
    title: str
    description: str


PROMISES: Final = (
    Promise(
        "noise",
        "Nobody can tell whether I took part",
        "Each number gets a little noise. The smallest errors, and more releases can follow.",
    ),
    Promise(
        "sample",
        "No more than a sample would tell",
        "A secret sample is drawn. Its crowds of at least k are shown, and more releases can follow.",
    ),
    Promise(
        "crowd",
        "Nobody stands alone",
        "Numbers about at least k people are shown, the others hidden. For one release of these people.",
    ),
    Promise(
        "rare",
        "The rarer, the less is shown",
        "Much noise for small crowds, little for large ones. Small numbers can be hidden.",
    ),
    Promise(
        "friends",
        "Nobody's friends are given away",
        "Each number gets noise. It tells no more than K random people and their friends would.",
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
    Slider(
        "epsilon",
        "Privacy loss, epsilon",
        "0.01 0.02 0.05 0.1 0.15 0.2 0.3 0.5 0.7 1 1.5 2 3 4 5",
        "1",
        "smaller: a stronger promise, more noise",
    ),
    Slider("crowd", "Crowd, k", "2 3 5 7 10 12 15 20 25 30 40 50 70 100 150 200 300 500", "20", "people in a crowd"),
    Slider(
        "sample",
        "Rate of the secret sample",
        "0.01 0.02 0.03 0.05 0.07 0.1 0.12 0.15 0.2 0.25 0.3 0.35 0.4 0.5",
        "0.2",
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
        "delta",
        "Delta, where values are found in the data",
        "1e-12 1e-11 1e-10 1e-9 1e-8 1e-7 1e-6 1e-5",
        "1e-6",
        "chance that a rare value is listed",
    ),
    Slider(
        "samples",
        "Random people who may be known, K",
        "10 20 30 40 50 70 100 150 200 300 500 700 1000 2000 5000",
        "40",
        "smaller: a stronger promise, more noise",
    ),
    Slider(
        "show_above",
        "Threshold",
        "0 1 2 5 10 15 20 30 50 70 100 150 200",
        "0",
        "published numbers up to it are hidden; costs no privacy",
    ),
)
_FIRST: Final = {slider.name: slider.value for slider in SLIDERS}

Ways = Mapping[str, tuple[str, ...]]
"""The promises that can be asked for, each with the numbers that it takes."""

_COUNTS: Final[Ways] = {
    "noise": ("epsilon", "delta"),
    "sample": ("crowd", "sample"),
    "crowd": ("crowd",),
    "rare": ("rare", "crowd", "epsilon", "show_above"),
}
_VALUES: Final[Ways] = {
    "noise": ("epsilon",),
    "sample": ("crowd", "sample", "epsilon"),
    "crowd": ("crowd", "epsilon"),
}
_NO_SAMPLE: Final[Ways] = {name: numbers for name, numbers in _VALUES.items() if name != "sample"}
_NOISE: Final[Ways] = {"noise": ("epsilon",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What somebody wants to publish, in words. `noun` is what a number of it is of."""

    name: str
    title: str
    example: str
    kind: str
    ways: Ways = field(default_factory=dict)
    noun: str = "people"
    by: str = "Count them by"  # above the columns
    optional: bool = False  # no column need be chosen
    fixed: Mapping[str, str] = field(default_factory=dict)  # options that the question itself says
    asks: str = "What is published"  # above its own fields


def _number(
    name: str,
    title: str,
    example: str,
    kind: str,
    noun: str = "value",
    *,
    by: str = "One for each",
    ways: Ways = _VALUES,
) -> Question:
    """A question about one number, or one for each bin."""
    return Question(name=name, title=title, example=example, kind=kind, ways=ways, noun=noun, by=by, optional=True)


_GROUPS: Final = {
    "Numbers": ("histogram", "count", "fraction", "mean", "sum", "ratio", "quantile", "std", "variance"),
    "Over time": ("series",),
    "Tables and lists": ("cube", "queries", "questions"),
    "Rows": ("records", "synthetic"),
    "Places and networks": ("points", "graph"),
}
"""Under which headings questions stand, by their kinds; others come last."""

QUESTIONS: Final = (
    Question(
        name="how-many",
        title="How many?",
        example="People by district, by age, or by both",
        kind="histogram",
        ways=_COUNTS,
    ),
    _number(
        "how-many-meet",
        "How many meet a condition?",
        "People of 65 or older, by district",
        "count",
        "people",
        by="Count them apart by",
    ),
    _number("share", "What share?", "The share of patients who came back", "fraction", "share", by="A share for each"),
    _number("average", "Average", "The mean income, by profession", "mean", by="An average for each"),
    _number("total", "Total", "All that was spent, by department", "sum", by="A total for each", ways=_NO_SAMPLE),
    _number("ratio", "One total for another", "Cost for each day, sales for each hour", "ratio", ways=_NOISE),
    _number("median", "Median, or another quantile", "What half of the people stay below", "quantile"),
    _number("spread", "How spread out?", "The standard deviation of a score, with its mean", "std"),
    _number("variance", "Variance", "The square of that, for whoever computes with it", "variance"),
    Question(
        name="every-month",
        title="Every month",
        example="The same numbers every month, week or year, under one promise for all of them",
        kind="series",
        ways={"noise": ("epsilon",), "crowd": ("crowd",)},
        by="Count them by",
        optional=True,
        asks="How often, and for how long?",
    ),
    Question(
        name="cross-table",
        title="Cross table with totals",
        example="Age by profession by district, with every margin",
        kind="cube",
        ways={"noise": ("epsilon",), "sample": ("crowd", "sample"), "crowd": ("crowd",)},
        by="Cross these",
    ),
    Question(
        name="many-questions",
        title="Many questions at once",
        example="Every table by two columns, all from one release",
        kind="queries",
        ways=_NOISE,
        by="About these columns",
    ),
    Question(
        name="one-sample",
        title="A list of questions",
        example="Counts, shares and means from a file of questions, in one release",
        kind="questions",
        ways=_NOISE,
    ),
    Question(
        name="records",
        title="Records for researchers",
        example="Rows that at least k people share",
        kind="records",
        ways={"crowd": ("crowd",), "sample": ("crowd", "sample")},
        noun="rows",
        by="The columns of a record",
    ),
    Question(
        name="invented",
        title="A file of invented people",
        example="Rows to load and try things on, with about the tables of yours",
        kind="synthetic",
        ways=_NOISE,
        noun="rows",
        by="About these columns",
    ),
    Question(
        name="map",
        title="A map",
        example="Where people are, moved a little",
        kind="points",
        ways={"crowd": ("crowd", "epsilon")},
        noun="points",
    ),
    Question(
        name="network",
        title="A network",
        example="From a list of links: whether it hangs together, how many friends on average",
        kind="graph",
        ways={"friends": ("epsilon", "samples")},
        noun="count",
    ),
    Question(
        name="friends",
        title="How many friends?",
        example="From a list of links: how many people have 0, 1, 2, ... friends",
        kind="graph",
        ways=_NOISE,
        fixed={"of": "degree-histogram"},
    ),
)
FIRST: Final = QUESTIONS[0]


def questions() -> tuple[Question, ...]:
    """All that can be asked; a kind that was thought of later has a question made from its help."""
    known = {question.kind for question in QUESTIONS}
    others = (registry.kind(name) for name in registry.names() if name not in known)
    return (*QUESTIONS, *(_made(kind) for kind in others if kind.data in (TABLE, GRAPH)))


def grouped_questions() -> tuple[tuple[str, tuple[Question, ...]], ...]:
    """All that can be asked, under headings."""
    every = questions()
    named = {kind for kinds in _GROUPS.values() for kind in kinds}
    found = [(title, tuple(each for each in every if each.kind in kinds)) for title, kinds in _GROUPS.items()]
    others = tuple(each for each in every if each.kind not in named)
    return (*found, *((("Others", others),) if others else ()))


def _made(kind: Kind) -> Question:
    return Question(
        name=kind.name, title=kind.name.replace("_", " ").capitalize(), example=_first(kind), kind=kind.name
    )


def _first(kind: Kind) -> str:
    return kind.help.partition("\n")[0].rstrip(".")


def question_of(form: Mapping[str, str]) -> Question:
    """The question that was asked, by its own name or by that of its kind."""
    wanted = form.get("question") or form.get("kind") or FIRST.name
    found = next((each for each in questions() if wanted in (each.name, each.kind)), None)
    if found is None:
        raise Misfilled("question", "there is no such question; choose one of those listed")
    return found


def promises_of(question: Question) -> tuple[Promise, ...]:
    """The promises that go with a question, the one with the smallest errors first."""
    known = {each.name: each for each in PROMISES}
    return tuple(known[name] for name in question.ways)


def promise_of(question: Question, form: Mapping[str, str]) -> Promise:
    """The promise that was chosen."""
    offered = promises_of(question)
    wanted = form.get("promise")
    found = next((each for each in offered if each.name == wanted), None)
    if found is None and wanted and wanted not in {each.name for each in PROMISES}:
        raise Misfilled("promise", "there is no such promise; choose one of those listed")
    return found or offered[0]


def sliders_of(question: Question) -> tuple[tuple[Slider, str], ...]:
    """The sliders of a question, each with the promises that move it."""
    uses = {slider.name: [name for name, names in question.ways.items() if slider.name in names] for slider in SLIDERS}
    return tuple((slider, " ".join(uses[slider.name])) for slider in SLIDERS if uses[slider.name])


def protection(question: Question, kind: Kind, form: Mapping[str, str], by: tuple[str, ...]) -> dict[str, Any]:
    """How people are protected, as options of the kind; what the question has no promise for says it by itself."""
    if not question.ways:
        return {}
    promise = promise_of(question, form)
    known = {option.name for option in kind.options if option.group == HOW or option.name == "epsilon"}
    given = {name: form.get(name, "").strip() or _FIRST[name] for name in question.ways[promise.name]}
    if promise.name == "rare":
        curve = f"1:{given['rare']},{given['crowd']}:{given['epsilon']}"
        hidden = Mechanism("warped", (("curve", curve), ("show_above", given["show_above"])))
        return {"outlier": curve} if given["show_above"] == "0" else {"mechanism": str(hidden)}
    if not any(isinstance(parse(each), Discovered) for each in by):
        given.pop("delta", None)
    scaled = {"scale_up": True} if promise.name == "sample" and _has(kind, "scale_up") else {}
    return {name: value for name, value in given.items() if name in known} | scaled


def _has(kind: Kind, name: str) -> bool:
    return any(option.name == name for option in kind.options)
