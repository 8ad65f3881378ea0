"""Marginals with Gaussian noise, released: verified without data, and planted faults refuted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

from hubbub.errors import WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.kinds.queries.request import queries
from hubbub.kinds.queries.spec import Queries
from hubbub.numeric.exact import to_text
from hubbub.query_classes.residual import Residual
from hubbub.verification import verify
from tests.fresh import enter, save_over

COLUMNS = ["a:0..9:1", "b:0..7:1", "c:0..5:1", "d:0..4:1"]
ROWS = np.random.default_rng(11)
TABLE = pa.table({name: ROWS.integers(0, top, 2000) for name, top in (("a", 9), ("b", 7), ("c", 5), ("d", 4))})


def made(folder: Path, of: str = "marginals:2") -> tuple[bytes, Queries]:
    release = enter(TABLE).queries(COLUMNS, of, epsilon=1, delta="1e-9", method="residual")
    written = save_over(release, folder, report=False)
    assert isinstance(release.spec, Queries)
    return Path(written["certificate"]).read_bytes(), release.spec


@pytest.mark.parametrize("of", ["marginals:2", "conjunctions:2"])
def test_a_release_of_marginals_is_verified_without_data(of: str, tmp_path: Path) -> None:
    certificate, spec = made(tmp_path, of)
    done = verify(certificate, folder=tmp_path)
    assert done.passed, done.failure
    promise = spec.promises()[0].conclusion
    assert isinstance(promise, DifferentialPrivacy)
    assert promise.epsilon == 1
    assert 0 < promise.delta <= Fraction(1, 10**9)
    answers = pc.read_csv(tmp_path / "answers.csv")
    assert answers.num_rows == spec.queries.number  # type: ignore[union-attr]
    low, high = answers.column("low").to_numpy(), answers.column("high").to_numpy()
    assert (low <= high).all()


@pytest.mark.parametrize("fault", ["less noise", "a table without noise of its own", "a plan far from the best"])
def test_a_planted_fault_is_refuted(fault: str) -> None:
    spec = queries(COLUMNS, "marginals:2", epsilon=1, delta="1e-9", method="residual")
    method = spec.method
    assert isinstance(method, Residual)
    s2 = list(method.s2)
    if fault == "less noise":
        s2 = [each * Fraction(99, 100) for each in s2]
    elif fault == "a table without noise of its own":
        s2[-1] = Fraction(9)
    else:
        s2[0] *= 1000
    wrong = replace(spec, method=replace(method, variances=tuple(map(to_text, s2))))
    assert [check.what for check in spec.checks() if not check.passed] == []
    failed = [check.what for check in wrong.checks() if not check.passed]
    expected = "the plan of the noise" if fault == "a plan far from the best" else "the delta of all tables together"
    assert expected in failed


def test_tables_without_a_delta_are_verified_too(tmp_path: Path) -> None:
    release = enter(TABLE).queries(COLUMNS, "marginals:2", epsilon=1, method="split-tables")
    written = save_over(release, tmp_path, report=False)
    done = verify(Path(written["certificate"]).read_bytes(), folder=tmp_path)
    assert done.passed, done.failure
    assert release.promises[0].conclusion == DifferentialPrivacy(epsilon=Fraction(1))


def test_a_changed_number_is_noticed(tmp_path: Path) -> None:
    certificate, _ = made(tmp_path)
    text = (tmp_path / "answers.csv").read_text().splitlines()
    text[5] = ",".join([*text[5].split(",")[:-1], "99999"])
    (tmp_path / "answers.csv").write_text("\n".join(text) + "\n")
    assert not verify(certificate, folder=tmp_path).passed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"epsilon": 1, "delta": 1}, "below 1"),
        ({"epsilon": 1, "delta": "1e-9", "people": 2000}, "delta goes with epsilon alone"),
        ({"epsilon": 1, "method": "residual"}, "needs a delta beside epsilon"),
    ],
)
def test_what_delta_cannot_mean_is_refused(words: dict[str, object], said: str) -> None:
    with pytest.raises(WrongUse, match=said):
        queries(COLUMNS, "marginals:2", **words)  # type: ignore[arg-type]
