"""From options to the spec of invented rows; and the kind itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.kinds.histogram.request import DISTINCT, ROWS, UNIQUE
from hubbub.kinds.queries.request import columns_and_unit, queries
from hubbub.kinds.synthetic.spec import Synthetic, read
from hubbub.numeric.exact import Exact, integer
from hubbub.protocol.option import HOW, Option
from hubbub.protocol.spec import Kind
from hubbub.query_classes.marginals.junction_tree import MOST_ROWS
from hubbub.query_classes.residual import Residual
from hubbub.query_classes.split_tables import SplitTables
from hubbub.tables.privacy_unit import Unit


def synthetic(
    columns: Sequence[str],
    *,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
    ways: Exact = 2,
    size: Exact | None = None,
    coverage: Exact = "0.95",
    unit: Unit | None = None,
) -> Synthetic:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    if epsilon is None:
        raise WrongUse("say what the tables that rows are made of may lose: `epsilon=1`, perhaps with `delta=1e-9`")
    if not isinstance(columns, str) and len(columns) < 2:
        raise WrongUse("invented rows have at least two columns; name more, or publish a histogram")
    order = integer(ways, "ways", least=1)
    method = SplitTables.name if delta is None else Residual.name
    of = f"conjunctions:{order}"
    tables = queries(columns, of, epsilon=epsilon, delta=delta, method=method, coverage=coverage, unit=unit)
    many = None if size is None else integer(size, "size", least=1)
    if many is not None and many > MOST_ROWS:
        raise WrongUse(f"at most {MOST_ROWS:,} rows are invented, not {many:,}; ask for fewer, and weigh them")
    return Synthetic(tables=tables, size=many)


def from_options(**options: Any) -> Synthetic:
    """Build the spec from the options of a command."""
    columns, unit, rest = columns_and_unit(options)
    return synthetic(columns, unit=unit, **rest)


KIND: Final = Kind(
    name="synthetic",
    wire="synthetic/1",
    help="""Invent rows that have about the tables of yours, for people who want a file to load.

SPEC declares the bins of a column, as for a histogram. All tables by up to `ways` columns get noise once; a model is
fitted to them, and rows are drawn from it. Rows cost nothing beyond the tables: they are worked out from these and from a
public seed. With `delta` the noise is Gaussian, planned for all tables together; without, it is geometric.

Rows of people with several count with `rows_per_person=M` (perhaps with `distinct=B` cells and `rows_per_bin=C` rows in
each): at most M of each person, chosen in secret. The promise is to people, and an invented row is then like one of
those kept rows, not like a person.

release has the rows, answers every table with intervals, model what the rows were drawn from, and fit how far each
measured table of the rows is off. Nothing else is promised about how like your people the rows are: cite answers, and use
the rows to try things out.""",
    examples=(
        "hubbub release synthetic hubbub-demo/millbrook.parquet --person resident --columns "
        '"department=Police,Schools,Hospital,other,null,age:0..90:15,salary:0..200000:50000,null,other" '
        "--epsilon 1 --delta 1e-6 --size 2000 --out rows/",
    ),
    options=(
        Option("columns", "SPEC,..", "The columns and their declared bins.", many=True),
        Option("epsilon", "E", "What may be lost, all tables together.", group=HOW),
        Option("delta", "D", "A delta for Gaussian noise, which has less error for many tables.", group=HOW),
        Option("ways", "W", "How many columns a measured table has at most.", default="2"),
        Option("size", "N", "How many rows to invent; if not given, about as many as there are people."),
        UNIQUE,
        DISTINCT,
        *ROWS,
        Option("coverage", "C", "How often all intervals of the tables are right.", default="0.95", advanced=True),
    ),
    from_options=from_options,
    from_json=read,
)
Synthetic.kind = KIND
