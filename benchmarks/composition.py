"""What many releases lose together, beside dp_accounting: ours is certified, theirs is in floats.

For equal releases our law is exact, so theirs, which rounds up on a grid, must not lie below it by more than floats do.
"""

from __future__ import annotations

import json
import sys
import time
from fractions import Fraction
from typing import Any, Final

from hubbub.guarantees.accountant.privacy_loss import RandomizedResponsePair, composed_epsilon

DELTA: Final = Fraction(1, 10**9)
CASES: Final = ((50, "0.1", "1"), (500, "0.1", "1"), (50, "1", "0.1"), (500, "0.1", "0.1"), (1000, "0.01", "0.1"))
GRID: Final = 1e-5  # of theirs


def theirs(many: int, epsilon: Fraction, rate: Fraction) -> float | None:
    """dp_accounting's epsilon for as many discrete Laplace mechanisms, or None where it is not installed."""
    try:
        from dp_accounting.pld import privacy_loss_distribution as pld
    except ImportError:
        return None
    one: Any = pld.from_discrete_laplace_mechanism(
        float(epsilon), sensitivity=1, sampling_prob=float(rate), value_discretization_interval=GRID
    )
    return float(one.self_compose(many).get_epsilon_for_delta(float(DELTA)))


def main() -> None:
    for many, epsilon, rate in CASES:
        coins = [RandomizedResponsePair(epsilon=Fraction(epsilon), rate=Fraction(rate))] * many
        start = time.process_time()
        found = composed_epsilon(coins, DELTA)
        ours_seconds = time.process_time() - start
        assert isinstance(found, Fraction)
        start = time.process_time()
        other = theirs(many, Fraction(epsilon), Fraction(rate))
        row = {
            "releases": many,
            "epsilon": epsilon,
            "rate": rate,
            "ours": f"{float(found):.10g}",
            "seconds": round(ours_seconds, 3),
            "dp_accounting": None if other is None else f"{other:.10g}",
            "dp_accounting_seconds": round(time.process_time() - start, 3),
        }
        print(json.dumps(row))
        print(row, file=sys.stderr)


if __name__ == "__main__":
    main()
