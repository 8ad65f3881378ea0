"""Anybody's function in every game, with what its neighbours are; wrong use gets a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from benchmarks.adapters import anonymised, noisy, opendp, randomised
from hubbub.audit.function import audit, load
from hubbub.channels.catalogue import channel
from hubbub.errors import WrongUse
from hubbub.noise.binomial import binomial
from hubbub.noise.source import ScriptedSource, Source

FEW, MORE = ["x"] * 4, ["x"] * 5
RUNS = 3000


def count(rows: Sequence[str], source: Source) -> int:
    return int(channel("geometric", epsilon="1").release(np.array([len(rows)]), source).values[0])


def twice(rows: Sequence[str], source: Source) -> int:
    return int(channel("geometric", epsilon="1").release(np.array([2 * len(rows)]), source).values[0])


def test_a_differential_game_is_replayed_and_run() -> None:
    found = audit(count, (FEW, MORE), epsilon=1, distance=1, runs=RUNS)
    assert [each.depth.value for each in found] == ["replay", "black box"]
    assert [each.word for each in found] == ["undecided", "undecided"]
    assert [each.word for each in audit(twice, (FEW, MORE), epsilon=1, distance=1, runs=RUNS)] == ["refuted", "refuted"]


def test_an_outlier_game_is_at_the_epsilon_of_the_crowd() -> None:
    (found,) = audit(count, (FEW, MORE), game="outlier", epsilon="0.01", runs=RUNS)
    assert found.is_refuted
    assert found.game.value == "outlier"


def exact_or_hidden(rows: Sequence[str]) -> dict[str, Any]:
    return {name: n if n >= 3 else "hidden" for name, n in sorted(Counter(rows).items())}


def shown_from_two(rows: Sequence[str]) -> dict[str, Any]:
    every = Counter(rows)
    return {name: every[name] if every[name] >= 2 else "hidden" for name in ("x", "y")}


def test_a_crowd_blending_game_asks_who_is_missed_and_who_is_like_them() -> None:
    rows = ["x"] * 4 + ["y"] * 2
    words: dict[str, Any] = {"game": "crowd-blending", "epsilon": 0, "runs": 200}
    (found,) = audit(shown_from_two, (rows, 5), k=3, **words)
    assert found.is_refuted
    assert found.witness is not None
    assert found.witness["crowd_at_most"] == "2"
    assert not audit(shown_from_two, (rows, 5), k=2, **words)[0].is_refuted
    assert not audit(shown_from_two, (rows, 0), k=4, **words)[0].is_refuted  # missed, and four are alike
    (listed,) = audit(exact_or_hidden, (["x"] * 4 + ["y"], 4), k=3, **words)
    assert listed.is_refuted, "the key of an only person tells that they are there"


def sampled(rows: Sequence[int], source: Source) -> int:
    """The number of ones among a sample of half, as it is."""
    return int(binomial(np.array([sum(rows)]), "1/2", source)[0])


def test_a_zero_knowledge_game_has_a_simulator() -> None:
    ones = [1] * 6
    words: dict[str, Any] = {"game": "zero-knowledge", "epsilon": "0.5", "runs": RUNS}
    assert audit(sampled, (ones, ones[1:]), simulator=lambda rows: 0, **words)[0].is_refuted
    assert not audit(count, (ones, ones), simulator=count, **words)[0].is_refuted
    with pytest.raises(WrongUse, match="simulator"):
        audit(sampled, (ones, ones[1:]), **words)


def test_a_distributional_game_draws_its_tables() -> None:
    source = ScriptedSource.from_label("tables")

    def others() -> list[str]:
        return ["x"] * int(binomial(np.array([20]), "1/2", source)[0])

    draws: tuple[Callable[[], Any], Callable[[], Any]] = (lambda: [*others(), "x"], others)
    words: dict[str, Any] = {"game": "distributional", "runs": RUNS}
    assert not audit(len, draws, epsilon=1, delta="0.2", **words)[0].is_refuted  # the crowd itself is the noise
    assert audit(len, (lambda: ["x"], list), epsilon=1, **words)[0].is_refuted
    with pytest.raises(WrongUse, match="draw tables"):
        audit(len, (FEW, MORE), epsilon=1, **words)


# --- other people's software --------------------------------------------------------------------------------------


class Mechanism:
    """What a mechanism of diffprivlib looks like from outside."""

    def __init__(self, epsilon: str) -> None:
        self.noise, self.source = channel("geometric", epsilon=epsilon), ScriptedSource.from_label(f"theirs {epsilon}")

    def randomise(self, value: int) -> int:
        return int(self.noise.release(np.array([value]), self.source).values[0])


def test_adapters_hand_over_what_others_made() -> None:
    right, wrong = Mechanism("1"), Mechanism("3")
    assert not audit(randomised(right, len), (FEW, MORE), epsilon=1, runs=RUNS)[0].is_refuted
    assert audit(randomised(wrong, len), (FEW, MORE), epsilon=1, runs=RUNS)[0].is_refuted
    assert audit(opendp(lambda rows: wrong.randomise(len(rows))), (FEW, MORE), epsilon=1, runs=RUNS)[0].is_refuted
    assert audit(noisy(len, lambda: wrong.randomise(0)), (FEW, MORE), epsilon=1, runs=RUNS)[0].is_refuted
    drops_small = anonymised(list, lambda rows: sorted(row for row in rows if rows.count(row) > 1))
    words: dict[str, Any] = {"game": "crowd-blending", "epsilon": 0, "runs": 200}
    assert audit(drops_small, (["x", "x", "y", "y", "y"], 0), k=3, **words)[0].is_refuted
    assert not audit(drops_small, (["x", "x", "y", "y", "y"], 0), k=2, **words)[0].is_refuted


# --- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "noname", "no.such.module:f", "hubbub.audit.examples:nothing", ":f"])
def test_a_name_that_leads_nowhere_gets_one_sentence(name: str) -> None:
    with pytest.raises(WrongUse):
        load(name)


def test_a_name_leads_to_what_it_says() -> None:
    assert load("hubbub.audit.examples:pair")[1][-1] == "Bath"
    assert load("hubbub.audit.finding:Game.OUTLIER").value == "outlier"


@pytest.mark.parametrize("neighbours", [FEW, (1, 2, 3), 7])
def test_neighbours_are_a_pair(neighbours: object) -> None:
    with pytest.raises(WrongUse):
        audit(count, neighbours, epsilon=1)


def test_an_unknown_game_is_named_with_those_there_are() -> None:
    with pytest.raises(WrongUse, match="distributional"):
        audit(count, (FEW, MORE), game="chess", epsilon=1)
