"""Two kinds of release that must not pass: one publishes the exact number beside the noisy one, the other counts each
person three times and states that one person moves its number by one. Their certificates would hold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import pyarrow as pa

from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Measurement, release
from hubbub.tables.engine import CountQuery
from tests.conformance.toy import NoisyTotal, Toy


@dataclass(frozen=True, slots=True)
class ExactBeside:
    """A mechanism that hands out what it was given."""

    epsilon: Fraction
    schema: ClassVar[pa.Schema] = pa.schema([("people", pa.int64()), ("exactly", pa.int64())])

    def draw(self, exact: int, source: Source) -> pa.RecordBatch:
        noisy = Geometric(self.epsilon).release([exact], source).values
        return pa.record_batch({"people": noisy, "exactly": [exact]}, schema=self.schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaking(Toy):
    def measure(self, data: Any, source: Source) -> Measurement:
        exact = int(data.count(CountQuery(axes=(), person=self.unit.person), source).counts.sum())
        return Measurement(total=release(ExactBeside(self.epsilon), exact, source))


@dataclass(frozen=True, slots=True, kw_only=True)
class Thrice(Toy):
    def measure(self, data: Any, source: Source) -> Measurement:
        exact = int(data.count(CountQuery(axes=(), person=self.unit.person), source).counts.sum())
        return Measurement(total=release(NoisyTotal(self.epsilon), 3 * exact, source))
