"""The format of certificates, as a JSON Schema and as a page that describes every field.

``python -m website.certificate_format`` writes docs/reference/certificate.schema.json and docs/reference/certificate.md.
Values that are frozen dataclasses are described by their own types; the sentences, and the fields of those kinds that
write their JSON by hand, stand in website/certificate_fields.toml. A type there is text, number (exact, as text), int,
bool, any, a list ``[type]``, a type or null ``type?``, one of several ``a | b``, or a name that the schema defines.
"""

from __future__ import annotations

import datetime
import json
import tomllib
import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from hubbub import registry
from hubbub.certificate.certificate import FORMAT
from hubbub.channels.catalogue import CHANNELS, channel_class
from hubbub.guarantees.definitions import Guarantee
from hubbub.kinds.quantile.quantile import Quantile
from hubbub.kinds.questions.spec import Questions
from hubbub.kinds.series.spec import Period
from hubbub.kinds.sum.spec import Sum
from hubbub.kinds.summary.spec import Summary
from hubbub.kinds.sums.count import Count
from hubbub.kinds.sums.fraction import Share
from hubbub.kinds.sums.mean import Mean
from hubbub.kinds.sums.ratio import Ratio
from hubbub.kinds.sums.variance import Deviation, Variance
from hubbub.numeric.exact import Infinite
from hubbub.query_classes.choice import MAKERS
from hubbub.tables.bins import Axis
from hubbub.tables.privacy_unit import Collected, Unit

Schema = dict[str, Any]

ROOT: Final = Path(__file__).resolve().parent.parent
SCHEMA: Final = ROOT / "docs" / "reference" / "certificate.schema.json"
PAGE: Final = ROOT / "docs" / "reference" / "certificate.md"
FIELDS: Final = ROOT / "website" / "certificate_fields.toml"

WRITTEN_BY_TYPE: Final[Mapping[str, type[Any]]] = {
    "count": Count,
    "fraction": Share,
    "mean": Mean,
    "quantile": Quantile,
    "sum": Sum,
    "ratio": Ratio,
    "summary": Summary,
    "variance": Variance,
    "std": Deviation,
    "questions": Questions,
    "series": Period,
}
"""Kinds whose description is the fields of their spec."""

NUMBER: Final = r"^(inf|-?[0-9]+(\.[0-9]+)?|-?[0-9]+/[0-9]+)$"
HEAD: Final = f"""# The certificate, field by field

A release lies in a folder with `certificate.json`: what is promised, to whom, by which theorems, and the digests of the \
published files, signed. It is JSON in one canonical form (names in order, no white space, no floating-point number), so \
that the same certificate is the same bytes everywhere. Exact numbers are text: `"0.5"`, `"1/18"`, `"inf"`.

[certificate.schema.json](certificate.schema.json) says the same as a JSON Schema (draft 2020-12). The schema says what a \
certificate looks like; whether it holds, `hubbub verify` finds out, without the data. A field that the schema does not \
know is refused by both.

A value with several forms names its form under `is`. A field with a ? is left out where nothing is to be said. This \
page is written by `make format`.

This is format 1, `{FORMAT}`, the one of version 1.0. **From here on what is published in it stays readable for \
ever**: every later version of Hubbub reads and verifies it, also when it writes another. The tests hold a release of every \
kind with its ledger, and read every file of them. See [versions](../versions.md).
"""


@cache
def words() -> Mapping[str, Any]:
    """The sentences, and the fields of kinds that write their JSON by hand."""
    return tomllib.loads(FIELDS.read_text(encoding="utf-8"))


def by_hand(name: str) -> Mapping[str, Any]:
    """The fields of a kind that writes its JSON by hand; those that another kind is made of are parts."""
    found: Mapping[str, Any] = words()["kinds"].get(name) or words()["parts"][name]
    return found


# --- the schema -----------------------------------------------------------------------------------------------------


class Definitions:
    """What the schema defines once: every frozen value that was met."""

    def __init__(self) -> None:
        self.known: dict[str, Schema] = {"number": {"type": "string", "pattern": NUMBER}}
        self.classes: dict[str, type[Any]] = {}

    def of(self, hint: Any) -> Schema:
        """The schema of whatever :func:`hubbub.serialization.exact_json.plain` writes for a type."""
        if get_origin(hint) in (Union, types.UnionType):
            return self._union([each for each in get_args(hint) if each is not Infinite])
        if get_origin(hint) is tuple:
            return {"type": "array", "items": self.of(get_args(hint)[0])}
        if hint is type(None):
            return {"type": "null"}
        for scalar, name in ((bool, "boolean"), (int, "integer"), (str, "string")):
            if hint is scalar:
                return {"type": name}
        if hint is Fraction:
            return {"$ref": "#/$defs/number"}
        if isinstance(hint, type) and issubclass(hint, Enum):
            return {"enum": [each.value for each in hint]}
        if hint is datetime.date or hasattr(hint, "from_text"):
            return {"type": "string"}
        if is_dataclass(hint) and isinstance(hint, type):
            return self._reference(hint)
        raise TypeError(f"{hint!r} has no schema")

    def _union(self, hints: list[Any]) -> Schema:
        found = [self.of(each) for each in hints]
        distinct = [each for i, each in enumerate(found) if each not in found[:i]]
        return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}

    def _reference(self, kind: type[Any]) -> Schema:
        name = kind.__name__
        if self.classes.setdefault(name, kind) is not kind:
            raise TypeError(f"two types are called {name}")
        if name not in self.known:
            self.known[name] = {}  # a type may hold itself
            self.known[name] = self.object(kind, {"is": {"const": name}})
        return {"$ref": f"#/$defs/{name}"}

    def object(self, kind: type[Any], more: Mapping[str, Schema] | None = None) -> Schema:
        """The fields of a dataclass, with `more` before them."""
        hints = get_type_hints(kind)
        properties = {**(more or {}), **{each.name: self.of(hints[each.name]) for each in fields(kind)}}
        optional = {each.name for each in fields(kind) if each.metadata.get("unsaid")}
        return closed(properties, optional)


def closed(properties: Mapping[str, Schema], optional: set[str] | frozenset[str] = frozenset()) -> Schema:
    """An object with these fields and no other."""
    required = sorted(set(properties) - optional)
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


def typed(text: str) -> Schema:
    """What a type of the table stands for."""
    if " | " in text:
        return {"anyOf": [typed(each) for each in text.split(" | ")]}
    if text.endswith("?"):
        return {"anyOf": [typed(text[:-1]), {"type": "null"}]}
    if text.startswith("["):
        return {"type": "array", "items": typed(text[1:-1])}
    simple = {"text": {"type": "string"}, "int": {"type": "integer"}, "bool": {"type": "boolean"}, "any": {}}
    return simple.get(text, {"$ref": f"#/$defs/{text}"})


def table(rows: Mapping[str, Mapping[str, Any]]) -> Schema:
    """An object whose fields stand in a table of website/certificate_fields.toml."""
    optional = {name for name, row in rows.items() if row.get("optional")}
    return closed({name: typed(row["type"]) for name, row in rows.items()}, optional)


def channels() -> Schema:
    """A channel by its name, and its parameters: exact text, a yes or no, or lists of them."""
    named = {
        name: [each.name for each in fields(channel_class(name)) if each.name != "made"] for name in sorted(CHANNELS)
    }
    return {
        "anyOf": [closed({"name": {"const": name}, **{each: {} for each in given}}) for name, given in named.items()]
    }


@cache
def schema() -> Schema:
    """The whole schema."""
    known = Definitions()
    known.of(Axis), known.of(Unit), known.of(Collected)
    promise, axis = known.of(Guarantee), known.of(Axis)
    kinds = {}
    for name in (*registry.names(), "series"):
        made = WRITTEN_BY_TYPE.get(name)
        kinds[name] = table(by_hand(name)) if made is None else known.object(made)
    parts = {f"{name}": table(rows) for name, rows in words()["parts"].items()}
    step = table(words()["guarantee"])
    known.known |= {"axis": axis, "channel": channels(), "promise": promise, "guarantee": step, **parts}
    known.known |= {f"release.{name}": found for name, found in kinds.items()}
    known.known["method"]["properties"]["name"] = {"enum": sorted(MAKERS)}
    known.known["assumption"]["additionalProperties"] = {"type": ["string", "integer", "boolean", "null"]}
    top = table(words()["certificate"])
    top["properties"] |= {"format": {"const": FORMAT}, "files": {"type": "object", "additionalProperties": _DIGEST}}
    top["properties"]["kind"] = {"enum": sorted(wires())}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": FORMAT,
        **top,
        "allOf": [_release_of(wire, name) for wire, name in sorted(wires().items())],
        "$defs": dict(sorted(known.known.items())),
    }


_DIGEST: Final[Schema] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def wires() -> dict[str, str]:
    """The name in certificates of every kind that has some."""
    found = {registry.kind(name).wire: name for name in registry.names()}
    return found | {registry._held(registry._MADE_OF_OTHERS["series"]).wire: "series"}


def _release_of(wire: str, name: str) -> Schema:
    return {
        "if": {"properties": {"kind": {"const": wire}}},
        "then": {"properties": {"release": {"$ref": f"#/$defs/release.{name}"}}},
    }


# --- the page -------------------------------------------------------------------------------------------------------


def page() -> str:
    known = Definitions()
    for made in (*WRITTEN_BY_TYPE.values(), Guarantee, Axis, Unit, Collected):
        known.object(made) if isinstance(made, type) and made in WRITTEN_BY_TYPE.values() else known.of(made)
    sections = [
        HEAD,
        "## The certificate\n",
        _rows(words()["certificate"]),
        *_parts(("signature", "ledger", "reading")),
    ]
    sections += ["## A promise\n", _rows(words()["guarantee"]), *_parts(("assumption",))]
    sections += ["## What was released, by kind\n"]
    for name in (*registry.names(), "series"):
        made = WRITTEN_BY_TYPE.get(name)
        rows = by_hand(name) if made is None else dict(_typed_rows(made))
        sections += [f"### {name}\n", _rows(rows)]
    rest = [name for name in words()["parts"] if name not in ("signature", "ledger", "reading", "assumption")]
    sections += ["## Parts of a description\n", *_parts(rest), "## Values\n"]
    for name, kind in sorted(known.classes.items()):
        about = (kind.__doc__ or "").partition("\n")[0]
        sections += [f"### {name}\n", f"{about}\n", _rows(dict(_typed_rows(kind)))]
    return "\n".join(sections)


def _parts(names: Any) -> list[str]:
    return [line for name in names for line in (f"### {name}\n", _rows(words()["parts"][name]))]


def _typed_rows(kind: type[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    hints, texts = get_type_hints(kind), words()["texts"]
    for each in fields(kind):
        said = texts.get(f"{kind.__name__}.{each.name}") or texts.get(each.name)
        if said is None:
            raise KeyError(f"website/certificate_fields.toml has no text for {kind.__name__}.{each.name}")
        yield (
            each.name,
            {
                "type": _name_of(hints[each.name]),
                "says": said,
                "optional": bool(each.metadata.get("unsaid")),
            },
        )


def _name_of(hint: Any) -> str:
    if get_origin(hint) in (Union, types.UnionType):
        names = dict.fromkeys(_name_of(each) for each in get_args(hint) if each is not Infinite)
        return " | ".join(names)
    if get_origin(hint) is tuple:
        return f"[{_name_of(get_args(hint)[0])}]"
    known = {bool: "bool", int: "int", str: "text", Fraction: "number", type(None): "null", datetime.date: "date"}
    if hint in known:
        return known[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return ", ".join(f'"{each.value}"' for each in hint)
    return "text" if hasattr(hint, "from_text") else str(hint.__name__)


def _rows(rows: Mapping[str, Mapping[str, Any]]) -> str:
    lines = ["| field | type | what it says |", "|---|---|---|"]
    for name, row in rows.items():
        mark = "?" if row.get("optional") else ""
        cells = (f"`{name}`{mark}", str(row["type"]).replace("|", "\\|"), row["says"])
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    SCHEMA.write_text(json.dumps(schema(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
