"""Real elections with known results. The files are not part of the repository: without them these are skipped."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from hubbub.noise.source import SystemSource
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.formats.formats import read, strict
from hubbub.voting.formats.reading import Reading
from hubbub.voting.result import Result
from hubbub.voting.rules.jurisdictions import rule_set
from hubbub.voting.rules.rules import Borda, InstantRunoff, Plurality, RepeatedPlurality, Rule

ELECTIONS = Path(__file__).resolve().parents[5] / "shared" / "data" / "elections"
pytestmark = pytest.mark.skipif(not ELECTIONS.exists(), reason="the elections are not here")

BURLINGTON, OAKLAND, SAN_FRANCISCO = "00005-00000002.toi", "00019-00000002.toi", "00021-00000011.toi"


@cache
def election(name: str) -> BallotFile:
    return strict(read(ELECTIONS / name))


def run(name: str, rule: Rule) -> Result:
    return rule.run(election(name).ballots, SystemSource())


def last(name: str, rule: Rule) -> dict[str, int]:
    result = run(name, rule)
    return {result.candidates[i]: count for i, count in result.rounds[-1].counts}


@pytest.mark.parametrize(
    ("name", "candidates", "voters"),
    [
        (BURLINGTON, 6, 8_980),
        ("00005-00000002.toc", 6, 8_980),
        (OAKLAND, 11, 119_256),
        (SAN_FRANCISCO, 25, 194_530),
        ("00014-00000001.soc", 10, 5_000),
        ("00001-00000002.soi", 9, 29_988),
        ("00004-00000101.soc", 4, 1_256),
        ("00016-00000002.toi", 5, 2_527),
        ("00020-00000001.toi", 4, 153_419),
        ("00030-00000001.soi", 5, 266),
        ("edinburgh_2017_ward12.blt", 10, 10_649),
        ("edinburgh_2017_ward12.csv", 10, 10_649),
        ("highland_2022_thurso.blt", 6, 5_139),
        ("eilean_siar_2022_ward3.blt", 3, 661),
        ("mn_2013_cast_vote_record.csv", 36, 80_101),  # one more than is stated beside it: its rows were counted
    ],
)
def test_every_file_loads_with_its_ballots(name: str, candidates: int, voters: int) -> None:
    ballots = election(name).ballots
    assert (len(ballots.candidates), ballots.voters) == (candidates, voters)


@pytest.mark.parametrize("name", [BURLINGTON, "00005-00000002.toc"])
def test_burlington_2009(name: str) -> None:
    assert last(name, InstantRunoff()) == {"Bob Kiss": 4_313, "Kurt Wright": 4_060}
    assert run(name, InstantRunoff()).winner_name == "Bob Kiss"
    assert run(name, Plurality()).winner_name == "Kurt Wright"
    assert run(name, Borda()).winner_name == "Andy Montroll"
    assert run(name, RepeatedPlurality()).winner_name == "Bob Kiss"


def test_six_ballots_of_burlington_are_overvoted_and_none_by_being_completed() -> None:
    assert dict(election(BURLINGTON).changed) == {"overvotes": 6}
    assert read(ELECTIONS / BURLINGTON).ballots.tied_voters == 6
    assert dict(election("00005-00000002.toc").changed) == {"overvotes": 6}


def test_oakland_2010() -> None:
    assert last(OAKLAND, InstantRunoff()) == {"Jean Quan": 53_822, "Don Perata": 51_515}
    assert run(OAKLAND, InstantRunoff()).winner_name == "Jean Quan"
    assert run(OAKLAND, Plurality()).winner_name == "Don Perata"


def test_san_francisco_2011() -> None:
    assert run(SAN_FRANCISCO, InstantRunoff()).winner_name == "Ed Lee"
    law = InstantRunoff().lottery(election(SAN_FRANCISCO).ballots)
    assert law[election(SAN_FRANCISCO).ballots.candidates.index("Ed Lee")] == 1  # whichever way its ties fall


def test_minneapolis_2013_by_the_rules_for_marks() -> None:
    file = election("mn_2013_cast_vote_record.csv")
    assert file.reading.rules()["repeats"] == "first"
    assert set(file.changed) == {"overvotes", "skips", "repeats"}
    assert run("mn_2013_cast_vote_record.csv", InstantRunoff()).winner_name == "BETSY HODGES"


def test_minneapolis_2013_by_its_own_rules() -> None:
    """The city published 38,870 ballots for Hodges and 24,972 for Andrew in the last round."""
    place = rule_set("minneapolis")
    file = strict(read(ELECTIONS / "mn_2013_cast_vote_record.csv", place.reading(Reading())))
    result = InstantRunoff().run(file.ballots, SystemSource())
    ended = {result.candidates[i]: count for i, count in result.rounds[-1].counts}
    assert ended == {"BETSY HODGES": 38_870, "MARK ANDREW": 24_972}


def test_known_winners_of_the_other_files() -> None:
    winners = {name: run(name, InstantRunoff()).winner_name for name in ("00030-00000001.soi", "00016-00000002.toi")}
    assert winners == {"00030-00000001.soi": "D.Milbnd", "00016-00000002.toi": "Mick Ireland"}
    assert election("edinburgh_2017_ward12.blt").seats == election("edinburgh_2017_ward12.csv").seats == 4
    assert election("highland_2022_thurso.blt").seats == 4
    assert election("eilean_siar_2022_ward3.blt").seats == 2


def test_the_two_files_of_one_ward_agree() -> None:
    blt, commas = election("edinburgh_2017_ward12.blt").ballots, election("edinburgh_2017_ward12.csv").ballots
    assert blt.rankings.tolist() == commas.rankings.tolist()
    assert blt.weights.tolist() == commas.weights.tolist()
