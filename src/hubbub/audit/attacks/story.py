"""Attacks as stories: each is a function with the numbers it must show, bars to draw, and what protects.

The demo, the documentation and ``hubbub audit story`` tell them from here. Every number is computed, from exact laws
where they are to be had; nothing in a story is about anybody who lives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from hubbub.charts.page import page
from hubbub.charts.svg import Bar, ChartLabels, Panel, responsive
from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """An attack: what is published, what somebody finds, in numbers, and what would have protected."""

    name: str
    title: str
    sentences: tuple[str, ...]
    numbers: Mapping[str, float | int]
    bars: tuple[tuple[str, float, str], ...]  # label, height, words
    axis: str
    protects: str

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "told": list(self.sentences),
            "numbers": dict(self.numbers),
            "protects": self.protects,
        }

    def chart(self) -> str:
        """The bars as SVG."""
        bars = tuple(Bar(label, value, value, value, text) for label, value, text in self.bars)
        labels = ChartLabels(title=self.title, description=" ".join(self.sentences), by="", numbers=self.axis)
        return responsive([Panel("", bars)], labels, upright=False)

    def page(self) -> str:
        """The story as one page that opens without a network and runs no code."""
        return page(self.title, self.chart(), above=self.sentences, below=[self.protects])


_WHERE: Final = {
    "managers": "salaries:managers",
    "democrats": "friends:democrats",
    "twice": "tables:twice",
    "margins": "tables:margins",
    "first-row": "tables:first_row",
    "one-row": "tables:one_row",
    "seeds": "noise:seeds",
    "floats": "noise:floats",
    "transfers": "votes:transfers",
}


def names() -> tuple[str, ...]:
    """Every story by name."""
    return tuple(_WHERE)


def story(name: str) -> Story:
    """The story of that name, with its numbers worked out."""
    if name not in _WHERE:
        raise WrongUse(f"there is no story {name[:40]!r}; there are {', '.join(_WHERE)}")
    module, _, function = _WHERE[name].partition(":")
    run: Callable[[], Story] = getattr(import_module(f"hubbub.audit.attacks.{module}"), function)
    return run()


def percent(share: float) -> str:
    """A share as it is read."""
    return f"{100 * share:.1f} %"
