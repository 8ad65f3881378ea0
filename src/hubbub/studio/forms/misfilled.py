"""Where in a form an error belongs: the field that is marked, and that a link beside the sentence leads to."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import Final

from hubbub.errors import HubbubError, WrongUse

_MARK: Final = re.compile(r"`([A-Za-z]\w*)(?:=[^`]*)?`")
_GROUPS: Final = {  # options that one part of the form says
    "person": "who",
    "rows_are_people": "who",
    "one_row_per_person": "several",
    "rows_per_person": "several",
    "rows_per_bin": "several",
    "distinct": "several",
    "any_row": "several",
    "by": "columns",
    "of": "of-column",
    "outlier": "rare",
    "where": "where-column",
}


class Misfilled(WrongUse):
    """A field of a form that cannot be right."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


def field_of(error: HubbubError, names: Container[str], columns: Iterable[tuple[str, str]]) -> str:
    """The field that an error is about, of those that the form has; "" where it is about none, or about all of it.
    `columns` are the chosen ones: their names, and the fields of their bins."""
    if isinstance(error, Misfilled):
        return error.field
    text = error.marked
    for name, field in columns:
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            return field
    for mark in _MARK.finditer(text):
        asked = _GROUPS.get(mark[1], mark[1])
        if asked in names:
            return asked
    return next((name for name in ("epsilon", "delta", "crowd", "sample") if re.search(rf"\b{name}\b", text)), "")
