"""How a promise was reached: a tree of theorems with a promise at every node.

A derivation says which statement was used, on which premises, with which exact numbers and under which
assumptions, and whom the promise is about, so that somebody without the data can recompute it. Statements and
assumptions have identifiers, which certificates keep for ever; what they are called may be put better at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final, TypeVar

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.definitions import Guarantee
from hubbub.guarantees.neighbours import Neighbours
from hubbub.guarantees.people import People
from hubbub.numeric.exact import Infinite, Loss, to_text
from hubbub.runtime.frozen import dataclass

GLP: Final = "Gehrke, Lui, Pass, Towards privacy for social networks, TCC 2011"
GHLP: Final = "Gehrke, Hay, Lui, Pass, Crowd-blending privacy, CRYPTO 2012"
LUI_PASS: Final = "Lui, Pass, Outlier privacy, TCC 2015"
DMNS: Final = "Dwork, McSherry, Nissim, Smith, Calibrating noise to sensitivity, TCC 2006"
BBG: Final = "Balle, Barthe, Gaboardi, Privacy amplification by subsampling, NeurIPS 2018"
HERE: Final = "re-derived, see docs/theorem-map.md"
"""The authorities; what we sharpened or repaired names HERE beside them."""

G = TypeVar("G", bound=Guarantee)
Number = tuple[str, str]
OUT: Final = "_out"
TO_REPLACE: Final = (Neighbours.ADD_REMOVE, Neighbours.REPLACE)
"""Who may leave without being noticed may also be blanked: the only way in which relations convert."""


@dataclass(frozen=True, slots=True)
class Theorem:
    """A statement: its identifier, what it is called, and where it stands. An identifier never changes its meaning.

    `converts` names the neighbouring relations that it leads from and to, where it may lead from one to another.
    """

    id: str
    name: str
    source: str
    converts: tuple[Neighbours, Neighbours] | None = None

    def __post_init__(self) -> None:
        if not (self.id.strip() and self.name.strip()):
            raise WrongUse("a step of a derivation must name the statement it uses; give it an identifier and a name")

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Assumption:
    """What has to be so: an identifier, a sentence with places in it, and what goes there."""

    id: str
    sentence: str
    given: tuple[Number, ...] = ()

    def __str__(self) -> str:
        return self.sentence.format(**dict(self.given))


STATED: Final = Theorem("stated", "stated", "the caller")
"""Marks an unproved claim of the caller: no theorem of Hubbub supports it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """`conclusion` follows from `premises` by `theorem`, if the `assumptions` hold.

    `numbers` are the quantities that go into it and come out of it, by name, as exact text; the name of what comes out
    ends in ``_out``. A leaf has no premises: its conclusion is stated, by a theorem about a mechanism or by somebody.
    `people` says whom the conclusion is about, None where nobody in particular is meant; unless a theorem leads from
    some people to others, they are the people of the premises, and premises about unlike people are refused. So are
    premises under another neighbouring relation than the conclusion's, unless the theorem converts that one.
    """

    conclusion: Guarantee
    theorem: Theorem
    premises: tuple[Derivation, ...] = ()
    numbers: tuple[Number, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    people: People | None = None

    def __post_init__(self) -> None:
        if self.people is None and self.premises:
            object.__setattr__(self, "people", _one_people(self.premises, self.theorem))
        _check_neighbours(self)

    @property
    def inputs(self) -> tuple[Number, ...]:
        """The numbers that go in; the others follow from them."""
        return tuple((name, text) for name, text in self.numbers if not name.endswith(OUT))

    def concluding(self, kind: type[G], theorem: Theorem) -> G:
        """The conclusion, if it is of the kind that `theorem` starts from."""
        if isinstance(self.conclusion, kind):
            return self.conclusion
        wanted = getattr(kind, "notion", kind.__name__)
        raise Refused(
            f"{theorem} starts from {wanted} privacy, and the premise is {self.conclusion}; derive that first"
        )

    def then(
        self,
        theorem: Theorem,
        conclusion: Guarantee,
        *,
        numbers: tuple[Number, ...] = (),
        assumptions: tuple[Assumption, ...] = (),
        people: People | None = None,
    ) -> Derivation:
        """The step from this one to a conclusion, by a theorem."""
        return Derivation(
            conclusion=conclusion,
            theorem=theorem,
            premises=(self,),
            numbers=numbers,
            assumptions=assumptions,
            people=people,
        )

    def steps(self) -> Iterator[Derivation]:
        """Every step below and including this one, premises before conclusions. A shared step comes once."""
        seen: set[int] = set()
        waiting: list[tuple[Derivation, bool]] = [(self, False)]  # a ledger makes trees too deep to recurse
        while waiting:
            step, ready = waiting.pop()
            if id(step) in seen:
                continue
            if ready:
                seen.add(id(step))
                yield step
            else:
                waiting.append((step, True))
                waiting.extend((premise, False) for premise in reversed(step.premises))

    def assumption_ids(self) -> frozenset[str]:
        """The identifiers of all that it rests on."""
        return frozenset(each.id for step in self.steps() for each in step.assumptions)

    def all_assumptions(self) -> tuple[str, ...]:
        """What has to hold for the conclusion to hold, each once, in the order it came in."""
        return tuple(dict.fromkeys(str(each) for step in self.steps() for each in step.assumptions))


def _one_people(premises: tuple[Derivation, ...], theorem: Theorem) -> People | None:
    people = {premise.people for premise in premises}
    if len(people) > 1:
        listed = " and ".join(sorted("people who are not named" if each is None else str(each) for each in people))
        raise Refused(f"{theorem}: promises about unlike people do not add up: {listed}; release about the same people")
    return people.pop()


def _check_neighbours(step: Derivation) -> None:
    """Refuse a step from one neighbouring relation to another that its theorem does not make."""
    under = step.conclusion.neighbours
    for premise in step.premises:
        given = premise.conclusion.neighbours
        if given is not under and (given, under) != step.theorem.converts:
            raise Refused(
                f"{step.theorem} does not lead from {premise.conclusion}, which is under {given.value}, to "
                f"{step.conclusion}, which is under {under.value}; convert the premise by a theorem first"
            )
    if step.people is not None and step.people.neighbours.number_is_public and not under.number_is_public:
        raise Refused(f"{step.conclusion} is about somebody who comes or goes, and {step.people}, stay; replace one")


def state_promise(
    guarantee: Guarantee,
    *,
    theorem: Theorem = STATED,
    numbers: tuple[Number, ...] = (),
    assumptions: tuple[Assumption, ...] = (),
    people: People | None = None,
) -> Derivation:
    """A leaf: what a mechanism is known, or declared, to promise."""
    return Derivation(conclusion=guarantee, theorem=theorem, numbers=numbers, assumptions=assumptions, people=people)


def texts(**quantities: Loss | int) -> tuple[Number, ...]:
    """Named quantities as exact text, in the order given.

    >>> texts(k=10, delta=Fraction(1, 8))
    (('k', '10'), ('delta', '0.125'))
    """
    return tuple(
        (name, to_text(value if isinstance(value, Fraction | Infinite) else Fraction(value)))
        for name, value in quantities.items()
    )
