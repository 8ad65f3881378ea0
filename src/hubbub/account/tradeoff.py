"""Epsilon against delta: a setting that can be asked both ways, and what it answers, beside the paper's answers.

What a secret sample buys, theorem by theorem: each function has a trade-off between epsilon and delta.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from fractions import Fraction
from typing import Annotated, Any, Final

from flint import arb

from hubbub.channels.custom_curve import own_delta_at, own_epsilon_at
from hubbub.errors import Spelling, WrongUse, in_python
from hubbub.numeric.exact import Exact, Infinite, Loss, rounded, to_text
from hubbub.numeric.format import numbers, short, writable_bound
from hubbub.numeric.limits import a_crowd, a_delta, a_loss, a_rate, a_size
from hubbub.protocol.option import option_help
from hubbub.runtime.frozen import dataclass
from hubbub.sampling import amplification as a
from hubbub.sampling import paper
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
    return short(writable_bound(epsilon), 6), short(writable_bound(delta), 6)


def why_impossible(floor: Fraction) -> str:
    """Why no epsilon will do."""
    if not floor:
        return "no epsilon up to 50 has so small a delta; lower the rate, or raise k or delta"
    return (
        "a whole crowd may be sampled at once, and then the person is seen: at every epsilon the delta is at least "
        f"{short(floor, 3)} (with one rate for all, the rate to the power of k); lower the rate, or raise k or delta"
    )


MECHANISMS: Final = ("any", "exact-or-suppressed", "noisy-below")


CrowdSize = Annotated[Exact, option_help("K", "The size of a crowd.")]
Exempt = Annotated[Exact, option_help("N", "How many people are exempt from that.")]
RateLow = Annotated[Exact | None, option_help("P", "The paper's lower limit; ours needs none.")]


def crowd(
    k: CrowdSize,
    rate: Annotated[Exact, option_help("P", "Everybody is sampled with this probability, secretly.")],
    *,
    epsilon: Annotated[Exact, option_help("EPS", "The loss of the mechanism, below k.")] = 0,
    mechanism: Annotated[str, option_help("NAME", f"One of {', '.join(MECHANISMS)}.")] = "any",
    tagged: Annotated[bool, option_help(None, "With noisy-below: it is said which counts are noisy.")] = False,
) -> Tradeoff:
    """Crowd-blending privacy and a secret sample: what everybody in the population is promised (Theorem A).

    With `mechanism=any`, the numbers hold for every (k, epsilon)-crowd-blending mechanism, and one of them reaches them
    ("sharp"). With the name of a mechanism they are its own.

    Guarantee: that, on one secret sample of that rate. Rounded up.
    """
    if mechanism not in MECHANISMS:
        raise WrongUse(f"`mechanism` must be one of {', '.join(MECHANISMS)}, not {mechanism[:40]!r}")
    if tagged and mechanism != "noisy-below":
        raise WrongUse("`tagged` says that noise is marked; it goes with `mechanism=noisy-below`")
    size, loss, p = a_crowd(k, "`k`", least=1), a_loss(epsilon, "`epsilon`"), a_rate(rate, "`rate`")
    if mechanism == "exact-or-suppressed" and loss:
        raise WrongUse("exact-or-suppressed hides counts below k, which costs nothing; leave out `epsilon`")
    named: dict[str, Any] = {}
    if mechanism == "noisy-below":
        setting = a.noisy_below(size, loss, p)
        named["delta_at"] = lambda at: own_delta_at(size, loss, p, at, tagged=tagged)
        named["epsilon_at"] = lambda delta: own_epsilon_at(size, loss, p, delta, tagged=tagged)
        remark = "a marked count tells that it is noisy" if tagged else "noise is not marked, which hides exact counts"
        named["remarks"] = (remark,)
    else:
        setting = a.exact_or_suppressed(size, p) if mechanism != "any" else a.crowd_blending(size, loss, p)
        named["delta_at"] = lambda at: a.delta_at(setting, at)
        named["epsilon_at"] = lambda delta: a.epsilon_at(setting, delta)
        named["sharp_from"] = Fraction(0)
    if size >= 2 and 0 < p < 1:
        named["paper_delta"] = lambda at: paper.crowd_delta(size, loss, p, at)
        named["paper_epsilon"] = lambda delta: paper.crowd_epsilon(size, loss, p, delta)
        named["printed"] = {"epsilon": paper.crowd_epsilon_zk(loss, p), "delta": paper.chernoff(size, p)}
    what = f"({size}, {to_text(loss)})-crowd-blending" if mechanism == "any" else f"{mechanism}, k = {size}"
    if mechanism == "noisy-below":
        what += f", {'marked ' if tagged else ''}noise of rate {to_text(loss)}"
        if loss == 0:
            raise WrongUse("noisy-below adds noise to counts below k and needs its rate; add `epsilon`, like 0.5")
    return Tradeoff(
        title=f"{what}, each person sampled with probability {to_text(p)}",
        floor=a.floor(setting) if mechanism != "noisy-below" or tagged else Fraction(0),  # unmarked noise hides crowds
        promise=lambda e, d: (
            f"Promised to everybody in the population: ({e}, {d})-zero-knowledge privacy with respect to "
            f"iRS({to_text(p)}), and ({e}, {d})-differential privacy when one person is added or removed, for one "
            "release of that sample."
        ),
        no_paper="Theorem 13 is for k of at least 2 and rates above 0 and below 1",
        **named,
    )


def _of_setting(setting: a.Setting) -> dict[str, Any]:
    return {
        "delta_at": lambda at: a.delta_at(setting, at),
        "epsilon_at": lambda delta: a.epsilon_at(setting, delta),
        "floor": a.floor(setting),
    }


def robust(
    k: CrowdSize,
    rate_high: Annotated[Exact, option_help("P", "People are sampled with at most this probability.")],
    *,
    epsilon: Annotated[Exact, option_help("EPS", "The loss of the mechanism.")] = 0,
    rate_max: Annotated[
        Exact | None, option_help("P", "The highest probability of the exempt; 1 if there are any.")
    ] = None,
    exempt: Exempt = 0,
    rate_low: RateLow = None,
    bins: Annotated[bool, option_help(None, "The mechanism counts people in bins, who blend exactly.")] = False,
) -> Tradeoff:
    """Crowd-blending privacy and a sample of uneven rates: Theorem 16, sharp.

    Neither the paper's lower limit on the rates nor its factor p'(1 - p)/(p (1 - p')) is needed; give `rate_low` to see
    the paper's numbers.

    Guarantee: the numbers hold for every (k, epsilon)-crowd-blending mechanism, however the rates are spread up to
    `rate_high`, and up to `rate_max` for the exempt. Rounded up.
    """
    few, p = a_size(exempt, "`exempt`"), a_rate(rate_high, "`rate_high`")
    most = a_rate(rate_max, "`rate_max`") if rate_max is not None else Fraction(1) if few else p
    size, loss = a_crowd(k, "`k`", least=1), a_loss(epsilon, "`epsilon`")
    setting = a.robust(size, loss, p, most, few, bins=bins)
    named: dict[str, Any] = {"no_paper": "its Theorem 16 needs a lower limit on the rates; give `rate_low`"}
    if rate_low is not None:
        low = a_rate(rate_low, "`rate_low`")
        theirs = paper.robust(size, loss, low, p, most, few)  # refuses rates that the theorem is not about
        named |= {"paper_delta": theirs.delta_at, "paper_epsilon": theirs.epsilon_at}
        named["printed"] = {
            "epsilon": paper.robust_epsilon_zk(loss, low, p, most),
            "delta": paper.robust_delta(size, low, p, most, few),
        }
    but = f", but for {few} with at most {to_text(most)}" if few else ""
    return Tradeoff(
        title=f"({size}, {to_text(loss)})-crowd-blending, people sampled with at most {to_text(p)}{but}",
        **_of_setting(setting),
        promise=lambda e, d: (
            f"Promised to everybody: ({e}, {d})-zero-knowledge privacy with respect to iRS(0, {to_text(p)}, {few}), "
            f"and ({e}, {d})-differential privacy for the population, however the rates are spread."
        ),
        **named,
    )


def distributional(
    k: Annotated[Exact, option_help("K", "Outliers are people in crowds of at most K.")],
    rate_high: Annotated[Exact, option_help("P", "People are in the data with at most this probability.")],
    *,
    epsilon: Annotated[Exact, option_help("EPS", "What K outliers lose together.")] = 0,
    exempt: Exempt = 0,
    blend: Annotated[Exact, option_help("EPS", "How close equivalent people are.")] = 0,
    rate_low: RateLow = None,
) -> Tradeoff:
    """Outlier privacy against those who know how people were sampled, and that one person is in the data.

    Theorem 22, sharp: without the paper's lower limit on the rates and without its factor.

    Guarantee: the numbers hold for every (k, epsilon)-simple outlier private mechanism whose equivalent people are
    `blend`-close, if people are in the data with at most `rate_high` (Theorem 22, sharp). Rounded up.
    """
    size, loss, p = a_crowd(k, "`k`", least=1), a_loss(epsilon, "`epsilon`"), a_rate(rate_high, "`rate_high`")
    few, close = a_size(exempt, "`exempt`"), a_loss(blend, "`blend`")
    setting = a.distributional(size, loss, p, few, close)
    named: dict[str, Any] = {"no_paper": "its Theorem 22 needs a lower limit on the rates; give `rate_low`"}
    if rate_low is not None:
        low = a_rate(rate_low, "`rate_low`")
        theirs = paper.distributional(size, loss, low, p, few, close)  # refuses rates it is not about
        named |= {"paper_delta": theirs.delta_at, "paper_epsilon": theirs.epsilon_at}
    return Tradeoff(
        title=f"({size}, {to_text(loss)})-simple outlier privacy, people in the data with at most {to_text(p)}",
        **_of_setting(setting),
        promise=lambda e, d: (
            f"Promised to somebody known to be in the data: ({e}, {d})-differential privacy with respect to the "
            f"distributions iRS(0, {to_text(p)}, {few})."
        ),
        **named,
    )


def lecture(
    k: CrowdSize, epsilon: Annotated[Exact, option_help("EPS", "The loss of the mechanism, and the sampling rate.")]
) -> Tradeoff:
    """Theorem 4 of the lecture notes, with numbers: a (k, epsilon)-crowd-blending mechanism on a sample of rate epsilon.

    The notes promise (O(epsilon), e^-Omega(k)). Without `delta` or `at_epsilon` this is the answer at their own
    epsilon' = ln(1 + epsilon (e^(epsilon + s) - 1)) with e^s = (2 - epsilon)/(1 - epsilon).

    Guarantee: the numbers hold for every such mechanism (Theorem A). Rounded up.
    """
    size, p = a_crowd(k, "`k`", least=2), a_loss(epsilon, "`epsilon`")
    if not 0 < p < 1:
        raise WrongUse(
            f"epsilon is the sampling rate too and must lie between 0 and 1, not at {to_text(p)}; the notes say "
            "epsilon <= 1, and at 1 nobody is left out and nothing is hidden"
        )
    setting = a.crowd_blending(size, p, p)
    own = paper.crowd_epsilon_zk(p, p)
    return Tradeoff(
        title=f"({size}, {to_text(p)})-crowd-blending, each person sampled with probability {to_text(p)}",
        **_of_setting(setting),
        promise=lambda e, d: (
            f"Promised to everybody: ({e}, {d})-differential privacy when one person is added or removed; when one is "
            f"replaced, (2 epsilon', (1 + e^epsilon') delta). Here epsilon' is {short(Fraction(e) / p)} times epsilon."
        ),
        paper_delta=lambda at: paper.crowd_delta(size, p, p, at),
        paper_epsilon=lambda delta: paper.crowd_epsilon(size, p, p, delta),
        printed={"epsilon": own, "delta": paper.chernoff(size, p)},
        constant=p,
        own=own,
    )
