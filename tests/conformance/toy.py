"""The smallest kind of release: how many people there are, with geometric noise. Nothing outside this file knows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self, cast

import pyarrow as pa

from hubbub.kit import (
    DMNS,
    EACH_ROW,
    Check,
    CountQuery,
    Derivation,
    Description,
    Files,
    Geometric,
    Kind,
    Measurement,
    Option,
    People,
    Plain,
    Result,
    Sheet,
    Source,
    Spec,
    Theorem,
    Unit,
    laws,
    loaded,
    plain,
    release,
    restored,
    state_promise,
    texts,
)

SCHEMA = pa.schema([("people", pa.int64())])


@dataclass(frozen=True, slots=True)
class NoisyTotal:
    """The mechanism: geometric noise on one number, which one person moves by one."""

    epsilon: Fraction
    schema: ClassVar[pa.Schema] = SCHEMA

    def draw(self, exact: int, source: Source) -> pa.RecordBatch:
        return pa.record_batch({"people": Geometric(self.epsilon).release([exact], source).values}, schema=SCHEMA)


@dataclass(frozen=True, slots=True)
class Total(Result):
    people: int

    def sheets(self) -> tuple[Sheet, ...]:
        batch = pa.record_batch({"people": [self.people]})
        return (Sheet("release", batch.schema, lambda: iter((batch,)), 1),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Toy(Spec):
    kind: ClassVar[Kind]
    epsilon: Fraction
    unit: Unit = EACH_ROW

    @property
    def people(self) -> People:
        return self.unit.people

    def with_schema(self, schema: Any) -> Self:
        return self

    def promises(self) -> tuple[Derivation, ...]:
        """Guarantee: one person more or less changes the number by one, and geometric noise hides that."""
        theorem, given = Theorem("toy.total", "noise on the number of people", DMNS), texts(epsilon=self.epsilon)
        claim, granted = Geometric(self.epsilon).claim, (self.unit.assumption,)
        return (state_promise(claim, theorem=theorem, numbers=given, assumptions=granted, people=self.people),)

    def checks(self) -> Iterator[Check]:
        return laws(Geometric(self.epsilon))

    def describe(self) -> Description:
        title, everybody = "How many people there are", "the people in the table"
        said = f"The number of {everybody}, with noise"
        whom = {"person": self.unit.describe, "sampling": "nobody: everybody is counted", "counts": everybody}
        return Description(title=title, published=said, entry="the number of people", **whom)

    def to_json(self) -> dict[str, Plain]:
        return cast(dict[str, Plain], plain(self))

    def measure(self, data: Any, source: Source) -> Measurement:
        counted = data.count(CountQuery(axes=(), person=self.unit.person), source).counts
        return Measurement(total=release(NoisyTotal(self.epsilon), int(counted.sum()), source))

    def present(self, measurement: Measurement) -> Total:
        return Total(int(measurement["total"].integers("people")[0]))

    def load(self, files: Files) -> Measurement:
        (batch,) = files.table("release", SCHEMA).to_batches()
        return Measurement(total=loaded(SCHEMA, batch))


KIND = Toy.kind = Kind(
    name="toy",
    wire="toy/1",
    help="Publish how many people there are.",
    examples=("hubbub release toy people.csv --epsilon 1 --out out/",),
    options=(Option(name="epsilon", metavar="E", help="The privacy loss."),),
    from_options=lambda *, epsilon, person=None: Toy(epsilon=Geometric(epsilon).epsilon, unit=Unit(person=person)),
    from_json=lambda given: restored(Toy, given),
)
