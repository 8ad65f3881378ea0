"""A count of ballots for a page: counted once, signed, and written beside its page for everybody."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from hubbub.certificate.certificate import SIGNATURE, sign
from hubbub.errors import WrongUse, writing
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import PublicDice, Source, SystemSource
from hubbub.numeric.exact import integer
from hubbub.publication.staging import prepared
from hubbub.report.results import Repeating, office_page, results_page, seats_page
from hubbub.serialization.canonical import read as read_canonical
from hubbub.studio.ballots import opened
from hubbub.studio.folder import RECORD, RESULTS
from hubbub.voting.count.counted import count
from hubbub.voting.count.record import ballots_digest, record_of
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.rctab.count import count_configured
from hubbub.voting.rctab.exports import counts_by_unit, exports
from hubbub.voting.rctab.record import OfficeFile, configured_record, office_digest
from hubbub.voting.rules import rules
from hubbub.voting.rules.continuing import RunoffByContinuing
from hubbub.voting.rules.jurisdictions import RULE_SETS
from hubbub.voting.rules.pairwise import pairwise
from hubbub.voting.rules.points import Approval
from hubbub.voting.rules.stv import RULES as TRANSFERS
from hubbub.voting.rules.stv import TransferableVote
from hubbub.voting.rules.threshold import share
from hubbub.voting.ties import RANDOM

STV: Final = "stv"
_ROOM: Final = 1 << 20  # bytes that a count and its pages take, about
POINTED: Final = ("positional", "scoring-elimination")  # which take points for each place
RATED_BY_POINTS: Final = ("score", "star")
SAYS_SEATS: Final = ("blt", "blt-csv", "csv-dominion", "invented")  # files that say how many seats there are
CONFIGURED: Final = "As the configuration says"
GROUPS: Final = {
    "One winner, so that a lie hardly pays": {
        "repeated-plurality": "Repeated plurality: strike out whoever is far behind, again and again",
        "approximate-runoff": "Approximate runoff: instant runoff with a margin",
        "scoring-elimination": "Elimination by points: strike out whoever is far behind in points",
    },
    "One winner, as many count": {
        "instant-runoff": "Instant runoff (ranked choice)",
        "plurality": "Plurality: most first choices",
        "borda": "Borda: points by place",
        "positional": "Points by place, as you say below",
    },
    "One winner, each pair compared (Condorcet)": {
        "schulze": "Schulze: the strongest chain of wins",
        "ranked-pairs": "Ranked pairs: the clearest wins first",
        "minimax": "Minimax: the smallest worst defeat",
        "copeland": "Copeland: most pairs won",
        "kemeny": "Kemeny: the order that agrees with most voters",
        "black": "Black: whoever beats all others, else Borda",
        "nanson": "Nanson: strike out all below the average of points",
        "baldwin": "Baldwin: strike out the fewest points, one at a time",
    },
    "One winner, marks that are no ranks": {
        Approval.name: "Approval: whom the most voters approve of",
        "score": "Score: the most points that voters gave",
        "star": "STAR: the two with the most points, then a runoff",
    },
    "Several seats": {STV: "Single transferable vote"},
    "By lot": {
        "random-dictator": "Random dictator: a drawn ballot decides",
        "punishing": "Punishing rule: a place on a drawn ballot, the better the likelier",
    },
}
"""The rules that the form offers, under headings, each with a plain name."""

RULES: Final = {name: words for listed in GROUPS.values() for name, words in listed.items()}
AS: Final = "as:"  # how a rule begins that is that of a place
PLACES: Final = {
    "minneapolis": "as in Minneapolis",
    "maine": "as in Maine",
    "oakland": "as in Oakland (Alameda County)",
    "scotland": "as in Scottish councils",
    "albany": "as in Albany, California",
    "ers97": "as the Electoral Reform Society says (ERS97)",
    "ireland": "as in Ireland",
    "malta": "as in Malta",
    "northern-ireland": "as in councils of Northern Ireland",
    "australia-senate": "as for the Australian Senate",
    "act": "as in the Australian Capital Territory",
    "tasmania": "as in Tasmania",
    "cambridge": "as in Cambridge, Massachusetts",
}
"""Places and societies whose rules are known, in plain words."""

WAYS: Final = {
    "wigm": "as fractions of all votes of a pile (weighted inclusive Gregory)",
    "meek": "by Meek's rule, all votes at once",
    "warren": "by Warren's rule, at equal prices",
    **PLACES,
}
"""How votes move where seats are filled, in plain words."""


def in_plain_words(name: str) -> str:
    """A place, or a way in which votes move."""
    return WAYS.get(name, f"as in {name.replace('-', ' ').capitalize()}")


def settled_rule(request: Mapping[str, str]) -> dict[str, str]:
    """The form with the rule of a place where one was chosen, which is also how marks are read."""
    chosen = dict(request)
    if chosen["rule"].startswith(AS):
        place = chosen["rule"].removeprefix(AS)
        if place not in RULE_SETS:
            raise WrongUse("choose a rule, or a place, of those listed")
        chosen |= {"as": place, "rule": RULE_SETS[place].rule}
    known = chosen["rule"] in RULES and chosen["transfers"] in ("", *TRANSFERS)
    if not known or (chosen["as"] and chosen["as"] not in RULE_SETS):
        raise WrongUse("choose a rule, and a place, of those listed")
    return chosen


def rule_of(request: Mapping[str, str], read: BallotFile) -> rules.Rule | TransferableVote:
    """The rule that was chosen, for these ballots; refused before anything is counted if it lacks something."""
    name, place = request["rule"], request["as"]
    if name == STV:
        if not request["seats"] and read.format not in SAYS_SEATS:
            raise WrongUse("this kind of file does not say how many seats there are; say it in the form")
        seats = integer(request["seats"], "the number of seats", least=1) if request["seats"] else read.seats
        usual = (RULE_SETS[place].transfers if place else None) or "scotland"
        return TransferableVote(seats=seats, rules=TRANSFERS[request["transfers"] or usual])
    eta = share(request["eta"], "eta")
    rule = rules.make(
        name,
        margin=rules.ForGain(eta) if name in rules.MARGINED else None,
        ties=RANDOM,
        points=_points(request["points"]) if name in POINTED and request["points"] else None,
        top=read.top if name in RATED_BY_POINTS else None,
    )
    if read.reading.overvotes == "several" and isinstance(rule, rules.InstantRunoff):
        return RunoffByContinuing(ties=rule.ties)
    return rule


def _points(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise WrongUse("points are whole numbers with commas between them, one for each place, like 3,2,1,0") from None


def rule_in_words(request: Mapping[str, str]) -> str:
    """The rule that was chosen, as the page names it."""
    words = RULES[request["rule"]]
    if request["rule"] == STV:
        usual = (RULE_SETS[request["as"]].transfers if request["as"] else None) or "scotland"
        words = f"{words}, {in_plain_words(request['transfers'] or usual)}"
    return words if not request["as"] else f"{words}; marks are read {in_plain_words(request['as'])}"


@contextmanager
def held_for_a_count(folder: Path) -> Iterator[None]:
    """Hold a folder that has no count and no release, from before anything is drawn until the count is written.

    Guarantee: of two counts into one folder, however close, one is written, and the other is refused before it draws.
    """
    with prepared(folder, _ROOM):
        if (folder / RECORD).exists():
            raise WrongUse("there is a count in this folder already, and what was drawn stays; choose another folder")
        yield


def write(request: Mapping[str, str], path: str, folder: Path, ledger: Ledger) -> None:
    """Count, and write the signed result and its page into a folder that has none."""
    with held_for_a_count(folder):
        _write(request, path, folder, ledger)


def _write(request: Mapping[str, str], path: str, folder: Path, ledger: Ledger) -> None:
    request = settled_rule(request)
    name = request["rule"]
    dice = PublicDice(request["dice"]) if request["dice"] else None
    read, _ = opened(path, request["as"] or None, name, request["contest"] or None, request["columns"] or None)
    rule = rule_of(request, read)
    source: Source = SystemSource() if dice is None else dice
    dice_text = None if dice is None else dice.sentence
    if isinstance(rule, TransferableVote):
        result: Any = rule.run(read.ballots, source)
    else:
        answer = count(rule, read.ballots, share(request["eta"], "eta"), source, dice=dice_text)
        result = answer.result
    signed = sign(record_of(result, read, dice).to_sign(), ledger)
    key = str(read_canonical(signed, "the record")[SIGNATURE]["public_key"])
    lines = (command(request), shlex.join(["hubbub", "verify", RECORD, "--ballots", request["file"]]))
    repeating = Repeating(digest=ballots_digest(read.ballots), commands=lines, key=key, dice=dice_text)
    if name == STV:
        text = seats_page(result, read, repeating)
    else:
        text = results_page(answer, read, None if len(read.ballots.levels) else pairwise(read.ballots), repeating)
    with writing("the result", "folder"):
        (folder / RESULTS).write_text(text, encoding="utf-8")
        (folder / RECORD).write_bytes(signed)


def write_office(office: OfficeFile, file: str, folder: Path, ledger: Ledger) -> None:
    """Count by a configuration; write the signed result, its page and all reports into a folder that has none."""
    with held_for_a_count(folder):
        _write_office(office, file, folder, ledger)


def _write_office(office: OfficeFile, file: str, folder: Path, ledger: Ledger) -> None:
    counted = count_configured(office.configuration, office.ballots)
    units = counts_by_unit(office, counted)
    signed = sign(configured_record(counted, office).to_sign(), ledger)
    key = str(read_canonical(signed, "the record")[SIGNATURE]["public_key"])
    lines = (
        shlex.join(["hubbub", "vote", "tally", "--config", file, "--record", RECORD]),
        shlex.join(["hubbub", "verify", RECORD, "--ballots", file]),
    )
    repeating = Repeating(digest=office_digest(office.ballots), commands=lines, key=key)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    texts = exports(office, counted, units, now)
    texts[RESULTS] = office_page(office.configuration, counted, units, repeating)
    with writing("the result", "folder"):
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / RECORD).write_bytes(signed)


def command(request: Mapping[str, str]) -> str:
    """The same count as it is typed in the folder."""
    arguments = ["hubbub", "vote", "tally", request["file"], "--rule", request["rule"]]
    seats = ("seats", "transfers") if request["rule"] == STV else ("points",) if request["rule"] in POINTED else ()
    usual = {"eta": "1e-12"}
    for name in ("eta", "as", "dice", "contest", "columns", *seats):
        if request.get(name, "") not in ("", usual.get(name)):
            arguments += [f"--{name}", request[name]]
    return shlex.join([*arguments, "--record", RECORD, "--page", RESULTS])
