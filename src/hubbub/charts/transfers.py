"""The flow of ballots from round to round as a chart that stands alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hubbub.charts.chart import Chart, charted
from hubbub.charts.flow_svg import drawn as drawn_flow
from hubbub.charts.svg import Bar, ChartLabels, Panel, drawn
from hubbub.protocol.drawing import Flow


def transfers_chart(flow: Flow, *, title: str, subtitle: Sequence[str]) -> Chart:
    """Piles round by round. With one column there is no flow, and bars with numbers are drawn."""
    if len(flow.columns) > 1:
        return charted(partial(drawn_flow, flow), title, subtitle)
    bars = tuple(Bar(name, ballots, ballots, ballots, f"{ballots:,}") for name, ballots in flow.columns[0].piles)
    labels = ChartLabels(title="Ballots", description=flow.description or title, by="", numbers="ballots")
    return charted(partial(drawn, [Panel("", bars)], labels, upright=False), title, subtitle)
