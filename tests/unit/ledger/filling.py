"""A release on a disk where no file may grow beyond a limit. Run as a script: ``filling.py LEDGER FOLDER LIMIT``."""

from __future__ import annotations

import resource
import signal
import sys
from pathlib import Path

import pyarrow as pa

from hubbub.errors import HubbubError
from hubbub.opening import open
from hubbub.release import save


def main(ledger: str, folder: str, limit: int) -> int:
    table = open(pa.table({"age": list(range(68))}), rows_are_people=True, dataset="town", ledger=ledger)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        save(table.histogram(["age:0..2000:1"], epsilon=1), Path(folder))
    except HubbubError:
        return 3
    return 0


if __name__ == "__main__":
    print(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
