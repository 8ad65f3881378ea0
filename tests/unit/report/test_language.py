"""A report in another language: every sentence of its own is in the catalogue, with the same values, and is used."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from string import Formatter

import pyarrow as pa
import pytest

import hubbub
from hubbub.certificate import explanation, plain_meaning
from hubbub.charts.language import CATALOGUES, LANGUAGES, in_language, localized, translate, word
from hubbub.errors import WrongUse
from hubbub.report import report
from hubbub.report.heading import Heading, heading
from hubbub.report.picture import NOT_DRAWN
from hubbub.report.summary import exactness
from hubbub.verification import load, verify
from tests.fresh import enter

SOURCE = Path(hubbub.__file__).parent
WORDS = {  # which tables and charts have, and nobody says by name
    "people", "number of people", "interval", "estimate", "in the sample", "rows in the file", "published",
    "people, estimated", "people in the sample", "(missing)", "(empty text)",
}  # fmt: skip


def sentences() -> set[str]:
    """Every text that is said, as it stands in the code or in a constant of its module."""
    found = set()
    for folder, pattern in (("report", "*.py"), ("charts", "*.py"), ("certificate", "plain_meaning.py")):
        for file in (SOURCE / folder).glob(pattern):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            texts = {
                target.id: node.value.value
                for node in ast.walk(tree)
                if isinstance(node, ast.Assign | ast.AnnAssign)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
                for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
                if isinstance(target, ast.Name)
            }
            for node in ast.walk(tree):
                called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
                if not called or node.func.id not in ("translate", "_filled"):  # type: ignore[attr-defined]
                    continue
                (first, *_) = node.args  # type: ignore[attr-defined]
                if isinstance(first, ast.Constant):
                    found.add(str(first.value))
                elif isinstance(first, ast.Name) and first.id in texts:
                    found.add(texts[first.id])
                elif isinstance(first, ast.Name) and isinstance(getattr(plain_meaning, first.id, None), str):
                    found.add(getattr(plain_meaning, first.id))
    return found | {NOT_DRAWN, plain_meaning._PRESENT, plain_meaning._ROW, plain_meaning._REPLACED}


def values(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


@pytest.mark.parametrize("code", CATALOGUES)
def test_every_sentence_is_translated_with_the_same_values_and_none_is_left_over(code: str) -> None:
    catalogue = CATALOGUES[code]
    titles = {*explanation._TITLES.values(), "The same limit in every crowd", "Whatever your data are"}
    assert len(sentences()) > 50
    assert sentences() - set(catalogue) == set()
    assert set(catalogue) - sentences() - WORDS - titles == set()
    assert titles <= set(catalogue)
    for english, translated in catalogue.items():
        assert translated.strip(), english
        assert values(english) == values(translated), english


@pytest.fixture
def release():  # type: ignore[no-untyped-def]
    people = pa.table({"town": ["Bath"] * 2460 + ["York"] * 1400 + [None] * 20, "age": [i % 90 for i in range(3880)]})
    return enter(people).histogram(["town=Bath,York,null"], epsilon="0.5")


def test_a_german_page_is_german_and_says_so(release) -> None:  # type: ignore[no-untyped-def]
    page = report(release, heading=Heading(language="de"))
    assert '<html lang="de">' in page
    outside = re.sub(r'<(span|pre) lang=["\']en["\']>.*?</\1>', "", page, flags=re.S)
    for german in (
        "Was das zeigt",
        "Wer allein aus dieser Veröffentlichung errät, ob Ihre Zeile",
        "Die gezeigten Zahlen ergeben",
        "(fehlt)",
    ):
        assert german in outside
    for english in (
        "What this shows",
        "The numbers",
        "Show all",
        "add up to",
        "Also holds",
        "is right at most",
        "interval<",
    ):
        assert english not in outside
    assert re.search(r"<td[^>]*>2\.4\d\d</td>", page), "thousands have points"
    assert re.search(r"\d,\d %", page), "decimals have a comma"
    assert " bis " in outside
    assert '<html lang="en">' in report(release)
    assert "What this shows" in report(release)  # what was spoken is over


def test_numbers_are_rewritten_and_labels_are_not() -> None:
    with in_language("de"):
        assert localized("1,234.5 or 20 %. 0..10000, v1.5") == "1.234,5 or 20 %. 0..10000, v1.5"
        assert translate("Show all {total} rows", total="1,234") == "Alle 1.234 Zeilen zeigen"
        assert word("v1.5, 2,000") == "v1.5, 2,000"
    assert localized("1,234.5") == "1,234.5"


def test_the_signed_page_has_its_language_and_the_certificate_is_english(release, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    from hubbub.release import save

    files = save(release, tmp_path / "out", heading=heading(language="de"))
    assert '<html lang="de">' in Path(files["report"]).read_text(encoding="utf-8")
    done = verify(load(files["certificate"]), folder=tmp_path / "out")
    assert done.passed
    assert "report.html" in done.files
    assert "bis" not in Path(files["certificate"]).read_text(encoding="utf-8").split()


def test_a_language_that_is_none_is_refused() -> None:
    assert LANGUAGES[0] == "en"
    with pytest.raises(WrongUse, match="en or de, not 'xx'"):
        heading(language="xx")


def test_a_width_is_written_once_in_the_language() -> None:
    """Numbers that were written with a decimal comma are not written again."""
    people = pa.table({"town": ["Bath"] * 700 + ["York"] * 800, "age": [i % 90 for i in range(1500)]})
    shares = enter(people).fraction(where="age >= 65", by=["town=Bath,York"], epsilon=1)
    with in_language("de"):
        said = exactness(shares)[0]
    assert re.search(r"\d,\d Prozentpunkte", said), said
