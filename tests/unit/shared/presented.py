"""Published files, read back as whoever verifies does: what was drawn is loaded, presented again, and compared."""

from __future__ import annotations

import re
from pathlib import Path

from hubbub.protocol.release import Release
from hubbub.protocol.spec import Spec
from hubbub.publication.files import write
from tests.fresh import wrong_in


def written(release: Release, folder: Path, form: str = "csv") -> Path:
    """The sheets of a release in a folder, without a certificate; the file of the first."""
    for sheet in release.result.sheets():
        with (folder / f"{sheet.name}.{form}").open("wb") as out:
            write(sheet, form, out)
    return folder / f"release.{form}"


def wrong(spec: Spec, folder: Path, form: str = "csv") -> str | None:
    """What in the files of a folder does not follow from what they say was drawn; None if all does."""
    found = wrong_in(spec, folder / f"release.{form}", form)
    return None if found is None else re.sub(rf"^[a-z-]+\.{form}: ", "", found)
