"""Every setting of a configuration is counted by, or refused by its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.voting.formats.formats import read
from hubbub.voting.formats.understanding import understanding_of_office
from hubbub.voting.formats.vendors.rctab_config import KEYS, read_configuration
from hubbub.voting.rctab.count import count_configured, hash_order, java_sorted
from hubbub.voting.rctab.record import read_office
from hubbub.voting.rctab.result import ConfiguredCount
from tests.unit.voting.rctab.configurations import FIRST, GRID, ONE_A_ROUND, PERCENTAGE, SESSION, made, workbook

DOCS = Path(__file__).resolve().parents[4] / "docs" / "elections.md"


def changed(path: Path, change: dict[str, Any], part: str | None = None) -> Path:
    """The configuration with other keys in one part of it."""
    value = json.loads(path.read_text(encoding="utf-8"))
    inside = value if part is None else value[part][0] if isinstance(value[part], list) else value[part]
    inside |= change
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def grid(folder: Path, text: str = GRID, **rules: Any) -> Path:
    return made(folder, text, "r.csv", "genericCsv", source=FIRST, **rules)


def counted(path: Path) -> ConfiguredCount:
    office = read_office(path)
    return count_configured(office.configuration, office.ballots)


@pytest.mark.parametrize(
    ("part", "key", "nearest"),
    [
        (None, "outputsettings2", "outputSettings"),
        ("outputSettings", "contestname", "contestName"),
        ("cvrFileSources", "firstVoteColumn", "firstVoteColumnIndex"),
        ("candidates", "alias", "aliases"),
        ("rules", "batchEliminations", "batchElimination"),
        ("rules", "minimumVoteTreshold", "minimumVoteThreshold"),
        ("rules", "excluded", "it belongs in candidates"),
    ],
)
def test_74_a_key_that_is_not_understood_is_refused_with_the_nearest(
    tmp_path: Path, part: str | None, key: str, nearest: str
) -> None:
    path = changed(grid(tmp_path), {key: False}, part)
    with pytest.raises(WrongUse) as caught:
        read_configuration(path)
    assert repr(key) in str(caught.value)
    assert nearest in str(caught.value)
    done = CliRunner().invoke(commands, ["vote", "tally", "--config", str(path)])
    assert (done.exit_code, key in done.output) == (2, True)


def test_74_a_key_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = grid(tmp_path)
    path.write_text(path.read_text("utf-8").replace('"hareQuota"', '"batchElimination"'), encoding="utf-8")
    with pytest.raises(WrongUse, match="'batchElimination' twice"):
        read_configuration(path)


def test_74_every_key_is_in_the_table_of_the_documentation() -> None:
    text = DOCS.read_text(encoding="utf-8")
    missing = [key for keys in KEYS.values() for key in keys if f"`{key}`" not in text]
    assert missing == []


def test_74_rules_of_other_versions_are_refused_only_where_they_are_set(tmp_path: Path) -> None:
    """RCTab writes every key that it knows, false or not."""
    for key in ("bulkElimination", "preventOneCandidateInFinalRound"):
        assert counted(changed(grid(tmp_path), {key: False}, "rules")).winners == ("Bob",)
        with pytest.raises(WrongUse, match=f"sets {key}, a rule of some versions"):
            read_configuration(changed(grid(tmp_path), {key: True}, "rules"))
        assert f"`{key}`" in DOCS.read_text(encoding="utf-8")


TOGETHER = [
    ({**PERCENTAGE}, "needs multiSeatBottomsUpPercentageThreshold"),
    ({**PERCENTAGE, "numberOfWinners": "2", "multiSeatBottomsUpPercentageThreshold": "15"}, "numberOfWinners is 0"),
    ({"winnerElectionMode": "bottomsUp"}, "one seat is filled by singleWinnerMajority"),
    ({**ONE_A_ROUND, "numberOfWinners": "2", "batchElimination": True}, "batchElimination is for one seat"),
    ({**ONE_A_ROUND, "numberOfWinners": "2", "continueUntilTwoCandidatesRemain": True}, "is for one seat"),
    ({**ONE_A_ROUND, "numberOfWinners": "2", "doesFirstRoundDetermineThreshold": True}, "several seats have no other"),
    ({"cutoffElimination": True}, "cutoffElimination is for"),
    ({"hareQuota": True}, "for several seats with surpluses"),
    ({"stopTabulationEarlyAfterRound": "0"}, "is 1 or more"),
    ({"decimalPlacesForVoteArithmetic": ""}, "does not set decimalPlacesForVoteArithmetic"),
    ({"maxSkippedRanksAllowed": None}, "does not set maxSkippedRanksAllowed"),
    ({"maxRankingsAllowed": "many"}, "maxRankingsAllowed to 'many'"),
    ({"minimumVoteThreshold": "100"}, "fewer votes than the configuration asks for"),
]


@pytest.mark.parametrize(("rules", "sentence"), TOGETHER)
def test_74_settings_that_rctab_refuses_are_refused(tmp_path: Path, rules: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        counted(grid(tmp_path, **rules))


@pytest.mark.parametrize(
    ("part", "change", "sentence"),
    [
        ("cvrFileSources", {"contestId": "Mayor"}, "sets contestId, and records of the provider genericCsv"),
        ("cvrFileSources", {"firstVoteRowIndex": ""}, "does not set firstVoteRowIndex"),
        ("cvrFileSources", {"skippedRankLabel": "a", "undervoteLabel": "b"}, "says two things"),
        ("cvrFileSources", {"overvoteLabel": "x", "overvoteDelimiter": "/"}, "do not go together"),
        ("outputSettings", {"tabulateByPrecinct": True}, "needs precinctColumnIndex"),
        ("candidates", {"name": "Bob"}, "'Bob' twice among the candidates"),
        (None, {"candidates": [{"name": "Ann", "excluded": True}]}, "a candidate who is not excluded"),
        (None, {"cvrFileSources": []}, "names no file of records"),
    ],
)
def test_74_what_has_no_effect_or_two_is_refused(
    tmp_path: Path, part: str | None, change: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(WrongUse, match=sentence):
        counted(changed(grid(tmp_path), change, part))


def test_74_a_file_of_records_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    path = grid(tmp_path)
    value = json.loads(path.read_text(encoding="utf-8"))
    value["cvrFileSources"].append({**value["cvrFileSources"][0], "filePath": "./r.csv"})
    path.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(WrongUse, match=r"'r.csv' twice"):
        read_configuration(path)


def test_counts_by_precinct_need_a_precinct(tmp_path: Path) -> None:
    text = "where," + GRID.replace("\n", "\n,").rstrip(",")
    source = {"firstVoteColumnIndex": "2", "firstVoteRowIndex": "2", "precinctColumnIndex": "1"}
    path = made(tmp_path, text, "r.csv", "genericCsv", source=source)
    assert counted(path).cast == 9
    with pytest.raises(WrongUse, match="say no precinct of any ballot"):
        counted(changed(path, {"tabulateByPrecinct": True}, "outputSettings"))


def test_74_files_that_are_asked_for_and_not_written_are_told(tmp_path: Path) -> None:
    office = read_office(changed(grid(tmp_path), {"generateCdfJson": True}, "outputSettings"))
    assert any(
        "generateCdfJson" in each for each in understanding_of_office(office.configuration, office.ballots).oddities
    )


FIVE = "A,B,C,D,E\n"


def five(folder: Path, text: str, **rules: Any) -> Path:
    return changed(grid(folder, FIVE + text, **rules), {"candidates": [{"name": name} for name in "ABCDE"]})


def test_a_cutoff_sends_all_below_the_percentage_away_at_once(tmp_path: Path) -> None:
    """10, 6, 3, 2, 1 of 22: the threshold of 15 % is 3.3; one after the other C is saved by the votes of D and E."""
    text = "1,,,,\n" * 10 + ",1,,,\n" * 6 + ",,1,,\n" * 3 + ",,2,1,\n" * 2 + ",,2,,1\n"
    rules = {**PERCENTAGE, "multiSeatBottomsUpPercentageThreshold": "15"}
    assert counted(five(tmp_path, text, **rules)).winners == ("A", "B", "C")
    done = counted(five(tmp_path, text, **rules, cutoffElimination=True))
    assert done.winners == ("A", "B")
    assert [each.eliminated for each in done.passes[0]] == [("C", "D", "E"), ()]


def test_whoever_has_exactly_the_percentage_is_told(tmp_path: Path) -> None:
    text = "1,,,,\n" * 10 + ",1,,,\n" * 7 + ",,1,,\n" * 3
    done = counted(five(tmp_path, text, **PERCENTAGE, multiSeatBottomsUpPercentageThreshold="15"))
    assert done.winners == ("A", "B")
    assert "C has exactly the threshold in round 3, and more is needed." in done.ties


def test_the_threshold_of_several_seats_from_the_bottom_up_is_that_of_the_first_round(tmp_path: Path) -> None:
    """9 ballots of which 4 end when their candidate goes: 9 // 3 + 1, and not 5 // 3 + 1."""
    text = "1,,,,\n" * 3 + ",1,,,\n" * 2 + ",,1,,\n" * 2 + ",,,1,\n" + ",,,,1\n"
    done = counted(five(tmp_path, text, winnerElectionMode="bottomsUp", numberOfWinners="2"))
    assert [each.threshold for each in done.passes[0]] == [4, 4, 4, 4]


def test_the_least_number_of_votes_is_the_least_threshold(tmp_path: Path) -> None:
    text = "1,,,,\n" * 5 + ",1,,,\n" * 2
    done = counted(five(tmp_path, text, minimumVoteThreshold="5"))
    assert done.passes[0][0].threshold == 5
    assert done.winners == ("A",)


def test_nobody_is_elected_before_undeclared_write_ins_are_gone(tmp_path: Path) -> None:
    text = "A,B,C,D,E,UWI\n" + "1,,,,,\n" * 5 + ",1,,,,\n" + ",,,,,1\n"
    path = changed(grid(tmp_path, text), {"candidates": [{"name": name} for name in "ABCDE"]})
    done = counted(changed(path, {"undeclaredWriteInLabel": "UWI"}, "cvrFileSources"))
    assert [each.elected for each in done.passes[0]] == [(), ("A",)]
    assert done.passes[0][0].eliminated == ("Undeclared Write-ins",)


def test_a_hash_set_has_javas_order() -> None:
    """As Java 17 printed new HashSet<>(List.of(...)); the last two names share a bucket, and stay as they came."""
    assert hash_order(["Volvo", "BMW", "Ford", "Mazda"]) == ["Volvo", "Mazda", "Ford", "BMW"]
    assert hash_order(["Aa", "BB"]) == ["Aa", "BB"]
    assert hash_order(["BB", "Aa"]) == ["BB", "Aa"]
    assert java_sorted(["\ufffd", "\U0001f600", "b", "a"]) == ["a", "b", "\U0001f600", "\ufffd"]
    with pytest.raises(WrongUse, match="RCTab's order of so many equal candidates"):
        hash_order(
            [f"{a}{b}{c}{d}" for a in ("Aa", "BB") for b in ("Aa", "BB") for c in ("Aa", "BB") for d in ("Aa", "BB")]
        )


@pytest.mark.parametrize("seed", ["1", "7"])
def test_ties_after_earlier_rounds_are_drawn_in_the_order_of_a_hash_set(tmp_path: Path, seed: str) -> None:
    """B, C and D are equal in both rounds; seeds 1 and 7 draw number 2 of 3, which RCTab gives to the last of its set."""
    names = ["Volvo", "Mazda", "Ford", "BMW", "Rest"]
    text = ",".join(names) + "\n" + "1,,,,\n" * 9 + ",1,,,\n" * 4 + ",,1,,\n" * 4 + ",,,1,\n" * 4 + ",,,,1\n"
    path = grid(tmp_path, text, tiebreakMode="previousRoundCountsThenRandom", randomSeed=seed)
    done = counted(changed(path, {"candidates": [{"name": name} for name in names]}))
    order = hash_order(["BMW", "Ford", "Mazda"])
    assert done.passes[0][1].eliminated == (order[2],)
    assert order != sorted(order)


CHOICE = 'Choice_1_{}:"Mayor, City":{}:{}:{}:Ind'


@pytest.mark.parametrize("seats", ["Vote For 1", "Number of Winners 1"])
def test_a_comma_in_quotes_within_a_heading_of_clear_ballot_is_part_of_a_name(tmp_path: Path, seats: str) -> None:
    heads = [CHOICE.format(i, rank, seats, name) for rank in (1, 2) for i, name in enumerate(('"Lee, Ann"', "Bob"), 1)]
    text = ",".join(["RowNumber", "BoxID", "PrecinctID", *heads]) + "\n1,a,p,1,0,0,1\n2,a,p,1,0,0,0\n3,a,p,,,,\n"
    path = made(tmp_path, text, "c.csv", "clearBallot")
    changed(path, {"contestId": "Mayor, City"}, "cvrFileSources")
    office = read_office(changed(path, {"candidates": [{"name": "Lee, Ann"}, {"name": "Bob"}]}))
    assert count_configured(office.configuration, office.ballots).winners == ("Lee, Ann",)
    assert office.ballots.remarks == ("left out: 1 records that do not hold the contest",)
    assert read(tmp_path / "c.csv").ballots.counts() == {("Lee, Ann", "Bob"): 1, ("Lee, Ann",): 1}


def test_74_marks_that_are_not_counted_are_told_with_their_number(tmp_path: Path) -> None:
    rows = [["id", "1", "2", "3"], ["7", "Ann", "Bob", "Cid"], ["8", "Bob", "Ann", "Cid"], ["9", "Ann", "", "4"]]
    where = {"firstVoteColumnIndex": "2", "firstVoteRowIndex": "2", "idColumnIndex": "1"}
    book = workbook(tmp_path, rows)
    ess = read_office(made(tmp_path, book, "e.xlsx", "ess", source=where, maxRankingsAllowed="2"))
    assert ess.ballots.remarks == ("left out: 2 marks behind the last rank of maxRankingsAllowed",)
    told = understanding_of_office(ess.configuration, ess.ballots).oddities
    assert set(ess.ballots.remarks) <= set(told)
    session = json.dumps({"Sessions": [SESSION]})
    dominion = read_office(made(tmp_path, session, "CvrExport.json", "dominion"))
    assert dominion.ballots.remarks == ("left out: 1 ambiguous marks",)
