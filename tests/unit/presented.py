"""Published files, read back as whoever verifies does: what was drawn is loaded, presented again, and compared."""

from __future__ import annotations

from pathlib import Path

from hubbub.errors import CheckFailed
from hubbub.protocol.release import Release
from hubbub.protocol.spec import Spec
from hubbub.publication.files import write
from hubbub.serialization.published_files import Files
from hubbub.verification.comparing import difference


def written(release: Release, folder: Path, form: str = "csv") -> Path:
    """The sheets of a release in a folder, without a certificate; the file of the first."""
    for sheet in release.result.sheets():
        with (folder / f"{sheet.name}.{form}").open("wb") as out:
            write(sheet, form, out)
    return folder / f"release.{form}"


def wrong(spec: Spec, folder: Path, form: str = "csv") -> str | None:
    """What in the files of a folder does not follow from what they say was drawn; None if all does."""
    paths = {path.stem: path for path in sorted(folder.glob(f"*.{form}"))}
    try:
        result = spec.present(spec.load(Files(form, paths)))
    except CheckFailed as error:
        return str(error)
    found = (difference(sheet, paths[sheet.name], form) for sheet in result.sheets())
    return next((each for each in found if each is not None), None)
