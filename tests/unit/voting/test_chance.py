"""Draws: exact, recorded, and none where nothing is left to chance."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.noise.source import RecordingSource, ScriptedSource, SystemSource
from hubbub.voting.chance import Chance, below

THIRD = Fraction(1, 3)


def test_what_is_certain_is_not_drawn() -> None:
    chance = Chance(ScriptedSource())
    assert chance.pick("nothing", ["a", "b"], [Fraction(0), Fraction(1)]) == 1
    assert chance.even("nothing", ["a"]) == 0
    assert chance.draws == []


def test_a_draw_is_written_down() -> None:
    chance = Chance(ScriptedSource([0]))
    assert chance.pick("a tie", ["a", "b", "c"], [Fraction(0), Fraction(1, 4), Fraction(3, 4)]) == 1
    draw = chance.draws[0]
    assert (draw.why, draw.among, draw.chosen) == ("a tie", ("b", "c"), "b")
    assert draw.chances == (Fraction(1, 4), Fraction(3, 4))
    assert not chance.secure
    assert Chance(SystemSource()).secure
    assert Chance(RecordingSource(SystemSource())).secure


@pytest.mark.parametrize(("word", "chosen"), [(0, 0), (1 << 62, 1), (2 << 62, 2)])
def test_each_third_of_the_numbers_is_one_candidate(word: int, chosen: int) -> None:
    """Two bits of a word; the fourth value is thrown away and drawn again."""
    assert Chance(ScriptedSource([word])).pick("a tie", "abc", [THIRD] * 3) == chosen
    assert Chance(ScriptedSource([3 << 62, word])).pick("a tie", "abc", [THIRD] * 3) == chosen


def test_numbers_below_a_bound_are_whole_words_and_bits() -> None:
    assert below(1, ScriptedSource()) == 0
    assert below(1 << 64, ScriptedSource([12345])) == 12345
    huge = 3 << 100
    assert 0 <= below(huge, ScriptedSource.from_label("huge")) < huge
    assert below(1 << 65, ScriptedSource([1 << 63, 5])) == 1 << 64


def test_chances_with_huge_denominators_are_exact() -> None:
    tiny = Fraction(1, 2**130 + 1)
    assert Chance(ScriptedSource([0] * 3)).pick("tiny", "ab", [tiny, 1 - tiny]) == 0
    assert Chance(ScriptedSource([0, 0, 1 << 63])).pick("tiny", "ab", [tiny, 1 - tiny]) == 1
