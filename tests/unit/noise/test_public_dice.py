"""Dice that anybody can repeat: the same words everywhere, and never in a release."""

from __future__ import annotations

import hashlib

import pytest

from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import PublicDice, RecordingSource, is_secure
from hubbub.release import run
from hubbub.voting.chance import below


def test_the_words_are_those_of_the_documentation() -> None:
    """Worked out once by hand from docs/elections.md; they may never change."""
    expected = []
    for k in range(5):
        text = "hubbub public dice 1\na fine day\n" + str(k)
        expected.append(int(hashlib.sha256(text.encode("utf-8")).hexdigest()[:16], 16))
    assert PublicDice("a fine day").words(5).tolist() == expected
    assert expected[0] == 0x401DC71890FDFB69


def test_how_they_are_asked_for_does_not_matter() -> None:
    together, apart = PublicDice("x"), PublicDice("x")
    assert together.words(7).tolist() == [int(apart.words(1)[0]) for _ in range(7)]
    assert PublicDice("x").words(0).tolist() == []


def test_spaces_and_unicode_forms_do_not_matter_and_capitals_do() -> None:
    same = ["café au  lait", " cafe\u0301 au\tlait\n"]
    assert len({PublicDice(text).sentence for text in same}) == 1
    assert PublicDice("Café au lait").words(1)[0] != PublicDice(same[0]).words(1)[0]
    with pytest.raises(WrongUse, match="said aloud"):
        PublicDice(" \n")


def test_a_release_refuses_them() -> None:
    dice = PublicDice("noise that everybody knows")
    assert not is_secure(dice)
    assert not is_secure(RecordingSource(dice))
    with pytest.raises(Refused, match="draws its noise from the operating system"):
        run(None, None, dice)  # type: ignore[arg-type]  # refused before anything is looked at


def test_numbers_below_a_bound_come_from_the_highest_bits() -> None:
    words = PublicDice("bound").words(200).tolist()
    tops = [word >> 62 for word in words]
    dice = PublicDice("bound")
    drawn = [below(3, dice) for _ in range(50)]
    assert drawn == [top for top in tops if top < 3][:50]
    assert {*drawn} == {0, 1, 2}
