"""A promise that is written as it is derived is not read; one that is written in any other way is, and judged."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest

from hubbub.certificate.certificate import derivation_json
from hubbub.channels.papers.lecture import Lecture
from hubbub.guarantees.curve import read
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, Guarantee, OutlierPrivacy
from hubbub.guarantees.derivation import state_promise
from hubbub.guarantees.people import People
from hubbub.numeric.exact import INFINITY
from hubbub.serialization.exact_json import plain, restored
from hubbub.verification.promises import check_promises
from hubbub.verification.verdict import Failed, Notes

PEOPLE = People()


def passes(entry: Any, promise: Guarantee) -> bool:
    notes = Notes()
    with suppress(Failed):
        check_promises(notes, [entry], (state_promise(promise, people=PEOPLE),))
    return all(check.passed for check in notes.done)


def written(promise: Guarantee) -> Any:
    return derivation_json(state_promise(promise, people=PEOPLE))


@pytest.mark.parametrize(
    "promise",
    [
        OutlierPrivacy(curve=Lecture.with_factor(5, 40, "0.4", "1.8").curve, delta=Fraction(1, 7)),
        *(OutlierPrivacy(curve=read(text).curve) for text in ("1:0,7:1/3,9:inf", "slope:0.02", "0.1+slope:0.0009<=1")),
        CrowdBlending(k=1, epsilon=Fraction(0)),
        DifferentialPrivacy(epsilon=INFINITY, delta=Fraction(1, 3)),
    ],
)
def test_one_text_stands_for_one_promise(promise: Guarantee) -> None:
    assert restored(Guarantee, plain(promise)) == promise
    assert passes(written(promise), promise)


@pytest.mark.parametrize("k", [True, "1", 1.0, [1], None, 0])
def test_what_python_or_a_reader_might_take_for_the_same_is_not(k: Any) -> None:
    promise = CrowdBlending(k=1, epsilon=Fraction(0))
    entry = written(promise)
    entry["promise"] = {**entry["promise"], "k": k}
    if isinstance(k, float):
        with pytest.raises(TypeError):  # no certificate has one: they are refused where it is read
            passes(entry, promise)
        return
    assert not passes(entry, promise)


@pytest.mark.parametrize("text", ["1:0.5,2:2/4", "1:0.50", "0.5 ", "1/2", "1:0.5"])
def test_the_same_curve_in_other_signs_is_not_as_hubbub_writes_it(text: str) -> None:
    promise = OutlierPrivacy(curve=read("0.5").curve)
    entry = written(promise)
    entry["promise"] = {**entry["promise"], "curve": text}
    assert not passes(entry, promise)


def test_a_weaker_promise_is_read_and_follows_and_a_stronger_one_does_not() -> None:
    promise = OutlierPrivacy(curve=read("1:0.5,9:1").curve)
    for curve, follows in (("1:0.6,9:1", True), ("1:0.4,9:1", False)):
        entry = written(promise)
        entry["promise"] = {**entry["promise"], "curve": curve}
        assert passes(entry, promise) is follows
