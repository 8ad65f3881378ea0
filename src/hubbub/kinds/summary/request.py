"""From options to the spec of a summary; and its kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.kinds.histogram.request import ROWS, UNIQUE
from hubbub.kinds.summary.numbers import read_number
from hubbub.kinds.summary.spec import Summary
from hubbub.kinds.sums.request import BY, DISTINCT, ONE_ROW, PROTECTED, WHERE, common_fields, with_noise
from hubbub.kinds.sums.spec import read
from hubbub.numeric.exact import Exact, positive
from hubbub.protocol.option import Option
from hubbub.protocol.spec import Kind
from hubbub.tables.bins import Discovered
from hubbub.tables.condition import Condition
from hubbub.tables.contribution import MOST_ROWS
from hubbub.tables.privacy_unit import Unit, of_options
from hubbub.tables.protection import Noise


def summary(
    *,
    number: Sequence[str] = (),
    by: Sequence[str] = (),
    where: str | Condition | None = None,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
    noise: str | None = None,
    coverage: Exact = "0.95",
    unit: Unit | None = None,
) -> Summary:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    if isinstance(number, str):
        raise WrongUse("number is a list, even of one; put it in brackets, like number=['people']")
    if epsilon is None:
        raise WrongUse("say how much may be lost, with `epsilon=E`")
    common = common_fields(by, where, coverage, unit)
    protection = Noise(epsilon=positive(epsilon, "epsilon"))
    numbers = tuple(map(read_number, number))
    found = any(isinstance(axis, Discovered) for axis in common["axes"])
    if found and noise == "gaussian":
        raise WrongUse(
            "Gaussian noise is for bins that are declared; list them, like ward=A,B,other, or leave out `mechanism`"
        )
    if found and delta is not None:
        return Summary(**common, protection=protection, numbers=numbers, found_delta=positive(delta, "delta"))
    return with_noise(Summary(**common, protection=protection, numbers=numbers), noise, delta)


def from_options(**options: Any) -> Summary:
    """Build the spec from the options of a command.

    Where it is said in how many bins a person counts, and not how many rows, all rows count.
    """
    several = any(options.get(name) is not None for name in ("rows_per_person", "rows_per_bin"))
    if options.get("distinct") is not None and not several:
        options |= {"rows_per_person": MOST_ROWS}
    unit, rest = of_options(options)
    return summary(unit=unit, **rest)


KIND: Final = Kind(
    name="summary",
    wire="summary/1",
    help="""Publish several numbers of the same bins as one table: people, rows, totals and averages, paid for once.

A NUMBER is `people`, `rows 5` (of a person at most 5 in a bin count), `sum cost:0..9000:10` (what a person has in a bin
is cut to 0..9,000) or `mean cost:0..50000:1` (the mean over people of what each has in a bin on average, cut to the
range). `visits = rows 5` gives it a name. `rows` without a number has its cap drawn from the data, for a fifth of what
rows may lose. Each number has an equal part of `epsilon`; all of them together are one promise.

Cells without a value are left out of sums and averages, and count as rows. Of people with several rows all count, in at
most B bins (`distinct=B`), chosen secretly; `rows_per_person=M` keeps at most M rows of a person, `rows_per_bin=C` at
most C in each bin, and `one_row_per_person=True` one. Without such a word a table where somebody has several rows is
refused, and that is for you alone. SPEC declares bins, as for a histogram. A column of text alone has its bins found in
the data, which needs `delta=D` and the number `people`: a bin is shown if its noisy number of people is high enough.""",
    examples=(
        'hubbub release summary hubbub-demo/millbrook.parquet --person resident --number people --number "mean '
        'salary:0..300000:1000" --by department=Police,Fire,other --epsilon 1 --out summary/',
    ),
    options=(
        Option("number", "NUMBER", "What is published of each bin; repeat it for several.", many=True),
        BY,
        WHERE,
        ONE_ROW,
        UNIQUE,
        DISTINCT,
        *(each for each in ROWS if each.name != "rows_called"),
        *(each for each in PROTECTED if each.name in ("epsilon", "delta", "mechanism", "coverage")),
    ),
    from_options=from_options,
    from_json=partial(read, Summary),
)
Summary.kind = KIND
