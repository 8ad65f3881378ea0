"""The options that every declared statistic takes, as the fields of its spec."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, Unpack

from hubbub.kinds.statistic.request import Protecting, common_fields, protected
from hubbub.numeric.exact import Exact
from hubbub.tables.condition import Condition
from hubbub.tables.privacy_unit import Unit, of_options

_S = TypeVar("_S")


class Common(Protecting, total=False):
    """What is asked of any of them: which bins, whose rows, who is protected how, how sure an interval is."""

    by: Sequence[str]
    where: str | Condition | None
    coverage: Exact
    unit: Unit | None


def common_words(
    *,
    by: Sequence[str] = (),
    where: str | Condition | None = None,
    coverage: Exact = "0.95",
    unit: Unit | None = None,
    **protecting: Unpack[Protecting],
) -> dict[str, Any]:
    """The fields of a spec that these options say."""
    common = common_fields(by, where, coverage, unit)
    return {**common, "protection": protected(False, 1 - common["coverage"], **protecting)}


def from_options(make: Callable[..., _S], **options: Any) -> _S:
    """The spec from the options of a command."""
    unit, rest = of_options(options)
    return make(unit=unit, **rest)
