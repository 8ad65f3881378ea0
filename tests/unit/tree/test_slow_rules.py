"""Every rule that makes a test slow names a test, and what the targets and workflows call is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests import servers
from tests.cost import costly
from tests.slow import FIRST_CASE, FOLDERS, costly_tests, first_is_fast, is_other_case, is_slow, lines, matches

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
FILES = sorted((ROOT / "tests").rglob("test_*.py"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@cache
def functions_of(path: Path) -> list[str]:
    """The names of the test functions of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


def named(rule: str) -> list[str]:
    """The tests that a rule names."""
    near = [path for path in FILES if matches(rule.partition("::")[0], path, "")]
    return [f"{path.name}::{test}" for path in near for test in functions_of(path) if matches(rule, path, test)]


@pytest.mark.parametrize("rule", [*lines(), *FIRST_CASE])
def test_every_rule_names_a_test(rule: str) -> None:
    assert named(rule), f"{rule} names no test: was it renamed? change or delete its line in tests/slow.py"


def test_every_test_that_costs_too_much_is_there_and_is_slow() -> None:
    wrong = [f"{file}::{test}" for file, test in costly_tests() if test not in functions_of(ROOT / file)]
    assert wrong == [], "renamed? change or delete the line in tests/costly.txt, or measure again: python -m tests.cost"
    assert all(is_slow(ROOT / file, test, set()) for file, test in costly_tests())


def test_a_test_costs_too_much_by_what_its_cases_take_on_average() -> None:
    spent = [("a.py::test_one[1]", 0.5), ("a.py::test_one[2]", 0.1), ("a.py::test_two", 0.5), ("b.py::test_one", 0.2)]
    assert costly(spent, 0.25) == ["a.py::test_one", "a.py::test_two"]
    assert costly(spent, 0.3) == ["a.py::test_two"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_holds_tests(folder: str) -> None:
    assert any(folder in path.relative_to(ROOT).parts for path in FILES)


def test_a_rule_that_names_nothing_is_noticed() -> None:
    assert named("test_slow_rules.py::test_a_rule_that_names_*")
    assert not named("test_slow_rules.py::test_a_rule_that_was_renamed")
    assert not named("test_no_such_file.py")


def test_a_test_is_slow_by_its_folder_its_mark_or_a_rule_and_only_then() -> None:
    here = Path("tests/unit/test_somewhere.py")
    assert not is_slow(here, "test_a", set())
    assert is_slow(here, "test_a", {"slow"})
    assert is_slow(here, "test_a", {"xdist_group"})
    assert is_slow(Path("tests/browser/test_somewhere.py"), "test_a", set())
    assert is_slow(Path("tests/unit/anywhere/test_threats_power.py"), "test_a", set())
    assert is_slow(Path("tests/unit/test_spec.py"), "test_theorem_2_on_all_small_elections", set())
    assert not is_slow(Path("tests/unit/test_spec.py"), "test_another", set())


def test_of_the_cases_of_a_test_that_is_named_so_the_first_is_fast() -> None:
    seen: set[tuple[Path, str]] = set()
    here, test = Path("tests/unit/test_verify.py"), "test_what_was_saved_passes"
    assert [is_other_case(here, test, seen) for _ in range(3)] == [False, True, True]
    assert not any(is_other_case(here, "test_another", seen) for _ in range(2))


def test_of_several_cases_the_first_of_each_key_is_fast() -> None:
    found = first_is_fast(["a1", "a2", "b1"], lambda case: case[0])
    assert [bool(each.marks) for each in found] == [False, True, False]


def test_this_test_is_fast_and_so_may_start_no_server() -> None:
    with pytest.raises(AssertionError, match="a test that starts a server is slow"):
        servers.or_skip(lambda: pytest.fail("a server was started"))


@pytest.mark.slow
def test_this_test_is_slow_and_so_may_start_a_server() -> None:
    assert servers.or_skip(lambda: "a server") == "a server"


# --- what is called is there ------------------------------------------------------------------------------------

TARGET = re.compile(r"^([a-z-]+):", re.MULTILINE)
CALLED = re.compile(r"^(?:\s*- run:)?\s*make (?:[A-Z]+=\S+ )?([a-z-]+)$", re.MULTILINE)


def test_the_workflows_call_targets_that_there_are() -> None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
    called = {path.name: CALLED.findall(path.read_text(encoding="utf-8")) for path in WORKFLOWS}
    assert called == {"ci.yml": ["test", "docs"], "release.yml": ["wheel", "docs"]}
    assert targets >= {target for found in called.values() for target in found}


def test_everything_is_the_fast_suite_and_then_the_slow_one() -> None:
    assert CALLED.findall((ROOT / ".ci" / "run").read_text(encoding="utf-8")) == ["test", "test-all"]
    assert "- run: .ci/run" in (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.findall(r'pytest -m ("not slow"|slow)', makefile) == ['"not slow"', "slow"]
