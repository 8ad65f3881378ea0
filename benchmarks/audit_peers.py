"""Other people's software in the games of the promises that it makes: one JSON line for each on stdout.

Run in an environment that has it (see the Makefile); whatever is not installed is skipped, and said so on stderr.
Nothing here judges a library: one mechanism, one pair of neighbours, one claim.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.adapters import anonymised, noisy, opendp, randomised
from hubbub.audit.finding import Finding, time_audit
from hubbub.audit.function import audit

EMPTY: tuple[list[int], list[int]] = [], [1]  # nobody, and one person
RUNS = 20_000
Audit = tuple[str, str, Callable[[], Finding]]


def _one(function: Callable[..., object], pair: tuple[Any, Any], **words: Any) -> Finding:
    return audit(function, pair, **{"epsilon": 1, "runs": RUNS, **words})[0]


def numpy_noise() -> Iterator[Audit]:
    """NumPy's Laplace, as many write it."""
    rng = np.random.default_rng()
    name = f"numpy {np.__version__}"
    yield name, "count + laplace(0, 1)", lambda: _one(noisy(len, lambda: rng.laplace(0.0, 1.0)), EMPTY)
    rounded: Callable[[Any], Any] = lambda rows: round(len(rows) + rng.laplace(0.0, 1.0))  # noqa: E731
    yield name, "the same, rounded to whole numbers", lambda: _one(rounded, EMPTY)
    yield name, "count + normal(0, 1), epsilon 1", lambda: _one(noisy(len, lambda: rng.normal(0.0, 1.0)), EMPTY)


def opendp_noise() -> Iterator[Audit]:
    """OpenDP's Laplace on integers and on floats."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    whole = (dp.atom_domain(T=int), dp.absolute_distance(T=int)) >> dp.m.then_laplace(scale=1.0)
    real = (dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)) >> dp.m.then_laplace(scale=1.0)
    yield "OpenDP 0.16.0", "laplace, integers", lambda: _one(opendp(lambda rows: whole(len(rows))), EMPTY)
    yield "OpenDP 0.16.0", "laplace, floats", lambda: _one(opendp(lambda rows: real(float(len(rows)))), EMPTY)


def diffprivlib_noise() -> Iterator[Audit]:
    """Mechanisms and a tool of diffprivlib."""
    import diffprivlib.tools as tools
    from diffprivlib.mechanisms import Geometric, Laplace

    def real(rows: Sequence[int]) -> float:
        return float(len(rows))

    def mean(rows: Sequence[float]) -> float:
        return float(tools.mean(rows, epsilon=1, bounds=(0, 10)))

    def mean_without_bounds(rows: Sequence[float]) -> float:
        return float(tools.mean(rows, epsilon=1))

    some = [1.0, 4.0, 6.0, 9.0]
    name = "diffprivlib 0.6.6"
    yield name, "Laplace", lambda: _one(randomised(Laplace(epsilon=1, sensitivity=1), real), EMPTY)
    yield name, "Geometric", lambda: _one(randomised(Geometric(epsilon=1, sensitivity=1), len), EMPTY)
    yield name, "mean, bounds declared", lambda: _one(mean, (some, [*some[:3], 0.0]))
    yield name, "mean, bounds from the data (it warns)", lambda: _one(mean_without_bounds, (some, [*some[:3], 90.0]))


def anonymised_tables() -> Iterator[Audit]:
    """A k-anonymous table of anjana: crowd-blending with (k, 0), for somebody whom k - 1 others are like, or nobody."""
    import pandas as pd
    from anjana.anonymity import k_anonymity

    def table(rows: Sequence[tuple[int, str]]) -> Any:
        return pd.DataFrame({"name": range(len(rows)), "age": [a for a, _ in rows], "town": [t for _, t in rows]})

    def anonymise(frame: Any) -> Any:
        stars = ["*"] * len(frame)
        ladder = {name: {0: frame[name].values, 1: stars} for name in ("age", "town")}
        return k_anonymity(frame, ["name"], ["age", "town"], 2, 0, ladder)

    def bins(frame: Any) -> str:
        return str(sorted(map(str, frame[["age", "town"]].values.tolist())))

    rows = [(1, "x")] * 2 + [(2, "x")] * 3 + [(3, "y")] * 3
    words = {"game": "crowd-blending", "epsilon": 0, "k": 2, "runs": 200}
    function = anonymised(table, anonymise, bins)
    odd = [*rows, (9, "y")]
    yield "anjana 1.2.3", "k = 2, somebody in a crowd of three", lambda: _one(function, (rows, 3), **words)
    yield "anjana 1.2.3", "k = 2, somebody whom nobody is like", lambda: _one(function, (odd, 8), **words)


def main() -> None:
    for peer in (numpy_noise, opendp_noise, diffprivlib_noise, anonymised_tables):
        try:
            audits = list(peer())
            warnings.simplefilter("ignore")  # after the import, which sets filters of its own
        except ImportError as error:
            print(f"skipped, because not installed: {peer.__name__} ({error.name})", file=sys.stderr)
            continue
        for whose, what, run in audits:
            found = time_audit(run)
            row = {"whose": whose, "what": what, **found.as_json()}
            print(json.dumps(row), flush=True)
            print(f"{whose}, {what}: {found.sentence()[:200]}", file=sys.stderr)


if __name__ == "__main__":
    main()
