"""``hubbub vote``: elections in which telling the truth is the best move."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import Command, Commands, examples, json_option, print_json, say, waiting
from hubbub.cli.vote_gain import gain
from hubbub.cli.vote_guarantee import guarantee
from hubbub.cli.vote_map import gain_map
from hubbub.errors import WrongUse

if TYPE_CHECKING:
    from hubbub.voting.ballot_file import BallotFile
    from hubbub.voting.reading import Reading
    from hubbub.voting.rules import Margin, Rule
    from hubbub.voting.ties import Ties

RULES: Final = (
    "repeated-plurality",
    "approximate-runoff",
    "scoring-elimination",
    "instant-runoff",
    "plurality",
    "borda",
    "positional",
    "random-dictator",
    "punishing",
)

READING: Final[tuple[tuple[str, tuple[str, ...], str], ...]] = (
    (
        "overvotes",
        ("stop", "skip", "refuse"),
        "A rank of several candidates ends the ballot, is ignored, or refused.",
    ),
    ("skips", ("skip", "stop", "stop-at-two"), "An empty rank is closed up, ends the ballot, or two in a row do."),
    ("repeats", ("first", "stop", "refuse"), "A candidate again: ignored, the end, or refused (default by format)."),
    ("truncation", ("keep", "refuse"), "Short ballots count while they rank somebody who is in, or are refused."),
    ("write-ins", ("candidate", "skip"), "Write-ins are one candidate together, or empty ranks."),
)
"""The rules by which marks become rankings: name, choices (the first is the default), help."""

LABELS: Final = ("undervote", "skip", "overvote", "write-in")


@click.group(
    "vote",
    cls=Commands,
    epilog=examples(
        "hubbub vote tally millbrook",
        "hubbub vote guarantee --voters 10000 --candidates 3",
        "hubbub vote gain --belief abc:1/2,bac:1/2 --truth cab --voters 1001 --rule plurality",
        "hubbub vote map --rules plurality,borda --voters 101 --steps 6",
    ),
)
def vote() -> None:
    """Elections: count them so that a lie hardly pays, and say how little."""


def reading_options(command: Command) -> Command:
    """How a file of ballots is read."""
    for label in reversed(LABELS):
        text = f"A cell that means {label}; may be repeated. Left out: the usual words."
        command = click.option(f"--{label}-label", multiple=True, metavar="TEXT", help=text)(command)
    for name, choices, text in reversed(READING):
        default = None if name == "repeats" else choices[0]
        command = click.option(
            f"--{name}", type=click.Choice(choices), default=default, show_default=default is not None, help=text
        )(command)
    for flag, takes, text in (
        (
            "--candidates",
            "FILE",
            "A text file with a candidate on each line (CSV); without it, everybody marked.",
        ),
        ("--columns", "SPEC", "Columns of a CSV file, like ballot=ID,rank=Rank,candidate=Name,count=N or ranks=a/b/c."),
        ("--format", "NAME", "soc, soi, toc, toi, blt or csv; without it, the ending of the file says."),
    ):
        command = click.option(flag, metavar=takes, help=text)(command)
    return command


@vote.command(
    "tally",
    short_help="Count the ballots of a file.",
    epilog=examples(
        "hubbub vote tally millbrook",
        "hubbub vote tally millbrook --rule approximate-runoff --eta 1e-6 --json",
        "hubbub vote tally millbrook --compare",
    ),
)
@click.argument("file")
@click.option("--rule", type=click.Choice(RULES), default=RULES[0], show_default=True, help="The voting rule.")
@click.option("--eta", metavar="E", default="1e-12", show_default=True, help="The gain that a lie may have, at most.")
@click.option("--margin", metavar="B", help="A number, or n^0.75; without it, the margin that --eta needs.")
@click.option(
    "--ties",
    type=click.Choice(["random", "listed"]),
    default="random",
    show_default=True,
    help="By a fresh draw, or by the order of the file, for which nothing is promised.",
)
@click.option("--points", metavar="P1,P2,..", help="Points for each place (positional, scoring-elimination).")
@click.option(
    "--then",
    type=click.Choice(["lot", "random-dictator", "listed"]),
    help="Who of those left wins (scoring-elimination); without it plurality if two are left, else a lot.",
)
@click.option(
    "--mix", metavar="A", help="Mix with the punishing rule, so that no lie pays at all for utilities A apart."
)
@click.option("--compare", is_flag=True, help="Run all rules side by side, each with the margin that --eta needs.")
@click.option("--chart", metavar="PATH", help="Draw how ballots moved: .html, .png or .svg.")
@reading_options
@json_option
def tally(file: str, as_json: bool, compare: bool, chart: str | None, **words: Any) -> None:
    """Count the ballots of FILE: PrefLib (.soc .soi .toc .toi), .blt or .csv. millbrook is an invented election.

    Ties are broken by a fresh draw from the operating system after the ballots are in, and every draw is recorded. The
    guarantee says how much a lie can gain at most (eta), and for how coarse a belief (alpha_min and above). Weights in
    a file are numbers of identical ballots. A ballot that ranks nobody who is left is exhausted and counts no further.
    """
    from hubbub.cli import vote_words
    from hubbub.noise.source import SystemSource
    from hubbub.voting.comparison import compare as compare_rules
    from hubbub.voting.counted import count
    from hubbub.voting.threshold import share

    if chart is not None:
        from hubbub import charts

        charts.ready(chart)
    eta = share(words["eta"], "--eta")
    with waiting("Reading"):
        read = _read(file, words)
        rule = _rule(words, eta, read)
    with waiting("Counting"):
        answer = count(rule, read.ballots, eta, SystemSource())
        comparison = None
        if compare:
            ties = _ties(words["ties"], read.ballots.candidates)
            comparison = compare_rules(read.ballots, eta, SystemSource, ties)
    if chart is not None:
        vote_words.draw_flow(answer, read, chart)
    if as_json:
        told = answer.as_json(read)
        if comparison is not None:
            told["compare"] = comparison.as_json()
            told["pairwise"] = None if comparison.pairs is None else comparison.pairs.as_json()
        print_json(told if chart is None else {**told, "chart": chart})
        return
    vote_words.tell(answer, read, comparison)
    if chart is not None:
        say(f"Chart: {chart}")


def _read(file: str, words: dict[str, Any]) -> BallotFile:
    from hubbub.demo import council
    from hubbub.voting import formats
    from hubbub.voting.ballot_file import BallotFile, text_of

    reading = _reading(words)
    if file == council.NAME:
        return BallotFile(ballots=council.ballots(), format="invented", title=council.TITLE, reading=reading)
    listed = None
    if words["candidates"]:
        listed = [line.strip() for line in text_of(words["candidates"]).splitlines() if line.strip()]
    columns: dict[str, str] = {}
    for part in (words["columns"] or "").split(",") if words["columns"] else []:
        what, separator, name = part.partition("=")
        if not separator or what.strip() not in ("ballot", "rank", "candidate", "count", "ranking", "ranks"):
            raise WrongUse(
                "--columns says which column is which, like ballot=ID,rank=Rank,candidate=Name,count=N or ranks=a/b/c"
            )
        columns[what.strip()] = name.strip()
    opened = formats.read(file, reading, format=words["format"], columns=columns or None, candidates=listed)
    return formats.strict(opened)


def _reading(words: dict[str, Any]) -> Reading:
    from hubbub.voting.reading import Reading

    given: dict[str, Any] = {name.replace("-", "_"): words[name.replace("-", "_")] for name, _, _ in READING}
    for label in LABELS:
        name = f"{label.replace('-', '_')}_label"
        if words[name]:
            given[f"{name}s"] = tuple(words[name])
    return Reading(**given)


def _rule(words: dict[str, Any], eta: Fraction, read: BallotFile) -> Rule:
    from hubbub.voting import rules

    names = read.ballots.candidates
    name, margin = words["rule"], _margin(words["margin"])
    if margin is None and name in rules.MARGINED:
        margin = rules.ForGain(eta)
    then: dict[str | None, Rule | None] = {
        None: None,
        "lot": rules.Lot(),
        "random-dictator": rules.RandomDictator(),
        "listed": rules.FirstInOrder(order=names),
    }
    if words["then"] and name != "scoring-elimination":
        raise WrongUse(f"--then is about scoring-elimination, and {name} ends by itself")
    if words["ties"] != "random" and name in ("scoring-elimination", "random-dictator", "punishing"):
        raise WrongUse(f"--ties is about equal counts at the end, and {name} ends otherwise; leave it out")
    rule = rules.make(
        name,
        margin=margin,
        ties=_ties(words["ties"], names),
        points=_points(words["points"]),
        then=then[words["then"]],
    )
    if words["mix"] is None:
        return rule
    if name not in rules.MARGINED:
        raise WrongUse(
            f"--mix needs a bound on what a lie gains, which {name} has not; {', '.join(rules.MARGINED)} have"
        )
    q = rules.mix_probability(
        gain=eta,
        voters=read.ballots.voters,
        candidates=len(names),
        utility_coarseness=words["mix"],
        truncated=read.ballots.truncated > 0,
    )
    return rules.Mix(rule=rule, probability=q)


def _ties(asked: str, names: tuple[str, ...]) -> Ties:
    from hubbub.voting.ties import RANDOM, FixedTies

    return RANDOM if asked == "random" else FixedTies(names)


def _margin(text: str | None) -> Margin | None:
    from hubbub.voting.threshold import margin

    return None if text is None else margin(text)


def _points(text: str | None) -> tuple[int, ...] | None:
    from hubbub.exact import whole

    return None if text is None else tuple(whole(part, "a number of --points") for part in text.split(","))


vote.add_command(guarantee)
vote.add_command(gain)
vote.add_command(gain_map)
