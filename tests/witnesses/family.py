"""Laws for mechanisms that exist only to be refuted (:mod:`hubbub.audit.faults`), and numbers as they were
printed."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from hubbub.audit.faults import Family as Family
from hubbub.channels.law import Dense, Law
from hubbub.numeric.exact import ball, exp, upper


def untagged(law: Law, lo: int, hi: int, missing: Fraction) -> Law:
    """The law of the published value alone, lo..hi: what remains if nobody tells which tag it came with.

    `missing` must bound what lies outside; it is checked.
    """
    masses = [arb(0)] * (hi - lo + 1)
    for part in law.parts:
        if isinstance(part, Dense):
            for value in range(max(lo, part.lo), min(hi, part.hi) + 1):
                masses[value - lo] += part.masses[value - part.lo]
        elif (cut := part.restrict(lo, hi)) is not None:
            assert cut.lo is not None
            assert cut.hi is not None
            mass, step = cut.mass(cut.lo), exp(cut.slope)
            for value in range(cut.lo, cut.hi + 1):
                masses[value - lo] += mass
                mass *= step
    assert upper(1 - sum(masses, arb(0))) <= missing
    return Law((), (Dense(lo, tuple(masses)),), missing=missing)


def rounds_to(x: arb | Fraction, printed: str) -> bool:
    """Whether x, certainly, is the printed number to all its printed digits."""
    digits = Fraction(printed)
    mantissa, _, exponent = printed.partition("e")
    places = len(mantissa.partition(".")[2])
    half = Fraction(10) ** (int(exponent or 0) - places) / 2
    value = x if isinstance(x, arb) else ball(x)
    return bool(value >= ball(digits - half) and value <= ball(digits + half))
