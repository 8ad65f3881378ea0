"""What pages say about the tree is there: every path below src/hubbub and every dotted name of the package."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), ROOT / "tests" / "README.md"])
HISTORY = ("CHANGELOG.md",)  # names as they were


def missing_paths(text: str) -> list[str]:
    """Paths below src/hubbub that are not there."""
    return [path for path in re.findall(r"\bsrc/hubbub/[\w/.-]*\w", text) if not (ROOT / path).exists()]


def missing_names(text: str) -> list[str]:
    """Dotted names of the package that cannot be fetched."""
    return [name for name in re.findall(r"\bhubbub(?:\.[A-Za-z_]\w*)+", text) if not _is_there(name)]


def _is_there(name: str) -> bool:
    parts = name.split(".")
    if parts[-1] in ("py", "key", "toml", "db", "md"):  # a file that is called so
        return True
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part, None)
        return found is not None
    return False


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in HISTORY], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_a_page_names_what_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert (missing_paths(text), missing_names(text)) == ([], [])


def test_the_glossary_points_to_modules_that_are_there() -> None:
    rows = re.findall(
        r"`([a-z_]+(?:/[a-z_]+)*(?:/|\.py))`", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    )
    assert len(rows) > 30
    assert [row for row in rows if not (ROOT / "src" / "hubbub" / row).exists()] == []


def test_a_name_that_is_gone_is_noticed() -> None:
    assert missing_paths("see src/hubbub/tables/gone.py and src/hubbub/tables/bins.py") == ["src/hubbub/tables/gone.py"]
    assert missing_names("`hubbub.tables.gone` and `hubbub.open`") == ["hubbub.tables.gone"]
