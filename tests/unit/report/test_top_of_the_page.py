"""What a busy person reads first: three lines, numbers in sight, the promise that was asked for; and words that are given."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hubbub
from hubbub.certificate.plain_meaning import right_at_most
from hubbub.errors import WrongUse
from hubbub.numeric.exact import INFINITY
from hubbub.report import report
from hubbub.report.heading import Heading, heading
from hubbub.report.numbers import FOLDED, padded
from hubbub.report.summary import exactness, for_a_person, in_digits, summary
from hubbub.verification.api import verify
from tests.fresh import enter as open_table

PEOPLE = pa.table({"town": ["Bath"] * 900 + ["York"] * 600 + ["Wells"] * 3, "age": [i % 90 for i in range(1503)]})
TOWNS = ["town=Bath,York,Wells"]


def top(page: str) -> list[tuple[str, str]]:
    return re.findall(r"<dt>(What this shows|How exact it is|What it means[^<]*)</dt><dd>(.*?)</dd>", page)


@pytest.mark.parametrize(
    "words", [{"epsilon": 1}, {"crowd": 20}, {"crowd": 20, "sample": "0.1"}, {"outlier": "1:0.1,5:1"}]
)
def test_three_lines_stand_on_top_and_before_the_picture(words: dict[str, Any]) -> None:
    page = report(open_table(PEOPLE).histogram(TOWNS, **words))
    assert [term for term, _ in top(page)] == [
        "What this shows",
        "How exact it is",
        "What it means for you, if you are in it",
    ]
    assert all(len(text) > 20 for _, text in top(page))
    order = [page.index(part) for part in ("How exact it is", "<figure>", 'id="numbers"', 'id="promises"', 'id="more"')]
    assert order == sorted(order)


@pytest.mark.parametrize("epsilon", ["0", "0.1", "1", "3"])
@pytest.mark.parametrize("delta", ["0", "0.001", "0.3"])
def test_a_guess_is_right_no_more_often_than_is_said(epsilon: str, delta: str) -> None:
    """The best guess between two laws at the very edge of (epsilon, delta) is right with the chance that is told."""
    odds, far = math.exp(float(epsilon)), float(delta)
    one = [far, (1 - far) * odds / (1 + odds), (1 - far) / (1 + odds), 0.0]
    other = [0.0, (1 - far) / (1 + odds), (1 - far) * odds / (1 + odds), far]
    right = sum(max(pair) for pair in zip(one, other, strict=True)) / 2
    said = right_at_most(Fraction(epsilon), Fraction(delta))
    assert 100 * right <= said + 1e-9
    assert said < 100 * right + 1 + 1e-9
    assert right_at_most(INFINITY, Fraction(0)) == 100


def test_what_is_promised_is_said_without_epsilon() -> None:
    release = open_table(PEOPLE).histogram(TOWNS, epsilon=1)
    said = for_a_person(release.promises[0])
    assert "right at most 74 times in 100" in said
    assert "whether your row is in the table" in said
    assert "epsilon" not in said


def test_how_exact_it_is_follows_from_the_published_intervals() -> None:
    shown = open_table(PEOPLE).histogram(TOWNS, crowd=20)
    assert exactness(shown) == ("Every number that is shown counts the people in the table exactly",)
    noisy = open_table(PEOPLE).histogram(TOWNS, epsilon=1)
    widths = sorted(row["high"] - row["low"] for row in noisy)
    assert widths[1] == widths[2], "of large numbers they are as wide"
    assert exactness(noisy)[0] == f"No interval is wider than {widths[2]:,}"
    means = open_table(PEOPLE).mean("age:0..100:1", TOWNS, epsilon=1)  # three people have nearly any mean
    assert exactness(means)[0].startswith("Half of the intervals ")
    one = open_table(PEOPLE).quantile("age:0..100:1", epsilon=1)
    ((_, (value, interval), _),) = one.result.display(1).rows
    value, interval = padded([value, interval])  # as the table has them
    assert exactness(one)[0] == f"The median of age is {value}, and its interval goes from {interval}"


def test_what_only_publishers_can_use_is_not_on_the_page() -> None:
    release = open_table(PEOPLE).cube([*TOWNS, "age:0..90:30"], epsilon=1)
    assert any("own_low" in note for note in release.result.display(1).notes)
    page = report(release)
    folded = re.sub(r"<details.*?</details>", "", page, flags=re.S)
    assert "List null to count" in " ".join(release.result.sentences())
    for word in ("List null", "own_low", "margin is certain"):
        assert word not in folded, word
    assert "Rows in none of the bins are not counted." in folded


def test_commands_are_marked_as_such() -> None:
    lines = summary(open_table(PEOPLE).histogram(TOWNS, epsilon=1), "a<b")
    assert "<code>hubbub ledger show a&lt;b</code>." in lines


def test_totals_are_not_called_exact_where_some_are_hidden() -> None:
    release = open_table(PEOPLE).cube([*TOWNS, "age:0..90:30"], crowd=20)
    said = exactness(release)
    assert said[0] == "Every count of the people in the table that is shown is exact"
    assert "how many more there can be" in said[1]


def test_numbers_of_different_things_are_not_compared(tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("a,b\n" + "".join(f"{i},{(i + 1) % 40}\n" for i in range(40)))
    network = hubbub.open_graph(edges, ledger=tmp_path / "ledger.db")
    release = network.statistics(["average-degree", "connectivity"], vertices=40, max_degree=5, epsilon=2, samples=4)
    assert release.result.unlike_rows()
    assert not any(line.startswith("Half of") for line in exactness(release))
    assert "add up to" not in report(release)


def test_the_promise_that_was_asked_for_is_in_sight_and_the_others_are_folded() -> None:
    release = open_table(PEOPLE).histogram(TOWNS, crowd=20, sample="0.1")
    page = report(release)
    promises = page[page.index('id="promises"') : page.index('id="more"')]
    before, _, folded = promises.partition("<summary>Also holds</summary>")
    assert before.count("<article>") == 1
    assert "No more than a sample would tell" in before
    assert folded.count("<article>") == len(release.promises) - 1


def test_a_table_has_no_box_of_its_own_and_long_ones_fold() -> None:
    page = report(open_table(PEOPLE).histogram(["age:0..90:1"], epsilon=1))
    assert 'class="scroll"' not in page
    assert not re.search(r"table[^{}]*\{[^}]*overflow: (auto|scroll)", page)
    seen, _, folded = page.partition("<summary>Show all 90 rows</summary>")
    assert seen[seen.index('id="numbers"') :].count('<th scope="row"') == FOLDED
    assert folded.count('<th scope="row"') == 90 - FOLDED


def test_ranges_are_read_as_people_write_them() -> None:
    page = report(open_table(PEOPLE).histogram(["age:0..100:10,null"], epsilon=1))
    assert "<bdi>70–79</bdi>" in page
    assert "<bdi>(missing)</bdi>" in page
    assert "[70,80)" not in page
    assert "0–9 is from 0 up to, and not including, 10." in page


SAID = Heading(
    title="Who lives <here>",
    subtitle="Spring",
    publisher="Town & Sons",
    date="May 2026",
    link="https://example.org/a?b=1&c=2",
    notes=("One note.", "<script>alert(1)</script>"),
    labels=(("town", "Where they live"),),
)


def test_words_that_are_given_stand_on_the_page_and_cannot_act() -> None:
    page = report(open_table(PEOPLE).histogram([*TOWNS, "age:0..90:45"], epsilon=1), heading=SAID)
    assert "<h1><bdi>Who lives &lt;here&gt;</bdi></h1>" in page
    for words in ("Spring", "Town &amp; Sons", "One note.", "https://example.org/a?b=1&amp;c=2"):
        assert words in page
    assert "<script" not in page
    assert page.count("Where they live") >= 3, "in the table and in both pictures"
    shown = page[page.index("<figure>") : page.index('id="promises"')]
    assert not re.search(r">town<", shown)


def test_words_that_are_given_are_signed(tmp_path: Path) -> None:
    """The certificate has the digest of the report: whoever changes its title is found out."""
    release = hubbub.open(PEOPLE, rows_are_people=True, dataset="t", ledger=tmp_path / "l.db").histogram(
        TOWNS, epsilon=1
    )
    files = hubbub.save(release, tmp_path / "out", heading=SAID)
    assert verify(files["certificate"]).passed
    page = Path(files["report"])
    page.write_text(page.read_text(encoding="utf-8").replace("Who lives", "Nobody lives"), encoding="utf-8")
    assert not verify(files["certificate"]).passed


def test_a_file_of_words(tmp_path: Path) -> None:
    file = tmp_path / "words.toml"
    file.write_text(
        'title = "From the file"\nsubtitle = "below"\npublisher = "P"\nnotes = ["a"]\n[labels]\nage = "Age"\n'
    )
    found = heading(str(file))
    assert (found.title, found.subtitle, found.publisher) == ("From the file", "below", "P")
    assert (found.notes, dict(found.labels)) == (("a",), {"age": "Age"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("titel = 'x'", "unknown word 'titel'"),
        ("title = 3", "must be a text"),
        ("notes = 'x'", "must be a list of texts"),
        ("[labels]\nage = 3", "must be a table of texts"),
        ("title = ", "is no TOML file"),
        ("link = 'javascript:alert(1)'", "must begin with https://"),
        ("title = 'a\u202eb'", "signs that show"),
    ],
)
def test_wrong_words_are_refused_before_anything_is_spent(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "words.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(WrongUse, match=why):
        heading(file=str(file))


@pytest.mark.parametrize(
    ("width", "said"), [(15150.4, "15,151"), (12.3456, "12.4"), (0.00123456, "0.00124"), (3.0, "3"), (99.99, "100")]
)
def test_a_width_is_rounded_up_in_few_digits(width: float, said: str) -> None:
    assert in_digits(width) == said
