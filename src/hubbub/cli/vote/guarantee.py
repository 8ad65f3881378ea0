"""``hubbub vote guarantee``: what a margin promises, and the margin, voters or coarseness that a promise needs."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import examples, json_option, page, print_json, say
from hubbub.errors import WrongUse

if TYPE_CHECKING:
    from hubbub.voting.guarantees.assurance import Assurance

RULES: Final = ("repeated-plurality", "approximate-runoff", "scoring-elimination")


@click.command(
    "guarantee",
    short_help="What a margin promises to voters with coarse beliefs.",
    epilog=examples(
        "hubbub vote guarantee --voters 10000 --candidates 3 --eta 1e-12 --json",
        "hubbub vote guarantee --ask voters --candidates 3 --dirichlet 10",
        "hubbub vote guarantee --voters 100000 --candidates 4 --margin n^0.75 --coarseness 1/6",
    ),
)
@click.option(
    "--ask",
    type=click.Choice(["promise", "voters"]),
    help="What is promised to --voters, or how many voters --coarseness needs. Left out: what is not given.",
)
@click.option("--voters", metavar="N", help="How many vote. Left out: how many are needed for --coarseness.")
@click.option("--candidates", metavar="M", required=True, help="How many stand.")
@click.option("--eta", metavar="E", default="1e-12", show_default=True, help="The allowed gain, like 1e-12 or 2^-100.")
@click.option(
    "--rule", type=click.Choice(RULES), default="repeated-plurality", show_default=True, help="The elimination rule."
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
def guarantee(candidates: str, eta: str, rule: str, points_range: str, as_json: bool, **more: Any) -> None:
    """What a margin promises: no lie of a voter with a coarse belief gains more than eta in expected utility.

    A belief is alpha-coarse when its probabilities are multiples of some beta >= alpha. The answer covers beliefs of
    coarseness alpha_min and more, utilities from 0 to 1, and ties at the end that are broken at random after the
    ballots are in. Numbers are rounded against us: margin, alpha_min, gain_bound and punishing_probability up, the
    number of observed ballots down. null for alpha_min means that no belief is coarse enough. voters_needed is the
    number from which the promise always holds; smaller ones may do, down to voters_least.
    """
    from hubbub.numeric.exact import whole
    from hubbub.voting.guarantees.assurance import assurance
    from hubbub.voting.rules.threshold import margin, share

    m = whole(candidates, "--candidates", least=2)
    alpha = _coarseness(m, more)
    voters = _voters(alpha, more)
    worth = more["utility_coarseness"]
    answer = assurance(
        rule,
        candidates=m,
        eta=share(eta, "--eta"),
        voters=voters,
        margin=None if more["margin"] is None else margin(more["margin"], "--margin"),
        coarseness=alpha,
        utility_coarseness=None if worth is None else _at_most_one(worth, "--utility-coarseness"),
        points_range=whole(points_range, "--points-range", least=1),
        truncated=more["truncated"],
        power=share(more["power"], "--power"),
        curve=more["curve"],
    )
    if as_json:
        print_json(answer.as_json())
        return
    _print_assurance(answer)


def _voters(alpha: Fraction | None, more: dict[str, Any]) -> int | None:
    """How many vote; None where that is the question."""
    from hubbub.numeric.exact import whole

    if more["ask"] == "voters" and more["voters"] is not None:
        raise WrongUse("--ask voters finds the number of voters; leave out --voters, or ask for the promise")
    if more["ask"] == "promise" and more["voters"] is None:
        raise WrongUse("--ask promise needs --voters; ask for voters to be told how many it takes")
    if more["voters"] is not None:
        return whole(more["voters"], "--voters", least=2)
    if alpha is None:
        raise WrongUse("give --voters, or a --coarseness to be told how many voters it needs")
    if more["margin"] is not None:
        raise WrongUse("--margin needs --voters; the voters needed are those for the default margin B*")
    return None


def _coarseness(candidates: int, more: dict[str, Any]) -> Fraction | None:
    from hubbub.numeric.exact import whole
    from hubbub.voting.guarantees.guarantee import possible_ballots

    coarseness, observed, dirichlet = more["coarseness"], more["observed"], more["dirichlet"]
    if sum(given is not None for given in (coarseness, observed, dirichlet)) > 1:
        raise WrongUse("--coarseness, --observed and --dirichlet say the same thing in three ways; give one of them")
    if observed is not None:
        return Fraction(1, whole(observed, "--observed", least=1))
    if dirichlet is not None:
        prior = possible_ballots(candidates, truncated=more["truncated"])
        return Fraction(1, prior + whole(dirichlet, "--dirichlet"))
    return None if coarseness is None else _at_most_one(coarseness, "--coarseness")


def _at_most_one(text: str, what: str) -> Fraction:
    from hubbub.numeric.exact import rational

    number = rational(text, what)
    if not 0 < number <= 1:
        raise WrongUse(f"{what} lies above 0 and at most at 1, not at {text.strip()[:40]}")
    return number


def _print_assurance(answer: Assurance) -> None:
    from rich.table import Table

    from hubbub.voting.figures import approximately

    table = Table(box=None, pad_edge=False, show_header=False)
    for row in answer.rows():
        table.add_row(*row)
    console = page()
    console.print(f"{answer.rule}, {answer.voters:,} voters, {answer.candidates:,} candidates", style="bold")
    console.print(table)
    for parts, bound in answer.curve:
        console.print(f"coarseness {f'1/{parts}':>6}: gain at most {approximately(bound)}")
    for sentence in answer.sentences():
        say(sentence)
