"""Council district 2 of Portland (Oregon), 5 November 2024: the last rounds of the published count, rebuilt.

The city's report gives the votes of every round to four decimal places, what each transfer was, and the residue. From
them it follows how many papers went where: 55.2816 votes at a value of 0.0528 are 1,047 papers, and so on. The ballots of
the first 19 rounds, whose papers are exhausted by then or with the first who is elected, stand here as one candidate.
"""

from __future__ import annotations

from fractions import Fraction

from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats.reading import Reading
from hubbub.voting.rctab.result import EXHAUSTED, LAST_SURPLUS, ROUNDING
from hubbub.voting.rctab.tabulation import tabulate, tabulation_rules
from hubbub.voting.rctab.tie_breaks import OrderedTies
from hubbub.voting.rules.jurisdictions import rule_set
from hubbub.voting.rules.stv import RULES, TransferableVote

RYAN, PIRTLE, KANAL, PENSON, GONE = (
    "Dan Ryan",
    "Elana Pirtle-Guiney",
    "Sameer Kanal",
    "Tiffani Penson",
    "exhausted before",
)
NAMES = (RYAN, PIRTLE, KANAL, PENSON, GONE)
BALLOTS = Ballots.from_counts(
    NAMES,
    {
        (GONE,): 77_157 - 69_530,
        (GONE, KANAL): 1_100,
        (RYAN,): 17_710,
        (PIRTLE,): 18_135,
        (KANAL, RYAN): 1_047,
        (KANAL, PIRTLE): 5_880,
        (KANAL, PENSON, RYAN): 313,
        (KANAL, PENSON, PIRTLE): 809,
        (KANAL, PENSON): 4_042 - 313 - 809,
        (KANAL,): 9_397 - 1_100,
        (PENSON, RYAN): 3_457,
        (PENSON, PIRTLE): 3_085,
        (PENSON,): 13_319 - 3_457 - 3_085,
    },
)
PUBLISHED = (
    {RYAN: "17710", PIRTLE: "18135", KANAL: "20366", PENSON: "13319"},
    {RYAN: "17765.2816", PIRTLE: "18445.4640", KANAL: "19290", PENSON: "13532.4176"},
    {RYAN: "21238.8080", PIRTLE: "21573.1792", KANAL: "19290"},
)
QUOTA = 19_290


def numbers(votes: dict[str, str]) -> dict[str, Fraction]:
    return {name: Fraction(text) for name, text in votes.items()}


def test_the_rounds_by_an_offices_rules() -> None:
    rules = tabulation_rules("seats", seats=3, decimals=4)
    _, counted = tabulate(rules, BALLOTS, OrderedTies(NAMES))
    (rounds,) = counted.passes
    assert {each.threshold for each in rounds} == {QUOTA}
    assert [dict(each.tally) for each in rounds[1:4]] == [numbers(votes) for votes in PUBLISHED]
    kanal, penson, last = ({move.target: move.votes for move in each.moves} for each in rounds[1:4])
    surplus = {RYAN: "55.2816", PIRTLE: "310.4640", PENSON: "213.4176", EXHAUSTED: "496.1616", ROUNDING: "0.6752"}
    assert kanal == numbers(surplus)
    assert penson == numbers({RYAN: "3473.5264", PIRTLE: "3127.7152", EXHAUSTED: "6931.1760"})
    assert {move.origin: move.votes for move in rounds[3].moves if move.target == LAST_SURPLUS} == numbers(
        {RYAN: "1947.5419", PIRTLE: "2281.8655"}
    )
    assert {move.origin: move.votes for move in rounds[3].moves if move.target == ROUNDING} == numbers(
        {RYAN: "1.2661", PIRTLE: "1.3137"}
    )
    assert set(last) == {LAST_SURPLUS, ROUNDING}
    assert set(counted.winners) == {RYAN, PIRTLE, KANAL}


def test_the_stages_by_the_rule_of_the_place() -> None:
    place = rule_set("portland")
    assert (place.reading(Reading()).overvotes, place.transfers) == ("skip", "albany")
    rule = TransferableVote(seats=3, rules=RULES[place.transfers or ""])
    result = rule.run(BALLOTS, ScriptedSource.from_label("portland"))
    totals = [{NAMES[i]: votes for i, votes in stage.totals if votes} for stage in result.stages]
    assert result.quota == QUOTA
    assert totals[1:] == [numbers(votes) for votes in PUBLISHED]
    assert set(result.winner_names) == {RYAN, PIRTLE, KANAL}
