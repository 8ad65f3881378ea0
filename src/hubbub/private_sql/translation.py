"""From a private query to the words that ask for a release: its kind, its options, and how its tables are opened.

Options have the meaning that BigQuery gives them. ``COUNT(*)`` counts rows, of a person at most the upper bound in each
of at most ``max_groups_contributed`` groups (1 if nothing is said); ``COUNT(DISTINCT unit)`` counts people; ``SUM`` adds up
what each person has in a group, cut to the bounds; ``AVG`` averages what each person has in a group on average. Several
of them are one table (:mod:`hubbub.private_sql.mixture`). What does not map to a kind of release is refused with the
nearest thing that does, and nothing is asked twice: a query is one release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import Any, Final

from hubbub.dictionary.dictionary import Dictionary
from hubbub.errors import WrongUse
from hubbub.numeric.exact import rational, to_text
from hubbub.options.mechanism import Mechanism
from hubbub.private_sql.mixture import is_summary, summary_words
from hubbub.private_sql.query import (
    ALL_ROWS,
    GROUP,
    ROW,
    Aggregate,
    PrivateQuery,
    Query,
    aggregate,
    column_name,
    condition,
    most_rows,
    of_people,
    parser,
    quote_column,
    range_of,
    read_query,
    value,
)
from hubbub.runtime.frozen import dataclass
from hubbub.tables.privacy_unit import TAKEN

_SPREADS: Final = {"VAR_POP": "variance", "STDDEV_POP": "std"}
_UNITS: Final = ("DAY", "MONTH", "QUARTER", "YEAR")
_BOTH_SIDES: Final = ("this", "expression")
_KNOWN: Final[dict[str, tuple[str, ...]]] = {
    **{"Select": ("expressions", "from_", "joins", "where", "group", "with_"), "With": ("expressions",)},
    **{"CTE": ("this", "alias"), "Subquery": ("this", "alias"), "Alias": ("this", "alias"), "TableAlias": ("this",)},
    **{"From": ("this",), "Table": ("this", "db", "catalog", "alias"), "Join": ("this", "side", "kind", "using", "on")},
    **{"Where": ("this",), "Group": ("expressions",), "Column": ("this", "table"), "Identifier": ("this", "quoted")},
    **{
        "Star": (),
        "Anonymous": ("this", "expressions"),
        "Distinct": ("expressions",),
        "Bracket": ("this", "expressions"),
    },
    **{"WidthBucket": ("this", "min_value", "max_value", "num_buckets"), "Var": ("this",)},
    **{
        "DateTrunc": ("this", "unit"),
        "TimestampTrunc": ("this", "unit"),
        "Cast": ("this", "to"),
        "DataType": ("this",),
    },
    **{"Literal": ("this", "is_string"), "Boolean": ("this",), "Null": (), "Neg": ("this",), "Paren": ("this",)},
    **{
        "Not": ("this",),
        "And": _BOTH_SIDES,
        "Or": _BOTH_SIDES,
        "Is": _BOTH_SIDES,
        "EQ": _BOTH_SIDES,
        "NEQ": _BOTH_SIDES,
    },
    **{"LT": _BOTH_SIDES, "LTE": _BOTH_SIDES, "GT": _BOTH_SIDES, "GTE": _BOTH_SIDES},
    **{"In": ("this", "expressions"), "Between": ("this", "low", "high")},
}
"""The parts of SQL that have a meaning for a release, each with what it may have; all that is not listed is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlRequest:
    """A release, as a command would ask for it; `tables` are those that it reads, the people first."""

    kind: str
    options: dict[str, Any]
    tables: tuple[str, ...]
    opening: dict[str, Any] = field(default_factory=dict)


def translate(text: object, declared: Dictionary) -> SqlRequest:
    """The release that a query asks for, or one sentence; `declared` is what the dictionary of its table says."""
    private = read_query(text)
    select = _select(private)
    wheres: list[Any] = []
    tables, on = _tables(select, wheres)
    by = _groups(select)
    aggregates = _aggregates(select, private, by)
    person = private.options.get("privacy_unit_column", on)
    if on is not None and person != on:
        raise WrongUse("tables are joined by the privacy unit column, which says who a row is about; join them by it")
    query = Query(
        private=private,
        aggregates=aggregates,
        by=list(by.values()),
        where=condition(wheres),
        person=person or declared.person,
        declared=declared,
    )
    _check_nodes(select)
    _check_options(query)
    kind, options = _options(query)
    opening: dict[str, Any] = {"person": person, "rows_are_people": query.flag("rows_are_people")}
    if on is not None:
        opening |= {"person": None, "on": on}
    return SqlRequest(kind=kind, options=options, tables=tables, opening=opening)


def _options(query: Query) -> tuple[str, dict[str, Any]]:
    """The kind of the release, and the words that ask for it."""
    if is_summary(query):
        return "summary", summary_words(query) | _promise_words(query, "summary") | _of_rows(query)
    return _several(query) if len(query.aggregates) > 1 else _one(query, query.aggregates[0])


def _of_rows(query: Query) -> dict[str, Any]:
    """The groups, and which rows count."""
    found = {"by": query.by or None, "where": query.where}
    return {name: given for name, given in found.items() if given is not None}


def _select(private: PrivateQuery) -> Any:
    sqlglot = parser()
    try:
        found = [each for each in sqlglot.parse(private.sql, read="bigquery") if each is not None]
    except (sqlglot.errors.SqlglotError, RecursionError, ValueError):
        raise WrongUse("this cannot be read as one SELECT; check its commas, parentheses and names") from None
    if len(found) != 1 or not isinstance(found[0], sqlglot.exp.Select):
        raise WrongUse("a query is one SELECT, and nothing comes after it or is joined to it; ask for one at a time")
    _check_parts(found[0], ("expressions", "from_", "joins", "where", "group", "with_"))
    return found[0]


def _check_parts(select: Any, known: tuple[str, ...]) -> None:
    """Refuse what a release has no meaning for, with what there is instead."""
    instead = {
        "limit": "LIMIT keeps rows in an order that one person can move; take it out",
        "order": "a release is sorted by its bins; take ORDER BY out",
        "having": "HAVING shows a group by its number; say WITH CROWD_BLENDING OPTIONS (crowd = 20) to hide small ones",
        "distinct": "SELECT DISTINCT has no counts; ask for COUNT(DISTINCT) of the privacy unit by groups",
        "qualify": "QUALIFY looks at several rows at once; take it out",
        "windows": "a window looks at several rows at once; take it out",
        "sample": "TABLESAMPLE has no meaning for a release, which draws its own sample in secret; take it out",
        "laterals": "LATERAL makes rows of a row; take it out",
        "zone": "a date is cut as it stands in the table; take the time zone out, or make another column beforehand",
    }
    for name, part in select.args.items():
        if part and name not in known:
            raise WrongUse(instead.get(name, f"{name.upper().strip('_')} has no meaning for a release; take it out"))


def _check_nodes(select: Any) -> None:
    """Refuse whatever is left that a release was not made to understand, wherever in the query it stands.

    Guarantee: every part of a query that is let through is one of :data:`_KNOWN`, with nothing else set in it.
    """
    for node in select.walk():
        name = type(node).__name__
        if name not in _KNOWN:
            raise WrongUse(
                f"{name.upper()} has no meaning for a release; take it out, or make another column beforehand"
            )
        _check_parts(node, _KNOWN[name])
        if name == "Identifier" and not node.quoted and not re.fullmatch(r"[^\W\d]\w*(-\w+)*", node.name):
            raise WrongUse("a name in the query is no word; put it between backquotes if it is one of your table")


def _tables(select: Any, wheres: list[Any]) -> tuple[tuple[str, ...], str | None]:
    """The tables, the people first, and the column by which two are joined; conditions on the way are collected."""
    inner = _inner(select)
    if select.args.get("where") is not None:
        wheres.append(select.args["where"].this)
    source = select.args.get("from_")
    if source is None:
        raise WrongUse("a query has a table; add FROM and its name")
    joins = select.args.get("joins") or []
    if len(joins) > 1:
        raise WrongUse("two tables can be joined; join the others beforehand, one row for each person in the first")
    known = _scope(source.this, *(each.this for each in joins))
    read = set[str]()
    found = _read_join(source.this, joins[0], inner) if joins else ((_source(source.this, inner, wheres, read),), None)
    if read != {*inner}:
        raise WrongUse("WITH names a SELECT that the query does not read; take it out")
    _check_columns(select, known)
    return found


def _inner(select: Any) -> dict[str, Any]:
    """What WITH names, in order: a SELECT each."""
    exp, found = parser().exp, dict[str, Any]()
    listed = select.args.get("with_") or exp.With()
    if listed.args.get("recursive"):
        raise WrongUse("WITH RECURSIVE looks at rows again and again; take it out")
    for each in listed.expressions:
        _check_parts(each, ("this", "alias"))
        name = each.alias.lower()
        if not isinstance(each.this, exp.Select) or each.args["alias"].args.get("columns") or name in found:
            raise WrongUse(
                "WITH names a SELECT of one table, each by another name and with its own columns; write it so"
            )
        found[name] = each.this
    return found


def _source(source: Any, inner: Mapping[str, Any], wheres: list[Any], read: set[str]) -> str:
    """A table by its name, or what a simple SELECT inside of the query reads; `read` are those of WITH on the way."""
    exp = parser().exp
    if isinstance(source, exp.Subquery):
        _check_parts(source, ("this", "alias"))
        within, below = source.this, inner
    else:
        name = _table(source)
        if name.lower() not in inner:
            return name
        within = inner[name.lower()]
        read.add(name.lower())
        below = dict(list(inner.items())[: list(inner).index(name.lower())])  # those before it
    if not isinstance(within, exp.Select) or within.args.get("from_") is None:
        raise WrongUse("FROM has a table, a join of two, or a SELECT of one table without aggregates; write it so")
    _check_parts(within, ("expressions", "from_", "where"))
    if not all(isinstance(each, exp.Column) or _is_plain_star(each) for each in within.expressions):
        raise WrongUse(
            "a SELECT inside of the query names columns or *, of one table and without aggregates; take the rest out"
        )
    if within.args.get("where") is not None:
        wheres.append(within.args["where"].this)
    _check_columns(within, _scope(within.args["from_"].this))
    return _source(within.args["from_"].this, below, wheres, read)


def _is_plain_star(node: Any) -> bool:
    return isinstance(node, parser().exp.Star) and not any(node.args.values())


def _table(source: Any) -> str:
    """The name of a table, or one sentence: what a function makes of something else is none."""
    exp = parser().exp
    if not isinstance(source, exp.Table) or not all(isinstance(each, exp.Identifier) for each in source.parts):
        raise WrongUse("FROM has a table by its name, and no function or value; write FROM and the table's name")
    _check_parts(source, ("this", "db", "catalog", "alias"))
    return ".".join(each.name for each in source.parts)


def _scope(*sources: Any) -> set[str]:
    """The names by which columns may say their table."""
    found = set[str]()
    for source in sources:
        alias = source.args.get("alias")
        if alias is not None and alias.this is not None and not isinstance(alias.this, parser().exp.Identifier):
            raise WrongUse(
                "a query reads tables by their names alone; take out what stands after the name of the table"
            )
        if alias is not None and alias.args.get("columns"):
            raise WrongUse("columns have the names that they have in the table; take the names after the table out")
        found.add((source.alias or source.name).lower())
    return found


def _check_columns(select: Any, known: set[str]) -> None:
    """Refuse a column of a table that this SELECT does not read."""
    exp = parser().exp
    parts = (*select.expressions, *filter(None, map(select.args.get, ("where", "group"))))
    for node in (each for part in parts for each in part.find_all(exp.Column)):
        if len(node.parts) > 2 or (node.table and node.table.lower() not in known):
            raise WrongUse(f"the query has a column of {node.table[:60]!r}, which it does not read; name its table")


def _read_join(left: Any, join: Any, inner: Mapping[str, Any]) -> tuple[tuple[str, ...], str | None]:
    exp = parser().exp
    events, people = map(_table, (left, join.this))
    if {events.lower(), people.lower()} & {*inner}:
        raise WrongUse("two tables are joined by their names; take the SELECT out of the join")
    _check_parts(join, ("this", "side", "kind", "using", "on"))
    sides = (str(join.args.get("side") or "").upper(), str(join.args.get("kind") or "").upper())
    if sides not in (("LEFT", ""), ("LEFT", "OUTER")):
        raise WrongUse(
            "rows without a partner stay in a release; write events LEFT JOIN people USING (unit), and leave the others "
            "out with WHERE if they should not count"
        )
    using, equal = join.args.get("using"), join.args.get("on")
    names = {str(each.name) for each in using or []}
    if isinstance(equal, exp.EQ) and isinstance(equal.this, exp.Column) and isinstance(equal.expression, exp.Column):
        names = {str(equal.this.name), str(equal.expression.name)}
        tables = {equal.this.table.lower(), equal.expression.table.lower()}
        names |= set() if tables == _scope(left, join.this) else {""}
    if len(names) != 1:
        raise WrongUse("two tables are joined by one column that both have, the privacy unit; write USING (unit)")
    return (people, events), names.pop()


def _groups(select: Any) -> dict[str, str]:
    """The bins of each group, by what the list of columns calls it."""
    group = select.args.get("group")
    found: dict[str, str] = {}
    if group is None:
        return found
    exp, listed = parser().exp, select.expressions
    several = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple)
    if any(part is not None and part != [] for name, part in group.args.items() if name != "expressions") or any(
        isinstance(node, several) for node in group.expressions
    ):
        raise WrongUse("GROUP BY lists columns; for sums over some of them too, ask with hubbub release cube")
    aliases = {each.alias: each.this for each in listed if isinstance(each, exp.Alias)}
    for node in group.expressions:
        what = node
        if isinstance(what, exp.Literal) and not what.is_string:
            place = int(what.this) - 1 if str(what.this).isdigit() else -1
            if not 0 <= place < len(listed):
                raise WrongUse("GROUP BY names a column by its place in the list; check the number")
            what = listed[place].this if isinstance(listed[place], exp.Alias) else listed[place]
        elif isinstance(what, exp.Column) and what.name in aliases:
            what = aliases[what.name]
        found[what.sql(dialect="bigquery")] = _bins(what)
    return found


def _bins(node: Any) -> str:
    """A group as a SPEC."""
    exp = parser().exp
    if isinstance(node, exp.Column):
        return quote_column(column_name(node))
    if isinstance(node, exp.WidthBucket):
        _check_parts(node, ("this", "min_value", "max_value", "num_buckets"))
        low, high, many = (value(node.args[name]) for name in ("min_value", "max_value", "num_buckets"))
        first, last, buckets = rational(low, "LOW"), rational(high, "HIGH"), rational(many, "the number of buckets")
        if buckets < 1 or first >= last:
            raise WrongUse("WIDTH_BUCKET has a column, LOW, HIGH above it, and how many; correct it")
        step = (last - first) / buckets
        return f"{quote_column(column_name(node.this))}:{to_text(first)}..{to_text(last)}:{to_text(step)}"
    if isinstance(node, exp.DateTrunc | exp.TimestampTrunc) and str(node.args["unit"].name).upper() in _UNITS:
        _check_parts(node, ("this", "unit"))
        return f"{quote_column(column_name(node.this))}:{str(node.args['unit'].name).lower()}"
    raise WrongUse(
        "a group is a column, WIDTH_BUCKET(column, LOW, HIGH, many) or DATE_TRUNC(column, MONTH); declare other bins in "
        "the data dictionary"
    )


def _aggregates(select: Any, private: PrivateQuery, by: Mapping[str, str]) -> list[Aggregate]:
    exp, found = parser().exp, []
    for each in select.expressions:
        node = each.this if isinstance(each, exp.Alias) else each
        _check_aggregate(node)
        part, known = None, None
        if isinstance(node, exp.Bracket) and _is_offset(node):
            part, node = Fraction(rational(value(node.expressions[0]), "OFFSET")), node.this
        if isinstance(node, exp.Anonymous):
            known = aggregate(str(node.this))
        if known is None:
            if node.sql(dialect="bigquery") in by:
                continue
            raise WrongUse(_unknown(node))
        arguments = list(node.expressions)
        distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
        found.append(
            Aggregate(
                name=known[0],
                arguments=list(arguments[0].expressions) if distinct else arguments,
                distinct=distinct,
                bounds=private.bounds[known[1]],
                alias=str(each.alias) if isinstance(each, exp.Alias) else "",
                part=part,
            )
        )
    if not found:
        raise WrongUse(
            "a query asks for a number of people; add COUNT(*), COUNT(DISTINCT unit), SUM, AVG or a quantile"
        )
    return found


def _check_aggregate(node: Any) -> None:
    """Refuse what may stand in or after an aggregate and would change which rows it is of."""
    exp = parser().exp
    instead = {
        exp.Window: "OVER gives every row a number; take it out, and name groups in GROUP BY",
        exp.Filter: "FILTER keeps some rows for one number; write them in WHERE, and ask for other numbers apart",
        exp.WithinGroup: "WITHIN GROUP is no part of a release; write PERCENTILE_CONT(column, 0.5)",
        exp.Order: "ORDER BY in an aggregate has no meaning for a release; take it out",
        exp.Limit: "LIMIT in an aggregate keeps rows in an order that one person can move; take it out",
        exp.HavingMax: "HAVING MAX and HAVING MIN keep the rows of one value; take them out",
        exp.IgnoreNulls: "IGNORE NULLS is no part of a release; write WHERE column IS NOT NULL",
        exp.RespectNulls: "RESPECT NULLS is no part of a release; take it out",
    }
    for each in node.find_all(*instead):
        raise WrongUse(instead[type(each)])
    if any(any(each.args.values()) for each in node.find_all(exp.Star)):
        raise WrongUse("COUNT(*) is of rows, whatever their columns; take out what stands after the star")


def _is_offset(node: Any) -> bool:
    """Whether this is one part of APPROX_QUANTILES, counted from 0 as OFFSET says."""
    call = node.this
    quantiles = isinstance(call, parser().exp.Anonymous) and (aggregate(str(call.this)) or ("",))[0]
    if quantiles == "APPROX_QUANTILES" and len(node.expressions) == 1 and node.args.get("offset") == 0:
        return True
    raise WrongUse("only APPROX_QUANTILES has parts, counted from 0; write APPROX_QUANTILES(column, 4)[OFFSET(2)]")


def _unknown(node: Any) -> str:
    exp = parser().exp
    if isinstance(node, exp.Star):
        return "SELECT * would publish rows; ask for COUNT, SUM, AVG, or for hubbub release records"
    if isinstance(node, exp.Column):
        return f"the column {str(node.name)[:60]!r} is in no group; add it to GROUP BY, or take it out"
    extreme = "the largest or smallest value is one person's; ask for PERCENTILE_CONT(column, 0.99) or 0.01"
    instead = {
        exp.Max: extreme,
        exp.Min: extreme,
        exp.Median: "a median is written PERCENTILE_CONT(column, 0.5); write it so",
        exp.CountIf: "COUNTIF is COUNT(*) with WHERE; write it so",
    }
    return instead.get(type(node)) or (
        "the list has groups and COUNT, SUM, AVG, AVG_ROWS, VARIANCE, STDDEV, PERCENTILE_CONT or APPROX_QUANTILES, each by "
        "itself; take the rest out, and calculate afterwards"
    )


def _check_options(query: Query) -> None:
    given = query.private.options
    if "max_groups_contributed" in given and "max_rows_contributed" in given:
        raise WrongUse(
            "max_groups_contributed and max_rows_contributed exclude each other; for both bounds say groups_per_person "
            "and rows_per_person"
        )
    if query.private.promise == "DIFFERENTIAL_PRIVACY" and "epsilon" not in given:
        raise WrongUse("DIFFERENTIAL_PRIVACY has an epsilon; add epsilon = 1 to OPTIONS")
    if query.person is None and not (query.flag("rows_are_people") or query.declared.rows_are_people):
        raise WrongUse(
            "say who a person is: privacy_unit_column = COLUMN in OPTIONS, or rows_are_people = TRUE if each row is "
            "another person"
        )


# --- one aggregate ------------------------------------------------------------------------------------------------


def _one(query: Query, what: Aggregate) -> tuple[str, dict[str, Any]]:
    if query.private.promise == "DIFFERENTIAL_PRIVACY" and query.option("people", "rows") is not None:
        raise WrongUse(
            "people and rows are for several aggregates of one sample; take them out, or ask for ZERO_KNOWLEDGE"
        )
    kind, options = _kind(query, what)
    if query.where is not None and kind == "histogram":
        raise WrongUse("OUTLIER_PRIVACY is for all people by groups; take WHERE out, or ask for another promise")
    return kind, options | _promise_words(query, kind) | _of_rows(query)


def _promise_words(query: Query, kind: str) -> dict[str, Any]:
    """The promise, and how often intervals are right."""
    found: dict[str, Any] = {}
    options, promise = query.private.options, query.private.promise
    if "coverage" in options:
        found["coverage"] = options["coverage"]
    found |= _by_one_row(query)
    if promise == "ZERO_KNOWLEDGE":
        named = {"zero_knowledge": options.get("epsilon"), "rows": options.get("rows"), "people": options.get("people")}
        return found | {name: given for name, given in named.items() if given is not None}
    if promise == "OUTLIER_PRIVACY":
        if kind != "histogram":
            raise WrongUse(
                "OUTLIER_PRIVACY is for COUNT(DISTINCT unit) by groups; ask for that, or for another promise"
            )
        if "curve" not in options:
            raise WrongUse("OUTLIER_PRIVACY has a curve; add curve = '1:0.01,101:1' to OPTIONS")
        if "show_above" not in options:
            return found | {"outlier": options["curve"]}
        hidden = (("curve", str(options["curve"])), ("show_above", str(options["show_above"])))
        return found | {"mechanism": str(Mechanism("warped", hidden))}
    if promise == "CROWD_BLENDING":
        if "crowd" not in options:
            raise WrongUse("CROWD_BLENDING has a crowd; add crowd = 20 to OPTIONS")
        return found | _some(options, "crowd", "epsilon", "sample", "at_delta")
    without = ("delta", "mechanism") if kind in ("quantile", "variance", "std") else ()  # they need no delta
    return found | _some(options, *(name for name in ("epsilon", "delta", "mechanism") if name not in without))


def _some(options: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: options[name] for name in names if name in options}


def _kind(query: Query, what: Aggregate) -> tuple[str, dict[str, Any]]:
    """The kind of a release and what is its own."""
    if what.name == "COUNT":
        return _count(query, what)
    if what.name == "SUM":
        return "sum", _sum(query, what)
    if what.name == "AVG":
        return "mean", {"of": range_of(query, what, GROUP), **_own_average(query)}
    if what.name == "AVG_ROWS":
        return "mean", {"of": range_of(query, what, ROW), **_rows(query, what)}
    if what.name.startswith(("VAR", "STD")):
        if what.name not in _SPREADS:
            raise WrongUse(
                f"{what.name} divides by one fewer than there are; a release does not, so ask for VAR_POP or STDDEV_POP"
            )
        return _SPREADS[what.name], {"of": range_of(query, what, GROUP), **_own_average(query)}
    return "quantile", {"of": range_of(query, what, ROW), "q": _quantile(what), **_own_average(query)}


def _own_average(query: Query) -> dict[str, Any]:
    """AVG takes each person's own average in a group: that of their row, where they have one."""
    several = query.option("max_groups_contributed", "max_rows_contributed", "groups_per_person", "rows_per_person")
    if (several is not None and rational(several, "a bound") != 1) or query.option("rows_per_group") is not None:
        raise WrongUse(
            "AVG, spreads and quantiles are of what a person has in a group, which is one row here; ask for AVG_ROWS, or "
            "say one_row_per_person = TRUE in the place of the bounds"
        )
    return {}


def _count(query: Query, what: Aggregate) -> tuple[str, dict[str, Any]]:
    if of_people(query, what):
        return _people(query)
    if query.private.promise != "DIFFERENTIAL_PRIVACY":
        raise WrongUse(
            "rows are counted WITH DIFFERENTIAL_PRIVACY; ask for COUNT(DISTINCT unit), or say one_row_per_person = TRUE"
        )
    options = _rows(query, what)
    called = what.alias.lower().replace("_", " ")
    plain = (
        re.fullmatch("[a-z][a-z]*( [a-z]+)*", called) and len(called) <= 40 and called.replace(" ", "_") not in TAKEN
    )
    return "count", options | ({"rows_called": called} if plain else {})


def _people(query: Query) -> tuple[str, dict[str, Any]]:
    """People, each counted once: in all, by a condition that any of their rows meets, or in some groups."""
    private = query.private.promise == "DIFFERENTIAL_PRIVACY"
    groups = query.option("max_groups_contributed", "groups_per_person") or "1"
    if query.option("max_rows_contributed", "rows_per_person", "rows_per_group") is not None:
        raise WrongUse("people count once, so bounds are on their groups: say max_groups_contributed, or count rows")
    once = query.people_once or not private
    if query.by and query.where is None:
        return "histogram", {} if once else {"distinct": groups}
    if once:
        return "count", {}
    if query.where is None:
        return "count", {"one_row_per_person": True}
    return "count", {"any_row": True} | ({"distinct": groups} if query.by else {})


def _rows(query: Query, what: Aggregate) -> dict[str, Any]:
    """What one person contributes at most, where rows count."""
    groups = query.option("max_groups_contributed", "groups_per_person")
    rows = query.option("max_rows_contributed", "rows_per_person")
    per_group = query.option("rows_per_group")
    if per_group is None and what.name == "COUNT":
        per_group = most_rows(what)
    if rows is None and per_group is None:
        raise WrongUse(
            "say how many rows of a person count: max_rows_contributed = 5 in OPTIONS, or "
            "contribution_bounds_per_group => (0, 5) in COUNT"
        )
    if not query.by:
        return {"rows_per_person": rows or per_group}
    found = {"rows_per_person": rows, "rows_per_bin": per_group, "distinct": groups or (None if rows else "1")}
    return {name: given for name, given in found.items() if given is not None}


def _sum(query: Query, what: Aggregate) -> dict[str, Any]:
    """What a person has in a group is cut to the bounds; with a bound on rows, each row is."""
    rows = query.option("max_rows_contributed", "rows_per_person")
    if query.people_once:
        found, ends = (
            range_of(query, what, GROUP),
            [abs(rational(each, "a bound")) for each in what.bounds.get(GROUP, ())],
        )
        return {"of": found} | ({"cap": to_text(max(ends))} if ends else {})
    if rows is not None:
        if ROW not in what.bounds:
            raise WrongUse("with a bound on rows, SUM has contribution_bounds_per_row => (LOW, HIGH); add it")
        low, high = (rational(each, "a bound") for each in what.bounds[ROW])
        cap = to_text(max(abs(low), abs(high)) * rational(rows, "rows"))
        groups = query.option("groups_per_person")
        more = {"distinct": groups} if groups is not None and query.by else {}
        return {"of": range_of(query, what, ROW), "rows_per_person": rows, "cap": cap, **more}
    if GROUP not in what.bounds:
        raise WrongUse("SUM has contribution_bounds_per_group => (0, HIGH), the most that a person counts with; add it")
    least, most = what.bounds[GROUP]
    if rational(least, "LOW") != 0:
        raise WrongUse(
            "of people with several rows sums from 0 are cut; write (0, HIGH), or bound rows with max_rows_contributed"
        )
    options = {"of": range_of(query, what, GROUP), "rows_per_person": ALL_ROWS}
    if not query.by:
        return options | {"cap": most}
    return options | {
        "cap_per_bin": most,
        "distinct": query.option("max_groups_contributed", "groups_per_person") or "1",
    }


def _quantile(what: Aggregate) -> str:
    if len(what.arguments) != 2:
        raise WrongUse(
            f"{what.name} has a column and a number between its parentheses; write PERCENTILE_CONT(column, 0.5)"
        )
    second = rational(value(what.arguments[1]), "the second argument")
    if what.name == "PERCENTILE_CONT":
        return to_text(second)
    if what.part is None:
        raise WrongUse(
            "APPROX_QUANTILES(column, 4) is several numbers; say which, like [OFFSET(2)], or use PERCENTILE_CONT"
        )
    if second < 1 or not 0 < what.part < second:
        raise WrongUse(
            "the ends of APPROX_QUANTILES are one person's values; take an offset between the first and the last"
        )
    return to_text(what.part / second)


# --- several aggregates -------------------------------------------------------------------------------------------

_SEVERAL: Final = {
    "COUNT": "count",
    "AVG": "mean",
    "AVG_ROWS": "mean",
    "PERCENTILE_CONT": "quantile",
    "APPROX_QUANTILES": "quantile",
}


def _several(query: Query) -> tuple[str, dict[str, Any]]:
    """Several numbers of the same people, as one release that spends once: questions on one sample, or on everybody."""
    promise, options = query.private.promise, query.private.options
    if promise not in ("DIFFERENTIAL_PRIVACY", "ZERO_KNOWLEDGE"):
        raise WrongUse(
            "several aggregates are one release WITH DIFFERENTIAL_PRIVACY or ZERO_KNOWLEDGE; ask for one at a time"
        )
    if any(each.name not in _SEVERAL for each in query.aggregates):
        raise WrongUse(
            "COUNT, AVG and quantiles are one release together, sums and spreads are not; ask for those apart"
        )
    if "people" not in options:
        raise WrongUse(
            "several aggregates are one release where the number of people is public; add people = 40000 to OPTIONS, or "
            "ask for one at a time"
        )
    listed, units = [], []
    for number, each in enumerate(query.aggregates, 1):
        _, single = _kind(query, each)
        called = single.pop("rows_called", None)
        bounds: tuple[str, ...] = ("rows_per_person", "rows_per_bin")
        unit = {name: single.pop(name) for name in bounds if name in single}
        if unit and "distinct" in single:
            unit["distinct"] = single["distinct"]
        for name in ("distinct", "any_row", "one_row_per_person"):
            single.pop(name, None)
        units.append(unit)
        question: dict[str, Any] = {
            "name": _name(each.alias or called or "", number),
            "kind": _SEVERAL[each.name],
            **single,
        }
        if query.by:
            question["by"] = query.by
        if query.where is not None:
            question["where"] = query.where
        listed.append(question)
    if any(unit != units[0] for unit in units):
        raise WrongUse(
            "some of these aggregates count people and others rows, which are no one release; ask for them apart"
        )
    loss = {"zero_knowledge" if promise == "ZERO_KNOWLEDGE" else "epsilon": options.get("epsilon")}
    spec = {**loss, "rows": options.get("rows", options["people"]), "people": options["people"], "question": listed}
    found = {"spec": spec | _some(options, "coverage"), **units[0]}
    return "questions", found | _by_one_row(query)


def _by_one_row(query: Query) -> dict[str, Any]:
    """That a person counts by one row: chosen, or the only one, as is declared."""
    return {name: True for name in ("one_row_per_person", "unique_person") if query.flag(name)}


def _name(alias: str, number: int) -> str:
    """The name of a number's file."""
    called = alias.lower().replace("_", "-").replace(" ", "-")
    return called if re.fullmatch("[a-z][a-z0-9-]{0,29}", called) else f"number-{number}"
