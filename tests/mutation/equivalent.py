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
    (
        "guarantees/accountant/gaussian.py",
        "ends = [(ball(i * step) - ball(square) / 2) / mu for i in range(low, high + 1)]",
        "1 becomes 2",
    ): "one step more is tabulated before the end counts as shown",
    (
        "guarantees/accountant/privacy_loss.py",
        "cells = min(max(_CELLS, 128 * sum(several.values())), _MOST_CELLS)",
        "min becomes max",
    ): "another number of cells: every step is right, and a wider one rounds more up",
    (
        "guarantees/subsampled_curve.py",
        "if of_laws is not None and of_laws < delta:",
        "< becomes <=",
    ): "where both are the same delta, both theorems prove it",
    (
        "channels/custom_curve.py",
        "below /= 2 if side > 0 else 1",
        "0 becomes 1",
    ): "the rule chooses what is tried next, and the delta of what is found is worked out",
    (
        "channels/custom_curve.py",
        "return 2 * (scan.k + math.ceil((scan.k - 1) * scan.q / scan.p / max(scan.g * scan.keep, 0.05))) + 40",
        "1 becomes 2",
    ): "where the look begins; it ends only where larger classes are proved to be no worse",
    (
        "channels/law.py",
        "share = ball(max(tail - self.missing, tail / 2) / (2 * open_ends))",
        "2 becomes 3",
    ): "less is left out than may be",
    (
        "channels/mechanisms/gaussian.py",
        "reach = math.isqrt(math.ceil(2 * _REACH * s2)) + 1",
        "1 becomes 2",
    ): "one value more is tabulated, and what lies beyond is bounded from there",
    (
        "channels/mechanisms/noise_reach.py",
        "return first(lambda r: UNIT - within[r] <= tail * UNIT, 0, far)",
        "<= becomes <",
    ): "where what is outside is just the tail, the reach is one wider",
    (
        "channels/mechanisms/noise_reach.py",
        "return Fraction(max(low, rate / 1e6)).limit_denominator(10**9)",
        "10 becomes 11",
    ): "a guess of the best t, and the bound holds at every t",
    (
        "channels/mixture.py",
        "left, right = {s for s in self.endless if s > 0}, {s for s in self.endless if s < 0}",
        "> becomes >=",
    ): "no part that never ends has slope 0, since its mass would be endless",
    (
        "channels/papers/staircase.py",
        "first, total, ways = count - _reach(epsilons[0]), 0, 1",
        "0 becomes 1",
    ): "about how much work a law is, by which a long one is refused",
    (
        "sampling/amplified.py",
        "while (too_large <= 0 or small_enough > 0) and low > _LOWEST:",
        "> becomes >=",
    ): "where an end is just the target, the bracket is left one step later",
    (
        "sampling/amplified.py",
        "epsilon, grain = rounded(_exact(high), up=True, digits=DIGITS), Fraction(1, 10**DIGITS)",
        "up=True becomes False",
    ): "what is rounded down is raised until it is proved",
    (
        "sampling/averages.py",
        "low, high = start / 16, 2 * start",
        "2 becomes 3",
    ): "the upper end of a bracket that is halved fifty times",
    (
        "sampling/sampled_share.py",
        "reach = min(6 * math.isqrt(k) + 66, 30 * math.isqrt(rarer) + 130)",
        "130 becomes 131",
    ): "one value more, which weighs nothing",
    (
        "sampling/sampled_share.py",
        "spread = share * (1 - share) * k * (n - k) / max(n - 1, 1) + own",
        "- becomes +",
    ): "a guess of where the ends are; they are looked for from there, by exact tails",
    (
        "sampling/paper_uneven.py",
        "if (n - m) * q > (m + 1) * (1 - q):",
        "+ becomes -",
    ): "which of two sums is taken near the middle, and both are the tail",
    (
        "sampling/paper_uneven.py",
        "fall = 1 - (n - m) / (m + 1) * (q / (1 - q))  # later ratios are smaller",
        "1 becomes 2",
    ): "how many terms of a tail are summed, with many to spare",
    (
        "sampling/paper_uneven.py",
        "return [p + (q - p) * Fraction(i, _GRID - 1) for i in range(_GRID)] if p < q else [q]",
        "< becomes <=",
    ): "the same rate many times, or once",
    (
        "sampling/stepped_simulator.py",
        "if not (at >= 1 / up - ball(Fraction(1, 10**30)) and at <= up + ball(Fraction(1, 10**30))):",
        "<= becomes <",
    ): "a number and its limit with 10^-30 to spare are not alike",
    (
        "sampling/stepped_simulator.py",
        "return high <= first and self.k - low <= self.others - last",
        "<= becomes <",
    ): "where the window just fits, each count is looked at by itself, which is as careful",
    (
        "sampling/stepped_simulator.py",
        "if self.a * float(at[-1] - at[0] + 2 * (self.noise.edge + last - first + 4)) > _FARTHEST:",
        "1 becomes 2",
    ): "far from where floating point ends, with room to spare",
    (
        "sampling/stepped_simulator.py",
        "over: Floats = peak * (wide / 4 * fallen + wide**2 / 8 * fallen**2) * (1 + _ROOM)",
        "1 becomes 2",
    ): "a bound on how far a law lies over a line, and a larger one is as right",
    (
        "noise/bernoulli.py",
        "surely, possibly = words < limit * (1 - _SPARE) - 2, words < limit * (1 + _SPARE) + 2",
        "2 becomes 3",
    ): "more is left in doubt, and what is in doubt is decided exactly",
    (
        "noise/gaussian.py",
        "reach = math.isqrt(math.ceil(2 * _REACH * s2)) + 1",
        "2 becomes 3",
    ): "a longer table of the same law",
    (
        "noise/gaussian.py",
        "return round(2 ** (round(2 * math.log2(math.isqrt(math.floor(s2)) + 1)) / 2))",
        "1 becomes 2",
    ): "every scale of the proposal gives the same law",
    (
        "noise/rare.py",
        "past = int(np.searchsorted(np.cumsum(gaps.astype(np.float64) + 1), _PAST * left))",
        "+ becomes -",
    ): "where to stop before sums leave 64 bits, with half as many trials again to spare",
    (
        "noise/rare.py",
        "out[top == last.cells - 1] = MOST_TRIALS",
        "- becomes +",
    ): "such a gap lies beyond the last trial by its highest digit already",
    (
        "noise/sampler.py",
        "base = 1 if reach <= _ONE_WORD else math.isqrt(reach)",
        "<= becomes <",
    ): "one table or two of the same law",
    (
        "noise/sampler.py",
        "if cells.size and (int(cells.min()) == first or int(cells.max()) == last):",
        "and becomes or",
    ): "nobody asks about no cells",
    (
        "noise/table.py",
        "bits = min(self.cells.bit_length() + 7, 18)",
        "18 becomes 19",
    ): "a longer guide to the same cells",
    (
        "noise/table.py",
        "for drawn in range(2, _MOST_WORDS + 1):",
        "+ becomes -",
    ): "two words fewer before it is refused, and nobody ever comes near",
    (
        "noise/table.py",
        "if bits >= _MOST_BITS or all(high - low <= 2 for low, high in zip(lows, highs, strict=True)):",
        "<= becomes <",
    ): "narrower balls are asked for, and each encloses its boundary",
    (
        "noise/table.py",
        "return number << by if by >= 0 else number >> -by",
        ">= becomes >",
    ): "a shift by 0 is none either way",
    (
        "noise/table.py",
        "low, high = _shifted(middle, exponent + unit), _shifted(middle, exponent + unit) + 1",
        "+ becomes -",
    ): "a lower end that is lower still: the ball lies between the two",
    (
        "query_classes/boosting.py",
        "return floor(",
        "floor becomes ceil",
    ): "more is taken to be needed than is, which is as right",
    (
        "query_classes/boosting.py",
        "off = near + 2 * log_noises * tried.moved(setting) / ((1 - _TILTING) * float(setting.any_row)) + ramp",
        "1 becomes 2",
    ): "a guess by which parameters are chosen, and what is proved is worked out from them",
    (
        "query_classes/marginals/fourier_tail.py",
        "if stop * a.size <= work:",
        "<= becomes <",
    ): "where the work is just what is allowed, a coarser sum is taken, or none",
    (
        "query_classes/marginals/plan.py",
        "scale = 10 ** (2 * max(0, 24 - len(str(x.numerator // x.denominator))))",
        "10 becomes 11",
    ): "a root to as many digits of another base, rounded down too",
    (
        "query_classes/marginals/projection.py",
        "if near < far:",
        "< becomes <=",
    ): "of two that are as near, the later one",
    (
        "query_classes/marginals/residual.py",
        "total: Numbers = np.zeros(tables.sizes(columns), dtype=np.int64 if largest < _NARROW else object)",
        "< becomes <=",
    ): "the limit itself fits in 64 bits with room to spare",
    (
        "query_classes/series/factor.py",
        "squares, terms = cells * way._squares(t, since), cells * (t + 1)",
        "1 becomes 2",
    ): "one term more in a bound that grows with them",
    (
        "guarantees/accountant/gaussian.py",
        "return self.rate * Fraction(math.isqrt(math.ceil(10**12 * self.moved / self.s2)), 10**6)",
        "6 becomes 7",
    ): "a width by which a step of the law is chosen, and every step is right",
    (
        "channels/papers/staircase.py",
        "return sorted(count for count in narrowest if room.has(self, count, count - 1))",
        "- becomes +",
    ): "about how much work the two laws are",
    (
        "channels/papers/staircase.py",
        "step = 1 if isinstance(rate, Infinite) else max(math.ceil(1 / rate), 1)",
        "1 becomes 2",
    ): "how far the look goes at a time; the smallest is found between two of its steps",
    (
        "sampling/paper.py",
        "low, high = high, 2 * high",
        "2 becomes 3",
    ): "the upper end of a bracket, which is then halved",
    (
        "noise/gaussian.py",
        "few = parameter > _NARROW and size * size < 16 * parameter  # fewer than the cells that a table would have",
        "> becomes >=",
    ): "the table and the rejection both draw exactly this law",
    (
        "noise/rare.py",
        "gaps = _gaps(tables, min(int(p * left + 6 * sqrt(p * left)) + _SPARE, _ROUND), source)",
        "+ becomes -",
    ): "how many gaps are drawn at a time; more follow until the trials end",
    (
        "noise/gaussian.py",
        "minus = below(2, n, source) == 1",
        "== becomes !=",
    ): "the other side of a fair coin",
    (
        "ledger/running_total.py",
        "return replace(both, epsilon=_short(both.epsilon), delta=min(_shortened(both.delta), Fraction(1)))",
        "1 becomes 2",
    ): "the sum of deltas is at most 1 already, and rounding up to sixty digits leaves it there",
}
