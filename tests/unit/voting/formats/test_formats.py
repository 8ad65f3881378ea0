"""A file is read by the format that its ending names; a file that is none is refused in one sentence."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats.formats import read, write
from hubbub.voting.rules.rules import Borda, InstantRunoff, RepeatedPlurality


def file(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("name", ["b.soi", "b.toc", "b.blt", "b.csv"])
def test_an_empty_file_is_refused(name: str, tmp_path: Path) -> None:
    for text in ("", "\n \n", b"\xef\xbb\xbf"):
        with pytest.raises(WrongUse, match="the ballot file is empty"):
            read(file(tmp_path, name, text))


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    texts = {
        "b.soc": "# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: A\n# ALTERNATIVE NAME 2: B\n1: 1,2\n",
        "b.blt": "2 1\n1 1 0\n0\nA\nB\nA ward\n",
        "b.csv": "rank1,rank2\nA,B\n",
    }
    for name in texts:
        assert read(file(tmp_path, name, texts[name])).ballots.voters == 1
        for other, text in texts.items():
            if other != name:
                with pytest.raises(WrongUse, match="another format"):
                    read(file(tmp_path, f"wrong-{name}", text))
    with pytest.raises(WrongUse, match="this is none of them"):
        read(file(tmp_path, "b.doc", "x"))
    with pytest.raises(WrongUse, match=r"cannot be read as \.xlsx"):
        read(file(tmp_path, "b.xlsx", "x"))
    with pytest.raises(WrongUse, match="save the sheet with the ballots as CSV"):
        read(file(tmp_path, "b.ods", "x"))
    with pytest.raises(WrongUse, match="a workbook or a zip archive"):
        read(file(tmp_path, "b.csv", b"PK\x03\x04..."))
    assert read(file(tmp_path, "b.txt", texts["b.blt"]), format="blt").ballots.voters == 1


def test_what_cannot_be_opened_or_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="cannot be read"):
        read(tmp_path / "missing.soi")
    with pytest.raises(WrongUse, match="line 2: the ballot file is not text in CP1252"):
        read(file(tmp_path, "b.csv", b"rank1\nA\x81\n"))
    with pytest.raises(WrongUse, match="not text in UTF-8; name its encoding"):
        read(file(tmp_path, "b.csv", b"rank1\n\xff\n"), encoding="utf8")
    with pytest.raises(WrongUse, match="no such encoding"):
        read(file(tmp_path, "b.csv", b"rank1\n\xff\n"), encoding="klingon")
    with pytest.raises(WrongUse, match="cannot be unpacked"):
        read(file(tmp_path, "b.csv.gz", b"\x1f\x8b123"))
    with pytest.raises(WrongUse, match="for CSV files alone"):
        read(file(tmp_path, "b.blt", "x"), candidates=["A", "B"])
    with pytest.raises(WrongUse, match="by their ending"):
        write(Ballots.from_counts("ab", {("a",): 1}), tmp_path / "b.doc")
    with pytest.raises(WrongUse, match="cannot be written"):
        write(Ballots.from_counts("ab", {("a",): 1}), tmp_path / "no" / "b.csv")


@pytest.mark.parametrize("control", ["\x1b[31m", "\x07", "\x7f", "\x85", "\x9b", "\u202e", "\u2028"])
def test_no_name_can_rewrite_the_screen(control: str, tmp_path: Path) -> None:
    """Control characters are shown escaped, and names that differ in them stay different."""
    preflib = f"# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: A\n# ALTERNATIVE NAME 2: B{control}\n1: 1,2\n"
    texts = {"b.csv": f"rank1,rank2\nA,B{control}\n", "b.blt": f"2 1\n1 1 2 0\n0\nA\nB{control}\nW\n", "b.soi": preflib}
    for name, text in texts.items():
        read_back = read(file(tmp_path, name, text))
        a, b = read_back.ballots.candidates
        assert (a, b.encode().startswith(b"B\\")) == ("A", True)
        assert control[0] not in b
        assert "shown escaped" in " ".join(read_back.remarks)
    both = read(file(tmp_path, "both.csv", "rank1,rank2\nB\x07,B\\x07\n")).ballots.candidates
    assert len(set(both)) == 2


def test_a_zero_byte_means_that_this_is_no_text(tmp_path: Path) -> None:
    for name, text in (("b.csv", "rank1,rank2\nA,B\0\n"), ("b.blt", "2 1\n1 1 0\n0\nA\n\0B\n")):
        with pytest.raises(WrongUse, match=r"line [25]: a zero byte"):
            read(file(tmp_path, name, text))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "latin-1", "mac-roman"])
def test_files_in_other_encodings(encoding: str, tmp_path: Path) -> None:
    path = file(tmp_path, "b.csv", "rank1,rank2\r\nJosé,Zoë\r\nZoë,\r\n".encode(encoding))
    told = encoding if encoding in ("utf-16-le", "mac-roman") else None
    after = read(path, encoding=told)
    assert after.ballots.counts() == {("José", "Zoë"): 1, ("Zoë",): 1}
    assert bool(after.remarks) == (encoding in ("cp1252", "latin-1"))


def test_packed_files_and_files_called_txt(tmp_path: Path) -> None:
    texts = {"csv": "rank1;rank2\nA;B\n", "blt": "2 1\n1 1 2 0\n0\nA\nB\nW\n", "abif": "1:A>B\n"}
    texts["soi"] = (
        "# DATA TYPE: soi\n# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: A\n# ALTERNATIVE NAME 2: B\n1: 1,2\n"
    )
    for kind, text in texts.items():
        for name, raw in ((f"b.{kind}.gz", gzip.compress(text.encode())), (f"{kind}.txt", text.encode())):
            assert read(file(tmp_path, name, raw)).ballots.counts() == {("A", "B"): 1}


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_on_any_machine(ends: str, tmp_path: Path) -> None:
    text = "rank1,rank2\nÄnn,Bob\nBob,\n".replace("\n", ends).encode("utf-8-sig")
    assert read(file(tmp_path, "b.csv", text)).ballots.counts() == {("Änn", "Bob"): 1, ("Bob",): 1}


def test_a_small_file_does_not_fill_the_memory(tmp_path: Path) -> None:
    """As many candidates as ballots: a table of them would be the square of the file."""
    text = "count,rank1\n" + "".join(f"1,A{i}\n" for i in range(17_000))
    with pytest.raises(WrongUse, match="17,000 different ballots of 17,000 candidates are too many"):
        read(file(tmp_path, "b.csv", text))


def test_a_file_of_477_candidates_works(tmp_path: Path) -> None:
    many = 477
    names = [f"C{i}" for i in range(many)]
    rows = {tuple(names[(i * 7 + j * (i + 1)) % many] for j in range(5)): 1 + i % 5 for i in range(many - 1)}
    before = Ballots.from_counts(names, {ranking: weight for ranking, weight in rows.items() if len(set(ranking)) == 5})
    path = tmp_path / "many.soi"
    write(before, path)
    ballots = read(path).ballots
    assert len(ballots.candidates) == many
    assert ballots.counts() == before.counts()
    source = ScriptedSource.from_label("477")
    for rule in (InstantRunoff(), RepeatedPlurality(margin=3), RepeatedPlurality(), Borda()):
        result = rule.run(ballots, source)
        assert result.voters == ballots.voters
        assert sum(count for _, count in result.rounds[0].counts) > 0
