"""The flow of a count for several seats: what is in a column is what runs into it, and nothing is lost on the way."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.count.stv_flow import SeatsFlow, seats_flow
from hubbub.voting.rules.stv import RULES, TransferableVote

NAMES = tuple("abcdefghij")
RANKINGS = st.lists(st.sampled_from(NAMES), unique=True, max_size=6).map(tuple)


def drawn(counts: dict[tuple[str, ...], int], seats: int, rules: str, most_named: int = 7) -> SeatsFlow:
    rule = TransferableVote(seats=seats, rules=RULES[rules])
    return seats_flow(rule.run(Ballots.of(NAMES, counts), ScriptedSource.from_label("flow")), most_named=most_named)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(RANKINGS, st.integers(1, 40), min_size=2, max_size=12),
    st.integers(1, 4),
    st.sampled_from(list(RULES)),
    st.integers(4, 10),
)
def test_columns_and_links_add_up(counts: dict[tuple[str, ...], int], seats: int, rules: str, most: int) -> None:
    flow = drawn(counts, seats, rules, most)
    valid = sum(weight for ranking, weight in counts.items() if ranking)
    for number, column in enumerate(flow.columns):
        assert sum(votes for _, votes in column.piles) == pytest.approx(valid, abs=0.1)
        links = [link for link in flow.links if link.column == number]
        if number + 1 < len(flow.columns):
            after = flow.columns[number + 1]
            for name, votes in column.piles:
                assert sum(link.votes for link in links if link.origin == name) == pytest.approx(votes, abs=0.1)
            for name, votes in after.piles:
                assert sum(link.votes for link in links if link.target == name) == pytest.approx(votes, abs=0.1)
    assert all(link.votes > -0.01 for link in flow.links)


def test_the_elected_come_first_and_small_candidates_are_one_pile() -> None:
    counts = {(name,): 30 - 2 * i for i, name in enumerate(NAMES)}
    flow = drawn(counts, 2, "scotland", 4)
    assert flow.order[:2] == ("a", "b")
    assert flow.order[-2:] == ("6 others", "exhausted")
    assert flow.columns[1].note == "out: j"
    called = {("exhausted",) if name == "a" else (name,): n for (name,), n in counts.items()}
    rule = TransferableVote(seats=1)
    names = ("exhausted", *NAMES[1:])
    other = seats_flow(rule.run(Ballots.of(names, called), ScriptedSource.from_label("flow")))
    assert {"exhausted", "(exhausted)"} <= set(other.order)
