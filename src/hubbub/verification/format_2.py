"""Certificates of format 2, which said everything in sentences and did not say whom a promise is about.

Their promises are derived again, and must be what is said or promise more; their sentences were compared word for word
by the version that wrote them, and are not compared here. One kind of them stopped holding: where a table was declared
to be collected as a sample, the promises that this buys were written as if they were about neighbouring tables, and
they are about the population.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from hubbub import registry
from hubbub.certificate.certificate import about
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.people import Whose
from hubbub.numeric.exact import INFINITY, Loss, rational
from hubbub.protocol.spec import Spec
from hubbub.verification.checklist import Notes

FORMAT: Final = "hubbub certificate 2"

_DESCRIBED: Final = (
    *("kind", "bins", "channel", "unit", "sample", "collected", "at_delta", "coverage", "scale_up", "remarks"),
)
_SAID: Final = ("person", "neighbours", "counted", "assumptions", "guarantees")
_NAMES: Final = {
    "release_file": r"release\.(csv|parquet)",
    "release_sha256": r"[0-9a-f]{64}",
    "software": r"hubbub [0-9][0-9A-Za-z.+-]{0,40}",
}
_FIELDS: Final = {*_DESCRIBED, *_SAID, *_NAMES, "format", "ledger"}
_NOTIONS: Final = {"simple-outlier": "outlier", "staircase": "outlier"}
_KEYS: Final = ("k", "epsilon", "delta", "group", "curve", "aggregate", "sample", "thresholds", "epsilons")


def files(notes: Notes, body: Mapping[str, Any]) -> Mapping[str, str]:
    """The file it is about."""
    found = {name: body.get(name) for name in _NAMES}
    right = all(isinstance(text, str) and re.fullmatch(_NAMES[name], text, re.ASCII) for name, text in found.items())
    notes.note("names and digests", right, wrong="the file, its digest or the software is missing, or none of Hubbub's")
    return {str(found["release_file"]): str(found["release_sha256"])}


def spec(body: Mapping[str, Any]) -> Spec:
    """What was released."""
    return registry.read(body["kind"], {name: body[name] for name in _DESCRIBED})


def promises(notes: Notes, body: Mapping[str, Any], spec: Spec, derived: tuple[Derivation, ...]) -> None:
    """Each promise is what is derived today, or weaker."""
    population = [step for step in derived if step.people is not None and step.people.whose is Whose.POPULATION]
    wrong = (
        "it says of the table what holds for the population that the table was collected from: tables of 20 and 19 "
        "people may tell themselves apart with certainty; ask the publisher for a new certificate"
    )
    notes.note("whom it is about", not population, f"{spec.people}", wrong=wrong)
    given = body.get("guarantees")
    notes.note("the promises", isinstance(given, list) and bool(given), f"{len(given or ())} of them", wrong="none")
    assert isinstance(given, list)
    for said in given:
        says = said.get("says") if isinstance(said, dict) else None
        notes.note("a promise", isinstance(says, str), wrong="it is not written as a promise")
        found = next((step for step in derived if _follows(said, step)), None)
        right = found is not None
        told = "" if found is None else f"derived: {found.conclusion}, by {found.theorem}"
        notes.note(f"promised: {says}", right, told, wrong="it does not follow from the described release")


def _follows(said: Mapping[str, Any], step: Derivation) -> bool:
    """Whether a promise says what a step concludes, or the same with a larger epsilon or delta."""
    mine = _as_written(step)
    stated = {name: value for name, value in said.items() if name not in ("says", "derivation")}
    if set(stated) != set(mine):
        return False
    if all(stated[name] == mine[name] for name in mine):
        return bool(said["says"] == str(step.conclusion))
    loose = ("epsilon", "delta")
    if any(stated[name] != mine[name] for name in mine if name not in loose):
        return False
    return all(_loss(stated[name]) >= _loss(mine[name]) for name in loose if name in mine)


def _as_written(step: Derivation) -> dict[str, Any]:
    """A promise as that format wrote it."""
    now = about(step.conclusion)
    fields: dict[str, Any] = {name: now.get(f"{name}_exact", now[name]) for name in _KEYS if name in now}
    return {"notion": _NOTIONS.get(step.conclusion.notion, step.conclusion.notion), **fields}


def _loss(text: Any) -> Loss:
    return INFINITY if text == "inf" else rational(text) if isinstance(text, str) else Fraction(-1)


def rest(notes: Notes, body: Mapping[str, Any]) -> None:
    """Nothing else is said; its sentences are its own."""
    unknown, missing = sorted(set(body) - _FIELDS), sorted(_FIELDS - set(body))
    odd = [*unknown, *missing]
    notes.note("nothing more is said", not odd, wrong=f"{odd[0][:40]!r} is missing or does not belong" if odd else "")
    notes.note("its sentences", True, "are of an earlier version and were not compared; hubbub explain has today's")
