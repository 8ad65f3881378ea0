"""Any graph as a `Graph`: a file, or an object of a package that is then loaded already.

What an object is, its own package says by the name of its class's module; no package is imported to find out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hubbub.errors import Refused, WrongUse
from hubbub.graphs.graph import Graph, simple
from hubbub.graphs.labels import from_columns, from_labels, with_vertices
from hubbub.graphs.readers.edge_lists import parquet_columns, text_columns, two_of
from hubbub.graphs.readers.gml import read_gml
from hubbub.graphs.readers.graphml import read_graphml

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
