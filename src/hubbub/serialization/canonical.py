"""One value, one text: JSON in the only form that is accepted back.

Keys sorted, one space of indent, ASCII, a newline at the end, no floats. What is signed or chained is these bytes, so
a file that says the same in another way (fields reordered or given twice, other spaces, 1.0 for 1) is another file.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final, NoReturn, TypeAlias

from hubbub.errors import CheckFailed

Plain: TypeAlias = "bool | int | str | list[Plain] | dict[str, Plain] | None"
"""What JSON can hold without a float."""

_quoted: Final = json.encoder.encode_basestring_ascii
_WORDS: Final = {None: "null", True: "true", False: "false"}
LARGEST: Final = 1 << 26  # bytes; a list of a million labels fits


def canonical(value: Any) -> bytes:
    """The bytes of a value made of None, bools, ints, texts, lists and dicts."""
    return (_text(value, "\n") + "\n").encode("ascii")


def _text(value: Any, line: str) -> str:
    """A value as text; `line` begins a new line at its own depth.

    The text is that of ``json.dumps(value, indent=1, sort_keys=True)``, in a fraction of its time: with an indent
    Python's own writer is a generator in Python, and certificates and ledgers are mostly written and read back.
    """
    if isinstance(value, str):
        return _quoted(value)
    if value is None or value is True or value is False:
        return _WORDS[value]
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, dict):
        inner = line + " "
        return _listed([f"{_quoted(key)}: {_text(each, inner)}" for key, each in sorted(value.items())], "{}", line)
    if isinstance(value, list | tuple):
        inner = line + " "
        texts = set(map(type, value)) == {str}  # a long list of labels, as a rule
        return _listed([*map(_quoted, value)] if texts else [_text(each, inner) for each in value], "[]", line)
    raise TypeError(f"{type(value).__name__} has no exact JSON")


def _listed(parts: list[str], brackets: str, line: str) -> str:
    return f"{brackets[0]}{line} {f',{line} '.join(parts)}{line}{brackets[1]}" if parts else brackets


def digest(value: Any) -> str:
    """SHA-256 of a value's canonical bytes, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()


def read(data: bytes, what: str) -> Any:
    """The value that these canonical bytes stand for; anything but the canonical form is refused."""
    if len(data) > LARGEST:
        raise CheckFailed(f"{what} is larger than {LARGEST >> 20} MiB; what Hubbub writes is not")
    try:
        value = json.loads(
            data.decode("ascii"), object_pairs_hook=_once, parse_float=_no_float, parse_constant=_no_float
        )
        same = canonical(value) == data
    except _Twice:
        raise CheckFailed(f"{what} has a field twice, so it does not say one thing; ask for the original") from None
    except (ValueError, RecursionError):  # also: not ASCII, a float, an int of too many digits, brackets without end
        raise CheckFailed(
            f"{what} is not JSON as Hubbub writes it; give certificate.json itself, or ask for the original"
        ) from None
    if not same:
        raise CheckFailed(f"{what} is not in canonical form (fields moved, spaces or signs changed); get the original")
    return value


class _Twice(ValueError):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _Twice
    return fields


def _no_float(text: str) -> NoReturn:
    raise ValueError(text)
