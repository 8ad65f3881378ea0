"""What is claimed of a mechanism; and what a measurement of OpenDP claims itself, read without importing OpenDP.

A measurement has `map`, from how far two data sets are apart to what is lost, `input_metric` and `output_measure`. One
row replaced is a distance of 2 where rows come and go (SymmetricDistance, InsertDeleteDistance), and of 1 where they
change (ChangeOneDistance, HammingDistance). A map rounds up, so its number is taken as it stands, to the last bit.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.guarantees.definitions import Neighbours
from hubbub.guarantees.derivation import Assumption, texts
from hubbub.runtime.frozen import dataclass

_APART: Final = {"SymmetricDistance": 2, "InsertDeleteDistance": 2, "ChangeOneDistance": 1, "HammingDistance": 1}
_PURE: Final = re.compile(r"MaxDivergence(\(.*\))?")
_WITH_DELTA: Final = re.compile(r"(Approximate\(MaxDivergence(\(.*\))?\)|FixedSmoothedMaxDivergence(\(.*\))?)")
_STATE: Final = "state its `epsilon`, `delta` and `neighbours` yourself"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """(epsilon, delta)-differential privacy of a mechanism on K rows, and whose word that is."""

    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours
    whose: str

    @property
    def assumption(self) -> Assumption:
        """What nobody has checked."""
        sentence = (
            "the mechanism is ({epsilon}, {delta})-differentially private [{neighbours}] on such rows, and takes what "
            "it is handed for its only data; this is the claim of {whose}, and nothing here has checked it"
        )
        given = (*texts(epsilon=self.epsilon, delta=self.delta), ("neighbours", self.neighbours.value))
        return Assumption("mechanism.claim", sentence, (*given, ("whose", self.whose)))


def read_claim(measurement: Any) -> Claim:
    """What it says it loses when one row is replaced, or one sentence."""
    parts = [getattr(measurement, name, None) for name in ("map", "input_metric", "output_measure")]
    if any(part is None for part in parts) or not callable(parts[0]):
        raise WrongUse(f"nothing says what this mechanism loses, since it is no OpenDP measurement; {_STATE}")
    metric, measure = re.match(r"\w*", str(parts[1])), str(parts[2])
    name = metric[0] if metric else ""
    if name not in _APART:
        raise WrongUse(f"the input metric {name[:40]!r} does not say how far one replaced row is; {_STATE}")
    pure, slack = _PURE.fullmatch(measure), _WITH_DELTA.fullmatch(measure)
    if not pure and not slack:
        raise WrongUse(
            f"the output measure {measure[:40]!r} is no epsilon and delta; fix a delta in OpenDP, or {_STATE}"
        )
    declared: Any = None
    try:
        declared = parts[0](_APART[name])
        epsilon, delta = (Fraction(declared), Fraction(0)) if pure else (Fraction(declared[0]), Fraction(declared[1]))
    except Exception:  # OpenDP's own, NaN, infinity, or a tuple where none was expected
        declared = None
    if declared is None or epsilon <= 0 or not 0 <= delta < 1:
        raise WrongUse(f"the map of the measurement gives no finite loss for one replaced row; {_STATE}")
    whose = "the measurement's own map, by OpenDP"
    return Claim(epsilon=epsilon, delta=delta, neighbours=Neighbours.REPLACE, whose=whose)
