"""The record of a count: which ballots, which rules, every round, every draw. Anybody with the ballots counts it again.

::

    {"wire": "tally/1", "ballots": {"digest", "candidates", "voters"}, "rule": {...}, "reading": {...},
     "file": {...}, "dice": "the public words" or null, "draws": [...], "rounds": [...], "winners": [...]}

Equal counts give equal canonical bytes (:mod:`hubbub.serialization.canonical`) on every machine: names, whole numbers
and exact texts are all that is in it. A signed result is what :meth:`CountRecord.to_sign` gives with a signature such
as a certificate has (:mod:`hubbub.certificate.certificate`), under a format of its own, so that neither can pass for
the other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

import hubbub
from hubbub.errors import CheckFailed, HubbubError, WrongUse
from hubbub.noise.source import PublicDice, ReplaySource, Source
from hubbub.noise.source import Record as Recording
from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import canonical
from hubbub.voting.ballots import MOST_VOTERS, Ballots, merged_rows
from hubbub.voting.chance import TiesByHand
from hubbub.voting.count.by_hand import RecordedAnswers, check_by_hand
from hubbub.voting.formats.ballot_file import RANKS, BallotFile
from hubbub.voting.formats.formats import for_rule
from hubbub.voting.formats.reading import Reading
from hubbub.voting.formats.several import read_all
from hubbub.voting.protocol import Rule
from hubbub.voting.result import Draw, Result
from hubbub.voting.row_keys import row_keys
from hubbub.voting.rules.rule_json import rule_as_json, rule_from_json
from hubbub.voting.rules.stv import TransferableVote
from hubbub.voting.rules.stv_result import Seats

WIRE: Final = "tally/1"
FORMAT: Final = "hubbub count 1"

Answer = Result | Seats


def ballots_digest(ballots: Ballots) -> str:
    """SHA-256 of the ballots, blank ones included, in whatever order they came, in hexadecimal.

    Of the bytes: ``hubbub ballots 1``, a newline, the candidates as a JSON array of ASCII text, a newline; then the
    different strict rankings in rising order, each as one big-endian 16-bit number for each candidate (the numbers of
    candidates, best first, -1 after the last), then their weights as big-endian 64-bit numbers; then the same for the
    ballots with equal candidates (the level of each candidate, from 0, -1 for unranked). Before each of the two tables
    stands its number of rows as a big-endian 64-bit number. Ballots of weight 0 are left out.
    """
    digest = hashlib.sha256(b"hubbub ballots 1\n" + json.dumps(list(ballots.candidates)).encode("ascii") + b"\n")
    for rows, weights in ((ballots.rankings, ballots.weights), (ballots.levels, ballots.tied_weights)):
        rows, weights = merged_rows(rows, weights)
        rows, weights = rows[weights > 0], weights[weights > 0]
        order = np.argsort(row_keys(rows), kind="stable")
        digest.update(len(rows).to_bytes(8, "big"))
        digest.update(rows[order].astype(">i2").tobytes())
        digest.update(weights[order].astype(">i8").tobytes())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRecord:
    """A count with all that is needed to repeat it but the ballots, of which it holds the digest."""

    answer: Answer
    ballots: str  # their digest
    reading: Reading
    reading_options: Mapping[str, Any]  # what the reader of the file was told beside the rules
    dice: str | None = None  # the public sentence, None where the operating system's entropy was used

    def as_json(self) -> dict[str, Any]:
        """The wire form. It holds no float."""
        answer = self.answer
        winners = list(answer.winner_names) if isinstance(answer, Seats) else [answer.winner_name]
        return {
            "wire": WIRE,
            "ballots": {
                "digest": self.ballots,
                "candidates": list(answer.candidates),
                "voters": answer.voters,
            },
            "rule": rule_as_json(answer.rule),
            "reading": self.reading.as_json(),
            "file": dict(self.reading_options),
            "dice": self.dice,
            "draws": [draw_as_json(draw) for draw in answer.draws],
            "rounds": answer.as_json()["stages"] if isinstance(answer, Seats) else _rounds(answer),
            "winners": winners,
        }

    def canonical(self) -> bytes:
        """Equal counts, equal bytes."""
        return canonical(self.as_json())

    def to_sign(self) -> dict[str, Any]:
        """A result, but for its signature."""
        return {"format": FORMAT, "software": f"hubbub {hubbub.__version__}", "count": self.as_json()}


def draw_as_json(draw: Draw) -> dict[str, Any]:
    """A draw: what was drawn is `number`, one of 0 to `of` - 1, as text since it may be long. Of a tie that somebody broke it
    is said that it was by hand."""
    by_hand = {"by_hand": True} if draw.by_hand else {}
    return by_hand | {
        "why": draw.why,
        "among": list(draw.among),
        "chances": [to_text(chance) for chance in draw.chances],
        "chosen": draw.chosen,
        "number": str(draw.number),
        "of": str(draw.of),
    }


def _rounds(result: Result) -> list[dict[str, Any]]:
    names = result.candidates
    return [
        {
            "counted": counted.what,
            "counts": {names[i]: count for i, count in counted.counts},
            "eliminated": [names[i] for i in counted.eliminated],
            "exhausted": counted.exhausted,
            "margin": counted.margin,
            "transfers": [
                {
                    "from": names[move.origin],
                    "to": None if move.target is None else names[move.target],
                    "ballots": move.ballots,
                }
                for move in counted.transfers
            ],
        }
        for counted in result.rounds
    ]


def record_of(answer: Answer, file: BallotFile, dice: PublicDice | None = None) -> CountRecord:
    """The record of a count that was just made of the ballots of a file."""
    return CountRecord(
        answer=answer,
        ballots=ballots_digest(file.ballots),
        reading=file.reading,
        reading_options=file.options,
        dice=None if dice is None else dice.sentence,
    )


def read_again(record: Mapping[str, Any], path: str | Path | Sequence[str | Path]) -> BallotFile:
    """The ballots of a file, or of several, read as the record says that they were."""
    reading = record.get("file") or {}
    file = read_all(
        path,
        Reading.from_json(record.get("reading") or {}),
        format=reading.get("format"),
        columns=reading.get("columns"),
        candidates=reading.get("candidates"),
        contest=reading.get("contest"),
        encoding=reading.get("encoding"),
    )
    return for_rule(file, str((record.get("rule") or {}).get("name")))


def count_again(record: Mapping[str, Any], file: BallotFile) -> CountRecord:
    """The same count, made anew from the ballots: by the record's rule, with the draws of its public words, or, where
    the operating system drew, with the numbers that it recorded.

    Guarantee: returns only if every byte of the new record is that of the old; else `CheckFailed` says what differs.
    Draws from public words are worked out anew. Recorded draws are taken as they are: that they were drawn fairly
    is the word of whoever signed. Readers leave out rows of empty cells, so a file may have other blank ballots than the
    record, and no other difference: then as many are counted as the record has, and without them every round must
    have the same numbers and the same candidates must win.
    """
    if record.get("wire") != WIRE:
        raise CheckFailed(f"the record of the count is not of the kind {WIRE}; a newer version may read it")
    rule = rule_from_json(record.get("rule") or {})
    ballots = _as_recorded(file, record.get("ballots") or {})
    answer, source, answers = _count(record, rule, ballots)
    again = CountRecord(
        answer=answer,
        ballots=ballots_digest(ballots),
        reading=file.reading,
        reading_options=file.options,
        dice=source.sentence if isinstance(source, PublicDice) else None,
    )
    new = again.as_json()
    for part in ("winners", "draws", "rounds", "reading", "file", "rule", "dice", "ballots"):
        if new[part] != record.get(part):
            raise CheckFailed(f"the count was made again and its {part} differ from those of the record")
    if set(new) != set(record):
        raise CheckFailed("the record of the count has fields that a count does not have; was it changed?")
    played = answers if answers is not None else source
    if isinstance(played, ReplaySource | RecordedAnswers) and not played.is_used_up:
        raise CheckFailed("the record of the count has draws that the count does not make; was it changed?")
    if ballots is not file.ballots:
        _check_without(again, record, rule, file)
    return again


def _as_recorded(file: BallotFile, stated: Mapping[str, Any]) -> Ballots:
    """The ballots, with as many blank ones as the record has, if there is no other difference."""
    given, digest, voters = file.ballots, stated.get("digest"), stated.get("voters")
    if ballots_digest(given) == digest:
        return given
    if not isinstance(voters, int) or voters == given.voters:
        raise CheckFailed(
            "the ballots are not those of the record: their digests differ; read the same file the same way"
        )
    blank = given.blank + voters - given.voters
    if 0 <= blank <= MOST_VOTERS:
        ballots = given.with_blank(blank, levels=file.marks != RANKS)
        if ballots_digest(ballots) == digest:
            return ballots
    raise CheckFailed(
        f"the ballots are not those of the record: it has {voters:,} ballots and the file {given.voters:,}, where rows of "
        "empty cells are left out, and their digests differ not by blank ballots alone; read the same file the same way"
    )


def _count(
    record: Mapping[str, Any], rule: Rule | TransferableVote, ballots: Ballots
) -> tuple[Answer, Source, RecordedAnswers | None]:
    """The count with the draws or answers of the record, and where these came from."""
    dice, answers = record.get("dice"), _answers(record, rule)
    source: Source = PublicDice(str(dice)) if dice is not None else _recorded_rule(record)
    if answers is not None:
        source = TiesByHand(answers)
    return rule.run(ballots, source), source, answers


def _check_without(
    again: CountRecord, record: Mapping[str, Any], rule: Rule | TransferableVote, file: BallotFile
) -> None:
    """Refuse a count whose numbers or winners would be others with the blank ballots of the file."""
    try:
        answer = _count(record, rule, file.ballots)[0]
        same = _numbers(replace(again, answer=answer)) == _numbers(again)
    except (HubbubError, ArithmeticError, ValueError):  # its draws are others
        same = False
    if not same:
        raise CheckFailed(
            f"the record has {again.answer.voters:,} ballots and the file {file.ballots.voters:,}, which differ in blank "
            "ones alone, as rows of empty cells are left out; by this rule the count depends on them, so give the file "
            "that was counted"
        )


def _numbers(record: CountRecord) -> tuple[Any, ...]:
    """Winners and rounds, without what counts blank ballots or is measured by them."""
    known = record.as_json()
    rounds = [{k: v for k, v in each.items() if k not in ("exhausted", "margin")} for each in known["rounds"]]
    return known["winners"], rounds


def _answers(record: Mapping[str, Any], rule: Rule | TransferableVote) -> RecordedAnswers | None:
    """What somebody answered in the count, None where ties were drawn."""
    draws = record.get("draws") or []
    if not any(isinstance(draw, Mapping) and draw.get("by_hand") for draw in draws):
        return None
    try:
        check_by_hand(rule)
        return RecordedAnswers([str(draw["chosen"]) for draw in draws])
    except (WrongUse, KeyError, TypeError) as error:
        raise CheckFailed("the record has answers to ties that its rule does not ask for; was it changed?") from error


def _recorded_rule(record: Mapping[str, Any]) -> ReplaySource:
    """The words that make :func:`hubbub.voting.chance.below` draw the recorded numbers."""
    requests = []
    try:
        for draw in record.get("draws") or []:
            number, of = int(draw["number"]), int(draw["of"])
            bits = (of - 1).bit_length()
            words = -(-bits // 64)
            if not 0 <= number < of:
                raise ValueError
            padded = (number << (64 * words - bits)).to_bytes(8 * words, "big")
            requests.append(np.frombuffer(padded, dtype=">u8").astype(np.uint64).tobytes())
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise CheckFailed("a draw of the record is no number below its bound; was it changed?") from error
    return ReplaySource(Recording(tuple(requests)))
