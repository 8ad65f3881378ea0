"""Connected components: those of another library, and of shapes that are hard for hooking."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components as right_components

from hubbub.graphs.distances import connected_components

N = 3000
UP = np.arange(N, dtype=np.int32)
SHUFFLED = np.random.default_rng(7).permutation(N).astype(np.int32)  # any order will do
SHAPES = {
    "a path": (UP[:-1], UP[1:]),
    "a path in no order": (SHUFFLED[:-1], SHUFFLED[1:]),
    "a star around the last": (np.full(N - 1, N - 1, dtype=np.int32), UP[:-1]),
    "a tree": (UP[1:], (UP[1:] - 1) // 2),
    "a tree from the last on": (N - 1 - UP[1:], N - 1 - (UP[1:] - 1) // 2),
    "two combs": (np.concatenate([UP[:-2], UP[::4][:-1]]), np.concatenate([UP[2:], UP[::4][1:]])),
}


def check(one: np.ndarray, two: np.ndarray, room: int) -> None:
    count, label = connected_components(one, two, room)
    links = coo_matrix((np.ones(one.size), (one, two)), shape=(room, room))
    right, right_label = right_components(links, directed=False)
    assert count == right
    assert sorted(set(label.tolist())) == list(range(count))
    assert len(set(zip(label.tolist(), right_label.tolist(), strict=True))) == count  # one name for each, both ways


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_that_are_hard_for_hooking(shape: str) -> None:
    check(*SHAPES[shape], N)


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_two_vertices_have_one_number_if_and_only_if_a_path_joins_them(
    graph: tuple[int, list[tuple[int, int]]],
) -> None:
    room, links = graph
    pairs = np.array(links, dtype=np.int32).reshape(-1, 2)
    check(pairs[:, 0], pairs[:, 1], room)
