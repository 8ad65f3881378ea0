"""The exact binomial sampler: what is refused, what needs no randomness, and which coin decides what."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import FloatRefused, WrongUse
from hubbub.noise.binomial import LARGEST, _digits, _ones, binomial
from hubbub.noise.source import RecordingSource, ScriptedSource
from hubbub.noise.table import CHUNK

NOTHING = ScriptedSource()
"""Raises when a word is asked for."""

ALL = 2**64 - 1


def counts(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


# --- the door ---------------------------------------------------------------------------------------------------


def test_wrong_probabilities_are_refused() -> None:
    with pytest.raises(FloatRefused):
        binomial(counts(3), 0.1, NOTHING)  # type: ignore[arg-type]
    for p in ("-0.1", "1.0000001"):
        with pytest.raises(WrongUse, match="between 0 and 1"):
            binomial(counts(3), p, NOTHING)


def test_a_count_out_of_range_is_refused_and_not_repeated() -> None:
    with pytest.raises(WrongUse, match="never below 0") as refusal:
        binomial(counts(5, -17), "1/2", NOTHING)
    assert "17" not in str(refusal.value)


def test_numbers_with_a_fraction_are_refused() -> None:
    with pytest.raises(WrongUse, match="whole numbers"):
        binomial(np.array([1.0, 2.0]), "1/2", NOTHING)


def test_what_is_certain_draws_nothing() -> None:
    assert binomial(counts(0, 7, LARGEST), 1, NOTHING).tolist() == [0, 7, LARGEST]
    assert binomial(counts(0, 7, LARGEST), 0, NOTHING).tolist() == [0, 0, 0]
    assert binomial(counts(0, 0), "1/3", NOTHING).tolist() == [0, 0]
    assert binomial(counts(), "1/3", NOTHING).tolist() == []


def test_shape_and_input_are_kept() -> None:
    given = np.arange(200, dtype=np.uint32).reshape(4, 50)
    drawn = binomial(given, "1/3", ScriptedSource.from_label("shape"))
    assert drawn.shape == (4, 50)
    assert drawn.dtype == np.int64
    assert given.ravel().tolist() == list(range(200))
    assert bool(np.all((drawn >= 0) & (drawn <= given)))


# --- the law, by enumeration ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("eighths", range(1, 8))
def test_all_coins_of_three_digits_give_exactly_the_binomial_law(n: int, eighths: int) -> None:
    # p = eighths/8 ends after three digits, so three words of n bits are everything that can happen.
    p = Fraction(eighths, 8)
    seen = [0] * (n + 1)
    for words in itertools.product(range(2**n), repeat=3):
        seen[int(binomial(counts(n), p, ScriptedSource(words))[0])] += 1
    law = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    assert [Fraction(times, 8**n) for times in seen] == law


def test_the_digits_of_a_third_never_end() -> None:
    assert list(itertools.islice(_digits(Fraction(1, 3)), 300)) == [False, True] * 150
    assert list(_digits(Fraction(5, 8))) == [True, False, True]
    assert list(itertools.islice(_digits(Fraction(1, 10)), 9)) == [
        False,
        False,
        False,
        True,
        True,
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("length", [64, 65, 1000])
def test_a_trial_is_open_until_its_coins_leave_the_digits(length: int) -> None:
    # Coins equal to the digits of 1/3 for far longer than any float has digits; the next one decides.
    same = [int(digit) for digit in itertools.islice(_digits(Fraction(1, 3)), length + 1)]
    for last in (0, 1):
        source = ScriptedSource([*same[:length], last])
        decided = last != same[length]
        if decided:
            assert binomial(counts(1), "1/3", source).tolist() == [int(last < same[length])]
        else:
            with pytest.raises(WrongUse, match="script"):
                binomial(counts(1), "1/3", source)


def test_at_the_end_of_the_digits_an_open_trial_fails() -> None:
    # U = p is not below p: coins 1, 0, 1 against p = 5/8 = 0.101.
    assert binomial(counts(1), "5/8", ScriptedSource([1, 0, 1])).tolist() == [0]
    assert binomial(counts(1), "5/8", ScriptedSource([1, 0, 0])).tolist() == [1]


def test_more_than_a_word_of_trials_is_counted() -> None:
    # p = 1/2: a zero is a success. 100 trials are one word and 36 bits of the next; the other 28 bits do not count.
    assert binomial(counts(100), "1/2", ScriptedSource([0, ALL ^ (2**36 - 1)])).tolist() == [100]
    assert binomial(counts(100), "1/2", ScriptedSource([ALL, 2**36 - 1])).tolist() == [0]
    assert binomial(counts(100), "1/2", ScriptedSource([ALL - 3, 2**36 - 1])).tolist() == [2]
    # p = 1/4: the first digit is 0, so 70 ones fail and 30 zeros stay; of these, zeros succeed at the second digit.
    first = [ALL, 2**6 - 1]
    assert binomial(counts(100), "1/4", ScriptedSource([*first, 0])).tolist() == [30]
    assert binomial(counts(100), "1/4", ScriptedSource([*first, 2**10 - 1])).tolist() == [20]


@pytest.mark.parametrize("open_", [63, 64, 65])
def test_as_many_open_trials_as_a_word_has_bits_are_kept(open_: int) -> None:
    # p = 3/4: at the first digit the ones of 128 coins stay open, at the second they succeed as well.
    ones = 2**open_ - 1
    first = [ones & ALL, ones >> 64]
    assert binomial(counts(128), "3/4", ScriptedSource([*first, 0, 0][: 3 + (open_ > 64)])).tolist() == [128]
    assert binomial(counts(128), "3/4", ScriptedSource([*first, 1, 0][: 3 + (open_ > 64)])).tolist() == [127]


def test_small_and_large_bins_go_together() -> None:
    # One small bin (word 1), one large bin (words 2 and 3), p = 1/2; a bin of exactly a word is small.
    assert binomial(counts(3, 65), "1/2", ScriptedSource([0b101, ALL, 0])).tolist() == [1, 1]
    assert binomial(counts(64, 0, 65), "1/2", ScriptedSource([7, 0, 1])).tolist() == [61, 0, 64]


def test_ones_are_counted_bin_by_bin_across_chunks() -> None:
    sizes = counts(1, 63, 64, 65, 128, 64 * CHUNK - 1, 64 * CHUNK + 1, 5, 64 * CHUNK * 2 + 7, 200, *range(1, 300))
    found = _ones(sizes, ScriptedSource.from_label("ones"))
    other = ScriptedSource.from_label("ones")
    for bits, ones in zip(sizes.tolist(), found.tolist(), strict=True):
        words = other.words(-(-bits // 64))
        if bits % 64:
            words[-1] &= np.uint64(2 ** (bits % 64) - 1)
        assert ones == int(np.bitwise_count(words).sum(dtype=np.int64))


def test_no_word_is_used_twice() -> None:
    # Every request is for fresh words, and a person costs about two bits (plus what the last word of a bin wastes).
    source = RecordingSource(ScriptedSource.from_label("fresh"))
    binomial(np.full(100, 64_000), "1/3", source)
    assert 2 * 100 * 1000 < sum(source.record.sizes) < 2.1 * 100 * 1000
    words = np.concatenate([np.frombuffer(part, dtype=np.uint64) for part in source.record.requests])
    assert len(np.unique(words)) == len(words)


def test_more_bins_than_a_chunk() -> None:
    drawn = binomial(np.full(CHUNK + 3, 2), "1/2", ScriptedSource.from_label("chunks"))
    assert drawn.size == CHUNK + 3
    assert set(drawn.tolist()) == {0, 1, 2}
    assert drawn[-3:].tolist() != [0, 0, 0]
