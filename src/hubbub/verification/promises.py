"""The promises of a certificate: every step of every derivation, as it works out today, or implied by that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hubbub.certificate import whom, written
from hubbub.errors import CheckFailed
from hubbub.guarantees.definitions import Guarantee
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.weakening import is_weaker
from hubbub.verification.noting import Notes
from hubbub.wire.exact_json import agrees, restored

_STEP: Final = {"promise", "people", "unit", "theorem", "given", "assumptions", "premises"}


def check_promises(notes: Notes, given: Any, derived: tuple[Derivation, ...]) -> None:
    """Every step of every promise, premises first.

    Guarantee: returns only if each is derived today, by that theorem, from those inputs, under those assumptions and
    for those people, or follows from such a step (a bound that was sharpened since). Otherwise Failed.
    """
    notes.note("the promises", isinstance(given, list) and bool(given), f"{len(given or ())} of them", wrong="none")
    assert isinstance(given, list)
    known = [step for promise in derived for step in promise.steps()]
    for said in given:
        _steps(notes, said, known)


def _steps(notes: Notes, said: Any, known: list[Derivation]) -> None:
    right = isinstance(said, dict) and set(said) == _STEP and isinstance(said["premises"], list)
    notes.note("a step", right, wrong="it is not written as Hubbub writes it; get the original")
    for premise in said["premises"]:
        _steps(notes, premise, known)
    try:
        promise: Guarantee = restored(Guarantee, said["promise"])
    except CheckFailed as error:
        notes.note("a step", False, str(error))
    same = [step for step in known if _as_used(said, step)]
    exact = next((step for step in same if agrees(said["promise"], written(step)["promise"])), None)
    if exact is not None:
        premises = len(exact.premises) == len(said["premises"])
        notes.note(_what(promise, exact), premises, _numbers(exact), wrong="it rests on other premises")
        return
    implied = next((step for step in same if is_weaker(promise, step.conclusion)), None)
    if implied is not None:
        found = f"follows: {implied.conclusion} is derived today, which promises more"
        notes.note(_what(promise, implied), True, found)
        return
    notes.note(f"{promise}", False, _why(said, known))


def _as_used(said: Mapping[str, Any], step: Derivation) -> bool:
    """Whether a step uses this theorem, on the same inputs, under the same assumptions, for the same people."""
    mine = written(step)
    return _about(said, step) and all(said[name] == mine[name] for name in ("theorem", "given", "assumptions"))


def _about(said: Mapping[str, Any], step: Derivation) -> bool:
    return all(said[name] == value for name, value in whom(step.people).items())


def _what(promise: Guarantee, step: Derivation) -> str:
    return f"{promise}, for {step.people}, by {step.theorem}"


def _numbers(step: Derivation) -> str:
    return ", ".join(f"{name.removesuffix('_out')} = {text}" for name, text in step.numbers)


def _why(said: Mapping[str, Any], known: list[Derivation]) -> str:
    """Why no step that is derived today is this one."""
    named = [step for step in known if step.theorem.id == said["theorem"]]
    if not named:
        return f"it rests on {str(said['theorem'])[:40]!r}, which is not used here; update Hubbub, or get the original"
    near = next((step for step in named if _about(said, step)), None)
    if near is None:
        return f"it is said about other people than those it holds for, which are {named[0].people}"
    mine = written(near)
    for name in ("given", "assumptions"):
        if said[name] != mine[name]:
            return f"{name} is {str(said[name])[:100]}, and works out to {str(mine[name])[:100]}"
    return f"it works out to {near.conclusion}, and does not follow from that"
