"""Tables for tests of the numbers and not of the ledger: every release is about people of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa

from hubbub.certificate.certificate import certificate
from hubbub.engines.opening import open_source
from hubbub.errors import CheckFailed
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.histogram.result import Counts
from hubbub.kinds.histogram.spec import Histogram
from hubbub.kinds.table import Table
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import Source, SystemSource
from hubbub.opening import open as open_table
from hubbub.options.mechanism import Mechanism
from hubbub.protocol.bound import Bound
from hubbub.protocol.release import Release
from hubbub.protocol.result import Result, Sheet
from hubbub.protocol.spec import Spec
from hubbub.release import execute, run, save
from hubbub.serialization.published_files import Files
from hubbub.tables.engine import Engine
from hubbub.tables.identity import Identity
from hubbub.tables.privacy_unit import Unit
from hubbub.verification.comparison import difference

_numbers = count(1)

DIGEST = "0" * 64
ENTRY = {"id": "1" * 32, "dataset": "town", "hash": "2" * 64, "nonce": "3" * 32}


def save_over(release: Release, folder: Any, **words: Any) -> dict[str, str]:
    """As :func:`hubbub.save`, in the place of whatever is there."""
    return save(release, folder, replace=True, **words)


def opened(source: object, **words: Any) -> Table:
    """As :func:`hubbub.open`; each row is a person unless a column says who is who, and that is confirmed. Everybody may
    be in no bin, or outside of a range, unless a share is said."""
    shares = {"unlisted": 1, "clamped": 1}
    table = open_table(source, rows_are_people=words.get("person") is None, **{**shares, **words})
    if table.person is not None or table.possible_person is None:
        return table
    return replace(table, publish=lambda spec, *, accept_weak=False: table.publish(spec, accept_weak=True))


T = TypeVar("T")

_SHARED: Final[dict[tuple[bytes, str], Any]] = {}
_MOST_SHARED: Final = 64
_LARGE: Final = 1 << 20  # bytes


def shared(open_it: Callable[[Any], T], source: object, how: object = "") -> T:
    """What opens a source, once for all small Arrow tables with the same content: to start a database takes 25 ms."""
    if not isinstance(source, pa.Table) or source.nbytes > _LARGE:
        return open_it(source)
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, source.schema) as writer:
        writer.write_table(source)
    content = stream.getvalue().to_pybytes(), repr(how)
    if content not in _SHARED:
        while len(_SHARED) >= _MOST_SHARED:
            del _SHARED[next(iter(_SHARED))]  # the oldest
        _SHARED[content] = open_it(source)
    found: T = _SHARED[content]
    return found


def engine_of(source: object) -> Any:
    """The engine of a table that a test only reads."""
    return shared(open_source, source)


def _opened_once(source: object, words: Mapping[str, Any]) -> Table:
    return shared(lambda table: opened(table, **words), source, sorted(words.items()))


def open(source: object, **words: Any) -> Table:
    """As :func:`hubbub.open`, for releases that are looked at: they are entered nowhere, and so cannot be saved."""
    table = _opened_once(source, {"unreadable": 1, "unlisted": 1, "clamped": 1, **words})

    def publish(spec: Spec | Bound, *, accept_weak: bool = False) -> Release:
        return run(spec, table.engine, SystemSource())

    return Table(table.engine, table.person, publish, dictionary=table.dictionary)


class Nameless:
    """A table that is known by nothing but the name it is given."""

    def __init__(self, engine: Engine) -> None:
        self.columns, self.count, self.observing_ids = engine.columns, engine.count, engine.observing_ids
        self.joint_count, self.rows = engine.joint_count, engine.rows

    def identity(self) -> Identity:
        return Identity()


def enter(source: object, **words: Any) -> Table:
    """As :func:`hubbub.open`, for releases that are saved: each takes a new name in the ledger."""
    table = _opened_once(source, words)
    nameless = Nameless(table.engine)

    def publish(spec: Spec | Bound, *, accept_weak: bool = False) -> Release:
        return execute(spec.bind(nameless.columns()), nameless, Ledger(), f"people-{next(_numbers)}", other_people=True)

    return Table(table.engine, table.person, publish, dictionary=table.dictionary)


def played(spec: Spec, engine: Any, source: Source) -> Release:
    """A release with noise that is known beforehand."""
    return Release(Bound(spec), spec.present(spec.measure(engine, source)))


def counts(release: Release) -> Counts:
    """What a histogram published."""
    assert isinstance(release.result, Counts)
    return release.result


def words_of_a_release(words: Mapping[str, Any]) -> dict[str, Any]:
    """What a release is asked with for these words of a request: a mechanism where they name a channel."""
    found = dict(words)
    own, name = dict(found.pop("options", {})), found.pop("channel", None)
    if name is not None:
        typed = tuple((key, value if value is True else str(value)) for key, value in own.items())
        found["mechanism"] = Mechanism(name, typed)
    return found


def opening_words(words: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is declared when the table is opened, and what the release is asked with."""
    given = words_of_a_release(words)
    return {name: given.pop(name) for name in ("collected", "collected_between", "exempt") if name in given}, given


def asked(release: Release) -> Histogram:
    """What a histogram was asked."""
    assert isinstance(release.spec, Histogram)
    return release.spec


def spec_of(by: list[str], words: Mapping[str, Any], person: str | None = None) -> Histogram:
    """The spec that the words of Table.histogram ask for."""
    rest = dict(words)
    unit = Unit(
        person=person,
        one_row_per_person=rest.pop("one_row_per_person", False),
        distinct=rest.pop("distinct", None),
    )
    return histogram(by, unit=unit, **rest)


def certificate_of(release: Release) -> dict[str, Any]:
    """The certificate of a release as if it had been written to a file and entered in a ledger, unsigned."""
    return certificate(release, {"release.csv": DIGEST}, ENTRY)


class _Nothing(Result):
    """What came out of a release that was never carried out."""

    def sheets(self) -> tuple[Sheet, ...]:
        return ()


def unsigned(spec: Spec) -> dict[str, Any]:
    """The certificate of a release that was never carried out: nothing in it depends on what came out."""
    return certificate_of(Release(Bound(spec), _Nothing()))


def wrong_in(spec: Spec, file: Path, form: str) -> str | None:
    """What a verifier finds wrong with a published file and those beside it, in words; None if nothing is."""
    beside = {each.stem: each for each in file.parent.glob(f"*.{form}")}
    files = Files(form, {**beside, "release": file})
    try:
        sheets = {sheet.name: sheet for sheet in spec.present(spec.load(files)).sheets()}
    except CheckFailed as error:
        return str(error)
    found = ((name, difference(sheets[name], path, form)) for name, path in files.paths.items() if name in sheets)
    return next((f"{name}.{form}: {wrong}" for name, wrong in found if wrong is not None), None)
