"""Files are removed, served or hidden by a certificate that this ledger signed and that fits them, and by nothing else
(threat 57)."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from hubbub.certificate.certificate import sign, signed_bytes
from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.publication.signed_files import published
from hubbub.release import save
from hubbub.serialization.canonical import canonical
from hubbub.serialization.published_files import CERTIFICATE
from tests.fresh import enter
from tests.unit.studio.opened import FILLED, Opened, plain
from tests.unit.studio.opened import opened as open_studio

TOWN = pa.table({"dept": ["a"] * 30 + ["b"] * 40 + ["c"]})
MINE = {"payroll.xlsx": "salaries", "notes.txt": "mine", "people.csv": "id,pay\n1,100\n"}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def unsigned(folder: Path) -> bytes:
    """Names and digests that fit, and no signature."""
    files = {"release.csv": digest("1"), **{name: digest(text) for name, text in MINE.items()}}
    return json.dumps({"format": "hubbub certificate 1", "files": files}).encode()


def signed_by_a_stranger(folder: Path) -> bytes:
    body = json.loads(unsigned(folder))
    return sign(body, Ledger(folder.parent / "strangers" / "ledger.db"))


def with_a_borrowed_signature(folder: Path) -> bytes:
    """A signature of this ledger's, of something else."""
    body = json.loads(unsigned(folder))
    public, value = Ledger().sign(b"something else")
    return canonical({**body, "signature": {"algorithm": "Ed25519", "public_key": public, "value": value}})


def of_another_format(folder: Path) -> bytes:
    """What this ledger signed, but not as a certificate."""
    body = {**json.loads(unsigned(folder)), "format": "hubbub count 1"}
    public, value = Ledger().sign(signed_bytes(body))
    return canonical({**body, "signature": {"algorithm": "Ed25519", "public_key": public, "value": value}})


def that_does_not_fit(folder: Path) -> bytes:
    """What this ledger signed as a certificate, about other bytes of these names."""
    body = json.loads(unsigned(folder))
    body["files"] = dict.fromkeys(body["files"], "0" * 64)
    return sign(body, Ledger())


FORGERIES = (unsigned, signed_by_a_stranger, with_a_borrowed_signature, of_another_format, that_does_not_fit)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "out"
    place.mkdir()
    for name, text in MINE.items():
        (place / name).write_text(text)
    return place


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("forged", FORGERIES)
def test_replacing_removes_nothing_that_a_forged_certificate_names(
    folder: Path, forged: Callable[[Path], bytes]
) -> None:
    (folder / CERTIFICATE).write_bytes(forged(folder))
    before = contents(folder)
    assert not {*MINE} & {*published(folder, Ledger())}
    made = enter(TOWN).histogram(["dept=a,b,c"], crowd=20)
    if forged is that_does_not_fit:  # it is this ledger's own, and goes; what it names does not
        save(made, folder, replace=True)
        assert {name: text for name, text in contents(folder).items() if name in MINE} == {
            name: text.encode() for name, text in MINE.items()
        }
        return
    with pytest.raises(WrongUse, match=r"only what this ledger published is replaced, and 'certificate.json' in"):
        save(made, folder, replace=True)
    assert contents(folder) == before
    save(made, folder / "elsewhere")  # it was not lost


def test_the_command_refuses_before_anything_is_spent(folder: Path, tmp_path: Path) -> None:
    (folder / CERTIFICATE).write_bytes(unsigned(folder))
    (tmp_path / "town.csv").write_text("dept\n" + "a\n" * 40)
    words = ["release", "histogram", str(tmp_path / "town.csv"), "--by", "dept=a", "--rows-are-people", "--epsilon"]
    before = contents(folder)
    done = CliRunner().invoke(commands, [*words, "1", "--out", str(folder), "--replace"])
    assert done.exit_code == 2
    assert "is not by it, or was changed since; move it, or choose another folder" in done.stderr
    assert contents(folder) == before
    assert Ledger().accounts() == {}


@pytest.mark.parametrize("name", ["release.csv", "release.parquet", "report.html"])
def test_what_somebody_changed_or_put_there_is_not_written_over(tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    save(enter(TOWN).histogram(["dept=a,b,c"], crowd=20), out)
    (out / name).write_text("my own work")
    with pytest.raises(WrongUse, match=f"'{name}' in .* is not by it, or was changed since"):
        save(enter(TOWN).histogram(["dept=a,b,c"], crowd=20), out, replace=True)
    assert (out / name).read_text() == "my own work"


@pytest.mark.parametrize("replace", [False, True])
def test_a_file_with_the_name_of_a_further_sheet_is_not_written_over(tmp_path: Path, replace: bool) -> None:
    """Releases of some kinds have more files than one; nobody knows their names beforehand."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "answers.csv").write_text("my own answers")
    made = enter(TOWN).queries(["dept=a,b,c"], "marginals:1", epsilon=1, method="histogram")
    if not any(sheet.name == "answers" for sheet in made.result.sheets()):
        pytest.fail("choose a release that has this sheet")
    with pytest.raises(WrongUse, match=r"'answers.csv' in .* then run hubbub ledger finish .*: the release is ready"):
        save(made, out, replace=replace)
    assert (out / "answers.csv").read_text() == "my own answers"
    (out / "answers.csv").unlink()
    assert CliRunner().invoke(commands, ["ledger", "finish", str(out)]).exit_code == 0
    assert (out / CERTIFICATE).exists()


def test_a_release_is_replaced_whole_also_after_the_key_was_changed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    save(enter(TOWN).histogram(["dept=a,b,c"], crowd=20), out)
    Ledger().new_key()
    save(enter(TOWN).histogram(["dept=a,b,c"], crowd=20), out, form="parquet", replace=True)
    assert sorted(os.listdir(out)) == ["certificate.json", "datapackage.json", "release.parquet", "report.html"]


# --- the studio -----------------------------------------------------------------------------------------------------


@pytest.fixture
def studio(tmp_path: Path) -> Any:
    folder = tmp_path / "folder"
    folder.mkdir()
    with open_studio(folder) as found:
        for name, text in MINE.items():
            (folder / name).write_text(text)
        yield found


@pytest.mark.parametrize("forged", FORGERIES)
def test_the_studio_serves_and_hides_nothing_that_a_forged_certificate_names(
    studio: Opened, forged: Callable[[Path], bytes]
) -> None:
    (studio.folder / "sub").mkdir()
    for place in (studio.folder, studio.folder / "sub"):
        for name, text in MINE.items():
            (place / name).write_text(text)
        (place / CERTIFICATE).write_bytes(forged(studio.folder))
    for where in (".", "sub"):
        for name in MINE:
            status, text = studio.get("/file", params={"folder": where, "name": name})
            assert status == 400
            assert "no such published file" in plain(text)
        status, text = studio.get("/release", params={"folder": where})
        assert "people.csv" not in text
    listed = studio.get("/publish")[1]
    assert "people.csv" in listed
    assert "sub/people.csv" in listed, "a forged certificate hides no table"


def test_a_page_or_a_result_that_nobody_signed_is_not_shown(studio: Opened) -> None:
    (studio.folder / "results.html").write_text("<p>Mallory won</p>")
    (studio.folder / "result.json").write_text('{"count": {}}')
    for name in ("results.html", "result.json"):
        assert studio.get("/file", params={"folder": ".", "name": name})[0] == 400
        assert studio.get("/document", params={"folder": ".", "name": name})[0] == 400


def test_the_studio_serves_what_this_ledger_published_as_long_as_it_fits(studio: Opened, in_place: None) -> None:
    (studio.folder / "people.csv").write_text("id,town\n" + "".join(f"{i},Bath\n" for i in range(60)))
    studio.released(FILLED)
    assert studio.get("/file", params={"folder": "out", "name": "release.csv"})[0] == 200
    assert "out/release.csv" not in studio.get("/publish")[1]
    (studio.folder / "out" / "release.csv").write_text("id,pay\n1,100\n")
    assert studio.get("/file", params={"folder": "out", "name": "release.csv"})[0] == 400
    assert "out/release.csv" in studio.get("/publish")[1]
