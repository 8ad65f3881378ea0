"""How a promise was reached: a tree of theorems with a promise at every node.

A derivation says which statement was used, on which premises, with which exact numbers and under which
assumptions, so that somebody without the data can work it out again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeVar

from hubbub.errors import Refused, WrongUse
from hubbub.exact import Infinite, Loss, to_text
from hubbub.guarantees.definitions import Guarantee

GLP: Final = "Gehrke, Lui, Pass, Towards privacy for social networks, TCC 2011"
GHLP: Final = "Gehrke, Hay, Lui, Pass, Crowd-blending privacy, CRYPTO 2012"
LUI_PASS: Final = "Lui, Pass, Outlier privacy, TCC 2015"
DMNS: Final = "Dwork, McSherry, Nissim, Smith, Calibrating noise to sensitivity, TCC 2006"
BBG: Final = "Balle, Barthe, Gaboardi, Privacy amplification by subsampling, NeurIPS 2018"
HERE: Final = "re-derived, see docs/theorem-map.md"
"""The authorities; what we sharpened or repaired names HERE beside them."""

G = TypeVar("G", bound=Guarantee)
Number = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """`conclusion` follows from `premises` by `theorem`, if the `assumptions` hold.

    `theorem` names the statement ("Proposition 8"), `source` where it stands, `numbers` the quantities that go
    into it and come out of it, by name, as exact text. A leaf has no premises: its conclusion is stated, by a
    theorem about a mechanism or by somebody.
    """

    conclusion: Guarantee
    theorem: str
    source: str
    premises: tuple[Derivation, ...] = ()
    numbers: tuple[Number, ...] = ()
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.theorem.strip():
            raise WrongUse("a step of a derivation must name the statement it uses; give theorem a text")

    def concluding(self, kind: type[G], theorem: str) -> G:
        """The conclusion, if it is of the kind that `theorem` starts from."""
        if isinstance(self.conclusion, kind):
            return self.conclusion
        wanted = getattr(kind, "notion", kind.__name__)
        raise Refused(
            f"{theorem} starts from {wanted} privacy, and the premise is {self.conclusion}; derive that first"
        )

    def steps(self) -> Iterator[Derivation]:
        """Every step below and including this one, premises before conclusions. A shared step comes once."""
        told: set[int] = set()
        waiting: list[tuple[Derivation, bool]] = [(self, False)]  # a ledger makes trees too deep to recurse
        while waiting:
            step, ready = waiting.pop()
            if id(step) in told:
                continue
            if ready:
                told.add(id(step))
                yield step
            else:
                waiting.append((step, True))
                waiting.extend((premise, False) for premise in reversed(step.premises))

    def all_assumptions(self) -> tuple[str, ...]:
        """What has to hold for the conclusion to hold, each once, in the order it came in."""
        return tuple(dict.fromkeys(text for step in self.steps() for text in step.assumptions))


def stated(
    guarantee: Guarantee,
    *,
    theorem: str = "stated",
    source: str = "the caller",
    numbers: tuple[Number, ...] = (),
    assumptions: tuple[str, ...] = (),
) -> Derivation:
    """A leaf: what a mechanism is known, or declared, to promise."""
    return Derivation(conclusion=guarantee, theorem=theorem, source=source, numbers=numbers, assumptions=assumptions)


def texts(**quantities: Loss | int) -> tuple[Number, ...]:
    """Named quantities as exact text, in the order given.

    >>> texts(k=10, delta=Fraction(1, 8))
    (('k', '10'), ('delta', '0.125'))
    """
    return tuple(
        (name, to_text(value if isinstance(value, Fraction | Infinite) else Fraction(value)))
        for name, value in quantities.items()
    )
