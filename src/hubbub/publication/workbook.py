"""A release as an Excel workbook, beside the file of record: its sheets, and what is promised on a sheet of its own.

The file of record is the CSV. The workbook says the same for those who open spreadsheets: every text is an inline
string, so that no label is run as a formula, and a whole number of more than 15 digits, which a spreadsheet would
round, is a text. The format is ECMA-376 (Office Open XML) with as little of it as readers ask for.

::

    sheet 1: the release    sheet 2: promise and notes    then: what else was published, such as margins
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite
from typing import IO, Any, Final
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa

from hubbub.engines.arrow_columns import column_letters
from hubbub.protocol.result import Sheet
from hubbub.serialization.csv_safety import safe

ABOUT: Final = "about"
MOST_ROWS: Final = 2**20 - 1  # below the names of the columns
MOST_COLUMNS: Final = 2**14
LONGEST: Final = 32_767  # signs of a cell
_DIGITS: Final = 10**15
_TIME: Final = (1980, 1, 1, 0, 0, 0)
_NAMED: Final = 31  # signs of a sheet's name
_SIGN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\r]|_(?=x[0-9A-Fa-f]{4}_)")
_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_HEAD: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_STYLES: Final = (
    f'{_HEAD}<styleSheet xmlns="{_MAIN}"><fonts count="2"><font/><font><b/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>'
    '</fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="6"><xf/><xf quotePrefix="1"/><xf fontId="1" applyFont="1"/>'
    '<xf applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf>'
    '<xf fontId="1" applyFont="1" quotePrefix="1"/>'
    '<xf applyAlignment="1" quotePrefix="1"><alignment vertical="top" wrapText="1"/></xf></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)
_BOLD, _WRAPPED = 2, 3  # styles: a heading, a paragraph
_ACTING: Final = {0: 1, _BOLD: 4, _WRAPPED: 5}  # the same for a text that looks like a formula

Rows = Callable[[], Iterator[bytes]]


def fits(sheets: Sequence[Sheet]) -> bool:
    """Whether spreadsheets hold so many rows and columns."""
    return all(sheet.rows <= MOST_ROWS and len(sheet.schema.names) <= MOST_COLUMNS for sheet in sheets)


def write_workbook(sheets: Sequence[Sheet], about: Sequence[tuple[str, str]], out: IO[bytes]) -> None:
    """The sheets, and a second one that says what they are, as a file of Excel's."""
    parts = parts_of(sheets)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, rows in [*parts.items(), (about_part(), lambda: about_rows(about))]:
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with package.open(entry, "w", force_zip64=True) as part:
                for piece in rows():
                    part.write(piece)


def about_part() -> str:
    """The part of the package that says what is promised: words, which nobody works out again."""
    return "xl/worksheets/sheet2.xml"


def parts_of(sheets: Sequence[Sheet]) -> dict[str, Rows]:
    """Every part of the package but the words: its name, and its bytes, piece by piece."""
    names = [sheets[0].name, ABOUT, *(sheet.name for sheet in sheets[1:])]
    numbers = range(1, len(names) + 1)
    listed = "".join(
        f'<sheet name={quoteattr(name[:_NAMED])} sheetId="{i}" r:id="rId{i}"/>'
        for i, name in zip(numbers, names, strict=True)
    )
    sheet_kind, types = f"{_RELATIONS}/worksheet", "application/vnd.openxmlformats-officedocument.spreadsheetml"
    links = "".join(
        f'<Relationship Id="rId{i}" Type="{sheet_kind}" Target="worksheets/sheet{i}.xml"/>' for i in numbers
    )
    links += f'<Relationship Id="rId{len(names) + 1}" Type="{_RELATIONS}/styles" Target="styles.xml"/>'
    overrides = "".join(
        f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{types}.worksheet+xml"/>' for i in numbers
    )
    fixed = {
        "[Content_Types].xml": f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>{overrides}'
        f'<Override PartName="/xl/styles.xml" ContentType="{types}.styles+xml"/></Types>',
        "_rels/.rels": f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>{listed}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>',
        "xl/styles.xml": _STYLES,
    }
    parts: dict[str, Rows] = {name: _constant(text) for name, text in fixed.items()}
    for i, sheet in zip((1, *numbers[2:]), sheets, strict=True):
        parts[f"xl/worksheets/sheet{i}.xml"] = _sheet(sheet)
    return parts


def _constant(text: str) -> Rows:
    return lambda: iter((text.encode(),))


def _sheet(sheet: Sheet) -> Rows:
    return lambda: _sheet_rows(sheet)


def _sheet_rows(sheet: Sheet) -> Iterator[bytes]:
    yield f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>'.encode()
    yield _row(1, [_text(name, _BOLD) for name in sheet.schema.names])
    at = 2
    for batch in sheet.batches():
        columns = [_cells(batch.column(name)) for name in sheet.schema.names]
        for row in zip(*columns, strict=True):
            yield _row(at, row)
            at += 1
    yield b"</sheetData></worksheet>"


def about_rows(about: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    """The sheet of words: a term and a paragraph in each row."""
    yield (
        f'{_HEAD}<worksheet xmlns="{_MAIN}"><cols><col min="1" max="1" width="28" customWidth="1"/>'
        '<col min="2" max="2" width="110" customWidth="1"/></cols><sheetData>'
    ).encode()
    for i, (term, text) in enumerate(about, 1):
        yield _row(i, [_text(term, _BOLD), _text(text[:LONGEST], _WRAPPED)])
    yield b"</sheetData></worksheet>"


def _row(number: int, cells: Sequence[str]) -> bytes:
    filled = "".join(f'<c r="{column_letters(i)}{number}"{cell}' for i, cell in enumerate(cells, 1) if cell)
    return f'<row r="{number}">{filled}</row>'.encode()


def _cells(column: pa.Array) -> list[str]:
    """What stands in each cell, after its address; nothing where there is nothing."""
    return [_cell(value) for value in column.to_pylist()]


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return f' t="b"><v>{int(value)}</v></c>'
        case int() if abs(value) < _DIGITS:
            return f"><v>{value}</v></c>"
        case float() if isfinite(value):
            return f"><v>{value!r}</v></c>"
        case _:
            return _text(str(value))


def _text(text: str, style: int = 0) -> str:
    """A text that stays one: a spreadsheet keeps it so when it is edited, too."""
    look = _ACTING[style] if safe([text]) != [text] else style
    shown = escape(_SIGN.sub(lambda sign: f"_x{ord(sign[0]):04X}_", text[:LONGEST]))
    return f'{f" s={chr(34)}{look}{chr(34)}" if look else ""} t="inlineStr"><is><t xml:space="preserve">{shown}</t></is></c>'


def difference(package: IO[bytes], sheets: Sequence[Sheet]) -> str | None:
    """What in a workbook is not as these sheets have it, in words; None if nothing is.

    Guarantee: if None, every part of it but the words of its second sheet is, to the byte, what is written of these
    sheets, there is no other part, and no sheet has a formula.
    """
    try:
        with zipfile.ZipFile(package) as found:
            parts = parts_of(sheets)
            if sorted(found.namelist()) != sorted([*parts, about_part()]):
                return "it has other parts than a workbook of Hubbub's"
            for name, rows in parts.items():
                with found.open(name) as part:
                    if any(part.read(len(piece)) != piece for piece in rows()) or part.read(1):
                        return "its sheets say something else than the file of the release"
            with found.open(about_part()) as part:
                words = part.read(_MOST_WORDS + 1)
            return (
                "its second sheet is none of Hubbub's" if len(words) > _MOST_WORDS or _FORMULA.search(words) else None
            )
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError, zlib.error):
        return "it cannot be read as a workbook"


_MOST_WORDS: Final = 1 << 22  # bytes
_FORMULA: Final = re.compile(rb"<(?!(\?xml|/?worksheet|/?cols|col|/?sheetData|/?row|/?c|/?is|/?t)[\s>])")
