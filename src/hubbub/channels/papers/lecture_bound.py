"""One bound for the delta of the lecture notes' noise at a count and at every smaller one.

Write n = K - c for the count, s = t epsilon, a = s/n and a' = s/(n + 1) for the rates at c and c - 1, C for the factor;
the loss allowed is C a. Around the larger count the laws are f(v) = tanh(a/2) e^(-a|v|) and f'(v) = tanh(a'/2)
e^(-a'|v + 1|), and a - a' = s/(n (n + 1)).

*The person comes* (f' against f). On either side f'/f grows outwards, so the positive part is the largest difference
of two tails, for v >= 0

    R(j) = e^(-a'(j + 1)) / (1 + e^-a')  -  e^(C a) e^(-a j) / (1 + e^-a),

and at most the supremum over real j. It lies where e^((a - a') j) = (a/a') e^(C a + a') (1 + e^-a')/(1 + e^-a), and
since a'/(a - a') = n it is e^(-(C + 1) s) H(n) with

    H(n) = G(n)^n / G(n + 1)^(n + 1),     G(x) = x (1 + e^(-s/x)).

For v < 0 it is e^(-(C - 1) s) H(n) in the same way. H falls as n grows: -ln H(n) is a difference of x ln G(x) = x ln x
+ x ln(1 + e^(-s/x)), which is convex (the second term is the perspective of a convex function).

*The person leaves* (f against f'). tanh(a/2)/tanh(a'/2) <= (n + 1)/n, so for v >= 0 the logarithm of f/f' less C a is
at most q - b (v + 1) with q = (1 - (C - 1) s)/n and b = a - a', and 1 - e^-x <= x. With tanh(a/2) <= a/2, and a sum of
falling terms held against its integral, the positive part is at most

    (a/2) e^a sum over w >= 1 of e^(-a w) (q - b w)_+  <=  e^(s/n) / (2 (n + 1)) k(q a / b),    k(x) = x - 1 + e^-x,

where q a/b = (1 - (C - 1) s) (n + 1)/n; and 0 if q <= 0. For v < 0, of mass at most 1/2, the logarithm is at most
(1 - (C + 1) s)/n. Each of these falls as n grows.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from hubbub.numeric.exact import ball, exp


def largest_below(n: int, s: Fraction, factor: Fraction) -> arb:
    """A bound for the exact delta at factor * s/n, in both directions, where K - count is n or more.

    Guarantee: the upper end is at least the delta of the two-sided geometrics of rates s/m and s/(m + 1), one person
    apart, for every whole m >= n (the argument is at the top of this file).
    """
    comes = (exp(-(factor + 1) * s) + exp(-(factor - 1) * s)) * (_log_g(n, s) - _log_g(n + 1, s)).exp()
    return comes.max(_leaves(n, s, factor))


def _log_g(x: int, s: Fraction) -> arb:
    """x ln G(x)."""
    return x * (x * (1 + exp(-s / x))).log()


def _leaves(n: int, s: Fraction, factor: Fraction) -> arb:
    near, far = 1 - (factor - 1) * s, 1 - (factor + 1) * s
    found = arb(0)
    if near > 0:
        x = near * (n + 1) / n
        found += exp(s / n) / (2 * (n + 1)) * (ball(x) - 1 + exp(-x))
    if far > 0:
        found += ball(far / (2 * n))
    return found
