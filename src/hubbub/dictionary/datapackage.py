"""A data dictionary in a file: ``datapackage.json`` as Frictionless has it (Data Package and Table Schema, versions 1 and
2), with a section ``hubbub`` for what only a release needs.

::

    {"resources": [{
       "name": "people", "path": "people.csv",
       "schema": {
         "fields": [
           {"name": "resident", "type": "integer"},
           {"name": "sex", "type": "string", "constraints": {"enum": ["F", "M"]}},
           {"name": "salary", "type": "number", "title": "Salary in a year", "bareNumber": false, "groupChar": ",",
            "constraints": {"minimum": 0, "maximum": 300000}, "hubbub": {"bins": "0..300000:10000", "step": 100}}],
         "missingValues": ["", "NA"]},
       "hubbub": {"person": "resident", "collected": "0.1", "ids": "table"}}]}

Nothing in it is guessed, and what has a meaning that we do not have is refused, never passed over.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from hubbub.dictionary.dictionary import NONE, Dictionary, Field
from hubbub.errors import WrongUse
from hubbub.numeric.exact import positive, rational, to_text
from hubbub.runtime.regular_file import open_regular
from hubbub.tables.bins import parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.cell_format import BOOLEAN, COMMA, FALSE, MONEY, TRUE, Missing, dates

FILE: Final = "datapackage.json"
NO_DICTIONARY: Final = "none"
_LARGEST: Final = 1 << 24  # bytes
_OF_TABLE: Final = (
    "person", "rows_are_people", "ids", "join", "on", "disjoint", "unreadable", "unlisted", "clamped", "collected",
    "collected_between", "exempt", "questions",
)  # fmt: skip
_SAID_OF_TABLE: Final = ("join", "on", "disjoint", "unreadable", "unlisted", "clamped")
_OF_COLUMN: Final = ("bins", "step", "public", "questions")
_NUMBERS: Final = ("number", "integer", "year")
_DAYS: Final = ("date", "datetime")
_PLAIN: Final = re.compile(r"[^\W\d]\w*")


def find(source: object, table: str | None = None, dictionary: object = None) -> Dictionary:
    """The dictionary of a table: the one that is named, or else the one beside its file, if that is about the file."""
    if dictionary == NO_DICTIONARY:
        return NONE
    path = _file(source)
    if dictionary is not None:
        if not isinstance(dictionary, str | os.PathLike):
            raise WrongUse("a data dictionary is a file like datapackage.json; name it, or say `dictionary=none`")
        where = Path(dictionary)
        resource = _resource(_package(where), where, path, table, named=True)
        if resource is None:
            raise WrongUse(
                f"{where} does not say which of its tables this is; give one the path of the file, or the name of the "
                "table"
            )
        return read(resource, where)
    if path is None or path.name == FILE or not (path.parent / FILE).is_file():
        return NONE
    where = path.parent / FILE
    resource = _resource(_package(where), where, path, table, named=False)
    return NONE if resource is None else read(resource, where)


def find_second(source: object, dictionary: object = None) -> Dictionary:
    """That of a table which is joined with another, whose dictionary may say something of both."""
    if dictionary is None or dictionary == NO_DICTIONARY:
        return find(source, None, dictionary)
    where = Path(os.fspath(dictionary)) if isinstance(dictionary, str | os.PathLike) else Path()
    resource = _resource(_package(where), where, _file(source), None, named=False)
    return NONE if resource is None else read(resource, where)


def _file(source: object) -> Path | None:
    if not isinstance(source, str | os.PathLike) or "://" in os.fspath(source):
        return None
    return Path(os.fspath(source))


def _package(where: Path, number: Callable[[str], Any] = str) -> dict[str, Any]:
    try:
        with open_regular(where) as opened:
            text = opened.read(_LARGEST + 1)
        found = json.loads(text.decode("utf-8-sig"), parse_float=number, parse_constant=_no_number)
    except FileNotFoundError:
        raise WrongUse(f"there is no data dictionary {where}; check its name, or say `dictionary=none`") from None
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or len(text) > _LARGEST:
        raise WrongUse(f"{where} is no JSON file that can be read; correct it, or say `dictionary=none`")
    listed = found.get("resources")
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise WrongUse(f"{where} lists no tables; add resources, as a Frictionless Data Package has them")
    return found


def _no_number(text: str) -> None:
    raise ValueError(text)


def _resource(
    package: Mapping[str, Any], where: Path, path: Path | None, table: str | None, *, named: bool
) -> Mapping[str, Any] | None:
    """The table in question: by the path of its file and, where a file has several, by its name."""
    listed: list[Mapping[str, Any]] = package["resources"]
    here = [each for each in listed if path is not None and path.resolve() in _paths(each, where)]
    if table is not None and (len(here) > 1 or (named and not here)):
        here = [each for each in here or listed if each.get("name") == table]
    if not here and named and len(listed) == 1:
        return listed[0]
    return here[0] if len(here) == 1 else None


def _paths(resource: Mapping[str, Any], where: Path) -> list[Path]:
    given = resource.get("path")
    listed = given if isinstance(given, list) else [given]
    return [(where.parent / each).resolve() for each in listed if isinstance(each, str) and "://" not in each]


def read(resource: Mapping[str, Any], where: Path) -> Dictionary:
    """What a resource declares, or one sentence that says what in it has no meaning here."""
    schema = _section(resource, "schema", where)
    own = _section(resource, "hubbub", where)
    _check_names(own, _OF_TABLE, f"the hubbub section of a table in {where}")
    listed = schema.get("fields", [])
    if not isinstance(listed, list) or not all(isinstance(each, dict) and _name(each) for each in listed):
        raise WrongUse(f"each field in {where} has a name; add it")
    keys = _names(schema.get("primaryKey", []))
    fields = tuple(_field(each, keys, where) for each in listed)
    names = [each.name for each in fields]
    person, rows = own.get("person"), own.get("rows_are_people", False)
    if not isinstance(rows, bool) or not isinstance(person, str | None) or (person is not None and rows):
        raise WrongUse(
            f"{where} says who a person is by person, the name of a column, or by `rows_are_people=True`; say one of the two"
        )
    for name in (*keys, *([] if person is None else [person])):
        if names and name not in names:
            raise WrongUse(f"{where} speaks of the column {name[:60]!r} and lists no such field; add it")
    if len(set(names)) != len(names):
        raise WrongUse(f"a field in {where} is listed twice; leave it there once")
    spelled = _missing_spellings(schema.get("missingValues", []), where)
    collected = {name: own[name] for name in ("collected", "collected_between", "exempt") if name in own}
    if isinstance(collected.get("collected_between"), list):
        collected["collected_between"] = tuple(map(str, collected["collected_between"]))
    return Dictionary(
        where=str(where),
        fields=fields,
        missing=spelled,
        person=person,
        rows_are_people=rows,
        keys=keys,
        partners=_partners(schema),
        opening=tuple(_opening(resource, own, names, where).items()),
        collected=tuple((name, value if isinstance(value, tuple) else str(value)) for name, value in collected.items()),
    )


def _section(given: Mapping[str, Any], name: str, where: Path) -> Mapping[str, Any]:
    found = given.get(name, {})
    if not isinstance(found, dict):
        raise WrongUse(f"{name} in {where} is a section of its own, in braces; write it so")
    return found


def _check_names(own: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    unknown = next((name for name in own if name not in known), None)
    if unknown is not None:
        raise WrongUse(f"{what} has {', '.join(known)}, and not {unknown[:40]!r}; leave it out")


def _name(field: Mapping[str, Any]) -> bool:
    return isinstance(field.get("name"), str) and bool(field["name"])


def _names(given: Any) -> tuple[str, ...]:
    listed = [given] if isinstance(given, str) else given
    return tuple(each for each in listed if isinstance(each, str)) if isinstance(listed, list) else ()


def _partners(schema: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    found = []
    for each in schema.get("foreignKeys", []):
        about = each.get("reference") if isinstance(each, dict) else None
        columns = _names(each.get("fields")) if isinstance(each, dict) else ()
        if isinstance(about, dict) and len(columns) == 1:
            found.append((columns[0], str(about.get("resource", ""))))
    return tuple(found)


def _opening(resource: Mapping[str, Any], own: Mapping[str, Any], names: list[str], where: Path) -> dict[str, Any]:
    """How the file is written and read, what it is joined with, and whom its ids name."""
    found: dict[str, Any] = {}
    dialect = resource.get("dialect", {})
    if isinstance(dialect, dict) and isinstance(dialect.get("delimiter"), str) and dialect["delimiter"] != ",":
        found["delimiter"] = dialect["delimiter"]
    if isinstance(dialect, dict) and dialect.get("header") is False:
        found["no_header"] = ",".join(names)
    encoding = resource.get("encoding")
    if isinstance(encoding, str) and encoding.lower() not in ("utf-8", "utf8"):
        found["encoding"] = encoding
    ids = own.get("ids")
    if ids is not None and (not isinstance(ids, str) or not ids.strip()):
        raise WrongUse(f"ids in {where} is the name of the register that they are of, or table; write it so")
    if ids is not None:
        found |= {"other_people": True} if ids == "table" else {"ids_of": ids}
    joined = where.parent / str(own.get("join", ""))
    found |= {"join": str(joined)} if "join" in own and joined.is_file() else {}
    return {name: str(own[name]) for name in _SAID_OF_TABLE if name in own} | found


def extend(where: Path, path: Path | None, table: str | None) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """A package that is there or is to be, and its description of this table, if it has one."""
    if not where.exists():
        return {"resources": []}, None
    package = _package(where, _same_number)
    found = _resource(package, where, path, table, named=False)
    listed: list[dict[str, Any]] = package["resources"]
    return package, next((each for each in listed if each is found), None)


def _same_number(text: str) -> float | str:
    """A number that is written as it was read, or its text where it would not be."""
    return float(text) if rational(repr(float(text)), "a number") == rational(text, "a number") else text


def declare(resource: dict[str, Any], words: Mapping[str, Any]) -> None:
    """Write what somebody says of a table into its description, as words of hubbub.open; :func:`read` reads it back."""
    own, schema = resource.setdefault("hubbub", {}), resource.setdefault("schema", {})
    for name, value in words.items():
        match name:
            case "person" | "rows_are_people":
                own.pop("rows_are_people" if name == "person" else "person", None)
                own[name] = value
            case "delimiter":
                resource.setdefault("dialect", {})["delimiter"] = value
            case "no_header":
                resource.setdefault("dialect", {})["header"] = False
            case "encoding":
                resource["encoding"] = value
            case "missing":
                for column, spelled in Missing.parse(value).declared:
                    place = schema if column is None else _listed_field(schema, column)
                    place["missingValues"] = ["", *spelled]
            case "other_people" | "ids_of":
                own["ids"] = "table" if name == "other_people" else value
            case _:
                own[name] = list(value) if isinstance(value, tuple) else value


def _listed_field(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] | None = next((each for each in schema["fields"] if each["name"] == name), None)
    if found is None:
        raise WrongUse(f"there is no column {name[:60]!r}; name one that the table has, or leave it out")
    return found


def _missing_spellings(given: Any, where: Path) -> tuple[str, ...]:
    """How missing cells are spelled; an empty cell is missing anyway."""
    listed = (
        [each.get("value") if isinstance(each, dict) else each for each in given] if isinstance(given, list) else None
    )
    if listed is None or not all(isinstance(each, str) for each in listed):
        raise WrongUse(f"missingValues in {where} is a list of texts; write it so")
    spelled = tuple(dict.fromkeys(text for each in listed if (text := str(each).strip())))
    Missing.parse(Missing(((None, spelled),)).to_json() if spelled else ())
    return spelled


def _field(given: Mapping[str, Any], keys: tuple[str, ...], where: Path) -> Field:
    name, type_ = given["name"], given.get("type", "string" if "format" not in given else "any")
    rules, own = _section(given, "constraints", where), _section(given, "hubbub", where)
    _check_names(own, _OF_COLUMN, f"the hubbub section of a field in {where}")
    title = given.get("title", "")
    reads = _reads(given, str(type_), where)
    bins = _bins(given, rules, own, str(type_), where)
    ranged = _range(name, rules, own, str(type_))
    found = Field(
        name=name,
        title=title.strip() if isinstance(title, str) else "",
        bins=bins,
        range=ranged,
        reads=reads,
        held=_cell_bins(name, rules, given, str(type_)),
        missing=_missing_spellings(given["missingValues"], where) if "missingValues" in given else None,
        required=rules.get("required") is True or name in keys,
        unique=rules.get("unique") is True or keys == (name,),
    )
    _check(found, where)
    return found


def _check(field: Field, where: Path) -> None:
    """What is declared must have a meaning before anybody asks for it."""
    try:
        if field.bins is not None:
            parse(field.bins)
        if field.range is not None:
            measured(field.range)
        if field.held is not None:
            parse(field.held)
    except WrongUse as error:
        raise WrongUse(f"the field {field.name[:60]!r} in {str(where)[-60:]}: {error.marked}") from None


def _reads(given: Mapping[str, Any], type_: str, where: Path) -> str:
    """How the cells of a column of text are written."""
    name, format_ = given["name"], given.get("format", "default")
    if type_ in _NUMBERS:
        decimal, group = given.get("decimalChar", "."), given.get("groupChar", "")
        bare = given.get("bareNumber", True) is not False
        fits = decimal in (".", ",") and group in ("", {".": ",", ",": "."}[decimal], " ", "'", "\u00a0")
        if not fits:
            raise WrongUse(
                f"numbers of {name[:60]} are written with . or , and the other of the two between thousands; correct "
                f"decimalChar and groupChar in {where}"
            )
        return ",".join(each for each, so in ((MONEY, group or not bare), (COMMA, decimal == ",")) if so)
    if type_ in _DAYS and format_ not in ("default", "any", ""):
        return dates(str(format_).removeprefix("fmt:"), name)
    return ""


def _bins(
    given: Mapping[str, Any], rules: Mapping[str, Any], own: Mapping[str, Any], type_: str, where: Path
) -> str | None:
    """The bins that are declared: in the hubbub section, or as all values that a cell may have."""
    name, bins = given["name"], own.get("bins")
    if isinstance(bins, str):
        return f"{_column(name)}:{bins}"
    if bins is not None and not isinstance(bins, list):
        raise WrongUse(
            f"the bins of {name[:60]} in {where} are a text like 0..90:10, or a list of values; write them so"
        )
    listed = bins if bins is not None else _values(given, rules)
    if listed is not None:
        missing = None in listed or (bins is None and rules.get("required") is not True)
        values = [_text(each) for each in listed if each is not None]
        if not values:
            raise WrongUse(f"the list of values of {name[:60]} in {where} is empty; fill it, or leave it out")
        return f"{_column(name)}={','.join([*values, *(['null'] if missing else [])])}"
    if type_ != "boolean":
        return None
    null = "" if rules.get("required") is True else ",null"
    own_words = [*given.get("falseValues", []), *given.get("trueValues", [])]
    if {str(each).lower() for each in own_words} <= {*TRUE, *FALSE}:
        return f"{_column(name)}:{BOOLEAN}{null}"
    return f"{_column(name)}={','.join(map(_text, own_words))}{null}"


def _values(given: Mapping[str, Any], rules: Mapping[str, Any]) -> list[Any] | None:
    """All values that a cell may have, if they are listed."""
    listed = rules.get("enum", given.get("categories"))
    if not isinstance(listed, list):
        return None
    return [each.get("value") if isinstance(each, dict) else each for each in listed]


def _range(name: str, rules: Mapping[str, Any], own: Mapping[str, Any], type_: str) -> str | None:
    """The range in steps: from the smallest to the largest value, in steps that are said, or of 1 for whole numbers."""
    step = own.get("step", 1 if type_ in ("integer", "year") else None)
    low, high = rules.get("minimum"), rules.get("maximum")
    if step is None or low is None or high is None or type_ not in _NUMBERS:
        return None
    first, last = rational(low, f"the minimum of {name}"), rational(high, f"the maximum of {name}")
    width = positive(step, f"the step of {name}")
    return f"{_column(name)}:{to_text(first)}..{to_text(last)}:{to_text(width)}"


def _cell_bins(name: str, rules: Mapping[str, Any], given: Mapping[str, Any], type_: str) -> str | None:
    """What every cell must be in, as bins."""
    listed = _values(given, rules)
    if listed:
        return f"{_column(name)}={','.join(_text(each) for each in listed if each is not None)}"
    if type_ == "boolean":
        return (_bins(given, rules, {}, type_, Path()) or "").removesuffix(",null")
    if type_ in _NUMBERS:
        low, high = rules.get("minimum"), rules.get("maximum")
        first = "-inf" if low is None else to_text(rational(low, f"the minimum of {name}"))
        last = "inf"
        if high is not None:  # edges are half-open, and a maximum is inside
            top = rational(high, f"the maximum of {name}")
            last = to_text(top + (1 if type_ != "number" else rational("1e-9", "width")))
        return f"{_column(name)}:[{first},{last})"
    return f"{_column(name)}:day:0001-01-01..9999-12-31" if type_ in _DAYS else None


def _column(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _text(value: Any) -> str:
    """A value, as a list of bins has it; in quotes unless it is a plain word."""
    text = {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)
    plain = (
        re.fullmatch(r"[\w.+-][\w .+-]*[\w.+-]|[\w.+-]", text) and text not in ("null", "other") and ".." not in text
    )
    return text if plain else '"' + text.replace('"', '""') + '"'
