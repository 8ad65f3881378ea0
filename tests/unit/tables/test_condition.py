"""Conditions: what is read, what is written back, and what is refused in one sentence."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import WrongUse
from hubbub.tables.condition import Both, Compare, Condition, Either, Missing, Node, Not, OneOf, bind, parse
from hubbub.tables.schema import ColumnType, Schema


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("age>=65 AND sex = F", "age >= 65 and sex = 'F'"),
        ("a=1 or b=2 and not c=3", "a = '1' or b = '2' and not c = '3'"),
        ("(a=1 or b=2) and c<>3", "(a = '1' or b = '2') and not c = '3'"),
        ("not not a is missing", "a is missing"),
        ("a not in (x, 'y y', x)", "not a in ('x', 'y y')"),
        ("\"and\" = 'or' and hired > 2020-01-01", "\"and\" = 'or' and hired > 2020-01-01"),
        ("x < 1e-2 and x >= -.5", "x < 0.01 and x >= -0.5"),
        ("t = 'it''s'", "t = 'it''s'"),
    ],
)
def test_a_condition_has_one_canonical_text(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical
    assert parse(canonical) == parse(text)


names = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=6)
leaves = st.one_of(
    st.builds(Missing, names),
    st.builds(OneOf, names, st.lists(names, min_size=1, max_size=3, unique=True).map(tuple)),
    st.builds(Compare, names, st.sampled_from(("<", "<=", ">", ">=")), st.decimals(-9, 9, places=2).map(Fraction)),
)


def several(inner: st.SearchStrategy[Node], kind: type[Both] | type[Either]) -> st.SearchStrategy[Node]:
    parts = inner.filter(lambda node: not isinstance(node, kind))
    return st.lists(parts, min_size=2, max_size=3).map(lambda found: kind(tuple(found)))


nodes = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.filter(lambda node: not isinstance(node, Not)).map(Not),
        several(inner, Both),
        several(inner, Either),
    ),
    max_leaves=8,
)


@given(nodes)
def test_every_condition_reads_back_as_itself(node: Node) -> None:
    assert parse(str(Condition(node))) == Condition(node)


@pytest.mark.parametrize(
    "text",
    ["", " ", "age", "age >=", "age >= old", "a = 1 b = 2", "(a = 1", "a = 1)", "a in 1", "a in (1", "a in ()",
     "and = 1", "a = and", "; drop", "a = 'x", "a < 1/3", "a is", "a is not", "a\n= 1",
     "a = 2024-13-01 or b > 2024-13-01", 7],
)  # fmt: skip
def test_what_is_none_is_one_sentence(text: str) -> None:
    with pytest.raises(WrongUse) as refused:
        parse(text)
    assert "\n" not in str(refused.value)


def test_what_is_too_long_or_too_deep_is_refused() -> None:
    written_out = " or ".join(["a < 1e999"] * 5), 'a = "' + "'" * 3000 + '"'  # longer in its canonical text
    for text in ("a = " + "1" * 4000, "(" * 40 + "a = 1" + ")" * 40, " or ".join(["a = 1"] * 201), *written_out):
        with pytest.raises(WrongUse):
            parse(text)


SCHEMA = Schema(
    {
        "n": ColumnType.INTEGER,
        "t": ColumnType.TEXT,
        "d": ColumnType.DATE,
        "b": ColumnType.BOOLEAN,
        "f": ColumnType.FLOAT,
        "o": ColumnType.OTHER,
    }
)


@pytest.mark.parametrize(
    "text", ["n = 1 and t = x and d = 2020-01-01 and b = true", "t > 1 and t > 2020-01-01", "f < 1"]
)
def test_what_fits_the_columns_stays(text: str) -> None:
    assert bind(parse(text), SCHEMA) == parse(text)


@pytest.mark.parametrize(
    "text",
    ["nobody = 1", "o is missing", "n = x", "d = 1", "d > 1", "n > 2020-01-01", "b > 0", "b = yes", "d = 2020-02-30"],
)
def test_what_does_not_fit_is_one_sentence(text: str) -> None:
    with pytest.raises(WrongUse):
        bind(parse(text), SCHEMA)
