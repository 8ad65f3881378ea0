"""What the charts share: Altair, loaded late, one set of colours, fonts and axes.

The colours are those of Okabe and Ito, which people with any colour vision tell apart, and shape or dashes say the
same again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    import altair

    Chart: TypeAlias = altair.Chart | altair.LayerChart | altair.FacetChart | altair.HConcatChart | altair.VConcatChart

BLUE, VERMILLION, ORANGE, GREY = "#0072B2", "#D55E00", "#E69F00", "#6b7280"
GREEN, PURPLE = "#009E73", "#CC79A7"
SKY, PALE_ORANGE, PALE = "#9fd0ee", "#f5c49f", "#b9c0c8"
INK: Final = "#1f2933"

Rows: TypeAlias = Sequence[Mapping[str, Any]]


def load_altair() -> ModuleType:
    """Altair takes a third of a second to load, so only a chart loads it."""
    import altair

    return altair


def titled(chart: Any, title: str, subtitle: Sequence[str]) -> Any:
    """A chart that stands alone, with its message above it."""
    heading = {"text": title, "subtitle": list(subtitle), "anchor": "start", "frame": "group", "offset": 14}
    return configured(chart.properties(title=heading, padding=16))


def configured(chart: Any, **more: Any) -> Any:
    """Fonts and axes, the same for every chart."""
    return chart.configure(  # in one call, because each copies the chart with its data
        font="Helvetica, Arial, sans-serif",
        background="white",
        title={
            "fontSize": 17,
            "fontWeight": 600,
            "color": INK,
            "subtitleFontSize": 13,
            "subtitleColor": GREY,
            "subtitlePadding": 5,
        },
        axis={
            "labelFontSize": 12,
            "labelColor": INK,
            "titleFontSize": 13,
            "titleFontWeight": 500,
            "titleColor": INK,
            "titlePadding": 9,
            "gridColor": "#e8ebee",
            "domainColor": PALE,
            "tickColor": PALE,
        },
        legend={
            "orient": "top",
            "title": None,
            "offset": 8,
            "labelFontSize": 13,
            "labelColor": INK,
            "labelLimit": 400,
            "symbolSize": 110,
            "symbolType": "circle",
            "symbolStrokeWidth": 0,
        },
        view={"stroke": None},
        **more,
    )
