"""``hubbub series``: the same release every period, under one promise."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub import plan as planning
from hubbub.cli import (
    Commands,
    InGroups,
    confirm_weak,
    display,
    examples,
    json_option,
    options,
    page,
    print_json,
    question,
    table,
    yes_option,
)
from hubbub.cli.release import ANY, TABLE, answer, save_into
from hubbub.errors import CheckFailed, WrongUse
from hubbub.kinds.series.request import ROWS_OF_A_PERSON
from hubbub.numeric.exact import to_float
from hubbub.numeric.format import readable
from hubbub.plan import SeriesPlan
from hubbub.protocol.option import HOW, WHERE, WHOSE, Option

if TYPE_CHECKING:
    from hubbub.kinds.series.spec import Series
    from hubbub.kinds.table import Table
    from hubbub.ledger.records import Record

_WHAT: Final = (
    Option(
        "kind",
        "KIND",
        "What is published in every period.",
        choices=("histogram", "count", "cube", "sum"),
        default="histogram",
    ),
    Option("by", "SPEC", "A column and its declared bins; repeat it for several columns.", many=True),
    Option("where", "CONDITION", 'Of whom, like "age >= 65 and sex = F".'),
    Option("of", "RANGE", "What a sum adds up: column:LOW..HIGH, like fee:0..500."),
    Option("margins", "LIST", "Which sums of the cells of a cube are shown, like 'town; town,age'."),
    Option("periods", "T", "How many periods there are, like 12.", required=True),
    Option("first", "PERIOD", "The first period, like 2026-01.", required=True),
    Option(
        "every",
        "UNIT",
        "How long a period is.",
        choices=("day", "week", "month", "quarter", "year"),
        default="month",
    ),
    Option("date", "COLUMN", "The column that dates a row, where all periods come from one table that grows."),
    Option("coverage", "C", "How often an interval is right.", default="0.95", advanced=True),
)
_WHOSE: Final = (
    Option("person", "COLUMN", "The column that says who a row is about.", group=WHOSE),
    Option("rows_are_people", None, "Each row is another person (then leave out `person`).", group=WHOSE),
    Option("recur", "R", "In how many periods one person counts, at most: the first ones.", default="1", group=WHOSE),
    *ROWS_OF_A_PERSON,
)
_READING: Final = tuple(option for option in TABLE if option.name in ("table", "dictionary"))
_HOW: Final = (
    Option("epsilon", "EPS", "The privacy loss of all periods together.", group=HOW),
    Option("delta", "D", "With `epsilon`: Gaussian noise, where it has less error.", group=HOW),
    Option(
        "way", "WAY", "How it is drawn; the best, if unsaid.", choices=("increments", "blocks", "factor"), group=HOW
    ),
    Option(
        "sample",
        "P",
        "Count a secret sample of this rate, drawn anew in every period: zero-knowledge privacy.",
        group=HOW,
    ),
    Option("panel", None, "With `sample`: one sample of people for all periods, kept in secret.", group=HOW),
    Option("crowd", "K", "Show exact numbers of at least K people in a period, hide the others for good.", group=HOW),
)
_WHERE: Final = (
    Option("dataset", "NAME", "The people's name in the ledger; else the name of the series.", group=WHERE),
    Option("ledger", "FILE", "Another ledger than your own.", group=WHERE, advanced=True),
)


@click.group(
    "series",
    cls=Commands,
    epilog=examples("hubbub series plan --periods 12 --epsilon 1"),
)
def series() -> None:
    """Publish the same numbers every month, week or day, under one promise for all of them."""


def _plan(found: SeriesPlan, *, as_json: bool) -> None:
    if as_json:
        print_json(found.as_json())
        return
    table(found.table(), ["way", "error of a total", "of a period", "delta"])
    for sentence in found.sentences():
        page().print(f"\n{sentence}")


series.add_command(
    question(
        planning.series,
        _plan,
        "series plan --periods 12 --recur 1 --epsilon 1",
        "series plan --periods 365 --recur 3 --epsilon 1 --delta 1e-9 --json",
        "series plan --periods 12 --recur 12 --epsilon 1 --sample 0.1 --crowd 10",
        name="plan",
    )
)


def _start(name: str, file: str, as_json: bool, yes: bool, **options: Any) -> None:
    """Declare a series, and charge all of it in the ledger, once.

    FILE is the table of the first period, or one like it: the period is rehearsed, and if it would be refused, nothing is
    charged. What is counted, the calendar and the noise are fixed from here on. Each period is then published with
    hubbub series publish NAME PERIOD FILE --out DIR. A period that is missed is not refunded, and a longer series is a
    new one. A series of which nothing is published can be cancelled (hubbub series cancel NAME).
    """
    from hubbub import series as planned
    from hubbub.kinds.series.request import from_options
    from hubbub.ledger.ledger import Ledger
    from hubbub.opening import open as open_table
    from hubbub.protocol.bound import Bound
    from hubbub.protocol.release import dataset_name
    from hubbub.protocol.weakness import weaknesses

    rows, named = options.pop("rows_are_people"), {each: options.pop(each) for each in ("dataset", "ledger")}
    if (options["person"] is None) is not rows:
        raise WrongUse(
            "say who a person is: `person=COLUMN`, the column that says who a row is about, or `rows_are_people=True` if "
            "each row is another person"
        )
    reading = {option.name: options.pop(option.name) for option in _READING}
    spec = from_options(name=dataset_name(name), **options)
    people = open_table(
        file,
        person=options["person"],
        rows_are_people=rows,
        **reading,
        dataset=named["dataset"] or dataset_name(name),
        ledger=named["ledger"],
    )
    _check_one_table(people)
    confirm_weak(weaknesses(Bound(spec), people.possible_person), yes)
    started, reservation = planned.start(
        name, people.engine, reading=people.reading, accept_weak=True, **people.ids(), **named, **options
    )
    _, record = Ledger(named["ledger"]).series(name)
    if as_json:
        print_json(_as_json(started, record) | {"dataset": reservation.dataset})
        return
    _print_series(started, record)


def _check_one_table(people: Table) -> None:
    """Refuse what a series says by itself, or cannot be made of."""
    if people.dictionary.say("join") is not None:
        raise WrongUse(
            "a series is of one table in every period; give the joined table, and take the join out of its dictionary"
        )
    if people.dictionary.say("disjoint") is not None:
        raise WrongUse(
            "a series says in how many of its periods a person counts; take disjoint out of the dictionary of the table"
        )


def _publish(name: str, period: str, file: str, as_json: bool, yes: bool, **options: Any) -> None:
    """Publish one period of a series. It costs nothing more.

    FILE is the table of the period. What is counted, and of whom, was said when the series was started. A period that was
    published already comes out as it was drawn, and no table is read again.
    """
    from hubbub import series as planned
    from hubbub.ledger.ledger import Ledger
    from hubbub.opening import open as open_table
    from hubbub.protocol.weakness import weak_unit
    from hubbub.report.heading import heading

    ledger = Ledger(options["ledger"])
    reservation, record = ledger.series(name)
    declared, said = planned.series_of_record(record), heading(options["words"])
    opened: dict[str, Any] = {"engine": None}
    if declared.calendar.index(period) not in {int(each.body["period"]) for each in record.periods}:
        people = open_table(
            file,
            person=declared.unit.person,
            rows_are_people=declared.unit.person is None,
            **{option.name: options[option.name] for option in _READING},
            dataset=reservation.dataset,
            ledger=options["ledger"],
        )
        _check_one_table(people)
        confirm_weak(weak_unit(declared.unit.people, people.possible_person), yes)
        opened = {"engine": people.engine, "reading": people.reading, **people.ids()}
    done, files = save_into(
        options,
        ledger,
        said,
        partial(
            planned.release,
            name=name,
            period=period,
            ledger=options["ledger"],
            one_row_per_person=options["one_row_per_person"],
            accept_weak=True,  # if it is weak, somebody just confirmed it
            beside=Path(options["out"]).absolute().parent,
            **opened,
        ),
    )
    answer(done, files, as_json=as_json, explained=options["explain"])


def _cancel(name: str, ledger: str | None, as_json: bool) -> None:
    """Give up a series of which no period was drawn: what was charged for it is given back."""
    from hubbub import series as planned

    reservation = planned.cancel(name, ledger=ledger)
    if as_json:
        print_json({"series": name, "cancelled": True, "dataset": reservation.dataset})
    else:
        page().verdict(f"Series {display(name)} is cancelled, and costs nothing.")


def _show(name: str, ledger: str | None, as_json: bool) -> None:
    """Say what a series is, what is published of it, and what comes next."""
    from hubbub import series as planned
    from hubbub.ledger.ledger import Ledger

    _, record = Ledger(ledger).series(name)
    found = planned.series_of_record(record)
    if as_json:
        print_json(_as_json(found, record))
    else:
        _print_series(found, record)


def _as_json(found: Series, record: Record) -> dict[str, Any]:
    from hubbub.certificate.certificate import about
    from hubbub.kinds.series.promises import promises
    from hubbub.series import next_period

    labels = found.calendar.labels
    drawn = [labels[int(each.body["period"])] for each in record.periods]
    return {
        "series": found.name,
        "kind": found.kind,
        "periods": found.calendar.periods,
        "first": found.calendar.first,
        "last": found.calendar.last,
        "recur": found.recur,
        "drawn": drawn,
        "next": next_period(record),
        "guarantees": [about(step.conclusion, step.people) for step in promises(found)],
    }


def _print_series(found: Series, record: Record) -> None:
    from hubbub.guarantees.promise_order import in_brief
    from hubbub.kinds.series.promises import promises
    from hubbub.kinds.series.text import noise, rows_rule, what
    from hubbub.numeric.format import short
    from hubbub.query_classes.series import Blocks

    told = _as_json(found, record)
    console = page()
    console.verdict(f"Series {display(found.name)}: {display(what(found))}, {noise(found)}.\n")
    for step in promises(found):
        console.print(f"Promise for all {found.calendar.periods:,} periods together: {in_brief(step.conclusion)}.")
    if isinstance(found.way, Blocks) and found.way.sample is not None:
        console.print(
            f"Its class is iRS({short(found.way.known_rate)}): it is fair to know a sample that has each person with probability "
            f"{short(found.way.known_rate)}."
        )
    console.print(f"Periods: {found.calendar.first} to {found.calendar.last}; published: {len(told['drawn']):,}.")
    if found.limits_people:
        many = "period" if found.recur == 1 else f"{found.recur:,} periods"
        console.print(f"Each person counts in their first {many}, and in no other.")
    if rule := rows_rule(found):
        console.print(rule)
    if found.date is not None:
        late = "a late row never counts" if found.unit.person is None else "a late row counts when it comes"
        console.print(f"Rows are of the period in which {display(found.date)} lies; {late}.")
    if told["next"] is not None:
        console.print(
            f"Next: hubbub series publish {display(found.name)} {told['next']} FILE --out DIR",
            soft_wrap=True,
        )
    else:
        console.print("All periods are over; start another series to go on.")


def _between(certificate: str, since: str, until: str, as_json: bool) -> None:
    """Say what came after one period up to another, with intervals, from the published files alone.

    CERTIFICATE is that of a period not before UNTIL; its files lie beside it and are checked first.
    """
    from hubbub.kinds.series.result import Totals, numbers_between
    from hubbub.kinds.series.spec import Period
    from hubbub.verification import load, verify

    folder = Path(certificate).parent
    checked = verify(load(certificate), folder=folder)
    if not checked.passed:
        raise CheckFailed(f"{checked.verdict.rstrip('.')}; get the originals")
    if not isinstance(checked.spec, Period):
        raise WrongUse("this is no period of a series; give the certificate of one")
    totals = checked.spec.present(checked.spec.load(checked.published(folder)))
    assert isinstance(totals, Totals)
    numbers, bins = numbers_between(totals, since, until), totals.bins()
    way = checked.spec.series.way
    one, other = (checked.spec.series.calendar.index(each) for each in (since, until))
    exact = getattr(way, "total_variance", None)
    variance = None if exact is None else exact(other, one) * checked.spec.series.step**2
    if as_json:
        rows = [
            {
                **labels,
                "difference": None if n.value is None else float(n.value),
                "low": to_float(n.low, round_up=False),
                "high": to_float(n.high, round_up=True),
            }
            for labels, n in zip(bins, numbers, strict=True)
        ]
        sd = None if variance is None else float(variance) ** 0.5
        print_json({"since": since, "until": until, "sd": sd, "rows": rows})
        return
    told = [
        (
            ", ".join(str(label) for label in labels.values()) or "all",
            "hidden" if n.value is None else readable(n.value),
            f"{readable(n.low, up=False)} and {readable(n.high, up=True)}",
        )
        for labels, n in zip(bins, numbers, strict=True)
    ]
    table(told, ["", f"after {since} up to {until}", "between"])


_MILLBROOK: Final = "hubbub-demo/millbrook.parquet"
_STARTED: Final = f"hubbub series start residents {_MILLBROOK} --by age:0..90:10 --person resident --periods 12 --first 2026-01 --epsilon 1"
_PERIODS: Final = tuple(
    f"hubbub series publish residents {period} {_MILLBROOK} --out {folder}/"
    for period, folder in (("2026-01", "january"), ("2026-02", "february"))
)
_START: Final = click.command(
    "start",
    cls=InGroups,
    help=_start.__doc__,
    epilog=examples(
        _STARTED,
        f"hubbub series start calls {_MILLBROOK} --kind count --person resident --one-row-per-person --periods 52 --every week "
        "--first 2026-W01 --epsilon 1 --dataset residents",
    ),
)
series.add_command(
    _START(
        click.argument("name")(
            click.argument("file")(
                options(yes_option(json_option(_start)), (*_WHAT, *_WHOSE, *_READING, *_HOW, *_WHERE))
            )
        )
    )
)
_PUBLISHED: Final = tuple(option for option in ANY if option.name not in ("dataset", "dry_run"))
_KEEP_ONE: Final = Option(
    "one_row_per_person",
    None,
    "Where the series expects one row of each person: keep one of several, chosen secretly.",
    group=WHOSE,
)
series.add_command(
    click.command("publish", cls=InGroups, help=_publish.__doc__, epilog=examples(_STARTED, *_PERIODS))(
        click.argument("name")(
            click.argument("period")(
                click.argument("file")(options(yes_option(json_option(_publish)), (*_READING, _KEEP_ONE, *_PUBLISHED)))
            )
        )
    )
)
series.add_command(
    click.command("cancel", help=_cancel.__doc__, epilog=examples(_STARTED, "hubbub series cancel residents"))(
        click.argument("name")(
            click.option("--ledger", metavar="FILE", help="Another ledger than your own.")(json_option(_cancel))
        )
    )
)
series.add_command(
    click.command("show", help=_show.__doc__, epilog=examples(_STARTED, "hubbub series show residents"))(
        click.argument("name")(
            click.option("--ledger", metavar="FILE", help="Another ledger than your own.")(json_option(_show))
        )
    )
)
series.add_command(
    click.command(
        "between",
        help=_between.__doc__,
        epilog=examples(
            _STARTED, *_PERIODS, "hubbub series between february/certificate.json --since 2026-01 --until 2026-02"
        ),
    )(
        click.argument("certificate")(
            click.option("--since", metavar="PERIOD", required=True, help="The earlier period.")(
                click.option("--until", metavar="PERIOD", required=True, help="The later period.")(
                    json_option(_between)
                )
            )
        )
    )
)
