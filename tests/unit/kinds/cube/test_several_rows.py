"""Cubes with Gaussian noise of people of whom several rows count."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.guarantees.accountant.gaussian import lemma_c
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.kinds.cube.noise import residuals_of
from hubbub.kinds.cube.request import KIND
from hubbub.kinds.cube.spec import Cube, read
from hubbub.tables.schema import ColumnType, Schema
from tests.fresh import open

BY = ["ward=a,b,c", "back=yes,no"]
SCHEMA = Schema({"id": ColumnType.INTEGER, "ward": ColumnType.TEXT, "back": ColumnType.TEXT})


def asked(**words: Any) -> Cube:
    spec = KIND.ask(person="id", by=BY, epsilon=1, delta="1e-6", mechanism="gaussian", **words).with_schema(SCHEMA)
    assert isinstance(spec, Cube)
    return spec


def test_lemma_c_is_worked_out_for_all_rows_of_a_person() -> None:
    spec, alone = asked(rows_per_person=4), asked()
    plan, of_one = residuals_of(spec), residuals_of(alone)
    assert [noise.squared for noise in plan.noises] == [16 * noise.squared for noise in of_one.noises]
    (promise,) = spec.promises()
    assert isinstance(promise.conclusion, DifferentialPrivacy)
    assert promise.conclusion.epsilon == 1
    assert promise.conclusion.delta == lemma_c(plan.noises, Fraction(1)) <= Fraction(1, 10**6)
    assert promise.people == spec.cells.unit.people
    assert all(check.passed for check in spec.checks())
    assert max(asked(rows_per_person=4, rows_per_bin=1).reaches) < max(spec.reaches)
    assert read(spec.to_json()) == spec


def test_the_tables_are_of_the_kept_rows() -> None:
    rows = [{"id": i // 2, "ward": "abc"[i % 3], "back": "yes" if i % 2 else "no"} for i in range(60)]
    done = open(pa.Table.from_pylist(rows), person="id").cube(
        BY, epsilon=1, delta="1e-6", mechanism="gaussian", rows_per_person=2, rows_called="visits"
    )
    names = [sheet.schema.names for sheet in done.result.sheets()]
    assert "visits" in names[0]
    assert "visits that this release kept, at most 2 of each id" in done.spec.describe().published


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(WrongUse, match="leave out people"):
        asked(rows_per_person=2, people=9)
    told = asked(rows_per_person=2).to_json()
    with pytest.raises(CheckFailed):
        read({**told, "people": 9})
    cells = told["cells"]
    assert isinstance(cells, dict)
    unit = cells["unit"]
    assert isinstance(unit, dict)
    lie = read({**told, "cells": {**cells, "unit": {**unit, "rows_per_person": 3}}})
    with pytest.raises(Refused, match="larger delta"):
        lie.promises()
