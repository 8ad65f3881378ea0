"""Series, from their start to their last period: what is charged once, drawn once, and never read again.

::

    start:   the whole series is declared -> its first table is rehearsed -> promises of all periods -> ledger reserves
             and charges them
    period:  the state that the ledger names -> the people who may still count -> increments, frozen
             -> noise -> the next state, on the disk -> ledger enters the period -> files, as for every release

A period that was drawn is presented again from what was drawn, and no table is read. A period that was missed counts
nobody, and is not refunded.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hubbub.certificate.certificate import SIGNATURE, signed_bytes
from hubbub.errors import CheckFailed, HubbubError, Refused, WrongUse
from hubbub.kinds.series.mechanism import Increments, count_period, drawn_before, load_periods, measure, present
from hubbub.kinds.series.request import series as asked
from hubbub.kinds.series.spec import Period, Series, read_series
from hubbub.ledger import series_state as states
from hubbub.ledger.charge import charge
from hubbub.ledger.key import is_signature
from hubbub.ledger.ledger import CLOSED, Ledger
from hubbub.ledger.records import Record
from hubbub.ledger.series_state import FrozenPeriod, SeriesState
from hubbub.noise.source import SystemSource
from hubbub.protocol.bound import Bound
from hubbub.protocol.measurement import Measurement
from hubbub.protocol.release import CLAMPED, UNLISTED, UNREADABLE, Release, Reservation, dataset_name
from hubbub.protocol.weakness import check_accepted, check_confirmed, weak_unit
from hubbub.publication.staging import PREFIX
from hubbub.query_classes.series import Crowds, Factor
from hubbub.release import of_result
from hubbub.runtime.interruption import interruptible
from hubbub.runtime.progress import working
from hubbub.serialization.canonical import Plain, digest, read
from hubbub.serialization.exact_json import plain
from hubbub.tables.engine import NO_ID, ONE_ROW_EACH, ONE_ROW_OF_SEVERAL, SEVERAL_ROWS, Engine
from hubbub.tables.identity import IdObserver
from hubbub.tables.schema import unnamed_person
from hubbub.verification.series import certificates_in

DECLARED: Final = "declared"
_OTHER_TYPES: Final = (
    "the columns of this table are of other types than those of the first period, so that bins or ids may mean something "
    "else; give a table with the same columns"
)


_ONE_ROW: Final = (
    "the table does not have exactly one row for each person, and the series says that each has one; give a table that has "
    "one, or keep one row of each, chosen secretly (`one_row_per_person=True`), which its report then says"
)
_ONE_ROW_START: Final = "the table does not have exactly one row for each person; say what counts of several in a period: {}; nothing was charged"
_ONE_ROW_CROWDS: Final = (
    "the table does not have exactly one row for each person, and the series says that each has one; give a table that has "
    "one, such as the first or the latest of each person's rows"
)
"""For the steward alone: they tell something about the data, and read the same for every such table."""


def start(
    name: str,
    table: Engine | None = None,
    *,
    dataset: str | None = None,
    ledger: str | os.PathLike[str] | None = None,
    accept_weak: bool = False,
    reading: Mapping[str, Plain] = MappingProxyType({}),
    other_people: bool = False,
    ids_of: str | None = None,
    **options: Any,
) -> tuple[Series, Reservation]:
    """Declare a series, and charge what all its periods together promise, once. `table` is that of the first period, or one
    like it: it is rehearsed before anything is charged, and nothing of it is kept. Without it no table is read.

    Guarantee: if the first period would refuse the `table`, it is refused here, and what was charged is given back. The
    declaration and the whole charge are in the ledger, on the disk, when this returns. Nothing of it is
    given back once a period was drawn, whether the others are published or not; adding to it is a new series.
    """
    series = asked(dataset_name(name), **options)
    bound = Bound(Period(series=series, period=series.calendar.first))
    check_accepted(bound, accept_weak)
    declared = plain(series)
    entry: dict[str, Plain] = {"name": series.name, DECLARED: declared, "digest": digest(declared)}
    if isinstance(series.way, Factor):
        noise = series.way.gaussian_noise
        entry |= {
            "coefficients": list(series.way.coefficients),
            "rho": plain(noise.rho),
            "delta": plain(series.way.delta),
        }
    if table is not None and not accept_weak:
        check_confirmed(weak_unit(series.unit.people, unnamed_person(table.columns())))
    books = Ledger(ledger)
    reservation = books.reserve(dataset or name, charge(bound), series=entry)
    if table is not None:
        try:
            _rehearse(books, reservation, series, table, reading, other_people=other_people, ids_of=ids_of)
        except BaseException:
            with suppress(HubbubError):  # then it stays charged, and can be cancelled
                books.cancel_series(reservation)
            raise
    return series, reservation


def cancel(name: str, *, ledger: str | os.PathLike[str] | None = None) -> Reservation:
    """Give up a series of which no period was drawn; what was charged for it is given back.

    Guarantee: that of :meth:`hubbub.ledger.ledger.Ledger.cancel_series`.
    """
    books = Ledger(ledger)
    reservation, _ = books.series(name)
    books.cancel_series(reservation)
    return reservation


def _rehearse(
    books: Ledger,
    reservation: Reservation,
    series: Series,
    table: Engine,
    reading: Mapping[str, Plain],
    *,
    other_people: bool,
    ids_of: str | None,
) -> None:
    """Refuse a table that the first period would refuse.

    Guarantee: what it counts is thrown away, and nothing is drawn; a refusal is for the steward alone.
    """
    bound = series.bind(table.columns())
    books.check_source(reservation.dataset, table.identity())
    with interruptible(), working("Rehearsing the first period"):
        people, _ = _may_count(bound, table, states.new_state(reservation.nonce), 0, reading)
        if series.unit.person is not None:
            columns = tuple(table.columns())
            people = people.observing_ids(
                books.observer(reservation, columns=columns, other_people=other_people, ids_of=ids_of)
            )
        _count_increments(bound, people, SystemSource(), refused=_ONE_ROW_START.format(_ways_to_count_rows(series)))


def _ways_to_count_rows(series: Series) -> str:
    """What a series of this kind can do with several rows of a person."""
    found = ["one row of each, chosen secretly (`one_row_per_person=True`)"]
    if not isinstance(series.way, Crowds) and series.sample is None:
        found.append("at most M rows (`rows_per_person=M`)")
        if series.axes and series.of is None:
            found.append("each person once in at most B bins (`distinct=B`)")
    return ", or ".join(found)


def _count_increments(
    series: Series, people: Engine, source: SystemSource, *, refused: str, keep_one_row: bool = False
) -> np.ndarray[Any, Any]:
    """The increments of a period; people with several rows are refused by a sentence whose options the caller takes."""
    try:
        return count_period(series, people, source, keep_one_row=keep_one_row)
    except Refused as error:
        if error.marked not in (SEVERAL_ROWS, ONE_ROW_OF_SEVERAL, ONE_ROW_EACH):
            raise
    raise Refused(refused)


def series_of_record(record: Record) -> Series:
    """The series that a record of the ledger is of."""
    return read_series(record.entry.body["series"][DECLARED])


def next_period(record: Record) -> str | None:
    """The period after the last one that was drawn; None when all are over."""
    labels = series_of_record(record).calendar.labels
    following = int(record.periods[-1].body["period"]) + 1 if record.periods else 0
    return labels[following] if following < len(labels) else None


def release(
    engine: Engine | None,
    name: str,
    period: str,
    *,
    ledger: str | os.PathLike[str] | None = None,
    other_people: bool = False,
    ids_of: str | None = None,
    reading: Mapping[str, Plain] = MappingProxyType({}),
    one_row_per_person: bool = False,
    accept_weak: bool = False,
    beside: str | os.PathLike[str] | None = None,
) -> Release:
    """A period of a series: drawn from a table if it was not drawn yet, else as it was drawn. `accept_weak` confirms that
    rows are people where the name of a column says that they may not be. With `one_row_per_person` one row of each person
    counts, chosen secretly, where the series expects one: so whatever was charged can be completed. `beside` is a folder in whose folders other periods
    were published: if the ledger does not know one of them, it is an older copy, and nothing is drawn.

    Guarantee: every period is drawn once, after all earlier ones. What it counted is on the disk, and entered in the
    ledger, before any of its files has its name; it is never read from a table again. Who counted in as many periods as a
    person may is left out, by a rule of that person's own rows. If this fails before the entry, no file ever held what was
    drawn, and nothing more is spent: the series was charged as a whole.
    """
    books = Ledger(ledger)
    reservation, record = books.series(name)
    series = series_of_record(record)
    index = series.calendar.index(period)
    last = int(record.periods[-1].body["period"]) if record.periods else -1
    before = str(record.periods[-1].body["state"]) if record.periods else ""
    if before == CLOSED:
        raise Refused(
            "the ledger was put back to an older state, so nobody knows which periods of the series were drawn since; start "
            "another series"
        )
    state = states.load(books.path, record.nonce, before) if before else states.new_state(record.nonce)
    if index > last:
        if engine is None:
            raise WrongUse(f"{period} was not drawn yet; give its table")
        if beside is not None:
            _check_published(books, record.nonce, Path(beside))
        if one_row_per_person and not series.may_keep_one_row:
            raise WrongUse(
                "this series says itself what counts of several rows, or shows exact crowds, of people with one row each; "
                "leave out `one_row_per_person`"
            )
        if not accept_weak:
            check_confirmed(weak_unit(series.unit.people, unnamed_person(engine.columns())))
        observer = partial(
            books.observer,
            reservation,
            columns=tuple(engine.columns()),
            other_people=other_people,
            ids_of=ids_of,
        )
        state = _draw(
            books, reservation, series, state, engine, index, before, observer, reading, keep_one_row=one_row_per_person
        )
    return _present_period(state, reservation, index)


def _check_published(books: Ledger, nonce: str, folder: Path) -> None:
    """Refuse if a period was published that the ledger does not know: then it was put back to an older state, and whatever
    this machine remembers with it. Only what a key of the ledger signed is believed."""
    keys = books.public_keys()
    known = {str(entry.body["certificate"]) for entry in books.entries() if "certificate" in entry.body}
    for path in certificates_in(folder):
        if path.parent.name.startswith(PREFIX):  # signed, and perhaps not entered yet
            continue
        try:
            data = path.read_bytes()
            body: dict[str, Any] = read(data, "a certificate")
            signature, own = body.pop(SIGNATURE), body["ledger"]["nonce"] == nonce
            public, value = str(signature["public_key"]), str(signature["value"])
        except (OSError, CheckFailed, KeyError, TypeError, AttributeError):
            continue  # none of ours
        if not own or public not in keys or hashlib.sha256(data).hexdigest() in known:
            continue
        if is_signature(public, value, signed_bytes(body)):
            raise CheckFailed(
                f"{str(path)!r} is a period of the series that the ledger does not know, so the ledger is an older copy; restore "
                "ledger, key and series together from the latest backup"
            )


def _draw(
    books: Ledger,
    reservation: Reservation,
    series: Series,
    state: SeriesState,
    engine: Engine,
    index: int,
    before: str,
    observer: Callable[[], IdObserver],
    reading: Mapping[str, Plain],
    *,
    keep_one_row: bool,
) -> SeriesState:
    bound = series.bind(engine.columns())
    if state.bound is not None and plain(bound) != state.bound:
        raise WrongUse(_OTHER_TYPES)
    source, identity = SystemSource(), engine.identity()
    with interruptible(), working("Counting"):
        people, chosen = _may_count(bound, engine, state, index, reading)
        if series.unit.person is not None:
            people = people.observing_ids(observer())
        refused = _ONE_ROW if series.may_keep_one_row else _ONE_ROW_CROWDS
        new = _count_increments(bound, people, source, refused=refused, keep_one_row=keep_one_row)
    past = [each.increments for each in state.periods]
    missed = range(len(past), index)
    nobody = np.zeros(bound.cells, dtype=np.int64)
    increments = np.array([*past, *(nobody for _ in missed), new], dtype=np.int64).reshape(index + 1, bound.cells)
    spec = Period(series=bound, period=bound.calendar.labels[index])
    data = Increments(increments, tuple(np.array(each.drawn, dtype=np.int64) for each in state.periods))
    with working("Drawing noise"):
        drawn = _draw_noise(spec, measure(spec, data, source))
    frozen = tuple(
        FrozenPeriod(
            period=t,
            increments=tuple(increments[t].tolist()),
            drawn=tuple(tuple(line) for line in drawn[t].tolist()),
            reading=dict(reading),
            missed=t != index,
            one_row_kept=keep_one_row and t == index,
        )
        for t in (*missed, index)
    )
    after = states.frozen(state, frozen, bound=plain(bound), **chosen)

    def keep() -> str:
        states.forget_others(books.path, state.nonce, before)  # those of whom no entry came
        return states.keep(books.path, after)

    books.draw_period(reservation, index, before=before, keep=keep, source=identity)
    states.forget(books.path, state.nonce, before)
    return after


def _draw_noise(spec: Period, measured: Measurement) -> tuple[np.ndarray[Any, Any], ...]:
    every = np.concatenate([measured[name].integers("drawn") for name in ("past", "now")])
    return drawn_before(spec.series, every, spec.index + 1)


def _may_count(
    series: Series, engine: Engine, state: SeriesState, index: int, reading: Mapping[str, Plain]
) -> tuple[Engine, dict[str, Any]]:
    """The table without the rows that do not count in this period, and what the series then keeps of those who did.

    Guarantee: whether a row stays depends on the rows of its own person in this and earlier periods, on public dates and on
    the secret of the series, and on nobody else. At most `recur` periods count anybody.
    """
    if not series.chooses_rows:
        return engine, {}
    from hubbub.engines.opening import open_source  # late: an import of hubbub loads no engine

    table = engine.rows(series.columns, None, lambda rows: np.arange(rows, dtype=np.int64))
    share, *others = (str(reading.get(name, 1)) for name in (UNREADABLE, UNLISTED, CLAMPED))
    if series.date is not None:
        table, day = _of_published(table, series, state, index, Fraction(share))
    else:
        day = np.zeros(table.num_rows, dtype=np.int64)
    stays, chosen = _choose_rows(table, series, state, day, index)
    counting = open_source(
        table.filter(pa.array(stays, pa.bool_())),
        unreadable=share,
        **dict(zip((UNLISTED, CLAMPED), others, strict=True)),
    )
    return counting, chosen


def _of_published(
    table: pa.Table, series: Series, state: SeriesState, index: int, share: Fraction
) -> tuple[pa.Table, np.ndarray[Any, Any]]:
    """The rows whose date lies in this period or in one that was published, and the day of each."""
    from hubbub.engines.duckdb.unreadable import check_share

    found, is_unread = read_days(table.column(series.date))
    who = None if series.unit.person is None else table.column(series.unit.person)
    bad, people = int(is_unread.sum()), table.num_rows
    if who is not None:
        bad, people = (pc.count_distinct(each).as_py() for each in (who.filter(pa.array(is_unread)), who))
    check_share(share, people, bad)
    is_open = np.zeros(series.calendar.periods + 2, dtype=bool)  # the last two: after the calendar, and before it
    is_open[[index, *(each.period for each in state.periods if not each.missed)]] = True
    inside = is_open[_period_of(series, found)]
    return table.filter(pa.array(inside)), found[inside]


def _period_of(series: Series, day: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """In which period each day lies; -1 before the first."""
    return np.asarray(np.searchsorted(np.array(series.calendar.days), day, side="right") - 1)


def _choose_rows(
    table: pa.Table, series: Series, state: SeriesState, day: np.ndarray[Any, Any], index: int
) -> tuple[list[bool], dict[str, Any]]:
    """Of each row whether it counts in this period, and what the series then keeps."""
    person = series.unit.person
    if person is None:
        return (_period_of(series, day) == index).tolist(), {}
    kind = table.column(person).type
    if pa.types.is_floating(kind) or not (pa.types.is_primitive(kind) or _is_text(kind)):
        raise WrongUse(f"a series knows people again by texts or whole numbers, not by {kind}; give the ids as text")
    person_type = _id_type(kind)
    if state.bound is not None and person_type != state.person_type:
        raise WrongUse(_OTHER_TYPES)
    ids = pc.cast(table.column(person), pa.string())
    if ids.null_count:
        raise Refused(NO_ID)
    names = ids.to_pylist()
    words = [state.word(each) for each in names]
    stays = state.may_count(words, series.recur)
    if series.panel is not None:
        stays = [stay and state.is_drawn(name, series.panel) for stay, name in zip(stays, names, strict=True)]
    rows = list[str]()
    if series.date is not None:
        periods = _period_of(series, day).tolist()
        rows = [state.word(f"{t}:{name}") for t, name in zip(periods, names, strict=True)]
        stays = state.earliest(words, rows, periods if series.unit.chooses else day.tolist(), stays)
    counting = frozenset(word for word, stay in zip(words, stays, strict=True) if stay)
    more = {"dated": state.dated | {row for row, stay in zip(rows, stays, strict=True) if stay}} if rows else {}
    used = state.used_after(counting, series.recur) if series.limits_people else ()
    return stays, {"person_type": person_type, "used": used, **more}


def _id_type(kind: pa.DataType) -> str:
    """Within which ids that are written alike are the same."""
    if pa.types.is_integer(kind):
        return "integer"
    return "text" if _is_text(kind) else str(kind)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind))


def _present_period(state: SeriesState, reservation: Reservation, index: int) -> Release:
    """The release of a period that was drawn: a function of what was drawn, and of how its table was read."""
    frozen = state.periods[index]
    series = read_series(state.bound)
    labels = series.calendar.labels
    if frozen.missed:
        raise Refused(
            f"{labels[index]} was not published before a later period was, so it stays out: a missed period counts nobody, "
            "and is not made up for"
        )
    missed = tuple(labels[each.period] for each in state.periods[:index] if each.missed)
    kept = tuple(labels[each.period] for each in state.periods[: index + 1] if each.one_row_kept)
    spec = Period(series=series, period=labels[index], missed=missed, one_row_kept=kept)
    with working("Working out the numbers"):
        result = present(spec, _measurement(spec, [each.drawn for each in state.periods[: index + 1]]))
    return of_result(spec, result, reservation, frozen.reading)


def _measurement(spec: Period, drawn: list[tuple[tuple[int, ...], ...]]) -> Measurement:
    past, now = load_periods(spec, drawn[:-1], drawn[-1:])
    return Measurement(past=past, now=now)


NO_DAY: Final = -(1 << 62)
"""Long before every calendar."""
_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()
_A_DAY: Final = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_WRITTEN: Final = re.compile(r"\s*(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d\S*)?)\s*", re.ASCII)


def read_days(dates: pa.ChunkedArray) -> tuple[NDArray[Any], NDArray[Any]]:
    """Of each row the day, since 1970-01-01 and in UTC where there is a time zone, and whether something is there that is no
    date; `NO_DAY` where there is none.

    Guarantee: a function of each cell by itself; nothing wraps round, whatever the moment is.
    """
    kind = dates.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        return _read_texts(pc.cast(dates, pa.string()))
    a_day = 1 if pa.types.is_date32(kind) else _A_DAY["ms" if pa.types.is_date64(kind) else kind.unit]
    numbers = pc.cast(pc.cast(dates, pa.int32() if a_day == 1 else pa.int64()), pa.int64())
    found = np.where(pc.is_valid(dates).to_numpy(), pc.fill_null(numbers, 0).to_numpy() // a_day, NO_DAY)
    return found, np.zeros(len(found), dtype=bool)


def _read_texts(dates: pa.ChunkedArray) -> tuple[NDArray[Any], NDArray[Any]]:
    coded = dates.combine_chunks().dictionary_encode()
    written: list[str | None] = coded.dictionary.to_pylist()
    read = np.array([_day(text) for text in written] + [NO_DAY], dtype=np.int64)  # the last one: a row without a text
    is_text = np.array([bool(text and text.strip()) for text in written] + [False])
    codes = pc.fill_null(coded.indices.cast(pa.int64()), len(written)).to_numpy()
    return read[codes], (read[codes] == NO_DAY) & is_text[codes]


def _day(text: str | None) -> int:
    """The day of one text; `NO_DAY` if it is none."""
    found = _WRITTEN.fullmatch(text or "")
    if found is None:
        return NO_DAY
    try:
        moment = datetime.datetime.fromisoformat(found[1])
        if moment.tzinfo is not None:
            moment = moment.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return NO_DAY
    return moment.date().toordinal() - _EPOCH
