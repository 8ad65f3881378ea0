"""Which mechanism draws the noise, as one value: its name, and what it alone is told.

::

    geometric
    warped:curve=1:0.01,101:1,show-above=110
    staircase:thresholds=1000,100,10,epsilons=1,0.1,0.01,0,alpha=10
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from hubbub.channels.noise_choice import NOISES
from hubbub.errors import WrongUse
from hubbub.protocol.channel_options import OPTIONS
from hubbub.protocol.option import HOW, Option
from hubbub.runtime.frozen import dataclass

_OWN: Final = {option.name: option for option in OPTIONS}
_KEY: Final = re.compile(r"([A-Za-z][\w-]*)=(.*)", re.DOTALL)
_SHARED: Final = {"epsilon", "delta"}  # what is said outside of the mechanism too
_LONGEST: Final = 10_000  # signs


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A mechanism by its name, with its own parameters as text; True where a parameter is said or not."""

    name: str
    parameters: tuple[tuple[str, str | bool], ...] = ()

    @classmethod
    def parse(cls, given: object) -> Mechanism:
        """What a text says, or the value itself.

        >>> Mechanism.parse("warped:curve=1:0.01,101:1,show-above=110").parameters
        (('curve', '1:0.01,101:1'), ('show_above', '110'))
        >>> str(Mechanism.parse("noisy-below:k=20,epsilon=1,tagged"))
        'noisy-below:k=20,epsilon=1,tagged'
        """
        if isinstance(given, Mechanism):
            return given
        if not isinstance(given, str) or not given.strip() or len(given) > _LONGEST:
            raise WrongUse(
                "a mechanism is written as its name, or NAME:key=value,key=value; write it like "
                "`mechanism=warped:curve=1:0.01,101:1`"
            )
        name, _, rest = given.strip().partition(":")
        found: dict[str, str | bool] = {}
        last = ""
        for part in rest.split(",") if rest else ():
            match = _KEY.fullmatch(part.strip())
            key = (match[1] if match else part.strip()).replace("-", "_")
            if match is not None or (key in _OWN and _OWN[key].metavar is None):
                _check_key(name, key, found, has_value=match is not None)
                found[key], last = match[2] if match else True, key
            elif not last or found[last] is True:
                raise WrongUse(
                    f"the parameters of {name[:40]} are written key=value, with commas between them; write it like "
                    "`mechanism=warped:curve=1:0.01,101:1`"
                )
            else:
                found[last] = f"{found[last]},{part.strip()}"
        return cls(name.strip(), tuple(found.items()))

    def __str__(self) -> str:
        typed = [key.replace("_", "-") + ("" if value is True else f"={value}") for key, value in self.parameters]
        return f"{self.name}:{','.join(typed)}" if typed else self.name

    @property
    def is_plain_noise(self) -> bool:
        """Whether it is one of the noises that a privacy loss alone describes."""
        return self.name in NOISES and {key for key, _ in self.parameters} <= _SHARED


def _check_key(name: str, key: str, found: Mapping[str, object], *, has_value: bool) -> None:
    if key not in _OWN:
        raise WrongUse(
            f"no mechanism has {key[:40]!r}; leave it out, or see what {name[:40]} takes: hubbub channel list"
        )
    if key in found:
        raise WrongUse(f"{key} of {name[:40]} is said twice; say it once")
    if has_value and _OWN[key].metavar is None:
        raise WrongUse(f"{key} of {name[:40]} has no value; write it alone, after a comma")


def of_counts(given: object) -> dict[str, Any]:
    """The words of a histogram that a mechanism stands for: which noise, or which channel with its parameters."""
    mechanism = Mechanism.parse(given)
    return {"noise" if mechanism.is_plain_noise else "channel": mechanism.name, **dict(mechanism.parameters)}


def of_numbers(given: object) -> dict[str, Any]:
    """The words of another statistic that a mechanism stands for: which noise."""
    mechanism = Mechanism.parse(given)
    if not mechanism.is_plain_noise:
        raise WrongUse(
            f"the noise of this release is {', '.join(NOISES)}, not {str(mechanism)[:40]!r}; choose one of them, or leave "
            "`mechanism` out"
        )
    return {"noise": mechanism.name, **dict(mechanism.parameters)}


NOISE: Final = Option(
    "mechanism",
    "NAME",
    f"With `epsilon`: which noise, {', '.join(NOISES)}; auto, with `delta`: what has less error.",
    takes="str",
    group=HOW,
    advanced=True,
    expand=of_numbers,
)
"""Asked of whatever has noise of more than one kind."""
MECHANISM: Final = Option(
    "mechanism",
    "NAME:K=V,..",
    f"Which noise ({', '.join(NOISES)}), or a channel with its parameters, like warped:curve=1:0.01,101:1,show-above=110; "
    "hubbub channel list names them all.",
    takes="str",
    group=HOW,
    advanced=True,
    expand=of_counts,
)
"""Asked of counts by bins, which every channel can be drawn from."""
