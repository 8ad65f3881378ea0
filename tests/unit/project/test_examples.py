"""The publications of examples/ run as they stand, on their tables; skipped where these are not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import hubbub
from hubbub.cli.main import commands
from hubbub.project.plan_file import read_plan
from hubbub.project.planning import State, plan

ROOT = Path(__file__).resolve().parents[3]
TABLES = ROOT.parent / "shared" / "data" / "tables"
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/hubbub.toml"))


def test_there_are_three() -> None:
    assert [folder.name for folder in EXAMPLES] == ["congress", "salaries", "stroke"]


@pytest.mark.slow
@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_an_example_is_published_from_end_to_end(folder: Path, tmp_path: Path) -> None:
    here = tmp_path / folder.name
    shutil.copytree(folder, here)
    publication = read_plan(here)
    table = TABLES / Path(publication.datasets[0].file).name
    if not table.is_file():
        pytest.skip(f"{table.name} is not here")
    (here / table.name).symlink_to(table)
    held = CliRunner().invoke(commands, ["check", publication.datasets[0].file])
    assert "as far as that can be looked at" in held.stdout, held.output
    assert set(hubbub.publish_all(here)) == {each.name for each in publication.entries}
    again = plan(read_plan(here))
    assert {each.state for each in again.releases} == {State.OUT}
    for each in again.releases:
        checked = hubbub.verify(publication.folder(each.entry) / "certificate.json")
        assert checked.passed, checked.verdict
