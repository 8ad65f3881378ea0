"""A graph release on its way: files, certificate, ledger, what is refused, and what a forger cannot do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import hubbub
from hubbub import registry
from hubbub.certificate.certificate import SIGNATURE, sign
from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.graphs.graph import Graph, simple
from hubbub.guarantees.people import People, Whose
from hubbub.kinds.graph.mechanism import BROKEN
from hubbub.kinds.graph.request import statistics
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.charge import charge
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.policy import Policy
from hubbub.ledger.records import ABANDONED, COMMITTED
from hubbub.noise.source import ScriptedSource
from hubbub.protocol.bound import Bound
from hubbub.protocol.release import Release
from hubbub.publication.recovery import finish
from hubbub.publication.staging import Staged
from hubbub.report import report
from hubbub.serialization.canonical import canonical
from hubbub.verification import Checked, load, verify
from tests.fresh import played, wrong_in

SIZE: dict[str, Any] = {"vertices": 60, "max_degree": 4}
SAMPLED: dict[str, Any] = {**SIZE, "epsilon": 1, "samples": 20}
ALL = ["connectivity", "eulerian", "cycle-freeness", "average-degree", "edges"]
ASKED: dict[str, tuple[list[str], dict[str, Any]]] = {
    "everything": (ALL, {**SAMPLED, "average_at_most": 3}),
    "one": (["connectivity"], SAMPLED),
    "degrees": (["average-degree"], SAMPLED),
    "centred": (["connectivity", "edges"], {**SAMPLED, "centred": True}),
    "private": (["degree-histogram", "triangles"], {**SIZE, "epsilon": 2}),
    "edges": (["triangles"], {**SIZE, "epsilon": "1/3", "per_edge": True}),
}


def path(people: int, *, shift: int = 0) -> Graph:
    """A path, and nobody else."""
    return simple(np.arange(people - 1) + shift, np.arange(1, people) + shift, people + shift)


class Given:
    """Links that are there already."""

    def __init__(self, graph: Graph) -> None:
        self.held = graph

    def columns(self) -> dict[str, object]:
        return {}

    def graph(self, vertices: int | None = None) -> Graph:
        return Graph(vertices or self.held.vertices, self.held.starts, self.held.ends)


def publish(of: list[str], words: dict[str, Any], graph: object = None, dataset: str = "town") -> Release:
    return hubbub.open_graph(path(40) if graph is None else graph, dataset=dataset).statistics(of, **words)


def checked(folder: Path) -> Checked:
    return verify(load(folder / "certificate.json"), folder=folder, known=lambda key: "us")


# --- files and certificate ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("name", ASKED)
def test_what_is_saved_holds_and_reads_back(name: str, form: str, tmp_path: Path) -> None:
    of, words = ASKED[name]
    done = publish(of, words)
    hubbub.save(done, tmp_path, form=form)
    found = checked(tmp_path)
    assert found.complete, found.verdict
    assert found.spec == done.spec
    assert found.promises == done.promises
    body = json.loads((tmp_path / "certificate.json").read_text())
    assert (body["kind"], registry.read("graph/1", body["release"])) == ("graph/1", done.spec)
    assert {step.people for step in done.promises} == {done.spec.people}
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_wire_form_stays_what_it_is() -> None:
    """A certificate of today, as text: what is here must verify for ever."""
    given = {
        "vertices": 60,
        "max_degree": 4,
        "average_at_most": "3",
        "of": ["connectivity", "edges"],
        "epsilon": "1/3",
        "samples": 20,
        "explores": 9,
        "unit": "vertex",
        "coverage": "0.95",
        "scales": ["25.8", "35.4"],
    }
    spec = registry.read("graph/1", given)
    assert spec.to_json() == given
    one, each, private = (str(step.conclusion) for step in spec.promises())
    assert one == "0.66566-ZK w.r.t. RSE(20, 9)"
    assert (each, private) == ("2/3-ZK w.r.t. RSE(40, 9)", "0.268034-DP [replace]")
    assert all(check.passed for check in spec.checks())


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"scales": ["25.7", "35.4"]}, "too little"),
        ({"scales": ["25.8"]}, "is not one"),
        ({"scales": []}, "as Hubbub writes"),
        ({"of": ["connectivity", "paths"]}, "update"),
        ({"of": ["connectivity", "triangles"]}, "is not one"),
        ({"unit": "row"}, "is not one"),
        ({"unit": "edge"}, "is not one"),
        ({"samples": None}, "is not one"),
        ({"samples": 61}, "is not one"),
        ({"explores": None}, "as Hubbub writes"),
        ({"explores": 61}, "as Hubbub writes"),
        ({"vertices": "60"}, "written down"),
        ({"vertices": 2**40}, "is not one"),
        ({"max_degree": 60}, "as Hubbub writes"),
        ({"epsilon": "0.30"}, "as Hubbub writes"),
        ({"coverage": "1"}, "is not one"),
        ({"average_at_most": "5"}, "is not one"),
        ({"more": 1}, "as Hubbub writes"),
    ],
)
def test_a_description_that_cannot_be_is_refused(changed: dict[str, Any], why: str) -> None:
    of, words = ["connectivity", "edges"], {**SAMPLED, "epsilon": "1/3", "average_at_most": 3}
    given = statistics(of, **words).to_json() | {"scales": ["25.8", "35.4"]}
    with pytest.raises((CheckFailed, Refused), match=why):
        registry.read("graph/1", given | changed).promises()


FORGED: dict[str, Callable[[dict[str, Any]], object]] = {
    "less noise": lambda body: body["release"].update(scales=["3"]),
    "a smaller epsilon": lambda body: body["release"].update(epsilon="0.5"),
    "a smaller loss": lambda body: body["guarantees"][0]["promise"].update(epsilon="0.9"),
    "fewer samples": lambda body: body["release"].update(samples=19),
    "other people": lambda body: body["guarantees"][0].update(people="table", unit="row"),
    "edges, not people": lambda body: body["guarantees"][1].update(people="edge", unit="edge"),
    "a larger graph": lambda body: body["release"].update(vertices=61),
    "a smaller degree": lambda body: body["release"].update(max_degree=3),
    "another coverage": lambda body: body["release"].update(coverage="0.99"),
    "no promise": lambda body: body.update(guarantees=[]),
    "an assumption less": lambda body: body["guarantees"][0]["assumptions"].pop(),
}


@pytest.mark.parametrize("how", FORGED)
def test_a_certificate_that_was_changed_and_signed_anew_does_not_hold(how: str, tmp_path: Path) -> None:
    entered = publish(["connectivity"], SAMPLED)
    known = played(entered.spec, Given(path(40)), ScriptedSource.from_label("forged"))
    hubbub.save(replace(entered, result=known.result), tmp_path)
    body = json.loads((tmp_path / "certificate.json").read_text())
    del body[SIGNATURE]
    assert verify(sign(body, Ledger()), folder=tmp_path).passed
    FORGED[how](body)
    assert not verify(sign(body, Ledger()), folder=tmp_path).passed


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_file_whose_numbers_do_not_follow_from_its_counts_is_noticed(form: str, tmp_path: Path) -> None:
    done = publish(*ASKED["private"])
    hubbub.save(done, tmp_path, form=form)
    file = tmp_path / f"release.{form}"
    assert wrong_in(done.spec, file, form) is None
    table = done.to_arrow()
    for name in ("low", "high", "value", "scale", "fitted", "degree_at_least"):
        at = table.schema.names.index(name)
        wrong = table.column(name).to_pylist()
        wrong[0] = (wrong[0] or 0) + 1
        changed = table.set_column(at, name, [wrong])
        _rewrite(changed, file, form)
        assert name in str(wrong_in(done.spec, file, form))
    _rewrite(table.slice(1), file, form)
    assert "rows" in str(wrong_in(done.spec, file, form))
    _rewrite(table.drop_columns(["scale"]), file, form)
    assert "columns" in str(wrong_in(done.spec, file, form))
    file.write_bytes(b"\0\xff")
    assert "cannot be read" in str(wrong_in(done.spec, file, form))


def _rewrite(table: Any, file: Path, form: str) -> None:
    if form == "parquet":
        pq.write_table(table, file)
    else:
        import pyarrow.csv as arrow_csv

        arrow_csv.write_csv(table, file)


def test_nothing_but_the_counts_and_the_noise_is_in_the_release() -> None:
    """Two unlike graphs with the same counts, with the same noise: the same rows, pictures, words, certificate."""
    star = simple(np.zeros(3, dtype=np.int64), np.arange(1, 4), 60)
    bent = simple(np.array([50, 51, 51]), np.array([51, 52, 58]), 60)
    other = simple(np.array([0, 2, 4]), np.array([1, 3, 5]), 60)  # as many edges, other distances
    for name, twin in (("everything", bent), ("private", bent), ("degrees", other)):
        of, words = ASKED[name]
        spec = statistics(of, **words)
        one, two = (played(spec, Given(graph), ScriptedSource.from_label(name)) for graph in (star, twin))
        assert one.to_arrow().equals(two.to_arrow())
        assert report(one) == report(two)
        assert one.result.facts() == two.result.facts()
        assert canonical(one.spec.to_json()) == canonical(two.spec.to_json())


def test_rows_are_told_in_every_way() -> None:
    done = publish(*ASKED["everything"])
    rows = list(done)
    assert [row["of"] for row in rows] == ALL
    assert rows[3]["value"] == rows[4]["count"] * 2 / 60
    assert rows[0]["distance"] == rows[0]["count"] / 120
    told = done.result.facts()["answers"]
    assert [{**row, "low": each["low"], "high": each["high"]} for row, each in zip(rows, told, strict=True)] == rows
    assert "5 rows" in repr(done)
    assert "vertex with all its edges" in str(done)
    assert done.to_pandas().shape == (5, 7)


# --- the ledger ---------------------------------------------------------------------------------------------------


def together(dataset: str = "town") -> dict[str, str]:
    found = Ledger().account(dataset).totals
    assert found is not None
    return {name: str(getattr(found, name).guarantee) for name in ("differential", "zero_knowledge")}


def test_two_graph_releases_add_up_by_the_theorems() -> None:
    publish(["connectivity"], {**SAMPLED, "explore": 5})
    publish(["eulerian"], {**SAMPLED, "samples": 10, "epsilon": "0.5", "explore": 8})
    assert together()["zero_knowledge"] == "1.5-ZK w.r.t. RSE(30, 8)"
    publish(["degree-histogram"], {**SIZE, "epsilon": 2})
    private = together()
    assert private["zero_knowledge"] == "None"
    assert private["differential"].endswith("-DP [replace]")
    assert 2 < float(private["differential"].partition("-")[0]) < 3
    assert Ledger().check() > 0  # the running total is what all releases add up to
    Ledger().set_policy("town", Policy(differential_epsilon=Fraction(3)))
    with pytest.raises(Refused, match="above the cap"):
        publish(["degree-histogram"], {**SIZE, "epsilon": 2})


def test_many_releases_stand_for_what_each_of_them_asked() -> None:
    """The running total of a graph keeps its neighbouring relation, and is what all entries add up to."""
    asked = charge(Bound(statistics(["degree-histogram"], **SIZE, epsilon="0.02")))
    for _ in range(30):
        Ledger().reserve("town", asked)
    found = Ledger().account("town").totals
    assert found is not None
    assert str(found.differential.guarantee) == "0.6-DP [replace]"
    assert "[replace]" in str(found.adaptive.guarantee or "[replace]")
    assert Ledger().check() == 31


@pytest.mark.parametrize("name", ["private", "edges"])
def test_promises_about_a_vertex_an_edge_and_a_row_do_not_add_up(name: str, tmp_path: Path) -> None:
    publish(*ASKED[name])
    other = "edges" if name == "private" else "private"
    with pytest.raises(Refused, match="unlike people"):
        publish(*ASKED[other])
    (tmp_path / "people.csv").write_text("vertex,town\n1,York\n")
    for person in (None, "vertex"):
        table = hubbub.open(tmp_path / "people.csv", person=person, rows_are_people=person is None, dataset="town")
        with pytest.raises(Refused, match=f"by {'vertex' if name == 'private' else 'edge'} of a graph, and this one"):
            table.histogram(["town=York"], epsilon=1)
    assert len(Ledger().account("town").spent_releases) == 1


def test_a_graph_cannot_follow_a_table(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,town\n1,York\n")
    hubbub.open(tmp_path / "people.csv", rows_are_people=True, dataset="town").histogram(["town=York"], epsilon=1)
    with pytest.raises(Refused, match="by row, and this one by vertex of a graph"):
        publish(*ASKED["one"])


def test_the_people_of_a_graph_are_named() -> None:
    asked = {name: statistics(of, **words) for name, (of, words) in ASKED.items()}
    assert charge(Bound(asked["one"])).people == People(whose=Whose.VERTEX)
    assert charge(Bound(asked["edges"])).people == People(whose=Whose.EDGE)
    assert charge(Bound(histogram(["a=x"], epsilon=1))).people == People()
    with pytest.raises(WrongUse):
        People(whose=Whose.VERTEX, person="id")


def test_one_file_under_two_names_is_one_graph(tmp_path: Path) -> None:
    links = tmp_path / "links.csv"
    links.write_text("a,b\n1,2\n2,3\n")
    hubbub.open_graph(links).statistics(["connectivity"], **SAMPLED)
    assert "links" in Ledger().accounts()
    copy = tmp_path / "copy.csv"
    copy.write_bytes(links.read_bytes())
    with pytest.raises(Refused, match="released before as 'links'"):
        hubbub.open_graph(copy).statistics(["connectivity"], **SAMPLED)
    people = tmp_path / "people.csv"
    people.write_text("p\n1\n2\n3\n")
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,3\n")
    hubbub.open_graph(other, vertex_file=people, dataset="other").statistics(["connectivity"], **SAMPLED)
    with pytest.raises(Refused, match="'other'"):
        hubbub.open_graph(people, columns=["p", "p"], dataset="third").statistics(["connectivity"], **SAMPLED)


# --- refusals, and what they cost ---------------------------------------------------------------------------------


def star(leaves: int) -> Graph:
    return simple(np.zeros(leaves, dtype=np.int64), np.arange(1, leaves + 1), leaves + 1)


@pytest.mark.parametrize(
    "graph",
    [star(5), path(61), star(70), [(f"p{i}", f"p{i + 1}") for i in range(61)], path(60)],
    ids=["degree", "people", "both", "labels", "average"],
)
def test_a_graph_beyond_its_declaration_costs_nothing_and_is_refused_in_the_same_words(graph: object) -> None:
    with pytest.raises(Refused) as refused:
        publish(["edges"], {**SAMPLED, "average_at_most": 1}, graph)
    assert str(refused.value) == BROKEN
    (record,) = Ledger().account("town").records
    assert (record.state, record.drawn, record.is_spent) == (ABANDONED, False, False)


def test_what_fails_after_the_noise_was_drawn_is_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.kinds.graph.mechanism.answers_of", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        publish(*ASKED["one"])
    (record,) = Ledger().account("town").records
    assert (record.state, record.drawn, record.is_spent) == (ABANDONED, True, True)


def test_a_release_that_is_cut_short_is_finished_with_the_same_bytes(tmp_path: Path) -> None:
    def cut_short(staged: Staged) -> dict[str, str]:
        staged.close()
        raise KeyboardInterrupt

    done = publish(*ASKED["everything"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hubbub.release.publish", cut_short)
        with pytest.raises(KeyboardInterrupt):
            hubbub.save(done, tmp_path)
    assert not (tmp_path / "release.csv").exists()
    finish(next(tmp_path.glob(".hubbub-*")))
    assert checked(tmp_path).passed
    (record,) = Ledger().account("town").records
    assert record.state == COMMITTED
    rows = (tmp_path / "release.csv").read_text().splitlines()[1:]
    assert [int(row.split(",")[5]) for row in rows] == [row["count"] for row in done]


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ([], SAMPLED),
        (["friends"], SAMPLED),
        (["connectivity"], {**SAMPLED, "vertices": 1}),
        (["connectivity"], {**SAMPLED, "vertices": 0}),
        (["connectivity"], {**SAMPLED, "max_degree": 0}),
        (["connectivity"], {**SAMPLED, "samples": 61}),
        (["connectivity"], {**SAMPLED, "epsilon": "1e-9"}),
        (["connectivity"], {**SAMPLED, "epsilon": "1e9"}),
        (["edges"], {**SAMPLED, "explore": 5}),
        (["degree-histogram"], {**SIZE, "epsilon": 1, "explore": 5}),
        (["degree-histogram"], {"vertices": 2**31 - 1, "max_degree": 2**30, "epsilon": 1}),
    ],
)
def test_what_cannot_be_asked_is_one_sentence_and_enters_nothing(of: Any, words: dict[str, Any]) -> None:
    with pytest.raises(WrongUse):
        publish(of, words)
    assert Ledger().accounts() == {}


def test_an_object_needs_a_name_and_a_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="name in the ledger"):
        hubbub.open_graph([(1, 2)]).statistics(["connectivity"], **SAMPLED)
    with pytest.raises(WrongUse, match="no file"):
        hubbub.open_graph(tmp_path / "none.csv")
