"""Charts: plain values in, SVG out. Everything that is drawn anywhere is drawn here, without a library.

Charts are drawn from what a command prints, never from the data behind it.
"""

from __future__ import annotations

from hubbub.charts.attack import attack_chart as attack_chart
from hubbub.charts.chart import ENDINGS as ENDINGS
from hubbub.charts.chart import Chart as Chart
from hubbub.charts.chart import png_available as png_available
from hubbub.charts.chart import ready as ready
from hubbub.charts.gain_triangles import gain_triangles as gain_triangles
from hubbub.charts.panels import lines_chart as lines_chart
from hubbub.charts.profile import profile_chart as profile_chart
from hubbub.charts.transfers import transfers_chart as transfers_chart
