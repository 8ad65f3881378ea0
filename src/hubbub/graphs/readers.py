"""Any graph as a `Graph`: a file, or an object of a package that is then loaded already.

What an object is, its own package says by the name of its class's module; no package is imported to find out.

GML: a tree of keys and values in brackets. Only the numbers of nodes and the ends of edges are looked at.

GraphML: nodes and edges of one XML graph, read as they come. No document type, so no entity can grow.

Edge lists in files: CSV, TSV, text and Parquet, by their header and the columns that are named.

In a CSV or TSV file the first line names the columns; a text file (.txt, .edges) has none, and lines at its top that
begin with # or % are skipped. If every label of both columns is a whole number of 64 bits, labels are numbers, and 7
and 007 are one person; otherwise they are text, as it stands.
"""

from __future__ import annotations

import csv
import mmap
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final
from xml.parsers import expat

import numpy as np
import pyarrow as pa

from hubbub.errors import Refused, WrongUse
from hubbub.graphs.graph import Graph, simple
from hubbub.graphs.labels import from_columns, from_labels, with_vertices
from hubbub.runtime.frozen import dataclass

TEXTS: Final = (".csv", ".tsv", ".tab", ".txt", ".edges", ".edgelist")
ENDINGS: Final = (*TEXTS, ".parquet", ".gml", ".graphml")


def load(
    given: Any,
    *,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    vertices: int | None = None,
    vertex_file: str | os.PathLike[str] | None = None,
) -> Graph:
    """The graph of a file (by its ending) or of an object: networkx, igraph, scipy, Arrow and frames, NumPy, pairs.

    People without links are counted by `vertices`, listed in `vertex_file`, or part of what was given; nobody else is.
    """
    if vertices is not None and vertices < 0:
        raise WrongUse(f"the number of vertices must be at least 0, not {vertices}")
    if isinstance(given, str | os.PathLike):
        return _from_file(file_at(given), columns, header, vertices, vertex_file)
    if vertex_file is not None:
        raise WrongUse("a vertex file goes with an edge list in a file; give the object all its vertices instead")
    return with_vertices(_from_object(given, columns), vertices)


def file_at(given: str | os.PathLike[str]) -> Path:
    """The file of that name, if it is one."""
    path = Path(given)
    try:
        if path.is_file():
            return path
        exists = path.exists()
    except (OSError, ValueError):
        exists = False
    raise WrongUse(f"{str(path)[:200]!r} is no {'regular ' if exists else ''}file; name one that is there")


def _from_file(
    path: Path,
    columns: Sequence[str] | None,
    header: bool | None,
    vertices: int | None,
    vertex_file: str | os.PathLike[str] | None,
) -> Graph:
    ending = path.suffix.lower()
    try:
        if ending in (".gml", ".graphml"):
            if vertex_file is not None or columns is not None:
                raise WrongUse("a GML or GraphML file lists its own vertices and has no columns; drop those options")
            return with_vertices(read_gml(path) if ending == ".gml" else read_graphml(path), vertices)
        known = None if vertex_file is None else _vertices(file_at(vertex_file), as_text=False)
        one, other = _two(path, columns, header, as_text=False)
        if known is not None and known.type != one.type and ending in TEXTS:
            one, other = _two(path, columns, header, as_text=True)  # 007 is then no 7 in either file
            known = _vertices(file_at(vertex_file or ""), as_text=True)
    except OSError as error:
        raise WrongUse(f"{str(path)[:200]!r} cannot be read: {error.strerror or 'an error of the system'}") from None
    return from_columns(one, other, known, vertices)


def _two(path: Path, columns: Sequence[str] | None, header: bool | None, *, as_text: bool) -> tuple[Any, Any]:
    ending = path.suffix.lower()
    if ending == ".parquet":
        one, other = parquet_columns(path, columns)
    elif ending in TEXTS:
        one, other = text_columns(path, columns, header, as_text=as_text)
    else:
        raise WrongUse(f"a graph is read from a file that ends in {', '.join(ENDINGS)}, not {ending[:20]!r}; rename it")
    return one, other


def _vertices(path: Path, *, as_text: bool) -> Any:
    if path.suffix.lower() == ".parquet":
        return parquet_columns(path, None, one_column=True)[0]
    if path.suffix.lower() not in TEXTS:
        raise WrongUse(f"vertices are listed in a file that ends in {', '.join(TEXTS)} or .parquet; rename it")
    return text_columns(path, None, as_text=as_text, one_column=True)[0]


def _from_object(given: Any, columns: Sequence[str] | None) -> Graph:
    if isinstance(given, Graph):
        return given
    packages = {kind.__module__.partition(".")[0] for kind in type(given).__mro__}
    if "networkx" in packages:
        return from_labels(((a, b) for a, b in given.edges()), given.nodes, all_known=True)
    if "igraph" in packages:
        ends = np.asarray(given.get_edgelist(), dtype=np.int64).reshape(-1, 2)
        return simple(ends[:, 0], ends[:, 1], int(given.vcount()))
    if hasattr(given, "tocoo"):
        return _from_matrix(given.tocoo())
    if isinstance(given, np.ndarray):
        return _from_array(given)
    if hasattr(given, "__arrow_c_stream__"):
        try:
            table = pa.table(given)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            raise WrongUse("the table has cells of different types in one column; make each column one type") from None
        one, other = two_of(table.column_names, columns)
        return from_columns(table.column(one), table.column(other))
    if isinstance(given, Iterable):
        return from_labels(_pairs(given), all_known=False)
    raise WrongUse(
        f"a graph is a file, a networkx or igraph graph, a sparse matrix, a table or pairs, not {type(given).__name__}"
    )


def _from_matrix(matrix: Any) -> Graph:
    """An entry that is not zero is a link; what it says beyond that is not looked at."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise WrongUse("a matrix of links must have a row and a column for each vertex; make it square")
    nonzero = matrix.data != 0
    return simple(matrix.row[nonzero], matrix.col[nonzero], int(matrix.shape[0]))


def _from_array(array: np.ndarray[Any, Any]) -> Graph:
    if array.ndim != 2 or array.shape[1] != 2:
        raise WrongUse("an array of links must have two columns; for a matrix of links give a sparse one")
    if array.dtype.kind == "O":
        return from_labels(((a, b) for a, b in array.tolist()), all_known=False)
    try:
        return from_columns(pa.array(np.ascontiguousarray(array[:, 0])), pa.array(np.ascontiguousarray(array[:, 1])))
    except pa.ArrowNotImplementedError:
        raise WrongUse("an array of links must hold numbers or text; choose another type") from None


def _pairs(given: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
    for link in given:
        try:
            one, other = link
            hash((one, other))
        except (TypeError, ValueError):
            raise Refused("a link must be a pair of two labels; drop weights and whatever else stands beside") from None
        yield one, other


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


NOT_XML: Final = "the file is no GraphML, or ends too early; get the whole file"
NESTED: Final = "the GraphML file has hyperedges, several graphs, or graphs inside nodes; flatten it first"
DOCTYPE: Final = "the GraphML file declares a document type, which is not read; remove the DOCTYPE"
NO_ID: Final = "nodes of a GraphML file have an id, and edges a source and a target; mend the file"


def read_graphml(path: Path) -> Graph:
    """The graph of a file; every node must be listed, once."""
    nodes: list[str] = []
    edges: list[tuple[str, str]] = []
    graphs = 0

    def start(name: str, given: dict[str, str]) -> None:
        nonlocal graphs
        match name.rpartition(" ")[2]:
            case "node":
                nodes.append(_needed(given, "id"))
            case "edge":
                edges.append((_needed(given, "source"), _needed(given, "target")))
            case "graph":
                graphs += 1
                if graphs > 1:
                    raise WrongUse(NESTED)
            case "hyperedge":
                raise WrongUse(NESTED)

    def doctype(*_: object) -> None:
        raise WrongUse(DOCTYPE)

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = doctype
    try:
        with open(path, "rb") as file:
            parser.ParseFile(file)
    except (expat.ExpatError, ValueError, LookupError):
        raise WrongUse(NOT_XML) from None
    if not graphs:
        raise WrongUse(NOT_XML)
    return from_labels(edges, nodes, all_known=True)


def _needed(given: dict[str, str], name: str) -> str:
    if name not in given:
        raise Refused(NO_ID)
    return given[name]


PAIRS: Final = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("node_1", "node_2"),
    ("id_1", "id_2"),
)
"""Names of the two columns that are understood where there are more than two."""

UNREADABLE: Final = "the file cannot be read as an edge list of its kind; check its lines against its ending"
_WHOLE_BYTES = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_LONGEST_LINE: Final = 1 << 20  # characters
_MOST_COMMENTS: Final = 10_000  # lines


def two_of(names: Sequence[str], wanted: Sequence[str] | None) -> tuple[str, str]:
    """The names of the columns that hold the two ends of a link."""
    if wanted is not None:
        if len(wanted) != 2 or wanted[0] == wanted[1]:
            raise WrongUse("the ends of a link are in two columns; name two, like source,target")
        missing = [name for name in wanted if name not in names]
        if missing:
            raise WrongUse(f"there is no column {missing[0][:40]!r} in the file; name two that it has")
        return wanted[0], wanted[1]
    if len({*names}) < len(names):
        raise WrongUse("two columns have one name; rename one of them")
    if len(names) == 2:
        return names[0], names[1]
    small = [name.strip().lower() for name in names]
    for one, two in PAIRS:
        if small.count(one) == 1 and small.count(two) == 1:
            return names[small.index(one)], names[small.index(two)]
    raise WrongUse(f"the file has {len(names)} columns, and a link has two ends; name their columns with `columns`")


def parquet_columns(path: Path, wanted: Sequence[str] | None, one_column: bool = False) -> tuple[Any, ...]:
    """The two columns of labels (or the first, of a list of vertices)."""
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            chosen = names[:1] if one_column else two_of(names, wanted)
            table = file.read(columns=list(chosen))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
        raise WrongUse(UNREADABLE) from None
    return tuple(table.column(name) for name in chosen)


@dataclass(frozen=True, slots=True)
class _Form:
    """How a text file is laid out: from its ending and its first lines."""

    mark: str
    skip: int  # lines before the first link
    names: tuple[str, ...]
    numbers: bool  # whether the first link is between whole numbers


def text_columns(
    path: Path,
    wanted: Sequence[str] | None,
    header: bool | None = None,
    *,
    as_text: bool = False,
    one_column: bool = False,
) -> tuple[Any, ...]:
    """The two columns of labels (or the first, of a list of vertices): whole numbers if all are, else text."""
    form = _form(path, header, one_column)
    if not form.names:
        none = pa.chunked_array([], type=pa.int64())
        return (none,) if one_column else (none, none)
    chosen = form.names[:1] if one_column else two_of(form.names, wanted)
    if form.numbers and not as_text:
        try:
            return _parse_columns(path, form, chosen, pa.int64())
        except pa.ArrowInvalid:
            pass  # some label is no whole number, or too long for one
    try:
        return _parse_columns(path, form, chosen, pa.large_string())
    except (pa.ArrowInvalid, OSError):
        raise Refused(
            "a line of the file has more or fewer cells than the first, or is not UTF-8; mend it, or name its kind"
        ) from None


def _parse_columns(path: Path, form: _Form, chosen: Sequence[str], kind: Any) -> tuple[Any, ...]:
    from pyarrow import csv as arrow_csv

    table = arrow_csv.read_csv(
        path,
        read_options=arrow_csv.ReadOptions(column_names=list(form.names), skip_rows=form.skip),
        parse_options=arrow_csv.ParseOptions(delimiter=form.mark),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=list(chosen),
            column_types=dict.fromkeys(chosen, kind),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
    return tuple(table.column(name) for name in chosen)


def _form(path: Path, header: bool | None, one_column: bool) -> _Form:
    listed = path.suffix.lower() in (".csv", ".tsv", ".tab")
    skip, first, second = _first_lines(path, comments=not listed)
    mark = {".csv": ",", ".tsv": "\t", ".tab": "\t"}.get(path.suffix.lower())
    if mark is None:
        mark = next((sign for sign in "\t,; " if sign in first), ",")
    cells, following = _cells(first, mark), _cells(second, mark)
    if not cells:
        return _Form(mark, 0, (), numbers=False)
    ends = 1 if one_column else 2
    is_link, next_is_link = (all(map(_WHOLE_BYTES.fullmatch, row[:ends])) for row in (cells, following))
    if header is None:
        header = listed
        if (header and is_link) or (not header and not is_link and following and next_is_link):
            raise WrongUse(
                "it is not clear whether the first line names the columns or is a link already; "
                "say so with `header=True` or `header=False`"
            )
    if header and len({*cells}) < len(cells):
        raise WrongUse("two columns of the file have one name; rename one of them, or say `header=False`")
    names = tuple(cells) if header else tuple(str(i) for i in range(1, len(cells) + 1))
    return _Form(mark, skip + header, names, bool(next_is_link if header else is_link))


def _first_lines(path: Path, *, comments: bool) -> tuple[int, str, str]:
    """How many lines to skip, and the two after them."""
    with open(path, encoding="utf-8-sig", errors="replace", newline=None) as file:
        skip = 0
        line = file.readline(_LONGEST_LINE)
        while comments and line[:1] in ("#", "%") and skip < _MOST_COMMENTS:
            skip, line = skip + 1, file.readline(_LONGEST_LINE)
        return skip, line, file.readline(_LONGEST_LINE)


def _cells(line: str, mark: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=mark), []) if line.strip() else []
    except csv.Error:
        return []
