"""Epsilon against delta: a setting that can be asked both ways, and what it answers, beside the paper's answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from fractions import Fraction
from typing import Annotated, Any, Final

from flint import arb

from hubbub.errors import Spelling, WrongUse, in_python
from hubbub.numeric.exact import Exact, Infinite, Loss, rounded
from hubbub.numeric.format import bounded, numbers, short
from hubbub.numeric.limits import a_delta, a_loss
from hubbub.protocol.option import option_help
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.amplification import Amplified

POINTS: Final = 61  # of a curve
DEEPEST: Final = Fraction(1, 10**12)  # the delta at which a curve may end


@dataclass(frozen=True, slots=True, kw_only=True)
class Tradeoff:
    """What is promised at every epsilon and at every delta; the paper's numbers, or why it has none (`no_paper`)."""

    title: str
    delta_at: Callable[[Fraction], Amplified]
    epsilon_at: Callable[[Fraction], Amplified]
    floor: Fraction  # the delta that no epsilon goes below; 0 if none is known
    promise: Callable[[str, str], str]  # (epsilon, delta) as text -> a sentence
    paper_delta: Callable[[Fraction], Loss] | None = None
    paper_epsilon: Callable[[Fraction], Loss] | None = None
    no_paper: str = ""
    printed: Mapping[str, Loss] = field(default_factory=dict)  # the paper's own closed form, at its own epsilon
    constant: Fraction | None = None  # what epsilon is a multiple of
    sharp_from: Loss | None = None  # from this epsilon on some mechanism reaches the numbers
    remarks: tuple[str, ...] = ()
    own: Fraction | None = None  # the epsilon at which it is asked if nothing is said

    def ask(
        self,
        *,
        delta: Annotated[Exact | None, option_help("D", "Ask for the epsilon at this delta.")] = None,
        at_epsilon: Annotated[Exact | None, option_help("EPS", "Ask for the delta at this epsilon.")] = None,
    ) -> Point:
        """The epsilon at a delta, or the delta at an epsilon."""
        if delta is not None and at_epsilon is not None:
            raise WrongUse("`delta` and `at_epsilon` are asked one at a time; drop one of them")
        theirs: tuple[Loss, Loss] | None = None
        if delta is not None:
            target = a_delta(delta, "`delta`")
            found = self.epsilon_at(target)
            if self.paper_epsilon is not None:
                theirs = self.paper_epsilon(target), target
            return Point(of=self, found=found, paper=theirs)
        if at_epsilon is None and self.own is None:
            raise WrongUse(
                "say what is known: `delta=1e-9` asks for epsilon, `at_epsilon=0.5` for delta, `curve` for both"
            )
        at = self.own if at_epsilon is None else a_loss(at_epsilon, "`at_epsilon`")
        assert at is not None
        found = self.delta_at(at)
        if self.paper_delta is not None:
            theirs = at, self.paper_delta(at)
        return Point(of=self, found=found, paper=theirs)

    def curve(self) -> tuple[dict[str, Any], ...]:
        """delta against epsilon on an even grid, up to where delta is tiny or as low as it gets."""
        end = self.epsilon_at(min(max(self.floor * Fraction(3, 2), DEEPEST), Fraction(9, 10))).epsilon
        top = Fraction(1) if isinstance(end, Infinite) or end == 0 else rounded(end * Fraction(6, 5), up=True, digits=2)
        return tuple(self._row(top * Fraction(i, POINTS - 1)) for i in range(POINTS))

    def _row(self, at: Fraction) -> dict[str, Any]:
        found = self.delta_at(at)
        theirs = None if self.paper_delta is None else self.paper_delta(at)
        return {
            "epsilon": numbers(at=at)["at"],
            "delta": numbers(delta=found.delta)["delta"],
            "paper_delta": None if theirs is None or theirs >= 1 else numbers(delta=theirs)["delta"],
            "worst_class_size": found.worst_class_size,
            "direction": found.direction,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One answer: an epsilon and the delta that goes with it, ours and the paper's."""

    of: Tradeoff
    found: Amplified
    paper: tuple[Loss, Loss] | None = None

    @property
    def impossible(self) -> str:
        """Why no epsilon will do; "" if one does."""
        return why_impossible(self.of.floor) if isinstance(self.found.epsilon, Infinite) else ""

    def as_json(self, spell: Spelling = in_python) -> dict[str, Any]:
        found, of = self.found, self.of
        theirs: dict[str, Any] = {"epsilon": None, "delta": None, "why": spell(of.no_paper)}
        if self.paper is not None:
            theirs = numbers(epsilon=self.paper[0], delta=self.paper[1])
        if of.printed:
            theirs["printed"] = numbers(**of.printed)
        fields: dict[str, Any] = {
            **numbers(epsilon=found.epsilon, delta=found.delta),
            "worst_class_size": found.worst_class_size,
            "direction": found.direction,
            "paper": theirs,
            "theorem": found.theorem,
            **(numbers(floor=rounded(of.floor, up=True)) if of.floor else {}),
            "remarks": list(of.remarks),
        }
        if of.sharp_from is not None:
            fields["sharp"] = bool(found.epsilon >= of.sharp_from)
        if of.constant is not None and isinstance(found.epsilon, Fraction):
            fields |= numbers(constant=rounded(found.epsilon / of.constant, up=True))
        return fields | ({"why": self.impossible} if self.impossible else {})

    def rows(self) -> tuple[tuple[str, str, str], ...]:
        """(whose, epsilon, delta), for a table."""
        rows = [("ours", *self._cells)]
        if self.paper is not None:
            rows.append(("the paper's, with exact tails", *_pair(*self.paper)))
        if self.of.printed:
            rows.append(("the paper's, as printed", *_pair(self.of.printed["epsilon"], self.of.printed["delta"])))
        return tuple(rows)

    @property
    def _cells(self) -> tuple[str, str]:
        return _pair(self.found.epsilon, self.found.delta)

    def sentences(self, spell: Spelling = in_python) -> tuple[str, ...]:
        """What is promised, for whom it is worst, and what has to be said beside it."""
        of, found = self.of, self.found
        sentences = [f"Impossible: {self.impossible}."]
        if not self.impossible:
            sentences = [
                of.promise(*self._cells),
                f"Worst for somebody with {found.worst_class_size:,} others in their class, by {found.direction}; "
                f"{found.theorem}.",
            ]
        if of.sharp_from is not None and not found.epsilon >= of.sharp_from:
            sentences.append("At so small an epsilon this is an upper bound; no mechanism is known to reach it.")
        if self.paper is None and of.no_paper:
            sentences.append(f"The paper has no number here: {spell(of.no_paper)}.")
        return (*sentences, *(f"{remark[0].upper()}{remark[1:]}." for remark in of.remarks))


def _pair(epsilon: Loss, delta: Loss | arb) -> tuple[str, str]:
    return short(bounded(epsilon), 6), short(bounded(delta), 6)


def why_impossible(floor: Fraction) -> str:
    """Why no epsilon will do."""
    if not floor:
        return "no epsilon up to 50 has so small a delta; lower the rate, or raise k or delta"
    return (
        "a whole crowd may be sampled at once, and then the person is seen: at every epsilon the delta is at least "
        f"{short(floor, 3)} (with one rate for all, the rate to the power of k); lower the rate, or raise k or delta"
    )
