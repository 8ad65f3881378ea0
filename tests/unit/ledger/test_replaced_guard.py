"""Whom "one person replaced" is about: people of a table, and nobody of a graph, whose vertices stay."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.guarantees.neighbours import Neighbours
from hubbub.guarantees.people import People, Whose
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.charge import charge
from hubbub.protocol.bound import Bound

TABLE = charge(Bound(histogram(["town=Bath,York"], epsilon="0.5")))
SWAP = DifferentialPrivacy(epsilon=Fraction(1, 2), neighbours=Neighbours.REPLACE)


def test_in_a_table_one_replaced_costs_two_steps() -> None:
    assert TABLE.replacement_loss == DifferentialPrivacy(epsilon=Fraction(1), neighbours=Neighbours.REPLACE)
    assert not TABLE.promises_replacement
    assert replace(TABLE, promises=(SWAP,)).promises_replacement
    assert replace(TABLE, promises=(SWAP,)).replacement_loss == SWAP


def test_in_a_graph_it_is_the_relation_already() -> None:
    graph = replace(TABLE, people=People(whose=Whose.VERTEX), promises=(SWAP,))
    assert graph.replacement_loss is None
    assert not graph.promises_replacement
    assert graph.replaced_accountant is None
