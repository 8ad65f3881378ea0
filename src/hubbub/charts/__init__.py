"""Charts: plain values in, a Vega-Lite chart out. The only folder that knows Altair, and it loads it late.

The bars of a report are drawn without it (:mod:`hubbub.charts.svg`).

Charts are drawn from what a command prints, never from the data behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hubbub.charts.attack import attack_chart as attack_chart
from hubbub.charts.gain_triangles import gain_triangles as gain_triangles
from hubbub.charts.profile import profile_chart as profile_chart
from hubbub.charts.transfers import transfers_chart as transfers_chart
from hubbub.errors import WrongUse

if TYPE_CHECKING:
    from hubbub.charts.style import Chart

ENDINGS: Final = (".html", ".png", ".svg", ".json")

_MENU: Final = {"export": True, "source": False, "compiled": False, "editor": False}  # the editor is a web page
_SAVING: Final[Mapping[str, Mapping[str, Any]]] = {
    "html": {"inline": True, "embed_options": {"actions": _MENU}},
    "png": {"scale_factor": 2},
}


def available() -> bool:
    """Whether charts can be drawn here."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def ready(path: str | Path) -> None:
    """Raise, before any work is done, if a chart cannot be drawn or `path` has an ending we do not write."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise WrongUse(
            f"a chart file must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, not {Path(path).name[:60]!r}"
        )
    if not available():
        raise WrongUse(
            "charts need altair and vl-convert, which are not installed; get them with: pip install 'hubbub[charts]'"
        )


def save(chart: Chart, path: str | Path) -> None:
    """Write the chart; an HTML file carries all its code inside and opens without a network."""
    ready(path)
    kind = Path(path).suffix.lower().removeprefix(".")
    options = _SAVING.get(kind, {})
    try:
        chart.save(str(path), format=kind, **options)  # type: ignore[arg-type]
    except OSError as error:
        raise WrongUse(
            f"the chart cannot be written to {path}: {error.strerror or error}; choose another file"
        ) from error
