"""The report: what it says, what it never says, and that nothing in it can act."""

from __future__ import annotations

import hashlib
import html
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hubbub.certificate.explanation import in_numbers, meaning
from hubbub.kinds.histogram.chart import LARGEST, Chosen, choose_bins
from hubbub.opening import open_graph
from hubbub.protocol.release import Release
from hubbub.release import save
from hubbub.report import report
from hubbub.report.numbers import LISTED
from hubbub.report.picture import picture
from hubbub.report.text import label, visible
from tests.fresh import counts
from tests.fresh import enter as open_table


def people(**counts: int) -> pa.Table:
    """So many people of each kind."""
    return pa.table({"kind": [kind for kind, count in counts.items() for _ in range(count)]})


def released(table: pa.Table, *by: str, **words: Any) -> Release:
    how = {name: words.pop(name) for name in ("collected", "collected_between", "exempt") if name in words}
    return open_table(table, unlisted=1, **how).histogram(list(by), **words)


def drawing(release: Release) -> Chosen:
    """Which bins of it are drawn."""
    return choose_bins(counts(release))


@pytest.fixture(scope="module")
def town() -> pa.Table:
    """Two columns with an order and two without."""
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "colour": rng.choice(["red", "green", "blue"], 3000),
            "size": rng.choice([f"s{i}" for i in range(30)], 3000),
            "age": rng.integers(0, 100, 3000),
            "year": rng.integers(0, 50, 3000),
        }
    )


class Page(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


INERT = {"html", "head", "meta", "title", "style", "body", "main", "header", "footer", "nav", "section", "article"}
INERT |= {"h1", "h2", "h3", "p", "a", "bdi", "i", "br", "small", "code", "pre", "ul", "li", "dl", "dt", "dd", "div"}
INERT |= {"table", "thead", "tbody", "tr", "th", "td", "details", "summary", "figure", "figcaption"}
INERT |= {"svg", "desc", "g", "path", "rect", "text", "tspan", "line"}

OUTSIDE = re.compile(r"https?://|src=|url\(|@import|javascript:", re.IGNORECASE)


def acting(text: str) -> list[str]:
    """Whatever on the page could run, load or lead somewhere else."""
    found = []
    for tag, attributes in Page(text).tags:
        found += [] if tag in INERT else [tag]
        found += [name for name in attributes if name.startswith("on") or name in ("src", "srcset", "data", "action")]
        found += [name for name, value in attributes.items() if "href" in name and not str(value).startswith("#")]
    return found


# --- nothing acts -----------------------------------------------------------------------------------------------

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</bdi></table><a href=javascript:alert(1)>x</a>",
    "]]><!-- &lt;b&gt; -->",
    "$title ${summary}",
    chr(0x202E) + "gnp.exe",
    "nul" + chr(0) + "nul",
    chr(0x200B) + "nothing to see",
    "line" + chr(0x2028) + "break",
    "a" * 10_000_000,
    "a" * 10_000_000 + "b",
)
HOSTILE_COLUMN = '<b onclick="x">' + chr(0x202E)


@pytest.mark.parametrize("declared", [False, True])
def test_hostile_labels_do_nothing(declared: bool) -> None:
    texts = [text[:1000] if declared else text for text in HOSTILE[: -1 if declared else None]]
    table = pa.table({HOSTILE_COLUMN: [text for text in texts for _ in range(2)]})
    quoted = ['"' + text.replace('"', '""') + '"' for text in (HOSTILE_COLUMN, *texts)]
    spec = f"{quoted[0]}={','.join(quoted[1:])}" if declared else quoted[0]
    release = released(table, spec, crowd=2)
    page = report(release)
    assert (len(release), int(counts(release).visible.sum())) == (len(texts), len(texts))
    assert acting(page) == []
    assert len(page) < 100_000
    assert not any(sign in page for sign in (chr(0), chr(0x202E), chr(0x200B), chr(0x2028)))
    text = " ".join(Page(page).texts)
    for shown in (
        "<script>alert(1)</script>",
        "[U+202E]gnp.exe",
        "nul[U+0000]nul",
        "$title ${summary}",
        "a" * 80 + "…",
    ):
        assert shown in text
    assert '<b onclick="x">[U+202E]' in text


def test_what_acts_is_noticed() -> None:
    assert acting("<p onload=x><script>1</script><a href='http:'>y</a></p>") == ["onload", "script", "href"]


def test_nothing_comes_from_outside(town: pa.Table) -> None:
    page = report(released(town, "colour=red,green,blue", "age:0..100:50", crowd=20, sample="0.1"))
    assert "<svg" in page
    assert OUTSIDE.findall(page) == []
    assert acting(page) == []
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    metas = [attributes for tag, attributes in Page(page).tags if tag == "meta"]
    assert {"http-equiv": "Content-Security-Policy", "content": policy} in metas


def test_text_is_made_visible() -> None:
    assert visible("plain, ünïcode, עברית") == "plain, ünïcode, עברית"
    assert visible("tab\there" + chr(0xD800)) == "tab[U+0009]here[U+D800]"
    assert [label(None), label(""), label("x")] == ["(missing)", "(empty text)", "x"]


# --- nothing is told that the release does not tell ---------------------------------------------------------------


def unnamed(page: str) -> str:
    """Without the dataset's name, which is another for every release here."""
    return re.sub(r"people-\d+", "people", page)


def test_a_hidden_count_is_nowhere() -> None:
    """Neighbouring tables whose release is the same have the same report, and no hidden number is in it."""
    asked: dict[str, Any] = {"crowd": 5000}
    page = report(released(people(a=5501, b=3137, c=0), "kind=a,b,c,null", **asked))
    assert unnamed(page) == unnamed(report(released(people(a=5501, b=3138, c=1), "kind=a,b,c,null", **asked)))
    assert "5,501" in page
    assert not re.search(r"(?<![\d.])(3,?13[78]|8,?63[89])(?![\d.])", page)
    assert "3 of 4 bins are hidden; 1 show a number" in page


def test_of_a_discovered_domain_not_even_the_number_of_hidden_bins_is_told() -> None:
    page = report(released(people(a=30, b=7, c=3), "kind", crowd=20))
    assert unnamed(page) == unnamed(report(released(people(a=30), "kind", crowd=20)))
    assert "how many are absent is not told" in page
    assert not re.search(r"\d+ of \d+ bins", page)


def test_nothing_hidden_is_said() -> None:
    assert "All 2 bins show a number, empty ones too." in report(released(people(a=3), "kind=a,b", epsilon=1))
    full = report(released(people(a=30, b=25), "kind=a,b", crowd=20))
    assert "All 2 bins show a number; an empty one would be hidden." in full


# --- what it says -----------------------------------------------------------------------------------------------

RELEASES: tuple[dict[str, Any], ...] = (
    {"crowd": 20},
    {"crowd": 20, "epsilon": "0.5"},
    {"crowd": 20, "sample": "0.1"},
    {"crowd": 20, "collected": "0.05"},
    {"crowd": 20, "collected_between": ("0.03", "0.06"), "exempt": 5},
    {"epsilon": 1, "sample": "0.05", "scale_up": True},
    {"mechanism": "warped:curve=1:0.01,101:1,show-above=110"},
    {"mechanism": "staircase:thresholds=100,10,epsilons=1,0.1,0.01,alpha=10"},
)


@pytest.mark.parametrize("words", RELEASES, ids=str)
def test_every_promise_is_there_in_words_and_in_full(words: dict[str, Any], town: pa.Table) -> None:
    release = released(town, "colour=red,green,blue", **words)
    page = report(release)
    plain = "".join(Page(page).texts)
    for step in release.promises:
        assert f"<code>{html.escape(in_numbers(step))}</code>" in page
        assert html.escape(step.theorem.name) in page
        said = meaning(step.conclusion, step.people)
        for line in filter(None, (said.promised, said.crowd, said.not_promised)):
            told = html.escape(line)
            assert told in page or told[:1].upper() + told[1:] in page
        assert [text for text in step.all_assumptions() if text[1:] not in plain] == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"crowd": 20, "sample": "0.1"}, "k = 20 is the crowd in the sample that this rests on."),
        ({"epsilon": 1, "sample": "0.1"}, "k, the number of people whose data it is fair to know, is the size of"),
    ],
)
def test_where_zero_knowledge_is_claimed_k_is_shown(words: dict[str, Any], told: str, town: pa.Table) -> None:
    articles = report(released(town, "colour=red,green,blue", **words)).split("<article>")[1:]
    zero = [article for article in articles if "zero-knowledge" in article.partition("</h3>")[0]]
    assert len(zero) == 1
    assert told in zero[0]


def test_who_sampled_whom(town: pa.Table) -> None:
    by = "colour=red,green,blue"
    assert "Nobody: everybody in the table who is in a bin is counted." in report(released(town, by, crowd=20))
    assert "Nobody: everybody in the table is counted." in report(released(town, f"{by},null,other", crowd=20))
    assert "each person in the table with probability 0.1" in report(released(town, by, crowd=20, sample="0.1"))
    between = {"collected_between": ("0.03", "0.06"), "exempt": 5}
    told = "probability between 0.03 and 0.06, independently, but for at most 5 of them"
    assert told in report(released(town, by, crowd=20, **between))


def rows_of(page: str) -> list[tuple[str, str, list[str]]]:
    """The class, the first label and the numbers of every row."""
    found = []
    for kind, body in re.findall(r'<tr(?: class="(\w+)")?>((?:<t[hd] (?:scope="row" )?data-label.*?)+)</tr>', page):
        label = re.findall(r"<bdi>(.*?)</bdi>", body)[0]
        found.append((kind, label, re.findall(r"<td [^>]*>(.*?)</td>", body)))
    return found


def test_numbers_and_intervals() -> None:
    exact = report(released(people(a=30, b=7), "kind=a,b", crowd=20))
    assert rows_of(exact) == [("", "a", ["30", "100.0 %", "30"]), ("hidden", "b", ["hidden", "", "0 to 19"])]
    assert "The numbers count the people in the table. Where one is shown, it is exact." in exact
    scaled = released(people(a=150), "kind=a", crowd=20, sample="0.5", at_delta="0.001", scale_up=True)
    numbers = counts(scaled)
    value, low, high = int(numbers.published.values[0]), int(numbers.low[0]), int(numbers.high[0])
    assert rows_of(report(scaled)) == [("", "a", [f"{value:,}", "100.0 %", f"{2 * value:,}", f"{low:,} to {high:,}"])]
    noisy = released(people(a=1), f"kind={','.join('abcdefghijklmnopqrst')}", epsilon="0.01")
    assert counts(noisy).published.values.min() < 0  # fails with a chance of about 2^-20
    page = report(noisy)
    assert "Numbers that noise pushed below 0 are shown as 0." in page
    shown = [int(number.replace(",", "")) for _, _, (number, *_) in rows_of(page)]
    assert shown == [max(value, 0) for value in counts(noisy).published.values.tolist()]


def test_the_table_ends_and_says_so() -> None:
    table = pa.table({"x": np.arange(1500)})
    page = report(released(table, "x:0..1500:1", epsilon=1))
    assert page.count('<th scope="row"') == LISTED == 1000
    assert "<summary>Show the first 1,000 of 1,500 rows</summary>" in page
    assert "The file of the release has all rows." in page


def test_labels_are_those_of_the_release(town: pa.Table) -> None:
    for by in (["colour=red,green,null,other", "age:0..100:10,null,other", "size"], ["year:[0,10,inf)", "colour=blue"]):
        release = released(town, *by, crowd=2)
        found = counts(release)
        keys = [[texts[i] for i in which.tolist()] for which, texts in found.keys(0, found.bins)]
        assert found.labels(np.arange(found.bins)) == list(zip(*keys, strict=True))


def test_millions_of_bins_are_no_burden() -> None:
    release = released(pa.table({"x": [1, 2, 3] * 20}), "x:0..2000000:1,null", crowd=10)
    page = report(release)
    assert drawing(release).bins.tolist() == [1, 2, 3]
    assert "1,999,998 of 2,000,001 bins are hidden" in page


# --- what is drawn ----------------------------------------------------------------------------------------------


def test_which_bins_are_drawn(town: pa.Table) -> None:
    colours, sizes = "colour=red,green,blue,null", f"size={','.join(f's{i}' for i in range(30))}"
    one = drawing(released(town, sizes, crowd=20))
    assert (one.bins.size, one.along, one.panels, one.upright) == (30, 0, None, False)
    ranges = drawing(released(town, "age:0..100:1", crowd=20))
    assert (ranges.bins.size, ranges.upright) == (100, True)
    grouped = drawing(released(town, colours, "size=s1,s2,s3,s4,s5", crowd=20))
    assert (grouped.bins.size, grouped.along, grouped.panels, grouped.upright) == (20, 1, 0, False)
    panels = drawing(released(town, "age:0..100:5", colours, crowd=20))
    assert (panels.bins.size, panels.along, panels.panels, panels.upright) == (80, 0, 1, True)


def test_of_many_bins_the_largest_are_drawn(town: pa.Table) -> None:
    sizes = f"size={','.join(f's{i}' for i in range(30))}"
    release = released(town, "colour=red,green,blue", sizes, "year:0..50:25", epsilon=1)
    drawn = drawing(release)
    values = counts(release).published.values
    assert drawn.bins.size == LARGEST == 24
    assert values[drawn.bins].tolist() == sorted(values.tolist(), reverse=True)[:LARGEST]
    assert "Drawn are the 24 largest of 180 published numbers." in report(release)
    found = released(town, "colour", "size", crowd=2)
    assert drawing(found).bins.size == LARGEST


def test_nothing_to_draw_is_said() -> None:
    for by in ("kind", "kind=a,b"):
        page = report(released(people(a=3), by, crowd=20))
        assert "There is nothing to draw." in page
        assert "<svg" not in page


def test_the_chart_says_what_it_shows(town: pa.Table) -> None:
    page = report(released(town, "colour=red,green,blue", crowd=20))
    assert 'role="img"' in page
    assert re.search(r"<title>The published numbers</title><desc>3 numbers; the largest is [\d,]+, at \w+\.", page)


def test_both_drawings_stand_on_the_page_and_the_style_shows_one(town: pa.Table) -> None:
    page = report(released(town, "colour=red,green,blue", crowd=20))
    assert [tag["class"] for name, tag in Page(page).tags if name == "svg"] == ["chart wide", "chart narrow"]
    assert ".chart.narrow { display: none;" in page
    assert "@media screen and (max-width: 640px) { .chart.wide { display: none; }" in page
    assert "prefers-color-scheme: dark" in page
    assert not re.search(r'<(rect|text|line)[^>]*(fill|stroke|style)="', page)  # colours are the page's own


def test_the_picture_is_made_of_published_values_alone() -> None:
    release = released(people(a=30, b=7, c=25), "kind=a,b,c", crowd=20)
    drawn = picture(release.result.drawing())
    other = released(people(a=30, b=19, c=25), "kind=a,b,c", crowd=20)
    assert picture(other.result.drawing()) == drawn
    assert re.findall(r"<title>(\w: [^<]*)</title>", drawn) == 2 * ["a: 30", "b: hidden, 0 to 19", "c: 25"]


# --- the file ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_file_names_what_it_belongs_to(form: str, tmp_path: Path) -> None:
    release = released(people(a=30, b=7), "kind=a,b", crowd=20)
    save(release, tmp_path, form=form)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    digest = hashlib.sha256((tmp_path / f"release.{form}").read_bytes()).hexdigest()
    assert f"<code>sha256sum release.{form}</code> prints <code>{digest}</code>" in page
    assert "<code>certificate.json</code>" in page
    assert (tmp_path / "report.html").stat().st_mode & 0o777 & ~0o666 == 0  # published: as the umask says
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "certificate.json",
        "datapackage.json",
        f"release.{form}",
        "report.html",
    ]


ADDED_UP = "The numbers that are shown add up to"


def network(of: list[str], **words: Any) -> Release:
    """Statistics of a ring of twenty friends."""
    ring = pa.table({"a": list(range(20)), "b": [(i + 1) % 20 for i in range(20)]})
    asked = {"vertices": 20, "max_degree": 4, "epsilon": 1, **words}
    return open_graph(ring, dataset="ring").statistics(of, **asked)


@pytest.mark.parametrize(
    ("of", "words"),
    [(["connectivity", "edges"], {"samples": 5}), (["degree-histogram"], {}), (["triangles"], {})],
    ids=str,
)
def test_numbers_of_a_network_are_never_added_up(of: list[str], words: dict[str, Any]) -> None:
    page = report(network(of, **words))
    assert ADDED_UP not in page
    assert ">share<" not in page


def test_only_what_is_a_partition_is_added_up(town: pa.Table) -> None:
    bins = ["colour=red,green,blue"]
    assert ADDED_UP in report(released(town, *bins, epsilon=1))
    assert ADDED_UP in report(open_table(town).count(bins, epsilon=1))
    assert ADDED_UP in report(open_table(town).cube(["colour=red,green,blue", "age:0..100:50"], margins="1", crowd=5))
    queries = open_table(town).queries(["age:0..100:50", "year:0..50:25"], "marginals:1", epsilon=1, method="histogram")
    assert ADDED_UP not in report(queries), "what is shown are answers, and they overlap"
    each = open_table(town).queries(["age:0..100:50", "year:0..50:25"], "marginals:1", epsilon=1, method="per-query")
    assert ADDED_UP not in report(each), "queries overlap"
    assert ADDED_UP not in report(open_table(town).queries(["age:0..100:5"], "intervals", epsilon=1, method="tree"))
    assert ADDED_UP not in report(open_table(town).count(where="age >= 50", epsilon=1)), "one number is no partition"


def test_people_in_several_bins_are_not_added_up() -> None:
    visits = pa.table({"id": [1, 1, 2, 3] * 50, "town": ["Bath", "York", "Bath", "York"] * 50})
    several = open_table(visits, person="id").histogram(["town=Bath,York"], epsilon=1, distinct=2)
    assert ADDED_UP not in report(several)


def test_a_hidden_mean_beyond_the_axis_has_an_arrow_and_its_end() -> None:
    pay = pa.table({"place": ["mill"] * 60 + ["ferry"] * 2, "salary": [40_000] * 62})
    page = report(open_table(pay).mean("salary:0..300000:100", ["place=mill,ferry"], crowd=20, epsilon=5))
    assert "hidden, up to 300,000" in page
    assert "it goes on beyond the axis" in page


def test_a_chart_that_ends_where_its_numbers_do_has_no_arrow(town: pa.Table) -> None:
    assert "beyond the axis" not in report(released(town, "colour=red,green,blue", crowd=20))


def test_an_interval_of_a_cube_without_an_end_has_an_arrow() -> None:
    table = pa.table({"a": ["x"] * 60 + ["y"] * 3, "b": ["p", "q", "r"] * 21})
    page = report(open_table(table).cube(["a", "b=p,q,r"], margins="1", crowd=20))
    assert "or more" in page
    assert "it goes on beyond the axis" in page


def test_of_one_number_nobody_says_that_one_of_one_is_shown(town: pa.Table) -> None:
    page = report(open_table(town).mean("age:0..100:1", epsilon=1))
    assert "1 of 1" not in page
    assert "Nothing is hidden." in page
    some = pa.table({"place": ["mill"] * 60 + ["ferry"] * 2})
    assert "1 of 2 numbers are shown; 1 bin is hidden." in report(
        open_table(some).count(["place=mill,ferry"], crowd=20)
    )
