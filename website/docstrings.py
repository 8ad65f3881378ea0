"""Docstrings are written for people and for Python's help; here they become Markdown."""

from __future__ import annotations

import inspect
import re
from typing import Any

import griffe

from hubbub.kinds.table import Table

_ROLE = re.compile(r":(?:mod|class|func|meth):(`[^`]+`)")


def as_markdown(text: str) -> str:
    """Examples become fenced blocks, the double colon before a block of text goes, and roles become plain code."""
    out: list[str] = []
    inside = False
    for line in text.splitlines():
        starts = line.lstrip().startswith(">>>")
        if starts and not inside:
            out += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            out += ["```"]
            inside = False
        out.append(line if inside else _ROLE.sub(r"\1", line))
    if inside:
        out.append("```")
    return re.sub(r"^::$\n?", "", re.sub(r"(\S)::$", r"\1:", "\n".join(out), flags=re.M), flags=re.M)


class Markdown(griffe.Extension):
    """Hands every docstring over as Markdown."""

    def on_instance(self, *, obj: Any, **kwargs: Any) -> None:
        """Called for each module, class, function and attribute that was read."""
        if obj.docstring is not None:
            if obj.path.startswith("hubbub.kinds.table.Table.") and obj.is_function:  # it lists the options there
                obj.docstring.value = inspect.getdoc(getattr(Table, obj.name)) or ""
            obj.docstring.value = as_markdown(obj.docstring.value)
