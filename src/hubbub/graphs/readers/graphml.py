"""GraphML: nodes and edges of one XML graph, read as they come. No document type, so no entity can grow."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from xml.parsers import expat

from hubbub.errors import Refused, WrongUse
from hubbub.graphs.graph import Graph
from hubbub.graphs.labels import from_labels

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
