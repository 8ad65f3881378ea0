"""RCTab's own test suite, from the vendors' own records and RCTab's own configurations, round by round.

The files are not part of the repository: without them the comparison is skipped, and small ones made here remain.
"""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.errors import CheckFailed, WrongUse
from hubbub.report.results import Repeating, office_page
from hubbub.voting.formats.formats import read, strict
from hubbub.voting.formats.reading import Reading
from hubbub.voting.formats.vendors.office_records import office_ballots
from hubbub.voting.formats.vendors.rctab_config import Configuration, read_configuration
from hubbub.voting.rctab.count import JavaDice, count_configured
from hubbub.voting.rctab.exports import UNNAMED, count_units, counts_by_unit, exports, rounds_report
from hubbub.voting.rctab.record import configured_record, count_configured_again, read_office
from hubbub.voting.rctab.result import ConfiguredCount, ConfiguredRound
from tests.unit.cli.answers import one_object, one_sentence
from tests.unit.voting.rctab.configurations import (
    FIRST,
    GRID,
    ONE_A_ROUND,
    PERCENTAGE,
    SESSION,
    made,
    packed,
    workbook,
)

SEVERAL = "multiWinnerAllowMultipleWinnersPerRound"
RCTAB = Path(__file__).resolve().parents[5] / "shared" / "data" / "elections" / "rctab"
NOBODY_VOTED = "nist_xml_cdf_2"  # its one ballot marks nobody; RCTab elects somebody by lot
EMPTY_ROWS = ("first_round_determines_threshold_test", "first_round_determines_threshold_tiebreaker_test")
"""Their sheets have empty rows at the end, which RCTab takes for ballots that mark nobody."""

SUITE = sorted(path.parent for path in RCTAB.glob("*/*_config.json"))
REPORTED = sorted({folder for folder in SUITE if list(folder.glob("*expected_detailed_report.json"))})

Told = tuple[Fraction, dict[str, Fraction], list[str], list[str]]


def has_records(configuration: Configuration) -> bool:
    """Whether the files that a configuration names are here."""
    return all(
        source.path.is_file() or list(source.path.glob("*.xml")) or list(source.path.glob("CvrExport*.json"))
        for source in configuration.sources
    )


def config(folder: Path) -> Path:
    return next(folder.glob("*_config.json"))


def counted(path: Path) -> ConfiguredCount:
    configuration = read_configuration(path)
    return count_configured(configuration, office_ballots(configuration))


def ours(rounds: tuple[ConfiguredRound, ...]) -> list[Told]:
    return [(each.threshold, dict(each.tally), sorted(each.elected), sorted(each.eliminated)) for each in rounds]


def theirs(path: Path) -> list[Told]:
    return told(json.loads(path.read_text(encoding="utf-8")))


def told(report: dict[str, Any]) -> list[Told]:
    return [
        (
            Fraction(each["threshold"]),
            {name: Fraction(votes) for name, votes in each["tally"].items()},
            sorted(done["elected"] for done in each["tallyResults"] if "elected" in done),
            sorted(done["eliminated"] for done in each["tallyResults"] if "eliminated" in done),
        )
        for each in report["results"]
    ]


def exact(value: Any) -> Any:
    """A report with its numbers as numbers: 8 is 8.0000, and what is nothing may be left out."""
    if isinstance(value, dict):
        return {name: each for name in sorted(value) if (each := exact(value[name])) != 0}
    if isinstance(value, list):
        return sorted((exact(part) for part in value), key=str)
    try:
        return Fraction(value)
    except (TypeError, ValueError):
        return value


@pytest.mark.skipif(not REPORTED, reason="RCTab's suite is not here")
@pytest.mark.parametrize("folder", REPORTED, ids=lambda folder: folder.name)
def test_every_contest_of_rctabs_suite_comes_out_round_by_round(folder: Path) -> None:
    configuration = read_configuration(config(folder))
    if not has_records(configuration):
        pytest.skip("its records are not here")
    if folder.name == NOBODY_VOTED:
        with pytest.raises(WrongUse, match="nobody voted"):
            office_ballots(configuration)
        return
    reports = sorted(folder.glob(f"{folder.name}*expected_detailed_report.json"))
    done = count_configured(configuration, office_ballots(configuration))
    assert [ours(rounds) for rounds in done.passes] == [theirs(report) for report in reports]
    for at, report in enumerate(reports):
        wanted, found = json.loads(report.read_text(encoding="utf-8")), rounds_report(configuration, done, at)
        if folder.name in EMPTY_ROWS:
            wanted["summary"], found["summary"] = {}, {}
        for each in (wanted, found):
            del each["config"]["generatedBy"]
        assert exact(found) == exact(wanted), "whole reports: transfers, inactive ballots by reason, the summary"


COUNCIL = ("Fred Wallace", "Sylvia Vaugn", "Stephen Miller", "Carrie Underwood", "Nolan Ryder", "Terry Williams")


@pytest.mark.skipif(not SUITE, reason="RCTab's suite is not here")
@pytest.mark.parametrize(
    ("folder", "changed", "published"),
    [
        (
            "unisyn_xml_cdf_city_coroner",
            {"contestId": "For City C Council Member (1/3)", "candidates": (*COUNCIL, "Lonnie Alsup", "Hal Newman")},
            [
                "4 3 4 4 2 5 2 4 1",
                "4 3 4 4 2 6 2 4",
                "4 4 4 4 3 6 4",
                "4 5 4 4 7 5",
                "5 4 5 8 7",
                "5 6 8 10",
                "7 10 10",
            ],
        ),
        (
            "test_set_3_skipped_choice_exhaust",
            {"overvoteRule": "alwaysSkipToNextRank", "maxSkippedRanksAllowed": "4"},
            ["5 7 2 1", "5 7 3"],
        ),
    ],
)
def test_contests_whose_reports_alone_were_at_hand(
    folder: str, changed: dict[str, Any], published: list[str], tmp_path: Path
) -> None:
    """`unisyn_xml_cdf_city_council_member`, with ties drawn in four rounds, and `test_set_4_skipped_choice_next`, whose
    ballots are those of set 3: by the configurations and reports that RCTab published. Votes by name, round by round."""
    value = json.loads(config(RCTAB / folder).read_text(encoding="utf-8"))
    for source in value["cvrFileSources"]:
        source["filePath"] = str((RCTAB / folder / source["filePath"]).resolve())
    for part in (value["rules"], value["cvrFileSources"][0]):
        part |= {name: setting for name, setting in changed.items() if name in part}
    if "candidates" in changed:
        value["candidates"] = [{"name": name} for name in changed["candidates"]]
    (tmp_path / "config.json").write_text(json.dumps(value), encoding="utf-8")
    (rounds,) = counted(tmp_path / "config.json").passes
    assert [" ".join(str(votes) for _, votes in sorted(each.tally)) for each in rounds[:-1]] == published
    assert rounds[-1].elected == (("Terry Williams",) if "candidates" in changed else ("Candidate B Name",))


PRECINCT_REPORTS = sorted(RCTAB.glob("*/Tabulate by */*_detailed_report.*"))


@pytest.mark.skipif(not PRECINCT_REPORTS, reason="RCTab's suite is not here")
@pytest.mark.parametrize("report", PRECINCT_REPORTS, ids=lambda report: f"{report.stem[:70]}{report.suffix}")
def test_precincts_and_batches_of_rctabs_suite_come_out_round_by_round(report: Path) -> None:
    folder, what = report.parents[1], report.parent.name.split()[-1].lower()
    office = read_office(config(folder))
    contest = count_configured(office.configuration, office.ballots)
    counts = count_units(office, contest, what).units
    if report.suffix == ".csv":
        rows = list(csv.reader(report.read_text(encoding="utf-8").splitlines()))
        place = next(row[1] for row in rows if row and row[0].lower() == what)
        (rounds,) = (counts[place] if place in counts else counts[UNNAMED]).passes
        by_name = {row[0]: row for row in rows if row}
        for name in contest.candidates:
            cells = [Fraction(cell) for cell in by_name[name][1::3]]
            assert [dict(each.tally).get(name, 0) for each in rounds] == cells, name
        assert [each.exhausted_votes for each in rounds] == [
            Fraction(cell) for cell in by_name["Inactive Ballots Total"][1::3]
        ]
        return
    wanted = json.loads(report.read_text(encoding="utf-8"))
    place = wanted["config"].pop(what)
    found = rounds_report(office.configuration, counts[place] if place in counts else counts[UNNAMED])
    for each in (wanted, found):
        del each["config"]["generatedBy"]
    assert exact(found) == exact(wanted)


PARK = RCTAB / "_shared" / "2013_minneapolis_park_cvr.xlsx"
PARK_NAMES = (
    *("ANNIE YOUNG", "CASPER HILL", "HASHIM YONIS", "ISHMAEL ISRAEL", "JASON STONE", "JOHN ERWIN"),
    *("MARY LYNN MCPHERSON", "MEG FORNEY", "STEVE BARLAND", "TOM NORDYKE"),
)


@pytest.mark.slow
@pytest.mark.skipif(not PARK.is_file(), reason="RCTab's suite is not here")
@pytest.mark.parametrize(
    ("rules", "rounds", "threshold", "last", "surplus"),
    [
        ({"winnerElectionMode": SEVERAL}, 11, 14866, (14866, 14866, 12245), "177.5192"),
        ({"winnerElectionMode": SEVERAL, "hareQuota": True}, 10, 19821, (13914, 19821, 11704), "1827.26"),
        ({"winnerElectionMode": "bottomsUp"}, 9, 14866, (13914, 21650, 11704), "0"),
        ({"winnerElectionMode": "multiPassIrv"}, 8, 15675, (16212, 15136), "0"),
    ],
)
def test_a_park_board_of_minneapolis_comes_out_by_four_rules_as_rctab_reports_it(
    tmp_path: Path, rules: dict[str, Any], rounds: int, threshold: int, last: tuple[int, ...], surplus: str
) -> None:
    """Four cases of RCTab's suite whose records are here and whose configurations are not: the last round of each."""
    source = {"firstVoteColumnIndex": "2", "firstVoteRowIndex": "2", "precinctColumnIndex": "1"}
    labels = {"overvoteLabel": "overvote", "skippedRankLabel": "undervote", "undeclaredWriteInLabel": "UWI"}
    common = {"overvoteRule": "alwaysSkipToNextRank", "numberOfWinners": "3", "maxSkippedRanksAllowed": "2"}
    path = made(
        tmp_path, b"", "r.xlsx", "ess", source=source | labels, **{**common, "maxRankingsAllowed": "3"}, **rules
    )
    value = json.loads(path.read_text(encoding="utf-8"))
    value["cvrFileSources"][0]["filePath"] = str(PARK)
    value["candidates"] = [{"name": name} for name in PARK_NAMES]
    path.write_text(json.dumps(value), encoding="utf-8")
    done = counted(path)
    assert (done.cast, done.undervotes) == (80101, 20571)
    ended = done.passes[-1]
    assert (len(ended), ended[-1].threshold, ended[-1].last_surplus) == (rounds, threshold, Fraction(surplus))
    assert tuple(votes for _, votes in ended[-1].tally) == last


@pytest.mark.skipif(not REPORTED, reason="RCTab's suite is not here")
def test_every_folder_of_the_suite_is_accounted_for() -> None:
    """53 folders: 48 with records and reports are compared above; here is why the other five are not."""
    folders = {path.name for path in RCTAB.iterdir() if path.is_dir() and not path.name.startswith("_")}
    compared = {folder.name for folder in REPORTED if has_records(read_configuration(config(folder)))}
    assert (len(folders), len(compared)) == (53, 48)
    assert folders - compared == {
        "2018_maine_governor_primary",  # its records are not here
        "dominion_kansas",  # manifests without records
        "max_ranking_enforcement",  # no report: RCTab refuses it, and so does the next test
        "sample_interactive_tiebreak",  # two configurations that ask somebody; no records, no report
        "unisyn_cvrs",  # the records of four contests that are compared
    }


@pytest.mark.skipif(not REPORTED, reason="RCTab's suite is not here")
def test_a_mark_beyond_the_ranks_that_are_allowed_is_refused() -> None:
    with pytest.raises(WrongUse, match="rank 4, and the configuration allows 3 ranks"):
        counted(config(RCTAB / "max_ranking_enforcement"))


def test_the_generator_is_javas() -> None:
    """Against numbers that Java 17 printed."""
    dice = JavaDice(42)
    assert [dice.below(100) for _ in range(5)] == [30, 63, 48, 84, 70], "new Random(42).nextInt(100)"
    dice = JavaDice(-5)
    assert [dice.below(bound) for bound in (1_000_003, 64, 1_000_003, 64)] == [317677, 23, 455802, 21]
    assert [JavaDice(0).index(1000), JavaDice(1).index(1000)] == [730, 730], "new Random(0).nextDouble() is 0.7309..."
    assert JavaDice(7).shuffle("abcdef") == list("dabcfe"), "Collections.shuffle with new Random(7)"


def grid(folder: Path, text: str = GRID, **rules: Any) -> ConfiguredCount:
    return counted(made(folder, text, "r.csv", "genericCsv", source=FIRST, **rules))


def test_a_grid_is_counted_by_instant_runoff(tmp_path: Path) -> None:
    done = grid(tmp_path)
    assert done.winners == ("Bob",)
    (rounds,) = done.passes
    assert [dict(each.tally) for each in rounds] == [{"Ann": 4, "Bob": 3, "Cid": 2}, {"Ann": 4, "Bob": 5}]
    assert [each.threshold for each in rounds] == [5, 5]


@pytest.mark.parametrize(
    ("rules", "winners"),
    [
        ({"winnerElectionMode": "multiPassIrv", "numberOfWinners": "2"}, ("Bob", "Ann")),
        ({"winnerElectionMode": "bottomsUp", "numberOfWinners": "2"}, ("Ann", "Bob")),
        ({"winnerElectionMode": "multiWinnerAllowMultipleWinnersPerRound", "numberOfWinners": "2"}, ("Ann", "Bob")),
        ({**PERCENTAGE, "multiSeatBottomsUpPercentageThreshold": "30"}, ("Ann", "Bob")),
        ({"stopTabulationEarlyAfterRound": "1"}, ()),
        ({"minimumVoteThreshold": "4"}, ("Ann",)),
        ({"hareQuota": True, **ONE_A_ROUND, "numberOfWinners": "3"}, ("Ann", "Bob", "Cid")),
    ],
)
def test_ways_to_elect(tmp_path: Path, rules: dict[str, Any], winners: tuple[str, ...]) -> None:
    assert grid(tmp_path, **rules).winners == winners


def test_no_vote_is_lost_but_to_rounding(tmp_path: Path) -> None:
    text = "Ann,Bob,Cid\n" + "1,2,3\n" * 8 + "2,1,\n" * 2 + ",2,1\n" * 2
    mode = {"winnerElectionMode": "multiWinnerAllowMultipleWinnersPerRound", "numberOfWinners": "2"}
    (rounds,) = grid(tmp_path, text, **mode).passes
    for each in rounds[:-1]:  # in the last the surplus of the last winner is put away
        assert 0 <= 12 - sum(votes for _, votes in each.tally) - each.exhausted_votes < Fraction(12, 10**4)


@pytest.mark.parametrize("mode", ["stopCountingAndAsk", "previousRoundCountsThenAsk"])
def test_a_tie_that_somebody_is_asked_about_is_refused(tmp_path: Path, mode: str) -> None:
    with pytest.raises(WrongUse, match="Ann, Bob are equal, and the configuration leaves it to somebody"):
        grid(tmp_path, "Ann,Bob,Cid\n1,,\n,1,\n,,1\n,,1\n", tiebreakMode=mode)


def test_earlier_rounds_break_a_tie(tmp_path: Path) -> None:
    text = "Ann,Bob,Cid\n" + "1,,\n" * 3 + ",1,\n" * 2 + ",2,1\n"
    done = grid(tmp_path, text, tiebreakMode="previousRoundCountsThenAsk")
    assert done.winners == ("Ann",)


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ({"tiebreakMode": "coin"}, "tiebreakMode to 'coin'"),
        ({"winnerElectionMode": "x"}, "winnerElectionMode to 'x'"),
        ({"overvoteRule": "x"}, "overvoteRule to 'x'"),
        ({"numberOfWinners": "two"}, "numberOfWinners to 'two'"),
        ({"numberOfWinners": "0"}, "numberOfWinners is 0, or left out, with"),
        ({"numberOfWinners": "2"}, "and that fills no more"),
        ({"batchElimination": "yes"}, "neither true nor false"),
        ({"tiebreakMode": "generatePermutation"}, "set randomSeed"),
    ],
)
def test_what_a_configuration_says_is_understood_or_refused(
    tmp_path: Path, rules: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(WrongUse, match=sentence):
        grid(tmp_path, **rules)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Ann,Bob,Dee\n1,2,3\n", "mark 'Dee', who is no candidate"),
        ("Ann,Bob,Cid\n5,3,1\n", "rank 5 of 3 candidates cannot be"),
        ("Ann,Bob,Cid\n0,1,0\n", "a rank is a whole number from 1 on"),
        ("Ann,Bob,Cid\n,,\n", "holds? no ballot|nobody voted"),
        ("Ann,Bob,Cid\n1,2,3,4\n", "more columns than the heading names"),
    ],
)
def test_records_that_are_not_understood_are_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        grid(tmp_path, text)


HART = (
    '<?xml version="1.0"?><Cvr xmlns="http://tempuri.org/CVRDesign.xsd"><Contests><Contest><Name>M</Name><Id>Mayor</Id>'
    "<Options><Option><Id>ann</Id><Value>100</Value></Option><Option><Id>bob</Id><Value>010</Value></Option></Options>"
    "</Contest></Contests></Cvr>"
)
CDF = (
    '<CastVoteRecordReport xmlns="N" xmlns:xsi="i"><CVR><CurrentSnapshotId>s1</CurrentSnapshotId>'
    '<CVRSnapshot ObjectId="s0"/><CVRSnapshot ObjectId="s1"><CVRContest><ContestId>c</ContestId><CVRContestSelection>'
    "<ContestSelectionId>x</ContestSelectionId><SelectionPosition><HasIndication>yes</HasIndication><Rank>1</Rank>"
    "</SelectionPosition></CVRContestSelection></CVRContest></CVRSnapshot></CVR><Election>"
    '<Candidate ObjectId="p"><Name>Ann</Name></Candidate><Contest ObjectId="c"><Name>Mayor</Name>'
    '<ContestSelection ObjectId="x"><CandidateIds>p</CandidateIds></ContestSelection></Contest></Election>'
    "</CastVoteRecordReport>"
)


def test_vendors_records_load(tmp_path: Path) -> None:
    hart = made(tmp_path, packed(tmp_path, {"1.xml": HART, "2.xml": HART}), "h.zip", "hart")
    assert office_ballots(read_configuration(hart)).ballots == (
        (((1, frozenset({"Ann"})), (2, frozenset({"Bob"}))), 2),
    )
    cdf = made(tmp_path, CDF, "c.xml", "cdf")
    assert office_ballots(read_configuration(cdf)).ballots == ((((1, frozenset({"Ann"})),), 1),)
    dominion = made(tmp_path, json.dumps({"Sessions": [SESSION]}), "CvrExport.json", "dominion")
    assert office_ballots(read_configuration(dominion)).ballots == (
        (((1, frozenset({"Ann"})), (2, frozenset({"Cid"}))), 1),
    )
    rows = [["id", "1", "2"], ["7", "Ann", "Bob|Cid"], ["8", "undervote", "Ann"]]
    where = {
        "firstVoteColumnIndex": "2",
        "firstVoteRowIndex": "2",
        "idColumnIndex": "1",
        "overvoteDelimiter": "|",
        "skippedRankLabel": "undervote",
    }
    ess = made(tmp_path, workbook(tmp_path, rows), "e.xlsx", "ess", source=where)
    assert office_ballots(read_configuration(ess)).ballots == (
        (((1, frozenset({"Ann"})), (2, frozenset({"Bob", "Cid"}))), 1),
        (((2, frozenset({"Ann"})),), 1),
    )
    again = made(tmp_path, workbook(tmp_path, [*rows, rows[1]]), "e.xlsx", "ess", source=where)
    with pytest.raises(WrongUse, match="row 4 has the id of an earlier ballot"):
        counted(again)
    twice = made(tmp_path, json.dumps({"Sessions": [SESSION, SESSION]}), "CvrExport.json", "dominion")
    with pytest.raises(WrongUse, match="a record that was there before"):
        counted(twice)


@pytest.mark.parametrize("provider", ["hart", "cdf", "ess", "dominion"])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9, 0.99])
def test_60_records_that_were_cut_short_are_refused(tmp_path: Path, provider: str, share: float) -> None:
    whole = {
        "hart": (packed(tmp_path, {"1.xml": HART}), "h.zip"),
        "cdf": (CDF.encode(), "c.xml"),
        "ess": (workbook(tmp_path, [["1"], ["Ann"], ["Bob"]]), "e.xlsx"),
        "dominion": (json.dumps({"Sessions": [SESSION]}).encode(), "CvrExport.json"),
    }
    raw, name = whole[provider]
    path = made(tmp_path, raw[: int(len(raw) * share)], name, provider, source=FIRST)
    with pytest.raises(WrongUse):
        counted(path)


@pytest.mark.parametrize("provider", ["hart", "cdf", "ess", "dominion", "clearBallot", "genericCsv"])
def test_60_another_vendors_records_are_refused(tmp_path: Path, provider: str) -> None:
    records = {
        "hart": packed(tmp_path, {"1.xml": HART}),
        "cdf": CDF.encode(),
        "ess": workbook(tmp_path, [["1"], ["Ann"], ["Bob"]]),
        "dominion": json.dumps({"Sessions": [SESSION]}).encode(),
    }
    for vendor, raw in records.items():
        if vendor == provider:
            continue
        for name in ("CvrExport.json", "r.xml", "r.zip"):
            path = made(tmp_path, raw, name, provider, source=FIRST)
            with pytest.raises(WrongUse):
                counted(path)


def test_xml_with_entities_is_not_read(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "Ann"><!ENTITY b "&a;&a;&a;">]>' + CDF
    with pytest.raises(WrongUse, match="has a document type"):
        counted(made(tmp_path, bomb, "c.xml", "cdf"))
    deep = "<a>" * 200 + "</a>" * 200
    with pytest.raises(WrongUse, match="deep"):
        counted(made(tmp_path, deep, "c.xml", "cdf"))


def test_the_command_counts_by_a_configuration(tmp_path: Path) -> None:
    path = str(made(tmp_path, GRID, "r.csv", "genericCsv", source=FIRST))
    run = CliRunner()
    answer = one_object(run.invoke(commands, ["vote", "tally", "--config", path, "--json"]))
    assert (answer["winners"], len(answer["passes"][0])) == (["Bob"], 2)
    told = run.invoke(commands, ["vote", "tally", "--config", path]).stdout
    assert "Elected: Bob." in told
    for more in (["--rule", "borda"], ["--dice", "swans"], ["--seats", "2"]):
        one_sentence(run.invoke(commands, ["vote", "tally", "--config", path, *more]), 2, "leave one out")
    one_sentence(run.invoke(commands, ["vote", "tally"]), 2, "name the file with the ballots")


def test_a_count_by_a_configuration_is_signed_and_counted_again(tmp_path: Path) -> None:
    text = "Ann,Bob,Cid\n" + "1,2,\n" * 3 + "2,1,3\n" * 3 + ",2,1\n" * 3
    path = made(tmp_path, text, "r.csv", "genericCsv", source=FIRST, tiebreakMode="random", randomSeed="7")
    run, record = CliRunner(), tmp_path / "count.json"
    arguments = ["--record", str(record), "--ledger", str(tmp_path / "ledger.db"), "--json"]
    answer = one_object(run.invoke(commands, ["vote", "tally", "--config", str(path), *arguments]))
    check = ["verify", str(record), "--ballots", str(path), "--key", answer["public_key"], "--json"]
    done = one_object(run.invoke(commands, check))
    assert (done["passed"], done["whole"]) == (True, True), done
    assert any("seed of the configuration" in each for each in done["not_checked"])
    body = json.loads(record.read_text(encoding="ascii"))["count"]
    assert (body["wire"], body["winners"], len(body["ties"])) == ("configured/1", answer["winners"], 1)
    assert str(tmp_path) not in record.read_text(encoding="ascii"), "no folder of this machine"
    for change, sentence in (
        ({"randomSeed": "8"}, "the configuration is not that of the record"),
        ({"randomSeed": "7", "batchElimination": True}, "the configuration is not that of the record"),
    ):
        made(tmp_path, text, "r.csv", "genericCsv", source=FIRST, tiebreakMode="random", **change)
        failed = run.invoke(commands, check)
        assert (failed.exit_code, sentence in failed.stdout) == (4, True), failed.stdout
    made(tmp_path, text + "1,,\n", "r.csv", "genericCsv", source=FIRST, tiebreakMode="random", randomSeed="7")
    failed = run.invoke(commands, check)
    assert (failed.exit_code, "their digests differ" in failed.stdout) == (4, True)


PRECINCTS = "id,precinct,batch,Ann,Bob,Cid\n" + "".join(
    f"{i},{'north' if i % 3 else ''},b{i % 2},{row}\n"
    for i, row in enumerate(["1,2,3"] * 8 + ["2,1,"] * 2 + [",2,1"] * 3)
)
BY_PLACE = {"firstVoteColumnIndex": "4", "firstVoteRowIndex": "2", "precinctColumnIndex": "2", "batchColumnIndex": "3"}


@pytest.mark.parametrize("winners", ["1", "2"])
def test_places_add_up_to_the_contest_and_are_written(tmp_path: Path, winners: str) -> None:
    mode = {"winnerElectionMode": "multiWinnerAllowMultipleWinnersPerRound"} if winners == "2" else {}
    path = made(tmp_path, PRECINCTS, "r.csv", "genericCsv", source=BY_PLACE, numberOfWinners=winners, **mode)
    office = read_office(path)
    contest = count_configured(office.configuration, office.ballots)
    texts = exports(office, contest, counts_by_unit(office, contest), "2026-01-01T00:00:00Z")
    assert set(texts) == {"rounds.csv", "rounds.json", "by-precinct.csv", "by-batch.csv", "results-cdf.json"}
    rows = list(csv.DictReader(texts["by-precinct.csv"].splitlines()))
    assert {row["precinct"] for row in rows} == {"north", UNNAMED}
    first = {
        row["candidate"]: Fraction(row["votes"]) for row in rows if (row["precinct"], row["round"]) == ("north", "1")
    }
    assert (first["Ann"], first["Bob"], first["Cid"]) == (5, 1, 2)
    results = json.loads(texts["results-cdf.json"])
    (ann, *_) = results["Election"][0]["Contest"][0]["ContestSelection"]
    counts = {(each["GpUnitId"], each["Round"]): each["Count"] for each in ann["VoteCounts"]}
    assert counts["unit-all", 1] == 8 == sum(counts[f"unit-precinct-{i}", 1] for i in (1, 2))
    assert {unit["Type"] for unit in results["GpUnit"]} == {"other", "precinct", "ballot-batch"}
    page = office_page(office.configuration, contest, counts_by_unit(office, contest), Repeating(digest="d"))
    assert all(words in page for words in ("<bdi>Ann</bdi></strong> elected", "By precinct", "Signature", " %</td>"))
    assert page.index("By precinct</h2>") < page.index("Nothing is promised about lies"), "not above an official count"


def test_counts_of_places_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    office = read_office(made(tmp_path, PRECINCTS, "r.csv", "genericCsv", source=BY_PLACE))
    contest = count_configured(office.configuration, office.ballots)
    (rounds,) = contest.passes
    name, votes = rounds[0].tally[0]
    changed = replace(rounds[0], tally=((name, votes + 1), *rounds[0].tally[1:]))
    for wrong in (replace(contest, passes=((changed, *rounds[1:]),)), replace(contest, cast=contest.cast + 1)):
        with pytest.raises(CheckFailed, match="do not add up"):
            count_units(office, wrong, "precinct")
    with pytest.raises(WrongUse, match="by precinct or by batch"):
        count_units(office, contest, "colour")
    office = read_office(made(tmp_path, GRID, "r.csv", "genericCsv", source=FIRST))
    with pytest.raises(WrongUse, match="say no precinct"):
        count_units(office, count_configured(office.configuration, office.ballots), "precinct")


def test_reports_and_the_page_are_written_once(tmp_path: Path) -> None:
    path = str(made(tmp_path, PRECINCTS, "r.csv", "genericCsv", source=BY_PLACE))
    arguments = [
        "vote",
        "tally",
        "--config",
        path,
        "--page",
        str(tmp_path / "p.html"),
        "--reports",
        str(tmp_path / "out"),
    ]
    answer = one_object(CliRunner().invoke(commands, [*arguments, "--json"]))
    assert answer["reporting_units"] == {"precinct": 2, "batch": 2}
    assert {Path(each).name for each in answer["reports"]} == {each.name for each in (tmp_path / "out").iterdir()}
    one_sentence(CliRunner().invoke(commands, [*arguments, "--json"]), 2, "already")


@pytest.mark.parametrize("part", ["winners", "ties", "passes", "more"])
def test_a_record_that_says_something_else_than_its_count_fails(tmp_path: Path, part: str) -> None:
    office = read_office(made(tmp_path, GRID, "r.csv", "genericCsv", source=FIRST))
    record = configured_record(count_configured(office.configuration, office.ballots), office).as_json()
    count_configured_again(record, office)
    with pytest.raises(CheckFailed, match=part if part != "more" else "fields that a count does not have"):
        count_configured_again(record | {part: ["Ann"]}, office)


def test_a_vendors_records_are_counted_without_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "CvrExport.json").write_text(json.dumps({"Sessions": [SESSION]}), encoding="utf-8")
    contests = [{"Id": "Mayor", "Description": "Mayor", "VoteFor": 1}, {"Id": "2", "Description": "Clerk"}]
    people = [{"Id": code, "Description": code.title(), "ContestId": "Mayor"} for code in ("ann", "bob", "cid")]
    for name, listed in (("ContestManifest", contests), ("CandidateManifest", people)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"List": listed}), encoding="utf-8")
    for place in (tmp_path, tmp_path / "CvrExport.json"):
        file = strict(read(place, contest="mayor"))
        assert (file.format, file.title, file.ballots.counts()) == ("dominion", "Mayor", {("Ann", "Cid"): 1})
        assert file.ballots.candidates == ("Ann", "Bob", "Cid")
    with pytest.raises(WrongUse, match='contests "Mayor", "Clerk"; say which'):
        read(tmp_path)
    with pytest.raises(WrongUse, match="no ballot of the records has this contest"):
        read(tmp_path, contest="Clerk")
    (tmp_path / "CandidateManifest.json").write_text(json.dumps({"List": people[1:]}), encoding="utf-8")
    with pytest.raises(WrongUse, match="mark 'ann', whom no manifest names"):
        read(tmp_path, contest="Mayor")


def test_xml_and_archives_are_counted_without_a_configuration(tmp_path: Path) -> None:
    bob = '<ContestSelection ObjectId="y"><CandidateIds>q</CandidateIds></ContestSelection></Contest>'
    two = CDF.replace("</Contest>", bob + '<Candidate ObjectId="q"><Name>Bob</Name></Candidate>')
    (tmp_path / "c.xml").write_text(two, encoding="utf-8")
    assert read(tmp_path / "c.xml").ballots.counts() == {("Ann",): 1}
    named = HART
    for name in ("Ann", "Bob"):
        named = named.replace(f"<Id>{name.lower()}</Id>", f"<Name>{name}</Name><Id>{name.lower()}</Id>")
    (tmp_path / "h.zip").write_bytes(packed(tmp_path, {"1.xml": named, "2.xml": named}))
    assert read(tmp_path / "h.zip").ballots.counts() == {("Ann", "Bob"): 2}
    unranked = named.replace("100", "1").replace("010", "1")
    (tmp_path / "h.zip").write_bytes(packed(tmp_path, {"1.xml": unranked}))
    with pytest.raises(WrongUse, match="without ranking them"):
        read(tmp_path / "h.zip")


def test_a_workbook_is_read_as_its_first_sheet(tmp_path: Path) -> None:
    rows = [["Cast Vote Record", "Mayor Choice 1", "Mayor Choice 2"], ["1", "Ann", "Bob"], ["2", "Bob", ""]]
    (tmp_path / "b.xlsx").write_bytes(workbook(tmp_path, rows))
    assert strict(read(tmp_path / "b.xlsx")).ballots.counts() == {("Ann", "Bob"): 1, ("Bob",): 1}
    (tmp_path / "b.xlsx").write_bytes(workbook(tmp_path, [*rows, rows[1]]))
    with pytest.raises(WrongUse, match="the id of an earlier line"):
        read(tmp_path / "b.xlsx")


@pytest.mark.skipif(not REPORTED, reason="RCTab's suite is not here")
@pytest.mark.parametrize(
    ("place", "contest", "folder"),
    [
        ("2024_alaska_dominion/partial_cvr", "U.S. Representative", "2024_alaska_dominion"),
        ("_shared/dominion_alaska/alaska_input_data", None, "dominion_alaska"),
        ("_shared/hart_cvr_archive", "CEDAR PARK SCHOOL BOARD", "hart_cedar_park_school_board"),
        (
            "unisyn_cvrs/101-RCV-CVT_TEST_3_UNIOVS2103-2.xml",
            "For County Coroner (1/2)",
            "unisyn_xml_cdf_county_coroner",
        ),
        ("clear_ballot_kansas_primary/clear_ballot_kansas_primary.cvr.csv", None, "clear_ballot_kansas_primary"),
    ],
)
def test_both_ways_to_read_a_vendors_records_give_the_same_first_choices(
    place: str, contest: str | None, folder: str
) -> None:
    file = strict(read(RCTAB / place, Reading(skips="skip"), contest=contest))
    first = theirs(next((RCTAB / folder).glob("*expected_detailed_report.json")))[0][1]
    tops: dict[str, int] = {}
    for ranking, weight in file.ballots.counts().items():
        if ranking:
            tops[ranking[0]] = tops.get(ranking[0], 0) + weight
    written = ("Write-in", "Undeclared Write-ins", "(undeclared)")
    people = {name: votes for name, votes in first.items() if votes and name not in written}
    assert {name: votes for name, votes in tops.items() if name not in written} == people


def test_a_configuration_that_asks(tmp_path: Path) -> None:
    """RCTab's stopCountingAndAsk: refused where nobody can be asked, counted by --tie, signed, and counted again."""
    grid = "Ann,Bob,Cid\n1,2,3\n3,1,2\n2,3,1\n"
    path = str(made(tmp_path, grid, "r.csv", "genericCsv", source=FIRST, tiebreakMode="stopCountingAndAsk"))
    told = ["vote", "tally", "--config", path]
    one_sentence(CliRunner().invoke(commands, told), 2, "add --tie with the name of one of them")
    record = tmp_path / "count.json"
    more = ["--tie", "Cid", "--record", str(record), "--ledger", str(tmp_path / "led.db"), "--json"]
    answer = one_object(CliRunner().invoke(commands, [*told, *more]))
    assert answer["winners"] == ["Ann"]
    assert answer["ties"] == ["Equal: Ann, Bob, Cid; Cid goes, by hand."]
    check = ["verify", str(record), "--ballots", path, "--key", answer["public_key"]]
    again = CliRunner().invoke(commands, [*check, "--explain"])
    assert again.exit_code == 0, again.output
    assert "who broke the ties by hand" in again.output
