"""Invented rows: a junction tree of measured tables, whole-number draws from a public seed, and files that are checked."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

from hubbub.errors import WrongUse
from hubbub.kinds.synthetic.request import synthetic
from hubbub.kinds.synthetic.result import InventedRows
from hubbub.ledger import key
from hubbub.ledger.durable import sha256
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import join_words
from hubbub.query_classes.marginals.junction_tree import GraphicalModel, count_table, junction_tree, new_columns
from hubbub.query_classes.residual import Residual
from hubbub.verification import verify
from tests.fresh import enter, save_over, unsigned
from tests.unit.shared.saved import sign

DRAWS = np.random.default_rng(2)
A = DRAWS.integers(0, 5, 4000)
B = (A + DRAWS.integers(0, 2, 4000)) % 4
C = (B + DRAWS.integers(0, 2, 4000)) % 3
PEOPLE = pa.table({"a": A, "b": B, "c": C, "d": DRAWS.integers(0, 2, 4000)})
COLUMNS = ["a:0..5:1", "b:0..4:1", "c:0..3:1", "d:0..2:1"]


def made(**words: Any) -> Any:
    return enter(PEOPLE).synthetic(COLUMNS, **{"epsilon": 2, "delta": "1e-6", **words})


# --- the model ----------------------------------------------------------------------------------------------------


def test_for_two_columns_the_cliques_are_a_tree_of_greatest_weight() -> None:
    """Chow and Liu: Prim's choice against all spanning trees of five columns."""
    weights = {pair: float(DRAWS.random()) for pair in combinations(range(5), 2)}

    def strength(shared: tuple[int, ...], column: int) -> float:
        return weights[tuple(sorted((*shared, column)))]  # type: ignore[index]

    found = junction_tree(5, 2, strength)
    assert new_columns(found, 5) is not None

    def spans(tree: tuple[tuple[int, int], ...]) -> bool:
        reached = {0}
        for _ in tree:
            reached |= {i for pair in tree if set(pair) & reached for i in pair}
        return len(reached) == 5

    best = max(sum(weights[pair] for pair in tree) for tree in combinations(weights, 4) if spans(tree))
    assert math.isclose(sum(weights[pair] for pair in found), best)  # type: ignore[index]


@pytest.mark.parametrize(
    "cliques", [((0, 1), (2, 3)), ((0, 1), (1, 2), (0, 2)), ((0, 1),), ((0, 1, 2), (1, 3)), ((1, 0), (1, 2)), ()]
)
def test_what_is_no_junction_tree_of_all_columns_is_known(cliques: Any) -> None:
    assert new_columns(cliques, 4 if len(cliques) == 2 else 3) is None


def test_rows_have_the_tables_of_the_model_but_for_one_in_each_cell_and_are_the_same_for_one_seed() -> None:
    shape = (3, 4, 2)
    cells = DRAWS.integers(1, 50, shape).astype(float)
    model = GraphicalModel(shape, ((0, 1), (1, 2)), (cells.sum(axis=2), cells.sum(axis=0)))
    many = round(cells.sum())
    rows = model.rows(many, "a seed")
    assert np.abs(count_table(rows, (0, 1), shape) - model.tables[0]).max() < 1
    assert (
        np.abs(count_table(rows, (1, 2), shape) - model.tables[1]).max() < 3
    )  # one for rounding, one for those before it
    assert np.array_equal(rows, model.rows(many, "a seed"))
    assert not np.array_equal(rows, model.rows(many, "another"))
    assert model.rows(0, "none").shape == (3, 0)


def test_columns_that_share_nothing_but_a_third_are_independent_given_it() -> None:
    """a and c given b, 60,000 rows: the mean square of 3 x 3 x 2 standardised cells is about 1; 3 is far off."""
    shape = (3, 2, 3)
    model = GraphicalModel(shape, ((0, 1), (1, 2)), (np.full((3, 2), 10_000.0), np.full((2, 3), 10_000.0)))
    rows = model.rows(60_000, "independent")
    off = (count_table(rows, (0, 1, 2), shape) - 60_000 / 18) / math.sqrt(60_000 / 18)
    assert (off**2).mean() < 3


# --- the release --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [{}, {"ways": 3, "size": 500}, {"delta": None}], ids=str)
def test_it_is_verified_without_data_and_says_how_far_it_is_off(words: dict[str, Any], tmp_path: Path) -> None:
    release = made(**words)
    found = release.result
    assert isinstance(found, InventedRows)
    written = save_over(release, tmp_path, report=False)
    done = verify(Path(written["certificate"]).read_bytes(), folder=tmp_path)
    assert done.passed, done.failure
    rows, fit = pc.read_csv(tmp_path / "release.csv"), pc.read_csv(tmp_path / "fit.csv")
    assert rows.num_rows == found.size
    assert abs(found.size - 4000) < 200 or "size" in words
    assert fit.num_rows == len(found.spec.queries.sets)
    told = " ".join(found.sentences())
    assert "nothing else is promised" in told
    names, inside = (
        [axis.column for axis in found.spec.tables.request.axes],
        [set(each) for each in found.model().cliques],
    )
    others = [
        each for each in found.table_distances(found.rows()) if not any(set(each[0]) <= clique for clique in inside)
    ]
    if others:
        columns, off, noise = max(others, key=lambda each: each[1])
        which = join_words([names[i] for i in columns])
        assert f"the table by {which} is furthest off, by {off:,} people" in told
        assert f"where noise alone moves about {noise:,}" in told
    else:
        assert "The rows follow all" in told
    assert release.promises == found.spec.tables.promises()


def test_the_rows_have_about_the_real_tables() -> None:
    """At epsilon 2 the strong pairs are kept: less than a twentieth of the people is misplaced."""
    found = made().result
    rows = found.rows()
    for one, other in ((0, 1), (1, 2)):
        truth = np.zeros((found.spec.queries.shape[one], found.spec.queries.shape[other]))
        np.add.at(truth, tuple(PEOPLE.column(i).to_numpy() for i in (one, other)), 1)
        assert np.abs(count_table(rows, (one, other), found.spec.queries.shape) - truth).sum() / 2 < 200


def test_what_was_changed_is_refuted_even_if_it_is_signed_anew(tmp_path: Path) -> None:
    release = made(size=300)
    save_over(release, tmp_path, report=False)
    key.make(tmp_path / "ledger.db")
    names = sorted(path.name for path in tmp_path.glob("*.csv"))
    originals = {name: (tmp_path / name).read_text() for name in names}

    def failure(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        body = unsigned(release.spec) | {"files": {each: sha256(tmp_path / each) for each in names}}
        done = verify(sign(tmp_path / "ledger.db", body), folder=tmp_path)
        (tmp_path / name).write_text(originals[name])
        return "" if done.passed else done.failure

    assert failure("seed.csv", originals["seed.csv"]) == ""
    lines = originals["release.csv"].splitlines()
    assert "model and the seed" in failure("release.csv", "\n".join([lines[0], lines[-1], *lines[1:-1]]) + "\n")
    head, first, *rest = originals["model.csv"].splitlines()
    keys, _, number = first.rpartition(",")
    moved = "\n".join([head, f"{keys},{float(number) + 50!r}", *rest]) + "\n"
    assert re.search("not fitted|do not agree|model and the seed", failure("model.csv", moved))
    below = "\n".join([head, f"{keys},-1.0", *rest]) + "\n"
    assert "at least 0" in failure("model.csv", below)
    title, table, *others = originals["fit.csv"].splitlines()
    parts = table.rsplit(",", 2)
    assert "how far" in failure(
        "fit.csv", "\n".join([title, f"{parts[0]},{int(parts[1]) + 1},{parts[2]}", *others]) + "\n"
    )


@pytest.mark.parametrize("fault", ["a variance 1 % smaller", "a residual left out of rho", "a plan far from the best"])
def test_a_planted_fault_in_its_tables_is_refuted(fault: str, tmp_path: Path) -> None:
    """Those of the tables, of which everything is promised; and without a delta one that loses more than is said."""
    spec = synthetic(COLUMNS, epsilon=2, delta="1e-6")
    method = spec.tables.method
    assert isinstance(method, Residual)
    s2 = list(method.s2)
    changed = {
        "a variance 1 % smaller": [*s2[:-1], s2[-1] * Fraction(99, 100)],
        "a residual left out of rho": [*s2[:-1], Fraction(9)],
        "a plan far from the best": [s2[0] * 1000, *s2[1:]],
    }[fault]
    other = replace(spec.tables, method=replace(method, variances=tuple(map(to_text, changed))))
    key.make(tmp_path / "ledger.db")
    right = unsigned(spec)
    assert verify(sign(tmp_path / "ledger.db", right)).passed
    wrong = replace(spec, tables=other)
    forged = unsigned(wrong) if fault.startswith("a plan") else right | {"release": wrong.to_json()}
    assert not verify(sign(tmp_path / "ledger.db", forged)).passed
    pure = synthetic(COLUMNS, epsilon=2)
    known = unsigned(pure)
    assert verify(sign(tmp_path / "ledger.db", known)).passed
    less = replace(pure, tables=replace(pure.tables, loss=Fraction(1)))
    assert not verify(sign(tmp_path / "ledger.db", known | {"release": less.to_json()})).passed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"epsilon": None}, "what the tables"),
        ({"size": 10**8}, "at most 10,000,000"),
        ({"ways": 5}, "between 1 and 4 columns"),
        ({"ways": 0}, "ways"),
        ({"delta": 2}, "below 1"),
    ],
)
def test_wrong_uses_are_one_sentence(words: dict[str, Any], said: str) -> None:
    with pytest.raises(WrongUse, match=said) as error:
        synthetic(COLUMNS, **{"epsilon": 1, **words})
    assert "\n" not in str(error.value)


def test_one_column_is_no_table_of_rows() -> None:
    with pytest.raises(WrongUse, match="at least two columns"):
        synthetic(COLUMNS[:1], epsilon=Fraction(1))
