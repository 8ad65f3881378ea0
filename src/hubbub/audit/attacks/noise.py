"""Attacks on noise: the same seed twice, and floating-point noise that is refuted by its last bits."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from hubbub.audit.attacks.story import Story, percent
from hubbub.audit.faults.code import naive_laplace
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import rational

BINS: Final = 1_000
DRAWS: Final = 4_000
BITS: Final = 53


def seeds() -> Story:
    """Two releases with one seed: their difference is that of the tables, in every bin."""
    noise = Geometric(rational(1))
    before = np.full(BINS, 40, dtype=np.int64)
    after = before + (np.arange(BINS) % 3 == 0)
    first, second = (
        noise.release(counts, ScriptedSource.from_label("the same seed")).values for counts in (before, after)
    )
    found = float(np.mean(second - first == after - before))
    fresh = _fresh(1.0)
    return Story(
        name="seeds",
        title="The same seed twice takes the noise off",
        sentences=(
            f"Two releases of {BINS:,} counts before and after some people moved in, epsilon 1 each, drawn with the "
            f"same seed: their difference is exact in {percent(found)} of the bins. With fresh noise the best guess "
            f"whether somebody moved into a bin is right {percent(fresh)} of the time.",
        ),
        numbers={"same_seed": found, "fresh": fresh},
        bars=(
            ("a coin", 50.0, "50.0 %"),
            ("fresh noise", 100 * fresh, percent(fresh)),
            ("the same seed", 100 * found, percent(found)),
        ),
        axis="bins in which the change is known, in percent",
        protects="A release takes no seed: every word comes from the operating system and is given once.",
    )


def _fresh(epsilon: float, reach: int = 80) -> float:
    """How often the best guess between a change of 0 and of 1 is right, from the difference of two noisy counts."""
    q = math.exp(-epsilon)
    law = (1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1))
    both = np.convolve(law, law)
    return float(np.maximum(np.append(both, 0.0), np.insert(both, 0, 0.0)).sum() / 2)


def floats() -> Story:
    """A naive Laplace mechanism: some floats can come from a count of 0 alone."""
    shares = []
    for count in (0, 1):
        source = ScriptedSource.from_label(f"floats {count}")
        drawn = np.array([naive_laplace(count, source) for _ in range(DRAWS)])
        scaled = np.ldexp(drawn, BITS)
        shares.append(float(np.mean(scaled != np.floor(scaled))))
    return Story(
        name="floats",
        title="The last bits of floating-point noise tell the count",
        sentences=(
            "Laplace noise by the logarithm of a float, as textbooks have it, epsilon 1. Noise that is added to 1 is "
            f"rounded to a multiple of 2^-{BITS}; noise that is added to 0 is not. Of {DRAWS:,} draws around 0, "
            f"{percent(shares[0])} are no such multiple; around 1, {percent(shares[1])}. Who sees one that is not "
            "knows that the count is 0.",
        ),
        numbers={"zero": shares[0], "one": shares[1]},
        bars=(
            ("a count of 0", 100 * shares[0], percent(shares[0])),
            ("a count of 1", 100 * shares[1], percent(shares[1])),
        ),
        axis=f"no multiple of 2^-{BITS}, in percent",
        protects="Integers and exact laws protect: no noise here is a float.",
    )
