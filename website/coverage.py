"""How much of the code the tests run, by folder, as a page: ``make coverage`` measures and writes it.

Lines that no test runs are listed by their number only: what matters is whether a wrong line is noticed, and that is
what the planted faults of docs/mutants.md are for.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"
HEAD = """# What the tests run

Written by `make coverage`: the share of statements in `src/hubbub` that run in all tests, fast and slow, without the
browser, without Spark, and without what runs in processes of its own (the studio's worker, the kills of the ledger's
tests). A line that runs is not a line that is checked: [planted faults](mutants.md) and [the auditor](audit.md) look
for that.

| folder | statements | run | share |
|---|---|---|---|
"""


def table(measured: Path) -> str:
    """The page, from what coverage.py wrote as JSON."""
    seen: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, file in json.loads(measured.read_text(encoding="utf-8"))["files"].items():
        inside = Path(name).parts[Path(name).parts.index("hubbub") + 1 :]
        folder = f"`{inside[0]}/`" if len(inside) > 1 else "the top level"
        seen[folder][0] += file["summary"]["num_statements"]
        seen[folder][1] += file["summary"]["covered_lines"]
    seen["**all**"] = [sum(each[0] for each in seen.values()), sum(each[1] for each in seen.values())]
    rows = [f"| {name} | {all_:,} | {run:,} | {100 * run / all_:.1f} % |" for name, (all_, run) in seen.items() if all_]
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(table(Path(sys.argv[1])), encoding="utf-8")
    print(f"wrote {PAGE.name}")
