"""The kinds of release there are. Certificate, ledger, verify, report, files, command and studio find a new one by its
line here; what else it needs outside its own folder (a method in Python, an import contract, cases in tests) is listed
in CONTRIBUTING.md."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.protocol.spec import Kind, Spec
from hubbub.serialization.exact_json import Newer, read_description

_WHERE: Final[dict[str, str]] = {
    "histogram": "hubbub.kinds.histogram.request",
    "cube": "hubbub.kinds.cube.request",
    "records": "hubbub.kinds.records.request",
    "points": "hubbub.kinds.points.request",
    "queries": "hubbub.kinds.queries.request",
    "synthetic": "hubbub.kinds.synthetic.request",
    "count": "hubbub.kinds.sums.count:COUNT",
    "fraction": "hubbub.kinds.sums.fraction:FRACTION",
    "mean": "hubbub.kinds.sums.mean:MEAN",
    "quantile": "hubbub.kinds.quantile.quantile:QUANTILE",
    "sum": "hubbub.kinds.sum.request",
    "ratio": "hubbub.kinds.sums.ratio",
    "summary": "hubbub.kinds.summary.request",
    "variance": "hubbub.kinds.sums.variance:VARIANCE",
    "std": "hubbub.kinds.sums.variance:STD",
    "questions": "hubbub.kinds.questions.request",
    "graph": "hubbub.kinds.graph.request",
    "ballots": "hubbub.kinds.ballots.request",
}
"""The name of each kind and the module that holds it, as KIND if nothing else is said; loaded when asked for."""

_MADE_OF_OTHERS: Final[dict[str, str]] = {"series": "hubbub.kinds.series.request"}
"""Kinds that are not asked for by a command of their own: a period of a series is a release of one of the above."""


def names() -> tuple[str, ...]:
    """Every kind by name."""
    return tuple(_WHERE)


def kind(name: str) -> Kind:
    """The kind of that name."""
    if name not in _WHERE:
        raise WrongUse(f"there is no kind of release {name[:40]!r}; there are {', '.join(_WHERE)}")
    return _held(_WHERE[name])


def _held(where: str) -> Kind:
    module, _, held = where.partition(":")
    found: Kind = getattr(import_module(module), held or "KIND")
    return found


def read(wire: str, given: Any) -> Spec:
    """The spec that was written down under that wire name, if it is what would be written: a description has nothing in it
    that nobody looked at."""
    name = wire.partition("/")[0]
    where = (_WHERE | _MADE_OF_OTHERS).get(name)
    if where is not None:
        known = _held(where)
        if wire == known.wire:
            return read_description(given, known.from_json, lambda spec: spec.to_json())
    raise Newer(f"{wire[:40]!r} is a kind of release that this version does not know; update Hubbub")
