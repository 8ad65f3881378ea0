"""What all drawings share: one set of colours by name, fonts and marks.

The colours of series are those of Okabe and Ito, darkened until each has three times the contrast of the page; people
with any colour vision tell them apart, and dashes or places say the same again. A drawing names a colour as a variable
with a fallback: a page sets the variables for light and dark, a file has the fallbacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

INK: Final = "#1f2933"
FONTS: Final = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
SERIES: Final = ("#0072b2", "#b34f00", "#007a59", "#a2507c", "#8a6100", "#52606d")
"""Of series, in their order."""

TINTS: Final = ("#edf4fa", "#cde1f0", "#a3c9e4", "#2f75a8", "#20649a", "#0b4a7d")
"""Of cells, from few to many; the last three carry white text."""

TOKENS: Final = """
:root {
  color-scheme: light dark;
  --ink: #1f2933; --paper: white; --quiet: #52606d; --soft: #3e4c59; --link: #005b8f; --panel: #f3f5f7;
  --rule: #7d8895; --grid: #e8ebee; --bar: #4b93c6; --gap: #e4e8ec;
  --good: #1b6e3c; --bad: #a12622; --warn: #7a4b00; --accent: #005b8f; --on-accent: white;
  --series-0: #0072b2; --series-1: #b34f00; --series-2: #007a59; --series-3: #a2507c; --series-4: #8a6100;
  --series-5: #52606d;
  --tint-0: #edf4fa; --tint-1: #cde1f0; --tint-2: #a3c9e4; --tint-3: #2f75a8; --tint-4: #20649a; --tint-5: #0b4a7d;
  --on-tint: white;
  --heat-0: #fdf3dd; --heat-2: #f6d48f; --heat-3: #e69f00; --heat-4: #d55e00; --heat-5: #6e2300; }
@media screen and (prefers-color-scheme: dark) { :root {
  --ink: #e3e8ee; --paper: #14191f; --quiet: #9aa7b4; --soft: #c0cad4; --link: #7cc4f4; --panel: #1f272f;
  --rule: #5d6b79; --grid: #29323b; --bar: #2f6f9c; --gap: #2a333c;
  --good: #7fd6a0; --bad: #ff9c94; --warn: #f0c170; --accent: #7cc4f4; --on-accent: #0d1319;
  --series-0: #7cc4f4; --series-1: #ff9d5c; --series-2: #5fd3ab; --series-3: #e8a2c6; --series-4: #e6c15a;
  --series-5: #9aa7b4;
  --tint-0: #1c2730; --tint-1: #264862; --tint-2: #2f6790; --tint-3: #5fa6d6; --tint-4: #8cc4ea; --tint-5: #bfe0f7;
  --on-tint: #0d1319;
  --heat-0: #2a2a26; --heat-2: #5c4a1c; --heat-3: #8f6410; --heat-4: #d55e00; --heat-5: #ffb38a; } }
"""
"""Colours by name, for light and dark; charts and pages know no others."""

MARKS: Final = (
    """
.chart text { fill: currentColor; }
.chart text.quiet, .chart text.hidden { fill: var(--quiet, #52606d); }
.chart text.panel, .chart text.bold { font-weight: 600; }
.chart text.small { font-size: 10.5px; }
.chart .bar { fill: var(--bar, #4b93c6); }
.chart .gap { fill: var(--gap, #e4e8ec); stroke: var(--quiet, #52606d); stroke-width: .8; stroke-dasharray: 2 2; }
.chart .gap.thin { stroke: none; }
.chart .line, .chart .cap { stroke: currentColor; stroke-width: 1.6; fill: none; }
.chart .line.thin { stroke-width: 1; }
.chart .point { fill: var(--series-0, #0072b2); stroke: var(--paper, white); stroke-width: 1; }
.chart .band { fill: var(--series-0, #0072b2); fill-opacity: .3; }
.chart .range { fill: var(--bar, #4b93c6); }
.chart .arrow { fill: currentColor; }
.chart .arrow.pale { fill: var(--quiet, #52606d); }
.chart .grid { stroke: var(--grid, #e8ebee); }
.chart .axis { stroke: var(--rule, #7d8895); }
.chart .rule { stroke: var(--quiet, #52606d); stroke-dasharray: 2 3; }
.chart .series { fill: none; stroke-width: 2.2; }
.chart .dashed { stroke-dasharray: 6 4; }
.chart .mark { fill: var(--paper, white); stroke-width: 2; }
.chart .wide-line { stroke-width: 8; opacity: .35; stroke-linecap: round; }
.chart .ring { fill: none; stroke: currentColor; stroke-dasharray: 3 3; }
.chart .cell { stroke: var(--paper, white); stroke-width: 2; }
.chart text.light { fill: var(--on-tint, white); }
"""
    + "".join(
        f".chart .s{i} {{ stroke: var(--series-{i}, {colour}); }} .chart .f{i} {{ fill: var(--series-{i}, {colour}); }}\n"
        for i, colour in enumerate(SERIES)
    )
    + "".join(f".chart .t{i} {{ fill: var(--tint-{i}, {colour}); }}\n" for i, colour in enumerate(TINTS))
    + """
.flow .flowing { opacity: .38; }
.flow .plain { fill: var(--quiet, #52606d); opacity: .55; }
.flow .flowing.plain { opacity: .18; }
.map .frame { fill: none; stroke: var(--rule, #7d8895); }
.map .square { fill: var(--bar, #4b93c6); }
.map .dots { fill: none; stroke: var(--ink, #1f2933); stroke-width: 1.8; stroke-linecap: round; opacity: .8; }
.map .outline { fill: none; stroke: var(--ink, #1f2933); stroke-width: .8; opacity: .8; }
.map text { font-size: 11px; }
"""
)
"""How marks look, in a page and in a file alike."""

STYLE: Final = (
    f".chart {{ display: block; width: 100%; height: auto; font: 12px {FONTS}; }}"
    + MARKS
    + """
.chart.narrow { display: none; max-width: 30rem; }
@media screen and (max-width: 640px) { .chart.wide { display: none; } .chart.narrow { display: block; } }
"""
)
"""What a page needs in its style for all drawings."""

WIDTHS: Final = {"wide": 700, "narrow": 350}

Rows: TypeAlias = Sequence[Mapping[str, Any]]
