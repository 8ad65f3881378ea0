"""Which tests are slow: `make test` leaves them out, `make test-all` runs them, and pytest by hand runs whatever it is
asked for.

A test is slow if it stands in one of the folders below, if it shares a server with others (its mark `xdist_group`), if
it carries the mark `slow` itself, or if a line of `RULES` names it. A line is the name of a file, or of a file and a
test in it (`*` stands for anything), wherever in tests/ that file may be.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

T = TypeVar("T")

FOLDERS: Final = ("browser", "property", "statistical")
"""A real browser; laws that hold for all inputs; draws against their law."""

RULES: Final[Mapping[str, tuple[str, ...]]] = {
    "waits for processes, for the disk or for the clock: kills, power cuts, servers of our own": (
        "test_threats_ledger.py::test_22_*",
        "test_threats_ledger.py::test_23_a_kill_*",
        "test_threats_ledger.py::test_24_*",
        "test_threats_power.py",
        "test_threats_staging.py::test_45_*",
        "test_silent_servers.py",
        "test_answers.py",
        "test_places.py",
        "test_server.py",
        "test_work.py",
        "test_kinds.py::test_a_save_that_is_cut_short_*",
    ),
    "does what the documentation says, or every example of every help": (
        "test_docs_examples.py::test_a_page_*",
        "test_docs_examples.py::test_an_example_*",
        "test_notebooks.py::test_a_notebook_runs",
        "test_main.py::test_every_help_has_an_example_that_runs",
        "test_demo_command.py",
        "test_printing.py::test_a_terminal_that_shows_few_signs_*",
        "test_tutorial.py",
        "test_benchmarks.py",
    ),
    "tries every design, chart or start of the program": (
        "test_plan_command.py",
        "test_designs.py",
        "test_account_command.py::test_a_curve_is_drawn",
        "test_charts.py",
        "test_release_command.py::test_a_small_release_loads_nothing_heavy",
        "test_house_laws.py::test_a_name_on_the_surface_*",
        "test_publish.py::test_the_command_on_the_page_*",
        "test_publish.py::test_the_policy_is_met_*",
        "test_publish.py::test_a_tab_that_was_weighed_*",
    ),
    "reads real tables, networks or elections": (
        "test_adult*.py",
        "test_uber.py",
        "test_real_*.py",
        "test_stv.py::test_scottish_wards_*",
    ),
    "enumerates: every small table, graph or election, every word or every value": (
        "test_kinds.py::test_on_small_tables_*",
        "test_moments.py::test_no_point_of_a_box_*",
        "test_engines.py::test_every_kind_of_axis_*",
        "test_engines.py::test_a_choice_is_fresh_*",
        "test_looks.py",
        "test_optimum.py",
        "test_warped_slope.py::test_words_around_*",
        "test_subsample.py::test_noise_that_is_not_marked_*",
        "test_table.py::test_every_word_*",
        "test_binomial.py::test_masses_and_tails_*",
        "test_privacy_loss.py::test_the_delta_*",
        "test_exact_release.py::test_the_exact_differential_loss_*",
        "test_simulator.py",
        "test_exact_loss.py",
        "test_ranks.py::test_every_set_*",
        "test_spec.py::test_every_set_*",
        "test_sparse.py::test_the_law_*",
        "test_promises.py::test_the_crowd_mean_*",
        "test_spec.py::test_theorem_2_*",
        "test_gain.py::test_theorem_b1_*",
        "test_claimed_vs_exact.py::test_calibration*",
        "test_claimed_vs_exact.py::test_example_8_*",
        "test_as_sharp_as_proved.py",
        "test_e1_sign_error.py::test_e1_*",
        "test_e[23]_*.py::test_e[23]_the_whole_mechanism_*",
    ),
    "calibrates: searches for the best number over and over": (
        "test_channel_command.py::test_calibrated_offsets_*",
        "test_channel_command.py::test_the_calibrated_staircase_*",
        "test_channel_command.py::test_a_law_lists_*",
        "test_channel_command.py::test_the_warped_channel_*",
        "test_promises.py::test_a_secret_sample_buys_*",
        "test_promises.py::test_a_sample_by_somebody_else_*",
        "test_voters_needed.py::test_theorem_b1_*",
        "test_map_command.py::test_every_cell_*",
        "test_account_command.py::test_theorem_16_*",
    ),
    "makes a release or a file for every value that is odd, forged or hostile": (
        "test_bin_sql.py::test_for_all_*",
        "test_repaired_copy.py::test_a_time_*",
        "test_condition.py::test_every_condition_*",
        "test_regions.py::test_files_that_make_no_regions_*",
        "test_spec.py::test_anybody_with_the_files_*",
        "test_load.py::test_honest_files_*",
        "test_load.py::test_an_integer_*",
        "test_spec_measured.py::test_no_file_*",
        "test_running_total.py",
        "test_verify_forged.py::test_any_parameter_*",
        "test_kinds.py::test_the_certificate_passes_and_no_edit_*",
        "test_certificate.py::test_a_certificate_does_not_depend_*",
        "test_load.py::test_numbers_that_a_mechanism_never_writes_*",
        "test_csv_records.py",
        "test_csv_file.py::test_a_weird_line_*",
        "test_overlap.py",
        "test_exact_json.py::test_a_charge_*",
        "test_neighbours.py",
        "test_leftovers.py",
        "test_names_and_paths.py::test_28_*",
        "test_people.py::test_7_*",
        "test_values.py",
    ),
}


def is_slow(path: Path, test: str, marks: Set[str]) -> bool:
    """Whether a test is slow, from its file, the name of its function and the marks that it carries."""
    if not marks.isdisjoint(("slow", "xdist_group")) or not set(FOLDERS).isdisjoint(path.parts):
        return True
    return any(matches(rule, path, test) for rules in RULES.values() for rule in rules)


def matches(rule: str, path: Path, test: str) -> bool:
    """Whether a line of the rules names this test of this file."""
    file, _, function = rule.partition("::")
    return fnmatchcase(path.name, file) and fnmatchcase(test, function or "*")


def first_is_fast(cases: Iterable[T], key: Callable[[T], Hashable]) -> list[Any]:
    """The cases as parameters of a test: the first of each key is fast, the others are slow."""
    seen: set[Hashable] = set()
    found = []
    for case in cases:
        found.append(pytest.param(case, marks=[pytest.mark.slow] if key(case) in seen else []))
        seen.add(key(case))
    return found


def lines() -> list[str]:
    """Every line of the rules."""
    return [rule for rules in RULES.values() for rule in rules]
