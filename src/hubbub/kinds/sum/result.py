"""The published numbers of a sum: for each bin an estimate and its intervals, the layers that they follow from, and what
a cap cut off. Holds nothing of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from hubbub.kinds.histogram.discovery import FOUND
from hubbub.kinds.statistic import subtotals
from hubbub.kinds.statistic.arrays import down, integers, label_arrays, one_batch, up
from hubbub.kinds.statistic.chart import Row, drawn
from hubbub.kinds.statistic.result import ENDS, HIDDEN, STATUSES, UNTOLD, Key, key_of
from hubbub.kinds.sum import text as sum_text
from hubbub.kinds.sum.estimates import Answer, estimated_total
from hubbub.kinds.sum.lost import Lost
from hubbub.numeric.exact import to_text
from hubbub.protocol.drawing import Bars, Drawing
from hubbub.protocol.measurement import LABELS
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.serialization.arrow import floats, labelled
from hubbub.tables.key_columns import STATUS, key_columns
from hubbub.tables.labels import is_ranges
from hubbub.tables.protection import Crowd, Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.sum.spec import Sum

CUT: Final = ("cut", "cut_low", "cut_high")
LAYER: Final = ("over", "up_to", "sum")
_SIGNIFICANT: Final = 6


def layer_columns(spec: Sum) -> tuple[str, ...]:
    """The integers that are drawn for the layers of a bin."""
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
    return tuple(name for name in drawn_columns(spec) if not name.startswith("layer_"))


def columns(spec: Sum) -> list[str]:
    """The columns of numbers of its file."""
    return [*integer_columns(spec), *ENDS, *(CUT if spec.layered else ()), STATUS]


def schema(spec: Sum) -> pa.Schema:
    """The columns of its file."""
    keys = [(name, pa.string()) for name in key_columns(spec.axes, columns(spec))]
    integers = [(name, pa.int64()) for name in integer_columns(spec)]
    ends = [(name, pa.float64()) for name in (*ENDS, *(CUT if spec.layered else ()))]
    return pa.schema([*keys, *integers, *ends, (STATUS, LABELS)])


def layers_schema(spec: Sum) -> pa.Schema:
    """The columns of the file of layers: one row for each layer of each bin."""
    keys = [(name, pa.string()) for name in key_columns(spec.axes, LAYER)]
    return pa.schema([*keys, ("over", pa.float64()), ("up_to", pa.float64()), ("sum", pa.int64())])


LOST: Final = pa.schema(
    [(name, pa.float64()) for name in ("over", "up_to")] + [(name, pa.int64()) for name in ("people", "low", "high")]
)


@dataclass(frozen=True, slots=True, eq=False)
class Totals(Result):
    """What a sum published."""

    spec: Sum
    answers: list[Answer]
    found: list[Key] | None = None  # the labels of the bins that are shown, where bins are found in the data
    lost: Lost | None = None

    def keys(self) -> Iterator[Key]:
        """The labels of every bin, in order."""
        if self.found is not None:
            yield from self.found
            return
        for code in range(self.spec.bins):
            yield key_of(self.spec.axes, code)

    def sheets(self) -> tuple[Sheet, ...]:
        found = [one_batch("release", self._batch())]
        if self.spec.layered:
            found.append(one_batch("layers", self._layers()))
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
        arrays.append(floats([None if each.estimate is None else float(each.estimate) for _, each in found]))
        arrays += [floats([down(each.low) for _, each in found]), floats([up(each.high) for _, each in found])]
        return pa.record_batch(arrays, names=[*subtotals.names(spec.axes), *ENDS])

    def _batch(self) -> pa.RecordBatch:
        spec, found = self.spec, self.answers
        arrays = label_arrays(len(spec.axes), list(self.keys()))
        for name in integer_columns(spec):
            arrays.append(integers([_drawn_integer(answer, name) for answer in found]))
        arrays.append(floats([None if answer.estimate is None else float(answer.estimate) for answer in found]))
        arrays.append(floats([down(answer.low) for answer in found]))
        arrays.append(floats([up(answer.high) for answer in found]))
        if spec.layered:
            cuts = [answer.cut for answer in found]
            arrays.append(floats([None if cut is None else float(cut.at) for cut in cuts]))
            arrays.append(floats([None if cut is None else down(cut.low) for cut in cuts]))
            arrays.append(floats([None if cut is None else up(cut.high) for cut in cuts]))
        statuses = np.array([STATUSES.index(answer.status) for answer in found], dtype=np.int64)
        return pa.record_batch([*arrays, labelled(statuses, STATUSES)], schema=schema(spec))

    def _layers(self) -> pa.RecordBatch:
        spec, layers = self.spec, self.spec.layers
        n = len(layers)
        over = [float(spec.amount(top)) for top in (0, *layers.tops[:-1])] * len(self.answers)
        up_to = [float(spec.amount(top)) for top in layers.tops] * len(self.answers)
        sums = [each for answer in self.answers for each in answer.row.sums or (None,) * n]
        arrays = label_arrays(len(spec.axes), [key for key in self.keys() for _ in range(n)])
        return pa.record_batch([*arrays, floats(over), floats(up_to), integers(sums)], schema=layers_schema(spec))

    def _lost(self, lost: Lost) -> pa.RecordBatch:
        rows = lost.octaves
        ends = [floats([float(each.over) for each in rows]), floats([float(each.up_to) for each in rows])]
        people = [[each.people for each in rows], [each.low for each in rows], [each.high for each in rows]]
        return pa.record_batch([*ends, *map(integers, people)], schema=LOST)

    def facts(self) -> Mapping[str, Any]:
        spec = self.spec
        names = [axis.column for axis in spec.axes]
        more: dict[str, Any] = {}
        if isinstance(spec.protection, Knowledge):
            known = spec.protection
            more = {"rows": known.rows, "people": known.people, "epsilon": to_text(known.epsilon)}
        if spec.layered:
            more["losses"] = [{"value": to_text(x), "epsilon": to_text(loss)} for x, loss in sum_text.losses(spec)]
        if self.lost is not None:
            more["lost"] = _lost_facts(self.lost)
        return {
            "answers": [
                self._fact(dict(zip(names, key, strict=True)), answer)
                for key, answer in zip(self.keys(), self.answers, strict=True)
            ],
            "counts": sum_text.counted(spec),
            "bounds": sum_text.bounds(spec),
            "route": sum_text.route(spec),
            "split": sum_text.split(spec),
            "unit": spec.of.column,
            "values": sum_text.cut(spec),
            "coverage": to_text(spec.coverage),
            **({"totals": subtotals.as_json(self._totals_batch(), spec.axes)} if spec.subtotals else {}),
            **more,
        }

    def _fact(self, key: dict[str, str | None], answer: Answer) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "key": key,
            "value": None if answer.value is None else to_text(answer.value),
            "estimate": None if answer.estimate is None else float(answer.estimate),
            "low": down(answer.low),
            "high": up(answer.high),
            **{name: _drawn_integer(answer, name) for name in integer_columns(self.spec)},
        }
        if self.spec.layered:
            cut = answer.cut
            ends = None if cut is None else {"at": to_text(cut.at), "low": down(cut.low), "high": up(cut.high)}
            fields |= {"cut": ends, "layers": None if answer.row.sums is None else list(answer.row.sums)}
        return fields

    def sentences(self) -> tuple[str, ...]:
        route = f"{sum_text.route(self.spec)}."
        if self.found is not None:
            return FOUND, route
        hidden = sum(answer.status == HIDDEN for answer in self.answers)
        untold = sum(answer.status == UNTOLD for answer in self.answers)
        sentence = "Nothing is hidden."
        if hidden + untold:
            sentence = f"{len(self.answers) - hidden - untold:,} of {len(self.answers):,} numbers are shown."
        lost = () if self.lost is None else (self._lost_sentence(self.lost),)
        return (sentence, route, *lost, *self._totals_sentence())

    def _totals_sentence(self) -> tuple[str, ...]:
        for _, answer in self.totals():
            told = "-" if answer.estimate is None else self.number_text(answer.estimate)
            high = "or more" if answer.high is None else f"to {self.number_text(answer.high)}"
            return (f"All bins together: {told} ({self.number_text(answer.low)} {high}). {subtotals.MORE}",)
        return ()

    def _lost_sentence(self, lost: Lost) -> str:
        above = f"About {lost.people:,} people ({lost.low:,} to {lost.high:,}) have more than the cap"
        if lost.most is None or lost.up_to is None:
            return f"{above}; nobody is surely above it, and what was lost is not bounded."
        return (
            f"{above}; those up to {self.number_text(lost.up_to)} lost {self.number_text(lost.least)} to {self.number_text(lost.most)} to it, "
            "and what lies beyond is not bounded."
        )

    def display(self, first: int) -> DisplayTable:
        rows = []
        for key, answer in zip(self.keys(), self.answers[:first], strict=False):
            value = (
                "hidden"
                if answer.status == HIDDEN
                else "-"
                if answer.estimate is None
                else self.number_text(answer.estimate)
            )
            high = "or more" if answer.high is None else f"to {self.number_text(answer.high)}"
            cells = [value, f"{self.number_text(answer.low)} {high}"]
            if self.spec.layered:
                cut = answer.cut
                cells.append(
                    "-"
                    if cut is None
                    else f"{self.number_text(cut.low)} to {self.number_text(cut.high)} of values cut to {self.number_text(cut.at)}"
                )
            rows.append((key, tuple(cells), answer.estimate is None))
        heads = (sum_text.heading(self.spec), "interval", *(("interval of the cut",) if self.spec.layered else ()))
        names = tuple(key_columns(self.spec.axes, columns(self.spec)))
        ranges = tuple(map(is_ranges, self.spec.axes))
        return DisplayTable(names, heads, tuple(rows), sum_text.notes(self.spec), ranges)

    def number_text(self, value: Fraction) -> str:
        """A number as it is read."""
        text = f"{float(value):,.{_SIGNIFICANT}g}"
        return text if "e" not in text else f"{float(value):,.0f}"

    def drawing(self) -> Drawing | None:
        rows = []
        for key, answer in zip(self.keys(), self.answers, strict=True):
            low, high = (answer.cut.low, answer.cut.high) if answer.cut is not None else (answer.low, answer.high)
            value, end = (None if each is None else _rounded(each) for each in (answer.estimate, high))
            rows.append(Row(key, value, _rounded(low), end, answer.status == UNTOLD))
        line = sum_text.interval_sentence(self.spec)
        if self.spec.layered:
            line = f"The line is the interval of the sum of values cut to where the estimate ends. {line}"
        words = Bars(
            bars=(),
            by="",
            numbers=sum_text.heading(self.spec),
            upright=True,
            bar=f"Estimated {sum_text.heading(self.spec)} of {sum_text.whom(self.spec)}",
            line=line,
        )
        return drawn(self.spec.axes, rows, words)


def _rounded(value: Fraction) -> float:
    return float(f"{float(value):.{_SIGNIFICANT}g}")


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
