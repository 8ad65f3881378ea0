"""Every numbered item of the sources: what it says, its symbol, its command and its test.

``python -m website.theorem_map`` writes docs/theorem-map.md from the tables of website/theorems. A row has an ``item``,
and either ``same`` (another row that it repeats) or what it ``says`` with ``symbol``, ``command`` and ``test``; where
there is no symbol or no command, ``instead`` is the sentence that says why.
"""

from __future__ import annotations

import ast
import importlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import click

ROOT: Final = Path(__file__).resolve().parent.parent
DOCUMENT: Final = ROOT / "docs" / "theorem-map.md"
TABLES: Final = ROOT / "website" / "theorems"
SOURCES: Final = ("zero_knowledge", "crowd_blending", "outlier", "lecture_notes", "thesis", "own")
HEAD: Final = """# Theorem map

1. One table per source, in the order of the source; a row for every definition, example, proposition, theorem, lemma \
and corollary, and for every construction that has a name but no number.
2. The second column is our own short wording; where we have explicit constants, they stand there in place of a hidden \
O( ) or Ω( ), even when the source prints something weaker. Where the source is wrong, see [errata](errata.md).
3. `symbol` is the place under `hubbub.` that carries the item, `command` what computes it with numbers (after \
`hubbub`), `test` what would fail if it were wrong. The page is written by `make theorems`; a test imports every \
symbol, finds every command and every test, and sees that no number of a source is left out.
4. Letters: n people, k sample size or crowd size, p sampling rate, c a bin count or a group size, q = e^−ε, DLap the \
two-sided geometric law with exact tail P(X ≥ m) = q^m/(1+q).
5. Two families of names look alike: "choice A1 … A5" are the five ways of hiding ε(·) in Example 8 of the outlier \
paper, "Theorem A1, A1′, A3" and "A4" are our own statements on zero-knowledge privacy, "B1 … B3" those on voting.
"""
COLUMNS: Final = "| item | what it says | symbol | command | test |\n|---|---|---|---|---|"


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A row of the page."""

    source: str
    item: str
    says: str
    symbol: tuple[str, ...] = ()
    command: str = ""
    test: tuple[str, ...] = ()
    instead: str = ""
    origin: str = ""


@cache
def table_of(source: str) -> Mapping[str, Any]:
    return tomllib.loads((TABLES / f"{source}.toml").read_text(encoding="utf-8"))


def items() -> Iterator[Item]:
    """All rows, those that repeat another with its symbol, command and test."""
    for source in SOURCES:
        for row in table_of(source)["item"]:
            yield _item(source, row)


def _item(source: str, row: Mapping[str, Any]) -> Item:
    if "same" not in row:
        lists = {name: tuple(row.get(name, ())) for name in ("symbol", "test")}
        return Item(source=source, **{**row, **lists})
    other, _, name = row["same"].partition(": ")
    (same,) = (_item(other, each) for each in table_of(other)["item"] if each["item"] == name)
    says = row.get("says", f"same as {other.replace('_', '-')}, {name}")
    return Item(
        source=source,
        item=row["item"],
        says=says,
        symbol=same.symbol,
        command=same.command,
        test=same.test,
        instead=same.instead,
    )


# --- what can be wrong with a row -----------------------------------------------------------------------------------


def faults(item: Item) -> list[str]:
    """What a row says that is not so."""
    found = [f"no symbol {symbol}" for symbol in item.symbol if not _is_symbol(symbol)]
    found += [f"no test {test}" for test in item.test if not is_test(*test.split("::"))]
    if item.command and not _is_command(item.command):
        found.append(f"no command {item.command}")
    if not (item.symbol and item.command and item.test) and not item.instead:
        found.append("nothing says why there is no symbol, command or test")
    return [*found, *(["nothing is said"] if not item.says else [])]


def _is_symbol(text: str) -> bool:
    module, _, name = text.partition(":")
    try:
        loaded = importlib.import_module(f"hubbub.{module}")
    except ImportError:
        return False
    return not name or hasattr(loaded, name)


def is_test(path: str, name: str) -> bool:
    return name in _tests_in(path)


@cache
def _tests_in(path: str) -> frozenset[str]:
    file = ROOT / path
    body = ast.parse(file.read_text(encoding="utf-8")).body if file.is_file() else []
    return frozenset(node.name for node in body if isinstance(node, ast.FunctionDef))


def _is_command(text: str) -> bool:
    from hubbub.cli.main import commands

    command: click.Command | None = commands
    for word in text.split():
        command = command.get_command(click.Context(command), word) if isinstance(command, click.Group) else None
    return command is not None and not isinstance(command, click.Group)


# --- the page -------------------------------------------------------------------------------------------------------


def page() -> str:
    rows = list(items())
    return "\n".join((HEAD, *(_section(source, rows) for source in SOURCES)))


def _section(source: str, rows: list[Item]) -> str:
    table = table_of(source)
    intro = f"{table['intro']}\n\n" if "intro" in table else ""
    lines = "\n".join(_line(row) for row in rows if row.source == source)
    return f"## {table['title']}\n\n{intro}{COLUMNS}\n{lines}\n"


def _line(item: Item) -> str:
    says = item.says + (f" ({item.origin})" if item.origin else "") + (f". {item.instead}" if item.instead else "")
    symbols = ", ".join(f"`{symbol.replace(':', '.')}`" for symbol in item.symbol)
    tests = ", ".join(f"`{test}`" for test in item.test)
    command = f"`{item.command}`" if item.command else ""
    cells = (item.item, says, symbols or "–", command or "–", tests or "–")
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    DOCUMENT.write_text(page(), encoding="utf-8")
