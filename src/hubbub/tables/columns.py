"""A column as somebody names it: with its bins, or with the public function that makes it coarser."""

from __future__ import annotations

from hubbub.errors import WrongUse
from hubbub.tables.bins import Axis, Discovered, parse
from hubbub.tables.generalization import parsed


def axis(spec: str) -> Axis:
    """A column with the public function that makes it coarser, or with its bins."""
    if not isinstance(spec, str):
        raise WrongUse("a column is named by a text, like age:10 or zip/3; write it so")
    found = parsed(spec)
    return parse(spec) if found is None else Discovered(found[0], coarser=found[1])
