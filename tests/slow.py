"""Which tests are slow: `make test` leaves them out, `make test-all` runs them, and pytest by hand runs whatever it is
asked for.

A test is slow if it stands in one of the folders below, if it shares a server with others (its mark `xdist_group`), if
it carries the mark `slow` itself, if a line of `RULES` names it, if it was measured to cost too much (`COSTLY`), or if a
line of `FIRST_CASE` names it and it is not the first of its cases. A line is the name of a file, or of a file and a
test in it (`*` stands for anything), wherever in tests/ that file may be.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

T = TypeVar("T")

COSTLY: Final = Path(__file__).with_name("costly.txt")
"""Tests that cost too much, one in a line, as ``python -m tests.cost`` measured them."""
UNLISTED: Final = "HUBBUB_TEST_COSTS"
"""A variable of the environment: tests that are slow for their cost alone are fast, to be measured again."""

FOLDERS: Final = ("browser", "property", "statistical")
"""A real browser; laws that hold for all inputs; draws against their law."""

RULES: Final[Mapping[str, tuple[str, ...]]] = {
    "waits for processes, for the disk or for the clock: kills, power cuts, servers of our own": (
        "test_threats_ledger.py::test_22_*",
        "test_threats_ledger.py::test_23_a_kill_*",
        "test_threats_ledger.py::test_24_*",
        "test_threats_power.py",
        "test_threats_series.py::test_63_kills_*",
        "test_threats_staging.py::test_45_*",
        "test_threats_staging.py::test_ctrl_c_while_counting_*",
        "test_threats_staging.py::test_two_releases_into_one_folder_*",
        "test_silent_servers.py",
        "test_answers.py",
        "test_places.py",
        "test_server.py",
        "test_work.py",
        "test_kinds.py::test_a_save_that_is_cut_short_*",
        "test_child_process.py::test_every_process_*",
        "test_child_process.py::test_a_studio_among_*",
        "test_excel_file.py::test_neighbours_end_alike_*",
        "test_excel_file.py::test_a_far_cell_*",
        "test_excel_file.py::test_memory_time_*",
        "test_excel_file.py::test_blank_rows_*",
        "test_excel_file.py::test_moved_together_*",
        "test_readings.py::test_an_excel_sheet_*",
        "test_scratch.py::test_a_kill_*",
        "test_lock.py::test_pip_*",
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
        "test_map_command.py::test_the_examples_*",
        "test_statistic_commands.py::test_the_example*",
        "test_statistic_commands.py::test_the_help_has_*",
        "test_salaries.py::test_the_story_*",
        "test_salaries.py::test_plain_noise_*",
    ),
    "draws, and compares the draws with their law; or tries many values by Hypothesis": (
        "test_blackbox.py::test_false_alarms_*",
        "test_result.py::test_intervals_are_right_*",
        "test_canonical.py::test_a_value_comes_back",
        "test_exact_json.py::test_bins_come_back_*",
        "test_membership.py::test_points_made_from_crowds_*",
        "test_mean_deviation.py::test_no_rows_*",
        "test_keep.py::test_without_its_untouched_*",
        "test_spec.py::test_exactly_the_crowds_*",
        "test_spec.py::test_the_truth_lies_*",
        "test_privacy_loss.py::test_the_epsilon_is_enough_*",
        "test_canonical.py::test_one_text_*",
        "test_admission.py::test_promises_about_unlike_*",
        "test_admission.py::test_the_order_of_releases_*",
        "test_admission.py::test_totals_never_*",
        "test_policy.py::test_the_cap_itself_*",
        "test_policy.py::test_what_is_left_and_*",
        "test_exact_json.py::test_a_curve_comes_back",
        "test_shape.py::test_the_largest_remainders_*",
        "test_residual_release.py::test_the_projection_is_never_*",
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
        "test_variance.py::test_no_point_of_a_box_*",
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
        "test_exact_release.py::test_a_centred_release_*",
        "test_triangles_of_a_sample.py",
        "test_privacy_filter.py::test_whoever_chooses_*",
        "test_privacy_filter.py::test_a_cap_that_is_fixed_*",
        "test_policy.py::test_the_ledger_knows_whether_*",
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
        "test_noise_scale.py::test_a_public_bound_*",
        "test_odometer.py::test_whoever_chooses_*",
        "test_gain_four.py::test_agrees_with_*",
        "test_gain_winners.py::test_lotteries_*",
        "test_one_sample.py::test_what_may_be_lost_*",
        "test_found_threshold.py::test_for_every_*",
        "test_continuing.py::test_every_count_*",
        "test_quadtree.py::test_every_position_*",
        "test_distances.py::test_the_shapes_*",
        "test_spec.py::test_proposition_11_*",
        "test_spec.py::test_without_deleting_*",
        "test_load.py::test_what_can_have_been_*",
    ),
    "calibrates: searches for the best number over and over": (
        "test_channel_command.py::test_calibrated_offsets_*",
        "test_channel_command.py::test_the_calibrated_staircase_*",
        "test_channel_command.py::test_a_law_lists_*",
        "test_channel_command.py::test_the_warped_channel_*",
        "test_promises.py::test_a_secret_sample_buys_*",
        "test_derivations.py::test_bins_that_blend_*",
        "test_promises.py::test_a_sample_by_somebody_else_*",
        "test_voters_needed.py::test_theorem_b1_*",
        "test_map_command.py::test_every_cell_*",
        "test_account_command.py::test_theorem_16_*",
        "test_channel_command.py::test_two_rows_of_the_theory_*",
        "test_map_command.py::test_a_cell_is_the_largest_*",
        "test_recoding.py::test_wide_records_*",
        "test_channel_command.py::test_a_profile_for_people_*",
    ),
    "makes a release or a file for every value that is odd, forged or hostile": (
        "test_expressions.py::test_for_all_*",
        "test_arrow_columns.py::test_a_time_*",
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
        "test_csv_regular.py::test_for_all_*",
        "test_csv_lines.py::test_a_record_is_found_*",
        "test_csv_file.py::test_a_weird_line_*",
        "test_overlap.py",
        "test_exact_json.py::test_a_charge_*",
        "test_neighbours.py",
        "test_leftovers.py",
        "test_names_and_paths.py::test_28_*",
        "test_people.py::test_7_*",
        "test_values.py",
        "test_not_understood.py::test_60_a_repeated_id_is_found_in_a_long_*",
        "test_preflib.py::test_long_lines_*",
        "test_runoff.py::test_thousands_*",
        "test_cast_votes.py::test_a_rank_in_the_thousands_*",
        "test_verify_forged.py::test_a_staircase_of_wide_*",
        "test_verify.py::test_every_flipped_byte_*",
        "test_explanation.py::test_a_long_history_*",
        "test_second_tour.py",
        "test_check_command.py::test_check_takes_every_*",
        "test_check_command.py::test_unreadable_cells_*",
        "test_check_command.py::test_the_steward_sees_what_bounds_*",
        "test_distributed.py::test_of_many_parts_*",
        "test_promises.py::test_noise_that_is_too_little_*",
        "test_admission.py::test_what_was_refused_stays_*",
    ),
}


FIRST_CASE: Final = (
    "test_golden.py::test_a_golden_release_*",
    "test_golden.py::test_the_schema_refuses_*",
    "test_synthetic.py::test_it_is_verified_*",
    "test_gaussian_layers.py::test_a_person_in_several_bins_*",
    "test_joint.py::test_ten_tables_together_*",
    "test_series.py::test_every_number_*",
    "test_series_of_several_rows.py::test_every_period_*",
    "test_series_of_several_rows.py::test_70_no_person_moves_*",
    "test_invented.py::test_every_statistic_*",
    "test_series.py::test_intervals_hold_*",
    "test_series.py::test_a_person_counts_in_*",
    "test_weakness.py::test_on_a_terminal_*",
    "test_promises.py::test_the_own_promise_of_a_sampled_release_*",
    "test_verify.py::test_what_was_saved_passes",
    "test_split_tables.py::test_adults_error_*",
    "test_table.py::test_the_guide_agrees_*",
    "test_pair_rules.py::test_whoever_beats_everybody_*",
    "test_contribution.py::test_no_small_person_moves_a_sum_*",
    "test_check_command.py::test_what_is_proposed_*",
    "test_check_command.py::test_where_what_is_declared_*",
    "test_readings.py::test_59_*",
    "test_readings.py::test_numbers_are_read_*",
    "test_unlisted.py::test_misspelt_values_*",
    "test_repeated_ids.py::test_*",
    "test_certificate.py::test_a_certificate_holds_identifiers_*",
    "test_expressions.py::test_numbers_of_every_type_*",
    "test_losses.py::test_nobody_loses_more_*",
    "test_bounded_rows_loss.py::test_rows_of_people_who_are_drawn_*",
    "test_bounded_rows_loss.py::test_queries_about_rows_*",
    "test_e2_smooth_sensitivity.py::test_e2_with_the_right_*",
    "test_warped_slope.py::test_the_branches_*",
    "test_key_columns.py::test_*",
    "test_spec_measured.py::test_the_door_is_passed_*",
    "test_child_process.py::test_what_lies_beside_*",
    "test_spec.py::test_invented_rows_*",
    "test_faults.py::test_its_twin_*",
    "test_yardstick.py::test_a_published_violation_*",
    "test_bounded_rows_loss.py::test_counts_of_rows_*",
    "test_distributed.py::test_*",
    "test_account_command.py::test_theorem_a_smallest_*",
    "test_missing.py::test_a_declared_*",
    "test_missing.py::test_a_look_*",
    "test_unreadable_people.py::test_59_*",
    "test_same_answer.py::test_text_*",
    "test_joins.py::test_a_look_*",
    "test_engines.py::test_a_condition_*",
    "test_engines.py::test_one_row_of_several_*",
    "test_engines.py::test_sums_and_counts_*",
    "test_unlisted.py::test_people_in_no_bin_*",
    "test_unlisted.py::test_more_than_*",
    "test_unlisted.py::test_a_count_refuses_*",
    "test_unlisted.py::test_conditions_and_ranges_*",
    "test_unlisted.py::test_a_range_that_most_*",
    "test_bounded_rows.py::test_rows_are_chosen_*",
    "test_bounded_rows.py::test_bounds_that_nobody_*",
    "test_joins.py::test_every_row_*",
    "test_channels.py::test_the_interval_has_its_coverage_*",
    "test_channels.py::test_w1_*",
    "test_profile_crowds.py::test_theorem_*",
    "test_dry_run.py::test_every_kind_*",
    "test_queries.py::test_nothing_but_one_select_*",
    "test_subsample.py::test_the_law_is_the_mixture",
    "test_arrow_columns.py::test_*",
    "test_parts.py::test_*",
    "test_spec.py::test_what_is_wrong_with_a_file_*",
    "test_graph_release.py::test_a_certificate_that_was_changed_*",
    "test_survey.py::test_nobody_of_the_population_*",
    "test_samplers.py::test_the_error_stays_*",
    "test_lecture.py::test_few_counts_*",
    "test_custom_curve.py::test_floats_are_never_*",
    "test_bounded_rows_loss.py::test_both_sums_*",
    "test_bounded_rows_loss.py::test_rows_of_people_*",
    "test_certificate.py::test_a_certificate_holds_no_float",
    "test_certificate.py::test_a_certificate_is_plain_*",
    "test_certificate.py::test_floats_for_the_terminal_*",
    "test_publish.py::test_people_with_several_rows_*",
    "test_one_budget.py::test_39_*",
    "test_expected_rows.py::test_an_interval_*",
    "test_verify_forged.py::test_a_delta_that_is_too_small_*",
    "test_check_command.py::test_what_is_left_out_*",
    "test_release_command.py::test_wrong_use_*",
    "test_names_and_paths.py::test_29_*",
    "test_several_rows.py::test_json_words_*",
)
"""Tests whose cases go the same way through the code: the first of them is fast, the others are slow."""


def is_slow(path: Path, test: str, marks: Set[str]) -> bool:
    """Whether a test is slow, from its file, the name of its function and the marks that it carries."""
    if not marks.isdisjoint(("slow", "xdist_group")) or _in_slow_folder(path) or _is_costly(path, test):
        return True
    return any(fnmatchcase(test, pattern) for pattern in _patterns(path.name))


def is_other_case(path: Path, test: str, seen: set[tuple[Path, str]]) -> bool:
    """Whether a test is named by `FIRST_CASE` and was seen before."""
    if not any(matches(rule, path, test) for rule in _first_case(path.name)):
        return False
    other = (path, test) in seen
    seen.add((path, test))
    return other


def is_slow_file(path: Path) -> bool:
    """Whether every test of a file is slow, whatever it is called."""
    return _in_slow_folder(path) or (path.suffix == ".py" and "*" in _patterns(path.name))


def _in_slow_folder(path: Path) -> bool:
    return not set(FOLDERS).isdisjoint(path.parts)


def _is_costly(path: Path, test: str) -> bool:
    return any(path.as_posix().endswith(file) for file in _costly().get(test, ()))


@cache
def _costly() -> Mapping[str, list[str]]:
    """The tests that cost too much, and the files that hold them."""
    found: dict[str, list[str]] = {}
    for file, test in [] if UNLISTED in os.environ else costly_tests():
        found.setdefault(test, []).append(file)
    return found


def costly_tests() -> list[tuple[str, str]]:
    """Every line of `COSTLY`: a file, from the root on, and a test in it."""
    lines = [line.partition("::") for line in COSTLY.read_text(encoding="utf-8").splitlines()]
    return [(file, test) for file, _, test in lines]


@cache
def _patterns(name: str) -> tuple[str, ...]:
    """What the rules say about tests of files with this name."""
    rules = [rule.partition("::") for rule in lines()]
    return tuple(test or "*" for file, _, test in rules if fnmatchcase(name, file))


@cache
def _first_case(name: str) -> tuple[str, ...]:
    return tuple(rule for rule in FIRST_CASE if fnmatchcase(name, rule.partition("::")[0]))


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
    """Every line of the rules that make whole tests slow."""
    return [rule for rules in RULES.values() for rule in rules]
