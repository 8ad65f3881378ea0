"""How much one person's rows may count: bounds on rows, bins and sums, and how far a person then moves what is counted.

A row is in a bin, or in none, and may have a value, a whole number of steps. A person's rows go through a *bounding
map* first, which looks at that person's rows and at fresh secret randomness of its own, and at nothing else:

1. of all rows of the person at most `rows_per_person` (m) are kept, uniformly at random, before any is looked at;
2. rows that do not meet the condition, have no value where one is needed, or lie in no bin are dropped;
3. of the bins that are left at most `distinct` (B) are kept, and in each at most `rows_per_bin` (c) rows;
4. the person's sum in a bin is cut to `cap_per_bin` (a') in absolute value, and then, one bin after the other in a
   secret order, the sum of these absolute values to `cap` (A).

What the rows of two tables that differ in one person become can be coupled so that they differ in the bounded rows of
that person alone, and closeness survives averaging over the map. Whatever is then released from counts and sums that
one person moves by at most :class:`Moved` is private for *people*, not for rows.

For engines: :class:`hubbub.tables.engine.CountQuery` with `repeats=MultiRowPolicy.BOUNDED` and `bounds=...`.

- `counts` are of kept rows, `sums` are of the steps x = 0..W of those that have a value (a condition as the measure is
  1 or 0): of a mean A = sums and B = W counts - sums. `by_value` counts kept rows by step, for quantiles.
- With a cap, or with `bands`, sums are of *values in steps*, low/step + x, which may be negative, and what is counted
  is people: a person counts once in each bin in which a row is kept, with the sum of its rows there after the caps.
- `bands=(t1, ..., tJ)`, rising, makes one more axis, the last and fastest, of J + 1 bands: a person is in band j of a
  bin if j of the t's are below the person's capped sum there. Counts n_j and sums s_j by band give all that is made of
  one person's totals: the layer from t_i to t_{i+1} sums to (t_{i+1} - t_i)(n_{i+1} + ... + n_J) + s_i - t_i n_i, and
  without bins the n_j are the histogram of totals.

Every noise follows :meth:`ContributionBounds.rows`, `sums`, `means` or `people`, each given how many bins there are: a
bound never exceeds what the bins make possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any, Final, NamedTuple

from hubbub.errors import WrongUse
from hubbub.numeric.exact import integer
from hubbub.runtime.frozen import dataclass

MOST_ROWS: Final = 1_000_000
MOST_CAP: Final = 2**53
MOST_LISTED: Final = 20
NAMES: Final = ("rows_per_person", "distinct", "rows_per_bin", "cap_per_bin", "cap")
_UNBOUNDED: Final = (
    "one person could move the numbers by any amount; say how many rows of a person count at most, with "
    "`rows_per_person=M`, or `distinct=B` with `rows_per_bin=C`"
)


class Moved(NamedTuple):
    """The sensitivity of all published numbers to one person: the L1 norm and the squared L2 norm, at most."""

    l1: int
    l2_squared: int


class MultiRowPolicy(Enum):
    """What to do with a person who has several rows."""

    REFUSE = "refuse"
    DECLARED = "there is nobody with several rows, as somebody declared: each row is a person, and none is checked"
    ONE_ROW = "keep one row, chosen secretly and uniformly"
    DISTINCT = "count once in each of at most so many bins, chosen secretly"
    ANY_ROW = "count once, and meet the condition if any row does"
    BOUNDED = "count several rows, within bounds on what one person contributes"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionBounds:
    """What one person may contribute at most; None: not bounded by this. Caps are in steps of the measure."""

    rows_per_person: int | None = None
    distinct: int | None = None
    rows_per_bin: int | None = None
    cap_per_bin: int | None = None
    cap: int | None = None

    def __post_init__(self) -> None:
        for name in NAMES:
            given = getattr(self, name)
            if given is None:
                continue
            most = MOST_CAP if name.startswith("cap") else MOST_ROWS
            value = integer(given, f"`{name}`", least=1)
            if value > most:
                raise WrongUse(f"`{name}` is a whole number from 1 to {most:,}, not {value:,}; choose a smaller one")
            object.__setattr__(self, name, value)

    @property
    def has_caps(self) -> bool:
        return self.cap_per_bin is not None or self.cap is not None

    def within(self, bins: int | None) -> ContributionBounds:
        """The same, each bound cut to what the others and so many bins make possible (None: they are not known).

        Guarantee: it keeps the same rows of everybody, and the noise that follows it is no more.
        """
        return replace(
            self,
            distinct=None if self.distinct is None else self._bins(bins),
            rows_per_bin=None if self.rows_per_bin is None else _least(self.rows_per_bin, self.rows_per_person),
        )

    # --- sensitivities --------------------------------------------------------------------------------------------

    def people(self, bins: int | None, *, swap: bool = False) -> Moved:
        """The sensitivity of the numbers of people with a kept row in each bin.

        Guarantee: the largest there are: of a person who comes or goes, or, with `swap`, is replaced by another.
        """
        most = _least(self.distinct, self.rows_per_person, bins)
        if most is None:
            raise WrongUse("one person could be in any number of bins; say in how many at most, with `distinct=B`")
        moved = most if not swap else min(2 * most, bins) if bins is not None else 2 * most
        return Moved(moved, moved)

    def rows(self, bins: int | None, *, swap: bool = False) -> Moved:
        """The sensitivity of the numbers of kept rows in each bin.

        Guarantee: as :meth:`people`; min(m, B c), and q c^2 + (m - q c)^2 with q = min(B, m // c) full bins.
        """
        total, each, most = self._effective_bounds(bins)
        if not swap:
            return Moved(min(total, most * each), _squares(total, each, most))
        one, other = _halves(most, bins)
        return Moved(
            min(total, one * each) + min(total, other * each),
            _squares(total, each, one) + _squares(total, each, other),
        )

    def means(self, width: int, bins: int | None, *, swap: bool = False) -> Moved:
        """The sensitivity of the sums of x and of W - x of the kept rows of each bin, with x in 0..W and `width` W.

        Guarantee: W and W^2 times :meth:`rows`, since x + (W - x) = W and x^2 + (W - x)^2 <= W^2; twice as much where
        one person is replaced by another.
        """
        moved, times = self.rows(bins), 2 if swap else 1
        return Moved(times * width * moved.l1, times * width**2 * moved.l2_squared)

    def sums(self, low: int, high: int, bins: int | None, *, swap: bool = False) -> Moved:
        """The sensitivity of the sums of values from `low` to `high`, in steps, of each bin's rows, after the caps.

        Guarantee: never below what is possible. The largest there is where no cap per bin is given or it is a multiple
        of the largest absolute value, and values of both signs are not replaced.
        """
        if low > high:
            raise WrongUse("values lie between a low and a high end; swap them")
        largest, least = max(abs(low), abs(high)), min(abs(low), abs(high)) if low < 0 < high else 0
        if not swap:
            return self._sums(largest, bins)
        if bins == 1:
            return self._replaced_in_one(low, high)
        if not least:  # values of one sign: two people move most in bins of their own
            most = self._bins(bins)
            one, other = (None, None) if most is None else _halves(most, bins)
            first, second = self._sums(largest, one), self._sums(largest, other)
            return Moved(first.l1 + second.l1, first.l2_squared + second.l2_squared)
        moved = self._sums(largest, bins)
        return Moved(2 * moved.l1, min(self._signed_squares(largest, least, moved, bins)))

    def _sums(self, largest: int, bins: int | None) -> Moved:
        """The sensitivity of sums of values up to `largest` in absolute value."""
        if not largest:
            return Moved(0, 0)
        most = self._bins(bins)
        if self._bounds_rows(most):
            total, each, few = self._effective_bounds(bins)
            full = each if self.cap_per_bin is None else min(each, self.cap_per_bin // largest)
            full_rows = min(total, few * full)  # each moves the sum by all it can
            rest = 0 if self.cap_per_bin is None or full == each else self.cap_per_bin - full * largest
            l1 = full_rows * largest + min(total - full_rows, few) * rest
            top: int | None = each * largest
        elif self.cap_per_bin is not None and most is not None:
            l1, top = most * self.cap_per_bin, self.cap_per_bin
        elif self.cap is not None:
            l1, top = self.cap, None
        else:
            raise WrongUse(f"{_UNBOUNDED}, or cut what a person adds to all sums together, with `cap=A`")
        l1 = l1 if self.cap is None else min(l1, self.cap)
        peak = _least(top, self.cap_per_bin, l1)
        assert peak is not None, "l1 is a number"
        return Moved(l1, _squares(l1, peak, l1 if most is None else most))

    def _signed_squares(self, largest: int, least: int, moved: Moved, bins: int | None) -> list[int]:
        """What bounds the squares where somebody with values of both signs is replaced."""
        bounds = [4 * moved.l2_squared]
        if self._bounds_rows(self._bins(bins)):
            bounds.append(2 * (largest**2 + least**2) * self.rows(bins).l2_squared)
        if self.cap is not None:
            bounds.append(4 * self.cap**2)
        return bounds

    def _replaced_in_one(self, low: int, high: int) -> Moved:
        """The sensitivity of one bin under replacement, where the sum goes from its lowest to its highest."""
        up, down = (self._sums(max(end, 0), 1).l1 for end in (high, -low))
        return Moved(up + down, (up + down) ** 2)

    def _bins(self, bins: int | None) -> int | None:
        """In how many bins a person is at most."""
        return _least(self.distinct, self.rows_per_person, bins)

    def _bounds_rows(self, most: int | None) -> bool:
        return self.rows_per_person is not None or (most is not None and self.rows_per_bin is not None)

    def _effective_bounds(self, bins: int | None) -> tuple[int, int, int]:
        """m, c and B, each as small as the others and the bins make it."""
        most = self._bins(bins)
        if self.rows_per_person is not None:
            assert most is not None, "a person has no more bins than rows"
            each = min(self.rows_per_person, self.rows_per_bin or self.rows_per_person)
            return min(self.rows_per_person, most * each), each, most
        if most is None or self.rows_per_bin is None:
            raise WrongUse(_UNBOUNDED)
        return most * self.rows_per_bin, self.rows_per_bin, most

    def people_by_rows(self, bins: int | None) -> Iterator[tuple[int, ...]]:
        """Every person whom the bounds leave, by how many rows they have in their bins, the most first; of more than
        20 rows only the one with as many as can be, in as few bins as can be.

        They are listed without the formulas above: to hold these against.
        """
        total, each, most = self._effective_bounds(bins)
        if total > MOST_LISTED:
            full, rest = divmod(total, each)
            yield (*(each,) * full, *((rest,) if rest else ()))[:most]
            return
        yield from _falling(total, each, most)

    # --- JSON and words -------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, int | None]:
        """By name; None where it bounds nothing."""
        return {name: getattr(self, name) for name in NAMES}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> ContributionBounds:
        """What :meth:`to_json` wrote."""
        return cls(**given)

    def describe(self, rows: str = "rows", person: str = "person", *, bins: int | None = None) -> str:
        """What is counted, as the numbers are told.

        >>> ContributionBounds(rows_per_person=5).describe("visits", "patient")
        'visits, at most 5 of each patient'
        >>> ContributionBounds(distinct=3, rows_per_bin=2).describe("visits", "patient")
        'visits, of each patient in at most 3 bins, and at most 2 in each'
        """
        most, each = self.rows_per_person, self.rows_per_bin
        if bins == 1:
            most, each = _least(most, each), None
        bounds = [] if most is None else [f"at most {most:,} of each {person}"]
        of = "" if bounds else f"of each {person} "
        if self.distinct is not None and (bins is None or self.distinct < bins):
            bounds.append(f"{of}in at most {self.distinct:,} bin{'s' if self.distinct > 1 else ''}")
            of = ""
        if each is not None:
            bounds.append(f"{'and ' if bounds else ''}{of}at most {each:,} in each{' bin' if of else ''}")
        return ", ".join([rows, *bounds])


def _falling(total: int, each: int, most: int) -> Iterator[tuple[int, ...]]:
    """Numbers from `each` down, none above the one before, at most `most` of them and at most `total` in all."""
    yield ()
    for first in range(1, min(each, total) + 1) if most else ():
        for rest in _falling(total - first, first, most - 1):
            yield (first, *rest)


def _least(*bounds: int | None) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def _squares(total: int, each: int, most: int) -> int:
    """The largest sum of squares of at most `most` whole numbers up to `each` that sum up to at most `total`."""
    if not total or not each:
        return 0
    full = min(most, total // each)
    return full * each**2 + ((total - full * each) ** 2 if full < most else 0)


def _halves(most: int, bins: int | None) -> tuple[int, int]:
    """How many bins of their own two people have who move the most: both gains fall with each bin more."""
    if bins is None or bins >= 2 * most:
        return most, most
    return bins // 2, bins - bins // 2
