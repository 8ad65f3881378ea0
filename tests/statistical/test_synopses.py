"""Errors of synopses against the bounds they print, and the exponential mechanism against its law.

A bound may be broken in at most DOUBT of all runs. Of RUNS runs so many may break it before the test fails that a true
bound fails with probability below SIZE. Where a bound is sharp, half of it must be rejected by the same rule.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hubbub.kinds.queries.request import queries as ask
from hubbub.noise.source import ScriptedSource
from hubbub.query_classes.boosting import Boosting
from hubbub.query_classes.choice import MAKERS
from hubbub.query_classes.classes import Halfspaces, Listed, parse
from hubbub.query_classes.setting import Cells, Method, Setting
from hubbub.query_classes.small_databases import SmallDatabase
from hubbub.query_classes.tails import exponential, several
from hubbub.query_classes.tree import Tree
from hubbub.sampling.ranks import sample_counts

RUNS = 1000
DOUBT = Fraction(1, 20)
SIZE = 1e-6
ALLOWED = int(stats.binom.isf(SIZE, RUNS, float(DOUBT)))
PEOPLE = 500
CASES = {
    "per-query": ("marginals:2", (3, 2, 4), True),
    "histogram": ("boxes", (4, 3), False),
    "tree": ("intervals", (12,), False),
    "mwem": ("marginals:1", (3, 2, 4), False),
    "small-database": ("intervals", (3,), False),
}  # class, domain, and whether half of the bound would be broken too often
FEW: dict[str, Method] = {"tree": Tree(2), "small-database": SmallDatabase(6)}  # quick to run a thousand times


def setting(of: str, shape: tuple[int, ...]) -> Setting:
    return Setting(queries=parse(of, shape), half_way=Fraction(1, 2), any_row=Fraction(1, 2), doubt=DOUBT, rows=PEOPLE)


def table(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Uneven, the same every time, with a tenth of the people in no cell."""
    weights = 1.0 / np.arange(1, 1 + int(np.prod(shape)))
    found: NDArray[np.int64] = np.floor(0.9 * PEOPLE * weights / weights.sum()).astype(np.int64)
    return found


def errors(
    method: Method, at: Setting, truth: NDArray[np.int64], source: ScriptedSource, runs: int = RUNS
) -> NDArray[np.float64]:
    """Of each run, the largest error over the class as a share of its own bound."""
    queries: Listed = at.queries  # type: ignore[assignment]
    boxes = [queries.at(place) for place in range(queries.number)]
    exact = queries.answers(truth.reshape(at.shape)).tolist()
    bounds = [float(method.bound_of(at, box)) for box in boxes]
    cells = Cells(at.shape, np.arange(truth.size), truth, (at.rows or 0) - int(truth.sum()))
    found = np.empty(runs)
    for run in range(runs):
        drawn = method.draw(at, cells, source)
        said = [float(method.answer(at, drawn, box)) for box in boxes]
        found[run] = max(abs(a - b) / c for a, b, c in zip(said, exact, bounds, strict=True))
    return found


@pytest.mark.parametrize("name", CASES)
def test_errors_stay_inside_the_bound_as_often_as_is_said(name: str) -> None:
    of, shape, sharp = CASES[name]
    at = setting(of, shape)
    method = FEW.get(name) or MAKERS[name](at)
    assert not method.why_not(at)
    found = errors(method, at, table(shape), ScriptedSource.from_label(name))
    broken, at_half = int((found > 1).sum()), int((found > 0.5).sum())
    assert broken <= ALLOWED, f"n = {RUNS}: {broken} runs break the bound, at most {ALLOWED} may"
    if sharp:
        assert at_half > ALLOWED, f"n = {RUNS}: {at_half} runs break half of it, and that goes unnoticed"


FEWER = 300
MANY = 40_000


def test_drv10_boosting_stays_inside_its_bound_as_often_as_is_said() -> None:
    """It is far from sharp: a tenth of it is broken nearly always, as so small databases cannot do better."""
    queries, loss = parse("intervals", (3,)), Fraction(2)
    at = Setting(queries=queries, half_way=loss, any_row=loss, doubt=DOUBT, rows=MANY)
    method = Boosting(rounds=3, draws=67, size=12, within=3465, ramp=427)
    assert not method.why_not(at)
    assert method.error_bound(at) == 3465 + 427
    truth = table((3,)) * (MANY // PEOPLE)
    found = errors(method, at, truth, ScriptedSource.from_label("boosting"), FEWER)
    allowed = int(stats.binom.isf(SIZE, FEWER, float(DOUBT)))
    broken = int((found > 1).sum())
    assert broken <= allowed, f"n = {FEWER}: {broken} runs break the bound, at most {allowed} may"
    assert int((found > 0.1).sum()) > allowed


def test_noise_that_is_too_wide_would_be_noticed() -> None:
    """The power of the test above, for the sharp bound: noise of 3/5 of the rate breaks it too often."""
    of, shape, _ = CASES["per-query"]
    at = setting(of, shape)
    wide = Setting(queries=at.queries, half_way=at.half_way * 3 / 5, any_row=at.any_row, doubt=DOUBT, rows=PEOPLE)
    method = MAKERS["per-query"](at)
    ratio = float(method.error_bound(wide) / method.error_bound(at))
    found = errors(method, wide, table(shape), ScriptedSource.from_label("wide")) * ratio
    broken = int((found > 1).sum())
    assert broken > ALLOWED, f"n = {RUNS}: {broken} runs break the bound, and up to {ALLOWED} go unnoticed"


@pytest.mark.parametrize("of", ["marginals:1", "boxes"])
def test_a_sample_and_its_noise_stay_inside_the_bound_for_everybody(of: str) -> None:
    """The whole way: k of n people, the best method, scaled up to everybody; its union bound leaves room."""
    spec = ask(["a=x,y,z", "b:0..40:10"], of, zero_knowledge="1", rows=200, people=PEOPLE)
    truth, queries = table((3, 4)), spec.queries
    assert not isinstance(queries, Halfspaces)
    boxes = [queries.at(place) for place in range(queries.number)]
    exact = queries.answers(truth.reshape(3, 4)).tolist()
    everybody = np.append(truth, PEOPLE - truth.sum())
    source, broken = ScriptedSource.from_label(of), 0
    bounds = [spec.bound_of(box) for box in boxes]
    for _ in range(RUNS):
        sample = sample_counts(everybody, 200, source)
        cells = Cells((3, 4), np.arange(12), sample[:-1], int(sample[-1]))
        drawn = spec.method.draw(spec.setting, cells, source)
        said = [spec.request.scale * spec.method.answer(spec.setting, drawn, box) for box in boxes]
        broken += any(abs(a - b) > c for a, b, c in zip(said, exact, bounds, strict=True))
    assert broken <= ALLOWED, f"n = {RUNS}: {broken} runs break the bound, at most {ALLOWED} may"


# --- the exponential mechanism ------------------------------------------------------------------------------------

DRAWS = 10_000
LOSSES = np.array([3, 0, 1, 7, 1, 2], dtype=np.int64)
POWER = 0.999


def law(rate: float) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.exp(-rate * LOSSES)
    return found / float(found.sum())


def test_the_exponential_mechanism_has_its_law() -> None:
    source = ScriptedSource.from_label("choice")
    some = [several(LOSSES, Fraction(1, 2), DRAWS // 10, source) for _ in range(9)]
    ones = [exponential(LOSSES, Fraction(1, 2), source) for _ in range(DRAWS // 10)]
    seen = np.bincount(np.concatenate([*some, ones]), minlength=len(LOSSES))
    statistic = float(((seen - DRAWS * law(0.5)) ** 2 / (DRAWS * law(0.5))).sum())
    limit = float(stats.chi2.isf(SIZE, len(LOSSES) - 1))
    assert statistic < limit, f"n = {DRAWS}: {statistic}, allowed {limit}"


@pytest.mark.parametrize("rate", [0.4, 0.6])
def test_a_rate_that_is_a_fifth_off_would_be_noticed(rate: float) -> None:
    limit = float(stats.chi2.isf(SIZE, len(LOSSES) - 1))
    apart = DRAWS * float(((law(rate) - law(0.5)) ** 2 / law(0.5)).sum())
    power = float(stats.ncx2.sf(limit, len(LOSSES) - 1, apart))
    assert power > POWER, f"n = {DRAWS}: power {power}, wanted {POWER}"
