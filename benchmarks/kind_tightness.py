"""What each kind of release claims over what its laws reach, on tables small enough to enumerate all of them.

`measure` runs once for every outcome of its noise (:mod:`tests.conformance.enumeration`), on every table of a few people
and under the neighbours that the promise names. Exact is a loss that two neighbours reach at one outcome, or for a promise
with a delta the delta that they reach at its epsilon; what the enumeration leaves out counts against it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Final

from flint import arb

from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.numeric.exact import Infinite, ball, exp, lower, precision, upper
from tests.conformance import enumeration
from tests.conformance.test_exact_laws import BATH, CASES, OLD, WELLS, Case, laws_of

_LIKELY: Final = 1e-4  # outcomes that are looked at
_ONE: Final = {"of": "age:0..1:1"}
_SECRET: Final = {"zero_knowledge": "1", "rows": "2", "people": "3"}

SMALL: Final[dict[str, tuple[Case, int, float]]] = {
    "histogram, noise": (CASES["histogram, noise"], 1, 1e-7),
    "histogram, Gaussian noise": (CASES["histogram, gaussian"], 1, 1e-6),
    "histogram, half of the people in secret": (CASES["histogram, sampled"], 2, 1e-7),
    "count": (CASES["count"], 2, 1e-7),
    "count, 2 of 3 people in secret": (Case("count", {"where": "age >= 1", **_SECRET}, (BATH, OLD)), 3, 1e-6),
    "fraction": (CASES["fraction"], 1, 1e-7),
    "fraction, 2 of 3 people in secret": (Case("fraction", {"where": "age >= 1", **_SECRET}, (BATH, OLD)), 3, 1e-6),
    "mean": (CASES["mean"], 1, 1e-7),
    "mean, 2 of 3 people in secret": (Case("mean", {**_ONE, **_SECRET}, (BATH, WELLS)), 3, 1e-6),
    "quantile": (CASES["quantile"], 2, 1e-7),
    "sum, cap": (CASES["sum, cap"], 1, 1e-7),
    "sum, layers": (CASES["sum, layers"], 1, 1e-7),
    "summary": (replace(CASES["summary"], options={"number": ("people", "mean age:0..1:1"), "epsilon": "3"}), 1, 1e-6),
    "variance": (Case("variance", {**_ONE, "epsilon": "3"}, (BATH, WELLS)), 1, 1e-7),
    "std": (Case("std", {**_ONE, "epsilon": "3"}, (BATH, WELLS)), 1, 1e-7),
    "cube": (CASES["cube"], 1, 1e-6),
    "queries, cells": (CASES["queries, cells"], 1, 1e-7),
    "queries, tree": (CASES["queries, tree"], 1, 1e-7),
    "queries, marginals": (CASES["queries, marginals"], 1, 1e-7),
    "queries, small database of 3 people": (CASES["queries, small"], 3, 1e-7),
    "queries, 2 of 3 people in secret": (CASES["queries, sampled"], 3, 1e-6),
    "questions, 2 of 3 people in secret": (CASES["questions"], 3, 1e-7),
}
"""A case, how many people there are at the most, and how unlikely what is left out is."""


def rows() -> Iterable[tuple[str, DifferentialPrivacy, Fraction]]:
    """(kind, its promise, what the laws reach of its epsilon, or of its delta if it has one)."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (case, most, reach) in SMALL.items():
            print(name, file=sys.stderr)
            spec = case.spec(Path(folder))
            given = [step.conclusion for step in spec.table_promises()]
            promise = min(
                (each for each in given if isinstance(each, DifferentialPrivacy)), key=lambda each: each.epsilon
            )
            laws = laws_of(spec, case.people, most, reach)
            yield name, promise, reached(laws, case, promise, of_one_run=name == "cube")


def reached(
    laws: dict[enumeration.People, enumeration.Law], case: Case, promise: DifferentialPrivacy, *, of_one_run: bool
) -> Fraction:
    """The most that two neighbours reach; `of_one_run`: each outcome comes from one run, so that none is left out of it."""
    best = Fraction(0)
    with precision():
        missing = {people: ball(max(upper(1 - sum(law.values(), arb(0))), Fraction(0))) for people, law in laws.items()}
        for one, two in enumeration.neighbours_among(laws, case.people, promise.neighbours):
            if promise.delta:
                assert not isinstance(promise.epsilon, Infinite)
                factor, other = exp(promise.epsilon), laws[two]
                gains = (mass - factor * other.get(at, arb(0)) for at, mass in laws[one].items())
                found = sum((gain.nonnegative_part() for gain in gains), arb(0)) - factor * missing[two]
                best = max(best, lower(found))
                continue
            for at, mass in laws[one].items():
                there = laws[two].get(at, arb(0))
                if float(mass.mid()) >= _LIKELY and (there > 0 or not of_one_run):
                    best = max(best, lower((mass / (there if of_one_run else there + missing[two])).log()))
    return best
