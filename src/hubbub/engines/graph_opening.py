"""A graph that was opened: the file of links, or the object, and what it is for the ledger."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from hubbub.engines.identity import of_files
from hubbub.graphs.graph import Graph
from hubbub.graphs.readers import file_at, load
from hubbub.runtime.frozen import dataclass
from hubbub.tables.identity import Identity


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Opened:
    """What `hubbub.kinds.network.Links` asks for."""

    given: object
    two: tuple[str, ...] | None
    header: bool | None
    vertex_file: str | os.PathLike[str] | None

    def columns(self) -> dict[str, object]:
        """A graph has no schema."""
        return {}

    def identity(self) -> Identity:
        """The files of links and vertices; an object has no identity but the name that somebody gives it."""
        if not isinstance(self.given, str | os.PathLike):
            return Identity()
        files = (self.given,) if self.vertex_file is None else (self.given, self.vertex_file)
        found = of_files(os.fspath(name) for name in files)
        roles = [part.digest for part in found.parts]  # the same two files, the other way round, are another network
        return replace(found, links=(*roles, f"header {self.header}", *(f"column {each}" for each in self.two or ())))

    def graph(self, vertices: int | None = None) -> Graph:
        """All of it, read once."""
        return load(self.given, columns=self.two, header=self.header, vertices=vertices, vertex_file=self.vertex_file)


def open_graph(
    given: object,
    *,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    vertex_file: str | os.PathLike[str] | None = None,
) -> Opened:
    """The links of a file or an object. Nothing is read yet, but a file has to be there."""
    for each in (given, vertex_file):
        if isinstance(each, str | os.PathLike):
            file_at(each)
    return Opened(given=given, two=None if columns is None else tuple(columns), header=header, vertex_file=vertex_file)
