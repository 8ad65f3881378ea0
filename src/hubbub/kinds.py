"""The kinds of release there are. A new one adds its line here, and nothing else outside its own folder."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from hubbub.errors import CheckFailed, WrongUse
from hubbub.kind import Kind, Spec
from hubbub.wire.exact_json import Newer, agrees

_WHERE: Final[dict[str, str]] = {
    "histogram": "hubbub.tables.asking",
    "cube": "hubbub.tables.cube_asking",
    "records": "hubbub.tables.records_asking",
    "points": "hubbub.tables.points_asking",
    "queries": "hubbub.tables.queries_asking",
    "count": "hubbub.tables.statistic_asking:COUNT",
    "fraction": "hubbub.tables.statistic_asking:FRACTION",
    "mean": "hubbub.tables.statistic_asking:MEAN",
    "quantile": "hubbub.tables.statistic_asking:QUANTILE",
    "questions": "hubbub.tables.questions_asking",
    "graph": "hubbub.graphs.asking",
    "ballots": "hubbub.voting.publish_asking",
}
"""The name of each kind and the module that holds it, as KIND if nothing else is said; loaded when asked for."""


def names() -> tuple[str, ...]:
    """Every kind by name."""
    return tuple(_WHERE)


def kind(name: str) -> Kind:
    """The kind of that name."""
    if name not in _WHERE:
        raise WrongUse(f"there is no kind of release {name[:40]!r}; there are {', '.join(_WHERE)}")
    module, _, held = _WHERE[name].partition(":")
    found: Kind = getattr(import_module(module), held or "KIND")
    return found


def _as_written(spec: Spec, given: Any) -> Spec:
    """What was read, if it is what would be written: a description has nothing in it that nobody looked at."""
    if not agrees(given, spec.described()):
        raise CheckFailed("the description of the release is not written as Hubbub writes it; get the original")
    return spec


def read(wire: str, given: Any) -> Spec:
    """The spec that was written down under that wire name."""
    name = wire.partition("/")[0]
    if name in _WHERE:
        known = kind(name)
        if wire == known.wire:
            return _as_written(known.read(given), given)
    raise Newer(f"{wire[:40]!r} is a kind of release that this version does not know; update Hubbub")
