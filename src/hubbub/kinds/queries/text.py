"""A release of a class of queries in plain words."""

from __future__ import annotations

import math
from math import ceil
from typing import TYPE_CHECKING, Final, TypeGuard

from hubbub.kinds.histogram.estimands import Estimand
from hubbub.kinds.histogram.text import everybody, public_bins
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import join_words, short
from hubbub.protocol.spec import Description
from hubbub.query_classes.boosting import Boosting
from hubbub.query_classes.classes import Class, ColumnCells, Halfspaces, NamedTables, cells_of
from hubbub.query_classes.residual import Residual
from hubbub.query_classes.setting import mean_square
from hubbub.query_classes.small_databases import SmallDatabase
from hubbub.query_classes.split_tables import JointTables, SplitTables
from hubbub.query_classes.square_root import SquareRoot
from hubbub.query_classes.tree import Tree
from hubbub.query_classes.weights import Weights

if TYPE_CHECKING:
    from hubbub.kinds.queries.spec import Queries

DESCRIPTIONS: Final = {
    "marginals": "every cell of every table by {ways} of the columns",
    "tables": "every cell of {ways}",
    "conjunctions": "every condition on at most {ways} of the columns, each with one of its values",
    "intervals": "every run of bins",
    "boxes": "every run of bins of each column, all at once",
    "halfspaces": "every half-space of the grid of bins",
}
_WAYS: Final = {"2": "two", "3": "three", "4": "four"}
_WRITING: Final = 8e-6  # seconds for each row of the file
_LONG: Final = 2.0  # seconds from which it is worth saying how long it takes


def describe(spec: Queries) -> Description:
    """The texts of the release: title, what is published, whom it is about, what intervals mean."""
    columns = [axis.column for axis in spec.request.axes]
    sampled = "" if spec.request.rows is None else f", {spec.request.rows:,} of {spec.request.people:,} people"
    return Description(
        title=_title(spec, join_words(columns)),
        published=f"A synopsis that answers, of the columns {join_words(columns)}, {_class(spec)}: {how(spec)}",
        entry=f"queries {spec.request.of} of {', '.join(columns)}{sampled}",
        person=spec.unit.describe,
        sampling=_sampling(spec),
        counts=estimand(spec),
        intervals=interval_sentence(spec),
        headline=_headline(spec, join_words(columns)),
        remarks=_remarks(spec),
        public=public_bins(spec.request.axes),
        columns=(
            ("fitted", "what follows from the published numbers: it agrees in all sums, and may be below 0"),
            ("estimate", "the possible number nearest to what follows from the published numbers"),
        )
        if spec.may_be_impossible
        else (),
    )


def estimand(spec: Queries) -> str:
    """Whom or what the numbers and their intervals are about."""
    if spec.unit.counts_rows:
        cells = cells_of(spec.queries.shape)
        return f"the {spec.unit.describe_kept_rows(cells, which=' that this release kept')}"
    return "the people in the table" if spec.request.rows is None else "the people in the table, from the sample"


def estimand_facts(spec: Queries) -> dict[str, str]:
    """The same for JSON."""
    about = Estimand.KEPT_ROWS if spec.unit.counts_rows else Estimand.TABLE
    about = about if spec.request.rows is None else Estimand.EVERYBODY
    number = about if spec.request.rows is None else Estimand.SAMPLE
    return {"number": number.value, "estimate": about.value, "interval": about.value, "whom": estimand(spec)}


def _title(spec: Queries, columns: str) -> str:
    name, _, ways = spec.request.of.partition(":")
    what, many = "People", len(spec.queries.sets) if isinstance(spec.queries, NamedTables) else 0
    if spec.unit.counts_rows:
        kept = spec.unit.describe_kept_rows(cells_of(spec.queries.shape))
        what = f"{kept[0].upper()}{kept[1:]},"
    match name:
        case "marginals" if len(spec.request.axes) > 1:
            return f"{what} by {'each' if ways == '1' else f'every {_WAYS.get(ways, ways)}'} of {columns}"
        case "marginals":
            return f"{what} by {columns}"
        case "tables":
            return f"{what} by {columns}, in {many} tables" if many > 1 else f"{what} by {columns}"
        case "intervals":
            return f"{what} by every range of {columns}"
        case _:
            return f"Answers to {spec.request.of} of {columns}"


def _headline(spec: Queries, columns: str) -> str:
    """What is published, in everyday words."""
    name, _, ways = spec.request.of.partition(":")
    match name:
        case "marginals" if len(spec.request.axes) > 1:
            which = "each" if ways == "1" else f"every {_WAYS.get(ways, ways)}"
            return f"How many {spec.counted_noun} there are, by {which} of {columns}: every number has noise"
        case "intervals":
            return f"How many {spec.counted_noun} there are in every range of {columns}: every number has noise"
        case _:
            return ""


def _remarks(spec: Queries) -> tuple[str, ...]:
    fitted = (
        "an estimate is the nearest possible number, which is 0 where noise left less: such estimates need not add up, and "
        "what they were before stands in the column fitted",
    )
    if not spec.consistent:
        return fitted if spec.may_be_impossible and spec.lists_answers else ()
    return (
        *fitted,
        "the file consistent has the nearest tables of at least 0 that agree with one another; it is worked out from what was "
        "published, has no intervals, and is too large on average where numbers are small",
    )


def _class(spec: Queries) -> str:
    name, _, ways = spec.request.of.partition(":")
    return DESCRIPTIONS[name].format(ways=_tables(spec) if isinstance(spec.queries, NamedTables) else ways)


def _tables(spec: Queries) -> str:
    """The named tables, each with its columns."""
    assert isinstance(spec.queries, NamedTables)
    names = [axis.column for axis in spec.request.axes]
    return "; ".join(f"{each.name} (by {join_words([names[i] for i in each.columns])})" for each in spec.queries.tables)


def how(spec: Queries) -> str:
    """What was done, method by method."""
    match spec.method:
        case Tree(branching=branching):
            return f"whole noise on every run of a tree of {branching} branches; all answers are fitted to these, and as fitted agree"
        case Weights(rounds=rounds):
            plural = "s" if rounds > 1 else ""
            return f"weights of all cells, tilted in {rounds} round{plural} to one noisy answer each, and averaged"
        case Residual(variances=variances):
            return (
                f"Gaussian noise on what each of {len(variances)} tables says beyond the tables below it; all answers "
                "follow from these and, as fitted, agree in all sums"
            )
        case SquareRoot():
            return (
                "Gaussian noise on the square-root factor of the running totals; an interval is the difference of two"
            )
        case JointTables(measured=measured):
            return (
                f"whole noise on every cell of {len(measured)} table{'s' if len(measured) > 1 else ''}, chosen with all that are "
                "wanted in view; all answers are fitted to these, and as fitted agree in all sums"
            )
        case SplitTables():
            return "whole noise on every cell of every table; all answers are fitted to these, and as fitted agree in all sums"
        case SmallDatabase(size=size):
            return f"an invented database of {size} rows, drawn among all of that size"
        case Boosting(rounds=rounds, draws=draws, size=size):
            return (
                f"{rounds} invented databases of {size} rows, each fitted to noisy answers to {draws:,} queries that "
                "were drawn by how badly the earlier ones answer them; the median is told"
            )
    return "whole noise on every answer" if spec.method.name == "per-query" else "whole noise on every cell"


def _sampling(spec: Queries) -> str:
    if spec.request.rows is None:
        return f"nobody: {everybody(spec.request.axes)} is counted"
    return (
        f"a fresh secret sample was drawn for this release: {spec.request.rows:,} of the {spec.request.people:,} people, "
        "all sets of so many alike, and who was drawn is not kept"
    )


def interval_sentence(spec: Queries) -> str:
    """What an interval means."""
    percent = to_text(100 * spec.request.coverage)
    own = "; in the file, own_low and own_high are narrower, and hold one number that is looked at alone as often"
    return (
        f"With a chance of at least {percent} %, every interval of the class holds the true number{_of_what(spec)}, all at once"
        f"{own if spec.has_own_intervals else ''}"
    )


def interval_headline(spec: Queries) -> str:
    """The same for a caption, without the names of columns of the file."""
    percent = to_text(100 * spec.request.coverage)
    return f"With a chance of at least {percent} %, all intervals hold their true numbers{_of_what(spec)} at once"


def _of_what(spec: Queries) -> str:
    return f" of {estimand(spec)}" if spec.unit.counts_rows else ""


def exactness(spec: Queries) -> str:
    """How far an answer may be from the truth, in one sentence."""
    bound = ceil(spec.bound)
    return (
        f"Every number is within {bound:,} {_things(spec, bound)} of the true one, all of them at once with a chance of at least "
        f"{to_text(100 * spec.request.coverage)} %"
    )


def sentences(spec: Queries) -> tuple[str, ...]:
    """The notes below the table of numbers."""
    from hubbub.kinds.queries.spec import all_offers

    request, queries = spec.request, spec.queries
    share = "" if not request.people else f" ({short(100 * spec.bound / request.people, 3)} % of {request.people:,})"
    number = "Every query" if isinstance(queries, Halfspaces) else f"Each of {queries.number:,} queries"
    sentences = [
        f"{number} is answered within {ceil(spec.bound):,} {spec.counted_noun}{share}, all of them at once with a chance of at "
        f"least {to_text(100 * request.coverage)} %. Method: {spec.method.name}."
    ]
    square = mean_square(spec.method, spec.setting)
    if square is not None:
        what = "a number is off by" if request.least == "mean" else "the number with the most noise is off by"
        sentences.append(f"On average (root mean square) {what} {short(math.sqrt(square), 3)} people.")
    best = all_offers(request)[0]
    if best.bound is not None and best.name != spec.method.name and request.everybody(best.bound) < spec.bound:
        least = ceil(request.everybody(best.bound))
        sentences.append(
            f"It was asked for by name; {best.name} is proved to be within {least:,} {_things(spec, least)}."
        )
    if spec.unit.counts_rows:
        sentences.append(f"The numbers are about {estimand(spec)}, and no others.")
    if isinstance(spec.method, Residual) and _of_one_width(queries):
        total = spec.method.noise(spec.setting).reach((), spec.setting.doubt)
        columns = "one column" if queries.ways == 1 else f"{queries.ways} columns"
        sentences.append(
            f"The noise is planned for tables by exactly {columns}: the grand total that follows from them is off by up "
            f"to {ceil(total):,}. conjunctions:{queries.ways} plans for all smaller tables too."
        )
    if request.rows is not None:
        sentences.append(
            f"Of that, {ceil(request.sampling_error()):,} people are for the sample: the VC dimension of the class is at "
            f"most {queries.dimension}. Epsilon goes with K = {request.rows:,}: so many random people may be known."
        )
    return tuple(sentences)


def _of_one_width(queries: Class) -> TypeGuard[ColumnCells]:
    return isinstance(queries, ColumnCells) and not queries.at_most and not isinstance(queries, NamedTables)


def _things(spec: Queries, number: int) -> str:
    return "person" if number == 1 and not spec.unit.counts_rows else spec.counted_noun


def duration_note(spec: Queries) -> str:
    """What is said before it starts: how long it takes, where that is worth saying."""
    seconds = spec.method.seconds(spec.setting) + _WRITING * spec.rows_published
    if seconds < _LONG:
        return ""
    return f"{spec.method.name} on {cells_of(spec.queries.shape):,} cells takes about {ceil(seconds)} seconds."
