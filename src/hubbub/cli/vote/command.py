"""``hubbub vote``: elections in which telling the truth is the best move."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import Commands, examples, json_option, options, print_json, print_text
from hubbub.cli.vote.configured import tally_configured
from hubbub.cli.vote.files import print_written, repeating, write_page, write_record
from hubbub.cli.vote.publish import publish
from hubbub.cli.vote.questions import gain, gain_map, guarantee
from hubbub.cli.vote.reading import LABELS as LABELS
from hubbub.cli.vote.reading import READING as READING
from hubbub.cli.vote.reading import given, read_ballots, reading_options
from hubbub.errors import WrongUse
from hubbub.numeric.exact import integer
from hubbub.progress import working
from hubbub.protocol.option import Option
from hubbub.vote import ETA
from hubbub.voting.rules.pair_rules import PAIR_RULES
from hubbub.voting.rules.rules import SUMMARY

if TYPE_CHECKING:
    from hubbub.noise.source import PublicDice, Source
    from hubbub.voting.formats.ballot_file import BallotFile
    from hubbub.voting.rules.rules import Margin, Rule
    from hubbub.voting.rules.stv import TransferableVote
    from hubbub.voting.ties import Ties

RULES: Final = tuple(SUMMARY)
RATED: Final = ("approval", "score")  # for ballots that hold no ranks
PAIRS: Final = PAIR_RULES  # which look at pairs of candidates
STV: Final = "stv"  # for several seats, and so no rule of a comparison

_TALLY: Final = (
    Option("config", "FILE", "Count as this configuration of RCTab says: files, candidates, rules."),
    Option("rule", "RULE", "The voting rule.", default=RULES[0], choices=(*RULES, *PAIRS, *RATED, STV)),
    Option("eta", "E", "The gain that a lie may have, at most.", default=ETA),
    Option("margin", "B", "A number, or n^0.75; without it, the margin that `eta` needs."),
    Option(
        "ties",
        "HOW",
        "By a fresh draw, or by the order of the file, for which nothing is promised.",
        default="random",
        choices=("random", "listed"),
    ),
    Option("points", "P1,P2,..", "Points for each place (positional, scoring-elimination)."),
    Option(
        "then",
        "HOW",
        "Who of those left wins (scoring-elimination); without it plurality if two are left, else a lot.",
        choices=("lot", "random-dictator", "listed"),
    ),
    Option("mix", "A", "Mix with the punishing rule, so that no lie pays at all for utilities A apart."),
    Option("compare", None, "Run all rules side by side, each with the margin that `eta` needs."),
    Option("seats", "N", "How many are elected (stv); without it, what the file says."),
    Option(
        "dice",
        "WORDS",
        "Draw from these public words, said aloud when all ballots are in, so that anybody can repeat it.",
    ),
    Option("record", "PATH", "Write the signed result, to be counted again from the ballots (hubbub verify)."),
    Option("ledger", "FILE", "Sign with the key of another ledger than your own."),
    Option("page", "PATH", "Write a page for everybody: result, rounds, pairs, draws, promise."),
    Option("chart", "PATH", "Draw how ballots moved: .html, .png or .svg."),
)


@click.group(
    "vote",
    cls=Commands,
    epilog=examples(
        "hubbub vote tally millbrook",
        "hubbub vote guarantee --voters 10000 --candidates 3",
        "hubbub vote gain --belief abc:1/2,bac:1/2 --truth cab --voters 1001 --rule plurality",
    ),
)
def vote() -> None:
    """Elections: count them so that a lie hardly pays, and say how little."""


@vote.command(
    "tally",
    short_help="Count the ballots of a file.",
    epilog=examples(
        "hubbub vote tally millbrook",
        "hubbub vote tally millbrook --rule approximate-runoff --eta 1e-6 --json",
        "hubbub vote tally millbrook --compare",
        "hubbub vote tally millbrook --as oakland --dice three-white-swans",
    ),
)
@click.argument("file", required=False)
@partial(options, declared=_TALLY)
@reading_options
@json_option
def tally(
    file: str | None, config: str | None, as_json: bool, compare: bool, chart: str | None, **options: Any
) -> None:
    """Count the ballots of FILE: PrefLib (.soc .soi .toc .toi .cat), .blt, .abif or .csv, packed or not, .xlsx, or
    the records of a vendor (a folder, .json, .xml, .zip). millbrook is an invented election.

    Ties are broken by a fresh draw from the operating system after the ballots are in, or from the public words of
    --dice, and every draw is recorded. The guarantee says how much a lie can gain at most (eta), and for how coarse a
    belief (alpha_min and above). Weights in a file are numbers of identical ballots. A ballot that ranks nobody who is
    left is exhausted and counts no further.
    """
    from hubbub.cli.vote import text as vote_text
    from hubbub.voting.count.comparison import compare as compare_rules
    from hubbub.voting.count.counted import count
    from hubbub.voting.rules.pairwise import pairwise
    from hubbub.voting.rules.threshold import share

    if config is not None:
        tally_configured(config, file, as_json=as_json)
        return
    if file is None:
        raise WrongUse("name the file with the ballots, or millbrook for an invented election, or add --config FILE")
    if chart is not None:
        from hubbub import charts

        charts.ready(chart)
    eta = share(options["eta"], "--eta")
    dice = _dice(options["dice"])
    with working("Reading"):
        _settle(options)
        read = read_ballots(file, options, options["rule"])
        seats = _seats(options, read)
    if compare and options["rule"] in RATED:
        raise WrongUse(f"--compare runs the rules for rankings, and {options['rule']} counts none; leave it out")
    if seats is not None:
        if compare:
            raise WrongUse("--compare runs the rules for one winner, and stv fills seats; leave one of them out")
        _tally_seats(seats, read, file, as_json=as_json, chart=chart, options=options)
        return
    with working("Counting"):
        rule = _rule(options, eta, read)
        dice_text = None if dice is None else dice.sentence
        answer = count(rule, read.ballots, eta, _source(dice), dice=dice_text)
        comparison = None
        if compare:
            ties = _ties(options["ties"], read.ballots.candidates)
            comparison = compare_rules(read.ballots, eta, lambda: _source(dice), ties, dice=dice_text)
    facts = answer.as_json(read)
    _remark(facts, read, rule.name)
    facts |= write_record(options, answer.result, read, dice)
    if comparison is not None:
        facts["compare"] = comparison.as_json()
        facts["pairwise"] = None if comparison.pairs is None else comparison.pairs.as_json()
    if options["page"] is not None:
        from hubbub.report.results import results_page

        pairs = (
            comparison.pairs if comparison is not None else None if len(read.ballots.levels) else pairwise(read.ballots)
        )
        facts |= write_page(options["page"], results_page(answer, read, pairs, repeating(file, read, facts)))
    if chart is not None:
        vote_text.draw_flow(answer, read, chart)
        facts["chart"] = chart
    if as_json:
        print_json(facts)
        return
    _print_remarks(facts)
    vote_text.print_count(answer, read, comparison)
    print_written(facts, file)


def _dice(given: str | None) -> PublicDice | None:
    from hubbub.noise.source import PublicDice

    return None if given is None else PublicDice(given)


def _source(dice: PublicDice | None) -> Source:
    """The public dice from their first word on, or the operating system."""
    from hubbub.noise.source import PublicDice, SystemSource

    return SystemSource() if dice is None else PublicDice(dice.sentence)


def _settle(options: dict[str, Any]) -> None:
    """The rule that a place counts by, unless another was typed."""
    from hubbub.voting.rules.jurisdictions import rule_set

    if options["place"] is not None and not given("rule"):
        options["rule"] = rule_set(options["place"]).rule
    if options["overvotes"] == "several" and options["rule"] != "instant-runoff":
        raise WrongUse(f"--overvotes several is settled while instant-runoff counts, and the rule is {options['rule']}")


def _seats(options: dict[str, Any], read: BallotFile) -> TransferableVote | None:
    """The rule for several seats, if that was asked for."""
    from hubbub.voting.rules.jurisdictions import rule_set
    from hubbub.voting.rules.stv import RULES as TRANSFERS
    from hubbub.voting.rules.stv import TransferableVote

    if options["rule"] != STV:
        if options["seats"] is not None:
            raise WrongUse(f"--seats is about stv, and {options['rule']} elects one; leave it out, or add --rule stv")
        return None
    for option in ("margin", "points", "then", "mix"):
        if options[option] is not None:
            raise WrongUse(f"--{option} is about rules for one winner, and stv fills seats; leave it out")
    if options["ties"] != "random":
        raise WrongUse("--ties is about rules for one winner; stv looks back at earlier stages and then draws a lot")
    if options["seats"] is None and read.format not in ("blt", "blt-csv", "csv-dominion"):
        raise WrongUse("stv fills seats, and this kind of file does not say how many; add --seats N")
    rules = "scotland" if options["place"] is None else rule_set(options["place"]).transfers or "scotland"
    seats = read.seats if options["seats"] is None else integer(options["seats"], "--seats", least=1)
    return TransferableVote(seats=seats, rules=TRANSFERS[rules])


def _tally_seats(
    rule: TransferableVote, read: BallotFile, file: str, *, as_json: bool, chart: str | None, options: dict[str, Any]
) -> None:
    from hubbub.cli.vote import seats as vote_seats
    from hubbub.voting.count.counted import ballots_json, draws_json

    dice = _dice(options["dice"])
    dice_text = None if dice is None else dice.sentence
    with working("Counting"):
        result = rule.run(read.ballots, _source(dice))
    answer = result.as_json()
    answer |= {
        "draws": draws_json(result.draws, secure=result.secure, dice=dice_text),
        "dice": dice_text,
        "ballots": ballots_json(read),
        "reading": {**read.reading.rules(), "changed": dict(read.changed)},
        "withdrawn": list(read.withdrawn),
    }
    _remark(answer, read, None)
    answer |= write_record(options, result, read, dice)
    if options["page"] is not None:
        from hubbub.report.results import seats_page

        answer |= write_page(options["page"], seats_page(result, read, repeating(file, read, answer)))
    if chart is not None:
        vote_seats.draw_flow(result, read, chart)
        answer["chart"] = chart
    if as_json:
        print_json(answer)
        return
    _print_remarks(answer)
    vote_seats.print_seats(result, read, answer)
    print_written(answer, file)


def _remark(answer: dict[str, Any], read: BallotFile, single: str | None) -> None:
    """What was met while reading, and seats that a rule for one does not fill."""
    remarks = list(read.remarks)
    if single is not None and read.seats > 1:
        remarks.append(f"the file says {read.seats} seats, and {single} fills one; --rule stv fills them all")
    answer["remarks"], answer["seats"] = remarks, read.seats if single is not None else answer["seats"]


def _print_remarks(answer: dict[str, Any]) -> None:
    for remark in answer["remarks"]:
        print_text(f"Note: {remark}.")


def _rule(options: dict[str, Any], eta: Fraction, read: BallotFile) -> Rule:
    from hubbub.voting.rules import rules
    from hubbub.voting.rules.continuing import RunoffByContinuing

    names = read.ballots.candidates
    name, margin = options["rule"], _margin(options["margin"])
    if name in RATED or name in PAIRS:
        return _without_margin(options, read)
    if margin is None and name in rules.MARGINED:
        margin = rules.ForGain(eta)
    then: dict[str | None, Rule | None] = {
        None: None,
        "lot": rules.Lot(),
        "random-dictator": rules.RandomDictator(),
        "listed": rules.FirstInOrder(order=names),
    }
    if options["then"] and name != "scoring-elimination":
        raise WrongUse(f"--then is about scoring-elimination, and {name} ends by itself")
    if options["ties"] != "random" and name in ("scoring-elimination", "random-dictator", "punishing"):
        raise WrongUse(f"--ties is about equal counts at the end, and {name} ends otherwise; leave it out")
    rule = rules.make(
        name,
        margin=margin,
        ties=_ties(options["ties"], names),
        points=_points(options["points"]),
        then=then[options["then"]],
    )
    if options["mix"] is None:
        if read.reading.overvotes == "several" and isinstance(rule, rules.InstantRunoff):
            return RunoffByContinuing(ties=rule.ties)
        return rule
    if name not in rules.MARGINED:
        raise WrongUse(
            f"--mix needs a bound on what a lie gains, which {name} has not; {', '.join(rules.MARGINED)} have"
        )
    q = rules.mix_probability(
        gain=eta,
        voters=read.ballots.voters,
        candidates=len(names),
        utility_coarseness=options["mix"],
        truncated=read.ballots.truncated > 0,
    )
    return rules.Mix(rule=rule, probability=q)


def _without_margin(options: dict[str, Any], read: BallotFile) -> Rule:
    """A rule of pairs, approvals or scores, of which ties are all that can be chosen."""
    from hubbub.voting.rules.approval import Approval
    from hubbub.voting.rules.pair_rules import PairRule
    from hubbub.voting.rules.score import Score

    name = options["rule"]
    for option in ("margin", "points", "then", "mix"):
        if options[option] is not None:
            raise WrongUse(f"--{option} is about other rules, and {name} has nothing of the kind; leave it out")
    ties = _ties(options["ties"], read.ballots.candidates)
    if name in PAIRS:
        return PairRule(name=name, ties=ties)
    return Approval(ties=ties) if name == Approval.name else Score(top=read.top, ties=ties)


def _ties(given: str, names: tuple[str, ...]) -> Ties:
    from hubbub.voting.ties import RANDOM, FixedTies

    return RANDOM if given == "random" else FixedTies(names)


def _margin(text: str | None) -> Margin | None:
    from hubbub.voting.rules.threshold import margin

    return None if text is None else margin(text)


def _points(text: str | None) -> tuple[int, ...] | None:
    return None if text is None else tuple(integer(part, "a number of --points") for part in text.split(","))


vote.add_command(guarantee)
vote.add_command(gain)
vote.add_command(gain_map)
vote.add_command(publish)
