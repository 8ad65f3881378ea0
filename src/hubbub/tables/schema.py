"""What the columns of a table hold, and which bins can be made of them. The schema is public."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from enum import Enum
from typing import Final, TypeVar

from hubbub.errors import WrongUse
from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Axis, Countable, Dates, Discovered, Edges, Lattice, Steps, Values
from hubbub.tables.cell_format import BOOLEAN
from hubbub.tables.generalization import Prefix, Ranges

_MOST_COMPARISONS = 4096
_NEAR: Final = 0.75  # so alike are a name and the one that was meant
_PEOPLE: Final = {
    "client", "customer", "donor", "employee", "guest", "inhabitant", "insured", "member", "participant", "patient",
    "person", "policyholder", "proband", "pupil", "resident", "respondent", "student", "taxpayer", "tenant", "user",
    "voter", "worker", "citizen", "applicant", "beneficiary", "kunde", "kunden", "mitarbeiter", "mitglied", "patienten",
    "personen", "probanden", "teilnehmer", "versicherten",
}  # fmt: skip
"""Of columns that may say who a row is about: these by themselves, the next with a number, a name or the like."""
_WITH_A_NUMBER: Final = {
    "individual", "people", "subject", "membership", "matriculation", "panel", "panelist", "staff", "personal", "personnel", "cust", "emp", "pat", "pers", "subj", "usubj", "bene", "resp",
    "athlete", "borrower", "child", "driver", "learner", "passenger", "player", "rider", "subscriber", "teacher",
    "traveller", "visitor",
}  # fmt: skip
_PAPERS: Final = {
    "account", "acct", "ausweis", "card", "chi", "cookie", "device", "health", "hospital", "insurance", "license", "licence", "matrikel", "medical",
    "medicaid", "medicare", "mobile", "national", "nhs", "ni", "passport", "payroll", "phone", "record", "security",
    "social", "sozialversicherungs", "steuer", "study", "tax", "telephone",
}  # fmt: skip
"""What has a number that is one person's; its name or code is not."""
_ALONE: Final = {
    "aadhaar", "bsn", "enrolid", "msisdn", "cpf", "cpr", "curp", "email", "iban", "imei", "ip", "mrn", "nino", "pesel", "personnummer",
    "personalnummer", "pid", "pseudonym", "ptid", "ssn", "userid", "username",
    "cnp", "codicefiscale", "dni", "egn", "fiscale", "fodselsnummer", "hicn", "hkid", "jmbg", "mbi", "nif", "nric", "seqn",
    "tckn", "upn",
}  # fmt: skip
_IDS: Final = {"id", "ids", "ident", "identification", "identifier", "idnum", "uid", "uuid", "guid"}
_COUNTERS: Final = {"no", "nr", "nbr", "number", "nummer"}
_NUMBER: Final = _IDS | _COUNTERS
_NUMBERS: Final = _NUMBER | {
    "codice",
    "num", "code", "key", "hash", "hashed", "ref", "reference", "name", "full", "address", "token", "unique", "anonymous",
    "anonymized", "anonymised", "pseudonymous", "encrypted", "masked", "source", "src", "original", "internal", "external",
}  # fmt: skip
_OF_THINGS: Final = {
    "building", "count", "flat", "floor", "house", "of", "page", "phase", "plot", "postal", "room", "rooms", "row",
    "sequence", "serial", "street", "unit", "version", "week", "year", "zip",
}  # fmt: skip
"""What is numbered and is nobody."""
_MEASURES: Final = {
    "age", "amount", "balance", "bill", "charge", "charges", "cost", "costs", "days", "distance", "dose", "duration",
    "earnings", "expenses", "fare", "fee", "height", "hours", "income", "length", "minutes", "pay", "payment", "pension",
    "points", "premium", "price", "rent", "salaries", "salary", "score", "seconds", "size", "stay", "tax", "time", "wage",
    "wages", "weeks", "weight", "years",
}  # fmt: skip
"""What people have more or less of."""


class ColumnType(Enum):
    """The type of a column, as far as bins depend on it."""

    TEXT = "text"
    INTEGER = "whole numbers"
    DECIMAL = "decimals"
    FLOAT = "floating-point numbers"
    DATE = "dates"
    BOOLEAN = "booleans"
    OTHER = "something that cannot be binned"


@dataclass(frozen=True, slots=True)
class Schema(Mapping[str, ColumnType]):
    """The columns of a table by name. They are shown unless what looks like names may be somebody's data."""

    columns: Mapping[str, ColumnType]
    public: bool = True

    def __getitem__(self, name: str) -> ColumnType:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)


def column(schema: Schema, name: str) -> ColumnType:
    """What the column of that name holds, or one sentence if there is none."""
    if name in schema:
        return schema[name]
    alike = [each for each in schema if re.fullmatch(rf"{re.escape(name)}#\d+", each, re.IGNORECASE)]
    if len(alike) > 1:
        raise WrongUse(f"{len(alike)} columns are called {name!r}; say which: {' or '.join(map(repr, alike))}")
    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 1 and all(part in schema for part in parts):
        flags = " ".join(f"`by={part}`" for part in parts)
        raise WrongUse(f"there is no column {name!r}, but {len(parts)} of these names; give each by itself: {flags}")
    near = get_close_matches(name.casefold(), lowered := {each.casefold(): each for each in schema}, 1, _NEAR)
    meant = f"did you mean {lowered[near[0]]!r}? " if near else ""
    if schema.public:
        listed = ", ".join(map(repr, schema))
        raise WrongUse(f"there is no column {name!r}; {meant}{'There' if meant else 'there'} are {listed}")
    raise WrongUse(
        f"there is no column {name!r}; {meant}{'The' if meant else 'the'} first line of the file must name the columns: look "
        "at it, or name them with `no_header` if it is data"
    )


def unnamed_person(schema: object) -> str | None:
    """A column whose name says that it may tell who a row is about; by names and types alone, and only by names that are
    made of a few known words, so that no cell of somebody is taken for one. Before a mere number comes what is a
    person's, and before a name an id.

    >>> [name for name in ("patient_nbr", "UserID", "Email Address", "member since", "id", "town") if _is_of_people(name)]
    ['patient_nbr', 'UserID', 'Email Address', 'id']
    >>> unnamed_person(Schema({"id": ColumnType.INTEGER, "patient": ColumnType.TEXT}))
    'patient'
    """
    columns = schema.items() if isinstance(schema, Schema) else ()
    found = [name for name, type_ in columns if type_ is not ColumnType.BOOLEAN and _is_of_people(name)]
    return min(found, key=lambda name: ({*_words(name)} <= _NUMBER, "name" in _words(name)), default=None)


def is_numbering(name: str) -> bool:
    """Whether the name of a column says that it numbers something, as an id does: nobody adds such numbers up.

    >>> [name for name in ("encounter_id", "bioguideId", "house_number", "number_of_rooms", "paid") if is_numbering(name)]
    ['encounter_id', 'bioguideId']
    """
    words = _words(name)
    number = bool({*words} & _IDS) or words[-1:] in [[each] for each in _COUNTERS]
    return _is_of_people(name) or (number and not {*words} & _OF_THINGS)


def names_a_thing(name: str) -> bool:
    """Whether the name of a column says that its numbers are of a thing or an amount, and so number nobody.

    >>> [name for name in ("house_number", "Age", "monthly_salary", "case", "nummer", "agency") if names_a_thing(name)]
    ['house_number', 'Age', 'monthly_salary']
    """
    return not is_numbering(name) and bool({*_words(name)} & (_OF_THINGS | _MEASURES))


def _words(name: str) -> list[str]:
    """The words of the name of a column, in order; two that are written as one are two."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower().replace("e-mail", "email")
    found, known = list[str](), _PEOPLE | _WITH_A_NUMBER | _PAPERS
    for word in filter(None, re.split(r"[\W\d_]+", spaced)):
        glued = None if word in _ALONE else re.fullmatch(r"(.{2,}?)(s?)(id|nr|no|nbr|num|nummer|number)", word)
        first = () if glued is None else known & {glued[1], glued[1] + glued[2]}
        found += [*first, glued[3]] if glued is not None and first else [word]
    if {*found} & _IDS:  # customers_id; but patients_number is how many there are
        found = [word.removesuffix("s") if word.removesuffix("s") in known else word for word in found]
    return found


def _is_of_people(name: str) -> bool:
    words = {*_words(name)}
    people, papers = words & (_PEOPLE | _WITH_A_NUMBER | _ALONE), words & _PAPERS
    digits = re.findall(r"\d+", re.sub(r"#\d+$", "", name))  # more of them may be somebody's
    if any(len(each) > (1 if people else 0) for each in digits):
        return False
    if not people:  # a number of its own, or one of a paper
        return bool(words & _NUMBER) and words <= _NUMBER | papers | {"num"}
    return words <= people | papers | _NUMBERS and (bool(words & _NUMBERS) or not people <= _WITH_A_NUMBER)


_LISTED: Final = {
    ColumnType.INTEGER: (r"-?(0|[1-9]\d*)", "1,2,3"),
    ColumnType.DECIMAL: (r"-?\d+(\.\d+)?|-?Infinity", "1,2.5"),
    ColumnType.FLOAT: (r"-?\d+(\.\d+)?(e[+-]?\d+)?|-?inf(inity)?|nan", "1.0,2.5"),
    ColumnType.DATE: (r"\d{4,}-\d\d-\d\d.*", "2026-01-31"),
}
"""How a value of such a column reads, and an example."""

A = TypeVar("A", Axis, Countable)


def bind_axes(axes: tuple[A, ...], schema: Schema) -> tuple[A, ...]:
    """The axes with what the schema alone tells, or one sentence if such bins cannot be made of such columns."""
    known = tuple(_bind_axis(axis, column(schema, axis.column)) for axis in axes)
    for axis in known:
        check(axis, schema[axis.column])
    return known


def _bind_axis(axis: A, column_type: ColumnType) -> A:
    """The axis with what the schema tells: a boolean column has its values declared by its type."""
    if (
        isinstance(axis, Discovered)
        and column_type is ColumnType.BOOLEAN
        and axis.unit is None
        and axis.coarser is None
    ):
        return Values(axis.column, ("false", "true"), null=True)
    return axis


def check(axis: Countable, column_type: ColumnType) -> None:
    """Whether such bins can be made of such a column."""
    name = axis.column
    if column_type is ColumnType.OTHER:
        raise WrongUse(f"the column {name} holds {column_type.value}; choose another column")
    _check_reading(axis, column_type)
    if isinstance(axis, Values) and column_type is ColumnType.BOOLEAN and not {*axis.values} <= {"false", "true"}:
        raise WrongUse(f"the column {name} holds booleans, whose values are false and true; use {name}=false,true")
    if isinstance(axis, Values) and column_type in _LISTED and not axis.reads:
        _check_listed(axis, column_type)
    if isinstance(axis, Discovered) and axis.coarser is not None:
        _check_coarser(axis, column_type)
    elif isinstance(axis, Dates) or (isinstance(axis, Discovered) and axis.unit):
        if column_type not in (ColumnType.DATE, ColumnType.TEXT):
            raise WrongUse(f"the column {name} holds {column_type.value} and not dates; use {name}:0..100:10")
    elif isinstance(axis, Lattice):
        if column_type in (ColumnType.DATE, ColumnType.BOOLEAN):
            raise WrongUse(
                f"the column {name} holds {column_type.value} and no coordinates; choose a column of numbers"
            )
    elif isinstance(axis, Edges | Steps):
        if column_type in (ColumnType.DATE, ColumnType.BOOLEAN):
            instead = f"{name}:month" if column_type is ColumnType.DATE else f"{name}=false,true"
            raise WrongUse(f"the column {name} holds {column_type.value} and cannot be cut at numbers; use {instead}")
        _check_edges(axis, column_type)


def _check_listed(axis: Values, column_type: ColumnType) -> None:
    """Refuse listed values that such a column cannot hold, by its type: they would be zeros that are paid for."""
    written, like = _LISTED[column_type]
    wrong = next((value for value in axis.values if not re.fullmatch(written, value)), None)
    if wrong is not None:
        raise WrongUse(
            f"the column {axis.column} holds {column_type.value}, and {wrong[:40]!r} is none that it can hold; list others, like "
            f"{axis.column}={like}"
        )


def _check_coarser(axis: Discovered, column_type: ColumnType) -> None:
    name = axis.column
    if isinstance(axis.coarser, Ranges) and column_type in (ColumnType.DATE, ColumnType.BOOLEAN):
        raise WrongUse(
            f"the column {name} holds {column_type.value} and no numbers; use {name} as it is, or {name}:year"
        )
    if isinstance(axis.coarser, Prefix) and column_type not in (ColumnType.TEXT, ColumnType.INTEGER):
        raise WrongUse(
            f"the column {name} holds {column_type.value}, and first signs are of text; use {name}:10 or {name}"
        )


def _check_reading(axis: Countable, column_type: ColumnType) -> None:
    """Only text has to be told how it is written; booleans may also be the numbers 0 and 1."""
    wanted = (ColumnType.TEXT, ColumnType.BOOLEAN, ColumnType.INTEGER) if axis.reads == BOOLEAN else (ColumnType.TEXT,)
    if axis.reads and column_type not in wanted:
        raise WrongUse(
            f"the column {axis.column} holds {column_type.value}, which are read as they are; drop {axis.reads} from its bins"
        )


def _check_edges(axis: Edges | Steps, column_type: ColumnType) -> None:
    if isinstance(axis, Steps) and column_type is ColumnType.INTEGER and has_integer_steps(axis):
        return
    if len(axis) > _MOST_COMPARISONS:
        raise WrongUse(
            f"{axis.column} has more than {_MOST_COMPARISONS:,} bins that are no whole numbers; declare fewer bins"
        )
    for edge in axis.edges:
        if "/" in to_text(edge):
            raise WrongUse(
                f"an edge of {axis.column} must be a decimal number that ends, not {to_text(edge)[:40]}; "
                "choose another edge"
            )


def has_integer_steps(axis: Steps) -> bool:
    """Whether (value - low) // width can be worked out in whole numbers of 128 bits."""
    ends = abs(axis.low) + axis.steps * axis.width
    return axis.low.denominator == axis.width.denominator == 1 and ends < 2**126
