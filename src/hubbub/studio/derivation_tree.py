"""A derivation as a tree that opens step by step, each step said in plain words."""

from __future__ import annotations

from typing import Final

from hubbub.certificate.explanation import meaning
from hubbub.guarantees.derivation import Derivation
from hubbub.runtime.frozen import dataclass

_DEEP: Final = 40  # steps below one another that are shown


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what follows, by which theorem, in words, with which numbers, if what is so, from what."""

    conclusion: str
    people: str
    theorem: str
    source: str
    text: str
    numbers: tuple[tuple[str, str], ...]
    assumptions: tuple[str, ...]
    premises: tuple[Step, ...]


def tree(step: Derivation, depth: int = 0) -> Step:
    """The step and what it rests on."""
    below = tuple(tree(premise, depth + 1) for premise in step.premises) if depth < _DEEP else ()
    return Step(
        conclusion=str(step.conclusion),
        people="" if step.people is None else str(step.people),
        theorem=step.theorem.name,
        source=step.theorem.source,
        text=meaning(step.conclusion, step.people).promised,
        numbers=tuple((name.removesuffix("_out").replace("_", " "), text) for name, text in step.numbers),
        assumptions=tuple(map(str, step.assumptions)),
        premises=below,
    )
