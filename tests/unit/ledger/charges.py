"""Charges of every kind that a ledger may hold, by name, and what several of them promise together."""

from __future__ import annotations

from functools import cache
from typing import Any

from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.admission import Entered, Totals, totals
from hubbub.ledger.charge import Charge
from hubbub.ledger.charge import charge as charge_of
from hubbub.protocol.bound import Bound
from hubbub.tables.privacy_unit import Unit

NOTIONS = ("differential", "zero_knowledge", "crowd_blending", "outlier")

A, B = "a=x,y", "b=x,y"
BY_ID = Unit(person="id")
ONE_ROW, TWO_BINS = Unit(person="id", one_row_per_person=True), Unit(person="id", distinct=2)

KINDS: dict[str, dict[str, Any]] = {
    "crowd": {"crowd": 20},
    "crowd by b": {"by": B, "crowd": 20},
    "crowd by c": {"by": "c=x,y", "crowd": 20},
    "small crowd": {"crowd": 5},
    "noisy crowd": {"crowd": 20, "epsilon": "0.5"},
    "plain": {"epsilon": 1},
    "plain by b": {"by": B, "epsilon": "0.25"},
    "sampled crowd": {"crowd": 20, "sample": "0.1"},
    "sampled crowd by b": {"by": B, "crowd": 30, "sample": "0.05"},
    "sampled plain": {"epsilon": 1, "sample": "0.1"},
    "collected crowd": {"crowd": 20, "collected": "0.05"},
    "collected plain": {"epsilon": 1, "collected": "0.05"},
    "uneven crowd": {"crowd": 20, "collected_between": ("0.03", "0.06"), "exempt": 5},
    "endless": {"outlier": "1:0,21:inf"},
    "endless by b": {"by": B, "outlier": "1:0,11:inf"},
    "curve": {"outlier": "1:0.01,101:1"},
    "curve by b": {"by": B, "outlier": "1:0.02,51:0.5"},
    "example 2": {"channel": "simple-suppressed", "options": {"k": 19}},
    "example 4": {"channel": "outlier-suppressed", "options": {"k": 20, "epsilon": 1, "delta": "1e-6"}},
    "one row": {"unit": ONE_ROW, "crowd": 20},
    "one row, endless": {"unit": ONE_ROW, "outlier": "1:0,21:inf"},
    "two bins": {"unit": TWO_BINS, "epsilon": 1},
    "gaussian": {"epsilon": 1, "delta": "1e-9", "noise": "gaussian"},
    "gaussian in two bins": {"unit": TWO_BINS, "epsilon": "0.5", "delta": "1e-9", "noise": "gaussian"},
    "sampled gaussian": {"epsilon": 1, "delta": "1e-9", "noise": "gaussian", "sample": "0.1"},
    "group": {"channel": "group", "options": {"k": 10, "epsilon": 1}},
}


@cache
def charge(name: str) -> Charge:
    words = {"unit": BY_ID, "by": A} | KINDS[name]
    return charge_of(Bound(histogram([words.pop("by")], **words)))


def releases(*names: str) -> list[Entered]:
    return [Entered(number=i, charge=charge(name)) for i, name in enumerate(names, 1)]


def together(*names: str) -> Totals:
    return totals(releases(*names))


def told(which: Totals) -> dict[str, object]:
    return {name: getattr(which, name).guarantee for name in (*NOTIONS, "concentrated", "population")}
