"""From options to the spec of a cube; and the kind itself."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from hubbub.channels.noise_choice import NOISES
from hubbub.errors import WrongUse
from hubbub.kinds.cube.consistency import CONSISTENT, PROJECTED
from hubbub.kinds.cube.margins import parse_margins
from hubbub.kinds.cube.noise import AUTO
from hubbub.kinds.cube.result import FITTED, OWN
from hubbub.kinds.cube.spec import Cube, read
from hubbub.kinds.histogram.request import DISTINCT, ROWS, SAMPLING, histogram
from hubbub.kinds.histogram.spec import Histogram, columns
from hubbub.numeric.exact import Exact, integer, positive
from hubbub.options.mechanism import NOISE
from hubbub.protocol.option import COLLECTED, HOW, Option
from hubbub.protocol.spec import Kind
from hubbub.tables.bins import MOST_BINS, axis, declared_size
from hubbub.tables.privacy_unit import Unit, of_options


def cube(
    by: Sequence[str],
    *,
    margins: str | Sequence[str | Sequence[str]] | None = None,
    crowd: Exact | None = None,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
    noise: str | None = None,
    people: Exact | None = None,
    consistent: bool = False,
    unit: Unit | None = None,
    **options: Any,
) -> Cube:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    if isinstance(by, str) or len(by) < 2:
        raise WrongUse("a cube has at least two columns; add `by=COLUMN`, or publish a histogram")
    if crowd is None and epsilon is None:
        raise WrongUse("say how people are protected: `crowd=20`, `crowd=20` with `epsilon=0.5`, or `epsilon=1`")
    cells = histogram(tuple(map(axis, by)), crowd=crowd, epsilon=epsilon, unit=unit, **options)
    found = Cube(
        cells=cells,
        margins=parse_margins(margins, columns(cells)),
        consistent=consistent,
        noise=_noise(cells, noise, delta, people),
        delta=_delta(delta),
        public_number=None if people is None else integer(people, "people", least=1),
    )
    ours = ((*OWN, FITTED) if found.has_noisy_margins else ()) + ((CONSISTENT, PROJECTED) if consistent else ())
    clash = next((name for name in ours if name in columns(cells)), None)
    if clash is not None:
        raise WrongUse(f"the files have a column {clash} of their own; rename yours, or leave it out")
    for margin in found.margins:
        many = declared_size(found.margin_histogram(margin).axes) or 0
        if many > MOST_BINS:  # of the cells themselves only those that are shown are listed
            raise WrongUse(
                f"all bins of a margin are listed, and that by {', '.join(margin)[:80]} has {many:,} of them, more "
                f"than {MOST_BINS:,}; leave it out, or declare coarser bins"
            )
    return found


def _noise(cells: Histogram, noise: str | None, delta: Exact | None, people: Exact | None) -> str:
    """Which noise the tables have, where each has its own."""
    if cells.channel.plain_noise is None:
        if (noise, delta, people) != (None, None, None):
            raise WrongUse(
                "`mechanism`, `delta` and `people` go with `epsilon` alone: noise on every table; leave them out"
            )
        return ""
    if noise is not None and noise not in NOISES:
        raise WrongUse(f"noise is one of {', '.join(NOISES)}, not {str(noise)[:40]!r}; leave it out for auto")
    return noise or AUTO


def _delta(delta: Exact | None) -> Fraction:
    if delta is None:
        return Fraction(0)
    found = positive(delta, "delta")
    if found >= 1:
        raise WrongUse(f"delta must be below 1, not {found}; choose one like 1e-9")
    return found


def from_options(**options: Any) -> Cube:
    """Build the spec from the options of a command."""
    unit, rest = of_options(options)
    return cube(rest.pop("by", ()), unit=unit, **rest)


KIND: Final = Kind(
    name="cube",
    wire="cube/1",
    help="""Count people by several columns at once, and by fewer of them: a table and its margins under one promise.

SPEC is a column with its bins, as for a histogram, or with a function: age:10 (ranges that occur), zip/3 (first signs),
diagnosis@icd.csv/1 (a level of a hierarchy). MARGINS lists sums by fewer columns, like "A,B; B,C; A"; a number alone,
like 2, is every margin of so many columns, and total is everybody in a cell; without it there is one for each column.

Two tables of one crowd can be subtracted from each other, so with `crowd` the finest cells are published once and the
margins are sums of what was published, each between certain bounds. With `epsilon` alone every table has noise of its
own: epsilon is split so that the worst error over all of them is least, and the column fitted adds up from table to
table (exact least squares). Rows count with `rows_per_person=M` (perhaps with `distinct=B` cells and `rows_per_bin=C`
rows in each), with `epsilon` alone: at most M of each person, and the promise is to people.

With `epsilon` and `delta` the tables may have Gaussian noise instead, planned so that the largest variance is least: all
of them then add up by themselves. Where that has the smaller worst error it is taken (`mechanism=auto`). With `people=N`, which
is then public and enforced, it is planned for one person replaced by another, and tables add up to N where everybody has a
bin. Each number has its own interval (own_low, own_high) beside the one that holds with all others at once.

With `consistent`, a second file has whole cells of at least 0 near all tables, for use as counts.

Before, and without the data: hubbub plan cube says which refinements survive.""",
    examples=(
        "hubbub release cube hubbub-demo/millbrook.parquet --person resident --by department --by age:0..90:30 "
        "--by hired:year --crowd 10 --out c/",
    ),
    options=(
        Option("by", "SPEC", "A column and its bins; repeat it for every column.", many=True),
        Option(
            "margins", "MARGINS", 'Sums by fewer columns, like "A,B; A".', takes="str | Sequence[str | Sequence[str]]"
        ),
        Option("crowd", "K", "Exact cells of at least K, the others hidden (with `epsilon`: noisy).", group=HOW),
        Option("epsilon", "EPS", "The loss: of cells below K, or of all tables together.", group=HOW),
        Option("delta", "D", "With `epsilon`: a delta for Gaussian noise, for less error in many tables.", group=HOW),
        NOISE,
        Option(
            "people",
            "N",
            "With Gaussian noise: how many people there are, public and enforced; the promise is for one replaced.",
            group=HOW,
            advanced=True,
        ),
        Option("consistent", None, "Also a file of whole cells of at least 0, for use as counts.", advanced=True),
        *SAMPLING,
        DISTINCT,
        *ROWS,
        Option("coverage", "C", "How often an interval is right.", default="0.95", advanced=True),
    ),
    from_options=from_options,
    from_json=read,
    declared=COLLECTED,
)
Cube.kind = KIND
