"""Several processes at one ledger. Run as a script: ``racing.py LEDGER PROCESSES TRIES EPSILON`` prints the grants."""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing.synchronize import Barrier
from typing import Any

from hubbub.errors import Refused
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.charge import charge
from hubbub.ledger.ledger import Ledger
from hubbub.protocol.bound import Bound


def ask(path: str, tries: int, epsilon: str, together: Barrier, granted: Any) -> None:
    asked = charge(Bound(histogram(["a=x,y"], epsilon=epsilon)))
    together.wait()
    for _ in range(tries):
        try:
            Ledger(path).reserve("town", asked)
        except Refused:
            continue
        with granted.get_lock():
            granted.value += 1


def main(path: str, processes: int, tries: int, epsilon: str) -> None:
    context = multiprocessing.get_context("fork")
    together, granted = context.Barrier(processes), context.Value("i", 0)
    crowd = [context.Process(target=ask, args=(path, tries, epsilon, together, granted)) for _ in range(processes)]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()
    assert all(each.exitcode == 0 for each in crowd)
    print(granted.value)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
