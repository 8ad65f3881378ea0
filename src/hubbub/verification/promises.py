"""Certificates as they are written today: identifiers and exact numbers, and no sentence."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from hubbub.certificate.certificate import derivation_json, whom
from hubbub.errors import CheckFailed
from hubbub.guarantees.definitions import Guarantee
from hubbub.guarantees.implications import is_weaker
from hubbub.serialization.canonical import canonical
from hubbub.serialization.exact_json import plain, restored

if TYPE_CHECKING:
    from hubbub.guarantees.derivation import Derivation
    from hubbub.verification.verdict import Notes

RETIRED: Final[frozenset[str]] = frozenset()
"""Identifiers of theorems that certificates name and that a better one has replaced since."""

SHARPENED: Final[Mapping[str, str]] = MappingProxyType({})
"""Theorems that are used today in the place of a rougher one, which earlier certificates name on the same inputs."""

ADDED: Final[frozenset[str]] = frozenset()
"""Identifiers of theorems behind promises that are derived since, and that earlier certificates do not make."""

_STEP: Final = {"promise", "people", "unit", "theorem", "given", "assumptions", "premises"}


def check_promises(notes: Notes, given: Any, derived: tuple[Derivation, ...]) -> None:
    """Every promise that is derived today, once and in its order, and under it every step: as it works out, or implied
    by that. One that rests on a theorem of :data:`ADDED` may be missing."""
    notes.note("the promises", isinstance(given, list) and bool(given), f"{len(given or ())} of them", wrong="none")
    assert isinstance(given, list)
    known = [step for promise in derived for step in promise.steps()]
    expected = list(derived)
    for entry in given:
        while len(expected) > 1 and expected[0].theorem.id in ADDED and not _is_same_step(entry, expected[0]):
            del expected[0]
        wrong = "it is there twice, or stands in another place than Hubbub writes it; get the original"
        notes.note("a promise that this release makes", bool(expected), wrong=wrong)
        _steps(notes, entry, expected.pop(0), known)
    absent = [step for step in expected if step.theorem.id not in ADDED]
    wrong = f"{absent[0].conclusion} is left out; get the original" if absent else ""
    notes.note("no promise is missing, and none is there twice", not absent, wrong=wrong)


def _steps(notes: Notes, entry: Any, step: Derivation, known: list[Derivation]) -> None:
    """Whether what is said is this step, premises first."""
    right = isinstance(entry, dict) and set(entry) == _STEP and isinstance(entry["premises"], list)
    notes.note(
        "a step of its proof, as it is written", right, wrong="it is not written as Hubbub writes it; get the original"
    )
    promise = _promise(notes, entry["promise"], step)
    if isinstance(entry["theorem"], str) and entry["theorem"] in RETIRED:
        _implied(notes, entry, promise, [each for each in known if _about(entry, each)], known)
        return
    if not _as_used(entry, step):
        notes.note(f"{promise}", False, _why(entry, step, known))
    wrong = "it rests on other premises"
    notes.note(_what(promise, step), len(step.premises) == len(entry["premises"]), wrong=wrong)
    for each, premise in zip(entry["premises"], step.premises, strict=True):
        _steps(notes, each, premise, known)
    if promise == step.conclusion:
        notes.note(_what(promise, step), True, _numbers(step))
    else:
        _implied(notes, entry, promise, [step], known)


def _promise(notes: Notes, value: Any, step: Derivation) -> Guarantee:
    """What is promised, read from how it is written.

    Guarantee: it is written, to the sign, as Hubbub writes the promise that is handed out. Where that is what the step
    concludes, nothing is read: one text stands for one promise.
    """
    if canonical(value) == canonical(plain(step.conclusion)):
        return step.conclusion
    what = "a step of its proof, as it is written"
    try:
        promise: Guarantee = restored(Guarantee, value)
    except CheckFailed as error:
        notes.note(what, False, str(error))
    notes.note(what, value == plain(promise), wrong="it is not written as Hubbub writes it")
    return promise


def _implied(
    notes: Notes, entry: Mapping[str, Any], promise: Guarantee, steps: list[Derivation], known: list[Derivation]
) -> None:
    """Whether a promise follows from what one of these steps concludes."""
    implied = next((step for step in steps if is_weaker(promise, step.conclusion)), None)
    if implied is None:
        notes.note(f"{promise}", False, _why(entry, steps[0] if steps else None, known))
        return
    found = f"follows: {implied.conclusion} is derived today, which promises more"
    notes.note(_what(promise, implied), True, found)


def _as_used(entry: Mapping[str, Any], step: Derivation) -> bool:
    """Whether a step uses this theorem, or a sharper one, on the same inputs and assumptions, for the same people."""
    mine = derivation_json(step)
    same = all(entry[name] == mine[name] for name in ("given", "assumptions"))
    return same and _about(entry, step) and _is_by(entry, step)


def _is_by(entry: Mapping[str, Any], step: Derivation) -> bool:
    return entry["theorem"] in (step.theorem.id, SHARPENED.get(step.theorem.id))


def _is_same_step(entry: Any, step: Derivation) -> bool:
    """Whether it is this promise that is said, with whatever numbers."""
    right = isinstance(entry, dict) and set(entry) == _STEP and isinstance(entry["promise"], dict)
    return right and entry["promise"].get("is") == type(step.conclusion).__name__ and _as_used(entry, step)


def _about(entry: Mapping[str, Any], step: Derivation) -> bool:
    return all(entry[name] == value for name, value in whom(step.people).items())


def _what(promise: Guarantee, step: Derivation) -> str:
    return f"{promise}, for {step.people}, by {step.theorem}"


def _numbers(step: Derivation) -> str:
    return ", ".join(f"{name.removesuffix('_out')} = {text}" for name, text in step.numbers)


def _why(entry: Mapping[str, Any], step: Derivation | None, known: list[Derivation]) -> str:
    """Why what is said is not the step that is derived today in its place."""
    named = [each for each in known if _is_by(entry, each)]
    if not named:
        return f"it rests on {str(entry['theorem'])[:40]!r}, which is not used here; update Hubbub, or get the original"
    near = next(
        (each for each in [*([] if step is None else [step]), *named] if each in named and _about(entry, each)), None
    )
    if near is None:
        return f"it is said about other people than those it holds for, which are {named[0].people}"
    mine = derivation_json(near)
    for name in ("given", "assumptions"):
        if entry[name] != mine[name]:
            return f"{name} is {str(entry[name])[:100]}, and works out to {str(mine[name])[:100]}"
    if near is not step:
        return "it is there twice, or stands in another place than Hubbub writes it; get the original"
    return f"it works out to {near.conclusion}, and does not follow from that"
