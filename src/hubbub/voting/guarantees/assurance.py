"""The answer to "what does a margin promise?": a value with its numbers, its JSON and its sentences.

``hubbub vote guarantee`` prints it. Numbers are rounded against us: margin, coarseness, gain and the probability of the
punishing rule up, the ballots that a belief may rest on down.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import Any, Final

from flint import arb

from hubbub.errors import WrongUse
from hubbub.numeric.exact import INFINITY, Loss, rounded, to_float, to_text
from hubbub.runtime.frozen import dataclass
from hubbub.voting.figures import approximately, as_given, float_up
from hubbub.voting.guarantees import guarantee
from hubbub.voting.guarantees.choices import REAL, Choices, Needed, choices, coarse_sentence, covers, voters_needed
from hubbub.voting.rules import margins
from hubbub.voting.rules.punishing import mix_probability
from hubbub.voting.rules.threshold import ForGain, Margin, threshold

CALLED: Final = {
    "repeated-plurality": margins.REPEATED_PLURALITY,
    "approximate-runoff": margins.APPROXIMATE_RUNOFF,
    "scoring-elimination": margins.SCORING,
}
"""The rules with a margin, and what Theorem B1 calls them."""
MANY: Final = 100_000  # voters, from which 2^-100 can be afforded
FINE: Final = Fraction(1, 2**100)
CURVE: Final = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)  # one over the coarseness
THEOREM: Final = "Theorem B1 (chapter 5 of the thesis, constants made explicit)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assurance:
    """What `rule` with `margin` promises to `voters` with beliefs of coarseness `least` and more: a gain of `eta`.

    `bound` is the gain at the coarseness `at`, which is `asked` where one was asked for; `needed` the voters where
    they were; `chance` that of the punishing rule, with which no lie gains anything for utilities `worth` apart.
    """

    rule: str
    candidates: int
    voters: int
    eta: Fraction
    margin: int
    least: Loss
    sharp: Loss
    at: Fraction
    bound: Fraction
    worth: Fraction
    chance: Fraction
    truncated: bool = False
    points_range: int = 1
    requested: Fraction | None = None
    needed: Needed | None = None
    thesis: guarantee.ThesisRate | None = None
    thesis_voters: int | None = None
    curve: tuple[tuple[int, Fraction], ...] = ()
    instead: Choices | None = None
    kind: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", CALLED[self.rule])

    @property
    def empty(self) -> bool:
        """Whether it covers no belief, or only beliefs in one single ranking."""
        return self.least > REAL and not self.two

    @property
    def two(self) -> bool:
        """Whether there is nothing to strike out: between two, the majority's candidate wins."""
        return self.candidates == 2 and self.kind != margins.SCORING

    @property
    def why(self) -> str:
        """Why the promise is empty, or whom it covers."""
        if self.two:
            return "between two candidates no lie gains anything"
        if not isinstance(self.least, Fraction) or self.least > 1:
            return "no belief is coarse enough for this margin and this gain"
        if self.empty:
            return "it covers only a voter who is sure that all others rank alike"
        return covers(self.least)

    def as_json(self) -> dict[str, Any]:
        empirical, dirichlet = guarantee.observations(self.least, self.candidates, truncated=self.truncated)
        least = self.least
        fields: dict[str, Any] = {
            "rule": self.rule,
            "promise": {"empty": self.empty, "why": self.why, "alpha_min": _or_null(least), "margin": self.margin},
            "voters": self.voters,
        }
        if self.needed is not None:
            fields |= {"voters_needed": self.needed.always, "voters_least": self.needed.least}
        fields |= {
            "candidates": self.candidates,
            "eta": as_given(self.eta),
            "eta_text": to_text(self.eta),
            "margin": self.margin,
            "margin_share": self.margin / self.voters,
            "alpha_min": _or_null(least),
            "alpha_min_text": None if least is INFINITY else to_text(least),
            "alpha_min_sharp": _or_null(self.sharp),
            "coarseness": float_up(self.at),
            "coarseness_text": to_text(self.at),
            "gain_bound": float_up(self.bound),
            "gain_bound_text": approximately(self.bound),
            "utility_coarseness": float_up(self.worth),
            "utility_coarseness_text": to_text(self.worth),
            "punishing_probability": float_up(self.chance),
            "punishing_probability_text": approximately(self.chance),
            "observations": {"empirical": empirical, "dirichlet": dirichlet},
            "empty": self.empty,
            "truncated": self.truncated,
            "theorem": THEOREM,
            "words": self.sentences(),
            "choices": None if self.instead is None else self.instead.as_json(),
            "thesis": None if self.thesis is None else self._thesis(self.thesis),
        }
        if self.curve:
            fields["curve"] = [
                {"coarseness": f"1/{parts}", "gain_bound": float_up(bound), "gain_bound_text": approximately(bound)}
                for parts, bound in self.curve
            ]
        return fields

    def _thesis(self, rate: guarantee.ThesisRate) -> dict[str, Any]:
        return {
            "d": to_text(rate.d),
            "margin": rate.margin,
            "log_delta": _log(rate.delta),
            "vacuous": bool(rate.delta >= 1),
            "log_keep_part": _log(rate.keep_part),
            "alpha": float_up(rate.alpha),
            "alpha_vacuous": rate.alpha > 1,
            **({} if self.thesis_voters is None else {"voters_needed": self.thesis_voters}),
        }

    def rows(self) -> list[tuple[str, str]]:
        """What stands in the table: a heading and a figure."""
        covered = isinstance(self.least, Fraction) and self.least <= 1
        is_claimed = self.bound < 1 and (
            self.at <= REAL or self.two
        )  # what one single ranking alone could claim is none
        gained = f"{approximately(self.bound)} at coarseness {_short(self.at)}"
        found = [
            ("margin B", f"{self.margin:,} ({_percent(self.margin / self.voters)} of the voters)"),
            (
                "coarseness needed",
                _short(self.least) if covered and isinstance(self.least, Fraction) else "no belief is coarse enough",
            ),
            *self._rests_on(),
            ("gain of a lie at most", gained if is_claimed else "nothing is promised"),
        ]
        if is_claimed:
            chance = approximately(self.chance)
            found.append(("punishing rule", f"run it with probability {chance}, and no lie"))
            found.append(("", f"gains anything, for utilities equal or {_short(self.worth)} apart"))
        if self.thesis is not None:
            vacuous = bool(self.thesis.delta >= 1)
            loss_text = "nothing (above 1)" if vacuous else f"delta = e^{_log(self.thesis.delta):.1f}"
            found.append((f"thesis, n^(1/2+{to_text(self.thesis.d)})", f"margin {self.thesis.margin:,}: {loss_text}"))
        return found

    def _rests_on(self) -> list[tuple[str, str]]:
        empirical, dirichlet = guarantee.observations(self.least, self.candidates, truncated=self.truncated)
        if not empirical:
            return []
        seen = "not a uniform prior, which is finer"
        if dirichlet is not None:
            seen = f"a uniform prior and {dirichlet:,} ballots" if dirichlet else "a uniform prior alone"
        ballots = "1 ballot" if empirical == 1 else f"{empirical:,} ballots"
        return [("a belief may rest on", f"frequencies of {ballots}"), ("", seen)]

    def sentences(self) -> list[str]:
        """What is to be said in words, whom it is for first."""
        sentences = self._covered_beliefs()
        if self.needed is not None:
            always, least = self.needed.always, self.needed.least
            sentence = f"With {always:,} voters or more the promise always holds"
            fewer = (
                f"; smaller numbers may do, the least is {least:,}" if least < always else "; no smaller number does"
            )
            sentences.append(f"{sentence}{fewer}.")
        if isinstance(self.least, Fraction) and not self.empty and not self.two:
            sentences.append(coarse_sentence(self.least))
        if self.requested is not None:
            above = "" if self.bound <= self.eta else ", which is above eta"
            gained = approximately(self.bound)
            sentences.append(f"With beliefs of the given coarseness no lie gains more than {gained}{above}.")
        if self.bound <= self.eta and not self.empty:
            sentences += self._advice()
        if self.instead is not None:
            sentences += self.instead.sentences()
        if self.truncated:
            sentences.append("Coarseness is over all ballots, truncated ones included; the least punishment is halved.")
        sentences.append(
            "It assumes that the others vote independently, one vote each, and that ties are broken at random."
        )
        return sentences

    def _covered_beliefs(self) -> list[str]:
        """Whom the promise is for."""
        if self.two:
            return [
                "Between two candidates no lie gains anything, whatever the margin: the rule elects the majority's."
            ]
        assumptions = []
        if self.empty:
            assumptions.append(f"The guarantee is empty: {self.why}.")
        elif self.least > Fraction(1, 3):
            assumptions.append(
                "The guarantee is nearly empty: it covers only beliefs whose probabilities are 0, 1/2 or 1."
            )
        if self.voters <= guarantee.SMALL_ELECTION and self.eta <= guarantee.SMALL_GAIN:
            assumptions.append(
                "With 1,000 voters or fewer no margin covers a belief finer than 1/2 for a gain this small."
            )
        return assumptions

    def _advice(self) -> list[str]:
        """What to do about the punishing rule, where the promise is kept."""
        if self.chance > Fraction(1, 2):
            return ["The punishing rule would run more often than not: choose a smaller eta."]
        if self.voters < MANY or self.eta <= FINE:
            return []
        wider = margins.default_margin(self.kind, self.voters, self.candidates, FINE, points_range=self.points_range)
        if wider <= self.margin:
            return []
        return [f"A margin of {wider:,} would do for an eta of 2^-100, and hardly ever punish."]


def assurance(
    rule: str,
    *,
    candidates: int,
    eta: Fraction,
    voters: int | None = None,
    margin: Margin | None = None,
    coarseness: Fraction | None = None,
    utility_coarseness: Fraction | None = None,
    points_range: int = 1,
    truncated: bool = False,
    power: Fraction = Fraction(1, 4),
    curve: bool = False,
) -> Assurance:
    """What a margin promises; without `voters`, to as many as `coarseness` needs; without `margin`, with B*.

    Guarantee: for every belief that is at least `least`-coarse no lie gains more than `eta`, and for every belief of
    coarseness `at` none gains more than `bound` (Theorem B1); mixed with the punishing rule at `chance` none gains
    anything for utilities that are `worth`-coarse (Lemma 81, corrected).
    """
    if rule not in CALLED:
        raise WrongUse(f"a margin belongs to one of {', '.join(CALLED)}, not to {rule[:40]!r}")
    kind, m, r = CALLED[rule], candidates, points_range
    needed = None
    if voters is None:
        if coarseness is None:
            raise WrongUse("give the number of voters, or a coarseness to be told how many voters it needs")
        if margin is not None:
            raise WrongUse("a margin needs the number of voters; the voters needed are those for the default margin B*")
        needed = voters_needed(kind, m, eta, coarseness, points_range=r)
    n = voters if needed is None else needed.always
    if n is None or n < 2:
        raise WrongUse(f"a guarantee needs at least 2 voters, not {n}")
    within = threshold(ForGain(eta) if margin is None else margin, kind, n, m, r)
    least = margins.alpha_min(kind, n, m, eta, within, points_range=r)
    covered = least <= 1
    at = coarseness if coarseness is not None else (least if isinstance(least, Fraction) and covered else Fraction(1))
    bound = guarantee.gain_bound(kind, n, m, within, at, points_range=r)
    # Without a coarseness asked for, the promise is eta for everybody it covers.
    gained = eta if coarseness is None and covered else bound
    worth = at if utility_coarseness is None else utility_coarseness  # Definition 75 has one alpha for both
    empty = least > REAL and not (m == 2 and kind != margins.SCORING)
    return Assurance(
        rule=rule,
        candidates=m,
        voters=n,
        eta=eta,
        margin=within,
        least=least,
        sharp=guarantee.alpha_needed(kind, n, m, eta, within, points_range=r),
        at=at,
        bound=bound,
        worth=worth,
        chance=mix_probability(gain=gained, voters=n, candidates=m, utility_coarseness=worth, truncated=truncated),
        truncated=truncated,
        points_range=r,
        requested=coarseness,
        needed=needed,
        thesis=guarantee.thesis_rate(kind, n, m, power) if r == 1 else None,
        thesis_voters=None if coarseness is None else guarantee.thesis_voters(coarseness, power),
        curve=_curve(kind, n, m, within, r) if curve else (),
        instead=choices(kind, n, m, eta, points_range=r) if empty else None,
    )


def _curve(kind: str, voters: int, m: int, margin: int, r: int) -> tuple[tuple[int, Fraction], ...]:
    bounds = (guarantee.gain_bound(kind, voters, m, margin, Fraction(1, parts), points_range=r) for parts in CURVE)
    return tuple(zip(CURVE, bounds, strict=True))


def _or_null(x: Loss) -> float | None:
    return float_up(x) if isinstance(x, Fraction) else None


def _log(x: arb) -> float:
    """The natural logarithm of a positive ball, rounded up: numbers like e^-31886 are no floats."""
    return to_float(x.log(), round_up=True)


def _short(x: Fraction) -> str:
    text = to_text(x)
    return text if len(text) <= 8 else approximately(rounded(x, up=True))


def _percent(part: float) -> str:
    """Three figures at most, never as a power of ten."""
    percent = 100 * part
    if percent < 0.01:
        return "less than 0.01 %" if percent else "0 %"
    return f"{percent:,.0f} %" if percent >= 10 else f"{percent:.2g} %"
