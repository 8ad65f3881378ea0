"""A release is bound, described and cut into sheets once, however many readers it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.histogram.result import Counts
from hubbub.kinds.histogram.spec import Histogram
from hubbub.protocol.bound import Bound
from hubbub.tables.schema import ColumnType, Schema

METHODS = {
    Histogram: ("with_schema", "promises", "table_promises", "composition", "describe", "to_json"),
    Counts: ("sheets",),
}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each method was called."""
    found = Counter[str]()

    def counting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            found[name] += 1
            return method(*given, **named)

        return call

    for kind, names in METHODS.items():
        for name in names:
            monkeypatch.setattr(kind, name, counting(name, getattr(kind, name)))
    return found


def test_a_release_works_each_of_them_out_once(tmp_path: Path, calls: Counter[str]) -> None:
    table = tmp_path / "people.csv"
    table.write_text("town\n" + "Bath\nYork\nWells\n" * 9, encoding="utf-8")
    words = (
        f"release histogram {table} --rows-are-people --by town=Bath,York,Wells --epsilon 1 --out {tmp_path / 'out'}"
    )
    done = CliRunner().invoke(commands, words.split(), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert calls == dict.fromkeys([name for names in METHODS.values() for name in names], 1)


def test_a_verification_works_each_of_them_out_once(tmp_path: Path, calls: Counter[str]) -> None:
    test_a_release_works_each_of_them_out_once(tmp_path, calls)
    calls.clear()
    done = CliRunner().invoke(commands, ["verify", str(tmp_path / "out" / "certificate.json")], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert calls == dict.fromkeys(["promises", "describe", "to_json", "sheets"], 1)


def test_whoever_asks_again_gets_the_same_value() -> None:
    bound = histogram(["town=Bath,York"], epsilon=1).bind(Schema({"town": ColumnType.TEXT}))
    assert isinstance(bound, Bound)
    assert bound.promises is bound.promises
    assert bound.description is bound.description
    assert bound.json == bound.spec.to_json()
