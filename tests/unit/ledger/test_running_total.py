"""The running total says of the next release what all releases would say of it; sealed, it cannot be changed unseen."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hubbub.errors import CheckFailed, Refused
from hubbub.guarantees.accountant.accountant import MOST_KINDS
from hubbub.guarantees.accountant.odometer import EXPONENTS
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours, ZeroKnowledge
from hubbub.guarantees.implications import is_weaker
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger import running_total, store
from hubbub.ledger.admission import Entered, admit, totals
from hubbub.ledger.charge import Charge
from hubbub.ledger.charge import charge as charge_of
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.log import START, Page, seal
from hubbub.ledger.policy import Policy
from hubbub.ledger.running_total import Running, RunningTotal, read_total, running_total_of, total_bytes
from hubbub.numeric.exact import INFINITY
from hubbub.protocol.bound import Bound
from hubbub.serialization.exact_json import line
from tests.unit.ledger.charges import KINDS, charge, releases, told

names = st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=7)
_NEARLY = Fraction(1, 2) - Fraction(1, 3**1400)
ODD = [charge(name) for name in sorted(KINDS)] + [
    replace(charge("plain"), promises=promises)
    for promises in (
        (DifferentialPrivacy(epsilon=Fraction(1), delta=Fraction(1, 9)), DifferentialPrivacy(epsilon=Fraction(2))),
        (DifferentialPrivacy(epsilon=Fraction(1), neighbours=Neighbours.REPLACE),),
        (DifferentialPrivacy(epsilon=INFINITY), DifferentialPrivacy(epsilon=Fraction(1), group=2)),
        (DifferentialPrivacy(epsilon=_NEARLY, delta=Fraction(1, 9)), DifferentialPrivacy(epsilon=Fraction(1, 2))),
        (DifferentialPrivacy(epsilon=_NEARLY, delta=Fraction(1, 7)), DifferentialPrivacy(epsilon=Fraction(1, 2))),
    )
]


@settings(max_examples=150)
@given(names, st.sampled_from(sorted(KINDS)))
@example(["endless", "endless by b", "endless"], "endless")
@example(["one row", "plain", "crowd"], "plain")
@example(["plain", "curve", "plain"], "curve")
@example(["crowd", "crowd by b", "crowd", "crowd by b"], "plain")
@example(["endless", "plain by b", "endless"], "plain")
@example(["collected crowd", "plain by b", "crowd"], "crowd")
@example(["crowd", "plain by b", "crowd"], "noisy crowd")
@example(["crowd", "crowd by b", "crowd by c", "crowd by c"], "crowd by c")
def test_stand_ins_say_of_one_more_release_what_all_releases_say(earlier: list[str], new: str) -> None:
    *before, one = releases(*earlier, new)
    short = running_total_of(before, reserved=len(before))
    assert told(totals([*short.stand_ins, one])) == told(totals([*before, one]))
    assert short.spent == short.reserved == len(before)
    try:
        wanted: object = told(admit(before, one, "town"))
    except Refused:
        with pytest.raises(Refused):
            admit(short.stand_ins, one, "town", count=short.spent)
    else:
        assert told(admit(short.stand_ins, one, "town", count=short.spent)) == wanted


@settings(max_examples=60)
@given(names, st.sampled_from(sorted(KINDS)))
@example(["plain"] * 6, "plain by b")
@example(["sampled plain"] * 5, "sampled plain")
def test_what_stand_ins_lose_at_a_delta_is_what_all_releases_lose(earlier: list[str], new: str) -> None:
    """The sums of growths are carried along, so nothing is lost by adding up."""
    *before, one = releases(*earlier, new)
    short = [*running_total_of(before, reserved=len(before)).stand_ins, one]
    assert totals(short).adaptive.guarantee == totals([*before, one]).adaptive.guarantee


@settings(max_examples=40)
@given(st.lists(st.integers(min_value=0, max_value=len(KINDS)), min_size=1, max_size=6))
@example([len(KINDS), len(KINDS)])
def test_stand_ins_never_promise_more_than_all_releases(which: list[int]) -> None:
    """They may promise less: what crowds lose by an exchange and by a removal is one number in a stand-in, so exact
    crowds are lost as soon as two releases that have crowds are added up."""
    pure = Entered(number=1, charge=_pure_crowds())
    listed = [*releases(*sorted(KINDS)), pure]
    many = [replace(listed[i], number=number) for number, i in enumerate(which, 1)]
    whole, short = totals(many), totals(running_total_of(many, reserved=len(many)).stand_ins)
    for notion in ("differential", "adaptive", "zero_knowledge", "crowd_blending", "outlier", "population"):
        said, true = getattr(short, notion).guarantee, getattr(whole, notion).guarantee
        if said is not None:
            assert true is not None
            assert said == true or is_weaker(said, true), (notion, said, true)
            if notion != "crowd_blending":
                assert said == true, notion


def _pure_crowds() -> Charge:
    """Crowds, and differential privacy without a delta, in one release."""
    return replace(charge("noisy crowd"), promises=(*charge("noisy crowd").promises, *charge("plain").promises))


@settings(max_examples=60)
@given(names)
def test_a_running_total_is_read_back_as_it_was_written(earlier: list[str]) -> None:
    short = running_total_of(releases(*earlier), reserved=len(earlier) + 2)
    assert read_total(total_bytes(short)) == short
    later = short.followed_by(Entered(number=short.reserved + 1, charge=charge("plain")))  # with stand-ins of before
    for each in (short, later):
        assert total_bytes(each) == line(each).encode("ascii")


@settings(max_examples=100)
@given(st.lists(st.sampled_from(ODD), min_size=2, max_size=7))
@example([ODD[-2], ODD[-1]])
def test_what_a_sum_notes_of_its_promises_is_what_they_say(earlier: list[Charge]) -> None:
    """Also where the larger of two losses is the shorter number, and the smaller is rounded beyond it."""
    many = [Entered(number=i, charge=each) for i, each in enumerate(earlier, 1)]
    for one in running_total_of(many, reserved=len(many)).stand_ins:
        fresh = replace(one.charge)
        for name in set(vars(one.charge)) - {field.name for field in fields(Charge)}:
            assert getattr(one.charge, name) == getattr(fresh, name), name


@settings(max_examples=30)
@given(st.lists(st.sampled_from(sorted(KINDS)), min_size=60, max_size=60))
def test_however_many_releases_a_handful_of_stand_ins_is_left(earlier: list[str]) -> None:
    assert len(running_total_of(releases(*earlier), reserved=60).stand_ins) <= len(KINDS) + 2


def test_growths_are_those_of_all_releases_also_once_pairs_are_rounded() -> None:
    """Up to a number of kinds they follow from the pairs, beyond it they are carried along; either way exactly."""
    found, wanted = RunningTotal(), [Fraction(0)] * len(EXPONENTS)
    carried = set()
    for i in range(1, MOST_KINDS + 9):
        spec = histogram(["a=x,y"], epsilon=f"1/{i % (MOST_KINDS + 5) + 1}")
        new = Entered(number=i, charge=charge_of(Bound(spec)))
        found = found.followed_by(new)
        wanted = [before + more for before, more in zip(wanted, new.growths(), strict=True)]
        (one,) = found.stand_ins
        assert list(one.growths()) == wanted
        assert one.accountant is not None
        carried.add((bool(one.grown), len(one.accountant.pairs) == min(i, MOST_KINDS)))
    assert {(False, True), (True, False)} <= carried
    assert read_total(total_bytes(found)) == found


@pytest.mark.parametrize("name", sorted(KINDS))
def test_whether_a_loss_for_one_person_replaced_is_known_is_told_without_it(name: str) -> None:
    one = charge(name)
    assert one.loses_if_replaced == (one.replacement_loss is not None)
    silent = replace(one, promises=())
    assert silent.loses_if_replaced is (silent.replacement_loss is not None) is False


def test_long_numbers_are_rounded_against_us() -> None:
    found, exact = RunningTotal(), Fraction(0)
    for i in range(1, 400):
        spec = histogram(["a=x,y"], epsilon=f"1/{i}", sample="0.1")
        found = found.followed_by(Entered(number=i, charge=charge_of(Bound(spec))))
        exact += charge_of(Bound(spec)).differential.epsilon  # type: ignore[union-attr, assignment]
    (one,) = found.stand_ins
    promise, knowledge = one.charge.differential, one.charge.zero_knowledge
    assert isinstance(promise, DifferentialPrivacy)
    assert isinstance(promise.epsilon, Fraction)
    assert exact <= promise.epsilon <= exact + Fraction(1, 10**40)
    assert isinstance(knowledge, ZeroKnowledge)
    spared = 1 - knowledge.aggregate.p  # type: ignore[union-attr]
    assert Fraction(9, 10) ** 399 * (1 - Fraction(1, 10**40)) <= spared <= Fraction(9, 10) ** 399
    assert len(total_bytes(found)) < 20_000


# --- in the ledger --------------------------------------------------------------------------------------------------


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    book = Ledger(tmp_path / "ledger.db")
    for name in ("plain", "plain by b", "plain"):
        book.reserve("town", charge(name))
    return book


def test_only_the_last_entries_are_read_while_the_file_is_as_it_was(
    book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def everything(*_: object) -> Any:
        raise AssertionError("every entry was read")

    with monkeypatch.context() as patch:
        patch.setattr("hubbub.ledger.log.chain", everything)
        patch.setattr("hubbub.ledger.store.chain", everything)
        place = book.reserve("town", charge("plain"))
        book.sign(b"")
        book.commit(place, "0" * 64, "1" * 64)
        book.abandon(book.reserve("town", charge("crowd")), drawn=False)
        assert book.reserve("town", charge("crowd")).release == 6
    assert book.check() == 9


def test_what_is_given_up_undrawn_is_not_in_the_total(book: Ledger) -> None:
    book.set_policy("town", Policy(differential_epsilon=Fraction("3.4")))
    first, second = book.reserve("town", charge("plain by b")), book.reserve("town", charge("plain by b"))
    for place in (first, second):  # the one is not the last reservation, the other is
        with pytest.raises(Refused, match="above the cap"):
            book.reserve("town", charge("plain"))
        book.abandon(place, drawn=False)
    book.reserve("town", charge("plain"))
    assert book.check() == 10
    assert len(book.account("town").spent_releases) == 4


def test_what_was_reserved_long_ago_can_be_given_up(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_total, "_RECENT", 3)  # totals that the check remembers
    places = [book.reserve("town", charge(name)) for name in ("plain by b", "plain", "crowd", "plain", "plain by b")]
    for place in (places[0], places[3], places[1]):
        book.abandon(place, drawn=False)
        book.check()
    changed = running_total_of((), reserved=8)
    monkeypatch.setattr(running_total, "running_total_of", lambda releases, reserved: changed)
    with pytest.raises(CheckFailed, match="running total"):
        book.check()


def test_what_is_given_up_after_drawing_stays_in_the_total(book: Ledger) -> None:
    book.set_policy("town", Policy(differential_epsilon=Fraction(3)))
    book.abandon(book.reserve("town", charge("plain by b")), drawn=True)
    with pytest.raises(Refused, match="above the cap"):
        book.reserve("town", charge("plain"))
    book.check()


def edit(book: Ledger, *statements: str) -> None:
    base = sqlite3.connect(book.path)
    for statement in statements:
        base.execute(statement)
    base.commit()
    base.close()


def as_left(book: Ledger) -> None:
    """Let the anchor believe that nobody wrote to the file, as if the clock had been turned back."""
    known = store.find_anchor(book.path)
    assert known is not None
    store.keep_anchor(store.Anchor(known.path, known.ledger, known.number, known.hash, store.check_anchor(book.path)))


def test_a_changed_total_is_noticed(book: Ledger) -> None:
    short = total_bytes(running_total_of(releases("plain"), reserved=3)).hex()
    edit(book, f"UPDATE totals SET body = x'{short}'")
    as_left(book)
    with pytest.raises(CheckFailed, match="the running total of town is not what its releases add up to"):
        book.reserve("town", charge("plain"))


def test_a_changed_total_in_a_file_that_was_written_to_is_worked_out_again(book: Ledger) -> None:
    short = total_bytes(running_total_of(releases("plain"), reserved=3)).hex()
    edit(book, f"UPDATE totals SET body = x'{short}'", "DELETE FROM marks")
    book.set_policy("town", Policy(differential_epsilon=Fraction(3)))
    with pytest.raises(Refused, match="above the cap"):
        book.reserve("town", charge("plain"))
    with pytest.raises(Refused, match="only in capitals"):
        book.reserve("Town", charge("plain"))


def test_a_total_that_never_was_right_is_noticed_by_a_check(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sealed, believed by every later release, and found out when all is added up from the beginning."""
    with monkeypatch.context() as patch:
        patch.setattr(RunningTotal, "followed_by", lambda self, new: self)
        book.reserve("town", charge("plain"))
    book.reserve("town", charge("plain"))
    with pytest.raises(CheckFailed, match="the running total of town"):
        book.check()


def test_a_ledger_without_totals_is_carried_on(tmp_path: Path) -> None:
    """As older versions wrote it: no totals, no marks, anchors that do not know how the file looked."""
    book = Ledger(tmp_path / "ledger.db")
    for name in ("plain", "plain by b", "crowd"):
        book.reserve("town", charge(name))
    old = older(book)
    assert [entry.kind for entry in old.entries()] == ["created", "reserved", "reserved", "reserved"]
    old.check()
    with pytest.raises(Refused, match="already has release 3"):
        old.reserve("town", charge("crowd by b"))
    assert old.reserve("town", charge("plain")).release == 4
    old.check()


def test_totals_that_another_version_wrote_are_worked_out_again(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(running_total, "FORM", "0.other")
        patch.setattr(running_total, "total_bytes", lambda total: total_bytes(replace(total, spent=7)))
        book.reserve("town", charge("plain"))
    book.check()
    book.set_policy("town", Policy(differential_epsilon=Fraction(4)))
    with pytest.raises(Refused, match="above the cap"):  # 3.25 and 1 more
        book.reserve("town", charge("plain"))
    assert book.reserve("town", charge("plain by b")).release == 5
    book.check()


def older(book: Ledger) -> Ledger:
    from hubbub.serialization.canonical import canonical

    base = sqlite3.connect(book.path)
    base.executescript("DROP TRIGGER never_change; DROP TABLE totals; DROP TABLE marks; DROP INDEX by_dataset")
    last = START
    for number, kind, dataset, when, _ in base.execute(
        "SELECT number, kind, dataset, time, body FROM entries"
    ).fetchall():
        body = {k: v for k, v in book.entries()[number - 1].body.items() if k not in ("total", "secret")}
        data = canonical(body)
        own = seal(number, kind, dataset, when, data, last)
        base.execute("UPDATE entries SET body = ?, previous = ?, hash = ? WHERE number = ?", (data, last, own, number))
        last = own
    base.commit()
    base.close()
    known = store.find_anchor(book.path)
    assert known is not None
    store.forget_anchor(book.path)
    store.keep_anchor(store.Anchor(known.path, known.ledger, known.number, last))
    return book


def test_the_last_entry_has_the_digest_of_the_total(book: Ledger) -> None:
    base = sqlite3.connect(book.path)
    page = Page(base, lambda entry: ())
    assert page.last is not None
    data = page.total("town", page.last.number)
    assert data is not None
    assert page.last.body["total"] == f"{running_total.FORM}:{hashlib.sha256(data).hexdigest()}"
    assert Running(page, "town").total.spent == 3
    assert isinstance(charge("plain"), Charge)
    base.close()
