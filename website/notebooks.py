"""Notebooks, run from top to bottom without a server: for the site, and for the test that they still run."""

from __future__ import annotations

import ast
import html
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it stands, and what came out when it ran: what it printed, and the value of its last line."""

    kind: str
    source: str
    printed: str = ""
    value: Any = None


def run(notebook: Path) -> Iterator[Cell]:
    """Every cell in its order, the code run in one namespace."""
    names: dict[str, Any] = {"__name__": notebook.stem}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            yield Cell("markdown", source)
            continue
        tree = ast.parse(source)
        last = tree.body[-1]
        with redirect_stdout(StringIO()) as printed:
            if isinstance(last, ast.Expr):
                exec(compile(ast.Module(tree.body[:-1], []), notebook.name, "exec"), names)
                value = eval(compile(ast.Expression(last.value), notebook.name, "eval"), names)
            else:
                exec(compile(tree, notebook.name, "exec"), names)
                value = None
        yield Cell("code", source, printed.getvalue(), value)


def as_markdown(notebook: Path) -> str:
    """The notebook as a page: text, code, and what came out; a chart as it is."""
    parts = []
    for cell in run(notebook):
        if cell.kind == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        if cell.printed:
            parts.append(f"```text\n{cell.printed}```")
        if cell.value is not None:
            parts.append(_shown(cell.value))
    return "\n\n".join(parts) + "\n"


def _shown(value: Any) -> str:
    if hasattr(value, "_repr_svg_"):
        return f'<div class="figure">{value._repr_svg_()}</div>'.replace("\n", " ")
    if hasattr(value, "_repr_html_"):
        return f'<div class="output">{value._repr_html_()}</div>'.replace("\n", " ")
    return f"<pre>{html.escape(str(value))}</pre>"
