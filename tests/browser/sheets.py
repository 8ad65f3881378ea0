"""A contact sheet of every kind of report and every page of the studio, to look at: ``make sheets``.

Reports are about an invented town. Each page is taken at 1440 and at 390 pixels, dark, and as paper, and
``out/sheets/index.html`` shows all of them.
"""

from __future__ import annotations

import base64
import html
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

import hubbub
from hubbub.kinds.table import Table
from hubbub.protocol.release import Release
from hubbub.report.heading import Heading
from tests.browser.chromium import Browser, browsing, found, running

FOLDER = Path("out") / "sheets"
PEOPLE = 20_000
SIZES = {"1440": (1440, False), "390": (390, False), "dark": (1280, True)}
STUDIO = (
    "/publish",
    "/publish/table?file=millbrook.parquet",
    "/publish/table?file=millbrook.parquet&question=how-many&who=column:resident&by1-use=on&by2-use=on",
    "/publish/table?file=millbrook.parquet&question=average&who=column:resident&of-column=salary&of-low=0&of-high=300000"
    "&of-step=1000&by1-use=on&step=3",
    "/check",
    "/plan?people=2000&bins=20&rate=0.2",
    "/vote",
    "/ledger",
)
HEADING = Heading(publisher="The town of Millbrook", date="May 2026")


def town() -> pa.Table:
    """People who are invented by arithmetic: the same in every sheet."""
    parts = ("Old Town", "Harbour", "Hillside", "Station", "Riverside", "Mill Quarter")
    jobs = ("Schools", "Health", "Police", "Roads", "Library")
    draws = [(i * 2_654_435_761 + i * i * 40_503) % 2**32 / 2**32 for i in range(PEOPLE)]
    again = [(i * 2_246_822_519 + 7 * i * i * 3_266_489) % 2**32 / 2**32 for i in range(PEOPLE)]
    first = date(2025, 1, 1)
    return pa.table(
        {
            "id": [f"p{i}" for i in range(PEOPLE)],
            "district": [parts[int(6 * draw * draw)] for draw in draws],
            "age": [None if i % 61 == 0 else int(18 + 72 * again[i] * (0.4 + 0.6 * draws[i])) for i in range(PEOPLE)],
            "job": [jobs[int(5 * (again[i] + draws[i]) / 2)] for i in range(PEOPLE)],
            "income": [int(1200 + 5200 * again[i] * draws[i]) for i in range(PEOPLE)],
            "moved": [first + timedelta(days=int(364 * draws[i])) for i in range(PEOPLE)],
            "lon": [13.30 + 0.2 * (draws[i] + again[(i + 7) % PEOPLE]) / 2 for i in range(PEOPLE)],
            "lat": [52.45 + 0.15 * (again[i] + draws[(i + 3) % PEOPLE]) / 2 for i in range(PEOPLE)],
        }
    )


DISTRICTS = 'district="Old Town",Harbour,Hillside,Station,Riverside,"Mill Quarter"'
BOX = [("13.3", "13.5"), ("52.45", "52.6")]
JOBS = "job=Schools,Health,Police,Roads,Library"


def releases(people: Callable[[], Table]) -> Iterator[tuple[str, Callable[[], Release]]]:
    """One of each kind, and of the shapes of data that are drawn differently."""

    def every(what: str, *names: Any, **words: Any) -> tuple[str, Callable[[], Release]]:
        return what, lambda: getattr(people(), names[0])(*names[1:], **words)

    yield every("histogram-ages", "histogram", ["age:10..100:10,null"], epsilon="0.5")
    yield every("histogram-crowds", "histogram", [DISTRICTS], crowd=20, sample="0.1")
    yield every("histogram-months", "histogram", ["moved:month:2025-01..2025-12"], epsilon="0.2")
    yield every("histogram-two", "histogram", [DISTRICTS, "age:20..100:20,null"], epsilon="0.5")
    yield every("histogram-found", "histogram", ["district", "job"], crowd=400)
    yield every("cube", "cube", [DISTRICTS, JOBS, "age:0..120:40"], crowd=20)
    yield every("records", "records", ["district", "job", "age:30"], crowd=20)
    yield every("count", "count", where="age >= 65", by=[DISTRICTS], epsilon="0.5")
    yield every("share", "fraction", where="age >= 65", by=[DISTRICTS], epsilon="0.5")
    yield every("mean", "mean", "income:0..10000:10", by=[DISTRICTS], epsilon="0.5")
    yield every("mean-months", "mean", "income:0..10000:10", by=["moved:month:2025-01..2025-12"], epsilon="0.5")
    yield every("mean-of-nobody", "mean", "income:0..10000:10", by=["district=Harbour,Nowhere"], epsilon="0.5")
    yield every("sum", "sum", "income:0..10000:10", by=[DISTRICTS], epsilon="1")
    yield every("sum-capped", "sum", "income:0..10000:10", by=["age:20..100:20,null"], epsilon="1", cap="5000")
    yield every("variance", "variance", "income:0..10000:10", by=[DISTRICTS], epsilon="1")
    yield every("std", "std", "income:0..10000:10", by=["age:20..100:20,null"], epsilon="1")
    yield every("std-one", "std", "income:0..10000:10", epsilon="1")
    yield every("median", "quantile", "income:0..10000:50", epsilon="0.5")
    yield every("median-by", "quantile", "income:0..10000:50", by=[DISTRICTS], epsilon="0.5")
    yield every("points", "points", ["lon", "lat"], box=BOX, grid=["0.02", "0.015"], crowd=20, epsilon="2")
    yield every("queries", "queries", [DISTRICTS, JOBS, "age:0..100:10,null"], "marginals:2", epsilon="1")
    yield every("queries-intervals", "queries", ["age:0..100:1"], "intervals", epsilon="1", method="tree")


def network(folder: Path, ledger: Path) -> Release:
    """A ring of friends, each with the next two."""
    file = folder / "friends.csv"
    rows = [f"{i},{(i + j) % 400}" for i in range(400) for j in (1, 2, 7)]
    file.write_text("\n".join(["a,b", *rows]) + "\n", encoding="utf-8")
    opened = hubbub.open_graph(file, ledger=ledger)
    return opened.statistics(["average-degree", "connectivity"], vertices=400, max_degree=20, epsilon="1", samples=40)


def reports(folder: Path) -> dict[str, Path]:
    """Every report, by its name."""
    made: dict[str, Path] = {}
    everybody, ledgers = town(), count()

    def people() -> Table:
        """Each release with a ledger of its own: what they add up to is not the point here."""
        return hubbub.open(everybody, person="id", dataset="millbrook", ledger=folder / f"{next(ledgers)}.db")

    asked = [*releases(people), ("network", lambda: network(folder, folder / "network.db"))]
    for name, release in asked:
        try:
            files = hubbub.save(release(), folder / name, heading=HEADING)
        except Exception as error:  # the sheet shows the others
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        made[name] = Path(files["report"])
        print(f"made {name}", file=sys.stderr)
    return made


def taken(browser: Browser, address: str, name: str, into: Path) -> list[str]:
    """Pictures of a page, whole; their files."""
    files = []
    for what, (width, dark) in SIZES.items():
        browser.width(width)
        browser.dark(dark)
        browser.open(address)
        high = browser.driver.execute_script("return document.documentElement.scrollHeight")
        browser.width(width, min(int(high), 6000))
        taken = browser.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        file = into / f"{name}-{what}.png"
        file.write_bytes(base64.b64decode(taken["data"]))
        files.append(file.name)
    browser.dark(False)
    browser.width(1280)
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    file = into / f"{name}-print.pdf"
    file.write_bytes(base64.b64decode(printed["data"]))
    return [*files, file.name]


def pages_of(pdf: bytes) -> int:
    """How many pages a PDF of Chromium has."""
    return pdf.count(b"/Type /Page") - pdf.count(b"/Type /Pages")


def sheet(shots: dict[str, list[str]], into: Path) -> None:
    """A page with all of them, small."""
    parts = []
    for name, files in shots.items():
        figures = []
        for file in files:
            if file.endswith(".pdf"):
                count = pages_of((into / file).read_bytes())
                figures.append(f'<p><a href="{file}">print</a>: {count} {"page" if count == 1 else "pages"}</p>')
            else:
                figures.append(f'<a href="{file}"><img src="{file}" alt="{html.escape(file)}"></a>')
        parts.append(f"<h2>{html.escape(name)}</h2><div>{''.join(figures)}</div>")
    looks = "img { width: 22rem; border: 1px solid #aaa; vertical-align: top; margin: .3rem } body { font: 15px sans-serif }"
    (into / "index.html").write_text(
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Sheets</title><style>{looks}</style>{"".join(parts)}',
        encoding="utf-8",
    )


def main(names: list[str]) -> None:
    """Take all, or those that are named."""
    if found() is None:
        sys.exit("sheets need chromium and chromedriver; install both")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    shots: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="hubbub-sheets-") as temporary, browsing() as browser:
        at = Path(temporary)
        for name, page in reports(at).items():
            if not names or name in names:
                shutil.copy(page, FOLDER / f"{name}.html")
                shots[name] = taken(browser, f"file://{page}", name, FOLDER)
        if not names:
            with running(at / "studio", "--example") as studio:
                browser.open(studio.link)
                for i, path in enumerate(STUDIO):
                    shots[f"studio-{i}"] = taken(browser, f"{studio.address}{path}", f"studio-{i}", FOLDER)
    sheet(shots, FOLDER)
    print(f"Open {FOLDER / 'index.html'}")


if __name__ == "__main__":
    main(sys.argv[1:])
