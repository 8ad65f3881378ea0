"""axe-core, which finds what keeps people with a screen reader or weak eyes out. It is fetched once by npm, and kept
outside the project; without npm or a registry nobody looks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import Browser

VERSION = "4.14.0"
SERIOUS = ("moderate", "serious", "critical")
COLOURS = ("color-contrast", "link-in-text-block")
"""The rules whose answer depends on light and dark."""

_INSIDE = "package/axe.min.js"
_PATIENCE = 40  # seconds for npm


def source() -> str:
    """Its text; skips where it cannot be had."""
    cache = Path(os.environ.get("HUBBUB_TEST_CACHE") or Path.home() / ".cache" / "hubbub-tests")
    kept = cache / f"axe-{VERSION}.min.js"
    if not kept.is_file():
        _fetch(cache, kept)
    return kept.read_text(encoding="utf-8")


def _fetch(cache: Path, kept: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("axe-core is fetched by npm, which is not here: nobody looked for barriers on the pages")
    cache.mkdir(parents=True, exist_ok=True)
    try:
        asked = [npm, "pack", f"axe-core@{VERSION}", "--silent"]
        subprocess.run(asked, cwd=cache, check=True, capture_output=True, timeout=_PATIENCE)
        archive = cache / f"axe-core-{VERSION}.tgz"
        with tarfile.open(archive) as packed:
            found = packed.extractfile(_INSIDE)
            assert found is not None
            text = found.read()
    except (OSError, subprocess.SubprocessError, tarfile.TarError, KeyError):
        pytest.skip("axe-core could not be fetched by npm: nobody looked for barriers on the pages")
    beside = kept.with_suffix(f".{os.getpid()}")
    beside.write_bytes(text)
    beside.replace(kept)
    archive.unlink()


def barriers(
    browser: Browser, text: str, impacts: Sequence[str] = SERIOUS, *, only: Sequence[str] = (), within: str = ":root"
) -> list[str]:
    """What is more than minor on the page that is open, or what has one of these impacts; by all rules, or by some; on
    all of the page, or in a part of it."""
    if not browser.driver.execute_script("return Boolean(window.axe)"):
        browser.driver.execute_script(text)
    chosen = f", runOnly: {json.dumps(list(only))}" if only else ""
    options = f"iframes: false, resultTypes: ['violations']{chosen}"
    ask = f"const done = arguments[arguments.length - 1]; axe.run({json.dumps(within)}, {{{options}}}).then(done)"
    answer: dict[str, Any] = browser.driver.execute_async_script(ask)
    return [
        f"{each['id']}: {each['help']} ({'; '.join(' '.join(map(str, node['target'])) for node in each['nodes'][:3])})"
        for each in answer["violations"]
        if each["impact"] in impacts
    ]
