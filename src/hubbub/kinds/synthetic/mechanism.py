"""Invented rows measured, read back and presented: noisy tables, and a public seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hubbub.kinds.count_tables import CountTables, read_numbers
from hubbub.kinds.queries import mechanism as queries_mechanism
from hubbub.kinds.synthetic.result import SEED, TABLES, WORD, InventedRows
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.published_files import Files

if TYPE_CHECKING:
    from hubbub.kinds.synthetic.spec import Synthetic
    from hubbub.tables.engine import Engine

WORDS = 4
"""Words of 64 bits in a seed."""


@dataclass(frozen=True, slots=True)
class Seed:
    """The strategy that draws a public seed: 256 bits that do not depend on the data.

    Guarantee: it looks at nothing, so what it draws loses nothing. The seed is published, and hides nobody.
    """

    columns: tuple[str, ...] = (WORD,)

    def draw(self, exact: int, source: Source) -> tuple[NDArray[np.int64]]:
        return (source.words(WORDS).view(np.int64),)


def measure(spec: Synthetic, data: Engine, source: Source) -> Measurement:
    """Count, draw the tables, and then a seed."""
    tables = queries_mechanism.measure(spec.tables, data, source)
    return Measurement(synopsis=tables["synopsis"], seed=release(CountTables(Seed()), 0, source))


def load(spec: Synthetic, files: Files) -> Measurement:
    """What was drawn: the noisy tables and the seed, from which the rest follows.

    Guarantee: that of :func:`hubbub.kinds.queries.mechanism.load` for the tables; the seed has as many words as are drawn.
    """
    tables = queries_mechanism.load(spec.tables, Files(files.form, {"release": files.path(TABLES)}))
    seed = CountTables(Seed())
    words = read_numbers(files, SEED, seed.schema, WORD, WORDS)
    return Measurement(synopsis=tables["synopsis"], seed=seed.load(words))


def present(spec: Synthetic, measurement: Measurement) -> InventedRows:
    """Fit the model and expand the seed; both when they are looked at."""
    return InventedRows(spec, queries_mechanism.present(spec.tables, measurement), measurement["seed"].integers(WORD))
