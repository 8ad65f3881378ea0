"""GML: a tree of keys and values in brackets. Only the numbers of nodes and the ends of edges are looked at."""

from __future__ import annotations

import mmap
import re
from pathlib import Path
from typing import Final

from hubbub.errors import Refused, WrongUse
from hubbub.graphs.graph import Graph
from hubbub.graphs.labels import from_labels

_TOKEN = re.compile(rb'#[^\n]*|"[^"]*"|[\[\]]|[^\s\[\]"]+')
_INTEGER = re.compile(rb"[+-]?\d{1,1000}")
_DEEPEST: Final = 100

NO_END: Final = "the GML file ends before its brackets and quotation marks are closed; get the whole file"
NOT_GML: Final = "the file is no GML graph: graph [ node [ id 1 ] edge [ source 1 target 2 ] ]; check its ending"
NO_NUMBER: Final = "nodes of a GML file have whole numbers as id, and edges as source and target; mend the file"


def read_gml(path: Path) -> Graph:
    """The graph of a file; every node must be listed, once."""
    if path.stat().st_size == 0:
        raise WrongUse(NOT_GML)
    nodes: list[int] = []
    edges: list[tuple[int, int]] = []
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        _walk(text, nodes, edges)
    return from_labels(edges, nodes, all_known=True)


def _walk(text: mmap.mmap, nodes: list[int], edges: list[tuple[int, int]]) -> None:
    path: list[bytes] = []
    key: bytes | None = None
    seen: dict[bytes, int] = {}
    graphs = at = 0
    for token in _TOKEN.finditer(text):
        if b'"' in text[at : token.start()]:
            raise WrongUse(NO_END)  # a quotation mark that opens and has no partner
        at = token.end()
        word = token.group()
        if word[:1] == b"#":
            continue
        if word == b"]":
            if not path or key is not None:
                raise WrongUse(NOT_GML)
            _close(path, seen, nodes, edges)
            path.pop()
        elif key is None:
            if word == b"[" or word[:1] == b'"':
                raise WrongUse(NOT_GML)
            key = word.lower()
        elif word == b"[":
            if len(path) >= _DEEPEST:
                raise WrongUse(NOT_GML)
            path.append(key)
            if path == [b"graph"]:
                graphs += 1
            if len(path) == 2:
                seen = {}
            key = None
        else:
            if len(path) == 2 and path[0] == b"graph" and key in (b"id", b"source", b"target"):
                _note(path[1], key, word, seen)
            key = None
    if path or key is not None or b'"' in text[at:]:
        raise WrongUse(NO_END)
    if graphs != 1:
        raise WrongUse(NOT_GML if not graphs else "the GML file holds several graphs; give each its own file")


def _note(of: bytes, key: bytes, word: bytes, seen: dict[bytes, int]) -> None:
    if (of == b"node") == (key == b"id") and of in (b"node", b"edge"):
        if not _INTEGER.fullmatch(word) or key in seen:
            raise Refused(NO_NUMBER)
        seen[key] = int(word)


def _close(path: list[bytes], seen: dict[bytes, int], nodes: list[int], edges: list[tuple[int, int]]) -> None:
    if path == [b"graph", b"node"]:
        if b"id" not in seen:
            raise Refused(NO_NUMBER)
        nodes.append(seen[b"id"])
    elif path == [b"graph", b"edge"]:
        if len(seen) < 2:
            raise Refused(NO_NUMBER)
        edges.append((seen[b"source"], seen[b"target"]))
