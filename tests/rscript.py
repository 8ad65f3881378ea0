"""R, where it is installed with what the page about it uses."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).parents[1] / "docs" / "how-to" / "from-r.md"
PACKAGES: Final = ("reticulate", "jsonlite")


def installed() -> bool:
    if shutil.which("Rscript") is None:
        return False
    asked = " && ".join(f'requireNamespace("{each}", quietly = TRUE)' for each in PACKAGES)
    words = ["Rscript", "-e", f"quit(status = if ({asked}) 0 else 1)"]
    return subprocess.run(words, capture_output=True, timeout=120, check=False).returncode == 0
