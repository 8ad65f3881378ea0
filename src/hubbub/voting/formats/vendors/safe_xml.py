"""XML from elsewhere, an element at a time: no document type, so no entities; one element in memory at most."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, BinaryIO, Final
from xml.etree import ElementTree

from hubbub.errors import WrongUse
from hubbub.runtime.regular_file import open_regular

_PIECE: Final = 1 << 16
_FIRST_TAG: Final = re.compile(rb"<(?:[\w.-]+:)?([A-Za-z][\w.-]*)")
_DEEPEST: Final = 100
_MOST: Final = 1_000_000  # parts of one element


def elements(stream: BinaryIO, wanted: Collection[str], what: str) -> Iterator[ElementTree.Element]:
    """The elements of these names, without namespaces, as they end. `what` says in an error what is being read."""
    found = _Found(wanted, what)
    parser = ElementTree.XMLParser(target=found)
    try:
        while piece := stream.read(_PIECE):
            parser.feed(piece)
            while found.done:
                yield found.done.popleft()
        parser.close()
    except ElementTree.ParseError as error:
        raise WrongUse(f"{what} is not whole XML, at line {error.position[0]}; export it again") from error
    yield from found.done


def first_tag(file: Path | IO[bytes]) -> str:
    """The name of the first element, without its namespace; empty where there is none near the beginning."""
    if isinstance(file, Path):
        with open_regular(file) as stream:
            return first_tag(stream)
    found = _FIRST_TAG.search(file.read(_PIECE))
    return "" if found is None else found[1].decode("ascii")


def text(element: ElementTree.Element | None, name: str) -> str:
    """The text of a part, empty where there is none."""
    part = None if element is None else element.find(name)
    return "" if part is None or part.text is None else part.text.strip()


class _Found:
    """Takes what the parser meets and keeps the wanted elements alone."""

    def __init__(self, wanted: Collection[str], what: str) -> None:
        self.done: deque[ElementTree.Element] = deque()
        self._wanted, self._what = frozenset(wanted), what
        self._open: list[ElementTree.Element] = []
        self._depth = self._parts = 0

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise WrongUse(f"{self._what} has a document type, which records of votes have not; it is not read")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition("}")[2]
        self._depth += 1
        if self._depth > _DEEPEST:
            raise WrongUse(f"{self._what} nests more than {_DEEPEST} deep, which records of votes do not")
        if not self._open and name not in self._wanted:
            return
        self._parts += 1
        if self._parts > _MOST:
            raise WrongUse(f"{self._what} has a record with more than {_MOST:,} parts, which no ballot has")
        plain = {key.rpartition("}")[2]: value for key, value in attributes.items()}
        element = ElementTree.Element(name, plain)
        if self._open:
            self._open[-1].append(element)
        self._open.append(element)

    def data(self, data: str) -> None:
        if self._open and not len(self._open[-1]):
            self._open[-1].text = (self._open[-1].text or "") + data

    def end(self, tag: str) -> None:
        self._depth -= 1
        if self._open:
            element = self._open.pop()
            if not self._open:
                self.done.append(element)
                self._parts = 0

    def close(self) -> None:
        return None
