"""The part of JSON Schema (draft 2020-12) that the schema of certificates uses; any other word of it is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
_KNOWN = {
    *("$schema", "$defs", "title", "$ref", "type", "const", "enum", "pattern", "properties", "required"),
    *("additionalProperties", "items", "anyOf", "allOf", "if", "then"),
}


def faults(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], at: str = "") -> Iterator[str]:
    """Where a value is not what the schema says."""
    if unknown := set(schema) - _KNOWN:
        raise AssertionError(f"the validator of the tests does not know {sorted(unknown)}")
    if "$ref" in schema:
        yield from faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, at)
    if "type" in schema and not _is_of(value, schema["type"]):
        yield f"{at}: not of the type {schema['type']}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{at}: not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: none of {schema['enum']}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{at}: not like {schema['pattern']}"
    if "anyOf" in schema:
        tried = [list(faults(value, each, root, at)) for each in schema["anyOf"]]
        if all(tried):
            yield min(tried, key=len)[0]
    for each in schema.get("allOf", ()):
        yield from faults(value, each, root, at)
    if "if" in schema and not list(faults(value, schema["if"], root, at)):
        yield from faults(value, schema["then"], root, at)
    if isinstance(value, dict):
        yield from _fields(value, schema, root, at)
    if isinstance(value, list) and "items" in schema:
        for i, each in enumerate(value):
            yield from faults(each, schema["items"], root, f"{at}[{i}]")


def _fields(value: Mapping[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], at: str) -> Iterator[str]:
    known, more = schema.get("properties", {}), schema.get("additionalProperties", True)
    yield from (f"{at}: no {name}" for name in schema.get("required", ()) if name not in value)
    for name, each in value.items():
        if name in known:
            yield from faults(each, known[name], root, f"{at}.{name}")
        elif more is False:
            yield f"{at}: unknown {name}"
        elif isinstance(more, dict):
            yield from faults(each, more, root, f"{at}.{name}")


def _is_of(value: Any, types: str | list[str]) -> bool:
    names = [types] if isinstance(types, str) else types
    return any(
        isinstance(value, _TYPES[name]) and (name == "boolean" or (value is not True and value is not False))
        for name in names
    )
