"""How far the shares of a sample can be from those of everybody, for every query of a class at once.

Only the n people of the table matter, so a class has at most Pi(n) different queries: a union bound over them with
Serfling's inequality for k people drawn without replacement (theory A5, in place of Proposition 23).
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from hubbub.numeric.exact import ball, precision, rounded
from hubbub.query_classes.classes import Class, Halfspaces, log_halfspaces

DIGITS = 12


def log_growth(queries: Class, people: int) -> Fraction:
    """ln of the growth function: in how many ways the queries split so many people, rounded up.

    Guarantee: at least ln Pi(people): the smaller of ln of the number of queries and of Sauer's sum of C(people, i) up
    to the VC dimension (Lemma 22; for half-spaces Cover's number).
    """
    known = queries.log_number
    if isinstance(queries, Halfspaces):
        return min(known, log_halfspaces(people, len(queries.shape)))
    if queries.dimension >= people:
        return known
    with precision():
        sauer = sum(comb(people, i) for i in range(queries.dimension + 1))
        return min(known, rounded(ball(sauer).log(), up=True))


def finite(rows: int, people: int) -> Fraction:
    """What drawing without replacement saves.

    Guarantee: the f = min{1 - (k-1)/n, (1 - k/n)(1 + 1/k)} of Serfling 1974 and Bardenet-Maillard 2015, with which
    P(|mean of k - mean of n| > t) <= 2 exp(-2 k t^2 / f) for values in [0, 1].
    """
    k, n = Fraction(rows), Fraction(people)
    return min(1 - (k - 1) / n, (1 - k / n) * (1 + 1 / k))


def sampling_error(queries: Class, rows: int, people: int, doubt: Fraction) -> Fraction:
    """How far any share of the sample is from that of everybody, but with probability `doubt`, rounded up.

    Guarantee: sqrt(f (ln Pi(n) + ln(2/doubt)) / (2k)): Serfling and Bardenet-Maillard for each of at most Pi(n)
    queries, both ways. Nothing where everybody is in the sample.
    """
    saved = finite(rows, people)
    if saved == 0:
        return Fraction(0)
    with precision():
        found = ball(saved) * (ball(log_growth(queries, people)) + ball(2 / doubt).log()) / (2 * rows)
        return min(rounded(found.sqrt(), up=True, digits=DIGITS), Fraction(1))
