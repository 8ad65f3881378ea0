"""Bins from their words: what each SPEC says, in which order its bins come, and what is refused."""

from __future__ import annotations

import datetime
from fractions import Fraction

import pytest

from hubbub.errors import WrongUse
from hubbub.numeric.exact import INFINITY
from hubbub.tables.bins import (
    MOST_BINS,
    UNITS,
    Axis,
    Dates,
    Discovered,
    Edges,
    Steps,
    Values,
    all_labels,
    declared_size,
    parse,
    period_label,
    period_number,
    rule,
    size,
)

DAY = datetime.date

# --- what a SPEC says ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "axis"),
    [
        ("department", Discovered("department")),
        ("  department ", Discovered("department")),
        ('"a:b=c"', Discovered("a:b=c")),
        ('"say ""hi"""', Discovered('say "hi"')),
        ("with space", Discovered("with space")),
        ('"; drop table people; --', Discovered('"; drop table people; --')),
        ("department=Police", Values("department", ("Police",))),
        ("department=Police, Fire ,null,other", Values("department", ("Police", "Fire"), null=True, other=True)),
        ("department=other,null", Values("department", (), null=True, other=True)),
        ('city="Washington, DC","null"', Values("city", ("Washington, DC", "null"))),
        ('city="null",null', Values("city", ("null",), null=True)),
        ('city="other"', Values("city", ("other",))),
        ('city="",null', Values("city", ("",), null=True)),
        ('size="5"""', Values("size", ('5"',))),
        ("ratio=1:2,a=b", Values("ratio", ("1:2", "a=b"))),
        ("city=Null,Other", Values("city", ("Null", "Other"))),
        ("city= a ", Values("city", ("a",))),
        ('city=" a "', Values("city", (" a ",))),
        ("city=Café,Cafe\u0301", Values("city", ("Café", "Cafe\u0301"))),
        ("age:0..100:10", Steps("age", Fraction(0), Fraction(10), 10)),
        ("age:0..100:10,null", Steps("age", Fraction(0), Fraction(10), 10, null=True)),
        ("age: -5 .. 5 : 2.5 , other , null", Steps("age", Fraction(-5), Fraction(5, 2), 4, null=True, other=True)),
        ("x:0..1:1/3", Steps("x", Fraction(0), Fraction(1, 3), 3)),
        ("x:0..1e3:1e2", Steps("x", Fraction(0), Fraction(100), 10)),
        ("pay:[0,20000,50000,inf)", Edges("pay", (Fraction(0), Fraction(20000), Fraction(50000), INFINITY))),
        ("pay:[-inf,0,inf),other", Edges("pay", (Fraction(0), INFINITY), open_below=True, other=True)),
        ("pay:[-inf,5)", Edges("pay", (Fraction(5),), open_below=True)),
        ("pay:[-inf,inf)", Edges("pay", (INFINITY,), open_below=True)),
        ("hired:month", Discovered("hired", "month")),
        ("hired:month:2024-01..2024-12", Dates("hired", "month", DAY(2024, 1, 1), DAY(2024, 12, 31))),
        ("hired:year:2020..2024,null", Dates("hired", "year", DAY(2020, 1, 1), DAY(2024, 12, 31), null=True)),
        ("hired:day:2024-02..2024-02", Dates("hired", "day", DAY(2024, 2, 1), DAY(2024, 2, 29))),
        ("hired:quarter:2023-11-15..2024", Dates("hired", "quarter", DAY(2023, 11, 15), DAY(2024, 12, 31))),
        ("hired:year:0001..9999", Dates("hired", "year", DAY(1, 1, 1), DAY(9999, 12, 31))),
    ],
)
def test_a_spec_says_its_axis(spec: str, axis: Axis) -> None:
    assert parse(spec) == axis


@pytest.mark.parametrize(
    ("spec", "labels"),
    [
        ("c=b,a,null,other", ("b", "a", None, "other")),
        ("c=other,null,b", ("b", None, "other")),
        ("c:0..3:1", ("[0,1)", "[1,2)", "[2,3)")),
        ("c:0..0.3:0.1,null", ("[0,0.1)", "[0.1,0.2)", "[0.2,0.3)", None)),
        ("c:[-inf,-1.5,2,inf),other", ("[-inf,-1.5)", "[-1.5,2)", "[2,inf)", "other")),
        ("c:month:2023-12..2024-02,null", ("2023-12", "2024-01", "2024-02", None)),
        ("c:day:2024-02-28..2024-03-01", ("2024-02-28", "2024-02-29", "2024-03-01")),
        ("c:quarter:2023-12..2024-04", ("2023-Q4", "2024-Q1", "2024-Q2")),
        ("c:year:0099..0101", ("0099", "0100", "0101")),
    ],
)
def test_labels_come_in_the_order_of_their_codes(spec: str, labels: tuple[str | None, ...]) -> None:
    axis = parse(spec)
    assert not isinstance(axis, Discovered)
    assert all_labels(axis) == labels
    assert size(axis) == len(labels) == len(set(labels))


@pytest.mark.parametrize("unit", UNITS)
def test_periods_and_their_numbers_are_one_to_one(unit: str) -> None:
    first, last = period_number(unit, DAY(1999, 1, 1)), period_number(unit, DAY(2001, 12, 31))
    labels = [period_label(unit, number) for number in range(first, last + 1)]
    assert labels == sorted(set(labels))
    assert labels[0] == {"day": "1999-01-01", "month": "1999-01", "quarter": "1999-Q1", "year": "1999"}[unit]
    assert labels[-1] == {"day": "2001-12-31", "month": "2001-12", "quarter": "2001-Q4", "year": "2001"}[unit]


def test_the_number_of_bins_is_a_product_or_unknown() -> None:
    assert declared_size([parse("a=x,y,null"), parse("b:0..100:10,other")]) == 33
    assert declared_size([parse("a=x,y"), parse("b")]) is None
    assert declared_size([]) == 1


def test_what_happens_to_other_values_is_said_in_words() -> None:
    assert str(rule(parse("a=x"))) == "a: missing values count as not listed; people with any other value are left out"
    assert str(rule(parse("a=x,null,other"))) == "a: missing values are a bin; all other values are one bin"
    assert str(rule(parse("a"))) == "a: every value of a that occurs is a bin, and so is a missing value"


# --- what is refused ----------------------------------------------------------------------------------------------

REFUSED = {
    "": "names a column",
    "=a": "names a column",
    ":0..1:1": "names a column",
    "a=": "a value of a is empty",
    "a=x,": "a value of a is empty",
    "a=x,,y": "a value of a is empty",
    "a=x,y,x": "listed twice",
    'a=x,"x"': "listed twice",
    'a="other",other': "two bins labelled other",
    'a="never closed, x': 'a value of a with a " in it',
    'a=5",7"': 'a value of a with a " in it',
    "a=\udcff": "text in Unicode",
    "a\ud800": "text in Unicode",
    "a:": "the bins of a are written",
    "a:nonsense": "the bins of a are written",
    "a:x,y": "write a=x,y",
    "a:0..10": "the bins of a are written",
    "a:0..10:1:2": "the bins of a are written",
    "a:10..0:1": "not above its beginning",
    "a:0..10:3": "whole number of steps",
    "a:0..0:1": "not above its beginning",
    "a:0..100000000:1": "more than 10,000,000 steps",
    "a:0..10:0": "above 0",
    "a:0..10:-1": "above 0",
    "a:x..10:1": "must be a number",
    "a:nan..10:1": "must be a number",
    "a:[0,10]": "are written",
    "a:(0,10)": "are written",
    "a:[0)": "must grow",
    "a:[)": "must be a number",
    "a:[inf)": "must grow",
    "a:[-inf)": "must grow",
    "a:[5,5)": "must grow",
    "a:[5,1)": "must grow",
    "a:[inf,5)": "must grow",
    "a:[0,-inf)": "must be a number",
    "a:[0,nan)": "must be a number",
    "a:week": "the bins of a are written",
    "a:month,null": "give a span",
    "a:month:2024": "a span of dates is written",
    "a:month:2024-13..2025": "a date of a is written",
    "a:month:2024-00..2025": "a date of a is written",
    "a:day:2023-02-29..2024": "a date of a is written",
    "a:day:2024-1-1..2024-1-9": "a date of a is written",
    "a:year:0000..2000": "a date of a is written",
    "a:year:1999..10000": "a date of a is written",
    "a:year:２０２４..２０２５": "a date of a is written",  # noqa: RUF001
    "a:year:2025..2024": "must not end before it begins",
}


@pytest.mark.parametrize("spec", REFUSED)
def test_a_spec_that_says_nothing_gets_one_sentence(spec: str) -> None:
    with pytest.raises(WrongUse, match=REFUSED[spec]) as refusal:
        parse(spec)
    text = str(refusal.value)
    assert "\n" not in text
    assert len(text) < 250
    assert not text.endswith(".")


def test_something_that_is_no_text_is_refused() -> None:
    for given in (5, None, b"a", ["a"]):
        with pytest.raises(WrongUse, match="text in Unicode"):
            parse(given)  # type: ignore[arg-type]


def test_more_bins_than_can_be_numbered_are_refused_before_anything_is_made() -> None:
    many = [parse(f"{name}:0..10000:1") for name in "abcde"]
    for axes in (many, [*many, parse("found")]):
        with pytest.raises(WrongUse, match=r"multiply to 100,000,000,000,000,000,000, .* 2\^63 .*; declare coarser"):
            declared_size(axes)
    assert declared_size(many[:2]) == MOST_BINS
    assert declared_size(many[:4]) == 10**16


def test_a_spelling_of_missing_values_is_no_listed_value() -> None:
    """It was a bin that nobody is in: zeros were published."""
    with pytest.raises(WrongUse, match="is no value of town; how a missing cell is spelled"):
        parse("town=Bath,missing=NA")
    assert parse("town=Bath,missing") is not None
