"""``hubbub vote gain``: a voter's best lie and what it pays, exactly, at most, or within an interval."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import examples, json_option, page, print_json, say, waiting
from hubbub.cli.vote_guarantee import float_up, read_margin, read_share
from hubbub.errors import WrongUse

if TYPE_CHECKING:
    from hubbub.guarantees.verdict import Verdict
    from hubbub.voting.beliefs import Belief, Ranking
    from hubbub.voting.gain import Gain, Question
    from hubbub.voting.gain_winners import Contest

RULES: Final = ("plurality", "instant-runoff", "repeated-plurality", "approximate-runoff")
METHODS: Final = ("auto", "enumerate", "three", "bound", "sample")
MOST_TOLD: Final = 40  # rankings of a belief
LONGEST_EXACT: Final = 200  # characters of an exact rational in the answer
HELD: Final = {
    "enumerate": "exactly, by counting every profile",
    "three": "by counting every state of three candidates, errors of rounding included",
    "bound": "an upper bound, proved",
}


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
    from hubbub.exact import whole
    from hubbub.guarantees.verdict import Undecided
    from hubbub.voting import gain as gains

    allowed = read_share(eta, "--eta")
    question = _question(allowed, more)
    tries = None if draws is None else whole(draws, "--draws", least=2)
    with waiting("counting"):
        answer = gains.gain(
            question,
            None if method == "auto" else method,
            draws=tries,
            confidence=read_share(confidence, "--confidence"),
        )
        bound = _bound(question, answer)
        verdict = gains.at_most(answer, allowed)
        if bound is not None and isinstance(verdict, Undecided):
            verdict = gains.at_most(bound, allowed) if bound.high <= allowed else verdict
    said = _answer(answer, bound, verdict, allowed)
    if as_json:
        print_json({"rule": more["rule"], **said})
        return
    _tell(said, more["rule"])


def _question(eta: Fraction, more: dict[str, Any]) -> Question:
    from hubbub.exact import whole
    from hubbub.voting.beliefs import read_ranking
    from hubbub.voting.gain import Question
    from hubbub.voting.utilities import utility

    belief = _belief(more)
    voters, names = whole(more["voters"], "--voters", least=2), belief.candidates
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
    from hubbub.voting import beliefs

    if sum(more[way] is not None for way in ("belief_text", "observed", "ballots")) != 1:
        raise WrongUse("give what the voter believes: one of --belief, --observed and --ballots")
    if more["belief_text"] is not None:
        if more["dirichlet"]:
            raise WrongUse("--dirichlet goes with --observed or --ballots, which say what ballots were seen")
        return beliefs.belief(more["belief_text"], _names(more["belief_text"], more), truncated=more["truncated"])
    truncated = more["truncated"]
    if more["ballots"] is not None:
        from hubbub.demo import council
        from hubbub.voting import formats

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
    from hubbub.voting.beliefs import split_names

    if more["candidates"]:
        return tuple(name.strip() for name in more["candidates"].split(","))
    listed = [part.rpartition(":")[0] for part in text.split(",")] + [more["truth"]]
    return tuple(sorted({name for ranked in listed for name in split_names(ranked)}))


def _observed(text: str, names: tuple[str, ...], *, truncated: bool) -> dict[Ranking, int]:
    from hubbub.exact import whole
    from hubbub.voting.beliefs import read_ranking

    seen: dict[Ranking, int] = {}
    for part in text.split(","):
        ranked, _, times = part.rpartition(":")
        ranking = read_ranking(ranked, names, truncated=truncated)
        if ranking in seen:
            raise WrongUse(f"--observed names {ranked.strip()!r} twice; add up its ballots")
        seen[ranking] = whole(times, f"the number of ballots {ranked.strip()!r}")
    return seen


def _contest(belief: Belief, voters: int, eta: Fraction, more: dict[str, Any]) -> Contest:
    from hubbub.voting.beliefs import read_ranking
    from hubbub.voting.gain_winners import Contest
    from hubbub.voting.margins import KINDS

    rule, m = more["rule"], len(belief.candidates)
    margin = None
    if rule in KINDS:
        margin = read_margin(more["margin"], eta, rule, voters, m)
    elif more["margin"] is not None:
        raise WrongUse(f"{rule} has no margin; leave out --margin, or choose repeated-plurality or approximate-runoff")
    order = None if more["ties"] in (None, "random") else read_ranking(more["ties"], belief.candidates)
    return Contest(kind=rule, margin=margin, order=order)


def _bound(question: Question, answer: Gain) -> Gain | None:
    """What the belief proves, where a theorem does."""
    from hubbub.voting.gain import BOUND
    from hubbub.voting.gain import gain as gain_by

    if answer.method == BOUND:
        return answer
    if not question.contest.eliminates or question.contest.order is not None:
        return None
    return gain_by(question, BOUND)


def _answer(answer: Gain, bound: Gain | None, verdict: Verdict, eta: Fraction) -> dict[str, Any]:
    from hubbub.exact import to_float, to_text
    from hubbub.voting.beliefs import ranking_text
    from hubbub.voting.figures import approximately
    from hubbub.voting.guarantee import gain_bound

    question = answer.question
    names, contest = question.belief.candidates, question.contest
    exact = to_text(answer.high) if answer.low == answer.high else ""
    known = answer.high if answer.confidence is None else answer.estimate or Fraction(0)
    only_bounded = answer.method == "bound" or (answer.confidence is not None and known <= 0)
    said: dict[str, Any] = {
        "voters": question.voters,
        "belief": _short(question.belief),
        "coarseness": to_text(question.belief.coarseness),
        "truth": ranking_text(question.truth, names),
        "margin": contest.margin,
        "ties": "random" if contest.order is None else ranking_text(contest.order, names),
        "method": answer.method,
        "gain": None if only_bounded else float_up(known),
        "gain_text": exact if 0 < len(exact) <= LONGEST_EXACT else approximately(answer.high, digits=6),
        "exact": answer.low == answer.high,
        "gain_low": to_float(answer.low, round_up=False),
        "gain_high": float_up(answer.high),
        "gain_high_text": approximately(answer.high),
        "lie": None if answer.lie is None else ranking_text(answer.lie, names),
        "utility": None if answer.worth is None else answer.worth.text(),
        "over": "all utilities consistent with the truth, a supremum"
        if question.worth is None
        else "the given utility",
    }
    if answer.confidence is not None:
        said |= {"confidence": to_text(answer.confidence), "draws": answer.draws}
    if bound is not None and contest.margin is not None:
        general = gain_bound(contest.kind, question.voters, len(names), contest.margin, question.belief.coarseness)
        said |= {
            "bound": float_up(bound.high),
            "bound_text": approximately(bound.high),
            "bound_for_coarseness": float_up(general),
            "bound_for_coarseness_text": approximately(general),
        }
    return {
        **said,
        "eta": float(eta) or float_up(eta),
        "eta_text": to_text(eta),
        "verdict": _verdict(verdict, question.belief),
    }


def _short(belief: Belief) -> str:
    """The belief as text, unless it came from a file and would fill the page."""
    many = len(belief.shares) > MOST_TOLD
    return f"{len(belief.shares):,} rankings" if many else belief.text()


def _verdict(verdict: Verdict, belief: Belief) -> dict[str, object]:
    from hubbub.guarantees.verdict import Proved, Refuted

    if isinstance(verdict, Proved):
        return {"answer": "proved", "reason": verdict.reason}
    if isinstance(verdict, Refuted):
        witness = {**dict(verdict.witness), "belief": _short(belief)}
        return {"answer": "refuted", "reason": verdict.reason, "witness": witness}
    return {"answer": "undecided", "reason": verdict.why}


def _tell(said: dict[str, Any], rule: str) -> None:
    from hubbub.exact import rational
    from hubbub.voting.figures import approximately

    console = page()
    margin = "" if said["margin"] is None else f", margin {said['margin']:,}"
    console.print(f"{rule}{margin}, {said['voters']:,} voters, truth {said['truth']}", style="bold")
    low, high = approximately(Fraction(said["gain_low"]), up=False), said["gain_high_text"]
    tighter = "bound" in said and said["bound"] < said["gain_high"]
    if said["exact"] and said["gain_high"] == 0:
        console.print(f"No lie gains anything ({HELD[said['method']]}).")
    elif said["method"] == "bound":
        console.print(f"No lie gains more than {high} ({HELD['bound']}).")
    elif said["lie"] is None and said["method"] != "sample" and tighter:
        console.print(f"No lie is known to gain anything; at most {high} ({HELD[said['method']]}).")
    elif said["method"] == "sample":
        console.print(
            f"The best lie gains between {low} and {high}, with confidence {said['confidence']} "
            f"({said['draws']:,} random elections)."
        )
        if said["lie"] is None:
            console.print("No draw met a gain. That does not make it 0.")
    elif said["lie"] is None:
        console.print(f"The best lie gains {high} at most, and maybe nothing ({HELD[said['method']]}).")
    else:
        console.print(f"The best lie gains {high} ({HELD[said['method']]}).")
    if said["lie"] is not None:
        voted = f"report {said['lie']}" if said["lie"] else "stay at home"
        which = "In the draws it did best to" if said["method"] == "sample" else "It is to"
        worth = "it pays most for" if said["over"].startswith("all") else "that is for"
        console.print(f"{which} {voted}; {worth} the utility {said['utility']}.")
    if "bound" in said and said["method"] != "bound" and said["bound"] < 1:
        console.print(f"Proved for this belief: no lie gains more than {said['bound_text']}.")
    if "bound" in said and said["bound_for_coarseness"] < 1:
        coarse = rational(said["coarseness"])
        console.print(f"Proved for every belief of coarseness {coarse}: {said['bound_for_coarseness_text']} at most.")
    elif "bound" in said and said["bound"] == 1:
        console.print("The margin proves nothing for this belief: see hubbub vote guarantee for one that does.")
    verdict = said["verdict"]
    say(f"A gain of at most {approximately(rational(said['eta_text']))}: {verdict['answer']}; {verdict['reason']}.")
