"""Sequences of every kind of release that a ledger admits, against their joint laws.

``python -m tests.fuzz.joint_loss [SEQUENCES [FIRST]]``. Each has two to four releases of which two at least are
admitted, one at least that is no histogram; no two are alike. For each: every small table, everybody who leaves it,
everybody who is replaced, every notion that the ledger sums up. FIRST parts what several processes go through.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections import Counter
from itertools import count

from tests.joint import Release, forget
from tests.joint_search import WORDS, asked, entered, judged, others

NAMES = sorted(name for name in WORDS if not name.startswith(("collected", "uneven")))
AFRESH = 50  # sequences for each ledger, which gets slower as it grows


def drawn(number: int) -> tuple[str, ...]:
    """A sequence by names, the same for the same number."""
    chance, made = random.Random(number), []
    for _ in range(chance.randint(2, 4)):
        if chance.random() < 0.6:
            made.append(chance.choice(sorted(others())))
        else:
            made.append(f"{chance.choice(NAMES)}, {chance.choice('ab')}")
    return tuple(made)


def release(name: str) -> Release | None:
    """None where no such release can be asked for."""
    what, _, column = name.partition(", ")
    return asked(what, "patient", column, False) if column else others()[what]


def main(wanted: int, start: int = 0) -> int:
    seen, told, begun = set[tuple[str, ...]](), Counter[str](), time.process_time()
    for number in count(start):
        if len(seen) % AFRESH == 0:
            forget()
            os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="hubbub-joint-")
        names = drawn(number)
        releases = [each for name in names if (each := release(name)) is not None]
        admitted = entered(releases)
        if names in seen or admitted is None or len(admitted[0]) < 2 or not set(names) & set(others()):
            continue
        seen.add(names)
        broken = judged(*admitted)
        told.update(type(each.spec).__name__ for each in admitted[0])
        for sentence in broken:
            print(f"{names}: {sentence}")
        if broken:
            return 1
        if len(seen) % 100 == 0 or len(seen) == wanted:
            spent = time.process_time() - begun
            print(f"{len(seen):,} admitted of {number + 1 - start:,} drawn, {spent:.0f} s: {dict(told)}", flush=True)
        if len(seen) == wanted:
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:] or ["5000"])))
