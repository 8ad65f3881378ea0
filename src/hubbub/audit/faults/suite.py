"""Everything the auditor must be right about: each planted fault, its twin, and every channel that can be named."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from hubbub.audit.exact import of_channel
from hubbub.audit.faults.planted import FAULTS, Fault
from hubbub.audit.finding import Finding, timed
from hubbub.channels.catalogue import CATALOGUE, channel
from hubbub.runtime.frozen import dataclass

_OPTION: Final = re.compile(r"`(\w+)(?:=([^`]*))?`")


@dataclass(frozen=True, slots=True)
class Row:
    """One mechanism, whether it is wrong, and what was found."""

    name: str
    wrong: bool
    finding: Finding

    @property
    def as_it_should(self) -> bool:
        """A fault is refuted; anything else is not."""
        return self.finding.refuted == self.wrong

    @property
    def depth(self) -> str:
        return self.finding.depth.value

    @property
    def found(self) -> str:
        return {"proved": "proved", "refuted": "refuted", "undecided": "not refuted"}[self.finding.word]

    @property
    def seconds(self) -> float:
        return self.finding.seconds

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "wrong": self.wrong, "as_it_should": self.as_it_should, **self.finding.as_json()}


def suite() -> tuple[Callable[[], Row], ...]:
    """Every audit, to be run one by one."""
    rows: list[Callable[[], Row]] = []
    for fault in FAULTS:
        rows += [_planted(fault), _twin(fault)]
    return (*rows, *(_channel(name) for name in CATALOGUE))


def _planted(fault: Fault) -> Callable[[], Row]:
    return lambda: Row(f"fault: {fault.name}", True, timed(fault.wrong))


def _twin(fault: Fault) -> Callable[[], Row]:
    return lambda: Row(f"without it: {fault.name}", False, timed(fault.right))


def _channel(name: str) -> Callable[[], Row]:
    """A channel with the options of its own example."""
    given = {option: value or True for option, value in _OPTION.findall(CATALOGUE[name].example)}
    return lambda: Row(f"channel: {name}", False, timed(lambda: of_channel(channel(name, **given))))
