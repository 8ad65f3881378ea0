"""Ballots published by their way through the official rounds: the theorem on all small elections, and every pitfall."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations
from pathlib import Path as File
from typing import Any

import pytest

from hubbub import registry
from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy
from hubbub.kinds.ballots.giveaways import hidden_moves, official_moves
from hubbub.kinds.ballots.request import KIND, publish
from hubbub.kinds.ballots.result import PathTable
from hubbub.kinds.ballots.spec import METHODS, PublishedBallots
from hubbub.kinds.ballots.tally_paths import check_recount, is_path, pile, piles, prefix_cells, public_tree, tally_paths
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.opening import publish_ballots
from hubbub.voting.ballots import BallotBox, Ballots
from hubbub.voting.count.official import Official, OfficialRound, official_of
from hubbub.voting.count.record import record_of
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.formats.formats import read, strict
from hubbub.voting.formats.reading import Reading
from hubbub.voting.rules import rules
from hubbub.voting.ties import FixedTies
from tests.fresh import wrong_in

DATA = File(__file__).parents[5] / "shared" / "data" / "elections"
REAL = {"Oakland 2010": ("00019-00000002.toi", "Jean Quan"), "San Francisco 2011": ("00021-00000011.toi", "Ed Lee")}
Ballot = tuple[str, ...]


def official(ballots: Ballots, rule: Any = None) -> Official:
    """The record of our own count."""
    answer = (rule or rules.InstantRunoff(ties=FixedTies(ballots.candidates))).run(ballots, SystemSource())
    file = BallotFile(ballots=ballots, format="", title="", reading=Reading())
    return official_of(record_of(answer, file).as_json())


def table(ballots: Ballots, record: Official, label: str = "ballots", **words: Any) -> PathTable:
    spec = publish(record, **words)
    found = spec.present(spec.measure(BallotBox(ballots), ScriptedSource.from_label(label)))
    assert isinstance(found, PathTable)
    return found


def shown(paths: dict[Ballot, int], k: int) -> dict[Ballot, int]:
    return {path: count for path, count in paths.items() if count >= k}


# --- Theorem 2, on all small elections ----------------------------------------------------------------------------

EVERY: list[Ballot] = [ranking for length in range(4) for ranking in permutations("abc", length)]
RULES = [
    rules.InstantRunoff(ties=FixedTies(("a", "b", "c"))),
    rules.RepeatedPlurality(margin=1, ties=FixedTies(("a", "b", "c"))),
    rules.ApproximateRunoff(margin=0, ties=FixedTies(("a", "b", "c"))),
]


def _of(cast: tuple[Ballot, ...]) -> Ballots:
    return Ballots.from_counts("abc", Counter(cast) or {(): 0})


@cache
def way(ballot: Ballot, record: Official) -> Ballot:
    """The definition: with whom the ballot sits, round by round."""
    tops = (next((name for name in ballot if name in each.continuing), None) for each in record.rounds)
    return tuple(dict.fromkeys(name for name in tops if name is not None))


def ways(cast: tuple[Ballot, ...], record: Official) -> Counter[Ballot]:
    return Counter(way(ballot, record) for ballot in cast)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_theorem_2_on_all_small_elections(rule: Any) -> None:
    """For every D' and t: whoever shares t's path can take t's place, and neither order, totals nor cells move; if
    fewer than k share it, the cells are those of D' alone. Exact, no draw."""

    @cache
    def counted(cast: tuple[Ballot, ...]) -> tuple[Official, Counter[Ballot]]:
        result = rule.run(_of(cast), SystemSource())
        totals = [tuple((result.candidates[i], count) for i, count in each.counts) for each in result.rounds]
        rounds = [OfficialRound(totals=t, exhausted=r.exhausted) for t, r in zip(totals, result.rounds, strict=True)]
        record = Official(rounds=tuple(rounds), winner=result.winner_name)
        cells = ways(cast, record)
        assert cells == tally_paths(_of(cast), record)
        check_recount(cells, record)
        return record, cells

    checks = 0
    for others in (each for size in range(4) for each in combinations_with_replacement(EVERY, size)):
        for t in EVERY:
            record, cells = counted(tuple(sorted((*others, t))))
            for u in EVERY:
                if way(u, record) == way(t, record):
                    assert counted(tuple(sorted((*others, u)))) == (record, cells), (others, t, u)
                    checks += 1
            for k in (2, 3):
                if cells[way(t, record)] < k:
                    assert shown(cells, k) == shown(ways(others, record), k), (others, t, k)
                    checks += 1
    assert checks > 50_000, checks


def test_prefixes_of_data_would_not_do() -> None:
    """A control: with cells cut where the data is thin, the brute force finds the counterexample (k - 1) AC + AB."""

    def adaptive(cast: list[Ballot], k: int) -> dict[Ballot, int]:
        pools = Counter(cast)
        for length in (3, 2):
            for path in [path for path in pools if len(path) == length and pools[path] < k]:
                pools[path[:-1]] += pools.pop(path)
        return shown(dict(pools), k)

    k = 3
    crowd: list[Ballot] = [("a", "c")] * (k - 1)
    assert adaptive([*crowd, ("a", "b")], k) == {("a",): k}
    assert adaptive(crowd, k) == {}  # the AB voter is not ignored
    assert adaptive([*crowd, ("a", "c")], k) == {("a", "c"): k}  # nor like anybody else
    assert METHODS == ("paths", "prefix", "noisy")
    assert not any("adapt" in option.name for option in KIND.options)


def _ways() -> Iterator[tuple[Ballots, Official]]:
    ballots = Ballots.from_counts(
        "abcd", {("d", "b", "a"): 4, ("a",): 9, ("b", "c"): 8, ("c", "d", "b"): 5, ("b",): 2, (): 3}
    )
    for rule in (rules.InstantRunoff(), rules.RepeatedPlurality(margin=2), rules.ApproximateRunoff(margin=1)):
        yield ballots, official(ballots, rule)


def test_all_paths_together_are_every_official_total() -> None:
    for ballots, record in _ways():
        paths = tally_paths(ballots, record)
        assert sum(paths.values()) == ballots.voters
        for counted, each in zip(piles(paths, record), record.rounds, strict=True):
            assert counted == {**dict(each.totals), None: each.exhausted}
        assert all(is_path(path, record) for path in paths)


# --- what the prototype met ---------------------------------------------------------------------------------------

TOWN = Ballots.from_counts("abc", {("a", "b"): 200, ("b",): 150, ("c", "a"): 90, ("c", "b"): 3, ("c",): 40, (): 31})
RECORD = official(TOWN)


def test_a_recount_that_differs_is_refused_and_costs_nothing() -> None:
    """Overvotes or skipped ranks read otherwise: the same path would not be the same pile."""
    other = TOWN.join(Ballots.from_counts("abc", {("c", "b"): 1}))
    file = BallotFile(ballots=other, format="", title="", reading=Reading())
    with pytest.raises(Refused, match="do not add up to the official totals"):
        publish_ballots(publish(RECORD), file, None, dataset="town")
    (record,) = Ledger().account("town").records
    assert not record.is_spent
    sentences = set()
    for more in ({("a",): 1}, {(): 1}, {("b", "a"): 400}):
        with pytest.raises(Refused) as refused:
            table(TOWN.join(Ballots.from_counts("abc", more)), RECORD)
        sentences.add(str(refused.value))
    assert len(sentences) == 1  # it reads the same for every such table


def test_each_ballot_is_sampled_by_its_own_coin() -> None:
    """Of 2,000 ballots of one path exactly half would be drawn every time; coins do that with a chance of 1.8 %."""
    ballots = Ballots.from_counts("ab", {("a",): 2000, ("b",): 100})
    record = official(ballots)
    counts = [table(ballots, record, f"coin {i}").visible["a",] for i in range(60)]
    assert len(set(counts)) > 20
    assert counts.count(1000) < 10
    assert abs(sum(counts) - 60 * 1000) < 6 * (60 * 500) ** 0.5


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _numbers(part)
    elif isinstance(value, int):
        yield value


def test_no_total_of_the_sample_and_no_share_is_told() -> None:
    made = table(TOWN, RECORD)
    told = dict(made.facts())
    assert told["paths_shown"] == len(made.rows) > 2
    total = sum(made.visible.values())
    assert total not in set(_numbers(told))
    said = " ".join([*made.sentences(), *made.display(100).notes])
    assert f"{total:,}" not in said
    assert "%" not in "".join(made.sentences())
    json.dumps(told, allow_nan=False)


def test_what_is_left_of_a_first_choice_may_be_negative() -> None:
    rests = []
    for i in range(12):
        rows = next(table(TOWN, RECORD, f"rest {i}").sheets()[1].batches()).to_pylist()
        rests += [row["rest"] for row in rows if row["round"] == 1 and row["candidate"] == "b"]
        assert [row["official"] for row in rows if row["round"] == 1] == [200, 150, 133, 31]
    assert min(rests) < 0 < max(rests)


def test_a_path_says_how_it_ends_and_the_blank_one_is_a_cell() -> None:
    rows = table(TOWN, RECORD, full_count=True).display(100).rows
    assert [(keys, numbers) for keys, numbers, _ in rows] == [
        (("(blank)", "exhausted"), ("31",)),
        (("a", "finalist"), ("200",)),
        (("b", "finalist"), ("150",)),
        (("c", "exhausted"), ("40",)),
        (("c > a", "finalist"), ("90",)),
    ]


def test_batches_a_majority_and_candidates_without_a_vote() -> None:
    ballots = Ballots.from_counts("abcdef", {("a",): 60, ("b",): 40, ("c",): 35, ("d", "b"): 31, ("d", "c", "a"): 2})
    several = official_of(
        {
            "rounds": [
                {"counts": {"a": 60, "b": 40, "c": 35, "d": 33, "e": 0, "f": 0}, "exhausted": 0},
                {"counts": {"a": 60, "b": 71, "c": 37}, "exhausted": 0},
            ],
            "winner": "b",
        }
    )
    made = table(ballots, several, full_count=True)
    assert several.finalists == {"a", "b", "c"}
    assert made.visible == {("a",): 60, ("b",): 40, ("c",): 35, ("d", "b"): 31}
    assert made.winner() == "b"
    own = official(ballots)
    assert own.gone(1) == {"e", "f"}
    check_recount(tally_paths(ballots, own), own)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"rounds": []}, "no round"),
        ({"winner": "c"}, "winner does not stand"),
        ({"winner": 3}, "it needs"),
        ({"rounds": [{"counts": {"a": 1.5, "b": 1}}]}, "it needs"),
        ({"rounds": [{"counts": {"a > b": 1, "b": 1}}]}, "name has '>'"),
        ({"rounds": [{"counts": {"a": 3, "b": 2}}, {"counts": {"a": 3, "b": 2}}]}, "fewer candidates"),
        ({"rounds": [{"counts": {"a": 3, "b": 2, "c": 1}}, {"counts": {"a": 2, "b": 3}}]}, "loses ballots"),
        ({"rounds": [{"counts": {"a": 3, "b": 2, "c": 1}}, {"counts": {"a": 3, "b": 4}}]}, "more ballots"),
        (
            {"rounds": [{"counts": {"a": 3, "b": 2, "c": 1}, "exhausted": 0}, {"counts": {"a": 3}, "exhausted": 1}]},
            "do not add up",
        ),
        ({"rounds": [{"counts": {"a": 3, "b": 2}, "counted": "points"}]}, "other rounds than of top choices"),
    ],
)
def test_a_record_that_no_elimination_makes_is_refused(change: dict[str, Any], why: str) -> None:
    with pytest.raises(WrongUse, match=why):
        official_of({"rounds": [{"counts": {"a": 3, "b": 2}}], "winner": "a"} | change)


def test_what_the_totals_give_away_and_what_subtraction_leaves() -> None:
    """Published bc 50, bd 40 and official transfers c +59, d +41: subtract, and one ballot stands alone."""
    ballots = Ballots.from_counts(
        "abcd", {("b", "c"): 50, ("b", "d"): 40, ("a", "b", "c"): 9, ("a", "b", "d"): 1, ("c",): 120, ("d",): 110}
    )
    record = official(ballots)
    assert official_moves(record).as_json() == {"moves": 3, "moves_below_10": 0, "moves_of_one": 0}
    made = table(ballots, record, k=30, full_count=True)
    assert hidden_moves(made.visible, record).as_json() == {"moves": 3, "moves_below_10": 2, "moves_of_one": 1}
    assert "1 of a single one" in made.sentences()[-1]
    assert table(ballots, record).facts()["hidden_moves"] is None
    assert any("by themselves show 3 moves" in said for said in table(ballots, record).sentences())


def test_exact_prefixes_beside_round_totals_are_refused_unless_sampled() -> None:
    with pytest.raises(Refused, match="until single ballots are left"):
        publish(RECORD, prefix=True, full_count=True)
    assert publish(RECORD, prefix=True).sample == Fraction(1, 2)
    once = official_of({"rounds": [{"counts": {"a": 200, "b": 150, "c": 133}}], "winner": "a"})
    assert publish(once, prefix=True, full_count=True).sample is None


def test_a_tree_is_public_and_a_ballot_counts_for_its_longest_prefix() -> None:
    tree = public_tree(RECORD, 30)
    assert {("a",), ("a", "b"), ("a", "b", "c")} <= tree
    assert all(path[:-1] in tree for path in tree if path)
    assert public_tree(RECORD, 100) == {(), ("a",), ("b",), ("c",), ("a", "b"), ("a", "b", "c")}
    cells = prefix_cells(TOWN, RECORD, 100)
    assert cells == {(): 31, ("a", "b"): 200, ("b",): 150, ("c",): 133}


# --- the promises -------------------------------------------------------------------------------------------------


def test_the_default_is_as_private_as_it_says() -> None:
    spec = publish(RECORD)
    assert (spec.k, spec.sample) == (30, Fraction(1, 2))
    own, _, differential, *_ = [step.conclusion for step in spec.promises()]
    assert own == CrowdBlending(k=30, epsilon=Fraction(0))
    assert isinstance(differential, DifferentialPrivacy)
    assert Fraction("1.19") < differential.epsilon < Fraction("1.2")
    assert differential.delta == Fraction(1, 10**6)
    with pytest.raises(Refused, match="a whole crowd is sampled"):
        publish(RECORD, k=10).promises()
    (noisy,) = publish(RECORD, noisy=True, epsilon="1", depth="4").promises()
    assert noisy.conclusion == DifferentialPrivacy(epsilon=Fraction(1))
    assert len(noisy.premises) == 3


@pytest.mark.parametrize("words", [{}, {"full_count": True}, {"noisy": True, "epsilon": "1", "depth": "4"}])
def test_every_promise_is_about_the_mechanism_with_the_record_as_a_constant(words: dict[str, Any]) -> None:
    for step in publish(RECORD, **words).promises():
        assert any("the mechanism with the official record as a constant" in text for text in step.all_assumptions())


def test_a_second_exact_table_of_the_same_voters_is_refused_and_a_fresh_sample_adds_up() -> None:
    file = BallotFile(ballots=TOWN, format="", title="", reading=Reading())
    for _ in range(2):
        publish_ballots(publish(RECORD), file, None, dataset="sampled")
    publish_ballots(publish(RECORD, full_count=True), file, None, dataset="exact")
    with pytest.raises(Refused):
        publish_ballots(publish(RECORD, full_count=True, k=40), file, None, dataset="exact")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"prefix": True, "noisy": True}, "choose one"),
        ({"full_count": True, "sample": "0.5"}, "choose one"),
        ({"noisy": True, "full_count": True}, "leave out"),
        ({"epsilon": "1"}, "add noisy"),
        ({"noisy": True, "depth": "9"}, "2 to 6 ranks"),
        ({"k": "1"}, "at least 2"),
        ({"sample": "1"}, "between 0 and 1"),
    ],
)
def test_wrong_words_are_one_sentence(words: dict[str, Any], why: str) -> None:
    with pytest.raises(WrongUse, match=why):
        publish(RECORD, **words)


def test_a_description_that_no_words_ask_for_is_refused() -> None:
    told = publish(RECORD).to_json()
    edits: list[dict[str, Any]] = [
        {"method": "adaptive"},
        {"k": 1},
        {"sample": "2"},
        {"official": {}},
        {"method": "prefix", "sample": None},
    ]
    for edit in edits:
        with pytest.raises(CheckFailed):
            registry.read("ballots/1", told | edit)


# --- the file -----------------------------------------------------------------------------------------------------


def _written(made: PathTable, folder: File) -> File:
    from hubbub.publication.files import write

    with open(folder / "release.csv", "wb") as out:
        write(made.sheets()[0], "csv", out)
    return folder / "release.csv"


@pytest.mark.parametrize("words", [{}, {"full_count": True}, {"prefix": True}, {"noisy": True, "epsilon": "6"}])
def test_a_file_is_held_against_the_official_record(words: dict[str, Any], tmp_path: File) -> None:
    made = table(TOWN, RECORD, **words)
    file = _written(made, tmp_path)
    spec = made.spec
    assert wrong_in(spec, file, "csv") is None
    whole = file.read_text()
    lines = whole.splitlines()
    last = lines[-1].split(",")
    edits = {
        "a count below k": [*lines[:-1], ",".join([*last[:2], "3", *last[3:]])],
        "a row twice": [*lines, lines[-1]],
        "another way": [*lines, '"b > a","finalist",40,40,40'],
        "nobody": [*lines, '"x","finalist",40,40,40'],
        "another end": [*lines[:-1], ",".join([last[0], '"whatever"', *last[2:]])],
        "other columns": ["path,count", *lines[1:]],
        "no number": [*lines[:-1], ",".join([*last[:2], "many", *last[3:]])],
    }
    if words == {"full_count": True}:
        edits["more than there are"] = [*lines[:-1], ",".join([*last[:2], "300", "300", "300"])]
    for what, edited in edits.items():
        file.write_text("\n".join(edited) + "\n")
        assert wrong_in(spec, file, "csv") is not None or (what == "another way" and "noisy" in words), what


# --- real elections -----------------------------------------------------------------------------------------------


@cache
def _real(name: str) -> tuple[Ballots, Official]:
    ballots = strict(read(DATA / REAL[name][0], Reading())).ballots
    return ballots, official(ballots)


@pytest.mark.skipif(not DATA.exists(), reason="the data folder is not here")
@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("words", [{}, {"full_count": True}], ids=["half", "full"])
def test_real_elections_keep_their_winner_and_every_total_is_within_its_bounds(
    name: str, words: dict[str, Any]
) -> None:
    ballots, record = _real(name)
    assert record.winner == REAL[name][1]
    made = table(ballots, record, name, **words)
    assert made.winner() == record.winner
    totals = made.totals()
    assert len(totals) == sum(len(each.totals) + 1 for each in record.rounds)
    outside = [each for each in totals if each.official is None or not each.low <= each.official <= each.high]
    assert outside == []
    widest = max(each.high - each.low for each in totals)
    assert widest < (Fraction(1, 25) if not words else Fraction(1, 70)) * ballots.voters
    last = record.last_round()
    for path in made.visible:
        assert pile(path, 1, last) == (path[0] if path else None)


@pytest.mark.skipif(not DATA.exists(), reason="the data folder is not here")
def test_bounds_of_a_smaller_world_would_be_noticed() -> None:
    """A control: the totals of an election in which a twentieth of the ballots moved are outside of the bounds."""
    ballots, record = _real("Oakland 2010")
    made = table(ballots, record, "Oakland 2010")
    moved = [each for each in made.totals() if each.round == len(record.rounds) and each.candidate in record.finalists]
    shift = ballots.voters // 20
    assert all(not each.low <= (each.official or 0) + shift <= each.high for each in moved)


@pytest.mark.skipif(not DATA.exists(), reason="the data folder is not here")
def test_the_numbers_of_the_documentation() -> None:
    moves = official_moves(_real("Oakland 2010")[1])
    text = (File(__file__).parents[4] / "docs" / "elections.md").read_text(encoding="utf-8")
    assert f"{moves.few} of {moves.all} moves are below 10 ballots" in text


def test_specs_are_values() -> None:
    assert publish(RECORD) == publish(RECORD.as_json())
    assert hash(publish(RECORD)) == hash(PublishedBallots(official=RECORD))
