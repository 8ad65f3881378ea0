"""From options to the spec of a class of queries; what is wrong with them is one sentence.

Here is also the kind itself: what it is called, what it can be asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.kinds.histogram.request import DISTINCT, ROWS, UNIQUE
from hubbub.kinds.queries.query_text import ANY
from hubbub.kinds.queries.result import OURS
from hubbub.kinds.queries.spec import Queries, QueryRequest, check_domain, read
from hubbub.numeric.exact import Exact, integer, positive, rounded
from hubbub.numeric.limits import a_coverage
from hubbub.protocol.option import HOW, Option
from hubbub.protocol.spec import Kind
from hubbub.query_classes.choice import MAKERS, choose_method
from hubbub.query_classes.classes import ColumnCells
from hubbub.query_classes.residual import OBJECTIVES, Residual
from hubbub.query_classes.table_method import TableMethod
from hubbub.sampling.sanitize import Blank
from hubbub.tables.bins import Axis, Declared, Discovered, Values, parse
from hubbub.tables.privacy_unit import Unit, of_options, within_bins

_DIGITS: Final = 9


def queries(
    columns: Sequence[str | Axis],
    of: str,
    *,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
    zero_knowledge: Exact | None = None,
    rows: Exact | None = None,
    people: Exact | None = None,
    method: str | None = None,
    least: str | None = None,
    consistent: bool = False,
    coverage: Exact = "0.95",
    unit: Unit | None = None,
) -> Queries:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    axes = _axes(columns)
    who = within_bins(unit or Unit(), axes)
    _check_rows(who, zero_knowledge, people)
    request = QueryRequest(
        axes=axes,
        of=_class(of, axes),
        epsilon=_loss(epsilon, zero_knowledge, rows, people),
        rows=None if rows is None else integer(rows, "rows", least=1),
        people=None if people is None else integer(people, "people", least=1),
        coverage=a_coverage(coverage),
        delta=_delta(delta, zero_knowledge),
        least=_least(least),
        unit=who,
    )
    if request.rows is not None and request.people is not None and request.rows > request.people:
        raise WrongUse(f"a sample has at most all {request.people:,} people, not {request.rows:,}; lower `rows`")
    found = choose_method(request.setting(*request.losses()), method)
    if least is not None and not isinstance(found, Residual):
        raise WrongUse(
            f"`least` is for a plan of Gaussian noise, and the method is {found.name}; leave it out, or add `delta=1e-9` "
            "and `method=residual`"
        )
    if consistent and not isinstance(found, TableMethod):
        raise WrongUse(
            f"`consistent` is for tables that agree, and the method {found.name} publishes none; add `method=split-tables`, or "
            "`delta=1e-9` and `method=residual`"
        )
    loss = request.losses()[0 if found.blank is Blank.HALF_WAY else 1]
    spec = Queries(request=request, method=found, loss=loss, bound=Fraction(1), consistent=consistent)
    return replace(spec, bound=rounded(request.everybody(found.error_bound(spec.setting)), up=True, digits=_DIGITS))


def _check_rows(unit: Unit, knowledge: Exact | None, people: Exact | None) -> None:
    """Refuse several rows of a person beside what is about a number of people, or under a name that the files have."""
    if not unit.counts_rows:
        return
    if knowledge is not None or people is not None:
        raise WrongUse(
            "several rows of a person count with `epsilon=E` alone, whoever comes or goes; leave out `people` and "
            "`zero_knowledge`"
        )
    if unit.rows_column in OURS:
        raise WrongUse(
            f"the files have a column {unit.rows_column} of their own; call rows by another word, like `visits`"
        )


def _class(of: str, axes: tuple[Declared, ...]) -> str:
    if not isinstance(of, str):
        raise WrongUse("a class of queries is text, like marginals:2")
    probe = QueryRequest(axes=axes, of=of, epsilon=Fraction(1)).queries
    if not isinstance(probe, ColumnCells):
        for axis in axes:
            if axis.null or axis.other:
                raise WrongUse(f"{probe.name} run over ordered bins, and null and other have no place; drop them")
    elif any(ANY in axis.values for axis in axes if isinstance(axis, Values)):
        raise WrongUse(f"{ANY} stands for any value in the file, and a column has it as a value; leave it out")
    return probe.name


def _axes(columns: Sequence[str | Axis]) -> tuple[Declared, ...]:
    if isinstance(columns, str) or not columns:
        raise WrongUse("say the columns and their bins, as a list even for one, like age:0..100:10")
    axes: list[Declared] = []
    for spec in columns:
        axis = spec if isinstance(spec, Axis) else parse(spec)
        if isinstance(axis, Discovered):
            raise WrongUse(
                f"the domain must be declared, and {axis.column[:40]} has no bins; write them, like "
                f"{axis.column[:40]}=a,b,other or {axis.column[:40]}:0..100:10 or {axis.column[:40]}:boolean"
            )
        if axis.column in {each.column for each in axes}:
            raise WrongUse("each column can be used once; combine its bins into one")
        axes.append(axis)
    check_domain(tuple(axes))
    return tuple(axes)


def _loss(epsilon: Exact | None, knowledge: Exact | None, rows: Exact | None, people: Exact | None) -> Fraction:
    if (epsilon is None) == (knowledge is None):
        raise WrongUse(
            "say how people are protected: `epsilon=E` (differential privacy), or `zero_knowledge=E` with `rows=K` and "
            "`people=N`"
        )
    if epsilon is not None:
        if rows is not None:
            raise WrongUse("`rows` is the size of a secret sample, and goes with `zero_knowledge=E`; leave it out")
        return positive(epsilon, "epsilon")
    assert knowledge is not None
    if rows is None or people is None:
        raise WrongUse(
            "zero-knowledge privacy is with respect to K of N people, both public; add `rows=K` and `people=N`"
        )
    return positive(knowledge, "zero-knowledge")


def _least(least: str | None) -> str:
    if least is not None and least not in OBJECTIVES:
        raise WrongUse(f"`least` is one of {' and '.join(OBJECTIVES)}, not {str(least)[:40]!r}; leave it out for mean")
    return least or OBJECTIVES[0]


def _delta(delta: Exact | None, knowledge: Exact | None) -> Fraction:
    if delta is None:
        return Fraction(0)
    if knowledge is not None:
        raise WrongUse("`delta` goes with `epsilon`, for everybody in the table; leave out the sample, or `delta`")
    found = positive(delta, "delta")
    if found >= 1:
        raise WrongUse(f"delta must be below 1, not {found}; choose one like 1e-9")
    return found


def split_columns(text: str) -> list[str]:
    """Several SPECs in one text: ``sex=F,M,age:0..100:10`` is two. A column begins after a comma where a name and = or
    : follow, or after a column without bins; commas in quotes and brackets do not count.

    >>> split_columns('sex=F,M,age:[0,18,65),null,born:year:1900..2000,date=%m/%d/%Y')
    ['sex=F,M', 'age:[0,18,65),null', 'born:year:1900..2000,date=%m/%d/%Y']
    """
    parts: list[str] = []
    for part in re.findall(r'(?:"(?:[^"]|"")*"|\[[^\]\[)]*\)|[^,])+', text):
        begins = re.match(r'("(?:[^"]|"")*"|[^=:"]+)[=:]', part) and not re.match(r"\s*(date|decimal)=", part)
        bare = bool(parts) and not re.search(r"[=:]", parts[-1])
        if begins or bare or not parts:
            parts.append(part)
        else:
            parts[-1] += f",{part}"
    return parts


def from_options(**options: Any) -> Queries:
    """Build the spec from the options of a command."""
    columns, unit, rest = columns_and_unit(options)
    return queries(columns, rest.pop("class"), unit=unit, **rest)


def columns_and_unit(options: Mapping[str, Any]) -> tuple[Sequence[str], Unit, dict[str, Any]]:
    """The columns of tables by several of them, the unit, where several rows of a person may count, and the rest."""
    several = options.get("rows_per_person") is not None or options.get("rows_per_bin") is not None
    if options.get("distinct") is not None and not several:
        raise WrongUse(
            "`distinct` is in how many cells rows of a person count; add `rows_per_person=M`, or `rows_per_bin=C`"
        )
    unit, rest = of_options(options)
    columns = rest.pop("columns", ())
    every = columns if isinstance(columns, str) else [spec for text in columns for spec in split_columns(text)]
    return every, unit, rest


OPTIONS: Final = (
    Option("columns", "SPEC,..", "The columns and their declared bins.", many=True),
    Option(
        "class",
        "CLASS",
        "marginals:W, conjunctions:W, tables:NAME=I+J,.., intervals, boxes or halfspaces.",
        takes="str",
        missing="say which queries are to be answered: add `class=marginals:2`, intervals, boxes or others",
    ),
    Option("epsilon", "E", "Differential privacy: what may be lost, all answers together.", group=HOW),
    Option("delta", "D", "With `epsilon`: a delta for Gaussian noise, for many marginals with least error.", group=HOW),
    Option(
        "zero_knowledge", "E", "Zero-knowledge privacy with respect to `rows` of `people`.", group=HOW, advanced=True
    ),
    Option("rows", "K", "How many people are drawn in secret.", group=HOW, advanced=True),
    Option(
        "people",
        "N",
        "How many people there are: public and enforced, so that the promise is for one replaced by another.",
        group=HOW,
    ),
    Option("method", "NAME", f"{', '.join(MAKERS)}; if not given, the best proved.", takes="str", advanced=True),
    Option(
        "least",
        "WHAT",
        "With `delta`: the variance that the noise of marginals makes least, mean or largest.",
        takes="str",
        advanced=True,
    ),
    Option("consistent", None, "Also a file of tables of at least 0 that agree, for use as counts.", advanced=True),
    UNIQUE,
    DISTINCT,
    *ROWS,
    Option("coverage", "C", "How often all answers are within the bound.", default="0.95", advanced=True),
)

KIND: Final = Kind(
    name="queries",
    wire="queries/1",
    help="""Answer a whole class of questions at once, every one within a proved bound.

SPEC declares the bins of a column, as for a histogram: sex=F,M or age:0..100:10. CLASS is marginals:2 (every cell of
every table by two columns), tables:ages=1+2,towns=3 (every cell of these tables, columns by their places, each also in a
file of its name), conjunctions:3 (every condition on up to three columns), intervals (of one column), boxes
(a run of bins of each column) or halfspaces. The method is the one with the least error for that class and domain,
chosen before the data is looked at: of tables the least root mean square, else the smallest proved bound. Its bound, and
those of the others, are in the JSON.

With `epsilon=E` everybody is counted. With `epsilon=E` `delta=D` marginals and conjunctions may have Gaussian noise on
what each table says beyond those below it (`method=residual`): the least error there is for many tables, and all of
them agree in all sums. conjunctions:W is what to ask for: tables of all orders up to W and their grand total.
marginals:W is exactly W columns, and tells little about smaller tables and the total. `consistent` adds a file of the
nearest tables of at least 0 that agree, for use as counts. With `zero_knowledge=E` `rows=K` `people=N` a secret sample of K of the N people
is, and whatever is learned from the answers about a person, K random other people would have told as well.

Rows count with `rows_per_person=M` (perhaps with `distinct=B` cells of the whole domain and `rows_per_bin=C` rows in
each) and `epsilon`: at most M of each person, chosen in secret; the promise is to people, and E is for all their rows.

N is declared and public. A table with another number of people is refused with exit code 3, before anything is spent;
that is for you alone. Since one who leaves would be noticed, what is promised with N is for one person replaced by
another: with `epsilon=E`, E by residual, mwem, small-database and boosting, 2 E by histogram, tree and per-query.
What is released about the same people under one name adds up in the ledger.""",
    examples=(
        "hubbub release queries hubbub-demo/millbrook.parquet --person resident --columns age:0..90:5 "
        "--class intervals --epsilon 1 --out q/",
    ),
    options=OPTIONS,
    from_options=from_options,
    from_json=read,
)
Queries.kind = KIND
