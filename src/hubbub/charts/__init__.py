"""Charts: plain values in, SVG out. Everything that is drawn anywhere is drawn here, without a library.

Charts are drawn from what a command prints, never from the data behind it. Each is loaded when it is asked for: a
report draws one of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from hubbub.charts.attack import attack_chart as attack_chart
    from hubbub.charts.chart import ENDINGS as ENDINGS
    from hubbub.charts.chart import Chart as Chart
    from hubbub.charts.chart import png_available as png_available
    from hubbub.charts.chart import ready as ready
    from hubbub.charts.panels import lines_chart as lines_chart
    from hubbub.charts.panels import transfers_chart as transfers_chart
    from hubbub.charts.profile import profile_chart as profile_chart
    from hubbub.charts.triangles import gain_triangles as gain_triangles

_WHERE: Final = {
    "attack_chart": "attack",
    "ENDINGS": "chart",
    "Chart": "chart",
    "png_available": "chart",
    "ready": "chart",
    "gain_triangles": "triangles",
    "lines_chart": "panels",
    "profile_chart": "profile",
    "transfers_chart": "panels",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"hubbub.charts has no {name}; it has {', '.join(_WHERE)}")
    return getattr(import_module(f"hubbub.charts.{_WHERE[name]}"), name)
