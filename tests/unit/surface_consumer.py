"""What somebody else's typed code looks like: mypy --strict reads this file with the package's own types."""

from __future__ import annotations

from pathlib import Path

import hubbub


def publish(source: str, folder: Path) -> hubbub.Release:
    people: hubbub.Table = hubbub.open(source, person="id")
    release = people.histogram(["town=Bath,York"], epsilon=1)
    files: dict[str, str] = hubbub.save(release, folder)
    assert files["release"]
    return release


def checked(certificate: Path) -> hubbub.Certificate:
    try:
        return hubbub.verify(certificate)
    except hubbub.CheckFailed as error:
        message: str = str(error)
        raise hubbub.WrongUse(message) from None


def edges(source: str) -> hubbub.Network:
    return hubbub.open_graph(source)
