"""What a secret sample buys, theorem by theorem: each function has a trade-off between epsilon and delta."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Final

from hubbub.account.tradeoff import Tradeoff
from hubbub.channels.custom_curve import own_delta_at, own_epsilon_at
from hubbub.errors import WrongUse
from hubbub.numeric.exact import Exact, to_text
from hubbub.numeric.format import short
from hubbub.numeric.limits import a_crowd, a_loss, a_rate, a_size
from hubbub.protocol.option import option_help
from hubbub.sampling import amplification as a
from hubbub.sampling import paper, paper_uneven

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
        theirs = paper_uneven.robust(size, loss, low, p, most, few)  # refuses rates that the theorem is not about
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
        theirs = paper_uneven.distributional(size, loss, low, p, few, close)  # refuses rates it is not about
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
