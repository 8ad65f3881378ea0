"""Several seats as places fill them: each rule against a published count or worked example, where one was found."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.cli.main import commands
from hubbub.cli.vote.command import TRANSFERS
from hubbub.noise.source import PublicDice, RecordingSource, ReplaySource, ScriptedSource, SystemSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.rules.rule_json import rule_as_json, rule_from_json
from hubbub.voting.rules.stv import RULES, TransferableVote, TransferRules
from hubbub.voting.rules.stv_result import Seats
from hubbub.voting.rules.transfers.random_transfer import RandomTransfer


def count(votes: dict[str, int], seats: int, rules: str | TransferRules, names: str | None = None) -> Seats:
    everyone = sorted(set("".join(votes))) if names is None else names
    chosen = RULES[rules] if isinstance(rules, str) else rules
    ballots = Ballots.from_counts(everyone, {tuple(ranking): weight for ranking, weight in votes.items()})
    return TransferableVote(seats=seats, rules=chosen).run(ballots, ScriptedSource.from_label("seats"))


def totals(result: Seats, stage: int, names: str) -> list[Fraction]:
    votes = dict(result.stages[stage].totals)
    return [votes[result.candidates.index(name)] for name in names]


# --- Australian Senate: the worked example of the Australian Electoral Commission ------------------------------------

AEC = {
    "ACEH": 900,
    "ADH": 10_200,
    "AG": 3_001,
    "AH": 900,
    "BCG": 2_000,
    "BDG": 100,
    "BDH": 3_400,
    "BEG": 250,
    "BEH": 750,
    "BG": 7_000,
    "BH": 2_500,
    "CG": 500,
    "DG": 2_000,
    "EDH": 8_500,
    "EG": 993,
    "FCDG": 7_330,
    "FCG": 670,
    "FDG": 5_000,
    "FG": 500,
    "G": 4_799,
    "H": 8_700,
}
"""Ballots that have every number of papers that the sheet shows: 8 candidates, 6 vacancies, 69,993 formal votes."""


def test_the_senate_example_of_the_electoral_commission() -> None:
    result = count(AEC, 6, "australia-senate")
    assert (result.valid, result.quota) == (69_993, 10_000)
    assert totals(result, 0, "ABCDEFGH") == [15_001, 16_000, 500, 2_000, 9_493, 13_500, 4_799, 8_700]
    assert totals(result, 1, "CDEGH") == [1_250, 3_312, 9_868, 7_424, 9_637], "count 2: 6,000 / 16,000 = 0.375"
    assert totals(result, 2, "CDEGH") == [1_550, 6_712, 9_868, 8_424, 9_937], "count 3: 5,001 / 15,001"
    assert totals(result, 3, "CDEGH") == [3_624, 8_008, 9_868, 8_553, 9_937], "count 4: 3,500 / 13,500"
    assert [stage.of for stage in result.stages[4:8]] == [(2,)] * 4, "counts 5 to 8: C by four transfer values"
    assert totals(result, 7, "CDEGH") == [0, 9_908, 10_168, 9_976, 9_937]
    # Count 9: the sheet multiplies 8,500 papers by 0.0147 and gives D 124; by the fraction 168 / 11,393 it is 125.
    assert totals(result, 8, "DEGH") == [10_032 + 1, 10_000, 9_994, 9_961]
    assert totals(result, 9, "DGH") == [10_000, 10_006 + 1, 9_980], "count 10: 33 / 36,530"
    assert "".join(result.winner_names) == "BAFEDG"
    assert result.draws == ()


# --- Northern Ireland: stages of a count of West Tyrone, told by N. Whyte (From the Heart of Europe) -----------------


def test_a_surplus_of_northern_ireland() -> None:
    """1,471 first preferences and a quota of 1,078: 393 over 1,427 papers is 0.27, and 170 papers are worth 45.90.

    The next surplus is taken from these 170 papers alone: 123 of them can go on, at 0.25, 78 of them (19.50) to one
    candidate; what is cut off is lost. (There it was 31.19, since 3.29 votes came from elsewhere, and here it is 30.90.)
    """
    votes = {
        "MDK": 78,  # McElduff, McDonnell, Kelly
        "MDX": 45,
        "MD": 47,
        "MK": 1_257,
        "M": 44,
        "D": 1_063,
        "K": 300,
        "X": 640,
        "Y": 700,
        "Z": 1_211,
        "ZY": 4,
    }
    result = count(votes, 4, "northern-ireland")
    assert result.quota == sum(votes.values()) // 5 + 1 == 1_078
    surplus = result.stages[1 + [stage.of for stage in result.stages[1:]].index((result.candidates.index("M"),))]
    moved = {result.candidates[move.target]: move for move in surplus.moved if move.target is not None}
    assert (moved["D"].papers, moved["D"].votes) == (170, Fraction("45.90"))
    after = next(stage for stage in result.stages if stage.of == (result.candidates.index("D"),))
    passed = {result.candidates[move.target]: move for move in after.moved if move.target is not None}
    held = 1_063 + Fraction("45.90") - 1_078
    assert held == Fraction("30.90")
    assert (passed["K"].papers, passed["K"].votes) == (78, 78 * Fraction("0.25"))
    assert after.lost - surplus.lost == held - 123 * Fraction("0.25")


# --- Ireland, Malta: the worked example of Humphreys, Proportional Representation, 1911 ------------------------------

HUMPHREYS = {
    "AG": 1_708,
    "AD": 257,
    "AE": 11,
    "AFC": 28,
    "A": 5,
    "B": 952,
    "C": 939,
    "D": 746,
    "E": 493,
    "FC": 260,
    "F": 81,
    "G": 157,
    "HBE": 84,
    "HB": 24,
    "H": 44,
    "ID": 107,
    "IB": 11,
    "KC": 4,
    "KFC": 79,
    "KF": 10,
}
BILL_OF_1910 = RandomTransfer(name="bill", description="the Municipal Representation Bill", largest_fractions=False)


def test_the_example_of_humphreys() -> None:
    """6,000 papers, 5 seats. All fractions are cut by that bill, so one paper of A's surplus stays; else as in Ireland.

    Which 14 of A's papers go to F is drawn, and changes nothing that the example shows.
    """
    result = count(HUMPHREYS, 5, BILL_OF_1910)
    assert (result.valid, result.quota) == (6_000, 1_001)
    assert totals(result, 1, "AGBCDEFHIK") == [1_002, 1_016, 952, 939, 875, 498, 355, 152, 118, 93]
    assert totals(result, 2, "AGBCDEFHI") == [1_002, 1_016, 952, 943, 875, 498, 444, 152, 118], "K goes"
    assert totals(result, 3, "AGBDCEF") == [1_002, 1_016, 1_071, 982, 943, 498, 444], "H and I go together"
    assert totals(result, 4, "AGBDCEF") == [1_002, 1_016, 1_001, 982, 943, 568, 444], "of B's last 119 papers"
    assert totals(result, 5, "AGBCDE") == [1_002, 1_016, 1_001, 1_296, 982, 568], "F goes"
    assert "".join(result.winner_names) == "AGBCD"


def test_ireland_rounds_the_largest_fraction_up() -> None:
    """Of the surplus of 1,008 E has 5.53 by right, the largest fraction: 6 papers, and nothing stays with A."""
    result = count(HUMPHREYS, 5, "ireland")
    assert totals(result, 1, "AGDEF") == [1_001, 1_016, 875, 499, 355]
    assert result.winner_names == count(HUMPHREYS, 5, "malta").winner_names


# --- Meek, Warren, WIGM: reference counts of J. Lundell's droop, of a committee election of 2005 ----------------------

SC = """
    GHIKL:19 MGEDBA EMBGDA MDAB DBMAC DMBG GHLAMIBDKE AMCDGEB DAMGCEB:2 ADMBGECIHLK GAHIMCBDLEK:2
    EAMCBDG GHICLBMEAD CMAB:2 DGME DEMCBA GIHLKBM DCMA:3 MCDAGBE CMDAGBE MCDABEG MADBECG MDCABE CMADBGE
    DCMH ADMG:2 GCDMAE IKHG MCEB DEBCM MEBDACG MEBAGCH GHILK GHDIL MDGBH DMBGAH GHKIL HDGKMI GDBM MAGD
    DABMIE ADMECB GEDHKBMACIL DHGEMBACI CDGBLMHAE GHKI:2 MBDGEA GHIK BGHLMKAEI DGHB DMEBAC MDGCAEHBI
    DCMAG MDAC DAMCBGH BDME BCDAMG CADM DCABK CADMBG DABHC DAEMBC:2 MGCBEDA MEGBDA AMCGBDE MABGDEC:2
    CADBMGIEH
"""
"""94 papers, 13 candidates A to M, 4 seats: rankings, and how often where more than once."""


def committee(rules: str) -> Seats:
    votes = {ranking: int(many or 1) for ranking, _, many in (each.partition(":") for each in SC.split())}
    assert sum(votes.values()) == 94
    return count(votes, 4, rules, names="ABCDEFGHIJKLM")


def close(found: list[Fraction], *texts: str) -> bool:
    return [f"{float(x):.9f}" for x in found] == [f"{float(text):.9f}" for text in texts]


def test_meek_agrees_with_droop_to_the_ninth_place() -> None:
    """Rounds of SC-meek-prf: the four without votes go first, in whatever order a lot gives."""
    result = committee("meek")
    assert result.winner_names == ("G", "D", "M", "H")
    first = totals(result, 1, "ABCDEGHIM")
    expected = ["8.006073598", "3.232685848", "9.408174589", "18.800000609", "2.759954125"]
    assert close(first, *expected, "18.800000299", "13.000470959", "1.435843893", "18.556796080")
    out = [stage.of[0] for stage in result.stages if stage.what == "exclusion"]
    assert (set(out[:4]), out[4:]) == ({5, 9, 10, 11}, [8, 4, 1, 0]), "then Jones, Piacsek, Mookerjee, Dickinson"
    stages = {stage.of: number for number, stage in enumerate(result.stages) if stage.what == "exclusion"}
    piacsek = totals(result, stages[(4,)], "ABCDGHM")
    assert close(
        piacsek,
        *("9.006073598", "3.394740964", "9.408174589", "19.165213770", "18.800000299", "14.506945584", "19.718851196"),
    )
    kramer = totals(result, stages[(4,)] + 1, "ABCDGHM")
    assert close(
        kramer,
        *("9.427381450", "3.730149807", "9.774255128", "18.799133460", "18.799133416", "14.666479770", "18.799133497"),
    )
    last = totals(result, stages[(0,)], "CDGHM")
    assert close(last, "16.482212783", "19.087429756", "19.073682122", "19.085721549", "19.202438090")
    assert f"{float(result.quota):.9f}" == "18.586296861"


def test_warren_elects_whom_droop_elects() -> None:
    """Its counts stop finding prices once somebody is sure to go, so only who is elected and goes is held against it."""
    result = committee("warren")
    assert set(result.winner_names) == set("DGMH")
    out = [stage.of[0] for stage in result.stages if stage.what == "exclusion"]
    assert set(out) >= {1, 4, 8, 0}


def test_wigm_agrees_with_droop_to_the_fourth_place() -> None:
    result = committee("wigm")
    assert result.quota == Fraction("18.8001")
    expected = {
        (6,): "6.8606 3.4303 8.4303 22 2.4303 18.8001 12.6181 1.4303 18",
        (3,): "7.8784 3.5757 9.3027 18.8001 2.7211 18.8001 12.9089 1.4303 18.5816",
        (8,): "7.8784 3.5757 9.3027 18.8001 2.7211 18.8001 14.3392 0 18.5816",
        (4,): "8.8784 3.7211 9.3027 18.8001 0 18.8001 14.7695 0 19.7270",
        (12,): "9.1598 4.0698 9.5909 18.8001 0 18.8001 14.7695 0 18.8001",
        (1,): "9.6002 0 10.7363 18.8001 0 18.8001 15.8164 0 18.8001",
        (0,): "0 0 16.8969 18.8001 0 18.8001 16.8292 0 18.8001",
        (7,): "0 0 18.9089 18.8001 0 18.8001 0 0 18.8001",
    }
    stages = {stage.of: number for number, stage in enumerate(result.stages) if stage.of}
    for of, texts in expected.items():
        assert totals(result, stages[of], "ABCDEGHIM") == [Fraction(text) for text in texts.split()], of
    assert result.stages[stages[(7,)]].exhausted == Fraction("18.6879")
    assert set(result.winner_names) == set("GDMC")


def test_papers_are_drawn_and_replayed() -> None:
    votes = {"ABC": 9, "AC": 6, "ABD": 5, "B": 4, "CD": 3, "D": 5, "A": 2}
    ballots = Ballots.from_counts("ABCD", {tuple(ranking): weight for ranking, weight in votes.items()})
    for name in ("ireland", "cambridge"):
        rule = TransferableVote(seats=2, rules=RULES[name])
        recording = RecordingSource(SystemSource())
        drawn = rule.run(ballots, recording)
        again = rule.run(ballots, ReplaySource(recording.record))
        assert (again.stages, again.draws) == (drawn.stages, drawn.draws)
        dice = [rule.run(ballots, PublicDice("three white swans")).stages for _ in range(2)]
        assert dice[0] == dice[1]
        assert all("papers" in draw.why for draw in drawn.draws)


def test_every_choice_of_papers_is_equally_likely() -> None:
    """One of four papers of A goes on, each as likely: a size of 0.001, and a law that gives one of them 2 in 5 is found
    with a chance above 0.99."""
    ballots = Ballots.from_counts(
        "ABCDE", {("A", "B"): 1, ("A", "C"): 1, ("A", "D"): 1, ("A", "E"): 1, ("B",): 1, ("C",): 1}
    )
    rule = TransferableVote(seats=2, rules=RandomTransfer(name="nth", description="", every_nth=True, batch=False))
    seen: dict[tuple[int | None, ...], int] = {}
    runs = 400
    for label in range(runs):
        stage = rule.run(ballots, ScriptedSource.from_label(str(label))).stages[1]
        key = tuple(move.target for move in stage.moved)
        seen[key] = seen.get(key, 0) + 1
    expected = Fraction(runs, len(seen))
    statistic = sum((number - expected) ** 2 / expected for number in seen.values())
    assert set(map(len, seen)) == {1}, "the quota is 3, so one paper goes on"
    assert len(seen) == 4
    assert statistic < 17, f"{runs} runs, chi-square {float(statistic):.1f} of 3 degrees, threshold 17"


NAMES = "abcde"
RANKINGS = st.lists(st.sampled_from(NAMES), unique=True, max_size=5).map(tuple)
ELECTORATES = st.dictionaries(RANKINGS, st.integers(1, 60), min_size=1, max_size=8).filter(any)


@pytest.mark.parametrize("name", list(RULES))
@settings(max_examples=8, deadline=None)
@given(ELECTORATES, st.integers(1, 3))
def test_every_rule_fills_the_seats_and_loses_no_vote(name: str, votes: dict[tuple[str, ...], int], seats: int) -> None:
    rule = TransferableVote(seats=seats, rules=RULES[name])
    result = rule.run(Ballots.from_counts(NAMES, votes), ScriptedSource.from_label(name))
    assert len(result.elected) == len(set(result.elected)) == seats
    for stage in result.stages:
        assert sum(count for _, count in stage.totals) + stage.exhausted + stage.lost == result.valid
        assert stage.lost >= 0
        assert stage.exhausted >= 0
        assert all(count >= 0 for _, count in stage.totals)
    for before, after in pairwise(result.stages):
        assert set(before.elected).isdisjoint(after.elected)
    assert rule_from_json(rule_as_json(rule)) == rule
    assert all(sentence for sentence in result.sentences())


@pytest.mark.parametrize("name", list(RULES))
def test_a_majority_fills_the_one_seat(name: str) -> None:
    result = count({"abc": 60, "bc": 30, "c": 20}, 1, name)
    assert result.winner_names == ("a",)


@pytest.mark.slow
def test_the_command_counts_by_every_rule_of_transfers(tmp_path: Path) -> None:
    path, record = tmp_path / "b.csv", tmp_path / "r.json"
    rows = "".join(f"{weight},{'>'.join(ranking)}\n" for ranking, weight in HUMPHREYS.items())
    path.write_text("count,ranking\n" + rows, encoding="utf-8")
    words = ["vote", "tally", str(path), "--rule", "stv", "--seats", "5", "--json"]
    for name in ("meek", "australia-senate", "cambridge"):
        # Cambridge draws which papers go on: by other words now and then another is elected second.
        done = CliRunner().invoke(commands, [*words, "--transfers", name, "--dice", "three white swans"])
        assert done.exit_code == 0, done.output
        answer = json.loads(done.stdout)
        assert (answer["rules"], answer["winners"][:2]) == (name, ["A", "G"])
    assert tuple(RULES) == TRANSFERS
    more = ["--as", "ireland", "--dice", "three white swans", "--record", str(record), "--ledger", str(tmp_path / "l")]
    page = ["--page", str(tmp_path / "p.html")]
    done = CliRunner().invoke(commands, [*words, *more, *page])
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert answer["rules"] == "ireland"
    again = CliRunner().invoke(commands, ["verify", str(record), "--ballots", str(path), "--key", answer["public_key"]])
    assert again.exit_code == 0, again.output
    told = CliRunner().invoke(commands, [*words[:-1], "--transfers", "meek"])
    assert "The quota was" in told.output
    refused = CliRunner().invoke(commands, [*words[:3], "--transfers", "meek"])
    assert refused.exit_code == 2
    assert "is about stv" in refused.output


# --- Hare-Clark and Cambridge: no published count with its ballots was found; small elections by hand ----------------

HARE_CLARK = {"ACB": 10, "ACE": 6, "AC": 14, "AD": 10, "A": 21, "B": 34, "C": 30, "D": 20, "EBC": 10, "EBD": 5}
"""160 papers, three seats, quota 41: A has 61, B 34, C 30, D 20, E 15."""


def test_the_last_parcel_in_the_australian_capital_territory() -> None:
    """A's 20 over 40 papers that can go on is 0.5; C's 4 over 16 of the 30 papers last received is 0.25."""
    result = count(HARE_CLARK, 3, "act")
    assert totals(result, 1, "ABCDE") == [41, 34, 45, 25, 15]
    assert totals(result, 2, "ABCDE") == [41, Fraction("36.5"), 41, 25, Fraction("16.5")]
    assert [result.candidates[i] for i in result.elected] == ["A", "C", "B"]
    few = {"ACB": 4, "AC": 26} | {name: many for name, many in HARE_CLARK.items() if name[:2] != "AC"}
    result = count(few, 3, "act")
    assert totals(result, 2, "BC") == [36, 41], "4 papers came at 0.5, and never go on at more"
    assert result.stages[2].exhausted == 2


def test_the_last_parcel_in_tasmania() -> None:
    """A's 20 over all 61 papers, in whole votes: 9.8 and 3.2 are 9 and 3, and 6 end with A's papers; then E's 15 make B's
    surplus of 8, of which 10 papers at 8/15 are 5 votes."""
    result = count(HARE_CLARK, 3, "tasmania")
    assert totals(result, 1, "ABCDE") == [41, 34, 39, 23, 15]
    assert (result.stages[1].exhausted, result.stages[1].lost) == (6, 2)
    assert totals(result, 2, "BCDE") == [49, 39, 23, 0]
    assert totals(result, 3, "BCD") == [41, 44, 25]
    assert [result.candidates[i] for i in result.elected] == ["A", "B", "C"]


@pytest.mark.parametrize(("valid", "seats", "quota"), [(17_128, 9, 1_713), (16_040, 6, 2_292)])
def test_quotas_of_cambridge_in_2013(valid: int, seats: int, quota: int) -> None:
    names = "ABCDEFGHIJ"
    votes = {"A": valid - 9 * 1_000, **dict.fromkeys(names[1:], 1_000)}
    assert count(votes, seats, "cambridge").quota == quota


def test_whoever_has_fewer_than_fifty_first_choices_goes_first_in_cambridge() -> None:
    """A's surplus goes first, then D and E together, who had 49 and 10 first choices."""
    result = count({"AB": 300, "B": 90, "C": 100, "DC": 49, "EB": 10}, 2, "cambridge")
    assert result.quota == 184
    assert [(stage.what, "".join(result.candidates[i] for i in stage.of)) for stage in result.stages[1:]] == [
        ("surplus", "A")
    ]
    assert totals(result, 1, "AB") == [184, 206]
    result = count({"A": 150, "B": 120, "C": 100, "DC": 49, "EB": 10}, 2, "cambridge")
    assert [(stage.what, "".join(result.candidates[i] for i in stage.of)) for stage in result.stages[1:]] == [
        ("surplus", "A"),
        ("exclusion", "DE"),
    ]
    assert totals(result, len(result.stages) - 1, "BC") == [130, 149]
