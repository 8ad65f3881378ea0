"""The salaries of a company, from the introduction of the outlier paper.

Ten thousand people work there. 9,900 of them earn ordinary salaries, spread over 60 bins; 100 managers earn much more,
all of them in one of 40 bins. The attacker knows all that, and every salary but the managers', and asks: which bin?
Differential privacy hides one person and lets a group of 100 stand out; outlier privacy hides the group and
leaves large crowds almost alone.

The attack is the best there is (:mod:`hubbub.audit.stories`). Its success and the errors are computed from the
exact laws, without sampling, in floats: they are for reading and are no certificates.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub import charts
from hubbub.audit.stories import CANDIDATES as CANDIDATES
from hubbub.audit.stories import MANAGERS as MANAGERS
from hubbub.audit.stories import REACH, attack, spread
from hubbub.channels.catalogue import channel, parameters
from hubbub.channels.law import SUPPRESSED
from hubbub.channels.profile import checkable, loss_curve
from hubbub.channels.protocol import Channel, Published
from hubbub.noise.sampler import below
from hubbub.noise.source import Source
from hubbub.numeric.exact import INFINITY, to_float, to_text
from hubbub.numeric.format import short
from hubbub.runtime.frozen import dataclass

Floats: TypeAlias = NDArray[np.float64]

LOW_BINS: Final = tuple(people for people in (40, 85, 140, 210, 270, 300, 270, 225, 175, 125, 85, 55) for _ in range(5))
"""The ordinary salaries: 60 bins, a hump with crowds on both sides of 100."""

EMPLOYEES: Final = sum(LOW_BINS)
MANAGERS_AT: Final = 22  # which of the 40; the attacker is not told
RARE: Final = 100  # a crowd of at most this many is rare

SURE: Final = 1e6
"""Evidence, in nats, of a value that is impossible without the managers, or with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """A channel, under the name it has in the story."""

    title: str
    name: str
    options: Mapping[str, str]

    def channel(self) -> Channel:
        return channel(self.name, **self.options)


_OUTLIER = {"k": "100", "epsilon": "1", "alpha": "10"}
_CURVE = "1:0.01,101:1"

MECHANISMS: Final = (
    Mechanism(title="plain noise", name="geometric", options={"epsilon": "1"}),
    Mechanism(title="noise for groups of 100", name="group", options={"k": "100", "epsilon": "1"}),
    Mechanism(title="exact from 101 on, else hidden", name="exact-or-suppressed", options={"k": "101"}),
    Mechanism(title="example 4: small values hidden", name="outlier-suppressed", options=_OUTLIER),
    Mechanism(title="example 5: small values noisier", name="outlier-noisy", options=_OUTLIER),
    Mechanism(
        title="example 7: a nested staircase",
        name="staircase",
        options={"thresholds": "1000,100,10", "epsilons": "1,0.1,0.01,0", "alpha": "10"},
    ),
    Mechanism(
        title="example 8: a private lower bound",
        name="lower-bound",
        options={"curve": _CURVE, "estimator": "count", "epsilon_a": "0.005", "alpha": "10"},
    ),
    Mechanism(title="warped", name="warped", options={"curve": _CURVE}),
    Mechanism(title="warped, shown above 110", name="warped", options={"curve": _CURVE, "show_above": "110"}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one mechanism did."""

    mechanism: Mechanism
    promise: str
    attack: float
    """The chance that the best attack finds the managers' bin; blind guessing has 1/40."""
    error: float
    """The mean distance between published and true counts over the 60 ordinary bins; hidden counts as 0."""
    error_rare: float
    """The same over the bins of at most 100 people."""
    error_large: float
    """The same over the bins of more than 100 people."""
    beliefs: tuple[float, ...]
    """What the attacker believed of each candidate after this one release."""
    guess: int

    @property
    def right(self) -> bool:
        """Whether the attacker named the managers' bin this time."""
        return self.guess == MANAGERS_AT

    @property
    def managers(self) -> str:
        """How the managers fare, in a word."""
        return "found" if self.attack >= 0.5 else "glimpsed" if self.attack > 1.1 / CANDIDATES else "hidden"

    @property
    def crowds(self) -> str:
        """How the large crowds fare, in a word."""
        return "drowned" if self.error_large > 50 else "blurred" if self.error_large > 5 else "accurate"

    @property
    def verdict(self) -> str:
        """What the numbers say, in words."""
        noise = " in noise" if self.crowds == "drowned" else ""
        return f"the managers are {self.managers}, large crowds are {self.crowds}{noise}"

    def as_json(self) -> dict[str, object]:
        """The numbers of one row."""
        return {
            "mechanism": self.mechanism.title,
            "channel": self.mechanism.name,
            "parameters": parameters(self.mechanism.channel()),
            "promise": self.promise,
            "attack": self.attack,
            "error": self.error,
            "error_rare": self.error_rare,
            "error_large": self.error_large,
            "guess": self.guess,
            "right": self.right,
            "verdict": self.verdict,
        }


def play(source: Source) -> tuple[Outcome, ...]:
    """Every mechanism releases the table once, and the attacker looks at it."""
    return tuple(_play(mechanism, source) for mechanism in MECHANISMS)


def _play(mechanism: Mechanism, source: Source) -> Outcome:
    made = mechanism.channel()
    errors = {people: error(made, people) for people in set(LOW_BINS)}
    rare = [errors[people] for people in LOW_BINS if people <= RARE]
    large = [errors[people] for people in LOW_BINS if people > RARE]
    managers = [MANAGERS if i == MANAGERS_AT else 0 for i in range(CANDIDATES)]
    published = made.release(np.array([*LOW_BINS, *managers]), source)
    scores = evidence(made, published)
    best = np.flatnonzero(scores > scores.max() - 1e-6)  # as good as equal: pick one of them blindly
    odds = np.exp(scores - scores.max())
    return Outcome(
        mechanism=mechanism,
        promise=promise(made),
        attack=attack(made),
        error=float(np.mean(rare + large)),
        error_rare=float(np.mean(rare)),
        error_large=float(np.mean(large)),
        beliefs=tuple(float(belief) for belief in odds / odds.sum()),
        guess=int(best[below(len(best), 1, source)[0]]),
    )


def promise(made: Channel) -> str:
    """What the channel claims to cost one person, by the size of their crowd."""
    claim = checkable(made.claim)
    parts = []
    for piece, end in loss_curve(claim).ends():
        loss = "nothing promised" if piece.value is INFINITY else to_text(piece.value)
        parts.append(
            f"{loss} in any crowd" if piece.start == 1 and end is None else f"{loss} {_crowds(piece.start, end)}"
        )
    _, delta = claim.loss_at(1)
    extra = f" (delta {short(delta, 2)})" if delta else ""
    return ", ".join(parts) + extra


def _crowds(start: int, end: int | None) -> str:
    return f"from {start}" if end is None else f"up to {end}"


def evidence(made: Channel, published: Published) -> Floats:
    """ln f_100/f_0 at the value that each candidate bin shows."""
    full, empty = made.law(MANAGERS), made.law(0)
    found = []
    for i in range(len(LOW_BINS), len(LOW_BINS) + CANDIDATES):
        value, tag = published.outcome(i)
        f, g = full.mass(value or 0, tag), empty.mass(value or 0, tag)
        sure = -SURE if f.is_zero() else SURE if g.is_zero() else to_float((f / g).log(), round_up=False)
        found.append(sure)
    return np.array(found)


def error(made: Channel, people: int) -> float:
    """The mean of |published - true| for a bin of so many people; values below 0 and hidden ones are read as 0."""
    values = np.maximum(np.arange(-REACH, REACH + 1), 0)
    total = 0.0
    for tag, masses in spread(made.law(people)).items():
        total += float(np.sum(masses * (people if tag.startswith(SUPPRESSED) else np.abs(values - people))))
    return total


READING_HINT: Final = (
    "Look at the left column first: plain noise gives the managers away, the others hardly or not at all. Then at the "
    "right one: of those, the warped channel disturbs ordinary salaries least, and large crowds no more than plain "
    "noise does."
)


def draw(outcomes: tuple[Outcome, ...], folder: Path) -> list[Path]:
    """The chart, as a page that opens offline and as a picture, in a folder that exists."""
    rows = [
        {
            "name": outcome.mechanism.title,
            "attack": outcome.attack,
            "beliefs": outcome.beliefs,
            "error_rare": outcome.error_rare,
            "error_large": outcome.error_large,
        }
        for outcome in outcomes
    ]
    chart = charts.attack_chart(
        rows,
        chance=1 / CANDIDATES,
        target=MANAGERS_AT,
        title="Plain noise gives the managers' salary away; noise by the size of the crowd does not",
        subtitle=[
            f"{EMPLOYEES:,} employees in {len(LOW_BINS)} ordinary salary bins; {MANAGERS} managers, all in one of "
            f"{CANDIDATES} bins. Dashed: blind guessing."
        ],
    )
    files = [folder / "salaries.html", folder / "salaries.svg"]
    for file in files:
        chart.save(file)
    return files
