"""``hubbub vote guarantee``: what a margin promises, and the margin, voters or coarseness that a promise needs."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import examples, json_option, page, print_json, say
from hubbub.errors import WrongUse

if TYPE_CHECKING:
    from hubbub.exact import Loss

KINDS: Final = {
    "repeated-plurality": "repeated-plurality",
    "approximate-runoff": "approximate-runoff",
    "scoring-elimination": "scoring",
}
"""The rules with a margin, and what Theorem B1 calls them."""
MANY: Final = 100_000  # voters, from which 2^-100 can be afforded
FINE: Final = Fraction(1, 2**100)
CURVE: Final = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)  # one over the coarseness


@click.command(
    "guarantee",
    short_help="What a margin promises to voters with coarse beliefs.",
    epilog=examples(
        "hubbub vote guarantee --voters 10000 --candidates 3 --eta 1e-12 --json",
        "hubbub vote guarantee --candidates 3 --dirichlet 10",
        "hubbub vote guarantee --voters 100000 --candidates 4 --margin n^0.75 --coarseness 1/6",
    ),
)
@click.option("--voters", metavar="N", help="How many vote. Left out: how many are needed for --coarseness.")
@click.option("--candidates", metavar="M", required=True, help="How many stand.")
@click.option("--eta", metavar="E", default="1e-12", show_default=True, help="The allowed gain, like 1e-12 or 2^-100.")
@click.option(
    "--rule",
    type=click.Choice(list(KINDS)),
    default="repeated-plurality",
    show_default=True,
    help="The elimination rule.",
)
@click.option("--points-range", metavar="R", default="1", help="Most minus least points (scoring-elimination).")
@click.option("--margin", metavar="B", help="A number, or n^0.75. Left out: B*, made for --eta.")
@click.option("--coarseness", metavar="A", help="The coarseness of beliefs, like 1/8.")
@click.option("--observed", metavar="L", help="The same as --coarseness 1/L: frequencies of L ballots.")
@click.option("--dirichlet", metavar="L", help="The same as --coarseness 1/(m!+L): a uniform prior and L ballots.")
@click.option("--utility-coarseness", metavar="A", help="Of utilities, for the punishing rule. Left out: as beliefs.")
@click.option("--power", metavar="D", default="1/4", show_default=True, help="The thesis's margin is n^(1/2+D).")
@click.option("--truncated", is_flag=True, help="Ballots may leave out candidates.")
@click.option("--curve", is_flag=True, help="Also the gain bound for a row of coarsenesses.")
@json_option
def guarantee(
    candidates: str, eta: str, rule: str, points_range: str, power: str, truncated: bool, as_json: bool, **more: Any
) -> None:
    """What a margin promises: no lie of a voter with a coarse belief gains more than eta in expected utility.

    A belief is alpha-coarse when its probabilities are multiples of some beta >= alpha. The answer covers beliefs of
    coarseness alpha_min and more, utilities from 0 to 1, and ties at the end that are broken at random after the
    ballots are in. Numbers are rounded against us: margin, alpha_min, gain_bound and punishing_probability up, the
    number of observed ballots down. null for alpha_min means that no belief is coarse enough.
    """
    from hubbub.exact import whole

    m, r = whole(candidates, "--candidates", least=2), whole(points_range, "--points-range", least=1)
    allowed = read_share(eta, "--eta")
    alpha = _coarseness(more["coarseness"], more["observed"], more["dirichlet"], m, truncated=truncated)
    kind = KINDS[rule]
    answer = {"rule": rule, **_promise(kind, m, r, allowed, alpha, more, truncated=truncated)}
    answer["thesis"] = _thesis(kind, int(answer["voters"]), m, r, read_share(power, "--power"), alpha)
    if more["curve"]:
        answer["curve"] = _curve(kind, int(answer["voters"]), m, int(answer["margin"]), r)
    if as_json:
        print_json(answer)
        return
    _tell(answer)


def read_share(text: str, what: str) -> Fraction:
    """A number above 0 and below 1, also as a power: ``1e-12``, ``1/3``, ``2^-100``."""
    from hubbub.exact import rational

    power = re.fullmatch(r"\s*(\d{1,3})\^-(\d{1,4})\s*", text, re.ASCII)
    if power is not None and int(power[1]) > 1:
        number = Fraction(1, int(power[1]) ** int(power[2]))
    else:
        number = rational(text, what)
    if not 0 < number < 1:
        raise WrongUse(f"{what} must lie between 0 and 1, not {text.strip()[:40]}")
    return number


def read_margin(text: str | None, eta: Fraction, kind: str, voters: int, candidates: int, points_range: int = 1) -> int:
    """The whole number that ``120`` or ``n^0.75`` comes to; without a text B*, made for eta."""
    from hubbub.exact import rational
    from hubbub.voting.threshold import ForGain, Power, margin, threshold

    if text is None:
        return threshold(ForGain(eta), kind, voters, candidates, points_range)
    power = re.fullmatch(r"\s*n\^\(?([^()]+)\)?\s*", text, re.ASCII)
    if power is None:
        return threshold(margin(text), kind, voters, candidates, points_range)
    exponent = rational(power[1], "the exponent of --margin")
    if exponent.denominator > 1000:
        raise WrongUse(f"the exponent of --margin takes at most three decimals, not {power[1]}")
    return threshold(Power(exponent - Fraction(1, 2)), kind, voters, candidates, points_range)


def _coarseness(
    coarseness: str | None, observed: str | None, dirichlet: str | None, candidates: int, *, truncated: bool
) -> Fraction | None:
    from hubbub.exact import whole
    from hubbub.voting.guarantee import possible_ballots

    if sum(given is not None for given in (coarseness, observed, dirichlet)) > 1:
        raise WrongUse("--coarseness, --observed and --dirichlet say the same thing in three ways; give one of them")
    if observed is not None:
        return Fraction(1, whole(observed, "--observed", least=1))
    if dirichlet is not None:
        prior = possible_ballots(candidates, truncated=truncated)
        return Fraction(1, prior + whole(dirichlet, "--dirichlet"))
    if coarseness is None:
        return None
    return _at_most_one(coarseness, "--coarseness")


def _at_most_one(text: str, what: str) -> Fraction:
    from hubbub.exact import rational

    number = rational(text, what)
    if not 0 < number <= 1:
        raise WrongUse(f"{what} lies above 0 and at most at 1, not at {text.strip()[:40]}")
    return number


def _promise(
    kind: str, m: int, r: int, eta: Fraction, alpha: Fraction | None, more: dict[str, Any], *, truncated: bool
) -> dict[str, Any]:
    from hubbub.exact import INFINITY, to_text, whole
    from hubbub.voting import guarantee as promises
    from hubbub.voting import margins
    from hubbub.voting.figures import approximately

    needed = None
    if more["voters"] is None:
        if alpha is None:
            raise WrongUse("give --voters, or a --coarseness to be told how many voters it needs")
        if more["margin"] is not None:
            raise WrongUse("--margin needs --voters; the voters needed are those for the default margin B*")
        needed = promises.voters_needed(kind, m, eta, alpha, points_range=r)
    voters = whole(more["voters"], "--voters", least=2) if needed is None else needed
    margin = read_margin(more["margin"], eta, kind, voters, m, r)
    least = margins.alpha_min(kind, voters, m, eta, margin, points_range=r)
    sharp = promises.alpha_needed(kind, voters, m, eta, margin, points_range=r)
    covered = least <= 1
    at = alpha if alpha is not None else (least if isinstance(least, Fraction) and covered else Fraction(1))
    bound = promises.gain_bound(kind, voters, m, margin, at, points_range=r)
    # Without a coarseness asked for, the promise is eta for everybody it covers.
    gained = eta if alpha is None and covered else bound
    worth, chance = _punishment(more["utility_coarseness"], gained, at, voters, m, truncated=truncated)
    empirical, dirichlet = promises.observations(least, m, truncated=truncated)
    words = _covered(kind, voters, m, eta, least)
    if alpha is not None:
        above = "" if bound <= eta else ", which is above eta"
        words.append(f"With beliefs of the given coarseness no lie gains more than {approximately(bound)}{above}.")
    if bound <= eta:
        words += _advice(kind, voters, m, r, margin, eta, chance)
    if truncated:
        words.append("Coarseness is over all ballots, truncated ones included; the least punishment is halved.")
    words.append("It assumes that the others vote independently, one vote each, and that ties are broken at random.")
    return {
        "voters": voters,
        **({} if needed is None else {"voters_needed": needed}),
        "candidates": m,
        "eta": float(eta) or float_up(eta),
        "eta_text": to_text(eta),
        "margin": margin,
        "margin_share": margin / voters,
        "alpha_min": _or_null(least),
        "alpha_min_text": None if least is INFINITY else to_text(least),
        "alpha_min_sharp": _or_null(sharp),
        "coarseness": float_up(at),
        "coarseness_text": to_text(at),
        "gain_bound": float_up(bound),
        "gain_bound_text": approximately(bound),
        "utility_coarseness": float_up(worth),
        "utility_coarseness_text": to_text(worth),
        "punishing_probability": float_up(chance),
        "punishing_probability_text": approximately(chance),
        "observations": {"empirical": empirical, "dirichlet": dirichlet},
        "empty": not covered or least > Fraction(1, 2),
        "truncated": truncated,
        "theorem": "Theorem B1 (chapter 5 of the thesis, constants made explicit)",
        "words": words,
    }


def _punishment(
    text: str | None, gained: Fraction, alpha: Fraction, voters: int, m: int, *, truncated: bool
) -> tuple[Fraction, Fraction]:
    from hubbub.voting.punishing import mix_probability

    # Definition 75 has one alpha for beliefs and utilities.
    worth = alpha if text is None else _at_most_one(text, "--utility-coarseness")
    chance = mix_probability(gain=gained, voters=voters, candidates=m, utility_coarseness=worth, truncated=truncated)
    return worth, chance


def _covered(kind: str, voters: int, m: int, eta: Fraction, least: Loss) -> list[str]:
    """Whom the promise is for."""
    from hubbub.voting.guarantee import SMALL_ELECTION, SMALL_GAIN
    from hubbub.voting.margins import SCORING

    if m == 2 and kind != SCORING:
        return ["Between two candidates no lie gains anything, whatever the margin: the rule elects the majority's."]
    told = []
    if not isinstance(least, Fraction) or least > 1:
        told.append("The guarantee is empty: no belief is coarse enough for this margin and this gain.")
    elif least > Fraction(1, 2):
        told.append("The guarantee is empty: it covers only a voter who is sure that all others rank alike.")
    elif least > Fraction(1, 3):
        told.append("The guarantee is nearly empty: it covers only beliefs whose probabilities are 0, 1/2 or 1.")
    if voters <= SMALL_ELECTION and eta <= SMALL_GAIN:
        told.append("With 1,000 voters or fewer no margin covers a belief finer than 1/2 for a gain this small.")
    return told


def _advice(kind: str, voters: int, m: int, r: int, margin: int, eta: Fraction, chance: Fraction) -> list[str]:
    """What to do about the punishing rule, where the promise is kept."""
    from hubbub.voting.margins import default_margin

    if chance > Fraction(1, 2):
        return ["The punishing rule would run more often than not: choose a smaller eta."]
    if voters < MANY or eta <= FINE:
        return []
    wider = default_margin(kind, voters, m, FINE, points_range=r)
    return [f"A margin of {wider:,} would do for an eta of 2^-100, and hardly ever punish."] if wider > margin else []


def _thesis(kind: str, voters: int, m: int, r: int, power: Fraction, alpha: Fraction | None) -> dict[str, Any] | None:
    """The thesis's own rate; it has none with the constants for points of a wider range."""
    from hubbub.exact import to_text
    from hubbub.voting.guarantee import thesis_rate, thesis_voters

    if r != 1:
        return None
    rate = thesis_rate(kind, voters, m, power)
    return {
        "d": to_text(power),
        "margin": rate.margin,
        "log_delta": to_float_log(rate.delta),
        "vacuous": bool(rate.delta >= 1),
        "log_keep_part": to_float_log(rate.keep_part),
        "alpha": float_up(rate.alpha),
        "alpha_vacuous": rate.alpha > 1,
        **({} if alpha is None else {"voters_needed": thesis_voters(alpha, power)}),
    }


def _curve(rule: str, voters: int, m: int, margin: int, r: int) -> list[dict[str, Any]]:
    from hubbub.voting.figures import approximately
    from hubbub.voting.guarantee import gain_bound

    found = []
    for parts in CURVE:
        bound = gain_bound(rule, voters, m, margin, Fraction(1, parts), points_range=r)
        found.append(
            {"coarseness": f"1/{parts}", "gain_bound": float_up(bound), "gain_bound_text": approximately(bound)}
        )
    return found


def float_up(x: Fraction) -> float:
    """The nearest double that is not below x; a positive number never becomes 0."""
    from hubbub.exact import to_float

    return to_float(x, round_up=True)


def to_float_log(x: Any) -> float:
    """The natural logarithm of a positive ball, rounded up: numbers like e^-31886 are no floats."""
    from hubbub.exact import to_float

    return to_float(x.log(), round_up=True)


def _or_null(x: Loss) -> float | None:
    return float_up(x) if isinstance(x, Fraction) else None


def _short(text: str) -> str:
    from hubbub.exact import rational
    from hubbub.voting.figures import approximately

    return text if len(text) <= 8 else approximately(rational(text))


def _percent(share: float) -> str:
    """Three figures at most, never as a power of ten."""
    percent = 100 * share
    if percent < 0.01:
        return "less than 0.01 %" if percent else "0 %"
    return f"{percent:,.0f} %" if percent >= 10 else f"{percent:.2g} %"


def _rests_on(empirical: int, dirichlet: int | None) -> list[tuple[str, str]]:
    if not empirical:
        return []
    seen = "not a uniform prior, which is finer" if dirichlet is None else f"a uniform prior and {dirichlet:,} ballots"
    if dirichlet == 0:
        seen = "a uniform prior alone"
    ballots = "1 ballot" if empirical == 1 else f"{empirical:,} ballots"
    return [("a belief may rest on", f"frequencies of {ballots}"), ("", seen)]


def _tell(answer: dict[str, Any]) -> None:
    from rich.table import Table

    from hubbub.exact import rational

    table = Table(box=None, pad_edge=False, show_header=False)
    least = answer["alpha_min_text"]
    coarse = "no belief is coarse enough" if least is None or rational(least) > 1 else _short(least)
    gain = answer["gain_bound_text"]
    at = _short(answer["coarseness_text"])
    rows = [
        ("margin B", f"{answer['margin']:,} ({_percent(answer['margin_share'])} of the voters)"),
        ("coarseness needed", coarse),
        *_rests_on(**answer["observations"]),
        ("gain of a lie at most", f"{gain if gain != '1' else 'nothing is proved'} at coarseness {at}"),
    ]
    if gain != "1":
        apart = _short(answer["utility_coarseness_text"])
        rows.append(("punishing rule", f"run it with probability {answer['punishing_probability_text']}, and no lie"))
        rows.append(("", f"gains anything, for utilities equal or {apart} apart"))
    if answer["thesis"] is not None:
        thesis = answer["thesis"]
        says = "nothing (above 1)" if thesis["vacuous"] else f"delta = e^{thesis['log_delta']:.1f}"
        rows.append((f"thesis, n^(1/2+{thesis['d']})", f"margin {thesis['margin']:,}: {says}"))
    for row in rows:
        table.add_row(*row)
    console = page()
    size = f"{answer['voters']:,} voters, {answer['candidates']:,} candidates"
    console.print(f"{answer['rule']}, {size}", style="bold")
    console.print(table)
    for entry in answer.get("curve", []):
        console.print(f"coarseness {entry['coarseness']:>6}: gain at most {entry['gain_bound_text']}")
    for sentence in answer["words"]:
        say(sentence)
