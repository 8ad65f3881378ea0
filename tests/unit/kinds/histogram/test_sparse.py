"""Domains too big to list: the bins that show a number, and nothing about the others but that they are hidden."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from flint import arb
from numpy.typing import NDArray

from hubbub.certificate.explanation import explain_release
from hubbub.channels.law import SUPPRESSED
from hubbub.channels.mechanisms.exact_above import ExactOrSuppressed
from hubbub.channels.mechanisms.warped import Warped
from hubbub.channels.protocol import Channel
from hubbub.channels.visibility import given_visible
from hubbub.errors import CheckFailed, WrongUse
from hubbub.guarantees.curve import flat
from hubbub.kinds.histogram import load as counts_file
from hubbub.kinds.histogram.result import Counts
from hubbub.kinds.histogram.sparse import visible_bins
from hubbub.ledger.ledger import Ledger
from hubbub.noise.rare import digits
from hubbub.noise.source import ScriptedSource
from hubbub.release import save
from hubbub.tables import bins
from hubbub.tables.bins import Steps
from hubbub.verification import verify
from tests.fresh import counts as counts_of
from tests.fresh import enter, opened, spec_of, wrong_in
from tests.fresh import open as open_table

LAST = [9_999] * 25
PEOPLE = pa.table({"a": [5] * 30 + [77] * 4 + LAST, "b": [1] * 34 + LAST, "c": [0] * 34 + LAST})
BIG = ["a:0..10000:1", "b:0..10000:1", "c:0..10000:1"]  # 10^12 bins
NOISY = {"outlier": "1", "show_above": 20}
HIDDEN = {"mechanism": "warped:curve=1,show-above=20"}


def big(**words: Any) -> Counts:
    return counts_of(open_table(PEOPLE).histogram(BIG, **words))


def test_a_domain_of_a_million_million_bins_lists_those_that_show_a_number() -> None:
    found = big(crowd=20)
    assert found.codes.tolist() == [5 * 10**8 + 10**4, 10**12 - 1]
    assert found.published.values.tolist() == [30, 25]
    assert found.facts()["bins"] == 10**12
    assert found.facts()["rows_suppressed"] == 10**12 - 2
    told, *_ = found.sentences()
    assert told == (
        "999,999,999,998 of 1,000,000,000,000 bins are hidden; 2 show a number. Not listed means hidden, and may well "
        "be empty: 0 to 19 people."
    )


def test_with_noise_empty_bins_are_among_them_in_order_and_with_intervals() -> None:
    found = big(**HIDDEN)
    assert np.all(np.diff(found.codes) > 0)
    assert 200 < found.bins < 4000  # 10^12 e^-21 / (1 + e^-1) = 554 in the mean, and far fewer or more never happen
    assert np.all(found.published.values > 20)
    assert np.all((found.low <= found.published.values) & (found.published.values <= found.high))
    assert {10**12 - 1, 5 * 10**8 + 10**4} & set(found.codes.tolist())


def test_codes_are_there_where_all_bins_are_listed_too() -> None:
    listed = counts_of(open_table(PEOPLE).histogram(["a=5,77,null", "b:0..4:1"], crowd=20))
    assert listed.codes.tolist() == list(range(12))


def test_the_rule_is_public_and_changes_nothing_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    by = ["a:0..100:1", "b:0..5:1"]
    listed = counts_of(open_table(PEOPLE).histogram(by, crowd=20))
    monkeypatch.setattr(bins, "MOST_BINS", 499)
    few = counts_of(open_table(PEOPLE).histogram(by, crowd=20, coverage="0.951"))
    assert listed.bins == 500
    assert few.codes.tolist() == np.flatnonzero(listed.visible).tolist()
    assert few.published.values.tolist() == listed.published.values[listed.visible].tolist()


def test_a_sample_goes_the_same_way() -> None:
    found = counts_of(open_table(PEOPLE).histogram(BIG, crowd=20, sample="0.05", scale_up=True))
    assert set(found.codes.tolist()) <= {5 * 10**8 + 10**4, 10**12 - 1}
    noisy = counts_of(open_table(PEOPLE).histogram(BIG, **HIDDEN, sample="0.5"))
    assert 200 < noisy.bins < 4000
    for each in (found, noisy):
        assert "Not listed means hidden" in each.sentences()[0]


# --- the law ------------------------------------------------------------------------------------------------------

CHANNELS = [ExactOrSuppressed(2), Warped(flat("1/2"), 1), Warped(flat("1"), 2)]
COUNTS = (0, 3, 0, 1)  # of a domain of four bins


def listed_law(channel: Channel, shown: dict[int, int]) -> arb:
    """The probability that exactly these bins show exactly these values, if all four are listed."""
    chance = arb(1)
    for code, count in enumerate(COUNTS):
        law = channel.law(count)
        chance *= law.mass(shown[code]) if code in shown else law.mass(0, SUPPRESSED)
    return chance


def sparse_law(channel: Channel, shown: dict[int, int]) -> arb:
    """The same by the recipe: bins with people one by one, gaps between empty ones, values given that one is shown."""
    empty = channel.empty_bins()
    assert empty is not None
    chance = arb(1)
    for code in (1, 3):
        law = channel.law(COUNTS[code])
        chance *= law.mass(shown[code]) if code in shown else law.mass(0, SUPPRESSED)
    if empty.chance().is_zero():
        return arb(0) if {0, 2} & set(shown) else chance
    (table,) = digits(2, empty.chance)  # two empty bins: a gap of 0, of 1, or beyond
    first, second = table._boundaries()
    gaps = [first, second - first]
    ranks = [rank for rank, code in enumerate((0, 2)) if code in shown]
    assert isinstance(channel, Warped)
    above = given_visible(channel.law((channel.show_above or 0) + 1))  # what `draw` keeps
    at = 0
    for rank in ranks:
        chance *= gaps[rank - at] * above.mass(shown[(0, 2)[rank]]) / above.total()
        at = rank + 1
    return chance * (1 - sum(gaps[: 2 - at], arb(0)))


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_the_law_is_that_of_listing_them_all(channel: Channel) -> None:
    values = (None, 2, 3, 4)
    met = 0
    for outcome in product(values, repeat=4):
        shown = {code: value for code, value in enumerate(outcome) if value is not None}
        listed = listed_law(channel, shown)
        assert listed.overlaps(sparse_law(channel, shown)), shown
        met += not listed.is_zero()
    assert met >= 1 if channel.certain else met > 50


def test_empty_bins_are_numbered_past_those_with_people() -> None:
    """With every empty bin shown nearly always, each code comes once, whoever has people."""
    channel = Warped(flat("1/100"), 0)
    empty = channel.empty_bins()
    assert empty is not None
    codes: NDArray[np.int64] = np.array([3, 0, 7])
    source = ScriptedSource.from_label("past")
    seen: set[int] = set()
    for _ in range(60):
        found, out = visible_bins(codes, channel.release(np.array([9, 9, 9]), source), empty, 8, source)
        assert np.all(np.diff(found) > 0)
        assert found.size == out.values.size
        seen |= set(found.tolist())
    assert seen == set(range(8))


# --- refusals, before anything is spent -----------------------------------------------------------------------------


@pytest.mark.parametrize("words", [{"epsilon": 1}, {"crowd": 20, "epsilon": 1}, {"outlier": "1:0.1,50:1"}], ids=str)
def test_a_channel_that_says_something_about_every_bin_is_refused_and_nothing_is_spent(words: dict[str, Any]) -> None:
    table = opened(PEOPLE, dataset="town")
    with pytest.raises(WrongUse, match=r"multiply to 1,000,000,000,000, .* empty ones are hardly ever shown") as told:
        table.histogram(BIG, **words)
    assert str(told.value).count(". ") == 0
    assert not Ledger().accounts()


def test_a_threshold_that_lets_too_many_through_is_refused_from_public_numbers() -> None:
    with pytest.raises(WrongUse, match=r"about 13,\d{3},\d{3},\d{3} would show a number though they are empty"):
        open_table(PEOPLE).histogram(BIG, mechanism="warped:curve=1,show-above=3")
    assert spec_of(BIG, NOISY).size_hint() < 1 << 21


def test_more_bins_than_64_bits_number_are_refused() -> None:
    with pytest.raises(WrongUse, match=r"at most 2\^63 can be numbered"):
        spec_of([*BIG, "d:0..10000000:1"], {"crowd": 20}).promises()


def test_bins_that_are_found_are_as_before() -> None:
    found = counts_of(open_table(PEOPLE).histogram(["a", "b:0..10000:1", "c:0..10000:1"], crowd=20))
    assert found.codes.tolist() == [10**4, 10**8 - 1]
    assert "found in the data" in found.sentences()[0]


# --- what is published ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_certificate_says_what_is_not_listed_and_the_file_is_looked_at(form: str, tmp_path: Path) -> None:
    release = enter(PEOPLE).histogram(BIG, crowd=20)
    written = save(release, tmp_path, form=form)
    done = verify(Path(written["certificate"]).read_bytes(), folder=tmp_path, known=lambda public: "you")
    assert done.complete, done.verdict
    assert '"every-bin.not-listed"' in Path(written["certificate"]).read_text()
    assert "one that is not listed is hidden" in explain_release(release.bound)
    assert "Not listed means hidden" in Path(written["report"]).read_text()
    file = Path(written["release"])
    assert wrong_in(release.spec, file, form) is None
    if form == "csv":
        rows = file.read_text().splitlines()
        for other, found in (
            ([rows[0], rows[2], rows[1]], "its bins are not in their order"),
            ([*rows, rows[2]], "a bin is there twice"),
            ([rows[0], rows[1].replace("[5,6)", "[5,7)")], "its bins are others"),
        ):
            file.write_text("\n".join(other) + "\n")
            assert wrong_in(release.spec, file, form) == found


def test_labels_of_long_axes_are_made_where_they_are_met(tmp_path: Path) -> None:
    people = pa.table({"x": [1_234_567] * 20, "y": [7] * 20})
    release = enter(people).histogram(["x:0..10000000:1", "y:0..10000000:1"], crowd=20)
    file = save(release, tmp_path)["release"]
    assert pa_csv.read_csv(file).select(["x", "y"]).to_pylist() == [{"x": "[1234567,1234568)", "y": "[7,8)"}]
    assert wrong_in(release.spec, Path(file), "csv") is None
    whole = Path(file).read_text()
    for wrong in (
        "[1234567,1234569)",
        "[-1,0)",
        "[1234567.5,1234568.5)",
        "[10000000,10000001)",
        "1234567",
        "other",
        "",
    ):
        Path(file).write_text(whole.replace("[1234567,1234568)", wrong))
        assert wrong_in(release.spec, Path(file), "csv") is not None, wrong


def test_long_axes_have_their_null_and_other_at_the_end() -> None:
    people = pa.table({"x": [3] * 20 + [None] * 20 + [-5] * 20, "y": [7] * 60})
    found = counts_of(open_table(people).histogram(["x:0..1000000:1,null,other", "y:0..1000000:1"], crowd=20))
    codes = [place * 10**6 + 7 for place in (3, 10**6, 10**6 + 1)]
    assert found.codes.tolist() == codes
    axis = found.axes[0]
    assert isinstance(axis, Steps)
    places = [counts_file._step(axis, text) for text in ("[3,4)", None, "other")]
    assert places == [3, 10**6, 10**6 + 1]
    for text in ("", "x", "[3,5)"):
        with pytest.raises(CheckFailed, match="its bins are others"):
            counts_file._step(axis, text)
