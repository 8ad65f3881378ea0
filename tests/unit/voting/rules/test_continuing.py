"""Instant runoff in which an overvoted rank ends a ballot while several of its candidates are in."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.result import Result
from hubbub.voting.rules.continuing import RunoffByContinuing
from hubbub.voting.rules.runoff import InstantRunoff
from hubbub.voting.ties import FixedTies

Levels = tuple[frozenset[str], ...]
NAMES = "abcd"


def levels(text: str) -> Levels:
    return tuple(frozenset(part) for part in text.split(">"))


def run(strict: dict[str, int], tied: dict[str, int]) -> Result:
    counts = {tuple(ranking): weight for ranking, weight in strict.items()}
    ballots = Ballots.from_counts(NAMES, counts, tied={levels(text): weight for text, weight in tied.items()})
    return RunoffByContinuing(ties=FixedTies(tuple(NAMES))).run(ballots, ScriptedSource())


def totals(result: Result) -> list[dict[str, int]]:
    return [{NAMES[i]: count for i, count in counted.counts} for counted in result.rounds]


def test_several_continuing_candidates_exhaust_a_ballot() -> None:
    result = run({"a": 9, "b": 8, "c": 7}, {"d>bc>a": 5})
    assert totals(result) == [{"a": 9, "b": 8, "c": 7, "d": 5}, {"a": 9, "b": 8, "c": 7}, {"a": 9, "b": 8}]
    assert [counted.exhausted for counted in result.rounds] == [0, 5, 12]


def test_one_continuing_candidate_gets_it_and_none_is_passed() -> None:
    one = run({"a": 9, "b": 8, "c": 1}, {"d>bc>a": 5})
    assert totals(one)[2] == {"a": 9, "b": 13}  # c went first, so b alone was left of {b, c}
    none = run({"a": 9, "b": 3, "c": 1}, {"d>bc>a": 5})
    assert totals(none)[1:] == [{"a": 9, "b": 3, "d": 5}, {"a": 9, "d": 5}]
    assert none.winner_name == "a"


def test_who_is_exhausted_stays_so() -> None:
    """Both were in when the ballot came to them; that one goes later does not bring it back."""
    result = run({"a": 9, "b": 8, "c": 7}, {"bc>a": 2})
    assert totals(result)[0] == {"a": 9, "b": 8, "c": 7, "d": 0}
    assert result.rounds[-1].exhausted == 9
    assert totals(result)[-1] == {"a": 9, "b": 8}


def by_hand(strict: dict[tuple[str, ...], int], tied: dict[Levels, int]) -> list[dict[str, int]]:
    """One voter at a time; the last in the alphabet goes of those equal, all without a ballot together."""
    voters = [[[x] for x in ranking] for ranking, weight in strict.items() for _ in range(weight)]
    voters += [[sorted(level) for level in ranking] for ranking, weight in tied.items() for _ in range(weight)]
    dead: set[int] = set()
    left, rounds = list(NAMES), []
    while len(left) > 1:
        counts = dict.fromkeys(left, 0)
        for number, ranks in enumerate(voters):
            if number in dead:
                continue
            here = next(([x for x in rank if x in left] for rank in ranks if any(x in left for x in rank)), [])
            if len(here) == 1:
                counts[here[0]] += 1
            else:
                dead.add(number)
        rounds.append(counts)
        fewest = min(counts.values())
        out = [x for x in left if counts[x] == fewest]
        if fewest:
            out = out[-1:]
        elif len(out) == len(left):
            out = out[1:]
        left = [x for x in left if x not in out]
    return rounds


STRICT = st.dictionaries(
    st.lists(st.sampled_from(NAMES), unique=True, max_size=4).map(tuple), st.integers(1, 6), max_size=5
)
TIED = st.permutations(NAMES).flatmap(
    lambda order: st.sampled_from(
        [levels(f"{order[0]}{order[1]}>{order[2]}"), levels(f"{order[0]}>{order[1]}{order[2]}>{order[3]}")]
    )
)


@settings(max_examples=150, deadline=None)
@given(STRICT, st.dictionaries(TIED, st.integers(1, 5), max_size=3))
def test_every_count_is_that_of_one_voter_at_a_time(
    strict: dict[tuple[str, ...], int], tied: dict[Levels, int]
) -> None:
    ballots = Ballots.from_counts(NAMES, strict, tied=tied)
    fixed = RunoffByContinuing(ties=FixedTies(tuple(NAMES)))
    result = fixed.run(ballots, ScriptedSource())
    assert totals(result) == by_hand(strict, tied)
    for counted in result.rounds:
        assert sum(count for _, count in counted.counts) + counted.exhausted == ballots.voters
    law = fixed.lottery(ballots)
    assert law[result.winner] == 1
    assert sum(RunoffByContinuing().lottery(ballots)) == 1


@settings(max_examples=60, deadline=None)
@given(STRICT)
def test_without_equal_ranks_it_is_instant_runoff(strict: dict[tuple[str, ...], int]) -> None:
    ballots = Ballots.from_counts(NAMES, strict)
    ours, plain = RunoffByContinuing(), InstantRunoff()
    assert ours.lottery(ballots) == plain.lottery(ballots)
    script = ScriptedSource.from_label("x"), ScriptedSource.from_label("x")
    first, second = ours.run(ballots, script[0]), plain.run(ballots, script[1])
    assert (first.rounds, first.winner, first.draws) == (second.rounds, second.winner, second.draws)
    assert all(isinstance(chance, Fraction) for chance in ours.lottery(ballots))
