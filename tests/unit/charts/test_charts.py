"""Charts: what they say, what they do with zeros and infinities, and the files they write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hubbub import charts
from hubbub.errors import WrongUse


def row(count: int, *, claimed: float = 1e-5, exact: float = 0, epsilon: Any = 0.5, loss: Any = 0.5) -> dict[str, Any]:
    deltas = {"claimed_delta": claimed, "exact_delta": exact}
    return {"count": count, "epsilon": epsilon, **deltas, "exact_epsilon": loss}


def spec(rows: list[dict[str, Any]]) -> dict[str, Any]:
    drawn: dict[str, Any] = charts.profile_chart(rows, "the channel").to_dict()
    return drawn


def points(drawn: dict[str, Any]) -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = drawn["data"]["values"]
    return values


def scale(drawn: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = drawn["layer"][0]["encoding"]["y"]["scale"]
    return found


def test_deltas_are_drawn_on_a_logarithmic_axis_that_holds_them_all() -> None:
    drawn = spec([row(1, exact=1e-40), row(2, exact=3e-9), row(3, exact=4e-6), row(4)])
    bottom, top = scale(drawn)["domain"]
    assert scale(drawn)["type"] == "log"
    assert all(bottom <= point["delta"] <= top for point in points(drawn))
    buried = [point["count"] for point in points(drawn) if "or exactly 0" in point["which"]]
    assert buried == [1, 4]
    assert {point["which"] for point in points(drawn) if point["count"] == 3} == {"claimed", "exact"}


@pytest.mark.parametrize(
    ("exact", "message"),
    [
        (4e-6, "At worst, at 7 people, the exact delta is 2.5 times below the claim"),
        (9.9e-6, "At worst, at 7 people, the exact delta all but meets the claim"),
        (0.25, "The claim fails at 7 people: the exact delta is 0.25"),
    ],
)
def test_the_title_says_what_was_found(exact: float, message: str) -> None:
    drawn = spec([row(6, exact=1e-7), row(7, exact=exact)])
    assert drawn["title"]["text"] == message
    assert drawn["title"]["subtitle"] == ["the channel"]


def test_a_claim_of_zero_that_fails_is_drawn() -> None:
    drawn = spec([row(1, claimed=0, exact=0.25), row(2, claimed=0, exact=0)])
    assert drawn["title"]["text"].startswith("The claim fails")
    assert {point["which"] for point in points(drawn)} == {"exact", "exact, below 1e-1 or exactly 0"}


def test_without_any_delta_the_loss_is_drawn() -> None:
    drawn = spec([row(1, claimed=0), row(2, claimed=0), row(3, claimed=0, epsilon="inf", loss="inf")])
    assert drawn["title"]["text"] == "Delta is exactly 0, and the loss is exactly what is promised"
    assert drawn["title"]["subtitle"] == ["the channel", "nothing is promised to people in crowds of 3"]
    assert sorted(point["count"] for point in points(drawn)) == [1, 1, 2, 2]


def test_a_loss_below_the_promise_is_not_called_exact() -> None:
    assert spec([row(1, loss=0.4)])["title"]["text"] == "Delta is exactly 0 at every count"
    assert spec([row(1, loss=None)])["title"]["text"] == "Delta is exactly 0 at every count"


def test_a_delta_that_is_barely_there_is_not_called_zero() -> None:
    assert spec([row(1, exact=1e-76, loss=0.4)])["title"]["text"] == "Delta is below 1e-30 at every count"


def test_losses_far_apart_get_a_logarithmic_axis() -> None:
    near, far = spec([row(1), row(2, epsilon=1, loss=1)]), spec([row(1, epsilon=0.01, loss=0.01), row(2)])
    assert (scale(near).get("type"), scale(far)["type"]) == (None, "log")
    assert scale(spec([row(1, epsilon=0, loss=0), row(2)])).get("type") is None  # a logarithm has no place for 0
    everything_hidden = [row(1, epsilon="inf", loss="inf"), row(2, epsilon="inf", loss="inf")]
    assert spec(everything_hidden)["title"]["subtitle"][1] == "nothing is promised to people in crowds of 1 to 2"


def attack_rows() -> list[dict[str, Any]]:
    common = {"error_rare": 12.0, "error_large": 0.9}
    return [
        {"name": "loud", "attack": 1.0, "beliefs": (0.0, 1.0), **common},
        {"name": "quiet", "attack": 0.5, "beliefs": (0.5, 0.5), **common},
    ]


def test_an_attack_chart_shows_every_mechanism_in_order() -> None:
    drawn = charts.attack_chart(attack_rows(), chance=0.5, target=1, title="The message", subtitle=["the story"])
    made = drawn.to_dict()
    assert made["title"]["text"] == "The message"
    assert len(made["hconcat"]) == 3
    assert made["hconcat"][0]["layer"][0]["encoding"]["y"]["sort"] == ["loud", "quiet"]


@pytest.mark.parametrize("rows", [[row(3, exact=1e-7)], [row(3)], [row(1, exact=1e-9), row(900, exact=1e-7), row(901)]])
def test_charts_render(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    file = tmp_path / "chart.svg"
    charts.save(charts.profile_chart(rows, "the channel"), file)
    assert file.read_text(encoding="utf-8").startswith("<svg")


def test_files_of_every_kind(tmp_path: Path) -> None:
    chart = charts.profile_chart([row(1, exact=1e-7), row(2, exact=1e-6)], "the channel")
    for ending in charts.ENDINGS:
        charts.save(chart, tmp_path / f"chart{ending.upper()}")
    assert (tmp_path / "chart.PNG").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "chart.JSON").read_text(encoding="utf-8"))["title"]
    page = (tmp_path / "chart.HTML").read_text(encoding="utf-8")
    assert 'src="http' not in page
    assert len(page) > 100_000, "the code that draws is inside"


@pytest.mark.parametrize("name", ["chart.pdf", "chart", "chart.html.txt"])
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(WrongUse, match=r"must end in \.html, \.png, \.svg or \.json"):
        charts.ready(name)


def test_a_missing_altair_is_said_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "find_spec", lambda name: None)
    assert not charts.available()
    with pytest.raises(WrongUse, match=r"pip install 'hubbub\[charts\]'"):
        charts.ready("chart.html")


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="cannot be written"):
        charts.save(charts.profile_chart([row(1)], "the channel"), tmp_path / "none" / "chart.json")
