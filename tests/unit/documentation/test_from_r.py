"""The page about R, run by R: data frames go in and come out with their types, and what is missing stays missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.csv
import pytest

from tests.rscript import PACKAGES, PAGE, installed

MORE = """
write.csv(counts, "again.csv", row.names = FALSE, na = "")
write.csv(data.frame(name = names(counts), class = sapply(counts, class)), "classes.csv", row.names = FALSE)
members <- table$histogram(by = list("member:boolean,null"), epsilon = "40", accept_weak = TRUE)
files <- members$save("members")
ages <- table$histogram(by = list("age:0..90:30,null"), epsilon = "40", accept_weak = TRUE)
files <- ages$save("ages")
"""
"""At so much epsilon noise above 1 has a chance below 1e-33: what is published is what was read."""


@pytest.mark.slow
def test_the_page_about_r_runs_in_r(tmp_path: Path) -> None:
    if not installed():
        pytest.skip(
            f"needs R with {' and '.join(PACKAGES)}: apt-get install r-base-core r-cran-reticulate r-cran-jsonlite"
        )
    pytest.importorskip("sqlglot", reason="SQL needs the package sqlglot: pip install '.[sql]'")
    blocks = re.findall(r"^```r\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    (tmp_path / "page.R").write_text("\n".join([*blocks, MORE]), encoding="utf-8")
    env = {**os.environ, "RETICULATE_PYTHON": sys.executable, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    done = subprocess.run(
        ["Rscript", "page.R"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "people_low" in done.stdout
    counts, again = (pyarrow.csv.read_csv(tmp_path / name) for name in ("out/release.csv", "again.csv"))
    assert again.to_pydict() == counts.to_pydict()
    classes = pyarrow.csv.read_csv(tmp_path / "classes.csv").to_pydict()
    text = {"sex", "age", "status"}
    assert dict(zip(*classes.values(), strict=True)) == {
        name: "character" if name in text else "numeric" for name in counts.column_names
    }
    members = pyarrow.csv.read_csv(tmp_path / "members" / "release.csv").column("count").to_pylist()
    assert members == [1000, 1000, 1000], "a missing TRUE is neither true nor false"
    ages = pyarrow.csv.read_csv(tmp_path / "ages" / "release.csv").column("count").to_pylist()
    assert (sum(ages), ages[-1]) == (3000, 84), "a missing age is missing"
