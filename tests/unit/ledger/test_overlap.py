"""The same people under another name: copies of every kind are noticed, strangers are not, and the error is as said."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.overlap import check_overlap
from hubbub.ledger.policy import Policy
from hubbub.ledger.sketch import MOST, Overlap, Sketch, can_compare, overlap, read, sketch
from hubbub.tables.identity import EVERYBODY, Chosen
from tests.fresh import opened as open_table

KEY = bytes(range(32))
PEOPLE = 6000


def made(ids: Iterable[int], most: int = MOST) -> Sketch:
    """As an engine would choose: the lowest ranks of a hash that anybody can work out."""
    ranked = sorted((hash_of(i), str(i)) for i in ids)
    limit = EVERYBODY if len(ranked) <= most else ranked[most][0]
    ranked = ranked[:most]
    return sketch(Chosen("test", tuple(name for _, name in ranked), tuple(rank for rank, _ in ranked), limit), KEY)


def hash_of(i: int) -> int:
    x = (i + 1) * 0x9E3779B97F4A7C15 % EVERYBODY
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> shift)) * factor % EVERYBODY
    return x ^ (x >> 31)


# --- the estimate ---------------------------------------------------------------------------------------------------


def test_strangers_share_nobody_and_a_copy_shares_all() -> None:
    one, two = made(range(20_000)), made(range(20_000, 50_000))
    assert overlap(one, two) == Overlap(common=0, compared=len(overlap_words(one, two)))
    same = overlap(one, made(reversed(range(20_000))))
    assert same is not None
    assert same.common == same.compared == len(one.words)


def overlap_words(one: Sketch, two: Sketch) -> np.ndarray[Any, Any]:
    limit = min(one.limit, two.limit)
    return min((each.words[each.words >> np.uint64(40) < limit] for each in (one, two)), key=len)


@pytest.mark.parametrize("share", [0.02, 0.05, 0.1, 0.5])
def test_the_interval_holds_the_true_share(share: float) -> None:
    n = 20_000
    both = overlap(made(range(n)), made(range(int(n * (1 - share)), int(n * (2 - share)))))
    assert both is not None
    low, high = both.interval(1e-6)  # the size of this test
    assert low <= share <= high
    assert high - low < 0.1  # of 4096 compared, less than that


def test_false_alarms_and_misses_are_as_rare_as_said() -> None:
    """Tables of 2,000 with 1 %, and with 10 %, in common, sketched with 400: m about 400. The bound on a false alarm at
    5 % is exp(-400 KL(.05, .01)) = 3e-8, on a miss exp(-400 KL(.05, .1)) = 2e-3."""
    alarms = misses = 0
    for i in range(40):
        start = i * 10_000
        few = overlap(made(range(start, start + 2000), 400), made(range(start + 1980, start + 3980), 400))
        many = overlap(made(range(start, start + 2000), 400), made(range(start + 1800, start + 3800), 400))
        assert few is not None
        assert many is not None
        alarms += few.above(Fraction(1, 20))
        misses += not many.above(Fraction(1, 20))
    assert alarms == 0
    assert misses <= 2  # more have probability below 1e-4


def test_a_part_of_a_large_table_is_known_by_those_of_it_that_were_chosen() -> None:
    whole, part = made(range(100_000)), made(range(0, 100_000, 50))
    both = overlap(whole, part)
    assert both is not None
    assert both.common == both.compared > 40  # about 4096/50
    tiny = overlap(whole, made(range(3)))
    assert tiny is not None
    assert tiny.common == tiny.compared <= 3  # what was not chosen cannot be seen


def test_nothing_compared_rules_nothing_out() -> None:
    assert Overlap(common=0, compared=0).interval() == (0.0, 1.0)
    assert not Overlap(common=0, compared=0).above(Fraction(1, 20))


def test_sketches_join_and_are_read_back() -> None:
    one, two = made(range(9000)), made(range(6000, 15_000))
    assert (one | two).same(made(range(15_000)))
    assert read(one.to_json()).same(one)
    assert len(one.words) <= MOST
    assert overlap(one, Sketch("another", one.words, one.limit)) is None


def test_a_word_is_the_rank_and_a_keyed_hash_of_the_id() -> None:
    hashed = hashlib.blake2b("Zoë".encode(), key=KEY, digest_size=5, person=b"hubbub people").digest()
    rank = 0xABCDEF_0123456789
    found = sketch(Chosen("test", ("Zoë", "Zoë"), (rank, rank)), KEY)
    assert found.words.tolist() == [rank >> 40 << 40 | int.from_bytes(hashed, "big")]
    assert not sketch(Chosen("test", (), ()), KEY).words.size


def test_words_depend_on_the_key() -> None:
    chosen = Chosen("test", ("1", "2"), (1 << 50, 1 << 60))
    one, two = sketch(chosen, KEY), sketch(chosen, KEY[::-1])
    assert not np.intersect1d(one.words, two.words).size
    assert "1" not in repr(chosen).replace(str(EVERYBODY), "")


# --- releases -------------------------------------------------------------------------------------------------------


TOWNS = ["Bath", "York"] * (PEOPLE // 2)
TABLE = pa.table({"id": list(range(PEOPLE)), "town": TOWNS})


def release(source: object, name: str, **words: Any) -> Any:
    asked = {"epsilon": 1} | {key: words.pop(key) for key in ("one_row_per_person",) if key in words}
    return open_table(source, person=words.pop("person", "id"), dataset=name, **words).histogram(
        ["town=Bath,York"], **asked
    )


@pytest.fixture
def town() -> Ledger:
    release(TABLE, "town")
    return Ledger()


def copies(folder: Path) -> dict[str, object]:
    shuffled = TABLE.take(np.argsort([hash_of(i) for i in range(PEOPLE)]))
    pa.csv.write_csv(shuffled, folder / "copy.csv")
    pa.parquet.write_table(TABLE.slice(0, PEOPLE // 10), folder / "short.parquet")
    base = duckdb.connect()
    base.register("frame", TABLE)
    base.execute("CREATE TABLE people AS SELECT CAST(id AS DOUBLE) AS id, town FROM frame")
    return {
        "re-sorted csv": folder / "copy.csv",
        "shortened parquet": folder / "short.parquet",
        "pandas with floats": pd.DataFrame({"id": np.arange(PEOPLE, dtype=float), "town": TOWNS}),
        "polars with texts": polars.DataFrame({"id": [f"{i:08d}" for i in range(PEOPLE)], "town": TOWNS}),
        "connection": base,
    }


@pytest.mark.parametrize("one_row", [False, True])
def test_39_copies_are_noticed_and_nothing_is_spent(town: Ledger, tmp_path: Path, one_row: bool) -> None:
    for i, (name, source) in enumerate(copies(tmp_path).items()):
        words = {"table": "people"} if name == "connection" else {}
        with pytest.raises(Refused, match=r"add other_people .* or dataset=town") as error:
            release(source, f"copy-{i}", one_row_per_person=one_row, **words)
        assert "more than 5 %" in str(error.value)
        assert str(error.value).index("other_people") < str(error.value).index("dataset=town"), "merging comes first"
        assert not town.account(f"copy-{i}").spent_releases, name
    assert len(town.account("town").spent_releases) == 1
    release(tmp_path / "copy.csv", "town")  # the way out that the sentence names
    assert town.check()


@pytest.mark.parametrize("one_row", [False, True])
def test_62_running_numbers_of_unlike_tables_are_not_the_same_people(town: Ledger, one_row: bool) -> None:
    """Ids 1, 2, 3, ... say where a row stood: pupils 0..5999 are not the residents 0..5999."""
    pupils = {"id": list(range(1, PEOPLE)), "town": TOWNS[1:], "school": ["a"] * (PEOPLE - 1)}
    release(pa.table(pupils), "pupils", one_row_per_person=one_row)
    release(pa.table(pupils).slice(0, 100), "few-pupils", other_people=True)
    sparse = {"id": list(range(0, PEOPLE, 100)), "town": TOWNS[::100], "ward": ["a"] * 60}  # beside a table that runs
    release(pa.table(sparse), "sparse", one_row_per_person=one_row)
    assert [len(town.account(name).spent_releases) for name in ("town", "pupils", "sparse")] == [1, 1, 1]


def test_62_ids_that_mean_somebody_are_compared_whatever_the_columns(town: Ledger) -> None:
    numbers = [10_000_000 + 7919 * i for i in range(PEOPLE)]  # far more numbers than people
    names = [f"member {i}" for i in range(PEOPLE)]
    for kind, ids in (("numbers", numbers), ("names", names)):
        release(pa.table({"id": ids, "town": TOWNS}), kind)
        with pytest.raises(Refused, match=f"compared, of this table or of '{kind}'"):
            release(pa.table({"id": ids, "town": TOWNS, "school": TOWNS}), f"unlike-{kind}")


def test_62_what_counts_as_a_running_number() -> None:
    """The rule is about most ids, and from where on a share of common ids is no chance."""
    few = [*range(1, 95), *(10**9 + i for i in range(6))]  # a few that do not run change nothing
    assert made(range(1, 101)).running
    assert made(few).running
    assert made(range(0, 2000, 20)).running
    assert not made(range(0, 4000, 40)).running
    assert not made(range(10**6, 10**6 + 100)).running
    assert made(range(1, 100_000)).running, "seen in a part of the ids too"
    assert not made(range(10**9, 10**9 + 100_000)).running
    assert not made([]).running
    for ids in (("P001", "P002"), ("1" * 5000, "2")):
        assert not sketch(Chosen("test", ids, (1 << 50, 1 << 60)), KEY).running


def test_62_ids_of_registers_that_are_named_are_compared_by_their_names(town: Ledger) -> None:
    """Running numbers of one register name somebody, whatever the columns; those of two registers never do."""
    pupils = {"id": list(range(1, PEOPLE)), "town": TOWNS[1:], "school": ["a"] * (PEOPLE - 1)}
    release(pa.table(pupils), "pupils", ids_of="school-register")
    release(pa.table(pupils), "same-form", ids_of="library")
    with pytest.raises(Refused, match="compared, of this table or of 'pupils'"):
        release(pa.table(pupils).rename_columns(["id", "town", "class"]), "classes", ids_of="school-register")
    names = pa.table({"id": [f"member {i}" for i in range(PEOPLE)], "town": TOWNS})
    release(names, "club", ids_of="club")
    release(names, "other-club", ids_of="other-club")
    with pytest.raises(Refused, match="'club' and 'other-club'"):
        release(names, "third")  # of no register that was named: compared as ever
    release(names, "club")  # the register stays noted
    release(names, "fourth", ids_of="fourth")
    people = [entry.body for entry in town.entries() if entry.kind == "people" and entry.dataset == "club"]
    assert people[-1]["people"]["registers"] == ["club"]
    with pytest.raises(WrongUse, match="ids_of is a name"):
        release(names, "fifth", ids_of="two words")
    assert town.check()


def test_62_a_table_without_a_form_is_compared_and_an_entry_without_one_is_refused(town: Ledger) -> None:
    old = made(range(PEOPLE)).to_json()
    for name in old:
        with pytest.raises(CheckFailed, match="update Hubbub"):
            read({each: value for each, value in old.items() if each != name})
    new = sketch(Chosen("test", ("1", "2"), (1 << 50, 1 << 60)), KEY, ("id", "town"))
    assert new.running
    assert can_compare(read(old), new)
    assert not can_compare(new, sketch(Chosen("test", ("1",), (1 << 50,)), KEY, ("id", "school")))
    assert can_compare(new, sketch(Chosen("test", ("1",), (1 << 50,)), KEY, ("Town", "ID")))


def test_other_people_are_entered_and_not_asked_again(town: Ledger) -> None:
    release(TABLE, "clinic", other_people=True)
    assert town.account("clinic").apart == ("town",)
    release(TABLE, "clinic")
    release(TABLE, "town")
    with pytest.raises(Refused, match="'clinic' and 'town'"):
        release(TABLE, "third")
    assert town.check()


def test_what_is_declared_later_of_the_same_people_is_entered_too(town: Ledger) -> None:
    few = pa.table({"id": range(PEOPLE - 60, 2 * PEOPLE - 60), "town": TOWNS})  # 1 % of them are in town
    release(few, "clinic")
    town.set_policy("clinic", Policy(overlap=Fraction(0)))
    with pytest.raises(Refused, match="more than 0 %"):
        release(few, "clinic")
    release(few, "clinic", other_people=True)
    assert town.account("clinic").apart == ("town",)
    release(few, "clinic")


def test_strangers_and_small_overlaps_pass(town: Ledger) -> None:
    release(pa.table({"id": range(PEOPLE, 2 * PEOPLE), "town": TOWNS}), "others")
    few = pa.table({"id": range(2 * PEOPLE - 60, 3 * PEOPLE - 60), "town": TOWNS})  # 1 %
    release(few, "more")
    town.set_policy("strict", Policy(overlap=Fraction(0)))
    with pytest.raises(Refused, match="more than 0 %"):
        release(few.slice(0, 3000), "strict")


def test_what_was_given_up_undrawn_has_nobody(town: Ledger) -> None:
    twice = pa.concat_tables([TABLE, TABLE]).append_column("key", pa.array(range(2 * PEOPLE)))
    with pytest.raises(Refused, match="exactly one row"):
        release(twice, "wrong")
    release(pa.table({"id": range(PEOPLE, 2 * PEOPLE), "town": TOWNS}), "new")
    assert not town.account("wrong").spent_releases


def test_people_noted_in_another_way_are_asked_about(town: Ledger) -> None:
    with (
        pytest.raises(Refused, match="noted by another version of the engine"),
        town._store.adding(town._founding) as page,
    ):
        check_overlap(page, "new", "0", made(range(10)), share=Fraction(1, 20), other_people=False)


def test_no_id_and_no_key_is_in_a_certificate_or_in_what_is_shown(town: Ledger) -> None:
    secret = next(entry.body["secret"] for entry in town.entries() if entry.kind == "secret")
    people = next(entry for entry in town.entries() if entry.kind == "people")
    assert len(people.raw_body) < 12 * MOST
    assert secret not in people.raw_body.decode()
    assert math.log2(len(people.body["people"]["words"])) < 16
