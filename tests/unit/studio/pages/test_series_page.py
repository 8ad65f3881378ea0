"""A series has its page: what is spent, what is out, what comes next, and a picture of the totals."""

from __future__ import annotations

import shlex

import pyarrow as pa
import pytest

from hubbub import series
from hubbub.ledger.ledger import Ledger
from hubbub.opening import open as open_table
from hubbub.studio.forms.series import OPTIONS, present_period
from tests.unit.studio.opened import FILLED, Opened, plain


def test_a_series_says_what_is_out_and_what_comes_next(opened: Opened) -> None:
    series.start("clinic", kind="histogram", by=["ward=a,<b>"], person="id", periods=3, first="2026-01", epsilon=1)
    before = opened.client.get("/ledger/series?name=clinic").text
    assert "0 of 3 periods" in before
    assert "series publish clinic 2026-01 FILE" in before
    table = pa.table({"id": [f"p{i}" for i in range(40)], "ward": ["a", "<b>"] * 20})
    engine = open_table(table, person="id", dataset="clinic").engine
    series.release(engine, "clinic", "2026-01")
    told = opened.client.get("/ledger/series?name=clinic").text
    assert "1 of 3 periods" in told
    assert "series publish clinic 2026-02 FILE" in told
    assert "<svg" in told
    assert "<b>" not in told.replace("<bdi>", "")
    assert "p17" not in told
    assert "/ledger/series?name=clinic" in opened.client.get("/ledger").text
    assert opened.client.get("/ledger/series?name=nothing").status_code == 400
    assert len(Ledger().series("clinic")[1].periods) == 1


EVERY_MONTH = {**FILLED, "question": "every-month", "first": "2026-01", "periods": "3"} | {"out": ""}


@pytest.mark.usefixtures("in_place")
def test_the_form_leads_to_a_series_and_that_to_its_periods(opened: Opened) -> None:
    """Every month is a question like the others; what it starts is published from its page, period by period."""
    assert "Every month" in opened.get("/publish/table?file=people.csv")[1]
    form = plain(opened.get("/publish/table", params={**EVERY_MONTH, "step": "3"})[1])
    assert "Start the series people" in form
    assert "hubbub series start people people.csv --kind histogram --by" in form
    status, started = opened.send("/publish/release", EVERY_MONTH)
    assert status == 200
    assert "Publish 2026-01" in plain(started)
    assert "<option selected>people.csv</option>" in started
    (record,) = Ledger().accounts()["people"].records
    assert record.series == "people"
    assert not record.periods
    for period, after in (("2026-01", "2026-02"), ("2026-02", "2026-03")):
        asked = {"name": "people", "period": period, "file": "people.csv"}
        out = plain(opened.released(asked, "/ledger/series/publish"))
        assert f"Published: people-{period}" in out
        assert f"hubbub series publish people {period} people.csv" in out
        assert f"Next: {after}" in plain(opened.get("/ledger/series?name=people")[1])
    assert "Next: 2026-03" in plain(opened.get("/publish")[1])


@pytest.mark.usefixtures("in_place")
def test_a_period_that_cannot_be_published_leads_back_to_the_series(opened: Opened) -> None:
    opened.send("/publish/release", EVERY_MONTH)
    for wrong in ({"period": "2026-02"}, {"file": ""}, {"file": "nowhere.csv"}):
        asked = {"name": "people", "period": "2026-01", "file": "people.csv"} | wrong
        status, told = opened.send("/ledger/series/publish", asked)
        assert status == 400
        assert "Nothing was published." in told
        assert "Publish 2026-01" in plain(told)
    (opened.folder / "other.csv").write_text("id,city\n1,Bath\n", encoding="utf-8")
    told = opened.released({"name": "people", "period": "2026-01", "file": "other.csv"}, "/ledger/series/publish")
    assert "Nothing was published." in told
    assert not list(opened.folder.glob("people-2026*"))


VISITS = "id,town,age,seen\n" + "".join(
    f"{i},{town},30,2026-01-{1 + j:02}\n" for i in range(60) for j, town in enumerate(("Bath", "York"))
)


@pytest.mark.usefixtures("in_place")
def test_70_people_with_several_rows_are_refused_before_the_charge_and_the_form_takes_what_the_refusal_names(
    opened: Opened,
) -> None:
    (opened.folder / "people.csv").write_text(VISITS, encoding="utf-8")
    status, told = opened.send("/publish/release", EVERY_MONTH)
    assert (status, "nothing was charged" in plain(told)) == (409, True)
    assert not Ledger().accounts()["people"].spent_releases
    for name, more in (
        ("rows", {"several": "rows", "rows_per_person": "2"}),
        ("bins", {"several": "bins", "distinct": "2", "date": "seen"}),
        ("one", {"several": "one"}),
    ):
        status, told = opened.send("/publish/release", EVERY_MONTH | more | {"name": name})
        assert status == 200, plain(told)
        assert "In a period" in plain(told)
        asked = {"name": name, "period": "2026-01", "file": "people.csv"}
        out = plain(opened.released(asked, "/ledger/series/publish"))
        assert f"Published: {name}-2026-01" in out
    assert series.series_of_record(Ledger().series("bins")[1]).date == "seen"


@pytest.mark.usefixtures("in_place")
def test_70_a_period_with_several_rows_is_completed_by_one_of_each(opened: Opened) -> None:
    opened.send("/publish/release", EVERY_MONTH)
    (opened.folder / "people.csv").write_text(VISITS, encoding="utf-8")
    asked = {"name": "people", "period": "2026-01", "file": "people.csv"}
    assert "Nothing was published." in opened.released(asked, "/ledger/series/publish")
    assert 'name="one_row_per_person"' in opened.get("/ledger/series?name=people")[1]
    out = plain(opened.released({**asked, "one_row_per_person": "on"}, "/ledger/series/publish"))
    assert "Published: people-2026-01" in out
    assert "--one-row-per-person" in out


@pytest.mark.usefixtures("in_place")
def test_70_what_no_period_can_have_starts_no_series(opened: Opened) -> None:
    for more in ({"disjoint": "2026-01"}, {"join": "people.csv", "on": "id", "join_named": "on"}):
        status, _ = opened.send("/publish/release", EVERY_MONTH | more)
        assert status == 400
        assert "people" not in Ledger().accounts()


def test_a_series_that_lacks_its_bins_says_where(opened: Opened) -> None:
    told = opened.get("/publish/table", params={**EVERY_MONTH, "by1-values": "", "step": "2"})[1]
    assert 'data-mark="bins-1"' in told


@pytest.mark.usefixtures("in_place")
def test_the_command_and_python_of_a_series_do_the_same(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from hubbub.cli.main import commands

    page = opened.get("/publish/table", params={**EVERY_MONTH, "name": "typed", "step": "3"})[1]
    shown = next(line for line in page.splitlines() if "hubbub series start" in line)
    typed = shown.partition("hubbub series start")[2].partition("<")[0].replace("&#39;", "'")
    monkeypatch.chdir(opened.folder)
    done = CliRunner().invoke(commands, ["series", "start", *shlex.split(typed)])
    assert done.exit_code == 0, done.output
    opened.send("/publish/release", {**EVERY_MONTH, "name": "pressed"})
    first, second = (series.series_of_record(Ledger().series(name)[1]) for name in ("typed", "pressed"))
    assert first.calendar == second.calendar
    assert (first.axes, first.unit, first.way) == (second.axes, second.unit, second.way)


def test_the_form_asks_for_words_of_a_series() -> None:
    import inspect

    from hubbub.kinds.series.request import series as asked

    assert {option.name for option in OPTIONS} <= set(inspect.signature(asked).parameters)
    assert len({present_period(unit) for unit in ("day", "week", "month", "quarter", "year")}) == 5
