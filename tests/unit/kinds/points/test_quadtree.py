"""A quadtree as cells: every position is in one, none is wider than it says, and what is no tree is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import WrongUse
from hubbub.kinds.points.quadtree import Quadtree
from hubbub.kinds.points.request import points
from hubbub.protocol.drawing import Map
from hubbub.release import save
from hubbub.tables.bins import Lattice
from hubbub.verification import verify
from tests.fresh import opened

AXES = (Lattice("x", Fraction(0), Fraction(1), 16), Lattice("y", Fraction(0), Fraction(1), 32))
X, Y = (part.ravel() for part in np.meshgrid(np.arange(16), np.arange(32)))


@st.composite
def trees(draw: st.DrawFn) -> Quadtree:
    """Cut quarters up to three times."""
    cut: list[str] = []
    nodes = list("0123")
    while nodes:
        node = nodes.pop()
        if len(node) <= 3 and draw(st.booleans()):
            cut.append(node)
            nodes += [node + digit for digit in "0123"]
    return Quadtree(tuple(cut))


def cell(tree: Quadtree, x: int, y: int) -> str:
    """The cell of a position by its binary digits, one at a time."""
    name = ""
    for level in range(1, 6):
        name += str((x * 2**level // 16) % 2 + 2 * ((y * 2**level // 32) % 2))
        if name not in tree.cut:
            return name
    raise AssertionError


@given(trees())
def test_every_position_is_in_one_cell_as_wide_as_it_says(tree: Quadtree) -> None:
    found, names = tree.number(AXES, (X, Y)), tree.names
    for i in range(0, X.size, 7):
        assert names[found[i]] == cell(tree, int(X[i]), int(Y[i]))
    for i, width in enumerate(tree.diameters(AXES)):
        here = found == i
        assert int(np.ptp(X[here])) + int(np.ptp(Y[here])) == width
    assert len(tree.rings(AXES)) == len(names)
    areas = ((ring[1][0] - ring[0][0]) * (ring[2][1] - ring[1][1]) for ring in tree.rings(AXES))
    assert sum(areas) == 16 * 32


@pytest.mark.parametrize("cut", [("4",), ("0", "0"), ("01",), ("x",), ("",), ("0" * 25,), ("0", "00000")], ids=str)
def test_what_is_no_tree_is_one_sentence(cut: tuple[str, ...]) -> None:
    with pytest.raises(WrongUse) as error:
        Quadtree(cut)
    assert "\n" not in str(error.value)


def test_a_box_that_cannot_be_halved_so_often_is_refused() -> None:
    words: dict[str, Any] = {"box": "0..100,0..100", "lattice": "1,1", "crowd": 20, "epsilon": 1}
    with pytest.raises(WrongUse, match="needs a multiple of 8"):
        points("x,y", **words, quadtree="0,01")
    assert points("x,y", **words, quadtree="0").space.cells == 7
    assert points("x,y", **words, quadtree="-").space.cells == 4
    with pytest.raises(WrongUse, match="give one of these"):
        points("x,y", **words, quadtree="0", grid="10,10")
    with pytest.raises(WrongUse, match="two columns"):
        points("x", **(words | {"box": "0..100", "lattice": "1"}), quadtree="0")


def test_points_in_a_quadtree_are_a_release_like_any_other(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    table = pa.table({"x": rng.uniform(0, 50, 3000), "y": rng.uniform(0, 50, 3000)})
    words: dict[str, Any] = {"box": "0..100,0..100", "lattice": "0.5,0.5", "crowd": 20, "epsilon": 4}
    done = opened(table, dataset="town").points("x,y", **words, quadtree=["0", "01"])
    assert len(done) == 3000  # all are in quarter 0, whose cells are full
    spec = points("x,y", **words, quadtree="0,01")
    assert sorted(set(spec.rates)) == [Fraction(4, 198), Fraction(4, 98), Fraction(4, 48)]
    assert all(check.passed for check in spec.checks())
    drawing = done.result.drawing()
    assert isinstance(drawing, Map)
    assert len(drawing.outlines) == 10
    saved = save(done, tmp_path)
    checked = verify(Path(saved["certificate"]).read_bytes(), folder=tmp_path, known=lambda public: "you")
    assert checked.complete, checked.verdict
