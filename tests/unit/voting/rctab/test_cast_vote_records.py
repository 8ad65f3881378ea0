"""Ballots written one by one, as RCTab writes them and in the common data format, read back and held against RCTab's."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.voting.formats.formats import read
from hubbub.voting.rctab.exports import cast_vote_records
from hubbub.voting.rctab.record import read_office
from tests.unit.cli.answers import one_object, one_sentence

RCTAB = Path(__file__).resolve().parents[5] / "shared" / "data" / "elections" / "rctab"
THEIRS = sorted(RCTAB.glob("*/*_expected_cdf_cvr.json"))
BALLOTS = "Precinct,rank1,rank2,rank3\nN,Ann,Bob,\nN,Ann,Bob,\nS,,Bob,Cid\nS,Cid,,Ann\nS,Bob,,\n"

Ballot = tuple[str, tuple[tuple[int, str], ...]]


def originals(report: dict[str, Any]) -> Counter[Ballot]:
    """The ballots as they were cast: where, and who at which rank."""
    (election,) = report["Election"]
    units = {unit["@id"]: unit["Name"] for unit in report["GpUnit"]}
    names = {person["@id"]: person["Name"] for person in election["Candidate"]}
    who = {each["@id"]: names[each["CandidateIds"][0]] for each in election["Contest"][0]["ContestSelection"]}
    found: Counter[Ballot] = Counter()
    for record in report["CVR"]:
        (first,) = [each for each in record["CVRSnapshot"] if each["Type"] == "original"]
        marks = [
            (position["Rank"], who[selection["ContestSelectionId"]])
            for contest in first["CVRContest"]
            for selection in contest["CVRContestSelection"]
            for position in selection["SelectionPosition"]
        ]
        found[units.get(record.get("BallotStyleUnitId", ""), ""), tuple(sorted(marks))] += 1
    return found


@pytest.mark.skipif(not THEIRS, reason="RCTab's suite is not here")
@pytest.mark.parametrize("path", THEIRS, ids=lambda path: path.parent.name)
def test_the_ballots_are_those_that_rctab_writes(path: Path) -> None:
    office = read_office(next(path.parent.glob("*_config.json")))
    ours = json.loads(cast_vote_records("x.json", office.configuration, office.ballots, "2026-01-01T00:00:00Z"))
    theirs = originals(json.loads(path.read_text(encoding="utf-8")))
    mine = originals(ours)
    if not any(place for place, _ in theirs):
        mine = Counter({("", marks): many for (_, marks), many in mine.items()})
    assert mine == theirs


@pytest.mark.skipif(not RCTAB.exists(), reason="RCTab's suite is not here")
def test_the_table_has_rctabs_ranks() -> None:
    """RCTab writes as many ranks as there are candidates, and the code of an undeclared write-in; here all ranks with a
    mark are written, and names."""
    folder = RCTAB / "2024_alaska_dominion"
    office = read_office(next(folder.glob("*_config.json")))
    text = cast_vote_records("x.csv", office.configuration, office.ballots, "")
    theirs = (folder / "2024_alaska_dominion_expected_rctab_cvr.csv").read_text(encoding="utf-8")

    def ranks(text: str, place: str) -> Counter[tuple[str, ...]]:
        rows = list(csv.DictReader(text.splitlines()))
        columns = [f"Rank {rank}" for rank in range(1, 5)]
        names = {"undervote", "overvote", *office.ballots.candidates}
        cells = ([row[name] if row[name] in names else "Undeclared Write-ins" for name in columns] for row in rows)
        return Counter((row[place], *here) for row, here in zip(rows, cells, strict=True))

    assert ranks(text, "Precinct") == ranks(theirs, "Precinct Portion")


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_what_is_written_loads_again(ending: str, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text(BALLOTS, encoding="utf-8")
    out = tmp_path / f"cvr.{ending}"
    start = ["vote", "tally", str(tmp_path / "b.csv"), "--skips", "skip", "--precinct", "Precinct", "--json"]
    answer = one_object(CliRunner().invoke(commands, [*start, "--rule", "instant-runoff", "--cvr", str(out)]))
    assert answer["cvr"] == str(out)
    again = read(out, precinct="Precinct" if ending == "csv" else "precinct")
    assert again.ballots.counts() == {("Ann", "Bob"): 2, ("Bob", "Cid"): 1, ("Cid", "Ann"): 1, ("Bob",): 1}
    assert {name: part.voters for name, part in again.units.items()} == {"N": 2, "S": 3}
    one_sentence(CliRunner().invoke(commands, [*start, "--cvr", str(tmp_path / "x.txt")]), 2, "to .csv or .json")
