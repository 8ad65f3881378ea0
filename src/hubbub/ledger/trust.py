"""Whose keys are known: a small file of names and public keys, kept apart from the ledger.

Whoever checks certificates of others gets a publisher's key by another way than the certificate, and gives it a name
here. A name keeps its key: another key under a known name is refused, because that is what a forger would bring.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from pathlib import Path

from hubbub.errors import CheckFailed, HubbubError, Refused, WrongUse
from hubbub.ledger import durable
from hubbub.ledger.key import parse_key, public
from hubbub.ledger.paths import default_path, ways


def trust_path() -> Path:
    """Where the names are kept: the user's folder for settings."""
    settings = os.environ.get("XDG_CONFIG_HOME") or ""
    folder = Path(settings) if os.path.isabs(settings) else Path.home() / ".config"
    return folder / "hubbub" / "trusted-keys.json"


def names() -> dict[str, str]:
    """Every name with its public key."""
    try:
        found = json.loads(trust_path().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found.values()):
        raise CheckFailed(
            f"the file of known keys, {str(trust_path())!r}, is damaged; restore it, or remove it and begin anew"
        )
    return found


def add(name: str, key: str) -> bool:
    """Remember whose a key is; returns whether the name is new. A name that has another key is refused."""
    if not re.fullmatch(r"[^\W_][\w .@-]{0,79}", name):
        raise WrongUse(f"a publisher is named with letters, digits and spaces, at most 80 of them, not {name[:40]!r}")
    known, public = names(), parse_key(key)
    if known.get(name, public) != public:
        raise Refused(
            f"{name!r} is known with another key, {known[name]}; if the publisher really has a new one, ask them by "
            f"another way than the one this key came, then run hubbub trust remove {name!r} first"
        )
    if name in known:
        return False
    _keep(known | {name: public})
    return True


def remove(name: str) -> None:
    """Forget a name."""
    known = names()
    if name not in known:
        raise WrongUse(f"there is no publisher {name[:40]!r}; there {_list_names(known)}")
    _keep({other: key for other, key in known.items() if other != name})


def key_of(text: str) -> str:
    """A public key that somebody gives: in hexadecimal, as a file, or by a known name."""
    known = names()
    return known[text] if text in known else parse_key(text)


def signer(public_key: str) -> str | None:
    """Who signs with a key: a known name, or you yourself; None if nobody vouched for it."""
    name = next((name for name, key in names().items() if key == public_key), None)
    if name is not None:
        return name
    try:
        own = default_path().exists() and (_signs_now(public_key) or _has_signed(public_key))
    except HubbubError:  # a ledger that cannot be read vouches for nobody
        return None
    return "you (the key is that of your own ledger)" if own else None


def _signs_now(public_key: str) -> bool:
    """Whether it is the key beside the user's own ledger."""
    with suppress(CheckFailed):
        return public(ways(default_path())[0]) == public_key
    return False


def _has_signed(public_key: str) -> bool:
    """Whether the user's own ledger names it, among earlier keys too; all of it is read for this."""
    from hubbub.ledger.ledger import Ledger

    return public_key in Ledger().public_keys()


def _keep(known: dict[str, str]) -> None:
    try:
        durable.write(trust_path(), (json.dumps(known, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode())
    except OSError:
        raise WrongUse(f"the file of known keys, {str(trust_path())!r}, cannot be written; check the folder") from None


def _list_names(known: dict[str, str]) -> str:
    return f"are {', '.join(sorted(known))}" if known else "is none"
