"""The key that signs a ledger's certificates: made on first use, kept beside the ledger, readable by its owner only.

Who wants to check where a certificate comes from gets the public half by another way than the certificate
(`hubbub ledger key` prints it).
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.ledger import durable

ALGORITHM: Final = "Ed25519"
_SIZE: Final = 32  # bytes, of either half


def key_path(ledger: Path) -> Path:
    """Where the key of a ledger is."""
    return ledger.with_name(f"{ledger.name}.key")


def make(ledger: Path) -> str:
    """A new key for a ledger; returns the public half. One that is there already stays."""
    if not key_path(ledger).exists():
        _write(key_path(ledger), _new_secret())
    return public(ledger)


def _new_secret() -> bytes:
    from hubbub.noise.source import SystemSource  # a signature is checked without arrays

    return SystemSource().words(_SIZE // 8).tobytes().hex().encode()


def _write(file: Path, secret: bytes) -> None:
    try:
        durable.write(file, secret)
    except OSError:
        raise Refused(
            f"the key of the ledger could not be written to {str(file)!r}, so nothing is published; check the "
            "folder, or choose another with `ledger`"
        ) from None


def _load(ledger: Path) -> Ed25519PrivateKey:
    file = key_path(ledger)
    try:
        secret = bytes.fromhex(file.read_text(encoding="ascii"))
        if len(secret) != _SIZE:
            raise ValueError
    except (OSError, ValueError):
        raise CheckFailed(
            f"the key of the ledger, {str(file)!r}, is missing or damaged; restore it from a backup, or make another "
            "with hubbub ledger key --new and tell those who check your certificates"
        ) from None
    if os.name != "nt" and file.stat().st_mode & 0o077:
        raise CheckFailed(
            f"others may read the key of the ledger, {str(file)!r}; run chmod 600 on it, and if somebody did read it "
            "make another with hubbub ledger key --new"
        )
    return Ed25519PrivateKey.from_private_bytes(secret)


def public(ledger: Path) -> str:
    """The public half, in hexadecimal."""
    return _load(ledger).public_key().public_bytes_raw().hex()


def replace(ledger: Path) -> str:
    """Put the old key aside and make another; at no moment is there none."""
    file = key_path(ledger)
    try:
        old = file.read_bytes()
    except OSError:  # none, or not ours to read: a new one takes its name
        old = b""
    if old:
        _write(file.with_name(f"{file.name}.old"), old)
    _write(file, _new_secret())
    return public(ledger)


def sign(ledger: Path, data: bytes) -> str:
    """The signature of some bytes, in hexadecimal."""
    return _load(ledger).sign(data).hex()


def is_signature(public_key: str, signature: str, data: bytes) -> bool:
    """Whether the signature of the bytes is by that key. Only the hexadecimal that `sign` writes will do."""
    try:
        key, value = bytes.fromhex(public_key), bytes.fromhex(signature)
        if key.hex() != public_key or value.hex() != signature:
            return False
        Ed25519PublicKey.from_public_bytes(key).verify(value, data)
    except (ValueError, InvalidSignature):
        return False
    return True


def _is_key(word: str) -> bool:
    return re.fullmatch(rf"[0-9a-f]{{{2 * _SIZE}}}", word, re.ASCII) is not None


def parse_key(text: str) -> str:
    """A public key as somebody hands it over: in hexadecimal, or a file that holds it."""
    word = text.strip().lower()
    try:
        if not _is_key(word) and Path(text).is_file():
            word = Path(text).read_text(encoding="ascii", errors="replace").strip().lower()
    except (ValueError, OSError):  # no name that a file can have
        pass
    if _is_key(word):
        return word
    raise WrongUse(
        f"a public key is {2 * _SIZE} hexadecimal signs, or a file that holds them, not {text[:20]!r}; "
        "hubbub ledger key prints one"
    )
