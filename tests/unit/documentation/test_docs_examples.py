"""The examples of the README and the documentation run as they stand: Python, and commands in their order.

A fenced block without a language holds commands, ``fails`` commands that are refused, ``python`` a program, and
``text`` lines of what the block before it printed; in ``output`` the numbers may be others, because noise is.
"""

from __future__ import annotations

import re
import shlex
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands
from hubbub.demo import addresses, friend_attack, millbrook

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
CLUB = DOCS / "tutorials" / "club-election.md"  # needs the export that stands in it
ELSEWHERE = {CLUB, DOCS / "tutorials" / "audit.md", DOCS / "tutorials" / "studio.md"}  # have tests of their own
COMMANDS = [ROOT / "README.md", DOCS / "index.md", DOCS / "elections.md"]  # their programs stand for themselves
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def fences(page: Path) -> list[tuple[str, str]]:
    """Language and text of each fenced block of a page."""
    return FENCE.findall(page.read_text(encoding="utf-8"))


WALKS = [
    page
    for folder in ("tutorials", "how-to", "theory")
    for page in sorted((DOCS / folder).glob("*.md"))
    if page not in ELSEWHERE and any(language in ("", "fails", "python") for language, _ in fences(page))
]
ALONE = [
    pytest.param(block, id=f"{page.name}-{i}")
    for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    if page not in WALKS
    for i, (language, block) in enumerate(fences(page))
    if language == "python"
]


@pytest.fixture
def after_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the demo leaves it, which is where a reader is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hubbub-demo").mkdir()
    millbrook.publish(tmp_path / "hubbub-demo")
    friend_attack.write(tmp_path / "hubbub-demo")
    addresses.write(tmp_path / "hubbub-demo")
    return tmp_path


def program(block: str) -> str:
    """What a program prints."""
    with redirect_stdout(StringIO()) as printed:
        exec(compile(block, "example", "exec"), {"__name__": "example"})
    return printed.getvalue()


def _without_numbers(line: str) -> str:
    return " ".join(re.sub(r"[0-9][0-9,.]*", "#", line).split())


def typed(line: str) -> Result:
    return CliRunner().invoke(commands, shlex.split(line, comments=True)[1:], catch_exceptions=False)


def walk(page: Path) -> int:
    """Do what a page says from top to bottom; how many commands there were."""
    run, said = 0, ""
    for language, block in fences(page):
        if language == "text":
            missing = [line for line in block.splitlines() if line not in said]
            assert not missing, (missing, said)
        elif language == "output":
            printed = set(map(_without_numbers, said.splitlines()))
            assert [line for line in block.splitlines() if _without_numbers(line) not in printed] == []
            assert page.name != "README.md" or len(block.splitlines()) == len(said.splitlines()), "only a part is shown"
        elif language == "python" and (page in WALKS or page.name == "README.md"):
            said = program(block)
            assert said
        elif language in ("", "fails"):
            for line in block.splitlines():
                if line.startswith("hubbub "):
                    done = typed(line)
                    assert (done.exit_code == 0) == (not language), (line, done.output)
                    assert done.stdout if not language else done.stderr.strip(), line
                    run, said = run + 1, done.stdout
    return run


def test_there_are_examples() -> None:
    assert len(ALONE) >= 2
    assert len(WALKS) >= 5


@pytest.mark.parametrize("block", ALONE)
@pytest.mark.usefixtures("after_the_demo")
def test_an_example_runs(block: str) -> None:
    assert program(block)


@pytest.mark.parametrize("page", [*WALKS, *COMMANDS], ids=lambda page: page.stem)
@pytest.mark.usefixtures("after_the_demo")
def test_a_page_can_be_followed_from_top_to_bottom(page: Path) -> None:
    if page.name == "sql.md":
        pytest.importorskip("sqlglot")
    assert walk(page) >= 1 or any(language == "python" for language, _ in fences(page))


def test_the_club_election_takes_five_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (export,) = [block for language, block in fences(CLUB) if language == "csv"]
    lines = [line for language, block in fences(CLUB) if not language for line in block.splitlines()]
    assert len(lines) == 5
    monkeypatch.chdir(tmp_path)
    (tmp_path / "club.csv").write_text(export, encoding="utf-8")
    assert '--alias "BOB ROY=Bob Roy"' in typed(lines[0]).stderr  # the note that the page promises
    assert walk(CLUB) == 5
    page = (tmp_path / "results.html").read_text(encoding="utf-8")
    assert "three swans on the river" in page
    assert "<svg" in page


def test_the_page_about_kinds_shows_the_toy_kind_as_the_suite_runs_it() -> None:
    toy = (ROOT / "tests" / "conformance" / "toy.py").read_text(encoding="utf-8")
    shown = [block for language, block in fences(DOCS / "how-to" / "write-a-kind.md") if language == "py"]
    assert len(shown) == 3
    assert [block for block in shown if _bare(block) not in _bare(toy)] == []


def _bare(code: str) -> str:
    """Without indentation and empty lines: a page shows a method by itself."""
    return "\n".join(line.strip() for line in code.splitlines() if line.strip())
