"""A statistic by its name: most tests are about several of them."""

from __future__ import annotations

from typing import Any, Final

from hubbub.kinds.quantile.quantile import quantile
from hubbub.kinds.sums.count import count
from hubbub.kinds.sums.fraction import fraction
from hubbub.kinds.sums.mean import mean
from hubbub.kinds.sums.spec import Statistic

_MAKE: Final[dict[str, Any]] = {"count": count, "fraction": fraction, "mean": mean, "quantile": quantile}


def statistic(name: str, **words: Any) -> Statistic:
    """The spec from these options."""
    found: Statistic = _MAKE[name](**words)
    return found
