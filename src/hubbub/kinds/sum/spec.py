"""The sum of a column over people, by bins or of all, as a value: everything about it that is public.

Values count in whole steps of a declared range that has 0 among its steps (below, inside or above it), so that a
person's total is a whole number of steps and nobody who has no value moves anything. There are four ways:

::

    layers   nothing is guessed: totals are cut into octaves up to the declared maximum, each with noise of its own;
             the sum is told up to the first layer that noise drowns (:mod:`hubbub.kinds.sum.layers`)
    cap A    a person counts with at most A; the noise is as wide as A
    octaves  bands of what people have, each with the number of its people and, of many, their sum; the fewer they are,
             the less each shows (:mod:`hubbub.kinds.sum.octaves`)
    auto     a part of epsilon is spent on a cap between the steps 1 and the maximum, drawn from the data; of several
             rows it cuts what a person has in all bins together

Of people with several rows at most M count (:mod:`hubbub.tables.contribution`), and a person's total in a bin is what is
cut into layers or capped: somebody is then in at most B bins with at most so much in each and in all together, and the
rates are such that nobody loses more than epsilon whatever the bins (:meth:`hubbub.kinds.sum.layers.Layers.spread`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from fractions import Fraction
from math import ceil
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.guarantees.accountant.gaussian import Sensitivity
from hubbub.guarantees.derivation import Derivation
from hubbub.kinds.sum.cap import grid
from hubbub.kinds.sum.layers import Layers, octaves
from hubbub.kinds.sum.octaves import Octaves, Tailored, octaves_of
from hubbub.kinds.sums.spec import Statistic
from hubbub.kinds.sums.weights import check_weight
from hubbub.noise.sampler import WIDEST
from hubbub.noise.source import Source
from hubbub.numeric.exact import to_text
from hubbub.protocol.spec import Check, CompositionInfo, Description, Files, Measurement, Result
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.exact_json import UNSAID
from hubbub.tables.bounded_column import Measure
from hubbub.tables.contribution import ContributionBounds
from hubbub.tables.protection import Crowd, Knowledge, Noise, Route

_BYTES: Final = 300  # of a bin


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum(Statistic):
    """The total of a column over the people of each bin, or over all, who have a value there."""

    of: Measure
    cap: Fraction | None = None  # the most that a person counts with; None: layers, or a cap that is drawn
    cap_per_bin: Fraction | None = None  # the most that a person with several rows counts with in one bin
    cap_share: Fraction | None = None  # of epsilon, for a cap that is drawn
    lost: Fraction | None = None  # of epsilon, for what the cap cut off
    cap_max: Fraction | None = field(default=None, metadata=UNSAID)  # up to where that is looked at
    weight: Measure | None = None  # design weights: a person adds the weight times the value
    tailored: Tailored | None = field(default=None, metadata=UNSAID)  # octave sums

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        of = self.of
        if (of.low / of.step).denominator != 1:
            raise WrongUse(
                f"a sum counts in whole steps from 0, and {to_text(of.low)} is no multiple of {to_text(of.step)}; "
                "declare a range whose ends are multiples of its step"
            )
        _check_cap(self)
        if self.tailored is not None:
            _check_tailored(self)
        if isinstance(self.protection, Crowd) and self.protection.epsilon is None:
            raise WrongUse("what a crowd has together is shown with noise; say how much it may lose, with `epsilon=E`")
        if isinstance(self.protection, Crowd) and self.protection.sample is not None:
            raise WrongUse("a sum of crowds is of everybody in them; leave out `sample`")
        if isinstance(self.protection, Knowledge) and self.protection.route is Route.EXACT:
            raise WrongUse("noise on the exact number is for one share of all people; draw a sample instead")
        if self.unit.expected_rows or self.any_row:
            raise WrongUse("a sum of kept rows is of those that were kept; leave out `expected_rows` and `any_row`")
        if self.gaussian is None and min(self.rates) < WIDEST:
            raise WrongUse("noise wider than 10^12 steps is not drawn; declare a coarser step, or raise epsilon")

    # --- what is public -------------------------------------------------------------------------------------------

    @property
    def bounds(self) -> ContributionBounds | None:
        """What one person contributes at most, where several rows of a person count; caps in steps."""
        rows = self.unit.bounds
        if rows is None or self.profiled:  # of crowds each row counts by itself
            return None
        caps = [None if cap is None else int(cap / self.of.step) for cap in (self.cap_per_bin, self.cap)]
        return replace(rows, cap_per_bin=caps[0], cap=caps[1])

    @property
    def unit_loss(self) -> Fraction | None:
        """What one person more or less may cost inside, with all rows that count."""
        if isinstance(self.protection, Noise):
            return self.protection.epsilon
        if not isinstance(self.protection, Crowd):
            return self.protection.rate / 2
        epsilon = self.protection.epsilon
        return epsilon / self.moved if epsilon is not None and self.profiled else epsilon

    @property
    def sensitivity(self) -> Sensitivity | None:
        """Of the sums of all bins, where a cap is said or there are layers; None where a part of epsilon goes elsewhere.

        Guarantee: the largest there is: of one row the cap, of several what
        :meth:`hubbub.tables.contribution.ContributionBounds.sums` says. With layers it is in widths of them: whoever has
        x_j of layer j moves it by x_j/w_j, at most 1, so that the squares add up to no more than the numbers do, J times
        the loss of :class:`Layers`.
        """
        declared = (self.cap is not None or self.layered) and self.lost is None and not self.discovered
        if not declared or not isinstance(self.protection, Noise):
            return None
        if self.layered:
            most = ceil(len(self.layers) * self.layers.spread(self.most_bins, self.most_in_all))
            return Sensitivity(l1=most, l2_squared=most, moved=len(self.layers) * self.most_bins)
        if self.bounds is None:
            return Sensitivity(l1=self.steps, l2_squared=self.steps**2, moved=1, signed=self.signed)
        low, high = int(self.of.low / self.of.step), int(self.of.high / self.of.step)
        moved = self.bounds.sums(low, high, self.bins)
        if not moved.l1:
            return None
        return Sensitivity(l1=moved.l1, l2_squared=moved.l2_squared, moved=self.most_bins, signed=self.signed)

    @property
    def bottom(self) -> int:
        """The least that a person adds to a bin, in steps."""
        if self.weight is not None:
            return 0
        if self.bounds is not None:
            return -self.top if self.signed else 0
        return int(self.measured.low / self.of.step)

    @property
    def top(self) -> int:
        """The most that a person adds to a bin, in steps."""
        if self.weight is not None:
            most = int(self.of.high / self.of.step) * self.weight.steps
            return most if self.cap is None else min(most, int(self.cap / self.unit_step))
        if self.bounds is not None:
            return max(self._moved(1), 1)
        return int(self.measured.high / self.of.step)

    @property
    def most_in_all(self) -> int:
        """The most that a person adds to all bins together, in steps."""
        if self.bounds is None:
            return self.top if self.layered else self.steps
        return max(self._moved(self.bins), 1)

    @property
    def most_without_cap(self) -> int:
        """The most that a person could have in all bins together if there were no cap on it, in steps."""
        if self.bounds is None:
            return int(self.of.high / self.of.step)
        low, high = int(self.of.low / self.of.step), int(self.of.high / self.of.step)
        return replace(self.bounds, cap=None).sums(low, high, self.bins).l1

    @property
    def outer_cap(self) -> int:
        """Up to where it is told what the cap cut off, in steps: whoever has more counts as having that."""
        return self.most_without_cap if self.cap_max is None else int(self.cap_max / self.of.step)

    @property
    def most_added(self) -> int:
        """A row adds its value, or the weight times that; no cap makes it more."""
        most = max(abs(self.top), abs(self.bottom), 1)
        of = self.of
        return most if self.weight is not None else min(most, max(abs(of.low), abs(of.high)) // of.step or 1)

    @property
    def most_bins(self) -> int:
        """In how many bins a person is at most."""
        return 1 if self.bounds is None else self.bounds.people(self.bins).l1

    def _moved(self, bins: int) -> int:
        assert self.bounds is not None
        low, high = int(self.of.low / self.of.step), int(self.of.high / self.of.step)
        return self.bounds.sums(low, high, bins).l1

    @property
    def signed(self) -> bool:
        """Whether a person can make a sum smaller."""
        return self.of.low < 0

    @property
    def measured(self) -> Measure:
        """The range with the cap at its ends: whoever has one row counts with at most the cap so."""
        of = self.of
        if self.cap is None or self.unit.counts_rows or self.weight is not None:
            return of
        low, high = max(of.low, -self.cap), min(of.high, self.cap)
        return replace(of, low=low, steps=int((high - low) / of.step))

    @property
    def steps(self) -> int:
        """How far one person moves the sum of a bin: in a crowd one who is another, else one who comes or goes."""
        if isinstance(self.protection, Crowd):
            return max(self.top - self.bottom, 1)
        return max(abs(self.top), abs(self.bottom), 1)

    @property
    def layered(self) -> bool:
        return self.cap is None and self.cap_share is None and self.tailored is None

    @property
    def octaves(self) -> Octaves:
        """The bands, where the loss is tailored."""
        assert self.tailored is not None
        return octaves_of(self.tailored, self.top, self.most_bins)

    @property
    def drawn_cap(self) -> bool:
        """Whether the cap is chosen by permute-and-flip."""
        return self.cap_share is not None

    @property
    def cap_points(self) -> tuple[int, ...]:
        """The caps that may be drawn, in steps: of what a person has in a bin, or of several rows in all bins."""
        return grid(self.bottom, self.top if self.bounds is None else self.most_in_all)

    @property
    def layers(self) -> Layers:
        """Those whose sums are drawn; with a cap that is drawn there is one, up to that."""
        return octaves(self.top) if self.layered else Layers((self.steps,))

    @property
    def shares(self) -> tuple[Fraction, Fraction, Fraction]:
        """What the sums, the choice of a cap and what was cut off lose, of what one person may lose inside."""
        loss = self.noise_loss
        for_cap, for_lost = (loss * (share or 0) for share in (self.cap_share, self.lost))
        return loss - for_cap - for_lost, for_cap, for_lost

    @property
    def sum_rate(self) -> Fraction | None:
        """None: each layer has a rate of its own."""
        return None

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """That of the noise of each layer; of octaves the least."""
        if self.tailored is not None:
            last = len(self.octaves.bands) - 1
            widest = max(range(last + 1), key=lambda j: self.octaves.bands[j][1] - self.octaves.bands[j][0])
            return (self.octaves.rate(widest, self.octaves.threshold + 1),) if last else (Fraction(1),)
        layers = self.layers
        return tuple(self.layer_loss / (len(layers) * width) for width in layers.widths)

    @property
    def variances(self) -> tuple[Fraction, ...]:
        """The s2 of the Gaussian noise of each layer: with layers that of one width, times its square.

        Guarantee: somebody who moves layer j by x_j is told from nobody by a normal pair of the squared distance sum of
        x_j^2/(s2 w_j^2 - k2), at most the sum of (x_j/w_j)^2/(s2 - k2), as no layer is narrower than 1: Lemma C for noise s2
        on what `sensitivity` says.
        """
        assert self.gaussian is not None
        s2 = self.gaussian.s2
        return tuple(s2 * width**2 for width in self.layers.widths) if self.layered else (s2,)

    @property
    def layer_loss(self) -> Fraction:
        """What somebody loses who has the most in one bin, and nothing elsewhere.

        Guarantee: whoever is in as many bins as the bounds allow, with as much, loses no more than the share of the
        sums.
        """
        return self.shares[0] / self.layers.spread(self.most_bins, self.most_in_all)

    def amount(self, steps: Fraction | int) -> Fraction:
        """So many steps, in the unit of the column."""
        return steps * self.unit_step

    @property
    def unit_step(self) -> Fraction:
        """What a step of a total stands for: with weights, one of the value times one of the weight."""
        return self.of.step * (1 if self.weight is None else self.weight.step)

    @property
    def weighted_by(self) -> Measure | None:
        return self.weight

    @property
    def moved(self) -> int:
        """Weights and rows are in the totals already."""
        return self.unit.moved(self.bins or None)

    def composition(self) -> CompositionInfo:
        return CompositionInfo(noises=() if self.gaussian is None else (self.gaussian,))

    def size_hint(self) -> int:
        return (1 << 20) + _BYTES * self.bins * (1 + len(self.layers))

    def promises(self) -> tuple[Derivation, ...]:
        from hubbub.kinds.sum import promises

        return promises.promises(self)

    def checks(self) -> Iterator[Check]:
        from hubbub.kinds.sum import promises

        return promises.checks(self)

    def describe(self) -> Description:
        from hubbub.kinds.sum import text

        return text.describe(self)

    def measure(self, data: Any, source: Source) -> Measurement:
        from hubbub.kinds.sum import mechanism

        return mechanism.measure(self, data, source)

    def present(self, measurement: Measurement) -> Result:
        from hubbub.kinds.sum import mechanism

        return mechanism.present(self, measurement)

    def load(self, files: Files) -> Measurement:
        from hubbub.kinds.sum.load import load

        return load(self, files)


def _check_cap(spec: Sum) -> None:
    of, cap = spec.of, spec.cap
    widest = max(abs(of.low), abs(of.high))
    if of.high <= 0 and cap is None:
        raise WrongUse("a sum of values of at most 0 needs a cap; say the most that one person counts with, `cap=A`")
    if cap is None and of.low < 0:
        raise WrongUse(
            f"values below 0 need a cap on what one person counts with, and {of.column} begins at {to_text(of.low)}; "
            "say `cap=A`, or declare a range from 0"
        )
    several = spec.unit.counts_rows
    if spec.profiled and (cap is not None or spec.cap_per_bin is not None):
        raise WrongUse(
            "a cap is on what a person has together, and of crowds each row counts by itself; leave out the cap, and "
            "declare a narrower range"
        )
    if spec.weight is not None:
        _check_weighted(spec)
        return
    if spec.cap_per_bin is not None and not several:
        raise WrongUse("a cap in each bin is for several rows of a person; add `rows_per_person=M`, or say `cap=A`")
    if several and spec.cap_share is not None and not isinstance(spec.protection, Noise):
        raise WrongUse("a cap of several rows is drawn with `epsilon=E` alone; say the cap, `cap=A`")
    for each in (cap, spec.cap_per_bin):
        if several and each is not None and not each > 0:
            raise WrongUse(f"a cap must be above 0, not {to_text(each)}; choose another")
        if each is not None and (each / of.step).denominator != 1:
            raise WrongUse(
                f"the cap must be a multiple of the step {to_text(of.step)}, not {to_text(each)}; choose one"
            )
    if cap is not None and not several and not 0 < cap <= widest:
        raise WrongUse(
            f"the cap must lie above 0 and in the range, up to {to_text(widest)}, not {to_text(cap)}; lower it, or "
            "declare a wider range"
        )
    if cap is not None and not several and not max(of.low, -cap) < min(of.high, cap):
        raise WrongUse(f"the cap {to_text(cap)} leaves nothing of the range; choose a larger one")
    for share, what in ((spec.cap_share, "cap-share"), (spec.lost, "lost")):
        if share is not None and not 0 < share < 1:
            raise WrongUse(f"{what} is the part of epsilon that is spent on it, between 0 and 1; choose one like 0.2")
    if spec.cap_share is not None and cap is not None:
        raise WrongUse("`cap_share` is for a cap that is drawn; say `cap='auto'`, or leave it out")
    if spec.lost is not None and cap is None:
        raise WrongUse("`lost` tells what a cap cut off; say the cap, `cap=A`, or leave it out")
    if spec.lost is not None and (isinstance(spec.protection, Crowd | Knowledge) or spec.signed):
        raise WrongUse("`lost` goes with `epsilon=E` alone and values from 0; leave it out")
    if (spec.cap_share or 0) + (spec.lost or 0) >= 1:
        raise WrongUse("nothing of epsilon is left for the sum; lower `lost`")
    _check_lost(spec)


def _check_lost(spec: Sum) -> None:
    """Refuse what is not known of what a cap cut off."""
    of, cap, outer = spec.of, spec.cap, spec.cap_max
    if spec.lost is None or cap is None:
        if outer is not None:
            raise WrongUse("`cap_max` goes with `lost` and a cap: people are counted up to there; leave it out")
        return
    if spec.cap_per_bin is not None:
        raise WrongUse("`lost` tells what one cap cut off, and here there are two; leave out `cap_per_bin` or `lost`")
    most = spec.most_without_cap * of.step
    if not cap < most:
        raise WrongUse(
            f"nobody can have more than the cap {to_text(cap)}, so that it cuts nothing off; leave out `lost`"
        )
    if outer is not None and not (cap < outer <= most and (outer / of.step).denominator == 1):
        raise WrongUse(
            f"`cap_max` must be a multiple of the step {to_text(of.step)} above the cap, up to {to_text(most)}, not "
            f"{to_text(outer)}; choose one, or leave it out"
        )


def _check_tailored(spec: Sum) -> None:
    """Refuse what is not known of octave sums."""
    assert spec.tailored is not None
    if not isinstance(spec.protection, Noise) or spec.protection != Noise(epsilon=spec.tailored.limit):
        raise WrongUse("a tailored loss says everything; leave out `epsilon`, `crowd` and `zero_knowledge`")
    if spec.signed or spec.cap is not None or spec.cap_share is not None or spec.lost is not None or spec.weight:
        raise WrongUse("a tailored sum is of values from 0, without weights; it needs no cap, so leave that out")
    if spec.discovered:
        raise WrongUse("every bin of a tailored sum is published, so that its bins must be declared; list them")


def _check_weighted(spec: Sum) -> None:
    """Refuse what is not known of weighted totals."""
    assert spec.weight is not None
    check_weight(spec.weight)
    if not isinstance(spec.protection, Noise) or spec.unit.counts_rows or spec.discovered:
        raise WrongUse(
            "weights are covered by plain noise on one row of each person, in declared bins; use `epsilon=E` alone"
        )
    if spec.signed or any(each is not None for each in (spec.lost, spec.cap_max, spec.cap_share, spec.cap_per_bin)):
        raise WrongUse("a weighted sum is of values from 0, in layers or with a cap that is said; leave out the rest")
    most = spec.of.high * spec.weight.high
    if spec.cap is not None and not (0 < spec.cap <= most and (spec.cap / spec.unit_step).denominator == 1):
        raise WrongUse(
            f"the cap of weighted values is a multiple of {to_text(spec.unit_step)}, up to {to_text(most)}, not "
            f"{to_text(spec.cap)}; choose one"
        )
