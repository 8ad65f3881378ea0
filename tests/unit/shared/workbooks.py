"""Workbooks as Excel would open them, of one sheet, from the cells that a test names."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

_MAIN, _OFFICE = "http://schemas.openxmlformats.org/", "officeDocument/2006/relationships"
_SPREAD, _PACKAGE = f"{_MAIN}spreadsheetml/2006/main", f"{_MAIN}package/2006/"
_LINK = '<Relationship Id="{}" Type="' + _MAIN + _OFFICE + '/{}" Target="{}"/>'
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml.{}+xml"


def cell(value: str, place: str = "") -> str:
    """A cell with a text."""
    at = f' r="{place}"' if place else ""
    return f'<c{at} t="inlineStr"><is><t>{escape(value)}</t></is></c>'


def workbook(place: Path, rows: str) -> Path:
    """A file with the sheet "People" of these rows, which are XML; style 1 is a date."""
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND.format("sheet.main")}"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_KIND.format("styles")}"/>'
        f'<Override PartName="/xl/sheet.xml" ContentType="{_KIND.format("worksheet")}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}relationships">'
        f"{_LINK.format('a', 'officeDocument', 'xl/workbook.xml')}</Relationships>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}relationships">'
        f"{_LINK.format('a', 'worksheet', 'sheet.xml')}{_LINK.format('b', 'styles', 'styles.xml')}</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{_SPREAD}" xmlns:r="{_MAIN}{_OFFICE}">'
        '<sheets><sheet name="People" sheetId="1" r:id="a"/></sheets></workbook>',
        "xl/styles.xml": f'<styleSheet xmlns="{_SPREAD}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
        "</styleSheet>",
        "xl/sheet.xml": f'<worksheet xmlns="{_SPREAD}"><sheetData>{rows}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{content}')
    return place


def sheet_of(place: Path, rows: Mapping[int, Sequence[str]], far: Mapping[str, str] | None = None) -> Path:
    """A file with texts in these rows of the sheet, counted from 1; `far` are more cells, by their address."""
    told = {
        number: "".join(cell(text, f"{chr(65 + i)}{number}") if text else "" for i, text in enumerate(row))
        for number, row in rows.items()
    }
    for address, text in (far or {}).items():
        number = int("".join(sign for sign in address if sign.isdigit()))
        told[number] = told.get(number, "") + cell(text, address)
    return workbook(place, "".join(f'<row r="{number}">{told[number]}</row>' for number in sorted(told)))
