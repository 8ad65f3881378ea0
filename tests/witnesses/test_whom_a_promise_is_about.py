"""Promises that were told of the wrong people, each with the number that showed it."""

from __future__ import annotations

import json
import math
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from hubbub.audit.sequence import loss
from hubbub.cli.main import commands
from hubbub.errors import Refused
from hubbub.guarantees.composition import FRESH_SAMPLES, INDEPENDENT
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.guarantees.people import Whose
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.policy import Policy
from hubbub.tables.privacy_unit import Unit
from tests.fresh import opened as open_table
from tests.joint import Asked, Row, joint


def visits(*towns: str) -> tuple[Row, ...]:
    return tuple(Row(f"p{i}", f"d{i}", town, town, town) for i, town in enumerate(towns))


def test_tables_of_20_and_19_people_are_told_apart_and_only_the_population_is_promised_otherwise() -> None:
    spec = histogram(["a=x,y"], crowd=20, collected="0.1")
    assert math.isinf(loss(joint([Asked(spec)], visits(*"x" * 20), visits(*"x" * 19))))
    private = [step for step in spec.promises() if isinstance(step.conclusion, DifferentialPrivacy)]
    assert [step.people.whose for step in private if step.people is not None] == [Whose.POPULATION]
    assert not any(isinstance(step.conclusion, DifferentialPrivacy) for step in spec.table_promises())


def test_a_collected_table_with_plain_noise_loses_1_and_not_01586() -> None:
    spec = histogram(["a=x,y"], epsilon=1, collected="0.1")
    assert loss(joint([Asked(spec)], visits("x"), ())) == pytest.approx(1)
    told = {
        step.people.whose: step.conclusion.epsilon
        for step in spec.promises()
        if isinstance(step.conclusion, DifferentialPrivacy) and step.people is not None
    }
    assert told[Whose.TABLE] == 1
    assert Fraction("0.1585") < told[Whose.POPULATION] < Fraction("0.1586")  # type: ignore[operator]


def test_a_patient_seen_by_ten_doctors_loses_11() -> None:
    by_patient = histogram(["a=x,y"], epsilon=1, unit=Unit(person="patient", one_row_per_person=True))
    by_doctor = histogram(["a=x,y"], epsilon=1, unit=Unit(person="doctor"))
    seen = tuple(Row("t", f"d{i}", "x", "x", "x") for i in range(10))
    assert loss(joint([Asked(by_patient), Asked(by_doctor)], seen, ())) == pytest.approx(11)
    table = pa.table({"patient": ["t"] * 10, "doctor": [f"d{i}" for i in range(10)], "a": ["x"] * 10})
    Ledger().set_policy("clinic", Policy(differential_epsilon=Fraction(2)))
    open_table(table, person="patient", dataset="clinic").histogram(["a=x,y"], epsilon=1, one_row_per_person=True)
    for person in ("doctor", None):
        with pytest.raises(Refused, match="promises about unlike people do not add up"):
            open_table(table, person=person, dataset="clinic").histogram(["a=x,y"], epsilon=1, accept_weak=True)


SUPPRESSED: dict[str, Any] = {"channel": "simple-suppressed", "options": {"k": 1}}
TYPED: dict[str, Any] = {"mechanism": "simple-suppressed:k=1"}


def test_suppressing_twice_on_a_table_that_changed_shows_one_person(tmp_path: Path) -> None:
    """Two people in x, one of them in y later; two in y then. Each release alone owes a crowd of one nothing."""
    spec = histogram(["a=x,y"], unit=Unit(person="patient"), **SUPPRESSED)
    table = tuple(
        Row(f"p{i}", f"d{i}", first, first, later)
        for i, (first, later) in enumerate((("x", "x"), ("x", "y"), ("y", "y"), ("y", "y")))
    )
    rest = tuple(row for row in table if row.patient != "p1")
    assert math.isinf(loss(joint([Asked(spec), Asked(spec, later=True)], table, rest)))
    place = tmp_path / "people.csv"
    place.write_text("id,a\n1,x\n2,x\n3,y\n4,y\n")
    open_table(place, person="id").histogram(["a=x,y"], accept_weak=True, **TYPED)
    open_table(place, person="id").histogram(["a=x,y"], accept_weak=True, **TYPED)
    place.write_text("id,a\n1,x\n2,y\n3,y\n4,y\n")
    with pytest.raises(Refused, match="shows exact numbers of crowds"):
        open_table(place, person="id").histogram(["a=x,y"], accept_weak=True, **TYPED)
    shown = CliRunner().invoke(commands, ["ledger", "show", "people"]).stdout
    assert "The table was the same, byte by byte" in shown
    open_table(place, person="id").histogram(["a=x,y"], epsilon=1)
    assert "The table changed between releases" in CliRunner().invoke(commands, ["ledger", "show", "people"]).stdout


def test_two_frames_with_a_column_of_one_name_are_two_partitions() -> None:
    for i, column in enumerate((["x", "x", "y"], ["x", "y", "y"])):
        frame = pa.table({"id": [1, 2, 3], "a": column})
        asked = open_table(frame, person="id", dataset="town")
        if i == 0:
            asked.histogram(["a=x,y"], accept_weak=True, **TYPED)
            continue
        with pytest.raises(Refused, match="shows exact numbers of crowds"):
            asked.histogram(["a=x,y"], accept_weak=True, **TYPED)


def test_kept_rows_do_not_meet_a_policy_about_people() -> None:
    table = pa.table({"id": [1, 1, 2, 2], "a": ["x", "y", "x", "y"]})
    Ledger().set_policy("town", Policy(crowd=2))
    with pytest.raises(Refused, match="crowds of kept rows"):
        open_table(table, person="id", dataset="town").histogram(
            ["a=x,y"], crowd=2, one_row_per_person=True, accept_weak=True
        )
    assert not Ledger().account("town").spent_releases


def test_hard_links_and_patterns_are_no_second_name(tmp_path: Path) -> None:
    place = tmp_path / "people.csv"
    place.write_text("a\nx\ny\n")
    open_table(place).histogram(["a=x,y"], epsilon=1)
    os.link(place, tmp_path / "link.csv")
    for other in (tmp_path / "link.csv", tmp_path / "peop*.csv"):
        with pytest.raises(Refused, match="the same table was released before as 'people'"):
            open_table(other).histogram(["a=x,y"], epsilon=1)


def test_releases_of_one_sample_are_not_said_to_draw_samples_of_their_own() -> None:
    one, two = (f"differential:epsilon={epsilon},neighbours=replace" for epsilon in ("1", "0.5"))
    told = CliRunner().invoke(commands, ["account", "compose", one, two, "--same-sample", "100", "10000", "--json"])
    assumptions = json.loads(told.stdout)["assumptions"]
    assert str(INDEPENDENT) in assumptions
    assert str(FRESH_SAMPLES) not in assumptions
