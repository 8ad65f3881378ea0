"""Every channel at 1,000 different counts, per second of processor time: ``python -m benchmarks.channels``.

`release` gets a million counts, 1..1000 a thousand times over, shuffled; the best of the repeats counts. OpenDP's exact
discrete Laplace (epsilon = 1, a vector of integers) runs between the repeats as the yardstick. `law` and `profile` are
timed on the counts 1..130. One JSON line per row goes to stdout, the table to stderr.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from benchmarks.noise import PEERS, Task, peer, seconds
from hubbub.channels.catalogue import cards, channel
from hubbub.channels.profile import profile
from hubbub.channels.protocol import Channel
from hubbub.errors import in_shell
from hubbub.noise.source import SystemSource

REPEATS: Final = 5
DIFFERENT: Final = 1_000  # counts
SAMPLES: Final = 1_000 * DIFFERENT
PROFILED: Final = range(1, 131)
REQUIRED: Final = 3.0  # million samples per second of processor time, for the warped channel
WARPED: Final = ("1:0.01,101:1", "slope:0.01<=1", "0.1+slope:0.0009<=1", "1:0.5", "slope:0.0001<=1")


@dataclass(frozen=True, slots=True)
class Row:
    """Millions of samples per second of processor time, and seconds of it for `law` and `profile`.

    `required` is None where no speed was asked for, `peer` where OpenDP is not installed.
    """

    channel: str
    options: str
    hubbub: float
    required: float | None
    peer: float | None
    law_seconds: float
    profile_seconds: float
    samples: int = SAMPLES
    different_counts: int = DIFFERENT


def measure(name: str, options: str, required: float | None, yardstick: Task | None) -> Row:
    words = shlex.split(options)
    given = {
        flag.removeprefix("--").replace("-", "_"): text for flag, text in zip(words[::2], words[1::2], strict=True)
    }
    made: Channel = channel(name, **given)
    counts = shuffled()
    source = SystemSource()
    best, best_peer = float("inf"), float("inf")
    made.release(counts[:DIFFERENT], source)  # makes the tables, once, as a program would
    for _ in range(REPEATS):
        best = min(best, seconds(lambda: made.release(counts, source)))
        if yardstick is not None:
            best_peer = min(best_peer, seconds(yardstick))
    return Row(
        name,
        options,
        SAMPLES / best / 1e6,
        required,
        None if yardstick is None else PEERS / best_peer / 1e6,
        seconds(lambda: [made.law(count) for count in PROFILED]),
        seconds(lambda: profile(made, PROFILED)),
    )


def shuffled() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """1..1000, a thousand times over, in the same order in every run."""
    return 1 + np.arange(SAMPLES, dtype=np.int64) * 7919 % DIFFERENT  # a prime steps through all of them, in leaps


def rows() -> Iterator[Row]:
    yardstick = peer("1")
    for name, entry in cards().items():
        if name != "warped":
            yield measure(name, in_shell(entry.example), None, yardstick)
    for curve in WARPED:
        yield measure("warped", f"--curve '{curve}'", REQUIRED, yardstick)


def main() -> None:
    head = f"{'channel':<20}{'hubbub':>9}{'required':>10}{'OpenDP':>9}{'law s':>9}{'profile s':>11}  options"
    print(f"{head}   (million samples per CPU second)", file=sys.stderr)
    for row in rows():
        required = "" if row.required is None else f"{row.required:.1f}"
        beside = "" if row.peer is None else f"{row.peer:.3f}"
        print(
            f"{row.channel:<20}{row.hubbub:>9.1f}{required:>10}{beside:>9}{row.law_seconds:>9.3f}"
            f"{row.profile_seconds:>11.3f}  {row.options}",
            file=sys.stderr,
        )
        told = asdict(row)
        if told.pop("required") is not None:
            told["at_least"] = f"{REQUIRED:g}, {'met' if row.hubbub >= REQUIRED else 'missed'}"
        print(json.dumps({"benchmark": "channels", **told}), flush=True)


if __name__ == "__main__":
    main()
