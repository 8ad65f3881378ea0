"""The rows of the first sheet of a workbook (.xlsx), as text, read as what they are: XML in a zip archive.

What a sheet shows and does not hold is refused: formulas whose values were never stored, errors, merged cells of ballots.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast
from xml.etree.ElementTree import Element

from hubbub.errors import WrongUse
from hubbub.voting.formats.vendors.safe_xml import elements, text

_SHEET: Final = "xl/worksheets/sheet1.xml"
_BOOK: Final = "xl/workbook.xml"
_PLACES: Final = "xl/_rels/workbook.xml.rels"
_MERGED: Final = re.compile(r"[A-Z]+\d+:[A-Z]+(\d+)", re.IGNORECASE | re.ASCII)
_STRINGS: Final = "xl/sharedStrings.xml"
_MOST_BYTES: Final = 2 << 30  # of a part, unpacked
_MOST_COLUMNS: Final = 4096
_MOST_EMPTY: Final = 10_000  # rows in a row


def sheet_rows(path: Path, heading: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Each row with its number, from 1; rows and cells that are left out are empty. Cells may be merged in the first
    `heading` rows alone.

    Guarantee: every value below the heading is one that the file holds for its own cell, or the workbook is refused, at
    its last row at the latest.
    """
    what = f"the workbook {path.name}"
    try:
        with zipfile.ZipFile(path) as packed:
            strings = _strings(packed, what)
            at = 0
            with _part(packed, _sheets(packed, what)[0][1], what) as stream:
                for row in elements(stream, ("row", "mergeCell"), what):
                    if row.tag == "mergeCell":
                        _check_merged(row.get("ref", ""), heading, what)
                        continue
                    at = int(row.get("r", at + 1))
                    yield at, _cells(row, strings, what)
    except (zipfile.BadZipFile, EOFError, OSError, KeyError, ValueError) as error:
        raise WrongUse(f"{what} cannot be read as .xlsx; is it whole, and is its first sheet the ballots?") from error


def other_sheets(path: Path) -> tuple[str, ...]:
    """Sentences about the sheets behind the first that hold anything; they are not read."""
    what = f"the workbook {path.name}"
    try:
        with zipfile.ZipFile(path) as packed:
            filled = [name for name, part in _sheets(packed, what)[1:] if _rows_in(packed, part, what)]
    except (zipfile.BadZipFile, EOFError, OSError, KeyError, ValueError) as error:
        raise WrongUse(f"{what} cannot be read as .xlsx; is it whole?") from error
    return tuple(f'the sheet "{name}" of {what} was not read: ballots are those of its first sheet' for name in filled)


def _sheets(packed: zipfile.ZipFile, what: str) -> list[tuple[str, str]]:
    """The sheets in the order of the workbook, each with its part of the archive."""
    if not {_BOOK, _PLACES} <= set(packed.namelist()):
        return [("", _SHEET)]
    with _part(packed, _PLACES, what) as stream:
        places = {each.get("Id"): each.get("Target", "") for each in elements(stream, ("Relationship",), what)}
    with _part(packed, _BOOK, what) as stream:
        named = [(each.get("name", ""), places.get(each.get("id"), "")) for each in elements(stream, ("sheet",), what)]
    sheets = [(name, place.lstrip("/") if place.startswith("/") else f"xl/{place}") for name, place in named]
    return [each for each in sheets if "/worksheets/" in each[1]] or [("", _SHEET)]


def _rows_in(packed: zipfile.ZipFile, part: str, what: str) -> bool:
    with _part(packed, part, what) as stream:
        return any(cell.find("v") is not None or cell.find("is") is not None for cell in elements(stream, ("c",), what))


def _check_merged(area: str, heading: int, what: str) -> None:
    found = _MERGED.fullmatch(area)
    if found is None or int(found[1]) > heading:
        raise WrongUse(
            f"{what} has the merged cells {area[:40]}, of which the file holds one value for all; take the merge apart and "
            "write what each cell holds"
        )


def sheet_text(path: Path) -> str:
    """The sheet as CSV, to be read as such; empty rows at its end are left out."""
    out = io.StringIO(newline="")
    writer, at, width = csv.writer(out, lineterminator="\n"), 0, 0
    for number, row in sheet_rows(path):
        if not any(row):
            continue
        if number - at > _MOST_EMPTY:
            raise WrongUse(
                f"row {number:,} of the workbook {path.name} follows {number - at - 1:,} empty ones; take them out"
            )
        width = width or len(row)
        out.write("\n" * (number - at - 1))
        writer.writerow(row + [""] * (width - len(row)))
        at = number
    return out.getvalue()


def _part(packed: zipfile.ZipFile, name: str, what: str) -> BinaryIO:
    if packed.getinfo(name).file_size > _MOST_BYTES:
        raise WrongUse(f"{what} holds a part of more than 2 GB; save the ballots as CSV")
    return cast("BinaryIO", packed.open(name))


def _strings(packed: zipfile.ZipFile, what: str) -> list[str]:
    if _STRINGS not in packed.namelist():
        return []
    with _part(packed, _STRINGS, what) as stream:
        return ["".join(part.text or "" for part in item.iter("t")) for item in elements(stream, ("si",), what)]


def _cells(row: Element, strings: list[str], what: str) -> list[str]:
    out: list[str] = []
    for cell in row.findall("c"):
        column = _column(cell.get("r", "")) if cell.get("r") else len(out)
        if column >= _MOST_COLUMNS:
            raise WrongUse(f"{what} has a cell beyond column {_MOST_COLUMNS:,}, where no ballot has one")
        out += [""] * (column + 1 - len(out))
        out[column] = _value(cell, strings, what)
    return out


def _value(cell: Element, strings: list[str], what: str) -> str:
    kind, where = cell.get("t", "n"), cell.get("r", "")[:20]
    if kind == "e":
        raise WrongUse(f"{what} has an error in the cell {where} where a value should be; correct it")
    if kind != "str" and cell.find("f") is not None and not text(cell, "v"):
        raise WrongUse(
            f"{what} has a formula in the cell {where} whose value was never stored; open and save it with a spreadsheet "
            "program, or save it as CSV"
        )
    if kind == "inlineStr":
        return "".join(part.text or "" for part in cell.iter("t")).strip()
    value = text(cell, "v")
    if kind == "s":
        return strings[int(value)].strip()
    digits, _, rest = value.partition(".")
    return digits if kind == "n" and rest and not rest.strip("0") else value


def _column(address: str) -> int:
    """From A1, B7, AA3 to 0, 1, 26."""
    number = 0
    for sign in address:
        if not sign.isalpha():
            break
        number = number * 26 + ord(sign.upper()) - 64
        if number > _MOST_COLUMNS:
            break
    return number - 1
