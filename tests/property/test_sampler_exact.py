"""For every rational epsilon: the tables hold the law, words are decided as the law says, and restarts lose nothing.

The reference shares no arithmetic with the library: exponentials are `decimal`'s, correctly rounded at 120 digits,
and probabilities are sums of the probability function, not the closed forms that the tables are made of.
"""

from __future__ import annotations

import decimal
import math
from bisect import bisect_left
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import TypeVar

import numpy as np
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.noise import sampler
from hubbub.noise.sampler import bernoulli, bernoulli_exp, geometric, two_sided_geometric
from hubbub.noise.source import ScriptedSource
from hubbub.noise.table import CertifiedTable
from hubbub.numeric.exact import ball, lower, precision, upper

END = 2**64
DIGITS = 120
CLOSE = Decimal(10) ** -60  # relative; what 400-bit balls and 120 digits agree to with room to spare

epsilons = st.fractions(Fraction(1, 10**6), 60, max_denominator=10**9)
wide = st.fractions(Fraction(1, 150), 60, max_denominator=10**6)  # one word per sample: few enough cells to add up
narrow = st.fractions(Fraction(1, 10**6), Fraction(1, 170), max_denominator=10**9)  # two words per sample
some_words = st.lists(st.integers(0, END - 1), min_size=1, max_size=50)

T = TypeVar("T")


def with_digits(compute: Callable[[], T]) -> T:
    with decimal.localcontext(prec=DIGITS):
        return compute()


def q_of(epsilon: Fraction) -> Decimal:
    return (-Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()


def one_sided(epsilon: Fraction, x: int) -> Decimal:
    return (1 - q_of(epsilon)) * q_of(epsilon) ** x


def two_sided(epsilon: Fraction, x: int) -> Decimal:
    q = q_of(epsilon)
    return (1 - q) / (1 + q) * q ** abs(x)


def as_decimal(x: arb) -> Decimal:
    middle = (lower(x) + upper(x)) / 2
    return Decimal(middle.numerator) / Decimal(middle.denominator)


def cell_probability(table: CertifiedTable, cell: int) -> Decimal:
    boundaries = [arb(0), *table._boundaries(), arb(1)]
    return as_decimal(boundaries[cell + 1] - boundaries[cell])


# --- the tables hold the law ------------------------------------------------------------------------------------


def reference_boundaries(probabilities: list[Decimal]) -> list[int]:
    return [math.floor(total * END) for total in accumulate(probabilities)]


def assert_table(table: CertifiedTable, floors: list[int]) -> None:
    """A boundary is irrational: the one word that touches it is its floor."""
    inside = [floor for floor in floors if floor < END]
    assert table._possibly.tolist() == inside
    assert table._surely.tolist() == [floor + 1 for floor in inside if floor + 1 < END]


@settings(max_examples=25, deadline=None)
@given(wide)
def test_the_boundaries_are_the_sums_of_the_probabilities(epsilon: Fraction) -> None:
    law = sampler._one_sided(epsilon)
    terms = with_digits(lambda: [one_sided(epsilon, x) for x in range(law.quotients)])
    assert_table(law.table, with_digits(lambda: reference_boundaries(terms)))

    law = sampler._both_sides(epsilon)
    assert law.base == 1
    # The infinite lower tail is what two halves and the middle leave: (1 - P(-M..M)) / 2.
    terms = with_digits(lambda: [two_sided(epsilon, x) for x in range(-law.quotients, law.quotients + 1)])
    beyond = with_digits(lambda: (1 - sum(terms, Decimal(0))) / 2)
    assert_table(law.table, with_digits(lambda: reference_boundaries([beyond, *terms])))


@settings(max_examples=15, deadline=None)
@given(narrow, st.data())
def test_quotient_and_remainder_multiply_to_the_law(epsilon: Fraction, data: st.DataObject) -> None:
    for law, pmf in ((sampler._one_sided(epsilon), one_sided), (sampler._both_sides(epsilon), two_sided)):
        assert law.rest is not None
        assert law.table.cells <= 8000
        assert law.rest.cells == law.base <= 8000
        quotient, remainder = data.draw(st.integers(0, law.quotients - 1)), data.draw(st.integers(0, law.base - 1))
        if pmf is one_sided:
            cell, x = quotient, quotient * law.base + remainder
        else:
            sign = data.draw(st.sampled_from((-1, 1)))
            cell, x = law.quotients + 1 + sign * (quotient + 1), sign * (1 + quotient * law.base + remainder)
        with precision(400), decimal.localcontext(prec=DIGITS):
            product = cell_probability(law.table, cell) * cell_probability(law.rest, remainder)
            assert abs(product / pmf(epsilon, x) - 1) < CLOSE
            if pmf is two_sided:
                assert abs(cell_probability(law.table, law.quotients + 1) / two_sided(epsilon, 0) - 1) < CLOSE


@settings(max_examples=30, deadline=None)
@given(epsilons)
def test_beyond_has_the_probability_that_the_rest_leaves(epsilon: Fraction) -> None:
    # P(G >= n) = q^n and P(x >= 1 + n) = q^(1 + n)/(1 + q): where the tables end, nothing is lost and nothing added.
    one, both = sampler._one_sided(epsilon), sampler._both_sides(epsilon)
    with precision(400), decimal.localcontext(prec=DIGITS):
        q, reach = q_of(epsilon), one.quotients * one.base
        assert abs(cell_probability(one.table, one.quotients) / q**reach - 1) < CLOSE
        assert abs(cell_probability(both.table, 0) / (q ** (1 + reach) / (1 + q)) - 1) < CLOSE
        upper_tail = cell_probability(both.table, 2 * both.quotients + 2)
        assert abs(upper_tail / cell_probability(both.table, 0) - 1) < CLOSE


# --- words are decided as the law says --------------------------------------------------------------------------


def reference_cells(floors: list[int], words: list[int]) -> list[int]:
    """The number of boundaries below U. (Irrational boundaries; a word that is a floor is undecided and not asked.)"""
    return [bisect_left(floors, word) for word in words]


@settings(max_examples=60, deadline=None)
@given(wide, some_words, st.data())
def test_words_are_decided_like_a_scalar_bisection(epsilon: Fraction, words: list[int], data: st.DataObject) -> None:
    law = sampler._both_sides(epsilon)
    terms = with_digits(lambda: [two_sided(epsilon, x) for x in range(-law.quotients, law.quotients + 1)])
    beyond = with_digits(lambda: (1 - sum(terms, Decimal(0))) / 2)
    floors = with_digits(lambda: reference_boundaries([beyond, *terms]))
    near = [floor + off for floor in floors[::7] for off in (-1, 1)]
    words = [word for word in words + near if 0 <= word < END and word not in floors]
    cells = law.table.sample_from(np.array(words, dtype=np.uint64), ScriptedSource())
    assert cells.tolist() == reference_cells(floors, words)

    uncertain = data.draw(st.sampled_from(floors))
    same = [i for i, floor in enumerate(floors) if floor == uncertain]
    if uncertain < END:
        # Whatever follows an uncertain word, the cell is next to one of the boundaries that it touches.
        following = data.draw(st.lists(st.integers(0, END - 1), min_size=9, max_size=9))
        cell = int(law.table.sample_from(np.array([uncertain], dtype=np.uint64), ScriptedSource(following))[0])
        assert same[0] <= cell <= same[-1] + 1


@settings(max_examples=60, deadline=None)
@given(st.fractions(0, 1, max_denominator=10**15), some_words)
def test_a_rational_coin_compares_u_with_p(p: Fraction, words: list[int]) -> None:
    touched = p * END
    words = [word for word in words if not word <= touched <= word + 1]
    expected = [word < touched for word in words]
    assert bernoulli(p, len(words), ScriptedSource(words)).tolist() == expected


@settings(max_examples=60, deadline=None)
@given(st.fractions(0, 100, max_denominator=10**9), some_words)
def test_an_exponential_coin_compares_u_with_its_exponential(r: Fraction, words: list[int]) -> None:
    boundary = with_digits(lambda: math.floor(q_of(r) * END))
    words = [word for word in words if word != boundary]
    assert bernoulli_exp(r, len(words), ScriptedSource(words)).tolist() == [word < boundary for word in words]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.fractions(0, 1, max_denominator=10**25), max_size=12).map(sorted), st.data())
def test_any_rational_law_is_decided_exactly(boundaries: list[Fraction], data: st.DataObject) -> None:
    table = CertifiedTable(lambda: [ball(c) for c in boundaries])
    floors = [math.floor(c * END) for c in boundaries]
    near = st.sampled_from([*floors, 0]).flatmap(lambda f: st.integers(max(f - 1, 0), min(f + 1, END - 1)))
    word, following = data.draw(near), data.draw(st.lists(st.integers(0, END - 1), min_size=9, max_size=9))
    source = ScriptedSource(following)
    cell = int(table.sample_from(np.array([word], dtype=np.uint64), source)[0])
    used = [word, *following[: len(following) - source.words_left]]
    u = Fraction(0)
    for digit in reversed(used):
        u = (u + digit) / END
    width = Fraction(1, END ** len(used))  # U lies in [u, u + width)
    assert all(c <= u for c in boundaries[:cell])
    assert all(c >= u + width for c in boundaries[cell:])


# --- restarts ---------------------------------------------------------------------------------------------------


def word_for(table: CertifiedTable, cell: int) -> int:
    """A word in the middle of a cell that has room for one."""
    ends = [0, *table._surely.tolist()]
    starts = [*table._possibly.tolist(), END]
    return int((ends[cell] + starts[cell]) // 2)


restarts = st.integers(0, 6)


@settings(max_examples=60, deadline=None)
@given(st.fractions(Fraction(1, 10**6), 2, max_denominator=10**7), restarts, st.data())
def test_beyond_the_table_a_fresh_geometric_is_added(epsilon: Fraction, times: int, data: st.DataObject) -> None:
    law = sampler._one_sided(epsilon)
    reach = law.quotients * law.base
    quotient, remainder = data.draw(st.integers(0, law.quotients - 1)), data.draw(st.integers(0, law.base - 1))
    tail, last = [END - 1], [word_for(law.table, quotient)]
    if law.rest is not None:
        tail.append(END // 3)  # a remainder is drawn there too, and does not count
        last.append(word_for(law.rest, remainder))

    source = ScriptedSource(tail * times + last)
    value = times * reach + quotient * law.base + remainder
    assert geometric(epsilon, 1, source).tolist() == [value]
    assert source.words_left == 0

    for first, sign in ((0, -1), (END - 1, 1)):
        source = ScriptedSource([first, *tail[1:], *tail * times, *last])
        assert two_sided_geometric(epsilon, 1, source).tolist() == [sign * (1 + reach + value)]
        assert source.words_left == 0


@settings(max_examples=60, deadline=None)
@given(st.fractions(Fraction(1, 10**6), 2, max_denominator=10**7), st.data())
def test_within_the_table_every_value_is_where_it_belongs(epsilon: Fraction, data: st.DataObject) -> None:
    law = sampler._both_sides(epsilon)
    x = data.draw(st.integers(-law.quotients * law.base, law.quotients * law.base))
    quotient, remainder = divmod(abs(x) - 1, law.base) if x else (-1, 0)
    cell = law.quotients + 1 + (quotient + 1) * (1 if x > 0 else -1)
    script = [word_for(law.table, cell)] + ([] if law.rest is None else [word_for(law.rest, remainder)])
    assert two_sided_geometric(epsilon, 1, ScriptedSource(script)).tolist() == [x]


@settings(max_examples=20, deadline=None)
@given(st.fractions(1, 30, max_denominator=1000), st.integers(1, 40))
def test_restarts_among_many_reach_their_own_elements(epsilon: Fraction, size: int) -> None:
    # Every third element goes beyond once; the others stay at 0.
    law = sampler._one_sided(epsilon)
    beyond = [i % 3 == 1 for i in range(size)]
    script = [END - 1 if far else 0 for far in beyond] + [0] * sum(beyond)
    expected = [law.quotients if far else 0 for far in beyond]
    assert geometric(epsilon, size, ScriptedSource(script)).tolist() == expected
