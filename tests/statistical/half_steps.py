"""Intervals without the half step that rounding to a step may move a mean by: what a test must notice."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.tables.bounded_column import Measure


def leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hand on the ends of intervals as they are, however they are given."""

    def value(self: Measure, part: tuple[int, int]) -> Fraction:
        return self.low + Fraction(*part) * self.steps * self.step

    monkeypatch.setattr(Measure, "unrounded", lambda self, low, high: (low, high))
    monkeypatch.setattr(Measure, "unrounded_parts", lambda self, low, high: (value(self, low), value(self, high)))
