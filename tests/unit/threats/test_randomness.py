"""Threats 12 to 15: whole numbers, exact parameters, and fresh randomness from the operating system alone."""

from __future__ import annotations

import csv
import importlib
import inspect
import os
import pkgutil
import random
import secrets
import subprocess
import sys
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hubbub
from hubbub.errors import FloatRefused
from hubbub.release import save
from tests.fresh import counts as result
from tests.fresh import enter, open
from tests.unit.threats.tables import WORDS

# --- 12 and 13: exact numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [*WORDS, {"epsilon": "0.001"}, {"epsilon": 1, "sample": "1/3"}], ids=str)
def test_12_published_values_are_largest_remainders(words: dict[str, Any], tmp_path: Path) -> None:
    table = pa.table({"age": list(range(100)) * 3})
    release = enter(table).histogram(["age:0..100:1"], **words)
    assert result(release).published.values.dtype == result(release).low.dtype == result(release).high.dtype == np.int64
    save(release, tmp_path)
    with (tmp_path / "release.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            assert all(line[name] == "" or str(int(line[name])) == line[name] for name in ("count", "low", "high"))


def test_13_epsilon_as_a_float_is_refused_and_text_is_what_it_says() -> None:
    table = open(pa.table({"town": ["Bath"]}))
    with pytest.raises(FloatRefused, match="write it as text"):
        open(pa.table({"town": ["Bath"]}), collected=0.1)
    for words in (
        {"epsilon": 0.1},
        {"epsilon": np.float64(0.1)},
        {"crowd": 20.1},
        {"crowd": 20, "epsilon": 0.3},
        {"epsilon": 1, "sample": 0.1},
        {"epsilon": 1, "coverage": 0.9},
        {"crowd": 20, "sample": "0.01", "at_delta": 1e-6},
    ):
        with pytest.raises(FloatRefused, match="write it as text"):
            table.histogram(["town=Bath"], **words)  # type: ignore[arg-type]
    release = table.histogram(["town=Bath"], epsilon="0.1")
    assert release.promises[0].conclusion.epsilon == Fraction(1, 10)  # type: ignore[union-attr]


# --- 14 and 15: randomness ----------------------------------------------------------------------------------------


def test_14_no_other_generator_is_touched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    table = pa.table({"town": ["Bath"] * 40, "id": list(range(20)) * 2})
    opened = open(table, person="id")

    def refuse(*args: object, **words: object) -> None:
        raise AssertionError("a generator that is not the operating system's")

    for module in (random, np.random, secrets):
        for name, thing in vars(module).items():
            if callable(thing) and not name.startswith("_") and not isinstance(thing, type):
                monkeypatch.setattr(module, name, refuse)
    with pytest.raises(AssertionError):
        np.random.normal()
    with pytest.raises(AssertionError):
        random.random()
    for words in ({"crowd": 5}, {"epsilon": 1}, {"outlier": "1:1"}, {"epsilon": 1, "sample": "0.3"}):
        opened.histogram(["town=Bath,York"], one_row_per_person=True, **words)  # type: ignore[arg-type]
    opened.histogram(["town=Bath,York"], distinct=2, epsilon=1)


def test_14_the_engine_is_asked_for_no_randomness() -> None:
    folder = Path(hubbub.__file__).parent / "engines"
    for path in set(folder.rglob("*.py")) - {folder / "query.py"}:  # which names it to say that such a query is odd
        source = path.read_text(encoding="utf-8").lower()
        for word in ("random(", "setseed", "uuid(", "using sample", "tablesample", "gen_random"):
            assert word not in source, f"{path.name}: {word}"


AGES = pa.table({"age": list(range(200))})


def values(**words: Any) -> list[int]:
    return result(open(AGES).histogram(["age:0..200:1"], **words)).published.values.tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("words", [{"epsilon": 1}, {"outlier": "1:1"}, {"epsilon": 40, "sample": "1/2"}], ids=str)
def test_15_two_releases_differ(words: dict[str, Any]) -> None:
    # Two draws of 200 noises agree with probability below (3/4)^200 < 1e-24.
    assert values(**words) != values(**words)


def test_15_two_choices_among_rows_differ() -> None:
    table = open(pa.table({"id": [i // 2 for i in range(400)], "age": list(range(400))}), person="id")
    kept = [
        result(table.histogram(["age:0..400:1"], epsilon=50, one_row_per_person=True)).published.values.tolist()
        for _ in range(2)
    ]
    assert sum(kept[0]) == sum(kept[1]) == 200
    assert kept[0] != kept[1]


FORKED = """
import os, sys
from fractions import Fraction
import numpy as np
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.noise.source import SystemSource
source, channel = SystemSource(), Geometric(Fraction(1))
def draw():
    return channel.release(np.arange(200), source).values.tobytes()
draw()  # the source is warm: a child has a copy of its keystream
for _ in range(3):
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, draw())
        os._exit(0)
    os.wait()
    sys.stdout.buffer.write(os.read(read, 1 << 16))
sys.stdout.buffer.write(draw())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_15_children_of_a_fork_draw_their_own_noise() -> None:
    """By a source that was used before the fork. (A table opened before it is not for children: DuckDB has threads.)"""
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, check=True)
    drawn = np.frombuffer(done.stdout, dtype=np.int64).reshape(4, 200)
    assert len({row.tobytes() for row in drawn}) == 4


def signatures() -> Iterable[tuple[str, inspect.Signature]]:
    for found in pkgutil.walk_packages(hubbub.__path__, "hubbub."):
        if found.name.startswith(("hubbub.demo", "hubbub.charts")) or found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for name, thing in vars(module).items():
            if getattr(thing, "__module__", None) != found.name:
                continue
            members = [(name, thing)] + [
                (f"{name}.{inner}", method) for inner, method in (vars(thing).items() if inspect.isclass(thing) else ())
            ]
            for label, member in members:
                function = getattr(member, "__func__", member)
                if inspect.isfunction(function):
                    yield f"{found.name}.{label}", inspect.signature(function)


def test_15_nothing_takes_a_seed() -> None:
    seeds = ("seed", "rng", "random_state", "generator")
    known = dict(signatures())
    assert "hubbub.release.run" in known
    assert "hubbub.noise.source.SystemSource.words" in known
    # An office that draws the ties of a count by RCTab's own seed says it aloud before; that is no noise.
    votes = ("hubbub.voting.rctab.", "hubbub.voting.formats.vendors.rctab_config.")
    seeded = [name for name, signature in known.items() if not set(seeds).isdisjoint(signature.parameters)]
    # The rows of a model expand public words that the mechanism drew from the operating system and published.
    public = ("hubbub.query_classes.marginals.junction_tree.GraphicalModel.rows",)
    # Ballots that a seed invents for study were cast by nobody; the test below keeps them out of every count and release.
    invented = ("hubbub.voting.generators.generate",)
    assert [name for name in seeded if not name.startswith((*votes, *public, *invented))] == []


def test_15_only_the_front_of_elections_invents_ballots() -> None:
    source = Path(hubbub.__file__).parent
    importers = {
        str(path.relative_to(source)) for path in source.rglob("*.py") if "voting.generators" in path.read_text("utf-8")
    }
    assert importers == {"vote.py"}
