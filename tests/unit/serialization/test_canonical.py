"""Canonical JSON: every value has one text, and no other text is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import CheckFailed
from hubbub.serialization.canonical import LARGEST, canonical, digest, read

LEAVES = st.none() | st.booleans() | st.integers() | st.text()
VALUES = st.recursive(LEAVES, lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(), part, max_size=4))


@given(VALUES)
def test_a_value_comes_back(value: Any) -> None:
    data = canonical(value)
    again = read(data, "it")
    assert again == value
    assert canonical(again) == data
    assert json.loads(data) == value
    assert data.isascii() and data.endswith(b"\n")  # noqa: PT018


@given(VALUES)
def test_the_text_is_that_of_pythons_own_writer(value: Any) -> None:
    assert canonical(value) == (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()


@given(VALUES, VALUES)
def test_one_text_means_one_value(one: Any, two: Any) -> None:
    same = canonical(one) == canonical(two)
    assert same == (digest(one) == digest(two))
    if same:
        assert one == two


@given(st.dictionaries(st.text(), LEAVES, min_size=2))
def test_the_order_of_fields_does_not_matter_when_writing_and_does_when_reading(fields: dict[str, Any]) -> None:
    backwards = dict(reversed(fields.items()))
    assert canonical(backwards) == canonical(fields)
    text = json.dumps(dict(sorted(fields.items(), reverse=True)), indent=1) + "\n"
    with pytest.raises(CheckFailed, match="canonical form"):
        read(text.encode(), "it")


@given(VALUES, st.integers(0, 10**6), st.integers(0, 255))
def test_another_byte_is_another_value_or_none(value: Any, at: int, byte: int) -> None:
    data = bytearray(canonical(value))
    data[at % len(data)] = byte
    try:
        again = read(bytes(data), "it")
    except CheckFailed:
        return
    assert canonical(again) == bytes(data)
    assert (canonical(again) == canonical(value)) == (bytes(data) == canonical(value))


@pytest.mark.parametrize(
    "text",
    [
        '{\n "a": 1,\n "a": 1\n}\n',  # twice
        '{\n "a": 1,\n "a": 2\n}\n',
        '{"a": 1}\n',  # other spaces
        '{\n "a": 1\n}',  # no end of line
        '{\n "a": 1\n}\n\n',
        '{\r\n "a": 1\r\n}\r\n',
        "1.0\n",
        "1e3\n",
        "NaN\n",
        "Infinity\n",
        "-0\n",
        "01\n",
        '"\\u0061"\n',  # a letter in another way
        '"é"\n',
        "",
        "nothing\n",
        "[" * 100_000,
        "1" * 5000 + "\n",
        "\ufeff1\n",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(CheckFailed):
        read(text.encode(), "it")


def test_a_nest_as_deep_as_can_be_read_is_refused_and_does_not_fall_over() -> None:
    for depth in range(900, 1100, 20):
        text = "".join(" " * i + "[\n" for i in range(depth)) + " " * depth + "1\n"
        text += "".join(" " * i + "]\n" for i in range(depth - 1, -1, -1))
        try:
            read(text.encode(), "it")
        except CheckFailed as error:
            assert "not JSON" in str(error)  # noqa: PT017


def test_what_is_too_large_is_not_read() -> None:
    with pytest.raises(CheckFailed, match="MiB"):
        read(b" " * (LARGEST + 1), "it")


@pytest.mark.parametrize("value", [1.0, {1: "a"}, {"a": {2}}, b"", [object()], {"a": [1, float("nan")]}])
def test_what_has_no_exact_text_is_not_written(value: object) -> None:
    with pytest.raises(TypeError):
        canonical(value)
