"""The certificate: everything public about a release, exact, and nothing that the data decides."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from hubbub.certificate import FORMAT, about, counted_people, tree
from hubbub.exact import INFINITY, rational, to_text
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
from hubbub.release import Release
from hubbub.wire.canonical import canonical, read
from tests.fresh import DIGEST, certificate_of, open

TOWNS = ["Bath"] * 30 + ["York"] * 3

WORDS: dict[str, dict[str, Any]] = {
    "crowd": {"crowd": 20},
    "noisy": {"crowd": 20, "epsilon": "0.5"},
    "plain": {"epsilon": "1/3"},
    "outlier": {"outlier": "1:0.01,101:1"},
    "sample": {"crowd": 20, "sample": "0.05"},
    "scaled": {"epsilon": 1, "sample": "0.05", "scale_up": True},
    "collected": {"crowd": 20, "collected": "0.05"},
    "uneven": {"crowd": 20, "collected_between": ("0.03", "0.06"), "exempt": 5},
    "one row": {"crowd": 20, "one_row_per_person": True},
    "distinct": {"epsilon": 1, "distinct": 2},
    "staircase": {
        "channel": "staircase",
        "options": {"thresholds": "1000,100,10", "epsilons": "1,0.1,0.01,0", "alpha": 10},
    },
}


def release(name: str, by: str = "town=Bath,York,other", towns: list[str] = TOWNS) -> Release:
    table = pa.table({"town": pa.array(towns, pa.string()), "id": list(range(len(towns)))})
    return open(table, person="id").histogram([by], **WORDS[name])


@pytest.mark.parametrize("name", WORDS)
def test_a_certificate_is_plain_json_that_says_what_the_law_asks(name: str) -> None:
    made = certificate_of(release(name))
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert made["format"] == FORMAT
    assert made["release_sha256"] == DIGEST
    assert made["neighbours"] == "one person is added or removed"
    assert made["person"].startswith(("id identifies", "one row for each value of id", "each value of id"))
    assert made["bins"] == [
        {"is": "Values", "column": "town", "values": ["Bath", "York"], "null": False, "other": True}
    ]
    assert "town: missing values count as not listed; all other values are one bin" in made["assumptions"]
    for guarantee in made["guarantees"]:
        assert guarantee["notion"] in ("crowd-blending", "outlier", "differential", "zero-knowledge", "distributional")
        assert guarantee["derivation"]["theorem"]
        assert guarantee["derivation"]["source"]


@pytest.mark.parametrize("name", WORDS)
def test_a_certificate_holds_no_float(name: str) -> None:
    made = certificate_of(release(name))
    assert read(canonical(made), "it") == made  # which refuses floats
    for guarantee in made["guarantees"]:
        for key in ("epsilon", "delta"):
            if key in guarantee and guarantee[key] != "inf":
                assert to_text(rational(guarantee[key])) == guarantee[key]


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
    tables = (TOWNS, [], ["Bath"], ["Paris"] * 500)
    made = [json.dumps(certificate_of(release(name, towns=towns))) for towns in tables]
    assert len(set(made)) == 1


def test_of_bins_found_in_the_data_not_even_the_number_is_told() -> None:
    made = [
        json.dumps(certificate_of(release("crowd", "town", towns)))
        for towns in (TOWNS, [], [f"town {i}" for i in range(500)])
    ]
    assert len(set(made)) == 1
    assert json.loads(made[0])["bins"] == [{"is": "Discovered", "column": "town", "unit": None}]


def test_whom_the_numbers_count() -> None:
    assert counted_people(release("crowd").spec) == "the people in the table"
    assert counted_people(release("sample").spec) == "the people in the secret sample"
    assert counted_people(release("scaled").spec) == "everybody in the table, scaled up from a sample"


def test_the_channel_is_named_with_its_parameters() -> None:
    assert certificate_of(release("noisy"))["channel"] == {
        "name": "noisy-below",
        "k": "20",
        "epsilon": "0.5",
        "tagged": False,
    }
    assert certificate_of(release("plain"))["channel"] == {"name": "geometric", "epsilon": "1/3"}
    assert certificate_of(release("sample"))["sample"] == "0.05"


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
        (SimpleOutlier(k=5, epsilon=Fraction(1)), "outlier", {"k": 5, "epsilon": 1.0}),
        (
            StaircaseOutlier(
                thresholds=(10, 5), epsilons=(Fraction(1), Fraction(1, 2), Fraction(0)), delta=Fraction(0)
            ),
            "outlier",
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
    assert {name: told[name] for name in fields} == fields


def test_a_derivation_is_told_down_to_its_first_premise() -> None:
    *_, population = release("sample").promises
    told = tree(population)
    assert told["conclusion"] == str(population.conclusion)
    assert told["premises"][0]["conclusion"] == "(20, 0)-crowd-blending"
    assert told["premises"][0]["premises"] == []
    assert "the bins are a public partition" in told["premises"][0]["assumptions"]
    assert dict(population.numbers) == told["numbers"]
