"""The answers to several questions on one sample: a file with all of them, and one for each; nothing of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from hubbub.errors import WrongUse
from hubbub.kinds.questions import text
from hubbub.kinds.sums import text as statistic_text
from hubbub.kinds.sums.columns import status_array
from hubbub.kinds.sums.result import Answer, Answers, slack
from hubbub.kinds.sums.sums import ENDS
from hubbub.numeric.exact import to_text
from hubbub.protocol.drawing import Bars, Drawing
from hubbub.protocol.measurement import LABELS
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import texts
from hubbub.tables.key_columns import STATUS

if TYPE_CHECKING:
    from hubbub.kinds.questions.spec import Questions

SCHEMA: Final = pa.schema(
    [("question", pa.string()), ("bin", pa.string()), *((name, pa.float64()) for name in ENDS), (STATUS, LABELS)]
)


def file_name(name: str) -> str:
    """The name of the file of a question, without its ending."""
    return f"question-{name}"


def bin_name(key: tuple[str | None, ...]) -> str:
    """The labels of a bin in one text, to be read by people; the files of the questions keep them apart."""
    return " · ".join("(missing)" if part is None else part or "(empty text)" for part in key) or "everybody"


@dataclass(frozen=True, slots=True, eq=False)
class Replies(Result):
    """What several questions published."""

    spec: Questions
    answers: tuple[Answers, ...]

    def __getitem__(self, name: str) -> Answers:
        """The answers to the question of that name."""
        for question, answers in zip(self.spec.asked, self.answers, strict=True):
            if question.name == name:
                return answers
        names = ", ".join(question.name for question in self.spec.asked)
        raise WrongUse(f"no question is called {str(name)[:40]!r}; there are {names}")

    def _all(self) -> Iterator[tuple[str, Answers, tuple[str | None, ...], Answer]]:
        for question, answers in zip(self.spec.asked, self.answers, strict=True):
            for key, answer in zip(answers.keys(), answers.answers, strict=True):
                yield question.name, answers, key, answer

    def sheets(self) -> tuple[Sheet, ...]:
        batch, off = self._batch(), max(map(slack, self.spec.statistics))
        # What is repeated here is held against the questions' own files, each of which has its own tolerance.
        tolerance = dict.fromkeys(ENDS, off) if off else {}
        first = Sheet("release", batch.schema, lambda: iter((batch,)), batch.num_rows, tolerance)
        each = zip(self.spec.asked, self.answers, strict=True)
        return first, *(replace(answers.sheets()[0], name=file_name(question.name)) for question, answers in each)

    def _batch(self) -> pa.RecordBatch:
        rows = list(self._all())
        own = pa.Table.from_batches(
            [
                pa.record_batch([batch.column(name).cast(pa.float64()) for name in ENDS], names=list(ENDS))
                for answers in self.answers
                for batch in answers.sheets()[0].batches()
            ]
        ).combine_chunks()
        columns = [
            texts([name for name, *_ in rows]),
            texts([bin_name(key) for _, _, key, _ in rows]),
            *(own.column(name).chunk(0) for name in ENDS),
            status_array([answer.status for *_, answer in rows]),
        ]
        return pa.record_batch(columns, schema=SCHEMA)

    def facts(self) -> Mapping[str, Any]:
        epsilon, rows = self.spec.fresh
        entries = []
        for question, answers in zip(self.spec.asked, self.answers, strict=True):
            own = {name: value for name, value in answers.facts().items() if name not in _COMMON}
            about = {"name": question.name, "kind": question.what, "file": file_name(question.name)}
            entries.append({**about, "epsilon_inside": to_text(question.loss), **own})
        return {
            "questions": entries,
            "counts": statistic_text.counted(self.spec.statistics[0]) | {"whom": text.whom(self.spec)},
            "route": text.route(self.spec),
            "rows": self.spec.rows,
            "people": self.spec.of_people,
            "epsilon": to_text(self.spec.epsilon),
            "epsilon_inside": to_text(self.spec.inside),
            **({"noise": "gaussian", "delta": to_text(self.spec.reached_delta)} if self.spec.gaussian else {}),
            **({} if self.spec.gaussian else {"fresh_samples": {"epsilon": to_text(epsilon), "rows": rows}}),
            "coverage": to_text(self.spec.coverage),
            **({} if self.spec.unit.bounds is None else {"bounds": self.spec.unit.bounds.to_json()}),
        }

    def sentences(self) -> tuple[str, ...]:
        files = ", ".join(file_name(question.name) for question in self.spec.asked)
        return (
            f"{text.route(self.spec)}.",
            f"{text.compared(self.spec)}.",
            f"Each question has a file of its own beside that of all answers: {files}.",
        )

    def display(self, first: int) -> DisplayTable:
        rows = []
        for name, answers, key, answer in list(self._all())[:first]:
            rows.append(((name, bin_name(key)), answers.cells(answer), answer.estimate is None))
        return DisplayTable(("question", "bin"), ("estimate", "interval"), tuple(rows), text.notes(self.spec))

    def unlike_rows(self) -> bool:
        return True

    def drawing(self) -> Drawing | None:
        """That of the question with most bins: the questions have different units, and a picture has one."""
        for question, answers in sorted(
            zip(self.spec.asked, self.answers, strict=True), key=lambda each: -each[1].spec.bins
        ):
            found = answers.drawing()
            if isinstance(found, Bars):
                rest = "" if len(self.answers) == 1 else "; the others are in the table."
                return replace(found, note=" ".join(filter(None, (found.note, f"Drawn is {question.name}{rest}"))))
        return None


_COMMON: Final = ("counts", "route", "rows", "people", "epsilon", "coverage", "bounds")
