"""What a release does when nothing is said, beside what else it could have done: ``python -m benchmarks.defaults``.

A default is right if its error is hardly above that of the best choice, on tables of many shapes. Totals are of made-up
people with log-normal amounts, of which the deviation of the logarithm says how uneven they are. The error is the root of
the mean squared one, as a share of a bin's total; each row is as many releases as RUNS.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa

from hubbub import registry
from hubbub.engines.opening import open_source
from hubbub.noise.source import SystemSource

RUNS: Final = 40
BINS: Final = (1, 5, 20, 50)
PEOPLE: Final = (1000, 30_000)
DEVIATIONS: Final = (0.5, 1.0, 2.0)
HIGHEST: Final = 1_000_000
WAYS: Final[dict[str, dict[str, Any]]] = {
    "default": {},
    "layers": {"cap": "layers"},
    "the highest value": {"cap": HIGHEST},
    **{f"cap for {share}": {"cap": "auto", "cap_share": share} for share in ("0.2", "0.1", "0.05")},
}


def error_of_totals(amounts: np.ndarray[Any, np.dtype[np.float64]], bins: int, way: dict[str, Any]) -> float:
    """The error of the totals of these amounts, dealt out to so many bins."""
    of_bin = np.arange(amounts.size) % bins
    truth = np.bincount(of_bin, weights=amounts)
    engine = open_source(pa.table({"bin": of_bin, "amount": amounts}))
    by = [f"bin:0..{bins}:1"] if bins > 1 else []
    asked = registry.kind("sum").from_options(of=f"amount:0..{HIGHEST}:1", by=by, epsilon="1", **way)
    spec = asked.with_schema(engine.columns())
    squares = []
    for _ in range(RUNS):
        answers = spec.present(spec.measure(engine, SystemSource())).facts()["answers"]
        estimates = np.array([float(answer["estimate"] or 0) for answer in answers])
        squares.append(np.mean((estimates - truth) ** 2))
    return float(np.sqrt(np.mean(squares)) / truth.mean())


def main() -> None:
    print(f"| bins | people | deviation | {' | '.join(WAYS)} |")
    print(f"|{'---|' * (3 + len(WAYS))}")
    numbers = np.random.default_rng(2)
    for bins in BINS:
        for people in PEOPLE:
            for deviation in DEVIATIONS:
                amounts = np.minimum(np.exp(numbers.normal(7, deviation, people)), HIGHEST).round()
                errors = [error_of_totals(amounts, bins, way) for way in WAYS.values()]
                print(
                    f"| {bins} | {people:,} | {deviation} | {' | '.join(f'{error:.4f}' for error in errors)} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
