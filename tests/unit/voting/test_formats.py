"""A file is read by the format that its ending names; a file that is none is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats import read, write
from hubbub.voting.rules import Borda, InstantRunoff, RepeatedPlurality


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
        "b.blt": "2 1\n1 1 0\n0\nA\nB\n",
        "b.csv": "rank1,rank2\nA,B\n",
    }
    for name in texts:
        assert read(file(tmp_path, name, texts[name])).ballots.voters == 1
        for other, text in texts.items():
            if other != name:
                with pytest.raises(WrongUse, match="another format"):
                    read(file(tmp_path, f"wrong-{name}", text))
    with pytest.raises(WrongUse, match="this is none of them"):
        read(file(tmp_path, "b.xlsx", "x"))
    assert read(file(tmp_path, "b.txt", texts["b.blt"]), format="blt").ballots.voters == 1


def test_what_cannot_be_opened_or_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="cannot be read"):
        read(tmp_path / "missing.soi")
    with pytest.raises(WrongUse, match="line 2: the ballot file is not text in UTF-8"):
        read(file(tmp_path, "b.csv", b"rank1\n\xff\xfe\n"))
    with pytest.raises(WrongUse, match="for CSV files alone"):
        read(file(tmp_path, "b.soi", "x"), candidates=["A", "B"])
    with pytest.raises(WrongUse, match="by their ending"):
        write(Ballots.of("ab", {("a",): 1}), tmp_path / "b.doc")
    with pytest.raises(WrongUse, match="cannot be written"):
        write(Ballots.of("ab", {("a",): 1}), tmp_path / "no" / "b.csv")


@pytest.mark.parametrize("control", ["\0", "\x1b[31m", "\x07", "\x7f", "\x85", "\x9b"])
def test_no_name_can_rewrite_the_screen(control: str, tmp_path: Path) -> None:
    for name, text in (("b.csv", f"rank1,rank2\nA,B{control}\n"), ("b.blt", f"2 1\n1 1 0\n0\nA\n{control}B\n")):
        with pytest.raises(WrongUse, match=r"line [25]: a control character"):
            read(file(tmp_path, name, text))


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_on_any_machine(ends: str, tmp_path: Path) -> None:
    text = "rank1,rank2\nÄnn,Bob\nBob,\n".replace("\n", ends).encode("utf-8-sig")
    assert read(file(tmp_path, "b.csv", text)).ballots.counts() == {("Änn", "Bob"): 1, ("Bob",): 1}


def test_a_small_file_does_not_fill_the_memory(tmp_path: Path) -> None:
    """As many candidates as ballots: a table of them would be the square of the file."""
    text = "rank1\n" + "".join(f"A{i}\n" for i in range(17_000))
    with pytest.raises(WrongUse, match="17,000 different ballots of 17,000 candidates are too many"):
        read(file(tmp_path, "b.csv", text))


def test_a_file_of_477_candidates_works(tmp_path: Path) -> None:
    many = 477
    names = [f"C{i}" for i in range(many)]
    rows = {tuple(names[(i * 7 + j * (i + 1)) % many] for j in range(5)): 1 + i % 5 for i in range(many - 1)}
    before = Ballots.of(names, {ranking: weight for ranking, weight in rows.items() if len(set(ranking)) == 5})
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
