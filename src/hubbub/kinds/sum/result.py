"""The published numbers of a sum: for each bin an estimate and its intervals, the layers that they follow from, and what
a cap cut off. Holds nothing of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from hubbub.kinds.sum import text as sum_text
from hubbub.kinds.sum.estimates import Answer, Cut, estimated_total
from hubbub.kinds.sum.lost import Lost
from hubbub.kinds.sum.octaves import Band, bands_of
from hubbub.kinds.sums import subtotals
from hubbub.kinds.sums.chart import drawn, marks, titles
from hubbub.kinds.sums.columns import (
    HIDDEN,
    UNTOLD,
    Interval,
    Key,
    down,
    file_schema,
    integer_type,
    integers,
    interval_arrays,
    interval_facts,
    label_arrays,
    one_batch,
    up,
)
from hubbub.kinds.sums.result import BinAnswers
from hubbub.kinds.sums.sums import ENDS
from hubbub.kinds.sums.text import counted
from hubbub.numeric.exact import to_text
from hubbub.protocol.drawing import Drawing, Mark
from hubbub.protocol.result import DisplayTable, Sheet
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import floats, integer_column
from hubbub.tables.key_columns import STATUS, key_columns
from hubbub.tables.protection import Crowd
from hubbub.tables.unlisted import FOUND

if TYPE_CHECKING:
    from hubbub.kinds.sum.spec import Sum

CUT: Final = ("cut", "cut_low", "cut_high")
LAYER: Final = ("over", "up_to", "sum")
BAND: Final = ("from", "to", "people", "low", "high", "sum")
_SIGNIFICANT: Final = 6


def layer_columns(spec: Sum) -> tuple[str, ...]:
    """The integers that are drawn for the layers of a bin."""
    if spec.tailored is not None:
        return tuple(f"{name}_{i + 1}" for name in ("people", "sum") for i in range(len(spec.octaves.bands)))
    return tuple(f"layer_{i + 1}" for i in range(len(spec.layers))) if spec.layered else ("sum",)


def crowd_column(spec: Sum) -> str:
    """The column that says how many a crowd has: people, or rows of people with several."""
    return spec.unit.rows_column if spec.profiled else "people"


def drawn_columns(spec: Sum) -> tuple[str, ...]:
    """Every integer that is drawn for a bin; a sum is in steps, as a cap that is drawn."""
    people = (crowd_column(spec),) if isinstance(spec.protection, Crowd) else ()
    return (*people, *(("cap_steps",) if spec.drawn_cap else ()), *layer_columns(spec))


def integer_columns(spec: Sum) -> tuple[str, ...]:
    """The integers beside each answer."""
    in_other_file = () if layer_columns(spec) == ("sum",) else layer_columns(spec)
    return tuple(name for name in drawn_columns(spec) if name not in in_other_file)


def columns(spec: Sum) -> list[str]:
    """The names of the number columns of the published file."""
    return [*integer_columns(spec), *ENDS, *(CUT if spec.layered else ()), STATUS]


def schema(spec: Sum) -> pa.Schema:
    """The schema of the published file."""
    return file_schema(spec, integer_columns(spec), (*ENDS, *(CUT if spec.layered else ())))


def layers_schema(spec: Sum) -> pa.Schema:
    """The columns of the file of layers: one row for each layer of each bin."""
    keys = [(name, pa.string()) for name in key_columns(spec.axes, LAYER)]
    return pa.schema([*keys, ("over", pa.float64()), ("up_to", pa.float64()), ("sum", integer_type(spec))])


def bands_schema(spec: Sum) -> pa.Schema:
    """The columns of the file of bands: one row for each band of each bin; the sum is in steps above `over`."""
    keys = [(name, pa.string()) for name in key_columns(spec.axes, BAND)]
    ends = [(name, pa.float64()) for name in BAND[:2]]
    return pa.schema([*keys, *ends, *((name, pa.int64()) for name in BAND[2:-1]), (BAND[-1], integer_type(spec))])


LOST: Final = pa.schema(
    [(name, pa.float64()) for name in ("over", "up_to")] + [(name, pa.int64()) for name in ("people", "low", "high")]
)


@dataclass(frozen=True, slots=True, eq=False)
class Totals(BinAnswers):
    """What a sum published."""

    spec: Sum
    answers: list[Answer]
    lost: Lost | None = None

    def sheets(self) -> tuple[Sheet, ...]:
        found = [one_batch("release", self._batch())]
        if self.spec.layered:
            found.append(one_batch("layers", self._layers()))
        if self.spec.tailored is not None:
            found.append(one_batch("bands", self._bands()))
        if self.lost is not None:
            found.append(one_batch("lost", self._lost(self.lost)))
        if self.spec.subtotals:
            found.append(one_batch(subtotals.SHEET, self._totals_batch()))
        return tuple(found)

    def totals(self) -> Iterator[tuple[subtotals.Group, Answer]]:
        """What bins come to together, where that is asked for: everything first."""
        for group in subtotals.groups(self.spec.axes) if self.spec.subtotals else ():
            yield group, estimated_total(self.spec, [self.answers[code].row for code in group.codes])

    def _totals_batch(self) -> pa.RecordBatch:
        found, spec = list(self.totals()), self.spec
        arrays = subtotals.key_arrays([group for group, _ in found], len(spec.axes))
        arrays += interval_arrays([(each.estimate, each.low, each.high) for _, each in found])
        return pa.record_batch(arrays, names=[*subtotals.names(spec.axes), *ENDS])

    def _batch(self) -> pa.RecordBatch:
        spec, found = self.spec, self.answers
        published = [[_drawn_integer(answer, name) for name in integer_columns(spec)] for answer in found]
        ends = interval_arrays([(answer.estimate, answer.low, answer.high) for answer in found])
        if spec.layered:
            cuts = [answer.cut for answer in found]
            ends.append(floats([None if cut is None else float(cut.at) for cut in cuts]))
            ends.append(floats([None if cut is None else down(cut.low) for cut in cuts]))
            ends.append(floats([None if cut is None else up(cut.high) for cut in cuts]))
        return self.file_batch(schema(spec), published, [*ends, self.status_array()])

    def _layers(self) -> pa.RecordBatch:
        spec, layers = self.spec, self.spec.layers
        n = len(layers)
        over = [float(spec.amount(top)) for top in (0, *layers.tops[:-1])] * len(self.answers)
        up_to = [float(spec.amount(top)) for top in layers.tops] * len(self.answers)
        sums = [each for answer in self.answers for each in answer.row.sums or (None,) * n]
        arrays = label_arrays(len(spec.axes), [key for key in self.keys() for _ in range(n)])
        return pa.record_batch(
            [*arrays, floats(over), floats(up_to), integer_column(sums, integer_type(spec))], schema=layers_schema(spec)
        )

    def _bands(self) -> pa.RecordBatch:
        spec, keys, rows = self.spec, list[Key](), list[Band]()
        for key, answer in zip(self.keys(), self.answers, strict=True):
            found = self._bands_of(answer)
            keys, rows = keys + [key] * len(found), rows + found
        ends = [
            floats([float(spec.amount(end)) for end in each])
            for each in zip(*((row.low, row.high) for row in rows), strict=True)
        ]
        people = zip(*((row.people, row.fewest, row.most) for row in rows), strict=True)
        sums = integer_column([row.total for row in rows], integer_type(spec))
        arrays = [*label_arrays(len(spec.axes), keys), *ends, *(integers(list(each)) for each in people), sums]
        return pa.record_batch(arrays, schema=bands_schema(spec))

    def _bands_of(self, answer: Answer) -> list[Band]:
        return list(bands_of(self.spec.octaves, answer.row.sums or (), self.spec.coverage))

    def _lost(self, lost: Lost) -> pa.RecordBatch:
        rows = lost.octaves
        ends = [floats([float(each.over) for each in rows]), floats([float(each.up_to) for each in rows])]
        people = [[each.people for each in rows], [each.low for each in rows], [each.high for each in rows]]
        return pa.record_batch([*ends, *map(integers, people)], schema=LOST)

    def facts(self) -> Mapping[str, Any]:
        spec = self.spec
        more = self.knowledge_facts()
        if spec.layered and spec.gaussian is not None:
            more["losses"] = [{"value": to_text(x), "rho": to_text(rho)} for x, rho in sum_text.rhos(spec)]
        elif spec.layered:
            more["losses"] = [{"value": to_text(x), "epsilon": to_text(loss)} for x, loss in sum_text.losses(spec)]
        if spec.tailored is not None:
            more["tailored"] = sum_text.tailored_facts(spec)
        if self.lost is not None:
            more["lost"] = _lost_facts(self.lost)
        return {
            "answers": [
                {**key, **self._fact(answer)} for key, answer in zip(self.key_facts(), self.answers, strict=True)
            ],
            "counts": counted(spec),
            "bounds": sum_text.bounds(spec),
            "route": sum_text.route(spec),
            "split": sum_text.split(spec),
            "unit": spec.of.column,
            "values": sum_text.cut(spec),
            "coverage": to_text(spec.coverage),
            **({"totals": subtotals.as_json(self._totals_batch(), spec.axes)} if spec.subtotals else {}),
            **more,
        }

    def _fact(self, answer: Answer) -> dict[str, Any]:
        fields: dict[str, Any] = {
            **interval_facts(answer.value, (answer.estimate, answer.low, answer.high)),
            **{name: _drawn_integer(answer, name) for name in integer_columns(self.spec)},
        }
        if self.spec.layered:
            cut = answer.cut
            ends = None if cut is None else {"at": to_text(cut.at), "low": down(cut.low), "high": up(cut.high)}
            fields |= {"cut": ends, "layers": None if answer.row.sums is None else list(answer.row.sums)}
        if self.spec.tailored is not None:
            fields["bands"] = [
                {"from": to_text(self.spec.amount(band.low)), "to": to_text(self.spec.amount(band.high)), "people": band.people,
                 "low": band.fewest, "high": band.most, "sum": band.total}
                for band in self._bands_of(answer)
            ]  # fmt: skip
        return fields

    def sentences(self) -> tuple[str, ...]:
        route = f"{sum_text.route(self.spec)}."
        if self.found is not None:
            return FOUND, route
        hidden = self.number_of(HIDDEN) + self.number_of(UNTOLD)
        sentence = "Nothing is hidden."
        if self.spec.tailored is not None:
            bands = [row for answer in self.answers for row in self._bands_of(answer)]
            sums = sum(row.total is not None for row in bands)
            sentence = f"{sums:,} of {len(bands):,} bands have their sum told, the others the number of people alone."
        elif hidden:
            sentence = f"{len(self.answers) - hidden:,} of {len(self.answers):,} numbers are shown."
        lost = () if self.lost is None else (self._lost_sentence(self.lost),)
        return (sentence, route, *lost, *self._totals_sentence())

    def _totals_sentence(self) -> tuple[str, ...]:
        for _, answer in self.totals():
            return (f"All bins together: {' ('.join(self._cells(answer))}). {subtotals.MORE}",)
        return ()

    def _lost_sentence(self, lost: Lost) -> str:
        where = f" in the {self.spec.unit.rows} that count" if self.spec.unit.counts_rows else ""
        above = f"About {lost.people:,} people ({lost.low:,} to {lost.high:,}) have more than the cap{where}"
        if lost.most is None or lost.up_to is None:
            return f"{above}; nobody is surely above it, and what was lost is not bounded."
        end = self.number_text(lost.up_to)
        beyond = lost.up_to == self.spec.cap_max and self.spec.outer_cap < self.spec.most_without_cap
        those = f"all, whoever has more than {end} counting as having that," if beyond else f"those up to {end}"
        return (
            f"{above}; {those} lost {self.number_text(lost.least)} to {self.number_text(lost.most)} to it, and what lies beyond "
            "is not bounded."
        )

    def display(self, first: int) -> DisplayTable:
        rows = []
        for answer in self.answers[:first]:
            cells = self._cells(answer)
            if self._cuts:
                cells.append(UNTOLD if answer.cut is None else self._cut_text(answer.cut))
            rows.append((tuple(cells), answer.estimate is None))
        heads = (self._heading, "interval", "interval of the capped sum")[: 3 if self._cuts else 2]
        return self.display_table(heads, rows, columns(self.spec), sum_text.notes(self.spec))

    @property
    def _cuts(self) -> bool:
        """Whether some estimate ends below the declared maximum, so that its interval and that of the cut differ."""
        return any(
            each.cut is not None and (each.cut.low, each.cut.high) != (each.low, each.high) for each in self.answers
        )

    @property
    def _heading(self) -> str:
        """What the estimates are."""
        return f"{sum_text.heading(self.spec)}{', large values capped' if self._cuts else ''}"

    def _cells(self, answer: Answer) -> list[str]:
        """The estimate and its interval as they are read."""
        value = UNTOLD if answer.estimate is None else self.number_text(answer.estimate)
        high = "or more" if answer.high is None else f"to {self.number_text(answer.high)}"
        return ["hidden" if answer.status == HIDDEN else value, f"{self.number_text(answer.low)} {high}"]

    def _cut_text(self, cut: Cut) -> str:
        ends = f"{self.number_text(cut.low)} to {self.number_text(cut.high)}"
        return f"{ends}, capped at {self.number_text(cut.at)}"

    def number_text(self, value: Fraction) -> str:
        """A number as it is read."""
        text = f"{float(value):,.{_SIGNIFICANT}g}"
        return text if "e" not in text else f"{float(value):,.0f}"

    def drawing(self) -> Drawing | None:
        numbers: list[Interval] = [(answer.estimate, answer.low, answer.high) for answer in self.answers]
        line = sum_text.interval_headline(self.spec)
        line += ", also of what is above the caps" if self._cuts else ""
        labels = titles(self._heading, line, Mark.BAR, upright=True)
        rows = marks(self.keys(), numbers, [answer.status for answer in self.answers])
        return drawn(self.spec.axes, rows, labels)


def _lost_facts(lost: Lost) -> dict[str, Any]:
    return {
        "people": lost.people,
        "low": lost.low,
        "high": lost.high,
        "up_to": None if lost.up_to is None else to_text(lost.up_to),
        "least": to_text(lost.least),
        "most": None if lost.most is None else to_text(lost.most),
    }


def _drawn_integer(answer: Answer, name: str) -> int | None:
    match name:
        case "cap_steps":
            return answer.row.cap
        case "sum":
            return None if answer.row.sums is None else answer.row.sums[0]
        case _:
            return answer.row.people
