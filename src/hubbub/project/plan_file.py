"""``hubbub.toml``: datasets, their caps, and the releases that are wanted of them.

::

    ledger = "ledger.db"                     # else your own
    out = "published"                        # each release has a folder of its name there
    approval = "ethics board"                # whose signature over the review sheet is needed, if anybody's
    joint = true                             # tables of the same people come together where that is better

    [datasets.staff]
    file = "staff.csv"                       # and any other word of hubbub.open: person, table, missing, ...
    epsilon = 2                              # of all releases of this file together; what is left by those that say a
                                             # promise of their own is shared by importance among the others
    policy = { differential_epsilon = 4 }    # caps on all that is ever published of them

    [[release]]
    name = "pay"
    dataset = "staff"
    kind = "mean"                            # with the options of this kind; or sql = "SELECT WITH ..."
    of = "salary"
    by = ["unit"]
    title = "What they earn"
    importance = 8                           # of its squared error: eight times the weight, and twice the epsilon

A series and a correction have words of their own (:mod:`hubbub.project.planning`, ``corrects`` and ``reason``).
Numbers are read as they are written. What has no meaning is refused, and nothing is spent.
"""

from __future__ import annotations

import os
import re
import tomllib
from contextlib import suppress
from dataclasses import field, replace
from difflib import get_close_matches
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import Any, Final

from hubbub import registry
from hubbub.errors import WrongUse
from hubbub.ledger.policy import Policy
from hubbub.numeric.exact import integer, positive, rational, rounded, to_text
from hubbub.opening import open as open_table
from hubbub.private_sql.query import read_query
from hubbub.protocol.release import dataset_name
from hubbub.protocol.spec import TABLE
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.toml import read_toml

FILE: Final = "hubbub.toml"
_TOP: Final = ("ledger", "out", "approval", "joint", "datasets", "release")
_REPORT: Final = ("title", "subtitle", "date", "link", "language", "notes", "labels")
_SERIES: Final = ("series", "period", "skip")
_CALENDAR: Final = ("periods", "first", "every", "recur", "date", "way", "panel")
_CORRECTION: Final = ("corrects", "reason")
_OWN: Final = (
    "name",
    "dataset",
    "kind",
    "sql",
    "importance",
    "format",
    "accept_weak",
    "joint",
    *_SERIES,
    *_CORRECTION,
    *_REPORT,
)
_SHARED: Final = ("epsilon", "delta")
_PROMISES: Final = ("epsilon", "crowd", "zero_knowledge", "outlier", "mechanism", "spec")
_DIGITS: Final = 12
_HEAVIEST: Final = 10**6
_OPENING: Final = tuple(
    name for name in signature(open_table).parameters if name not in ("source", "dataset", "ledger")
)
"""What may be said of how a table is opened."""
_A_SERIES: Final = "series = { periods = 12, first = '2026-01' }"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A table: where it is, how it is opened, and what may be spent on its people."""

    name: str
    file: str
    opening: dict[str, Any] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    budget: dict[str, Fraction] = field(default_factory=dict)  # what the releases of the file may lose together


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEntry:
    """A release that is wanted: the words that ask for it, or a query, and what its report says of itself."""

    name: str
    dataset: str
    kind: str | None
    options: dict[str, Any]
    sql: str | None = None
    report: dict[str, Any] = field(default_factory=dict)
    form: str = "csv"
    accept_weak: bool = False
    importance: Fraction = Fraction(1)
    joint: bool = True  # whether it may come together with other tables
    series: dict[str, Any] | None = None  # the calendar of a series, and who recurs
    period: str | None = None  # of a series: up to which it is published
    skip: bool = False  # whether periods may be missed for good
    corrects: str | None = None  # the folder of a release that this one replaces
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """All that a file says; paths are beside it."""

    file: Path
    ledger: Path | None
    out: Path
    datasets: tuple[Dataset, ...]
    entries: tuple[PlanEntry, ...]
    approval: str | None = None  # whose signature over the review sheet is needed: a known name, or a key

    def folder(self, entry: PlanEntry) -> Path:
        """Where a release goes."""
        return self.out / entry.name


def read_plan(file: str | os.PathLike[str]) -> Publication:
    """What a file of a publication says, or one sentence."""
    path = Path(file)
    path = path / FILE if path.is_dir() else path
    given = _toml(path)
    _check_known(given, _TOP, str(path))
    tables = given.get("datasets")
    if not isinstance(tables, dict) or not tables or not all(isinstance(each, dict) for each in tables.values()):
        raise WrongUse(f"{path} says which tables there are, like [datasets.people] with a file; add one")
    budgets = {name: _budget(name, table) for name, table in tables.items()}
    datasets = tuple(replace(_dataset(name, table, path), budget=budgets[name]) for name, table in tables.items())
    listed = given.get("release")
    if not isinstance(listed, list) or not listed:
        raise WrongUse(f"{path} wants no release; add [[release]], with name, dataset and kind")
    entries = tuple(_entry(each, path, [table.name for table in datasets]) for each in listed)
    if not _switch(given.get("joint", True), "joint"):
        entries = tuple(replace(each, joint=False) for each in entries)
    if len({each.name for each in entries}) != len(entries):
        raise WrongUse(f"two releases in {path} have the same name; each has one of its own")
    ledger = given.get("ledger")
    return Publication(
        file=path,
        ledger=None if ledger is None else path.parent / _text(ledger, "ledger"),
        out=path.parent / _text(given.get("out", "published"), "out"),
        datasets=datasets,
        entries=tuple(_with_share(each, entries, budgets[each.dataset]) for each in entries),
        approval=_text(given["approval"], "approval") if "approval" in given else None,
    )


def _toml(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path)
    except tomllib.TOMLDecodeError as error:
        raise WrongUse(f"{path} is no TOML file: {error}; correct it") from None
    except (OSError, ValueError):
        raise WrongUse(
            f"a publication is a TOML file that can be read, not {str(path)[:200]!r}; check the file"
        ) from None


def _check_known(given: dict[str, Any], known: tuple[str, ...], what: str) -> None:
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        near = get_close_matches(str(unknown), known, 1)
        way = f"did you mean {near[0]}?" if near else "leave it out"
        raise WrongUse(f"{what} has {', '.join(known)}, and not {str(unknown)[:40]!r}; {way}")


def _text(given: Any, what: str) -> str:
    if not isinstance(given, str) or not given:
        raise WrongUse(f"{what} is a text; put it in quotes")
    return given


def _budget(name: str, table: dict[str, Any]) -> dict[str, Fraction]:
    """What the releases of a dataset share, taken out of what is said of it."""
    found: dict[str, Fraction] = {
        each: _above_0(table.pop(each), f"the {each} of {name[:40]}", like=like)
        for each, like in zip(_SHARED, ("1", "1e-9"), strict=True)
        if each in table
    }
    if found.get("delta", Fraction(0)) >= 1:
        raise WrongUse(f"the delta of {name[:40]} must be below 1; choose one like 1e-9")
    return found


def _above_0(given: Any, what: str, *, like: str = "1") -> Fraction:
    try:
        return positive(given, what)
    except WrongUse as error:
        raise WrongUse(f"{error.marked}; write one like {like}") from None


def _report(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """What a report says of itself, each word of its kind."""
    found: dict[str, Any] = {each: given[each] for each in _REPORT if each in given}
    for each in ("title", "subtitle", "link", "language"):
        if each in found:
            _text(found[each], f"the {each} of {name}")
    if "date" in found:
        found["date"] = _text(str(found["date"]), f"the date of {name}")  # a day is a date in TOML
    notes = found.get("notes", [])
    found |= {"notes": [notes] if isinstance(notes, str) else notes} if "notes" in found else {}
    if not isinstance(found.get("notes", []), list) or not all(
        isinstance(each, str) for each in found.get("notes", [])
    ):
        raise WrongUse(
            f"the notes of {name} are texts in brackets, like notes = ['Homes are left out.']; write them so"
        )
    labels = found.get("labels", {})
    if not isinstance(labels, dict) or not all(isinstance(each, str) for each in labels.values()):
        raise WrongUse(f"the labels of {name} are texts by columns, like labels = {{ age = 'Years' }}; write them so")
    return found


def _importance(given: Any, name: str) -> Fraction:
    found = _above_0(given, f"the importance of {name}")
    if not Fraction(1, _HEAVIEST) <= found <= _HEAVIEST:
        raise WrongUse(f"the importance of {name} lies between 1/{_HEAVIEST:,} and {_HEAVIEST:,}; write one like 8")
    return found


def _switch(given: Any, what: str) -> bool:
    if not isinstance(given, bool):
        raise WrongUse(f"{what} is true or false, without quotes; write one of them")
    return given


def _dataset(name: str, given: dict[str, Any], path: Path) -> Dataset:
    _check_known(given, ("file", "policy", *_SHARED, *_OPENING), f"the dataset {name[:40]}")
    options = dict(given)
    file, caps = _text(options.pop("file", None), f"the file of {name[:40]}"), options.pop("policy", {})
    if not isinstance(caps, dict):
        raise WrongUse(f"the policy of {name[:40]} is a table of caps, like differential_epsilon = 4; write it so")
    _check_known(caps, Policy.__slots__, f"the policy of {name[:40]}")
    for each in ("join", "dictionary"):
        if isinstance(options.get(each), str) and options[each] != "none":
            options[each] = str(path.parent / options[each])
    return Dataset(
        name=dataset_name(name),
        file=file if "://" in file else str(path.parent / file),
        opening=options,
        policy=Policy(**{cap: _cap(cap, value) for cap, value in caps.items()}),
    )


def _cap(name: str, value: Any) -> Any:
    if name in ("planned", "per"):
        return value
    return integer(value, name) if name == "crowd" else rational(value, name)


def _entry(given: Any, path: Path, datasets: list[str]) -> PlanEntry:
    if not isinstance(given, dict):
        raise WrongUse(f"a release in {path} is a table [[release]]; write it so")
    name = given.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise WrongUse(f"a release in {path} has a name for its folder, in small letters, digits and hyphens; add it")
    dataset = given.get("dataset", datasets[0] if len(datasets) == 1 else None)
    if dataset not in datasets:
        raise WrongUse(f"the release {name} is of one of {', '.join(datasets)[:200]}; say which, with dataset")
    kind, sql = given.get("kind"), given.get("sql")
    if (kind is None) is (sql is None):
        raise WrongUse(f"the release {name} has a kind with its options, or sql with a query; say one of the two")
    if kind is not None and registry.kind(_text(kind, "kind")).data != TABLE:
        raise WrongUse(f"the release {name} is of a table; publish networks and ballots by their commands")
    options = {each: value for each, value in given.items() if each not in _OWN}
    _check_spelling(name, kind, options)
    if sql is not None and options:
        raise WrongUse(f"the query of {name} says everything; leave out {', '.join(options)[:100]}")
    return PlanEntry(
        name=name,
        dataset=dataset,
        kind=kind,
        options=_options(kind, options, path),
        sql=None if sql is None else _text(sql, "sql"),
        report=_report(name, given),
        form=_text(given.get("format", "csv"), "format"),
        accept_weak=_switch(given.get("accept_weak", False), f"accept_weak of {name}"),
        importance=_importance(given.get("importance", 1), name),
        joint=_switch(given.get("joint", True), f"joint of {name}"),
        **_series(name, kind, given),
        **_correction(name, given),
    )


def _series(name: str, kind: str | None, given: dict[str, Any]) -> dict[str, Any]:
    """What a release says of a series."""
    calendar = given.get("series")
    if calendar is None:
        if said := next((each for each in _SERIES if each in given), None):
            raise WrongUse(f"{said} of {name} is about a series; add series, like {_A_SERIES}, or leave it out")
        return {}
    if not isinstance(calendar, dict) or not {"periods", "first"} <= set(calendar):
        raise WrongUse(f"the series of {name} is a table that says its calendar, like {_A_SERIES}; write it so")
    _check_known(calendar, _CALENDAR, f"the series of {name}")
    if kind not in ("histogram", "count", "cube", "sum"):
        raise WrongUse(
            f"the series {name} is of a histogram, count, cube or sum, and not of {kind}; choose one of these"
        )
    if "period" not in given:
        raise WrongUse(
            f"say up to which period the series {name} is published, like period = {str(calendar['first'])!r}"
        )
    skip = _switch(given.get("skip", False), f"skip of {name}")
    named = calendar | {"first": str(calendar["first"])}  # a day is a date in TOML
    return {"series": named, "period": str(given["period"]), "skip": skip}


def _correction(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """What a release says of one that it replaces."""
    corrects = given.get("corrects")
    if (corrects is None) is not ("reason" not in given):
        raise WrongUse(f"{name} corrects a release for a reason that readers are shown; say both, corrects and reason")
    if corrects is None:
        return {}
    if "series" in given:
        raise WrongUse(f"{name} is a series, whose periods correct nothing; leave out corrects")
    if not isinstance(corrects, str) or not _NAME.fullmatch(corrects) or corrects == name:
        raise WrongUse(f"{name} corrects a release in another folder; give its name, as corrects = 'pay'")
    return {"corrects": corrects, "reason": _text(given["reason"], f"the reason of {name}")}


def _check_spelling(name: str, kind: str | None, options: dict[str, Any]) -> None:
    """Refuse a word that is neither an option of the kind nor ours, if one of ours is meant; the kind knows its own."""
    known = set() if kind is None else {option.name for option in registry.kind(kind).options}
    for word in options:
        near = [] if word in known else get_close_matches(word, _OWN, 1, 0.8)
        if near:
            raise WrongUse(f"the release {name} has no {word[:40]!r}; did you mean {near[0]}?")


def _options(kind: str | None, options: dict[str, Any], path: Path) -> dict[str, Any]:
    """The options as a command has them: one of several as a list, and files beside this one."""
    known = {} if kind is None else {option.name: option for option in registry.kind(kind).options}
    found = dict(options)
    for name, value in options.items():
        option = known.get(name)
        if option is not None and option.many and isinstance(value, str):
            found[name] = [value]
        elif option is not None and option.many and not isinstance(value, list):
            raise WrongUse(f"{name} is a text, or several in brackets, like {name} = ['age:0..90:10']; write it so")
        if option is not None and option.metavar == "FILE" and isinstance(value, str):
            found[name] = str(path.parent / value)
    return found


def _with_share(one: PlanEntry, entries: tuple[PlanEntry, ...], budget: dict[str, Fraction]) -> PlanEntry:
    """The release with its part of what its dataset may lose, if it says no promise of its own.

    **Theorem.** Let the mean squared error of a release with epsilon_i be c_i/epsilon_i^2, as that of counts, sums and means
    with noise is (of geometric noise up to 1/12 of a person), and count it over c_i/epsilon^2, what it would be with
    everything. The sum of importance_i (epsilon/epsilon_i)^2, the epsilon_i adding up to epsilon, is least where
    epsilon_i ~ importance_i^(1/3). *Proof.* It is convex; there all derivatives -2 importance_i epsilon^2/epsilon_i^3 are the
    same. QED

    Guarantee: the parts are rounded down, so that together, and with what the others say themselves, they are at most what
    was said.
    """
    if one.sql is not None or any(name in one.options for name in _PROMISES):
        return one
    if "epsilon" not in budget:
        raise WrongUse(f"the release {one.name} says no promise; add epsilon to it, or to its dataset for all of them")
    open_ones = [
        each
        for each in entries
        if each.dataset == one.dataset and each.sql is None and not any(name in each.options for name in _PROMISES)
    ]
    left = {name: budget[name] - _own_share(name, one.dataset, entries) for name in budget}
    if spent := next((name for name, rest in left.items() if rest <= 0), None):
        raise WrongUse(
            f"the releases of {one.dataset} that say their own {spent} take all of it, and nothing is left for {one.name}; "
            f"raise {spent} of the dataset, or lower theirs"
        )
    part = cube_root(one.importance) / sum(cube_root(each.importance) for each in open_ones)
    takes = {option.name for option in registry.kind(one.kind or "").options}
    shares = {
        name: to_text(rounded(left[name] * part, up=False, digits=_DIGITS))
        for name in _SHARED
        if name in budget and name in takes
    }
    return replace(one, options=one.options | shares)


def _own_share(name: str, dataset: str, entries: tuple[PlanEntry, ...]) -> Fraction:
    """What the releases of a dataset that say a promise of their own ask for; what is no number is refused elsewhere."""
    total = Fraction(0)
    for each in entries:
        with suppress(WrongUse):
            said = each.options if each.sql is None else dict(read_query(each.sql).options)
            if each.dataset == dataset and name in said and any(promise in said for promise in _PROMISES):
                total += rational(said[name], name)
    return total


def cube_root(number: Fraction) -> Fraction:
    """To eighteen digits after the point, rounded down; the same on every machine, and exact where it is so short.

    >>> cube_root(Fraction(8)), cube_root(Fraction(1, 1000))
    (Fraction(2, 1), Fraction(1, 10))
    """
    scaled = number.numerator * 10**54 // number.denominator
    low, high = 0, 1 << (scaled.bit_length() // 3 + 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**3 <= scaled else (low, middle)
    return Fraction(low, 10**18)
