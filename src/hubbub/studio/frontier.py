"""The frontier of a plan as a picture: every design that reaches a promise, by sampling rate and error."""

from __future__ import annotations

from hubbub.charts.lines import Axes, Series, responsive_lines
from hubbub.charts.svg import Bar, ChartLabels, Panel, responsive
from hubbub.plan import Design, Planned
from hubbub.plan.planned import design_label, percent

_KINDS = {
    "exact-or-suppressed": "small counts hidden",
    "noisy-below": "noise on small counts",
    "geometric": "noise on every count",
    "warped": "warped noise",
}
_BARS = 8  # designs that are drawn where there is one rate


def picture(found: Planned, here: tuple[float, float] | None = None) -> str:
    """The designs as HTML; `here` is the rate and error of the one that is looked at."""
    rates = {design.rate for design in found.designs}
    return _bars(found) if len(rates) == 1 else _lines(found, here)


def _lines(found: Planned, here: tuple[float, float] | None) -> str:
    series = []
    for name in dict.fromkeys(_kind(design) for design in found.designs):
        best: dict[float, Design] = {}
        for design in found.designs:  # the smallest error first
            if _kind(design) == name:
                best.setdefault(1.0 if design.rate is None else float(design.rate), design)
        points = sorted(best.items())
        series.append(
            Series(
                name=name,
                points=tuple((rate, design.expected.error) for rate, design in points),
                labels=tuple(
                    f"{design_label(each)}, {_sampled(each)}: {each.expected.error:.3g} people off"
                    for _, each in points
                ),
            )
        )
    best_of_all = found.best
    sentence = (
        f"The smallest error is {best_of_all.expected.error:.3g} people per bin, with {design_label(best_of_all)}."
    )
    axes = Axes(
        title="Error against sampling rate",
        description=f"{sentence} The table has the numbers.",
        x="share of people in the secret sample",
        y="mean error of a published number, in people",
        percent=True,
        ring=here,
    )
    return responsive_lines(series, axes)


def _bars(found: Planned) -> str:
    bars = tuple(
        Bar(f"{design_label(design)}", _error(design), _error(design), _error(design), _short(design))
        for design in found.designs[:_BARS]
    )
    labels = ChartLabels(
        title="Errors of the designs",
        description=f"{len(bars)} designs; the smallest error is {found.best.expected.error:.3g} people per bin.",
        by="",
        numbers="mean error of a published number, in people",
    )
    return responsive([Panel("", bars)], labels, upright=False)


def _error(design: Design) -> float:
    return round(design.expected.error, 2)


def _short(design: Design) -> str:
    return f"{design.expected.error:.3g}"


def _kind(design: Design) -> str:
    channel = design.spec.channel
    name = _KINDS.get(channel.name, channel.name)
    return f"{name}, small values hidden" if getattr(channel, "show_above", None) is not None else name


def _sampled(design: Design) -> str:
    return "everybody" if design.rate is None else f"{percent(design.rate)} sampled"
