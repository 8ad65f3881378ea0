"""Texts that a spreadsheet does not run: one that begins like a formula gets an apostrophe in front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_FORMULA: Final = tuple("=+-@\t\r\n＝＋－＠")  # noqa: RUF001 (the wide ones run as formulas too, in some countries)


def safe(labels: Sequence[str | None]) -> list[str | None]:
    """With an apostrophe before a formula, and one more before apostrophes and a formula: different labels stay so."""
    return [f"'{label}" if label is not None and label.lstrip("'").startswith(_FORMULA) else label for label in labels]
