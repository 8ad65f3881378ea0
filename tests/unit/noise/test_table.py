"""The certified table against a reference that compares the digits of U with those of the boundaries, in Fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx

from hubbub.errors import CheckFailed, WrongUse
from hubbub.noise.source import ScriptedSource, Words
from hubbub.noise.table import CHUNK, CertifiedTable, _ends
from hubbub.numeric.exact import ball, exp, precision

END = 2**64
THIRD = END // 3  # every digit of 1/3 in base 2**64


def rational_table(boundaries: Iterable[Fraction]) -> CertifiedTable:
    kept = tuple(boundaries)
    return CertifiedTable(lambda: [ball(c) for c in kept])


def reference(boundaries: Sequence[Fraction], words: Sequence[int]) -> tuple[int, int]:
    """(cell, words used) of the U that begins with `words`: digit by digit, as one compares decimals by hand."""
    cell, used = 0, 1
    for c in boundaries:
        rest = c
        for position, word in enumerate(words):
            digit = math.floor(rest * END)
            rest = rest * END - digit
            used = max(used, position + 1)
            if word != digit or rest == 0:
                cell += word >= digit
                break
        else:
            raise AssertionError("the script is too short to decide")
    return cell, used


def array(*words: int) -> Words:
    return np.array(words, dtype=np.uint64)


def decide(table: CertifiedTable, word: int, *more: int) -> tuple[int, int]:
    """(cell, further words used) for U beginning with `word` and going on with `more`."""
    source = ScriptedSource(more)
    cell = int(table.sample_from(array(word), source)[0])
    return cell, len(more) - source.words_left


# --- uncertain words --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "cell"),
    [
        ((THIRD - 1,), 0),
        ((THIRD + 1,), 1),
        ((THIRD, THIRD - 1), 0),
        ((THIRD, THIRD + 1), 1),
        ((THIRD, 0), 0),
        ((THIRD, END - 1), 1),
        ((THIRD, THIRD, THIRD - 1), 0),
        ((THIRD, THIRD, THIRD + 1), 1),
        ((*(THIRD,) * 40, 0), 0),
        ((*(THIRD,) * 40, END - 1), 1),
    ],
)
def test_an_uncertain_word_is_decided_by_the_next_both_ways(words: tuple[int, ...], cell: int) -> None:
    table = rational_table([Fraction(1, 3)])
    assert decide(table, *words) == (cell, len(words) - 1)
    assert decide(table, *words, 12345)[1] == len(words) - 1  # and asks for no word more than it needs


def test_an_irrational_boundary_is_followed_digit_by_digit() -> None:
    # 1/e from its series, in Fractions: the terms left out are below 1/200! < 2**-1200.
    near = sum((Fraction((-1) ** n, math.factorial(n)) for n in range(200)), Fraction(0))
    digits = [math.floor(near * END ** (i + 1)) % END for i in range(12)]
    table = CertifiedTable(lambda: [exp(-1)])
    for length in range(1, 12):
        below, above = digits[:length], digits[:length]
        below[-1], above[-1] = below[-1] - 1, above[-1] + 1
        assert decide(table, *below) == (0, length - 1)
        assert decide(table, *above) == (1, length - 1)


def test_only_the_uncertain_of_many_words_draw_more() -> None:
    table = rational_table([Fraction(1, 3), Fraction(2, 3)])
    words = array(0, THIRD, THIRD + 1, 2 * THIRD, 2 * THIRD + 1, THIRD, END - 1)
    source = ScriptedSource([0, 0, END - 1])  # for the three uncertain ones, in their order
    assert table.sample_from(words, source).tolist() == [0, 0, 1, 1, 2, 1, 2]
    assert source.words_left == 0
    assert words.tolist() == [0, THIRD, THIRD + 1, 2 * THIRD, 2 * THIRD + 1, THIRD, END - 1]


# --- every kind of boundary, against the reference --------------------------------------------------------------

LAWS: dict[str, tuple[Fraction, ...]] = {
    "one cell": (),
    "thirds": (Fraction(1, 3), Fraction(2, 3)),
    "dyadic": (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)),
    "dyadic at the last bit of a word": (Fraction(1, END), Fraction(5, END), Fraction(END - 1, END)),
    "dyadic beyond the first word": (Fraction(3, 2**130), Fraction(1, 2**65), 1 - Fraction(1, 2**100)),
    "zero-probability cells": (Fraction(1, 3),) * 4 + (Fraction(1, 2),) * 3,
    "boundaries at both ends": (Fraction(0), Fraction(0), Fraction(2, 7), Fraction(1), Fraction(1)),
    "everything in the first cell": (Fraction(1), Fraction(1)),
    "everything in the last cell": (Fraction(0), Fraction(0)),
    "cells below 2**-64": tuple(Fraction(5 * 77 + i, 5 * END) for i in range(1, 5)),
    "cells below 2**-128": tuple((Fraction(77, END) + Fraction(i, 7 * END**2)) for i in range(1, 7)),
    "cells below 2**-64 across a multiple of it": tuple(Fraction(3 * 77 + i, 3 * END) for i in range(-2, 3)),
    "just below 1": (1 - Fraction(1, 3 * END), 1 - Fraction(1, 5 * END**2)),
    "just above 0": (Fraction(1, 5 * END**2), Fraction(1, 3 * END)),
    "many": tuple(Fraction(i, 997) for i in range(1, 997)),
    "crowded": tuple(Fraction(1, 2) + Fraction(i, 997 * 2**40) for i in range(997)),
}


def interesting(boundaries: Sequence[Fraction], position: int = 0) -> list[int]:
    """The digits of the boundaries at one position, and their neighbours; the ends."""
    digits = {math.floor(c * END ** (position + 1)) % END for c in boundaries[:: max(1, len(boundaries) // 20)]}
    near = {(digit + off) % END for digit in digits for off in (-1, 0, 1)}
    return sorted(near | {0, 1, END - 2, END - 1, END // 2})


@pytest.mark.parametrize("name", LAWS)
def test_every_word_of_a_script_is_decided_like_the_reference(name: str) -> None:
    boundaries = LAWS[name]
    table = rational_table(boundaries)
    assert table.cells == len(boundaries) + 1
    tails = [(a, b, THIRD + 99, 4) for a, b in product(interesting(boundaries, 1)[:9], interesting(boundaries, 2)[:5])]
    for word in interesting(boundaries):
        for tail in tails if len(boundaries) < 20 else tails[:3]:
            cell, used = reference(boundaries, (word, *tail))
            assert decide(table, word, *tail) == (cell, used - 1)


@pytest.mark.parametrize(
    "name", ["one cell", "dyadic", "dyadic at the last bit of a word", "everything in the last cell"]
)
def test_an_exact_boundary_makes_no_word_uncertain(name: str) -> None:
    table = rational_table(LAWS[name])
    for word in interesting(LAWS[name]):
        assert decide(table, word) == (reference(LAWS[name], (word,))[0], 0)


@pytest.mark.parametrize("name", LAWS)
def test_the_guide_agrees_with_the_reference_in_every_entry(name: str) -> None:
    # The guide has 2**bits entries: their first and last words are where it could be wrong by one.
    boundaries = LAWS[name]
    table = rational_table(boundaries)
    shift = int(table._shift)
    entries = sorted(
        {math.floor(c * END) >> shift for c in boundaries[:: max(1, len(boundaries) // 20)]} - {END >> shift}
        | {0, (END >> shift) - 1}
    )
    for entry in entries:
        for near in (entry - 1, entry, entry + 1):
            for word in (near << shift, (near << shift) + (1 << shift) - 1):
                if 0 <= word < END:
                    cell, _ = reference(boundaries, (word, 17, 17, 17))
                    assert decide(table, word, 17, 17, 17)[0] == cell


def test_a_draw_is_the_cells_of_its_words_chunk_by_chunk() -> None:
    boundaries = LAWS["many"]
    table, size = rational_table(boundaries), 2 * CHUNK + 123
    drawn = table.sample(size, ScriptedSource.from_label("chunks"))
    words = ScriptedSource.from_label("chunks").words(size)
    assert drawn.dtype == np.int32
    assert (drawn == table.sample_from(words, ScriptedSource())).all()
    # 997 cells of the same size: the cell is the integer part of 997 U, and no word of this script is uncertain.
    assert drawn.tolist() == [int(word) * 997 // END for word in words]
    assert table.sample(0, ScriptedSource()).size == 0


# --- balls ------------------------------------------------------------------------------------------------------


def third_within(radius: Callable[[], arb]) -> CertifiedTable:
    return CertifiedTable(lambda: [ball(Fraction(1, 3)) + arb(0, 1) * radius()])


def test_wide_balls_are_asked_again_at_a_higher_precision() -> None:
    table = third_within(lambda: arb(2) ** -(ctx.prec // 8))  # 2**-32 at the usual 256 bits
    assert decide(table, THIRD - 2) == (0, 0)
    assert decide(table, THIRD + 2) == (1, 0)
    # On the boundary the balls follow eight times too slowly, so that it takes more words, and the answer is right.
    assert decide(table, THIRD, *(0,) * 20)[0] == 0
    assert decide(table, THIRD, *(END - 1,) * 20)[0] == 1


def test_a_ball_without_bounds_decides_nothing_and_harms_nothing() -> None:
    table = third_within(lambda: arb.nan() if ctx.prec < 1000 else arb(0))
    assert decide(table, THIRD - 1) == (0, 0)
    assert decide(table, THIRD, *(0,) * 20)[0] == 0


def test_balls_that_never_shrink_are_reported_and_never_guessed() -> None:
    table = third_within(lambda: arb(2) ** -70)
    assert decide(table, THIRD - 1) == (0, 0)
    assert decide(table, THIRD, 0) == (0, 1)
    with pytest.raises(CheckFailed, match="undecided after 256 random words"):
        decide(table, *(THIRD,) * 300)


def test_the_precision_outside_does_not_matter() -> None:
    with precision(10):
        table = rational_table(LAWS["thirds"])
        assert decide(table, THIRD - 1) == (0, 0)
        assert decide(table, THIRD, THIRD - 1) == (0, 1)


@pytest.mark.parametrize(
    "boundaries",
    [(Fraction(2, 3), Fraction(1, 3)), (Fraction(4, 3),), (Fraction(-1, 3),), (Fraction(0), Fraction(1), Fraction(0))],
)
def test_what_is_no_cumulative_law_is_refused(boundaries: tuple[Fraction, ...]) -> None:
    with pytest.raises(WrongUse, match=r"must not decrease and must lie in \[0, 1\]"):
        rational_table(boundaries)


def test_a_table_cannot_be_changed() -> None:
    table = rational_table(LAWS["thirds"])
    for part in (table._guide, table._surely, table._possibly):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 0
    with pytest.raises(AttributeError):
        table.other = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("bits", [4, 0, -3, -130, -20_000])
def test_the_ends_of_a_ball_are_whole_numbers_outside_of_it(bits: int) -> None:
    """Exactly next to it, or, of a ball too fine to be written out, next to a slightly wider one."""
    for middle, radius in ((0, 0), (7, 0), (5 << 70, 3), (-9, 2), ((1 << 90) + 1, 1 << 40)):
        c = arb(middle, radius) * arb(2) ** bits
        mid, rad = (Fraction(int(m)) * Fraction(2) ** int(e) for m, e in (c.mid().man_exp(), c.rad().man_exp()))
        low, high = _ends(c)
        assert low <= mid - rad
        assert mid + rad <= high
        slack = 1 if bits < -1000 else 0
        assert low >= math.floor(mid - rad) - slack
        assert high <= math.ceil(mid + rad) + slack
    assert _ends(arb("nan")) == (0, END)
