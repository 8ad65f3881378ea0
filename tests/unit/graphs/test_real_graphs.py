"""Known networks with known answers. The files are not part of the repository: without them these are skipped."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from hubbub.demo.friend_attack import guesses
from hubbub.graphs.distances import edges_away, facts
from hubbub.graphs.graph import Graph
from hubbub.graphs.readers import load
from hubbub.graphs.statistics import Statistic
from hubbub.noise.source import ScriptedSource
from tests.unit.graphs.louvain import communities

GRAPHS = Path(__file__).resolve().parents[4] / "shared" / "data" / "graphs"
pytestmark = pytest.mark.skipif(not GRAPHS.exists(), reason="the networks are not here")

# vertices, edges, components, odd, even components, largest degree, edges to connectivity, cycle-freeness, eulerian
KNOWN = {
    "facebook_combined.txt": (4039, 88_234, 1, 2018, 0, 1045, 0, 84_196, 1008),
    "CA-GrQc.txt": (5242, 14_484, 355, 2898, 74, 81, 354, 9597, 1522),
    "lastfm_asia_edges.csv": (7624, 27_806, 1, 4280, 0, 216, 0, 20_183, 2139),
    "deezer_europe_edges.csv": (28_281, 92_752, 1, 15_990, 0, 172, 0, 64_472, 7994),
    "polblogs.gml": (1490, 16_705, 268, 630, 266, 351, 267, 15_483, 580),
}


@cache
def network(name: str) -> Graph:
    return load(GRAPHS / name)


@pytest.mark.parametrize("name", KNOWN)
def test_the_exact_values_of_real_networks(name: str) -> None:
    found = facts(network(name))
    of = (Statistic.CONNECTIVITY, Statistic.CYCLE_FREENESS, Statistic.EULERIAN)
    told = (found.vertices, found.edges, found.components, found.odd, found.even_components, found.largest_degree)
    assert (*told, *(edges_away(each, found) for each in of)) == KNOWN[name]


def test_a_vertex_file_adds_nobody_whom_the_links_know() -> None:
    with_list = load(GRAPHS / "lastfm_asia_edges.csv", vertex_file=GRAPHS / "lastfm_asia_target.csv")
    assert facts(with_list) == facts(network("lastfm_asia_edges.csv"))


def test_communities_give_labels_away_and_random_people_do_not() -> None:
    """The country of lastfm's listeners: about .83 from histograms at epsilon 0.5, .53 from sqrt(n) people."""
    with open(GRAPHS / "lastfm_asia_target.csv", newline="") as file:
        labels = np.array([int(row["target"]) for row in csv.DictReader(file)])
    network_here = network("lastfm_asia_edges.csv")  # ids 0..n-1 stay as they are
    found = guesses(
        labels,
        communities(network_here, resolution=10, least=30),
        "0.5",
        int(labels.size**0.5),
        ScriptedSource.from_label("lastfm"),
    )
    assert found.people > 0.8 * labels.size
    assert 0.80 < found.private < 0.87
    assert 0.48 < found.sampled < 0.58
    assert found.prior < 0.25
    assert found.private <= found.exact
