"""The files of invented rows, read back: the noisy tables and the seed, from which the rest follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.errors import CheckFailed
from hubbub.kinds.queries import load as queries_load
from hubbub.kinds.synthetic.mechanism import WORDS, Seed
from hubbub.kinds.synthetic.result import SEED, TABLES
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files

if TYPE_CHECKING:
    from hubbub.kinds.synthetic.spec import Synthetic


def load(spec: Synthetic, files: Files) -> Measurement:
    """What was drawn.

    Guarantee: that of :func:`hubbub.kinds.queries.load.load` for the tables; the seed has as many words as are drawn.
    """
    tables = queries_load.load(spec.tables, Files(files.form, {"release": files.path(TABLES)}))
    found = files.table(SEED, Seed().schema).combine_chunks().to_batches()
    if len(found) != 1 or found[0].num_rows != WORDS:
        raise CheckFailed("its seed is none")
    return Measurement(synopsis=tables["synopsis"], seed=loaded(Seed().schema, found[0]))
