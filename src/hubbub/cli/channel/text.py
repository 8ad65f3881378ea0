"""What ``hubbub channel`` shows to people: short tables, bars, and verdicts in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hubbub.cli import page

if TYPE_CHECKING:
    from flint import arb

    from hubbub.channels.catalogue import Made
    from hubbub.channels.profile import Row
    from hubbub.guarantees.verdict import Verdict
    from hubbub.numeric.exact import Loss

LINES: Final = 24  # of a table
_BAR: Final = 30  # cells of the longest
_BESIDE_BAR: Final = 26  # cells that the columns before it take
BARELY: Final = Fraction(1, 10**30)  # as close to 0 as a table says it


def draw_law(title: str, entries: list[dict[str, Any]], left_out: float, *, tagged: bool) -> None:
    """The most likely outcomes in their order, with a line for each stretch that is left out."""
    from hubbub.cli.terminal.table import Column, Table
    from hubbub.numeric.format import short

    chances = [float(entry["probability"]) for entry in entries]
    likely = sorted(range(len(entries)), key=lambda i: (-chances[i], i))[:LINES]
    console = page()
    width = max(min(_BAR, console.width - _BESIDE_BAR), 1)
    tag = ["tag"] if tagged else []
    table = Table(Column("value", right=True), *tag, Column("probability", right=True), Column(most=_BAR))
    blank = [""] if tagged else []
    for kept, stretch in _with_gaps(likely, len(entries)):
        if not kept:
            table.add("…", *blank, f"{sum(chances[i] for i in stretch):.4g}", f"{len(stretch):,} outcomes together")
            continue
        for i in stretch:
            value = "hidden" if entries[i]["value"] is None else str(entries[i]["value"])
            tags = [str(entries[i]["tag"])] if tagged else []
            table.add(value, *tags, f"{chances[i]:.4g}", _bar(chances[i] / max(chances), width))
    console.print(title, style="bold")
    console.print(table)
    rest = f"at most {short(Fraction(left_out), 2)}" if left_out else "nothing"
    console.print(f"{len(entries):,} outcome{'s' * (len(entries) != 1)}; {rest} is left out.")


def _bar(share: float, width: int) -> str:
    """A bar as long as its share of the width, in eighths of a cell.

    >>> _bar(0.6, 4)
    '██▍'
    """
    full, eighths = divmod(int(8 * width * share), 8)
    return "█" * full + " ▏▎▍▌▋▊▉"[eighths].strip()


def _with_gaps(kept: Iterable[int], length: int) -> Iterable[tuple[bool, list[int]]]:
    """0..length-1 in stretches of indices that are kept, or not."""
    chosen = set(kept)
    return ((visible, list(stretch)) for visible, stretch in groupby(range(length), key=lambda i: i in chosen))


def draw_profile(title: str, claim: str, rows: list[Row], losses: Sequence[Loss | arb | None], worst: Row) -> None:
    """One line per count; equal lines in a row become one, and the middle of a long table is left out."""
    from hubbub.cli.terminal.table import Column, Table

    headings = ("count", "epsilon", "claimed delta", "exact delta", "looser by", "exact loss")
    table = Table(*(Column(heading, right=True) for heading in headings))
    cells = [
        (_short(row.epsilon), _short(row.claimed_delta), _short(row.exact_delta), _looser(row), _short(loss))
        for row, loss in zip(rows, losses, strict=True)
    ]
    lines = list(_merged([row.count for row in rows], cells))
    at = next(i for i, (first, last, _) in enumerate(lines) if first <= worst.count <= last)
    near = {i for i in range(len(lines)) if abs(i - at) <= 3 or i < LINES // 3 or i >= len(lines) - LINES // 3}
    for kept, stretch in _with_gaps(near if len(lines) > LINES else range(len(lines)), len(lines)):
        if not kept:
            table.add(_span(lines[stretch[0]][0], lines[stretch[-1]][1]), *["…"] * 5)
            continue
        for i in stretch:
            first, last, texts = lines[i]
            style = "bold" if i == at and worst.exact_delta > 0 else None
            table.add(_span(first, last), *texts, style=style)
    console = page()
    console.print(f"{title} claims", style="bold")
    console.print(claim if len(claim) <= 200 else f"{claim[:199]}…")
    console.print(table)


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}..{last}"


def _merged(counts: Sequence[int], cells: Sequence[tuple[str, ...]]) -> Iterable[tuple[int, int, tuple[str, ...]]]:
    """(first count, last count, texts): neighbouring counts that say the same."""
    both = zip(counts, cells, range(len(counts)), strict=True)
    for (_, texts), run in groupby(both, key=lambda row: (row[0] - row[2], row[1])):
        members = [count for count, _, _ in run]
        yield members[0], members[-1], texts


def _short(x: Loss | arb | None) -> str:
    """Four digits, rounded up; a bare 0 is exactly 0, and a ball that cannot be told from 0 says so."""
    from hubbub.numeric.exact import Infinite, lower, upper
    from hubbub.numeric.format import short

    if x is None:
        return "-"
    if isinstance(x, Infinite):
        return "inf"
    if lower(x) <= 0 < upper(x):
        return f"< {short(max(upper(x), BARELY), 1)}"
    return short(lower(x))  # a ball around 1 is narrower than any digit shown


def _looser(row: Row) -> str:
    from hubbub.numeric.exact import lower, to_float

    exact = lower(row.exact_delta)
    if exact <= 0:
        return "-"
    ratio = to_float(row.claimed_delta / exact, round_up=False)
    return f"{ratio:.3g}" if ratio < 1e6 else "> 1e6"


def print_verdict(made: Made, verdict: Verdict, chart: str | None) -> None:
    """Whether the claim holds, how the offsets were found, and where the chart is."""
    from hubbub.guarantees.verdict import Proved, Refuted

    console = page()
    console.print()
    if isinstance(verdict, Proved):
        console.print(f"✓ Proved for every count: {verdict.reason}.")
    elif isinstance(verdict, Refuted):
        console.print(f"✗ Refuted: {verdict.reason}.")
        for name, text in verdict.witness:
            console.print(f"    {name.replace('_', ' ')}: {text}")
    else:
        console.print(f"? Undecided: {verdict.why}.")
    if made.calibration is not None:
        ways = ", ".join(f"{name.replace('_', ' ')} {_listed(value)}" for name, value in made.calibration.items())
        console.print(f"Calibrated: {ways}.")
    if chart is not None:
        console.print(f"The chart is in {Path(chart)}.")


def _listed(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
