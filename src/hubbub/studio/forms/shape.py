"""What is expected of a release, for people and bins of a stated shape: public numbers that the user supplies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.numeric.exact import integer, to_float
from hubbub.plan.error import Expected, error_over_shape
from hubbub.plan.shape import Shape, read
from hubbub.protocol.spec import Spec
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Axis, Discovered, size

PEOPLE, VALUES = "10000", "10"  # until somebody says otherwise
SHAPES: Final = (("zipf", "a few large bins and many small ones (Zipf)"), ("even", "all bins alike"))
_MOST: Final = 100_000  # bins that a slider is answered for


@dataclass(frozen=True, slots=True)
class Stated:
    """About how many people there are, how they are spread, and how many values a column has whose bins are found."""

    people: str = PEOPLE
    shape: str = "zipf"
    values: str = VALUES

    @classmethod
    def of(cls, form: Mapping[str, str]) -> Stated:
        """As it was filled in."""
        shape = form.get("shape", "zipf")
        if shape not in dict(SHAPES):
            raise WrongUse("the shape of the table is zipf or even; choose one of them")
        people = form.get("size", "").strip() or form.get("people", "").strip() or PEOPLE
        return cls(people, shape, form.get("values", "").strip() or VALUES)

    def table(self, axes: Sequence[Axis]) -> Shape:
        """The table that is expected."""
        found = integer(self.values, "the number of values", least=1)
        bins = 1
        for axis in axes:
            bins *= found if isinstance(axis, Discovered) else size(axis)
        if bins > _MOST:
            raise WrongUse(f"sliders are answered for up to {_MOST:,} bins, and these are {bins:,}; it can be released")
        people = integer(self.people, "the number of people", least=1)
        if people > 10**9:
            raise WrongUse("sliders are answered for up to 1,000,000,000 people; state fewer")
        return _read(self.shape, people, bins)


@lru_cache(maxsize=64)
def _read(shape: str, people: int, bins: int) -> Shape:
    return read(shape, people, bins)


def hoped(spec: Spec, stated: Stated) -> tuple[Shape, Expected] | None:
    """What is expected of a release, where it publishes counts by bins through a channel; None for other kinds."""
    axes, channel = getattr(spec, "axes", None), getattr(spec, "channel", None)
    if not axes or channel is None:
        return None
    rate: Any = getattr(spec, "sample", None)
    table = stated.table(axes)
    return table, error_over_shape(channel, None if rate is None else to_float(rate, round_up=False), table)
