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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

import hubbub
from hubbub.errors import CheckFailed
from hubbub.noise.source import PublicDice, ReplaySource, Source
from hubbub.noise.source import Record as Recording
from hubbub.numeric.exact import to_text
from hubbub.serialization.canonical import canonical
from hubbub.voting.ballots import Ballots, merged_rows
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.formats.formats import for_rule, read
from hubbub.voting.formats.reading import Reading
from hubbub.voting.result import Draw, Result
from hubbub.voting.row_keys import row_keys
from hubbub.voting.rules.rule_json import rule_as_json, rule_from_json
from hubbub.voting.rules.stv_result import Seats

WIRE: Final = "tally/1"
FORMAT: Final = "hubbub count 1"

Answer = Result | Seats


def ballots_digest(ballots: Ballots) -> str:
    """SHA-256 of the ballots, in whatever order and file they came, in hexadecimal.

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
    """A draw: what was drawn is `number`, one of 0 to `of` - 1, as text since it may be long."""
    return {
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


def read_again(record: Mapping[str, Any], path: str | Path) -> BallotFile:
    """The ballots of a file, read as the record says that they were."""
    reading = record.get("file") or {}
    file = read(
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
    is the word of whoever signed.
    """
    if record.get("wire") != WIRE:
        raise CheckFailed(f"the record of the count is not of the kind {WIRE}; a newer version may read it")
    rule, dice = rule_from_json(record.get("rule") or {}), record.get("dice")
    digest = ballots_digest(file.ballots)
    stated = record.get("ballots") or {}
    if digest != stated.get("digest"):
        raise CheckFailed(
            "the ballots are not those of the record: their digests differ; read the same file the same way"
        )
    source: Source = _recorded(record) if dice is None else PublicDice(str(dice))
    again = CountRecord(
        answer=rule.run(file.ballots, source),
        ballots=digest,
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
    if isinstance(source, ReplaySource) and not source.finished:
        raise CheckFailed("the record of the count has draws that the count does not make; was it changed?")
    return again


def _recorded(record: Mapping[str, Any]) -> ReplaySource:
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
