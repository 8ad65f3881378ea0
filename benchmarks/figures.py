"""The figures of benchmarks/README.md, written by the runs themselves.

The page is its own template: prose stands between the tables, and each part's tables between two marks,
``<!-- figures: NAME -->`` and ``<!-- end of NAME -->``. A run puts a table of its JSON lines there, with its date, the
load and the kind of the machine, and touches nothing else.
"""

from __future__ import annotations

import json
import os
import platform
import re
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

README: Final = Path(__file__).with_name("README.md")
_LEFT_OUT: Final = ("benchmark", "of", "most_megabytes")  # said in the prose: a page is not so wide
_LIMIT: Final = "limit"
_MEASURED: Final = ("cpu", "seconds", "ratio", "exponent")  # what a limit is about, the last that is there


def rows_of(printed: str) -> list[dict[str, Any]]:
    """The JSON lines of what a benchmark printed."""
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def machine() -> str:
    """When and where: the date, the load before the run, the kind of machine, how fast it was, and the versions that
    matter. A machine that is shared may run at half its speed though nothing else runs on it."""
    import duckdb
    import numpy

    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    versions = f"Python {platform.python_version()}, NumPy {numpy.__version__}, DuckDB {duckdb.__version__}"
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    where = f"a load of {load:.1f} on {cores} cores of {_processor()}"
    return f"{day}, {where}, ten million additions in {_additions():.1f} s of CPU, {versions}"


def _additions() -> float:
    """Seconds of CPU of ten million additions, the best of three."""
    times = []
    for _ in range(3):
        start, found = time.process_time(), 0
        for each in range(1_000_000):
            found += each
        times.append(time.process_time() - start)
    return 10 * min(times)


def _processor() -> str:
    """What the system calls the processor, without its number."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        told = ""
    found = re.search(r"^model name\s*:\s*(.+)$", told, re.MULTILINE)
    return " ".join(found[1].split()[:2]) if found else platform.machine()


def section(rows: Iterable[Mapping[str, Any]], where: str) -> str:
    """A table of the rows, one column for each name that they have something for, and what was measured where."""
    listed = [dict(row) for row in rows]
    told = dict.fromkeys(key for row in listed for key, value in row.items() if value is not None)
    names = [name for name in told if name not in _LEFT_OUT]
    lines = [f"| {' | '.join(name.replace('_', ' ') for name in names)} |", f"|{'---|' * len(names)}"]
    lines += [f"| {' | '.join(_cell(name, row) for name in names)} |" for row in listed]
    return "\n".join([f"*{where}.*", "", *lines])


def _cell(name: str, row: Mapping[str, Any]) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).replace("|", "\\|")
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{text}{_verdict(row)}" if name == _LIMIT else text


def _verdict(row: Mapping[str, Any]) -> str:
    """Whether the limit of a row was met."""
    measured = [row[name] for name in _MEASURED if isinstance(row.get(name), int | float)]
    return ", missed" if measured and measured[-1] > row[_LIMIT] else ""


def replaced(page: str, name: str, figures: str) -> str:
    """The page with other figures of one part; a page without its marks is left as it is."""
    begin, end = f"<!-- figures: {name} -->", f"<!-- end of {name} -->"
    before, first, rest = page.partition(begin)
    _, last, after = rest.partition(end)
    return f"{before}{begin}\n{figures}\n{end}{after}" if first and last else page


def write(name: str, printed: str, where: str, page: Path = README) -> None:
    """Put the figures of a run into the page; one that printed none leaves those that are there."""
    rows = rows_of(printed)
    if rows:
        text = page.read_text(encoding="utf-8")
        page.write_text(replaced(text, name, section(rows, where)), encoding="utf-8")
