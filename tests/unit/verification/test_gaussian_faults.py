"""Certificates of Gaussian noise with a fault planted in them, signed again: each is refuted."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from hubbub.kinds.histogram.request import histogram
from hubbub.verification import verify
from tests.fresh import unsigned
from tests.unit.shared.forged import wrong
from tests.unit.shared.saved import sign


def made() -> dict[str, Any]:
    return unsigned(histogram(["town=Bath,other"], epsilon=1, delta="1e-9", noise="gaussian"))


def changed(change: str) -> dict[str, Any]:
    body = deepcopy(made())
    channel, promises = body["release"]["channel"], body["guarantees"]
    match change:
        case "a variance 1 % too small":
            channel["variance"] = str(float(channel["variance"]) * 0.99)[:8]
        case "another epsilon":
            channel["epsilon"] = "0.99"
        case "the wrong noise named":
            body["release"]["channel"] = {"name": "geometric", "epsilon": "1"}
        case "a rho 1 % too small":
            promises[-1]["promise"]["rho"] = "0.0163"
        case "no rho":
            del promises[-1]
    return body


@pytest.mark.parametrize(
    "change",
    ["a variance 1 % too small", "another epsilon", "the wrong noise named", "a rho 1 % too small", "no rho"],
)
def test_a_planted_fault_is_refuted_though_signed_again(forger: Path, change: str) -> None:
    assert verify(sign(forger, made())).passed, "the test can pass"
    assert made()["guarantees"][-1]["promise"]["is"] == "ConcentratedPrivacy"
    assert wrong(verify(sign(forger, changed(change))))
