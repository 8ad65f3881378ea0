"""The results page: what it tells, that nothing on it acts, and that its picture cuts no name."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from hubbub.charts.flow_svg import drawn
from hubbub.charts.style import WIDTHS
from hubbub.charts.svg import text_length
from hubbub.cli.main import commands
from hubbub.protocol.drawing import Flow, FlowColumn, FlowLink

EVIL = '<script>alert(1)</script> "Bobby"'
LONG = "Maximiliana-Theodora Featherstonehaugh-Cholmondeley of Worcestershire"


def page(folder: Path, text: str, *more: str) -> str:
    (folder / "club.csv").write_text(text, encoding="utf-8")
    args = ["vote", "tally", str(folder / "club.csv"), "--page", str(folder / "results.html"), *more, "--json"]
    done = CliRunner().invoke(commands, args, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["page"] == str(folder / "results.html")
    return (folder / "results.html").read_text(encoding="utf-8")


TIE = "count,ranking\n5,Ann>Bob\n3,Bob>Ann\n3,Cid>Ann\n"


def test_the_page_has_all_its_parts(tmp_path: Path) -> None:
    told = page(tmp_path, TIE, "--rule", "instant-runoff", "--dice", "swans", "--record", str(tmp_path / "r.json"))
    for part in ("rounds", "pairs", "draws", "promised", "repeat"):
        assert f'<section id="{part}">' in told
    assert "<bdi>Ann</bdi></strong> elected in round 2 of 2 with 8 top choices (72.7 %)" in told
    assert "Lots were drawn on the way" in told
    assert "Drawn from the public words of the dice" in told
    assert "Ann beats everybody else one to one" in told
    assert "Nothing is promised about lies" in told
    assert "hubbub vote tally club.csv --rule instant-runoff --dice swans" in told
    assert "hubbub verify r.json --ballots club.csv" in told
    assert str(tmp_path) not in told  # no folder of this machine
    assert len(re.findall(r"<svg class=\"chart flow (wide|narrow)\"", told)) == 2


def test_without_dice_it_says_that_nobody_can_check_where_draws_came_from(tmp_path: Path) -> None:
    told = page(tmp_path, TIE, "--rule", "instant-runoff")
    assert "nobody where they came from" in told
    short = TIE.replace("Cid>Ann", "Cid").replace("Bob>Ann", "Bob")
    assert "An exhausted ballot ranks nobody who is still in" in page(tmp_path, short, "--rule", "instant-runoff")
    assert page(tmp_path, TIE, "--rule", "plurality").count("Nothing was left to chance") == 1


def test_several_seats_and_a_rule_that_counts_once_have_a_page_too(tmp_path: Path) -> None:
    told = page(tmp_path, TIE, "--rule", "stv", "--seats", "2")
    assert "are elected to 2 seats" in told
    assert "Stage 1" in told
    assert "Nothing is promised about lies in a count for several seats" in told
    once = page(tmp_path, TIE, "--rule", "plurality")
    assert "flow wide" not in once
    assert once.count('<span class="track">') == 3


def test_a_promise_says_to_whom(tmp_path: Path) -> None:
    args = ["vote", "tally", "millbrook", "--page", str(tmp_path / "m.html")]
    assert CliRunner().invoke(commands, args, catch_exceptions=False).exit_code == 0
    told = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert "It is promised to every voter for whom this is so" in told
    assert "lies in [0, 1], and she maximises its expectation" in told


def test_names_cannot_act_and_nothing_comes_from_outside(tmp_path: Path) -> None:
    listed = tmp_path / "names.txt"
    listed.write_text(f"{EVIL}\nAnn\nCid\n")
    cells = EVIL.replace('"', '""')
    told = page(tmp_path, f'rank1,rank2\n"{cells}",Ann\nAnn,\n"{cells}",Cid\nCid,Ann\n', "--rule", "instant-runoff")
    assert "<script" not in told
    assert html.escape(EVIL) in told
    assert not re.search(r"(?:src|href)=\"(?!#)", told)
    assert "http" not in re.sub(r'http-equiv="[^"]*"', "", told)
    assert "default-src 'none'" in told


def test_a_page_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    args = ["vote", "tally", "millbrook", "--page", str(tmp_path / "no" / "m.html")]
    done = CliRunner().invoke(commands, args, catch_exceptions=False)
    assert (done.exit_code, "the page cannot be written" in done.stderr) == (2, True)


def test_many_rounds_are_folded(tmp_path: Path) -> None:
    names = [f"Nr {i:02}" for i in range(14)]
    text = "count,ranking\n" + "".join(f"{10 + i},{name}>Nr 99\n" for i, name in enumerate(names))
    told = page(tmp_path, text, "--rule", "instant-runoff")
    assert (told.count("<details>"), told.count('<details class="short">')) == (1, 1)  # theory; rounds, which print
    assert told.count("<h3>Round ") == 14


FORM = "Timestamp,Choice [First],Choice [Second]\n" + "".join(
    f"2026/10/01 9:1{i}:00,{cells}\n"
    for i, cells in enumerate(["Ann,Bob", "Ann,", "Ann,Cid", "Bob,Bob", "Cid,Bob", ","])
)


def test_members_read_in_words_how_marks_were_read_and_what_they_need_to_check(tmp_path: Path) -> None:
    told = page(tmp_path, FORM, "--rule", "instant-runoff", "--record", str(tmp_path / "r.json"))
    assert "6 ballots, 1 of them blank, 3 candidates" in told
    assert "a ballot ends at a rank with several candidates; an empty rank is passed over" in told
    assert "Ballots with a candidate twice: 1." in told
    assert "get the file of ballots and the record from whoever counted" in told
    assert "like timestamps and e-mail addresses" in told
    assert "blank ballots may be missing from it" in told
    open_to_all, folded = told[: told.index("For those who know")], told[told.index("For those who know") :]
    for jargon in ("Pareto", "optimal", "undecided", "coarse", "truncation", "overvotes"):
        assert jargon not in open_to_all
    assert "Close to optimal: no claim, instant-runoff does not claim it; the winner has the most" in folded
    assert "undecided" not in folded


# --- the picture --------------------------------------------------------------------------------------------------


def _flow(columns: int, name: str = LONG) -> Flow:
    piles = ((name, 400), ("Bo", 300), ("exhausted", 5))
    links = tuple(FlowLink(i, who, who, n) for i in range(columns - 1) for who, n in piles)
    rows = tuple(FlowColumn(f"round {i + 1}", f"out: {name}", piles) for i in range(columns))
    return Flow(columns=rows, links=links, order=(name, "Bo", "exhausted"), winner=name, plain=("exhausted",))


def _texts(svg: str) -> list[tuple[float, str, str]]:
    """(x, anchor, text) of every line."""
    found = []
    for text in ElementTree.fromstring(svg).iter("text"):
        for span in text.iter("tspan"):
            found.append((float(span.get("x", "0")), text.get("text-anchor", "start"), span.text or ""))
    return found


@pytest.mark.parametrize("kind", WIDTHS)
@pytest.mark.parametrize("columns", [2, 5, 9])
def test_no_label_is_cut_and_none_leaves_the_picture(kind: str, columns: int) -> None:
    width = WIDTHS[kind]
    found = _texts(drawn(_flow(columns), width, kind))
    for x, anchor, text in found:
        long = text_length(text)
        left = x - {"start": 0, "middle": long / 2, "end": long}[anchor]
        assert left > -8, text
        assert left + long < width + 8, text
    words = " ".join(text for _, _, text in found)
    for part in LONG.split():
        assert part in words or part.replace("-", "- ") in words or _broken(part, found), part
    assert "…" not in words


def _broken(word: str, found: list[tuple[float, str, str]]) -> bool:
    """Whether a word that is wider than its place goes on in the next line."""
    return word in "".join(text for _, _, text in found)


def test_bands_add_up_to_their_piles() -> None:
    links = (FlowLink(0, "a", "a", 6), FlowLink(0, "b", "a", 3), FlowLink(0, "b", "exhausted", 1))
    columns = (FlowColumn("1", "", (("a", 6), ("b", 4))), FlowColumn("2", "", (("a", 9), ("exhausted", 1))))
    svg = drawn(
        Flow(columns=columns, links=links, order=("a", "b", "exhausted"), winner="a", plain=("exhausted",)), 700
    )
    told: list[Any] = [each.text for each in ElementTree.fromstring(svg).iter("title")]
    assert {"a: 6", "b to a: 3", "b to exhausted: 1", "a: 9"} <= set(told)
    tall = [float(rect.get("height", "0")) for rect in ElementTree.fromstring(svg).iter("rect")]
    assert tall[0] / tall[1] == pytest.approx(6 / 4, rel=0.01)
    assert tall[2] / tall[3] == pytest.approx(9, rel=0.02)
