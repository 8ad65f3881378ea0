"""Long columns of labels are compared by Arrow, and the answer is that of comparing them one by one."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

from hubbub.verification import comparison

LABELS = ["a", None, "b", "a", ""]


@pytest.mark.parametrize("many", [0, 100])
@pytest.mark.parametrize(
    ("theirs", "same"),
    [
        (LABELS, True),
        (["a", None, "b", "a", None], False),
        (["a", "", "b", "a", ""], False),
        (["a", None, "b", "c", ""], False),
    ],
)
def test_labels_are_compared_one_by_one_or_at_once(
    theirs: list[str | None], same: bool, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "_MANY", many)
    found = pa.chunked_array([pa.array(theirs[:2], pa.string()), pa.array(theirs[2:], pa.string())])
    ours = pa.array(LABELS, pa.string())
    for each in (ours, ours.dictionary_encode()):
        assert comparison._same(found, each, Fraction(0)) is same
