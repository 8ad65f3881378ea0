"""What pages say about the tree is there: every path below src/hubbub and every dotted name of the package."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
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


# --- the guides for contributors ----------------------------------------------------------------------------------

INSIDE = ROOT / "docs" / "reference" / "inside.md"
GUIDES = (ROOT / "CONTRIBUTING.md", INSIDE, ROOT / "tests" / "README.md")
FROM = (ROOT, ROOT / "src" / "hubbub", ROOT / "tests", ROOT / "tests" / "unit")
IN_CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(r"(?:\.?[\w-]+/)+(?:[\w-]+\.\w+)?|[\w-]+\.(?:py|toml|md)")
PLACED = re.compile(r"`(\w+)` (?:of|in) `([\w/]+\.py)`|`([\w/]+\.py)` \(`(\w+)(?:\.\w+)*`\)")
MADE_BY_USERS = ("hubbub-demo/", "out/")


def paths_in(text: str) -> list[str]:
    """What stands as code and is a path: with a slash after a folder, or with the ending of a file."""
    codes = IN_CODE.findall(re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return [code for code in codes if PATH.fullmatch(code) and not code.startswith(MADE_BY_USERS)]


def files_at(path: str) -> list[Path]:
    """What a path means: from the root, from the package, or from the tests; a test's file is known by its name."""
    tests = (ROOT / "tests").rglob(path) if path.startswith("test_") else ()
    return [*tests, *(start / path for start in FROM if (start / path).exists())]


def nowhere(text: str) -> list[str]:
    """Paths that are nowhere in the tree, and names that are not in the file where the text says they are."""
    gone = [path for path in paths_in(text) if not files_at(path)]
    for first, after, before, second in PLACED.findall(text):
        name, path = first or second, after or before
        if not any(re.search(rf"\b{name}\b", file.read_text(encoding="utf-8")) for file in files_at(path)):
            gone.append(f"{name} in {path}")
    return gone


@pytest.mark.parametrize("guide", GUIDES, ids=lambda page: page.name)
def test_a_guide_names_files_and_names_that_are_there(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8")
    assert paths_in(text)
    assert nowhere(text) == []


def test_a_guide_that_names_what_is_gone_is_noticed() -> None:
    assert nowhere("`CHANNELS` of `channels/catalogue.py`, `kinds/`, `tests/README.md`, `.ci/run`") == []
    assert nowhere("`channels/gone.py`, `nokinds/`") == ["channels/gone.py", "nokinds/"]
    assert nowhere("`GONE` of `channels/catalogue.py`") == ["GONE in channels/catalogue.py"]
    assert nowhere("`release.py` (`gone.draw`)") == ["gone in release.py"]


def test_every_module_of_the_package_has_its_row() -> None:
    rows = re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \|", INSIDE.read_text(encoding="utf-8"), re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([a-z_]+)`", row)]
    top = (ROOT / "src" / "hubbub").iterdir()
    there = {path.stem for path in top if path.suffix == ".py" or (path / "__init__.py").exists()} - {"__init__"}
    assert sorted(named) == sorted(there)


def test_a_name_that_is_gone_is_noticed() -> None:
    assert missing_paths("see src/hubbub/tables/gone.py and src/hubbub/tables/bins.py") == ["src/hubbub/tables/gone.py"]
    assert missing_names("`hubbub.tables.gone` and `hubbub.open`") == ["hubbub.tables.gone"]
