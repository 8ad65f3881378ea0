"""Every way to hand in a graph, and the files that nobody should: a clear sentence or the right answer."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from scipy import sparse

from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.graphs.distances import Facts, components, facts
from hubbub.graphs.graph import Graph, neighbours, simple
from hubbub.graphs.readers import load

# A triangle and a pair, with a link back, a link twice and a link to oneself.
LINKS = [("ann", "bob"), ("bob", "cat"), ("cat", "ann"), ("bob", "ann"), ("dan", "eve"), ("dan", "eve"), ("eve", "eve")]
WANTED = Facts(vertices=5, edges=4, components=2, odd=2, even_components=1, largest_degree=2)


def numbers() -> list[tuple[int, int]]:
    place: dict[str, int] = {}
    return [tuple(place.setdefault(name, len(place)) for name in link) for link in LINKS]  # type: ignore[misc]


def text(mark: str, links: list[tuple[Any, Any]], *first: str) -> str:
    return "\n".join([*first, *(f"{a}{mark}{b}" for a, b in links)]) + "\n"


GML = (
    'Creator "a [ b ] # c"\n# a comment ]\ngraph [ directed 1\n'
    + "\n".join(f'node [ id {i} label "x ] {i}" graphics [ id 99 ] ]' for i in range(5))
    + "\n".join(f"\nedge [ source {a} target {b} value 3.5 ]" for a, b in numbers())
    + "\n]\n"
)
GRAPHML = (
    '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">'
    + "".join(f'<edge source="{a}" target="{b}"><data key="w">2</data></edge>' for a, b in LINKS)
    + "".join(f'<node id="{name}"/>' for name in ("ann", "bob", "cat", "dan", "eve"))
    + "</graph></graphml>"
)
FILES: dict[str, str] = {
    "named.csv": text(",", LINKS, "source,target"),
    "with-more.csv": "\n".join(["weight,From,To", *(f"0.5,{a},{b}" for a, b in LINKS)]),
    "quoted.csv": text(",", [(f'"{a}"', f'"{b}"') for a, b in LINKS], "a,b"),
    "mark.csv": "\ufeff" + text(",", LINKS, "a,b"),
    "named.tsv": text("\t", LINKS, "one\ttwo"),
    "plain.txt": text(" ", numbers(), "# a comment", "% another"),
    "tabs.edges": text("\t", numbers()),
    "names.txt": text(" ", LINKS),
    "far.csv": text(",", [(a * 10**30 - 5, b * 10**30 - 5) for a, b in numbers()], "a,b"),
    "wide.csv": text(",", [(a * 10**17 - 5, b * 10**17 - 5) for a, b in numbers()], "a,b"),
    "negative.csv": text(",", [(-a - 3, -b - 3) for a, b in numbers()], "a,b"),
    "ends.csv": text(",", [(2**63 - 1 - a, 2**63 - 1 - b) for a, b in numbers()], "a,b"),
    "least.csv": text(",", [(-(2**63) + a, -(2**63) + b) for a, b in numbers()], "a,b"),
    "graph.gml": GML,
    "graph.graphml": GRAPHML,
}


@pytest.mark.parametrize("name", FILES)
def test_files(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    assert facts(load(tmp_path / name)) == WANTED
    assert facts(load(str(tmp_path / name), vertices=9)).components == 6


def column(of: str) -> tuple[list[Any], list[Any]]:
    one, other = zip(*numbers(), strict=True)
    make: dict[str, Callable[[int], Any]] = {
        "text": lambda i: LINKS[0][0] * (i + 1),
        "date": lambda i: datetime.date(2024, 1, 1 + i),
        "decimal": lambda i: Decimal(i) + Decimal("0.5"),
        "float": lambda i: i + 0.5,
        "bytes": lambda i: bytes([i]),
        "time": lambda i: datetime.datetime(2024, 1, 1, i),
    }
    return [make[of](i) for i in one], [make[of](i) for i in other]


@pytest.mark.parametrize("kind", ["text", "date", "decimal", "float", "bytes", "time"])
def test_labels_of_any_type(kind: str, tmp_path: Path) -> None:
    one, other = column(kind)
    table = pa.table({"a": one, "b": other})
    assert facts(load(table)) == WANTED
    parquet.write_table(table, tmp_path / "links.parquet")
    assert facts(load(tmp_path / "links.parquet")) == WANTED


@pytest.mark.parametrize("kinds", [("int8", "int64"), ("uint16", "int32"), ("uint64", "uint64"), ("uint64", "int64")])
def test_largest_remainders_of_any_width(kinds: tuple[str, str]) -> None:
    one, other = zip(*numbers(), strict=True)
    table = pa.table({"a": pa.array(one, kinds[0]), "b": pa.array(other, kinds[1])})
    assert facts(load(table)) == WANTED
    if kinds == ("uint64", "uint64"):
        top = [[2**64 - 1 - i for i in ends] for ends in (one, other)]
        assert facts(load(pa.table({"a": pa.array(top[0], "uint64"), "b": pa.array(top[1], "uint64")}))) == WANTED


def test_categories_and_frames() -> None:
    frame = pd.DataFrame(LINKS, columns=["source", "target"])
    assert facts(load(frame)) == facts(load(frame.astype("category"))) == WANTED
    assert facts(load(pl.DataFrame(LINKS, schema=["x", "y"], orient="row"))) == WANTED
    assert facts(load(frame.assign(weight=2.0), columns=["target", "source"])) == WANTED


def test_arrays_matrices_and_pairs() -> None:
    links = np.array(numbers())
    assert facts(load(links)) == facts(load(links.astype(np.int32))) == facts(load(links.astype(str))) == WANTED
    assert facts(load(np.array(LINKS, dtype=object))) == facts(load(LINKS)) == facts(load(iter(LINKS))) == WANTED
    assert facts(load([((a, 1), b) for a, b in LINKS])).edges == 6  # any hashable label
    matrix = sparse.coo_matrix((np.full(len(links), -2.5), (links[:, 0], links[:, 1])), shape=(5, 5))
    assert facts(load(matrix)) == facts(load(matrix.tocsr())) == facts(load(sparse.csc_array(matrix))) == WANTED
    zeros = sparse.coo_matrix(([0.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    assert facts(load(zeros)).edges == 1  # a stored zero is no link


def stranger(package: str, **methods: Any) -> Any:
    """An object whose class says that it comes from a package, which is not installed."""
    return type("Graph", (), {"__module__": f"{package}.classes", **methods})()


def test_networkx_and_igraph_without_importing_them() -> None:
    names = ["ann", "bob", "cat", "dan", "eve"]
    one = stranger("networkx", edges=lambda self: iter(LINKS), nodes=names)
    two = stranger("igraph", get_edgelist=lambda self: numbers(), vcount=lambda self: 5)
    assert facts(load(one)) == facts(load(two)) == WANTED
    assert facts(load(stranger("igraph", get_edgelist=lambda self: [], vcount=lambda self: 3))).components == 3


@pytest.mark.parametrize("package", ["networkx", "igraph"])
def test_the_real_packages_where_they_are(package: str) -> None:
    module: ModuleType = pytest.importorskip(package)
    if package == "networkx":
        assert facts(load(module.MultiDiGraph(LINKS))) == WANTED
        assert facts(load(module.star_graph(4))).odd == 4
    else:
        assert facts(load(module.Graph(n=5, edges=numbers(), directed=True))) == WANTED


# --- people without links -----------------------------------------------------------------------------------------


def test_a_vertex_file_counts_people_without_links(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("a,b\n1,2\n2,3\n")
    (tmp_path / "people.csv").write_text("id,age\n1,30\n2,30\n3,30\n007,30\n8,30\n")
    found = load(tmp_path / "links.csv", vertex_file=tmp_path / "people.csv")
    assert (found.vertices, found.edges) == (5, 2)
    (tmp_path / "people.txt").write_text("1\n2\n3\nsomebody\n")
    assert load(tmp_path / "links.csv", vertex_file=tmp_path / "people.txt").vertices == 4
    parquet.write_table(pa.table({"id": [1, 2, 3, 10**12]}), tmp_path / "people.parquet")
    assert load(tmp_path / "links.csv", vertex_file=tmp_path / "people.parquet").vertices == 4


@pytest.mark.parametrize("people", ["id\n1\n2\n", "id\n1\n2\n4\n", "id\nx\ny\n", "id\n1\n2\n10000000000000\n"])
def test_a_stranger_among_the_links_is_refused(people: str, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("a,b\n1,2\n2,3\n")
    (tmp_path / "people.csv").write_text(people)
    with pytest.raises(Refused, match="names somebody who is not among the vertices"):
        load(tmp_path / "links.csv", vertex_file=tmp_path / "people.csv")


@pytest.mark.parametrize("people", ["id\n1\n2\n3\n3\n", "id\nx\n1\n2\n3\nx\n"])
def test_a_vertex_listed_twice_is_refused(people: str, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("a,b\n1,2\n2,3\n")
    (tmp_path / "people.csv").write_text(people)
    with pytest.raises(Refused, match="listed twice"):
        load(tmp_path / "links.csv", vertex_file=tmp_path / "people.csv")


def test_too_few_declared_vertices_are_refused_and_many_take_no_room(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("a,b\n1,2\n2,1999999999\n")
    with pytest.raises(Refused, match="more people than the declared number"):
        load(tmp_path / "links.csv", vertices=2)
    found = load(tmp_path / "links.csv", vertices=2**31 - 1)
    assert (facts(found).components, found.listed_vertices) == (2**31 - 3, 3)
    with pytest.raises(WrongUse, match="at most 2\\^31"):
        simple(np.array([0]), np.array([1]), 2**31)


# --- what nobody should hand in -----------------------------------------------------------------------------------

EMPTY_END = "an end of a link is empty"
HOSTILE: dict[str, tuple[str, str]] = {
    "missing-end.csv": ("a,b\n1,2\n3,\n", EMPTY_END),
    "missing-name.csv": ("a,b\nx,y\n,z\n", EMPTY_END),
    "short-line.csv": ("a,b\n1,2\n3\n", "more or fewer cells"),
    "long-line.csv": ("a,b\n1,2\n3,4,5\n", "more or fewer cells"),
    "three.csv": ("x,y,z\n1,2,3\n", "3 columns, and a link has two ends"),
    "one.csv": ("x\n1\n", "1 columns"),
    "weights.txt": ("1 2 0.5\n2 3 0.5\n", "3 columns"),
    "no-header.csv": ("1,2\n2,3\n", "header=True or header=False"),
    "header.txt": ("from to\n1 2\n", "header=True or header=False"),
    "same.csv": ("a,a\n1,2\n", "one name"),
    "graph.xlsx": ("", "ends in .csv"),
    "endless.gml": ("graph [ node [ id 1 ] edge [ source 1 target 1 ", "ends before"),
    "quote.gml": ('graph [ node [ id 1 label "x ] ]', "ends before"),
    "key.gml": ("graph [ node [ id 1 ] ] creator", "ends before"),
    "deep.gml": ("graph [ " + "a [ " * 100_000, "no GML graph"),
    "closed.gml": ("]", "no GML graph"),
    "empty.gml": ("", "no GML graph"),
    "other.gml": ("nothing 1", "no GML graph"),
    "two.gml": ("graph [ ] graph [ ]", "several graphs"),
    "stranger.gml": ("graph [ node [ id 1 ] edge [ source 1 target 2 ] ]", "not among the vertices"),
    "twice.gml": ("graph [ node [ id 1 ] node [ id 1 ] ]", "listed twice"),
    "noid.gml": ("graph [ node [ label 1 ] ]", "whole numbers as id"),
    "nosource.gml": ("graph [ node [ id 1 ] edge [ target 1 ] ]", "whole numbers as id"),
    "text-id.gml": ('graph [ node [ id "x" ] ]', "whole numbers as id"),
    "long-id.gml": ("graph [ node [ id " + "9" * 5000 + " ] ]", "whole numbers as id"),
    "half.graphml": ("<graphml><graph><node id='1'/>", "no GraphML"),
    "empty.graphml": ("", "no GraphML"),
    "other.graphml": ("<html/>", "no GraphML"),
    "entity.graphml": (
        '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;&a;">]><graphml><graph><node id="&c;"/></graph></graphml>',
        "document type",
    ),
    "nested.graphml": ("<graphml><graph><node id='1'><graph/></node></graph></graphml>", "graphs inside nodes"),
    "hyper.graphml": ("<graphml><graph><hyperedge/></graph></graphml>", "hyperedges"),
    "noid.graphml": ("<graphml><graph><node/></graph></graphml>", "have an id"),
    "broken.parquet": ("PAR1 and nothing else", "cannot be read"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_sentence(name: str, tmp_path: Path) -> None:
    content, sentence = HOSTILE[name]
    (tmp_path / name).write_text(content)
    with pytest.raises(HubbubError) as caught:
        load(tmp_path / name)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_cell_is_never_repeated(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_bytes(b"a,b\nsecret-name,1\n\xff\xfe,2\n")
    with pytest.raises(HubbubError) as caught:
        load(tmp_path / "links.csv")
    assert "secret" not in str(caught.value)


def test_no_file_a_folder_and_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless.gml")
    for path in (tmp_path / "none.csv", tmp_path, tmp_path / "endless.gml", "a\0b.csv"):
        with pytest.raises(WrongUse, match="file; name one that is there"):
            load(path)
    with pytest.raises(WrongUse, match="a graph is a file"):
        load(3)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (sparse.coo_matrix((2, 3)), "make it square"),
        (np.zeros((2, 3)), "two columns"),
        (np.zeros((2, 2), dtype=complex), "numbers or text"),
        ([("a", "b", 2.0)], "pair of two labels"),
        ([("a", None)], EMPTY_END),
        ([(["a"], "b")], "pair of two labels"),
        (pa.table({"a": [[1]], "b": [[2]]}), "one in each cell"),
        (pa.table({"a": [1.5, float("nan")], "b": [1.0, 2.0]}), EMPTY_END),
        (pa.table({"a": [1, None], "b": [1, 2]}), EMPTY_END),
        (pa.table({"a": [1], "b": [1], "c": [1]}), "3 columns"),
        (pa.table([[1], [2]], names=["a", "a"]), "one name"),
        (pd.DataFrame({"a": [1, "x"], "b": [2, 3]}), "one type"),
    ],
)
def test_a_hostile_object_is_one_sentence(given: Any, sentence: str) -> None:
    with pytest.raises(HubbubError, match=sentence):
        load(given)


def test_header_and_columns_are_said(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("1,2\n2,3\n")
    assert load(tmp_path / "links.csv", header=False).edges == 2
    assert load(tmp_path / "links.csv", header=True).edges == 1
    (tmp_path / "weights.txt").write_text("1 2 0.5\n2 3 0.5\n")
    assert load(tmp_path / "weights.txt", columns=["1", "2"]).edges == 2
    for columns in (["1"], ["1", "1"], ["1", "9"]):
        with pytest.raises(WrongUse, match="name two"):
            load(tmp_path / "weights.txt", columns=columns)


@pytest.mark.parametrize("content", ["", "a,b\n", "# nothing\n"])
def test_files_without_links(content: str, tmp_path: Path) -> None:
    name = "links.csv" if content.startswith("a") or not content else "links.txt"
    (tmp_path / name).write_text(content)
    assert facts(load(tmp_path / name, vertices=3)).components == 3
    assert load(tmp_path / name).vertices == 0


def test_millions_of_links_to_oneself() -> None:
    one = np.zeros(2_000_000, dtype=np.int64)
    assert facts(load(np.stack([one, one], axis=1), vertices=4)).components == 4


# --- the arrays ---------------------------------------------------------------------------------------------------


def test_components_agree_with_one_pass_over_all_edges() -> None:
    rng = np.random.default_rng(5)
    for vertices, links in [(1, 0), (50, 20), (500, 300), (500, 2000), (3000, 2900)]:
        ends = rng.integers(0, vertices, (links, 2))
        graph = simple(ends[:, 0], ends[:, 1], vertices)
        matrix = sparse.coo_matrix((np.ones(links), (ends[:, 0], ends[:, 1])), shape=(vertices, vertices))
        wanted, label = sparse.csgraph.connected_components(matrix.tocsr(), directed=False)
        count, found = components(graph)
        assert count == wanted
        assert len(set(zip(label.tolist(), found.tolist(), strict=True))) == wanted
        both = neighbours(graph)
        assert [both.degree(v) for v in range(vertices)] == graph.degrees().tolist()


def test_links_beyond_the_vertices_are_refused() -> None:
    for a, b in [(0, 5), (-1, 0)]:
        with pytest.raises(WrongUse, match="numbered from 0"):
            simple(np.array([a]), np.array([b]), 5)


def test_a_graph_of_a_long_path_and_hubs() -> None:
    path = np.arange(200_000)
    found: Graph = simple(path[:-1], path[1:], path.size)
    assert facts(found).components == 1
    hub = simple(np.zeros(100_000, dtype=np.int64), np.arange(1, 100_001), 100_001)
    assert facts(hub).largest_degree == 100_000
