"""The process that reads a sheet: ``python -m hubbub.engines.files.excel_reader``, started by :mod:`.excel_file`.

One JSON object comes in: which file, which sheet, how much memory and time. Out goes the table as a stream of Arrow's,
or a JSON object with a sentence. The library keeps a sheet as a full rectangle, so that one cell at XFD1048576 needs
half a terabyte; if it gives up, this is started once more and hands it a copy in which the rows that have something in
them follow each other and what is to the right of the named columns is left out. What is read is the same either way.
"""

from __future__ import annotations

import datetime
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, Final
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa
import python_calamine as calamine

from hubbub.engines.arrow_columns import column_letters, distinct
from hubbub.engines.files.excel_file import REPORTED, TOO_MUCH, WRONG
from hubbub.errors import WrongUse

_BATCH: Final = 1 << 16  # rows
_PIECE: Final = 1 << 16  # bytes


def main() -> int:
    """What the process runs."""
    request = json.loads(sys.stdin.buffer.read())
    limit(request["memory"], request["seconds"])
    try:
        rows = _rows(close(request["path"]) if request["close"] else request["path"], request["name"])
        _write(table(rows), sys.stdout.buffer)
    except WrongUse as wrong:
        sys.stdout.buffer.write(json.dumps({"error": wrong.marked}).encode())
        return REPORTED
    except MemoryError:
        return TOO_MUCH
    except Exception:  # of the library: its message may quote a cell
        return WRONG
    except BaseException:  # a panic in there
        return TOO_MUCH
    return 0


def limit(memory: int, seconds: float) -> None:
    """Take no more than that, and leave no image of the memory behind, where the system can see to it."""
    with suppress(ImportError):
        import resource

        most = {resource.RLIMIT_AS: memory, resource.RLIMIT_CPU: int(seconds) + 1, resource.RLIMIT_CORE: 0}
        for what, value in most.items():
            with suppress(ValueError, OSError):  # it is lower already, or not known here
                resource.setrlimit(what, (value, value))


def _rows(file: str | io.BytesIO, name: str | None) -> list[list[Any]]:
    """The sheet from its first cell on."""
    with calamine.CalamineWorkbook.from_object(file) as book:
        names = list(book.sheet_names)
        chosen = names[0] if name is None and len(names) == 1 else name
        if chosen in names:
            rows: list[list[Any]] = book.get_sheet_by_name(chosen).to_python(skip_empty_area=False)
            return rows
    raise WrongUse(
        "the Excel file has several sheets; name one with `table=NAME`"
        if name is None
        else f"the Excel file has no sheet {name!r}; check its name, with `table=NAME`"
    )


def table(rows: Sequence[Sequence[Any]]) -> tuple[list[str], Iterator[list[list[str | None]]]]:
    """The names of the columns, and the rows that are not blank, so many at a time."""
    header = [(text(cell) or "").strip() for cell in rows[0]] if rows else []
    while header and not header[-1]:
        header.pop()
    if not header:
        raise WrongUse("the first line of a sheet names its columns; add such a line at its top")
    columns = list(distinct([name or f"column{i}" for i, name in enumerate(header)]))
    return columns, _people(rows, len(columns))


def _people(rows: Sequence[Sequence[Any]], width: int) -> Iterator[list[list[str | None]]]:
    for start in range(1, len(rows), _BATCH):
        read = ([text(cell) for cell in row[:width]] for row in rows[start : start + _BATCH])
        yield [row for row in read if any(cell is not None for cell in row)]


def text(cell: Any) -> str | None:
    """A cell as text; None if it is blank."""
    match cell:
        case "" | None:
            return None
        case bool():
            return "true" if cell else "false"
        case float() if cell.is_integer() and abs(cell) < 2**53:
            return str(int(cell))
        case datetime.datetime() if cell.time() == datetime.time():
            return cell.date().isoformat()
        case datetime.datetime() | datetime.date():
            return cell.isoformat(sep=" ") if isinstance(cell, datetime.datetime) else cell.isoformat()
        case _:
            return str(cell)


def _write(sheet: tuple[list[str], Iterator[list[list[str | None]]]], out: IO[bytes]) -> None:
    columns, parts = sheet
    schema = pa.schema([(name, pa.string()) for name in columns])
    with pa.ipc.new_stream(out, schema) as stream:
        for rows in parts:
            cells = [pa.array([row[i] for row in rows], pa.string()) for i in range(len(columns))]
            stream.write_batch(pa.record_batch(cells, schema=schema))


# --- a copy whose rows are close to each other ----------------------------------------------------------------------


def close(path: str) -> io.BytesIO:
    """The workbook, its sheets moved together."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for each in old.infolist():
            with old.open(each) as source, new.open(each.filename, "w") as target:
                if not (each.filename.endswith(".xml") and _is_sheet(old, each)):
                    while piece := source.read(_PIECE):
                        target.write(piece)
                else:
                    _Close(target).copy(source)
    out.seek(0)
    return out


def _is_sheet(book: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    with book.open(part) as source:
        return re.search(rb"<(?:[\w.-]+:)?worksheet[\s>]", source.read(_PIECE)) is not None


class _Close:
    """Copies the rows of a sheet that have a value in a named column, numbered one after the other."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._open: list[str] = []  # elements around the one that is read
        self._row = self._column = 0  # where we are in the old sheet
        self._next = 2  # row of the new one, after that of the names
        self._width = 0  # named columns
        self._cells: list[tuple[int, str]] = []  # of the row that is read
        self._cell: list[str] | None = None
        self._attributes: dict[str, str] = {}
        self._has_value = False

    def copy(self, source: IO[bytes]) -> None:
        """From one file to the other."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._begin, self._end
        parser.CharacterDataHandler = self._text
        parser.ParseFile(source)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._open.append(name)
        local = name.rpartition(":")[2]
        if self._cell is not None:
            self._cell.append(_tag(name, attributes))
        elif local in ("worksheet", "sheetData"):
            self._out.write(_tag(name, attributes).encode())
        elif local == "row":
            self._row = int(attributes.get("r", self._row + 1))
            self._column, self._cells, self._attributes = 0, [], {}
        elif local == "c":
            found = re.match(r"[A-Z]+", attributes.get("r", ""))
            self._column = _number(found[0]) if found else self._column + 1
            self._cell, self._has_value, self._attributes = [], False, attributes

    def _text(self, text: str) -> None:
        if self._cell is not None:
            self._cell.append(escape(text))
            self._has_value |= self._open[-1].rpartition(":")[2] in ("v", "t")

    def _end(self, name: str) -> None:
        self._open.pop()
        local = name.rpartition(":")[2]
        if self._cell is not None and local != "c":
            self._cell.append(f"</{name}>")
        elif self._cell is not None:
            if self._has_value and (self._row == 1 or self._column <= self._width):
                self._cells.append((self._column, self._cell_text(name)))
            self._cell = None
        elif local == "row":
            self._row_ends(name)
        elif local in ("worksheet", "sheetData"):
            self._out.write(f"</{name}>".encode())

    def _cell_text(self, name: str) -> str:
        """The cell but for its address: its row is not known yet."""
        kept = {key: value for key, value in self._attributes.items() if key != "r"}
        return f"{_tag(name, kept)}{''.join(self._cell or ())}</{name}>"

    def _row_ends(self, name: str) -> None:
        if self._row == 1:
            self._width = max((column for column, _ in self._cells), default=0)
        if not self._cells:
            return
        number = 1 if self._row == 1 else self._next
        self._next += self._row != 1
        cells = "".join(_at_address(cell, f"{column_letters(column)}{number}") for column, cell in self._cells)
        self._out.write(f'<{name} r="{number}">{cells}</{name}>'.encode())


def _at_address(cell: str, address: str) -> str:
    """A cell with its address, written after the name of its tag."""
    return re.sub(r"^<[^\s>]+", lambda tag: f'{tag[0]} r="{address}"', cell)


def _tag(name: str, attributes: Mapping[str, str]) -> str:
    return f"<{name}{''.join(f' {key}={quoteattr(value)}' for key, value in attributes.items())}>"


def _number(letters: str) -> int:
    """The column that is called so: A is 1."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


if __name__ == "__main__":
    sys.exit(main())
