"""Where the user's ledger and what is remembered about ledgers are kept."""

from __future__ import annotations

import os
from pathlib import Path

from hubbub.errors import WrongUse


def base(variable: str, *default: str) -> Path:
    """The folder that a variable of the environment names, or the usual one below the user's own."""
    named = os.environ.get(variable)
    if named:
        return absolute(variable, named)
    try:
        return Path.home().joinpath(*default)
    except RuntimeError:
        raise WrongUse(f"your own folder cannot be found; set HOME, or {variable} to a folder") from None


def default_path() -> Path:
    """Where the ledger is unless somebody says otherwise: HUBBUB_LEDGER, or the user's folder for data."""
    named = os.environ.get("HUBBUB_LEDGER")
    if named:
        return absolute("HUBBUB_LEDGER", named)
    return base("XDG_DATA_HOME", ".local", "share") / "hubbub" / "ledger.db"


def login_home() -> Path | None:
    """The folder of whoever runs this, whatever HOME says; None where nobody knows."""
    try:
        import pwd

        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError):
        return None


def absolute(variable: str, named: str) -> Path:
    """What it says, if it says one place: a relative path would be a fresh ledger in every folder."""
    if not os.path.isabs(named):
        raise WrongUse(
            f"{variable} must be a path from the root, and {named[:200]!r} is another place in every folder; set it to "
            "one that begins with /"
        )
    return Path(named)


def ways(path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """The place that a path leads to, and the path itself if a link is on the way."""
    named = Path.cwd() / path
    try:
        resolved_path = named.resolve()
    except (OSError, RuntimeError):
        raise WrongUse(f"{str(named)!r} leads nowhere: its links go in a circle; name the ledger itself") from None
    return (resolved_path,) if resolved_path == named else (resolved_path, named)


def files_of(ledger: Path) -> tuple[Path, ...]:
    """A ledger's file, and those that SQLite, its keys and its series have beside it."""
    named = (ledger.with_name(f"{ledger.name}{end}") for end in ("", "-wal", "-shm", "-journal", ".key", ".key.old"))
    return (*named, *series_files(ledger))


def series_files(ledger: Path, which: str = "") -> tuple[Path, ...]:
    """What series keep in secret beside a ledger: one file for each, named after the beginning of its nonce."""
    name = "".join(f"[{sign}]" if sign in "*?[" else sign for sign in ledger.name)
    return tuple(sorted(ledger.parent.glob(f"{name}.series-{which}*"))) if ledger.parent.is_dir() else ()


def series_file(ledger: Path, which: str) -> Path:
    """One of these."""
    return ledger.with_name(f"{ledger.name}.series-{which}")


def undrawn_file(ledger: Path, nonce: str) -> Path:
    """What says of a reservation that nothing is drawn for it yet (:mod:`hubbub.ledger.undrawn`)."""
    return ledger.with_name(f"{ledger.name}.undrawn-{nonce}")


def undrawn_nonces(ledger: Path) -> tuple[str, ...]:
    """The reservations of which something says so."""
    begins = undrawn_file(ledger, "").name
    found = os.listdir(ledger.parent) if ledger.parent.is_dir() else []
    return tuple(sorted(name.removeprefix(begins) for name in found if name.startswith(begins)))
