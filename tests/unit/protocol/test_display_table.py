"""A table for somebody to read: nothing in it says the same twice."""

from __future__ import annotations

from hubbub.protocol.result import DisplayTable


def table(*rows: tuple[str, str, str]) -> DisplayTable:
    return DisplayTable(
        ("town",), ("people", "estimate", "interval"), tuple(((row[0],), (*row[1:], ""), False) for row in rows)
    )


def test_estimates_that_repeat_the_numbers_are_left_out() -> None:
    alike = table(("Bath", "12", "12"), ("York", "7", "7")).without_repetition()
    assert alike.numbers == ("people", "interval")
    assert str(alike).splitlines()[1].split() == ["Bath", "12"]
    assert "estimate" not in alike._repr_html_()


def test_one_that_differs_keeps_them_all() -> None:
    other = table(("Bath", "12", "12"), ("York", "-1", "0"))
    assert other.without_repetition() is other


def test_a_table_of_estimates_alone_keeps_them() -> None:
    alone = DisplayTable((), ("estimate", "low"), (((), ("1", "1"), False),))
    assert alone.without_repetition() is alone
