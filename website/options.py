"""The options of every method of a table, as types: ``python -m website.options`` writes hubbub/kinds/options.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from hubbub import registry
from hubbub.protocol.option import Option
from hubbub.protocol.spec import Kind

PLACE: Final = Path(__file__).parent.parent / "src" / "hubbub" / "kinds" / "options.py"
METHODS: Final[dict[str, tuple[str, ...]]] = {
    "histogram": ("by",),
    "records": ("columns",),
    "cube": ("by",),
    "points": ("columns",),
    "queries": ("columns", "class"),
    "synthetic": ("columns",),
    "count": ("by",),
    "fraction": ("by",),
    "mean": ("of", "by"),
    "quantile": ("of", "by"),
    "sum": ("of", "by"),
    "ratio": ("of", "per", "by"),
    "summary": ("number", "by"),
    "variance": ("of", "by"),
    "std": ("of", "by"),
    "graph": ("of",),
}
"""The kinds that Python has a method for, and which of their options it takes by position."""

NUMBERS: Final = ("count", "fraction", "mean", "quantile", "sum", "variance", "std")
"""The kinds that publish one number, or one for each bin: what they share is written once."""

GROUPS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "RowOptions": (
        "How many rows of a person count, where several do.",
        ("distinct", "rows_per_person", "rows_per_bin", "rows_called"),
    ),
    "SampleOptions": ("A secret sample before a promise to crowds.", ("sample", "at_delta")),
    "NoiseOptions": ("Which noise, and its delta.", ("delta", "mechanism")),
    "WeightOptions": ("Design weights.", ("weight", "poisson_survey", "calibrated")),
    "KeptOptions": ("What intervals of one row per person are for.", ("expected_rows", "kept_rows")),
}
"""Options that several kinds take together, written once."""

_HEAD: Final = '''"""What the methods of a table and a network take, from the options of each kind: written by ``make options``."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Required, TypedDict

from hubbub.numeric.exact import Exact


class Confirmed(TypedDict, total=False):
    """What every release takes."""

    accept_weak: bool
'''


def _line(option: Option) -> str:
    return f"    {option.name}: " + (f"Required[{option.annotation}]" if option.missing else option.annotation)


def _lines(kind: Kind) -> list[str]:
    return [_line(option) for option in kind.options if option.name not in METHODS[kind.name]]


def _class(name: str, base: str, about: str, lines: list[str]) -> str:
    return "\n".join((f"\n\nclass {name}({base}, total=False):", f'    """{about}"""', "", *lines, ""))


def text() -> str:
    """The module, as the kinds are now."""
    each = [_lines(registry.kind(name)) for name in NUMBERS]
    shared = [line for line in each[0] if all(line in lines for lines in each)]
    made = _HEAD + _class(
        "NumberOptions", "Confirmed", "What every release of a number, or of one for each bin, takes.", shared
    )
    every = {line for name in METHODS for line in _lines(registry.kind(name))}
    groups: dict[str, list[str]] = {}
    for group, (about, names) in GROUPS.items():
        groups[group] = [line for one in names for line in every if line.startswith(f"    {one}: ")]
        made += _class(group, "TypedDict", about, groups[group])
    for name in METHODS:
        about = f"The options of ``hubbub release {name}``, but for what the method takes first."
        base, less = ("NumberOptions", shared) if name in NUMBERS else ("Confirmed", [])
        lines = [line for line in _lines(registry.kind(name)) if line not in less]
        taken = [group for group, each in groups.items() if set(each) <= set(lines)]
        lines = [line for line in lines if not any(line in groups[group] for group in taken)]
        made += _class(f"{name.title()}Options", ", ".join((base, *taken)), about, lines)
    ruff = [sys.executable, "-m", "ruff", "format", "-", "--stdin-filename", str(PLACE)]
    return subprocess.run(ruff, input=made, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    PLACE.write_text(text(), encoding="utf-8")
