"""What was planted and is no fault: everything is the same after it, or as right, each with the reason.

By module, the line as it stands, and what became of it: whoever changes the line has to think again.
"""

from __future__ import annotations

from typing import Final

EQUIVALENT: Final[dict[tuple[str, str, str], str]] = {
    (
        "guarantees/indistinguishability.py",
        "if p == 1 or isinstance(epsilon, Infinite):",
        "1 becomes 2",
    ): "for p = 1 the mixture is epsilon, rounded up, and the smaller of the two is epsilon again",
    (
        "guarantees/composition.py",
        "_DIGITS = 60",
        "60 becomes 61",
    ): "long sums are rounded up to so many digits, and one more is as right",
    (
        "guarantees/accountant/odometer.py",
        "_KEPT: Final = 24  # digits of a growth",
        "24 becomes 25",
    ): "a growth is rounded up to so many digits, and one more is as right",
    (
        "guarantees/accountant/accountant.py",
        "MOST_KINDS: Final = 32",
        "32 becomes 33",
    ): "one kind more is kept apart before kinds are rounded up to few, and each way is as right",
    (
        "guarantees/accountant/gaussian.py",
        "SMOOTHINGS: Final = tuple(Fraction(n, 8) for n in (4, 6, 8, 10, 12, 16, 24))",
        "16 becomes 17",
    ): "each of them is a proof, and the one with the least price is taken",
    (
        "guarantees/accountant/gaussian.py",
        "return self.rate * Fraction(math.isqrt(math.ceil(10**12 * self.moved / self.s2)), 10**6)",
        "10 becomes 11",
    ): "a width by which a step of the law is chosen, and every step is right",
    (
        "guarantees/accountant/gaussian.py",
        "far = math.sqrt(2 * math.log(1 / max(delta, Fraction(1, 10**300))))",
        "1 becomes 2",
    ): "a guess at what a proof costs, by which one of several proofs is chosen",
    (
        "guarantees/accountant/gaussian.py",
        "return min(wanted, step_of(Counter(pairs)))",
        "min becomes max",
    ): "every step is right, and a wider one rounds more up",
    (
        "guarantees/accountant/gaussian.py",
        "ends = [(ball(i * step) - ball(square) / 2) / mu for i in range(low, high + 1)]",
        "+ becomes -",
    ): "the last two steps count as shown for certain, which is no smaller",
    (
        "guarantees/accountant/gaussian.py",
        "best += 100",
        "100 becomes 101",
    ): "a search whose end is checked by the exact delta",
    (
        "guarantees/accountant/odometer.py",
        "EXPONENTS: Final = tuple(Fraction(2) ** i * half for i in range(-2, 12) for half in (Fraction(1), Fraction(3, 2)))",
        "2 becomes 3",
    ): "other exponents, each with its share of delta: the theorem holds for any list",
    (
        "guarantees/accountant/privacy_loss.py",
        "return min(found, basic) if sum((pair.infinite_mass for pair in pairs), Fraction(0)) <= delta else found",
        "<= becomes <",
    ): "both are bounds, and where the masses are just delta the sum of the losses is not offered",
    (
        "noise/gaussian.py",
        "fill = _fill_by_rejection if few or parameter > WIDEST_TABLE else _fill_from_table",
        "or becomes and",
    ): "the table and the rejection both draw exactly this law, and only the time is another",
}
