"""A count of ballots for a page: counted once, signed, and written beside its page for everybody."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hubbub.certificate.certificate import SIGNATURE, sign
from hubbub.errors import WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import PublicDice, Source, SystemSource
from hubbub.numeric.exact import integer
from hubbub.publication.staging import check_free
from hubbub.report.results import Repeating, results_page, seats_page
from hubbub.serialization.canonical import read as read_canonical
from hubbub.studio.ballots import opened
from hubbub.studio.folder import RECORD, RESULTS
from hubbub.voting.count.counted import count
from hubbub.voting.count.record import ballots_digest, record_of
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.rules import rules
from hubbub.voting.rules.approval import Approval
from hubbub.voting.rules.continuing import RunoffByContinuing
from hubbub.voting.rules.jurisdictions import RULE_SETS
from hubbub.voting.rules.pairwise import pairwise
from hubbub.voting.rules.stv import RULES as TRANSFERS
from hubbub.voting.rules.stv import TransferableVote
from hubbub.voting.rules.threshold import share

STV: Final = "stv"
RULES: Final = {
    "repeated-plurality": "Repeated plurality: strike out whoever is far behind, vote again",
    "approximate-runoff": "Approximate runoff: instant runoff with a margin, so that a lie hardly pays",
    "instant-runoff": "Instant runoff (ranked choice)",
    "plurality": "Plurality: most first choices",
    "borda": "Borda: points by place",
    "random-dictator": "Random dictator: a drawn ballot decides",
    Approval.name: "Approval: whom the most voters approve of",
    STV: "Single transferable vote, for several seats",
}
"""The rules that the form offers; the command line has more."""


def write(request: Mapping[str, str], path: str, folder: Path, ledger: Ledger) -> None:
    """Count, and write the signed result and its page into a folder that has none."""
    if (folder / RECORD).exists():
        raise WrongUse("there is a count in this folder already, and what was drawn stays; choose another folder")
    check_free(folder)
    name = request["rule"]
    rules = request["as"] or None
    if name not in RULES or (rules is not None and rules not in RULE_SETS):
        raise WrongUse("choose a rule, and a place, of those listed")
    eta = share(request["eta"], "eta")
    dice = PublicDice(request["dice"]) if request["dice"] else None
    read, _ = opened(path, rules, name)
    source: Source = SystemSource() if dice is None else dice
    dice_text = None if dice is None else dice.sentence
    if name == STV:
        result: Any = _seats(request, read, rules).run(read.ballots, source)
    else:
        answer = count(_rule(name, eta, read), read.ballots, eta, source, dice=dice_text)
        result = answer.result
    signed = sign(record_of(result, read, dice).to_sign(), ledger)
    key = str(read_canonical(signed, "the record")[SIGNATURE]["public_key"])
    lines = (command(request), shlex.join(["hubbub", "verify", RECORD, "--ballots", request["file"]]))
    repeating = Repeating(digest=ballots_digest(read.ballots), commands=lines, key=key, dice=dice_text)
    if name == STV:
        text = seats_page(result, read, repeating)
    else:
        text = results_page(answer, read, None if len(read.ballots.levels) else pairwise(read.ballots), repeating)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RESULTS).write_text(text, encoding="utf-8")
        (folder / RECORD).write_bytes(signed)
    except OSError as error:
        raise WrongUse(f"the result cannot be written: {error.strerror or error}; choose another folder") from error


def command(request: Mapping[str, str]) -> str:
    """The same count as it is typed in the folder."""
    arguments = ["hubbub", "vote", "tally", request["file"], "--rule", request["rule"]]
    for flag, name, usual in (("--eta", "eta", "1e-12"), ("--as", "as", ""), ("--dice", "dice", "")):
        if request[name] != usual:
            arguments += [flag, request[name]]
    if request["rule"] == STV and request["seats"]:
        arguments += ["--seats", request["seats"]]
    return shlex.join([*arguments, "--record", RECORD, "--page", RESULTS])


def _seats(request: Mapping[str, str], read: BallotFile, rules: str | None) -> TransferableVote:
    seats = integer(request["seats"], "the number of seats", least=1) if request["seats"] else read.seats
    transfers = "scotland" if rules is None else RULE_SETS[rules].transfers or "scotland"
    return TransferableVote(seats=seats, rules=TRANSFERS[transfers])


def _rule(name: str, eta: Any, read: BallotFile) -> rules.Rule:
    from hubbub.voting.ties import RANDOM

    if name == Approval.name:
        return Approval(ties=RANDOM)
    margin = rules.ForGain(eta) if name in rules.MARGINED else None
    rule = rules.make(name, margin=margin, ties=RANDOM)
    if read.reading.overvotes == "several" and isinstance(rule, rules.InstantRunoff):
        return RunoffByContinuing(ties=rule.ties)
    return rule
