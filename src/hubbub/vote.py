"""Elections in which telling the truth is the best move: what ``hubbub vote`` does, for Python.

>>> from hubbub import vote
>>> answer = vote.guarantee("repeated-plurality", candidates=3, voters=10_000)
>>> answer.margin, answer.empty
(785, False)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Annotated, Any, Final

from hubbub.errors import WrongUse
from hubbub.noise.source import Source, SystemSource
from hubbub.numeric.exact import Exact, integer, rational, to_text
from hubbub.protocol.option import option_help
from hubbub.voting.ballots import Ballots
from hubbub.voting.count.comparison import compare as compare
from hubbub.voting.count.counted import Counted
from hubbub.voting.count.counted import count as _count
from hubbub.voting.formats import formats
from hubbub.voting.formats.formats import read as read
from hubbub.voting.formats.profiles import ballots_of as ballots
from hubbub.voting.formats.profiles import to_pref_voting as to_pref_voting
from hubbub.voting.formats.profiles import to_rows as to_rows
from hubbub.voting.formats.profiles import to_votekit as to_votekit
from hubbub.voting.generators import generate as generate
from hubbub.voting.guarantees.assurance import CALLED, Assurance, assurance
from hubbub.voting.guarantees.guarantee import possible_ballots
from hubbub.voting.manipulation import beliefs
from hubbub.voting.manipulation import gain_map as maps
from hubbub.voting.manipulation.beliefs import Belief, Ranking, read_ranking
from hubbub.voting.manipulation.gain import METHODS, Sampling
from hubbub.voting.manipulation.gain import Question as Question
from hubbub.voting.manipulation.gain_answer import GainAnswer, answer
from hubbub.voting.manipulation.gain_winners import Contest
from hubbub.voting.manipulation.question import utility as read_utility
from hubbub.voting.manipulation.rule_choice import NAMES, RuleChoice, StatedBelief, choose_rule
from hubbub.voting.manipulation.worst_gain import WorstGain
from hubbub.voting.manipulation.worst_gain import worst_gain as _worst_gain
from hubbub.voting.protocol import Rule as Rule
from hubbub.voting.rules.margins import KINDS
from hubbub.voting.rules.rules import OTHER_NAMES
from hubbub.voting.rules.rules import make as rule
from hubbub.voting.rules.threshold import ForGain, share, threshold
from hubbub.voting.rules.threshold import margin as read_margin

ETA: Final = "1e-12"
WORST: Final = ("plurality", "instant-runoff", "repeated-plurality", "approximate-runoff", "borda", "minimax")
"""The rules for which the worst belief is known."""
MAPPED: Final = (*WORST, "score")
"""The rules of a map."""
LIED_TO: Final = (*MAPPED, "approval")
"""The rules for which a best lie is known. A ballot of approval names whom it approves of, one of score gives points."""

Top = Annotated[Exact | None, option_help("T", "The highest score (score). Left out: the highest that is named, or 5.")]

__all__ = [
    "Question",
    "Rule",
    "ballots",
    "choose",
    "compare",
    "count",
    "gain",
    "gain_map",
    "generate",
    "guarantee",
    "read",
    "rule",
    "to_pref_voting",
    "to_rows",
    "to_votekit",
    "worst_gain",
]

Margin = Annotated[Exact | None, option_help("B", "A number, or n^0.75. Left out: B*, made for `eta`.")]
Truncated = Annotated[bool, option_help(None, "Ballots may leave out candidates.")]


def count(rule: Rule, ballots: Ballots, *, eta: Exact = ETA, source: Source | None = None) -> Counted:
    """Count ballots, like those of ``read(file).ballots``, and say what is promised at a gain of `eta`.

    Guarantee: that of :func:`hubbub.voting.count.counted.count`. Lots are drawn from the operating system.
    """
    return _count(rule, ballots, share(eta, "`eta`"), SystemSource() if source is None else source)


# --- what a margin promises ---------------------------------------------------------------------------------------


def guarantee(
    rule: Annotated[str, option_help("RULE", "The elimination rule.", choices=tuple(CALLED))] = "repeated-plurality",
    *,
    candidates: Annotated[Exact, option_help("M", "How many stand.")],
    voters: Annotated[Exact | None, option_help("N", "How many vote. Left out: how many `coarseness` needs.")] = None,
    eta: Annotated[Exact, option_help("E", "The allowed gain, like 1e-12 or 2^-100.")] = ETA,
    margin: Margin = None,
    coarseness: Annotated[Exact | None, option_help("A", "The coarseness of beliefs, like 1/8.")] = None,
    observed: Annotated[Exact | None, option_help("L", "As `coarseness` 1/L: frequencies of L ballots.")] = None,
    dirichlet: Annotated[
        Exact | None, option_help("L", "As `coarseness` 1/(m!+L): a uniform prior and L ballots.")
    ] = None,
    utility_coarseness: Annotated[
        Exact | None, option_help("A", "Of utilities, for the punishing rule. Left out: as beliefs.")
    ] = None,
    points_range: Annotated[Exact, option_help("R", "Most minus least points (scoring-elimination).")] = 1,
    power: Annotated[Exact, option_help("D", "The thesis's margin is n^(1/2+D).")] = "1/4",
    truncated: Truncated = False,
    curve: Annotated[bool, option_help(None, "Also the gain bound for a row of coarsenesses.")] = False,
    ask: Annotated[
        str | None,
        option_help(
            "WHAT",
            "What is promised to `voters`, or how many voters `coarseness` needs. Left out: what is not given.",
            choices=("promise", "voters"),
        ),
    ] = None,
) -> Assurance:
    """What a margin promises to voters with coarse beliefs: no lie of theirs gains more than eta in expected utility.

    A belief is alpha-coarse when its probabilities are multiples of some beta >= alpha. The answer covers beliefs of
    coarseness alpha_min and more, utilities from 0 to 1, and ties at the end that are broken at random after the
    ballots are in. Numbers are rounded against us: margin, alpha_min, gain_bound and punishing_probability up, the
    number of observed ballots down. null for alpha_min means that no belief is coarse enough. voters_needed is the
    number from which the promise always holds; smaller ones may do, down to voters_least.

    Guarantee: that of :func:`hubbub.voting.guarantees.assurance.assurance`.
    """
    m = integer(candidates, "`candidates`", least=2)
    alpha = _coarseness(m, coarseness, observed, dirichlet, truncated=truncated)
    if ask == "voters" and voters is not None:
        raise WrongUse("`ask=voters` finds the number of voters; leave out `voters`, or ask for the promise")
    if ask == "promise" and voters is None:
        raise WrongUse("`ask=promise` needs `voters`; ask for voters to be told how many it takes")
    if voters is None and alpha is None:
        raise WrongUse("give `voters`, or a `coarseness` to be told how many voters it needs")
    if voters is None and margin is not None:
        raise WrongUse("`margin` needs `voters`; the voters needed are those for the default margin B*")
    worth = utility_coarseness
    return assurance(
        rule,
        candidates=m,
        eta=share(eta, "`eta`"),
        voters=None if voters is None else integer(voters, "`voters`", least=2),
        margin=None if margin is None else read_margin(margin, "`margin`"),
        coarseness=alpha,
        utility_coarseness=None if worth is None else _at_most_one(worth, "`utility_coarseness`"),
        points_range=integer(points_range, "`points_range`", least=1),
        truncated=truncated,
        power=share(power, "`power`"),
        curve=curve,
    )


def _coarseness(
    candidates: int, coarseness: Exact | None, observed: Exact | None, dirichlet: Exact | None, *, truncated: bool
) -> Fraction | None:
    if sum(given is not None for given in (coarseness, observed, dirichlet)) > 1:
        raise WrongUse("`coarseness`, `observed` and `dirichlet` say the same thing in three ways; give one of them")
    if observed is not None:
        return Fraction(1, integer(observed, "`observed`", least=1))
    if dirichlet is not None:
        return Fraction(1, possible_ballots(candidates, truncated=truncated) + integer(dirichlet, "`dirichlet`"))
    return None if coarseness is None else _at_most_one(coarseness, "`coarseness`")


def _at_most_one(given: Exact, what: str) -> Fraction:
    number = rational(given, what)
    if not 0 < number <= 1:
        raise WrongUse(f"{what} lies above 0 and at most at 1, not at {to_text(number)[:40]}")
    return number


# --- which rule to use --------------------------------------------------------------------------------------------


def choose(
    *,
    voters: Annotated[Exact, option_help("N", "How many vote.")],
    candidates: Annotated[Exact, option_help("M", "How many stand: 3 to 5.")],
    eta: Annotated[Exact, option_help("E", "The gain that a promise is asked for.")] = ETA,
    belief: Annotated[
        Sequence[str], option_help("TEXT", "One more belief about the others, like abcd:2/3,bacd:1/3; may be repeated.")
    ] = (),
    draws: Annotated[Exact | None, option_help("T", "Random elections to draw where states are too many.")] = None,
    source: Source | None = None,
) -> RuleChoice:
    """Which rule should we use, and how much could somebody gain by lying? The rules that fit so many voters and
    candidates, the one under which lies gain least first, and one of them recommended.

    Each rule has the largest gain under some stated beliefs, computed, or sampled where it is a range; what a theorem
    promises, and from how many voters on; how often a lot decides; and whether it is easy to explain.

    Guarantee: that of :func:`hubbub.voting.manipulation.rule_choice.choose_rule`.
    """
    m = integer(candidates, "`candidates`", least=2)
    names = tuple(NAMES[:m])
    more = [StatedBelief(name=text, words=text, belief=beliefs.belief(text, names)) for text in belief]
    tries = None if draws is None else integer(draws, "`draws`", least=2)
    sampling = Sampling(draws=tries, source=source)
    return choose_rule(integer(voters, "`voters`", least=2), m, share(eta, "`eta`"), more, sampling)


# --- what a lie pays ----------------------------------------------------------------------------------------------


def gain(
    question: Question | None = None,
    eta: Annotated[Exact, option_help("E", "Is the gain at most this? Like 2^-100.")] = ETA,
    method: Annotated[str | None, option_help("NAME", "How to find out.", choices=("auto", *METHODS))] = "auto",
    *,
    belief: Annotated[str | None, option_help("TEXT", "Rankings with probabilities, like abc:1/2,bac:1/2.")] = None,
    observed: Annotated[
        str | None, option_help("TEXT", "Rankings with numbers of ballots seen, like abc:3,bac:1.")
    ] = None,
    ballots: Annotated[
        str | os.PathLike[str] | Ballots | None,
        option_help("FILE", "Ballots seen, from a file that hubbub vote tally reads."),
    ] = None,
    dirichlet: Annotated[bool, option_help(None, "Start from a uniform prior, then `observed` or `ballots`.")] = False,
    candidates: Annotated[
        str | None, option_help("A,B,..", "All candidates, if `belief` does not name them all.")
    ] = None,
    truth: Annotated[
        str | None, option_help("RANKING", "The voter's true ranking, like cab or kiss>wright.", required=True)
    ] = None,
    voters: Annotated[Exact | None, option_help("N", "How many vote, she included.", required=True)] = None,
    rule: Annotated[
        str, option_help("RULE", "The rule.", choices=LIED_TO, other_names=OTHER_NAMES)
    ] = "repeated-plurality",
    margin: Margin = None,
    top: Top = None,
    ties: Annotated[
        str | None, option_help("ORDER", "Break ties in favour of the first of b>a>c. Left out: at random.")
    ] = None,
    utility: Annotated[
        str | None, option_help("TEXT", "Like c=1,a=0.4,b=0. Left out: the worst that fits the truth.")
    ] = None,
    lie: Annotated[Sequence[str], option_help("RANKING", "Try this lie alone; may be repeated.")] = (),
    truncated: Truncated = False,
    draws: Annotated[Exact | None, option_help("T", "Random elections to draw (sample).")] = None,
    confidence: Annotated[Exact, option_help("C", "Of the interval (sample).")] = "0.99",
    source: Source | None = None,
) -> GainAnswer:
    """A voter's best lie, and what it pays: by how much it raises her expected utility, if the others vote as she
    believes.

    The gain is the supremum over all utilities from 0 to 1 that are consistent with her true ranking, or that of
    `utility`. It lies between gain_low and gain_high, for certain unless confidence says otherwise; gain is gain_high
    where it is known exactly, the mean where it was sampled, and null where only a bound is known or no draw met a
    gain. bound is what the belief proves for rules with a margin; verdict answers whether the gain is at most eta.

    Guarantee: that of :func:`hubbub.voting.manipulation.gain_answer.answer`. A `question` says everything by itself.
    """
    allowed = share(eta, "`eta`")
    if question is None:
        if truth is None or voters is None:
            raise WrongUse("a gain is of a voter among others; add `truth`, her ranking, and `voters`, how many vote")
        given = _belief(belief, observed, ballots, candidates, truth, dirichlet=dirichlet, truncated=truncated)
        names, many = given.candidates, integer(voters, "`voters`", least=2)
        if margin is not None and rule not in KINDS:
            raise WrongUse(
                f"{rule} has no margin; leave out `margin`, or choose repeated-plurality or approximate-runoff"
            )
        order = None if ties in (None, "random") else read_ranking(ties, names)
        ranked = read_ranking(truth, names, truncated=given.truncated)
        highest = max(max(each) for each in (ranked, *(ballot for ballot, _ in given.shares)) if each)
        question = Question(
            belief=given,
            truth=ranked,
            voters=many,
            contest=_contest(rule, many, len(names), allowed, margin, order, _top(rule, top, highest)),
            worth=None if utility is None else read_utility(utility, names),
            lies=tuple(read_ranking(each, names, truncated=given.truncated) for each in lie),
        )
    tries = None if draws is None else integer(draws, "`draws`", least=2)
    sampling = Sampling(draws=tries, confidence=share(confidence, "`confidence`"), source=source)
    return answer(question, allowed, None if method == "auto" else method, sampling)


def _belief(
    belief: str | None,
    observed: str | None,
    ballots: str | os.PathLike[str] | Ballots | None,
    candidates: str | None,
    truth: str,
    *,
    dirichlet: bool,
    truncated: bool,
) -> Belief:
    if sum(way is not None for way in (belief, observed, ballots)) != 1:
        raise WrongUse("give what the voter believes: one of `belief`, `observed` and `ballots`")
    if belief is not None:
        if dirichlet:
            raise WrongUse("`dirichlet` goes with `observed` or `ballots`, which say what ballots were seen")
        return beliefs.belief(belief, _names(belief, candidates, truth), truncated=truncated)
    if ballots is not None:
        read = ballots if isinstance(ballots, Ballots) else formats.strict(formats.read(os.fspath(ballots))).ballots
        seen, names = beliefs.observed_in(read), read.candidates
        truncated = truncated or read.truncated_voters > 0
    else:
        assert observed is not None
        names = _names(observed, candidates, truth)
        seen = _observed_belief(observed, names, truncated=truncated)
    return beliefs.dirichlet(seen, names) if dirichlet else beliefs.empirical(seen, names, truncated=truncated)


def _names(text: str, candidates: str | None, truth: str) -> tuple[str, ...]:
    """The candidates: those given, or all that the belief and the truth name."""
    if candidates:
        return tuple(name.strip() for name in candidates.split(","))
    listed = [part.rpartition(":")[0] for part in text.split(",")] + [truth]
    if beliefs.is_scores(listed[0]):  # scores name nobody: the first is of a
        return tuple(chr(ord("a") + i) for i in range(min(listed[0].count("-") + 1, 26)))
    return tuple(sorted({name for ranked in listed for name in beliefs.split_names(ranked)}))


def _observed_belief(text: str, names: tuple[str, ...], *, truncated: bool) -> dict[Ranking, int]:
    seen: dict[Ranking, int] = {}
    for part in text.split(","):
        ranked, _, times = part.rpartition(":")
        ranking = read_ranking(ranked, names, truncated=truncated)
        if ranking in seen:
            raise WrongUse(f"`observed` names {ranked.strip()!r} twice; add up its ballots")
        seen[ranking] = integer(times, f"the number of ballots {ranked.strip()!r}")
    return seen


def _contest(
    rule: str,
    voters: int,
    candidates: int,
    eta: Fraction,
    margin: Exact | None,
    order: Ranking | None = None,
    top: int | None = None,
) -> Contest:
    """A rule with its margin: the one that was asked for, or B* for the gain."""
    if rule not in KINDS:
        return Contest(kind=rule, order=order, top=top)
    wanted = ForGain(eta) if margin is None else read_margin(margin, "`margin`")
    return Contest(kind=rule, margin=threshold(wanted, rule, voters, candidates), order=order)


def _top(rule: str, top: Exact | None, highest: int) -> int | None:
    """The highest score of a rule that has one."""
    if rule == "score":
        return highest if top is None else integer(top, "`top`", least=1)
    if top is not None:
        raise WrongUse(f"`top` is the highest score of score, and {rule} has none; leave it out")
    return None


def worst_gain(
    rule: Annotated[str, option_help("RULE", "The rule.", choices=WORST)] = "repeated-plurality",
    *,
    voters: Annotated[Exact, option_help("N", "How many vote, she included.")],
    coarseness: Annotated[Exact, option_help("A", "The coarseness of beliefs, like 1/4.")],
    eta: Annotated[Exact, option_help("E", "The gain that a margin is made for.")] = ETA,
    margin: Margin = None,
    watch: Callable[[Sequence[Any]], Iterable[Any]] = iter,
) -> WorstGain:
    """The most that a lie can gain under any belief of a coarseness, for three candidates: every such belief, truth and
    lie is gone through, in the place of a bound.

    Guarantee: that of :func:`hubbub.voting.manipulation.worst_gain.worst_gain`. `watch` may show how far it is.
    """
    n, allowed = integer(voters, "`voters`", least=2), share(eta, "`eta`")
    if margin is not None and rule not in KINDS:
        raise WrongUse(f"{rule} has no margin; leave out `margin`, or choose one of {', '.join(KINDS)}")
    contest = _contest(rule, n, 3, allowed, margin)
    return _worst_gain(contest, n, _at_most_one(coarseness, "`coarseness`"), watch=watch)


# --- what lies pay, over a triangle of beliefs --------------------------------------------------------------------


def gain_map(
    *,
    rules: Annotated[
        str, option_help("R1,R2,..", f"{', '.join(MAPPED)}.")
    ] = "plurality,instant-runoff,repeated-plurality,borda",
    voters: Annotated[Exact, option_help("N", "How many vote, she included.")] = 1001,
    eta: Annotated[Exact, option_help("E", "The gain that margins are made for.")] = ETA,
    margin: Margin = None,
    top: Top = None,
    steps: Annotated[Exact, option_help("S", "Cells on a side of the triangle, less one.")] = 12,
    corners: Annotated[
        str | None,
        option_help("R,R,R", "Rankings at the corners. Left out: abc,bca,cab; even: a, b or c first, seconds even."),
    ] = None,
    poll: Annotated[
        Sequence[str], option_help("A:N,..", "A poll as a point, like a:30,b:25,c:15; may be repeated.")
    ] = (),
    truth: Annotated[
        str | None, option_help("RANKING", "The voter's true ranking. Left out: of whoever gains most.")
    ] = None,
    no_efficiency: Annotated[
        bool, option_help(None, "Leave out Condorcet efficiency, which takes half of the time.")
    ] = False,
    watch: Callable[[Sequence[Any]], Iterable[Any]] = iter,
) -> maps.GainMap:
    """How honest a rule is, over a triangle of beliefs: what the best lie gains in each cell, for three candidates a, b
    and c.

    A corner says that all others rank abc, or bca, or cab, unless `corners` says otherwise; a cell mixes the three. Each cell is what hubbub vote gain says for its belief and truth. A poll is where a uniform prior and the
    votes of the poll put a voter (Dirichlet). Condorcet efficiency is how often a rule elects whoever beats everybody
    else one to one, if somebody does and all vote as the cell says. By score a ranking is told in even steps from `top` to
    0, rounded down, and a lie is any scores.

    Guarantee: that of :func:`hubbub.voting.manipulation.gain_map.gain_map`. `watch` may show how far it is.
    """
    n, allowed = integer(voters, "`voters`", least=2), share(eta, "`eta`")
    labels, ends = _corners(corners)
    contests = []
    for name in (part.strip() for part in rules.split(",")):
        if name not in MAPPED:
            raise WrongUse(f"`rules` takes {', '.join(MAPPED)}, not {name[:40]!r}")
        contests.append(_contest(name, n, 3, allowed, margin, top=_top(name, top if name == "score" else None, 5)))
    if top is not None and all(each.top is None for each in contests):
        raise WrongUse("`top` is the highest score of score, which is none of `rules`; leave it out")
    return maps.gain_map(
        contests,
        n,
        steps=integer(steps, "`steps`", least=2),
        corners=ends,
        labels=labels,
        polls=[_poll(each, labels) for each in poll],
        truth=None if truth is None else read_ranking(truth, maps.NAMES),
        elects=not no_efficiency,
        watch=watch,
    )


def _corners(text: str | None) -> tuple[tuple[str, str, str], tuple[Belief, Belief, Belief] | None]:
    if text is None or text == "even":
        return maps.NAMES, maps.circle() if text is None else maps.first_choices()
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 3 or len(set(parts)) != 3:
        raise WrongUse("`corners` takes three different rankings of a, b and c, like abc,bca,cab")
    ends = [Belief(candidates=maps.NAMES, shares=((read_ranking(part, maps.NAMES), Fraction(1)),)) for part in parts]
    return (parts[0], parts[1], parts[2]), (ends[0], ends[1], ends[2])


def _poll(text: str, labels: tuple[str, str, str]) -> maps.Weights:
    votes = dict.fromkeys(labels, 0)
    for part in text.split(","):
        label, colon, number = (piece.strip() for piece in part.rpartition(":"))
        if not colon or label not in votes:
            like = ",".join(f"{name}:{count}" for name, count in zip(labels, (30, 25, 15), strict=True))
            raise WrongUse(f"`poll` gives numbers of ballots, like {like}, not {part.strip()[:40]!r}")
        votes[label] = integer(number, f"the number of ballots for {label} in `poll`")
    return votes[labels[0]], votes[labels[1]], votes[labels[2]]
