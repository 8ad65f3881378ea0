"""What each test costs, and so which tests are too dear for `make test`: those of `COSTLY`, in tests/costly.txt.

``python -m tests.cost`` runs the tests that are fast, and those that are slow for their cost alone, measures the CPU
time of each with that of the processes it starts, and writes the list again. Other work on the machine makes every test
dearer: measure on an idle one.
"""

from __future__ import annotations

import os
import resource
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from statistics import mean
from typing import Final

import pytest

from tests.slow import COSTLY, UNLISTED

KEPT: Final = ("tests/unit/test_house_laws.py", "tests/unit/tree/")
"""Laws of the house: whoever breaks one should hear of it at once, whatever that costs."""
MOST: Final = 0.15  # seconds of CPU for a case of a test, on average


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Costs:
    """A plugin that keeps what each test took."""

    def __init__(self) -> None:
        self.spent = list[tuple[str, float]]()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = _cpu()
        done = yield
        self.spent.append((item.nodeid, _cpu() - before))
        return done


def costly(spent: Iterable[tuple[str, float]], most: float = MOST) -> list[str]:
    """The tests, without their cases, whose cases cost more than this on average."""
    cases = defaultdict[str, list[float]](list)
    for name, seconds in spent:
        if not name.startswith(KEPT):
            cases[name.partition("[")[0]].append(seconds)
    return sorted(test for test, seconds in cases.items() if mean(seconds) > most)


def main() -> None:
    """Measure, and write the list."""
    os.environ[UNLISTED] = "1"
    costs = Costs()
    done = pytest.main(["-n0", "-q", "-m", "not slow", *sys.argv[1:]], plugins=[costs])
    if done:
        sys.exit(int(done))
    COSTLY.write_text("".join(f"{test}\n" for test in costly(costs.spent)), encoding="utf-8")


if __name__ == "__main__":
    main()
