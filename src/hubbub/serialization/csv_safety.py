"""Texts that a spreadsheet does not run: one that begins like a formula gets an apostrophe in front."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_FORMULA: Final = tuple("=+-@\t\r\n＝＋－＠")  # noqa: RUF001 (the wide ones run as formulas too, in some countries)

_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?")


def safe(labels: Sequence[str | None]) -> list[str | None]:
    """With an apostrophe before a formula, and one more before apostrophes and a formula: different labels stay so.

    A bare number can do nothing, and keeps its sign.

    >>> safe(["-5", "-5+1", "'-5", "=A1", "five", None])
    ['-5', "'-5+1", "''-5", "'=A1", 'five', None]
    """
    return [f"'{label}" if label is not None and _acts(label) else label for label in labels]


def restored(labels: Sequence[str | None]) -> list[str | None]:
    """The labels of which :func:`safe` makes these.

    >>> restored(["-5", "'-5+1", "''-5", "'=A1", "five", "'s", None])
    ['-5', '-5+1', "'-5", '=A1', 'five', "'s", None]
    """
    return [
        label[1:] if label is not None and label.startswith("'") and _acts(label[1:]) else label for label in labels
    ]


def _acts(label: str) -> bool:
    return label.lstrip("'").startswith(_FORMULA) and not _NUMBER.fullmatch(label)
