"""Threat 51: where a number of people is declared and enforced, nobody comes or goes: the neighbour is *replace*."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from hubbub.audit.exact import of_spec
from hubbub.certificate.explanation import explain_release
from hubbub.cli.main import commands
from hubbub.errors import Refused
from hubbub.guarantees.curve import flat
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, Neighbours, OutlierPrivacy
from hubbub.guarantees.neighbours import check_number
from hubbub.kinds.ballots.request import KIND as BALLOTS
from hubbub.kinds.ballots.spec import PublishedBallots
from hubbub.kinds.queries.replaced import replaced_holds
from hubbub.kinds.queries.request import queries
from hubbub.kinds.queries.spec import Queries
from hubbub.ledger import key
from hubbub.ledger.admission import Totals
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import SystemSource
from hubbub.protocol.bound import Bound
from hubbub.query_classes.setting import Cells
from hubbub.query_classes.weights import Weights
from hubbub.voting.ballots import BallotBox, Ballots
from tests.fresh import enter, open, opened, save_over
from tests.unit.shared.saved import sign

FIVE, FOUR = pa.table({"x": ["a"] * 5}), pa.table({"x": ["a"] * 4})
X, RUNS = "x=a,b", "age:0..90:10"
EPSILON = Fraction(1, 10)
ASKED = {
    "mwem": ([X], "marginals:1", 5, EPSILON),
    "small-database": ([X], "marginals:1", 5, EPSILON),
    "boosting": ([X], "marginals:1", 10**6, EPSILON),
    "histogram": ([X], "marginals:1", 5, 2 * EPSILON),
    "per-query": ([X], "marginals:1", 5, 2 * EPSILON),
    "tree": ([RUNS], "intervals", 5, 2 * EPSILON),
}


def spec_of(method: str) -> tuple[Queries, Fraction]:
    columns, of, people, expected = ASKED[method]
    return queries(columns, of, epsilon=EPSILON, people=people, method=method), expected


# --- what is certified --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ASKED)
def test_with_a_declared_number_of_people_one_is_replaced_and_none_comes_or_goes(method: str) -> None:
    spec, expected = spec_of(method)
    (step,) = spec.promises()
    assert step.conclusion == DifferentialPrivacy(epsilon=expected, neighbours=Neighbours.REPLACE)
    assert "queries.people" in {each.id for each in step.assumptions}
    columns, of, _, _ = ASKED[method]
    if method in ("histogram", "per-query", "tree"):  # without the number they promise what they did
        (alone,) = queries(columns, of, epsilon=EPSILON, method=method).promises()
        assert alone.conclusion == DifferentialPrivacy(epsilon=EPSILON)


def test_five_are_published_and_four_refused_and_the_certificate_says_no_more_than_that_allows(tmp_path: Path) -> None:
    words: dict[str, Any] = {"epsilon": "0.1", "people": 5, "method": "mwem"}
    release = enter(FIVE).queries([X], "marginals:1", **words)
    save_over(release, tmp_path / "q")
    body = json.loads((tmp_path / "q" / "certificate.json").read_text())
    assert [each["promise"]["neighbours"] for each in body["guarantees"]] == ["replace"]
    assert CliRunner().invoke(commands, ["verify", str(tmp_path / "q" / "certificate.json")]).exit_code == 0
    with pytest.raises(Refused, match="not of as many people as were declared"):
        open(FOUR).queries([X], "marginals:1", **words)


def test_where_the_number_is_public_no_heading_says_with_you_or_without_you() -> None:
    for method in ASKED:
        spec, _ = spec_of(method)
        told = explain_release(Bound(spec))
        assert "Whatever your data are (differential privacy)" in told
        assert "without you" not in told


# --- how much one person replaced costs ---------------------------------------------------------------------------


@pytest.mark.parametrize("method", ASKED)
def test_the_loss_of_one_person_replaced_is_worked_out_from_every_two_people(method: str) -> None:
    """Twice is needed: a person who leaves one cell of a histogram for another moves two numbers."""
    spec, expected = spec_of(method)
    check = replaced_holds(spec)
    assert check.passed, check.found
    lost = Fraction(check.found.split()[1])
    if method in ("histogram", "per-query", "tree"):
        assert lost == expected  # and E would be too little
    else:
        assert lost <= expected
    assert all(each.passed for each in spec.checks())


def test_a_method_that_pays_for_one_who_leaves_alone_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    spec, _ = spec_of("histogram")
    monkeypatch.setattr(Queries, "replaced_loss", property(lambda self: self.loss))
    assert not replaced_holds(spec).passed


def test_domains_too_large_to_compare_two_by_two_are_judged_by_the_proof() -> None:
    wide = queries(["age:0..100000:1"], "intervals", epsilon=1, people=10**6, method="tree")
    check = replaced_holds(wide)
    assert check.passed
    assert "too many cells" in check.found


@pytest.mark.parametrize(("before", "after"), [((5, 0), (4, 1)), ((3, 2), (2, 3)), ((1, 0), (0, 0)), ((4, 1), (3, 1))])
def test_a_round_of_weights_loses_no_more_than_epsilon_when_one_is_replaced(
    before: tuple[int, int], after: tuple[int, int]
) -> None:
    """The exact law of the first round: which query is chosen, and what is measured, for any two neighbours of five
    people (the rest are in no cell)."""
    spec = replace(spec_of("mwem")[0], method=Weights(1))
    setting, rate = spec.setting, float(Weights(1).rate(spec.setting))
    said = round(5 / setting.cells)
    laws = []
    for counts in (before, after):
        codes, numbers = np.array([0, 1]), np.array(counts, dtype=np.int64)
        truth = Cells(setting.shape, codes, numbers, outside=5 - sum(counts)).answers(setting.queries)
        weights = [exp(rate / 2 * abs(int(each) - said)) for each in truth]
        noise = {
            (i, v): weights[i] / sum(weights) * exp(-rate * abs(v - int(each)))
            for i, each in enumerate(truth)
            for v in range(-50, 60)
        }
        laws.append(noise)
    worst = max(abs(log(laws[0][key] / laws[1][key])) for key in laws[0])
    assert worst <= float(EPSILON) * (1 + 1e-12)


# --- the ledger ---------------------------------------------------------------------------------------------------


def totals_of(ledger: Path) -> Totals:
    found = Ledger(ledger).account("town").totals
    assert found is not None
    return found


def test_a_release_with_an_enforced_number_is_never_pure_beside_crowds(tmp_path: Path) -> None:
    people = pa.table({"x": ["a"] * 5})
    words: dict[str, Any] = {"epsilon": "0.1", "people": 5, "method": "mwem"}
    first = opened(people, dataset="town", ledger=tmp_path / "one.db")
    first.histogram(["x=a,b"], crowd=10)
    with pytest.raises(Refused, match="leave out people: a number of people that is enforced"):
        first.queries([X], "marginals:1", **words)
    assert str(totals_of(tmp_path / "one.db").crowd_blending.guarantee) == "(10, 0)-crowd-blending"
    second = opened(people, dataset="town", ledger=tmp_path / "two.db")
    second.queries([X], "marginals:1", **words)
    with pytest.raises(Refused, match="the number of people is enforced: it tells whether somebody left") as refused:
        second.histogram(["x=a,b"], crowd=10)
    assert "exact numbers" not in str(refused.value)  # the first release has none
    second.histogram(["x=a,b"], epsilon="0.1")
    found = totals_of(tmp_path / "two.db")
    assert (found.differential.guarantee, found.crowd_blending.guarantee, found.outlier.guarantee) == (None, None, None)
    assert found.differential.why.startswith("release 1 promises it for one person replaced alone")
    assert found.replaced.guarantee == DifferentialPrivacy(epsilon=Fraction(3, 10), neighbours=Neighbours.REPLACE)


def test_no_release_enters_the_ledger_with_a_promise_that_its_enforced_number_makes_false() -> None:
    one = Fraction(1)
    leaves = (DifferentialPrivacy(epsilon=one), CrowdBlending(k=5, epsilon=one), OutlierPrivacy(curve=flat(one)))
    for promise in leaves:
        assert not promise.neighbours.number_is_public
        with pytest.raises(Refused, match="any number of people but 5 is refused"):
            check_number([promise], 5)
        check_number([promise], None)
    check_number([DifferentialPrivacy(epsilon=one, neighbours=Neighbours.REPLACE)], 5)


# --- the audit ----------------------------------------------------------------------------------------------------


def test_the_audit_plays_the_game_with_the_number_enforced() -> None:
    spec, _ = spec_of("histogram")
    assert any("replaced by another" in each.why for each in of_spec(spec))
    assert all(each.word == "proved" and each.claimed == "0.2-DP [replace]" for each in of_spec(spec))
    (found,) = of_spec(spec, claims=[DifferentialPrivacy(epsilon=EPSILON)])
    assert found.is_refuted
    assert found.witness == {"of so many people": "5", "published": "always", "with one fewer": "never"}


def test_a_certificate_that_says_add_or_remove_although_the_number_is_enforced_is_refuted(tmp_path: Path) -> None:
    release = enter(FIVE).queries([X], "marginals:1", epsilon="0.1", people=5, method="mwem")
    save_over(release, tmp_path)
    file = tmp_path / "certificate.json"
    body = json.loads(file.read_text())
    body["guarantees"][0]["promise"]["neighbours"] = "add/remove"
    key.make(forger := tmp_path / "forger.db")
    file.write_bytes(sign(forger, {name: part for name, part in body.items() if name != "signature"}))
    done = CliRunner().invoke(commands, ["audit", "certificate", str(file), "--json"])
    assert done.exit_code == 4
    assert json.loads(done.stdout)["claimed"] == "0.1-DP [add/remove]"
    assert CliRunner().invoke(commands, ["verify", str(file)]).exit_code == 4


def test_several_releases_with_an_enforced_number_are_audited_together(tmp_path: Path) -> None:
    for name in ("one", "two"):
        release = enter(FIVE).queries([X], "marginals:1", epsilon="0.1", people=5, method="histogram")
        save_over(release, tmp_path / name)
    files = [str(tmp_path / name / "certificate.json") for name in ("one", "two")]
    done = CliRunner().invoke(commands, ["audit", "certificate", *files, "--json"])
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["findings"][-1]["claimed"] == "0.4-DP [replace]"


# --- ballots: the record is enforced, and outside of the promise --------------------------------------------------


def test_ballots_beside_a_record_say_that_the_record_is_enforced_and_left_out() -> None:
    record = {"rounds": [{"counts": {"a": 60, "b": 40}, "exhausted": 0}], "winner": "a"}
    spec = BALLOTS.from_options(official=record)
    assert isinstance(spec, PublishedBallots)
    fewer = Ballots.from_counts("ab", {("a",): 59, ("b",): 40})
    with pytest.raises(Refused, match="do not add up to the official totals"):
        spec.measure(BallotBox(fewer), SystemSource())
    granted = " ".join(str(each) for step in spec.promises() for each in step.all_assumptions())
    assert "how many ballots there are among it, is outside of this promise" in granted
    assert "others are refused" in granted
    assert "whether a pile gives that record, the record tells" in spec.people.difference
