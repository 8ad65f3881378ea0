"""Counts of bins, as an engine hands them over."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.engines.files.files import open_file
from hubbub.errors import WrongUse
from hubbub.kinds.count_tables import BEYOND
from hubbub.kinds.histogram.mechanism import measure
from hubbub.kinds.histogram.request import histogram
from hubbub.noise.source import SystemSource


def test_a_file_that_lies_about_its_largest_value_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """DuckDB leaves out a comparison that the footer of a Parquet file makes needless."""
    file, largest = tmp_path / "people.parquet", 2_000_000_011
    pq.write_table(pa.table({"x": pa.array([3, largest, 9], pa.int32())}), file, use_dictionary=False)
    content = file.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    real, told = (number.to_bytes(4, "little") for number in (largest, 9))
    assert real in content[footer:]
    file.write_bytes(content[:footer] + content[footer:].replace(real, told))
    with pytest.raises(WrongUse) as error:
        measure(histogram(["x:0..10:1"], epsilon=1), open_file(file), SystemSource())
    assert str(error.value) == BEYOND
