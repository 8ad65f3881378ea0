"""THREATS 23 and 84: what a process that died had reserved is given back if nothing was drawn for it, and else is named."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.errors import Refused
from hubbub.ledger.dry_run import dry_run
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.policy import Policy
from hubbub.ledger.undrawn import Undrawn
from hubbub.noise.source import SystemSource, choosing
from hubbub.numeric.exact import rational
from hubbub.release import abandon_on_failure
from tests.fresh import opened as open_table
from tests.unit.ledger.charges import charge

TOWN = pa.table({"dept": ["a"] * 40 + ["b"] * 25})


@pytest.fixture
def books(tmp_path: Path) -> Ledger:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.set_policy("town", Policy(differential_epsilon=rational(1, "epsilon")))
    return ledger


def reserved(books: Ledger) -> Undrawn:
    """A release that takes all of the cap, up to the moment before its first word is drawn."""
    mark = Undrawn(books.path)
    books.reserve("town", charge("plain"), before_entry=mark.begin)
    return mark


def states(books: Ledger) -> list[tuple[str, bool]]:
    return [(each.state, each.is_spent) for each in books.account("town").records]


def beside(books: Ledger) -> list[Path]:
    return list(books.path.parent.glob("*.undrawn-*"))


def test_84_what_died_before_it_drew_costs_nothing_and_the_next_goes_on(books: Ledger) -> None:
    reserved(books).close()  # as the kernel does when a process dies
    assert dry_run(books, "town", charge("plain")).refusal is None
    assert states(books) == [("abandoned", False)]
    assert len(books.entries()) == 3  # looking enters nothing
    reserved(books).close()
    assert [each.kind for each in books.entries()][-3:] == ["reserved", "abandoned", "reserved"]
    books.refund_undrawn()
    assert beside(books) == []
    assert states(books) == [("abandoned", False)] * 2
    books.check()


def test_84_what_somebody_is_working_on_is_not_given_back(books: Ledger) -> None:
    mark = reserved(books)
    books.refund_undrawn()
    assert states(books) == [("reserved", True)]
    mark.end()
    assert beside(books) == []


def test_84_what_may_be_drawn_counts_and_is_named_where_a_cap_refuses(books: Ledger) -> None:
    reserved(books).end()
    books.refund_undrawn()
    assert states(books) == [("reserved", True)]
    refusal = dry_run(books, "town", charge("plain")).refusal
    with pytest.raises(
        Refused, match=r"cap of 1; .*; release 1 of \d{4}-.* counts as spent and is not published"
    ) as told:
        books.reserve("town", charge("plain"))
    assert str(refusal) == str(told.value)


def test_84_who_was_given_back_meanwhile_draws_nothing(books: Ledger) -> None:
    mark = reserved(books)
    beside(books)[0].unlink()  # somebody whose drive knows no locks took it for dead
    source = SystemSource()
    source.before_first(mark.end)
    with pytest.raises(Refused, match="given back"):
        source.words(1)
    assert not source.used


def test_84_it_is_said_once_before_the_first_word_choice_or_copy() -> None:
    for use in (lambda source: source.words(1), choosing, pickle.dumps):
        told: list[bool] = []
        source = SystemSource()
        source.before_first(partial(told.append, True))
        use(source)
        source.words(3)
        assert told == [True]


@pytest.mark.parametrize("way", [{"epsilon": 1}, {"crowd": 20}])
def test_84_when_numbers_are_there_nothing_is_given_back(tmp_path: Path, way: dict[str, int]) -> None:
    path = tmp_path / "ledger.db"
    open_table(TOWN, dataset="town", ledger=path).histogram(["dept=a,b"], **way)
    books = Ledger(path)
    books.refund_undrawn()
    assert states(books) == [("reserved", True)]
    assert beside(books) == []


def test_69_an_interrupt_while_the_reservation_is_entered_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, path = Ledger.reserve, tmp_path / "ledger.db"

    def stopped(*given: object, **named: object) -> None:
        whole(*given, **named)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "reserve", stopped)
        with pytest.raises(KeyboardInterrupt, match="nothing is spent"):
            open_table(TOWN, dataset="town", ledger=path).histogram(["dept=a,b"], epsilon=1)
    assert [each.kind for each in Ledger(path).entries()][-2:] == ["reserved", "abandoned"]
    assert states(Ledger(path)) == [("abandoned", False)]


def test_84_a_copy_of_the_mark_says_nothing(books: Ledger, tmp_path: Path) -> None:
    """A backup that was made while a release ran holds the mark, and the release was drawn and published after that."""
    mark = reserved(books)
    (file,) = beside(books)
    copied = file.read_bytes()
    mark.end()
    for planted in (copied, b""):
        file.write_bytes(planted)
        books.refund_undrawn()
        assert states(books) == [("reserved", True)]


def test_84_who_adopts_a_ledger_gets_nothing_back_by_marks(books: Ledger) -> None:
    reserved(books).close()
    books.adopt()
    assert beside(books) == []
    assert states(books) == [("reserved", True)]


def test_84_where_locks_do_not_reach_one_takes_the_mark_and_the_other_does_not_draw(
    books: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hubbub.ledger.durable.hold", lambda handle, **how: True)
    mark = reserved(books)
    books.refund_undrawn()
    assert states(books) == [("abandoned", False)]
    for _ in range(2):  # now, and whoever asks again
        with pytest.raises(Refused, match="given back meanwhile"):
            mark.end()


def test_84_a_child_gives_nothing_up_for_its_parent(books: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    reservation = books.reserve("town", charge("plain"))
    inside = abandon_on_failure(books, reservation, lambda why: False)
    inside.__enter__()
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert not inside.__exit__(SystemExit, SystemExit(), None)
    assert states(books) == [("reserved", True)]
