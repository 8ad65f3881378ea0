"""The promise that was asked for is told first, in every place that tells promises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub.certificate.explanation import explain_release, title
from hubbub.cli.main import commands
from hubbub.guarantees.promise_order import requested_first
from hubbub.kinds.histogram.request import histogram
from hubbub.protocol.release import Release
from hubbub.report import report
from hubbub.studio.answers import Answer
from hubbub.studio.forms.live_preview import LivePreview
from tests.fresh import open as open_table
from tests.unit.shared.statistics import statistic

FIRST: list[tuple[dict[str, Any], str]] = [
    ({"epsilon": 1}, "differential"),
    ({"epsilon": 1, "delta": "1e-6", "by": ["a"]}, "differential"),
    ({"outlier": "1"}, "differential"),
    ({"outlier": "1:0.01,101:1"}, "outlier"),
    ({"crowd": 20}, "crowd-blending"),
    ({"crowd": 20, "sample": "0.2"}, "zero-knowledge"),
    ({"crowd": 20, "collected": "0.2"}, "crowd-blending"),
]


@pytest.mark.parametrize(("words", "first"), FIRST, ids=str)
def test_the_promise_that_was_asked_for_comes_first_and_none_is_lost(words: dict[str, Any], first: str) -> None:
    promises = histogram(**{"by": ["a=x,y"], **words}).promises()
    told = requested_first(promises)
    assert told[0].conclusion.notion == first
    assert sorted(map(id, told)) == sorted(map(id, promises))
    rest = [step for step in promises if step is not told[0]]
    assert list(told[1:]) == rest, "the others stay as they were derived"


def test_a_share_of_random_people_asks_for_zero_knowledge() -> None:
    spec = statistic("mean", of="s:0..10:1", zero_knowledge="0.5", rows=100, people=1000)
    assert requested_first(spec.promises())[0].conclusion.notion == "zero-knowledge"
    assert requested_first(()) == ()


@pytest.fixture(scope="module")
def found() -> Release:
    """What --epsilon 1 --delta 1e-6 makes of a column whose values are found."""
    import pyarrow as pa

    return open_table(pa.table({"a": ["x"] * 100 + ["y"] * 90})).histogram(["a"], epsilon=1, delta="1e-6")


def test_nobody_can_tell_whether_i_took_part_heads_the_report_the_words_and_the_studio(found: Release) -> None:
    asked = title(requested_first(found.promises)[0].conclusion)
    assert asked == "With you or without you"
    page = report(found)
    assert page.partition("<article>\n<h3>")[2].startswith(asked)
    assert explain_release(found.bound).partition("What is promised\n  ")[2].startswith(asked)
    for text in (repr(found), found._repr_html_()):
        assert text.index("differential") < text.index("outlier")
    preview_facts = LivePreview(
        bound=found.bound,
        promises=Answer(value=found.promises),
        expected=Answer(),
        dry_run=Answer(),
        frontier=Answer(),
    )
    assert preview_facts.promise_texts[0].title == asked


def test_nobody_can_tell_whether_i_took_part_is_first_on_the_terminal(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("a\n" + "x\n" * 100)
    words = f"release histogram {table} --rows-are-people --by a --epsilon 1 --delta 1e-6 --out {tmp_path / 'o'}"
    done = CliRunner().invoke(commands, words.split())
    assert done.exit_code == 0, done.output
    assert "Promise (differential" in done.stdout
    assert "Promise (outlier" not in done.stdout, "which nobody asked for"
    assert "The fewer people" not in done.stdout
    both = CliRunner().invoke(commands, [*words.split(), "--replace", "--explain"]).stdout
    assert both.index("Promise (differential") < both.index("Promise (outlier")
    again = CliRunner().invoke(commands, [*words.split(), "--replace", "--json"])
    assert json.loads(again.stdout)["guarantees"][0]["notion"] == "differential"


def test_no_promise_of_one_loss_for_all_says_that_the_rarer_show_less(found: Release) -> None:
    for text in (report(found), explain_release(found.bound)):
        assert "rarer" not in text
        assert "The fewer people" not in text
        assert "fewer people a bin has" not in text
