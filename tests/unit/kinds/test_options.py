"""One definition of every option: what Python's types, signatures and help say is what the commands have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import hubbub
from hubbub import registry
from hubbub.errors import WrongUse, in_python
from hubbub.kinds.cube.request import cube
from hubbub.kinds.graph.request import statistics
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.network import Network
from hubbub.kinds.points.request import points
from hubbub.kinds.quantile.quantile import quantile
from hubbub.kinds.queries.request import queries
from hubbub.kinds.records.request import records
from hubbub.kinds.sum.request import total
from hubbub.kinds.summary.request import summary
from hubbub.kinds.sums.count import count
from hubbub.kinds.sums.fraction import fraction
from hubbub.kinds.sums.mean import mean
from hubbub.kinds.sums.ratio import ratio
from hubbub.kinds.sums.variance import spread
from hubbub.kinds.synthetic.request import synthetic
from hubbub.kinds.table import Table
from hubbub.options.mechanism import Mechanism
from website.options import METHODS, PLACE, text

REQUESTS: dict[str, Callable[..., Any]] = {
    "histogram": histogram,
    "records": records,
    "cube": cube,
    "points": points,
    "queries": queries,
    "count": count,
    "fraction": fraction,
    "mean": mean,
    "quantile": quantile,
    "sum": total,
    "ratio": ratio,
    "summary": summary,
    "synthetic": synthetic,
    "variance": spread,
    "std": spread,
    "graph": statistics,
}


def method(name: str) -> Callable[..., Any]:
    return Network.statistics if name == "graph" else getattr(Table, name)  # type: ignore[no-any-return]


def table() -> Table:
    return hubbub.open(pa.table({"town": ["Bath"] * 40}), rows_are_people=True, dataset="t")


def test_the_types_of_the_options_are_those_of_the_kinds_now() -> None:
    assert PLACE.read_text(encoding="utf-8") == text(), "run make options"


def test_python_has_a_method_for_every_kind_but_two() -> None:
    """Ballots are published by a function of their own, and questions are asked of a sample in a block."""
    assert set(registry.names()) - set(METHODS) == {"questions", "ballots"}


@pytest.mark.parametrize("name", METHODS)
def test_help_and_signature_of_a_method_know_every_option_of_its_command(name: str) -> None:
    taken, told = inspect.signature(method(name)).parameters, inspect.getdoc(method(name)) or ""
    assert "accept_weak" in taken
    assert "Guarantee:" in told
    assert "--" not in told.replace("--of", ""), "Python's help speaks Python"
    for option in registry.kind(name).options:
        if option.name in METHODS[name]:
            assert option.name in taken or option.name == "class"
            continue
        assert taken[option.name].annotation == option.annotation
        assert f"- {option.name}: {in_python(option.help)}" in told
        assert (taken[option.name].default is inspect.Parameter.empty) == bool(option.missing)


@pytest.mark.parametrize("name", METHODS)
def test_what_is_left_out_is_the_same_in_python_and_on_the_command_line(name: str) -> None:
    taken = inspect.signature(REQUESTS[name]).parameters
    for option in registry.kind(name).options:
        if option.default is not None and option.name in taken and option.name not in METHODS[name]:
            assert str(taken[option.name].default) == option.default, option.name


def test_an_option_that_is_not_there_is_one_sentence_with_the_one_that_was_meant() -> None:
    words: dict[str, Any] = {"epsilom": 1}
    with pytest.raises(WrongUse, match=r"^histogram has no option 'epsilom'; did you mean epsilon\?$"):
        table().histogram(["town=Bath"], **words)
    with pytest.raises(WrongUse, match=r"^mean has no option 'any_row'"):
        table().mean("x:0..1:1", **{"any_row": True, "epsilon": 1})  # type: ignore[arg-type]


def test_an_option_that_must_be_said_has_its_sentence_in_python_too() -> None:
    words: dict[str, Any] = {}
    with pytest.raises(WrongUse, match=r"^say from where to where points are published, .* add box=-74.3"):
        table().points(["lon", "lat"], grid=["0.1", "0.1"], crowd=5, epsilon=1, **words)
    with pytest.raises(WrongUse, match=r"say how many people that is, like crowd=20$"):
        table().records(["town"], **words)


def test_a_mechanism_comes_as_its_text_or_as_the_value() -> None:
    typed = table().histogram(["town=Bath"], mechanism="warped:curve=1:0.01,101:1")
    named = table().histogram(["town=Bath"], mechanism=Mechanism("warped", (("curve", "1:0.01,101:1"),)))  # type: ignore[arg-type]
    assert typed.spec.to_json() == named.spec.to_json()


def test_statistics_of_a_graph_are_listed_or_named_in_one_text_as_on_the_command_line() -> None:
    graph, words = registry.kind("graph"), {"vertices": 60, "max_degree": 5, "epsilon": 1, "samples": 10}
    assert graph.ask(of="edges,connectivity", **words) == graph.ask(of=["edges", "connectivity"], **words)
