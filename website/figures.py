"""The figures of the theory pages: every number in them is computed here, by the library itself.

``python -m website.figures`` writes each as an SVG, for whoever reads the pages as files, and as a specification that
the site shows with its sliders.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import altair as alt
from click.testing import CliRunner

import hubbub
from hubbub import account
from hubbub.charts.style import BLUE, GREEN, PURPLE, VERMILLION, configured
from hubbub.cli.main import commands

FOLDER = Path(__file__).parents[1] / "docs" / "theory" / "figures"
COLOURS = [BLUE, VERMILLION, GREEN, PURPLE]
Rows = list[dict[str, Any]]
LINES = alt.Legend(symbolType="stroke", symbolStrokeWidth=3, title=None)


def _slider(name: str, low: float, high: float, step: float, at: float, label: str) -> alt.Parameter:
    return alt.param(name=name, value=at, bind=alt.binding_range(min=low, max=high, step=step, name=f"{label}: "))


def _choice(name: str, values: list[int], at: int, label: str) -> alt.Parameter:
    return alt.param(name=name, value=at, bind=alt.binding_radio(options=values, name=f"{label}: "))


def _chosen(rows: Rows, chosen: alt.Parameter) -> alt.Chart:
    near = f"abs(datum.{chosen.name} - {chosen.name}) < 0.001"
    return alt.Chart(alt.Data(values=rows)).add_params(chosen).transform_filter(near)


def _masses(channel: Any, count: int, values: range) -> list[float]:
    law = channel.law(count)
    return [round(sum(float(law.mass(value, tag)) for tag in law.tags), 6) for value in values]


def posterior() -> Any:
    """How far a reader can go from what they believed before, at most."""
    prior = alt.param(
        name="before", value=0.5, bind=alt.binding_range(min=0.01, max=0.99, step=0.01, name="believed before: ")
    )
    rows = [{"epsilon": i / 20, "up": math.exp(i / 20)} for i in range(81)]
    chart = (
        alt.Chart(alt.Data(values=rows))
        .add_params(prior)
        .transform_calculate(
            most="before * datum.up / (before * datum.up + 1 - before)",
            least="before / (before + (1 - before) * datum.up)",
        )
        .encode(x=alt.X("epsilon:Q", title="epsilon"))
    )
    band = chart.mark_area(opacity=0.25, color=BLUE).encode(
        y=alt.Y("least:Q", title="believed after, at least and at most", scale=alt.Scale(domain=[0, 1])), y2="most:Q"
    )
    line = chart.mark_line(color=BLUE, strokeWidth=2.5).encode(y="most:Q")
    return (band + line).properties(width=560, height=300)


def laws() -> Any:
    """What is published of a bin with five people, and of the same bin with four."""
    values = range(-6, 17)
    rows: Rows = []
    for tenth in range(1, 21):
        channel = hubbub.channel("geometric", epsilon=Fraction(tenth, 10))
        for count, who in ((5, "with you: 5 people"), (4, "without you: 4 people")):
            rows += [
                {"value": value, "chance": mass, "who": who, "epsilon": tenth / 10}
                for value, mass in zip(values, _masses(channel, count, values), strict=True)
            ]
    slider = _slider("epsilon", 0.1, 2, 0.1, 0.5, "epsilon")
    return (
        _chosen(rows, slider)
        .mark_bar()
        .encode(
            x=alt.X("value:O", title="published number", axis=alt.Axis(labelAngle=0)),
            xOffset="who:N",
            y=alt.Y("chance:Q", title="chance"),
            color=alt.Color("who:N", scale=alt.Scale(range=COLOURS)),
            tooltip=["epsilon:Q", "value:Q", "chance:Q"],
        )
        .properties(width=560, height=300)
    )


def warped() -> Any:
    """The warped channel at several counts: what is rare is blurred, what is common is not."""
    channel = hubbub.channel("warped", curve="1:0.05,21:1")
    values = range(46)
    rows: Rows = [
        {"value": value, "chance": mass, "people": count}
        for count in range(41)
        for value, mass in zip(values, _masses(channel, count, values), strict=True)
    ]
    slider = _slider("people", 0, 40, 1, 15, "people in the bin")
    return (
        _chosen(rows, slider)
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("value:O", title="published number", axis=alt.Axis(labelAngle=0, values=list(range(0, 46, 5)))),
            y=alt.Y("chance:Q", title="chance"),
            tooltip=["people:Q", "value:Q", "chance:Q"],
        )
        .properties(width=560, height=280)
    )


def crowd() -> Any:
    """Three channels for one promise about small crowds: how far off they are, by count."""
    shown = {
        "hidden below 20": hubbub.channel("exact-or-suppressed", k="20"),
        "noisy below 20 (epsilon 1)": hubbub.channel("noisy-below", k="20", epsilon="1"),
        "noise everywhere (epsilon 1)": hubbub.channel("geometric", epsilon="1"),
    }
    rows: Rows = []
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
            rows.append({"count": count, "off": exact + count * hidden, "channel": name})
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("count:Q", title="people in the bin"),
            y=alt.Y("off:Q", title="people off on average (hidden read as 0)"),
            color=alt.Color("channel:N", legend=LINES, scale=alt.Scale(range=COLOURS)),
            strokeDash=alt.StrokeDash("channel:N", legend=LINES),
        )
        .properties(width=560, height=300)
    )


def sample() -> Any:
    """What a secret sample buys: epsilon at a delta of one in a million, by rate, for several crowds."""
    rows: Rows = []
    for k in (10, 20, 50, 100):
        for percent in (1, 2, 3, 5, 8, 10, 15, 20, 25, 30, 40, 50):
            found = account.crowd(k=k, rate=Fraction(percent, 100)).ask(delta="1e-6").as_json()
            if isinstance(found["epsilon"], float) and found["epsilon"] < 3:
                rows.append({"rate": percent / 100, "epsilon": found["epsilon"], "crowd": f"crowds of {k}"})
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True, strokeWidth=2.5)
        .encode(
            x=alt.X("rate:Q", title="share of people in the secret sample", axis=alt.Axis(format="%")),
            y=alt.Y("epsilon:Q", title="epsilon, at delta = 1e-6"),
            color=alt.Color("crowd:N", sort=None, legend=LINES, scale=alt.Scale(range=COLOURS)),
            tooltip=["crowd:N", "rate:Q", "epsilon:Q"],
        )
        .properties(width=560, height=300)
    )


def simulator() -> Any:
    """A count of 2,000 people from a sample of K of them, and what somebody tells who saw K people without you."""
    n, epsilon, yes = 2000, 0.5, 800
    sizes = [50, 100, 200, 500]
    rows: Rows = []
    for size in sizes:
        inside = math.log(1 + (n / size) * (math.exp(epsilon) - 1))
        for who, ones in (("published", yes), ("told by K people, you left out", yes - 1)):
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
                rows.append({"value": value * n / size, "chance": round(chance, 6), "who": who, "K": size})
    slider = _choice("K", sizes, 100, "K")
    return (
        _chosen(rows, slider)
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("value:Q", title="published number of people", scale=alt.Scale(zero=False)),
            y=alt.Y("chance:Q", title="chance"),
            color=alt.Color("who:N", legend=LINES, scale=alt.Scale(range=COLOURS)),
            strokeDash=alt.StrokeDash("who:N", legend=LINES),
            tooltip=["K:Q", "value:Q", "chance:Q"],
        )
        .properties(width=560, height=300)
    )


def _hypergeometric(n: int, ones: int, size: int, hit: int) -> float:
    if hit > ones or size - hit > n - ones:
        return 0.0
    return math.exp(_log_choose(ones, hit) + _log_choose(n - ones, size - hit) - _log_choose(n, size))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def together() -> Any:
    """Fifty releases of epsilon 0.1 each, added up and by the exact law of losses."""
    rows: Rows = []
    one = account.promise("differential:epsilon=0.1")
    for times in (2, 5, 10, 15, 20, 30, 40, 50):
        rows.append({"releases": times, "epsilon": times / 10, "how": "added up"})
        found = account.compose(one, times=times, delta="1e-9").as_json()
        rows.append({"releases": times, "epsilon": found["epsilon"], "how": "exact law of losses, delta = 1e-9"})
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True, strokeWidth=2.5)
        .encode(
            x=alt.X("releases:Q", title="releases of epsilon = 0.1"),
            y=alt.Y("epsilon:Q", title="epsilon of all together"),
            color=alt.Color("how:N", legend=LINES, scale=alt.Scale(range=COLOURS)),
        )
        .properties(width=560, height=300)
    )


def honesty() -> Any:
    """What the best lie gains by number of voters: plurality, and with a margin."""
    rows: Rows = []
    for voters in (11, 21, 51, 101, 201, 501, 1001):
        for rule, margin in (("plurality", ()), ("repeated-plurality", ("--margin", "n^0.6"))):
            asked = ["vote", "gain", "--belief", "abc:1/2,bac:1/2", "--truth", "cab", "--voters", str(voters), "--json"]
            told = CliRunner().invoke(commands, [*asked, "--rule", rule, *margin], catch_exceptions=False).stdout
            name = "repeated plurality, margin n^0.6" if margin else rule
            rows.append({"voters": voters, "gain": json.loads(told)["gain_high"], "rule": name})
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True, strokeWidth=2.5)
        .encode(
            x=alt.X("voters:Q", title="voters", scale=alt.Scale(type="log", nice=False)),
            y=alt.Y("gain:Q", title="what the best lie gains"),
            color=alt.Color("rule:N", legend=LINES, scale=alt.Scale(range=COLOURS)),
        )
        .properties(width=560, height=300)
    )


FIGURES: dict[str, Callable[[], Any]] = {
    each.__name__: each for each in (posterior, laws, crowd, warped, sample, simulator, together, honesty)
}


def main(names: list[str]) -> None:
    """Write the named figures, or all of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or FIGURES:
        chart = configured(FIGURES[name]())
        (FOLDER / f"{name}.json").write_text(json.dumps(chart.to_dict(), sort_keys=True) + "\n", encoding="utf-8")
        chart.save(FOLDER / f"{name}.svg")
        print(f"wrote {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
