"""Invented rows measured and presented: noisy tables, and a public seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.kinds.queries import mechanism as queries_mechanism
from hubbub.kinds.queries.result import Synopsis
from hubbub.kinds.synthetic.result import InventedRows
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array

if TYPE_CHECKING:
    from hubbub.kinds.synthetic.spec import Synthetic
    from hubbub.tables.engine import Engine

WORD = "word"
WORDS = 4
"""Words of 64 bits in a seed."""


@dataclass(frozen=True, slots=True)
class Seed:
    """The mechanism that draws a public seed: 256 bits that do not depend on the data.

    Guarantee: it looks at nothing, so what it draws loses nothing. The seed is published, and hides nobody.
    """

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(WORD, pa.int64())])

    def draw(self, exact: int, source: Source) -> pa.RecordBatch:
        return pa.record_batch([integer_array(source.words(WORDS).view(np.int64))], schema=self.schema)


def measure(spec: Synthetic, engine: Engine, source: Source) -> Measurement:
    """Count, draw the tables, and then a seed."""
    tables = queries_mechanism.measure(spec.tables, engine, source)
    return Measurement(synopsis=tables["synopsis"], seed=release(Seed(), 0, source))


def present(spec: Synthetic, measurement: Measurement) -> InventedRows:
    """Fit the model and expand the seed; both when they are looked at."""
    tables = queries_mechanism.present(spec.tables, measurement)
    assert isinstance(tables, Synopsis)
    return InventedRows(spec, tables, measurement["seed"].integers(WORD))
