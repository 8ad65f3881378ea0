"""``hubbub account``: the theorems as a calculator. No data is read; numbers are certified and rounded up."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from hubbub.cli import Commands, examples, json_option
from hubbub.cli.account_answer import Question, answer, point_options
from hubbub.cli.account_numbers import a_crowd, a_loss, a_rate, a_size
from hubbub.cli.account_promises import compose, convert, group
from hubbub.cli.account_sanitize import mean, sanitize
from hubbub.errors import WrongUse

MECHANISMS = ("any", "exact-or-suppressed", "noisy-below")


@click.group(
    "account",
    cls=Commands,
    epilog=examples(
        "hubbub account crowd --k 20 --rate 0.1 --delta 1e-6",
        "hubbub account sanitize --rows 1000 --of 1000000 --epsilon-zk 0.1",
    ),
)
def account() -> None:
    """What follows from what: every theorem with numbers, ours and the papers'. No data is read."""


@account.command(
    "crowd",
    short_help="Crowd-blending privacy and a secret sample.",
    epilog=examples(
        "hubbub account crowd --k 20 --epsilon 0 --rate 0.1 --delta 1e-6",
        "hubbub account crowd --k 20 --epsilon 1 --rate 0.1 --at-epsilon 0.2 --mechanism noisy-below --json",
    ),
)
@click.option("--k", metavar="K", required=True, help="The size of a crowd.")
@click.option("--epsilon", metavar="EPS", default="0", show_default=True, help="The loss of the mechanism, below k.")
@click.option("--rate", metavar="P", required=True, help="Everybody is sampled with this probability, secretly.")
@click.option("--mechanism", metavar="NAME", default="any", show_default=True, help=f"One of {', '.join(MECHANISMS)}.")
@click.option("--tagged", is_flag=True, help="With noisy-below: it is said which counts are noisy.")
@point_options
@json_option
def crowd(k: str, epsilon: str, rate: str, mechanism: str, tagged: bool, as_json: bool, **asked: str | None) -> None:
    """Crowd-blending privacy and a secret sample: what everybody in the population is promised (Theorem A).

    With --mechanism any, the numbers hold for every (k, epsilon)-crowd-blending mechanism, and one of them reaches them
    ("sharp"). With the name of a mechanism they are its own.
    """
    from hubbub.exact import to_text
    from hubbub.sampling import amplification as a
    from hubbub.sampling import paper

    if mechanism not in MECHANISMS:
        raise WrongUse(f"--mechanism must be one of {', '.join(MECHANISMS)}, not {mechanism[:40]!r}")
    if tagged and mechanism != "noisy-below":
        raise WrongUse("--tagged says that noise is marked; it goes with --mechanism noisy-below")
    size, loss, p = a_crowd(k, "--k", least=1), a_loss(epsilon, "--epsilon"), a_rate(rate, "--rate")
    if mechanism == "exact-or-suppressed" and loss:
        raise WrongUse("exact-or-suppressed hides counts below k, which costs nothing; leave out --epsilon")
    named: dict[str, Any] = {}
    if mechanism == "noisy-below":
        from hubbub.channels.own_curve import own_delta_at, own_epsilon_at

        setting = a.noisy_below(size, loss, p)
        named["delta_at"] = lambda at: own_delta_at(size, loss, p, at, tagged=tagged)
        named["epsilon_at"] = lambda delta: own_epsilon_at(size, loss, p, delta, tagged=tagged)
        remark = "a marked count tells that it is noisy" if tagged else "noise is not marked, which hides exact counts"
    else:
        setting = a.exact_or_suppressed(size, p) if mechanism != "any" else a.crowd_blending(size, loss, p)
        named["delta_at"] = lambda at: a.delta_at(setting, at)
        named["epsilon_at"] = lambda delta: a.epsilon_at(setting, delta)
        named["sharp_from"] = Fraction(0)
        remark = ""
    if size >= 2 and 0 < p < 1:
        named["paper_delta"] = lambda at: paper.crowd_delta(size, loss, p, at)
        named["paper_epsilon"] = lambda delta: paper.crowd_epsilon(size, loss, p, delta)
        named["printed"] = {"epsilon": paper.crowd_epsilon_zk(loss, p), "delta": paper.chernoff(size, p)}
    what = f"({size}, {to_text(loss)})-crowd-blending" if mechanism == "any" else f"{mechanism}, k = {size}"
    if mechanism == "noisy-below":
        what += f", {'marked ' if tagged else ''}noise of rate {to_text(loss)}"
        if loss == 0:
            raise WrongUse("noisy-below adds noise to counts below k and needs its rate; add --epsilon, like 0.5")
    question = Question(
        title=f"{what}, each person sampled with probability {to_text(p)}",
        floor=a.floor(setting) if mechanism != "noisy-below" or tagged else Fraction(0),  # unmarked noise hides crowds
        promise=lambda e, d: (
            f"Promised to everybody in the population: ({e}, {d})-zero-knowledge privacy with respect to "
            f"iRS({to_text(p)}), and ({e}, {d})-differential privacy when one person is added or removed, for one "
            "release of that sample."
        ),
        no_paper="Theorem 13 is for k of at least 2 and rates above 0 and below 1",
        remarks=(remark,) if remark else (),
        **named,
    )
    answer(question, as_json=as_json, **asked)


@account.command(
    "robust",
    short_help="Crowd-blending privacy and a sample of uneven rates.",
    epilog=examples(
        "hubbub account robust --k 100 --epsilon 0.5 --rate-high 0.2 --rate-max 1 --exempt 5 --delta 1e-6",
        "hubbub account robust --k 50 --epsilon 0.5 --rate-low 0.1 --rate-high 0.12 --at-epsilon 0.3395 --json",
    ),
)
@click.option("--k", metavar="K", required=True, help="The size of a crowd.")
@click.option("--epsilon", metavar="EPS", default="0", show_default=True, help="The loss of the mechanism.")
@click.option("--rate-high", metavar="P", required=True, help="People are sampled with at most this probability.")
@click.option("--rate-max", metavar="P", help="The highest probability of the exempt; 1 if there are any.")
@click.option("--exempt", metavar="N", default="0", show_default=True, help="How many people are exempt from that.")
@click.option("--rate-low", metavar="P", help="The paper's lower limit; ours needs none.")
@click.option("--bins", is_flag=True, help="The mechanism is a histogram, whose people blend exactly.")
@point_options
@json_option
def robust(
    k: str,
    epsilon: str,
    rate_high: str,
    rate_max: str | None,
    exempt: str,
    rate_low: str | None,
    bins: bool,
    as_json: bool,
    **asked: str | None,
) -> None:
    """Crowd-blending privacy and a sample of uneven rates: Theorem 16, sharp.

    Neither the paper's lower limit on the rates nor its factor p'(1 - p)/(p (1 - p')) is needed; give --rate-low to see
    the paper's numbers.
    """
    from hubbub.exact import to_text
    from hubbub.sampling import amplification as a
    from hubbub.sampling import paper, paper_uneven

    few, p = a_size(exempt, "--exempt"), a_rate(rate_high, "--rate-high")
    most = a_rate(rate_max, "--rate-max") if rate_max is not None else Fraction(1) if few else p
    size, loss = a_crowd(k, "--k", least=1), a_loss(epsilon, "--epsilon")
    setting = a.robust(size, loss, p, most, few, bins=bins)
    named: dict[str, Any] = {"no_paper": "its Theorem 16 needs a lower limit on the rates; give --rate-low"}
    if rate_low is not None:
        low = a_rate(rate_low, "--rate-low")
        given = (size, loss, low, p, most, few)
        paper_uneven.robust_delta_at(*given, 1)  # refuses rates that the theorem is not about
        named["paper_delta"] = lambda at: paper_uneven.robust_delta_at(*given, at)
        named["paper_epsilon"] = lambda delta: paper_uneven.robust_epsilon(*given, delta)
        named["printed"] = {
            "epsilon": paper.robust_epsilon_zk(loss, low, p, most),
            "delta": paper.robust_delta(size, low, p, most, few),
        }
    but = f", but for {few} with at most {to_text(most)}" if few else ""
    question = Question(
        title=f"({size}, {to_text(loss)})-crowd-blending, people sampled with at most {to_text(p)}{but}",
        delta_at=lambda at: a.delta_at(setting, at),
        epsilon_at=lambda delta: a.epsilon_at(setting, delta),
        floor=a.floor(setting),
        promise=lambda e, d: (
            f"Promised to everybody: ({e}, {d})-zero-knowledge privacy with respect to iRS(0, {to_text(p)}, {few}), "
            f"and ({e}, {d})-differential privacy for the population, however the rates are spread."
        ),
        **named,
    )
    answer(question, as_json=as_json, **asked)


@account.command(
    "distributional",
    short_help="Outlier privacy against those who know how people were sampled.",
    epilog=examples(
        "hubbub account distributional --k 50 --epsilon 0 --rate-high 0.1 --delta 1e-6",
        "hubbub account distributional --k 50 --rate-low 0.1 --rate-high 0.1 --at-epsilon 0.5 --json",
    ),
)
@click.option("--k", metavar="K", required=True, help="Outliers are people in crowds of at most K.")
@click.option("--epsilon", metavar="EPS", default="0", show_default=True, help="What K outliers lose together.")
@click.option("--rate-high", metavar="P", required=True, help="People are in the data with at most this probability.")
@click.option("--exempt", metavar="N", default="0", show_default=True, help="How many people are exempt from that.")
@click.option("--blend", metavar="EPS", default="0", show_default=True, help="How close equivalent people are.")
@click.option("--rate-low", metavar="P", help="The paper's lower limit; ours needs none.")
@point_options
@json_option
def distributional(
    k: str,
    epsilon: str,
    rate_high: str,
    exempt: str,
    blend: str,
    rate_low: str | None,
    as_json: bool,
    **asked: str | None,
) -> None:
    """Outlier privacy where the attacker knows how people were sampled, and that one person is in the data.

    Theorem 22, sharp: without the paper's lower limit on the rates and without its factor.
    """
    from hubbub.exact import to_text
    from hubbub.sampling import amplification as a
    from hubbub.sampling import paper_uneven

    size, loss, p = a_crowd(k, "--k", least=1), a_loss(epsilon, "--epsilon"), a_rate(rate_high, "--rate-high")
    few, close = a_size(exempt, "--exempt"), a_loss(blend, "--blend")
    setting = a.distributional(size, loss, p, few, close)
    named: dict[str, Any] = {"no_paper": "its Theorem 22 needs a lower limit on the rates; give --rate-low"}
    if rate_low is not None:
        given = (size, loss, a_rate(rate_low, "--rate-low"), p, few, close)
        paper_uneven.distributional_delta_at(*given, 1)  # refuses rates that the theorem is not about
        named["paper_delta"] = lambda at: paper_uneven.distributional_delta_at(*given, at)
        named["paper_epsilon"] = lambda delta: paper_uneven.distributional_epsilon(*given, delta)
    question = Question(
        title=f"({size}, {to_text(loss)})-simple outlier privacy, people in the data with at most {to_text(p)}",
        delta_at=lambda at: a.delta_at(setting, at),
        epsilon_at=lambda delta: a.epsilon_at(setting, delta),
        floor=a.floor(setting),
        promise=lambda e, d: (
            f"Promised to somebody known to be in the data: ({e}, {d})-differential privacy with respect to the "
            f"distributions iRS(0, {to_text(p)}, {few})."
        ),
        **named,
    )
    answer(question, as_json=as_json, **asked)


@account.command(
    "lecture",
    short_help="Theorem 4 of the lecture notes, with numbers.",
    epilog=examples("hubbub account lecture --k 50 --epsilon 0.1 --delta 1e-6"),
)
@click.option("--k", metavar="K", required=True, help="The size of a crowd.")
@click.option("--epsilon", metavar="EPS", required=True, help="The loss of the mechanism, and the sampling rate.")
@point_options
@json_option
def lecture(k: str, epsilon: str, as_json: bool, **asked: str | None) -> None:
    """The lecture notes' Theorem 4: a (k, epsilon)-crowd-blending mechanism on a sample of rate epsilon.

    The notes promise (O(epsilon), e^-Omega(k)). Without --delta or --at-epsilon this is the answer at their own
    epsilon' = ln(1 + epsilon (e^(epsilon + s) - 1)) with e^s = (2 - epsilon)/(1 - epsilon).
    """
    from hubbub.exact import rounded, to_float, to_text
    from hubbub.sampling import amplification as a
    from hubbub.sampling import paper

    size, p = a_crowd(k, "--k", least=2), a_loss(epsilon, "--epsilon")
    if not 0 < p < 1:
        raise WrongUse(
            f"epsilon is the sampling rate too and must lie between 0 and 1, not at {to_text(p)}; the notes say "
            "epsilon <= 1, and at 1 nobody is left out and nothing is hidden"
        )
    setting = a.crowd_blending(size, p, p)
    own = paper.crowd_epsilon_zk(p, p)
    if asked["delta"] is None and asked["at_epsilon"] is None and asked["curve"] is None:
        asked["at_epsilon"] = to_text(own)
    question = Question(
        title=f"({size}, {to_text(p)})-crowd-blending, each person sampled with probability {to_text(p)}",
        delta_at=lambda at: a.delta_at(setting, at),
        epsilon_at=lambda delta: a.epsilon_at(setting, delta),
        floor=a.floor(setting),
        promise=lambda e, d: (
            f"Promised to everybody: ({e}, {d})-differential privacy when one person is added or removed; when one is "
            f"replaced, (2 epsilon', (1 + e^epsilon') delta). Here epsilon' is "
            f"{to_float(rounded(Fraction(e) / p, up=True, digits=4), round_up=True):.4g} times epsilon."
        ),
        paper_delta=lambda at: paper.crowd_delta(size, p, p, at),
        paper_epsilon=lambda delta: paper.crowd_epsilon(size, p, p, delta),
        printed={"epsilon": own, "delta": paper.chernoff(size, p)},
        constant=p,
    )
    answer(question, as_json=as_json, **asked)


for command in (sanitize, mean, group, compose, convert):
    account.add_command(command)
