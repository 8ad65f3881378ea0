"""The files of a count by an office's configuration: for spreadsheets, for viewers, for other offices' systems.

========================  ========================================================================================
``rounds.csv``            a line for each candidate and round, and for each reason why ballots count for nobody
``rounds.json``           as RCTab writes its detailed report, which RCVis draws; ``rounds-2.json`` for another pass
``results-cdf.json``      the common data format for results, NIST 1500-100 version 2, round by round
``by-precinct.csv``       the same lines for each precinct, and ``by-batch.csv`` for each batch, where records name them
========================  ========================================================================================

With ``--cvr`` the ballots themselves are written too, for another tabulator: see `cast_vote_records`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import hubbub
from hubbub.errors import CheckFailed, WrongUse
from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.csv_safety import safe
from hubbub.voting.formats.vendors.office_records import OVERVOTE, OfficeBallots
from hubbub.voting.formats.vendors.rctab_config import PASSES, UNDECLARED, Configuration
from hubbub.voting.rctab.count import count_unit
from hubbub.voting.rctab.record import OfficeFile
from hubbub.voting.rctab.result import (
    EXHAUSTED,
    LAST_SURPLUS,
    NO_CHOICE,
    OVERVOTES,
    REPEATED,
    ROUNDING,
    SKIPPED,
    ConfiguredCount,
    ConfiguredRound,
)

UNITS: Final = ("precinct", "batch")
UNNAMED: Final = "(not said)"


@dataclass(frozen=True, slots=True)
class UnitCounts:
    """The counts of all precincts, or of all batches."""

    what: str
    units: Mapping[str, ConfiguredCount]


def count_units(file: OfficeFile, contest: ConfiguredCount, what: str) -> UnitCounts:
    """The contest unit by unit.

    Guarantee: in every round the votes of each candidate, the ballots that count for nobody by their reason, and the
    ballots cast add up over all units to those of the contest. What rounding took from a surplus was taken from the
    contest as a whole, and is the one thing by which the units have more: that is part of the check.
    """
    if what not in UNITS:
        raise WrongUse(f"ballots are counted by {' or by '.join(UNITS)}, and by nothing else")
    parts = file.ballots.of_units(what)
    if set(parts) == {""}:
        raise WrongUse(f"the records say no {what} of any ballot; name its column in the configuration")
    counted = {name or UNNAMED: count_unit(file.configuration, part, contest) for name, part in parts.items()}
    check_sums(contest, counted, what)
    return UnitCounts(what, counted)


def check_sums(contest: ConfiguredCount, counted: Mapping[str, ConfiguredCount], what: str) -> None:
    """Refuse counts of precincts that are not, all together, those of the contest."""
    wrong = CheckFailed(f"the {what} counts do not add up to the contest; nothing is written, please report it")
    sums = ("cast", "undervotes")
    if any(sum(getattr(part, each) for part in counted.values()) != getattr(contest, each) for each in sums):
        raise wrong
    for at, rounds in enumerate(contest.passes):
        lost: dict[str, Fraction] = {}
        for i, whole in enumerate(rounds):
            parts = [part.passes[at][i] for part in counted.values()]
            if _sum(parts) != {name: votes + lost.get(name, 0) for name, votes in whole.tally}:
                raise wrong
            if any(sum((dict(part.inactive)[why] for part in parts), Fraction(0)) != v for why, v in whole.inactive):
                raise wrong
            for move in whole.moves:
                if move.target == ROUNDING:
                    lost[move.origin] = lost.get(move.origin, Fraction(0)) + move.votes


def _sum(parts: list[ConfiguredRound]) -> dict[str, Fraction]:
    total: dict[str, Fraction] = {}
    for part in parts:
        for name, votes in part.tally:
            total[name] = total.get(name, Fraction(0)) + votes
    return total


_HEADING: Final = ("pass", "round", "threshold", "candidate", "votes", "decision")
_CAST: Final = "(ballots cast)"
_BLANK: Final = "(mark nobody)"
_LAST_SURPLUS: Final = "(surplus of the last seats)"


def counts_by_unit(file: OfficeFile, counted: ConfiguredCount) -> tuple[UnitCounts, ...]:
    """The counts by precinct and by batch, as far as the records say where ballots were cast."""
    known = [what for what in UNITS if any(getattr(unit, what) for unit, _, _ in file.ballots.by_unit)]
    return tuple(count_units(file, counted, what) for what in known)


def exports(file: OfficeFile, counted: ConfiguredCount, counts: Sequence[UnitCounts], generated: str) -> dict[str, str]:
    """The text of each file by its name. `generated` is the time, as the common data format wants it."""
    return report_texts(file.configuration, counted, counts, generated)


def report_texts(
    configuration: Configuration,
    counted: ConfiguredCount,
    counts: Sequence[UnitCounts],
    generated: str,
    variation: str = "rcv",
) -> dict[str, str]:
    """The same of a count by any rule; `variation` is how the common data format calls it."""
    texts = {"rounds.csv": _csv(_HEADING, _lines(counted))}
    for at in range(len(counted.passes)):
        name = "rounds.json" if at == 0 else f"rounds-{at + 1}.json"
        texts[name] = _json(rounds_report(configuration, counted, at))
    for each in counts:
        rows = ((name, *line) for name, part in each.units.items() for line in _lines(part))
        texts[f"by-{each.what}.csv"] = _csv((each.what, *_HEADING), rows)
    texts["results-cdf.json"] = _json(results_cdf(configuration, counted, counts, generated, variation))
    return texts


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _csv(heading: Sequence[str], rows: Iterator[tuple[str, ...]]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heading)
    for row in rows:
        writer.writerow(safe(row))
    return out.getvalue()


def _lines(counted: ConfiguredCount) -> Iterator[tuple[str, ...]]:
    yield "", "", "", _CAST, str(counted.cast), ""
    yield "", "", "", _BLANK, str(counted.undervotes), ""
    for number, rounds in enumerate(counted.passes, 1):
        for at, each in enumerate(rounds, 1):
            start = (str(number), str(at), to_text(each.threshold))
            for name, votes in each.tally:
                yield *start, name, to_text(votes), _decision(each, name)
            for why, votes in each.inactive:
                yield *start, f"(inactive: {why})", to_text(votes), ""
            if each.last_surplus:
                yield *start, _LAST_SURPLUS, to_text(each.last_surplus), ""


def _decision(counted: ConfiguredRound, name: str) -> str:
    return "elected" if name in counted.elected else "eliminated" if name in counted.eliminated else ""


def results_cdf(
    configuration: Configuration,
    counted: ConfiguredCount,
    counts: Sequence[UnitCounts],
    generated: str,
    variation: str = "rcv",
) -> dict[str, Any]:
    """The report in the common data format: votes of each candidate in each round, in all and by unit."""
    day = configuration.date or "1970-01-01"
    units = [("unit-all", configuration.jurisdiction or configuration.title, "other", counted)]
    for each in counts:
        kind = "precinct" if each.what == "precinct" else "ballot-batch"
        units += [(f"unit-{each.what}-{i}", name, kind, part) for i, (name, part) in enumerate(each.units.items(), 1)]
    ids = {name: f"candidate-{i}" for i, name in enumerate(counted.candidates, 1)}
    contests = [_contest(configuration, at, ids, units, variation) for at in range(len(counted.passes))]
    return {
        "@type": "ElectionResults.ElectionReport",
        "Format": "precinct-level" if counts else "summary-contest",
        "GeneratedDate": generated,
        "Issuer": configuration.jurisdiction or configuration.title,
        "IssuerAbbreviation": (configuration.jurisdiction or configuration.title)[:16],
        "SequenceStart": 1,
        "SequenceEnd": 1,
        "Status": "unofficial-complete",
        "VendorApplicationId": f"hubbub {hubbub.__version__}",
        "Election": [
            {
                "@type": "ElectionResults.Election",
                "ElectionScopeId": "unit-all",
                "StartDate": day,
                "EndDate": day,
                "Type": "other",
                "Name": _text(configuration.office or configuration.title),
                "Candidate": [
                    {"@type": "ElectionResults.Candidate", "@id": number, "BallotName": _text(name)}
                    | ({"PostElectionStatus": "winner"} if name in counted.winners else {})
                    for name, number in ids.items()
                ],
                "Contest": contests,
            }
        ],
        "GpUnit": [
            {"@type": "ElectionResults.ReportingUnit", "@id": number, "Name": _text(name), "Type": kind}
            for number, name, kind, _ in units
        ],
    }


def _contest(
    configuration: Configuration,
    at: int,
    ids: dict[str, str],
    units: Sequence[tuple[str, str, str, ConfiguredCount]],
    variation: str,
) -> dict[str, Any]:
    passes = len(units[0][3].passes)
    return {
        "@type": "ElectionResults.CandidateContest",
        "@id": f"contest-{at + 1}",
        "Name": configuration.title if passes == 1 else f"{configuration.title} (pass {at + 1} of {passes})",
        "ElectionDistrictId": "unit-all",
        "VoteVariation": variation,
        "VotesAllowed": 1,
        "NumberElected": 1 if passes > 1 else configuration.rules.winners,
        "ContestSelection": [
            {
                "@type": "ElectionResults.CandidateSelection",
                "@id": f"selection-{at + 1}-{number.removeprefix('candidate-')}",
                "CandidateIds": [number],
                "IsWriteIn": name == UNDECLARED,
                "VoteCounts": list(_counts(name, at, units)),
            }
            for name, number in ids.items()
        ],
        "OtherCounts": [
            {
                "@type": "ElectionResults.OtherCounts",
                "GpUnitId": unit,
                "Overvotes": _number(dict(part.passes[at][0].inactive)["overvotes"]),
                "Undervotes": part.undervotes,
            }
            for unit, _, _, part in units
        ],
    }


def _counts(name: str, at: int, units: Sequence[tuple[str, str, str, ConfiguredCount]]) -> Iterator[dict[str, Any]]:
    for unit, _, _, part in units:
        for number, each in enumerate(part.passes[at], 1):
            votes = dict(each.tally).get(name)
            if votes is not None:
                yield {
                    "@type": "ElectionResults.VoteCounts",
                    "GpUnitId": unit,
                    "Round": number,
                    "Count": _number(votes),
                    "Type": "total",
                }


def _number(votes: Fraction) -> int | float:
    """The format wants a JSON number; rounds.csv has the exact text."""
    return int(votes) if votes.denominator == 1 else float(votes)


def _text(content: str) -> dict[str, Any]:
    return {
        "@type": "ElectionResults.InternationalizedText",
        "Text": [{"@type": "ElectionResults.LanguageString", "Content": content, "Language": "en"}],
    }


_INACTIVE: Final = {
    NO_CHOICE: "exhaustedChoices",
    OVERVOTES: "overvotes",
    REPEATED: "repeatedRankings",
    SKIPPED: "skippedRankings",
}
_NOWHERE: Final = {EXHAUSTED: "exhausted", LAST_SURPLUS: "exhausted", ROUNDING: "residual surplus"}


def rounds_report(
    configuration: Configuration, counted: ConfiguredCount, at: int = 0, unit: tuple[str, str] | None = None
) -> dict[str, Any]:
    """The report of one pass, of the whole contest or of one unit (precinct or batch, and its name)."""
    rounds = counted.passes[at]
    contest = {
        "contest": configuration.title,
        "date": configuration.date,
        "generatedBy": _software(),
        "jurisdiction": configuration.jurisdiction,
        "office": configuration.office,
    }
    return {
        "config": contest if unit is None else contest | {unit[0]: unit[1]},
        "jsonFormatVersion": "1",
        "results": [_round(number, each) for number, each in enumerate(rounds, 1)],
        "summary": {
            "finalThreshold": to_text(rounds[-1].threshold),
            "numCandidates": len(counted.candidates),
            "numWinners": 1 if configuration.rules.mode == PASSES else configuration.rules.winners,
            "totalNumBallots": str(counted.cast),
            "undervotes": counted.undervotes,
        },
    }


def _software() -> str:
    import hubbub

    return f"hubbub {hubbub.__version__}"


def _round(number: int, counted: ConfiguredRound) -> dict[str, Any]:
    inactive = {_INACTIVE[why]: to_text(votes) for why, votes in counted.inactive}
    if counted.last_surplus:
        inactive["finalRoundSurplus"] = to_text(counted.last_surplus)
    decided = [("elected", name) for name in counted.elected] + [("eliminated", name) for name in counted.eliminated]
    return {
        "inactiveBallots": inactive,
        "round": number,
        "tally": {name: to_text(votes) for name, votes in sorted(counted.tally)},
        "tallyResults": [{what: name, "transfers": _transfers(counted, name)} for what, name in decided],
        "threshold": to_text(counted.threshold),
    }


def _transfers(counted: ConfiguredRound, name: str) -> dict[str, str]:
    """To whom the votes of a candidate go: votes that nobody gets are called as RCTab calls them."""
    sums: dict[str, Any] = {}
    for each in counted.moves:
        if each.origin == name:
            target = _NOWHERE.get(each.target, each.target)
            sums[target] = sums.get(target, 0) + each.votes
    return {target: to_text(votes) for target, votes in sorted(sums.items())}


# --- cast-vote records --------------------------------------------------------------------------------------------


def cast_vote_records(path: str, configuration: Configuration, ballots: OfficeBallots, generated: str) -> str:
    """The ballots one by one, for another tabulator: .csv as RCTab writes them, .json in the common data format.

    Guarantee: each ballot once, with its precinct and batch where they are known, in an order that follows from the
    ballots and tells nothing of the files they came in.
    """
    kind = path.rpartition(".")[2].lower()
    if kind not in ("csv", "json"):
        raise WrongUse(f"cast-vote records are written to .csv or .json, and {path!r} is neither")
    cast = sorted(
        ((unit.precinct, unit.batch, [(rank, sorted(who)) for rank, who in ranks], many))
        for unit, ranks, many in ballots.by_unit
    )
    return _cvr_csv(cast) if kind == "csv" else _json(_cvr_cdf(configuration, ballots.candidates, cast, generated))


_Cast = tuple[str, str, list[tuple[int, list[str]]], int]


def _cvr_csv(cast: Sequence[_Cast]) -> str:
    most = max((ranks[-1][0] for _, _, ranks, _ in cast if ranks), default=1)

    def rows() -> Iterator[tuple[str, ...]]:
        for precinct, batch, ranks, many in cast:
            cells = {rank: who[0] if len(who) == 1 else OVERVOTE for rank, who in ranks}
            line = (precinct, batch, *(cells.get(rank, "undervote") for rank in range(1, most + 1)))
            yield from (line for _ in range(many))

    return _csv(("Precinct", "Batch Id", *(f"Rank {rank}" for rank in range(1, most + 1))), rows())


def _cvr_cdf(
    configuration: Configuration, candidates: Sequence[str], cast: Sequence[_Cast], generated: str
) -> dict[str, Any]:
    """NIST 1500-103: the ballots as they were cast, in one snapshot each."""
    if any(OVERVOTE in who for _, _, ranks, _ in cast for _, who in ranks):
        raise WrongUse("the records do not say who was marked at an overvote, which .json must; write .csv")
    ids = {name: f"candidate-{i}" for i, name in enumerate(candidates, 1)}
    units = {name: f"unit-{i}" for i, name in enumerate(sorted({each[0] for each in cast} - {""}), 1)}
    records = list[dict[str, Any]]()
    for precinct, batch, ranks, many in cast:
        selections = [
            {
                "@type": "CVR.CVRContestSelection",
                "ContestSelectionId": f"selection-{ids[name]}",
                "SelectionPosition": [
                    {"@type": "CVR.SelectionPosition", "HasIndication": "yes", "NumberVotes": 1, "Rank": rank}
                ],
            }
            for rank, who in ranks
            for name in who
        ]
        contest = {"@type": "CVR.CVRContest", "ContestId": "contest-1", "CVRContestSelection": selections}
        place = {"BallotStyleUnitId": units[precinct]} if precinct else {}
        for _ in range(many):
            name = f"snapshot-{len(records) + 1}"
            records.append(
                {
                    "@type": "CVR.CVR",
                    "UniqueId": str(len(records) + 1),
                    "ElectionId": "election-1",
                    "CurrentSnapshotId": name,
                    "CVRSnapshot": [
                        {"@type": "CVR.CVRSnapshot", "@id": name, "Type": "original", "CVRContest": [contest]}
                    ],
                }
                | place
                | ({"BatchId": batch} if batch else {})
            )
    return {
        "@type": "CVR.CastVoteRecordReport",
        "Version": "1.0.0",
        "GeneratedDate": generated,
        "ReportGeneratingDeviceIds": ["device-1"],
        "ReportingDevice": [{"@type": "CVR.ReportingDevice", "@id": "device-1", "Application": _software()}],
        "GpUnit": [
            {"@type": "CVR.GpUnit", "@id": "unit-all", "Name": configuration.jurisdiction, "Type": "other"},
            *({"@type": "CVR.GpUnit", "@id": i, "Name": name, "Type": "precinct"} for name, i in units.items()),
        ],
        "Election": [
            {
                "@type": "CVR.Election",
                "@id": "election-1",
                "ElectionScopeId": "unit-all",
                "Candidate": [{"@type": "CVR.Candidate", "@id": i, "Name": name} for name, i in ids.items()],
                "Contest": [
                    {
                        "@type": "CVR.CandidateContest",
                        "@id": "contest-1",
                        "Name": configuration.title or "contest",
                        "NumberElected": max(1, configuration.rules.winners),
                        "VotesAllowed": 1,
                        "ContestSelection": [
                            {
                                "@type": "CVR.CandidateSelection",
                                "@id": f"selection-{i}",
                                "CandidateIds": [i],
                                "IsWriteIn": name == UNDECLARED,
                            }
                            for name, i in ids.items()
                        ],
                    }
                ],
            }
        ],
        "CVR": records,
    }
