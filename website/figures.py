"""The figures of the theory pages: every number in them is computed here, by the library itself.

``python -m website.figures`` writes each as an SVG. What depends on a number that a reader would like to change is
drawn several times, side by side.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from click.testing import CliRunner

import hubbub
from hubbub import account
from hubbub.charts import Chart, lines_chart
from hubbub.charts.chart import charted
from hubbub.charts.lines import Axes, Series, drawn_lines
from hubbub.cli.main import commands

FOLDER = Path(__file__).parents[1] / "docs" / "theory" / "figures"


def _masses(channel: Any, count: int, values: range) -> list[tuple[float, float]]:
    law = channel.law(count)
    return [(value, round(sum(float(law.mass(value, tag)) for tag in law.tags), 6)) for value in values]


def posterior() -> Chart:
    """How far a reader can go from what they believed before, at most."""
    series = []
    for before in (0.5, 0.1):
        points, band = [], []
        for i in range(81):
            up = math.exp(i / 20)
            most, least = before * up / (before * up + 1 - before), before / (before + (1 - before) * up)
            points.append((i / 20, most))
            band.append((least, most))
        series.append(
            Series(name=f"believed before: {100 * before:g} %", points=tuple(points), band=tuple(band), marks=False)
        )
    axes = Axes(
        title="Belief before and after",
        description="The larger epsilon, the farther a reader can go.",
        x="epsilon",
        y="believed after, at least and at most",
        up=(0.0, 1.0),
        percent_up=True,
        log=False,
    )
    return charted(partial(drawn_lines, series, axes), "", [])


def laws() -> Chart:
    """What is published of a bin with five people, and of the same bin with four."""
    values, panels = range(-6, 17), {}
    for tenth in (2, 5, 10, 20):
        channel = hubbub.channel("geometric", epsilon=Fraction(tenth, 10))
        panels[f"epsilon = {tenth / 10:g}"] = {
            "with you: 5 people": _masses(channel, 5, values),
            "without you: 4": _masses(channel, 4, values),
        }
    return lines_chart(panels, x="published number", y="chance", log=False)


def warped() -> Chart:
    """The warped channel at several counts: what is rare is blurred, what is common is not."""
    channel = hubbub.channel("warped", curve="1:0.05,21:1")
    panels = {f"{count} people in the bin": {"": _masses(channel, count, range(46))} for count in (5, 15, 20, 25)}
    return lines_chart(panels, x="published number", y="chance", log=False)


def crowd() -> Chart:
    """Three channels for one promise about small crowds: how far off they are, by count."""
    shown = {
        "hidden below 20": hubbub.channel("exact-or-suppressed", k="20"),
        "noisy below 20 (epsilon 1)": hubbub.channel("noisy-below", k="20", epsilon="1"),
        "noise everywhere (epsilon 1)": hubbub.channel("geometric", epsilon="1"),
    }
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, channel in shown.items():
        for count in range(41):
            law = channel.law(count)
            values = range(-25, 70)
            exact = sum(
                abs(value - count) * float(law.mass(value, tag))
                for value in values
                for tag in law.tags
                if tag != "suppressed"
            )
            hidden = sum(float(law.mass(value, "suppressed")) for value in values) if "suppressed" in law.tags else 0.0
            lines.setdefault(name, []).append((count, exact + count * hidden))
    return lines_chart({"": lines}, x="people in the bin", y="people off on average (hidden read as 0)", log=False)


def sample() -> Chart:
    """What a secret sample buys: epsilon at a delta of one in a million, by rate, for several crowds."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for k in (10, 20, 50, 100):
        for percent in (1, 2, 3, 5, 8, 10, 15, 20, 25, 30, 40, 50):
            found = account.crowd(k=k, rate=Fraction(percent, 100)).ask(delta="1e-6").as_json()
            if isinstance(found["epsilon"], float) and found["epsilon"] < 3:
                lines.setdefault(f"crowds of {k}", []).append((percent / 100, found["epsilon"]))
    said = {"x": "share of people in the secret sample", "y": "epsilon, at delta = 1e-6"}
    return lines_chart({"": lines}, **said, percent=True, marks=True, log=False)


def simulator() -> Chart:
    """A count of 2,000 people from a sample of K of them, and what somebody tells who saw K people without you."""
    n, epsilon, yes = 2000, 0.5, 800
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for size in (50, 100, 200, 500):
        inside = math.log(1 + (n / size) * (math.exp(epsilon) - 1))
        for who, ones in (("published", yes), ("told by K people, without you", yes - 1)):
            drawn = [_hypergeometric(n, ones, size, hit) for hit in range(size + 1)]
            decay = math.exp(-inside)
            noise = [(1 - decay) / (1 + decay) * decay**j for j in range(40)]
            middle = round(size * yes / n)
            reach = max(4, round(3 * math.sqrt(size * 0.24)))
            for value in range(middle - reach, middle + reach + 1):
                chance = sum(
                    drawn[hit] * noise[abs(value - hit)]
                    for hit in range(max(0, value - 39), min(size, value + 39) + 1)
                    if drawn[hit] > 0
                )
                lines = panels.setdefault(f"K = {size}", {})
                lines.setdefault(who, []).append((value * n / size, round(chance, 6)))
    return lines_chart(panels, x="published number of people", y="chance", log=False)


def _hypergeometric(n: int, ones: int, size: int, hit: int) -> float:
    if hit > ones or size - hit > n - ones:
        return 0.0
    return math.exp(_log_choose(ones, hit) + _log_choose(n - ones, size - hit) - _log_choose(n, size))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def together() -> Chart:
    """Fifty releases of epsilon 0.1 each, added up and by the exact law of losses."""
    one, many = account.read_promise("differential:epsilon=0.1"), (2, 5, 10, 15, 20, 30, 40, 50)
    exact = [(times, account.compose(one, times=times, delta="1e-9").as_json()["epsilon"]) for times in many]
    lines = {"added up": [(times, times / 10) for times in many], "exact law of losses, delta = 1e-9": exact}
    said = {"x": "releases of epsilon = 0.1", "y": "epsilon of all together"}
    return lines_chart({"": lines}, **said, marks=True, log=False)


def honesty() -> Chart:
    """What the best lie gains by number of voters: plurality, and with the margin that the command chooses."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for voters in (11, 21, 51, 101, 201, 301, 501, 1001):
        for rule in ("plurality", "repeated-plurality"):
            asked = ["vote", "gain", "--belief", "abc:1/2,bac:1/2", "--truth", "cab", "--voters", str(voters), "--json"]
            told = CliRunner().invoke(commands, [*asked, "--rule", rule], catch_exceptions=False).stdout
            lines.setdefault(rule.replace("-", " "), []).append((voters, json.loads(told)["gain_high"]))
    return lines_chart({"": lines}, x="voters", y="what the best lie gains", log_across=True, marks=True, log=False)


FIGURES: dict[str, Callable[[], Chart]] = {
    each.__name__: each for each in (posterior, laws, crowd, warped, sample, simulator, together, honesty)
}


def main(names: list[str]) -> None:
    """Write the named figures, or all of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or FIGURES:
        FIGURES[name]().save(FOLDER / f"{name}.svg")
        print(f"wrote {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
