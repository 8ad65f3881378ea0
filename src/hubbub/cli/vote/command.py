"""``hubbub vote``: elections in which telling the truth is the best move."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import ELSE, Commands, InGroups, display, echo, examples, json_option, options, print_json, print_text
from hubbub.cli.vote.asking import TIE, Asker, counting
from hubbub.cli.vote.audit import audit
from hubbub.cli.vote.files import (
    check_expected,
    print_files,
    print_precincts,
    repeating,
    show_understood,
    write_answer_reports,
    write_cvr,
    write_page,
    write_record,
)
from hubbub.cli.vote.office import HEADING, OFFICE, check_elect, tally_configured, tally_office
from hubbub.cli.vote.publish import publish
from hubbub.cli.vote.questions import choose, gain, gain_map, generate, guarantee, worst_gain
from hubbub.cli.vote.reading import LABELS as LABELS
from hubbub.cli.vote.reading import READING as READING
from hubbub.cli.vote.reading import read_ballots, reading_options, was_typed
from hubbub.errors import WrongUse
from hubbub.numeric.exact import integer
from hubbub.protocol.option import Option
from hubbub.runtime.progress import working
from hubbub.vote import ETA
from hubbub.voting.formats.understanding import understanding_of
from hubbub.voting.rules.pair_rules import PAIR_RULES
from hubbub.voting.rules.rules import OTHER_NAMES, SUMMARY
from hubbub.voting.rules.rules import RATED as RATED

if TYPE_CHECKING:
    from hubbub.noise.source import PublicDice, Source
    from hubbub.voting.formats.ballot_file import BallotFile
    from hubbub.voting.rules.rules import Margin, Rule
    from hubbub.voting.rules.stv import TransferableVote
    from hubbub.voting.ties import Ties

RULES: Final = tuple(SUMMARY)
PAIRS: Final = PAIR_RULES  # which look at pairs of candidates
TRANSFERS: Final = (
    *("scotland", "albany", "wigm", "meek", "warren", "ers97"),
    *("ireland", "malta", "northern-ireland", "australia-senate", "act", "tasmania", "cambridge"),
)
STV: Final = "stv"  # for several seats, and so no rule of a comparison

_RULE, _SEATS, _RESULT, _FILE = "Which rule", "Several seats", "Draws, and what is written", "How the file is read"

_TALLY: Final = (
    Option("config", "FILE", "Count as this configuration of RCTab says: files, candidates, rules.", group=_RULE),
    Option(
        "rule",
        "RULE",
        "The voting rule.",
        default=RULES[0],
        choices=(*RULES, *PAIRS, *RATED, STV),
        other_names=OTHER_NAMES,
        group=_RULE,
    ),
    Option("eta", "E", "The gain that a lie may have, at most.", default=ETA, group=_RULE),
    Option("margin", "B", "A number, or n^0.75; without it, the margin that `eta` needs.", group=_RULE),
    Option(
        "ties",
        "HOW",
        "By a fresh draw, by the order of the file, or as somebody says who is asked; only a draw goes with a promise.",
        default="random",
        choices=("random", "listed", "ask"),
        group=_RULE,
    ),
    replace(TIE, group=_RULE),
    Option("points", "P1,P2,..", "Points for each place (positional, scoring-elimination).", group=_RULE),
    Option(
        "then",
        "HOW",
        "Who of those left wins (scoring-elimination); without it plurality if two are left, else a lot.",
        choices=("lot", "random-dictator", "listed"),
        group=_RULE,
    ),
    Option("mix", "A", "Mix with the punishing rule, so that no lie pays at all for utilities A apart.", group=_RULE),
    Option("compare", None, "Run all rules side by side, each with the margin that `eta` needs.", group=_RULE),
    Option("seats", "N", "How many are elected (stv); without it, what the file says.", group=_SEATS),
    Option(
        "transfers",
        "RULES",
        "How votes move (stv); without it, as the place of --as says, else as in Scotland.",
        choices=TRANSFERS,
        group=_SEATS,
    ),
    *OFFICE,
    Option(
        "dice",
        "WORDS",
        "Draw from these public words, said aloud when all ballots are in, so that anybody can repeat it.",
        group=_RESULT,
    ),
    Option(
        "every_contest",
        None,
        "Count each contest of a file with several by the same rule; those that cannot be counted are told.",
        group=_RESULT,
    ),
    Option(
        "expect",
        "N",
        "How many ballots there must be, blank ones included, by another list; with more or fewer nothing is counted.",
        group=_RESULT,
    ),
    Option(
        "dry_run",
        None,
        "Say what was understood (contest, candidates, ballots, oddities); count nothing.",
        group=_RESULT,
    ),
    Option(
        "record",
        "PATH",
        "Write the signed result, to be counted again from the ballots (hubbub verify).",
        group=_RESULT,
    ),
    Option("ledger", "FILE", "Sign with the key of another ledger than your own.", group=_RESULT),
    Option("page", "PATH", "Write a page for everybody: result, rounds, pairs, draws, promise.", group=_RESULT),
    Option(
        "reports",
        "FOLDER",
        "Write rounds, and precincts where they are known, as CSV, as RCVis draws them, and in the common data format.",
        group=_RESULT,
    ),
    Option(
        "precinct",
        "COLUMN",
        "Count by precinct too, which this column names; precinct or batch for the records of a vendor.",
        group=_RESULT,
    ),
    Option(
        "cvr",
        "PATH",
        "Write each ballot for another tabulator, and not for publication: .csv as RCTab does, .json in the common data "
        "format.",
        group=_RESULT,
    ),
    Option("chart", "PATH", "Draw how ballots moved: .html, .png or .svg.", group=_RESULT),
)


_USUAL: Final = ("rule", "compare", "seats", "dice", "dry_run", "page", "record", "columns", "contest")
"""The options that help shows at once."""


class _ByHeading(InGroups):
    """A command whose help shows options under headings; what has none is about reading the file."""

    headings = (_RULE, _SEATS, HEADING, _RESULT, _FILE, ELSE)

    def heading(self, param: click.Parameter) -> str:
        group = super().heading(param)
        return group if group in self.headings and param.name != "place" else _FILE

    def advanced(self, param: click.Parameter) -> bool:
        return self.heading(param) != ELSE and param.name not in _USUAL


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
    cls=_ByHeading,
    short_help="Count the ballots of a file.",
    epilog=examples(
        "hubbub vote tally millbrook --rule instant-runoff --page result.html --record count.json",
        "hubbub vote tally millbrook",
        "hubbub vote tally millbrook --rule approximate-runoff --eta 1e-6 --json",
        "hubbub vote tally millbrook --compare",
        "hubbub vote tally millbrook --as oakland --dice three-white-swans",
        "hubbub vote tally millbrook --dry-run",
        "hubbub vote tally millbrook --elect majority --until two --batch",
    ),
)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@partial(options, declared=_TALLY)
@reading_options
@json_option
def tally(
    files: tuple[str, ...], config: str | None, as_json: bool, compare: bool, chart: str | None, **options: Any
) -> None:
    """Count the ballots of FILE, or of several files of one contest: PrefLib (.soc .soi .toc .toi .cat), .blt, .abif or .csv, packed or not, .xlsx, or
    the records of a vendor (a folder, .json, .xml, .zip). millbrook is an invented election.

    Ties are broken by a fresh draw from the operating system after the ballots are in, or from the public words of
    --dice, and every draw is recorded. The guarantee says how much a lie can gain at most (eta), and for how coarse a
    belief (alpha_min and above). Weights in a file are numbers of identical ballots. A ballot that ranks nobody who is
    left is exhausted and counts no further.
    """
    from hubbub.cli.vote import text as vote_text
    from hubbub.voting.chance import TiesByHand
    from hubbub.voting.count.comparison import compare as compare_rules
    from hubbub.voting.count.counted import count
    from hubbub.voting.manipulation.rule_choice import computed_gains
    from hubbub.voting.rctab.answer_rounds import answer_by_precinct
    from hubbub.voting.rules.pairwise import pairwise
    from hubbub.voting.rules.threshold import share

    if config is not None:
        tally_configured(config, files, options, as_json=as_json)
        return
    if options["every_contest"]:
        _tally_each(files, {"compare": compare, "chart": chart, **options}, as_json=as_json)
        return
    if not files:
        raise WrongUse("name the file with the ballots, or millbrook for an invented election, or add --config FILE")
    if chart is not None:
        from hubbub import charts

        charts.ready(chart)
    eta = share(options["eta"], "--eta")
    dice = _dice(options["dice"])
    asker = _asker(options, compare=compare)
    office = check_elect(options)
    if office:
        options["rule"] = "instant-runoff"
    with working("Reading"):
        _settle(options)
        read = read_ballots(files, options, options["rule"])
        check_expected(options, read.ballots.voters)
        seats = None if office else _seats(options, read)
    if options["dry_run"]:
        show_understood(understanding_of(read), as_json=as_json)
        return
    if office:
        tally_office(options, read, files, _source(dice), asker, as_json=as_json)
        return
    if compare and options["rule"] in RATED:
        raise WrongUse(f"--compare runs the rules for rankings, and {options['rule']} counts none; leave it out")
    if seats is not None:
        if compare:
            raise WrongUse("--compare runs the rules for one winner, and stv fills seats; leave one of them out")
        _tally_seats(seats, read, files, asker, as_json=as_json, chart=chart, options=options)
        return
    with counting(asker):
        rule = _rule(options, eta, read)
        dice_text = None if dice is None else dice.sentence
        answer = count(rule, read.ballots, eta, _source(dice) if asker is None else TiesByHand(asker), dice=dice_text)
        _check_used(asker)
        units = answer_by_precinct(answer.result, read)
        comparison = None
        if compare:
            ties = _ties(options["ties"], read.ballots.candidates)
            gains = computed_gains(read.ballots.voters, len(read.ballots.candidates))
            comparison = compare_rules(read.ballots, eta, lambda: _source(dice), ties, dice=dice_text, gains=gains)
    facts = answer.as_json(read) | {"understood": understanding_of(read).as_json()}
    _remark(facts, read, rule.name)
    facts |= write_record(options, answer.result, read, dice)
    facts |= write_answer_reports(options, answer.result, read, units) | write_cvr(options, read)
    if comparison is not None:
        facts["compare"] = comparison.as_json()
        facts["pairwise"] = None if comparison.pairs is None else comparison.pairs.as_json()
    pairs = None if comparison is None else comparison.pairs
    if rule.name in PAIRS and pairs is None:
        pairs = pairwise(read.ballots)
        facts["pairwise"] = None if pairs is None else pairs.as_json()
    if options["page"] is not None:
        from hubbub.report.results import results_page

        if pairs is None and not len(read.ballots.levels):
            pairs = pairwise(read.ballots)
        facts |= write_page(options["page"], results_page(answer, read, pairs, repeating(files, read, facts)))
    if chart is not None:
        vote_text.draw_flow(answer, read, chart)
        facts["chart"] = chart
    if as_json:
        print_json(facts)
        return
    print_text(understanding_of(read).summary())
    _print_remarks(facts)
    vote_text.print_count(answer, read, comparison)
    if comparison is None and rule.name in PAIRS and pairs is not None:
        vote_text.print_pairs(pairs)
    print_precincts(units)
    print_files(facts, files)


def _asker(options: dict[str, Any], *, compare: bool) -> Asker | None:
    """Who is asked about ties, if that was chosen."""
    by_hand = options["ties"] == "ask" or options["break_ties"] == "ask"
    if not by_hand:
        if options["tie"]:
            raise WrongUse("--tie answers a tie that is broken by hand; add --ties ask, or leave it out")
        return None
    if options["dice"] is not None or compare:
        other = "--compare" if compare else "--dice"
        raise WrongUse(f"ties are broken by hand or otherwise, and {other} was given too; leave one of them out")
    return Asker(options["tie"])


def _check_used(asker: Asker | None) -> None:
    if asker is not None:
        asker.check_used()


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

    if options["place"] is not None and not was_typed("rule"):
        options["rule"] = rule_set(options["place"]).rule
    if options["overvotes"] == "several" and options["rule"] != "instant-runoff":
        raise WrongUse(f"--overvotes several is settled while instant-runoff counts, and the rule is {options['rule']}")


def _seats(options: dict[str, Any], read: BallotFile) -> TransferableVote | None:
    """The rule for several seats, if that was asked for."""
    from hubbub.voting.rules.jurisdictions import rule_set
    from hubbub.voting.rules.stv import RULES as RULES_OF_TRANSFERS
    from hubbub.voting.rules.stv import TransferableVote

    if options["rule"] != STV:
        for option in ("seats", "transfers"):
            if options[option] is not None:
                raise WrongUse(
                    f"--{option} is about stv, and {options['rule']} elects one; leave it out, or add --rule stv"
                )
        return None
    for option in ("margin", "points", "then", "mix"):
        if options[option] is not None:
            raise WrongUse(f"--{option} is about rules for one winner, and stv fills seats; leave it out")
    if options["ties"] == "listed":
        raise WrongUse(
            "--ties listed is about rules for one winner; stv looks back at earlier stages and then draws a lot"
        )
    if options["seats"] is None and read.format not in ("blt", "blt-csv", "csv-dominion"):
        raise WrongUse("stv fills seats, and this kind of file does not say how many; add --seats N")
    place = None if options["place"] is None else rule_set(options["place"]).transfers
    rules = options["transfers"] or place or "scotland"
    seats = read.seats if options["seats"] is None else integer(options["seats"], "--seats", least=1)
    return TransferableVote(seats=seats, rules=RULES_OF_TRANSFERS[rules])


def _tally_each(files: tuple[str, ...], options: dict[str, Any], *, as_json: bool) -> None:
    """Count every contest of the files, one after the other.

    Guarantee: every contest that the files name is counted or told with the reason why not, and then the command fails.
    """
    from hubbub.voting.formats.csv_columns import SeveralContests

    for name in ("contest", "page", "record", "reports", "cvr", "chart", "tie", "expect"):
        if was_typed(name):
            raise WrongUse(f"--{name} is about one contest, and --every-contest counts all; leave one of them out")
    contests: tuple[str | None, ...] = (None,)
    try:
        read_ballots(files, options, options["rule"])
    except SeveralContests as several:
        contests = several.names
    answers, refused = dict[str, Any](), 0
    for contest in contests:
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out) if as_json else contextlib.nullcontext():
                if not as_json:
                    echo(f"\n== {display(contest or 'The one contest of the file')} ==")
                changed = {**options, "contest": contest, "every_contest": False, "config": None}
                click.get_current_context().invoke(tally, files=files, as_json=as_json, **changed)
            answers[contest or ""] = json.loads(out.getvalue()) if as_json else {}
        except WrongUse as error:
            refused += 1
            answers[contest or ""] = {"refused": str(error)}
            if not as_json:
                echo(f"Not counted: {display(str(error))}")
    if as_json:
        print_json({"contests": answers})
    if refused:
        raise WrongUse(f"{refused} of {len(contests)} contests are not counted; the reasons are above")


def _tally_seats(
    rule: TransferableVote,
    read: BallotFile,
    files: tuple[str, ...],
    asker: Asker | None,
    *,
    as_json: bool,
    chart: str | None,
    options: dict[str, Any],
) -> None:
    from hubbub.cli.vote import text as vote_text
    from hubbub.voting.chance import TiesByHand
    from hubbub.voting.count.by_hand import check_by_hand
    from hubbub.voting.count.counted import ballots_json, draws_json
    from hubbub.voting.rctab.answer_rounds import answer_by_precinct

    dice = _dice(options["dice"])
    dice_text = None if dice is None else dice.sentence
    with counting(asker):
        if asker is not None:
            check_by_hand(rule)
        result = rule.run(read.ballots, _source(dice) if asker is None else TiesByHand(asker))
        _check_used(asker)
        units = answer_by_precinct(result, read)
    answer = result.as_json()
    answer |= {
        "draws": draws_json(result.draws, secure=result.secure, dice=dice_text),
        "dice": dice_text,
        "ballots": ballots_json(read),
        "reading": {**read.reading.rules(), "changed": dict(read.changed)},
        "withdrawn": list(read.withdrawn),
        "understood": understanding_of(read).as_json(),
    }
    _remark(answer, read, None)
    answer |= write_record(options, result, read, dice)
    answer |= write_answer_reports(options, result, read, units) | write_cvr(options, read)
    if options["page"] is not None:
        from hubbub.report.results import seats_page

        answer |= write_page(options["page"], seats_page(result, read, repeating(files, read, answer)))
    if chart is not None:
        vote_text.draw_seats_flow(result, read, chart)
        answer["chart"] = chart
    if as_json:
        print_json(answer)
        return
    print_text(understanding_of(read).summary())
    _print_remarks(answer)
    vote_text.print_seats(result, read, answer)
    print_precincts(units)
    print_files(answer, files)


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
        truncated=read.ballots.truncated_voters > 0,
    )
    return rules.Mix(rule=rule, probability=q)


def _without_margin(options: dict[str, Any], read: BallotFile) -> Rule:
    """A rule of pairs, approvals or scores, of which ties are all that can be chosen."""
    from hubbub.voting.rules import rules

    name = options["rule"]
    for option in ("margin", "points", "then", "mix"):
        if options[option] is not None:
            raise WrongUse(f"--{option} is about other rules, and {name} has nothing of the kind; leave it out")
    top = read.top if name in ("score", "star") else None
    if top == 0:
        raise WrongUse(
            f"{name} adds up scores, and these ballots hold {read.marks}; choose a rule for those, like --rule borda"
        )
    return rules.make(name, ties=_ties(options["ties"], read.ballots.candidates), top=top)


def _ties(given: str, names: tuple[str, ...]) -> Ties:
    from hubbub.voting.ties import RANDOM, FixedTies

    return FixedTies(names) if given == "listed" else RANDOM


def _margin(text: str | None) -> Margin | None:
    from hubbub.voting.rules.threshold import margin

    return None if text is None else margin(text)


def _points(text: str | None) -> tuple[int, ...] | None:
    return None if text is None else tuple(integer(part, "a number of --points") for part in text.split(","))


vote.add_command(choose)
vote.add_command(guarantee)
vote.add_command(gain)
vote.add_command(worst_gain)
vote.add_command(gain_map)
vote.add_command(generate)
vote.add_command(publish)
vote.add_command(audit)
