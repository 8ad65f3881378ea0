"""The data dictionary of a release: ``datapackage.json`` beside its files, as Frictionless has it.

It says what each column is, what its numbers count, what an interval means and what is promised, and it names the
certificate without a digest, which signs it. But for the titles, which a publisher declares, all of it follows from the
release, so that whoever verifies makes it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from hubbub.certificate.explanation import in_numbers, meaning
from hubbub.errors import HubbubError
from hubbub.guarantees.promise_order import requested_first
from hubbub.serialization.arrow import WIDE
from hubbub.serialization.canonical import canonical, read
from hubbub.serialization.csv_safety import safe
from hubbub.serialization.published_files import CERTIFICATE, PACKAGE

if TYPE_CHECKING:
    from hubbub.protocol.bound import Bound
    from hubbub.protocol.result import Sheet
    from hubbub.protocol.spec import Description

_PROFILE: Final = "https://datapackage.org/profiles/2.0/datapackage.json"
_MEDIA: Final = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
_ENDS: Final = ("low", "high")
_ESTIMATE: Final = "estimate"


def package_bytes(
    bound: Bound,
    sheets: Sequence[Sheet],
    digests: Mapping[str, str],
    form: str,
    *,
    title: str = "",
    titles: Mapping[str, str] | None = None,
    explained: bool = True,
) -> bytes:
    """The bytes of the file; `titles` are those of columns, by their names. Without `explained`, as it was written when
    the numbers beside an answer were not explained yet.

    Guarantee: it is a function of what is public and of the digests of files that are published.
    """
    about = bound.description
    about = about if explained else replace(about, each="", columns=())
    first = requested_first(bound.promises)[0]
    package: dict[str, Any] = {
        "$schema": _PROFILE,
        "name": "release",
        "title": title or about.title,
        "description": " ".join(map(_sentence, (about.published, about.intervals))).strip(),
        "resources": [_resource(sheet, about, digests, form, titles or {}) for sheet in sheets],
        "hubbub": {
            "certificate": CERTIFICATE,
            "counts": about.counts,
            "person": about.person,
            "promise": _sentence(meaning(first.conclusion, first.people).promised),
            "promises": [in_numbers(step) for step in requested_first(bound.promises)],
        },
    }
    return canonical(package)


def _resource(
    sheet: Sheet, about: Description, digests: Mapping[str, str], form: str, titles: Mapping[str, str]
) -> dict[str, Any]:
    name = f"{sheet.name}.{form}"
    columns = safe(sheet.schema.names) if form == "csv" else sheet.schema.names
    found: dict[str, Any] = {
        "name": sheet.name.lower(),
        "path": name,
        "format": form,
        "mediatype": _MEDIA[form],
        "hash": f"sha256:{digests.get(name, '')}",
        "schema": {
            "fields": [
                _field(column, field, about, titles) for column, field in zip(columns, sheet.schema, strict=True)
            ],
            "missingValues": [""],
        },
    }
    return found | ({"encoding": "utf-8"} if form == "csv" else {})


def _field(column: str, field: pa.Field, about: Description, titles: Mapping[str, str]) -> dict[str, Any]:
    found = {"name": column, "type": _type(field.type)}
    if field.name in titles:
        found["title"] = titles[field.name]
    rule = dict(about.public).get(field.name)
    if rule is not None:
        return found | {"description": _sentence(rule)}
    if field.name in _ENDS and about.intervals:
        end = "begins" if field.name == _ENDS[0] else "ends"
        return found | {"description": f"Where the interval {end}. {_sentence(about.intervals)}"}
    words = dict(about.columns).get(field.name, about.each if field.name == _ESTIMATE else "")
    if words:
        return found | {"description": _sentence(words)}
    return found | ({} if found["type"] == "string" else {"description": f"Of {about.counts}."})


def _type(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind) or kind == WIDE:
        return "integer"
    return "number" if pa.types.is_floating(kind) or pa.types.is_decimal(kind) else "string"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if not text or text.endswith('.') else '.'}"


def difference(
    data: bytes,
    bound: Bound,
    sheets: Sequence[Sheet],
    digests: Mapping[str, str],
    form: str,
) -> str | None:
    """What is wrong with the file of a release, in words; None if it says what the release says. Titles are as they are."""
    try:
        found: Any = read(data, PACKAGE)
        title = str(found["title"])
        titles = {
            str(name): str(field["title"])
            for sheet, resource in zip(sheets, found["resources"], strict=True)
            for name, field in zip(sheet.schema.names, resource["schema"]["fields"], strict=True)
            if "title" in field
        }
        again = partial(package_bytes, bound, sheets, digests, form, title=title, titles=titles)
        same = data == again() or data == again(explained=False)
    except (HubbubError, KeyError, TypeError, ValueError, AttributeError):
        return "it is not one that we write"
    return None if same else "it says something else than the release"
