"""``hubbub vote gain``: a voter's best lie and what it pays, exactly, at most, or within an interval."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import examples, json_option, page, print_json, print_text, waiting
from hubbub.errors import WrongUse

if TYPE_CHECKING:
    from hubbub.voting.manipulation.beliefs import Belief, Ranking
    from hubbub.voting.manipulation.gain import Question
    from hubbub.voting.manipulation.gain_winners import Contest

RULES: Final = ("plurality", "instant-runoff", "repeated-plurality", "approximate-runoff", "borda")
METHODS: Final = ("auto", "enumerate", "three", "pivots", "four", "bound", "sample")


@click.command(
    "gain",
    short_help="A voter's best lie, and what it pays.",
    epilog=examples(
        "hubbub vote gain --belief abc:1/2,bac:1/2 --truth cab --voters 1001 --rule plurality --json",
        "hubbub vote gain --belief abc:1/2,bac:1/4,cab:1/4 --truth cab --voters 10001 --margin 1249",
        "hubbub vote gain --observed abc:3,bac:2 --dirichlet --truth cab --voters 501 --rule instant-runoff",
    ),
)
@click.option("--belief", "belief_text", metavar="TEXT", help="Rankings with probabilities, like abc:1/2,bac:1/2.")
@click.option("--observed", metavar="TEXT", help="Rankings with numbers of ballots seen, like abc:3,bac:1.")
@click.option("--ballots", metavar="FILE", help="Ballots seen, from a file that hubbub vote tally reads.")
@click.option("--dirichlet", is_flag=True, help="Start from a uniform prior, then --observed or --ballots.")
@click.option("--candidates", metavar="A,B,..", help="All candidates, if --belief does not name them all.")
@click.option("--truth", metavar="RANKING", required=True, help="The voter's true ranking, like cab or kiss>wright.")
@click.option("--voters", metavar="N", required=True, help="How many vote, she included.")
@click.option("--rule", type=click.Choice(RULES), default="repeated-plurality", show_default=True, help="The rule.")
@click.option("--margin", metavar="B", help="A number, or n^0.75. Left out: B*, made for --eta.")
@click.option("--eta", metavar="E", default="1e-12", show_default=True, help="Is the gain at most this? Like 2^-100.")
@click.option("--ties", metavar="ORDER", help="Break ties in favour of the first of b>a>c. Left out: at random.")
@click.option("--utility", metavar="TEXT", help="Like c=1,a=0.4,b=0. Left out: the worst that fits the truth.")
@click.option("--lie", "lies", metavar="RANKING", multiple=True, help="Try this lie alone; may be repeated.")
@click.option("--truncated", is_flag=True, help="Ballots may leave out candidates.")
@click.option("--method", type=click.Choice(METHODS), default="auto", show_default=True, help="How to find out.")
@click.option("--draws", metavar="T", help="Random elections to draw (sample).")
@click.option("--confidence", metavar="C", default="0.99", show_default=True, help="Of the interval (sample).")
@json_option
def gain(eta: str, method: str, draws: str | None, confidence: str, as_json: bool, **more: Any) -> None:
    """A voter's best lie, and by how much it raises her expected utility, if the others vote as she believes.

    The gain is the supremum over all utilities from 0 to 1 that are consistent with her true ranking, or that of
    --utility. It lies between gain_low and gain_high, for certain unless confidence says otherwise; gain is gain_high
    where it is known exactly, the mean where it was sampled, and null where only a bound is known or no draw met a
    gain. bound is what the belief proves for rules with a margin; verdict answers whether the gain is at most eta.
    """
    from hubbub.numeric.exact import integer
    from hubbub.voting.manipulation.gain_answer import answer
    from hubbub.voting.rules.threshold import share

    allowed = share(eta, "--eta")
    question = _question(allowed, more)
    tries = None if draws is None else integer(draws, "--draws", least=2)
    with waiting("counting"):
        found = answer(
            question,
            allowed,
            None if method == "auto" else method,
            draws=tries,
            confidence=share(confidence, "--confidence"),
        )
    if as_json:
        print_json(found.as_json())
        return
    console = page()
    console.print(found.title(), style="bold")
    for sentence in found.sentences():
        console.print(sentence)
    print_text(found.decided())


def _question(eta: Fraction, more: dict[str, Any]) -> Question:
    from hubbub.numeric.exact import integer
    from hubbub.voting.manipulation.beliefs import read_ranking
    from hubbub.voting.manipulation.gain import Question
    from hubbub.voting.manipulation.utilities import utility

    belief = _belief(more)
    voters, names = integer(more["voters"], "--voters", least=2), belief.candidates
    truncated = belief.truncated
    return Question(
        belief=belief,
        truth=read_ranking(more["truth"], names, truncated=truncated),
        voters=voters,
        contest=_contest(belief, voters, eta, more),
        worth=None if more["utility"] is None else utility(more["utility"], names),
        lies=tuple(read_ranking(lie, names, truncated=truncated) for lie in more["lies"]),
    )


def _belief(more: dict[str, Any]) -> Belief:
    from hubbub.voting.manipulation import beliefs

    if sum(more[way] is not None for way in ("belief_text", "observed", "ballots")) != 1:
        raise WrongUse("give what the voter believes: one of --belief, --observed and --ballots")
    if more["belief_text"] is not None:
        if more["dirichlet"]:
            raise WrongUse("--dirichlet goes with --observed or --ballots, which say what ballots were seen")
        return beliefs.belief(more["belief_text"], _names(more["belief_text"], more), truncated=more["truncated"])
    truncated = more["truncated"]
    if more["ballots"] is not None:
        from hubbub.demo import council
        from hubbub.voting.formats import formats

        invented = more["ballots"] == council.NAME
        ballots = council.ballots() if invented else formats.strict(formats.read(more["ballots"])).ballots
        seen, names = beliefs.observed_in(ballots), ballots.candidates
        truncated = truncated or ballots.truncated > 0
    else:
        names = _names(more["observed"], more)
        seen = _observed(more["observed"], names, truncated=truncated)
    if more["dirichlet"]:
        return beliefs.dirichlet(seen, names)
    return beliefs.empirical(seen, names, truncated=truncated)


def _names(text: str, more: dict[str, Any]) -> tuple[str, ...]:
    """The candidates: those given, or all that the belief and the truth name."""
    from hubbub.voting.manipulation.beliefs import split_names

    if more["candidates"]:
        return tuple(name.strip() for name in more["candidates"].split(","))
    listed = [part.rpartition(":")[0] for part in text.split(",")] + [more["truth"]]
    return tuple(sorted({name for ranked in listed for name in split_names(ranked)}))


def _observed(text: str, names: tuple[str, ...], *, truncated: bool) -> dict[Ranking, int]:
    from hubbub.numeric.exact import integer
    from hubbub.voting.manipulation.beliefs import read_ranking

    seen: dict[Ranking, int] = {}
    for part in text.split(","):
        ranked, _, times = part.rpartition(":")
        ranking = read_ranking(ranked, names, truncated=truncated)
        if ranking in seen:
            raise WrongUse(f"--observed names {ranked.strip()!r} twice; add up its ballots")
        seen[ranking] = integer(times, f"the number of ballots {ranked.strip()!r}")
    return seen


def _contest(belief: Belief, voters: int, eta: Fraction, more: dict[str, Any]) -> Contest:
    from hubbub.voting.manipulation.beliefs import read_ranking
    from hubbub.voting.manipulation.gain_winners import Contest
    from hubbub.voting.rules.margins import KINDS
    from hubbub.voting.rules.threshold import ForGain, margin, threshold

    rule, m = more["rule"], len(belief.candidates)
    within = None
    if rule in KINDS:
        margin_rule = ForGain(eta) if more["margin"] is None else margin(more["margin"], "--margin")
        within = threshold(margin_rule, rule, voters, m)
    elif more["margin"] is not None:
        raise WrongUse(f"{rule} has no margin; leave out --margin, or choose repeated-plurality or approximate-runoff")
    order = None if more["ties"] in (None, "random") else read_ranking(more["ties"], belief.candidates)
    return Contest(kind=rule, margin=within, order=order)
