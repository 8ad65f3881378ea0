"""A release of counts as a plan has it: flat words, of which those that no release takes belong to the channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.histogram.spec import Histogram

Planned = Histogram

_OWN: Final = ("crowd", "delta", "outlier", "show_above", "channel", "sample", "collected", "scale_up", "at_delta")


def planned(by: Sequence[str], options: Mapping[str, Any]) -> Planned:
    """The spec that these words ask for."""
    named = {name: value for name, value in options.items() if name in _OWN}
    rest = {name: value for name, value in options.items() if name not in _OWN}
    if "channel" not in named:
        return histogram(by, **named, **rest)
    if "delta" in named:
        rest["delta"] = named.pop("delta")
    epsilon = {"epsilon": rest.pop("epsilon")} if "epsilon" in rest else {}
    return histogram(by, **named, **epsilon, options=rest)
