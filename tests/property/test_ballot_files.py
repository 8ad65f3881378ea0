"""For all texts: a reader gives ballots or one sentence, and what is written is read back."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats.formats import FORMATS, read, strict, write

PREFLIB = "# NUMBER ALTERNATIVES: 3\n# ALTERNATIVE NAME 1: A\n# ALTERNATIVE NAME 2: B\n# ALTERNATIVE NAME 3: C\n"
SEEDS = {
    "toi": PREFLIB + "3: 1,{2,3}\n2: 2\n",
    "blt": '3 1\n-2\n4 1 2 0\n3 1=3 - 2 0\n0\n"A"\nB\nC\nward\n',
    "abif": '{"title": "x"}\n=DB:[Deb Burns]\n3:Ann>DB=[Bob B.]\n2:Bob/3>Ann\n',
    "cat": PREFLIB + "3: {1},{2,3}\n2: {},{2}\n",
    "csv": "count,rank1,rank2\n3,Ann,overvote\n2,,Bob\n",
}
SCRAPS = ["\n", ",", ":", "0", "-1", "1e3", "²", "9" * 30, "{", "}", '"', "#", "=", ">", " ", "\0", "rank1", "-", "é"]


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, str]:
    """A good file with a few pieces cut out, put in or doubled."""
    kind = draw(st.sampled_from(list(SEEDS)))
    text = SEEDS[kind]
    for _ in range(draw(st.integers(0, 4))):
        at, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        act = draw(st.sampled_from(["cut", "put", "double"]))
        if act == "cut":
            text = text[:at] + text[min(end, at + 6) :]
        elif act == "put":
            text = text[:at] + draw(st.sampled_from(SCRAPS)) + text[at:]
        else:
            text = text[:end] + text[at:end] + text[end:]
    return draw(st.sampled_from([kind, kind, kind, *FORMATS])), text


@settings(max_examples=400, deadline=None)
@given(damaged())
def test_every_text_is_read_or_refused_in_one_sentence(case: tuple[str, str]) -> None:
    kind, text = case
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"ballots.{kind}"
        path.write_text(text, encoding="utf-8", newline="")
        answer = outcome(path)
    if isinstance(answer, str):
        assert answer
        assert "\n" not in answer, "one line"
    else:
        assert answer.voters > 0
        assert len(answer.candidates) > 1
        assert answer.voters == answer.complete + answer.truncated_voters


def outcome(path: Path) -> Ballots | str:
    try:
        return strict(read(path)).ballots
    except WrongUse as error:
        return str(error)


LABELS = ("write", "vote", "skip", "uwi")  # what a cell may hold that is no candidate
LETTERS = st.characters(codec="utf-8", exclude_categories=["C", "Z"])
NAMES = st.lists(st.text(LETTERS, min_size=2, max_size=6), min_size=2, max_size=5, unique_by=str.casefold).filter(
    lambda names: not any(label in name.casefold() for name in names for label in LABELS)
)


@st.composite
def elections(draw: st.DrawFn) -> Ballots:
    names = draw(NAMES)
    kept = st.lists(st.sampled_from(names), unique=True, max_size=len(names)).map(tuple)
    counts = draw(st.dictionaries(kept, st.integers(1, 10**9), min_size=1, max_size=5))
    cut = st.tuples(st.permutations(names), st.integers(2, len(names)))
    levels = cut.map(lambda pair: (frozenset(pair[0][: pair[1]]), *(frozenset((x,)) for x in pair[0][pair[1] :])))
    tied = draw(st.dictionaries(levels, st.integers(1, 99), max_size=2))
    return Ballots.from_counts(names, counts, tied=tied)


@pytest.mark.parametrize("ending", ["toi", "csv"])
@settings(max_examples=50, deadline=None)
@given(before=elections())
def test_what_is_written_is_read_back(ending: str, before: Ballots) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"ballots.{ending}"
        write(before, path)
        after = read(path, candidates=before.candidates if ending == "csv" else None).ballots
    assert after.candidates == before.candidates
    assert after.counts() == before.counts()
    assert after.tied_counts() == before.tied_counts()
