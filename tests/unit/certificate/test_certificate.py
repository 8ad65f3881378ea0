"""The certificate: everything public about a release, exact, and nothing that the data decides."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from hubbub.certificate.certificate import FORMAT, about, derivation_json
from hubbub.guarantees.curve import steps
from hubbub.guarantees.definitions import (
    BernoulliSample,
    CrowdBlending,
    DifferentialPrivacy,
    OutlierPrivacy,
    SimpleOutlier,
    StaircaseOutlier,
    ZeroKnowledge,
)
from hubbub.guarantees.people import People, Whose
from hubbub.numeric.exact import INFINITY, rational, to_text
from hubbub.protocol.release import Release
from hubbub.serialization.canonical import canonical, read
from hubbub.serialization.exact_json import plain
from tests.fresh import DIGEST, certificate_of, open, opening_words
from tests.unit.shared.histogram_requests import TOWNS, WORDS

STEP = {"promise", "people", "unit", "theorem", "given", "assumptions", "premises"}


def steps_of(made: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every step of every promise in it."""
    waiting = list(made["guarantees"])
    while waiting:
        step = waiting.pop()
        waiting += step["premises"]
        yield step


def release(name: str, by: str = "town=Bath,York,other", towns: list[str] = TOWNS) -> Release:
    table = pa.table({"town": pa.array(towns, pa.string()), "id": list(range(len(towns)))})
    how, given = opening_words(WORDS[name])
    return open(table, person="id", **how).histogram([by], **given)


@pytest.mark.parametrize("name", WORDS)
def test_a_certificate_is_plain_json_that_says_what_the_law_asks(name: str) -> None:
    made = certificate_of(release(name))
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert made["format"] == FORMAT
    assert made["kind"] == "histogram/1"
    assert made["files"] == {"release.csv": DIGEST}
    assert made["release"]["unit"]["person"] == "id"
    assert made["release"]["bins"] == [
        {"is": "Values", "column": "town", "values": ["Bath", "York"], "null": False, "other": True, "reads": ""}
    ]
    for step in steps_of(made):
        assert set(step) == STEP
        assert step["promise"]["is"]
        assert step["theorem"]
        assert (step["people"] in {whose.value for whose in Whose}, step["unit"]) == (True, "id")
        if not step["premises"]:
            told = [assumption["id"] for assumption in step["assumptions"]]
            assert {"public-partition", "bins.no-null.other"} <= set(told)
            assert any(name.startswith("person.") for name in told)


@pytest.mark.parametrize("name", WORDS)
def test_a_certificate_holds_identifiers_and_numbers_and_no_sentence(name: str) -> None:
    """A better sentence must leave old certificates standing, so there is none in them that could be bettered."""
    made = certificate_of(release(name))
    said = {text for step in release(name).promises for part in step.steps() for text in part.all_assumptions()}
    named = {str(part.theorem) for step in release(name).promises for part in step.steps()}
    words = release(name).spec.describe()
    texts = json.dumps(made)
    for sentence in (*said, *named, words.title, words.published, words.sampling, words.counts, words.person):
        assert sentence not in texts


def test_whom_each_promise_is_about_is_written() -> None:
    people = {name: [step["people"] for step in certificate_of(release(name))["guarantees"]] for name in WORDS}
    assert people["crowd"] == ["table"]
    assert people["sample"] == ["table"] * 4
    assert people["collected"] == people["uneven"] == ["table", *["population"] * 3]
    assert people["one row"] == ["kept-rows"]
    assert people["distinct"] == ["table"]


@pytest.mark.parametrize("name", WORDS)
def test_a_certificate_holds_no_float(name: str) -> None:
    made = certificate_of(release(name))
    assert read(canonical(made), "it") == made  # which refuses floats
    for step in steps_of(made):
        for key in ("epsilon", "delta"):
            if step["promise"].get(key, "inf") != "inf":
                assert to_text(rational(step["promise"][key])) == step["promise"][key]


@pytest.mark.parametrize("name", WORDS)
def test_floats_for_the_terminal_are_just_above_the_exact_numbers(name: str) -> None:
    for step in release(name).promises:
        told = about(step.conclusion)
        for key in ("epsilon", "delta"):
            if f"{key}_exact" in told and told[key] != "inf":
                exact = rational(told[f"{key}_exact"])
                assert Fraction(told[key]) >= exact
                assert Fraction(math.nextafter(told[key], -math.inf)) < exact


@pytest.mark.parametrize("name", WORDS)
def test_a_certificate_does_not_depend_on_the_data(name: str) -> None:
    tables: tuple[list[str], ...] = (TOWNS, [], ["Bath"], ["Paris"] * 500)
    made = [json.dumps(certificate_of(release(name, towns=towns))) for towns in tables]
    assert len(set(made)) == 1


def test_of_bins_found_in_the_data_not_even_the_number_is_told() -> None:
    made = [
        json.dumps(certificate_of(release("crowd", "town", towns)))
        for towns in (TOWNS, [], [f"town {i}" for i in range(500)])
    ]
    assert len(set(made)) == 1
    assert json.loads(made[0])["release"]["bins"] == [
        {"is": "Discovered", "column": "town", "unit": None, "reads": "", "coarser": None}
    ]


def test_whom_the_numbers_count() -> None:
    assert release("crowd").spec.describe().counts == "the people in the table"
    assert release("sample").spec.describe().counts == "the people in the secret sample"
    assert release("scaled").spec.describe().counts == "the people in the secret sample"
    assert "the true number of everybody in the table" in release("scaled").spec.describe().intervals


def test_the_channel_is_named_with_its_parameters() -> None:
    assert certificate_of(release("noisy"))["release"]["channel"] == {
        "name": "noisy-below",
        "k": "20",
        "epsilon": "0.5",
        "tagged": False,
    }
    assert certificate_of(release("plain"))["release"]["channel"] == {"name": "geometric", "epsilon": "1/3"}
    assert certificate_of(release("sample"))["release"]["sample"] == "0.05"


@pytest.mark.parametrize(
    ("guarantee", "notion", "fields"),
    [
        (CrowdBlending(k=20, epsilon=Fraction(0)), "crowd-blending", {"k": 20, "epsilon": 0.0, "epsilon_exact": "0"}),
        (DifferentialPrivacy(epsilon=INFINITY), "differential", {"epsilon": "inf", "epsilon_exact": "inf"}),
        (
            DifferentialPrivacy(epsilon=Fraction(1, 3), delta=Fraction(1, 10)),
            "differential",
            {"epsilon_exact": "1/3", "delta_exact": "0.1", "delta": 0.1},
        ),
        (OutlierPrivacy(curve=steps((1, 1), (5, INFINITY))), "outlier", {"curve": "1:1,5:inf"}),
        (SimpleOutlier(k=5, epsilon=Fraction(1)), "simple-outlier", {"k": 5, "epsilon": 1.0}),
        (
            StaircaseOutlier(
                thresholds=(10, 5), epsilons=(Fraction(1), Fraction(1, 2), Fraction(0)), delta=Fraction(0)
            ),
            "staircase",
            {"thresholds": [10, 5], "epsilons": ["1", "0.5", "0"]},
        ),
        (
            ZeroKnowledge(epsilon=Fraction(1), delta=Fraction(0), aggregate=BernoulliSample(p=Fraction(1, 20))),
            "zero-knowledge",
            {"aggregate": "iRS(0.05)"},
        ),
    ],
)
def test_a_guarantee_is_told_by_its_notion_and_parameters(
    guarantee: Any, notion: str, fields: dict[str, object]
) -> None:
    told = about(guarantee)
    assert told["notion"] == notion
    assert told["says"] == str(guarantee)
    known = notion == "zero-knowledge"  # the simulator is told how many people there are
    assert (told["neighbours"], told["number_is_public"]) == ("replace" if known else "add/remove", known)
    assert {name: told[name] for name in fields} == fields
    assert "people" not in told
    assert about(guarantee, People(whose=Whose.KEPT_ROWS, person="id")) == told | {"people": "kept-rows", "unit": "id"}
    assert about(guarantee, People())["unit"] == "row"


def test_a_derivation_is_told_down_to_its_first_premise() -> None:
    *_, population = release("sample").promises
    told: Any = derivation_json(population)
    assert told["promise"] == plain(population.conclusion)
    assert told["theorem"] == population.theorem.id
    assert told["given"] == dict(population.inputs)
    assert set(dict(population.numbers)) - set(told["given"]) == {
        "direction_out",
        "others_out",
        "epsilon_out",
        "delta_out",
    }
    (first,) = told["premises"]
    assert first["promise"] == {"is": "CrowdBlending", "k": 20, "epsilon": "0"}
    assert first["premises"] == []
    assert {"id": "public-partition"} in first["assumptions"]
    assert {"id": "person.one-row-each", "person": "id"} in first["assumptions"]
