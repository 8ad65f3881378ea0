"""Where in a form an error belongs: the field that is marked, and that a link beside the sentence leads to."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from typing import Final

from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.studio.rendering import sentence_of

_MARK: Final = re.compile(r"`([A-Za-z]\w*)(?:=([^`]*))?`")
_PLAIN: Final = (WrongUse, Refused)
_GROUPS: Final = {  # options that one part of the form says
    "person": "who",
    "rows_are_people": "who",
    "one_row_per_person": "several",
    "unique_person": "several",
    "rows_per_person": "several",
    "rows_per_bin": "several",
    "distinct": "several",
    "any_row": "several",
    "by": "columns",
    "of": "of-column",
    "outlier": "rare",
    "mechanism": "rare",
    "where": "where-column",
}

PART_LABELS: Final = {
    "person": "Who is a person?",
    "rows_are_people": "Each row is another person",
    "one_row_per_person": "Keep one row of each",
    "unique_person": "No, and do not check it",
    "rows_per_person": "Count the rows",
    "distinct": "Count the people",
    "any_row": "Count the people",
    "by": "Count them by",
    "of": "Of what?",
    "per": "For each of what?",
    "on": "People are found by",
    "join": "A second table",
    "where": "Which people?",
}
"""What the parts of a form are called that options belong to."""


class Misfilled(WrongUse):
    """A field of a form that cannot be right."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


def in_form(error: HubbubError, labels: Mapping[str, str]) -> str:
    """An error as it stands beside a form: options are called as their fields are, and placeholders are left out.

    >>> in_form(WrongUse("say how many there are: add `vertices=N`"), {"vertices": "The number of people"})
    'Say how many there are: add “The number of people”.'
    """

    def called(mark: re.Match[str]) -> str:
        name, value = mark[1], mark[2]
        label = labels.get(name)
        if label is None:
            return mark[0]
        return f"“{label}”" if value is None or not re.fullmatch(r"[\d.e-]+", value) else f"“{label}” ({value})"

    return sentence_of(type(error)(_MARK.sub(called, error.marked))) if type(error) in _PLAIN else sentence_of(error)


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
        group = _GROUPS.get(mark[1], mark[1])
        if group in names:
            return group
    return next((name for name in ("epsilon", "delta", "crowd", "sample") if re.search(rf"\b{name}\b", text)), "")
