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
    "count": ("by",),
    "fraction": ("by",),
    "mean": ("of", "by"),
    "quantile": ("of", "by"),
    "sum": ("of", "by"),
    "variance": ("of", "by"),
    "std": ("of", "by"),
    "graph": ("of",),
}
"""The kinds that Python has a method for, and which of their options it takes by position."""

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


def _type(kind: Kind, first: tuple[str, ...]) -> str:
    rest = [_line(option) for option in kind.options if option.name not in first]
    about = f'    """The options of ``hubbub release {kind.name}``, but for what the method takes first."""'
    return "\n".join((f"\n\nclass {kind.name.title()}Options(Confirmed, total=False):", about, "", *rest, ""))


def text() -> str:
    """The module, as the kinds are now."""
    made = _HEAD + "".join(_type(registry.kind(name), first) for name, first in METHODS.items())
    ruff = [sys.executable, "-m", "ruff", "format", "-", "--stdin-filename", str(PLACE)]
    return subprocess.run(ruff, input=made, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    PLACE.write_text(text(), encoding="utf-8")
